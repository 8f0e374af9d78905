# SPDX-License-Identifier: Apache-2.0
"""``match`` on data, and ``try`` around what data may make fail."""

import warnings
from typing import Any

import numpy as np
import pytest

from onnxjit import FallbackWarning, jit_onnx


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
