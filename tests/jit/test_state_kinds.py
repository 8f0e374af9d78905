# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Stores to objects older than the call: kinds of objects and names, arguments, refusals."""

import copy
import dataclasses
import gc
import threading
import warnings
import weakref

import numpy as np
import pytest

from onnxjit import FallbackWarning, SideEffectError, jit_onnx
from tests.jit.state_harness import Online, Running, agree, jitted, same

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
Y = np.array([1.0, -2.0, 0.5])
V = np.array([1.0, 0.5, 2.25])


# ------------------------------------------------------------------ kinds of objects


class Slotted:
    __slots__ = ("n", "w")

    def __init__(self):
        self.n = 0
        self.w = np.zeros(3)

    def step(self, x):
        self.n += 1
        self.w = self.w + x
        return self.w.sum()


def test_slots():
    agree(Slotted, [("step", V * k) for k in range(1, 5)])


class Guarded:
    def __init__(self):
        self._w = np.zeros(3)
        self.sets = 0

    @property
    def w(self):
        return self._w

    @w.setter
    def w(self, value):
        self.sets += 1
        self._w = value * 1.0

    def step(self, x):
        self.w = self.w + x
        self.w += 1
        return self.w * 2


def test_properties_with_setters():
    agree(Guarded, [("step", V * k) for k in range(1, 5)], graphs=1)


@dataclasses.dataclass
class Stats:
    total: float = 0.0
    seen: list = dataclasses.field(default_factory=list)

    def add(self, x):
        self.total = self.total + x.sum()
        self.seen.append(x.max())
        return self.total


def test_dataclasses():
    agree(Stats, [("add", V), ("add", V * 2), ("add", V * 3)])


class Watched:
    def __init__(self):
        object.__setattr__(self, "log", [])
        self.w = 0.0

    def __setattr__(self, name, value):
        self.log.append(name)
        object.__setattr__(self, name, value)

    def step(self, x):
        self.w = self.w + x.sum()
        return x * 2


def test_objects_that_watch_their_stores_fall_back():
    with pytest.warns(FallbackWarning, match="w"):
        obj = agree(Watched, [("step", V), ("step", V)], fallback="eager")
    assert obj.log == ["w", "w", "w"]


class Layer:
    def __init__(self, k):
        self.w = np.ones(3) * k
        self.grad = None


class Network:
    def __init__(self):
        self.layers = [Layer(1.0), Layer(2.0)]
        self.last = None

    def step(self, x):
        for layer in self.layers:
            layer.grad = x * layer.w
        for layer in self.layers:
            layer.w -= 0.1 * layer.grad
        self.last = self.layers[0]
        return sum(layer.w.sum() for layer in self.layers)


def test_objects_inside_of_objects():
    obj = agree(Network, [("step", V * k) for k in range(1, 5)], graphs=1)
    assert obj.last is obj.layers[0]


def test_shared_arrays_stay_shared():
    class Shared:
        def __init__(self):
            self.a = np.zeros(3)
            self.b = self.a

        def step(self, x):
            self.a += x
            self.b *= 2
            return self.a - self.b

    obj = agree(Shared, [("step", V)] * 3)
    assert obj.a is obj.b


def test_overlapping_arrays_fall_back():
    class Views:
        def __init__(self):
            self.a = np.zeros(3)
            self.head = self.a[:2]

        def step(self, x):
            self.a += x
            self.head *= 2
            return self.a * 1

    with pytest.warns(FallbackWarning):
        agree(Views, [("step", V * k) for k in range(3)], fallback="eager")


def test_a_state_that_becomes_its_predecessor():
    class Momentum:
        def __init__(self):
            self.w = np.ones(3)
            self.before = self.w

        def step(self, x):
            moved = self.w + 0.5 * (self.w - self.before) + x
            self.before = self.w
            self.w = moved
            return moved.sum()

    agree(Momentum, [("step", V * k) for k in range(1, 6)])


def test_the_type_of_state_may_change():
    class Loose:
        def __init__(self):
            self.s = 0

        def add(self, x):
            self.s = self.s + x
            return self.s

    steps = [("add", 1), ("add", 2), ("add", 0.5), ("add", V), ("add", V), ("add", X[0, 0])]
    agree(Loose, [*steps, *steps])


def test_nested_jitted_methods():
    class Outer:
        def __init__(self):
            self.inner = jitted(Online)()
            self.calls = 0

        def step(self, x, y):
            self.inner.partial_fit(x, y)
            self.inner.partial_fit(x, y)
            self.calls += 1
            return self.inner.predict(x)

    kind = jitted(Outer)
    obj, plain = kind(), Online()
    for k in range(1, 4):
        got = obj.step(X * k, Y)
        for _ in range(2):
            plain.partial_fit(X * k, Y)
        same(got, plain.predict(X * k))
        same(obj.inner.w, plain.w)
    assert (obj.calls, obj.inner.n) == (3, plain.n)
    assert vars(kind)["step"].cache_info()["graphs"] == 1


