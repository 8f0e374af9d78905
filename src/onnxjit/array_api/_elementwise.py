# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions."""

from __future__ import annotations

from typing import Any

from ._call import binary, call, composed, unary
from ._overrides import exponential_less_one, floor_of_quotient, hyperbolic_tangent

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal",
    "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag",
    "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "real",
    "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
    "subtract", "tan", "tanh", "trunc",
]  # fmt: skip

abs = unary("abs")
acos = unary("acos")
acosh = unary("acosh")
asin = unary("asin")
asinh = unary("asinh")
atan = unary("atan")
atanh = unary("atanh")
bitwise_invert = unary("bitwise_invert")
ceil = unary("ceil")
conj = unary("conj")
cos = unary("cos")
cosh = unary("cosh")
exp = unary("exp")
floor = unary("floor")
isfinite = unary("isfinite")
isinf = unary("isinf")
isnan = unary("isnan")
log = unary("log")
log1p = unary("log1p")
log2 = unary("log2")
log10 = unary("log10")
logical_not = unary("logical_not")
negative = unary("negative")
positive = unary("positive")
reciprocal = unary("reciprocal")
sign = unary("sign")
signbit = unary("signbit")
sin = unary("sin")
sinh = unary("sinh")
sqrt = unary("sqrt")
square = unary("square")
tan = unary("tan")
trunc = unary("trunc")

add = binary("add")
atan2 = binary("atan2")
bitwise_and = binary("bitwise_and")
bitwise_left_shift = binary("bitwise_left_shift")
bitwise_or = binary("bitwise_or")
bitwise_right_shift = binary("bitwise_right_shift")
bitwise_xor = binary("bitwise_xor")
copysign = binary("copysign")
divide = binary("divide")
equal = binary("equal")
greater = binary("greater")
greater_equal = binary("greater_equal")
hypot = binary("hypot")
less = binary("less")
less_equal = binary("less_equal")
logaddexp = binary("logaddexp")
logical_and = binary("logical_and")
logical_or = binary("logical_or")
logical_xor = binary("logical_xor")
maximum = binary("maximum")
minimum = binary("minimum")
multiply = binary("multiply")
nextafter = binary("nextafter")
not_equal = binary("not_equal")
pow = binary("pow")
remainder = binary("remainder")
subtract = binary("subtract")


def real(x: Any, /) -> Any:
    """Return the real part; of a real array the array itself."""
    return call("real", x)


def imag(x: Any, /) -> Any:
    """Return the imaginary part; zeros for a real array."""
    return call("imag", x)


def round(x: Any, /) -> Any:
    """Round to the nearest integer, halves to even ones."""
    return call("round", x)


def expm1(x: Any, /) -> Any:
    """Return e**x - 1.

    Notes
    -----
    Complex numbers with an infinite part, or a part of NaN, are treated as by `exp`;
    `numpy.expm1` gives NaN for most.
    """
    return composed(exponential_less_one, x)


def tanh(x: Any, /) -> Any:
    """Return the hyperbolic tangent.

    Notes
    -----
    For complex numbers with an infinite real part, the imaginary zero has the sign of the
    imaginary part; that of `numpy.tanh` has the sign of its double's sine.
    """
    return composed(hyperbolic_tangent, x)


def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Return the floor of the quotient.

    Notes
    -----
    Infinite operands give the floor of the quotient; `numpy.floor_divide` gives NaN and -1.
    """
    return composed(floor_of_quotient, x1, x2)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Return `x` within bounds; None is no bound."""
    return call("clip", x, min, max)
