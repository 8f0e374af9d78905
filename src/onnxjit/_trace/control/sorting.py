# SPDX-License-Identifier: Apache-2.0
"""Lists sorted by numbers that only a run knows."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._trace.array import Array, wrap
from onnxjit._trace.convert import arrays_in, is_known, is_traced
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import get_item
from onnxjit._trace.lists import List, rows_of
from onnxjit.errors import UnsupportedError

from .join import JoinError
from .rows import Rows, column_of, element_of, switch
from .statements import comp
from .truth import ifexp

if TYPE_CHECKING:
    from collections.abc import Callable

    from .join import Template

__all__ = ["sort"]

#: elements of unlike structure that a sort may choose between, each against each
_FEW: Final = 16


def sort(owner: List, key: Callable[[Any], Any] | None, *, reverse: bool) -> None:
    """Sort a list in place; equal elements stay in order."""
    keys = owner if key is None else comp("list", owner, lambda e: [key(e)])
    plain = _plain(list.copy(keys)) if owner.rows is None else None
    if plain is not None:
        places = sorted(range(len(plain)), key=plain.__getitem__, reverse=reverse)
        list.__setitem__(owner, slice(None), [list.__getitem__(owner, i) for i in places])
        return
    if keys is not owner and keys.rows is None:
        switch(keys)
    if owner.rows is None and keys is not owner and not _are_alike(owner):
        order = _order(rows_of(keys), reverse=reverse)
        items = list.copy(owner)
        found = (order[i] for i in range(len(items)))
        list.__setitem__(owner, slice(None), [_chosen(items, place) for place in found])
        return
    rows = switch(owner).filled()
    order = _order(rows_of(keys), reverse=reverse)
    columns = zip(rows.columns, rows.element.types, strict=True)
    owner.rows = rows.with_columns(
        column_of(get_item(c, order)._value, t, [c]) for c, t in columns
    )


def _is_open(x: Any) -> bool:
    """Whether only a run knows how an object compares."""
    return any(
        is_traced(a) and not (isinstance(a, Array) and is_known(a)) for a in arrays_in(x)
    )


def _plain(keys: list[Any]) -> list[Any] | None:
    """Return keys in whose order Python puts them without data; None where there are none.

    Of tuples, such as the items of a dict, the first parts may be enough.
    """
    if not any(map(_is_open, keys)):
        return keys
    if not all(type(key) is tuple for key in keys):
        return None
    firsts = [tuple(takewhile(lambda x: not _is_open(x), key)) for key in keys]
    pairs = pairwise(sorted(firsts))
    return None if any(b[: len(a)] == a for a, b in pairs) else firsts


def _are_alike(owner: List) -> bool:
    """Whether the elements can be stacked."""
    try:
        element_of(owner)
    except JoinError:
        return False
    return True


def _chosen(items: list[Any], place: Any) -> Any:
    """Return the element at a place that only a run knows, of elements of any structure."""
    if len(items) > _FEW:
        msg = (
            f"a list of {len(items)} elements that differ in structure is sorted by data; "
            "sort the numbers alone, by np.argsort"
        )
        raise UnsupportedError(msg)
    first, *rest = items
    if not rest:
        return first
    return ifexp(place == 0, lambda: first, lambda: _chosen(rest, place - 1))


def _check(template: Template) -> None:
    """See to it that keys compare as numbers do, or tuples of them."""
    kind, x, children = template
    if kind == "node" and type(x) not in (tuple, list, List):
        msg = (
            f"a list is sorted by objects of {type(x).__name__}, which compare in their own "
            "way; give a number as the key"
        )
        raise UnsupportedError(msg)
    for child in children:
        _check(child)


def _order(keys: Rows, *, reverse: bool) -> Any:
    """Return the places of keys in their order; those of tuples count from the first on."""
    _check(keys.element.template)
    if any(c.ndim != 1 or c.dtype.kind not in "biuf" for c in keys.columns):
        msg = "a list is sorted in the graph by numbers or tuples of numbers only"
        raise UnsupportedError(msg)
    for c in keys.columns:
        if c.dtype.kind == "f":  # where Python puts others than NaN depends on how it sorts
            running_tracer().fail_if(call_function(np.any, (np.isnan(c),), {})._value)
    columns = [wrap(c._value)[::-1] if reverse else wrap(c._value) for c in keys.columns]
    order = call_function(np.lexsort, (tuple(columns[::-1]),), {})
    return keys.length - 1 - order[::-1] if reverse else order
