# SPDX-License-Identifier: Apache-2.0
"""Whatever a function reads around it may change between calls: none of it may go stale."""

import dataclasses
import functools
import gc
import types
from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.jit.harness import same

X = np.array([1.0, 2.0])


class Layer:
    rate = 1.0

    def __init__(self, w):
        self.w = w
        self.sub = types.SimpleNamespace(k=1.0)
        self.values = [1.0, 2.0]

    def __call__(self, x):
        return x * self.w

    def __len__(self):
        return int(self.w)

    def __getattr__(self, name):
        if name == "computed":
            return self.w + 1
        raise AttributeError(name)

    @property
    def double(self):
        return self.w * 2

    @functools.cached_property
    def cached(self):
        return self.w * 3

    def scale(self):
        return self.w


class Deep(Layer):
    def scale(self):
        return super().scale() * 3


class Slotted:
    __slots__ = ("w",)

    def __init__(self):
        self.w = 1.0


@dataclasses.dataclass
class Params:
    layer: Any
    b: float = 1.0


def tagged(x, k=1.0):
    return x * k * TAGGED.rate


TAGGED: Any = tagged


def scale_of(layer):
    return layer.w


class World:
    """What the functions below read, new for each test."""

    def __init__(self):
        self.numbers = [1.0, 2.0]
        self.settings = {"a": 1.0, "b": [1.0, 2.0], "c": {"k": 1.0}}
        self.names = {1, 2}
        self.layer = Layer(2.0)
        self.deep = Deep(2.0)
        self.slotted = Slotted()
        self.layers = [Layer(1.0), Layer(2.0)]
        self.arrays = [np.ones(2)]
        self.pair = (1.0, [2.0])
        self.params = Params(Layer(2.0))
        self.none = None
        self.value: Any = 1.0
        self.tagged = types.FunctionType(tagged.__code__, globals(), "tagged", (1.0,))


WORLD = World()
W: Any = WORLD


def attempt():
    try:
        return W.late
    except AttributeError:
        return 0.0


def unpacked():
    first, *rest = W.numbers
    a, b = W.numbers[:2]
    return first + len(rest) + a + b


