# SPDX-License-Identifier: Apache-2.0
"""``match`` on data, and ``try`` around what data may make fail."""

import dataclasses
import math
import warnings
from typing import Any

import numpy as np
import pytest

from onnxjit import (
    AssumptionWarning,
    DataDependentError,
    FallbackWarning,
    eager_onnx,
    jit_onnx,
)
from tests.jit.harness import same


def scaled(x: Any, kind: Any) -> Any:
    match kind:
        case 0:
            return x
        case 1 | 2:
            y = x * kind
        case n if n > 10:
            y = x + n
        case n:
            y = -x + n
    return y


def quadrant(x: Any) -> Any:
    match (bool(x[0] > 0), bool(x[1] > 0)):
        case (True, True):
            return 1
        case (True, _):
            return 4
        case (False, True):
            return 2
        case _:
            return 3


def by_name(x: Any, mode: Any) -> Any:
    match mode:
        case "double":
            return x * 2
        case None:
            return x
        case {"add": n}:
            return x + n
        case [first, *_]:
            return x - first
    return -x


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 11])
def test_a_match_of_data_is_one_graph(kind: int) -> None:
    fn = jit_onnx(scaled, fallback="error")
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(fn(x, np.int64(0)), x)
    np.testing.assert_array_equal(fn(x, np.int64(kind)), scaled(x, np.int64(kind)))
    assert fn.cache_info()["graphs"] == 1


def test_tuples_are_matched_by_their_parts() -> None:
    fn = jit_onnx(quadrant, fallback="error")
    for a in (1.0, -1.0):
        for b in (1.0, -1.0):
            x = np.array([a, b])
            assert fn(x) == quadrant(x)
    assert fn.cache_info()["graphs"] == 1


def guarded(x: Any, k: Any) -> Any:
    match (k % 3, bool(x[0] > 1.0 or x[0] < 0)):
        case (0, True):
            y = x + 1
        case (m, False) if m > 1:
            y = x * m
        case (1 | 2 as m, _) if m != 1:
            y = x - m
        case _:
            y = -x
    return y + m if k % 3 else y


def parts_of(x: Any, k: Any) -> Any:
    pair = (k, float(x.sum()))
    match pair:
        case (0, 0.0):
            y = 1.0
        case (n, total) if n > 2:
            y = n + total
        case [_, 3.0]:
            y = 2.0
        case _:
            y = 0.0
    return y


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


def kind_of(x: Any, k: Any) -> Any:
    found: list[Any] = []
    for value in (bool(x[0] > 0), k, Point(k, x[0])):
        match value:
            case True:
                found.append(1)
            case False:
                found.append(2)
            case int(n) if n > 1:
                found.append(n + 10)
            case int():
                found.append(4)
            case Point(x=1, y=y):
                found.append(y)
            case Point(y=y):
                found.append(-y)
    return np.array(found)


@pytest.mark.parametrize("fn", [guarded, parts_of, kind_of])
def test_patterns_of_data_are_in_the_graph(fn: Any) -> None:
    converted = jit_onnx(fn, fallback="error")
    for first in (0.0, 3.0, -1.0, 0.5):
        for k in range(4):
            x = np.array([first, 0.0])
            args = x, int(k) if fn is kind_of else np.int64(k)
            np.testing.assert_array_equal(converted(*args), fn(*args))


def starred(x: Any) -> Any:
    match [bool(x[0] > 0), 2, 3]:
        case [True, *rest]:
            return sum(rest)
        case _:
            return 0


def test_a_pattern_that_stays_pythons_does_not_overlook_data() -> None:
    with pytest.raises(DataDependentError, match="a star"):
        jit_onnx(starred, fallback="error")(np.ones(2))
    with pytest.warns(FallbackWarning, match="a star"):
        assert jit_onnx(starred)(np.ones(2)) == 5


@pytest.mark.parametrize("mode", ["double", None, {"add": 3}, [1, 2], "other"])
def test_other_patterns_stay_pythons(mode: Any) -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(
        jit_onnx(by_name, fallback="error")(x, mode), by_name(x, mode)
    )


