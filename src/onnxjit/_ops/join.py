# SPDX-License-Identifier: Apache-2.0
"""Joining arrays, and splitting them into views."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import DimLike, dim_min, dim_prod, hint_of, require_equal
from onnxjit._core.program import Value

from . import structure
from .basic import IndexView, slice_bound
from .cast import cast
from .convert import as_array, as_dtype, as_shape, normalize_axis
from .row import Function, Ufunc, function
from .samples import call, calls
from .shape import ADDED, as_list, at_least
from .span import Item, Number, Pick, Span, whole
from .structure import reshape, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dtypes import DType

    from .view import View

__all__ = ["ROWS", "common_dtype", "joined"]

ROWS: list[Function | Ufunc] = []


# --- joining -------------------------------------------------------------------------------


def common_dtype(xs: Sequence[Value], dtype: Any = None, casting: str = "same_kind") -> DType:
    """Return the dtype of joined arrays; Python scalars count as arrays.

    Raises
    ------
    TypeError
        `dtype` is given, and `casting` does not allow the cast.
    """
    if dtype is None:
        return as_dtype(np.result_type(*{x.dtype.numpy for x in xs}))
    wanted = as_dtype(dtype)
    for x in xs:
        if not np.can_cast(x.dtype.numpy, wanted.numpy, casting):  # type: ignore[arg-type]
            msg = (
                f"Cannot cast array data from {x.dtype.numpy!r} to {wanted.numpy!r} according "
                f"to the rule '{casting}'"
            )
            raise TypeError(msg)
    return wanted


def _check_sizes(xs: Sequence[Value], axis: int) -> None:
    env = running_trace().env
    first = xs[0]
    for number, x in enumerate(xs[1:], 1):
        if x.ndim != first.ndim:
            msg = (
                "all the input arrays must have same number of dimensions, but the array at "
                f"index 0 has {first.ndim} dimension(s) and the array at index {number} has "
                f"{x.ndim} dimension(s)"
            )
            raise ValueError(msg)
        for i, (a, b) in enumerate(zip(first.shape, x.shape, strict=True)):
            if i != axis and not require_equal(env, a, b):
                msg = (
                    "all the input array dimensions except for the concatenation axis must "
                    f"match exactly, but along dimension {i}, the array at index 0 has size "
                    f"{hint_of(a)} and the array at index {number} has size {hint_of(b)}"
                )
                raise ValueError(msg)


def joined(
    xs: Sequence[Value], axis: int = 0, dtype: Any = None, casting: str = "same_kind"
) -> Value:
    """Return ``np.concatenate`` of values."""
    if not xs:
        msg = "need at least one array to concatenate"
        raise ValueError(msg)
    if not all(x.ndim for x in xs):
        msg = "zero-dimensional arrays cannot be concatenated"
        raise ValueError(msg)
    axis = normalize_axis(axis, xs[0].ndim)
    _check_sizes(xs, axis)
    np.can_cast(np.int8, np.int8, casting)  # type: ignore[arg-type]  # NumPy's own refusal
    wanted = common_dtype(xs, dtype, casting)
    return structure.concat([cast(x, wanted) for x in xs], axis)


def _arrays(xs: Any) -> list[Value]:
    return [as_array(x) for x in as_list(xs)]


class _Rows:
    """The slices of an array whose number is open, to be joined without taking them apart."""

    __slots__ = ("every",)

    def __init__(self, every: Value) -> None:
        self.every = every

    def unsqueezed(self, axes: Sequence[int]) -> _Rows:
        """Give each slice more axes."""
        return _Rows(unsqueeze(self.every, [axis + 1 for axis in axes]))

    def padded(self, ndim: int) -> _Rows:
        """Give each slice the axes of ``np.atleast_1d``, ``2d`` or ``3d``."""
        return self.unsqueezed(ADDED.get((ndim, self.every.ndim - 1), ()))

    def joined(self, axis: int, dtype: Any = None, casting: str = "same_kind") -> Value:
        """Return ``np.concatenate`` of the slices."""
        if self.every.ndim == 1:
            return joined([reshape(self.every, ())])  # which raises
        at = normalize_axis(axis, self.every.ndim - 1)
        sizes = list(self.every.shape[1:])
        sizes[at] = sizes[at] * self.every.shape[0]
        wanted = common_dtype([self.every], dtype, casting)
        return cast(reshape(structure.move_axis(self.every, 0, at), sizes), wanted)


def _open_rows(xs: Any) -> _Rows | None:
    """Return an array that is given for a sequence of arrays, if their number is open."""
    if not isinstance(xs, Value) or not xs.ndim or isinstance(xs.shape[0], int):
        return None
    return None if structure.is_zero(xs.shape[0]) else _Rows(xs)


@function(
    ROWS, np.concatenate, api="concat",
    aliases=() if np.concat is np.concatenate else (np.concat,),
    samples=calls(lambda m: [
        call([m.special(2, 3), m(4, 3)]), call((m(2, 3), m(2, 1)), axis=-1),
        call([m(3), m(2)]), call([m(0, 2), m(1, 2)]), call([m(2), [1, 2]]),
        call([m(2, 2), m(3)], axis=None), call([m(2), np.ones(2, "f4")]),
        call([m(2), m(3)], dtype="f8"), call([m(2), m(2, 2)]),
    ]),
)  # fmt: skip
def concatenate(
    arrays: Any, /, axis: int | None = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Value:
    """Join arrays along an axis; None joins their elements.

    Raises
    ------
    ValueError
        Shapes or ranks differ, or there is nothing to join.
    TypeError
        `casting` does not allow the cast to `dtype`.

    Notes
    -----
    Cast, Concat.
    """
    if isinstance(arrays, Value) and axis is None and _open_rows(arrays):
        return joined([reshape(arrays, (dim_prod(arrays.shape),))], 0, dtype, casting)
    rows = _open_rows(arrays)
    if rows is not None and axis is not None:
        return rows.joined(axis, dtype, casting)
    xs = _arrays(arrays)
    if axis is None:
        return joined([reshape(x, (dim_prod(x.shape),)) for x in xs], 0, dtype, casting)
    return joined(xs, axis, dtype, casting)


@function(
    ROWS, np.stack, api="stack",
    samples=calls(lambda m: [
        call([m.special(2, 3), m(2, 3)]), call([m(3), m(3), m(3)], axis=-1),
        call([m(2, 3), m(2, 3)], 1), call([m(), m.scalar(1)]), call([m(2), np.ones(2, "f4")]),
        call([m(2), m(3)]),
    ]),
)  # fmt: skip
def stack(
    arrays: Any, axis: int = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Value:
    """Join arrays of one shape along a new axis.

    Notes
    -----
    Unsqueeze, Cast, Concat.
    """
    rows = _open_rows(arrays)
    if rows is not None:
        at = normalize_axis(axis, rows.every.ndim)
        return rows.unsqueezed([at]).joined(at, dtype, casting)
    xs = _arrays(arrays)
    if not xs:
        msg = "need at least one array to stack"
        raise ValueError(msg)
    env = running_trace().env
    first = xs[0]
    for x in xs[1:]:
        if x.ndim != first.ndim or not all(
            require_equal(env, a, b) for a, b in zip(first.shape, x.shape, strict=True)
        ):
            msg = "all input arrays must have the same shape"
            raise ValueError(msg)
    at = normalize_axis(axis, first.ndim + 1)
    return joined([unsqueeze(x, [at]) for x in xs], at, dtype, casting)


@function(
    ROWS, np.vstack,
    samples=calls(lambda m: [
        call([m.special(2, 3), m(4, 3)]), call([m(3), m(3)]), call([m(3), m(2, 3)]),
        call((m(), m())), call([m(2), m(2)], dtype="f8"),
    ]),
)  # fmt: skip
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Value:
    """Join arrays of at least two axes along the first.

    Notes
    -----
    Unsqueeze, Cast, Concat.
    """
    rows = _open_rows(tup)
    if rows is not None:
        return rows.padded(2).joined(0, dtype, casting)
    return joined([at_least(x, 2) for x in _arrays(tup)], 0, dtype, casting)


@function(
    ROWS, np.hstack,
    samples=calls(lambda m: [
        call([m.special(2, 3), m(2, 1)]), call([m(3), m(2)]), call((m(), m())),
        call([m(2), m(2)], dtype="f8"),
    ]),
)  # fmt: skip
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Value:
    """Join arrays along the second axis, vectors along their only one.

    Notes
    -----
    Unsqueeze, Cast, Concat.
    """
    rows = _open_rows(tup)
    if rows is not None:
        return rows.padded(1).joined(0 if rows.every.ndim <= 2 else 1, dtype, casting)
    xs = [at_least(x, 1) for x in _arrays(tup)]
    return joined(xs, 0 if xs and xs[0].ndim == 1 else 1, dtype, casting)


@function(
    ROWS, np.dstack,
    samples=calls(lambda m: [
        call([m.special(2, 3), m(2, 3)]), call([m(3), m(3)]), call((m(), m())),
        call([m(2, 2, 1), m(2, 2)]),
    ]),
)  # fmt: skip
def dstack(tup: Any) -> Value:
    """Join arrays of at least three axes along the third.

    Notes
    -----
    Unsqueeze, Cast, Concat.
    """
    rows = _open_rows(tup)
    if rows is not None:
        return rows.padded(3).joined(2)
    return joined([at_least(x, 3) for x in _arrays(tup)], 2)


@function(
    ROWS, np.column_stack,
    samples=calls(lambda m: [
        call([m.special(3), m(3)]), call([m(3), m(3, 2)]), call((m(), m())),
    ]),
)  # fmt: skip
def column_stack(tup: Any) -> Value:
    """Join vectors as columns, and matrices side by side.

    Notes
    -----
    Unsqueeze, Cast, Concat.
    """
    rows = _open_rows(tup)
    if rows is not None:
        rows = rows.padded(1)
        return (rows.unsqueezed([1]) if rows.every.ndim == 2 else rows).joined(1)
    xs = _arrays(tup)
    return joined([unsqueeze(at_least(x, 1), [1]) if x.ndim < 2 else x for x in xs], 1)


@function(
    ROWS, np.append,
    samples=calls(lambda m: [
        call(m.special(3), m(2)), call(m(2, 3), m(1, 3), axis=0), call(m(2, 2), 1),
        call(m(0), [1, 2]), call(m(2), m.scalar(1)),
    ]),
)  # fmt: skip
def append(arr: Any, values: Any, axis: int | None = None) -> Value:
    """Join an array and what comes after it.

    Notes
    -----
    Cast, Concat.
    """
    return concatenate([arr, values], axis=axis)


def _depth(arrays: Any) -> int:
    """Return how deep the lists of a block matrix are nested; raises NumPy's errors."""
    if isinstance(arrays, tuple):
        msg = (
            "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does "
            "not allow implicit conversion from tuple to ndarray."
        )
        raise TypeError(msg)
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        msg = "List at arrays cannot be empty"
        raise ValueError(msg)
    depths = {_depth(a) for a in arrays}
    if len(depths) != 1:
        msg = "List depths are mismatched."
        raise ValueError(msg)
    return 1 + depths.pop()


