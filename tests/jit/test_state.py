# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Stores to objects older than the call: each call makes them, in a graph, as Python does."""

import collections
import copy
import dataclasses
import threading
import warnings

import numpy as np
import pytest

from onnxjit import FallbackWarning, SideEffectError, jit_onnx

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
Y = np.array([1.0, -2.0, 0.5])
V = np.array([1.0, 0.5, 2.25])


def jitted(cls, *, fallback="error"):
    """Return a class of its own whose public methods are jitted."""
    methods = {
        name: jit_onnx(member, fallback=fallback)
        for base in reversed(cls.__mro__[:-1])
        for name, member in vars(base).items()
        if callable(member) and not name.startswith("_")
    }
    return type(cls.__name__, (cls,), {**methods, "__module__": cls.__module__})


def same(got, want, where=""):
    assert type(got) is type(want), f"{where}: {type(got)} instead of {type(want)}"
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype, where
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=where)
    elif isinstance(want, dict):
        assert list(got) == list(want), where
        for k, v in want.items():
            same(got[k], v, f"{where}[{k!r}]")
    elif isinstance(want, (list, tuple, collections.deque)):
        assert len(got) == len(want), where
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            same(g, w, f"{where}[{i}]")
    elif isinstance(want, (float, np.floating)):
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=where)
    elif hasattr(want, "__dict__") and not isinstance(want, type):
        same(vars(got), vars(want), where)
    else:
        assert got == want, where


def agree(cls, steps, *, graphs=None, fallback="error"):
    """Run calls on a plain object and on a jitted one; compare results and state after each.

    `graphs` is the number of graphs of each method in the end.
    """
    kind = jitted(cls, fallback=fallback)
    plain, other = cls(), kind()
    for number, (name, *args) in enumerate(steps):
        mine = copy.deepcopy(args)
        want = getattr(plain, name)(*args)
        with np.errstate(all="ignore"):
            got = getattr(other, name)(*mine)
        where = f"call {number}"
        if want is plain:
            assert got is other, where
        else:
            same(got, want, f"{where}, result")
        same(mine, args, f"{where}, arguments")
        same(_state(other), _state(plain), f"{where}, state")
    if graphs is not None:
        for name in {step[0] for step in steps}:
            info = vars(kind)[name].cache_info()
            assert info == {"graphs": graphs, "eager": 0}, f"{name}: {info}"
    return other


def _state(obj):
    slots = [n for c in type(obj).__mro__ for n in vars(c).get("__slots__", ())]
    held = {n: getattr(obj, n) for n in slots if hasattr(obj, n)}
    return {**held, **getattr(obj, "__dict__", {})}


# ------------------------------------------------------------------ estimators


class Regression:
    def __init__(self):
        self.rate = 0.1

    def fit(self, x, y, steps=7):
        w = np.zeros(x.shape[1])
        b = 0.0
        for _ in range(steps):
            gap = x @ w + b - y
            w = w - self.rate * (x.T @ gap) / len(y)
            b = b - self.rate * gap.mean()
        self.coef_ = w
        self.intercept_ = b
        self.n_iter_ = steps
        self.n_features_in_ = x.shape[1]
        self.names_ = ["a", "b"]
        self.fitted_ = True
        return self

    def predict(self, x):
        return x @ self.coef_ + self.intercept_


def test_fit_stores_and_refits():
    steps = [("fit", X, Y), ("fit", X * 2, Y), ("fit", X[:2], Y[:2])]
    agree(Regression, steps, graphs=1)


def test_fit_then_predict():
    steps = [("fit", X, Y), ("predict", X), ("fit", X + 1, Y), ("predict", X[:2])]
    agree(Regression, steps * 2)


def test_a_refit_needs_no_new_graph_of_predict():
    class Means:
        def fit(self, x):
            self.mean_ = x.mean(axis=0)
            return self

        def apply(self, x):
            return x - self.mean_

    agree(Means, [(n, X * k) for k in range(1, 5) for n in ("fit", "apply")], graphs=1)


