# SPDX-License-Identifier: Apache-2.0
"""Exported models: names, sizes, assumptions, opsets, files."""

import dataclasses
import json
import operator
import warnings
from typing import Any

import numpy as np
import onnx
import pytest

import onnxjit as oj
from onnxjit import AssumptionWarning, DataDependentError, SpecError, float32, int64, jit_onnx
from tests.jit.harness import run_model, same

V = np.array([3.0, -1.5, 2.25])
M = np.arange(6.0).reshape(2, 3)
F = M.astype("f4")


def normalise(x, eps=1e-6):
    """Ordinary NumPy: in place, masks, keepdims."""
    x = x - x.mean(axis=0)
    x[np.abs(x) < eps] = 0
    return x / (np.sqrt((x * x).sum(axis=0, keepdims=True)) + eps)


@dataclasses.dataclass
class Params:
    w: Any
    b: Any


def inputs(model):
    return [i.name for i in model.graph.input]


def outputs(model):
    return [o.name for o in model.graph.output]


def sizes(info):
    return [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]


def metadata(model):
    return {p.key: p.value for p in model.metadata_props}


# ------------------------------------------------------------------ inputs


def test_inputs_are_named_after_parameters():
    model = jit_onnx(lambda data, weight: data * weight).to_onnx(V, V)
    assert inputs(model) == ["data", "weight"]
    same(run_model(model, V, V), [V * V])


@pytest.mark.parametrize(
    ("fn", "args", "names"),
    [
        (lambda *args: args[0] + args[1], (V, V), ["args_0", "args_1"]),
        (lambda cfg: cfg["w"] + cfg["b"], ({"w": V, "b": V},), ["cfg_w", "cfg_b"]),
        (lambda p: p[0] + p[1][0], ((V, [V]),), ["p_0", "p_1_0"]),
        (lambda p: p.w + p.b, (Params(V, V),), ["p_w", "p_b"]),
        (lambda a_0, a: a_0 + a[0], (V, [V]), ["a_0", "a_0_1"]),
        (lambda x, mode: x + 1 if mode == "up" else x, (V, "up"), ["x"]),
    ],
)
def test_leaves_of_arguments_have_names_of_their_own(fn, args, names):
    model = jit_onnx(fn).to_onnx(*args)
    assert inputs(model) == names


def test_keywords_are_inputs():
    def f(x, *, scale, shift=None):
        return x * scale if shift is None else x * scale + shift

    jit = jit_onnx(f)
    assert inputs(jit.to_onnx(V, scale=V)) == ["x", "scale"]
    assert inputs(jit.to_onnx(V, kwargs={"scale": V, "shift": V})) == ["x", "scale", "shift"]


def test_an_argument_may_be_named_like_an_option():
    model = jit_onnx(lambda x, opset: x + opset).to_onnx(V, kwargs={"opset": V}, opset=15)
    assert inputs(model) == ["x", "opset"]
    assert model.opset_import[0].version == 15


def test_inputs_may_be_renamed():
    model = jit_onnx(lambda a, b: a - b).to_onnx(V, V, input_names=["p", "q"])
    assert inputs(model) == ["p", "q"]
    same(run_model(model, V, V * 2), [-V])


def test_methods_have_no_input_for_self():
    class Model:
        coef = 2.0

        @jit_onnx
        def predict(self, x):
            return x * self.coef

    model = Model().predict.to_onnx(V)
    assert inputs(model) == ["x"]
    same(run_model(model, V), [V * 2])


def test_unused_inputs_stay():
    model = jit_onnx(lambda x, unused: x + 1).to_onnx(V, F)
    assert inputs(model) == ["x", "unused"]
    same(run_model(model, V, F), [V + 1])


def test_python_numbers_are_constants():
    model = jit_onnx(lambda x, n, a: x[:n] * a).to_onnx(V, 2, 0.5)
    assert inputs(model) == ["x"]
    same(run_model(model, V), [V[:2] * 0.5])


def test_scalars_may_be_specified():
    model = jit_onnx(lambda x, n, a: x * a + n).to_onnx(F, int64, float32)
    assert inputs(model) == ["x", "n", "a"]
    assert [sizes(i) for i in model.graph.input] == [["x_0", "x_1"], [], []]
    got = run_model(model, F, np.array(3), np.array(0.5, "f4"))
    same(got, [F * np.float32(0.5) + np.int64(3)])


def test_zero_d_arrays_may_be_specified():
    model = jit_onnx(lambda x: x + 1).to_onnx(float32[()])
    assert sizes(model.graph.input[0]) == []


# ------------------------------------------------------------------ sizes


def test_specifications_need_no_example():
    model = jit_onnx(normalise).to_onnx(float32["N", 3])
    assert sizes(model.graph.input[0]) == ["N", 3]
    assert sizes(model.graph.output[0]) == ["N", 3]
    for n in (1, 2, 7):
        x = np.random.default_rng(n).normal(size=(n, 3)).astype("f4")
        same(run_model(model, x), [normalise(x)])


