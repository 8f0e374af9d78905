# SPDX-License-Identifier: Apache-2.0
"""What one element of a list is: its structure, and the types of its numbers and arrays."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import from_numpy
from onnxjit._trace.lists import List

from .either import Either, Unsure
from .join import JoinError, Type, flatten, joined, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .join import Template

__all__ = ["Element", "definite", "likely"]

_VALUES: Final = (str, bytes, int, type(None))


class Element:
    """Structure of the elements of a list, and the type of each leaf.

    Attributes
    ----------
    template : structure, see `join.flatten`
    types : sequence of Type
    """

    __slots__ = ("template", "types")

    def __init__(self, template: Template, types: Sequence[Type]) -> None:
        self.template: Final = template
        self.types: Final = tuple(types)

    @classmethod
    def of(cls, x: Any, leaves: list[Any]) -> Element:
        """Describe an object, and add its numbers and arrays to `leaves`."""
        template = flatten(x, leaves)
        _check(template)
        if not leaves:
            msg = f"{x!r:.40} has no number or array in it"
            raise JoinError(msg)
        return cls(template, [_type(leaf) for leaf in leaves])

    def joined(self, other: Element | None) -> Element:
        """Return an element for both, with this one's sizes.

        Raises
        ------
        JoinError
            There is none.
        """
        if other is None or other is self:
            return self
        found: list[tuple[Type | None, Type | None]] = []
        template = _merged(self, other, found)
        types = [_joined(a, b) if a and b else a or b for a, b in found]
        same = all(a == t for (a, _), t in zip(found, types, strict=True))
        return self if same else Element(template, [t for t in types if t is not None])

    def places(self, other: Element) -> list[int | None]:
        """Return which leaf of this element each leaf of a joined one is, None: a new one."""
        found: list[tuple[Type | None, Type | None]] = []
        _merged(self, other, found)
        numbers = itertools.count()
        return [None if a is None else next(numbers) for a, _ in found]

    def differs(self, other: Element) -> bool:
        """Whether elements are of another kind."""
        if not _alike(self.template, other.template):
            return True
        return any(a != b for a, b in zip(self.types, other.types, strict=True))


def definite(x: Any) -> Any:
    """Return an element with the number where there is None or a number.

    Where it is None, Python makes the call: no array holds that.
    """
    if type(x) is tuple:
        return tuple(map(definite, x))
    return x.apply(_number) if likely(x) is not x else x


def _number(x: Any) -> Any:
    if x is None:
        msg = "no number"
        raise TypeError(msg)
    return x.apply(_number) if isinstance(x, Either) else x


def likely(x: Any) -> Any:
    """Return an element of the type of the definite one."""
    if type(x) is tuple:
        return tuple(map(likely, x))
    kinds = [kind for kind in _kinds(x) if kind is not None]
    numbers = bool(kinds) and all(type_of(kind) is not None for kind in kinds)
    return kinds[0] if numbers else x


def _kinds(x: Any) -> list[Any]:
    return [*_kinds(x.first), *_kinds(x.second)] if isinstance(x, Either) else [x]


def _type(x: Any) -> Type:
    found = type_of(x)
    assert found is not None  # a leaf has one
    return found


def _joined(a: Type, b: Type) -> Type:
    """Join two types; an array of both has to have the dtype that NumPy gives it."""
    t = joined(a, b)
    if np.result_type(a.dtype.numpy, b.dtype.numpy) != t.dtype.numpy:
        msg = f"{a} and {b} are elements of one list: make numbers of one dtype of them"
        raise JoinError(msg)
    return Type(t.kind, from_numpy(t.dtype.numpy), a.shape)


def _check(template: Template) -> None:
    """Refuse what the list would hold a copy of, though it can change."""
    kind, x, children = template
    if kind == "node" and not isinstance(x, (tuple, List)) and _is_container(x):
        msg = f"a {type(x).__name__} inside of it may change: append a tuple"
        raise JoinError(msg)
    for child in children:
        _check(child)


def _is_container(x: Any) -> bool:
    return isinstance(x, (list, dict))


def _merged(
    first: Element, second: Element, pairs: list[tuple[Type | None, Type | None]]
) -> Template:
    """Return a structure for two elements, and pairs of leaves; None is a missing number."""
    types, others = iter(first.types), iter(second.types)

    def only(template: Template, found: Iterator[Type], *, first: bool) -> Template:
        """Take over what one of the two has where the other has nothing yet."""
        if template[0] == "leaf":
            t = next(found)
            pairs.append((t, None) if first else (None, t))
        for child in template[2]:
            only(child, found, first=first)
        return template

    def merge(a: Template, b: Template, *, hole: bool = False) -> Template:
        if hole and _is_none(a) is not _is_none(b):
            return only(a, types, first=True) if _is_none(b) else only(b, others, first=False)
        if a[0] == "leaf" or b[0] == "leaf":
            if not all(part[0] == "leaf" or _is_none(part) for part in (a, b)):
                raise JoinError(msg)
            own = next(types) if a[0] == "leaf" else None
            pairs.append((own, next(others) if b[0] == "leaf" else None))
            return a if own else b
        if not _alike((*a[:2], []), (*b[:2], [])) or len(a[2]) != len(b[2]):
            raise JoinError(msg)
        hole = isinstance(a[1], Unsure)
        parts = zip(a[2], b[2], strict=True)
        return (
            a[0],
            a[1],
            [merge(m, n, hole=hole and i == 1) for i, (m, n) in enumerate(parts)],
        )

    texts = _text(first.template), _text(second.template)
    msg = f"{texts[0]} and {texts[1]} differ in structure"
    return merge(first.template, second.template)


def _is_none(template: Template) -> bool:
    return template[0] == "static" and template[1] is None


def _alike(a: Template, b: Template) -> bool:
    """Whether two structures are the same."""
    kind, x, children = a
    other, y, others = b
    if kind != other or len(children) != len(others):
        return False
    if kind == "static":
        return x is y or (type(x) is type(y) and type(x) in _VALUES and bool(x == y))
    if kind == "node":
        as_lists = isinstance(x, List) and isinstance(y, List)
        if not as_lists and type(x) is not type(y):
            return False
    return all(map(_alike, children, others))


def _text(template: Template) -> str:
    kind, x, children = template
    if kind == "leaf":
        return "a number or array"
    if kind == "static":
        return f"{x!r:.40}"
    return f"a {type(x).__name__.lower()} of {len(children)}"
