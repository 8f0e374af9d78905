# SPDX-License-Identifier: Apache-2.0
"""Quantiles of weighted elements: steps of the cumulated weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import DimLike, dim_prod
from onnxjit._core.dtypes import FLOAT64, INT64

from .cast import cast
from .checks import fail_where
from .convert import as_array, normalize_axes
from .elementwise import divide, equal, isnan, less, logical_and, logical_not, minimum
from .elementwise import where as pick
from .gather import gather, gather_elements
from .reduce import count_true
from .row import NO_VALUE
from .scan import cumsum
from .sort import argsort_along
from .statistics import fitting_weights
from .structure import broadcast_to, concat, is_positive, may_guard, reshape, transpose

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["weighted_quantile"]


def weighted_quantile(
    a: Any, q: Value, axis: Any, keepdims: Any, weights: Any, *, without_nan: bool
) -> Value:
    """Return the first elements at which the share of the weights reaches fractions.

    Parameters
    ----------
    a : (...) real array
    q : (...) float
        Between 0 and 1.
    axis, keepdims
        As in every reduction.
    weights : array
        Not negative; of the shape of `a` or of its axes.
    without_nan : bool
        Whether NaN is left out, rather than the result where there is one.

    Raises
    ------
    TypeError, ValueError
        The weights do not fit, or are negative.

    Notes
    -----
    TopK, GatherElements, CumSum, and as many comparisons as there are fractions and elements.
    Source: NumPy's `inverted_cdf`.
    """
    x = as_array(a)
    keep = keepdims is not NO_VALUE and bool(keepdims)
    w = fitting_weights(x, as_array(weights), axis)
    _check(w)
    axes = normalize_axes(axis, x.ndim)
    rest = [i for i in range(x.ndim) if i not in axes]
    n: DimLike = dim_prod(x.shape[i] for i in axes)
    joined = (n, *(x.shape[i] for i in rest))
    order = [*axes, *rest]
    kept = [1 if i in axes else m for i, m in enumerate(x.shape)] if keep else joined[1:]
    w = reshape(transpose(broadcast_to(cast(w, FLOAT64), x.shape), order), joined)
    x = reshape(transpose(x, order), joined)
    if without_nan and not is_positive(n) and not may_guard(n):
        # one more NaN, of no weight: there may be nothing else
        one = (1, *joined[1:])
        x = concat([x, broadcast_to(as_value(np.nan, x.dtype), one)], 0)
        w = concat([w, broadcast_to(as_value(0.0, FLOAT64), one)], 0)
        n = n + 1
    places = argsort_along(x, 0)
    x, w = gather_elements(x, places, 0), gather_elements(w, places, 0)
    missing = isnan(x) if x.dtype.kind == "f" else None
    if missing is not None and without_nan:
        w = pick(missing, as_value(0.0, FLOAT64), w)
    shares = _shares(w, n, missing if without_nan else None)
    found = _first_reaching(shares, q, n)
    result = gather_elements(x, found, 0)
    if missing is not None and not without_nan:
        result = pick(_row(missing, n - 1), as_value(np.nan, x.dtype), result)
    return reshape(result, (*q.shape, *kept))


def _check(w: Value) -> None:
    negative = less(w, as_value(0, w.dtype))
    if negative.known is not None:
        if negative.known.any():
            msg = "Weights must be non-negative."
            raise ValueError(msg)
        return
    fail_where(negative)


def _row(x: Value, at: DimLike) -> Value:
    return gather(x, cast(dim_value(at), INT64))


def _shares(w: Value, n: DimLike, missing: Value | None) -> Value:
    """Return running sums of weights over their total; -1 before the first that counts."""
    sums = cumsum(w, 0)
    total = _row(sums, n - 1)
    shares = divide(sums, total)
    wrong = isnan(_row(shares, n - 1))
    if missing is not None:
        wrong = logical_and(wrong, logical_not(_row(missing, 0)))
    fail_where(wrong)
    return pick(equal(shares, as_value(0.0, FLOAT64)), as_value(-1.0, FLOAT64), shares)


def _first_reaching(shares: Value, q: Value, n: DimLike) -> Value:
    """Return for each fraction and result the place of the first share not below it."""
    count = dim_prod(q.shape)
    if q.dtype.kind == "f":
        shares = cast(shares, q.dtype)
    each = reshape(q, (count, *(1,) * shares.ndim))
    below = count_true(less(shares, each), (1,), keepdims=False)
    place: Value = minimum(cast(below, INT64), cast(dim_value(n - 1), INT64))
    return place
