# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Containers and objects made in branches and loops that several places hold are one."""

import warnings
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import OnnxJitError, UnsupportedError, eager_onnx, jit_onnx
from tests.jit.harness import same

INPUTS = [np.array(x) for x in ([1.0, -2.0, 3.0, 0.5], [-1.0, 2.0], [5.0], [-1.0, -2.0, -3.0])]


class Node:
    def __init__(self, value):
        self.value = value


def two_names(x):
    if x[0] > 0:
        a = [1.0, 2.0]
        b = a
    else:
        a = [3.0, 4.0]
        b = a
    a[0] = x[0] * 9
    return b[0], a[1]


def name_and_item(x):
    table = {}
    if x[0] > 0:
        a = [1.0, 2.0]
        table["k"] = a
    else:
        a = [3.0, 4.0]
        table["k"] = a
    a[0] = x[0] * 9
    return table["k"][0], table["k"][1]


def two_names_of_an_object(x):
    if x[0] > 0:
        a = Node(x[0] * 2)
        b = a
    else:
        a = Node(x[0])
        b = a
    b.value += 5.0
    return a.value


def inside_others(x):
    if x[0] > 0:
        a = {"v": 1.0}
        b = (a, [a])
    else:
        a = {"v": 2.0}
        b = (a, [a])
    b[1][0]["v"] = x[0] * 9
    return a["v"], b[0]["v"]


def other_branch_raises(x):
    if x[0] < -100:
        raise ValueError
    a = [x[0]]
    b = a
    a[0] = x[0] * 9
    return b[0]


def read_only(x):
    if x[0] > 0:
        a = [1.0]
        b = a
    else:
        a = [2.0]
        b = [3.0]
    return b[0] + a[0]


def maybe_there(x):
    table = {}
    if x[0] > -5:
        table["k"] = [1.0, 2.0]
    if x[0] > 0 and x[0] > 2:
        table["k"][0] = 5.0
    return table["k"][0]


def maybe_bound(x):
    if x[0] > -5:
        a = [1.0, 2.0]
    if x[0] > 0:
        a[0] = 5.0
    else:
        a[1] = 3.0
    return a[0], a[1]


def maybe_bound_and_growing(x):
    if x[0] > -5:
        a = [0.0]
    for v in x:
        if v > 0:
            a.append(v * 2)
            a[0] += 1.0
    return np.sum(a), len(a)


@pytest.mark.parametrize(
    "fn",
    [
        two_names, name_and_item, two_names_of_an_object, inside_others, other_branch_raises,
        read_only, maybe_there, maybe_bound, maybe_bound_and_growing,
    ],
)  # fmt: skip
def test_one_object_stays_one(fn):
    jit = jit_onnx(fn, fallback="error")
    for x in INPUTS:
        same(jit(x), fn(x))
    model = jit_onnx(fn).to_onnx(INPUTS[0])
    session = ort.InferenceSession(model.SerializeToString())
    for x in INPUTS:
        want = fn(x)
        wanted = want if isinstance(want, tuple) else (want,)
        for g, w in zip(session.run(None, {"x": x}), wanted, strict=True):
            np.testing.assert_allclose(g, w)


# --- what no graph holds: one object after one branch, two after the other


def one_or_two(x):
    if x[0] > 0:
        a = [1.0]
        b = a
    else:
        a = [2.0]
        b = [3.0]
    a[0] = 9.0
    return b[0]


def one_or_two_objects(x):
    if x[0] > 0:
        a = Node(1.0)
        b = a
    else:
        a = Node(2.0)
        b = Node(3.0)
    a.value = 9.0
    return b.value


def of_the_last_iteration(x):
    a = [0.0]
    b = a
    for v in x:
        a = [v]
        b = a
    a[0] = 9.0
    return b[0]


def perhaps_the_list_from_before(x):
    a = [0.0]
    b = a
    for v in x:
        if v > 0:
            a = [v]
    a[0] = 9.0
    return b[0], a[0]


def object_of_the_last_iteration(x):
    a = Node(0.0)
    b = a
    for v in x:
        if v > 0:
            a = Node(v)
            b = a
    a.value = 9.0
    return b.value


def made_by_a_lookup(x):
    found = defaultdict(list)
    for i in range(3):
        found["p" if x[0] > i else "n"].append(i)
    return len(found["p"]), len(found["n"])


@pytest.mark.parametrize(
    "fn",
    [
        one_or_two, one_or_two_objects, of_the_last_iteration, perhaps_the_list_from_before,
        object_of_the_last_iteration, made_by_a_lookup,
    ],
)  # fmt: skip
def test_calls_agree_and_models_are_right_or_refused(fn):
    jit = jit_onnx(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in INPUTS:
            same(jit(x), fn(x))
            same(eager_onnx(fn)(x), fn(x))
        try:
            model = jit_onnx(fn).to_onnx(INPUTS[0])
        except OnnxJitError:
            return
    found = ort.InferenceSession(model.SerializeToString()).run(None, {"x": INPUTS[0]})
    want = fn(INPUTS[0])
    np.testing.assert_allclose(found, want if isinstance(want, tuple) else (want,))


def test_the_refusal_names_the_line():
    with pytest.raises(UnsupportedError, match=r"one Node .*test_one_object\.py.* use a copy"):
        jit_onnx(one_or_two_objects).to_onnx(INPUTS[0])


# --- lists that a dataclass makes


@dataclass
class Running:
    count: int = 0
    found: list = field(default_factory=list)

    def add(self, value):
        self.count += 1
        if value > 0:
            self.found.append(self.count)


def places_of_positive(x):
    running = Running()
    for v in x:
        running.add(v)
    return running.count, np.sum(running.found), len(Running().found)


def test_lists_of_a_dataclass_grow():
    jit = jit_onnx(places_of_positive, fallback="error")
    for x in INPUTS[:3]:
        same(jit(x), places_of_positive(x))


def of_the_caller(x, found):
    running = Running(found=found)
    running.found.append(x[0])
    return len(running.found)


def test_a_list_given_to_a_dataclass_is_the_callers():
    for convert in (jit_onnx, eager_onnx):
        mine = []
        assert convert(of_the_caller)(INPUTS[0], mine) == 1
        assert mine == [1.0]


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def slotted_in_both(x):
    p = Slotted(x * 2, 1) if x[0] > 0 else Slotted(x * 3, 2)
    p.b = p.b + 1
    return p.a, p.b


def slotted_in_one(x):
    p = Slotted(x, 1)
    if x[0] > 0:
        p = Slotted(x * 2, 2)
    p.b = 5
    return p.a, p.b


def slotted_results(x):
    def made(v):
        if v[0] > 0:
            return Slotted(v, 1)
        return Slotted(-v, 2)

    p = q = made(x)
    q.a = q.a + 1
    return p.a, q.b


@pytest.mark.parametrize("fn", [slotted_in_both, slotted_in_one, slotted_results])
@pytest.mark.parametrize("first", [1.0, -1.0])
def test_objects_with_slots_are_made_in_branches(fn, first):
    x = np.array([first, 2.0])
    for got in (jit_onnx(fn, fallback="error")(x), eager_onnx(fn)(x)):
        for g, w in zip(got, fn(x), strict=True):
            np.testing.assert_array_equal(g, w)
