# SPDX-License-Identifier: Apache-2.0
"""What a traced function has stored in objects that are older than its trace.

The objects themselves stay as they are while the trace runs: other threads see nothing of it,
and nothing has to be undone.  Rewritten code looks here before it looks at an old object; a
call stores what is here in the end.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from .array import ARRAY, Array
from .lists import List

if TYPE_CHECKING:
    from collections.abc import Callable

    from .trace import Tracer

__all__ = ["ABSENT", "CHANGING", "Changing", "Place", "Places", "Unprepared"]


class _Absent:
    """What a place holds in which nothing is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<nothing>"


ABSENT: Final = _Absent()


class Place:
    """An attribute or item of an old object, or what is added to an old container.

    Attributes
    ----------
    owner : object
    what : str
        ``"attr"``, ``"item"``, ``"name"`` (a global or outer variable), ``"grow"`` (elements
        added to the end of a list or deque), ``"add"`` (elements added to a set), or
        ``"flag"`` (whether the place that is the key has been stored to).
    key : object
        Name or key; None for what is added.
    path : Path
        By which the object is found in a later call.
    """

    __slots__ = ("key", "owner", "path", "what")

    def __init__(self, owner: Any, what: str, key: Any, path: Any) -> None:
        self.owner: Final = owner
        self.what: Final = what
        self.key: Final = key
        self.path: Final = path

    def _identity(self) -> tuple[Any, ...]:
        return id(self.owner), self.what, type(self.key), self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        if self.what == "attr":
            return f"{self.path}.{self.key}"
        if self.what == "item":
            return f"{self.path}[{self.key!r}]"
        if self.what == "name":
            return str(self.key)
        return f"{self.path}.{'append' if self.what == 'grow' else 'add'}"


def _flag(place: Place) -> Place:
    return Place(place.owner, "flag", (place.what, place.key), place.path)


class Places(dict[Place, Any]):
    """Contents of the places that are stored to, in the order of the first stores.

    Attributes
    ----------
    before : dict of Place to object
        What the places held that a branch or loop is the first to store to.
    lines : dict of Place to Source
        The line that stores first.
    is_old : callable or None
        Whether an object is older than the trace, while that is known.
    look : callable or None
        Gives what an object holds now, as an object of its own.
    """

    __slots__ = ("before", "is_old", "lines", "look", "tracer")

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer: Final = tracer
        self.before: Final[dict[Place, Any]] = {}
        self.lines: Final[dict[Place, Any]] = {}
        self.is_old: Callable[[Any], bool] | None = None
        self.look: Callable[[Any], Any] | None = None

    def find(self, place: Place) -> Any:
        """Return what a place holds now, ABSENT where nothing has been stored."""
        found = self.get(place, ABSENT)
        return self.before.get(place, ABSENT) if found is ABSENT else found

    def needs_before(self, place: Place) -> bool:
        """Whether the old content has to be known before something is stored."""
        inside = self.tracer.block is not self.tracer.root
        return inside and place not in self and place not in self.before

    def put(self, place: Place, value: Any) -> None:
        """Store."""
        self.note_line(place)
        self[place] = value
        flag = _flag(place)
        if flag in self.before:
            self[flag] = True

    def begin(self, place: Place, before: Any) -> None:
        """Note what was in a place that a branch or loop is the first to store to.

        ABSENT if it is not of the type of what is stored: that then has a value on some paths
        only.  An array that turns out not to be replaced has to stay the same object.
        """
        self.before[place] = before
        if isinstance(before, Array) and before._kind == ARRAY:
            self.before[_flag(place)] = False

    def is_stored(self, place: Place) -> Any:
        """Return whether a place has been stored to, a bool or a traced one."""
        return self.get(_flag(place), True)

    def open(self, place: Place) -> list[Any]:
        """Return a new list of what is added to a container."""
        tail = List()
        self[place] = tail
        return tail

    def note_line(self, place: Place) -> None:
        """Remember the line that stores first."""
        if place not in self.lines:
            self.tracer.mark_line()
            self.lines[place] = self.tracer.source

    def forget(self) -> None:
        """Let go of the user's objects."""
        self.clear()
        self.before.clear()
        self.lines.clear()
        self.is_old = None
        self.look = None


class Unprepared(BaseException):  # no handler of the user's code is meant
    """A branch or loop is the first to add to a container: it has to be traced again.

    The list of what is added must be there before it, so that its snapshot sees it.
    """

    def __init__(self, places: Places, place: Place) -> None:
        super().__init__()
        self._places: Final = places
        self._place: Final = place

    def prepare(self) -> None:
        """Make the list, outside of all branches and loops; raise again inside of one."""
        tracer = self._places.tracer
        if tracer.block is not tracer.root:
            raise self
        self._places.open(self._place)


class Changing:
    """What graphs are known to change: those that read it take it as an input.

    Arrays are known by identity: graphs that hold one as a constant become invalid.
    Attributes are known by class and name: objects of a class are mostly used alike.
    """

    __slots__ = ("_attributes", "arrays")

    def __init__(self) -> None:
        self.arrays: Final[dict[int, weakref.ref[Any]]] = {}
        self._attributes: Final[weakref.WeakKeyDictionary[type, set[str]]] = (
            weakref.WeakKeyDictionary()
        )

    def add_array(self, array: Any) -> None:
        """Note an array that graphs write to."""
        identity, arrays = id(array), self.arrays
        if identity not in arrays:
            arrays[identity] = weakref.ref(array, lambda _: arrays.pop(identity, None))

    def add_attribute(self, cls: type, name: str) -> None:
        """Note an attribute that graphs store to."""
        self._attributes.setdefault(cls, set()).add(name)

    def has_attribute(self, cls: type, name: str) -> bool:
        """Whether graphs store to an attribute of objects of a class."""
        return name in self._attributes.get(cls, ())


CHANGING: Final = Changing()
