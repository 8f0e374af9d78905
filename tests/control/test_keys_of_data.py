# SPDX-License-Identifier: Apache-2.0
"""Keys and attributes that are there on some paths only."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx


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
