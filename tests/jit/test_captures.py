# SPDX-License-Identifier: Apache-2.0
"""What a function finds around it: constants of its graph, and new graphs when rebound."""

import types
from functools import partial
from typing import Any

import numpy as np
import pytest

from onnxjit import SideEffectError, jit_onnx
from tests.jit.harness import agrees, same

TABLE = np.array([10.0, 20.0, 30.0])
SCALE = 2.0
COUNT = 3
MODE = "up"
PARAMS = {"w": np.array([1.0, 2.0]), "b": 0.5, "n": 2}
LAYERS = [np.eye(2), 2 * np.eye(2)]
CONFIG = types.SimpleNamespace(scaler=types.SimpleNamespace(mean=np.array([1.0, 2.0])), k=3)
INDEX = np.array([2, 0, 1, 1])
POINT = np.array([1.0, 2.0])


def helper(x):
    return x + 1


def other_helper(x):
    return x - 1


def call_model(model, x):
    return x * model.coef


def graphs(jit):
    return jit.cache_info()["graphs"]


# ------------------------------------------------------------------ indexed by traced values


def test_a_global_table_is_indexed_by_a_traced_array():
    agrees(lambda i: TABLE[i], (INDEX,), (INDEX[:2],), graphs=1)


def test_a_closed_over_table_is_indexed_by_a_traced_array():
    table = np.arange(6.0).reshape(3, 2)

    def lookup(i):
        return table[i, 1] + table[i][:, 0]

    agrees(lookup, (INDEX,), graphs=1)


def test_a_table_in_an_attribute_is_indexed_by_a_traced_array():
    class Lookup:
        def __init__(self):
            self.table = np.arange(4) ** 2

        def __call__(self, i):
            return self.table[i]

    agrees(Lookup(), (INDEX,), graphs=1)


def test_a_table_in_a_default_argument_is_indexed_by_a_traced_array():
    def lookup(i, table=np.array([5, 6, 7])):  # noqa: B008  the trap
        return table[i]

    agrees(lookup, (INDEX,), graphs=1)


def test_a_table_is_indexed_by_a_traced_scalar():
    agrees(lambda i: TABLE[i], (np.int64(2),), (np.int64(-1),), graphs=1)


def test_a_table_is_indexed_by_a_hinted_int():
    agrees(lambda i: TABLE[i], (2,), (0,), (1,), graphs=1)


def test_a_table_is_indexed_by_a_traced_mask():
    agrees(lambda x: TABLE[x > 1], (np.array([0, 2, 3]),), graphs=1)


def test_a_table_is_sliced_by_a_hinted_int():
    agrees(lambda n: TABLE[:n], (2,), (0,), (3,), (5,), graphs=1)


def test_a_python_list_is_indexed_by_a_traced_int():
    numbers = [3, 5, 7]
    agrees(lambda x: numbers[int(x.argmax())] * x, (np.array([1.0, 9.0, 2.0]),), graphs=1)


def test_a_table_in_a_list_is_indexed_by_a_traced_array():
    agrees(lambda i: LAYERS[1][i], (np.array([1, 0]),), graphs=1)


# ------------------------------------------------------------------ operands


def test_a_captured_array_is_an_operand_on_either_side():
    agrees(lambda x: TABLE * x - x / TABLE + np.dot(TABLE, x), (np.ones(3),), graphs=1)


def test_a_captured_array_keeps_its_dtype():
    table = np.array([1, 2, 3], np.int8)
    agrees(lambda x: table + x, (np.ones(3, np.float32),), graphs=1)


def test_a_captured_array_is_one_initialiser():
    weights = np.arange(300.0).reshape(100, 3)
    model = jit_onnx(lambda x: x @ weights + (weights * 2).sum() + (x @ weights)).to_onnx(
        np.ones((2, 100))
    )
    big = [i for i in model.graph.initializer if list(i.dims) == [100, 3]]
    assert len(big) == 1


