# SPDX-License-Identifier: Apache-2.0
"""Division of numbers with NumPy's rounding, integer powers, common divisors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dtypes import BOOL, INT32, INT64
from onnxjit._core.op import Emit, Handle, Op, Rule
from onnxjit._core.region import loop

from .cast import cast
from .elementwise_arithmetic import ABSOLUTE, MULTIPLY, POWER_FLOAT, is_certain
from .elementwise_base import (
    Term,
    by_kind,
    direct,
    formula,
    joined_shape,
    known_scalar,
    pick,
    primitive,
    same,
    signed_zero,
)
from .elementwise_logical import EQUAL, LEFT_SHIFT, LESS, UNSIGNED
from .elementwise_where import choose
from .row import Function, Ufunc
from .samples import pairs
from .structure import broadcast_to, is_zero

if TYPE_CHECKING:
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS", "integer_power"]


# --- integers -----------------------------------------------------------------------------


def _known_safe(equation: Equation, *unsafe: int) -> bool:
    """Whether the divisor is known and has none of some values."""
    divisor = equation.inputs[1].known
    return divisor is not None and not np.isin(divisor, unsafe).any()


def _down(x: Term, y: Term, quotient: Term) -> Term:
    """Lower a truncated quotient by one where the remainder and the divisor differ in sign."""
    rest = x - quotient * y
    return quotient + (rest.op("Sign") * y.op("Sign")).op("Min", 0)


def _divide_signed(e: Emit, equation: Equation, a: Handle, b: Handle) -> Handle:
    """Divide and round down; a divisor of 0 or -1 never reaches Div.

    Div by 0 fails the run and MIN / -1 kills the process, so that `shift` is added: 1 to 0, 2
    to -1, which makes both 1; the quotient times ``1 - shift`` is then 0 and -x.
    """
    x, y = Term(e, a), Term(e, b)
    if _known_safe(equation, 0, -1):
        return _down(x, y, x / y).h
    is_zero, is_minus = y.equals(0).to(y.dtype), y.equals(-1).to(y.dtype)
    shift = is_zero + (is_minus + is_minus)
    y = y + shift
    return (_down(x, y, x / y) * (1 - shift)).h


def _divide_unsigned(e: Emit, equation: Equation, a: Handle, b: Handle) -> Handle:
    x, y = Term(e, a), Term(e, b)
    if _known_safe(equation, 0):
        return (x / y).h
    shift = y.equals(0).to(y.dtype)
    return (x / (y + shift) * (1 - shift)).h


def _modulo(fmod: int) -> Rule:
    """Return the rule of a remainder: one by 1 is the 0 that NumPy gives for one by 0."""

    def rule(e: Emit, equation: Equation, a: Handle, b: Handle) -> Handle:
        y = Term(e, b)
        if not _known_safe(equation, 0):
            y = y + y.equals(0).to(y.dtype)
        return e.op("Mod", a, y.h, fmod=fmod)

    return rule


# --- floats -------------------------------------------------------------------------------


def _opposed(rest: Term, y: Term) -> Term:
    """Whether a remainder is not 0 and has not the divisor's sign."""
    return ((rest < 0) ^ (y < 0)) & ~rest.equals(0)


def _remainder_float(x: Term, y: Term) -> Term:
    """Shift the remainder of truncated division; source: ``npy_remainder`` of NumPy."""
    rest = x.op("Mod", y, fmod=1)
    moved = rest + pick(_opposed(rest, y), y, rest.const(0))
    return pick(~rest.equals(0), moved, signed_zero(y))


def _divide_float(x: Term, y: Term) -> Term:
    """Divide what the remainder leaves; source: ``npy_divmod`` of NumPy."""
    rest = x.op("Mod", y, fmod=1)
    ratio = x / y
    quotient = (x - rest) / y - _opposed(rest, y).to(x.dtype)
    low = quotient.op("Floor")
    low = low + (quotient - low > 0.5).to(x.dtype)
    low = pick(~quotient.equals(0), low, signed_zero(ratio))
    return pick(y.equals(0), ratio, low)


