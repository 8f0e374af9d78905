# SPDX-License-Identifier: Apache-2.0
"""`verify`: NumPy, onnxruntime and the reference evaluator in one table."""

import json
import operator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxjit import DataDependentError, OnnxJitError, asarray, jit_onnx
from onnxjit._core.op import Op
from onnxjit._jit import verify as module
from onnxjit._jit.compare import compare
from onnxjit._jit.factors import compare_factors
from onnxjit._jit.whole import compare_results
from onnxjit._lower.opsets import newest, supported
from onnxjit._runtime.reference_faults import FAULTS, Fault, node_runs

X = np.array([[0.5, -1.5], [2.0, 0.25], [-0.75, 1.0]], np.float32)


def normalise(x, eps=1e-6):
    x = x - x.mean(axis=0)
    x[np.abs(x) < eps] = 0
    return x / (np.sqrt((x * x).sum(axis=0, keepdims=True)) + eps)


def statuses(found, column):
    return {row.checks[column].status for row in found.rows if column in row.checks}


# --------------------------------------------------------------------- whole functions


def test_every_opset_agrees():
    found = jit_onnx(normalise).verify(X, opsets="all")
    assert found.ok
    assert found
    assert [row.opset for row in found.rows] == [None, *supported()]
    assert statuses(found, "onnxruntime") == statuses(found, "reference") == {"ok"}
    assert all(row.numpy == "float32[3, 2]" for row in found.rows[1:])


def test_a_call_is_compared_and_one_opset_by_default():
    assert [row.opset for row in jit_onnx(normalise).verify(X).rows] == [None, newest()]
    assert [row.opset for row in jit_onnx(normalise, opset=17).verify(X).rows] == [None, 17]


def test_one_target_only():
    jit = jit_onnx(normalise)
    reference = jit.verify(X, opsets=[13, 20], target="spec")
    assert [(row.opset, list(row.checks)) for row in reference.rows] == [
        (13, ["reference"]),
        (20, ["reference"]),
    ]
    (_, row) = jit.verify(X, target="onnxruntime").rows
    assert list(row.checks) == ["onnxruntime"]


def test_arguments_of_every_kind_and_all_results():
    def f(x, parts, k, *, bias):
        return {"a": x * k, "n": len(x), "b": (parts[0] + bias, x.sum(), None)}, 3

    jit = jit_onnx(f)
    found = jit.verify(X, [X.T.copy()], 2, bias=np.float32(0.5), opsets=[13])
    assert found.ok, found
    assert [row.numpy for row in found.rows[1:]] == [
        "float32[3, 2]",
        "float32[2, 3]",
        "float32[]",
    ]


def test_sizes_alone_are_results():
    found = jit_onnx(lambda x: (len(x), x.ndim, 1.5)).verify(X)
    assert found.ok, found
    assert [row.numpy for row in found.rows[1:]] == ["int64[]", "int64[]", "float64[]"]


def test_arguments_are_not_changed_and_what_is_written_is_compared():
    def f(x):
        x += 1

    before = X.copy()
    found = jit_onnx(f).verify(before)
    assert found.ok
    assert found.rows[1].output == "x_out"
    np.testing.assert_array_equal(before, X)


def test_eager_arrays_are_arguments():
    assert jit_onnx(normalise).verify(asarray(X)).ok


def test_methods():
    class Model:
        def __init__(self):
            self.weight = np.float32(2)

        @jit_onnx
        def predict(self, x):
            return x * self.weight

    assert Model().predict.verify(X).ok


def test_options_of_the_function_named_like_ours():
    found = jit_onnx(lambda x, target=1: x * target).verify(X, kwargs={"target": 3})
    assert found.ok
    assert len(found.rows) == 2


def test_numpy_raises_first():
    with pytest.raises(ValueError, match="broadcast"):
        jit_onnx(lambda x: x + np.ones(7, np.float32)).verify(X)


@pytest.mark.parametrize("options", [{"opsets": "some"}, {"opsets": [3]}, {"target": "cuda"}])
def test_malformed_options(options):
    with pytest.raises(ValueError, match=r"target|opset") as caught:
        jit_onnx(normalise).verify(X, **options)
    assert isinstance(caught.value, OnnxJitError)


def test_assumptions_are_told():
    def f(x):
        return x[1:] if operator.gt(len(x), 2) else x

    found = jit_onnx(f).verify(X)
    assert found.ok
    assert found.assumptions
    assert "models assume" in str(found)


