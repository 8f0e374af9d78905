# SPDX-License-Identifier: Apache-2.0
# The lambdas are the code under test, and most functions need no types.
# ruff: noqa: ARG002, PLW0108
# mypy: allow-untyped-calls, allow-untyped-defs
"""Rewritten code changes nothing that is older than the trace."""

import datetime as dt
import math
import os
import random
import time
from collections import deque
from typing import Any

import numpy as np
import pytest

from onnxjit._rewrite import (
    Path,
    PlainHooks,
    active,
)

LIMIT = 3
RATE = 0.5
WEIGHTS = np.arange(4.0)
HISTORY: list[int] = []
SETTINGS: dict[str, Any] = {
    "lr": 0.1,
    "nested": {"w": np.ones(2)},
    "layers": [np.zeros(1), np.ones(1)],
}


class SideEffectError(Exception):
    pass


class Traced:
    """Stands for a traced array."""

    def __init__(self, name="traced"):
        self.name = name


class Recorder(PlainHooks):
    __slots__ = ("captured", "effects", "strict", "twins")

    def __init__(self, twins=(), *, strict=True):
        self.captured = []
        self.effects = []
        self.strict = strict
        self.twins = dict(twins)

    def is_traced(self, obj, /):
        return isinstance(obj, Traced)

    def twin(self, f, /):
        return self.twins.get(f) if f.__hash__ else None

    def capture(self, value, path, owner=None, /):
        self.captured.append((str(path), value, path))
        return value

    def side_effect(self, what, obj, detail, /):
        self.effects.append((what, detail))
        if self.strict:
            raise SideEffectError(what, detail)

    @property
    def paths(self):
        return [text for text, _, _ in self.captured]


def trace(f, *args, hooks=None, packages=()):
    hooks = Recorder() if hooks is None else hooks
    with active(hooks, packages) as session:
        for i, arg in enumerate(args):
            session.mark_old(arg, Path("arg", f"a{i}"))
        result = session.routed(f)(*args)
    return result, hooks


def effect_of(f, *args):
    """Return the side effect that stops `f`, or None."""
    hooks = Recorder()
    try:
        trace(f, *args, hooks=hooks)
    except SideEffectError as stop:
        return stop.args
    return None


class Scaler:
    shift = 1.5
    instances = 0

    def __init__(self):
        self.mean_ = np.ones(3)
        self.layers = [np.zeros(1), np.ones(1)]
        self.n = 2

    @property
    def mean(self):
        return self.mean_

    def apply(self, x):
        return x + self.mean_

    def fit(self):
        self.n = 5


class Model:
    def __init__(self):
        self.scaler = Scaler()
        self.calls = 0

    def predict(self, x):
        return self.scaler.apply(x)

    def counting(self, x):
        self.calls += 1
        return x


MODEL = Model()


# Side effects


def store_attribute(m):
    m.calls = 1


def store_augmented(m):
    m.counting(1)


def store_nested(m):
    m.scaler.fit()


def store_item(d):
    d["k"] = 1


def store_loop_target(d):
    for d["k"] in range(2):
        pass


def store_unpacked(m):
    _, m.calls = 1, 2


def store_global():
    global LIMIT  # noqa: PLW0603
    LIMIT = 4


def store_global_walrus():
    global RATE
    return (RATE := 2)


def store_class():
    Scaler.instances += 1


def store_module():
    math.tau2 = 1  # type: ignore[attr-defined]


def delete_item(d):
    del d["lr"]


def delete_attribute(m):
    del m.calls


def append_global():
    HISTORY.append(1)


def append_nested(d):
    d["layers"].append(1)


def append_in_loop(rows):
    for row in rows:
        row.append(0)


def append_comprehension(rows):
    return [row.append(0) for row in rows]


def extend_operator(rows):
    rows += [1]


def sort_array(a):
    a.sort()


def write_array(a):
    a[0] = 1


def write_view(a):
    b = a[1:].T
    b[...] = 1


def write_derived_view(a):
    a.reshape(2, 2)[0] = 1


def add_to_array(a):
    a += 1


def set_by_name(m):
    setattr(m, "calls", 3)  # noqa: B010


def default_list(acc=[]):  # noqa: B006
    acc.append(1)


def advance():
    return next(ITERATOR)


def consume():
    return [v for v in ITERATOR]  # noqa: C416


def pop_deque():
    QUEUE.popleft()


def unbound_append():
    list.append(HISTORY, 1)