def picked(x: Any, i: Any) -> Any:
    try:
        return x[i]
    except IndexError:
        return -1.0


def positive(x: Any) -> Any:
    try:
        if x.sum() < 0:
            raise ValueError  # noqa: TRY301  what is tested
        y = x * 2
    except ValueError:
        y = x * 0
    return y


def closed(x: Any, log: Any) -> Any:
    try:
        y = np.sqrt(x)
    finally:
        log = log + 1
    return y + log


def test_a_handler_runs_where_the_run_fails() -> None:
    fn = jit_onnx(picked)
    x = np.array([1.0, 2.0])
    assert [fn(x, np.int64(i)) for i in (0, 1)] == [1.0, 2.0]
    with pytest.warns(FallbackWarning):
        assert fn(x, np.int64(5)) == -1.0


def test_an_exception_of_data_with_a_handler_falls_back() -> None:
    fn = jit_onnx(positive)
    for x in (np.array([1.0, 2.0]), np.array([-1.0, -2.0])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            np.testing.assert_array_equal(fn(x), positive(x))
    assert fn.cache_info() == {"graphs": 0, "eager": 1}


def test_a_try_without_handlers_is_a_graph() -> None:
    fn = jit_onnx(closed, fallback="error")
    x = np.array([1.0, 4.0])
    np.testing.assert_array_equal(fn(x, 1.0), closed(x, 1.0))


def fourth(x: Any) -> Any:
    total = 0.0
    for e in x:
        try:
            last = float(x[3])
        except IndexError:
            last = -1.0
        total += last * e
    return total


@pytest.mark.parametrize("first", [5, 3])
def test_what_sizes_decide_is_caught_in_loops_too(first: int) -> None:
    fn = jit_onnx(fourth, fallback="error")
    for n in (first, 5, 3, 1, 0):
        assert fn(np.arange(n) + 1.0) == fourth(np.arange(n) + 1.0)
    with pytest.warns(AssumptionWarning, match="right only where x_0"):
        jit_onnx(fourth).to_onnx(np.arange(first) + 1.0)


def helpers_made_in_a_loop(x: Any) -> Any:
    total = 0.0
    for e in x:

        def depth(k: Any) -> Any:
            if k <= 0:
                return 0
            return 1 + depth(k - 2)

        total += depth(5) * e
    return total


def test_a_recursive_function_may_be_made_in_a_loop() -> None:
    x = np.arange(4.0)
    assert jit_onnx(helpers_made_in_a_loop, fallback="error")(x) == helpers_made_in_a_loop(x)


def chosen_size(x: Any, y: Any) -> Any:
    z = x if x.sum() > 0 else y
    try:
        last = float(z[1])
    except IndexError:
        last = -1.0
    return last


def test_an_export_refuses_what_data_decides_in_a_try() -> None:
    fn = jit_onnx(chosen_size)
    assert fn(np.ones(2), np.ones(1)) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert fn(-np.ones(2), np.ones(1)) == -1.0
    with pytest.raises(DataDependentError, match="may handle the IndexError"):
        fn.to_onnx(np.ones(2), np.ones(1))


# --- what raises for Python's numbers only


def quotient(x: Any) -> Any:
    try:
        return float(x[0]) / float(x[1])
    except ZeroDivisionError:
        return -1.0


def ratio(p: Any, q: Any) -> Any:
    return p / q


def quotients(x: Any) -> Any:
    found = []
    for v in x.tolist():
        try:
            found.append(ratio(1.0, v))
        except (TypeError, ArithmeticError):
            found.append(0.0)
    return found


def in_place(x: Any) -> Any:
    s = float(x[0])
    try:
        s /= float(x[1])
    except ArithmeticError:
        s = 0.0
    return s


def power_or_rest(x: Any) -> Any:
    try:
        return float(x[0]) ** float(x[1]), divmod(float(x[0]), float(x[1]))
    except:  # noqa: E722
        return 0.0, (0.0, 0.0)


def root(x: Any) -> Any:
    try:
        return math.sqrt(x[0]) + math.log(x[1])
    except ValueError:
        return -1.0


def exponential(x: Any) -> Any:
    try:
        return math.exp(x[0] * 2000)
    except OverflowError:
        return float("inf")


def whole(x: Any) -> Any:
    try:
        return int(x[0] / x[1]), round(x[0] / x[1]), math.floor(x[0] / x[1])
    except (ValueError, OverflowError):
        return -1, -1, -1


PAIRS = [np.array(p) for p in ([1.0, 2.0], [1.0, 0.0], [-0.0, 0.0], [0.0, -1.0], [-2.0, 3.0])]


@pytest.mark.parametrize(
    "fn", [quotient, quotients, in_place, power_or_rest, root, exponential, whole]
)
def test_what_a_handler_would_see_is_no_infinity(fn: Any) -> None:
    jit = jit_onnx(fn)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for x in PAIRS:
            same(jit(x), fn(x))
    with pytest.raises(DataDependentError, match=r"test_match_try\.py.* may handle"):
        jit.to_onnx(PAIRS[0])


def numpys_quotient(x: Any) -> Any:
    try:
        return x[0] / x[1]
    except ZeroDivisionError:
        return -1.0


def other_handler(x: Any) -> Any:
    try:
        return float(x[0]) / 2 + math.sqrt(abs(x[1])) + float(x[0]) ** 2
    except (KeyError, ZeroDivisionError):
        return -1.0


def mean(x: Any) -> Any:
    try:
        return sum(x.tolist()) / len(x)
    except ZeroDivisionError:
        return -1.0


@pytest.mark.parametrize("fn", [numpys_quotient, other_handler, mean])
def test_what_no_handler_would_see_is_a_graph(fn: Any) -> None:
    jit = jit_onnx(fn, fallback="error")
    with np.errstate(all="ignore"):
        for x in PAIRS:
            same(jit(x), fn(x))
    assert jit.cache_info()["graphs"] == 1


def test_a_size_decides_whether_a_division_raises() -> None:
    jit = jit_onnx(mean)
    same(jit(PAIRS[0]), mean(PAIRS[0]))
    with pytest.warns(FallbackWarning, match="may handle"):
        same(jit(PAIRS[0][:0]), -1.0)
    assert jit.cache_info() == {"graphs": 1, "eager": 1}


# --- tuples of which a part is data


def steps_of_states(x: Any) -> Any:
    state = count = 0
    for v in x:
        match (state, bool(v > 0)):
            case (0, True):
                state = 1
            case (1, True):
                state, count = 2, count + 1
            case (2, False) | (1, False):
                state = 0
            case _:
                pass
    return state, count


def alternatives(x: Any) -> Any:
    found = 0
    for v in x:
        match v > 1, found:
            case (True, _):
                found += 1
            case (False, 0) | (False, 1):
                found += 10
            case (_, 7 | 8) | _:
                found += 100
    return found


@pytest.mark.parametrize("fn", [steps_of_states, alternatives])
def test_alternatives_of_tuples(fn: Any) -> None:
    for x in (X3, -X3, np.arange(6.0), np.zeros(0), np.array([2.0, 2.0, -1.0])):
        same(jit_onnx(fn, fallback="error")(x), fn(x))
        same(eager_onnx(fn)(x), fn(x))


X3 = np.array([1.0, 2.0, -3.0])


def left_to_python(x: Any) -> Any:
    match (x[0] > 0, x.sum()):
        case (True, *_):
            return 1
        case (_, float(), *rest):
            return len(rest)
        case (_, np.float64(real=r)):
            return r
        case _:
            return -1


def test_patterns_that_stay_pythons_see_numpys_numbers() -> None:
    for x in (X3, -X3):
        assert eager_onnx(left_to_python)(x) == left_to_python(x)
        with pytest.warns(FallbackWarning, match="a match of a number"):
            assert jit_onnx(left_to_python)(x) == left_to_python(x)
