# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms along the last axis, against NumPy's: one vector, and a hundred."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]

TRANSFORMS: dict[str, Callable[..., Any]] = {
    "fft": np.fft.fft, "rfft": np.fft.rfft, "ifft": np.fft.ifft,
}  # fmt: skip
BATCHES = (1, 100)
DTYPES = ("f4", "f8")
SIZES = (256, 1024, 4096, 65536)
#: results of a call are as near as NumPy's own to the exact ones
TOLERANCES = {"f4": 1e-4, "f8": 1e-12}
#: half of NumPy's speed, for one vector that is long enough to pay for the call
BAR: dict[int, float] = {1024: 2.0, 4096: 2.0}


def _numbers(name: str, batch: int, dtype: str, n: int) -> np.ndarray[Any, Any]:
    x = np.random.default_rng(n).normal(size=(batch, n)).astype(dtype)
    z = x + 1j * x[:, ::-1] if name == "ifft" else x
    return z[0] if batch == 1 else z


def _run(name: str, batch: int, dtype: str) -> Callable[[int, int], Result]:
    transform = TRANSFORMS[name]

    def run(size: int, blocks: int) -> Result:
        def fn(x: Any) -> Any:
            return transform(x)

        x = _numbers(name, batch, dtype, size)
        jit = jit_onnx(fn, fallback="error")
        bound = TOLERANCES[dtype] * np.sqrt(size)
        np.testing.assert_allclose(jit(x), fn(x), rtol=0, atol=bound)
        ours, base = Contender("warm call", jit, x), Contender("NumPy", fn, x)
        return compared(ours, base, blocks, threads=x.size >= SIZES[-1])

    return run


KERNELS = [
    Kernel(
        f"fourier-{name}-{batch}-{dtype}",
        _run(name, batch, dtype),
        SIZES,
        BAR if batch == 1 and name != "rfft" else None,
    )
    for name, batch, dtype in product(TRANSFORMS, BATCHES, DTYPES)
]
