# SPDX-License-Identifier: Apache-2.0
"""`reduceat` of ufuncs: reductions between places of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import DimLike, dim_max
from onnxjit._core.dtypes import INT64
from onnxjit._core.region import loop

from .basic import make_pick
from .cast import cast
from .convert import as_array, normalize_axis
from .elementwise import add, greater, greater_equal, less, logical_or, where
from .gather import gather
from .index import getitem
from .structure import broadcast_to, concat, move_axis, take_range
from .ufunc_methods import row_ufunc, ufunc_reduce
from .views import IndexView

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value

    from .row import Ufunc

__all__ = ["ufunc_reduceat"]


def ufunc_reduceat(
    ufunc: Ufunc | np.ufunc, x: Any, indices: Any, axis: Any = 0, dtype: Any = None
) -> Value:
    """Return ``ufunc.reduceat(x, indices, axis, dtype)``.

    Raises
    ------
    IndexError
        An index is out of range; when it runs, where only the run knows.

    Notes
    -----
    A Slice and a reduction for each index; a Loop of these for indices that are data.
    """
    value = as_array(x)
    at = normalize_axis(axis, value.ndim)
    places = _as_places(indices)

    def reduce(part: Value, along: int, *, keepdims: bool) -> Value:
        return ufunc_reduce(ufunc, part, along, dtype, keepdims=keepdims)

    if places.known is None:
        return _by_loop(reduce, value, at, places)
    starts = [int(i) for i in places.known]
    _check(row_ufunc(ufunc), starts, value.shape[at])
    return _one_by_one(reduce, value, at, starts)


def _as_places(indices: Any) -> Value:
    none = isinstance(indices, (list, tuple)) and not indices
    places = as_array(np.zeros(0, np.int64) if none else indices)
    if places.ndim != 1:
        msg = "object of too small depth for desired array"
        raise ValueError(msg)
    if not np.can_cast(places.dtype.numpy, np.int64, "same_kind"):
        msg = (
            f"Cannot cast array data from {places.dtype.numpy!r} to dtype('int64') according "
            "to the rule 'safe'"
        )
        raise TypeError(msg)
    return cast(places, INT64)


def _check(ufunc: np.ufunc, starts: list[int], n: DimLike) -> None:
    for first in starts:
        if first < 0 or (isinstance(n, int) and first >= n):
            msg = f"index {first} out-of-bounds in {ufunc.__name__}.reduceat [0, {n})"
            raise IndexError(msg)


def _one_by_one(reduce: Callable[..., Value], x: Value, axis: int, starts: list[int]) -> Value:
    """Reduce between places that are known."""
    n = x.shape[axis]
    if not starts:
        return take_range(reduce(x, axis, keepdims=True), axis, 0, 0)
    largest = max(starts)
    inside = make_pick(largest, axis, n).is_safe
    parts: list[Value] = []
    for first, stop in zip(starts, [*starts[1:], n], strict=True):
        length = dim_max(stop - first, 1)
        # of the places that may be outside it is enough to look at one
        found = inside or first != largest
        cut = take_range if found else _checked_range
        parts.append(reduce(cut(x, axis, first, length), axis, keepdims=True))
        inside = inside or not found
    return concat(parts, axis)


def _checked_range(x: Value, axis: int, first: int, length: DimLike) -> Value:
    """Return elements from a place on; the run fails if it is not there, as Gather looks."""
    head = gather(x, as_value(np.array([first])), axis)
    more = dim_max(length - 1, 0)
    if isinstance(more, int) and more == 0:
        return head
    return concat([head, take_range(x, axis, first + 1, more)], axis)


def _by_loop(reduce: Callable[..., Value], x: Value, axis: int, places: Value) -> Value:
    """Reduce between places that are data.

    A row and a place of it are added: a Loop that never runs does not know the shape of its
    rows, so this one runs once more than there are places.
    """
    rows = move_axis(x, axis, 0)
    n, count = rows.shape[0], places.shape[0]
    end = dim_value(n)
    more = broadcast_to(as_value(0, rows.dtype), (1, *rows.shape[1:]))
    rows = concat([rows, more], 0)
    last = _at(end)
    one = as_value(np.int64(1))
    wrong = logical_or(less(places, as_value(np.int64(0))), greater_equal(places, end))
    starts = concat([where(wrong, add(end, one), places), last], 0)  # a wrong one fails below
    following = concat([take_range(starts, 0, 1, count), last], 0)
    stops = where(greater(following, starts), following, add(starts, one))

    def step(i: Value) -> tuple[list[Value], list[Value]]:
        first, stop = gather(starts, i), gather(stops, i)
        head = gather(rows, _at(first))
        rest = getitem(rows, slice(add(first, one), stop))
        assert isinstance(rest, IndexView)
        return [], [reduce(concat([head, rest.apply(rows)], 0), 0, keepdims=False)]

    _, (totals,) = loop(count + 1, step, [])
    return move_axis(take_range(totals, 0, 0, count), 0, axis)


def _at(place: Value) -> Value:
    """Return a place as an array of one."""
    return broadcast_to(place, (1,))
