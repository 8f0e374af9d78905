# SPDX-License-Identifier: Apache-2.0
"""Keys and attributes that are there on some paths only."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import DataDependentError, float64, jit_onnx


def last(x: Any) -> Any:
    found = {}
    for v in x:
        found["last"] = v * 2
    return found


def branch(x: Any) -> Any:
    found = {}
    if x.sum() > 2:
        found["sum"] = x.sum()
    return {"inner": found}


def nested(x: Any) -> Any:
    found = {"first": 1}
    for v in x:
        if v > 1:
            found["large"] = v
    return found, len(found), "large" in found, found.get("large", -1.0)


def deleted(x: Any) -> Any:
    found = {"k": x}
    if x.sum() > 2:
        del found["k"]
    return found


def popped(x: Any) -> Any:
    found = {"k": x}
    for v in x:
        if v > 1:
            found.pop("k", None)
    return found


def counted(x: Any) -> Any:
    found = {}
    i = 0
    while i < len(x):
        found["last"] = i
        i += 1
    return sorted(found), len(found)


def attribute(x: Any) -> Any:
    found = SimpleNamespace()
    for v in x:
        found.last = v
    return hasattr(found, "last"), list(vars(found))


@pytest.mark.parametrize("fn", [last, branch, nested, deleted, popped, counted, attribute])
@pytest.mark.parametrize("sizes", [(3, 0, 1, 9), (0, 1, 3, 9)])
def test_they_are_there_only_where_python_stores_them(fn: Any, sizes: Any) -> None:
    jitted = jit_onnx(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (*sizes, *sizes):
            x = np.arange(float(n))
            assert repr(jitted(x)) == repr(fn(x))


def asked_inside(x: Any) -> Any:
    found = {"count": 1}
    for v in x:
        if v > 1:
            found["large"] = v
        if "large" in found:
            found["count"] = found["count"] + 1
    return found["count"]


def counted_inside(x: Any) -> Any:
    found: dict[str, Any] = {}
    total = 0
    for v in x:
        if v > 1:
            found["large"] = v
        total += len(found)
    return total


def added_inside(x: Any) -> Any:
    found: dict[str, Any] = {}
    for v in x:
        if v > 1:
            if "sum" not in found:
                found["sum"] = v
            else:
                found["sum"] += v
        elif found:
            found["sum"] = found["sum"] * 2
    return found.get("sum", 0.0)


def with_default(x: Any) -> Any:
    found: dict[str, Any] = {}
    total = 0.0
    for v in x:
        if v > 1:
            found.setdefault("first", v)
        total += found.get("first", -1.0)
    return total


INSIDE = [asked_inside, counted_inside, added_inside, with_default]


@pytest.mark.parametrize("fn", INSIDE)
@pytest.mark.parametrize("values", [[0, 3, 1, 4, 0.5], [0.5, 0.1, 2.0], [2.0], [1.0, 0.0]])
def test_branches_and_loops_know_on_which_paths(fn: Any, values: list[float]) -> None:
    x = np.array(values, float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(jit_onnx(fn)(x)) == repr(fn(x))
    model = jit_onnx(fn).to_onnx(float64["N"])
    if max(values) > 1:  # there is a key after the loop
        (got,) = ort.InferenceSession(model.SerializeToString()).run(None, {"x": x})
        assert got == fn(x)


def run_through(x: Any) -> Any:
    found: dict[str, Any] = {}
    total = 0.0
    if x.sum() > 0:
        if x[0] > 1:
            found["a"] = x[0]
        for value in found.values():
            total += value
    return total


def test_what_needs_all_keys_is_told_so() -> None:
    with pytest.raises(DataDependentError, match="which keys a dict has, data decides: 'a'"):
        jit_onnx(run_through, fallback="error")(np.ones(2))
    for x in (np.ones(2), np.array([2.0, 1.0])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert jit_onnx(run_through)(x) == run_through(x)
