# SPDX-License-Identifier: Apache-2.0
"""Functions on the representation of floats: signs, exponents, neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.dtypes import FLOAT16, FLOAT32, FLOAT64, INT16, INT32, INT64

from .elementwise_base import (
    Formula,
    Term,
    formula,
    keep,
    pick,
    pick_signed,
    primitive,
    same,
    truth,
)
from .elementwise_trigonometric import negative_sign, with_sign

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle, Rule
    from onnxjit._core.program import Equation

    from .row import Function, Ufunc

__all__ = ["ROWS"]

BITS: Final = {FLOAT16: INT16, FLOAT32: INT32, FLOAT64: INT64}


def bits(x: Term) -> Term:
    """Return the representation of floats as signed ints (opset 26)."""
    dtype = BITS[x.dtype]
    return x.op("BitCast", out=dtype, to=dtype)


def narrow(f: Formula) -> Rule:
    """Return the rule of a formula that is computed at its own dtype, float16 too."""

    def rule(e: Emit, _equation: Equation, *handles: Handle) -> Any:
        made = f(*(Term(e, h) for h in handles))
        return tuple(m.h for m in made) if isinstance(made, tuple) else made.h

    return rule


# --- signs --------------------------------------------------------------------------------


def _signbit(x: Term) -> Term:
    return bits(x) < 0


def _copysign(x: Term, y: Term) -> Term:
    return with_sign(abs(x), y)


def _copysign_bits(x: Term, y: Term) -> Term:
    top = np.iinfo(BITS[x.dtype].name)
    magnitude, sign = bits(x).op("BitwiseAnd", top.max), bits(y).op("BitwiseAnd", top.min)
    return magnitude.op("BitwiseOr", sign).op("BitCast", out=x.dtype, to=x.dtype)


SIGNBIT = primitive(
    np.signbit, {1: formula(negative_sign), 26: narrow(_signbit)}, result=truth, api="signbit"
)
COPYSIGN = primitive(
    np.copysign, {1: formula(_copysign), 26: narrow(_copysign_bits)}, api="copysign"
)


def _heaviside(x: Term, y: Term) -> Term:
    step = pick(x > 0, x.const(1), pick(x < 0, x.const(0), x))
    return pick(~x.equals(0), step, y)


HEAVISIDE = primitive(np.heaviside, formula(_heaviside))


# --- exponents ----------------------------------------------------------------------------


def _power_of_two(n: Term) -> Term:
    return n.const(2).op("Pow", n)


def _frexp(x: Term) -> tuple[Term, Term]:
    """Guess the exponent by a logarithm, scale in two exact steps, and mend the guess."""
    a = abs(x)
    regular = (a > 0) & (a < np.inf)
    safe = pick(regular, a, x.const(0.5))
    n = (safe.op("Log") * (1 / np.log(2.0))).op("Floor") + 1
    half = (n * 0.5).op("Floor")
    m = safe * _power_of_two(-half) * _power_of_two(half - n)
    over, under = (m >= 1).to(x.dtype), (m < 0.5).to(x.dtype)
    m = m * (1 - over * 0.5 + under)
    mantissa = pick(regular, m * x.op("Sign"), x)
    return mantissa, pick(regular, n + over - under, x.const(0)).to(INT32)


def _ldexp(x: Term, n: Term) -> Term:
    """Multiply by powers of two so that only the last product can round.

    Source: musl's ``scalbn``.
    """
    n = n.op("Min", 4000).op("Max", -4000) if n.dtype is INT64 else n.to(INT64)
    n = n.op("Min", 4000).op("Max", -4000).to(x.dtype)
    for _ in range(2):
        step = pick(n < -1022, n.const(-969), pick(n > 1023, n.const(1023), n.const(0)))
        x, n = x * _power_of_two(step), n - step
    return x * _power_of_two(n.op("Min", 1023).op("Max", -1022))


def _frexp_result(x: Tensor) -> tuple[Tensor, Tensor]:
    return same(x), Tensor(INT32, x.shape)


FREXP = primitive(np.frexp, formula(_frexp, double=True), result=_frexp_result)
LDEXP = primitive(np.ldexp, formula(_ldexp, double=True))


# --- neighbours ---------------------------------------------------------------------------


def _next_up(a: Term) -> Term:
    """Return the number after a finite a >= 0.

    Source: Rump, Zimmermann, Boldo, Melquiond, "Computing predecessor and successor in
    rounding to nearest", BIT 49, 2009, algorithm 4.
    """
    info = np.finfo(a.dtype.name)
    one: Any = a.dtype.numpy.type
    u, eta = one(info.eps / 2), one(info.smallest_subnormal)
    phi = u * (1 + 2 * u)
    scaled = a * (1 / u)
    low = (scaled + scaled * phi) * u
    tiny = one(1) / u * eta
    return pick(a >= tiny * one(0.5) / u, a + a * phi, pick(a < tiny, a + eta, low))


def _next_down(a: Term) -> Term:
    """Return the number before a finite a > 0; see `_next_up`."""
    info = np.finfo(a.dtype.name)
    one: Any = a.dtype.numpy.type
    u, eta = one(info.eps / 2), one(info.smallest_subnormal)
    phi = u * (1 + 2 * u)
    scaled = a * (1 / u)
    low = (scaled - scaled * phi) * u
    tiny = one(1) / u * eta
    return pick(a >= tiny * one(0.5) / u, a - a * phi, pick(a < tiny, a - eta, low))


def _if_equal(x: Term, y: Term) -> Term:
    """Return what NumPy gives for equal numbers: zeros can differ in sign."""
    return x if x.dtype in {FLOAT16, INT16} else y


def _nextafter(x: Term, y: Term) -> Term:
    info = np.finfo(x.dtype.name)
    a = abs(x)
    away = ((y > x) & (x > 0)) | ((y < x) & (x < 0))
    inward = pick(a.equals(np.inf), x.const(info.max), _next_down(a))
    moved = with_sign(pick(away, _next_up(a), inward), x)
    moved = pick(x.equals(0), with_sign(x.const(info.smallest_subnormal), y), moved)
    moved = pick_signed(x.equals(y), _if_equal(x, y), moved)
    return pick(x.is_nan() | y.is_nan(), x.const(np.nan), moved)


def _nextafter_bits(x: Term, y: Term) -> Term:
    """Count up or down in the bits below the sign."""
    nan, i, j = x.is_nan() | y.is_nan(), bits(x), bits(y)
    away = ((y > x) & (x > 0)) | ((y < x) & (x < 0))
    moved = i + pick(away, i.const(1), i.const(-1))
    least = j.op("BitwiseAnd", np.iinfo(j.dtype.name).min).op("BitwiseOr", 1)
    moved = pick(x.equals(y), _if_equal(i, j), pick(x.equals(0), least, moved))
    of_nan = np.asarray(np.nan, x.dtype.numpy).view(i.dtype.numpy)
    return pick(nan, i.const(of_nan), moved).op("BitCast", out=x.dtype, to=x.dtype)


def _spacing(x: Term) -> Term:
    """Return the distance to the next number: away from 0; of float16 upward."""
    a = abs(x)
    gap = _next_up(a) - a
    return pick(x < 0, a - _next_down(a) if x.dtype is FLOAT16 else -gap, gap)


NEXTAFTER = primitive(
    np.nextafter, {1: narrow(_nextafter), 26: narrow(_nextafter_bits)}, api="nextafter"
)
SPACING = primitive(np.spacing, narrow(_spacing))


CONJUGATE = primitive(np.conjugate, keep, api="conj")

ROWS: list[Function | Ufunc] = [
    SIGNBIT, COPYSIGN, HEAVISIDE, FREXP, LDEXP, NEXTAFTER, SPACING, CONJUGATE,
]  # fmt: skip