def test_a_captured_array_is_a_result():
    def give(x):
        return x, TABLE

    jit = agrees(give, (np.ones(2),), graphs=1)
    result = jit(np.ones(2))[1]
    assert result is not TABLE
    result[0] = -1
    same(jit(np.ones(2))[1], TABLE)
    assert TABLE[0] == 10.0


def test_attributes_of_a_captured_array_are_plain_values():
    def f(x):
        rows, cols = LAYERS[0].shape
        return x.reshape(rows, cols) * len(TABLE) + TABLE.ndim

    agrees(f, (np.arange(4.0),), graphs=1)


def test_a_captured_array_decides_a_branch():
    agrees(
        lambda x: x + 1 if TABLE[0] > 5 and (TABLE > 0).all() else x, (np.ones(2),), graphs=1
    )


def test_a_captured_array_is_iterated():
    agrees(lambda x: sum(t * x for t in TABLE), (np.ones(2),), graphs=1)


def test_numpy_functions_on_captured_arrays_are_plain():
    def f(x):
        order = np.argsort(INDEX)
        return x[order] + float(np.max(TABLE)) + int(np.sum(INDEX))

    agrees(f, (np.arange(4.0),), graphs=1)


# ------------------------------------------------------------------ rebinding


def test_a_rebound_global_array_makes_a_new_graph(monkeypatch):
    jit = jit_onnx(lambda x: x + POINT, fallback="error")
    same(jit(np.ones(2)), np.array([2.0, 3.0]))
    monkeypatch.setitem(globals(), "POINT", np.array([5.0, 6.0]))
    same(jit(np.ones(2)), np.array([6.0, 7.0]))
    same(jit(np.ones(2)), np.array([6.0, 7.0]))
    assert graphs(jit) == 2


def test_a_rebound_cell_makes_a_new_graph():
    w = np.array([1.0, 2.0])

    @jit_onnx(fallback="error")
    def f(x):
        return x * w

    same(f(np.ones(2)), w)
    w = np.array([3.0, 4.0])
    same(f(np.ones(2)), w)
    assert graphs(f) == 2


class Model:
    def __init__(self):
        self.coef = np.array([1.0, 2.0])
        self.alpha = 3
        self.name = "lin"
        self.inner = types.SimpleNamespace(mean=np.zeros(2), std=1.5)

    @jit_onnx(fallback="error")
    def predict(self, x):
        return x * self.coef * self.alpha

    @jit_onnx(fallback="error")
    def scale(self, x):
        return (x - self.inner.mean) / self.inner.std

    @jit_onnx(fallback="error")
    def named(self, x):
        return x + len(self.name)


@pytest.mark.parametrize(
    ("name", "value"), [("coef", np.array([5.0, 6.0])), ("alpha", 7), ("alpha", 3.5)]
)
def test_a_rebound_attribute_makes_a_new_graph(name, value):
    model = Model()
    x = np.array([1.0, 1.0])
    same(model.predict(x), x * model.coef * model.alpha)
    setattr(model, name, value)
    for _ in range(2):
        same(model.predict(x), x * model.coef * model.alpha)


def test_a_rebound_nested_attribute_makes_a_new_graph():
    model = Model()
    x = np.array([1.0, 4.0])
    same(model.scale(x), x / 1.5)
    model.inner.std = 2.0
    same(model.scale(x), x / 2.0)
    model.inner.mean = np.ones(2)
    same(model.scale(x), (x - 1) / 2.0)
    model.inner = types.SimpleNamespace(mean=np.full(2, 3.0), std=1.0)
    same(model.scale(x), x - 3)


def test_a_rebound_string_makes_a_new_graph():
    model = Model()
    same(model.named(np.ones(2)), np.full(2, 4.0))
    model.name = "longer"
    same(model.named(np.ones(2)), np.full(2, 7.0))


def test_an_equal_value_keeps_the_graph():
    model = Model()
    x = np.ones(2)
    jit = Model.predict
    before = graphs(jit)
    model.predict(x)
    model.alpha = 3
    model.predict(x)
    assert graphs(jit) == before + 1


