# SPDX-License-Identifier: Apache-2.0
"""Gradients, covariances and joint histograms written in NumPy.

NumPy's own source lets the data, or sizes, decide which array or dtype a name has; here both
are computed and elements chosen, or the choice is left out.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SOURCES"]

# ---------------------------------------------------------------------------- gradients


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return central differences along axes, and one-sided ones at the ends."""
    f = np.asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    steps = _steps(f, varargs, axes)
    if edge_order > 2:
        msg = "'edge_order' greater than 2 not supported"
        raise ValueError(msg)
    if np.issubdtype(f.dtype, np.integer):
        f = f.astype(np.float64)
    dtype = f.dtype if np.issubdtype(f.dtype, np.inexact) else np.dtype(np.float64)
    made = [_along(f, d, i, dtype, edge_order) for i, d in zip(axes, steps, strict=True)]
    return made[0] if len(axes) == 1 else tuple(made)


def _steps(f: Any, given: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    """Return the distance of neighbours for each axis, or all distances as a vector."""
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return [given[0]] * len(axes)
    if len(given) != len(axes):
        msg = "invalid number of arguments"
        raise TypeError(msg)
    return [_distances(x, f.shape[i]) for x, i in zip(given, axes, strict=True)]


def _distances(x: Any, n: Any) -> Any:
    x = np.asanyarray(x)
    if x.ndim == 0:
        return x
    if x.ndim != 1:
        msg = "distances must be either scalars or 1d"
        raise ValueError(msg)
    if x.shape[0] != n:
        msg = "when 1d, distances must match the length of the corresponding dimension"
        raise ValueError(msg)
    return np.diff(x.astype(np.float64) if np.issubdtype(x.dtype, np.integer) else x)


def _along(f: Any, d: Any, axis: int, dtype: Any, edge_order: int) -> Any:
    """Return differences along one axis; vectors of equal distances count as one number."""
    if f.shape[axis] < edge_order + 1:
        msg = (
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
        raise ValueError(msg)
    lead = (slice(None),) * axis

    def at(place: Any) -> Any:
        return f[(*lead, place)]

    out = np.empty_like(f, dtype=dtype)
    ends = _simple_ends if edge_order == 1 else _better_ends
    if np.ndim(d) == 0:
        out[(*lead, slice(1, -1))] = _even(at, d)
        out[(*lead, 0)], out[(*lead, -1)] = ends(at, d, None)
        return out
    even = (d == d[0]).all()
    uneven = d.reshape((-1,) + (1,) * (f.ndim - 1 - axis))
    out[(*lead, slice(1, -1))] = np.where(even, _even(at, d[0]), _uneven(at, uneven))
    few, many = ends(at, d[0], None), ends(at, None, d)
    out[(*lead, 0)] = np.where(even, few[0], many[0])
    out[(*lead, -1)] = np.where(even, few[1], many[1])
    return out


def _even(at: Any, d: Any) -> Any:
    return (at(slice(2, None)) - at(slice(None, -2))) / (2.0 * d)


def _uneven(at: Any, d: Any) -> Any:
    d1, d2 = d[:-1], d[1:]
    a = -d2 / (d1 * (d1 + d2))
    b = (d2 - d1) / (d1 * d2)
    c = d1 / (d2 * (d1 + d2))
    return a * at(slice(None, -2)) + b * at(slice(1, -1)) + c * at(slice(2, None))


def _simple_ends(at: Any, one: Any, each: Any) -> Any:
    first, last = (one, one) if each is None else (each[0], each[-1])
    return (at(1) - at(0)) / first, (at(-1) - at(-2)) / last


def _better_ends(at: Any, one: Any, each: Any) -> Any:
    """Return derivatives of the parabolas through three elements at either end."""
    if each is None:
        first = (-1.5 / one, 2.0 / one, -0.5 / one)
        last = (0.5 / one, -2.0 / one, 1.5 / one)
    else:
        d1, d2 = each[0], each[1]
        first = (
            -(2.0 * d1 + d2) / (d1 * (d1 + d2)), (d1 + d2) / (d1 * d2), -d1 / (d2 * (d1 + d2))
        )  # fmt: skip
        d1, d2 = each[-2], each[-1]
        last = (
            d2 / (d1 * (d1 + d2)), -(d2 + d1) / (d1 * d2), (2.0 * d2 + d1) / (d2 * (d1 + d2))
        )  # fmt: skip
    a, b, c = first
    p, q, r = last
    return a * at(0) + b * at(1) + c * at(2), p * at(-3) + q * at(-2) + r * at(-1)


# ---------------------------------------------------------------------------- covariances


def _cov(  # noqa: PLR0913  NumPy's signature
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return covariances; whether `y` is one row is settled while tracing."""
    if ddof is not None and ddof != int(ddof):
        msg = "ddof must be integer"
        raise ValueError(msg)
    m = _at_most_2d(m, "m")
    given = [m]
    if y is not None:
        y = _at_most_2d(y, "y")
        given.append(y)
    if dtype is None:
        dtype = np.result_type(*given, np.float64)
    x = np.array(m, ndmin=2, dtype=dtype)
    if not rowvar and m.ndim != 1:
        x = x.T
    if y is not None:
        y = np.array(y, ndmin=2, dtype=dtype)
        if not rowvar and operator.truth(y.shape[0] != 1):
            y = y.T
        x = np.concatenate((x, y), axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    n = x.shape[1]
    w = None if fweights is None else _counts(fweights, n)
    if aweights is not None:
        a = _weights(aweights, n, "aweights")
        w = a if w is None else w * a
    mean = x.mean(axis=1) if w is None else np.average(x, axis=1, weights=w)
    if w is None:
        factor = n - ddof
    else:
        total = w.sum()
        lost = ddof if aweights is None or ddof == 0 else ddof * sum(w * a) / total
        factor = total - lost
    x = x - mean[:, None]
    made = np.dot(x, (x if w is None else x * w).T.conj())
    made *= np.true_divide(1, np.maximum(factor, 0))
    return made.squeeze()


def _at_most_2d(x: Any, name: str) -> Any:
    x = np.asarray(x)
    if x.ndim > 2:
        msg = f"{name} has more than 2 dimensions"
        raise ValueError(msg)
    return x


def _counts(w: Any, n: Any) -> Any:
    w = np.asarray(w, dtype=float)
    if not np.all(w == np.around(w)):
        msg = "fweights must be integer"
        raise TypeError(msg)
    return _weights(w, n, "fweights")


def _weights(w: Any, n: Any, name: str) -> Any:
    w = np.asarray(w, dtype=float)
    if w.ndim > 1:
        msg = f"cannot handle multidimensional {name}"
        raise RuntimeError(msg)
    if w.shape[0] != n:
        msg = f"incompatible numbers of samples and {name}"
        raise RuntimeError(msg)
    if np.any(w < 0):
        msg = f"{name} cannot be negative"
        raise ValueError(msg)
    return w


# ---------------------------------------------------------------------------- histograms


def _histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Count points in boxes; the number of coordinates, thus of axes, is frozen."""
    try:
        n, count = sample.shape
    except (AttributeError, ValueError):
        sample = np.atleast_2d(sample).T
        n, count = sample.shape
    count = operator.index(count)
    columns = [sample[:, i] for i in _axes(count)]
    bounds = _per_axis(range, count)
    edges = [
        _edges(column, *each)
        for column, *each in zip(
            columns, _bins(bins, count), bounds, _axes(count), strict=True
        )
    ]
    sizes = [e.shape[0] + 1 for e in edges]  # with what lies below and above
    flat = np.zeros(n, dtype=np.intp)
    for column, e, size in zip(columns, edges, sizes, strict=True):
        found = np.searchsorted(e, column, side="right")
        flat = flat * size + (found - (column == e[-1]))
    made = np.zeros(math.prod(sizes))
    np.add.at(made, flat, 1.0 if weights is None else _point_weights(weights, n))
    made = made.reshape(sizes)[(slice(1, -1),) * count]
    if density:
        total = made.sum()
        for i, e in enumerate(edges):
            made = made / np.diff(e).reshape((-1,) + (1,) * (count - 1 - i))
        made = made / total
    return made, edges


def _histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """Count points of a plane in boxes; whether `bins` are edges is settled while tracing."""
    if len(x) != len(y):
        msg = "x and y must have the same length."
        raise ValueError(msg)
    try:
        n = len(bins)
    except TypeError:
        n = 1
    if not (operator.truth(n == 1) or operator.truth(n == 2)):
        edges = np.asarray(bins)
        bins = [edges, edges]
    hist, (first, second) = np.histogramdd([x, y], bins, range, density, weights)
    return hist, first, second


#: the parameter `range` hides the builtin
_axes: Final = range


def _bins(bins: Any, count: int) -> Any:
    try:
        given = len(bins)
    except TypeError:
        return [bins] * count
    if given != count:
        msg = "The dimension of bins must be equal to the dimension of the sample x."
        raise ValueError(msg)
    return [bins[i] for i in _axes(count)]


def _per_axis(bounds: Any, count: int) -> Any:
    if bounds is None:
        return [None] * count
    if len(bounds) != count:
        msg = "range argument must have one entry per dimension"
        raise ValueError(msg)
    return [bounds[i] for i in _axes(count)]


def _edges(column: Any, bins: Any, bounds: Any, i: int) -> Any:
    """Return the edges along one axis: those given, or equally spaced ones."""
    if np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            msg = f"`bins[{i}]` must be monotonically increasing, when an array"
            raise ValueError(msg)
        return edges
    if np.ndim(bins):
        msg = f"`bins[{i}]` must be a scalar or 1d array"
        raise ValueError(msg)
    if bins < 1:
        msg = f"`bins[{i}]` must be positive, when an integer"
        raise ValueError(msg)
    try:
        n = operator.index(bins)
    except TypeError as error:
        msg = f"`bins[{i}]` must be an integer, when a scalar"
        raise TypeError(msg) from error
    first, last = np.histogram_bin_edges(column if bounds is None else np.zeros(0), 1, bounds)
    return np.linspace(first, last, n + 1)


def _point_weights(weights: Any, n: Any) -> Any:
    weights = np.asarray(weights)
    if weights.ndim != 1:
        msg = "object too deep for desired array"
        raise ValueError(msg)
    if not np.can_cast(weights.dtype, np.float64, "safe"):
        msg = (
            f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to "
            "the rule 'safe'"
        )
        raise TypeError(msg)
    if weights.shape[0] != n:
        msg = "The weights and list don't have the same length."
        raise ValueError(msg)
    return weights


#: NumPy function -> what is traced for it
SOURCES: Final[dict[Any, Callable[..., Any]]] = {
    np.gradient: _gradient,
    np.cov: _cov,
    np.histogram2d: _histogram2d,
    np.histogramdd: _histogramdd,
}