def test_young_containers_are_made_anew_by_each_call():
    obj = agree(Regression, [("fit", X, Y)])
    names = obj.names_
    obj.fit(X, Y)
    assert obj.names_ == names
    assert obj.names_ is not names


class Online:
    def __init__(self):
        self.w = np.zeros(2)
        self.n = 0
        self.lr = 0.5

    def partial_fit(self, x, y):
        self.w -= self.lr * (x.T @ (x @ self.w - y)) / len(y)
        self.n += len(y)
        return self

    def rebind(self, x, y):
        self.w = self.w - self.lr * (x.T @ (x @ self.w - y)) / len(y)
        self.lr *= 0.9
        return self

    def one(self, i, v):
        self.w[i] = v

    def predict(self, x):
        return x @ self.w


def test_partial_fit_in_place():
    obj = agree(Online, [("partial_fit", X, Y)] * 5, graphs=1)
    assert obj.n == 15


def test_updates_in_place_keep_the_object():
    obj = jitted(Online)()
    w = obj.w
    obj.partial_fit(X, Y)
    obj.partial_fit(X, Y)
    assert obj.w is w
    assert w.any()


def test_partial_fit_by_rebinding():
    agree(Online, [("rebind", X * k, Y) for k in range(1, 6)], graphs=1)


def test_elements_are_written():
    agree(Online, [("one", 0, 2.0), ("one", 1, 3.0), ("one", -1, 4.0), ("one", 0, 5.0)])


def test_others_see_what_is_updated_in_place():
    steps = [("predict", X), ("partial_fit", X, Y), ("predict", X), ("rebind", X, Y)]
    agree(Online, [*steps, *steps])


def test_objects_of_one_class_have_their_own_state():
    kind = jitted(Online)
    a, b = kind(), kind()
    for _ in range(3):
        a.partial_fit(X, Y)
    b.partial_fit(X, Y)
    assert (a.n, b.n) == (9, 3)
    assert not np.array_equal(a.w, b.w)


class Adam:
    def __init__(self):
        self.params = {"w": np.ones(2), "b": np.zeros(1)}
        self.m = {"w": np.zeros(2), "b": np.zeros(1)}
        self.t = 0

    def step(self, gw, gb):
        self.t += 1
        for key, g in (("w", gw), ("b", gb)):
            self.m[key] = 0.9 * self.m[key] + 0.1 * g
            fixed = self.m[key] / (1 - 0.9**self.t)
            self.params[key] -= 0.1 * fixed


def test_an_optimizer():
    agree(Adam, [("step", V[:2] * k, V[:1]) for k in range(1, 6)], graphs=1)


# ------------------------------------------------------------------ statistics and histories


class Running:
    def __init__(self):
        self.count = 0
        self.mean = 0.0
        self.m2 = 0.0
        self.best = None
        self.low = np.float32(3)

    def add(self, x):
        self.count += 1
        delta = x - self.mean
        self.mean += delta / self.count
        self.m2 = self.m2 + delta * (x - self.mean)
        return self.m2 / self.count

    def all(self, x):
        for v in x:
            self.count += 1
            self.mean += v
        return self.count

    def keep(self, x):
        if x.sum() > 2:
            self.best = x
        return x * 2

    def least(self, x):
        self.low = min(self.low, x.min())
        return self.low


def test_running_statistics():
    agree(Running, [("add", v) for v in (1.0, 4.0, -2.0, 0.5)])


def test_running_statistics_of_numpy_scalars():
    agree(Running, [("add", np.float64(v)) for v in (1.0, 4.0, -2.0, 0.5)])


def test_state_in_loops():
    agree(Running, [("all", V), ("all", V[:2]), ("all", V)])


def test_stores_on_some_paths():
    obj = agree(Running, [("keep", V), ("keep", -V), ("keep", V * 2), ("keep", V * 0)])
    assert isinstance(obj.best, np.ndarray)


def test_a_place_that_is_not_stored_to_keeps_its_object():
    obj = jitted(Running)()
    obj.best = best = np.zeros(2)
    obj.keep(-V)
    obj.keep(-V)
    assert obj.best is best


