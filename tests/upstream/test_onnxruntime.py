# SPDX-License-Identifier: Apache-2.0
"""Faults of onnxruntime 1.32 that are worked around: a strict xfail says when one is fixed.

Each test asserts what is right.  When one passes, the workaround that its reason names can go,
for runtimes from then on.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from onnxjit._compat.onnxruntime import ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]


def run(
    op_type: str,
    *inputs: Any,
    opset: int = 18,
    outputs: int = 1,
    constants: Sequence[int] = (),
    out: Any = None,
    **attributes: Any,
) -> Any:
    """Run a model of one node; inputs at the places in `constants` are initialisers."""
    arrays = [None if x is None else np.asarray(x) for x in inputs]
    names = ["" if x is None else f"x{i}" for i, x in enumerate(arrays)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, **attributes)
    return run_nodes([node], names, arrays, results, opset=opset, constants=constants, out=out)


def element_type(x: Array) -> int:
    """Return the ONNX type of an array's elements."""
    if x.dtype.kind == "O":
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(x.dtype)


def run_nodes(
    nodes: Sequence[Any],
    names: Sequence[str],
    arrays: Sequence[Any],
    results: Sequence[str],
    *,
    opset: int = 18,
    constants: Sequence[int] = (),
    out: Any = None,
) -> Any:
    """Run a model of some nodes without optimisations."""
    values: list[Any] = []
    stored: list[Any] = []
    feeds: dict[str, Array] = {}
    for i, (name, x) in enumerate(zip(names, arrays, strict=True)):
        if x is None:
            continue
        kind = element_type(x)
        if i in constants:
            stored.append(helper.make_tensor(name, kind, x.shape, x.ravel().tolist()))
        else:
            values.append(helper.make_tensor_value_info(name, kind, [None] * x.ndim))
            feeds[name] = x
    ends = [helper.make_empty_tensor_value_info(n) for n in results]
    if out is not None:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(out))
        ends = [helper.make_tensor_value_info(n, kind, None) for n in results]
    graph = helper.make_graph(list(nodes), "fault", values, ends, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    found = session.run(None, feeds)
    return found[0] if len(found) == 1 else found


def fault(workaround: str, raises: Any = AssertionError) -> Callable[..., Any]:
    """Mark a test of a fault; the workaround is where the code copes with it."""
    assert (ROOT / "src/onnxjit" / workaround).is_file()
    return pytest.mark.xfail(strict=True, raises=raises, reason=f"see {workaround}")


@fault("_ops/elementwise_where.py")
def test_where_keeps_the_sign_of_a_chosen_zero() -> None:
    y = run("Where", np.array([True, True]), np.array([-0.0, -0.0]), np.ones(2))
    assert np.signbit(y).all()


@fault("_ops/reduce_exact.py")
@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin"])
def test_extrema_propagate_nan(op_type: str) -> None:
    assert np.isnan(run(op_type, np.array([1.0, np.nan, 2.0]), keepdims=0))


@fault("_ops/arg.py")
def test_argmax_finds_nan() -> None:
    assert run("ArgMax", np.array([1.0, np.nan, 2.0]), keepdims=0) == 1


@fault("_ops/reduce.py")
def test_sums_of_integers_are_exact() -> None:
    assert run("ReduceSum", np.array([2**53 + 1, 0, 0]), keepdims=0) == 2**53 + 1


@fault("_ops/reduce.py")
def test_sums_of_integers_wrap() -> None:
    x = np.array([2**31 - 1, 1], np.int32)
    assert run("ReduceSum", x, keepdims=0) == -(2**31)


@fault("_ops/reduce_exact.py")
def test_products_of_integers_are_exact() -> None:
    assert run("ReduceProd", np.full(34, 3), keepdims=0) == 3**34


@fault("_ops/elementwise_integer.py")
def test_powers_of_integers_are_exact() -> None:
    assert (run("Pow", np.array([3, 3]), np.array([34, 34])) == 3**34).all()


def _child(function: str) -> int:
    """Return the exit status of a function of this module, run in a process of its own."""
    code = f"import runpy; runpy.run_path({str(Path(__file__))!r})[{function!r}]()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    return done.returncode


def divide_least_by_minus_one() -> None:
    """Divide the least integer by -1, which kills the process."""
    run("Div", np.array([-(2**31)], np.int32), np.array([-1], np.int32))


@fault("_ops/elementwise_integer.py")
def test_division_of_the_least_integer_survives() -> None:
    assert _child("divide_least_by_minus_one") == 0


@fault("_ops/elementwise_integer.py", ERRORS)
def test_division_by_zero_of_integers_runs() -> None:
    run("Div", np.array([1, 2]), np.array([0, 1]))


@fault("_ops/select.py")
def test_clip_propagates_a_nan_bound() -> None:
    assert np.isnan(run("Clip", np.ones(2), np.float64(np.nan), np.float64(2.0))).all()


@fault("_ops/elementwise_integer.py", ERRORS)
def test_mod_takes_floats_before_28() -> None:
    y = run("Mod", np.array([5.5, -5.5]), np.array([2.0, 2.0]), fmod=0)
    assert np.array_equal(y, [1.5, 0.5])


@fault("_ops/cast.py")
def test_cast_rounds_once() -> None:
    y = run("Cast", np.array([1 + 2**-11 + 2**-40]), to=TensorProto.FLOAT16, out="f2")
    assert y == np.float16(1.001)


@fault("_ops/create.py")
def test_range_does_not_accumulate() -> None:
    y = run("Range", np.float32(0), np.float32(1), np.float32(0.1))
    assert np.array_equal(y, np.float32(0.1) * np.arange(10, dtype="f4"))


@fault("_ops/structure.py")
def test_slices_that_start_before_the_first_element_are_empty_backwards() -> None:
    ends = np.array([-5]), np.array([-(2**63)]), np.array([0]), np.array([-1])
    assert run("Slice", np.arange(3), *ends).size == 0


@fault("_lower/emit.py")
def test_float16_nodes_round_each_step() -> None:
    nodes = [helper.make_node("Mul", ["x", "two"], ["z"])]
    nodes += [helper.make_node("Div", ["z", "two"], ["y"])]
    arrays = [np.array([60000], "f2"), np.array([2], "f2")]
    assert np.isinf(run_nodes(nodes, ["x", "two"], arrays, ["y"], out="f2"))


@fault("_ops/gather.py")
def test_gather_copies_whole_slices_of_strings() -> None:
    x = np.array([["a", "b"], ["c", "d"]], object)
    assert run("Gather", x, np.array([1])).tolist() == [["c", "d"]]


@fault("_ops/scan.py", ERRORS)
def test_scan_takes_no_steps() -> None:
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s", "x"], ["t"]),
            helper.make_node("Identity", ["t"], ["y"]),
        ],
        "body",
        [helper.make_tensor_value_info(n, TensorProto.DOUBLE, []) for n in ("s", "x")],
        [helper.make_tensor_value_info(n, TensorProto.DOUBLE, []) for n in ("t", "y")],
    )
    names, results = ["start", "rows"], ["last", "each"]
    node = helper.make_node("Scan", names, results, body=body, num_scan_inputs=1)
    last, each = run_nodes([node], names, [np.array(1.0), np.zeros(0)], results)
    assert last == 1.0
    assert each.shape == (0,)


@fault("_ops/elementwise_arithmetic.py")
def test_sign_of_nan_in_float16() -> None:
    assert np.isnan(run("Sign", np.array([np.nan], "f2"))).all()


@fault("_ops/search.py")
def test_unique_counts_nan() -> None:
    y = run("Unique", np.array([np.nan, 1.0, np.nan]), sorted=1)
    assert len(y) > 1


@fault("_ops/reduce.py")
def test_sum_of_negative_zero() -> None:
    assert not np.signbit(run("ReduceSum", np.array([-0.0]), keepdims=0))


@fault("_ops/elementwise_trigonometric.py")
def test_sine_keeps_digits_next_to_its_zeros() -> None:
    x = np.array([np.pi, 2 * np.pi, 3 * np.pi] * 4)
    np.testing.assert_allclose(run("Sin", x), np.sin(x), rtol=1e-14)
