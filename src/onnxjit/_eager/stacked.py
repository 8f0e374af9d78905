# SPDX-License-Identifier: Apache-2.0
"""Lists among results whose length the run has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.array import ARRAY, SCALAR
from onnxjit._trace.control.either import Either
from onnxjit._trace.lists import List, Stack

from .leaves import with_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from onnxjit._trace.control.element import Element

__all__ = ["Stacked"]


class Stacked:
    """A list in a result; its items are the columns of its elements.

    Attributes
    ----------
    element : Element
        What one element is.
    """

    __slots__ = ("element",)

    def __init__(self, element: Element) -> None:
        self.element: Final = element

    def elements(self, columns: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
        """Return the list."""
        return _elements(self.element, columns)


def _elements(element: Element, columns: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
    parts = [_cells(c, t.kind) for c, t in zip(columns, element.types, strict=True)]
    return [_built(element.template, iter(leaves)) for leaves in zip(*parts, strict=True)]


def _cells(column: np.ndarray[Any, Any], kind: str) -> list[Any]:
    if kind == ARRAY:
        return [column[i, ...].copy() for i in range(len(column))]
    return list(column) if kind == SCALAR else column.tolist()


def _built(template: Any, leaves: Iterator[Any]) -> Any:
    kind, like, children = template
    if kind == "leaf":
        return next(leaves)
    if kind == "static":
        return like
    if isinstance(like, Stack):
        return _elements(like.element, [next(leaves) for _ in children])  # type: ignore[attr-defined]  # a Rows
    parts = [_built(child, leaves) for child in children]
    if isinstance(like, Either):
        chosen, first, second = parts
        return first if chosen else second
    if isinstance(like, List) and like.rows is not None:
        return parts[0]
    return with_parts(like, parts)
