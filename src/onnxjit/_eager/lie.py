# SPDX-License-Identifier: Apache-2.0
"""Let computed results lie in memory as NumPy's do: it decides what is a view of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._ops.basic import expand_ellipsis
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.layout import k_order, keeps_order, picked_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnxjit._trace.layout import Row

__all__ = ["lie_as", "lie_as_picked"]

NDArray = np.ndarray[Any, Any]


def _row(x: NDArray) -> Row:
    return tuple((n, abs(s)) for n, s in zip(x.shape, x.strides, strict=True))


def _ndarrays(args: Iterable[Any]) -> list[NDArray]:
    found: list[NDArray] = []
    for x in args:
        if isinstance(x, (tuple, list)):
            found += _ndarrays(x)
        elif isinstance(x, Array) and x._nd is not None:
            found.append(x._nd)
        elif isinstance(x, np.ndarray):
            found.append(x)
    return found


def _put(result: Array, order: Any) -> None:
    """Copy the buffer of a new array to one whose axes lie in `order`."""
    values = result._nd
    if order is None or values is None:
        return
    buffer = np.empty([values.shape[axis] for axis in order], values.dtype)
    result._nd = buffer.transpose([order.index(axis) for axis in range(values.ndim)])
    result._nd[...] = values


def lie_as(func: Any, args: Iterable[Any], result: Any, order: Any = "K") -> Any:
    """Return what a function made, in the memory order of NumPy's result.

    Parameters
    ----------
    func : callable
        The NumPy function.
    args : iterable
        Its arguments.
    result : Array, tuple or list of them, or anything
        What it made in C order.
    order : {"K", "A", "C", "F"}
        What the call asks for.
    """
    if isinstance(result, (tuple, list)):
        for item in result:
            lie_as(func, args, item, order)
        return result
    if not isinstance(result, Array) or result._kind != ARRAY or result.ndim < 2:
        return result
    if order in {"F", "f"}:
        _put(result, tuple(reversed(range(result.ndim))))
        return result
    operands = [x for x in _ndarrays(args) if x.ndim <= result.ndim]
    if order in {"C", "c"} or not keeps_order(func):
        return result
    if not all(x.flags.c_contiguous for x in operands):
        _put(result, k_order([_row(x) for x in operands], result.ndim, guard=True))
    return result


def lie_as_picked(array: NDArray, index: Any, result: Any) -> Any:
    """Return ``array[index]``, read at places, in the memory order of NumPy's result."""
    if not isinstance(result, Array) or result._nd is None or result.ndim < 2:
        return result
    axes = _sources(array.ndim, index, result.ndim)
    if any(axis is not None for axis in axes):
        pairs = list(zip(result._nd.shape, axes, strict=True))
        _put(result, k_order([picked_row(_row(array), pairs)], result.ndim, guard=True))
    return result


def _sources(ndim: int, index: Any, result: int) -> Sequence[int | None]:
    """Return for each axis of what is read the array's axis, -1 for a new one, else None."""
    parts = list(index) if isinstance(index, tuple) else [index]
    used = [_axes_used(part) for part in parts]
    parts = expand_ellipsis(parts, sum(used), ndim)
    others: list[int | None] = []
    at: list[int] = []
    before = axis = 0
    for place, part in enumerate(parts):
        if part is None or isinstance(part, slice):
            others.append(-1 if part is None else axis)
        else:
            before = before if at else len(others)
            at.append(place)
        axis += _axes_used(part)
    count = result - len(others)
    if at[-1] - at[0] + 1 != len(at):
        before = 0
    return [*others[:before], *(None,) * count, *others[before:]]


def _axes_used(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, slice):
        return 1
    values = np.asarray(part)
    return values.ndim if values.dtype == np.bool_ else 1
