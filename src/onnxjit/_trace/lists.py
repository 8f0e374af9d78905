# SPDX-License-Identifier: Apache-2.0
"""`List`: the lists that traced code makes, which may come to hold elements by data."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, cast

from onnxjit._core.dims import Dim
from onnxjit.errors import UnsupportedError

from .array import Array
from .doors import DOORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Frozen", "Generated", "List", "Numbers", "Stack", "rows_of"]


class Stack:
    """Elements of a list, stacked: the base of `Rows`, for those who cannot import it."""

    __slots__ = ()


class Numbers:
    """Whole numbers in a row that NumPy makes an array of: the base of `Range`."""

    __slots__ = ()

    def array(self) -> Any:
        """Return the numbers as an array."""
        raise NotImplementedError


class List(list[Any]):
    """A list; how many elements it has may be known to the run only.

    Other frames and containers may hold the list, so it stays the same object when a captured
    loop or a branch makes it grow: it then has `rows`, and none of its own elements.

    Attributes
    ----------
    rows : Rows or None
        The elements stacked; None for an ordinary list.
    """

    __slots__ = ("rows",)
    rows: Any

    def __new__(cls, *_: Any) -> Self:
        self = list.__new__(cls)
        self.rows = None
        return self

    @classmethod
    def of_rows(cls, rows: Any) -> List:
        """Return a new list of stacked elements."""
        self = cls()
        self.rows = rows
        return self

    @property
    def length(self) -> Any:
        """Number of elements, an int or a Dim."""
        return list.__len__(self) if self.rows is None else self.rows.length

    # ------------------------------------------------------------------ growing and shrinking

    def append(self, x: Any, /) -> None:
        """Add an element."""
        if self.rows is None:
            list.append(self, x)
        else:
            self.rows.append(self, x)

    def extend(self, other: Iterable[Any], /) -> None:
        """Add the elements of an iterable."""
        stacked = DOORS.places.stacked_of(other)
        if self.rows is None and stacked is None:
            list.extend(self, other)
        elif stacked is not None:
            DOORS.places.extend(self, stacked)
        else:
            for x in list(other):
                self.append(x)

    def insert(self, place: SupportsIndex, x: Any, /) -> None:
        """Put an element before a place."""
        if self.rows is None and not _is_open(place):
            list.insert(self, place, x)
        else:
            DOORS.places.insert(self, place, x)

    def pop(self, place: Any = -1, /) -> Any:
        """Take an element out."""
        if self.rows is None and not _is_open(place):
            return list.pop(self, place)
        return DOORS.places.pop(self, place)

    def remove(self, x: Any, /) -> None:
        """Take out the first element that is equal."""
        self._ordinary("remove")
        list.remove(self, x)

    def clear(self) -> None:
        """Take all elements out."""
        if self.rows is None:
            list.clear(self)
        else:
            self.rows = self.rows[:0]

    def reverse(self) -> None:
        """Turn the order round."""
        if self.rows is None:
            list.reverse(self)
        else:
            self.rows = self.rows[::-1]

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sort the elements, by a key if one is given."""
        DOORS.listed.sort(self, key, reverse=bool(reverse))

    # ------------------------------------------------------------------ elements

    def __getitem__(self, place: Any, /) -> Any:
        if self.rows is None and not _is_open(place):
            found = list.__getitem__(self, place)
            return List(found) if isinstance(place, slice) else found
        return DOORS.places.getitem(self, place)

    def __setitem__(self, place: Any, x: Any, /) -> None:
        if self.rows is None and not _is_open(place):
            list.__setitem__(self, place, x)
        else:
            DOORS.places.setitem(self, place, x)

    def __delitem__(self, place: Any, /) -> None:
        if self.rows is None and not _is_open(place):
            list.__delitem__(self, place)
        else:
            DOORS.places.delitem(self, place)

    def __len__(self) -> int:
        return list.__len__(self) if self.rows is None else DOORS.places.count(self)

    def __iter__(self) -> Iterator[Any]:
        if self.rows is None:
            return list.__iter__(self)
        return (self.rows.at(i) for i in range(DOORS.places.count(self)))

    def __reversed__(self) -> Iterator[Any]:
        if self.rows is None:
            return list.__reversed__(self)
        return iter(List.of_rows(self.rows[::-1]))

    def __contains__(self, x: object, /) -> bool:
        if self.rows is None:
            return list.__contains__(self, x)
        return bool(self.rows.contains(x))

    def index(self, *args: Any) -> int:
        """Return the place of the first element that is equal."""
        self._ordinary("index")
        return list.index(self, *args)

    def count(self, x: Any, /) -> int:
        """Return how many elements are equal."""
        return list.count(self, x) if self.rows is None else self.rows.count(x)

    # ------------------------------------------------------------------ other lists

    def copy(self) -> List:
        """Return a list of the same elements."""
        return List(self) if self.rows is None else List.of_rows(self.rows[:])

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> List:
        if self.rows is not None:
            return List.of_rows(self.rows.apart())
        memo[id(self)] = new = List()
        list.extend(new, [copy.deepcopy(x, memo) for x in list.__iter__(self)])
        return new

    def __reduce_ex__(self, _: SupportsIndex) -> tuple[Any, ...]:
        self._ordinary("pickling")
        return list, (list.copy(self),)

    def __add__(self, other: Any, /) -> Any:
        if not isinstance(other, list):
            return NotImplemented
        new = self.copy()
        new.extend(other)
        return new

    def __radd__(self, other: Any, /) -> Any:
        if not isinstance(other, list):
            return NotImplemented
        new = List(other)
        new.extend(self)
        return new

    def __iadd__(self, other: Iterable[Any], /) -> Self:  # type: ignore[misc]  # as list's
        self.extend(other)
        return self

    def __mul__(self, times: Any, /) -> List:
        if isinstance(times, Array) and not times._is_weak and times.ndim:
            return NotImplemented
        if self.rows is None and not isinstance(times, (Dim, Array)):
            return List(list.__mul__(self, times))
        return cast("List", DOORS.places.repeated(self, times))

    __rmul__ = __mul__

    def __imul__(self, times: Any, /) -> Self:
        new = self * times
        self.rows = new.rows
        list.__setitem__(self, slice(None), list.copy(new))
        return self

    def __eq__(self, other: object, /) -> Any:
        if self.rows is None and not (isinstance(other, List) and other.rows is not None):
            return list.__eq__(self, other)
        return DOORS.places.equal(self, other)

    def __ne__(self, other: object, /) -> Any:
        found = self == other
        if isinstance(found, Array):
            return found == False  # noqa: E712  traced
        return found if found is NotImplemented else not found

    __hash__ = None

    def __lt__(self, other: Any, /) -> Any:
        self._ordinary("comparing", other)
        return list.__lt__(self, other)

    def __le__(self, other: Any, /) -> Any:
        self._ordinary("comparing", other)
        return list.__le__(self, other)

    def __gt__(self, other: Any, /) -> Any:
        self._ordinary("comparing", other)
        return list.__gt__(self, other)

    def __ge__(self, other: Any, /) -> Any:
        self._ordinary("comparing", other)
        return list.__ge__(self, other)

    def __repr__(self) -> str:
        if self.rows is None:
            return list.__repr__(self)
        return f"<traced list of {self.rows.length} elements>"

    def freeze(self) -> None:
        """Let nothing change it any more."""
        self.__class__ = Frozen

    def _ordinary(self, what: str, *others: Any) -> None:
        """Refuse what only an ordinary list can do."""
        if all(rows_of(x) is None for x in (self, *others)):
            return
        msg = (
            f"{what} of a list that grows in a loop or branch of the graph is not carried; "
            "make an array of it with np.array first"
        )
        raise UnsupportedError(msg)