FLOOR_DIVIDE = primitive(
    np.floor_divide,
    by_kind(i=_divide_signed, u=_divide_unsigned, f=formula(_divide_float)),
    api="floor_divide",
)
REMAINDER = primitive(
    np.remainder,
    {
        13: by_kind(_modulo(0), f=formula(_remainder_float)),
        28: by_kind(_modulo(0), f=formula(lambda x, y: x.op("Mod", y, fmod=0))),
    },
    api="remainder",
)
FMOD = primitive(np.fmod, by_kind(_modulo(1), f=direct("Mod", fmod=1)))


def _divmod(x: Value, y: Value) -> tuple[Value, Value]:
    return FLOOR_DIVIDE.implementation(x, y), REMAINDER.implementation(x, y)


DIVMOD = Ufunc(np.divmod, _divmod, samples=pairs(np.divmod))


# --- powers -------------------------------------------------------------------------------


def _known_power(e: Emit, equation: Equation, x: Handle) -> Handle:
    """Multiply squares: exact modulo 2**bits, where Pow goes through double."""
    exponent: int = equation.params["exponent"]
    square, product = Term(e, x), None
    while exponent:
        if exponent & 1:
            product = square if product is None else product * square
        exponent >>= 1
        if exponent:
            square = square * square
    return (square * 0 + 1).h if product is None else product.h


def _known_result(x: Tensor, **_: object) -> Tensor:
    return Tensor(x.dtype, x.shape)


def _known_evaluate(x: Any, *, exponent: int) -> Any:
    return np.power(x, np.asarray(exponent, x.dtype))


KNOWN_POWER: Final = Op(
    "integer_power",
    result=_known_result,
    lower={1: _known_power},
    evaluate=_known_evaluate,
    rowwise=True,
)


def _bits_result(_: Tensor) -> Tensor:
    return Tensor(INT64, ())


def _lower_bits(e: Emit, _equation: Equation, x: Handle) -> Handle:
    half = e.cast((Term(e, x) / 2).h, INT64)
    largest = Term(e, e.op("ReduceMax", half, keepdims=0))
    powers = np.int64(1) << np.arange(63)
    counts = (largest >= powers).to(INT64)
    return (Term(e, e.op("ReduceSum", counts.h, keepdims=0)) + 1).h


#: how many bits the largest of unsigned numbers has, at least 1
MOST_BITS: Final = Op(
    "most_bits",
    result=_bits_result,
    lower={13: _lower_bits},
    evaluate=lambda x: np.int64(max(int(x.max(initial=0)).bit_length(), 1)),
)


def _power_loop(x: Value, y: Value) -> Value:
    """Multiply squares while the exponents have bits left."""
    trace = running_trace((x, y))
    two = trace.constant(np.asarray(2, UNSIGNED[y.dtype].numpy))
    one = trace.constant(np.asarray(1, x.dtype.numpy))
    shape = joined_shape(x.shape, y.shape)
    start = [broadcast_to(one, shape), broadcast_to(x, shape)]
    bits = broadcast_to(cast(y, UNSIGNED[y.dtype]), shape)

    def step(_i: Value, product: Value, square: Value, rest: Value) -> Any:
        odd = cast(REMAINDER.implementation(rest, two), x.dtype)
        factor = bind_one(FUSED_FACTOR, odd, square)
        product = MULTIPLY.implementation(product, factor)
        square = MULTIPLY.implementation(square, square)
        return [product, square, FLOOR_DIVIDE.implementation(rest, two)], []

    state, _ = loop(bind_one(MOST_BITS, bits), step, [*start, bits])
    return state[0]


def _factor(odd: Term, square: Term) -> Term:
    return odd * (square - 1) + 1


#: the square where a bit is set, else 1
FUSED_FACTOR: Final = Op(
    "power_factor", result=same, lower={1: formula(_factor)}, rowwise=True
)
_NEGATIVE: Final = "Integers to negative integer powers are not allowed."


