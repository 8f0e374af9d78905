# SPDX-License-Identifier: Apache-2.0
"""Exponentials, logarithms, roots and what is built from them.

Formulas are for float64; float32 and float16 are computed in float64 and rounded where
onnxruntime has no kernel of its own.  Error bounds are in units in the last place, against
NumPy's results on ordinary arguments.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from .elementwise_base import Term, direct, formula, pick, primitive

if TYPE_CHECKING:
    from onnxjit._core.op import Rule

    from .row import Function, Ufunc

__all__ = ["ROWS", "expm1", "log1p"]

LOG2E: Final = math.log2(math.e)
LN2: Final = math.log(2.0)


def exp(x: Term) -> Term:
    """Return e**x."""
    return x.op("Exp")


def log(x: Term) -> Term:
    """Return the natural logarithm."""
    return x.op("Log")


def expm1(x: Term) -> Term:
    """Return exp(x) - 1 without cancellation near 0.

    Source: Kahan's correction by ``log(exp(x))``, in N. Higham, "Accuracy and Stability of
    Numerical Algorithms", 2nd ed., 1.14.1.
    """
    u = exp(x)
    d = u - 1
    near = pick(abs(x) < 1, d * x / log(u), d)
    return pick(~u.equals(1), near, x)


def log1p(x: Term) -> Term:
    """Return log(1 + x) without cancellation near 0.

    Source: Kahan's correction by ``(1 + x) - 1``; D. Goldberg, "What every computer scientist
    should know about floating-point arithmetic", theorem 4.
    """
    u = x + 1
    d = u - 1
    y = log(u)
    near = pick(x < 2.0**54, y * (x / d), y)
    return pick(~d.equals(0), near, x)


def _exp2(x: Term) -> Term:
    return x.const(2).op("Pow", x)


def _log_of_base(base: float) -> Rule:
    """Return the rule of a logarithm that is exact at the powers of its base.

    A subnormal number is no power of 10: it has too few digits to be near one.
    """

    def rule(x: Term) -> Term:
        y = log(x) * (1 / math.log(base))
        whole = y.op("Round")
        is_power = x.const(base).op("Pow", whole).equals(x)
        if base != 2:
            is_power = is_power & (x > np.finfo(np.float64).tiny)
        return pick(is_power, whole, y)

    return formula(rule, double=True)


def _cbrt(x: Term) -> Term:
    """Return the cube root: a power, then one step of Newton's method.

    Small numbers are scaled first, or the cubes in that step would lose their digits.
    """
    a = abs(x)
    is_small = a < 2.0**-600
    scaled = a * pick(is_small, x.const(2.0**300), x.const(1))
    r = scaled.op("Pow", 1 / 3)
    square = r * r
    root = (r - (square * r - scaled) / (square * 3)) * x.op("Sign")
    root = root * pick(is_small, x.const(2.0**-100), x.const(1))
    return pick((a > 0) & (a < np.inf), root, x)


def _hypot(x: Term, y: Term) -> Term:
    a, b = abs(x), abs(y)
    large, small = a.op("Max", b), a.op("Min", b)
    ratio = small / large
    length = pick(large.equals(0), large, large * (ratio * ratio + 1).op("Sqrt"))
    return pick(a.equals(np.inf) | b.equals(np.inf), length.const(np.inf), length)


def _logaddexp(x: Term, y: Term) -> Term:
    total = x.op("Max", y) + log1p(exp(-abs(x - y)))
    return pick(x.equals(y), x + LN2, total)


def _logaddexp2(x: Term, y: Term) -> Term:
    total = x.op("Max", y) + log1p(_exp2(-abs(x - y))) * LOG2E
    return pick(x.equals(y), x + 1, total)


EXP = primitive(
    np.exp, direct("Exp"), api="exp", ulp={"float16": 1, "float32": 4, "float64": 4}
)
EXP2 = primitive(np.exp2, formula(_exp2), ulp={"float32": 2, "float64": 2})
EXPM1 = primitive(
    np.expm1,
    formula(expm1, double=True),
    api="expm1",
    ulp={"float16": 1, "float32": 2, "float64": 8},
)
LOG = primitive(
    np.log, direct("Log"), api="log", ulp={"float16": 1, "float32": 4, "float64": 4}
)
LOG2 = primitive(np.log2, _log_of_base(2.0), api="log2", ulp={"float32": 2, "float64": 6})
LOG10 = primitive(
    np.log10, _log_of_base(10.0), api="log10", ulp={"float16": 1, "float32": 2, "float64": 6}
)
LOG1P = primitive(
    np.log1p, formula(log1p, double=True), api="log1p", ulp={"float32": 2, "float64": 6}
)
CBRT = primitive(
    np.cbrt, formula(_cbrt, double=True), ulp={"float16": 1, "float32": 2, "float64": 2}
)
HYPOT = primitive(
    np.hypot, formula(_hypot, double=True), api="hypot", ulp={"float32": 1, "float64": 3}
)
#: in units of 1.0: small results have lost digits to cancellation, here and in NumPy
_CANCELS: Final = {"float32": 8.0, "float64": 8.0}
LOGADDEXP = primitive(
    np.logaddexp, formula(_logaddexp, double=True), api="logaddexp", ulp=_CANCELS, floor=1.0
)
LOGADDEXP2 = primitive(
    np.logaddexp2, formula(_logaddexp2, double=True), ulp=_CANCELS, floor=1.0
)

ROWS: list[Function | Ufunc] = [
    EXP, EXP2, EXPM1, LOG, LOG2, LOG10, LOG1P, CBRT, HYPOT, LOGADDEXP, LOGADDEXP2,
]  # fmt: skip
