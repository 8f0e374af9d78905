# SPDX-License-Identifier: Apache-2.0
"""Arrays that are one of two, by a condition: what is written to one is written to both.

Such an array has a storage of its own, which holds what the condition chooses. A write to it
goes on to the memory of each of the two, under the condition that it is the one; a write to
one of those makes the choice anew.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import bind_one
from onnxjit._core.dims import same
from onnxjit._core.region import cond
from onnxjit._ops.structure import RESHAPE
from onnxjit._trace.array import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._core.program import Block, Value
    from onnxjit._trace.array import Array
    from onnxjit._trace.storage import Storage

__all__ = ["Chosen", "can_follow"]

_NUMBERS: Final = itertools.count()


class Chosen:
    """One of two arrays.

    Parameters
    ----------
    pred : () bool
        Whether it is the first.
    storage : Storage
        Its own.
    sides : two of Array or None
        The arrays; None for one that no other name holds.
    """

    __slots__ = ("number", "pred", "sides", "storage")

    def __init__(
        self, pred: Value, storage: Storage, sides: tuple[Array | None, Array | None]
    ) -> None:
        self.pred: Final = pred
        self.storage: Final = storage
        self.sides: Final = sides
        self.number: Final = next(_NUMBERS)
        storage.choice = self
        for side in sides:
            if side is not None and self not in side._storage.choices:
                side._storage.choices = (*side._storage.choices, self)

    def is_seen(self, block: Block) -> bool:
        """Whether code in a block may read the condition."""
        return block.is_inside(self.storage.block)

    def spread(self, storage: Storage, block: Block) -> None:
        """Let all arrays that may be a storage which was written to show what it holds."""
        changed = {storage}
        if storage.choice is not None:
            _write_back(storage.choice, changed)
        done = {storage}
        above: dict[Chosen, None] = {}
        stack = [*changed]
        while stack:
            for choice in stack.pop().choices:
                if choice not in above and choice.is_seen(block):
                    above[choice] = None
                    stack.append(choice.storage)
        for choice in sorted(above, key=lambda c: c.number):
            if choice.storage not in done:
                choice.storage.replace(_chosen(choice))

    def conditions(self, outer: Value | None) -> Iterator[tuple[Array, Value]]:
        """Yield each of the two arrays that others hold, and when it is the one."""
        for side, test in zip(self.sides, (self.pred, None), strict=True):
            if side is None:
                continue
            chosen: Any = wrap(self.pred)
            if test is None:
                chosen = np.logical_not(chosen)
            if outer is not None:
                chosen = np.logical_and(wrap(outer), chosen)
            yield side, chosen._value


def _write_back(written: Chosen, changed: set[Storage]) -> None:
    """Write what an array holds to the one of two that it is, and to what that one is.

    The younger are settled first, so that an array which several of them may be is asked once.
    """
    when: dict[Chosen, Value | None] = {written: None}
    while when:
        choice = max(when, key=lambda c: c.number)
        for side, test in choice.conditions(when.pop(choice)):
            storage, value = side._storage, choice.storage.value

            def write(side: Array = side, value: Value = value) -> list[Value]:
                return [side._put(_shaped(value, side._value))]

            def keep(storage: Storage = storage) -> list[Value]:
                return [storage.value]

            (held,) = cond(test, write, keep)
            storage.replace(_shaped(held, storage.value))
            changed.add(storage)
            if storage.choice is not None:
                before = when.get(storage.choice)
                when[storage.choice] = test if before is None else _either(before, test)


def _either(a: Value, b: Value) -> Value:
    found: Any = np.logical_or(wrap(a), wrap(b))
    value: Value = found._value
    return value


def _chosen(choice: Chosen) -> Value:
    """Return what the condition chooses now."""
    old = choice.storage.value

    def shown(side: Array | None) -> Callable[[], list[Value]]:
        return lambda: [old if side is None else side._value]

    (new,) = cond(choice.pred, *map(shown, choice.sides))
    return _shaped(new, old)


def _shaped(value: Value, like: Value) -> Value:
    """Return a value with the sizes that it is known to have by other names."""
    if all(map(same, value.shape, like.shape)):
        return value
    return bind_one(RESHAPE, value, shape=like.shape)


def can_follow(x: Array, new: Array) -> bool:
    """Whether what is written to a new array can be written to one that it may be."""
    storage = x._storage
    return (
        x._nd is None
        and not x._tentative
        and storage.captured is None
        and not storage.read_only
        and all(view.writable for view in x._views)
        and x.dtype == new.dtype
        and x.ndim == new.ndim
    )
