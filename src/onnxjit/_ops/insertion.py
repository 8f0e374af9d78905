# SPDX-License-Identifier: Apache-2.0
"""Inserting and deleting slices of an array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value, dim_value, running_trace
from onnxjit._core.dims import Dim, DimLike, require_equal, same
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.program import Value

from . import structure
from .basic import as_number, make_span, out_of_bounds
from .cast import cast
from .convert import as_array, normalize_axis
from .elementwise import add, greater, less, logical_or
from .elementwise import where as pick
from .gather import compress, gather, nonzero
from .index_write import assigned, fit, setitem
from .reduce import reduce_any
from .row import Function, Ufunc, function
from .samples import call, calls
from .search import search
from .sort import argsort_along, sort_along
from .span import take_span
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    move_axis,
    reshape,
    take_range,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

_MANY_AXES: Final = "index array argument obj to insert must be one dimensional or scalar"


def _inside(at: int | Dim, axis: int, n: DimLike, *, last: int = 0) -> DimLike:
    """Return a place as a nonnegative one; `last` = 1 allows the end."""
    if not -n <= at < n + last:
        raise out_of_bounds(operator.index(at), axis, n)
    return at + n if at < 0 else at


def _axis_of(x: Value, axis: Any) -> tuple[Value, int]:
    if axis is None:
        return structure.as_1d(x), 0
    return x, normalize_axis(axis, x.ndim)


@function(
    ROWS, np.delete,
    samples=calls(lambda m: [
        call(m.special(6), 2), call(m(3, 4), 1, axis=0), call(m(6), [0, 2, 5]),
        call(m(3, 4), slice(1, 3), 1), call(m(5), m.mask(5)), call(m(5), -1), call(m(4), []),
        call(m(4), 9),
    ]),
)  # fmt: skip
def delete(arr: Any, obj: Any, axis: Any = None) -> Value:
    """Return an array without some slices along an axis.

    Parameters
    ----------
    arr : (...) array
        Values; flattened without `axis`.
    obj : int, slice, or array of int or bool
        Which slices.
    axis : int, optional
        Which axis.

    Notes
    -----
    Slice, Concat for one place; Compress for several.
    """
    x, axis = _axis_of(as_array(arr), axis)
    n = x.shape[axis]
    number = as_number(obj)
    if number is not None and not isinstance(number, Value):
        at = _inside(number, axis, n)
        after = take_range(x, axis, at + 1, n - at - 1)
        return concat([take_range(x, axis, 0, at), after], axis)
    if isinstance(n, int) and _is_static(obj):
        index = obj if isinstance(obj, slice) else np.asarray(_plain(obj))
        return gather(x, const(np.delete(np.arange(n), index)), axis)
    if isinstance(obj, slice):
        keep = setitem(_all_true(n), obj, False)
    else:
        which = const(_plain(obj)) if _is_static(obj) else as_array(obj)
        if which.dtype is BOOL and not require_equal(running_trace().env, which.shape[0], n):
            msg = (
                "boolean array argument `obj` to delete must be one-dimensional and match the "
                f"axis length of {n}"
            )
            raise ValueError(msg)
        keep = setitem(_all_true(n), which, False)
    return compress(x, keep, axis)


def _all_true(n: DimLike) -> Value:
    return broadcast_to(const(True), (n,))


def _is_static(obj: Any) -> bool:
    if isinstance(obj, slice):
        return not any(isinstance(b, (Value, Dim)) for b in (obj.start, obj.stop, obj.step))
    if isinstance(obj, (list, tuple)):
        return all(map(_is_static, obj))
    return not isinstance(obj, Dim) and (not isinstance(obj, Value) or obj.known is not None)


def _plain(obj: Any) -> Any:
    if isinstance(obj, (list, tuple)):
        return np.array([_plain(o) for o in obj], None if len(obj) else np.intp)
    return obj.known if isinstance(obj, Value) else obj


@function(
    ROWS, np.insert,
    samples=calls(lambda m: [
        call(m.special(5), 2, 1), call(m(3, 4), 1, m(4), axis=0), call(m(5), [1, 3], m(2)),
        call(m(3, 4), 1, 1, 1), call(m(5), -1, m(2)), call(m(4), slice(1, 3), m(2)),
        call(m(4), 9, 1), call(m(2, 2), 1, 1), call(m(5), [2], m(3)),
        call(m(5), m.counts(5, 3), m(3)), call(m(3, 4), m.counts(3, 2), m(4), axis=0),
        call(m(5), m.mask(5), 1),
    ]),
)  # fmt: skip
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Value:
    """Return an array with slices inserted along an axis.

    Parameters
    ----------
    arr : (...) array
        Values; flattened without `axis`.
    obj : int, slice, or sequence of int or bool
        Before which slices.
    values : array
        What is inserted, cast to arr's dtype.
    axis : int, optional
        Which axis.

    Notes
    -----
    Slice, Concat; Gather for places that are data.
    """
    x, axis = _axis_of(as_array(arr), axis)
    n = x.shape[axis]
    new = assigned(x, values)
    if isinstance(obj, slice):
        places = _sliced(obj, n)
    else:
        number = as_number(obj)
        if number is not None:
            return _insert_at(x, axis, number, new, is_plain=True)
        places = _plain(obj) if _is_static(obj) else as_array(obj)
    if not isinstance(places, Value):
        known = _known_places(places)
        if known.size == 1:
            return _insert_at(x, axis, int(known[0]), new, is_plain=False)
        inside = [_inside(int(i), axis, n, last=1) for i in known]
        return _insert_known(x, axis, inside, new)
    return _insert_found(x, axis, places, new)


def _known_places(places: Any) -> np.ndarray[Any, Any]:
    known = np.asarray(places)
    if known.ndim > 1:
        raise ValueError(_MANY_AXES)
    return np.flatnonzero(known) if known.dtype.kind == "b" else known.ravel()


def _sliced(s: slice, n: DimLike) -> Any:
    """Return the places that a slice has along an axis."""
    if isinstance(n, int) and _is_static(s):
        return np.arange(n)[s]
    return take_span(iota(n), 0, make_span(s, n))


def _insert_at(x: Value, axis: int, at: Any, new: Value, *, is_plain: bool) -> Value:
    """Insert any number of slices before one place, which is a number or a list of it."""
    n = x.shape[axis]
    if not isinstance(at, Value):
        at = _inside(at, axis, n, last=1)
    if new.ndim:
        new = unsqueeze(new, range(max(x.ndim - new.ndim, 0)))
        if is_plain:  # NumPy reads the first axis of values as the axis inserted along
            new = move_axis(new, 0, axis)
    count = new.shape[axis] if new.ndim == x.ndim else 1
    new = fit(new, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    if not isinstance(at, Value):
        return _spliced(x, axis, [(at, new)])
    return _interleaved(x, axis, broadcast_to(_checked(at, n), (count,)), new)


def _insert_known(x: Value, axis: int, places: Sequence[Any], new: Value) -> Value:
    """Insert one slice before each of some places, which may depend on sizes."""
    new = fit(new, (*x.shape[:axis], len(places), *x.shape[axis + 1 :]))
    order = sorted(range(len(places)), key=lambda i: places[i])
    return _spliced(x, axis, [(places[i], take_range(new, axis, i, 1)) for i in order])


def _insert_found(x: Value, axis: int, places: Value, new: Value) -> Value:
    """Insert one slice before each of some places, which are data."""
    if places.ndim != 1:
        raise ValueError(_MANY_AXES)
    if places.dtype is BOOL:
        found = nonzero(places)
        places = reshape(found, (found.shape[1],))
    elif places.dtype.kind not in "iu":
        msg = "arrays used as indices must be of integer (or boolean) type"
        raise IndexError(msg)
    places = cast(places, INT64)
    count = places.shape[0]
    if same(count, 1) or (structure.may_guard(count) and count == 1):
        return _insert_at(x, axis, reshape(places, ()), new, is_plain=False)
    new = fit(new, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    return _interleaved(x, axis, _checked(places, x.shape[axis]), new)


def _checked(places: Value, n: DimLike) -> Value:
    """Return places as nonnegative ones; Python makes the call where one is outside."""
    size, zero = dim_value(n), as_value(0, INT64)
    places = pick(less(places, zero), add(places, size), places)
    outside = logical_or(less(places, zero), greater(places, size))
    running_trace().fail_if(reduce_any(outside, tuple(range(outside.ndim))))
    return places


def _interleaved(x: Value, axis: int, places: Value, new: Value) -> Value:
    """Insert slices before places: find where each slice goes, and put all in that order."""
    n = x.shape[axis]
    before = search(sort_along(places, 0), iota(n), "right")
    rank = argsort_along(argsort_along(places, 0), 0)
    slots = concat([add(iota(n), before), add(places, rank)], 0)
    return gather(concat([x, new], axis), argsort_along(slots, 0), axis)


def _spliced(x: Value, axis: int, pieces: Sequence[tuple[DimLike, Value]]) -> Value:
    """Insert pieces before places in rising order."""
    parts: list[Value] = []
    done: DimLike = 0
    for at, new in pieces:
        parts += [take_range(x, axis, done, at - done), new]
        done = at
    return concat([*parts, take_range(x, axis, done, x.shape[axis] - done)], axis)