def test_equal_names_are_equal_sizes():
    jit = jit_onnx(lambda a, b: a + b)
    model = jit.to_onnx(float32["N"], float32["N"])
    assert [sizes(i) for i in model.graph.input] == [["N"], ["N"]]
    assert sizes(model.graph.output[0]) == ["N"]
    assert [n.op_type for n in model.graph.node] == ["Add"]


def test_different_names_may_broadcast():
    model = jit_onnx(lambda a, b: a + b).to_onnx(float32["N"], float32["K"])
    for n, k in ((3, 3), (1, 4), (4, 1), (0, 1), (1, 1)):
        a, b = np.ones(n, "f4"), np.ones(k, "f4")
        same(run_model(model, a, b), [a + b])


def test_sizes_are_symbolic_by_default():
    model = jit_onnx(lambda x: x.reshape(-1)[::2]).to_onnx(M)
    assert sizes(model.graph.input[0]) == ["x_0", "x_1"]
    for x in (M, np.ones((1, 1)), np.ones((4, 5)), np.ones((0, 3))):
        same(run_model(model, x), [x.reshape(-1)[::2]])


def test_sizes_may_be_fixed():
    model = jit_onnx(lambda x: x + 1).to_onnx(M, dynamic=False)
    assert sizes(model.graph.input[0]) == [2, 3]
    assert sizes(model.graph.output[0]) == [2, 3]


def test_some_sizes_may_be_symbolic():
    jit = jit_onnx(lambda x, y: (x + 1, y))
    model = jit.to_onnx(M, V, dynamic={"x": {0: "N"}})
    assert [sizes(i) for i in model.graph.input] == [["N", 3], [3]]
    model = jit.to_onnx(M, V, dynamic={"x": [None, "K"], "y": ["K"]})
    assert [sizes(i)[-1] for i in model.graph.input] == ["K", "K"]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x[0],
        lambda x: x[1:-1],
        lambda x: x[-1] - x[0],
        lambda x: np.diff(x, axis=0),
        lambda x: x - x.mean(axis=0),
        lambda x: x[: len(x) // 2],
        lambda x: np.zeros(x.shape[0]) + x[:, 0],
        lambda x: x[x > 0],
        lambda x: x * np.arange(x.shape[1]),
        lambda x: x[:3],
        lambda x: (x / max(len(x), 1)).sum(),
        lambda x: x.T @ x,
        lambda x: np.pad(x, 1),
        lambda x: np.concatenate([x, x[:1]]),
        lambda x: x[: int(0.8 * len(x))],
    ],
)
def test_a_model_is_right_for_every_size_without_a_warning(fn):
    model = jit_onnx(fn).to_onnx(M)
    for shape in ((2, 3), (1, 3), (5, 2), (4, 1), (8, 8)):
        x = np.random.default_rng(1).normal(size=shape)
        same(run_model(model, x), [np.asarray(fn(x))])


# ------------------------------------------------------------------ assumptions


def test_a_loop_over_a_size_takes_any_size():
    def f(x):
        for i in range(x.shape[0]):
            x = x + i
        return x

    model = jit_onnx(f).to_onnx(M, strict=True)
    assert sizes(model.graph.input[0]) == ["x_0", "x_1"]
    for x in (M, M[:1], M[:0], M.T):
        same(run_model(model, x), [f(x)])


def test_a_fixed_size_is_declared():
    def f(x):
        for _ in "a" * x.shape[0]:
            x = x + 1
        return x

    model = jit_onnx(f).to_onnx(M)
    assert sizes(model.graph.input[0]) == [2, "x_1"]
    assert sizes(model.graph.output[0]) == [2, "x_1"]
    same(run_model(model, M), [f(M)])


def test_a_test_of_a_size_is_part_of_the_model():
    def f(x):
        if x.shape[0] > 1 and np.sqrt(len(x)) < 2:
            return x + 1
        return x - 1

    for example in (M, float32["N", 3]):
        model = jit_onnx(f).to_onnx(example, strict=True)
        for x in (M, M[:1], M[:0], np.ones((5, 3))):
            x = x.astype(np.float64 if example is M else np.float32)  # noqa: PLW2901
            same(run_model(model, x), [f(x)])


def test_an_assumption_is_a_warning_with_the_line():
    def f(x):
        if operator.gt(x.shape[0], 1):
            return x + 1
        return x - 1

    with pytest.warns(AssumptionWarning) as caught:
        model = jit_onnx(f).to_onnx(M)
    (warning,) = caught
    text = str(warning.message)
    assert "x_0 >= 2" in text
    assert f"test_export.py:{f.__code__.co_firstlineno + 1}" in text
    assert warning.filename == __file__
    assert json.loads(metadata(model)["onnxjit.assumptions"]) == ["x_0 >= 2"]
    with pytest.raises(DataDependentError, match="x_0 >= 2"):
        jit_onnx(f).to_onnx(M, strict=True)


