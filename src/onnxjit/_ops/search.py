# SPDX-License-Identifier: Apache-2.0
"""Finding elements: places of nonzero ones, bins, distinct values, membership."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one, dim_value
from onnxjit._core.dims import Dim, DimLike, dim_prod
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.op import Op
from onnxjit._core.region import loop

from .cast import cast
from .convert import as_array, normalize_axis
from .elementwise import (
    add,
    equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    minimum,
    not_equal,
    subtract,
)
from .elementwise import (
    where as pick,
)
from .gather import compress, gather
from .gather import nonzero as places_of
from .reduce import count_true, reduce_all, reduce_any
from .row import Function, Ufunc, function
from .samples import call, calls, vectors
from .scan import cumsum
from .shape import joint_shape
from .structure import (
    as_1d,
    broadcast_to,
    iota,
    move_axis,
    reshape,
    squeeze,
    take_range,
    transpose,
)
from .ufunc import as_weak, promoted
from .ufunc_methods import as_truth

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS", "before", "nonzero", "searchsorted"]

ROWS: list[Function | Ufunc] = []

#: sorted arrays up to this length are compared with every element
_FEW: Final = 64


# --- nonzero ---------------------------------------------------------------------------------


def nonzero_places(a: Any) -> Value:
    """Return the (rank, k) places of nonzero elements.

    Raises
    ------
    ValueError
        The array is 0-d.
    """
    x = as_array(a)
    if x.ndim == 0:
        msg = (
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() "
            "instead. If the context of this error is of the form `arr[nonzero(cond)]`, just "
            "use `arr[cond]`."
        )
        raise ValueError(msg)
    return places_of(as_truth(x))


@function(ROWS, np.nonzero, api="nonzero", samples=vectors())
def nonzero(a: Any) -> tuple[Value, ...]:
    """Return the places of elements that are not zero, one array for each axis.

    Parameters
    ----------
    a : array
        At least 1-d.

    Returns
    -------
    tuple of (k) int64
        Places in C order.

    Notes
    -----
    NonZero.
    """
    places = nonzero_places(a)
    rank = places.shape[0]
    assert isinstance(rank, int)
    return tuple(squeeze(take_range(places, 0, i, 1), [0]) for i in range(rank))


@function(ROWS, np.flatnonzero, samples=vectors())
def flatnonzero(a: Any) -> Value:
    """Return the places of nonzero elements in the flattened array.

    Notes
    -----
    NonZero.
    """
    return squeeze(nonzero_places(as_1d(as_array(a))), [0])


@function(ROWS, np.argwhere, samples=vectors())
def argwhere(a: Any) -> Value:
    """Return the (k, rank) places of nonzero elements.

    Notes
    -----
    NonZero, Transpose.
    """
    x = as_array(a)
    if x.ndim == 0:
        return take_range(transpose(nonzero_places(reshape(x, (1,))), (1, 0)), 1, 0, 0)
    return transpose(nonzero_places(x), (1, 0))


# --- order with NaN last ---------------------------------------------------------------------


def before(a: Value, b: Value) -> Value:
    """Whether `a` sorts before `b`, both of one dtype: NaN comes last."""
    if a.dtype is BOOL:
        result: Value = logical_and(logical_not(a), b)
        return result
    if a.dtype.kind == "c":
        from .complex_reduce import sorts_before

        return sorts_before(a, b)
    result = less(a, b)
    if a.dtype.kind == "f":
        result = logical_or(result, logical_and(isnan(b), logical_not(isnan(a))))
    return result


def _goes_left(sample: Value, v: Value, side: str) -> Value:
    """Whether a sorted element lies before the place where `v` would go."""
    if side == "left":
        return before(sample, v)
    result: Value = logical_not(before(v, sample))
    return result


def _by_counting(a: Value, v: Value, side: str) -> Value:
    column = reshape(v, (*v.shape, 1))
    return count_true(_goes_left(a, column, side), (v.ndim,))


def _halve(a: Value, v: Value, side: str, low: Value, high: Value) -> tuple[Value, Value]:
    """Narrow [low, high) by one step of a binary search."""
    middle = floor_half(add(low, high))
    n = a.shape[0]
    last = subtract(cast(dim_value(n), INT64), as_value(1, INT64))
    sample = gather(a, minimum(middle, last))
    left = logical_and(_goes_left(sample, v, side), less(low, high))
    one = as_value(1, INT64)
    return pick(left, add(middle, one), low), pick(left, high, minimum(middle, high))


def _floor_half_rule(e: Emit, _: Equation, x: Handle) -> Handle:
    return e.op("Div", x, e.const(2, INT64))


_HALF: Final = Op(
    "half",
    result=lambda x: Tensor(x.dtype, x.shape),
    lower={13: _floor_half_rule},
    evaluate=lambda x: x // 2,
    rowwise=True,
)


def floor_half(x: Value) -> Value:
    """Halve a nonnegative int64."""
    return bind_one(_HALF, x)


def _by_halving(a: Value, v: Value, side: str) -> Value:
    n = a.shape[0]
    low = broadcast_to(as_value(0, INT64), v.shape)
    high = broadcast_to(cast(dim_value(n), INT64), v.shape)
    if not isinstance(n, Dim):
        for _ in range(n.bit_length()):
            low, high = _halve(a, v, side, low, high)
        return low
    powers = as_value(np.int64(1) << np.arange(62, dtype=np.int64))
    trips = count_true(less_equal(powers, cast(dim_value(n), INT64)), (0,))
    (low, _), _stacked = loop(
        trips, lambda _, lo, hi: (_halve(a, v, side, lo, hi), []), [low, high]
    )
    return low


def search(a: Value, v: Value, side: str) -> Value:
    """Return the place of each element of `v` in the sorted 1-d `a`; both of one dtype."""
    n = a.shape[0]
    if not isinstance(n, Dim) and n <= _FEW:
        return _by_counting(a, v, side)
    return _by_halving(a, v, side)


def _check_side(side: Any) -> str:
    np.searchsorted([], 0, side=side)  # NumPy's own refusal
    return "right" if str(side)[0] in "rR" else "left"


@function(
    ROWS, np.searchsorted, api="searchsorted", scalar=True,
    samples=calls(lambda m: [
        call(m.rising(8), m(5)), call(m.rising(8), m(2, 3), side="right"),
        call(m.rising(6), m.scalar(1)), call(m.rising(6), 1),
        call(np.sort(m.special(9)), m.special(12)),
        call(m(5), m(3), sorter=np.arange(5)[::-1]), call(m.rising(3), m(0)), call(m(0), m(2)),
        call(m.rising(4), np.ones(2, "f4")),
    ]),
)  # fmt: skip
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Value:
    """Return the places where elements go in a sorted array.

    Parameters
    ----------
    a : (n) real
        Sorted; NaN last.
    v : (...) real
        What to place.
    side : {"left", "right"}
        Before or after equal elements.
    sorter : (n) int, optional
        Places that sort `a`.

    Returns
    -------
    (...) int64
        How many elements of `a` come before.

    Notes
    -----
    Less and ReduceSum for a short `a`; a binary search with Gather else, in a Loop where the
    length is symbolic.
    """
    from .ufunc import result_type

    x = as_array(a)
    if x.ndim != 1:
        msg = (
            "object too deep for desired array"
            if x.ndim > 1
            else "object of too small depth for desired array"
        )
        raise ValueError(msg)
    wanted = as_array(v)
    dtype = result_type(x, wanted)
    if sorter is not None:
        x = gather(x, cast(as_array(sorter), INT64))
    return search(cast(x, dtype), cast(wanted, dtype), _check_side(side))


# --- distinct values -------------------------------------------------------------------------


def differs(a: Value, b: Value, *, equal_nan: bool = True) -> Value:
    """Whether sorted neighbours differ; NaN equals NaN if asked."""
    result: Value = not_equal(a, b)
    if a.dtype.kind in "fc" and equal_nan:
        result = logical_and(result, logical_not(logical_and(isnan(a), isnan(b))))
    return result


def starts_of_runs(ordered: Value, *, equal_nan: bool = True) -> Value:
    """Return where a sorted vector has an element unlike the one before."""
    places = iota(ordered.shape[0])
    first = less(places, as_value(1, INT64))
    previous = gather(ordered, pick(first, places, subtract(places, as_value(1, INT64))))
    result: Value = logical_or(first, differs(ordered, previous, equal_nan=equal_nan))
    return result


def run_lengths(starts: Value, n: DimLike) -> Value:
    """Return the lengths of runs whose first elements are marked."""
    from .structure import concat

    first = squeeze(places_of(starts), [0])
    end = reshape(cast(dim_value(n), INT64), (1,))
    k = first.shape[0]
    ends = gather(concat([first, end], 0), add(iota(k), as_value(1, INT64)))
    result: Value = subtract(ends, first)
    return result


class Distinct:
    """The distinct values of a vector, and what else was asked of them."""

    __slots__ = ("counts", "first", "inverse", "values")

    def __init__(self, x: Value, *, equal_nan: bool = True, places: bool = True) -> None:
        from .sort import argsort_along, inverse_order, sort_along

        order = argsort_along(x, 0) if places else None
        ordered = sort_along(x, 0) if order is None else gather(x, order)
        starts = starts_of_runs(ordered, equal_nan=equal_nan)
        self.values = compress(ordered, starts, 0)
        self.counts = run_lengths(starts, x.shape[0])
        self.first = self.inverse = self.values
        if order is not None:
            self.first = compress(order, starts, 0)
            number = subtract(cumsum(cast(starts, INT64), 0), as_value(1, INT64))
            self.inverse = gather(number, inverse_order(order))


@function(
    ROWS, np.unique, ties=True,
    samples=calls(lambda m: [
        call(m(9)), call(m.special(12)), call(m(2, 3)), call(m(0)), call(m()),
        call(m(9), True, True, True), call(m(4, 2), id="rows", axis=0),
        call(m(2, 5), id="columns", axis=1, return_counts=True),
        call(m.special(12), return_inverse=True, return_index=True),
        call(m.special(12), equal_nan=False),
        call(np.array([[1, 2], [0, 3], [1, 2], [0, 1]]), True, True, True, axis=0),
        call(m(4, 9) > 0, id="many", axis=0, return_inverse=True),
        call(m.special(12).reshape(6, 2), axis=0), call(m(2, 3, 4), axis=-2),
        call(m(3, 0), axis=0), call(m(0, 3), axis=0), call(m(3), axis=0), call(m(), axis=0),
    ]),
)  # fmt: skip
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,  # noqa: ARG001
) -> Any:
    """Return the distinct elements in order.

    Parameters
    ----------
    ar : (...) real
        Values.
    return_index, return_inverse, return_counts : bool
        Return first places, places in the result, and counts too.
    axis : int or None
        Compare slices along an axis; by default elements.
    equal_nan : bool
        Whether NaN equals NaN; in slices along an axis of several it never does.
    sorted : bool
        The result is always sorted.

    Returns
    -------
    (k) dtype of `ar`, and (k), shape of `ar`, (k) int64
        k depends on the data.  With an axis (..., k, ...), and the inverse is 1-d.

    Notes
    -----
    TopK, Compress, NonZero, CumSum: ONNX Unique loses NaN and lacks most dtypes.  Slices are
    sorted by one column after another.
    """
    x = as_array(ar)
    along = None if axis is None else normalize_axis(axis, x.ndim)
    if along is not None and x.ndim > 1:
        found: Any = _distinct_along(x, along)
    else:
        places = bool(return_index or return_inverse)
        found = Distinct(as_1d(x), equal_nan=bool(equal_nan), places=places)
        found.inverse = reshape(found.inverse, x.shape) if return_inverse else None
    results = [found.values]
    if return_index:
        results.append(found.first)
    if return_inverse:
        results.append(found.inverse)
    if return_counts:
        results.append(found.counts)
    return results[0] if len(results) == 1 else tuple(results)


def _distinct_along(x: Value, axis: int) -> Any:
    """Return the distinct slices along an axis."""
    from .distinct_rows import DistinctRows

    rows = move_axis(x, axis, 0)
    rest = rows.shape[1:]
    found = DistinctRows(reshape(rows, (rows.shape[0], dim_prod(rest))))
    found.counts = run_lengths(found.starts, rows.shape[0])
    shape = (found.values.shape[0], *rest)
    found.values = move_axis(reshape(found.values, shape), 0, axis)
    return found


@function(
    ROWS, np.unique_values, api="unique_values", ties=True, unordered=True,
    samples=calls(lambda m: [
        call(m(9)), call(m.special(12)), call(m(2, 3)), call(m(0)), call(m()),
    ]),
)  # fmt: skip
def unique_values(x: Any) -> Any:
    """Return the distinct elements in order; NaN is unlike NaN."""
    return unique(x, equal_nan=False)


@function(
    ROWS, np.unique_counts, api="unique_counts", ties=True,
    samples=calls(lambda m: [
        call(m(9)), call(m.special(12)), call(m(2, 3)), call(m(0)), call(m()),
    ]),
)  # fmt: skip
def unique_counts(x: Any) -> Any:
    """Return the distinct elements and their counts, as a named tuple."""
    made = unique(x, return_counts=True, equal_nan=False)
    return _named("unique_counts")(*made)


@function(
    ROWS, np.unique_inverse, api="unique_inverse", ties=True,
    samples=calls(lambda m: [
        call(m(9)), call(m.special(12)), call(m(2, 3)), call(m(0)), call(m()),
    ]),
)  # fmt: skip
def unique_inverse(x: Any) -> Any:
    """Return the distinct elements and each element's place among them, as a named tuple."""
    made = unique(x, return_inverse=True, equal_nan=False)
    return _named("unique_inverse")(*made)


