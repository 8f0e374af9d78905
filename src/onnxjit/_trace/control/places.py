# SPDX-License-Identifier: Apache-2.0
"""What the methods of lists do where only a run knows their length, or a place in them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, dim_max, dim_min, has_data, lower
from onnxjit._trace.array import ARRAY, BOOL, SCALAR, Array, wrap
from onnxjit._trace.convert import is_traced
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.doors import DOORS
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import capture_item, get_item, python_number, set_item
from onnxjit._trace.lists import List, rows_of
from onnxjit._trace.trace import current_tracer, dim_array
from onnxjit.errors import DataDependentError, UnsupportedError

from .either import Unsure
from .element import Element
from .join import JoinError, Type
from .rows import (
    Rows,
    check_sizes,
    column_of,
    described,
    freeze,
    number_of,
    refused,
    stacked,
    switch,
)
from .steps import Steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import DimLike

    from .join import Template

__all__ = [
    "count", "delitem", "equal", "extend", "getitem", "insert", "pop", "repeated", "setitem",
    "stacked_of",
]  # fmt: skip


def count(owner: List) -> int:
    """Return how many elements a list has, for Python code that takes it apart."""
    length = owner.rows.length
    tracer = running_tracer()
    if not has_data(length):
        tracer.mark_line()
        what = "taking a list apart (by *, tuple() or the like)"
        return length.specialise(what) if isinstance(length, Dim) else length
    msg = (
        f"a list is taken apart at {tracer.source} (by *, tuple() or the like), and only a "
        "run knows how many elements it has; index it, run over it, or make an array of it"
    )
    error = DataDependentError(msg)
    if not tracer.doors:
        tracer.refuse(error)
    raise error


def _exists(place: Any, length: DimLike) -> None:
    """Let Python raise its error where a place is not in the list."""
    is_back = isinstance(place, int) and place < 0
    _holds([length + place if is_back else length - 1 - place])
    if isinstance(place, Dim):
        _holds([length + place])


def _holds(numbers: Sequence[Any]) -> None:
    """Let Python make the call where a number is negative."""
    for n in numbers:
        known = n >= 0 if isinstance(n, int) else n.env.proves("ge", n.poly)
        if known is None:
            test: Any = np.less(dim_array(n), 0)
            running_tracer().fail_if(test._value)
        elif not known:
            msg = "list index out of range"
            raise IndexError(msg)


def _from_start(place: Any, length: DimLike) -> Any:
    """Return a place that is in the list as one that counts from the start."""
    if isinstance(place, int):
        return place if place >= 0 else length + place
    if lower(place) is None:
        _holds([place])
    return place


# ---------------------------------------------------------------------------- what lists do


def stacked_of(x: Any) -> Rows | None:
    """Return the elements of an iterable stacked, where their number is symbolic."""
    rows = rows_of(x)
    if rows is not None:
        found: Rows = rows
        return found
    if isinstance(x, Steps) and isinstance(x.length, Dim):
        return stacked_of(Steps.listed(x))
    if not isinstance(x, Array) or not is_traced(x) or not x.ndim:
        return None
    if isinstance(x.shape[0], int):
        return None
    t = Type(ARRAY if x.ndim > 1 else SCALAR, x._value.dtype, x.shape[1:])
    return Rows(Element(("leaf", None, []), [t]), [column_of(x._value, t, [x])])


def extend(owner: List, more: Rows) -> None:
    """Add stacked elements to a list."""
    more = more.filled()
    if owner.rows is not None:
        owner.rows = owner.rows.filled()
    rows = switch(owner, more.element)
    owner.rows = rows.joined([more.widened(rows.element.joined(more.element)).columns])


def insert(owner: List, place: Any, x: Any) -> None:
    """Put an element before a place."""
    leaves: list[Any] = []
    if owner.rows is not None:
        x = owner.rows.entering(x)
    rows = switch(owner, described(x, leaves))
    at = number_of(place)
    middle = rows.cells(leaves)
    owner.rows = rows[:at].joined([middle, rows[at:].columns])
    freeze(x)


def pop(owner: List, place: Any) -> Any:
    """Take an element out."""
    rows = switch(owner)
    at = number_of(place)
    _exists(at, rows.length)
    found = rows.at(at, taken=True)
    _delete(owner, rows, at)
    return found


def delitem(owner: List, place: Any) -> None:
    """Take an element out."""
    if isinstance(place, slice):
        owner._ordinary("deleting a slice")
        place = slice(*(None if p is None else int(p) for p in _ends(place)))
        list.__delitem__(owner, place)
        return
    rows = switch(owner)
    at = number_of(place)
    _exists(at, rows.length)
    _delete(owner, rows, at)


def _ends(place: slice) -> tuple[Any, Any, Any]:
    return place.start, place.stop, place.step


def _delete(owner: List, rows: Rows, place: Any) -> None:
    if isinstance(place, int) and place == -1:
        owner.rows = rows[: rows.length - 1]
        return
    at = _from_start(place, rows.length)
    after = rows[at + 1 :]
    first = isinstance(at, int) and at == 0
    owner.rows = after if first else rows[:at].joined([after.columns])


def getitem(owner: List, place: Any) -> Any:
    """Return an element, or a list of those in a slice."""
    if isinstance(place, slice):
        if owner.rows is None and not any(map(has_data, map(number_of, _ends(place)))):
            ends = (None if p is None else int(p) for p in _ends(place))
            return List(list.__getitem__(owner, slice(*ends)))
        return List.of_rows(switch(owner)[place])
    at = number_of(place)
    if owner.rows is None and not _is_data(at):
        return _item(owner, at)
    rows = switch(owner)
    _exists(at, rows.length)
    return rows.at(at)


def _is_data(place: Any) -> bool:
    tracer = current_tracer()
    return has_data(place) or (isinstance(place, Dim) and bool(tracer and tracer.symbolic))


def _item(owner: List, place: Any) -> Any:
    """Return an element of an ordinary list, at a place that a call knows."""
    plain = list.copy(owner)
    kinds = set(map(type, plain))
    return capture_item(plain, place) if len(kinds) == 1 else plain[int(place)]


def setitem(owner: List, place: Any, x: Any) -> None:
    """Put an element in the place of another."""
    if isinstance(place, slice):
        _set_slice(owner, place, x)
        return
    at = number_of(place)
    if owner.rows is None and not _is_data(at):
        list.__setitem__(owner, int(at), x)
        return
    leaves: list[Any] = []
    if owner.rows is not None:
        x = owner.rows.entering(x)
    rows = switch(owner, described(x, leaves))
    _exists(at, rows.length)
    columns = []
    places = zip(rows.columns, rows.cells(leaves), rows.element.types, strict=True)
    for column, cell, t in places:
        check_sizes(column.shape[1:], cell.shape[1:])
        new = wrap(column._value)
        set_item(new, at, get_item(cell, 0))
        columns.append(column_of(new._value, t, [column, cell]))
    owner.rows = rows.with_columns(columns)
    freeze(x)


def _set_slice(owner: List, place: slice, x: Any) -> None:
    more = rows_of(x)
    if owner.rows is None and more is None:
        ends = (None if p is None else int(p) for p in _ends(place))
        list.__setitem__(owner, slice(*ends), x)
    elif _ends(place) == (None, None, None):
        new = x.copy() if isinstance(x, List) else List(x)
        if new.rows is None:
            new.rows = switch(owner)[:0].joined([])
            new.extend(x)
        switch(owner, new.rows.element)
        owner.rows = new.rows
    else:
        owner._ordinary("assigning to a slice")


def repeated(owner: List, times: Any) -> List:
    """Return a list of the elements several times."""
    count = number_of(times)
    if owner.rows is None and (isinstance(count, int) or not len(owner)):
        return List(list.__mul__(owner, int(count) if isinstance(count, int) else 1))
    if owner.rows is None and all(x is None for x in list.copy(owner)):
        return _holes(dim_max(count * len(owner), 0))
    try:
        rows = owner.rows if owner.rows is not None else stacked(list.copy(owner), None)
    except JoinError:
        return List(list.__mul__(owner, int(count)))
    if any(t.kind == ARRAY for t in rows.element.types):
        if owner.rows is None and not has_data(count):
            return List(list.__mul__(owner, int(count)))
        msg = "a list of arrays is repeated, which would hold each of them several times"
        raise UnsupportedError(msg)
    running_tracer().has_rows = True
    columns = (call_function(np.tile, (c, dim_max(count, 0)), {}) for c in rows.columns)
    return List.of_rows(rows.with_columns(columns))


def _holes(length: DimLike) -> List:
    """Return a list of None, to be filled."""
    running_tracer().has_rows = True
    there: Array = call_function(np.zeros, (length, np.bool_), {})
    template: Template = ("node", Unsure(False, None), [("leaf", None, []), _NONE])
    return List.of_rows(Rows(Element(template, [Type(BOOL, there._value.dtype, ())]), [there]))


_NONE: Final[Template] = ("static", None, [])


def equal(a: Any, b: Any) -> Any:
    """Return whether two lists of numbers are equal."""
    if not isinstance(a, list) or not isinstance(b, list):
        return NotImplemented
    first, second = (x.rows if isinstance(x, List) else None for x in (a, b))
    try:
        first = first or stacked(a, None)
        second = second or stacked(b, None)
    except JoinError as e:
        raise refused(e) from e
    m, n = first.length, second.length
    size = dim_min(m, n)
    left, right = first[:size]._numbers("=="), second[:size]._numbers("==")
    alike = call_function(np.all, (left == right,), {})
    lengths: Any = m - n
    if isinstance(lengths, Dim):
        alike = np.logical_and(alike, np.equal(dim_array(lengths), 0))
    elif lengths:
        return False
    return python_number(alike, "b")


DOORS.places = sys.modules[__name__]