def test_a_computed_assumption_is_a_warning():
    def f(x):
        return x + 1 if operator.truth(np.sqrt(len(x)) > 1.5) else x

    with pytest.warns(AssumptionWarning, match="test_export.py"):
        jit_onnx(f).to_onnx(V)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * len("a" * (x.shape[0] * x.shape[1])),
        lambda x: x * len("a" * len(range(0, len(x), 2))),
        lambda x: x * len("a" * (len(x) * len(x))),
    ],
    ids=["product", "steps", "square"],
)
def test_a_fixed_number_that_no_declared_shape_says_is_a_warning(f):
    with pytest.warns(AssumptionWarning, match="test_export.py"):
        jit_onnx(f).to_onnx(np.ones((5, 3)))


def test_a_test_without_an_example_asks_for_one():
    with pytest.raises(DataDependentError, match="example"):
        jit_onnx(lambda x: x + len("a" * len(x))).to_onnx(float32["N"])


def test_tests_that_are_known_are_no_assumptions():
    def f(x):
        if x.ndim == 2 and x.shape[1] == 3 and x.shape[0] >= 0:
            return x + 1
        return x

    jit_onnx(f).to_onnx(float32["N", 3], strict=True)


def test_strict_is_silent_where_nothing_is_assumed():
    jit_onnx(normalise).to_onnx(F, strict=True)


# ------------------------------------------------------------------ outputs


def test_outputs_are_numbered_or_named():
    jit = jit_onnx(lambda x: (x + 1, {"a": x * 2, "b": [x - 1]}))
    assert outputs(jit.to_onnx(V)) == ["output_0", "output_1", "output_2"]
    model = jit.to_onnx(V, output_names=["p", "q", "r"])
    assert outputs(model) == ["p", "q", "r"]
    same(run_model(model, V), [V + 1, V * 2, V - 1])


def test_outputs_may_not_take_names_of_inputs():
    model = jit_onnx(lambda x: x + 1).to_onnx(V, output_names=["x"])
    assert set(outputs(model)).isdisjoint(inputs(model))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x,
        lambda x: (x, x),
        lambda x: (x + 1, x + 1),
        lambda x: [x, x * 1],
        lambda x: np.arange(3),
        lambda x: (x, np.arange(3.0)),
        lambda x: x.T,
        lambda x: x[:],
        lambda x: np.zeros(3) + 0 * np.arange(3),
        lambda x: (x.sum(), x.argmax(), x > 0),
    ],
)
def test_any_result_is_an_output(fn):
    model = jit_onnx(fn).to_onnx(V)
    want = fn(V)
    want = list(want) if isinstance(want, (tuple, list)) else [want]
    same(run_model(model, V), [np.asarray(w) for w in want])


def test_static_results_are_kept_in_the_metadata():
    model = jit_onnx(lambda x: (x + 1, None, "text", 3, x.shape[0])).to_onnx(V)
    assert outputs(model) == ["output_0"]
    tree = json.loads(metadata(model)["onnxjit.result_tree"])
    kinds = tree["tuple"]
    assert kinds[0] == "array"
    assert kinds[1:4] == [{"static": None}, {"static": "text"}, {"static": 3}]
    assert kinds[4] == {"size": "x_0"}


@pytest.mark.parametrize("fn", [lambda x: (2, 1.5, True), lambda x: x.shape, lambda x: len(x)])
def test_functions_with_static_results_have_constant_outputs(fn):
    want = fn(M)
    want = list(want) if isinstance(want, tuple) else [want]
    got = run_model(jit_onnx(fn).to_onnx(M), M)
    assert [g.item() for g in got] == want


def test_a_function_without_any_result_is_refused():
    with pytest.raises(SpecError, match="returns no array"):
        jit_onnx(lambda x: None).to_onnx(V)


# ------------------------------------------------------------------ the model itself


OPSETS = [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]
MIXED = [
    lambda x: normalise(x),
    lambda x: np.where(x > 1, x[:, ::-1], x.sum()) // 2,
    lambda x: np.concatenate([x[:1].cumsum(axis=1), x]).reshape(-1)[::2],
    lambda x: (x.astype(np.int8) % 3).sum(axis=0) + np.sort(x, axis=1)[0].astype(np.int64),
]


@pytest.mark.parametrize("opset", OPSETS)
def test_every_opset_agrees_with_numpy(opset):
    for fn in MIXED:
        jit = jit_onnx(fn)
        for x in (M, F):
            model = jit.to_onnx(x, opset=opset)
            assert [(i.domain, i.version) for i in model.opset_import] == [("", opset)]
            onnx.checker.check_model(model, full_check=True)
            same(run_model(model, x), [fn(x)])


