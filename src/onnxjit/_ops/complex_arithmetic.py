# SPDX-License-Identifier: Apache-2.0
"""Sums, products and quotients of complex numbers, their size and order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elementwise_arithmetic as arithmetic
from . import elementwise_exponential as exponential
from . import elementwise_float as floating
from . import elementwise_logical as logical
from .complex_base import joined, loop, parts, pick
from .complex_parts import conjugate

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["divide", "multiply"]


@loop(arithmetic.MULTIPLY)
def multiply(x: Value, y: Value) -> Value:
    """Multiply without the corrections of C's Annex G, as NumPy does.

    Notes
    -----
    Mul, Sub, Add.  Accuracy: a few units in the last place of the product's size; where NumPy
    uses fused instructions its last bits differ.
    """
    a, b, c, d = parts(x, y)
    return joined(a * c - b * d, a * d + b * c)


@loop(arithmetic.DIVIDE)
def divide(x: Value, y: Value) -> Value:
    """Divide by scaling with the larger part of the divisor.

    Notes
    -----
    Source: R. L. Smith, "Algorithm 116: Complex division", Communications of the ACM 5, 1962,
    which NumPy uses.  A divisor of 0 divides both parts.
    """
    a, b, c, d = parts(x, y)
    is_re = abs(c) >= abs(d)
    p, q = pick(is_re, c, d), pick(is_re, d, c)
    u, v = pick(is_re, a, b), pick(is_re, b, a)
    ratio = q / p
    scale = 1 / (p + q * ratio)
    re = (u + v * ratio) * scale
    turned = u * ratio
    im = pick(is_re, v - turned, turned - v) * scale
    nothing = c.equals(0) & d.equals(0)
    zero = abs(c)
    return joined(pick(nothing, a / zero, re), pick(nothing, b / zero, im))


@loop(floating.CONJUGATE)
def _conjugate(z: Value) -> Value:
    return conjugate(z)


@loop(arithmetic.ABSOLUTE)
def _absolute(z: Value) -> Value:
    re, im = parts(z)
    return re.apply(exponential.HYPOT, im).value  # type: ignore[no-any-return]


@loop(arithmetic.POSITIVE)
def _positive(z: Value) -> Value:
    return z


@loop(logical.EQUAL)
def _equal(x: Value, y: Value) -> Value:
    a, b, c, d = parts(x, y)
    return (a.equals(c) & b.equals(d)).value


@loop(logical.NOT_EQUAL)
def _not_equal(x: Value, y: Value) -> Value:
    a, b, c, d = parts(x, y)
    return (~(a.equals(c) & b.equals(d))).value
