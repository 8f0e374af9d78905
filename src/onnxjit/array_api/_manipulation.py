# SPDX-License-Identifier: Apache-2.0
"""Shapes, order and copies of elements; elements by index."""

from __future__ import annotations

from typing import Any

from ._call import call, of_sizes, view

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "take",
    "take_along_axis", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Any) -> Any:
    """Return arrays broadcast against each other, as a tuple."""
    return call("broadcast_arrays", *arrays)


def broadcast_shapes(*shapes: Any) -> Any:
    """Return the shape that shapes broadcast to; a size of None is not known, and stays so.

    Raises
    ------
    ValueError
        They do not broadcast.
    """
    known = [tuple(1 if size is None else size for size in shape) for shape in shapes]
    joint = of_sizes("broadcast_shapes", *known)
    unknown = {
        axis - len(shape)
        for shape in shapes
        for axis, size in enumerate(shape)
        if size is None
    }
    if not unknown:
        return joint
    count = len(joint)
    return tuple(None if i - count in unknown else size for i, size in enumerate(joint))


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """Return an array of a shape, with the elements of `x` repeated."""
    return view("broadcast_to", x, shape)


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """Join arrays along an axis; None joins their elements."""
    return call("concat", arrays, axis=axis)


def expand_dims(x: Any, /, axis: Any) -> Any:
    """Insert axes of length 1, which are at `axis` in the result."""
    return view("expand_dims", x, axis)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """Reverse the order along axes, all by default."""
    return view("flip", x, axis=axis)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Move axes to other places."""
    return view("moveaxis", x, source, destination)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """Put the axes in another order."""
    return view("permute_dims", x, axes)


def repeat(x: Any, repeats: Any, /, *, axis: Any = None) -> Any:
    """Repeat each element along an axis, or of the flattened array."""
    return call("repeat", x, repeats, axis=axis)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Give another shape; a view where the memory allows, unless `copy` says otherwise."""
    options = {} if copy is None else {"copy": copy}
    return view("reshape", x, shape, **options)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Move elements along axes, from the end to the start."""
    return call("roll", x, shift, axis=axis)


def squeeze(x: Any, /, axis: Any) -> Any:
    """Remove axes of length 1."""
    return view("squeeze", x, axis)


def stack(arrays: Any, /, *, axis: Any = 0) -> Any:
    """Join arrays of one shape along a new axis."""
    return call("stack", arrays, axis=axis)


def tile(x: Any, repetitions: Any, /) -> Any:
    """Repeat the whole array along axes."""
    return call("tile", x, repetitions)


def unstack(x: Any, /, *, axis: Any = 0) -> Any:
    """Return the parts of an array along an axis, as a tuple."""
    return view("unstack", x, axis=axis)


def take(x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    """Return the parts of an array at places along an axis."""
    return call("take", x, indices, axis=axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: Any = -1) -> Any:
    """Return the elements at places along an axis, with an array of places for each line."""
    return call("take_along_axis", x, indices, axis=axis)
