# SPDX-License-Identifier: Apache-2.0
"""Containers among the arguments: a trace works on copies of them, and changes come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.lists import List, rows_of

from .leaves import children, field_names, map_tree, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Lent", "containers_of", "pattern", "put_content"]


def _containers(x: Any) -> Iterator[Any]:
    parts = children(x) if type(x).__module__ != "numpy" else None
    if parts is None:
        return
    for _, item in parts:
        yield from _containers(item)
    if not isinstance(x, tuple):
        yield x


def containers_of(args: Iterable[Any], kwargs: Any) -> list[Any]:
    """Return the lists, dicts and dataclass instances among arguments, inner ones first."""
    return [c for x in (*args, *kwargs.values()) for c in _containers(x)]


def pattern(containers: list[Any]) -> tuple[int, ...]:
    """Return which of some containers are one object."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(id(c), i) for i, c in enumerate(containers))


def _content(x: Any) -> tuple[Any, ...]:
    rows = rows_of(x)
    if rows is not None:
        return (rows,)
    if isinstance(x, list):
        return tuple(x)
    if isinstance(x, dict):
        return *x, *x.values()
    held = getattr(x, "__dict__", {})
    return *held, *held.values(), *(getattr(x, name, None) for name in field_names(x))


class Lent:
    """Copies of the containers among the arguments of a traced call.

    Attributes
    ----------
    copies : list
        In the order of `containers_of`; an object that comes twice has one copy.
    """

    __slots__ = ("_by_id", "_contents", "_made", "_originals", "_parts", "copies")

    def __init__(self) -> None:
        self.copies: Final[list[Any]] = []
        self._originals: Final[list[Any]] = []
        self._contents: Final[list[tuple[Any, ...]]] = []
        self._parts: Final[list[dict[str, Any]]] = []
        self._made: Final[dict[int, Any]] = {}
        self._by_id: Final[dict[int, int]] = {}

    def rebuilt(self, x: Any, leaf: Callable[[Any, bool], Any]) -> Any:
        """Return an argument with new leaves, and copies of its containers."""
        parts = children(x) if type(x).__module__ != "numpy" else None
        if parts is None:
            return map_tree(x, leaf, top=True)
        return self._rebuilt(x, parts, leaf)

    def _rebuilt(self, x: Any, parts: Any, leaf: Callable[[Any, bool], Any]) -> Any:
        items = []
        for _, item in parts:
            inner = children(item) if type(item).__module__ != "numpy" else None
            items.append(
                leaf(item, False) if inner is None else self._rebuilt(item, inner, leaf)
            )
        if isinstance(x, tuple):
            return with_parts(x, items)
        copy = self._made.get(id(x))
        if copy is None:
            copy = with_parts(x, items)
            copy = self._made[id(x)] = List(copy) if type(copy) is list else copy
            self._by_id[id(copy)] = len(self.copies)
        self._originals.append(x)
        self.copies.append(copy)
        self._contents.append(_content(copy))
        self._parts.append(dict(children(copy) or ()))
        return copy

    @property
    def pattern(self) -> tuple[int, ...]:
        """Which containers are one object."""
        return pattern(self._originals)

    def number(self, x: Any) -> int | None:
        """Return the place of a copy among the containers, None for other objects."""
        return self._by_id.get(id(x))

    def changed(self) -> list[int]:
        """Return the numbers of the containers that hold something else now."""
        return [i for i in self._by_id.values() if self.is_changed(i)]

    def is_changed(self, i: int) -> bool:
        """Whether a container holds something else now."""
        now, before = _content(self.copies[i]), self._contents[i]
        return len(now) != len(before) or any(
            a is not b for a, b in zip(now, before, strict=True)
        )

    def before(self, i: int) -> dict[str, Any]:
        """Return what a container held at first, by the names of `children`."""
        return self._parts[i]

    def forget(self) -> None:
        """Let go of the user's objects."""
        self.copies.clear()
        self._originals.clear()
        self._contents.clear()
        self._parts.clear()
        self._made.clear()
        self._by_id.clear()


def put_content(original: Any, new: Any) -> None:
    """Make a container hold what another one of its kind holds."""
    if isinstance(original, list):
        original[:] = new
    elif isinstance(original, dict):
        if list(original) != list(new):
            original.clear()
        original.update(new)
    else:
        names = [*field_names(original), *getattr(new, "__dict__", ())]
        for name in dict.fromkeys(names):
            object.__setattr__(original, name, getattr(new, name))
