# SPDX-License-Identifier: Apache-2.0
"""What the first iteration makes of another kind: it stays outside of the loop."""

import numpy as np
import pytest

from onnxjit import jit_onnx

RNG = np.random.default_rng(11)


def powers(x, k):
    total = 0
    for i in range(k):
        total += x**i
    return total


def sum_of_rows(x):
    total = 0
    for row in x:
        total = total + row * 2
    return total


def largest(x):
    best = None
    for row in x:
        best = row if best is None else np.maximum(best, row)
    return best


def until(x, limit):
    total, n = 0.0, 0
    while np.sum(total) < limit:
        total = total + x
        n += 1
    return total, n


def nested(x):
    total = 0
    for i in range(len(x)):
        inner = 0
        for j in range(len(x)):
            inner += x[i] * x[j]
        total += inner
    return total


def product(x, k):
    found = 1
    for i in range(k):
        found *= x[:, i]
    return found


CALLS = [
    (powers, [(np.array([3, 2]), 4), (np.array([3, 2, 5]), 1), (np.array([1, 2]), 0)]),
    (sum_of_rows, [(RNG.random((4, 3)),), (RNG.random((1, 3)),), (np.zeros((0, 3)),)]),
    (largest, [(RNG.random((4, 3)),), (RNG.random((1, 3)),)]),
    (until, [(RNG.random((4, 3)), 5.0), (RNG.random((2, 3)), 3.0)]),
    (nested, [(RNG.random((4, 3)),), (RNG.random((2, 3)),)]),
    (product, [(RNG.random((4, 3)), 2), (RNG.random((4, 3)), 3)]),
]


def leaves(x):
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize(("fn", "calls"), CALLS, ids=[fn.__name__ for fn, _ in CALLS])
def test_is_pythons(fn, calls, opset):
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for args in calls:
        for got, want in zip(leaves(jit(*args)), leaves(fn(*args)), strict=True):
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-12)


def left_in_the_first_iteration(y):
    for _ in range(len(y)):
        for _ in range(len(y)):
            y = y - np.cumsum(y) % 32
        return [y, str(len(y))]
    return [y, "none"]


def looked_up_by_a_size(y):
    words = {1: 10.0, 3: 30.0}
    for row in y:
        y = y + words[len(y)] * row
    return y


@pytest.mark.parametrize("fn", [left_in_the_first_iteration, looked_up_by_a_size])
def test_sizes_frozen_in_a_loop_that_the_first_call_skips(fn):
    jit = jit_onnx(fn)
    for size in (0, 3, 1, 0):
        y = np.arange(1.0, size + 1)
        for want, got in zip(fn(y), jit(y), strict=True):
            np.testing.assert_array_equal(got, want)