def _leaves(arrays: Any) -> list[Value]:
    if not isinstance(arrays, list):
        return [as_array(arrays)]
    return [leaf for item in arrays for leaf in _leaves(item)]


@function(
    ROWS, np.block,
    samples=calls(lambda m: [
        call([m(2), m(3)]), call([[m(2, 2), m(2, 1)], [m(1, 2), m(1, 1)]]), call(m(2)),
        call([[m(2)], [m(2)]]), call([1, m(2)]),
    ]),
)  # fmt: skip
def block(arrays: Any) -> Value:
    """Join a nested list of blocks: the innermost lists along the last axis, and so on.

    Notes
    -----
    Unsqueeze, Cast, Concat.
    """
    if isinstance(arrays, Value):
        return arrays
    depth = _depth(arrays)
    rank = max(depth, *(leaf.ndim for leaf in _leaves(arrays)))

    def build(part: Any, level: int) -> Value:
        if not isinstance(part, list):
            leaf = as_array(part)
            return cast(unsqueeze(leaf, range(rank - leaf.ndim)), leaf.dtype)
        return joined([build(p, level + 1) for p in part], rank - depth + level)

    return build(arrays, 0)


# --- splitting -----------------------------------------------------------------------------


def _piece(shape: Shape, axis: int, span: Item) -> View:
    items = whole(shape)
    items[axis] = span
    return IndexView(items)


