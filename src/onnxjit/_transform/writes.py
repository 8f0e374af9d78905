# SPDX-License-Identifier: Apache-2.0
"""Arrays that a loop carries only to write one place of them in each iteration, or to grow.

Such an array need not be carried, which would copy it each time: what is written or added is
stacked, and put into the array or behind it after the loop.  What an iteration reads of the
array is then either what was there before the loop, or what the iteration before has written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.dims import DimLike, same
from onnxjit._core.region import visible
from onnxjit._ops.gather import GATHER, GATHER_ND, SCATTER_ND, gather, scatter_nd
from onnxjit._ops.structure import (
    CONCAT,
    UNSQUEEZE,
    broadcast_to,
    concat,
    const,
    reshape,
    take_range,
    unsqueeze,
    vector,
)

from .forward import element_of
from .places import Moving, places_of, proves

if TYPE_CHECKING:
    from onnxjit._core.program import Equation, Value

    from .batch import Batch

__all__ = ["Grown", "Written", "grown", "written"]


class Written:
    """An array and the place that an iteration writes.

    Attributes
    ----------
    state : Value
        The array in the body.
    write : Equation
    at : list of Moving
        Where.
    before, last : list of Equation
        Reads of what was there before the loop, and of what the iteration before has written.
    """

    __slots__ = ("at", "before", "last", "state", "write")

    def __init__(self, state: Value, write: Equation, at: list[Moving]) -> None:
        self.state: Final = state
        self.write: Final = write
        self.at: Final = at
        self.before: list[Equation] = []
        self.last: list[Equation] = []

    @property
    def axis(self) -> int | None:
        """The axis along which the place moves, None where it stays."""
        return next((a for a, m in enumerate(self.at) if m.step), None)

    def element(self) -> Value:
        """Return what an iteration writes, in its block."""
        return element_of(self.write)

    # --- in the block around the loop

    def first(self, batch: Batch, x: Value) -> Value:
        """Return what the first iteration finds where the one before it would have written."""
        starts = [Moving(m.start - m.step, 0) for m in self.at]
        if batch.is_inside(x, starts):
            return batch.picked(x, starts)
        assert self.axis is not None  # a place that stays is inside
        row = batch.picked(x, self.at)
        # without iterations nothing may be there
        there = take_range(row, 0, starts[self.axis].start, 1)
        spare = broadcast_to(const(np.zeros((), x.dtype.numpy)), (1, *row.shape[1:]))
        return gather(concat([there, spare], 0), const(np.int64(0)), 0)

    def final(self, batch: Batch, x: Value, rows: Value) -> Value:
        """Return the array after the loop, given what all iterations have written."""
        at, axis = self.at, self.axis
        assert axis is not None
        if axis != len(at) - 1 or not batch.is_block(x, at):
            return scatter_nd(x, batch.index(at), rows)
        if not axis:
            return _replaced(x, at[0].start, rows, batch.trips)
        lead = vector([m.start for m in at[:axis]])
        row = batch.picked(x, at[:axis])
        row = _replaced(row, at[axis].start, rows, batch.trips)
        return scatter_nd(x, reshape(lead, (1, axis)), unsqueeze(row, [0]))

    def final_place(self, x: Value, element: Value) -> Value:
        """Return the array after the loop, of which one place was written over and over."""
        index = vector([m.start for m in self.at])
        return scatter_nd(x, reshape(index, (1, len(self.at))), unsqueeze(element, [0]))


def _replaced(x: Value, start: DimLike, rows: Value, count: DimLike) -> Value:
    n = x.shape[0]
    if same(start, 0) and same(count, n):
        return rows
    end = start + count
    return concat([take_range(x, 0, 0, start), rows, take_range(x, 0, end, n - end)], 0)


def written(batch: Batch, state: Value, after: Value, uses: list[Equation]) -> Written | None:
    """Return how a carried array is written, None where it has to be carried.

    Parameters
    ----------
    state, after : Value
        The array in an iteration, and what the iteration makes of it.
    uses : list of Equation
        All that read `state`, inner blocks included.
    """
    write = after.equation
    if write is None or write.op is not SCATTER_ND or write.inputs[0] is not state:
        return None
    places = _even(batch, write.inputs[1])
    if places is None or write.outputs[0].block is not batch.body:
        return None
    found = Written(state, write, places)
    if sum(m.step != 0 for m in places) > 1 or any(m.step not in {0, 1} for m in places):
        return None
    if not all(_is_low(batch, m) for m in places):
        return None
    if found.axis is None and not batch.is_inside(state, places):
        return None
    for use in uses:
        if use is not write and not _classify(batch, found, use):
            return None
    if found.axis is not None and found.last and not batch.picks_inside(state, places):
        return None
    return found


class Grown:
    """An array behind which each iteration puts as many elements.

    Attributes
    ----------
    parts : list of Value
        What one iteration adds.
    """

    __slots__ = ("parts",)
    #: as of `Written`: what is added lies along the first axis, and is never read
    axis: Final = 0
    before: Final[tuple[Equation, ...]] = ()
    last: Final[tuple[Equation, ...]] = ()

    def __init__(self, parts: list[Value]) -> None:
        self.parts: Final = parts

    def element(self) -> Value:
        """Return what an iteration adds, in its block."""
        made = self.parts[0].equation
        if len(self.parts) == 1 and made is not None and made.op is UNSQUEEZE:
            return made.inputs[0] if made.params["axes"] == (0,) else self.parts[0]
        return concat(self.parts, 0)

    def final(self, batch: Batch, x: Value, rows: Value) -> Value:
        """Return the array after the loop, given what all iterations have added."""
        if rows.ndim > x.ndim:
            rows = reshape(rows, (batch.trips * rows.shape[1], *rows.shape[2:]))
        return concat([x, rows], 0)


def grown(
    batch: Batch, state: Value, start: Value, after: Value, uses: dict[int, list[Equation]]
) -> Grown | None:
    """Return what a carried array grows by, None where it has to be carried.

    Parameters
    ----------
    state, after : Value
        The array in an iteration, and what the iteration makes of it.
    start : Value
        The array before the loop.
    uses : dict
        The readers of each value in the body, by its id.
    """
    parts: list[Value] = []
    found = after
    while found is not state:
        made = found.equation
        if made is None or made.op is not CONCAT or made.params["axis"] != 0:
            return None
        parts[:0] = made.inputs[1:]
        found = made.inputs[0]
        if found.block is not batch.body or len(uses.get(found.id, ())) != 1:
            return None
    outer = start.block
    sizes = start.shape[1:]
    alike = all(
        all(map(same, v.shape[1:], sizes)) and all(visible(n, outer) for n in v.shape)
        for v in parts
    )
    return Grown(parts) if parts and alike else None


def _is_low(batch: Batch, m: Moving) -> bool:
    """Whether a place never counts from the end."""
    return proves(batch.env, m.start, batch.inner)


def _even(batch: Batch, index: Value) -> list[Moving] | None:
    places = places_of(index)
    if places is None:
        return None
    found = [batch.moving(p) for p in places]
    return None if None in found else [m for m in found if m is not None]


def _classify(batch: Batch, array: Written, use: Equation) -> bool:
    """Sort a read in, if it is one of the kinds that can be."""
    if use.op not in {GATHER, GATHER_ND}:
        return False
    found = batch.read_places(use)
    ways = None if found is None else [batch.moving(p) for p in found]
    places = None if ways is None or None in ways else [m for m in ways if m is not None]
    is_read = use.inputs[0] is array.state and use.outputs[0].block is batch.body
    if not is_read or places is None or not all(_is_low(batch, m) for m in places):
        return False
    pairs = list(zip(array.at, places, strict=False))
    if any(_are_apart(batch, p, q) for p, q in pairs):
        array.before.append(use)
        return True
    if len(places) < len(array.at) or not all(p.step == q.step for p, q in pairs):
        return False
    is_part = len(places) > len(array.at)
    distance = [q.start - p.start for p, q in pairs]
    axis = array.axis
    if any(not same(d, 0) for a, d in enumerate(distance) if a != axis):
        return False
    if axis is None:
        array.last.append(use)
        return not is_part
    gap = distance[axis]
    if proves(batch.env, gap, batch.inner):
        array.before.append(use)  # it is written in this iteration or later
        return True
    array.last.append(use)
    return not is_part and isinstance(gap, int) and gap == -1


def _are_apart(batch: Batch, p: Moving, q: Moving) -> bool:
    """Whether two places differ whatever the iterations they belong to."""
    if p.step and q.step:
        return False
    # the iterations of a place that moves by 1 reach from its start to before start + trips
    low_p, low_q = p.start, q.start
    high_p = low_p + batch.trips - 1 if p.step else low_p
    high_q = low_q + batch.trips - 1 if q.step else low_q
    if not {p.step, q.step} <= {0, 1}:
        return False
    gaps = low_p - high_q - 1, low_q - high_p - 1
    return any(proves(batch.env, gap, batch.inner) for gap in gaps)
