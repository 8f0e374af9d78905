# SPDX-License-Identifier: Apache-2.0
"""Faults of onnx's reference evaluator that `verify` excuses; a mended one fails its test."""

import math

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnxjit._runtime.reference_faults import FAULTS, faults_of

FLOAT, DOUBLE, BOOL, INT = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.BOOL,
    TensorProto.INT64,
)


def model(nodes, inputs, outputs, constants=(), opset=21):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, t, None) for n, t in outputs],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def body(nodes, inputs, outputs):
    infos = [
        [helper.make_tensor_value_info(n, t, s) for n, t, s in each]
        for each in (inputs, outputs)
    ]
    return helper.make_graph(nodes, "b", infos[0], infos[1])


def erf():
    x = np.linspace(-3, 3, 20)
    node = helper.make_node("Erf", ["x"], ["y"])
    want = np.array([math.erf(v) for v in x])
    return model([node], [("x", DOUBLE, [20])], [("y", DOUBLE)]), {"x": x}, want


def pad():
    node = helper.make_node("Pad", ["x", "pads"], ["y"])
    made = model([node], [("x", FLOAT, [3])], [("y", FLOAT)], [("pads", [-1, 0])])
    return made, {"x": np.arange(3, dtype="f4")}, np.array([1, 2], "f4")


def loop():
    identity = [helper.make_node("Identity", [a], [b]) for a, b in (("c", "d"), ("i", "s"))]
    inner = body(
        identity, [("i", INT, []), ("c", BOOL, [])], [("d", BOOL, []), ("s", INT, [])]
    )
    node = helper.make_node("Loop", ["n", "go"], ["y"], body=inner)
    made = model([node], [("n", INT, [])], [("y", INT)], [("go", True)])
    return made, {"n": np.array(3)}, np.arange(3)


def scan():
    inner = body(
        [helper.make_node("Neg", ["i"], ["s"])], [("i", FLOAT, [2])], [("s", FLOAT, [2])]
    )
    node = helper.make_node(
        "Scan", ["x"], ["y"], body=inner, num_scan_inputs=1, scan_input_axes=[1]
    )
    x = np.arange(6, dtype="f4").reshape(2, 3)
    return model([node], [("x", FLOAT, [2, 3])], [("y", FLOAT)]), {"x": x}, -x.T


CASES = {"Erf": erf, "Loop": loop, "Pad": pad, "Scan": scan}


def test_each_fault_has_a_case():
    assert {f.op for f in FAULTS} == set(CASES)


@pytest.mark.parametrize("op", CASES)
def test_a_fault_is_found_in_a_model(op):
    made, _, _ = CASES[op]()
    assert [f.op for f in faults_of(made)] == [op]


def test_a_fault_of_one_dtype_is_not_found_in_another():
    node = helper.make_node("Erf", ["x"], ["y"])
    assert faults_of(model([node], [("x", FLOAT, [2])], [("y", FLOAT)])) == []


@pytest.mark.xfail(strict=True, reason="see reference_faults.py")
@pytest.mark.parametrize("op", CASES)
def test_the_reference_evaluator_is_right(op):
    made, feeds, want = CASES[op]()
    (got,) = map(np.asarray, ReferenceEvaluator(made).run(None, feeds))
    np.testing.assert_allclose(got, want, rtol=1e-12, strict=True)
