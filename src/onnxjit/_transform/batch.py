# SPDX-License-Identifier: Apache-2.0
"""All iterations of an equation at once: arrays with a leading axis for the iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.bind import DIM, bind, bind_one, dim_value
from onnxjit._core.dim_polynomial import atom_poly
from onnxjit._core.dims import DimLike, same
from onnxjit._core.dtypes import INT64
from onnxjit._core.program import dims_in
from onnxjit._core.region import visible
from onnxjit._ops.cast import CAST, cast
from onnxjit._ops.elementwise import add, multiply
from onnxjit._ops.gather import (
    GATHER,
    GATHER_ND,
    SCATTER_ND,
    gather,
    gather_nd,
    scatter_elements,
)
from onnxjit._ops.structure import (
    CONCAT,
    RESHAPE,
    SLICE,
    SQUEEZE,
    UNSQUEEZE,
    broadcast_to,
    concat,
    iota,
    reshape,
    take_range,
    unsqueeze,
    vector,
)

from .forward import read_places
from .places import Facts, Moving, counters, is_inside, moving, place_of, places_of, proves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnxjit._core.program import Block, Equation, Value

__all__ = ["Batch"]


class Batch:
    """The iterations of one loop, for code in the block around it.

    Parameters
    ----------
    body : Block
        The loop's body; its first input is the counter.
    trips : int or Dim
        Number of iterations.
    outer, inner : Facts
        What holds in the block around the loop, and in an iteration.

    Attributes
    ----------
    rows : dict
        By id of a value of the body: the values of all iterations.
    most : int
        Axes of the largest element that the loop stacks anyway.
    """

    __slots__ = ("body", "env", "inner", "most", "outer", "rows", "symbols", "trips")

    def __init__(self, body: Block, trips: DimLike, outer: Facts, inner: Facts) -> None:
        self.body: Final = body
        self.env: Final = body.trace.env
        self.trips: Final = trips
        self.outer: Final = outer
        self.inner: Final = inner
        self.symbols: Final = counters(self.env, body.inputs[0])
        self.rows: dict[int, Value] = {}
        self.most = 0

    # --- what is what

    def is_outer(self, value: Value) -> bool:
        """Whether a value is the same in all iterations."""
        return value.known is not None or not value.block.is_inside(self.body)

    def moving(self, place: DimLike) -> Moving | None:
        """Return how a place moves from iteration to iteration."""
        return moving(place, self.symbols, self.body)

    def place(self, value: Value) -> DimLike | None:
        """Return a 0-d integer of the body as a size."""
        if value is self.body.inputs[0] and self.symbols:
            return self.env.dim(atom_poly(self.symbols[0]))
        return place_of(value)

    # --- places

    def read_places(self, equation: Equation) -> list[DimLike] | None:
        """Return where an equation of the body reads one place."""
        if equation.op is GATHER and equation.inputs[1] is self.body.inputs[0]:
            place = self.place(equation.inputs[1])
            return None if place is None or equation.params["axis"] else [place]
        return read_places(equation)

    def line(self, at: Moving) -> Value:
        """Return the places of all iterations as a vector."""
        if not at.step:
            return broadcast_to(reshape(_index(at.start), (1,)), (self.trips,))
        places = iota(self.trips)
        if at.step != 1:
            places = multiply(places, dim_value(at.step))
        return places if same(at.start, 0) else cast(add(places, _index(at.start)), INT64)

    def index(self, at: Sequence[Moving]) -> Value:
        """Return the places of all iterations as rows of an index."""
        return concat([unsqueeze(self.line(m), [1]) for m in at], 1)

    def is_block(self, x: Value, at: Sequence[Moving]) -> bool:
        """Whether places are surely inside, also without iterations, and one moves by 1."""
        return self.picks_inside(x, at) and all(
            not m.step or self._fits(m.start, n) for m, n in zip(at, x.shape, strict=False)
        )

    def picks_inside(self, x: Value, at: Sequence[Moving]) -> bool:
        """Whether one place moves by 1 and the others are surely inside."""
        pairs = [(m, n) for m, n in zip(at, x.shape, strict=False) if not m.step]
        moving = [m.step for m in at if m.step]
        return moving == [1] and all(
            is_inside(self.env, m.start, n, self.outer) for m, n in pairs
        )

    def is_inside(self, x: Value, at: Sequence[Moving]) -> bool:
        """Whether places that stay are surely inside, also without iterations."""
        pairs = zip(at, x.shape, strict=False)
        return all(is_inside(self.env, m.start, n, self.outer) for m, n in pairs)

    def _fits(self, start: DimLike, n: DimLike) -> bool:
        """Whether a slice has an element for each iteration; without any it has none."""
        end = n - start - self.trips
        return all(proves(self.env, d, self.inner) for d in (start, end))

    def picked(self, x: Value, at: Sequence[Moving]) -> Value:
        """Apply the places that stay; the axis of one that moves is the first then."""
        axis = next((a for a, m in enumerate(at) if m.step), len(at))
        for a in range(len(at) - 1, axis, -1):
            x = gather(x, _index(at[a].start), a)
        if axis == 1:
            return gather(x, _index(at[0].start), 0)
        return gather_nd(x, vector([m.start for m in at[:axis]])) if axis else x

    def read(self, x: Value, at: Sequence[Moving]) -> Value:
        """Return what all iterations read of an array that does not change."""
        if self.picks_inside(x, at):
            (axis,) = [a for a, m in enumerate(at) if m.step]
            x, m = self.picked(x, at), at[axis]
            if self._fits(m.start, x.shape[0]):
                return take_range(x, 0, m.start, self.trips)
            return gather(x, self.line(m), 0)
        if len(at) == 1:
            return gather(x, self.line(at[0]), 0)
        return gather_nd(x, self.index(at))

    # --- equations

    def all_at_once(self, equation: Equation) -> bool:
        """Compute an equation for all iterations, if that can be done; tell whether."""
        if equation.blocks or equation.op.stateful or len(equation.outputs) != 1:
            return False
        rule = _RULES.get(equation.op)
        if rule is None:
            rule = _rowwise if equation.op.rowwise else None
        if rule is None or not self._is_plain(equation):
            return False
        made = rule(self, equation)
        if made is None:
            return False
        wanted = (self.trips, *equation.outputs[0].shape)
        if made.ndim != len(wanted) or not all(map(same, made.shape, wanted)):
            return False
        self.rows[equation.outputs[0].id] = made
        return True

    def _is_plain(self, equation: Equation) -> bool:
        """Whether all operands are the same or known for all iterations, and sizes too."""
        if equation.op is DIM:
            return True
        if equation.op in {GATHER, GATHER_ND}:
            return self.is_outer(equation.inputs[0])
        for value in equation.inputs:
            if value.id not in self.rows and not self.is_outer(value):
                return False
        sizes = [*dims_in(equation.params.values()), *equation.outputs[0].shape]
        outer = self.body.parent
        assert outer is not None  # a loop stands in a block
        return all(visible(n, outer) for n in sizes)


def _index(at: DimLike) -> Value:
    return cast(dim_value(at), INT64)


# --- rules: the values of all iterations, or None -------------------------------------------


def _dim(batch: Batch, equation: Equation) -> Value | None:
    at = batch.moving(equation.params["dim"])
    return None if at is None or not at.step else batch.line(at)


def _rowwise(batch: Batch, equation: Equation) -> Value | None:
    """Compute all iterations by one elementwise operation."""
    rank = equation.outputs[0].ndim
    is_stacked = any(v.id in batch.rows and v.ndim == rank for v in equation.inputs)
    if rank > batch.most and not is_stacked:
        return None  # it would take more memory than what is there
    inputs = [_padded(batch, v, rank) for v in equation.inputs]
    if not any(v.id in batch.rows for v in equation.inputs):
        return None
    return bind(equation.op, *inputs, **equation.params)[0]


def _padded(batch: Batch, value: Value, rank: int) -> Value:
    """Return the rows of a value with the rank that broadcasting needs."""
    rows = batch.rows.get(value.id)
    if rows is None:
        return value
    return unsqueeze(rows, range(1, 1 + rank - value.ndim))


def _gather(batch: Batch, equation: Equation) -> Value | None:
    x, index = equation.inputs
    axis = equation.params["axis"]
    if axis or index.ndim:
        return None
    place = batch.place(index)
    at = None if place is None else batch.moving(place)
    if at is not None:
        return batch.read(x, [at]) if at.step or x.ndim == 1 else None
    rows = batch.rows.get(index.id)
    return gather(x, rows, 0) if rows is not None and x.ndim == 1 else None


def _gather_nd(batch: Batch, equation: Equation) -> Value | None:
    x, index = equation.inputs
    places = places_of(index) if index.ndim == 1 and not equation.params["batch"] else None
    at = None if places is None else [batch.moving(p) for p in places]
    if at is None or None in at:
        return None
    known = [m for m in at if m is not None]
    is_small = len(at) == x.ndim or any(m.step for m in known)
    return batch.read(x, known) if is_small else None


def _same_axes(batch: Batch, equation: Equation) -> Value | None:
    rows = batch.rows.get(equation.inputs[0].id)
    if rows is None:
        return None
    params: dict[str, Any] = dict(equation.params)
    if "axes" in params:
        params["axes"] = tuple(a + 1 for a in params["axes"])
    if equation.op is RESHAPE:
        params["shape"] = (batch.trips, *params["shape"])
    return bind_one(equation.op, rows, **params)


def _concat(batch: Batch, equation: Equation) -> Value | None:
    if not any(v.id in batch.rows for v in equation.inputs):
        return None
    parts = [_stacked(batch, v) for v in equation.inputs]
    return concat(parts, equation.params["axis"] + 1)


def _stacked(batch: Batch, value: Value) -> Value:
    rows = batch.rows.get(value.id)
    if rows is not None:
        return rows
    return broadcast_to(unsqueeze(value, [0]), (batch.trips, *value.shape))


def _scatter_nd(batch: Batch, equation: Equation) -> Value | None:
    """Write one element of each row, at the same place."""
    x, index, updates = equation.inputs
    if x.ndim != 1 or x.id not in batch.rows or not batch.is_outer(index):
        return None
    if index.ndim != 2 or not same(index.shape[0], 1):
        return None
    places = broadcast_to(index, (batch.trips, 1))
    return scatter_elements(batch.rows[x.id], places, _stacked(batch, updates), 1)


def _cast(batch: Batch, equation: Equation) -> Value | None:
    rows = batch.rows.get(equation.inputs[0].id)
    return None if rows is None else bind_one(CAST, rows, **equation.params)


_RULES: Final[dict[Any, Callable[[Batch, Equation], Value | None]]] = {
    DIM: _dim,
    CAST: _cast,
    GATHER: _gather,
    GATHER_ND: _gather_nd,
    RESHAPE: _same_axes,
    CONCAT: _concat,
    SCATTER_ND: _scatter_nd,
    SLICE: _same_axes,
    SQUEEZE: _same_axes,
    UNSQUEEZE: _same_axes,
}
