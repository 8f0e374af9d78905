# SPDX-License-Identifier: Apache-2.0
"""Programs made by hand, lowered and run."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one, dim_value
from onnxjit._core.dims import dim_max, dim_min
from onnxjit._core.dtypes import BOOL, INT64, DType
from onnxjit._core.op import Op
from onnxjit._core.region import cond, loop, scan
from onnxjit._core.source import Source
from onnxjit._engine.compile import compile_program
from onnxjit._lower.model import lower
from onnxjit._lower.opsets import check_opset, newest, supported
from onnxjit._lower.wire import SOURCE_KEY
from onnxjit._runtime.base import Plan, Segment
from onnxjit._runtime.reference import ReferenceExecutor
from onnxjit.errors import InternalError, LoweringError, OpsetError
from tests.ops.harness import compiled, exported, run, trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnxjit._core.program import Value

OPSETS = (13, 15, 18, 21, newest())


def _same(x: Tensor, *_: Tensor, **__: object) -> Tensor:
    return Tensor(x.dtype, x.shape)


def _direct(op_type: str, out: DType | None = None) -> dict[int, Callable[..., Any]]:
    return {13: lambda e, _equation, *xs: e.op(op_type, *xs, out=out)}


def _lower_reshape(e: Any, equation: Any, x: Any) -> Any:
    return e.op(
        "Reshape", x, e.dims(equation.params["shape"]), allowzero=equation.params.get("z")
    )


NEG = Op("negative", result=_same, lower=_direct("Neg"))
ADD = Op("add", result=_same, lower=_direct("Add"))
MAXIMUM = Op("maximum", result=_same, lower=_direct("Max"))
MATMUL = Op("matmul", result=_same, lower=_direct("MatMul"))
LESS = Op("less", result=lambda x, _y: Tensor(BOOL, x.shape), lower=_direct("Less", BOOL))
WHERE = Op(
    "where",
    result=lambda _c, x, _y: Tensor(x.dtype, x.shape),
    lower={13: lambda e, _equation, c, x, y: e.op("Where", c, x, y, out=x.dtype)},
)
LATE = Op("late", result=_same, lower={18: _direct("Neg")[13]})
GONE = Op("gone", result=_same, lower={13: _direct("Neg")[13], 18: None})
RESHAPE = Op(
    "reshape", result=lambda x, *, shape: Tensor(x.dtype, shape), lower={13: _lower_reshape}
)
TAKE = Op(
    "take",
    result=lambda x, _i: Tensor(x.dtype, x.shape[1:]),
    lower=_direct("Gather"),
    error=IndexError,
)


def _nonzero(x: Value) -> Value:
    count = x.block.trace.env.symbol("k", data=True)
    op = Op(
        "nonzero",
        result=lambda x: Tensor(INT64, (x.ndim, count)),
        lower=_direct("NonZero", INT64),
    )
    out = bind_one(op, x)
    count.env.symbols[-1].origin = (out, 1)
    return out


def add(x: Value, y: Any) -> Value:
    return bind_one(ADD, x, as_value(y, x.dtype))


def reshape(x: Value, *shape: Any) -> Value:
    return bind_one(RESHAPE, x, shape=shape)


@pytest.mark.parametrize("opset", OPSETS)
def test_sizes_are_computed_from_inputs(opset: int):
    def function(x: Value) -> Any:
        n, m = x.shape
        return (
            reshape(x, m, n),
            reshape(x, n * m),
            reshape(x, n, 1, m),
            reshape(x, n // 2, -1),
            [dim_value(d) for d in (n + 1, n - m, (n - m) // 2, n // (m - 2), dim_max(n, m))],
            dim_value(dim_min(n, m)),
        )

    for shape in ((4, 3), (2, 5), (6, 1)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        n, m = shape
        got = run(function, np.ones((4, 3), np.float32), opset=opset, feeds=[x])
        want = [
            x.reshape(m, n), x.ravel(), x.reshape(n, 1, m), x.reshape(n // 2, -1),
            n + 1, n - m, (n - m) // 2, n // (m - 2), max(n, m), min(n, m),
        ]  # fmt: skip
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_run_of_axes_is_one_node():
    def function(x: Value) -> Value:
        return reshape(x, 1, x.shape[0], x.shape[1])

    model = exported(function, np.ones((2, 3)), opset=15)
    assert [n.op_type for n in model.graph.node] == ["Shape", "Concat", "Reshape"]
    model = exported(function, np.ones((2, 3)), opset=13)
    assert [n.op_type for n in model.graph.node] == ["Shape", "Gather", "Concat", "Reshape"]


@pytest.mark.parametrize("opset", OPSETS)
def test_reference_evaluator_agrees(opset: int):
    def function(x: Value, y: Value) -> Any:
        def body(i: Value, s: Value, t: Value) -> Any:
            return [bind_one(ADD, s, i), add(t, y.shape[0])], []

        state, _ = loop(x.shape[0], body, [as_value(0, INT64), as_value(0, INT64)])
        return add(x, 2), reshape(x, x.shape[1], x.shape[0]), state

    x, y = np.arange(6, dtype=np.float16).reshape(2, 3), np.arange(4)
    model = exported(function, x, y, opset=opset)
    names = [o.name for o in model.graph.output]
    segment = Segment(model.SerializeToString(), ["x0", "x1"], names)
    got = ReferenceExecutor().prepare(Plan([segment])).run([x, y])
    for a, b in zip(got, run(function, x, y, opset=opset), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("opset", OPSETS)
def test_sizes_that_data_decides(opset: int):
    def function(x: Value) -> Any:
        found = _nonzero(x)
        count = found.shape[1]
        return reshape(x, 1, -1), dim_value(count), reshape(found, count)

    x = np.array([0, 2, 0, 3], np.int64)
    _, count, where = run(function, x, opset=opset)
    assert count == 2
    np.testing.assert_array_equal(where, [1, 3])
    # the size alone keeps the node that it comes from
    assert run(lambda x: dim_value(_nonzero(x).shape[1] + 1), x, opset=opset)[0] == 3


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", ["?", *"bhilBHILefd"])
def test_missing_kernels_are_stepped_around(opset: int, dtype: str):
    x = np.array([0, 1, 3], dtype)
    y = np.array([1, 0, 2], dtype)
    c = np.array([True, False, True])
    got = run(lambda c, x, y: bind_one(WHERE, c, x, y), c, x, y, opset=opset)[0]
    np.testing.assert_array_equal(got, np.where(c, x, y))
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(run(_nonzero, x, opset=opset)[0], np.array(np.nonzero(x)))
    if dtype != "?":
        got = run(lambda x, y: bind_one(MAXIMUM, x, y), x, y, opset=opset)[0]
        np.testing.assert_array_equal(got, np.maximum(x, y))
        assert got.dtype == x.dtype


def test_uint64_is_moved_as_bits():
    x = np.array([2**64 - 1, 2**63], np.uint64)
    c = np.array([True, False])
    got = run(lambda c, x: bind_one(WHERE, c, x, x), c, x)[0]
    np.testing.assert_array_equal(got, x)


def test_float16_is_rounded_at_every_step():
    x = np.array([60000], np.float16)

    def function(x: Value) -> Value:
        return add(add(x, np.float16(60000)), np.float16(-60000))

    assert np.isinf(run(function, x)[0])[0]
    ops = [n.op_type for n in exported(function, x).graph.node]
    assert ops.count("Cast") == 2 * 2 + 2  # each operand and result; constants are cast once
    ops = [n.op_type for n in exported(function, x, target="spec").graph.node]
    assert "Cast" not in ops


def test_a_dtype_without_any_form_is_an_error():
    with pytest.raises(LoweringError, match=r"Max at opset \d+ does not take str arrays"):
        run(lambda x: bind_one(MAXIMUM, x, x), np.ones(2, np.float64).astype("U1"))


def test_opsets():
    assert supported()[0] == 13
    assert check_opset(None) == newest() >= 21
    for wrong in (12, newest() + 1):
        with pytest.raises(OpsetError, match="opsets 13 to"):
            check_opset(wrong)
    x = np.ones(2)
    with pytest.raises(OpsetError, match="late cannot be expressed at opset 13; opset 18 can"):
        run(lambda x: bind_one(LATE, x), x, opset=13)
    assert run(lambda x: bind_one(LATE, x), x, opset=18)[0][0] == -1
    with pytest.raises(OpsetError, match="no later opset"):
        run(lambda x: bind_one(GONE, x), x, opset=18)


@pytest.mark.parametrize("opset", OPSETS)
def test_exports_pass_the_checker(opset: int):
    def function(x: Value, y: Value) -> Any:
        z = add(x, 1)
        return z, z, x, as_value(np.arange(3)), reshape(z, x.shape[0] * 3), 5

    model = exported(function, np.ones((2, 3), np.float32), np.ones(2), opset=opset)
    onnx.checker.check_model(model, full_check=True)
    assert [i.name for i in model.graph.input] == ["x0", "x1"]
    assert [o.name for o in model.graph.output] == [f"output_{i}" for i in range(6)]
    made = [name for node in model.graph.node for name in node.output]
    assert {f"output_{i}" for i in range(6)} <= set(made)
    assert len(made) == len(set(made))


def test_results_that_need_no_session():
    ready = compiled(lambda x: (x, 3, x), np.ones(2))
    assert ready.runner is None
    x = np.ones(5)
    a, b, c = ready.results([x])
    assert a is x
    assert c is x
    assert b == 3
    assert list(ready.constant_outputs) == [1]


def test_unused_inputs_are_not_fed():
    ready = compiled(lambda _x, y, z: (add(y, 1), z), np.ones(2), np.ones(3), np.ones(4))
    assert ready.inputs == (1,)
    assert ready.input_names == ("x1",)
    assert ready.outputs == (("computed", 0), ("input", 2))


def test_dead_equations_and_shared_constants_are_written_once():
    def function(x: Value) -> Value:
        bind_one(NEG, x)
        return add(add(add(x, 2), 2), np.float64(2))

    model = exported(function, np.ones(2))
    assert [n.op_type for n in model.graph.node] == ["Add"] * 3
    assert len(model.graph.initializer) == 1


@pytest.mark.parametrize("opset", [18, 21])
def test_lines_of_the_user_in_metadata(opset: int):
    def function(x: Value) -> Value:
        x.block.trace.source = Source(function.__code__, line=7)
        return add(x, 1)

    node = exported(function, np.ones(2), opset=opset).graph.node[0]
    assert node.metadata_props[0].key == SOURCE_KEY
    assert node.metadata_props[0].value == f"{__file__}:7"
    assert bool(node.doc_string) == (opset < 21)
    assert (
        not exported(function, np.ones(2), opset=opset, annotate=False)
        .graph.node[0]
        .metadata_props
    )


def test_names_do_not_clash_with_inputs():
    program = trace(lambda x: add(bind_one(NEG, x), 1), np.ones(2))
    program = type(program)(program.block, ["negative_0"], ["const0"])
    model = lower(program)
    onnx.checker.check_model(model, full_check=True)
    assert compile_program(program).results([np.ones(2)])[0][0] == 0


def test_a_failing_run_names_the_line_and_raises_what_numpy_does():
    def function(x: Value, i: Value) -> Value:
        x.block.trace.source = Source(function.__code__, line=12)
        return bind_one(TAKE, x, i)

    with pytest.raises(IndexError) as caught:
        run(function, np.ones(3), np.array(7))
    assert f"{__file__}:12 in " in caught.value.__notes__[0]


def test_a_wrong_lowering_is_an_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    wrong = Op("wrong", result=_same, lower=_direct("NoSuchOperator"))
    with pytest.raises(InternalError, match=r"onnxruntime refuses the model in .*\.onnx"):
        run(lambda x: bind_one(wrong, x), np.ones(2))
    assert len(list(tmp_path.iterdir())) == 1
    wrong = Op("wrong", result=lambda x: Tensor(INT64, x.shape), lower=_direct("Neg"))
    with pytest.raises(InternalError, match="gave float32 instead of"):
        run(lambda x: bind_one(wrong, x), np.ones(2, np.float32))


# ---- nested blocks


@pytest.mark.parametrize("opset", OPSETS)
def test_cond(opset: int):
    def function(p: Value, x: Value, y: Value) -> Any:
        def then() -> list[Value]:
            return [add(x, 1), x, reshape(y, y.shape[0], 1)]

        def orelse() -> list[Value]:
            return [y, y, reshape(x, x.shape[0], 1)]

        outs = cond(p, then, orelse)
        return outs, dim_value(outs[0].shape[0] * 2), reshape(outs[2], outs[2].shape[0])

    x, y = np.arange(3.0), np.arange(5.0)
    for p in (True, False):
        got = run(function, np.array(True), x, y, opset=opset, feeds=[np.array(p), x, y])
        want = [x + 1, x, y[:, None], 6, y] if p else [y, y, x[:, None], 10, x]
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
    onnx.checker.check_model(
        exported(function, np.array(True), x, y, opset=opset), full_check=True
    )


@pytest.mark.parametrize("opset", OPSETS)
def test_loop(opset: int):
    def function(n: Value, x: Value) -> Any:
        def body(i: Value, total: Value, other: Value) -> Any:
            inner = loop(3, lambda _j, t: ([add(t, x.shape[0])], []), [as_value(0, INT64)])[0]
            return [bind_one(ADD, total, i), other], [reshape(x, 1, x.shape[0]), inner[0]]

        return loop(n, body, [as_value(0, INT64), x])

    x = np.arange(3.0)
    total, other, rows, inner = run(function, np.array(4), x, opset=opset)
    assert total == 6
    np.testing.assert_array_equal(other, x)
    np.testing.assert_array_equal(rows, np.repeat(x[None, None], 4, 0))
    np.testing.assert_array_equal(inner, [9] * 4)
    model = exported(function, np.array(4), x, opset=opset)
    onnx.checker.check_model(model, full_check=True)
    shapes = [n.op_type for n in model.graph.node if n.op_type == "Shape"]
    assert len(shapes) == 1  # computed outside the loop


@pytest.mark.parametrize("opset", OPSETS)
def test_loop_with_condition_and_growing_state(opset: int):
    concat = Op(
        "concat",
        result=lambda x, y: Tensor(x.dtype, (x.shape[0] + y.shape[0],)),
        lower={13: lambda e, _eq, x, y: e.op("Concat", x, y, axis=0)},
    )

    def function(limit: Value, x: Value) -> Any:
        def body(i: Value, s: Value, k: Value) -> Any:
            return [bind_one(concat, s, s), add(k, s.shape[0])], [i]

        return loop(
            100,
            body,
            [x, as_value(0, INT64)],
            while_true=lambda _s, k: bind_one(LESS, k, limit),
        )

    state, k, steps = run(function, np.array(5), np.arange(2.0), opset=opset)
    assert k == 6
    assert state.shape == (8,)
    np.testing.assert_array_equal(steps, [0, 1])


@pytest.mark.parametrize("opset", OPSETS)
def test_scan(opset: int):
    def function(x: Value) -> Any:
        return scan(lambda s, e: ([bind_one(ADD, s, e)], [s]), [as_value(0, INT64)], [x])

    total, before = run(function, np.array([1, 2, 3]), opset=opset)
    assert total == 6
    np.testing.assert_array_equal(before, [0, 1, 3])


def test_casts_of_one_tensor_are_shared():
    x = np.array([1, 2], np.int16)

    def function(x: Value) -> Any:
        return bind_one(MAXIMUM, x, x), bind_one(MAXIMUM, x, bind_one(NEG, x))

    ops = [n.op_type for n in exported(function, x).graph.node]
    assert ops.count("Cast") == 4
