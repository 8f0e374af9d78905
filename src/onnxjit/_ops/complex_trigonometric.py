# SPDX-License-Identifier: Apache-2.0
"""Circular and hyperbolic functions of complex numbers, and their inverses.

The inverse functions are W. Kahan's, "Branch cuts for complex elementary functions", in "The
State of the Art in Numerical Analysis", 1987; their cuts are approached from both sides by the
sign of a zero.  Special values are those of C99's Annex G, which NumPy's own functions follow.
Both widths are computed in float64.  Each part of a result is within a few units in the last
place of the larger part.
"""

from __future__ import annotations

import math
from typing import Final

from . import elementwise_trigonometric as trigonometric
from .complex_base import (
    Real,
    arcsinh,
    arctan2,
    copysign,
    cos,
    cosh,
    elementary,
    exp,
    hypot,
    log,
    log1p,
    pick,
    sin,
    sinh,
)
from .complex_exponential import LN2, STEP, complex_sqrt, log_size

__all__: list[str] = []

Pair = tuple[Real, Real]

HALF_PI: Final = math.pi / 2
#: numbers of this size and above are taken for large: 1 is nothing next to them
LARGE: Final = 1e150
#: tanh is 1 here
FLAT: Final = 22.0


# --- hyperbolic ---------------------------------------------------------------------------


def _halves(x: Real) -> tuple[Real, Real, Real]:
    """Return sinh(x), cosh(x) and a factor of both, which is not 1 where they overflow."""
    a = abs(x)
    is_large = a > STEP
    half = exp(pick(is_large, a - STEP, a.const(0))) * 0.5
    inner = pick(is_large, x.const(0), x)
    odd = pick(is_large, copysign(half, x), sinh(inner))
    return odd, pick(is_large, half, cosh(inner)), pick(is_large, math.exp(STEP), a.const(1))


@elementary(trigonometric.SINH, ulp=5)
def complex_sinh(x: Real, y: Real) -> Pair:
    """Return sinh(x) cos(y) and cosh(x) sin(y)."""
    odd, even, factor = _halves(x)
    re, im = odd * cos(y) * factor, even * sin(y) * factor
    lost = ~y.is_finite()
    re = pick(lost & x.equals(0), x, pick(lost & x.is_inf(), abs(x), re))
    return re, pick(y.equals(0), y, im)


@elementary(trigonometric.COSH, ulp=5)
def complex_cosh(x: Real, y: Real) -> Pair:
    """Return cosh(x) cos(y) and sinh(x) sin(y)."""
    odd, even, factor = _halves(x)
    re, im = even * cos(y) * factor, odd * sin(y) * factor
    lost = ~y.is_finite()
    re = pick(lost & x.is_inf(), abs(x), re)
    im = pick(lost & x.equals(0), x.const(0), im)
    of_real = pick(x.is_nan(), y, copysign(x.const(1), x) * y)
    return re, pick(y.equals(0), of_real, im)


@elementary(trigonometric.TANH, ulp=8)
def complex_tanh(x: Real, y: Real) -> Pair:
    """Return sinh(x) cosh(x) and sin(y) cos(y), over sinh(x)**2 + cos(y)**2.

    Where tanh(x) is 1, only the imaginary part has to be computed.
    """
    a = abs(x)
    is_flat = a > FLAT
    s, c = sin(y), cos(y)
    inner = pick(is_flat, x.const(0), x)
    odd = sinh(inner)
    below = odd * odd + c * c
    one = pick(x.is_inf() | y.is_finite(), copysign(x.const(1), x), x.const(math.nan))
    re = pick(is_flat, one, odd * cosh(inner) / below)
    im = pick(is_flat, 4 * s * c * exp(-2 * a), s * c / below)
    im = pick(x.is_inf() & ~y.is_finite(), copysign(y.const(0), y), im)
    return pick(x.equals(0), x, re), pick(y.equals(0), y, im)


# --- circular: hyperbolic ones of i z -----------------------------------------------------


