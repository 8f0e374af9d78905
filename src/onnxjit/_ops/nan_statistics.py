# SPDX-License-Identifier: Apache-2.0
"""Reductions that leave NaN out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dtypes import FLOAT64, INT64

from .arg import argmax, argmin
from .cast import cast
from .convert import as_array, as_dtype
from .cumulative import without_nan
from .elementwise import divide, isnan, less_equal, logical_not, sqrt, subtract
from .elementwise import where as pick
from .row import NO_VALUE, Function, Ufunc, function
from .samples import reductions, within
from .statistics import mean, prod, square_of_size, total, var, which_ddof
from .ufunc_methods import ufunc_reduce

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []
Flag = Any


@function(
    ROWS, np.nansum, scalar=True, ulp=within(4),
    samples=reductions(values="nearly", where=True, initial=True, dtype="f8"),
)  # fmt: skip
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Sum over axes, NaN as 0.

    Notes
    -----
    As the sum, and Where.
    """
    x = without_nan(a, 0)
    return total(x, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@function(
    ROWS, np.nanprod, scalar=True, ulp=within(4),
    samples=reductions(values="nearly", where=True, initial=True, dtype="f8"),
)  # fmt: skip
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Multiply over axes, NaN as 1.

    Notes
    -----
    As the product, and Where.
    """
    x = without_nan(a, 1)
    return prod(x, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def _extreme(
    ufunc: np.ufunc, a: Any, axis: Any, keepdims: Flag, rest: tuple[Any, Any]
) -> Value:
    return ufunc_reduce(ufunc, a, axis, None, keepdims, *rest)


@function(
    ROWS, np.nanmax, scalar=True, ties=True,
    samples=reductions(where=True, initial=True),
)  # fmt: skip
def nanmax(
    a: Any,
    axis: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Largest element over axes, NaN only where every element is.

    Notes
    -----
    IsNaN, Where, ReduceMax, ReduceMin.
    """
    return _extreme(np.fmax, a, axis, keepdims, (initial, where))


@function(
    ROWS, np.nanmin, scalar=True, ties=True,
    samples=reductions(where=True, initial=True),
)  # fmt: skip
def nanmin(
    a: Any,
    axis: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Smallest element over axes, NaN only where every element is.

    Notes
    -----
    IsNaN, Where, ReduceMin.
    """
    return _extreme(np.fmin, a, axis, keepdims, (initial, where))


@function(ROWS, np.nanargmax, scalar=True, samples=reductions(values="nearly", several=False))
def nanargmax(a: Any, axis: Any = None, *, keepdims: Flag = NO_VALUE) -> Value:
    """Return the first place of the largest element, NaN left out.

    Notes
    -----
    IsNaN, Where, TopK.  Where all are NaN the place is the first: NumPy's ValueError depends
    on data.
    """
    return argmax(without_nan(a, -np.inf), axis, keepdims=keepdims)


@function(ROWS, np.nanargmin, scalar=True, samples=reductions(values="nearly", several=False))
def nanargmin(a: Any, axis: Any = None, *, keepdims: Flag = NO_VALUE) -> Value:
    """Return the first place of the smallest element, NaN left out; see `nanargmax`."""
    return argmin(without_nan(a, np.inf), axis, keepdims=keepdims)


# --- moments ---------------------------------------------------------------------------------


def _check_inexact(dtype: Any) -> Any:
    if dtype is None:
        return None
    wanted = as_dtype(dtype)
    if wanted.kind not in "fc":
        msg = "If a is inexact, then dtype must be inexact"
        raise TypeError(msg)
    return wanted


def _by_count(x: Value, count: Value) -> Value:
    """Return ``x / count`` in the dtype of `x`, the division in float64 for float16."""
    wide = FLOAT64 if x.dtype.bits == 16 else x.dtype
    result: Value = divide(cast(x, wide), cast(count, wide))
    return cast(result, x.dtype)


def _present(x: Value, axis: Any, keepdims: Flag, where: Any) -> Value:
    """Count the elements that are not NaN."""
    return total(logical_not(isnan(x)), axis, np.int64, keepdims=keepdims, where=where)


@function(
    ROWS, np.nanmean, scalar=True, ulp=within(4),
    samples=reductions(values="nearly", where=True, dtype="f8"),
)  # fmt: skip
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Average over axes, NaN left out; NaN of nothing.

    Notes
    -----
    IsNaN, Where, ReduceSum, Div.
    """
    x = as_array(a)
    if x.dtype.kind not in "fc":
        return mean(x, axis, dtype, keepdims=keepdims, where=where)
    wanted = _check_inexact(dtype)
    count = _present(x, axis, keepdims, where)
    added = total(without_nan(x, 0), axis, wanted, keepdims=keepdims, where=where)
    return _by_count(added, count)


@function(
    ROWS, np.nanvar, scalar=True, ulp=within(16),
    samples=reductions(values="nearly", where=True, dtype="f8"),
)  # fmt: skip
def nanvar(  # noqa: PLR0913  NumPy's signature
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Flag = NO_VALUE,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Value:
    """Return the variance over axes, NaN left out.

    Notes
    -----
    IsNaN, Where, ReduceSum, Div, Sub, Mul.
    """
    x = as_array(a)
    if x.dtype.kind not in "fc":
        return var(
            x, axis, dtype, ddof=ddof, keepdims=keepdims, where=where, mean=mean,
            correction=correction,
        )  # fmt: skip
    wanted = _check_inexact(dtype)
    ddof = which_ddof(ddof, correction)
    missing = isnan(x)
    filled = without_nan(x, 0)
    count = _present(x, axis, True, where)
    if mean is NO_VALUE:
        added = total(filled, axis, wanted, keepdims=True, where=where)
        middle = _by_count(added, count)
    else:
        middle = as_array(mean)
    deviation = cast(subtract(filled, middle), x.dtype)
    deviation = pick(missing, as_value(0, x.dtype), deviation)
    squares = square_of_size(deviation)
    spread = total(squares, axis, wanted, keepdims=keepdims, where=where)
    count = _present(x, axis, keepdims, where)
    freedom: Value = subtract(count, ddof)
    result = _by_count(spread, freedom)
    none = less_equal(freedom, as_value(0, INT64))
    return pick(none, as_value(np.nan, result.dtype), result)


@function(
    ROWS, np.nanstd, scalar=True, ulp=within(16),
    samples=reductions(values="nearly", where=True, dtype="f8"),
)  # fmt: skip
def nanstd(  # noqa: PLR0913  NumPy's signature
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Flag = NO_VALUE,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Value:
    """Return the square root of `nanvar`, with the same parameters."""
    squared = nanvar(
        a,
        axis,
        dtype,
        ddof=ddof,
        keepdims=keepdims,
        where=where,
        mean=mean,
        correction=correction,
    )
    result: Value = sqrt(squared)
    return result
