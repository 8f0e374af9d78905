# SPDX-License-Identifier: Apache-2.0
"""Captured loops against ONNX Loops written by hand, with the nodes that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender
from onnxjit._compat.onnxruntime import open_session
from onnxjit._lower.opsets import ir_version, newest
from onnxjit._runtime.options import Options

from .base import Kernel, Result, compared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["KERNELS"]

_DOUBLE, _INT, _BOOL = TensorProto.DOUBLE, TensorProto.INT64, TensorProto.BOOL


def halved(x: Any) -> Any:
    """Run a loop of which only data knows the end."""
    steps = 0
    while x.sum() > 1.0:
        x = x * 0.5
        steps += 1
    return x, steps


def low_pass(x: Any, alpha: Any) -> Any:
    """Run a loop over elements that need each other."""
    out = np.zeros_like(x)
    state = 0.0
    for i in range(len(x)):
        state = alpha * x[i] + (1 - alpha) * state
        out[i] = state
    return out


def _info(name: str, kind: int, rank: int = 0) -> Any:
    return helper.make_tensor_value_info(name, kind, [None] * rank)


def _node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def _session(
    nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], **constants: Any
) -> Any:
    given = [numpy_helper.from_array(np.asarray(c), n) for n, c in constants.items()]
    graph = helper.make_graph(nodes, "by_hand", inputs, outputs, given)
    opset = newest()
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version(opset))
    return open_session(Options(threads=1).session_options(), model.SerializeToString(), ())


def _halved_by_hand() -> Any:
    body = helper.make_graph(
        [
            _node("Mul", "x half", "x_next"),
            _node("ReduceSum", "x_next", "total", keepdims=0),
            _node("Greater", "total one", "again"),
            _node("Add", "k step", "k_next"),
        ],
        "body",
        [_info("i", _INT), _info("go", _BOOL), _info("x", _DOUBLE, 1), _info("k", _INT)],
        [_info("again", _BOOL), _info("x_next", _DOUBLE, 1), _info("k_next", _INT)],
    )
    nodes = [
        _node("ReduceSum", "x0", "first", keepdims=0),
        _node("Greater", "first one", "start"),
        _node("Loop", "most start x0 zero", "y steps", body=body),
    ]
    constants = {
        "half": 0.5, "one": 1.0, "step": np.int64(1), "zero": np.int64(0),
        "most": np.int64(2**63 - 1),
    }  # fmt: skip
    outputs = [_info("y", _DOUBLE, 1), _info("steps", _INT)]
    return _session(nodes, [_info("x0", _DOUBLE, 1)], outputs, **constants)


def _low_pass_by_hand() -> Any:
    body = helper.make_graph(
        [
            _node("Gather", "scaled i", "element"),
            _node("Mul", "rest state", "kept"),
            _node("Add", "element kept", "next"),
            _node("Identity", "go", "again"),
            _node("Identity", "next", "stacked"),
        ],
        "body",
        [_info("i", _INT), _info("go", _BOOL), _info("state", _DOUBLE)],
        [_info("again", _BOOL), _info("next", _DOUBLE), _info("stacked", _DOUBLE)],
    )
    nodes = [
        _node("Mul", "x alpha", "scaled"),
        _node("Sub", "one alpha", "rest"),
        _node("Size", "x", "count"),
        _node("Loop", "count true start", "last out", body=body),
    ]
    inputs = [_info("x", _DOUBLE, 1), _info("alpha", _DOUBLE)]
    constants = {"one": 1.0, "start": 0.0, "true": True}
    return _session(nodes, inputs, [_info("out", _DOUBLE, 1)], **constants)


def _kernel(
    name: str,
    fn: Callable[..., Any],
    by_hand: Callable[[], Any],
    inputs: Callable[[int], dict[str, Any]],
    sizes: Sequence[int],
) -> Kernel:
    def run(size: int, blocks: int) -> Result:
        feeds = inputs(size)
        session, jit = by_hand(), jit_onnx(fn, fallback="error")
        args = [v if v.ndim else float(v) for v in feeds.values()]
        names = [o.name for o in session.outputs_meta]
        (got, *_), want = session.run(names, feeds, None), jit(*args)
        np.testing.assert_array_equal(got, want[0] if isinstance(want, tuple) else want)
        ours = Contender("warm call", jit, *args)
        return compared(ours, Contender("by hand", session.run, names, feeds, None), blocks)

    return Kernel(name, run, sizes, 1.2)


KERNELS = [
    _kernel(
        "loop-while-by-hand", halved, _halved_by_hand,
        lambda n: {"x0": np.full(3, 2.0**n)}, (20, 900),
    ),
    _kernel(
        "loop-for-by-hand", low_pass, _low_pass_by_hand,
        lambda n: {"x": np.linspace(0.0, 1.0, n), "alpha": np.array(0.2)}, (20, 1_000),
    ),
]  # fmt: skip
