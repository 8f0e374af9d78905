# SPDX-License-Identifier: Apache-2.0
"""Sums, products, signs, powers, rounding, and the larger or smaller of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import FLOAT16, FLOAT32, FLOAT64

from .elementwise_base import (
    Term,
    by_kind,
    direct,
    formula,
    keep,
    known_scalar,
    pick,
    primitive,
    same,
    signed_zero,
)
from .row import Function, Ufunc
from .samples import pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.aval import Tensor
    from onnxjit._core.op import Emit, Handle, Rule
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS"]

AND: Final = direct("And")
OR: Final = direct("Or")


def _scaled(op_type: str) -> Rule:
    """Return the rule of a product or quotient that onnxruntime may join to a MatMul.

    It refuses a factor that is not finite then: such a number gets an axis more than the
    other operand, so that it is not taken for a factor.  So does a float64 number that is 1 as
    a float32: onnxruntime's NoopElimination (1.32) looks at that, and would drop it.
    """

    def rule(e: Emit, equation: Equation, *handles: Handle) -> Handle:
        out = equation.outputs[0]
        for place, x in enumerate(equation.inputs):
            if x.known is None:
                continue
            if _is_misread(x, 1) or (out.ndim > 1 and _is_no_factor(x)):
                apart = list(handles)
                number = np.reshape(np.asarray(x.known), (1,) * (out.ndim + 1))
                apart[place] = e.const(number, x.dtype)
                longer = e.op(op_type, *apart, out=out.dtype)
                return e.op("Squeeze", longer, e.const(np.array([0], np.int64)), out=out.dtype)
        return e.op(op_type, *handles, out=out.dtype)

    return rule


def _is_no_factor(x: Value) -> bool:
    number = x.known
    if number is None or number.ndim or x.dtype.kind != "f":
        return False
    return bool(number == 0) or not np.isfinite(number)


def _is_misread(x: Value, neutral: int) -> bool:
    """Whether a float64 number is taken for a neutral one that it only is as a float32."""
    number = x.known
    if number is None or number.size != 1 or x.dtype is not FLOAT64:
        return False
    with np.errstate(all="ignore"):
        return bool(np.all((number != neutral) & (number.astype(np.float32) == neutral)))


def _is_zero(x: Value, *, negative: bool) -> bool:
    """Whether a float is the zero of a sign, which takes part in signs of zeros."""
    number = x.known
    if number is None or number.size != 1 or x.dtype.kind != "f" or number.any():
        return False
    return bool(np.signbit(number).all()) == negative


def _shifted(op_type: str) -> Rule:
    """Return the rule of a sum or difference.

    A float64 number that is 0 as a float32 goes into a Sum, which onnxruntime does not drop;
    so does a zero that makes 0 of -0.
    """

    def rule(e: Emit, equation: Equation, x: Handle, y: Handle) -> Handle:
        out = equation.outputs[0].dtype
        first, second = equation.inputs
        if first.known is None and second.known is None:
            return e.op(op_type, x, y, out=out)
        if op_type == "Sub" and (_is_misread(second, 0) or _is_zero(second, negative=True)):
            assert second.known is not None  # what is misread is known
            return e.op("Sum", x, e.const(-second.known, out), out=out)
        if op_type == "Add" and any(
            _is_misread(t, 0) or _is_zero(t, negative=False) for t in (first, second)
        ):
            return e.op("Sum", x, y, out=out)
        return e.op(op_type, x, y, out=out)

    return rule


ADD = primitive(np.add, by_kind(_shifted("Add"), b=OR), api="add", parts="each")
SUBTRACT = primitive(np.subtract, _shifted("Sub"), api="subtract", parts="each")
MULTIPLY = primitive(np.multiply, by_kind(_scaled("Mul"), b=AND), api="multiply")
DIVIDE = primitive(np.divide, _scaled("Div"), api="divide")
MAXIMUM = primitive(np.maximum, by_kind(direct("Max"), b=OR), api="maximum", ties=True)
MINIMUM = primitive(np.minimum, by_kind(direct("Min"), b=AND), api="minimum", ties=True)


# --- the number instead of NaN ------------------------------------------------------------


def _without_nan(op_type: str, worst: float) -> Rule:
    """Return the rule of fmax and fmin: a NaN counts as the infinity that never wins."""

    def rule(x: Term, y: Term) -> Term:
        no_x, no_y = x.is_nan(), y.is_nan()
        a, b = pick(no_x, x.const(worst), x), pick(no_y, y.const(worst), y)
        return pick(no_x & no_y, x.const(np.nan), a.op(op_type, b))

    return formula(rule)


FMAX = primitive(
    np.fmax, by_kind(direct("Max"), b=OR, f=_without_nan("Max", -np.inf)), ties=True
)
FMIN = primitive(
    np.fmin, by_kind(direct("Min"), b=AND, f=_without_nan("Min", np.inf)), ties=True
)


# --- signs --------------------------------------------------------------------------------


def _zero_minus(x: Term) -> Term:
    return 0 - x


def _sign(x: Term) -> Term:
    return x.op("Sign")


NEGATIVE = primitive(
    np.negative, by_kind(direct("Neg"), u=formula(_zero_minus)), api="negative", parts="each"
)
ABSOLUTE = primitive(np.absolute, by_kind(direct("Abs"), b=keep, u=keep), api="abs")
FABS = primitive(np.fabs, direct("Abs"))
#: float16 through float32: onnxruntime's own gives 0 for NaN
SIGN = primitive(np.sign, formula(_sign), api="sign")


def _same_value(x: Value) -> Value:
    return x


POSITIVE = Ufunc(np.positive, _same_value, api="positive", samples=pairs(np.positive))


# --- squares, roots, powers of floats -----------------------------------------------------


def _square(x: Term) -> Term:
    return x * x


def _reciprocal_int(x: Term) -> Term:
    zero = np.zeros(1, x.dtype.numpy)
    with np.errstate(all="ignore"):
        of_zero = np.reciprocal(zero)[0]
    ones = pick(x.equals(1), x.const(1), x.const(0))
    if x.dtype.kind == "i":
        ones = pick(x.equals(-1), x.const(-1), ones)
    return pick(x.equals(0), x.const(of_zero), ones)


SQUARE = primitive(np.square, formula(_square), api="square")
RECIPROCAL = primitive(
    np.reciprocal, by_kind(formula(_reciprocal_int), f=direct("Reciprocal")), api="reciprocal"
)
SQRT = primitive(np.sqrt, direct("Sqrt"), api="sqrt")


def _sqrt_of(x: Term) -> Term:
    return x.op("Sqrt")


def _one_over(x: Term) -> Term:
    return x.op("Reciprocal")


#: NumPy's own short cuts for a scalar exponent
_POWERS: Final[dict[float, Callable[[Term], Term]]] = {
    2.0: _square,
    0.5: _sqrt_of,
    -1.0: _one_over,
    1.0: lambda x: x,
}


def _power_float(e: Emit, equation: Equation, x: Handle, y: Handle) -> Handle:
    base, exponent = equation.inputs
    dtype = equation.outputs[0].dtype
    scalar = known_scalar(exponent)
    a = Term(e, x).to(FLOAT32) if dtype is FLOAT16 else Term(e, x)
    b = Term(e, y).to(a.dtype)
    if exponent.ndim <= base.ndim and scalar in _POWERS:
        return _POWERS[scalar](a).to(dtype).h
    if scalar == 3 and base.ndim:
        # a one-element exponent of 3 makes onnxruntime multiply: other last bits than pow's
        b = Term(e, e.op("Expand", b.h, e.dims(equation.outputs[0].shape), out=b.dtype))
    return a.op("Pow", b).to(dtype).h


def is_certain(_: Any, y: Any) -> Any:
    """Whether NumPy says what a power is.

    For an infinite complex exponent the sign of a zero is that of a NaN.
    """
    return np.isfinite(y) if y.dtype.kind == "c" else np.ones(y.shape, np.bool_)


FLOAT_POWER = primitive(
    np.float_power,
    _power_float,
    ulp={"float64": 2},
    samples=pairs(np.float_power, keep=is_certain),
)
POWER_FLOAT = primitive(np.power, by_kind(f=_power_float))


# --- rounding -----------------------------------------------------------------------------


def _trunc(x: Term) -> Term:
    # the sign of a zero survives in the last operand of Where, and floor of x > 0 has none
    return pick(x > 0, x.op("Floor"), x.op("Ceil"))


def _modf(x: Term) -> tuple[Term, Term]:
    whole = _trunc(x)
    part = x - whole
    return pick(abs(part) > 0, part, signed_zero(x)), whole


def _pair(x: Tensor) -> tuple[Tensor, Tensor]:
    return same(x), same(x)


FLOOR = primitive(np.floor, by_kind(keep, f=direct("Floor")), api="floor")
CEIL = primitive(np.ceil, by_kind(keep, f=direct("Ceil")), api="ceil")
TRUNC = primitive(np.trunc, by_kind(keep, f=formula(_trunc)), api="trunc")
RINT = primitive(np.rint, direct("Round"))
MODF = primitive(np.modf, formula(_modf), result=_pair)


ROWS: list[Function | Ufunc] = [
    ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, FMAX, FMIN, NEGATIVE, ABSOLUTE, FABS,
    SIGN, POSITIVE, SQUARE, RECIPROCAL, SQRT, FLOAT_POWER, FLOOR, CEIL, TRUNC, RINT, MODF,
]  # fmt: skip