def test_numbers_of_another_type_are_another_value(monkeypatch):
    jit = jit_onnx(lambda x: x + COUNT, fallback="error")
    same(jit(np.arange(2)), np.array([3, 4]))
    monkeypatch.setitem(globals(), "COUNT", 3.0)
    same(jit(np.arange(2)), np.array([3.0, 4.0]))
    monkeypatch.setitem(globals(), "COUNT", True)
    same(jit(np.arange(2)), np.array([1, 2]))


def test_the_sign_of_a_captured_zero_counts():
    zero = 0.0

    def f(x):
        return np.copysign(x, zero)

    jit = jit_onnx(f, fallback="error")
    same(jit(np.ones(2)), np.ones(2))
    zero = -0.0
    same(jit(np.ones(2)), -np.ones(2))


def test_a_rebound_dict_item_makes_a_new_graph(monkeypatch):
    jit = jit_onnx(lambda x: x * PARAMS["w"] + PARAMS["b"], fallback="error")
    same(jit(np.ones(2)), np.array([1.5, 2.5]))
    monkeypatch.setitem(PARAMS, "b", 1.5)
    same(jit(np.ones(2)), np.array([2.5, 3.5]))
    monkeypatch.setitem(PARAMS, "w", np.array([3.0, 4.0]))
    same(jit(np.ones(2)), np.array([4.5, 5.5]))
    assert graphs(jit) == 3


def test_a_rebound_list_item_makes_a_new_graph():
    layers = [np.eye(2), 2 * np.eye(2)]

    def f(x):
        for layer in layers:
            x = x @ layer
        return x

    jit = jit_onnx(f, fallback="error")
    same(jit(np.ones(2)), np.full(2, 2.0))
    layers[0] = 3 * np.eye(2)
    same(jit(np.ones(2)), np.full(2, 6.0))
    layers.append(5 * np.eye(2))
    same(jit(np.ones(2)), np.full(2, 30.0))


def test_a_path_through_objects_and_items_is_watched(monkeypatch):
    jit = jit_onnx(lambda x: x - CONFIG.scaler.mean + CONFIG.k, fallback="error")
    same(jit(np.ones(2)), np.array([3.0, 2.0]))
    monkeypatch.setattr(CONFIG.scaler, "mean", np.zeros(2))
    same(jit(np.ones(2)), np.array([4.0, 4.0]))
    monkeypatch.setattr(CONFIG, "k", 5)
    same(jit(np.ones(2)), np.array([6.0, 6.0]))


def test_a_replaced_function_makes_a_new_graph(monkeypatch):
    jit = jit_onnx(lambda x: helper(x), fallback="error")
    same(jit(np.ones(2)), np.full(2, 2.0))
    monkeypatch.setitem(globals(), "helper", other_helper)
    same(jit(np.ones(2)), np.zeros(2))


def test_replaced_code_makes_a_new_graph(monkeypatch):
    jit = jit_onnx(lambda x: helper(x), fallback="error")
    same(jit(np.ones(2)), np.full(2, 2.0))
    monkeypatch.setattr(helper, "__code__", other_helper.__code__)
    same(jit(np.ones(2)), np.zeros(2))


def test_a_captured_string_decides_a_branch(monkeypatch):
    jit = jit_onnx(lambda x: x + 1 if MODE == "up" else x - 1, fallback="error")
    same(jit(np.ones(2)), np.full(2, 2.0))
    monkeypatch.setitem(globals(), "MODE", "down")
    same(jit(np.ones(2)), np.zeros(2))


def test_a_captured_numpy_scalar_is_watched_by_its_bits():
    k: Any = np.float32(2)

    def f(x):
        return x * k

    jit = jit_onnx(f, fallback="error")
    x = np.ones(2, np.float32)
    same(jit(x), x * k)
    k = np.float32(2)
    same(jit(x), x * k)
    assert graphs(jit) == 1
    k = np.float64(3)
    same(jit(x), x * k)
    assert graphs(jit) == 2


def test_a_new_object_of_self_has_its_own_graph():
    first, second = Model(), Model()
    second.coef = np.array([9.0, 9.0])
    x = np.ones(2)
    same(first.predict(x), np.array([3.0, 6.0]))
    same(second.predict(x), np.array([27.0, 27.0]))
    same(first.predict(x), np.array([3.0, 6.0]))


