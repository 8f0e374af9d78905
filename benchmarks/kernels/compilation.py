# SPDX-License-Identifier: Apache-2.0
"""Tracing and lowering against the creation of the session that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Spread
from onnxjit._jit.benchmark import first_call
from onnxjit._jit.function import Call

from .base import Kernel, Result

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]

_STEPS = ("trace", "passes", "lower")
#: times in a block, of which the quickest counts
_TRIES = 3


def chain(n: int) -> Callable[..., Any]:
    """Return a function of n elementwise operations."""

    def run(x: Any, y: Any) -> Any:
        for _ in range(n // 5):
            x = np.sin(x)
            x = x + y
            x = x * 0.5
            x = np.abs(x)
            x = x - y
        return x

    return run


def slices(n: int) -> Callable[..., Any]:
    """Return a function of n operations, two thirds of them slices."""

    def run(x: Any, _: Any) -> Any:
        for _ in range(n // 3):
            x = x[1:] - x[:-1]
        return x

    return run


def views(n: int) -> Callable[..., Any]:
    """Return a function of n views, each one of the last."""

    def run(x: Any, _: Any) -> Any:
        for _ in range(n // 2):
            x = x[1:]
            x = x.T
        return x * 2

    return run


def _compiling(make: Callable[[int], Callable[..., Any]]) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        fn = make(size)
        random = np.random.default_rng(0)
        args = tuple(random.random((size + 1, size + 1)).astype("f4") for _ in range(2))
        jit = jit_onnx(fn, fallback="error")
        np.testing.assert_allclose(jit(*args), fn(*args), rtol=1e-4, atol=1e-5)
        call = Call(jit._naming(None), args, {}, None)
        steps: dict[str, list[float]] = {}
        for _ in range(min(blocks, max(3, 2000 // size))):
            for step, times in first_call(jit, call, times=_TRIES).items():
                steps.setdefault(step, []).append(min(times.samples))
        ours = [sum(parts) for parts in zip(*(steps[s] for s in _STEPS), strict=True)]
        ratio = [a / b for a, b in zip(ours, steps["session"], strict=True)]
        return Result(Spread(ratio), {name: Spread(each) for name, each in steps.items()})

    return run


KERNELS = [
    Kernel(
        "compile-chain", _compiling(chain), [10, 100, 1000], {10: 1.5, 100: 1.0, 1000: 1.0}
    ),
    Kernel("compile-slices", _compiling(slices), [12, 102], {12: 1.5, 102: 1.0}),
    Kernel("compile-views", _compiling(views), [12, 100], {12: 1.5, 100: 1.0}),
]
