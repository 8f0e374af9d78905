# SPDX-License-Identifier: Apache-2.0
"""Warnings and refusals as a user meets them: the place, what was found, what to do."""

import inspect
import operator
import warnings
from typing import Any

import numpy as np
import pytest

import onnxjit
from onnxjit import (
    AssumptionWarning,
    FallbackWarning,
    OnnxJitError,
    SideEffectError,
    SpecError,
    jit_onnx,
)

X = np.arange(6.0).reshape(2, 3)
WORDS = np.array(["lima", "oslo"])
LOG: list[Any] = []
LAST = None


def branch(x):
    return x if float(str(x.sum())) > 0 else -x


def logged(x):
    LOG.append(x.shape)
    return x


def assigned(x):
    global LAST  # noqa: PLW0603  what is refused
    LAST = x
    return x


def measured(x):
    return x + np.char.str_len(np.array2string(x))


def noisy(x):
    return x + np.random.rand(3)  # noqa: NPY002  what is refused


def in_capitals(x):
    return np.strings.upper(x)


def longer(x):
    return x[0] if operator.gt(len(x), 1) else x


def recorded(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


REFUSED = [branch, logged, assigned, measured, noisy]


@pytest.mark.parametrize("fn", REFUSED)
def test_a_refusal_names_the_line_and_its_entry(fn):
    with pytest.raises(OnnxJitError) as raised:
        jit_onnx(fn).to_onnx(X)
    text = "\n".join([str(raised.value), *getattr(raised.value, "__notes__", ())])
    assert f"{__file__}:" in text
    assert f" in {fn.__name__}" in text
    assert f"[docs/errors.md#{type(raised.value).__name__.lower()}]" in text


#: a call can do what they do, a model cannot
STORING = [logged, assigned]


@pytest.mark.parametrize("fn", [fn for fn in REFUSED if fn not in STORING])
def test_a_fallback_says_nothing_of_options_and_points_at_the_user(fn):
    caught = recorded(lambda: jit_onnx(fn)(X))
    assert {each.category for each in caught} == {FallbackWarning}
    assert {each.filename for each in caught} == {__file__}
    assert not any("fallback=" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("fn", "advice"),
    [(logged, "store it outside"), (assigned, "store it outside"), (noisy, "as an argument")],
)
def test_advice_fits_the_side_effect(fn, advice):
    with pytest.raises(SideEffectError, match=advice):
        jit_onnx(fn).to_onnx(X)


def test_a_store_that_a_model_cannot_do_may_be_left_out():
    seen = {}

    def f(x):
        seen["last"] = x.sum()
        return x + 1

    with pytest.raises(SideEffectError, match=r'or leave the store out .* mutated="drop"'):
        jit_onnx(f).to_onnx(X)
    assert len(jit_onnx(f).to_onnx(X, mutated="drop").graph.output) == 1


def test_what_numpy_computes_in_a_fallback_is_warned_of_at_its_line():
    caught = recorded(lambda: jit_onnx(in_capitals)(WORDS))
    inner = [each for each in caught if "in NumPy itself" in str(each.message)]
    first = inspect.getsourcelines(in_capitals)[1]
    assert [(each.filename, each.lineno) for each in inner[:1]] == [(__file__, first + 1)]


def test_what_numpy_computes_on_eager_arrays_is_warned_of_at_its_line():
    x = onnxjit.asarray(WORDS)
    (only,) = recorded(lambda: np.strings.upper(x))
    assert only.filename == __file__


@pytest.mark.parametrize("how", ["to_onnx", "save"])
def test_an_assumption_points_at_the_export(how, tmp_path):
    jit = jit_onnx(longer)
    path = [tmp_path / "m.onnx"] if how == "save" else []
    (only,) = recorded(lambda: getattr(jit, how)(*path, X))
    assert only.category is AssumptionWarning
    assert only.filename == __file__
    assert str(only.message).endswith("[docs/errors.md#assumptionwarning]")


def test_an_opset_that_is_no_number_is_named():
    with pytest.raises(SpecError, match="opset is '18'; it must be an int"):
        jit_onnx(branch, opset="18")  # type: ignore[arg-type]  # what is refused


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such folder to save in: .*missing'"):
        jit_onnx(abs).save(tmp_path / "missing" / "m.onnx", X)


def test_a_class_is_no_function():
    with pytest.raises(TypeError, match="the class object; decorate its methods"):
        jit_onnx(object)


def test_the_repr_counts_graphs_and_eager_signatures_apart():
    jit = jit_onnx(lambda x: np.strings.upper(x) if x.dtype.kind == "U" else x + 1)
    recorded(lambda: (jit(X), jit(WORDS)))
    assert repr(jit).endswith(": 1 graph, 1 signature eagerly>")


def test_no_node_has_empty_inputs_at_its_end():
    model = jit_onnx(lambda x: np.log1p(x[1:])).to_onnx(X)
    assert all(node.input[-1] for node in model.graph.node)
    assert [node.op_type for node in model.graph.node].count("Log") == 1


def test_explain_tells_that_an_argument_was_passed_by_name():
    jit = jit_onnx(lambda x, k=2.0: x * k)
    jit(X, 3.0)
    jit(X, k=3.0)
    assert "k was passed by name" in str(jit.explain())


@pytest.mark.parametrize("dynamic", [{"x": {5: "N"}}, {"x": 0}])
def test_an_axis_that_is_not_there_is_refused(dynamic):
    with pytest.raises(SpecError, match=r"dynamic\['x'\] is .* of 2 axes"):
        jit_onnx(lambda x: x + 1).to_onnx(X, dynamic=dynamic)


@pytest.mark.parametrize("how", ["__call__", "verify", "benchmark"])
def test_a_specification_is_no_argument_of_a_call(how):
    with pytest.raises(SpecError, match="specification, for to_onnx and save"):
        getattr(jit_onnx(lambda x: x + 1), how)(onnxjit.float32["N"])


def test_what_cannot_be_exported_does_not_differ():
    report = jit_onnx(branch).verify(X, opsets=21)
    assert not report.ok
    assert "branch FAILS in part; what ran agrees with NumPy" in str(report)


def test_arrays_of_objects_made_on_the_way_stay_numpys():
    shifted = np.frompyfunc(lambda v: v + 1, 1, 1)
    jit = jit_onnx(lambda x: shifted(x).astype(x.dtype) + 0)
    with pytest.warns(FallbackWarning):
        np.testing.assert_array_equal(jit(X), X + 1, strict=True)