GENERATOR = np.random.default_rng(3)
ITERATOR = iter([1, 2, 3])
QUEUE = deque([1])


@pytest.mark.parametrize(
    ("f", "args", "what", "detail"),
    [
        (store_attribute, (MODEL,), "attribute", "a0.calls"),
        (store_augmented, (MODEL,), "attribute", "a0.calls"),
        (store_nested, (MODEL,), "attribute", "a0.scaler.n"),
        (store_unpacked, (MODEL,), "attribute", "a0.calls"),
        (store_item, (SETTINGS,), "item", "a0[...]"),
        (store_loop_target, (SETTINGS,), "item", "a0[...]"),
        (store_global, (), "global", "LIMIT"),
        (store_global_walrus, (), "global", "RATE"),
        (store_class, (), "attribute", "Scaler.instances"),
        (store_module, (), "attribute", "math.tau2"),
        (delete_item, (SETTINGS,), "item", "a0[...]"),
        (delete_attribute, (MODEL,), "attribute", "a0.calls"),
        (append_global, (), "container", "HISTORY.append"),
        (append_nested, (SETTINGS,), "container", "a0['layers'].append"),
        (append_in_loop, ([[1], [2]],), "container", "a0[0].append"),
        (append_comprehension, ([[1], [2]],), "container", "a0[0].append"),
        (extend_operator, ([1],), "container", "a0 op= ..."),
        (sort_array, (WEIGHTS,), "ndarray", "a0.sort"),
        (write_array, (WEIGHTS,), "ndarray", "a0[...]"),
        (write_view, (WEIGHTS,), "ndarray", "a0[...]"),
        (write_derived_view, (WEIGHTS,), "ndarray", "a0[...]"),
        (add_to_array, (WEIGHTS,), "ndarray", "a0 op= ..."),
        (set_by_name, (MODEL,), "attribute", "a0.calls"),
        (default_list, (), "container", "default[0].append"),
        (advance, (), "iterator", "ITERATOR (next)"),
        (consume, (), "iterator", "ITERATOR is advanced"),
        (pop_deque, (), "container", "QUEUE.popleft"),
        (unbound_append, (), "container", "HISTORY (append)"),
    ],
)
def test_stores_to_old_objects_are_stopped(f, args, what, detail):
    before = repr((vars(MODEL), SETTINGS, HISTORY, WEIGHTS, LIMIT, RATE))
    assert effect_of(f, *args) == (what, detail)
    assert repr((vars(MODEL), SETTINGS, HISTORY, WEIGHTS, LIMIT, RATE)) == before


def test_store_to_an_outer_cell():
    n = 0

    def f():
        nonlocal n
        n += 1

    assert effect_of(f) == ("cell", "n")
    assert n == 0


def young_objects():
    items: dict[str, Any] = {}
    rows: list[Any] = [[]]
    model = Model()
    model.calls += 1
    model.scaler.fit()
    items["a"] = model
    items.setdefault("b", []).append(2)
    rows[0].append(WEIGHTS.copy())
    rows[0][0][1:] = 7
    rows[0][0] += 1
    count = 0

    def step():
        nonlocal count
        count += 1

    step()
    return model.calls, len(items), rows, count


def test_young_objects_may_change():
    assert effect_of(young_objects) is None


def test_a_loop_sees_what_it_appends():
    def f(queue):
        for v in queue:
            if v < 3:
                queue.append(v + 1)
        return queue

    assert trace(f, [0], hooks=Recorder(strict=False))[0] == [0, 1, 2, 3]


def test_hooks_may_let_a_store_happen():
    model = Model()
    hooks = Recorder(strict=False)
    trace(store_augmented, model, hooks=hooks)
    assert model.calls == 1
    assert hooks.effects == [("attribute", "a0.calls")]


@pytest.mark.parametrize(
    "f",
    [
        lambda: np.random.rand(3),  # noqa: NPY002
        lambda: np.random.default_rng().normal(),
        lambda: random.random(),
        lambda: random.Random().random(),
        lambda: time.time(),
        lambda: time.perf_counter(),
        lambda: dt.datetime.now(),
        lambda: os.environ["HOME"],
        lambda: os.environ.get("HOME"),
        lambda: os.getenv("HOME"),
        lambda: GENERATOR.normal(),
    ],
)
def test_impure_callables(f):
    effect = effect_of(f)
    assert effect is not None
    assert effect[0] == "impure"


def test_seeded_generators_are_pure():
    assert effect_of(lambda: np.random.default_rng(3).normal()) is None