class Frozen(List):
    """A list of which there is a copy: nothing may change it."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        msg = (
            "a list is changed of which the graph has a copy, as an element of a list that "
            "grows in a loop or because data chooses between two lists; append a tuple, or "
            "use arrays"
        )
        raise UnsupportedError(msg)

    append = extend = insert = pop = remove = clear = reverse = sort = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse


class Generated(List):
    """What an iterator over an unknown number of elements has given."""

    __slots__ = ()

    def __next__(self) -> Any:
        if not isinstance(self.length, Dim) and not self.length:
            raise StopIteration
        return self.pop(0)

    def take(self, *, whole: bool) -> List:
        """Return what is left; afterwards nothing is, or only a run knows what."""
        found = self.copy()
        if whole:
            self.clear()
        else:
            self.__class__ = Spent
        return found


class Spent(Generated):
    """An iterator that a loop or function has gone through for some way."""

    __slots__ = ()

    def __next__(self) -> Any:
        return self.take(whole=False)

    def take(self, *, whole: bool) -> List:
        """Refuse it."""
        del whole
        msg = (
            "how far a loop or function has gone through an iterator, only a run knows; make "
            "a list first, and run over that"
        )
        raise UnsupportedError(msg)


def _is_open(place: Any) -> bool:
    """Whether a place in a list is one that only a run knows."""
    if isinstance(place, slice):
        return any(map(_is_open, (place.start, place.stop, place.step)))
    if isinstance(place, Dim):
        return True
    return isinstance(place, Array) and place._known is None


def rows_of(x: Any) -> Any:
    """Return the rows of a list that has them, None for everything else."""
    return x.rows if isinstance(x, List) else None
