# SPDX-License-Identifier: Apache-2.0
"""Types of what branches and loops make: those of the path that the call took."""

import linecache
from typing import Any

import numpy as np
import pytest

from onnxjit import FallbackWarning, UnsupportedError, jit_onnx
from tests.control.modes import limited
from tests.jit.harness import same

V = np.array([3.0, -1.5, 2.25])
F = V.astype("f4")
INPUTS = [V, -V, F, -F, V * [1, 1, -1], V * 2, np.zeros(3), F * 0, V[:0], F[:0]]


def number_or_scalar(x):
    if x.sum() > 0:
        return 0.1
    return x.sum()


def three_types(x):
    if x.sum() > 0:
        return 1
    if x[0] > 0:
        return 0.25
    return x[0]


def float32_or_float64(x):
    return x.astype("f8") if x[0] > 0 else x


def big_number(x):
    return 2**60 + 1 if x[0] > 0 else x[1]


def nested(x):
    r = 0
    if x[0] > 0:
        r = x[1]
        if x[2] > 0:
            r = 3
    return r, [r]


def operand(x):
    return x[0] > 0 and x[1]


def sum_of_rows(x):
    s = 0.0
    for v in x:
        s = s + v
    return s


def wider_array(x):
    y = np.zeros(2, "f4") + np.float32(0.1)
    for v in x:
        y = y * 0.1 + v
    return y


def counted_by_data(x):
    s = 0
    for _ in range(int(x[0])):
        s = s + x[1]
    return s


def wider_scalar_counted_by_data(x):
    s = np.float32(0.1)
    for _ in range(int(x[0])):
        s = s * np.float64(0.3) + x[1]
    return s


def number_while(x):
    s = 0.1
    while s < x[0]:
        s = s * 1.3 + abs(x[1]) + 0.01
    return s


def wider_while(x):
    s, k = np.float32(0.1), 0
    while s < x[0]:
        s = s * np.float64(0.3) + abs(x[1]) + 0.01
        k += 1
        if k > 4:
            break
    return s, k


@pytest.mark.parametrize(
    "fn",
    [
        number_or_scalar, three_types, float32_or_float64, big_number, nested, operand,
        sum_of_rows, wider_array, counted_by_data, wider_scalar_counted_by_data,
        number_while, wider_while,
    ],
)  # fmt: skip
def test_results_have_the_types_of_the_path_taken(fn: Any) -> None:
    jit = jit_onnx(fn, fallback="error")
    for x in INPUTS:
        try:
            want = fn(x)
        except IndexError:
            continue
        same(jit(x.copy()), want)


def test_a_number_that_is_exact_needs_no_iteration_of_its_own() -> None:
    """A sum that starts as 0 is a running sum, with neither a Loop nor a branch before it."""
    model = jit_onnx(sum_of_rows).to_onnx(F)
    nodes = {n.op_type for n in model.graph.node}
    assert "CumSum" in nodes
    assert not {"If", "Loop"} & nodes


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def fibonacci(n):
    return n if n <= 1 else fibonacci(n - 1) + fibonacci(n - 2)


@pytest.mark.parametrize("fn", [factorial, fibonacci])
def test_recursion_that_data_ends_runs_eagerly(fn: Any) -> None:
    jit = jit_onnx(fn)
    with pytest.warns(FallbackWarning, match=r"calls itself .*test_types\.py.* write a loop"):
        same(jit(np.int64(6)), fn(np.int64(6)))
    with pytest.raises(UnsupportedError, match="calls itself"):
        jit.to_onnx(np.int64(6))


def chosen_again_and_again(x):
    s = 0.5
    for i in (0, 1, 2, 0, 1, 2, 0, 1, 2, 1):
        if x[i] < 3:
            if x[i] > s:
                s = x[i] / 2
            if x[1] > s:
                s = s + 0.25
            if x[2] > s:
                s = 0.125
    return s, (s, x.sum() if s > 1 else s)


def chosen_arrays_of_two_types(x):
    y = x
    for i in (0, 1, 2, 0, 1, 2, 0, 1, 2, 1):
        if x[i] < 3:
            if x[i] > y[1]:
                y = y.astype("f8")
            if x[1] > y[i]:
                y = x
    return y


@pytest.mark.parametrize("fn", [chosen_again_and_again, chosen_arrays_of_two_types])
def test_choices_among_choices_take_no_more_time_than_one_each(fn: Any) -> None:
    jit = jit_onnx(fn, fallback="error")
    with limited(20.0):
        for x in INPUTS[:8]:
            same(jit(x.copy()), fn(x))


def test_many_choices_one_after_another_are_no_recursion() -> None:
    lines = [
        f"    if x[{i}] > s:\n        s = x[{i}] if x[0] > 0 else 2.0\n" for i in range(300)
    ]
    text = "".join(["def fn(x):\n    s = 0.5\n", *lines, "    return s\n"])
    linecache.cache["<choices>"] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        "<choices>",
    )
    space: dict[str, Any] = {}
    exec(compile(text, "<choices>", "exec"), space)
    fn = space["fn"]
    jit = jit_onnx(fn, fallback="error")
    x = np.linspace(0, 1, 300)
    for each in (x, -x, x + 1, x * 3 - 1):
        same(jit(each), fn(each))