def integer_power(x: Value, y: Value) -> Value:
    """Return an integer power, exact modulo 2**bits.

    Parameters
    ----------
    x, y : (...) integers of one dtype
        Bases and exponents.

    Raises
    ------
    ValueError
        An exponent is negative.  Models, which raise nothing, give any number there.

    Notes
    -----
    Squares and products: Mul, for exponents only the run knows in a Loop over their bits.
    Powers of a known 2 are shifts.
    """
    if y.known is not None and (y.known < 0).any():
        if not is_zero(x.tensor.size):
            raise ValueError(_NEGATIVE)
        nothing: Value = MULTIPLY.implementation(x, y)
        return nothing
    exponent = known_scalar(y)
    if exponent is not None and y.ndim <= x.ndim:
        return bind_one(KNOWN_POWER, x, exponent=exponent)
    if y.known is None and y.dtype.kind == "i":
        trace = running_trace((x, y))
        zero = trace.constant(np.asarray(0, y.dtype.numpy))
        trace.fail_if(bind_one(ANY_NONZERO, LESS.implementation(y, zero)))
    if known_scalar(x) == 2 and x.ndim <= y.ndim:
        one = running_trace((y,)).constant(np.asarray(1, y.dtype.numpy))
        shifted: Value = LEFT_SHIFT.implementation(one, y)
        return shifted
    return _power_loop(x, y)


def _power(x: Value, y: Value) -> Value:
    if x.dtype.kind in "iu":
        return integer_power(x, y)
    result: Value = POWER_FLOAT.implementation(x, y)
    return result


def _has_power(x: Any, y: Any) -> Any:
    """Whether NumPy takes a power: a negative one of an integer is an error."""
    return y >= 0 if x.dtype.kind in "iu" else is_certain(x, y)


POWER = Ufunc(
    np.power,
    _power,
    api="pow",
    ulp={"float32": 2, "float64": 2},
    samples=pairs(np.power, keep=_has_power),
)


# --- common divisors ----------------------------------------------------------------------


def _gcd_loop(x: Value, y: Value) -> Value:
    """Take remainders until none is left."""
    shape = joined_shape(x.shape, y.shape)
    zero = running_trace((x, y)).constant(np.asarray(0, x.dtype.numpy))

    def step(_i: Value, a: Value, b: Value) -> Any:
        done = EQUAL.implementation(b, zero)
        # 0 is the remainder by 0, so that a finished pair must keep its a
        rest: Value = REMAINDER.implementation(a, b)
        return [choose(done, a, b), rest], []

    def is_left(_a: Value, b: Value) -> Value:
        return bind_one(ANY_NONZERO, b)

    most = running_trace((x, y)).constant(np.int64(2**31))
    state, _ = loop(
        most, step, [broadcast_to(x, shape), broadcast_to(y, shape)], while_true=is_left
    )
    return state[0]


def _lower_any(e: Emit, _equation: Equation, x: Handle) -> Handle:
    found = e.cast(e.cast(x, BOOL), INT32)
    return e.cast(e.op("ReduceSum", found, keepdims=0), BOOL)


ANY_NONZERO: Final = Op(
    "any_nonzero",
    result=lambda _x: Tensor(BOOL, ()),
    lower={13: _lower_any},
    evaluate=lambda x: np.bool_(x.any()),
)


def _gcd(x: Value, y: Value) -> Value:
    """Return the greatest common divisor; source: Euclid's algorithm."""
    result: Value = ABSOLUTE.implementation(_gcd_loop(x, y))
    return result


def _lcm(x: Value, y: Value) -> Value:
    """Return the least common multiple: a // gcd * b, as NumPy computes it."""
    a, b = ABSOLUTE.implementation(x), ABSOLUTE.implementation(y)
    result: Value = MULTIPLY.implementation(FLOOR_DIVIDE.implementation(a, _gcd_loop(a, b)), b)
    return result


GCD = Ufunc(np.gcd, _gcd, samples=pairs(np.gcd))
LCM = Ufunc(np.lcm, _lcm, samples=pairs(np.lcm))


ROWS: list[Function | Ufunc] = [FLOOR_DIVIDE, REMAINDER, FMOD, DIVMOD, POWER, GCD, LCM]
