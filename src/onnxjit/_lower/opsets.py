# SPDX-License-Identifier: Apache-2.0
"""Which opsets can be written, and their IR versions."""

from __future__ import annotations

from functools import cache
from operator import index
from typing import TYPE_CHECKING, Final

from onnx import ModelProto, OperatorSetIdProto

from onnxjit._compat import onnx as _onnx
from onnxjit._compat import onnxruntime as _onnxruntime
from onnxjit.errors import OpsetError, SpecError

if TYPE_CHECKING:
    from onnxjit._core.op import Op, Rule

__all__ = ["OLDEST", "check_opset", "ir_version", "newest", "rule_of", "supported"]

OLDEST: Final = 13
#: the first IR version that has model-local functions
_FUNCTIONS_IR: Final = 8
_FLOAT: Final = 1


def _loads(opset: int) -> bool:
    """Whether onnxruntime opens a model of one node at an opset."""
    model = ModelProto(
        ir_version=_onnx.ir_version(opset),
        opset_import=[OperatorSetIdProto(domain="", version=opset)],
    )
    graph = model.graph
    graph.name = "probe"
    graph.node.add(op_type="Identity", input=["x"], output=["y"])
    for values, name in ((graph.input, "x"), (graph.output, "y")):
        value = values.add(name=name)
        value.type.tensor_type.elem_type = _FLOAT
        value.type.tensor_type.shape.SetInParent()
    return _onnxruntime.accepts(model.SerializeToString())


@cache
def newest() -> int:
    """Return the newest opset that onnx has released and onnxruntime loads."""
    opset = _onnx.newest_opset()
    while opset > OLDEST and not _loads(opset):
        opset -= 1
    return opset


def supported() -> range:
    """Return the opsets that models are written for."""
    return range(OLDEST, newest() + 1)


def check_opset(opset: int | None) -> int:
    """Return the opset, the newest for None.

    Raises
    ------
    OpsetError
        It is out of range.
    SpecError
        It is no int.
    """
    if opset is None:
        return newest()
    try:
        opset = index(opset)
    except TypeError:
        msg = f"opset is {opset!r}; it must be an int"
        raise SpecError(msg) from None
    if OLDEST <= opset <= newest():
        return opset
    msg = f"opset {opset} is not supported: onnxjit writes opsets {OLDEST} to {newest()} here"
    raise OpsetError(msg)


def ir_version(opset: int, *, functions: bool = False) -> int:
    """Return the IR version to write: the opset's own, raised where functions need it."""
    version = _onnx.ir_version(opset)
    return max(version, _FUNCTIONS_IR) if functions else version


def rule_of(op: Op, opset: int) -> Rule:
    """Return the lowering rule of an operation.

    Raises
    ------
    OpsetError
        There is none at this opset; the message names the first that has one.
    """
    rule = op.rule(opset)
    if rule is None:
        later = [v for v, r in op.lower.items() if r is not None and v > opset]
        hint = f"opset {min(later)} can" if later else "no later opset can either"
        msg = f"{op.name} cannot be expressed at opset {opset}; {hint}"
        raise OpsetError(msg)
    return rule
