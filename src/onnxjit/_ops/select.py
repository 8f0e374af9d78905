# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that choose elements or keep them in bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy._core import umath as _umath

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import BOOL, FLOAT64, INT64
from onnxjit.errors import UnsupportedError

from . import elementwise as ew
from .cast import cast
from .complex_parts import imag_part, is_complex, real_part
from .convert import as_array, as_strong
from .elementwise_base import Term, joined_shape, known_scalar, primitive
from .elementwise_where import choose as choose_value
from .gather import gather, gather_elements
from .row import Function, Ufunc, function
from .samples import call, calls, vectors, within
from .structure import broadcast_to, concat, is_zero, squeeze, take_range, unsqueeze
from .ufunc import promoted, ufunc_call
from .views import PartView, ReshapeView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

    from .view import View

__all__ = ["ROWS", "clip", "select", "where"]

ROWS: list[Function | Ufunc] = []
_MISSING: Final = object()


# --- where, select, choose ----------------------------------------------------------------


@function(
    ROWS, np.where, api="where",
    samples=calls(lambda m: [
        call(m.mask(4), m.special(4), m(4)), call(m.mask(3, 1), m(4), 1), call(m.special(6)),
        call(m.mask(), m(), m.scalar(1)), call(m(4), m(4), np.ones(4, "f4")),
        call(m.mask(0), m(0), 0), call(True, m(2), m(2)), call(m.mask(2, 3)),
        call(m.mask(3), 1, 2.5),
    ]),
)  # fmt: skip
def where(condition: Any, x: Any = _MISSING, y: Any = _MISSING, /) -> Any:
    """Return elements of `x` where a condition holds, else of `y`.

    Parameters
    ----------
    condition : (...) array
        Counts as true where it is not 0.
    x, y : (...) array
        At their common dtype.  Without them the places of true elements are returned.

    Notes
    -----
    Where, and Mul where -0.0 can be chosen (onnxruntime drops its sign).
    """
    if x is _MISSING and y is _MISSING:
        from .search import nonzero

        return nonzero(condition)
    if x is _MISSING or y is _MISSING:
        msg = "either both or neither of x and y should be given"
        raise ValueError(msg)
    return ew.where(as_array(condition), _choice(x), _choice(y))


def _choice(x: Any) -> Any:
    """Return a choice as a value; Python numbers stay weak."""
    return x if type(x) in {int, float, complex} else as_array(x)


@function(
    ROWS, np.select,
    samples=calls(lambda m: [
        call([m.mask(4), m.mask(4)], [m.special(4), m(4)]), call([m.mask(4)], [m(4)], 1),
        call([m.mask(2, 3), m.mask(3)], [m(3), 1], default=m.scalar(1)),
        call([m.mask(3)], [m(3)], m(3)), call([], []),
    ]),
)  # fmt: skip
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Value:
    """Return from each choice the elements where its condition is the first that holds.

    Parameters
    ----------
    condlist : sequence of (...) bool
        Conditions.
    choicelist : sequence of (...) array
        As many choices.
    default : (...) array
        What is chosen where none holds.

    Raises
    ------
    ValueError
        There are no conditions, or not as many as choices.
    TypeError
        A condition is not bool.
    """
    if len(condlist) != len(choicelist):
        msg = "list of cases must be same length as list of conditions"
        raise ValueError(msg)
    if not condlist:
        msg = "select with an empty condition list is not possible"
        raise ValueError(msg)
    *choices, result = promoted(*map(_choice, (*choicelist, default)))
    for given in choicelist:
        # NumPy makes arrays of the numbers, which then may not fit
        if type(given) is int and not np.can_cast(np.int64, result.dtype.numpy, "same_kind"):
            msg = (
                f"Cannot cast array data from dtype('int64') to {result.dtype.numpy!r} "
                "according to the rule 'same_kind'"
            )
            raise TypeError(msg)
    conditions = [as_array(c) for c in condlist]
    for i, condition in enumerate(conditions):
        if condition.dtype is not BOOL:
            msg = f"invalid entry {i} in condlist: should be boolean ndarray"
            raise TypeError(msg)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = choose_value(condition, choice, result)
    return result


