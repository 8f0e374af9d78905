# SPDX-License-Identifier: Apache-2.0
"""Which of the arrays that a branch or loop gives may be one, or an array from before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.array import ARRAY, Array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnxjit._core.program import Block
    from onnxjit._trace.storage import Storage

__all__ = ["Aliases", "Links", "sources_of"]


def sources_of(x: Any) -> list[Storage]:
    """Return the storages that an object may be, none for what cannot be written to."""
    if not isinstance(x, Array) or x._nd is not None or x._kind != ARRAY:
        return []
    return x._storage.same_ones()


class Aliases:
    """New arrays, by the storages that each of them may be."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: Final[dict[Storage, list[Storage]]] = {}

    def add(self, new: Any, sources: Iterable[Storage]) -> None:
        """Note what a new array may be."""
        if not isinstance(new, Array) or new._kind != ARRAY:
            return
        for source in dict.fromkeys(sources):
            made = self._made.setdefault(source, [])
            for other in (source, *made):
                new._storage.may_be(other)
            made.append(new._storage)


class Links:
    """What an iteration hands to the next, as places by number.

    Parameters
    ----------
    around : Block
        Where the loop is.

    Attributes
    ----------
    outer : dict
        Place -> storages from outside of the loop that it may hold.
    pairs : set of frozenset
        Places that may hold one array.
    """

    __slots__ = ("_around", "outer", "pairs")

    def __init__(self, around: Block) -> None:
        self._around: Final = around
        self.outer: Final[dict[int, dict[Storage, None]]] = {}
        self.pairs: Final[set[frozenset[int]]] = set()

    def start(self, place: int, x: Any) -> None:
        """Note what a place holds before the loop."""
        found = (s for s in sources_of(x) if self._around.is_inside(s.block))
        self.outer.setdefault(place, {}).update(dict.fromkeys(found))

    def learn(self, leaves: list[Any], block: Block) -> bool:
        """Note what an iteration leaves in each place; tell whether that is new."""
        before = sum(map(len, self.outer.values())) + len(self.pairs)
        holders: dict[Storage, list[int]] = {}
        for place, x in enumerate(leaves):
            for source in dict.fromkeys(sources_of(x)):
                if self._around.is_inside(source.block):
                    self.outer[place][source] = None
                elif not source.block.is_inside(block):
                    continue  # of an earlier round
                for other in holders.setdefault(source, []):
                    self.pairs.add(frozenset((place, other)))
                holders[source].append(place)
        return sum(map(len, self.outer.values())) + len(self.pairs) > before

    def apply(self, leaves: list[Any]) -> None:
        """Let new arrays in the places be what they may be."""
        aliases = Aliases()
        for place, x in enumerate(leaves):
            aliases.add(x, self.outer[place])
        for pair in self.pairs:
            a, b = (leaves[i] for i in pair)
            if sources_of(a) and sources_of(b):
                a._storage.may_be(b._storage)
