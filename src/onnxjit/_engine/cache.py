# SPDX-License-Identifier: Apache-2.0
"""A bounded cache that is read without a lock."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

__all__ = ["Cache", "Entry"]

T = TypeVar("T")


class Entry(Generic[T]):
    """A value kept under a key, and the guards under which it serves.

    Attributes
    ----------
    guards : object
        Whatever the owner tests before it uses `value`.
    value : object
        What is kept.
    made : int
        Larger for what was added later.
    used : int
        Larger for what was used later; set by `Cache.touch`.
    """

    __slots__ = ("guards", "made", "used", "value")

    def __init__(self, guards: Any, value: T, used: int) -> None:
        self.guards: Final = guards
        self.value: Final = value
        self.made: Final = used
        self.used = used


class Cache(Generic[T]):
    """Least recently used entries go first.

    Parameters
    ----------
    capacity : int
        Entries kept at most.
    per_key : int
        Entries kept at most under one key.
    evicted : callable, optional
        Called, outside the lock, with each entry that goes.  A session ends by itself when the
        last call that uses it does.

    Notes
    -----
    `get` takes no lock: the table maps keys to tuples that are replaced as a whole.
    """

    __slots__ = ("_capacity", "_clock", "_evicted", "_lock", "_per_key", "_table")

    def __init__(
        self,
        capacity: int = 64,
        *,
        per_key: int = 8,
        evicted: Callable[[Entry[T]], None] | None = None,
    ) -> None:
        self._capacity: Final = max(capacity, 1)
        self._per_key: Final = max(per_key, 1)
        self._evicted: Final = evicted
        self._lock: Final = threading.Lock()
        self._clock: Final = itertools.count(1)
        self._table: dict[Hashable, tuple[Entry[T], ...]] = {}

    def get(self, key: Hashable) -> tuple[Entry[T], ...]:
        """Return the entries of a key, newest first."""
        return self._table.get(key, ())

    def touch(self, entry: Entry[T]) -> None:
        """Note that an entry was used."""
        entry.used = next(self._clock)

    def add(self, key: Hashable, guards: Any, value: T) -> Entry[T]:
        """Keep a value, in front of those under the same key."""
        entry = Entry(guards, value, next(self._clock))
        gone: list[Entry[T]] = []
        with self._lock:
            entries = (entry, *self._table.get(key, ()))
            if len(entries) > self._per_key:
                oldest = min(entries, key=_used)
                gone.append(oldest)
                entries = tuple(e for e in entries if e is not oldest)
            self._table[key] = entries
            if len(self) > self._capacity:
                gone.append(self._drop_oldest())
        self._tell(gone)
        return entry

    def discard(self, key: Hashable, entry: Entry[T]) -> None:
        """Forget one entry."""
        with self._lock:
            entries = self._table.get(key, ())
            self._replace(key, tuple(e for e in entries if e is not entry))
        self._tell([entry] if entry in entries else [])

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            gone = list(self)
            self._table = {}
        self._tell(gone)

    def _drop_oldest(self) -> Entry[T]:
        key, oldest = min(
            ((k, e) for k, entries in self._table.items() for e in entries),
            key=lambda pair: pair[1].used,
        )
        self._replace(key, tuple(e for e in self._table[key] if e is not oldest))
        return oldest

    def _replace(self, key: Hashable, entries: tuple[Entry[T], ...]) -> None:
        if entries:
            self._table[key] = entries
        else:
            self._table.pop(key, None)

    def _tell(self, gone: list[Entry[T]]) -> None:
        if self._evicted is not None:
            for entry in gone:
                self._evicted(entry)

    def keys(self) -> list[Hashable]:
        """Return the keys that have entries."""
        return list(self._table)

    def __iter__(self) -> Iterator[Entry[T]]:
        return iter([e for entries in list(self._table.values()) for e in entries])

    def __len__(self) -> int:
        return sum(map(len, list(self._table.values())))


def _used(entry: Entry[Any]) -> int:
    return entry.used