def test_a_stored_argument_is_the_argument():
    obj = jitted(History)()
    x = V.copy()
    for _ in range(2):
        obj.set(x)
        assert obj.cells[-1] is x


def test_comparisons_with_state():
    steps = [("least", V.astype(np.float32) * k) for k in (9, 1, 2, -3, 1)]
    agree(Running, steps)


class History:
    def __init__(self):
        self.losses = []
        self.log = collections.deque(maxlen=3)
        self.seen = {"start"}
        self.table = {"first": 0}
        self.cells = [0.0, np.zeros(2), None]

    def append(self, x):
        self.losses.append(x.sum())
        self.losses.extend([x.max(), 1])
        return x

    def add(self, x):
        self.losses += [x.sum()]
        self.losses += (x.min(),)

    def latest(self, x):
        self.log.append(x * 2)
        self.log.append(len(x))

    def mark(self, x):
        self.seen.add("more")
        self.seen.update(["a", "b"])
        self.seen |= {"c"}
        return x.sum()

    def record(self, x):
        self.table["sum"] = x.sum()
        self.table.update(max=x.max(), min=x.min())
        self.table |= {"shape": x.shape}
        self.table.setdefault("other", []).append(1)
        return self.table["sum"] + self.table["max"]

    def set(self, x):
        self.cells[0] = x.sum()
        self.cells[-1] = x
        self.cells[1] += x[:2]
        return self.cells[0] * 2

    def restart(self, x):
        self.losses = []
        self.losses.append(x.sum())
        self.losses.append(x.mean())

    def grow(self, x):
        self.losses.append(x.sum())
        return self.losses


@pytest.mark.parametrize("name", ["append", "add", "latest", "mark", "set", "restart", "grow"])
def test_histories(name):
    agree(History, [(name, V), (name, V * 2), (name, V - 3), (name, V)])


def test_histories_take_one_graph():
    agree(History, [("append", V * k) for k in range(12)], graphs=1)


def test_a_returned_list_is_the_list():
    obj = jitted(History)()
    assert obj.grow(V) is obj.losses
    assert obj.grow(V) is obj.losses
    assert len(obj.losses) == 2


def test_dicts_of_results():
    agree(History, [("record", V), ("record", V * 2)], fallback="eager")


def test_reads_of_a_list_after_its_growth():
    class Patience:
        def __init__(self):
            self.losses = []

        def step(self, x):
            self.losses.append(x.sum())
            total = 0.0
            for loss in self.losses:
                total = total + loss
            return len(self.losses), self.losses[-1], total, max(self.losses[-2:])

    agree(Patience, [("step", V * k) for k in (1, 2, 3)])


def test_whole_reads_of_a_list_after_its_growth():
    class Reader:
        def __init__(self):
            self.kept = []
            self.other = []

        def step(self, x):
            kept = self.kept
            empty = not kept
            kept.append(x.sum())
            kept.append(len(x))
            known = bool(kept), bool(self.other), kept == [], [] if kept else None
            total = kept + [1]  # noqa: RUF005  the operator
            if not kept:
                total = [1]
            young = [0]
            young += kept
            first, *_ = kept
            both = [*kept, *self.other]
            return empty, known, total, young, first, both, tuple(kept), kept * 2

    agree(Reader, [("step", V * k) for k in (1, 2, 3)])


def test_reads_of_a_dict_after_stores():
    class Table:
        def __init__(self):
            self.d = {"a": 1.0, "b": 2.0}

        def step(self, x):
            self.d["a"] = x.sum()
            self.d["c"] = x
            known = "c" in self.d, "z" in self.d, "b" in self.d, len(self.d)
            total = sum(v.sum() if k == "c" else v for k, v in self.d.items())
            return known, total, self.d.get("a"), self.d.get("q", 5), list(self.d)

    agree(Table, [("step", V), ("step", V * 2)])


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
    with pytest.raises(SideEffectError, match=r"test_state\.py"):
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
    assert "test_state.py" in text
    (kept,) = obj.partial_fit.explain().kept
    assert any("self.w" in each.text for each in kept.stores)
