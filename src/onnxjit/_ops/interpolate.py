# SPDX-License-Identifier: Apache-2.0
"""Functions given by samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import COMPLEX128, FLOAT64, INT64

from . import elementwise as ew
from .cast import cast
from .complex_parts import imag_part, is_complex, make_complex, real_part
from .convert import as_array
from .gather import gather
from .row import Function, Ufunc, function
from .samples import call, calls, within
from .structure import concat, is_zero, squeeze, take_range

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


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
    (...) float64, or complex128 for complex values

    Raises
    ------
    ValueError
        There are no samples, or unequally many places and values.
    """
    from .search import searchsorted

    is_folded = period is not None
    places, places_x = (_real(as_array(v), drop_parts=is_folded) for v in (x, xp))
    values = as_array(fp)
    _check_samples(places_x, values, period)
    if is_complex(values):
        values = cast(values, COMPLEX128)
        return _interpolated_parts(places, places_x, values, (left, right), period)
    values = cast(values, FLOAT64)
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


def _real(x: Value, *, drop_parts: bool) -> Value:
    """Return places as float64; with a period NumPy drops imaginary parts.

    Raises
    ------
    TypeError
        They are complex; NumPy's message.
    """
    if is_complex(x) and not drop_parts:
        np.empty(0, x.dtype.numpy).astype(np.float64, casting="safe")
    return cast(x, FLOAT64)


def _interpolated_parts(
    x: Value, xp: Value, fp: Value, ends: tuple[Any, Any], period: Any
) -> Value:
    """Interpolate real and imaginary parts; a place that is NaN gives NaN + 0i."""
    wide = [None if v is None else cast(as_array(v), COMPLEX128) for v in ends]

    def of(part: Callable[[Value], Value]) -> Value:
        left, right = (None if v is None else part(v) for v in wide)
        return interp(x, xp, part(fp), left, right, period)

    re, im = of(real_part), of(imag_part)
    is_nan = ew.logical_and(ew.isnan(x), ew.greater(xp.shape[0], 1))
    return make_complex(re, ew.where(is_nan, 0.0, im))


def _check_samples(xp: Value, fp: Value, period: Any) -> None:
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
