# SPDX-License-Identifier: Apache-2.0
"""Lists that grow in loops and branches of the graph: graphs, results, refusals.

``programs/lists.py`` compares them with plain Python.
"""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

from onnxjit import (
    AliasError,
    DataDependentError,
    FallbackWarning,
    UnsupportedError,
    float32,
    float64,
    jit_onnx,
)
from tests.control.modes import graphs
from tests.control.programs.lists import (
    EMPTY,
    TABLE,
    A,
    B,
    comprehensions,
    in_a_while,
    of_lists,
    of_tuples,
    on_a_condition,
    over_an_array,
)
from tests.control.record import PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize(
    "fn", [over_an_array, on_a_condition, of_lists, of_tuples, in_a_while, comprehensions]
)
def test_one_graph_serves_all_lengths(fn: Any) -> None:
    (given,) = (p for p in PROGRAMS if p.fn is fn)
    made, wanted = graphs(given)
    assert made == wanted


def test_result_is_a_plain_list_of_its_own() -> None:
    fn = jit_onnx(of_rows_returned, fallback="error")
    first, again = fn(TABLE)
    assert type(first) is list
    assert type(first[0]) is np.ndarray
    first[0][0] = 9.0
    assert first[1][0] == TABLE[1, 0]
    assert fn(TABLE)[0][0][0] == TABLE[0, 0]
    assert again is not None


def of_rows_returned(table):
    out = []
    for row in table:
        out.append(row + 0)
    return out, len(out)


def test_an_array_written_to_after_it_was_appended() -> None:
    def running(x: Any) -> Any:
        out, row = [], np.zeros(3)
        for v in x:
            row += v
            out.append(row)
        return np.array(out)

    with pytest.raises(AliasError):
        jit_onnx(running).to_onnx(float64["N"])
    got = jit_onnx(running, fallback="error")(A)  # unrolled
    np.testing.assert_array_equal(got, running(A))


def test_a_copy_appended() -> None:
    def running(x: Any) -> Any:
        out, row = [], np.zeros(3)
        for v in x:
            row += v
            out.append(row.copy())
        return np.array(out)

    np.testing.assert_array_equal(jit_onnx(running, fallback="error")(A), running(A))


def test_a_list_written_to_after_it_was_appended() -> None:
    def running(x: Any) -> Any:
        out, pair = [], [0.0, 0.0]
        for v in x:
            out.append(pair)
            pair[0] = pair[0] + v
        return out

    with pytest.raises(UnsupportedError, match="append a tuple"):
        jit_onnx(running, fallback="error")(A)


def test_rows_of_different_lengths() -> None:
    def ragged(x: Any) -> Any:
        out = []
        for i in range(len(x)):
            out.append(x[:i])
        return out

    with pytest.raises(UnsupportedError, match="pad them"):
        jit_onnx(ragged).to_onnx(float64["N", 3])
    jitted = jit_onnx(ragged, fallback="error")  # unrolled
    for x in (A, A[:1], A[:0]):
        np.testing.assert_equal(jitted(x), ragged(x))


def test_elements_of_different_structure() -> None:
    def mixed(x: Any) -> Any:
        out = [(1.0, 2.0)]
        for v in x:
            out.append(v)
        return out

    with pytest.raises(UnsupportedError, match="differ in structure"):
        jit_onnx(mixed).to_onnx(float64["N", 3])
    np.testing.assert_equal(jit_onnx(mixed, fallback="error")(A), mixed(A))  # unrolled


def test_float32_does_not_round_python_floats() -> None:
    def mixed(x: Any) -> Any:
        out = [0.1]
        for v in x:
            out.append(v)
        return np.array(out)

    with pytest.raises(UnsupportedError, match="one dtype"):
        jit_onnx(mixed).to_onnx(float32["N"])
    x = A.astype(np.float32)
    got = jit_onnx(mixed, fallback="error")(x)  # unrolled
    np.testing.assert_array_equal(got, mixed(x))
    assert got.dtype == mixed(x).dtype


def test_a_list_that_grows_while_it_is_run_through() -> None:
    def grows(x: Any) -> Any:
        queue = [x[0]]
        for v in queue:
            if v > 1:
                queue.append(v / 2)
        return queue

    with pytest.raises(UnsupportedError, match="runs through it"):
        jit_onnx(grows, fallback="error")(A)
    with pytest.warns(FallbackWarning):
        assert jit_onnx(grows)(A) == grows(A)


