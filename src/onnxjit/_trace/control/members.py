# SPDX-License-Identifier: Apache-2.0
"""Attributes of objects whose class has ``__slots__``, as a dict has its items."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Members", "slot_names"]

_NOTHING: Final = object()
_KNOWN: Final[WeakKeyDictionary[type, frozenset[str]]] = WeakKeyDictionary()


def slot_names(cls: type) -> frozenset[str]:
    """Return the names of the slots that the Python classes among the bases of one have."""
    found = _KNOWN.get(cls)
    if found is None:
        found = _KNOWN[cls] = _slot_names(cls)
    return found


def _slot_names(cls: type) -> frozenset[str]:
    if cls.__module__.partition(".")[0] == "onnxjit":
        return frozenset()
    return frozenset(
        name
        for base in cls.__mro__
        if "__slots__" in vars(base)
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType)
    )


class Members:
    """The attributes of one object: those in slots, and those in its ``__dict__``."""

    __slots__ = ("_dict", "_names", "_owner")

    def __init__(self, owner: Any) -> None:
        self._owner: Final = owner
        self._names: Final = slot_names(type(owner))
        self._dict: Final[dict[str, Any]] = getattr(owner, "__dict__", {})

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or `default`."""
        if name not in self._names:
            return self._dict.get(name, default)
        try:
            return getattr(type(self._owner), name).__get__(self._owner)
        except AttributeError:
            return default

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self._names:
            getattr(type(self._owner), name).__set__(self._owner, value)
        else:
            self._dict[name] = value

    def pop(self, name: str, default: Any = None) -> Any:
        """Delete an attribute, if it is there, and return it."""
        if name not in self._names:
            return self._dict.pop(name, default)
        found = self.get(name, _NOTHING)
        if found is _NOTHING:
            return default
        getattr(type(self._owner), name).__delete__(self._owner)
        return found

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and attributes."""
        yield from self._dict.items()
        for name in self._names:
            found = self.get(name, _NOTHING)
            if found is not _NOTHING:
                yield name, found

    def __len__(self) -> int:
        return sum(1 for _ in self.items())

    def clear(self) -> None:
        """Delete all attributes."""
        for name, _ in list(self.items()):
            self.pop(name)

    def update(self, values: Mapping[str, Any]) -> None:
        """Set attributes."""
        for name, value in values.items():
            self[name] = value
