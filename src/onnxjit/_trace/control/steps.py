# SPDX-License-Identifier: Apache-2.0
"""What ``for`` can run over without unrolling: a length, and an element for each place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from onnxjit._core.dims import Dim, dim_min, require_equal, same
from onnxjit._trace.array import Array
from onnxjit._trace.convert import is_traced
from onnxjit._trace.doors import DOORS
from onnxjit._trace.items import Flat, capture_item, python_number
from onnxjit._trace.lists import Generated, List, rows_of
from onnxjit.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._core.dims import DimLike

__all__ = [
    "Steps", "enumerate_", "open_steps", "reversed_", "steps_of", "taken", "tolist",
    "zip_",
]  # fmt: skip


class Steps:
    """Elements by place, of which there may be a symbolic number.

    Attributes
    ----------
    length : int or Dim
    at : callable
        ``at(i)`` -> the element; `i` is an int or a Dim with ``0 <= i < length``.
    source : list or None
        The list itself, where that is what is run through.
    """

    __slots__ = ("at", "length", "source")

    #: ``listed(x)`` makes a `List` of elements, set where loops are made
    listed: ClassVar[Callable[[Any], List]]

    def __init__(
        self, length: DimLike, at: Callable[[Any], Any], source: list[Any] | None = None
    ) -> None:
        self.source: Final = source
        self.length: Final = length
        self.at: Final = at

    def places(self, length: int) -> Iterator[int]:
        """Yield the places that Python's ``for`` visits: a list may grow meanwhile."""
        source, i = self.source, 0
        while i < length:
            yield i
            i += 1
            if source is None:
                continue
            if rows_of(source) is None:
                length = len(source)
            else:
                _check_length(source, length)  # type: ignore[arg-type]  # it has rows

    def rest(self) -> Steps:
        """Return all elements but the first, which there has to be."""
        return Steps(self.length - 1, lambda i: self.at(i + 1))

    def turned(self) -> Steps:
        """Return the elements from the last to the first."""
        return Steps(self.length, lambda i: self.at(self.length - 1 - i))

    def __len__(self) -> int:
        return int(self.length)

    def __iter__(self) -> Iterator[Any]:
        return (self.at(i) for i in range(int(self.length)))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return list(self)[i]
        return self.at(i if _is_from_start(i) else self.length + i)

    def __contains__(self, x: Any) -> bool:
        return any(x == y for y in self)


def _is_from_start(i: Any) -> bool:
    return i >= 0 if isinstance(i, int) else True


def taken(x: Any, *, whole: bool) -> Any:
    """Return what an iterator has left as a list or array, anything else as it is.

    Parameters
    ----------
    whole : bool
        Whether the iterator surely comes to its end.
    """
    if isinstance(x, Flat) and is_traced(x.base):
        return x.rest(whole=whole)
    return x.take(whole=whole) if isinstance(x, Generated) else x


def steps_of(x: Any) -> Steps | None:
    """Return an iterable as elements by place, None where it has to be run through."""
    if isinstance(x, Steps):
        return x
    if isinstance(x, Array) and x._nd is None and x.ndim:
        return Steps(x.shape[0], lambda i: x[i])
    if isinstance(x, range):
        return Steps(len(x), lambda i: x.start + x.step * i)
    if isinstance(x, List):
        return Steps(x.length, _element_at(x), x)
    if isinstance(x, (list, tuple)):
        source = x if isinstance(x, list) else None
        at = lambda i: x[i] if isinstance(i, int) else capture_item(x, i)  # noqa: E731
        return Steps(len(x), at, source)
    return None


def _element_at(x: List) -> Callable[[Any], Any]:
    """Return how the elements of a list are had while it is run through."""
    length = x.length

    def at(i: Any) -> Any:
        if x.rows is None:
            return x[i] if isinstance(i, int) else capture_item(x, i)
        _check_length(x, length)
        return x.rows.at(i)

    return at


def _check_length(x: List, length: DimLike) -> None:
    if not same(x.length, length):
        msg = (
            "a list grows or shrinks while a loop of the graph runs through it; use while and "
            "an index"
        )
        raise UnsupportedError(msg)


def open_steps(iterables: tuple[Any, ...]) -> tuple[Dim, Callable[[Any], Any]] | None:
    """Return how many elements iterables have together, and what gives a tuple of them.

    None where their number is known, or Python has to run through one of them.
    """
    found = _any_steps(iterables)
    if found is None:
        return None
    length = _shortest(found)
    if not isinstance(length, Dim):
        return None
    return length, lambda i: tuple(steps.at(i) for steps in found)


def _shortest(found: list[Steps]) -> DimLike:
    length = found[0].length
    for steps in found[1:]:
        length = dim_min(length, steps.length)
    return length


def _any_steps(iterables: tuple[Any, ...]) -> list[Steps] | None:
    """Return iterables as elements by place if one of them is traced."""
    if not any(map(_is_by_place, iterables)):
        return None
    found = [steps_of(x) for x in iterables]
    return None if None in found else found  # type: ignore[return-value]  # just looked


def _is_by_place(x: Any) -> bool:
    """Whether an iterable is one that Python's functions would take apart."""
    return isinstance(x, Steps) or is_traced(x) or rows_of(x) is not None


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """Return ``enumerate(...)``."""
    iterable = taken(iterable, whole=False)
    found = _any_steps((iterable,))
    if found is None:
        return enumerate(iterable, start)
    steps = found[0]
    return Steps(steps.length, lambda i: (i + start, steps.at(i)))


def zip_(*iterables: Any, **kwargs: Any) -> Any:
    """Return ``zip(...)``; traced operands of other lengths are cut as Python does."""
    iterables = tuple(taken(x, whole=False) for x in iterables)
    found = _any_steps(iterables)
    if found is None or (kwargs.get("strict") and not _same_length(found)):
        return zip(*iterables, **kwargs)  # noqa: B905  among them, where it is given
    return Steps(_shortest(found), lambda i: tuple(steps.at(i) for steps in found))


def _same_length(found: list[Steps]) -> bool:
    """Whether all are of one length, with a guard or assumption where that is open."""
    sizes = [s.length for s in found]
    env = next((n.env for n in sizes if isinstance(n, Dim)), None)
    if env is None:
        return len(set(map(int, sizes))) == 1
    return all(require_equal(env, sizes[0], n) for n in sizes[1:])


def reversed_(sequence: Any) -> Any:
    """Return ``reversed(...)``."""
    found = _any_steps((sequence,))
    if found is None:
        return reversed(sequence)
    return found[0].turned()


def tolist(array: Array) -> Any:
    """Return nested lists of Python's scalars, as `ndarray.tolist`."""
    known = array._known
    if known is not None:
        return known.tolist()
    if not array.ndim:
        return python_number(array)

    def at(i: Any) -> Any:
        row = array[i]
        return tolist(row) if isinstance(row, Array) else row

    steps = Steps(array.shape[0], at)
    return Steps.listed(steps) if isinstance(steps.length, Dim) else [*steps]


DOORS.tolist = tolist