def test_what_cannot_be_exported_is_shown():
    def f(x):
        if float(str(x.sum())) > 0:
            return x
        return -x

    found = jit_onnx(f).verify(X, opsets=[18, 20])
    call, *models = found.rows
    assert not found.ok
    assert call.ok
    assert "runs eagerly" in call.checks["onnxruntime"].text
    assert [row.opset for row in models] == [18, 20]
    assert {row.checks["onnxruntime"].status for row in models} == {"error"}
    assert DataDependentError.__name__ in models[0].checks["reference"].text
    assert str(found).startswith(
        f"{f.__qualname__} FAILS in part; what ran agrees with NumPy\n"
    )


# --------------------------------------------------------------------- faults are seen


@pytest.fixture
def wrong_sine(monkeypatch):
    """Lower a sine as a cosine."""
    monkeypatch.setattr(Op, "rule", _wrong_rule(Op.rule))


def _wrong_rule(right):
    def rule(op, opset):
        if op.name == "sin":
            return lambda e, _equation, x: e.op("Cos", x)
        return right(op, opset)

    return rule


@pytest.mark.usefixtures("wrong_sine")
def test_a_wrong_result_is_found_everywhere():
    found = jit_onnx(np.sin).verify(X)
    assert not found.ok
    assert statuses(found, "onnxruntime") == statuses(found, "reference") == {"differs"}
    assert found.rows[1].checks["reference"].error > 0.1
    assert found.rows[1].checks["reference"].ulp > 1000


def test_a_known_fault_is_not_held_against_us(monkeypatch):
    monkeypatch.setattr(Op, "rule", _wrong_rule(Op.rule))
    monkeypatch.setitem(
        module._excused.__globals__, "faults_of", lambda _: [Fault("Sin", "a made-up fault")]
    )
    found = jit_onnx(np.sin).verify(X, target="spec")
    assert found.ok
    assert found.rows[0].checks["reference"].status == "n/a"
    assert "Sin: a made-up fault" in str(found)


def test_many_node_runs_are_left_out_unless_asked():
    jit = jit_onnx(normalise)
    (row,) = jit.verify(X, target="spec", node_runs=3).rows
    assert row.checks["reference"].status == "n/a"
    assert "node runs" in row.checks["reference"].text
    (row,) = jit.verify(X, target="spec", node_runs=None).rows
    assert row.checks["reference"].status == "ok"


def test_loops_count_by_their_steps():
    inner = helper.make_graph(
        [helper.make_node("Identity", [a], [b]) for a, b in (("c", "d"), ("v", "w"))],
        "b",
        [
            helper.make_tensor_value_info(n, t, [])
            for n, t in (("i", TensorProto.INT64), ("c", TensorProto.BOOL), ("v", 1))
        ],
        [
            helper.make_tensor_value_info(n, t, [])
            for n, t in (("d", TensorProto.BOOL), ("w", 1))
        ],
    )
    nodes = [helper.make_node("Loop", [n, "", "x"], [f"y{n}"], body=inner) for n in ("m", "n")]
    graph = helper.make_graph(nodes, "g", [], [], [numpy_helper.from_array(np.array(50), "m")])
    assert isinstance(graph, onnx.GraphProto)
    assert node_runs(graph, 7) == (1 + 50 * 2) + (1 + 7 * 2)


def test_faults_name_operators():
    assert all(f.op in str(f) for f in FAULTS)


# --------------------------------------------------------------------- comparing


@pytest.mark.parametrize(
    ("got", "want", "status", "error", "ulp"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], "ok", 0.0, 0),
        ([np.nextafter(1.0, 2)], [1.0], "ok", 2**-52, 1),
        ([1.0, -0.0], [1.0, 0.0], "ok", 0.0, 0),
        ([5e-324], [-5e-324], "ok", 1e-323, 2),
        ([1.1], [1.0], "differs", pytest.approx(0.1), 450359962737050),
        ([1e-9, 1e9], [2e-9, 1e9], "differs", 1e-9, None),
        ([np.inf], [1.0], "differs", None, None),
        ([np.nan], [np.inf], "differs", None, None),
        ([], [], "ok", 0.0, 0),
    ],
)
def test_floats(got, want, status, error, ulp):
    check = compare(np.array(got), np.array(want))
    assert (check.status, check.error) == (status, error)
    assert ulp is None or check.ulp == ulp


def test_integers_are_exact():
    top = np.array([2**63 - 1, 0])
    assert compare(top, top).ok
    check = compare(top, np.array([-(2**63), 0]))
    assert (check.status, check.error, check.text) == ("differs", 2**64 - 1, "1 of 2 elements")
    assert compare(np.array([True]), np.array([False])).error == 1
    assert compare(np.array(["a"], object), np.array(["a"])).ok