READS = [
    # lists
    (lambda x: x + len(W.numbers), lambda: W.numbers.append(3.0)),
    (lambda x: x + sum(W.numbers), lambda: W.numbers.append(3.0)),
    (lambda x: x + sum(W.numbers), lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + sum(W.numbers), lambda: W.numbers.__setitem__(0, 1)),
    (lambda x: x + max(W.numbers), lambda: W.numbers.append(3.0)),
    (lambda x: x + np.array(W.numbers).sum(), lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + np.sum(W.numbers), lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + W.numbers[0], lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + W.numbers[-1], lambda: W.numbers.append(9.0)),
    (lambda x: x + sum(W.numbers[:1]), lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + sum(v for v in W.numbers), lambda: W.numbers.append(9.0)),
    (lambda x: x + sorted(W.numbers)[1], lambda: W.numbers.insert(0, 9.0)),
    (lambda x: x + tuple(W.numbers)[1], lambda: W.numbers.__setitem__(1, 9.0)),
    (lambda x: x + max(*W.numbers), lambda: W.numbers.append(9.0)),
    (lambda x: x + (W.numbers + [1])[0], lambda: W.numbers.__setitem__(0, 9.0)),  # noqa: RUF005
    (lambda x: x + W.numbers, lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + (5.0 in W.numbers), lambda: W.numbers.append(5.0)),
    (lambda x: x + (W.numbers == [1.0, 2.0]), lambda: W.numbers.append(5.0)),
    (lambda x: x + 1 if W.numbers else x, lambda: W.numbers.clear()),
    (lambda x: x if not W.numbers else x + 1, lambda: W.numbers.clear()),
    (lambda x: x + sum(i * v for i, v in enumerate(W.numbers)), lambda: W.numbers.append(5.0)),
    (lambda x: x + sum(map(float, W.numbers)), lambda: W.numbers.append(5.0)),
    (lambda x: x + next(iter(reversed(W.numbers))), lambda: W.numbers.append(5.0)),
    (lambda x: x + W.numbers.index(2.0), lambda: W.numbers.insert(0, 5.0)),
    (lambda x: x + W.numbers.copy()[0], lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: x + all(W.numbers), lambda: W.numbers.append(0.0)),
    (lambda x: x + len(str(W.numbers)), lambda: W.numbers.append(1.5)),
    (lambda x: x + len(f"{W.numbers}"), lambda: W.numbers.append(1.5)),
    (lambda x: x + unpacked(), lambda: W.numbers.__setitem__(0, 9.0)),
    (lambda x: (x, W.numbers), lambda: W.numbers.append(9.0)),
    # dicts and sets
    (lambda x: x + W.settings["a"], lambda: W.settings.update(a=9.0)),
    (lambda x: x + W.settings["c"]["k"], lambda: W.settings["c"].update(k=9.0)),
    (lambda x: x + W.settings.get("a"), lambda: W.settings.update(a=9.0)),
    (lambda x: x + W.settings.get("q", 0.0), lambda: W.settings.update(q=9.0)),
    (lambda x: x + ("q" in W.settings), lambda: W.settings.update(q=9.0)),
    (lambda x: x + ("q" not in W.settings), lambda: W.settings.update(q=9.0)),
    (lambda x: x + len(W.settings), lambda: W.settings.update(q=9.0)),
    (lambda x: x + len([k for k in W.settings]), lambda: W.settings.update(q=9.0)),  # noqa: C416
    (lambda x: x + len(list(W.settings.keys())), lambda: W.settings.update(q=9.0)),
    (lambda x: x + sum(W.settings["c"].values()), lambda: W.settings["c"].update(k=9.0)),
    (lambda x: x + {**W.settings}["a"], lambda: W.settings.update(a=9.0)),
    (lambda x: x + dict(W.settings)["a"], lambda: W.settings.update(a=9.0)),
    (lambda x: x + (W.settings | {})["a"], lambda: W.settings.update(a=9.0)),
    (lambda x: x * dict(**W.settings["c"])["k"], lambda: W.settings["c"].update(k=9.0)),
    (lambda x: x + np.array(W.settings["b"]), lambda: W.settings["b"].__setitem__(0, 9.0)),
    (lambda x: x + (5 in W.names), lambda: W.names.add(5)),
    (lambda x: x + len(W.names), lambda: W.names.add(5)),
    (lambda x: x + sum(v for v in W.names), lambda: W.names.add(5)),
    (lambda x: x + max(W.names), lambda: W.names.add(5)),
    (lambda x: x + W.pair[1][0], lambda: W.pair[1].__setitem__(0, 9.0)),
    (lambda x: x + np.sum(W.pair[1]), lambda: W.pair[1].__setitem__(0, 9.0)),
    # arrays in containers
    (lambda x: x + np.concatenate(W.arrays).sum(), lambda: W.arrays.append(np.ones(1))),
    (lambda x: x + np.stack(W.arrays).sum(), lambda: W.arrays.__setitem__(0, np.full(2, 5.0))),
    (lambda x: x + sum(W.arrays), lambda: W.arrays.__setitem__(0, np.full(2, 5.0))),
    # attributes
    (lambda x: x + W.layer.w, lambda: setattr(W.layer, "w", 9.0)),
    (lambda x: x + W.layer.w, lambda: setattr(W.layer, "w", np.ones(2) * 4)),
    (lambda x: x + W.layer.w, lambda: setattr(W.layer, "w", np.float64(9))),
    (lambda x: x + W.layer.w, lambda: setattr(W.layer, "w", 2)),
    (lambda x: x + (W.none is None), lambda: setattr(W, "none", 1)),
    (lambda x: x + vars(W.layer)["w"], lambda: setattr(W.layer, "w", 9.0)),
    (lambda x: x + getattr(W.layer, "w"), lambda: setattr(W.layer, "w", 9.0)),  # noqa: B009
    (lambda x: x + getattr(W.slotted, "no", 1.0), lambda: setattr(World, "no", 1)),
    (lambda x: x + getattr(W, "late", 1.0), lambda: setattr(W, "late", 9.0)),
    (lambda x: x + hasattr(W, "late"), lambda: setattr(W, "late", 9.0)),
    (lambda x: x + attempt(), lambda: setattr(W, "late", 9.0)),
    (lambda x: x + W.layer.rate, lambda: setattr(Layer, "rate", 9.0)),
    (lambda x: x + W.layer.rate, lambda: setattr(W.layer, "rate", 5.0)),
    (lambda x: x + W.layer.double, lambda: setattr(W.layer, "w", 3.0)),
    (lambda x: x + W.layer.computed, lambda: setattr(W.layer, "w", 3.0)),
    (lambda x: x + W.layer.cached, lambda: vars(W.layer).update(cached=8.0)),
    (lambda x: x + len(W.layer), lambda: setattr(W.layer, "w", 5.0)),
    (lambda x: x + W.slotted.w, lambda: setattr(W.slotted, "w", 5.0)),
    (lambda x: x + W.params.layer.w, lambda: setattr(W.params, "layer", Layer(7.0))),
    (lambda x: x + dataclasses.asdict(W.params)["b"], lambda: setattr(W.params, "b", 7.0)),
    (lambda x: x + isinstance(W.value, float), lambda: setattr(W, "value", 1)),
    # methods, functions, objects in containers
    (lambda x: x + W.layer.scale(), lambda: setattr(W.layer, "w", 9.0)),
    (lambda x: x + W.layer.scale(), lambda: setattr(W.layer, "scale", lambda: 200.0)),
    (lambda x: x + W.deep.scale(), lambda: setattr(W.deep, "w", 9.0)),
    (lambda x: W.layer(x), lambda: setattr(W.layer, "w", 9.0)),
    (lambda x: W.layers[0](x), lambda: setattr(W.layers[0], "w", 9.0)),
    (lambda x: x + sum(la.w for la in W.layers), lambda: setattr(W.layers[1], "w", 9.0)),
    (lambda x: functools.reduce(lambda y, la: la(y), W.layers, x),
     lambda: setattr(W.layers[1], "w", 9.0)),
    (lambda x: x + sum(map(scale_of, W.layers)), lambda: setattr(W.layers[1], "w", 9.0)),
    (lambda x: x + W.tagged(1.0), lambda: setattr(W.tagged, "__defaults__", (7.0,))),
    (lambda x: x * TAGGED.rate, lambda: setattr(TAGGED, "rate", 7.0)),
]  # fmt: skip