def _place(a: Value, n: Any, mode: str) -> Value:
    if mode == "wrap":
        return cast(ew.remainder(a, n), INT64)
    if mode == "clip":
        return cast(ew.minimum(ew.maximum(a, 0), n - 1), INT64)
    return cast(a, INT64)


@function(
    ROWS, np.choose, scalar=True,
    samples=calls(lambda m: [
        call(m.counts(3, 4), [m.special(4), m(4), m(4)]),
        call(m.places(9, 4), [m(4), m(4)], mode="wrap"),
        call(m.places(9, 2, 3), [m(3), 1], mode="clip"), call(m.counts(2), [m(3), m(3)]),
        call([1, 0], [m(2), m(2)]),
    ]),
)  # fmt: skip
def choose(a: Any, choices: Any, mode: str = "raise") -> Value:
    """Return, element by element, the choice that an index names.

    Parameters
    ----------
    a : (...) integers
        Which choice.
    choices : sequence of (...) array, or (n, ...) array
        At their common dtype, broadcast with `a`.
    mode : {"raise", "wrap", "clip"}
        What an index out of range does.  With "raise" the run fails on one too large;
        negative ones count from the end, where NumPy raises.

    Notes
    -----
    GatherElements.
    """
    index = as_array(a)
    if isinstance(choices, (list, tuple)):
        values = promoted(*map(as_array, choices))
    else:
        stacked = as_array(choices)
        values = [squeeze(v, [0]) for v in _rows(stacked)]
    np.empty(0, index.dtype.numpy).astype(np.intp, casting="same_kind")
    shape = joined_shape(index.shape, *(v.shape for v in values))
    data = concat([unsqueeze(broadcast_to(v, shape), [0]) for v in values], 0)
    place = _place(index, len(values), mode)
    place = unsqueeze(broadcast_to(place, shape), [0])
    return squeeze(gather_elements(data, place, 0), [0])


def _rows(x: Value) -> list[Value]:
    count = x.shape[0]
    if isinstance(count, Dim):
        count = int(count)
    return [take_range(x, 0, i, 1) for i in range(count)]


# --- bounds -------------------------------------------------------------------------------


def _clip_rule(e: Emit, equation: Equation, x: Handle, low: Handle, high: Handle) -> Handle:
    """Max and Min; Clip where the bounds are known numbers (it overlooks a NaN bound)."""
    if x.dtype is BOOL:
        return ((Term(e, x) | Term(e, low)) & Term(e, high)).h
    known = [known_scalar(v) for v in equation.inputs[1:]]
    zero_rank = all(v.ndim == 0 for v in equation.inputs[1:])
    if zero_rank and all(k is not None and not math.isnan(k) for k in known):
        return e.op("Clip", x, low, high)
    return e.op("Min", e.op("Max", x, low), high)


#: the ufunc behind np.clip
CLIP = primitive(_umath.clip, _clip_rule)  # type: ignore[attr-defined]


def _bound(a: Value, bound: Any, *, above: bool) -> Any:
    """Return a bound, None when it is a Python int that bounds nothing."""
    if bound is None:
        return None
    if type(bound) is int and a.dtype.kind in "iu":
        limits = np.iinfo(a.dtype.name)
        if bound >= limits.max if above else bound <= limits.min:
            return None
    return _choice(bound)


_TWICE: Final = (
    "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
    "forbidden."
)


