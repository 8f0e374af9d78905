# SPDX-License-Identifier: Apache-2.0
"""Histograms with a known number of bins or given edges."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one, dim_value
from onnxjit._core.dims import dim_max
from onnxjit._core.dtypes import BOOL, FLOAT64, INT64, UINT8
from onnxjit._core.op import Op
from onnxjit.errors import UnsupportedError

from .bincount import BINS
from .cast import cast
from .complex_parts import imag_part, is_complex, make_complex, real_part
from .convert import as_array
from .create import linspace
from .cumulative import neighbours, step
from .elementwise import add as plus
from .elementwise import (
    divide,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    subtract,
)
from .elementwise import where as pick
from .gather import gather
from .product import same_length
from .reduce import reduce_all, reduce_any, reduce_max, reduce_min
from .row import Function, Ufunc, function
from .samples import NUMBERS, call, calls, within
from .scan import cumsum
from .search import search
from .sort import argsort_along, sort_along
from .statistics import total
from .structure import as_1d, broadcast_to, concat, is_positive, is_zero, take_range
from .ufunc import promoted, result_type

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

_NOT_FINITE: Final = (
    "autodetected range is not finite, or too small for so many finite-sized bins"
)
_WEIGHTS: Final = "weights should have the same shape as a."
_FALLING: Final = "`bins` must increase monotonically, when an array"


def _like(x: Tensor, _: Tensor) -> Tensor:
    return Tensor(x.dtype, x.shape)


def _lower_checked(e: Emit, equation: Equation, x: Handle, fine: Handle) -> Handle:
    """Read past the end where the edges are not fine."""
    size = e.dim(equation.inputs[0].shape[0])
    places = e.op("Range", e.const(0, INT64), size, e.const(1, INT64), out=INT64)
    return e.op("Gather", x, e.op("Where", fine, places, size, out=INT64), axis=0)


def _checked(name: str, message: str) -> Op:
    return Op(
        name, result=_like, lower={13: _lower_checked}, may_fail=True,
        error=lambda _: ValueError(message),
    )  # fmt: skip


_SPACED: Final = _checked("histogram_edges", _NOT_FINITE)
_ORDERED: Final = _checked("ordered_edges", _FALLING)


class _Data:
    """Values and weights of a histogram, as vectors."""

    __slots__ = ("values", "weights")

    def __init__(self, a: Any, weights: Any) -> None:
        x = as_array(a)
        if is_complex(x):
            msg = "histograms of complex numbers are not carried; take .real, .imag or abs()"
            raise UnsupportedError(msg)
        self.weights: Value | None = None
        if weights is not None:
            w = as_array(weights)
            if w.ndim != x.ndim:
                raise ValueError(_WEIGHTS)
            for m, n in zip(x.shape, w.shape, strict=True):
                same_length(m, n, _WEIGHTS)
            self.weights = as_1d(w)
        self.values = as_1d(cast(x, UINT8) if x.dtype is BOOL else x)


def _count(bins: Any) -> int | None:
    """Return a number of bins, None where edges are given."""
    if isinstance(bins, str):
        np.histogram_bin_edges(np.zeros(1), bins)  # NumPy's refusal of unknown names
        msg = f"bins={bins!r}: their number depends on array data"
        raise UnsupportedError(msg)
    if as_array(bins).ndim:
        return None
    try:
        count = operator.index(bins)
    except TypeError:
        msg = "`bins` must be an integer, a string, or an array"
        raise TypeError(msg) from None
    if count < 1:
        msg = "`bins` must be positive, when an integer"
        raise ValueError(msg)
    return count


def _given_range(bounds: Any) -> tuple[Any, Any]:
    first, last = bounds
    if any(as_array(x).known is None for x in (first, last)):
        msg = "a range that depends on array data"
        raise UnsupportedError(msg)
    edges = np.histogram_bin_edges(np.zeros(0), 1, (first, last))  # NumPy's refusal
    return (first, last) if first != last else (float(edges[0]), float(edges[1]))


def _found_range(x: Value) -> tuple[Any, Any]:
    """Return the smallest and largest element, half to each side if they are equal."""
    low, high = reduce_min(x, (0,)), reduce_max(x, (0,))
    if not is_positive(x.shape[0]):
        some = greater(dim_value(x.shape[0]), 0)
        low = pick(some, low, as_value(0, x.dtype))
        high = pick(some, high, as_value(1, x.dtype))
    alike = equal(low, high)
    dtype = x.dtype if x.dtype.kind == "f" else FLOAT64
    half, none = as_value(0.5, dtype), as_value(0, dtype)
    widen = pick(alike, half, none)
    return subtract(cast(low, dtype), widen), plus(cast(high, dtype), widen)


def _spaced_edges(x: Value, count: int, bounds: Any) -> Value:
    if bounds is not None:
        first, last = _given_range(bounds)
    else:
        first, last = (0, 1) if is_zero(x.shape[0]) else _found_range(x)
    dtype = result_type(first, last, x)
    if dtype.kind != "f":
        dtype = FLOAT64
    edges = linspace(first, last, count + 1, dtype=dtype.numpy)
    below, above = take_range(edges, 0, 0, count), take_range(edges, 0, 1, count)
    return bind_one(_SPACED, edges, reduce_all(less(below, above), (0,)))


def _given_edges(bins: Any) -> Value:
    edges = as_array(bins)
    if edges.ndim != 1:
        msg = "`bins` must be 1d, when an array"
        raise ValueError(msg)
    n = edges.shape[0]
    if is_zero(n):
        return edges
    below, above = neighbours(edges, 0)
    falls = reduce_any(greater(below, above), (0,))
    if falls.known is not None:
        if falls.known:
            raise ValueError(_FALLING)
        return edges
    return bind_one(_ORDERED, edges, logical_not(falls))


def _in_spaced(data: _Data, edges: Value, count: int, bounds: Any) -> Value:
    """Count in bins of one width."""
    x = data.values
    weights = broadcast_to(as_value(1, INT64), x.shape)
    if data.weights is not None:
        weights = cast(data.weights, FLOAT64)
    if bounds is not None:
        first, last = _given_range(bounds)
        inside = logical_and(greater_equal(x, first), less_equal(x, last))
        weights = pick(inside, weights, as_value(0, weights.dtype))
    place = subtract(search(edges, cast(x, edges.dtype), "right"), as_value(1, INT64))
    zero, top = as_value(0, INT64), as_value(count - 1, INT64)
    place = maximum(minimum(place, top), zero)
    found = bind_one(BINS, place, weights, length=count)
    return found if data.weights is None else cast(found, data.weights.dtype)


def _in_given(data: _Data, edges: Value) -> Value:
    """Count up to each edge; the last bin has its right one."""
    n = edges.shape[0]
    x, wanted = promoted(data.values, edges)
    order = None if data.weights is None else argsort_along(x, 0)
    ordered = sort_along(x, 0) if order is None else gather(x, order)
    lefts = dim_max(n - 1, 0)  # of all but the last, if there is one
    low = search(ordered, take_range(wanted, 0, 0, lefts), "left")
    high = search(ordered, take_range(wanted, 0, lefts, n - lefts), "right")
    places = concat([low, high], 0)
    if data.weights is None or order is None:
        return step(places, 0)
    wide = data.weights.dtype if data.weights.dtype.kind == "f" else INT64
    sums = cumsum(cast(gather(data.weights, order), wide), 0)
    sums = concat([broadcast_to(as_value(0, wide), (1,)), sums], 0)
    return cast(step(gather(sums, places), 0), data.weights.dtype)


@function(
    ROWS, np.histogram, ulp=within(8),
    samples=calls(lambda m: [
        call(m.wide(9), 4), call(m(2, 5)), call(m(3, 4), 3, (-2, 4)), call(m(1), 3),
        call(m(9), bins=[-3, 0, 0, 4, 9]), call(m(9), m.rising(4)),
        call(m(6), 4, weights=m(6)), call(m(6), [-2, 1, 5], weights=m(6)),
        call(m(8), 4, (0, 9), density=True), call(m(8), [0, 2, 7], density=True),
        call(m(0), 3), call(m(), 2), call(m(5), 2, (1, 1)),
    ], NUMBERS),
)  # fmt: skip
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, Value]:
    """Count elements in bins.

    Parameters
    ----------
    a : array
        Values, of any shape.
    bins : int or (n + 1) array
        Known number of bins of one width, or their edges.
    range : (float, float), optional
        Known limits of bins of one width; the smallest and largest element by default.
    density : bool
        Whether to return a density.
    weights : array, optional
        What each element counts.

    Returns
    -------
    counts : (n) int64, float64 for a density, or dtype of the weights
    edges : (n + 1) float

    Raises
    ------
    ValueError
        Edges fall, or the range is not finite; while running where data decides it.
    UnsupportedError
        The number of bins, or a given range, depends on data.

    Notes
    -----
    A binary search of the edges and ScatterElements; TopK where edges are given.
    """
    data = _Data(a, weights)
    count = _count(bins)
    edges = _given_edges(bins) if count is None else _spaced_edges(data.values, count, range)

    def counted(data: _Data) -> Value:
        if count is None:
            return _in_given(data, edges)
        return _in_spaced(data, edges, count, range)

    if data.weights is not None and is_complex(data.weights):
        w = data.weights
        sums = [counted(_Data(data.values, part(w))) for part in (real_part, imag_part)]
        found = make_complex(*sums)
    else:
        found = counted(data)
    if density:
        widths = cast(step(edges, 0), FLOAT64)
        found = divide(divide(found, widths), total(found))
    return found, edges


@function(
    ROWS, np.histogram_bin_edges, ulp=within(2),
    samples=calls(lambda m: [
        call(m.wide(9), 4), call(m(2, 5)), call(m(3, 4), 3, (-2, 4)), call(m(1), 3),
        call(m(9), bins=[-3, 0, 0, 4, 9]), call(m(9), m.rising(4)), call(m(0), 3),
    ], NUMBERS),
)  # fmt: skip
def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> Value:
    """Return the edges of the bins of `histogram`."""
    data = _Data(a, weights)
    count = _count(bins)
    return _given_edges(bins) if count is None else _spaced_edges(data.values, count, range)
