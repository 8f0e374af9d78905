# SPDX-License-Identifier: Apache-2.0
"""Tracing and lowering against the creation of the session that follows."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Spread
from onnxjit._jit.benchmark import first_call
from onnxjit._jit.function import Call

from .base import Kernel, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["KERNELS"]

_STEPS = ("trace", "passes", "lower")
#: times in a block, of which the quickest counts
_TRIES = 3


def _straight(name: str, lines: Sequence[str], result: str) -> Callable[..., Any]:
    """Return a function of statements one after another: a loop could stay one."""
    text = "\n    ".join([f"def {name}(x, y):", *lines, f"return {result}"]) + "\n"
    file = f"<{name} of {len(lines)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(compile(text, file, "exec"), namespace)
    made: Callable[..., Any] = namespace[name]
    return made


def chain(n: int) -> Callable[..., Any]:
    """Return a function of n elementwise operations."""
    steps = ["x = np.sin(x)", "x = x + y", "x = x * 0.5", "x = np.abs(x)", "x = x - y"]
    return _straight("chain", steps * (n // 5), "x")


def slices(n: int) -> Callable[..., Any]:
    """Return a function of n operations, two thirds of them slices."""
    return _straight("slices", ["x = x[1:] - x[:-1]"] * (n // 3), "x")


def views(n: int) -> Callable[..., Any]:
    """Return a function of n views, each one of the last."""
    return _straight("views", ["x = x[1:]", "x = x.T"] * (n // 2), "x * 2")


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
