# SPDX-License-Identifier: Apache-2.0
"""What the loops over complex numbers share: arithmetic on their parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import FOLD_LIMIT, running_trace
from onnxjit._core.dtypes import BOOL, COMPLEX128, PART, DType
from onnxjit._core.source import user_level

from . import elementwise_arithmetic as arithmetic
from . import elementwise_exponential as exponential
from . import elementwise_float as floating
from . import elementwise_logical as logical
from . import elementwise_trigonometric as trigonometric
from .cast import cast
from .complex_parts import imag_part, is_complex, make_complex, real_part, zeros_of
from .elementwise_where import choose

if TYPE_CHECKING:
    from onnxjit._core.program import Value

    from .row import Ufunc

__all__ = [
    "Real", "arcsinh", "arctan2", "cast_complex", "copysign", "cos", "cosh", "elementary",
    "exp", "expm1", "floor", "hypot", "joined", "log", "log1p", "loop", "parts", "pick",
    "rint", "sin", "sinh", "sqrt",
]  # fmt: skip

Loop = Callable[..., Any]
Formula = Callable[["Real", "Real"], "tuple[Real, Real]"]


class Real:
    """A real value with arithmetic, so that a formula on parts reads like the formula.

    Numbers next to it become constants of its dtype.
    """

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value: Final = value

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.value.dtype

    def const(self, number: Any) -> Real:
        """Return a constant of this dtype."""
        trace = running_trace((self.value,))
        return Real(trace.constant(np.asarray(number, self.dtype.numpy)))

    def like(self, other: Any) -> Real:
        """Return a term as it is, a number as a constant."""
        return other if isinstance(other, Real) else self.const(other)

    def apply(self, row: Ufunc, *others: Any) -> Real:
        """Apply a ufunc of one result to this term and others."""
        return Real(row.implementation(self.value, *(self.like(x).value for x in others)))

    def __add__(self, other: Any) -> Real:
        return self.apply(arithmetic.ADD, other)

    def __sub__(self, other: Any) -> Real:
        return self.apply(arithmetic.SUBTRACT, other)

    def __mul__(self, other: Any) -> Real:
        return self.apply(arithmetic.MULTIPLY, other)

    def __truediv__(self, other: Any) -> Real:
        return self.apply(arithmetic.DIVIDE, other)

    def __radd__(self, other: Any) -> Real:
        return self.like(other) + self

    def __rsub__(self, other: Any) -> Real:
        return self.like(other) - self

    def __rmul__(self, other: Any) -> Real:
        return self.like(other) * self

    def __rtruediv__(self, other: Any) -> Real:
        return self.like(other) / self

    def __neg__(self) -> Real:
        return self.apply(arithmetic.NEGATIVE)

    def __abs__(self) -> Real:
        return self.apply(arithmetic.ABSOLUTE)

    def __lt__(self, other: Any) -> Real:
        return self.apply(logical.LESS, other)

    def __le__(self, other: Any) -> Real:
        return self.apply(logical.LESS_EQUAL, other)

    def __gt__(self, other: Any) -> Real:
        return self.apply(logical.GREATER, other)

    def __ge__(self, other: Any) -> Real:
        return self.apply(logical.GREATER_EQUAL, other)

    def equals(self, other: Any) -> Real:
        """Compare for equality (bool)."""
        return self.apply(logical.EQUAL, other)

    def __and__(self, other: Real) -> Real:
        return self.apply(logical.LOGICAL_AND, other)

    def __or__(self, other: Real) -> Real:
        return self.apply(logical.LOGICAL_OR, other)

    def __invert__(self) -> Real:
        return self.apply(logical.LOGICAL_NOT)

    def larger(self, other: Real) -> Real:
        """Return the larger of two, NaN if one is."""
        return self.apply(arithmetic.MAXIMUM, other)

    def smaller(self, other: Real) -> Real:
        """Return the smaller of two, NaN if one is."""
        return self.apply(arithmetic.MINIMUM, other)

    def is_nan(self) -> Real:
        """Test for NaN (bool)."""
        return self.apply(logical.ISNAN)

    def is_inf(self) -> Real:
        """Test for an infinity of either sign (bool)."""
        return self.apply(logical.ISINF)

    def is_finite(self) -> Real:
        """Test for a finite number (bool)."""
        return self.apply(logical.ISFINITE)


def pick(condition: Real, x: Any, y: Any) -> Real:
    """Choose by a condition; one of the two is a term."""
    like: Real = x if isinstance(x, Real) else y
    return Real(choose(condition.value, like.like(x).value, like.like(y).value))


def _of(row: Ufunc) -> Callable[..., Real]:
    """Return a ufunc as a function of terms."""

    def function(x: Real, *others: Real) -> Real:
        made: Real = x.apply(row, *others)
        return made

    return function


arctan2 = _of(trigonometric.ARCTAN2)
arcsinh = _of(trigonometric.ARCSINH)
copysign = _of(floating.COPYSIGN)
cos = _of(trigonometric.COS)
cosh = _of(trigonometric.COSH)
exp = _of(exponential.EXP)
expm1 = _of(exponential.EXPM1)
hypot = _of(exponential.HYPOT)
log = _of(exponential.LOG)
log1p = _of(exponential.LOG1P)
floor = _of(arithmetic.FLOOR)
rint = _of(arithmetic.RINT)
sin = _of(trigonometric.SIN)
sinh = _of(trigonometric.SINH)
sqrt = _of(arithmetic.SQRT)


def parts(*values: Value) -> list[Real]:
    """Return real and imaginary part of each value in turn."""
    return [Real(part(z)) for z in values for part in (real_part, imag_part)]


def joined(re: Real, im: Real) -> Value:
    """Return complex numbers of their parts."""
    return make_complex(re.value, im.value)


def _folded(row: Ufunc, operands: tuple[Value, ...]) -> Any:
    """Return what NumPy gives for small constants, else None."""
    arrays: list[Any] = [x.known for x in operands]
    if any(a is None for a in arrays) or sum(a.nbytes for a in arrays) > FOLD_LIMIT:
        return None
    trace = running_trace(operands)
    with np.errstate(all="ignore"):
        made = row.numpy(*arrays)
    if isinstance(made, tuple):
        return tuple(trace.constant(np.asarray(a)) for a in made)
    return trace.constant(np.asarray(made))


def loop(*rows: Ufunc, ulp: float = 0.0, floor: float = 0.0) -> Callable[[Loop], Loop]:
    """Add the decorated function to rows as what they do to complex operands.

    It is called as their implementations are.  What is known while tracing, NumPy computes.

    Parameters
    ----------
    rows : Ufunc
        The rows.
    ulp : float
        Largest accepted error of a part, in units in the last place of the larger part.
    floor : float
        The units are those of this number at least.
    """

    def add(on_complex: Loop) -> Loop:
        for row in rows:
            row.implementation = _chosen(row, row.implementation, on_complex)
            row.on_complex = ulp, floor
        return on_complex

    return add


def elementary(row: Ufunc, *, ulp: float) -> Callable[[Formula], Formula]:
    """Add the decorated formula to a row: it takes and returns parts, in float64."""

    def add(formula: Formula) -> Formula:
        def on_complex(z: Value) -> Value:
            return cast(joined(*formula(*parts(cast(z, COMPLEX128)))), z.dtype)

        loop(row, ulp=ulp)(on_complex)
        return formula

    return add


def _chosen(row: Ufunc, on_real: Loop, on_complex: Loop) -> Loop:
    def implementation(*operands: Value) -> Any:
        if operands[0].dtype.kind != "c":
            return on_real(*operands)
        folded = _folded(row, operands)
        return on_complex(*operands) if folded is None else folded

    return implementation


_DISCARDS: Final = "Casting complex values to real discards the imaginary part"


def cast_complex(x: Value, dtype: DType) -> Value:
    """Return a value of another dtype, where one of the two is complex.

    Warns
    -----
    numpy.exceptions.ComplexWarning
        An imaginary part is lost; while tracing, not in each call.
    """
    if dtype is BOOL:
        a, b = parts(x)
        return (~(a.equals(0) & b.equals(0))).value
    if dtype.kind != "c":
        warnings.warn(_DISCARDS, np.exceptions.ComplexWarning, stacklevel=user_level())
        return cast(real_part(x), dtype)
    re = cast(real_part(x), PART[dtype])
    return make_complex(re, cast(imag_part(x), PART[dtype]) if is_complex(x) else zeros_of(re))
