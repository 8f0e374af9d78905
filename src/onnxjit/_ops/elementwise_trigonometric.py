# SPDX-License-Identifier: Apache-2.0
"""Circular and hyperbolic functions and their inverses.

onnxruntime has no float64 kernels for tan, arcsin, arccos, arctan, sinh, cosh and the inverse
hyperbolic functions: those are written out here, with the coefficients and the splitting of
arguments of fdlibm (Sun Microsystems, https://www.netlib.org/fdlibm/) and Cephes (S. Moshier,
"Methods and Programs for Mathematical Functions", 1989).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import FLOAT64

from .elementwise_base import Term, direct, formula, pick, polynomial, primitive
from .elementwise_exponential import LN2, exp, expm1, log, log1p

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle, Rule
    from onnxjit._core.program import Equation

    from .row import Function, Ufunc

__all__ = ["ROWS", "negative_sign"]


def negative_sign(x: Term) -> Term:
    """Whether a number is negative or -0.0 (False for NaN)."""
    return (x < 0) | (x.op("Reciprocal") < 0)


def with_sign(magnitude: Term, x: Term) -> Term:
    """Return a magnitude with the sign of `x`, zeros included."""
    return magnitude * (1 - negative_sign(x).to(magnitude.dtype) * 2)


# --- tan ----------------------------------------------------------------------------------

#: pi / 2 in parts of 33 bits, and the rest
_HALF_PI_PARTS: Final = (
    1.57079632673412561417e00,
    6.07710050630396597660e-11,
    2.02226624871116645580e-21,
    8.47842766036889956997e-32,
)
#: products of the parts with the multiple are exact below this
_REDUCED: Final = 1.0e6


def reduce_quarter(x: Term) -> tuple[Term, Term]:
    """Return the nearest multiple of pi / 2, and what is left of `x`.

    Source: fdlibm, ``__ieee754_rem_pio2`` for medium sizes.
    """
    k = (x * (2 / math.pi)).op("Round")
    rest, lost = x - k * _HALF_PI_PARTS[0], k * 0
    for part in _HALF_PI_PARTS[1:3]:
        step = k * part
        following = rest - step
        lost = lost + ((rest - following) - step)
        rest = following
    return k, rest + (lost - k * _HALF_PI_PARTS[3])


def _quarter_turned(x: Term, turns: int) -> Term:
    """Return sin(x + turns * pi / 2) for sizes that the reduction serves.

    onnxruntime's float64 kernels are right to 3 units within a quarter turn of zero, and lose
    thousands next to their other zeros.
    """
    k, r = reduce_quarter(x)
    k = k + turns
    even = k.op("Mod", 2, fmod=1).equals(0)
    upper = (k * 0.5).op("Floor").op("Mod", 2, fmod=1).equals(0)
    value = pick(even, r.op("Sin"), r.op("Cos"))
    return pick(upper, value, -value)


def _sin(x: Term) -> Term:
    near = pick(abs(x) < _REDUCED, _quarter_turned(x, 0), x.op("Sin"))
    return pick(abs(x) > 0, near, x.op("Sin"))  # the reduction loses the sign of zero


def _cos(x: Term) -> Term:
    return pick(abs(x) < _REDUCED, _quarter_turned(x, 1), x.op("Cos"))


def _tan(x: Term) -> Term:
    """Return the tangent; source: Cephes ``tan.c``."""
    k, r = reduce_quarter(x)
    z = r * r
    p = polynomial(
        z, -1.30936939181383734205e4, 1.15351664838587416140e6, -1.79565251976484877988e7
    )
    q = polynomial(
        z, 1.0, 1.36812963470692954678e4, -1.32089234440210967447e6,
        2.50083801823357915839e7, -5.38695755929454629881e7,
    )  # fmt: skip
    tangent = r + r * (z * p / q)
    odd = k.op("Mod", 2, fmod=1)
    near = pick(odd.equals(0), tangent, -1 / tangent)
    far = x.op("Sin") / x.op("Cos")
    # x itself where it is 0: the reduction loses the sign
    return pick(abs(x) > 0, pick(abs(x) < _REDUCED, near, far), x)


# --- arcsin, arccos, arctan ---------------------------------------------------------------


def _arcsin_tail(z: Term) -> Term:
    """Return (arcsin(x) - x) / x for z = x * x <= 1/4; source: fdlibm ``e_asin.c``."""
    p = polynomial(
        z, 3.47933107596021167570e-05, 7.91534994289814532176e-04, -4.00555345006794114027e-02,
        2.01212532134862925881e-01, -3.25565818622400915405e-01, 1.66666666666666657415e-01,
    )  # fmt: skip
    q = polynomial(
        z, 7.70381505559019352791e-02, -6.88283971605453293030e-01,
        2.02094576023350569471e00, -2.40339491173441421878e00, 1.0,
    )  # fmt: skip
    return z * p / q


def _root_part(a: Term) -> Term:
    """Return 2 * arcsin(sqrt((1 - a) / 2)), which is arccos(a), for a >= 1/2."""
    z = (1 - a) * 0.5
    s = z.op("Sqrt")
    return (s + s * _arcsin_tail(z)) * 2


def _arcsin(x: Term) -> Term:
    a = abs(x)
    small = x + x * _arcsin_tail(x * x)
    large = ((math.pi / 2) - _root_part(a)) * x.op("Sign")
    return pick(a > 0.5, large, small)


def _arccos(x: Term) -> Term:
    a = abs(x)
    small = (math.pi / 2) - (x + x * _arcsin_tail(x * x))
    part = _root_part(a)
    large = pick(x > 0, part, math.pi - part)
    return pick(a > 0.5, large, small)


def arctan(x: Term) -> Term:
    """Return the inverse tangent; source: Cephes ``atan.c``."""
    a = abs(x)
    far, middle = a > 2.41421356237309504880, a > 0.66
    r = pick(far, -1 / a, pick(middle, (a - 1) / (a + 1), a))
    start = pick(far, x.const(math.pi / 2), pick(middle, x.const(math.pi / 4), x.const(0)))
    low = pick(far, x.const(_LOW), pick(middle, x.const(_LOW / 2), x.const(0)))
    z = r * r
    p = polynomial(
        z, -8.750608600031904122785e-1, -1.615753718733365076637e1,
        -7.500855792314704667340e1, -1.228866684490136173410e2, -6.485021904942025371773e1,
    )  # fmt: skip
    q = polynomial(
        z, 1.0, 2.485846490142306297962e1, 1.650270098316988542046e2,
        4.328810604912902668951e2, 4.853903996359136964868e2, 1.945506571482613964425e2,
    )  # fmt: skip
    y = start + (r + (r * (z * p / q) + low))
    return pick(a > 0, y * x.op("Sign"), x)


#: what pi / 2 in float64 lacks
_LOW: Final = 6.123233995736765886130e-17


def _arctan2(y: Term, x: Term) -> Term:
    a, b = abs(y), abs(x)
    both_zero, both_inf = a.op("Max", b).equals(0), a.op("Min", b).equals(np.inf)
    angle = arctan(pick(both_zero, a, pick(both_inf, x.const(1), a / b)))
    angle = pick(negative_sign(x), (math.pi - angle) + 2 * _LOW, angle)
    return with_sign(angle, y)


# --- hyperbolic ---------------------------------------------------------------------------


def _sinh(x: Term) -> Term:
    """Return the hyperbolic sine; source: fdlibm ``e_sinh.c``."""
    a = abs(x)
    t = expm1(a)
    small = (t * 2 - t * t / (t + 1)) * 0.5
    half = exp(a * 0.5)
    large = (half * 0.5) * half
    middle = (t + t / (t + 1)) * 0.5
    magnitude = pick(a < 1, small, pick(a < 700, middle, large))
    return pick(a > 0, magnitude * x.op("Sign"), x)


def _cosh(x: Term) -> Term:
    a = abs(x)
    half = exp(a * 0.5)
    e = exp(a)
    return pick(a < 700, e * 0.5 + 0.5 / e, (half * 0.5) * half)


def _arcsinh(x: Term) -> Term:
    """Return the inverse hyperbolic sine; source: fdlibm ``s_asinh.c``."""
    a = abs(x)
    square = a * a
    small = log1p(a + square / (1 + (square + 1).op("Sqrt")))
    magnitude = pick(a < 2.0**28, small, log(a) + LN2)
    return pick(a > 0, magnitude * x.op("Sign"), x)


def _arccosh(x: Term) -> Term:
    """Return the inverse hyperbolic cosine; source: fdlibm ``e_acosh.c``.

    What is below 0 counts as 0: there is no answer either, and no t * t that absorbs t * 2.
    """
    t = x.op("Max", 0) - 1
    return pick(x < 2.0**28, log1p(t + (t * 2 + t * t).op("Sqrt")), log(x) + LN2)


def _arctanh(x: Term) -> Term:
    """Return the inverse hyperbolic tangent; source: fdlibm ``e_atanh.c``."""
    a = abs(x)
    twice = a * 2
    argument = pick(a < 0.5, twice + twice * a / (1 - a), twice / (1 - a))
    return pick(a > 0, log1p(argument) * 0.5 * x.op("Sign"), x)


def _by_double(op_type: str, f: Rule) -> Rule:
    """Return the rule of a function whose kernel exists for all but float64."""
    plain = direct(op_type)

    def rule(e: Emit, equation: Equation, *handles: Handle) -> Handle | tuple[Handle, ...]:
        chosen = f if handles[0].dtype is FLOAT64 else plain
        return chosen(e, equation, *handles)

    return rule


#: in units of 1.0; float64 below 1e6 in size in its own units (tests/ops/test_periodic.py)
_PERIODIC: Final = {"float16": 1.0, "float32": 4.0, "float64": 4.0}
SIN = primitive(np.sin, _by_double("Sin", formula(_sin)), api="sin", ulp=_PERIODIC, floor=1.0)
COS = primitive(np.cos, _by_double("Cos", formula(_cos)), api="cos", ulp=_PERIODIC, floor=1.0)
TAN = primitive(
    np.tan,
    _by_double("Tan", formula(_tan)),
    api="tan",
    ulp={"float16": 1, "float32": 4, "float64": 4},
)
ARCSIN = primitive(
    np.arcsin,
    _by_double("Asin", formula(_arcsin)),
    api="asin",
    ulp={"float16": 1, "float32": 5, "float64": 2},
)
ARCCOS = primitive(
    np.arccos,
    _by_double("Acos", formula(_arccos)),
    api="acos",
    ulp={"float16": 1, "float32": 5, "float64": 2},
)
ARCTAN = primitive(
    np.arctan,
    _by_double("Atan", formula(arctan)),
    api="atan",
    ulp={"float16": 1, "float32": 4, "float64": 2},
)
ARCTAN2 = primitive(
    np.arctan2,
    formula(_arctan2, double=True),
    api="atan2",
    ulp={"float16": 1, "float32": 2, "float64": 4},
)
SINH = primitive(
    np.sinh, _by_double("Sinh", formula(_sinh)), api="sinh", ulp={"float32": 4, "float64": 8}
)
COSH = primitive(
    np.cosh,
    _by_double("Cosh", formula(_cosh)),
    api="cosh",
    ulp={"float16": 1, "float32": 4, "float64": 6},
)
TANH = primitive(
    np.tanh, direct("Tanh"), api="tanh", ulp={"float32": 6, "float64": 8}, floor=1e-34
)
ARCSINH = primitive(
    np.arcsinh,
    _by_double("Asinh", formula(_arcsinh)),
    api="asinh",
    ulp={"float16": 1, "float32": 4, "float64": 8},
)
ARCCOSH = primitive(
    np.arccosh,
    _by_double("Acosh", formula(_arccosh)),
    api="acosh",
    ulp={"float32": 4, "float64": 8},
)
ARCTANH = primitive(
    np.arctanh,
    _by_double("Atanh", formula(_arctanh)),
    api="atanh",
    ulp={"float32": 4, "float64": 8},
)


# --- degrees ------------------------------------------------------------------------------


def _to_radians(x: Term) -> Term:
    one: Any = x.dtype.numpy.type
    factor = one(math.pi) / one(180)
    return x.op("Mul", factor)


def _to_degrees(x: Term) -> Term:
    one: Any = x.dtype.numpy.type
    factor = one(180) / one(math.pi)
    return x.op("Mul", factor)


DEG2RAD = primitive(np.deg2rad, formula(_to_radians))
RAD2DEG = primitive(np.rad2deg, formula(_to_degrees))
RADIANS = primitive(np.radians, formula(_to_radians))
DEGREES = primitive(np.degrees, formula(_to_degrees))

ROWS: list[Function | Ufunc] = [
    SIN, COS, TAN, ARCSIN, ARCCOS, ARCTAN, ARCTAN2, SINH, COSH, TANH, ARCSINH, ARCCOSH,
    ARCTANH, DEG2RAD, RAD2DEG, RADIANS, DEGREES,
]  # fmt: skip