@function(
    ROWS, np.clip, api="clip", scalar=True, ties=True,
    samples=calls(lambda m: [
        call(m.special(9), 0, 1), call(m(9), m.scalar(1), m.scalar(3)),
        call(m(3, 4), m(4), None), call(m(5), None, 2), call(m(), 0, 1),
        call(m.scalar(1), 0, 2), call(m(5), min=1, max=m(5)), call(m(5)),
        call(m(5), -(2**40), 2**40),
    ]),
)  # fmt: skip
def clip(
    a: Any,
    a_min: Any = _MISSING,
    a_max: Any = _MISSING,
    *,
    min: Any = _MISSING,
    max: Any = _MISSING,
    **kwargs: Any,
) -> Value:
    """Return values kept between two bounds.

    Parameters
    ----------
    a : (...) array
        Values; NaN stays NaN.
    a_min, a_max : (...) array or None
        Bounds; a NaN bound gives NaN, and the upper one wins over a larger lower one.
    min, max : (...) array or None
        The same under the array API's names.
    **kwargs
        Keywords of the ufunc: ``dtype``, ``casting``, ``where``.

    Notes
    -----
    Max, Min; Clip for known bounds.
    """
    if a_min is _MISSING and a_max is _MISSING:
        a_min = None if min is _MISSING else min
        a_max = None if max is _MISSING else max
    elif a_min is _MISSING or a_max is _MISSING:
        name = "a_min" if a_min is _MISSING else "a_max"
        msg = f"clip() missing 1 required positional argument: '{name}'"
        raise TypeError(msg)
    elif min is not _MISSING or max is not _MISSING:
        raise ValueError(_TWICE)
    x = as_strong(a)
    low, high = _bound(x, a_min, above=False), _bound(x, a_max, above=True)
    if low is None and high is None:
        unbounded: Value = ew.positive(x, **kwargs)
        return unbounded
    if low is None:
        return ew.minimum(x, high, **kwargs)  # type: ignore[no-any-return]
    if high is None:
        return ew.maximum(x, low, **kwargs)  # type: ignore[no-any-return]
    result: Value = ufunc_call(CLIP, (x, low, high), **kwargs)
    return result


