# SPDX-License-Identifier: Apache-2.0
"""Functions that read elements at places or under a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import DimLike, broadcast_shapes
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.program import Value

from . import structure
from .basic import out_of_bounds
from .cast import cast
from .convert import as_array, normalize_axis
from .elementwise import maximum, minimum, not_equal, remainder
from .fitting import shape_text
from .gather import compress, gather, gather_elements, nonzero
from .row import Function, Ufunc, function
from .samples import call, calls
from .structure import broadcast_to, reshape, same_shape, take_range

__all__ = ["ROWS", "safe_places"]

ROWS: list[Function | Ufunc] = []


def safe_places(
    indices: Any, n: DimLike, mode: str, axis: int = 0, *, casting: str = "same_kind"
) -> Value:
    """Return places along an axis of size n as int64, brought inside as `mode` says.

    Raises
    ------
    TypeError
        An array that `casting` does not let become integers; lists are cast as they are.
    IndexError
        Known ones are outside, in mode "raise".
    """
    if isinstance(indices, (list, tuple)) and not len(indices):
        indices = np.zeros(0, np.int64)
    x = as_array(indices)
    is_array = isinstance(indices, (Value, np.ndarray)) and x.ndim
    if is_array and not np.can_cast(x.dtype.numpy, np.int64, casting):  # type: ignore[arg-type]
        msg = (
            f"Cannot cast array data from {x.dtype.numpy!r} to dtype('int64') according to "
            f"the rule '{casting}'"
        )
        raise TypeError(msg)
    at = cast(x, INT64)
    if mode == "clip":
        at = maximum(minimum(at, n - 1), 0)
    elif mode == "wrap":
        at = remainder(at, n)
    elif mode != "raise":
        msg = f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})"
        raise ValueError(msg)
    elif at.known is not None and isinstance(n, int):
        wrong = at.known[(at.known < -n) | (at.known >= n)]
        if wrong.size:
            raise out_of_bounds(int(wrong[0]), axis, n)
    return at


def flat_or(x: Value, axis: Any) -> tuple[Value, int]:
    """Return an array and the axis to go along: its elements and 0 without one."""
    if axis is None:
        return structure.as_1d(x), 0
    if not x.ndim:
        return structure.as_1d(x), normalize_axis(axis, 1)
    return x, normalize_axis(axis, x.ndim)


@function(
    ROWS, np.take, scalar=True, api="take",
    samples=calls(lambda m: [
        call(m.special(5), m.places(5, 3)), call(m(3, 4), m.places(4, 2), 1),
        call(m(3, 4), [[0, 1]], axis=0), call(m(5), 2),
        call(m(5), m.places(9, 4), mode="wrap"), call(m(5), m.places(9, 4), mode="clip"),
        call(m(3, 4), m.counts(3)), call(m(5), 9), call(m(3), []),
    ]),
)  # fmt: skip
def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Value:
    """Take slices along an axis at places; elements without an axis.

    Raises
    ------
    IndexError
        A place is outside (mode "raise"); for places that are data, when it runs.

    Notes
    -----
    Gather; Min, Max or Mod for the other modes.
    """
    x, at = flat_or(as_array(a), axis)
    return gather(x, safe_places(indices, x.shape[at], mode, at), at)


def along_axis(x: Value, indices: Any, axis: Any) -> tuple[Value, Value, int]:
    """Return array and places with equal sizes off the axis, broadcast as NumPy does."""
    at = as_array(indices)
    if at.dtype.kind not in "iu":
        msg = "`indices` must be an integer array"
        raise IndexError(msg)
    if axis is None:
        if at.ndim != 1:
            msg = "when axis=None, `indices` must have a single dimension."
            raise ValueError(msg)
        x, axis = structure.as_1d(x), 0
    elif at.ndim != x.ndim:
        msg = "`indices` and `arr` must have the same number of dimensions"
        raise ValueError(msg)
    axis = normalize_axis(axis, x.ndim)
    rest = [tuple(1 if i == axis else n for i, n in enumerate(v.shape)) for v in (x, at)]
    try:
        shape = broadcast_shapes(running_trace().env, *rest)
    except ValueError:
        shapes = " ".join(shape_text(s) for s in reversed(rest))
        msg = (
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{shapes} "
        )
        raise IndexError(msg) from None
    both = [
        broadcast_to(v, (*shape[:axis], v.shape[axis], *shape[axis + 1 :])) for v in (x, at)
    ]
    return both[0], cast(both[1], INT64), axis


@function(
    ROWS, np.take_along_axis, api="take_along_axis",
    samples=calls(lambda m: [
        call(m.special(3, 4), m.counts(4, 3, 2)), call(m(3, 4), m.places(3, 2, 4), 0),
        call(m(5), m.counts(5, 3), axis=None), call(m(3, 4), m.counts(4, 1, 2), axis=1),
        call(m(3), m.counts(3, 2, 2)),
    ]),
)  # fmt: skip
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Value:
    """Take one element for each place, place by place along an axis.

    Notes
    -----
    GatherElements.
    """
    x, at, axis = along_axis(as_array(arr), indices, axis)
    return gather_elements(x, at, axis)


def truth(x: Any) -> Value:
    """Return which elements are not zero."""
    value = as_array(x)
    return value if value.dtype is BOOL else not_equal(value, 0)


@function(
    ROWS, np.compress,
    samples=calls(lambda m: [
        call(m.mask(5), m.special(5)), call(m.mask(3), m(3, 4), axis=0),
        call([True, False], m(5)), call(m.mask(4), m(3, 4), 1), call([], m(3)),
        call(m(3), m(3)),
    ]),
)  # fmt: skip
def compress_row(condition: Any, a: Any, axis: Any = None) -> Value:
    """Keep the slices along an axis where a condition holds; a short one drops the rest.

    Notes
    -----
    Compress.
    """
    mask = truth(condition)
    if mask.ndim != 1:
        msg = "condition must be a 1-d array"
        raise ValueError(msg)
    x, at = flat_or(as_array(a), axis)
    return kept(x, mask, at)


def kept(x: Value, mask: Value, axis: int) -> Value:
    """Keep slices where a mask, maybe of another length than the axis, is true."""
    if same_shape(mask.shape, (x.shape[axis],)):
        return compress(x, mask, axis)
    found = nonzero(mask)
    return gather(x, reshape(take_range(found, 0, 0, 1), (found.shape[1],)), axis)


@function(
    ROWS, np.extract,
    samples=calls(lambda m: [
        call(m.mask(5), m.special(5)), call(m.mask(2, 3), m(2, 3)),
        call([True, False, True], m(3)), call(m(3), m(3)),
    ]),
)  # fmt: skip
def extract(condition: Any, arr: Any) -> Value:
    """Return the elements where a condition holds.

    Notes
    -----
    Compress.
    """
    return kept(structure.as_1d(as_array(arr)), structure.as_1d(truth(condition)), 0)
