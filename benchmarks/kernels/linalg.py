# SPDX-License-Identifier: Apache-2.0
"""Factorisations against NumPy: many small matrices, and one that is not small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]

Array = np.ndarray[Any, Any]

#: name -> function of a positive definite matrix and a right-hand side
FUNCTIONS: Final[dict[str, Callable[[Array, Array], Any]]] = {
    "inv": lambda a, _: np.linalg.inv(a),
    "solve": np.linalg.solve,
    "det": lambda a, _: np.linalg.slogdet(a)[1],
    "cholesky": lambda a, _: np.linalg.cholesky(a),
    "qr": lambda a, _: tuple(np.linalg.qr(a)),
}
#: rows of the matrices of a stack
_ROWS: Final = 3


def _flat(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def _measured(fn: Callable[..., Any], shape: tuple[int, ...], blocks: int) -> Result:
    random = np.random.default_rng(0)
    a, b = random.normal(size=shape), random.normal(size=(*shape[:-1], 1))
    a = a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])
    jit = jit_onnx(fn, fallback="error")
    for got, want in zip(_flat(jit(a, b)), _flat(fn(a, b)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    ours, base = Contender("warm call", jit, a, b), Contender("NumPy", fn, a, b)
    return compared(ours, base, blocks, threads=True)


def _of_stacks(fn: Callable[..., Any]) -> Callable[[int, int], Result]:
    return lambda size, blocks: _measured(fn, (size, _ROWS, _ROWS), blocks)


def _of_one(fn: Callable[..., Any]) -> Callable[[int, int], Result]:
    return lambda size, blocks: _measured(fn, (size, size), blocks)


KERNELS = [
    *(
        Kernel(f"linalg-{name}-3x3", _of_stacks(fn), (100, 100_000), {100_000: 1.0})
        for name, fn in FUNCTIONS.items()
    ),
    *(
        Kernel(f"linalg-{name}", _of_one(fn), (8, 64, 256, 512))
        for name, fn in FUNCTIONS.items()
    ),
]
