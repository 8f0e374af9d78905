# SPDX-License-Identifier: Apache-2.0
"""Powers of complex numbers.

Source: NumPy's ``npy_cpow``: whole exponents below 100 in size are products, others e**(y log
x); 0 to a power with a positive real part is 0, to another one NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.dtypes import FLOAT64

from . import elementwise_arithmetic as arithmetic
from . import elementwise_integer as integer
from .cast import cast
from .complex_arithmetic import full_product, product, quotient
from .complex_base import Real, floor, joined, loop, parts, pick, rint
from .complex_exponential import complex_exp, complex_log
from .elementwise_base import known_scalar

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__: list[str] = []

Pair = tuple[Real, Real]

#: whole exponents of this size and above are not multiplied out; the others have so many bits
MOST: Final = 100
BITS: Final = 7


def _either(condition: Real, x: Pair, y: Pair) -> Pair:
    return pick(condition, x[0], y[0]), pick(condition, x[1], y[1])


def _same(x: Pair, re: float, im: float = 0.0) -> Pair:
    """Return constants next to a pair."""
    return x[0].const(re), x[0].const(im)


def _small(x: Pair, exponent: int) -> Pair:
    """Return the power of an exponent of 1, 2 or 3."""
    found = x
    for _ in range(exponent - 1):
        found = product(*x, *found)
    return found


def _by_products(x: Pair, exponent: int) -> Pair:
    """Return a known whole power: squares, and products of them, in NumPy's order."""
    if 0 < exponent <= 3:
        return _small(x, exponent)
    made, square, left = _same(x, 1.0), x, abs(exponent)
    while left:
        if left & 1:
            made = product(*made, *square)
        left >>= 1
        if left:
            square = product(*square, *square)
    return made if exponent > 0 else quotient(*_same(x, 1.0), *made)


def _by_bits(x: Pair, y: Real) -> Pair:
    """Return whole powers that only a run knows, bit by bit."""
    left, square = abs(y), x
    made = left * 0 + 1, left * 0
    for bit in range(BITS):
        half = floor(left * 0.5)
        made = _either(left > half + half, product(*made, *square), made)
        left = half
        if bit < BITS - 1:
            square = product(*square, *square)
    made = _either(y < 0, quotient(*_same(x, 1.0), *made), made)
    for exponent in (1, 2, 3):
        made = _either(y.equals(exponent), _small(x, exponent), made)
    return made


def _by_logarithm(x: Pair, y: Pair) -> Pair:
    """Return e**(y log x), in float64."""
    a, b, c, d = (Real(cast(v.value, FLOAT64)) for v in (*x, *y))
    made = complex_exp(*full_product(c, d, *complex_log(a, b)))
    re, im = (Real(cast(v.value, x[0].dtype)) for v in made)
    return re, im


def _whole(y: Value) -> list[bool]:
    """Return which exponents there may be: whole ones that are multiplied out, others."""
    if y.known is None:
        return [True, False]
    re, im = np.real(y.known), np.imag(y.known)
    whole = (im == 0) & (np.abs(re) < MOST) & (np.rint(re) == re)
    return sorted(set(whole.ravel().tolist()), reverse=True)


def _power(x: Pair, y: Pair, exponents: Value, *, alone: bool) -> Pair:
    number = known_scalar(exponents) if alone else None
    kinds = _whole(exponents)
    if number is not None and kinds == [True]:
        return _by_products(x, int(number.real))
    if kinds == [False]:
        return _by_logarithm(x, y)
    multiplied = _by_bits(x, y[0])
    if kinds == [True]:
        return multiplied
    re, im = y
    is_whole = im.equals(0) & (abs(re) < MOST) & rint(re).equals(re)
    return _either(is_whole, multiplied, _by_logarithm(x, y))


@loop(integer.POWER, arithmetic.FLOAT_POWER, ulp=256)
def power(x: Value, y: Value) -> Value:
    """Return powers of numbers of one dtype.

    Notes
    -----
    A known whole exponent is a chain of products.  Exponents that only a run knows take both
    ways, and Where.
    """
    a, b, c, d = parts(x, y)
    made = _power((a, b), (c, d), y, alone=y.ndim <= x.ndim)
    nothing = a.equals(0) & b.equals(0)
    none = a.const(0)
    of_zero = pick(c > 0, none, a.const(np.nan))
    re, im = _either(nothing, (of_zero, of_zero), made)
    return joined(*_either(c.equals(0) & d.equals(0), (a.const(1), none), (re, im)))