@pytest.fixture
def world(monkeypatch):
    monkeypatch.setitem(globals(), "W", World())
    monkeypatch.setattr(Layer, "rate", 1.0)
    monkeypatch.setattr(TAGGED, "rate", 1.0, raising=False)
    if "no" in vars(World):
        delattr(World, "no")


@pytest.mark.parametrize(("read", "change"), READS, ids=range(len(READS)))
def test_what_is_read_is_watched(world, read, change):
    jit = jit_onnx(read, fallback="error")
    for _ in range(2):
        same(jit(X), read(X))
    assert jit.cache_info() == {"graphs": 1, "eager": 0}
    change()
    for _ in range(2):
        same(jit(X), read(X))


def test_a_patched_base_class_is_seen(world, monkeypatch):
    jit = jit_onnx(lambda x: x + W.deep.scale(), fallback="error")
    same(jit(X), X + 6)
    monkeypatch.setattr(Layer, "scale", lambda self: 10.0)
    same(jit(X), X + 30)


# ------------------------------------------------------------------ arguments


def partial_of(layer):
    return functools.partial(Layer.__call__, layer)


@pytest.mark.parametrize(
    ("fn", "make"),
    [
        (lambda x, o: x * o.w, lambda o: o),
        (lambda x, o: o(x), lambda o: o),
        (lambda x, o: x * o.sub.k * o.w, lambda o: o),
        (lambda x, os: os[0](x), lambda o: [o]),
        (lambda x, os: sum(o(x) for o in os), lambda o: (Layer(1.0), o)),
        (lambda x, os: os["a"]["b"](x), lambda o: {"a": {"b": o}}),
        (lambda x, p: p.layer(x), lambda o: Params(o)),
        (lambda x, g: g(x), lambda o: o.__call__),
        (lambda x, g: g(x), partial_of),
        (lambda x, g: g(x), lambda o: [lambda x: x * o.w][0]),
    ],
)
def test_objects_among_the_arguments_are_watched(fn, make):
    layer = Layer(2.0)
    arg = make(layer)
    jit = jit_onnx(fn, fallback="error")
    for _ in range(2):
        same(jit(X, arg), fn(X, arg))
    assert jit.cache_info()["graphs"] == 1
    layer.w = 5.0
    for _ in range(2):
        same(jit(X, arg), fn(X, arg))


def test_bound_methods_of_one_object_are_one_argument():
    layer = Layer(2.0)
    jit = jit_onnx(lambda x, g: g(x), fallback="error")
    for _ in range(3):
        same(jit(X, layer.__call__), X * 2)
        same(jit(X, functools.partial(Layer.__call__, layer)), X * 2)
    assert jit.cache_info()["graphs"] == 2


def test_objects_that_are_gone_leave_nothing_behind():
    jit = jit_onnx(lambda x, o: x * o.w, fallback="error")
    for k in range(20):
        same(jit(X, Layer(float(k))), X * k)
    gc.collect()
    assert jit.cache_info()["graphs"] <= 1


def test_arrays_inside_partials_are_told_apart():
    jit = jit_onnx(lambda x, g: g(x), fallback="error")
    for k in range(20):
        same(jit(X, functools.partial(np.multiply, np.full(2, float(k)))), X * k)


# ------------------------------------------------------------------ prices


def test_a_large_table_is_watched_where_it_is_read():
    table = {f"k{i}": float(i) for i in range(50_000)}
    jit = jit_onnx(lambda x: x * table["k2"] + len(table), fallback="error")
    same(jit(X), X * 2 + 50_000)
    table["k3"] = 0.0
    same(jit(X), X * 2 + 50_000)
    assert jit.cache_info()["graphs"] == 1
    table["k2"] = 5.0
    same(jit(X), X * 5 + 50_000)
