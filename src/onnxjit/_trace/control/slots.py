# SPDX-License-Identifier: Apache-2.0
"""Places that Python code of a branch or loop can change: cells, items, attributes.

Arrays are not among them: what they hold is in storages, which keep a journal of their own.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from types import CellType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._trace.array import Array
from onnxjit._trace.lists import rows_of
from onnxjit._trace.places import ABSENT, Places
from onnxjit.errors import UnsupportedError

from .either import MUTABLE, Open, Unsure
from .members import Members, slot_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnxjit._trace.trace import Tracer

__all__ = [
    "ITEMS", "ROWS", "UNBOUND", "Resized", "Slot", "Snapshot", "cells_of", "containers_in",
    "content_of", "same_content",
]  # fmt: skip


class _Unbound:
    """What a name holds that has no value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND: Final = _Unbound()
#: keys of a list's stacked elements, and of all its elements together
ROWS: Final = "rows"
ITEMS: Final = "items"
_ATOMS: Final = frozenset({
    int, float, complex, bool, str, bytes, type(None), range, slice, np.dtype, Array, Dim,
    np.ndarray, ModuleType, type, type(...),
})  # fmt: skip
#: objects looked at before giving up
_LIMIT: Final = 20_000


class Slot:
    """One place: a cell, an item of a list or dict, or an attribute."""

    __slots__ = ("key", "owner")

    def __init__(self, owner: Any, key: Any) -> None:
        self.owner: Final = owner
        self.key: Final = key

    def get(self) -> Any:
        """Return what it holds, or UNBOUND."""
        owner = self.owner
        if isinstance(owner, CellType):
            try:
                return owner.cell_contents
            except ValueError:
                return UNBOUND
        if isinstance(owner, (dict, Members)):
            return owner.get(self.key, UNBOUND)
        if self.key == ROWS:
            return owner.rows
        if self.key == ITEMS:
            return tuple(owner)
        return owner[self.key]

    def set(self, value: Any) -> None:
        """Make it hold a value; UNBOUND empties it."""
        owner = self.owner
        if isinstance(owner, CellType):
            if value is not UNBOUND:
                owner.cell_contents = value
            elif self.get() is not UNBOUND:
                del owner.cell_contents
        elif self.key == ROWS:
            owner.rows = value
        elif self.key == ITEMS:
            list.__setitem__(owner, slice(None), value)
        elif value is UNBOUND:
            owner.pop(self.key, None)
        else:
            owner[self.key] = value

    def settle(self, content: Any, tracer: Tracer) -> None:
        """Make it hold what a branch or loop leaves in it.

        An outermost one leaves no item or attribute that is there on some paths only, since
        code can ask a dict which keys it has: where it is not there, Python makes the call.
        """
        owner = self.owner
        item = isinstance(owner, (dict, Members)) and not isinstance(owner, Places)
        if item and isinstance(content, Unsure) and tracer.block is tracer.root:
            if isinstance(content.defined, Array):
                tracer.fail_if(content.defined._value, holds=False)
            content = UNBOUND if content.defined is False else content.content
        self.set(content)

    @property
    def name(self) -> str:
        """Readable name: of the variable, or of the place in its container."""
        return self.key if isinstance(self.owner, CellType) else f"[{self.key!r}]"


class Resized:
    """A list, set or deque whose number of elements has changed."""

    __slots__ = ("after", "before", "owner")

    def __init__(self, owner: Any, before: list[Any], after: list[Any]) -> None:
        self.owner: Final = owner
        self.before: Final = before
        self.after: Final = after