Shape = tuple[DimLike, ...]


def _is_number(sections: Any) -> bool:
    if isinstance(sections, (Value, np.ndarray)):
        return sections.ndim == 0
    return not isinstance(sections, (list, tuple))


def _whole(sections: Any) -> Any:
    """Return a float that gives a number of parts as an int, as NumPy takes it."""
    return int(sections) if isinstance(sections, (float, np.floating)) else sections


def _at_places(x: Value, axis: int, places: Any) -> list[View]:
    """Cut before each place, read as a slice bound; how many there are is known."""
    if isinstance(places, (Value, np.ndarray)):
        places = as_list(as_array(places))
    bounds: list[Number | None] = [0, *(slice_bound(p) for p in places), None]
    n = x.shape[axis]
    return [_piece(x.shape, axis, Span(a, b, 1, n)) for a, b in itertools.pairwise(bounds)]


def _in_parts(x: Value, axis: int, count: int) -> list[View]:
    """Cut in parts of equal length, the first ones by 1 longer where it must be."""
    n = x.shape[axis]
    small, more = n // count, n % count
    out: list[View] = []
    for i in range(count):
        begin = small * i + dim_min(more, i)
        length = (n + (count - 1 - i)) // count
        out.append(_piece(x.shape, axis, Span.block(begin, length, n)))
    return out


