# SPDX-License-Identifier: Apache-2.0
"""The primitive that chooses element by element; `select` has NumPy's functions over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one
from onnxjit._core.dtypes import FLOAT16, FLOAT32, FLOAT64, INT16, INT32, INT64
from onnxjit._core.op import Emit, Handle, Op

from .elementwise_base import Term, joined_shape, pick, pick_signed

if TYPE_CHECKING:
    from onnxjit._core.program import Equation, Value

__all__ = ["WHERE", "choose"]


def _result(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return Tensor(x.dtype, joined_shape(condition.shape, x.shape, y.shape))


#: functions whose results are never -0.0, and those where one such operand is enough
_NEVER: Final = frozenset({"absolute", "fabs", "exp", "exp2", "square", "hypot", "cosh"})
_ONE_ENOUGH: Final = frozenset({"add"})
_DEEP: Final = 4


def may_be_negative_zero(value: Value, depth: int = 0) -> bool:
    """Whether a float value may hold -0.0, judged by what computes it."""
    if value.dtype.kind != "f":
        return False
    if value.known is not None:
        return bool((np.signbit(value.known) & (value.known == 0)).any())
    if value.equation is None or depth > _DEEP:
        return True
    name, operands = value.equation.op.name, value.equation.inputs
    if name in _NEVER:
        return False
    if name == "cast":
        return may_be_negative_zero(operands[0], depth + 1)
    if name in _ONE_ENOUGH:
        return all(may_be_negative_zero(v, depth + 1) for v in operands)
    return True


#: operations that may be lowered to Not, which onnxruntime fuses with a Where that follows
_NEGATIONS: Final = frozenset({"not_equal", "logical_not", "invert"})


def _lower_plain(e: Emit, equation: Equation, *handles: Handle) -> Handle:
    c, x, y = (Term(e, h) for h in handles)
    condition, a, b = equation.inputs
    if not may_be_negative_zero(a) and not may_be_negative_zero(b):
        return pick(c, x, y).h
    unlike = ~c
    if condition.equation is not None and condition.equation.op.name in _NEGATIONS:
        c = ~unlike
    if x.dtype is FLOAT16:
        x, y = x.to(FLOAT32), y.to(FLOAT32)
    if not may_be_negative_zero(a):
        made = pick(c, x, y)
    elif not may_be_negative_zero(b):
        made = pick(unlike, y, x)
    else:
        made = pick_signed(c, x, y, unlike)
    return made.to(equation.outputs[0].dtype).h


_BITS: Final = {FLOAT16: INT16, FLOAT32: INT32, FLOAT64: INT64}


def _lower_bits(e: Emit, equation: Equation, *handles: Handle) -> Handle:
    c, x, y = (Term(e, h) for h in handles)
    bits = _BITS.get(x.dtype)
    if bits is None or not may_be_negative_zero(equation.inputs[1]):
        return _lower_plain(e, equation, *handles)
    x, y = (v.op("BitCast", out=bits, to=bits) for v in (x, y))
    dtype = equation.outputs[0].dtype
    return pick(c, x, y).op("BitCast", out=dtype, to=dtype).h


def _evaluate(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


WHERE: Final = Op(
    "where",
    result=_result,
    lower={1: _lower_plain, 26: _lower_bits},
    evaluate=_evaluate,
    rowwise=True,
    parts="each",
)


def choose(condition: Value, x: Value, y: Value) -> Value:
    """Return `x` where `condition` holds, else `y`; both of one dtype.

    Notes
    -----
    Where; floats that can be -0.0 take two and Mul (onnxruntime drops the sign of the chosen
    first operand), or BitCast from opset 26.  And, Or for bool.
    """
    return bind_one(WHERE, condition, x, y)
