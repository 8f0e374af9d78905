# SPDX-License-Identifier: Apache-2.0
"""Parts of a carried array that no iteration changes, such as the borders of a grid."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from onnxjit._core.bind import bind_one
from onnxjit._core.dims import Dim, dim_sum, same, slice_bounds
from onnxjit._core.program import dims_in
from onnxjit._core.region import visible
from onnxjit._ops.structure import CONCAT, SLICE, is_nonnegative

from .uses import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Block, Equation, Value

__all__ = ["take_borders"]

#: where a part of an array begins, along each axis
Corner = tuple["DimLike", ...]


def take_borders(body: Block, state: Value, start: Value, after: Value) -> bool:
    """Read the parts that are put back where they were from the array before the loop.

    Where what an iteration leaves is joined of parts, and one of them is the slice of the
    carried array that lies at its place, all iterations find there what was there at first.

    Parameters
    ----------
    body : Block
    state, start, after : Value
        The carried array in the body, before the loop, and after an iteration; of one type.

    Returns
    -------
    bool
        Whether there is such a part.
    """
    outer = body.parent
    assert outer is not None  # a body is inside the block of its loop
    new: dict[int, Value] = {}
    for part, corner in _parts(after, (0,) * after.ndim, body):
        slices = _slices(part, state)
        sizes = [n for e in slices for n in _sizes(e)]
        if slices and all(visible(n, outer) for n in sizes) and _lies_at(slices, corner):
            new[part.id] = _again(slices, start)
    replace(body, new)
    return bool(new)


def _parts(value: Value, corner: Corner, body: Block) -> Iterator[tuple[Value, Corner]]:
    """Yield what a value is joined of, and where each part begins."""
    made = value.equation
    if made is None or made.op is not CONCAT or value.block is not body:
        yield value, corner
        return
    axis = made.params["axis"]
    lengths = [x.shape[axis] for x in made.inputs]
    begins = accumulate(lengths, lambda a, b: dim_sum((a, b)), initial=corner[axis])
    for x, begin in zip(made.inputs, begins, strict=False):
        yield from _parts(x, (*corner[:axis], begin, *corner[axis + 1 :]), body)


def _slices(part: Value, state: Value) -> list[Equation]:
    """Return the slices that take a part of a value, outer ones first; none if others do."""
    found: list[Equation] = []
    while part is not state:
        made = part.equation
        if made is None or made.op is not SLICE or set(made.params["steps"]) != {1}:
            return []
        found.append(made)
        (part,) = made.inputs
    return found[::-1]


def _lies_at(slices: list[Equation], corner: Corner) -> bool:
    """Whether slices of slices begin at a place of the first array."""
    return all(_begins_at(slices, axis, at) for axis, at in enumerate(corner))


def _begins_at(slices: list[Equation], axis: int, corner: DimLike) -> bool:
    """Whether slices begin at a place of an axis, or have no element there."""
    exact: DimLike = 0
    given: list[DimLike] = []
    for equation in slices:
        params = equation.params
        if axis in params["axes"]:
            start = params["starts"][params["axes"].index(axis)]
            given.append(start)
            exact += slice_bounds(start, None, 1, equation.inputs[0].shape[axis])[0]
    if same(exact, corner):
        return True
    # one that begins behind the end has no element, wherever it lies; of several, one that may
    # count from the end would make up for another
    sure = len(given) == 1 or all(map(is_nonnegative, given))
    return sure and same(dim_sum(given), corner)


def _sizes(equation: Equation) -> list[Dim]:
    return [
        *dims_in(equation.params.values()),
        *(n for n in equation.outputs[0].shape if isinstance(n, Dim)),
    ]


def _again(slices: list[Equation], array: Value) -> Value:
    """Return the same slices of another array."""
    for equation in slices:
        array = bind_one(SLICE, array, **equation.params)
    return array
