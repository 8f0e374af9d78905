# SPDX-License-Identifier: Apache-2.0
"""Matrix products against NumPy's BLAS; both take all cores for large matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]


def _product(a: Any, b: Any) -> Any:
    return a @ b


def _measuring(dtype: str) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        random = np.random.default_rng(0)
        a, b = (random.normal(size=(size, size)).astype(dtype) for _ in range(2))
        jit = jit_onnx(_product, fallback="error")
        tolerance = size * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(jit(a, b), a @ b, rtol=tolerance, atol=tolerance)
        ours, base = Contender("warm call", jit, a, b), Contender("NumPy", _product, a, b)
        return compared(ours, base, blocks, threads=True)

    return run


KERNELS = [
    Kernel(f"matmul-{dtype}", _measuring(dtype), (16, 64, 256, 1024), {256: 1.11, 1024: 1.11})
    for dtype in ("f4", "f8")
]
