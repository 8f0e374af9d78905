# SPDX-License-Identifier: Apache-2.0
"""Running sums and products, differences, and sums of trapezoids."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import DimLike, dim_max
from onnxjit._core.dtypes import BOOL, DType

from .cast import cast
from .convert import as_array, normalize_axis
from .elementwise import add, divide, isnan, multiply, not_equal, subtract
from .elementwise import where as pick
from .row import NO_VALUE, Function, Ufunc, function
from .samples import call, calls, within
from .structure import as_1d, broadcast_to, concat, reshape, take_range
from .ufunc import promoted
from .ufunc_methods import ufunc_accumulate, ufunc_reduce

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS", "diff", "neighbours", "step"]

ROWS: list[Function | Ufunc] = []


# --- running sums and products ---------------------------------------------------------------


def _along(ufunc: np.ufunc, a: Any, axis: Any, dtype: Any) -> Value:
    """Accumulate along an axis, of the flattened array for None."""
    x = as_array(a)
    if axis is None or x.ndim == 0:
        if axis is not None:
            normalize_axis(axis, max(x.ndim, 1))
        return ufunc_accumulate(ufunc, as_1d(x), 0, dtype)
    return ufunc_accumulate(ufunc, x, axis, dtype)


@function(
    ROWS, np.cumsum, ulp=within(1),
    samples=calls(lambda m: [
        call(m.wide(4, 3)), call(m.wide(4, 3), 0), call(m.wide(4, 3), axis=-1),
        call(m(5), dtype="f8"), call(m()), call(m(0, 3), axis=0), call(m(2, 3), 1, "i2"),
    ]),
)  # fmt: skip
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """Return running sums.

    Parameters
    ----------
    a : (..., n, ...) array
        Values; small integers and bool are added as 64-bit integers.
    axis : int, optional
        Axis; None flattens.
    dtype : dtype, optional
        What is added.

    Returns
    -------
    (..., n, ...) array
        Sums up to each element.

    Notes
    -----
    CumSum: bit-equal to NumPy's for float32 and float64; float16 keeps float32 sums, which
    NumPy rounds at each step.
    """
    return _along(np.add, a, axis, dtype)


@function(
    ROWS, np.cumprod, ulp=within(1),
    samples=calls(lambda m: [
        call(m.wide(4, 3)), call(m.wide(4, 3), 0), call(m.wide(4, 3), axis=-1),
        call(m(5), dtype="f8"), call(m()), call(m(0, 3), axis=0), call(m(2, 3), 1, "i2"),
    ]),
)  # fmt: skip
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """Return running products; parameters as in `cumsum`.

    Notes
    -----
    CumProd, before opset 26 a Scan.
    """
    return _along(np.multiply, a, axis, dtype)


def _cumulative(ufunc: np.ufunc, x: Any, axis: Any, dtype: Any, include_initial: Any) -> Value:
    value = as_array(x)
    if value.ndim == 0:
        value = reshape(value, (1,))
    if axis is None:
        if value.ndim >= 2:
            msg = (
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
            raise ValueError(msg)
        axis = 0
    totals = ufunc_accumulate(ufunc, value, axis, dtype)
    if not include_initial:
        return totals
    at = normalize_axis(axis, value.ndim)
    shape = [1 if i == at else n for i, n in enumerate(totals.shape)]
    start = broadcast_to(as_value(ufunc.identity, totals.dtype), shape)
    return concat([start, totals], at)


@function(
    ROWS, np.cumulative_sum, api="cumulative_sum", ulp=within(1),
    samples=calls(lambda m: [
        call(m.wide(5)), call(m.wide(4, 3), axis=0),
        call(m.wide(4, 3), axis=-1, include_initial=True), call(m(5), dtype="f8"),
        call(m(4, 3)), call(m(0)),
    ]),
)  # fmt: skip
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Value:
    """Return running sums; 0 comes first if asked.

    Raises
    ------
    ValueError
        No axis is given for an array of several.

    Notes
    -----
    CumSum.
    """
    return _cumulative(np.add, x, axis, dtype, include_initial)


@function(
    ROWS, np.cumulative_prod, api="cumulative_prod", ulp=within(1),
    samples=calls(lambda m: [
        call(m.wide(5)), call(m.wide(4, 3), axis=0),
        call(m.wide(4, 3), axis=-1, include_initial=True), call(m(5), dtype="f8"),
        call(m(4, 3)), call(m(0)),
    ]),
)  # fmt: skip
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Value:
    """Return running products; 1 comes first if asked.

    Raises
    ------
    ValueError
        No axis is given for an array of several.

    Notes
    -----
    CumProd, before opset 26 a Scan.
    """
    return _cumulative(np.multiply, x, axis, dtype, include_initial)


def without_nan(a: Any, fill: float) -> Value:
    """Return an array with NaN replaced."""
    x = as_array(a)
    if x.dtype.kind not in "fc":
        return x
    return pick(isnan(x), as_value(fill, x.dtype), x)


@function(
    ROWS, np.nancumsum, ulp=within(1),
    samples=calls(lambda m: [
        call(m.wide(4, 3)), call(m.wide(4, 3), 0), call(m.wide(4, 3), axis=-1),
        call(m(5), dtype="f8"), call(m()), call(m(0, 3), axis=0), call(m(2, 3), 1, "i2"),
        call(m.special(4, 3), 0),
    ]),
)  # fmt: skip
def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """Return running sums in which NaN counts as 0; parameters as in `cumsum`."""
    return _along(np.add, without_nan(a, 0), axis, dtype)


@function(
    ROWS, np.nancumprod, ulp=within(1),
    samples=calls(lambda m: [
        call(m.wide(4, 3)), call(m.wide(4, 3), 0), call(m.wide(4, 3), axis=-1),
        call(m(5), dtype="f8"), call(m()), call(m(0, 3), axis=0), call(m(2, 3), 1, "i2"),
    ]),
)  # fmt: skip
def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """Return running products in which NaN counts as 1; parameters as in `cumsum`."""
    return _along(np.multiply, without_nan(a, 1), axis, dtype)


# --- differences -----------------------------------------------------------------------------


def neighbours(x: Value, axis: int) -> tuple[Value, Value]:
    """Return all but the last and all but the first element of an axis."""
    n = x.shape[axis]
    less: DimLike = dim_max(n - 1, 0)
    if isinstance(n, int) and n == 0:
        return x, x
    return take_range(x, axis, 0, less), take_range(x, axis, 1, less)


def step(x: Value, axis: int) -> Value:
    """Return each element minus the one before, or whether they differ for bool."""
    low, high = neighbours(x, axis)
    result: Value = (not_equal if x.dtype is BOOL else subtract)(high, low)
    return result


def _joined(x: Value, axis: int, prepend: Any, append: Any) -> Value:
    parts: list[Value] = []
    for end in (prepend, x, append):
        if end is NO_VALUE:
            continue
        piece = as_array(end)
        if piece.ndim == 0:
            shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
            piece = broadcast_to(cast(piece, piece.dtype), shape)
        parts.append(piece)
    return concat(promoted(*parts), axis) if len(parts) > 1 else x


@function(
    ROWS, np.diff, api="diff",
    samples=calls(lambda m: [
        call(m.special(6)), call(m(3, 4), axis=0), call(m(6), 2),
        call(m(3, 4), prepend=m(3, 1)), call(m(4), append=1), call(m(4), 0), call(m(1)),
        call(m(3, 2), 3), call(m()),
    ]),
)  # fmt: skip
def diff(
    a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Value:
    """Return the n-th differences along an axis.

    Parameters
    ----------
    a : (..., m, ...) array
        Values.
    n : int
        How many times.
    axis : int
        Axis.
    prepend, append : array
        What is put before and after the values first.

    Raises
    ------
    ValueError
        `n` is negative, or the array is 0-d.

    Notes
    -----
    Slice, Sub.
    """
    order = operator.index(n)
    if order == 0:
        return as_array(a)
    if order < 0:
        msg = f"order must be non-negative but got {order!r}"
        raise ValueError(msg)
    x = as_array(a)
    if x.ndim == 0:
        msg = "diff requires input that is at least one dimensional"
        raise ValueError(msg)
    at = normalize_axis(axis, x.ndim)
    x = _joined(x, at, prepend, append)
    for _ in range(order):
        x = step(x, at)
    return x


def _end(x: Any, dtype: DType, name: str) -> Value:
    value = as_array(x)
    if not np.can_cast(value.dtype.numpy, dtype.numpy, casting="same_kind"):
        msg = (
            f"dtype of `{name}` must be compatible with input `ary` "
            "under the `same_kind` rule."
        )
        raise TypeError(msg)
    return as_1d(cast(value, dtype))


@function(
    ROWS, np.ediff1d,
    samples=calls(lambda m: [
        call(m.special(6)), call(m(2, 3)), call(m(4), to_end=m(2)),
        call(m(4), to_begin=m(1), to_end=m(2, 2)), call(m(0)), call(m(1)),
    ]),
)  # fmt: skip
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Value:
    """Return the differences of the flattened array, with values before and after them.

    Raises
    ------
    TypeError
        The values do not fit the array's dtype.

    Notes
    -----
    Slice, Sub, Concat.
    """
    x = as_1d(as_array(ary))
    low, high = neighbours(x, 0)
    parts: list[Value] = [subtract(high, low)]
    if to_begin is not None:
        parts.insert(0, _end(to_begin, x.dtype, "to_begin"))
    if to_end is not None:
        parts.append(_end(to_end, x.dtype, "to_end"))
    return concat(parts, 0) if len(parts) > 1 else parts[0]


@function(
    ROWS, np.trapezoid, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m(6)), call(m(3, 4), axis=0), call(m(6), dx=0.5), call(m(3, 4), m(4)),
        call(m(3, 4), m(3), axis=0), call(m(3, 4), m(3, 4)), call(m(1)),
    ]),
)  # fmt: skip
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Value:
    """Integrate along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : (..., n, ...) array
        Values.
    x : (n) or (..., n, ...) array, optional
        Places of the values.
    dx : number
        Spacing, without places.
    axis : int
        Axis.

    Notes
    -----
    Slice, Add, Mul, Div, ReduceSum.
    """
    values = as_array(y)
    at = normalize_axis(axis, values.ndim)
    width: Any = dx
    if x is not None:
        places = as_array(x)
        if places.ndim == 1:
            width = step(places, 0)
            shape = [width.shape[0] if i == at else 1 for i in range(values.ndim)]
            width = reshape(width, shape)
        else:
            width = step(places, normalize_axis(axis, places.ndim))
    low, high = neighbours(values, at)
    pieces: Any = divide(multiply(width, add(high, low)), 2.0)
    return ufunc_reduce(np.add, pieces, at)
