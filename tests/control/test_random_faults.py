# SPDX-License-Identifier: Apache-2.0
"""Small programs that random ones were made of when they failed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import DataDependentError, jit_onnx

X = np.array([1.0, -2.0, 3.0])


def outcome(fn, args):
    args = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        result, error = fn(*args), None
    except Exception as e:  # noqa: BLE001  compared
        result, error = None, (type(e), str(e).partition("\n")[0])
    return result, error, args


def agree(fn, *inputs):
    jit = jit_onnx(fn, fallback="error")
    for args in inputs:
        for got, want in zip(outcome(jit, args), outcome(fn, args), strict=True):
            np.testing.assert_equal(got, want)


# --- what a loop's body knows of sizes


def element_after_loop(x):
    for _ in x:
        pass
    return float(x[3 % len(x)]) if len(x) else 0.0


def element_after_range(x, n):
    for i in range(n):
        x[i % len(x)] += 1
    return x[n % n] if n else -1.0


def test_a_loop_that_may_not_run_says_nothing_of_sizes():
    agree(element_after_loop, (X,), (X[:0],))
    agree(element_after_range, (X, 3), (X, 0))


# --- bodies that raise


def other_branch_raises(x, s):
    if x.sum() > s:
        assert s > 0, "low"
        s = x.max()
    else:
        raise ValueError(s)
    return s


def raises_in_inner(x, s):
    t = 0.0
    if x.sum() > s:
        if (x < -1.5).any():
            assert s < 5, "high"
        elif x[0] > 0:
            t = x.min() - s
    return t


def view_where_other_raises(x, s):
    if x.sum() > s:
        y = x[1:]
    else:
        raise ValueError("low")  # noqa: EM101
    y[0] = 7
    return y.sum()


def loop_raises(x, n):
    x[0] += 1
    for i in range(n):
        raise KeyError(i)
    return x.sum()


def nested_loops_raise(x, y):
    for _ in range(len(x)):
        for i in range(1, len(y)):
            raise KeyError(i)
    return y.sum()


def loop_raises_on_data(x, s):
    while x.sum() > s:
        assert x.sum() > 100, f"low {s}"
        s += 1
    return s


@pytest.mark.parametrize("s", [0.0, 1.5, 9.0])
@pytest.mark.parametrize(
    "fn",
    [other_branch_raises, raises_in_inner, view_where_other_raises, loop_raises_on_data],
    ids=lambda f: f.__name__,
)
def test_a_body_that_raises(fn, s):
    agree(fn, (X, s), (X[::-1], s), (-X, s), (X + 3, s))


def test_a_loop_that_raises_may_not_run():
    agree(loop_raises, (X, 2), (X, 0))
    agree(nested_loops_raise, (X, X[:1]), (X[:0], X), (X, X))


# --- exceptions that need no data


def writes_and_raises(x, s):
    x[0] += 1
    assert s != s, f"never {s}"
    return x


def checks_and_raises(x):
    if x.sum() > 2:
        raise ValueError("high")  # noqa: EM101
    raise KeyError("always")  # noqa: EM101


def asserts_and_raises(x):
    assert x.sum() < 2, f"{x.sum()}"
    raise KeyError("always")  # noqa: EM101


def test_python_raises_what_it_raises_first():
    agree(writes_and_raises, (X, 1.0), (X, 2.0))
    agree(checks_and_raises, (X,), (X + 1,))
    agree(asserts_and_raises, (X,), (X + 1,))


def index_error_in_branch(x, y):
    x[0] += 1
    if x.sum() != 1.0:
        y[5] += 1
    return (y == 3.5).any()


def test_writes_before_an_index_that_is_out_of_range():
    agree(index_error_in_branch, (X, X), (X[:1] - 1, X), (X, np.arange(7.0)))


# --- exceptions made of numbers that only a run knows


def steps_of(x):
    t = 0
    while x.sum() > t:
        t += 1
    return t


def number_in_error(x):
    raise KeyError(steps_of(x))


def numbers_in_error(x):
    raise KeyError((steps_of(x), len(x), "steps"))


def size_in_error(x):
    raise KeyError(len(x))


def number_in_text(x):
    t = steps_of(x)
    text = f"{t} of {len(x)}"
    raise KeyError(text)


@pytest.mark.parametrize(
    "fn",
    [number_in_error, numbers_in_error, size_in_error, number_in_text],
    ids=lambda f: f.__name__,
)
def test_an_exception_has_numbers(fn):
    agree(fn, (X,), (X + 1,), (X[:1],))


def test_text_of_a_number_that_only_a_run_knows_is_no_result():
    def f(x):
        t = steps_of(x)
        return f"{t}", x

    with pytest.raises(DataDependentError, match="text made of"):
        jit_onnx(f, fallback="error")(X)


def one_element(x: Any, s: Any) -> Any:
    several = len(x) != 1
    halves = [e * 0.5 for e in range(len(x))]
    for e in x:
        if e > s:
            break
        return e
    return np.array(halves, "float64") + several


def test_a_loop_of_one_iteration_may_lengthen_a_list():
    fn = jit_onnx(one_element, fallback="error")
    for n in (1, 3, 0, 2):
        for s in (0.0, 9.0):
            x = np.full(n, 2.0)
            np.testing.assert_array_equal(fn(x, s), one_element(x, s))


def none_or_one(x: Any, s: Any) -> Any:
    if x.size > 1:
        return np.array([s])
    places = [e for e in range(len(x))]  # noqa: C416  what is tested
    places.append(-1)
    return np.array(places, "float64")


def test_a_loop_of_at_most_one_iteration_may_lengthen_a_list():
    fn = jit_onnx(none_or_one, fallback="error")
    for n in (1, 0, 3):
        np.testing.assert_array_equal(fn(np.ones(n), 0.0), none_or_one(np.ones(n), 0.0))


def returned_twice(x: Any, s: Any, n: Any) -> Any:
    for _ in range(n % 5):
        if s >= 2.0:
            return int((x > 0.5).sum())
        if 1.0 >= 2.0:  # noqa: PLR0133  a condition that is a constant of the graph
            return 0
    if n > 3:
        return 5
    return -1


def test_conditions_that_turn_out_to_be_constants_are_decided():
    fn = jit_onnx(returned_twice, fallback="error")
    for n in (3, 5, 4, 0):
        for s in (0.0, 3.0):
            assert fn(np.ones(3), s, n) == returned_twice(np.ones(3), s, n)


def remainders(x: Any, n: Any) -> Any:
    t = int(x.sum()) + n
    return t % 4, t % 5, t // 4, t // 5, t % 8, t // 8, t & 3, t >> 2, -t // 4, -t % 4


@pytest.mark.parametrize("opset", [13, 18, None])
def test_remainders_by_several_numbers_are_not_mixed_up(opset: int | None):
    fn = jit_onnx(remainders, fallback="error", opset=opset)
    for total in (-9.0, -1.0, 0.0, 7.0, 1e15):
        assert fn(np.array([total]), 3) == remainders(np.array([total]), 3)


# --- lists of a size that may be 0


def least_in_loop(x):
    places = [abs(e) for e in range(len(x))]
    least = -1
    for _ in x:
        least = min(places)
    return x[0] + least if len(x) else 0.0


def test_a_body_that_never_runs_may_hold_what_numpy_refuses():
    agree(least_in_loop, (X,), (X[:0],))


def places(x):
    return np.array([abs(e) for e in range(len(x))]), np.sum([2 * e for e in range(len(x))])


def pairs_of_places(x):
    return np.array([(e, e + 1) for e in range(len(x))]), np.array(range(len(x)))


def heads(x):
    return np.array([row[:2] for row in np.outer(x, x)], "f4")


def stacked_rows(x):
    return np.stack([v * 2 for v in x])


@pytest.mark.parametrize("fn", [places, pairs_of_places, heads, stacked_rows])
def test_sizes_tell_whether_a_list_is_empty(fn: Any):
    agree(fn, (X,), (X[:0],), (X[:1],), (X[:0],))
