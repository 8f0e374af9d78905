# SPDX-License-Identifier: Apache-2.0
"""Sums, products, quotients and powers of complex numbers, their size, sign and order.

Products and quotients are within a few units in the last place of the larger part: NumPy fuses
multiplications and additions where the processor can.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from onnxjit._core.dtypes import BOOL

from . import elementwise_arithmetic as arithmetic
from . import elementwise_float as floating
from . import elementwise_logical as logical
from .cast import cast
from .complex_base import Real, copysign, hypot, joined, loop, parts, pick, rint
from .complex_parts import conjugate

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value

__all__ = ["divide", "multiply", "product", "quotient"]

Pair = tuple[Real, Real]


# --- products and quotients ---------------------------------------------------------------


def product(a: Real, b: Real, c: Real, d: Real) -> Pair:
    """Return (a + ib) (c + id), without the corrections of C99's Annex G, as NumPy does."""
    return a * c - b * d, a * d + b * c


def full_product(a: Real, b: Real, c: Real, d: Real) -> Pair:
    """Return (a + ib) (c + id) with the infinities that plain arithmetic loses in NaN.

    Source: C99, Annex G.5.1, example 1.
    """
    re, im = product(a, b, c, d)
    is_first, is_second = a.is_inf() | b.is_inf(), c.is_inf() | d.is_inf()
    terms = (a * c, b * d, a * d, b * c)
    is_made = terms[0].is_inf() | terms[1].is_inf() | terms[2].is_inf() | terms[3].is_inf()
    is_lost = re.is_nan() & im.is_nan() & (is_first | is_second | is_made)
    boxed = [
        *(_boxed(x, is_first) for x in (a, b)),
        *(_boxed(x, is_second) for x in (c, d)),
    ]
    again = (math.inf * x for x in product(*boxed))
    found_re, found_im = (pick(is_lost, x, y) for x, y in zip(again, (re, im), strict=True))
    return found_re, found_im


def _boxed(x: Real, is_endless: Real) -> Real:
    """Return a part with 0 for NaN, in a number with an infinite part 1 for infinities."""
    size = pick(x.is_inf(), x.const(1), x.const(0))
    return copysign(pick(is_endless | x.is_nan(), size, abs(x)), x)


def quotient(a: Real, b: Real, c: Real, d: Real) -> Pair:
    """Return (a + ib) / (c + id), scaled with the larger part of the divisor.

    Source: R. L. Smith, "Algorithm 116: Complex division", Communications of the ACM 5, 1962,
    which NumPy uses.  A divisor of 0 divides both parts.
    """
    is_re = abs(c) >= abs(d)
    p, q = pick(is_re, c, d), pick(is_re, d, c)
    u, v = pick(is_re, a, b), pick(is_re, b, a)
    ratio = q / p
    scale = 1 / (p + q * ratio)
    turned = u * ratio
    re = (u + v * ratio) * scale
    im = pick(is_re, v - turned, turned - v) * scale
    nothing = c.equals(0) & d.equals(0)
    zero = abs(c)
    return pick(nothing, a / zero, re), pick(nothing, b / zero, im)


@loop(arithmetic.MULTIPLY, ulp=2)
def multiply(x: Value, y: Value) -> Value:
    """Multiply; see `product`."""
    return joined(*product(*parts(x, y)))


@loop(arithmetic.SQUARE, ulp=2)
def _square(z: Value) -> Value:
    a, b = parts(z)
    return joined(a * a - b * b, a * b + b * a)


@loop(arithmetic.DIVIDE)
def divide(x: Value, y: Value) -> Value:
    """Divide; see `quotient`."""
    return joined(*quotient(*parts(x, y)))


@loop(arithmetic.RECIPROCAL)
def _reciprocal(z: Value) -> Value:
    """Return 1 / z; source: Smith's algorithm, as in `quotient`."""
    a, b = parts(z)
    is_re = abs(b) <= abs(a)
    p, q = pick(is_re, a, b), pick(is_re, b, a)
    ratio = q / p
    below = p + q * ratio
    one, rest = 1 / below, ratio / below
    return joined(pick(is_re, one, rest), -pick(is_re, rest, one))


# --- size, sign, rounding -----------------------------------------------------------------


@loop(floating.CONJUGATE)
def _conjugate(z: Value) -> Value:
    return conjugate(z)


@loop(arithmetic.POSITIVE)
def _positive(z: Value) -> Value:
    return z


@loop(arithmetic.ABSOLUTE, ulp=3)
def _absolute(z: Value) -> Value:
    return hypot(*parts(z)).value


