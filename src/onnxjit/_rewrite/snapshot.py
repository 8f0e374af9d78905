# SPDX-License-Identifier: Apache-2.0
"""What containers and objects held while a trace ran, for guards that look at them whole."""

from __future__ import annotations

import operator
from collections import deque
from types import FunctionType
from typing import Any, Final, TypeAlias

__all__ = ["ATOMS", "Snapshot"]

ATOMS: Final = frozenset(
    {int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range}
)

#: elements looked at; of what lies beyond only the number counts
_LIMIT: Final = 1000
_DEPTH: Final = 6
_ATOMS: Final = frozenset({int, float, complex, bool, str, bytes, type(None)})
_SEQUENCES: Final = (list, tuple, deque)
_SETS: Final = (set, frozenset)

Frozen: TypeAlias = tuple[Any, ...]


class Snapshot:
    """The content of a container, or the attributes of an object, at one time.

    Numbers and strings are compared by type and bits, everything else by identity; containers
    inside are looked into. No `__eq__` of a user's class runs.
    """

    __slots__ = ("_frozen", "_left")

    def __init__(self, obj: object) -> None:
        self._left = _LIMIT
        self._frozen: Final = self._freeze(obj, 0)

    def holds(self, obj: object) -> bool:
        """Whether an object has this content."""
        return _matches(obj, self._frozen)

    def _freeze(self, obj: Any, depth: int) -> Frozen:
        kind = type(obj)
        if kind in _ATOMS:
            return "atom", kind, _bits(obj)
        if depth == _DEPTH or self._left <= 0:
            return "is", obj
        if isinstance(obj, _SEQUENCES):
            return self._freeze_sequence(obj, list(_base_iter(obj)), depth)
        if isinstance(obj, dict):
            items = list(dict.items(obj))
            self._left -= len(items)
            keys = self._freeze_sequence(obj, [k for k, _ in items], depth)
            return "map", keys, self._freeze_sequence(obj, [v for _, v in items], depth)
        if isinstance(obj, _SETS):
            return "set", kind, frozenset(map(id, obj)), list(obj)
        if (
            depth == 0
            and hasattr(obj, "__dict__")
            and not isinstance(obj, type | FunctionType)
        ):
            return "vars", kind, self._freeze(vars(obj), 1)
        return "is", obj

    def _freeze_sequence(self, obj: object, items: list[Any], depth: int) -> Frozen:
        self._left -= len(items)
        if self._left < 0:
            return "long", type(obj), len(items)
        kinds = list(map(type, items))
        if _ATOMS.issuperset(kinds):
            return "flat", type(obj), kinds, items, list(map(_bits, items))
        return "seq", type(obj), [self._freeze(item, depth + 1) for item in items]


def _base_iter(obj: Any) -> Any:
    """Iterate as the built-in class does, so that no user's `__iter__` runs."""
    base = next(cls for cls in _SEQUENCES if isinstance(obj, cls))
    return base.__iter__(obj)


def _bits(value: object) -> object:
    # repr gives back the exact bits of a float, and tells -0.0 from 0.0 and finds NaN
    return repr(value) if type(value) in {float, complex} else value


def _matches(obj: Any, frozen: Frozen) -> bool:
    what = frozen[0]
    if what == "is":
        same: bool = obj is frozen[1]
        return same
    if what == "atom":
        return type(obj) is frozen[1] and _bits(obj) == frozen[2]
    if what == "map":
        return isinstance(obj, dict) and _match_map(obj, frozen)
    if type(obj) is not frozen[1]:
        return False
    if what == "set":
        return len(obj) == len(frozen[2]) and frozen[2].issuperset(map(id, obj))
    if what == "vars":
        return _matches(vars(obj), frozen[2])
    return _match_items(list(_base_iter(obj)), frozen)


def _match_map(obj: dict[Any, Any], frozen: Frozen) -> bool:
    _, keys, values = frozen
    if type(obj) is not keys[1]:
        return False
    return _match_items(list(dict.keys(obj)), keys) and _match_items(
        list(dict.values(obj)), values
    )


def _match_items(items: list[Any], frozen: Frozen) -> bool:
    what, _, content, *rest = frozen
    if what == "long":
        return bool(len(items) == content)
    if len(items) != len(content):
        return False
    if what == "flat":
        same, bits = rest
        if all(map(operator.is_, items, same)):
            return True
        return bool(list(map(type, items)) == content and list(map(_bits, items)) == bits)
    return all(map(_matches, items, content))
