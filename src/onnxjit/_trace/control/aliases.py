# SPDX-License-Identifier: Apache-2.0
"""Which of the arrays that a branch or loop gives may be one, or an array from before."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.array import ARRAY, Array

from .chosen import Chosen, can_follow
from .region import is_visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from onnxjit._core.program import Block, Value
    from onnxjit._trace.storage import Storage

__all__ = ["Aliases", "Links", "sources_of"]


def sources_of(x: Any) -> list[Storage]:
    """Return the storages that an object may be, none for what cannot be written to."""
    if not isinstance(x, Array) or x._nd is not None or x._kind != ARRAY:
        return []
    return x._storage.same_ones()


class Aliases:
    """New arrays of a branch, by the storages that each of them may be.

    Parameters
    ----------
    pred : () bool
        What the branch is about.
    around : Block
        Where it is.
    """

    __slots__ = ("_around", "_inner", "_made", "_pred")

    def __init__(self, pred: Value, around: Block) -> None:
        self._pred: Final = pred
        self._around: Final = around
        self._made: Final[dict[Storage, list[Storage]]] = {}
        #: storages made in the branch -> pairs of leaves that hold them
        self._inner: Final[dict[Storage, set[tuple[int, int]]]] = {}

    def look(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Note which arrays of the branch are in several places."""
        for pair in pairs:
            for x in pair:
                for storage in sources_of(x)[:1]:
                    if not self._around.is_inside(storage.block):
                        held = self._inner.setdefault(storage, set())
                        held.add((id(pair[0]), id(pair[1])))

    def add(self, new: Any, pair: tuple[Any, Any]) -> None:
        """Note what a new array may be."""
        if not isinstance(new, Array) or new._kind != ARRAY:
            return
        followed = all(self._is_followed(x, new) for x in pair)
        sides = [self._side(x) if followed else x for x in pair]
        sources = [s for x in sides for s in sources_of(x)]
        for source in dict.fromkeys(sources):
            made = self._made.setdefault(source, [])
            for other in (source, *made):
                new._storage.may_be(other)
            made.append(new._storage)
        if followed and sources:
            Chosen(self._pred, new._storage, (sides[0], sides[1]))

    def _is_followed(self, x: Any, new: Array) -> bool:
        """Whether writes to a new array can go on to one that it may be."""
        if not sources_of(x):
            return True
        storage = x._storage
        if not self._around.is_inside(storage.block):
            return len(storage.same_ones()) == 1 and len(self._inner[storage]) == 1
        return is_visible(x, self._around) and can_follow(x, new)

    def _side(self, x: Any) -> Any:
        """Return an array from before the branch, None for one that nobody else holds."""
        if not sources_of(x) or not self._around.is_inside(x._storage.block):
            return None
        return x


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
    stale : dict
        Storages from outside that an iteration may write over.
    """

    __slots__ = ("_around", "left", "outer", "pairs", "stale")

    def __init__(self, around: Block) -> None:
        self._around: Final = around
        self.outer: Final[dict[int, dict[Storage, None]]] = {}
        #: places in which an iteration may leave an array from outside
        self.left: Final[set[int]] = set()
        self.pairs: Final[set[frozenset[int]]] = set()
        self.stale: Final[dict[Storage, None]] = {}

    def start(self, leaves: list[Any]) -> None:
        """Note what the places hold before the loop."""
        for place in range(len(leaves)):
            self.outer.setdefault(place, {})
        self._note(leaves, None)

    def learn(self, leaves: list[Any], block: Block) -> bool:
        """Note what an iteration leaves in each place; tell whether that is new."""
        before = self._count()
        self._note(leaves, block)
        return self._count() > before

    def forget(self) -> None:
        """Forget what was learnt: the places have other numbers now."""
        self.outer.clear()
        self.left.clear()
        self.pairs.clear()

    def _count(self) -> int:
        return sum(map(len, self.outer.values())) + len(self.pairs)

    def _note(self, leaves: list[Any], block: Block | None) -> None:
        holders: dict[Storage, list[int]] = {}
        for place, x in enumerate(leaves):
            at_once = set(x._storage.same_now()) if sources_of(x) else set()
            for source in dict.fromkeys(sources_of(x)):
                if self._around.is_inside(source.block):
                    self.outer[place][source] = None
                    if block is not None:
                        self.left.add(place)
                    if source not in at_once:
                        continue  # in an earlier iteration, or a later one
                elif block is None or not source.block.is_inside(block):
                    continue  # of an earlier round
                for other in holders.setdefault(source, []):
                    self.pairs.add(frozenset((place, other)))
                holders[source].append(place)

    def finish_with(self, none: Value | None, entry: list[Any], leaves: list[Any]) -> None:
        """Let the arrays after the loop be what they may be.

        Parameters
        ----------
        none : () bool or None
            Whether there was no iteration; None if there was one.
        entry, leaves
            What the places held before, and what they hold now.
        """
        linked = {place for pair in self.pairs if len(pair) > 1 for place in pair}
        known: set[int] = set()
        for place, (before, x) in enumerate(zip(entry, leaves, strict=True)):
            if place in self.left or place in linked or not sources_of(x):
                continue
            if none is None:
                known.add(place)  # each iteration makes a new one
            elif sources_of(before) and self._is_followed(before, x):
                known.add(place)
                for source in sources_of(before):
                    x._storage.may_be(source)
                Chosen(none, x._storage, (before, None))
        self.apply(leaves, known)
        self.finish()

    def _is_followed(self, before: Array, new: Array) -> bool:
        return is_visible(before, self._around) and can_follow(before, new)

    def apply(self, leaves: list[Any], known: Collection[int] = ()) -> None:
        """Let new arrays in the places be what they may be, but where that is known."""
        for place, x in enumerate(leaves):
            if isinstance(x, Array) and x._kind == ARRAY and place not in known:
                for source in self.outer[place]:
                    x._storage.continue_as(source)
        for pair in self.pairs:
            a, b = (leaves[i] for i in pair)
            if sources_of(a) and sources_of(b):
                a._storage.may_be(b._storage)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the body not read what earlier iterations may have written over."""
        outer = dict.fromkeys(s for each in self.outer.values() for s in each)
        before = {s: s.stale for s in outer}
        for s in self.stale:
            s.stale = True
        try:
            yield
        finally:
            self.stale.update((s, None) for s in outer if s.stale)
            for s, was in before.items():
                s.stale = was

    def finish(self) -> None:
        """Let nobody read the arrays from before the loop that it may have written over."""
        for s in self.stale:
            s.stale = True
