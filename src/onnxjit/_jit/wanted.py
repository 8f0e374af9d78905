# SPDX-License-Identifier: Apache-2.0
"""What a model has to give, from what NumPy gives and where the results come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import hint_of
from onnxjit._eager.leaves import children
from onnxjit._eager.results import Result
from onnxjit._eager.stacked import Stacked
from onnxjit._trace.control.either import Either, Unsure
from onnxjit._trace.lists import List, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnxjit._eager.record import Recording

    from .compare import Array

__all__ = ["wanted_outputs"]

#: in the place of an output that this run leaves open, such as that of the other branch
_OPEN: Final = object()


def wanted_outputs(
    recording: Recording, result: Any, written: Sequence[Any]
) -> list[Array | None]:
    """Return NumPy's results in the order of a model's outputs, None for open ones."""
    found: list[Any] = []
    plain: list[Any] = []
    for leaf, x in _pairs(recording.tree, result):
        is_array = isinstance(x, (np.ndarray, np.generic))
        if leaf.source in {"output", "argument"} or (is_array and leaf.source == "static"):
            found.append(x)
        elif isinstance(x, (bool, int, float)):
            plain.append(x)
    found += [written[i] for i, _ in recording.written]
    return [None if x is _OPEN else np.asarray(x) for x in found or plain]


def _pairs(tree: Any, x: Any) -> Iterator[tuple[Result, Any]]:
    """Go through the leaves of a result, each with what it is in NumPy's result."""
    if isinstance(tree, Result):
        yield tree, x
        return
    example, items = tree
    parts = _parts(example, items, x)
    for item, part in zip(items, parts, strict=True):
        yield from _pairs(item, part)


def _parts(example: Any, items: Sequence[Any], x: Any) -> Sequence[Any]:
    if x is _OPEN:
        return [_OPEN] * len(items)
    if isinstance(example, Either):
        first = _fits(items[1], x)
        return [first, x, _OPEN] if first else [False, _OPEN, x]
    if isinstance(example, Unsure):
        return [True, x]
    if isinstance(example, Stacked):
        return _columns(example, x)
    return [part for _, part in children(x) or ()]


def _fits(tree: Any, x: Any) -> bool:
    """Whether an object can be what a tree of results stands for."""
    if not isinstance(tree, Result):
        example, items = tree
        if isinstance(example, Either):
            return any(_fits(item, x) for item in items[1:])
        if isinstance(example, Stacked):
            return isinstance(x, list)
        parts = children(x)
        if parts is None or type(x) is not type(example) or len(parts) != len(items):
            return isinstance(x, list) and isinstance(example, list)
        return all(_fits(item, part) for item, (_, part) in zip(items, parts, strict=True))
    if tree.source == "static":
        return type(x) is type(tree.value) and repr(x) == repr(tree.value)
    if tree.source in {"held", "weak"}:
        return tree.value is x
    return bool(_KINDS.get(tree.kind, _is_array)(x))


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


_KINDS: Final[dict[str, Any]] = {
    "scalar": lambda x: isinstance(x, np.generic),
    "int": lambda x: type(x) is int,
    "float": lambda x: type(x) is float,
    "bool": lambda x: type(x) is bool,
    "complex": lambda x: type(x) is complex,
}


def _columns(stacked: Any, items: Sequence[Any]) -> list[Any]:
    """Return the leaves of the elements of a list, each stacked over all elements."""
    element = stacked.element
    rows = [list(_leaves(element.template, x)) for x in items]
    columns: list[Any] = []
    for i, t in enumerate(element.types):
        column = [row[i] for row in rows]
        if not column:
            columns.append(_empty(t))
        elif any(x is _OPEN for x in column):
            columns.append(_OPEN)
        else:
            columns.append(np.stack([np.asarray(x).astype(t.dtype.numpy) for x in column]))
    return columns


def _empty(t: Any) -> Any:
    """Return the column of a list without elements; only data may know the sizes of one."""
    shape = [hint_of(n) for n in t.shape]
    return _OPEN if None in shape else np.zeros((0, *shape), t.dtype.numpy)


def _leaves(template: Any, x: Any) -> Iterator[Any]:
    """Go through the leaves of one element of a list."""
    kind, like, inner = template
    if kind == "leaf":
        yield x
        return
    if kind == "static":
        return
    if isinstance(like, List) and like.rows is not None:
        parts = [x]
    elif isinstance(like, Stack):
        parts = _columns(like, x)
    else:
        parts = [part for _, part in children(x) or ()]
    if len(parts) != len(inner) or isinstance(like, Either):
        parts = [_OPEN] * len(inner)
    for child, part in zip(inner, parts, strict=True):
        yield from _leaves(child, part)