def test_the_newest_opsets_are_written():
    newest = onnx.defs.onnx_opset_version()
    for opset in range(27, newest + 1):
        model = jit_onnx(normalise).to_onnx(F, opset=opset)
        assert model.opset_import[0].version == opset
        onnx.checker.check_model(model, full_check=True)


def test_the_default_opset():
    assert jit_onnx(normalise).to_onnx(F).opset_import[0].version == 21
    assert jit_onnx(normalise, opset=17).to_onnx(F).opset_import[0].version == 17
    assert jit_onnx(normalise, opset=17).to_onnx(F, opset=18).opset_import[0].version == 18


def test_models_for_other_runtimes():
    model = jit_onnx(normalise).to_onnx(F, target="spec")
    same(run_model(model, F), [normalise(F)])


def test_nodes_know_their_line():
    def f(x):
        y = np.exp(x)
        return y * 2

    first = f.__code__.co_firstlineno
    for opset in (15, 21):
        model = jit_onnx(f).to_onnx(V, opset=opset)
        for node in model.graph.node:
            line = first + (1 if node.op_type == "Exp" else 2)
            texts = [p.value for p in node.metadata_props] + [node.doc_string]
            assert any(f"test_export.py:{line}" in text for text in texts)


def test_the_model_is_named_and_signed():
    model = jit_onnx(normalise).to_onnx(F)
    assert model.graph.name == "normalise"
    assert model.producer_name == "onnxjit"


def test_constants_are_stored_once():
    w = np.arange(200.0)

    def f(x):
        return (x + w) * (w + 1 - 1) + w.copy() + np.arange(200.0)

    model = jit_onnx(f).to_onnx(np.ones(200))
    stored = [i for i in model.graph.initializer if list(i.dims) == [200]]
    assert len({i.raw_data for i in stored}) == len(stored)


def test_nothing_dead_or_double():
    def f(x):
        unused = np.sqrt(x)  # noqa: F841
        return np.exp(x) + np.exp(x)

    model = jit_onnx(f).to_onnx(V)
    assert sorted(n.op_type for n in model.graph.node) == ["Add", "Exp"]


def test_an_export_does_not_touch_calls():
    jit = jit_onnx(normalise)
    jit.to_onnx(F)
    assert jit.cache_info() == {"graphs": 0, "eager": 0}
    jit(F)
    jit.to_onnx()
    assert jit.cache_info() == {"graphs": 1, "eager": 0}


def test_an_export_leaves_its_examples_alone():
    def f(x):
        x += 1
        return x * 2

    x = V.copy()
    jit_onnx(f).to_onnx(x)
    same(x, V)


# ------------------------------------------------------------------ the last call


def test_the_last_signature_is_exported():
    def f(p, n, *, mode="a"):
        return p["w"][:n] * (1 if mode == "a" else 2)

    jit = jit_onnx(f)
    jit({"w": V}, 2, mode="b")
    (p, n), kwargs = jit.last_signature()
    assert (p["w"].dtype, p["w"].shape, n, kwargs) == (V.dtype, (3,), 2, {"mode": "b"})
    model = jit.to_onnx()
    assert inputs(model) == ["p_w"]
    same(run_model(model, V), [V[:2] * 2])


def test_the_last_signature_of_a_method():
    class Model:
        coef = 2.0

        @jit_onnx
        def predict(self, x):
            return x * self.coef

    obj = Model()
    obj.predict(V)
    same(run_model(obj.predict.to_onnx(), V), [V * 2])


def test_calls_of_several_sizes_are_one_signature():
    jit = jit_onnx(normalise)
    jit(F)
    jit(F[:1])
    assert sizes(jit.to_onnx().graph.input[0]) == ["x_0", "x_1"]


def test_a_function_without_parameters_needs_no_call():
    same(run_model(jit_onnx(lambda: np.arange(3) * 2).to_onnx()), [np.arange(3) * 2])


# ------------------------------------------------------------------ files


def test_a_model_is_saved(tmp_path):
    path = tmp_path / "normalise.onnx"
    jit = jit_onnx(normalise)
    jit.save(path, float32["N", 3])
    assert [p.name for p in tmp_path.iterdir()] == ["normalise.onnx"]
    model = onnx.load(path)
    onnx.checker.check_model(path, full_check=True)
    same(run_model(model, F), [normalise(F)])
    jit.save(str(path), float32["N", 3], opset=18)
    assert onnx.load(path).opset_import[0].version == 18


def test_the_names_of_the_package_are_enough():
    model = oj.jit_onnx(normalise).to_onnx(oj.float32["N", "K"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(run_model(model, F), [normalise(F)])