@function(
    ROWS, np.unique_all, api="unique_all", ties=True,
    samples=calls(lambda m: [
        call(m(9)), call(m.special(12)), call(m(2, 3)), call(m(0)), call(m()),
    ]),
)  # fmt: skip
def unique_all(x: Any) -> Any:
    """Return distinct elements, first places, inverse and counts, as a named tuple."""
    made = unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return _named("unique_all")(*made)


def _named(function_name: str) -> Any:
    """Return the type of NumPy's own result."""
    return type(getattr(np, function_name)(np.zeros(1)))


# --- membership ------------------------------------------------------------------------------


@function(
    ROWS, np.isin, api="isin",
    samples=calls(lambda m: [
        call(m(6), m(3)), call(m(2, 3), [1, 2]), call(m.special(9), m.special(4), invert=True),
        call(m.scalar(1), m(3)), call(m(3), m(0)), call(m(0), m(3)),
        call(m(4), m(4), assume_unique=True),
    ]),
)  # fmt: skip
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: Any = False,  # noqa: ARG001
    invert: Any = False,
    *,
    kind: Any = None,
) -> Value:
    """Whether each element is among others; NaN never is.

    Parameters
    ----------
    element : (...) array
        Values.
    test_elements : array
        What to look for.
    invert : bool
        Return the opposite.

    Notes
    -----
    Equal and ReduceMax for few others; TopK and a binary search else.
    """
    given = as_array(element), as_array(test_elements)
    none, nothing = (np.zeros(0, v.dtype.numpy) for v in given)
    np.isin(none, nothing, kind=kind)  # NumPy's refusal
    x, others = promoted(*given)
    flat = as_1d(others)
    n = flat.shape[0]
    if not isinstance(n, Dim) and n <= _FEW:
        column = reshape(x, (*x.shape, 1))
        found = reduce_any(logical_not(not_equal(column, flat)), (x.ndim,))
    else:
        found = _among_sorted(x, flat)
    return logical_not(found) if invert else found


def _among_sorted(x: Value, others: Value) -> Value:
    """Look elements up in a sorted copy; one element more keeps it from being empty."""
    from .sort import sort_along
    from .structure import concat

    ordered = sort_along(others, 0)
    place = search(ordered, x, "left")
    inside = less(place, cast(dim_value(others.shape[0]), INT64))
    padded = concat([ordered, as_value(np.zeros(1), x.dtype)], 0)
    hit: Value = logical_and(inside, logical_not(not_equal(gather(padded, place), x)))
    return hit


@function(
    ROWS, np.array_equiv,
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(2, 3), m(3)), call(m(0), m(0)), call(m(3), m(4)),
        call(m.scalar(1), 1), call(np.zeros((2, 3)), 0),
    ]),
)  # fmt: skip
def array_equiv(a1: Any, a2: Any) -> Value | bool:
    """Whether two arrays broadcast to equal ones, as a bool.

    Notes
    -----
    Equal, ReduceMin.
    """
    x, y = as_array(a1), as_array(a2)
    try:
        joint_shape([x.shape, y.shape])
    except ValueError:
        return False
    same_everywhere: Value = equal(*promoted(x, y))
    every = tuple(range(same_everywhere.ndim))
    return as_weak(reduce_all(same_everywhere, every))