# ------------------------------------------------------------------ arguments


def test_containers_among_the_arguments():
    def f(history, params, stats, x):
        history.append(x.sum())
        params["w"] = params["w"] - x
        params["extra"] = [x.max(), "text"]
        stats.total = stats.total + x.sum()
        stats.seen.insert(0, len(x))
        history.reverse()
        return params

    jit = jit_onnx(f, fallback="error")
    mine = [[], {"w": V, "b": 1}, Stats(), V]
    plain = copy.deepcopy(mine)
    for _ in range(3):
        assert jit(*mine) is mine[1]
        f(*plain)
        same(mine, plain)


def test_one_list_passed_twice():
    def f(a, b, x):
        a.append(x.sum())
        return len(b)

    jit = jit_onnx(f, fallback="error")
    one: list = []
    assert jit(one, one, V) == 1
    assert jit([], [], V) == 0
    assert jit([], [], V) == 0
    two: list = []
    assert jit(two, two, V) == 1
    assert len(two) == 1


def test_an_argument_stored_in_an_object_is_the_same_object():
    class Holder:
        def keep(self, params):
            self.params = params
            return params["w"] * 2

    obj = jitted(Holder)()
    for _ in range(2):
        params = {"w": V}
        obj.keep(params)
        assert obj.params is params


# ------------------------------------------------------------------ names


COUNTER = 0
TOTALS = np.zeros(3)
LOSSES: list = []
CONFIG = {"rate": 0.5}


def counted(x):
    global COUNTER, TOTALS  # noqa: PLW0603
    COUNTER += 1
    TOTALS = TOTALS + x
    LOSSES.append(x.sum())
    CONFIG["rate"] *= 0.5
    if x.sum() > 0:
        COUNTER = COUNTER + 10
    return x * COUNTER * CONFIG["rate"]


def _names():
    return copy.deepcopy((COUNTER, TOTALS, LOSSES, CONFIG))


def _reset():
    global COUNTER, TOTALS
    COUNTER, TOTALS = 0, np.zeros(3)
    LOSSES.clear()
    CONFIG["rate"] = 0.5


def test_globals():
    _reset()
    wanted = [(counted(V * k), _names()) for k in (1, -2, 3)]
    _reset()
    jit = jit_onnx(counted, fallback="error")
    for k, (result, names) in zip((1, -2, 3), wanted, strict=True):
        same(jit(V * k), result)
        same(_names(), names)
    assert jit.cache_info() == {"graphs": 1, "eager": 0}
    with pytest.raises(SideEffectError, match="COUNTER"):
        jit.to_onnx(V)


def make_counter():
    n, last = 0, None
    kept: list = []

    def f(x):
        nonlocal n, last, kept
        n += 1
        last = x * n
        kept += [n]
        if n > 2:
            kept = [n]
        return last + 1

    return f, lambda: (n, last, kept)


def test_outer_variables():
    (plain, want), (fn, got) = make_counter(), make_counter()
    jit = jit_onnx(fn, fallback="error")
    for k in range(1, 6):
        same(jit(V * k), plain(V * k))
        same(got(), want())


def test_names_without_a_value_fall_back():
    def f(x):
        global NEVER_BOUND  # noqa: PLW0603
        NEVER_BOUND = x * 2
        return NEVER_BOUND + 1

    with pytest.warns(FallbackWarning, match="NEVER_BOUND"):
        same(jit_onnx(f)(V), V * 2 + 1)
    assert type(NEVER_BOUND) is np.ndarray


# ------------------------------------------------------------------ when something goes wrong


class Careful:
    def __init__(self):
        self.n = 0
        self.w = np.zeros(3)
        self.log = []

    def checked(self, x):
        self.n += 1
        self.w += x
        self.log.append(x.sum())
        if len(x) != 3:
            msg = "no"
            raise ValueError(msg)
        return x[5:6].sum()

    def wrong(self, x):
        self.n += 1
        self.log.append(1)
        return x @ self.w

    def printed(self, x):
        self.n += 1
        self.log.append(x.sum())
        del self.w
        self.w = x
        return x * self.n


def test_exceptions_leave_the_object_alone():
    obj = jitted(Careful)()
    before = copy.deepcopy(vars(obj))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"matmul|mismatch|size"):
            obj.wrong(np.ones(2))
        same(vars(obj), before)
    obj.wrong(V)
    assert obj.n == 1


def test_a_fallback_after_stores_makes_them_once():
    with pytest.warns(FallbackWarning, match="w"):
        agree(Careful, [("printed", V), ("printed", V * 2)], fallback="eager")