def cells_of(*functions: Callable[..., Any] | None) -> dict[str, CellType]:
    """Return the cells that closures use, by name, without the hooks' own."""
    cells: dict[str, CellType] = {}
    for fn in functions:
        if isinstance(fn, FunctionType):
            cells.update(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells.pop("_oj", None)
    return cells


Key = tuple[int, Any]


class Snapshot:
    """What the cells of some closures, and all that hangs on them, hold now.

    Parameters
    ----------
    cells : dict of str to cell
        Where to start.
    is_old : callable
        Whether an object is older than the trace: nothing stores into those.
    places : Places, optional
        What is stored in old objects instead.
    """

    __slots__ = ("_is_old", "_saved")

    def __init__(
        self,
        cells: dict[str, CellType],
        is_old: Callable[[Any], bool],
        places: Places | None = None,
    ) -> None:
        self._is_old: Final = is_old
        self._saved: dict[int, tuple[Any, Any, str]] = {}
        stack: list[tuple[Any, str]] = [(cell, name) for name, cell in cells.items()]
        if places is not None:
            stack.append((places, ""))
        while stack:
            owner, name = stack.pop()
            if id(owner) in self._saved or type(owner) in _ATOMS:
                continue
            if not isinstance(owner, CellType) and is_old(owner):
                continue
            stack.extend(self._look(owner, name))
            if len(self._saved) > _LIMIT:
                msg = "a branch or loop can reach too many objects: more than {_LIMIT}"
                raise UnsupportedError(msg)

    def _look(self, owner: Any, name: str) -> Iterable[tuple[Any, str]]:
        """Remember what an object holds; return what to look at next."""
        saved = content_of(owner)
        self._saved[id(owner)] = (owner, saved, name)
        if isinstance(owner, FunctionType):
            return [
                (cell, n)
                for n, cell in zip(
                    owner.__code__.co_freevars, owner.__closure__ or (), strict=True
                )
                if n != "_oj"
            ]
        parts = saved.values() if isinstance(saved, dict) else saved
        return [(part, "") for part in parts]

    def holds(self, x: object) -> bool:
        """Whether an object was there already."""
        return id(x) in self._saved

    def restore(self) -> None:
        """Put everything back."""
        for owner, saved, name in self._saved.values():
            _put_back(owner, saved, name)

    def changes(self) -> tuple[dict[Key, tuple[Slot, Any, Any]], list[Resized]]:
        """Return what differs: (slot, before, now) by place, and containers resized."""
        found: dict[Key, tuple[Slot, Any, Any]] = {}
        resized: list[Resized] = []
        for owner, saved, name in self._saved.values():
            now = content_of(owner)
            places = _places(owner, name, saved, now)
            if places is not None:
                for slot, before, after in places:
                    if before is not after:
                        found[id(owner), slot.key] = slot, before, after
            elif len(saved) != len(now) or any(
                a is not b for a, b in zip(saved, now, strict=True)
            ):
                resized.append(Resized(owner, saved, now))
        return found, resized

    def slot(self, cell: CellType, name: str) -> tuple[Key, Slot]:
        """Return a cell as a place."""
        return (id(cell), name), Slot(cell, name)


def _both(place: Any, saved: dict[Any, Any], now: dict[Any, Any], key: Any) -> tuple[Any, Any]:
    """Return the contents before and after a region; it may be the first to store there."""
    if not isinstance(place, Places):
        return saved.get(key, UNBOUND), now.get(key, UNBOUND)
    before = saved.get(key, place.before.get(key, ABSENT))
    before = UNBOUND if before is ABSENT else before
    return before, now.get(key, before)


def containers_in(x: Any) -> Iterator[Any]:
    """Yield the containers in a content that can change."""
    if isinstance(x, MUTABLE):
        yield x
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    if rows_of(x) is None:
        for part in parts:
            yield from containers_in(part)


def same_content(before: Any, now: Any) -> bool:
    """Whether two contents are the very same objects."""
    if isinstance(before, dict):
        return not _differs(now, before)
    return len(before) == len(now) and all(map(operator.is_, before, now))


#: what other objects look at, or may be
_PARTS: Final[tuple[tuple[Any, Callable[[Any], list[Any]]], ...]] = (
    (MethodType, lambda x: [x.__self__, x.__func__]),
    (functools.partial, lambda x: [x.func, *x.args, *x.keywords.values()]),
    ((FunctionType, type), lambda _: []),
    (Open, lambda x: x.parts()),
)


def content_of(owner: Any) -> Any:
    """Return a copy of what an object holds: a dict by name or key, or a list."""
    if isinstance(owner, CellType):
        try:
            return [owner.cell_contents]
        except ValueError:
            return []
    if isinstance(owner, dict):
        return dict(owner)
    rows = rows_of(owner)
    if rows is not None:
        return [rows]
    if isinstance(owner, (list, tuple, deque, set, frozenset)):
        return list(owner)
    for kinds, parts in _PARTS:
        if isinstance(owner, kinds):
            return parts(owner)
    if slot_names(type(owner)):
        return dict(Members(owner).items())
    held = getattr(owner, "__dict__", None)
    return dict(held) if isinstance(held, dict) else []


def _places(owner: Any, name: str, saved: Any, now: Any) -> list[tuple[Slot, Any, Any]] | None:
    """Return what an object holds before and now, by place; None without places to compare."""
    if rows_of(owner) is not None:
        return [(Slot(owner, ROWS), saved[0], now[0])]
    if isinstance(saved, dict):
        place, keys = _dict_of(owner), dict.fromkeys((*saved, *now))
        return [(Slot(place, k), *_both(place, saved, now, k)) for k in keys]
    if isinstance(owner, CellType):
        return [(Slot(owner, name), (saved or [UNBOUND])[0], (now or [UNBOUND])[0])]
    if isinstance(owner, (list, deque)) and len(saved) == len(now):
        both = enumerate(zip(saved, now, strict=True))
        return [(Slot(owner, i), before, after) for i, (before, after) in both]
    return None


def _dict_of(owner: Any) -> Any:
    if isinstance(owner, dict):
        return owner
    return Members(owner) if slot_names(type(owner)) else owner.__dict__


def _put_back(owner: Any, saved: Any, name: str) -> None:
    if isinstance(owner, CellType):
        Slot(owner, name).set(saved[0] if saved else UNBOUND)
    elif isinstance(saved, dict):
        place = _dict_of(owner)
        if _differs(place, saved):
            place.clear()
            place.update(saved)
    elif rows_of(owner) is not None:
        owner.rows = saved[0]
    elif isinstance(owner, (list, deque, set)):
        now = list(owner)
        if len(now) != len(saved) or any(a is not b for a, b in zip(now, saved, strict=True)):
            owner.clear()
            (owner.update if isinstance(owner, set) else owner.extend)(saved)


def _differs(now: dict[Any, Any], saved: dict[Any, Any]) -> bool:
    if len(now) != len(saved):
        return True
    return any(saved.get(k, UNBOUND) is not v for k, v in now.items())


def stored_cells(
    cells: dict[str, CellType], names: Iterable[str]
) -> Iterator[tuple[str, CellType]]:
    """Yield the cells of some names."""
    for name in names:
        cell = cells.get(name)
        if cell is not None:
            yield name, cell