@elementary(trigonometric.SIN, ulp=5)
def _sin(x: Real, y: Real) -> Pair:
    im, re = complex_sinh(y, x)
    return re, im


@elementary(trigonometric.COS, ulp=5)
def _cos(x: Real, y: Real) -> Pair:
    return complex_cosh(-y, x)


@elementary(trigonometric.TAN, ulp=8)
def _tan(x: Real, y: Real) -> Pair:
    im, re = complex_tanh(y, x)
    return re, im


# --- inverse functions --------------------------------------------------------------------


class _Roots:
    """Square roots of 1 - z and 1 + z, of which arcsin and arccos are made."""

    __slots__ = ("is_large", "minus", "plus", "x", "y")

    def __init__(self, x: Real, y: Real) -> None:
        self.x: Final = x
        self.y: Final = y
        self.is_large: Final = (abs(x) > LARGE) | (abs(y) > LARGE)
        self.minus: Final = complex_sqrt(1 - x, -y)
        self.plus: Final = complex_sqrt(1 + x, y)

    def height(self) -> Real:
        """Return the imaginary part of arcsin."""
        (a, b), (c, d) = self.minus, self.plus
        near = arcsinh(a * d - b * c)
        far = copysign(log_size(abs(self.x), abs(self.y)) + LN2, self.y)
        return pick(self.is_large, far, near)


@elementary(trigonometric.ARCSIN, ulp=5)
def complex_arcsin(x: Real, y: Real) -> Pair:
    """Return arcsin; the cuts are the real axis beyond -1 and 1."""
    roots = _Roots(x, y)
    (a, b), (c, d) = roots.minus, roots.plus
    below = pick(roots.is_large, abs(y), a * c - b * d)
    return pick(x.equals(0), x, arctan2(x, below)), roots.height()


@elementary(trigonometric.ARCCOS, ulp=6)
def complex_arccos(x: Real, y: Real) -> Pair:
    """Return arccos; the cuts are the real axis beyond -1 and 1."""
    roots = _Roots(x, y)
    far = arctan2(abs(y), x)
    re = pick(roots.is_large, far, 2 * arctan2(roots.minus[0], roots.plus[0]))
    return pick(x.equals(0), x.const(HALF_PI), re), -roots.height()


@elementary(trigonometric.ARCCOSH, ulp=6)
def _arccosh(x: Real, y: Real) -> Pair:
    """Return arccosh; the cut is the real axis below 1."""
    re, im = complex_arccos(x, y)
    return abs(im), copysign(re, y)


@elementary(trigonometric.ARCSINH, ulp=5)
def _arcsinh(x: Real, y: Real) -> Pair:
    """Return arcsinh; the cuts are the imaginary axis beyond -i and i."""
    im, re = complex_arcsin(y, x)
    return re, im


@elementary(trigonometric.ARCTANH, ulp=5)
def complex_arctanh(x: Real, y: Real) -> Pair:
    """Return arctanh; the cuts are the real axis beyond -1 and 1."""
    a, b = abs(x), abs(y)
    is_large = (a > LARGE) | (b > LARGE)
    gap = 1 - a
    near = log1p(4 * a / (gap * gap + y * y)) * 0.25
    # next to the poles the square of y is lost
    near = pick(a.equals(1) & (b < 1 / LARGE), 0.5 * (LN2 - log(b)), near)
    size = hypot(x, y)
    far = pick(a.is_inf() | b.is_inf(), a.const(0), a / size / size)
    re = copysign(pick(is_large, far, near), x)
    im = 0.5 * arctan2(2 * y, gap * (1 + a) - y * y)
    is_lost = y.is_nan() | (x.is_nan() & y.is_finite())
    far = pick(is_lost, y.const(math.nan), copysign(y.const(HALF_PI), y))
    im = pick(is_large, far, im)
    return pick(x.equals(0), x, re), im


@elementary(trigonometric.ARCTAN, ulp=5)
def _arctan(x: Real, y: Real) -> Pair:
    """Return arctan; the cuts are the imaginary axis beyond -i and i."""
    im, re = complex_arctanh(y, x)
    return re, im
