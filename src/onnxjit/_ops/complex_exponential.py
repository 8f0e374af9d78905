# SPDX-License-Identifier: Apache-2.0
"""Exponentials, logarithms and the square root of complex numbers.

Special values are those of C99's Annex G, which NumPy's own functions follow.  Both widths are
computed in float64.  Each part of a result is within a few units in the last place of the
larger part.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from . import elementwise_arithmetic as arithmetic
from . import elementwise_exponential as exponential
from .complex_base import (
    Real,
    arctan2,
    copysign,
    cos,
    elementary,
    exp,
    expm1,
    hypot,
    joined,
    log,
    log1p,
    loop,
    parts,
    pick,
    sin,
    sqrt,
)

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["complex_exp", "complex_log", "complex_sqrt", "log_size"]

Pair = tuple[Real, Real]

#: exponents above this are taken in two steps
STEP: Final = 709.0
LN2: Final = math.log(2.0)
#: parts of this size and above, or this size and below, are scaled
LARGE: Final = 2.0**1020
SMALL: Final = 2.0**-960
#: powers of 4, so that their square roots are powers of 2
DOWN: Final = 2.0**-4
UP: Final = 2.0**120


# --- exponentials -------------------------------------------------------------------------


@elementary(exponential.EXP, ulp=5)
def complex_exp(x: Real, y: Real) -> Pair:
    """Return e**x times cos(y) and sin(y).

    An exponent beyond the range of e**x is taken in two steps: cos or sin may bring the
    product back.
    """
    is_large = x > STEP
    size = exp(pick(is_large, x - STEP, x))
    scale = pick(is_large, math.exp(STEP), x.const(1))
    re, im = size * cos(y) * scale, size * sin(y) * scale
    # whatever the angle of infinity is, its size is known
    lost = x.is_inf() & ~y.is_finite()
    re = pick(lost, size, re)
    im = pick(lost & (x < 0), copysign(y.const(0), y), im)
    return re, pick(y.equals(0), y, im)


@loop(exponential.EXP2, ulp=5)
def _exp2(z: Value) -> Value:
    """Return e**(z log 2) as NumPy does, which multiplies in the numbers' own width."""
    x, y = parts(z)
    made: Value = exponential.EXP.implementation(joined(x * LN2, y * LN2))
    return made


@loop(exponential.EXPM1, ulp=8)
def _expm1(z: Value) -> Value:
    """Return e**z - 1 in the numbers' own width; source: NumPy's ``nc_expm1``."""
    x, y = parts(z)
    half = sin(y / 2)
    return joined(expm1(x) * cos(y) - 2 * half * half, exp(x) * sin(y))


# --- logarithms ---------------------------------------------------------------------------


def scaled(x: Real, y: Real) -> tuple[Real, Real, Real]:
    """Return numbers of which no square overflows or is lost, and by what they were scaled."""
    size = x.larger(y)
    factor = pick(size > LARGE, DOWN, pick(size < SMALL, UP, size.const(1)))
    return x * factor, y * factor, factor


def log_size(x: Real, y: Real) -> Real:
    """Return log(hypot(x, y)) for x, y >= 0.

    Source: W. Kahan, "Branch cuts for complex elementary functions", in "The State of the Art
    in Numerical Analysis", 1987: near 1, log1p of what the square of the size has above 1.
    """
    a, b, factor = scaled(x, y)
    size = hypot(a, b)
    larger, smaller = a.larger(b), a.smaller(b)
    excess = (larger - 1) * (larger + 1) + smaller * smaller
    is_near = (size > 0.7) & (size < 1.75)
    near = log1p(pick(is_near, excess, size.const(0))) * 0.5
    return pick(is_near, near, log(size) - log(factor))


@elementary(exponential.LOG, ulp=5)
def complex_log(x: Real, y: Real) -> Pair:
    """Return the logarithm of the size, and the angle; the cut is the negative real axis."""
    return log_size(abs(x), abs(y)), arctan2(y, x)


@elementary(exponential.LOG2, ulp=5)
def _log2(x: Real, y: Real) -> Pair:
    re, im = complex_log(x, y)
    return re * (1 / LN2), im * (1 / LN2)


@elementary(exponential.LOG10, ulp=6)
def _log10(x: Real, y: Real) -> Pair:
    re, im = complex_log(x, y)
    return re * (1 / math.log(10)), im * (1 / math.log(10))


@loop(exponential.LOG1P, ulp=4, floor=1.0)
def _log1p(z: Value) -> Value:
    """Return the logarithm of 1 + z as NumPy does, which adds in the numbers' own width.

    Small numbers lose their digits here as they do there.
    """
    x, y = parts(z)
    above = x + 1
    return joined(log(hypot(above, y)), arctan2(y, above))


# --- square root --------------------------------------------------------------------------


@elementary(arithmetic.SQRT, ulp=3)
def complex_sqrt(x: Real, y: Real) -> Pair:
    """Return the square root in the right half plane; the cut is the negative real axis.

    Source: P. Friedland, "Algorithm 312: Absolute value and square root of a complex number",
    Communications of the ACM 10, 1967.
    """
    a, b, factor = scaled(abs(x), abs(y))
    t = sqrt((a + hypot(a, b)) * 0.5)
    other = b / (t + t)
    other = pick(t.equals(0), b, other)
    back = 1 / sqrt(factor)
    t, other = t * back, other * back
    is_left = x < 0
    re, im = pick(is_left, other, t), pick(is_left, t, other)
    im = copysign(im, y)
    return pick(y.is_inf(), abs(y), re), pick(y.is_inf(), y, im)
