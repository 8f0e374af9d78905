# SPDX-License-Identifier: Apache-2.0
"""`verify` and `benchmark` of functions that change their object, globals or variables."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._jit.start import Start

X = np.array([1.0, 2.0])
COUNTS = [0]
TOTAL = np.zeros(2)
LAST: Any = None


class Filter:
    def __init__(self) -> None:
        self.steps = 0
        self.state = np.ones(2)
        self.history: list[Any] = []

    @jit_onnx
    def step(self, x):
        self.steps += 1
        self.state = self.state * 0.5 + x
        return self.state * self.steps

    @jit_onnx
    def added(self, x):
        self.state += x
        return self.state

    @jit_onnx
    def noted(self, x):
        self.history.append(x.sum())
        return x * len(self.history)


@jit_onnx
def counted(x):
    COUNTS[0] += 1
    return x * COUNTS[0]


@jit_onnx
def summed(x):
    TOTAL[:] += x
    return TOTAL * 2


@jit_onnx
def remembered(x):
    global LAST  # noqa: PLW0603  what is asked
    LAST = x if LAST is None else x + LAST
    return LAST * 2


def counter() -> Any:
    n = 0

    @jit_onnx
    def step(x):
        nonlocal n
        n += 1
        return x * n

    return step


CASES = {
    "attributes": lambda: Filter().step,
    "arrays": lambda: Filter().added,
    "lists": lambda: Filter().noted,
    "items": lambda: counted,
    "global arrays": lambda: summed,
    "globals": lambda: remembered,
    "variables": counter,
}


@pytest.mark.parametrize("name", CASES)
def test_each_run_of_a_verification_starts_from_one_state(name: str) -> None:
    fn = CASES[name]()
    before = COUNTS[0], TOTAL.copy(), LAST
    (call, *_) = fn.verify(X).rows
    assert call.checks["onnxruntime"].ok
    np.testing.assert_array_equal(TOTAL, before[1])
    assert (COUNTS[0], LAST) == (before[0], before[2])


def test_a_benchmark_leaves_the_object_as_it_was() -> None:
    filter_ = Filter()
    report = filter_.step.benchmark(X, repeat=2)
    assert report.ok
    assert filter_.steps == 0
    np.testing.assert_array_equal(filter_.state, np.ones(2))


def test_containers_and_generators_are_put_back() -> None:
    class Holder:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(0)
            self.queue = deque([1, 2])
            self.names = {"a"}
            self.table: dict[str, Any] = {"x": [1], "me": self}

    holder = Holder()
    start = Start(holder)
    assert not start.restore()
    wanted = np.random.default_rng(0).random()
    holder.rng.random()
    holder.queue.popleft()
    holder.names.add("b")
    holder.table["x"].append(2)
    del holder.table["me"]
    assert start.restore()
    assert (holder.queue, holder.names) == (deque([1, 2]), {"a"})
    assert holder.table == {"x": [1], "me": holder}
    assert holder.rng.random() == wanted