def _sections(count: Any) -> int:
    number = operator.index(as_shape(count)[0])
    if number <= 0:
        msg = "number sections must be larger than 0."
        raise ValueError(msg)
    return number


@function(
    ROWS, np.array_split, view=True,
    samples=calls(lambda m: [
        call(m.special(7), 3), call(m(7, 2), 4), call(m(2, 7), [1, 4], axis=1), call(m(2), 3),
        call(m(0), 2),
    ]),
)  # fmt: skip
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[View]:
    """Split an array into views, of nearly equal length or at places.

    Notes
    -----
    Slice.
    """
    x = as_array(ary)
    axis = normalize_axis(axis, x.ndim)
    indices_or_sections = _whole(indices_or_sections)
    if _is_number(indices_or_sections):
        return _in_parts(x, axis, _sections(indices_or_sections))
    return _at_places(x, axis, indices_or_sections)


@function(
    ROWS, np.split, view=True,
    samples=calls(lambda m: [
        call(m.special(6), 3), call(m(2, 6), [1, 4], axis=1), call(m(6, 2), 2, -2),
        call(m(7), 3), call(m(0), 2), call(m(4), [5, 1]),
    ]),
)  # fmt: skip
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[View]:
    """Split an array into views, of equal length or at places.

    Raises
    ------
    ValueError
        The length is no multiple of the number of parts.

    Notes
    -----
    Slice.
    """
    x = as_array(ary)
    axis = normalize_axis(axis, x.ndim)
    indices_or_sections = _whole(indices_or_sections)
    if not _is_number(indices_or_sections):
        return _at_places(x, axis, indices_or_sections)
    count, n = as_shape(indices_or_sections)[0], x.shape[axis]
    if isinstance(count, int) and count == 0:
        msg = "division by zero"
        raise ZeroDivisionError(msg)
    number = operator.index(count)
    if not require_equal(running_trace().env, n // number * number, n):
        msg = "array split does not result in an equal division"
        raise ValueError(msg)
    if number < 0:
        msg = "number sections must be larger than 0."
        raise ValueError(msg)
    each = n // number
    return [_piece(x.shape, axis, Span.block(each * i, each, n)) for i in range(number)]


def _split_along(numpy: Any, least: int, axis: int, *shape: int) -> None:
    def split_along(ary: Any, indices_or_sections: Any) -> list[View]:
        x = as_array(ary)
        if x.ndim < least:
            msg = f"{numpy.__name__} only works on arrays of {least} or more dimensions"
            raise ValueError(msg)
        found: list[View] = split(x, indices_or_sections, 0 if x.ndim == 1 else axis)
        return found

    split_along.__name__ = numpy.__name__
    split_along.__doc__ = f"Split an array into views along axis {axis} (Slice)."
    samples = calls(
        lambda m: [call(m.special(*shape), n) for n in (3, [1, 4], [2], 1, [0, 9, 3], 4)]
    )
    ROWS.append(Function(numpy, split_along, view=True, samples=samples))


_split_along(np.vsplit, 2, 0, 6, 2)
_split_along(np.hsplit, 1, 1, 2, 6)
_split_along(np.dsplit, 3, 2, 2, 1, 6)


@function(
    ROWS, np.unstack, view=True, scalar=True, api="unstack",
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3), axis=-1), call(m(3)), call(m(0, 2)), call(m()),
    ]),
)  # fmt: skip
def unstack(x: Any, /, *, axis: int = 0) -> tuple[View, ...]:
    """Return the slices along an axis, as views; a symbolic length is fixed by a guard.

    Notes
    -----
    Gather.
    """
    value = as_array(x)
    if not value.ndim:
        msg = "Input array must be at least 1-d."
        raise ValueError(msg)
    axis = normalize_axis(axis, value.ndim)
    count = operator.index(value.shape[axis])
    return tuple(_piece(value.shape, axis, Pick(i, is_safe=True)) for i in range(count))
