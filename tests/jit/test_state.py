# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Stores to objects older than the call: each call makes them, in a graph, as Python does."""

import collections

import numpy as np
import pytest

from tests.jit.state_harness import Online, Running, agree, jitted

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
Y = np.array([1.0, -2.0, 0.5])
V = np.array([1.0, 0.5, 2.25])


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
