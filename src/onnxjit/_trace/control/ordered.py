# SPDX-License-Identifier: Apache-2.0
"""Lists sorted by numbers that only a run knows, and greatest elements by a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._trace.array import wrap
from onnxjit._trace.convert import arrays_in, is_known
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.items import python_number
from onnxjit._trace.lists import List, rows_of
from onnxjit._trace.trace import dim_array
from onnxjit.errors import UnsupportedError

from .join import JoinError
from .rows import Rows, column_of, refused, stacked
from .truth import ifexp

if TYPE_CHECKING:
    from collections.abc import Callable

    from .join import Template

__all__ = ["place_of_extreme", "sort"]

#: elements of unlike structure that a sort may choose between, each against each
_FEW: Final = 16


def sort(owner: List, keys: List, *, reverse: bool) -> None:
    """Sort a list by keys, one for each element.

    Equal keys keep their order, also with `reverse`. A NaN is the greatest number.
    """
    found = _rows(keys)
    if found is None:
        places = range(len(keys))
        order = sorted(places, key=list.copy(keys).__getitem__, reverse=reverse)
        items = list.copy(owner)
        list.__setitem__(owner, slice(None), [items[i] for i in order])
        return
    by = _order(found, reverse=reverse)
    if owner.rows is not None:
        owner.rows = _taken(owner.rows, by)
        return
    items = list.copy(owner)
    try:
        rows = _taken(stacked(items, None), by)
    except JoinError:
        list.__setitem__(owner, slice(None), [_chosen(items, place) for place in by])
        return
    list.__setitem__(owner, slice(None), [rows.at(i) for i in range(len(items))])


def _rows(keys: List) -> Rows | None:
    """Return keys stacked, None where Python can compare them."""
    rows: Rows | None = keys.rows
    if rows is None:
        if len(keys) < 2 or all(map(is_known, arrays_in(list.copy(keys)))):
            return None
        try:
            rows = stacked(list.copy(keys), None)
        except JoinError as e:
            raise refused(e) from e
    _check(rows.element.template)
    if any(column.ndim > 1 for column in rows.columns):
        msg = "a list is sorted by arrays, which have no order; give a number as the key"
        raise UnsupportedError(msg)
    return rows


def _check(template: Template) -> None:
    """See to it that keys are compared as numbers, and tuples of them."""
    kind, x, children = template
    if kind == "node" and type(x) not in (tuple, List, list):
        msg = (
            f"a list is sorted by objects of {type(x).__name__}, which compare in their own "
            "way; give a number as the key"
        )
        raise UnsupportedError(msg)
    for child in children:
        _check(child)


def _order(keys: Rows, *, reverse: bool) -> Any:
    """Return the places of elements in the order of their keys."""
    columns = [wrap(c._value) for c in keys.columns]
    if reverse:
        columns = [c[::-1] for c in columns]
    by = call_function(np.lexsort, (tuple(columns[::-1]),), {})
    if not reverse:
        return by
    length = keys.length
    return (dim_array(length) if isinstance(length, Dim) else length) - 1 - by[::-1]


def _taken(rows: Rows, places: Any) -> Rows:
    columns = []
    for column, t in zip(rows.columns, rows.element.types, strict=True):
        found: Any = call_function(np.take, (wrap(column._value), places), {"axis": 0})
        columns.append(column_of(found._value, t, [column]))
    return rows.with_columns(columns)


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


def place_of_extreme(keys: List, symbol: str) -> Any:
    """Return the place of the first greatest or least key, None where keys are no numbers.

    As Python compares, a NaN counts where it comes first only.
    """
    rows = rows_of(keys)
    if rows is None or rows.element.template[0] != "leaf" or rows.columns[0].ndim > 1:
        return None
    numbers: Any = wrap(rows.columns[0]._value)
    best: Callable[..., Any] = np.argmax if symbol == ">" else np.argmin
    if numbers.dtype.kind != "f":
        return python_number(call_function(best, (numbers,), {}), "i")
    worst = -np.inf if symbol == ">" else np.inf
    is_nan = np.isnan(numbers)
    found = call_function(best, (np.where(is_nan, numbers.dtype.type(worst), numbers),), {})
    place: Any = np.where(is_nan[0], 0, found)
    return python_number(place, "i")