def test_dtypes_and_shapes_count():
    assert (
        "dtype float32 instead of float64" in compare(np.ones(1, np.float32), np.ones(1)).text
    )
    assert "shape (1,) instead of ()" in compare(np.ones(1), np.ones(())).text


def test_whole_results():
    assert compare_results((1, {"a": np.ones(2)}), (1, {"a": np.ones(2)})).ok
    for got, want, text in (
        (np.float64(1), 1.0, "result: numpy.float64 instead of builtins.float"),
        ((1, 2), (1, 3), "result[1]: 2"),
        ({"a": 1}, {"b": 1}, "result: 1 parts, not 1"),
        ([np.ones(2)], [np.zeros(2)], "result[0]"),
    ):
        assert text in compare_results(got, want).text


# --------------------------------------------------------------------- showing


def test_the_table_and_plain_data():
    found = jit_onnx(normalise).verify(X, opsets=[18])
    lines = str(found).splitlines()
    assert lines[0] == "normalise agrees with NumPy"
    assert lines[1].split() == [
        "opset", "output", "numpy", "onnxruntime", "max", "error", "max", "ulp",
        "reference", "max", "error", "max", "ulp",
    ]  # fmt: skip
    assert lines[4].startswith("   18  output_0  float32[3, 2]  ok ")
    data = json.loads(json.dumps(found.to_json()))
    assert data["ok"] is True
    assert set(data["rows"][1]) == {"opset", "output", "numpy", "onnxruntime", "reference"}
    assert set(data["rows"][1]["reference"]) == {"status", "max_abs_error", "max_ulp", "text"}


SYMMETRIC = np.array([[2.0, 1, 0, 3], [1, -1, 2, 0], [0, 2, 0, 1], [3, 0, 1, 1]])
GENERAL = SYMMETRIC + np.triu(np.full((4, 4), 2.0))


@pytest.mark.parametrize(
    ("f", "a"),
    [
        (np.linalg.svd, GENERAL),
        (np.linalg.svd, GENERAL + 1j * SYMMETRIC),
        (np.linalg.svd, np.eye(3)),
        (np.linalg.svd, GENERAL[:3]),
        (np.linalg.eigh, SYMMETRIC),
        (np.linalg.eigh, np.eye(3, dtype=np.float32)),
        (np.linalg.eig, SYMMETRIC),
        (np.linalg.eig, np.stack([GENERAL, SYMMETRIC])),
        (np.linalg.qr, GENERAL + 1j * SYMMETRIC),
        (lambda a: {"x": [np.linalg.svd(a), a + 1]}, GENERAL),
        (lambda a: np.emath.sqrt(a @ a.T), np.eye(3)),
        (lambda a: np.roots(a[0]), np.array([[1.0, -6, 11, -6]])),
    ],
)
def test_factors_are_compared_by_what_they_make(f, a):
    found = jit_onnx(f).verify(a, target="onnxruntime")
    assert found.ok, found


def test_wrong_factors_differ():
    svd, eigh, eig = np.linalg.svd(GENERAL), np.linalg.eigh(SYMMETRIC), np.linalg.eig(GENERAL)
    for want in (svd, eigh, eig):
        assert compare_factors(tuple(want), want).ok
        assert compare_factors([x * 1 for x in want], want).ok
        for i, x in enumerate(want):
            changed = list(want)
            changed[i] = x * 1.001
            assert not compare_factors(changed, want).ok
            changed[i] = x.astype(np.complex64)
            assert "dtype" in compare_factors(changed, want).text
            changed[i] = x[:-1]
            assert "shape" in compare_factors(changed, want).text
            changed[i] = x * np.nan
            assert not compare_factors(changed, want).ok
    turned = [-svd[0], svd[1], -svd[2]]
    assert compare_factors(turned, svd).ok
    assert not compare_factors([-svd[0], svd[1], svd[2]], svd).ok
    order = [2, 0, 3, 1]
    assert compare_factors([eig[0][order], -eig[1][:, order]], eig).ok
    assert not compare_factors([eig[0][order], eig[1]], eig).ok


def test_floats_that_differ_say_by_how_much_they_may() -> None:
    want = np.linspace(1, 2, 9)
    check = compare(want * [1, 1, 1 + 1e-6, 1, 1 + 1e-3, 1, 1, 1, 1], want)
    assert not check.ok
    assert check.text == "2 of 9 elements beyond rtol=1e-12"
    assert compare(want * (1 + 1e-6), want, rtol=1e-5).ok
