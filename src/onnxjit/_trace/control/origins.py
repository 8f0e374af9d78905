# SPDX-License-Identifier: Apache-2.0
"""Results of a call keep the type that the branch taken gave them.

A number that is ``0.0`` in one branch and a NumPy scalar in the other has one type in the
graph, and what is computed from it has that type.  If it is returned as it is, the caller gets
what the branch made: both are kept beside the joined value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.array import ARRAY, Array

from .either import Either, inner_first
from .join import joined, type_of
from .region import is_visible
from .slots import UNBOUND

if TYPE_CHECKING:
    from onnxjit._core.program import Block
    from onnxjit._trace.trace import Tracer

    from .join import Type
    from .region import Region

__all__ = ["Origin", "Origins", "same_handle"]


class Origins:
    """What each of the joined values of a conditional is in either branch."""

    def __init__(self, tracer: Tracer, regions: tuple[Region, Region]) -> None:
        self._tracer: Final = tracer
        self._regions: Final = regions
        self._found: list[tuple[int, tuple[Any, Any]]] = []
        #: ids of what leaves the branches -> where it is among the joined values
        self._at: Final[dict[int, int]] = {}

    def look(self, pairs: list[tuple[Any, Any]]) -> None:
        """Add to `pairs` what has to leave the branches beside the joined values."""
        if self._tracer.env.policy != "guard":
            return  # the outputs of a model have one type
        for i, (x, y) in enumerate(tuple(pairs)):
            a, b = type_of(x), type_of(y)
            if a is None or b is None:
                continue
            t = joined(a, b)
            sides = self._side(0, x, a, t), self._side(1, y, b, t)
            if all(s is None for s in sides):
                continue
            for which, side in enumerate(sides):
                self._leave(side, which, pairs)
            self._found.append((i, sides))

    def _side(self, which: int, x: Any, own: Type, t: Type) -> Any:
        """Return what a branch made, None where the joined value is just that."""
        if isinstance(x, Array):
            before = self._tracer.original(x)
            written = x._kind == ARRAY and x._storage in self._regions[which].written
            if before is not x and not written:
                return before
        return None if own == t else x

    def _leave(self, x: Any, which: int, pairs: list[tuple[Any, Any]]) -> None:
        """Add to `pairs` what a branch has computed of an origin."""
        for one in self._inner(x):
            parts = (one.pred, one.first, one.second) if isinstance(one, Either) else (one,)
            for part in parts:
                if self._stays(part) or id(part) in self._at or isinstance(part, Either):
                    continue
                self._at[id(part)] = len(pairs)
                pairs.append((part, UNBOUND) if which == 0 else (UNBOUND, part))

    def _inner(self, x: Any) -> list[Any]:
        """Return the choices in an origin that have something of the branch, or it alone."""
        if not isinstance(x, Either):
            return [x]

        def parts(c: Either) -> list[Any]:
            inner = (p for p in (c.first, c.second) if isinstance(p, Either))
            return [p for p in inner if not self._stays(p)]

        return [] if self._stays(x) else inner_first(x, parts)

    def _stays(self, x: Any) -> bool:
        """Whether an origin, or a part of one, is seen outside of the branches as it is."""
        around = self._tracer.block
        if isinstance(x, Origin):
            return around.is_inside(x.block)
        return not isinstance(x, Either) and is_visible(x, around)

    def note(self, made: list[Any], pred: Array) -> None:
        """Remember the branches' own values; `made` has all that has left the branches."""
        built: dict[int, Any] = {key: made[at] for key, at in self._at.items()}
        source, block = self._tracer.source, self._tracer.block
        for i, sides in self._found:
            value = made[i]
            for side in sides:
                for one in self._inner(side):
                    if id(one) not in built and isinstance(one, Either):
                        parts = one.pred, one.first, one.second
                        test, first, second = (built.get(id(p), p) for p in parts)
                        built[id(one)] = Origin(test, first, second, one.source, block)
            x, y = (same_handle(value) if s is None else built.get(id(s), s) for s in sides)
            if isinstance(value, Array):
                self._tracer.note_joined(value, Origin(pred, x, y, source, block))


class Origin(Either):
    """One of two values of other types, which are one value in the graph.

    Attributes
    ----------
    block : Block
        Where both are seen.
    """

    __slots__ = ("block",)

    def __init__(self, pred: Any, first: Any, second: Any, source: Any, block: Block) -> None:
        super().__init__(pred, first, second, source)
        self.block: Final = block


def same_handle(value: Any) -> Any:
    """Return another handle on the same memory, which has no origins itself."""
    return Array.traced(value._storage, value._kind) if isinstance(value, Array) else value
