# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and singular values against NumPy: stacks of small matrices, and one matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]


def eigh(a: Any) -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return np.linalg.eigh(a)


def eigvalsh(a: Any) -> Any:
    """Eigenvalues alone."""
    return np.linalg.eigvalsh(a)


def svd(a: Any) -> Any:
    """Singular values and vectors."""
    return np.linalg.svd(a)


def eigvals(a: Any) -> Any:
    """Eigenvalues of general matrices."""
    return np.linalg.eigvals(a)


def _run(function: Callable[..., Any], rows: int | None) -> Callable[[int, int], Result]:
    """Return what measures stacks of matrices of so many rows, or one of `size` rows."""

    def run(size: int, blocks: int) -> Result:
        shape = (size, size) if rows is None else (size, rows, rows)
        a = np.random.default_rng(0).normal(size=shape)
        jit = jit_onnx(function, fallback="error")
        got, want = jit(a), function(a)
        values = (got[1], want[1]) if function is svd else (got[0], want[0])
        if function in (eigh, svd):
            np.testing.assert_allclose(*values, atol=1e-9)
        return compared(
            Contender("jit", jit, a), Contender("numpy", function, a), blocks, threads=True
        )

    return run


KERNELS = [
    *(
        Kernel(f"spectral-{f.__name__}-stack-{rows}", _run(f, rows), (10, 1000, 100_000))
        for f in (eigh, svd)
        for rows in (2, 3)
    ),
    *(
        Kernel(f"spectral-{f.__name__}", _run(f, None), (4, 16, 48))
        for f in (eigh, eigvalsh, svd, eigvals)
    ),
]