def test_a_refused_trace_leaves_the_object_alone():
    obj = jitted(Careful)()
    before = copy.deepcopy(vars(obj))
    with pytest.raises(SideEffectError, match="w"):
        obj.printed(V)
    same(vars(obj), before)


def test_young_objects_with_arrays_fall_back():
    class Builder:
        def build(self, x):
            self.layer = Layer(x.sum())
            return x

    obj = jitted(Builder, fallback="eager")()
    with pytest.warns(FallbackWarning):
        obj.build(V)
    before = obj.layer
    obj.build(V)
    assert obj.layer is not before


def test_a_changed_object_given_to_other_code_falls_back():
    class Shown:
        def __init__(self):
            self.w = 1.0

        def step(self, x):
            self.w = x.sum()
            return copy.copy(self).w * x

    with pytest.warns(FallbackWarning, match="w"):
        agree(Shown, [("step", V), ("step", V * 2)], fallback="eager")


def test_objects_with_operators_fall_back():
    class Vector:
        def __init__(self):
            self.w = np.zeros(3)

        def __add__(self, x):
            return self.w + x

        def step(self, x):
            self.w = x * 2
            return self + x

    with pytest.warns(FallbackWarning, match="w"):
        agree(Vector, [("step", V), ("step", V * 2)], fallback="eager")


@pytest.mark.parametrize("name", ["add", "all"])
def test_exports_refuse_stores(name):
    obj = jitted(Running)()
    before = copy.deepcopy(vars(obj))
    with pytest.raises(SideEffectError, match=r"state_harness\.py"):
        getattr(obj, name).to_onnx(V)
    same(vars(obj), before)


def test_exports_may_drop_stores():
    import onnxruntime as ort

    obj = jitted(Online)()
    obj.w = np.array([1.0, 2.0])

    class Net(Online):
        def step(self, x):
            self.n += 1
            self.w += 1
            self.last = x @ self.w
            return self.last * 2

    net = jitted(Net)()
    model = net.step.to_onnx(X, mutated="drop")
    session = ort.InferenceSession(model.SerializeToString())
    (got,) = session.run(None, {"x": X})
    np.testing.assert_allclose(got, X @ np.ones(2) * 2)
    notes = {p.key: p.value for p in model.metadata_props}
    assert "self.n" in notes["onnxjit.dropped_stores"]
    assert "self.last" in notes["onnxjit.dropped_stores"]
    assert net.n == 0
    assert not net.w.any()


# ------------------------------------------------------------------ threads, explain


def test_threads_replay_their_own_values():
    kind = jitted(Online)
    objects = [kind() for _ in range(4)]
    errors = []

    def work(obj, k):
        try:
            for _ in range(20):
                obj.partial_fit(X * k, Y)
        except Exception as e:  # noqa: BLE001  shown by the main thread
            errors.append(e)

    threads = [threading.Thread(target=work, args=(o, k)) for k, o in enumerate(objects, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    for k, obj in enumerate(objects, 1):
        plain = Online()
        for _ in range(20):
            plain.partial_fit(X * k, Y)
        np.testing.assert_allclose(obj.w, plain.w, rtol=1e-9)
        assert obj.n == plain.n


def test_other_threads_see_nothing_of_a_trace():
    seen = []

    class Slow:
        def __init__(self):
            self.w = 1.0

        def step(self, x):
            self.w = x.sum()
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
            return self.w * 2

    obj = jitted(Slow, fallback="eager")()

    def look():
        seen.append(type(obj.w))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        obj.step(V)
    assert all(kind in (float, np.float64) for kind in seen)


def test_explain_lists_what_is_stored():
    kind = jitted(Online)
    obj = kind()
    obj.partial_fit(X, Y)
    text = str(obj.partial_fit.explain())
    assert "stores self.n" in text
    assert "state_harness.py" in text
    (kept,) = obj.partial_fit.explain().kept
    assert any("self.w" in each.text for each in kept.stores)


def test_graphs_keep_no_object_alive():
    kind = jitted(Online)
    obj = kind()
    for _ in range(3):
        obj.partial_fit(X, Y)
        obj.rebind(X, Y)
    assert obj.partial_fit(X, Y) is obj
    gone = weakref.ref(obj)
    del obj
    gc.collect()
    assert gone() is None


def test_numbers_that_another_method_changes_take_no_new_graph():
    kind = jitted(Online)
    obj, plain = kind(), Online()
    for _ in range(12):
        for each in (obj, plain):
            each.rebind(X, Y)
            each.partial_fit(X, Y)
    same(vars(obj), vars(plain))
    assert vars(kind)["partial_fit"].cache_info() == {"graphs": 1, "eager": 0}