def test_a_place_that_is_not_there() -> None:
    def last(x: Any) -> Any:
        out = []
        for v in x:
            if v > 0:
                out.append(v)
        return out[-1]

    fn = jit_onnx(last, fallback="error")
    assert fn(A) == last(A)
    with pytest.raises(IndexError, match="list index out of range"):
        fn(B - 9)


def test_an_empty_list_of_integers_has_numpys_dtype() -> None:
    def places(x: Any) -> Any:
        out = []
        for i, v in enumerate(x):
            if v > 0:
                out.append(i)
        return np.array(out)

    fn = jit_onnx(places)
    np.testing.assert_array_equal(fn(A), places(A))
    with pytest.warns(FallbackWarning):
        assert fn(B - 9).dtype == places(B - 9).dtype


def test_a_set_chosen_by_data() -> None:
    def chosen(x: Any) -> Any:
        return len({v for v in (x[0], x[1]) if v > 0})

    with pytest.raises(DataDependentError):
        jit_onnx(chosen, fallback="error")(A)


def test_a_bound_learned_in_a_loop_ends_with_it() -> None:
    def or_nothing(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += x[i]
        return -1.0 if len(x) == 0 else total

    fn = jit_onnx(or_nothing, fallback="error")
    assert [fn(A), fn(EMPTY), fn(B)] == [or_nothing(A), or_nothing(EMPTY), or_nothing(B)]


def test_the_first_of_a_generator() -> None:
    def first(x: Any) -> Any:
        return next(v for v in x if v > 0)

    fn = jit_onnx(first, fallback="error")
    assert fn(A) == first(A)
    with pytest.raises(StopIteration):
        fn(B - 9)


def test_a_generator_is_no_result() -> None:
    with pytest.raises(UnsupportedError, match="return a list"):
        jit_onnx(lambda x: (v * 2 for v in x), fallback="error")(A)


def test_elements_that_data_chooses_among_texts() -> None:
    def named(x: Any) -> Any:
        return ["low" if v < 0 else ("mid", v) if v < 1 else None for v in x]

    fn = jit_onnx(named, fallback="error")
    for x in (A, B, EMPTY):
        assert fn(x) == named(x)


@pytest.mark.parametrize(
    "use", [tuple, lambda found: (*found, 1.0), lambda found: max(*found)]
)
def test_what_takes_a_list_apart_is_told_so(use: Any) -> None:
    def apart(x: Any) -> Any:
        found = []
        for v in x:
            if v > 0:
                found.append(v)
        return use(found)

    with pytest.raises(DataDependentError, match="a list is taken apart at"):
        jit_onnx(apart).to_onnx(A)


def test_places_that_nothing_fills_are_left_to_python() -> None:
    def filled(x: Any) -> Any:
        out = [None] * len(x)
        for i in range(len(x)):
            if x[i] > 0:
                out[i] = x[i]
        return out

    fn = jit_onnx(filled)
    positive = np.abs(A)
    assert fn(positive) == filled(positive)
    with pytest.warns(FallbackWarning):
        assert fn(A) == filled(A)


def _doubled(x: Any) -> list[Any]:
    found: list[Any] = []
    i = 0
    while x[i] > 0:
        found.append(x[i] * 2)
        i += 1
    return found


def test_methods_of_the_class_take_lists_that_grow() -> None:
    def f(x: Any) -> Any:
        found = _doubled(x)
        list.append(found, x[0])
        return list.copy(found)

    x = np.array([1.0, 3.0, 2.0, -1.0, 5.0])
    jit = jit_onnx(f, fallback="error")
    for values in (x, x[1:]):
        assert jit(values) == f(values)


def test_c_code_does_not_read_the_memory_of_a_list_that_grows() -> None:
    def f(x: Any) -> Any:
        return np.array(array.array("d", _doubled(x)))

    x = np.array([1.0, 3.0, 2.0, -1.0, 5.0])
    with pytest.raises(DataDependentError, match=r"array\.array reads the memory"):
        jit_onnx(f, fallback="error")(x)
    with pytest.warns(FallbackWarning):
        np.testing.assert_array_equal(jit_onnx(f)(x), f(x))
