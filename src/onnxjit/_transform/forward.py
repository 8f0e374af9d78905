# SPDX-License-Identifier: Apache-2.0
"""Reads of what was just written, without the array in between.

Each write copies an array that a loop carries.  Where all that reads an array between two
writes can do without it, one copy is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.dims import same
from onnxjit._ops.gather import GATHER, GATHER_ND, SCATTER_ND, gather, gather_nd, scatter_nd
from onnxjit._ops.structure import UNSQUEEZE, reshape, unsqueeze, vector

from .places import Facts, is_inside, place_of, places_of, proves
from .uses import all_uses, replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import DimLike, ShapeEnv
    from onnxjit._core.program import Block, Equation, Value

__all__ = ["element_of", "forward_writes", "read_places"]

#: writes in one block beyond which they are left as they are
_MOST: Final = 16
#: where a read finds its value: before the write, as the element written, in it, around it
_BEFORE, _EQUAL, _WITHIN, _AROUND = range(4)


def element_of(write: Equation) -> Value:
    """Return the one element that an equation writes; new equations go where the trace is."""
    update = write.inputs[2]
    made = update.equation
    if made is not None and made.op is UNSQUEEZE and made.params["axes"] == (0,):
        return made.inputs[0]
    return reshape(update, update.shape[1:])


def read_places(equation: Equation) -> list[DimLike] | None:
    """Return where an equation reads or writes one place, None where that is data."""
    if equation.op is GATHER:
        at = place_of(equation.inputs[1]) if equation.inputs[1].ndim == 0 else None
        return None if at is None or equation.params["axis"] else [at]
    if equation.op is GATHER_ND and equation.inputs[1].ndim != 1:
        return None
    return None if equation.params.get("batch") else places_of(equation.inputs[1])


def forward_writes(block: Block, facts: Facts) -> bool:
    """Let reads do without the arrays of a block's writes; tell whether any could."""
    writes = [e for e in block.equations if e.op is SCATTER_ND]
    if len(writes) > _MOST:
        return False
    done = [_Write(block, write, facts).forward() for write in writes]
    return any(done)


def _are_same(a: Sequence[DimLike], b: Sequence[DimLike]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


class _Write:
    """One write of one place in a block, of which `places` is None if that is data."""

    __slots__ = ("block", "env", "facts", "places", "write")

    def __init__(self, block: Block, write: Equation, facts: Facts) -> None:
        self.block: Final = block
        self.env: Final[ShapeEnv] = block.trace.env
        self.facts: Final = facts
        self.write: Final = write
        places = places_of(write.inputs[1])
        self.places: Final = places if places and self._are_low(places) else None

    def _are_low(self, places: Sequence[DimLike]) -> bool:
        return all(proves(self.env, p, self.facts) for p in places)

    def forward(self) -> bool:
        """Change what reads the array; tell whether anything could be."""
        if self.places is None:
            return False
        (result,) = self.write.outputs
        uses = {u.id: u for u in all_uses(self.block).get(result.id, ())}
        found = {i: self._way(u) for i, u in uses.items()}
        ways = {i: w for i, w in found.items() if w is not None}
        if len(ways) < len(found) or result in self.block.outputs:
            # the array is needed in any case
            ways = {
                i: w for i, w in ways.items() if w != _AROUND and uses[i].op is not SCATTER_ND
            }
        if ways:
            self._rebuild(ways)
        return bool(ways)

    def _way(self, use: Equation) -> int | None:
        """Return how a use can do without the array, None where it cannot."""
        if (
            use.op not in {GATHER, GATHER_ND, SCATTER_ND}
            or use.inputs[0] is not (self.write.outputs[0])
        ):
            return None
        if use.outputs[0].block is not self.block or self.write.outputs[0] in use.inputs[1:]:
            return None
        found, mine = read_places(use), self.places
        if found is None or mine is None or not self._are_low(found):
            return None
        pairs = list(zip(mine, found, strict=False))
        is_same = all(same(p, q) for p, q in pairs)
        if use.op is SCATTER_ND:
            covers = is_same and len(found) <= len(mine)
            checks = len(found) == len(mine)  # that the place is there
            return _BEFORE if covers and (checks or self._is_there()) else None
        if is_same:
            if len(found) == len(mine):
                return _EQUAL
            return _WITHIN if len(found) > len(mine) else _AROUND
        return _BEFORE if any(self._are_apart(p, q) for p, q in pairs) else None

    def _is_there(self) -> bool:
        """Whether the write cannot fail, so that it need not be made."""
        assert self.places is not None  # asked of such a write only
        x = self.write.inputs[0]
        pairs = zip(self.places, x.shape, strict=False)
        if all(is_inside(self.env, p, n, self.facts) for p, n in pairs):
            return True
        for equation in self.block.equations:
            if equation is self.write:
                return False
            if equation.op in {GATHER, GATHER_ND}:
                found = read_places(equation)
                shape = equation.inputs[0].shape
                if found and _are_same(found, self.places) and _are_same(shape, x.shape):
                    return True
        return False

    def _are_apart(self, p: DimLike, q: DimLike) -> bool:
        return any(proves(self.env, gap, self.facts) for gap in (p - q - 1, q - p - 1))

    def _rebuild(self, ways: dict[int, int]) -> None:
        block, trace = self.block, self.block.trace
        equations, block.equations, block.shared = block.equations, [], {}
        outer, trace.block = trace.block, block
        new: dict[int, Value] = {}
        for equation in equations:
            way = ways.get(equation.id)
            if new:
                equation.inputs = tuple(new.get(v.id, v) for v in equation.inputs)
            if way is None:
                block.equations.append(equation)
            elif way == _BEFORE:
                equation.inputs = (self.write.inputs[0], *equation.inputs[1:])
                block.equations.append(equation)
            else:
                new[equation.outputs[0].id] = self._found(equation, way)
        trace.block = outer
        replace(block, new)

    def _found(self, read: Equation, way: int) -> Value:
        """Return what a read finds, without the array."""
        element = element_of(self.write)
        places, mine = read_places(read), self.places
        assert places is not None  # there would be no way
        assert mine is not None
        if way == _EQUAL:
            return element
        if way == _WITHIN:
            return gather_nd(element, vector(places[len(mine) :]))
        x, index = self.write.inputs[0], read.inputs[1]
        row = gather(x, index, 0) if read.op is GATHER else gather_nd(x, index)
        rest = mine[len(places) :]
        return scatter_nd(row, reshape(vector(rest), (1, len(rest))), unsqueeze(element, [0]))