@function(
    ROWS, np.nan_to_num, scalar=True, copies="copy",
    samples=calls(lambda m: [
        call(m.special(20)), call(m.special(20), nan=1.0, posinf=2.0, neginf=-2.0), call(m()),
        call(m.scalar(1)), call(m(2, 0), copy=False),
    ]),
)  # fmt: skip
def nan_to_num(
    x: Any,
    copy: bool = True,  # noqa: ARG001  where it is false, the caller writes
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Value:
    """Return numbers in place of NaN and infinities.

    Parameters
    ----------
    x : (...) array
        Values; those of other dtypes than floats are returned as they are.
    copy : bool
        False writes the result into `x`.
    nan, posinf, neginf : (...) array
        The numbers; the largest and smallest of the dtype for None.

    Notes
    -----
    IsNaN, Where; Min and Max for the default infinities.
    """
    value = as_array(x)
    if value.dtype.kind != "f":
        return value
    limits = np.finfo(value.dtype.name)
    made = value
    if posinf is None:
        made = ew.minimum(made, limits.max)
    if neginf is None:
        made = ew.maximum(made, limits.min)
    for number, found in ((posinf, np.inf), (neginf, -np.inf)):
        if number is not None:
            made = _replaced(made, ew.equal(value, found), number)
    return _replaced(made, ew.isnan(value), nan)


def _replaced(x: Value, where_true: Value, number: Any) -> Value:
    """Do ``np.copyto(x, number, where=where_true)``."""
    new = cast(as_array(number), x.dtype)
    return choose_value(where_true, new, x)


# --- tests --------------------------------------------------------------------------------


_AMBIGUOUS: Final = (
    "This operation is not supported for {} values because it would be ambiguous."
)


def _infinite(x: Any, infinity: float) -> Value:
    value = as_array(x)
    if value.dtype.kind in "cU":
        raise TypeError(_AMBIGUOUS.format(value.dtype))
    if value.dtype.kind != "f":
        return _constant_of(value, answer=False)
    result: Value = ew.equal(value, infinity)
    return result


def _constant_of(x: Value, *, answer: bool) -> Value:
    return broadcast_to(as_value(answer), x.shape)


@function(ROWS, np.isneginf, scalar=True, samples=vectors())
def isneginf(x: Any) -> Value:
    """Return where values are minus infinity."""
    return _infinite(x, -np.inf)


@function(ROWS, np.isposinf, scalar=True, samples=vectors())
def isposinf(x: Any) -> Value:
    """Return where values are plus infinity."""
    return _infinite(x, np.inf)


@function(ROWS, np.isreal, scalar=True, samples=vectors())
def isreal(x: Any) -> Value:
    """Return where values have no imaginary part: everywhere, for real ones."""
    value = as_array(x)
    if is_complex(value):
        return ew.equal(imag_part(value), 0)  # type: ignore[no-any-return]
    return _constant_of(value, answer=True)


@function(ROWS, np.iscomplex, scalar=True, samples=vectors())
def iscomplex(x: Any) -> Value:
    """Return where values have an imaginary part: nowhere, for real ones."""
    value = as_array(x)
    if is_complex(value):
        return ew.not_equal(imag_part(value), 0)  # type: ignore[no-any-return]
    return _constant_of(value, answer=False)


# --- rounding and angles ------------------------------------------------------------------


@function(ROWS, np.fix, scalar=True, samples=vectors())
def fix(x: Any) -> Value:
    """Return values rounded toward 0."""
    result: Value = ew.trunc(as_array(x))
    return result


@function(
    ROWS, np.round, api="round", aliases=(np.around,), scalar=True,
    samples=calls(lambda m: [
        call(m.special(30)), call(m.wide(9), 2), call(m.wide(9), -1), call(m(3, 4)),
        call(m.scalar(1), 1), call(m(), decimals=0), call(m.special(9), 3), call(m(0)),
    ]),
)  # fmt: skip
def round_(a: Any, decimals: int = 0) -> Value:
    """Return values rounded to a number of decimals, halves to even.

    Parameters
    ----------
    a : (...) array
        Values; integers change only for negative `decimals`.
    decimals : int
        How many; negative ones count before the point.

    Notes
    -----
    Mul, Round, Div: NumPy's own steps, with its rounding errors.
    """
    x = as_array(a)
    is_integer = x.dtype.kind in "iu"
    if decimals >= 0 and is_integer:
        return x
    if decimals == 0:
        return ew.rint(x)  # type: ignore[no-any-return]
    factor = float(10.0 ** abs(decimals))
    steps = (ew.multiply, ew.divide) if decimals > 0 else (ew.divide, ew.multiply)
    out = cast(x, FLOAT64) if is_integer else x
    made = ew.rint(steps[0](x, factor, out=out))
    made = steps[1](made, factor, out=out)
    return cast(made, x.dtype)


@function(ROWS, np.sinc, scalar=True, ulp=within(8), floor=1.0, samples=vectors())
def sinc(x: Any) -> Value:
    """Return sin(pi x) / (pi x), 1 at 0.

    Notes
    -----
    NumPy's own steps: 0 is replaced by the dtype's epsilon.
    """
    y = ew.multiply(as_array(x), np.pi)
    eps = np.finfo(y.dtype.name).eps
    y = ew.where(y, y, eps)
    result: Value = ew.divide(ew.sin(y), y)
    return result


@function(
    ROWS, np.angle, scalar=True,
    samples=calls(lambda m: [
        call(m.special(9)), call(m(3, 4), deg=True), call(m.scalar(1)), call(m()),
    ]),
)  # fmt: skip
def angle(z: Any, deg: bool = False) -> Value:
    """Return the angle of numbers: 0 or pi for real ones.

    Parameters
    ----------
    z : (...) array
        Numbers.
    deg : bool
        Degrees instead of radians.
    """
    value = as_array(z)
    im = imag_part(value) if is_complex(value) else 0
    made: Value = ew.arctan2(im, real_part(value))
    return cast(ew.multiply(made, 180 / np.pi), made.dtype) if deg else made


@function(ROWS, np.real, view=True, api="real", samples=vectors())
def real(val: Any) -> View:
    """Return the real part (a view): all of it, for real values."""
    value = as_array(val)
    return PartView(0) if is_complex(value) else ReshapeView(value.shape)


@function(ROWS, np.imag, view=True, api="imag", samples=vectors())
def imag(val: Any) -> Value | View:
    """Return the imaginary part (a view): zeros, for real values."""
    value = as_array(val)
    if is_complex(value):
        return PartView(1)
    return broadcast_to(cast(as_value(0), value.dtype), value.shape)


# --- interpolation ------------------------------------------------------------------------


def _between(x: Value, xp: Value, fp: Value, place: Value) -> Value:
    """Return the line through two neighbouring samples; source: NumPy's ``arr_interp``."""
    last = xp.shape[0] - 1
    low = cast(ew.minimum(ew.maximum(place, 0), last), INT64)
    high = cast(ew.minimum(ew.maximum(ew.add(place, 1), 0), last), INT64)
    x0, x1, y0, y1 = (gather(v, i) for v in (xp, fp) for i in (low, high))
    slope = ew.divide(ew.subtract(y1, y0), ew.subtract(x1, x0))
    line = ew.add(ew.multiply(slope, ew.subtract(x, x0)), y0)
    other = ew.add(ew.multiply(slope, ew.subtract(x, x1)), y1)
    other = ew.where(ew.logical_and(ew.isnan(other), ew.equal(y0, y1)), y0, other)
    line = ew.where(ew.isnan(line), other, line)
    return ew.where(ew.equal(x, x0), y0, line)


def _periodic(x: Value, xp: Value, fp: Value, period: float) -> tuple[Value, Value, Value]:
    """Fold samples into one period and repeat the outer ones on the other side."""
    from .sort import argsort

    x, xp = ew.remainder(x, period), ew.remainder(xp, period)
    order = argsort(xp)
    xp, fp = gather(xp, order), gather(fp, order)
    n = xp.shape[0]
    ends = [take_range(v, 0, i, 1) for v in (xp, fp) for i in (n - 1, 0)]
    below, above = ew.subtract(ends[0], period), ew.add(ends[1], period)
    return x, concat([below, xp, above], 0), concat([ends[2], fp, ends[3]], 0)


@function(
    ROWS, np.interp, scalar=True, ulp=within(8),
    samples=calls(lambda m: [
        call(m(9), m.rising(4), m(4)), call(m.special(9), [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]),
        call(m.scalar(1), m.rising(3), m(3)),
        call(m(2, 3), m.rising(4), m(4), left=-1, right=9),
        call(m(5), m.positive(4), m(4), period=4), call(m(0), m.rising(3), m(3)),
    ]),
)  # fmt: skip
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Value:
    """Return a function given by samples, linear between them.

    Parameters
    ----------
    x : (...) array
        Where.
    xp : (n,) array
        Places of the samples, ascending (in any order with `period`).
    fp : (n,) array
        Values there.
    left, right : () array, optional
        Results below and above all places; the first and last value by default.
    period : float, optional
        The function repeats; `left` and `right` then have no meaning.

    Returns
    -------
    (...) float64

    Raises
    ------
    ValueError
        There are no samples, or unequally many places and values.
    """
    from .search import searchsorted

    places, places_x, values = (cast(as_array(v), FLOAT64) for v in (x, xp, fp))
    _check_samples(places_x, values, period)
    if period is not None:
        folded = _periodic(places, places_x, values, abs(float(period)))
        places, places_x, values = folded
        left = right = None
    place = ew.subtract(searchsorted(places_x, places, side="right"), 1)
    made = _between(places, places_x, values, place)
    n = places_x.shape[0]
    ends = [take_range(v, 0, i, 1) for i in (0, n - 1) for v in (places_x, values)]
    x0, y0, x1, y1 = (squeeze(v, [0]) for v in ends)
    low = y0 if left is None else cast(as_array(left), FLOAT64)
    high = y1 if right is None else cast(as_array(right), FLOAT64)
    made = ew.where(ew.less(places, x0), low, made)
    made = ew.where(ew.greater(places, x1), high, made)
    # of a single sample NumPy asks only whether a place is below or above
    is_nan = ew.logical_and(ew.isnan(places), ew.greater(n, 1))
    return ew.where(is_nan, places, made)


def _check_samples(xp: Value, fp: Value, period: Any) -> None:
    if fp.dtype.kind == "c":
        msg = "np.interp of complex samples is not carried"
        raise UnsupportedError(msg)
    if period is not None and period == 0:
        msg = "period must be a non-zero value"
        raise ValueError(msg)
    if xp.ndim != 1 or fp.ndim != 1:
        msg = "Data points must be 1-D sequences" if period is not None else _NOT_1D
        raise ValueError(msg)
    if is_zero(xp.shape[0]):
        msg = "array of sample points is empty"
        raise ValueError(msg)
    if xp.shape[0] != fp.shape[0]:
        msg = "fp and xp are not of the same length."
        raise ValueError(msg)


_NOT_1D: Final = "object too deep for desired array"

ROWS.append(CLIP)
