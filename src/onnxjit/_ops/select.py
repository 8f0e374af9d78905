# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that choose elements or keep them in bounds."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy._core import umath as _umath

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import BOOL, FLOAT64, INT64, DType

from . import elementwise as ew
from .cast import cast
from .checks import fail_where_outside
from .complex_base import loop, parts, pick
from .complex_parts import imag_part, is_complex, make_complex, real_part
from .convert import as_array, as_size, as_strong
from .elementwise_base import Term, joined_shape, known_scalar, primitive
from .elementwise_where import choose as choose_value
from .gather import gather_elements
from .row import Function, Ufunc, function
from .samples import call, calls, vectors, within
from .structure import broadcast_to, concat, squeeze, take_range, unsqueeze
from .ufunc import promoted, result_type, ufunc_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value


__all__ = ["ROWS", "clip", "select", "where"]

ROWS: list[Function | Ufunc] = []
_MISSING: Final = object()
#: powers of ten beyond it are infinite
_MOST_DECIMALS: Final = 308


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
    a, b = _choice(x), _choice(y)
    dtype = result_type(a, b)
    return ew.where(as_array(condition), _wrapped(a, dtype), _wrapped(b, dtype))


def _choice(x: Any) -> Any:
    """Return a choice as a value; Python numbers stay weak."""
    return x if type(x) in {int, float, complex} else as_array(x)


def _wrapped(x: Any, dtype: DType) -> Any:
    """Return a Python int that is cast to integers; what does not fit wraps."""
    if type(x) is int and dtype.kind in "iu":
        return np.asarray(x).astype(dtype.numpy)
    return x


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
    first = [_choice(c) for c in choicelist]
    dtype = result_type(*first, _choice(default))
    for given in choicelist:
        # NumPy makes arrays of the numbers, which then may not fit
        if type(given) is int and not np.can_cast(np.int64, dtype.numpy, "same_kind"):
            msg = (
                f"Cannot cast array data from dtype('int64') to {dtype.numpy!r} "
                "according to the rule 'same_kind'"
            )
            raise TypeError(msg)
    *choices, result = promoted(*first, _wrapped(_choice(default), dtype))
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
    place: Value = cast(a, INT64)
    fail_where_outside(place, n)
    return place


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
        What an index out of range does.

    Raises
    ------
    ValueError
        With "raise", an index is out of range.

    Notes
    -----
    GatherElements; with "raise" also Less, Or and ReduceMax.
    """
    index = as_array(a)
    if isinstance(choices, (list, tuple)):
        values = promoted(*map(as_array, choices))
    else:
        stacked = as_array(choices)
        values = [squeeze(v, [0]) for v in _rows(stacked)]
    np.empty(0, index.dtype.numpy).astype(np.intp, casting="safe")
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


@loop(CLIP)
def _clip_complex(x: Value, low: Value, high: Value) -> Value:
    """Raise, then lower: compare real parts, imaginary ones where those are equal."""
    is_raised = _before(low, x)
    raised = choose_value(ew.logical_or(ew.isnan(x), is_raised), x, low)
    is_kept = ew.logical_or(ew.isnan(raised), _before(raised, high))
    return choose_value(is_kept, raised, high)


def _before(x: Value, y: Value) -> Value:
    a, b, c, d = parts(x, y)
    return pick(a.equals(c), b < d, a < c).value


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
    copy: bool = True,  # where it is false, the caller writes
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Value:
    """Return numbers in place of NaN and infinities.

    Parameters
    ----------
    x : (...) array
        Values, parts of complex ones; those of other dtypes than floats are returned as they
        are.
    copy : bool
        False writes the result into `x`.
    nan, posinf, neginf : (...) array
        The numbers; the largest and smallest of the dtype for None.

    Notes
    -----
    IsNaN, Where; Min and Max for the default infinities.
    """
    value = as_array(x)
    if is_complex(value):
        kept = (copy, nan, posinf, neginf)
        return make_complex(*(nan_to_num(p(value), *kept) for p in (real_part, imag_part)))
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


# --- rounding ----------------------------------------------------------------------------


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
def round_(a: Any, decimals: Any = 0) -> Value:
    """Return values rounded to a number of decimals, halves to even.

    Parameters
    ----------
    a : (...) array
        Values, or parts of complex ones; integers change only for negative `decimals`.
    decimals : int
        How many; negative ones count before the point.

    Notes
    -----
    Mul, Round, Div: NumPy's own steps, with its rounding errors.
    """
    x = as_array(a)
    if is_complex(x):
        return make_complex(*(round_(p(x), decimals) for p in (real_part, imag_part)))
    decimals = operator.index(as_size(decimals, "decimals"))
    is_integer = x.dtype.kind in "iu"
    if decimals >= 0 and is_integer:
        return x
    if decimals == 0:
        return ew.rint(x)  # type: ignore[no-any-return]
    factor = 10.0 ** abs(decimals) if abs(decimals) <= _MOST_DECIMALS else np.inf
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


ROWS.append(CLIP)
