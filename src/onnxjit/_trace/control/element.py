# SPDX-License-Identifier: Apache-2.0
"""What one element of a list is: its structure, and the types of its numbers and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import from_numpy
from onnxjit._trace.lists import List

from .join import JoinError, Type, flatten, joined, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .join import Template

__all__ = ["Element"]

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
        if not _alike(self.template, other.template):
            msg = f"{_text(self.template)} and {_text(other.template)} differ in structure"
            raise JoinError(msg)
        pairs = zip(self.types, other.types, strict=True)
        types = [_joined(a, b) for a, b in pairs]
        same = all(a == b for a, b in zip(types, self.types, strict=True))
        return self if same else Element(self.template, types)

    def differs(self, other: Element) -> bool:
        """Whether elements are of another kind."""
        if not _alike(self.template, other.template):
            return True
        return any(a != b for a, b in zip(self.types, other.types, strict=True))


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
