# SPDX-License-Identifier: Apache-2.0
"""Writes to a container of which there may be two: they are seen in both, or refused."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import (
    AssumptionWarning,
    DataDependentError,
    OnnxJitError,
    UnsupportedError,
    jit_onnx,
)


def handed(x: Any) -> Any:
    pos, neg = [0.0], [0.0]
    target = pos
    for v in x:
        target[0] += v
        target = neg if v > 0 else pos
    return pos[0] + neg[0] * 2


def rebound(x: Any) -> Any:
    a = [0.0]
    b = a
    for v in x:
        a[0] += v
        a = [v]
    return a[0] + b[0] * 2


def swapped(x: Any) -> Any:
    a, b = [0.0, 0.0], [1.0, 1.0]
    keep = a
    for v in x:
        a[0] += v
        a, b = b, a
    return a[0] + b[0] * 2 + keep[0] * 4


def swapped_dicts(x: Any) -> Any:
    a, b = {"s": 0.0}, {"s": 1.0}
    keep = a
    for v in x:
        a["s"] += v
        a, b = b, a
    return a["s"] + b["s"] * 2 + keep["s"] * 4


def replaced(x: Any) -> Any:
    w = [1.0, 2.0]
    keep = w
    if x.sum() > 0:
        w = [3.0, 4.0]
    w[0] = x[0]
    return w[0] + keep[0] * 2


def previous(x: Any) -> Any:
    row = [0.0, 0.0]
    first = row
    for v in x:
        row[1] += v
        row = [row[1], row[0]]
    return row[0] + row[1] * 2 + first[1] * 4


INPUTS = [np.array(v, float) for v in ([3, -1, 4, 1, -5], [-2], [1, 2], [-4, -5, 6])]


@pytest.mark.parametrize("fn", [handed, rebound, swapped, swapped_dicts, replaced, previous])
def test_a_write_is_seen_by_all_names(fn: Any) -> None:
    wanted = [fn(x) for x in INPUTS]
    jitted, strict = jit_onnx(fn), jit_onnx(fn, fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, want in zip(INPUTS, wanted, strict=True):
            np.testing.assert_allclose(jitted(x), want)
            try:
                np.testing.assert_allclose(strict(x), want)
            except UnsupportedError:
                continue
    try:
        model = strict.to_onnx(INPUTS[0])
    except OnnxJitError:
        return
    session = ort.InferenceSession(model.SerializeToString())
    (size,) = session.get_inputs()[0].shape
    for x, want in zip(INPUTS, wanted, strict=True):
        if isinstance(size, int) and size != len(x):
            continue  # unrolled: the model takes arrays of this size only, and says so
        (got,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, want)


def test_what_no_operator_carries_is_no_error_of_the_code() -> None:
    def f(x: Any) -> Any:
        names: dict[Any, Any] = {"up": 1.0}
        state: Any = None
        for v in x:
            state = "up" if v > 0 else state
            names |= {state: v}
        return names["up"]

    with pytest.raises((DataDependentError, UnsupportedError)):
        jit_onnx(f).to_onnx(copy.deepcopy(INPUTS[0]))


def test_a_model_warns_of_a_computed_size_that_it_fixes() -> None:
    def f(x: Any) -> Any:
        def steps(x: Any) -> Any:
            for i in range(len(x) - 1):
                yield x[i + 1] - x[i]

        return sum(step for step in steps(x))

    with pytest.warns(AssumptionWarning, match="right only where"):
        jit_onnx(f).to_onnx(np.arange(4.0))


def old_or_new_inside(x):
    a = {"v": x}
    if x[0] > 0:
        a = {"v": x * 2}
        h = [a]
    else:
        h = [a]
    h[0]["v"] = h[0]["v"] + 1
    return a["v"]


def old_or_new_twice_inside(x):
    a = {"v": x}
    if x[0] > 0:
        b = {"v": x * 2}
        h = {"p": b, "q": b}
    else:
        h = {"p": a, "q": a}
    h["p"]["v"] = h["p"]["v"] + 1
    return h["q"]["v"]


def old_or_new_that_is_read(x):
    a = {"v": x}
    h = [{"v": x * 2}] if x[0] > 0 else [a]
    return a["v"] + h[0]["v"]


def chosen_order_of_dicts(x):
    a, b = {"v": x}, {"v": x + 1}
    order = [a, b] if x[0] > 0 else [b, a]
    order[0]["v"] = order[0]["v"] * 10
    by_name = {"first": a} if x[-1] > 0 else {"first": b}
    by_name["first"]["v"] = by_name["first"]["v"] - 1
    return a["v"] + 100 * b["v"]


def part_of_a_chosen_dict(x):
    m = {"w": {"b": x, "c": "s"}} if x[0] > 0 else {"w": {"b": x * 2, "c": "text"}}
    m["w"]["b"] = m["w"]["b"] * 2
    return m["w"]["b"] + len(m["w"]["c"])


def one_of_two_dicts(x):
    p, q = {"v": x}, {"v": x * 2}
    first, second = (p, q) if x[0] > 0 else (q, p)
    first["v"] = first["v"] + 1
    second["v"] = second["v"] - 2
    return p["v"] + q["v"] * 10


INSIDE = [
    old_or_new_inside, old_or_new_twice_inside, old_or_new_that_is_read, part_of_a_chosen_dict,
    one_of_two_dicts, chosen_order_of_dicts,
]  # fmt: skip


@pytest.mark.parametrize("fn", INSIDE)
def test_a_change_reaches_what_was_chosen(fn):
    jit = jit_onnx(fn, fallback="error")
    for first, last in ((1.0, 2.0), (-1.0, 2.0), (1.0, -2.0), (-1.0, -2.0)):
        x = np.array([first, last])
        np.testing.assert_array_equal(jit(x), fn(x))


FACTORS = {"up": 2.0, "down": 3.0}


def names_and_functions(x):
    name, f = ("up", np.sin) if x[0] > 0 else ("down", np.cos)
    return f(x) * FACTORS[name]


def texts_alone(x):
    pair = ("up", ("a", None)) if x[0] > 0 else ("down", ("b", None))
    return pair, x * 2


def texts_of_a_branch(x):
    if x[0] > 0:
        way, code = "up", ("u", 1)
    else:
        way, code = "down", ("d", 1)
    return way, code, {"way": (way, code)}


@pytest.mark.parametrize("fn", [names_and_functions, texts_alone, texts_of_a_branch])
def test_tuples_without_arrays_are_chosen_too(fn):
    jit = jit_onnx(fn, fallback="error")
    for first in (1.0, -1.0):
        x = np.array([first, 2.0])
        for want, got in zip(fn(x), jit(x), strict=True):
            if isinstance(want, (np.ndarray, float)):
                np.testing.assert_allclose(got, want)
            else:
                assert got == want


class Holder:
    def __init__(self, v):
        self.v = v


def objects_in_lists(x):
    a = Holder(x)
    if x[0] > 0:
        a = Holder(x * 2)
        h = [a]
    else:
        h = [a]
    h[0].v = h[0].v + 1
    return a.v


def objects_beside_text(x):
    d: Any = {"p": Holder(x), "t": "a"} if x[0] > 0 else {"p": Holder(x * 2), "t": "bc"}
    d["p"].v = d["p"].v + len(d["t"])
    return d["p"].v


def lists_of_several_lengths(x):
    found = [Holder(x)] if x[0] > 0 else [Holder(x * 2), Holder(x * 3)]
    return found[-1].v


@pytest.mark.parametrize(
    "fn", [objects_in_lists, objects_beside_text, lists_of_several_lengths]
)
def test_objects_inside_containers_that_data_chooses(fn):
    jit = jit_onnx(fn, fallback="error")
    for first in (1.0, -1.0):
        x = np.array([first, 2.0])
        np.testing.assert_array_equal(jit(x), fn(x))
