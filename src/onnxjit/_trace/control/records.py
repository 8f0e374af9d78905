# SPDX-License-Identifier: Apache-2.0
"""New objects of the user as what their attributes hold, to be joined part by part."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import Dim
from onnxjit._trace.array import Array

from .members import Members, slot_names

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Record", "as_record", "is_record"]

#: what most names hold
_NONE: Final = frozenset({Array, Dim, int, float, bool, str, type(None), tuple, list, dict})
_NATIVE: Final = frozenset({"builtins", "numpy"})
#: objects inside of each other that are looked into
_DEPTH: Final = 8


class Record:
    """An object, seen as its class and the attributes that it has."""

    __slots__ = ("cls", "names", "parts", "seen")

    def __init__(self, cls: type, names: tuple[str, ...], parts: list[Any], seen: Any) -> None:
        self.seen: Final = seen
        self.cls: Final = cls
        self.names: Final = names
        self.parts: Final = parts

    def made(self, parts: list[Any]) -> Any:
        """Return an object of the class with other contents."""
        new: Any = object.__new__(self.cls)
        Members(new).update(dict(zip(self.names, parts, strict=True)))
        return new

    def is_like(self, other: Any) -> bool:
        """Whether another one is of the same class, with the same attributes."""
        return (
            isinstance(other, Record) and self.cls is other.cls and self.names == other.names
        )


def is_record(x: Any) -> bool:
    """Whether an object is nothing but its attributes."""
    cls: Any = type(x)
    if cls in _NONE:
        return False
    if not slot_names(cls) and type(getattr(x, "__dict__", None)) is not dict:
        return False
    if callable(x) or isinstance(x, (Enum, BaseException)) or cls.__module__ in _NATIVE:
        return False
    plain: bool = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
    return plain


def as_record(x: Any, keeps: Callable[[Any], bool], depth: int = 0) -> Any:
    """Return a new object as a record, and those in it; `keeps` says which stay themselves."""
    if type(x) is tuple and depth < _DEPTH:
        return tuple([as_record(part, keeps, depth + 1) for part in x])
    if depth >= _DEPTH or not is_record(x) or keeps(x):
        return x
    held = dict(Members(x).items())
    parts = [as_record(v, keeps, depth + 1) for v in held.values()]
    return Record(type(x), tuple(held), parts, x)