@loop(arithmetic.SIGN, ulp=4)
def _sign(z: Value) -> Value:
    """Return z / abs(z), 0 for 0; the sign of an infinite part, NaN for two of them.

    Where abs(z) overflows it is the sign of the imaginary part, as in NumPy.
    """
    a, b = parts(z)
    size = hypot(a, b)
    none, one = size.const(0), size.const(1)
    both = pick(b.is_inf(), size.const(math.nan), none)
    re = pick(a.is_inf(), copysign(one, a) + both, none)
    im = pick(a.is_inf(), both, copysign(one, b))
    near_re, near_im = (pick(size.equals(0), none, x / size) for x in (a, b))
    return joined(pick(size.is_inf(), re, near_re), pick(size.is_inf(), im, near_im))


@loop(arithmetic.RINT)
def _rint(z: Value) -> Value:
    a, b = parts(z)
    return joined(rint(a), rint(b))


# --- order --------------------------------------------------------------------------------


@loop(logical.EQUAL)
def _equal(x: Value, y: Value) -> Value:
    a, b, c, d = parts(x, y)
    return (a.equals(c) & b.equals(d)).value


@loop(logical.NOT_EQUAL)
def _not_equal(x: Value, y: Value) -> Value:
    a, b, c, d = parts(x, y)
    return (~(a.equals(c) & b.equals(d))).value


def _ordered(x: Value, y: Value, compare: Callable[[Real, Real], Real]) -> Real:
    """Compare real parts, and imaginary ones where those are equal, as NumPy does with NaN."""
    a, b, c, d = parts(x, y)
    differ = ~a.equals(c) & ~b.is_nan() & ~d.is_nan()
    return (differ & compare(a, c)) | (a.equals(c) & compare(b, d))


@loop(logical.LESS)
def _less(x: Value, y: Value) -> Value:
    return _ordered(x, y, lambda p, q: p < q).value


@loop(logical.LESS_EQUAL)
def _less_equal(x: Value, y: Value) -> Value:
    return _ordered(x, y, lambda p, q: p <= q).value


@loop(logical.GREATER)
def _greater(x: Value, y: Value) -> Value:
    return _ordered(x, y, lambda p, q: p > q).value


@loop(logical.GREATER_EQUAL)
def _greater_equal(x: Value, y: Value) -> Value:
    return _ordered(x, y, lambda p, q: p >= q).value


def _is_nan(z: Value) -> Real:
    a, b = parts(z)
    return a.is_nan() | b.is_nan()


def _chosen(x: Value, y: Value, first: Real) -> Value:
    a, b, c, d = parts(x, y)
    return joined(pick(first, a, c), pick(first, b, d))


@loop(arithmetic.MAXIMUM)
def _maximum(x: Value, y: Value) -> Value:
    return _chosen(x, y, _is_nan(x) | _ordered(x, y, lambda p, q: p >= q))


@loop(arithmetic.MINIMUM)
def _minimum(x: Value, y: Value) -> Value:
    return _chosen(x, y, _is_nan(x) | _ordered(x, y, lambda p, q: p <= q))


@loop(arithmetic.FMAX)
def _fmax(x: Value, y: Value) -> Value:
    return _chosen(x, y, _is_nan(y) | _ordered(x, y, lambda p, q: p >= q))


@loop(arithmetic.FMIN)
def _fmin(x: Value, y: Value) -> Value:
    return _chosen(x, y, _is_nan(y) | _ordered(x, y, lambda p, q: p <= q))


# --- tests --------------------------------------------------------------------------------


@loop(logical.ISNAN)
def _isnan(z: Value) -> Value:
    return _is_nan(z).value


@loop(logical.ISINF)
def _isinf(z: Value) -> Value:
    a, b = parts(z)
    return (a.is_inf() | b.is_inf()).value


@loop(logical.ISFINITE)
def _isfinite(z: Value) -> Value:
    a, b = parts(z)
    return (a.is_finite() & b.is_finite()).value


def _of_truths(row: Any) -> None:
    """Add what a logical operator makes of numbers that count as true where they are not 0."""
    on_bools = row.implementation

    def on_complex(*values: Value) -> Any:
        return on_bools(*[cast(z, BOOL) for z in values])

    loop(row)(on_complex)


for _row in (
    logical.LOGICAL_AND, logical.LOGICAL_OR, logical.LOGICAL_XOR, logical.LOGICAL_NOT,
):  # fmt: skip
    _of_truths(_row)
