# SPDX-License-Identifier: Apache-2.0
"""New containers and objects that several places hold after a branch: they are one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.lists import List
from onnxjit.errors import UnsupportedError

from .records import Record

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Shared"]


class Shared:
    """Which of the joined containers and objects are the same one.

    Parameters
    ----------
    stays : callable
        Whether an object is older than the branch: a list of those is changed no more.
    """

    __slots__ = ("_apart", "_found", "_keys", "_made", "_stays")

    def __init__(self, stays: Callable[[Any], bool]) -> None:
        self._stays: Final = stays
        #: both objects and the list of their parts, in the order of their places
        self._found: Final[list[tuple[Any, Any, list[Any]]]] = []
        #: id of the list of parts -> ids of both objects
        self._keys: Final[dict[int, tuple[int, int]]] = {}
        self._apart: Final[set[tuple[int, int]]] = set()
        self._made: Final[dict[tuple[int, int], Any]] = {}

    def mark(self) -> int:
        """Return what `forget` goes back to."""
        return len(self._found)

    def forget(self, mark: int) -> None:
        """Forget what was found since then."""
        del self._found[mark:]

    def note(self, x: Any, y: Any, children: list[Any]) -> None:
        """Note that two objects become one."""
        self._found.append((_object(x), _object(y), children))

    def of_side(self, which: int) -> Callable[[Any, Any, list[Any]], None]:
        """Return what notes objects that one branch alone leaves."""
        if which == 0:
            return self.note
        return lambda x, _, children: self.note(None, x, children)

    def settle(self, source: Any) -> None:
        """Find out which are the same.

        Raises
        ------
        UnsupportedError
            Two places hold one object after one branch, and two after the other.
        """
        partners: dict[tuple[int, int], set[int]] = {}
        known: dict[tuple[int, int], Any] = {}
        for x, y, children in self._found:
            if any(v is not None and self._stays(v) for v in (x, y)):
                continue
            key = self._keys[id(children)] = id(x), id(y)
            known[key] = x if y is None else y
            for side in (0, 1):
                if (x, y)[side] is not None:
                    partners.setdefault((side, key[side]), set()).add(key[1 - side])
        for key, example in known.items():
            if all(len(partners.get((side, key[side]), ())) < 2 for side in (0, 1)):
                continue
            self._apart.add(key)
            if not isinstance(example, List):
                msg = (
                    f"two names hold one {type(example).__name__} after one branch at "
                    f"{source} and two after the other, which may be changed; use a copy"
                )
                raise UnsupportedError(msg)

    def one(self, children: Any, made: Any) -> Any:
        """Return the object of which `made`, with these parts, is a copy."""
        key = self._keys.get(id(children))
        if key is None:
            return made
        if key in self._apart:
            made.freeze()
            return made
        return self._made.setdefault(key, made)


def _object(x: Any) -> Any:
    return x.seen if isinstance(x, Record) else x
