# SPDX-License-Identifier: Apache-2.0
"""What symbolic sizes cost while tracing; run as `python benchmarks/sizes.py`.

*Warm* repeats a question that its environment has answered before, *cold* asks it in a new
one. Prints the best of several runs, in microseconds.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import tracing
from onnxjit._core.dims import Dim, ShapeEnv, broadcast_shapes, same, slice_bounds
from onnxjit._core.program import Program
from onnxjit._trace.trace import Tracer
from onnxjit._transform.pipeline import simplify

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 200
SLICES = {"[1:]": (1, None, 1), "[:-1]": (None, -1, 1), "[::2]": (None, None, 2)}


def best(prepare: Callable[[], Any], run: Callable[[Any], object], times: int = 1) -> float:
    """Return the least time of one run, in microseconds; each round prepares anew."""
    least = float("inf")
    for _ in range(ROUNDS):
        state = prepare()
        start = perf_counter()
        for _ in range(times):
            run(state)
        least = min(least, (perf_counter() - start) / times)
    return least * 1e6


def sizes() -> tuple[Dim, Dim]:
    """Return two sizes of a new environment."""
    env = ShapeEnv()
    return env.symbol("N", 100), env.symbol("M", 30)


def cut(start: int | None, stop: int | None, step: int, dims: tuple[Dim, Dim]) -> object:
    """Slice an axis of the first size."""
    return slice_bounds(start, stop, step, dims[0])


def steps(x: Any) -> Any:
    """Trace ten equations, most of them slices."""
    y = x[1:] - x[:-1]
    z = y[1:-1] * y[2:]
    w = x[:, ::2] + x[:, 1::2]
    return y, z, w, x[::-1]


def traced() -> Program:
    """Return the program of `steps`."""
    tracer = Tracer(ShapeEnv())
    x = tracer.array_input("x", np.dtype(np.float32), (None, None), example=EXAMPLE)
    with tracing(tracer):
        tracer.root.outputs = [each._value for each in steps(x)]
    return Program(tracer.root, ("x",), "yzwv")


EXAMPLE = np.zeros((100, 30), np.float32)


def ask(name: str, question: Callable[[tuple[Dim, Dim]], object]) -> None:
    """Print the warm and the cold time of one question."""
    times = best(sizes, question, 100), best(sizes, question)
    print(f"{name:28}{times[0]:10.2f}{times[1]:10.2f}")


def main() -> None:
    """Print a table."""
    print(f"{'microseconds':28}{'warm':>10}{'cold':>10}")
    ask("N + 1", lambda d: d[0] + 1)
    ask("N - M", lambda d: d[0] - d[1])
    ask("(N - 1) * M", lambda d: (d[0] - 1) * d[1])
    ask("(N + 1) // 2", lambda d: (d[0] + 1) // 2)
    ask("same(N, N)", lambda d: same(d[0], d[0]))
    ask("same(N, M)", lambda d: same(d[0], d[1]))
    ask("same(N - 1, N)", lambda d: same(d[0] - 1, d[0]))
    for text, (start, stop, step) in SLICES.items():
        ask(f"slice {text}", partial(cut, start, stop, step))
    ask("broadcast (N, M), (N, M)", lambda d: broadcast_shapes(d[0].env, d, d))
    ask("broadcast (N, M), (1, M)", lambda d: broadcast_shapes(d[0].env, d, (1, d[1])))
    print(f"{'trace ten equations':28}{'':10}{best(lambda: None, lambda _: traced()):10.0f}")
    print(f"{'simplify them':28}{'':10}{best(traced, simplify):10.0f}")


if __name__ == "__main__":
    main()