@pytest.mark.parametrize("wrap", [lambda m: m.predict, lambda m: partial(call_model, m)])
def test_a_rebound_attribute_of_a_bound_object_is_seen(wrap):
    model = types.SimpleNamespace(coef=2.0)
    bound = types.MethodType(call_model, model)
    model.predict = bound
    jit = jit_onnx(wrap(model), fallback="error")
    same(jit(np.ones(2)), np.full(2, 2.0))
    model.coef = 5.0
    same(jit(np.ones(2)), np.full(2, 5.0))


def test_a_rebound_attribute_of_a_default_is_seen():
    def f(x, config=CONFIG.scaler):
        return x - config.mean

    jit = jit_onnx(f, fallback="error")
    same(jit(np.ones(2)), np.array([0.0, -1.0]))
    old, CONFIG.scaler.mean = CONFIG.scaler.mean, np.zeros(2)
    try:
        same(jit(np.ones(2)), np.ones(2))
    finally:
        CONFIG.scaler.mean = old


def test_a_property_is_evaluated_and_watched():
    class Ratio:
        def __init__(self):
            self.top = np.array([2.0, 4.0])

        @property
        def half(self):
            return self.top / 2

        def __call__(self, x):
            return x + self.half

    obj = Ratio()
    jit = jit_onnx(obj, fallback="error")
    same(jit(np.zeros(2)), np.array([1.0, 2.0]))
    obj.top = np.array([6.0, 6.0])
    same(jit(np.zeros(2)), np.array([3.0, 3.0]))


# ------------------------------------------------------------------ writes


V = np.array([3.0, -1.5, 2.25])


def written(f, array, calls=3):
    """Compare calls of a function that writes into an array of its surroundings."""
    before, jit = array.copy(), jit_onnx(f, fallback="error")
    wanted = [(f(V * k), array.copy()) for k in range(calls)]
    array[...] = before
    for k, (result, content) in enumerate(wanted):
        same(jit(V * k), result)
        same(array, content)
    assert jit.cache_info() == {"graphs": 1, "eager": 0}
    with pytest.raises(SideEffectError):
        jit.to_onnx(V)
    same(array, content)


def test_a_captured_array_may_be_written():
    state = np.zeros(3)

    def f(x):
        state[0] += x.sum()
        return x + state

    written(f, state)


def test_a_mutable_default_keeps_what_is_added():
    def f(x, seen=[]):  # noqa: B006  the trap
        seen.append(1)
        return x * len(seen)

    jit = jit_onnx(f, fallback="error")
    for k in range(1, 4):
        same(jit(np.ones(3)), np.full(3, float(k)))
    assert f.__defaults__ == ([1, 1, 1],)


def test_out_may_be_a_captured_array():
    buffer = np.zeros(3)

    def f(x):
        np.add(x, 1, out=buffer)
        return buffer * 2

    written(f, buffer)


def test_a_view_of_a_captured_array_writes_into_it():
    state = np.zeros((3, 2))

    def f(x):
        row = state[1]
        row[0] += x[0]
        return row * 1

    written(f, state)


def test_a_captured_array_may_be_sorted_in_place():
    order = np.array([3, 1, 2])

    def f(x):
        order.sort()
        return x[order - 1]

    written(f, order)


def test_graphs_see_what_another_graph_has_written():
    state = np.zeros(3)

    def add(x):
        state[:] = state + x

    def read(x):
        return x * state

    adds, reads = jit_onnx(add, fallback="error"), jit_onnx(read, fallback="error")
    same(reads(V), V * 0)
    adds(V)
    same(reads(V), V * V)
    adds(V)
    same(reads(V), V * (V + V))


def test_a_copy_of_a_captured_array_may_be_written():
    def f(x):
        table = TABLE.copy()
        table[0] = x[0]
        table += 1
        return table

    agrees(f, (np.ones(2),), graphs=1)
    assert TABLE[0] == 10.0
