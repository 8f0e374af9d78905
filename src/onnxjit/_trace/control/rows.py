# SPDX-License-Identifier: Apache-2.0
"""Lists whose number of elements only a run of the model knows.

Each number or array of an element has a column, which holds it for all elements, stacked along
a new leading axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, has_data, same
from onnxjit._core.region import visible
from onnxjit._ops.cast import cast
from onnxjit._ops.structure import concat, unsqueeze
from onnxjit._ops.ufunc import as_weak
from onnxjit._trace.array import ARRAY, SCALAR, Array, wrap
from onnxjit._trace.convert import arrays_in
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import get_item, python_number
from onnxjit._trace.lists import List, Stack, rows_of
from onnxjit._trace.trace import dim_array
from onnxjit.errors import UnsupportedError

from .either import Either, Unsure
from .element import Element, definite, likely
from .join import JoinError, Type, from_value, rebuild, to_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

    from .join import ListsDifferError
    from .slots import Snapshot

__all__ = ["Rows", "Switch", "element_of", "switch"]


class Switch(BaseException):
    """A list made outside of a branch or loop has to hold its elements stacked.

    Whoever traces the branch or loop makes it so, and starts over.
    """

    def __init__(self, owner: List, element: Element | None) -> None:
        super().__init__()
        self.owner: Final = owner
        self.element: Final = element

    def apply(self) -> tuple[List, list[Any], Any]:
        """Do it here, or farther out; return what the list was before."""
        tracer = running_tracer()
        if tracer.holds(self.owner):
            raise self
        before = self.owner, list.copy(self.owner), self.owner.rows
        _become(self.owner, self.element)
        return before


def put_back(owner: List, items: list[Any], rows: Any) -> None:
    """Give a list the contents that it had."""
    owner.rows = rows
    for x in arrays_in(items):
        if isinstance(x, Array) and x._nd is None:
            x._storage.stale = False
    list.__setitem__(owner, slice(None), items)


class Rows(Stack):
    """The elements of a list, stacked; never changed.

    Attributes
    ----------
    element : Element
        What one element is.
    columns : tuple of Array
        One for each leaf of an element.
    """

    __slots__ = ("columns", "element")

    def __init__(self, element: Element, columns: Iterable[Array]) -> None:
        self.element: Final = element
        self.columns: Final = tuple(columns)

    @property
    def length(self) -> DimLike:
        """Number of elements."""
        return self.columns[0].shape[0]

    def with_columns(self, columns: Iterable[Array]) -> Rows:
        """Return other elements of the same kind."""
        return Rows(self.element, columns)

    @property
    def has_holes(self) -> bool:
        """Whether the elements are None where nothing has been put."""
        return isinstance(self.element.template[1], Unsure)

    def entering(self, x: Any) -> Any:
        """Return an object as an element of these."""
        if not self.has_holes:
            return x
        if x is None:
            msg = "None is put into a list of None of symbolic length; use a mask or NaN"
            raise UnsupportedError(msg)
        return Unsure(True, x)

    def filled(self) -> Rows:
        """Return the elements where there are no holes: Python makes the call if there are."""
        if not self.has_holes:
            return self
        there: Any = self.columns[0]
        running_tracer().fail_if_any(np.logical_not(there)._value)
        if len(self.columns) == 1:
            msg = "a list of None is used before anything is put into it"
            raise UnsupportedError(msg)
        inner = Element(self.element.template[2][1], self.element.types[1:])
        return Rows(inner, self.columns[1:])

    def append(self, owner: List, x: Any) -> None:
        """Let a list with these rows have one element more."""
        leaves: list[Any] = []
        x = self.entering(definite(x))
        rows = switch(owner, described(x, leaves))
        if len(leaves) < len(rows.element.types):
            msg = "None is appended, where the array that holds the list has a number"
            raise TypeError(msg)
        cells = rows.cells(leaves)
        owner.rows = rows.joined([cells])
        freeze(x)

    def cells(self, leaves: Sequence[Any]) -> list[Array]:
        """Return the columns of one element."""
        return [_cell(x, t) for x, t in zip(leaves, self.element.types, strict=True)]

    def joined(self, others: Sequence[Sequence[Array]]) -> Rows:
        """Return these elements, and more of the same kind behind."""
        columns = []
        for column, *more, t in zip(self.columns, *others, self.element.types, strict=True):
            for new in more:
                check_sizes(column.shape[1:], new.shape[1:])
            value = concat([c._value for c in (column, *more)], 0)
            columns.append(column_of(value, t, [column, *more]))
        return self.with_columns(columns)

    def widened(self, element: Element) -> Rows:
        """Return the same elements with the types of another element."""
        columns = []
        for place, t in zip(self.element.places(element), element.types, strict=True):
            if place is None:
                columns.append(_empty(t, self.length) if self.has_holes else self._none(t))
                continue
            c = self.columns[place]
            columns.append(column_of(cast(c._value, t.dtype), t, [c]))
        return Rows(element, columns)

    def _none(self, t: Type) -> Array:
        """Return a column of numbers in the place of None: there are no elements yet."""
        if isinstance(self.length, Dim) or self.length:
            msg = "some have None where others have a number"
            raise JoinError(msg)
        return _empty(t)

    def __getitem__(self, places: slice) -> Rows:
        """Return the elements at places; the arrays among them are the same ones."""
        step = 1 if places.step is None else int(places.step)
        cut = slice(number_of(places.start), number_of(places.stop), step)
        columns = [
            column_of(get_item(c, cut)._value, t, [c])
            for c, t in zip(self.columns, self.element.types, strict=True)
        ]
        return self.with_columns(columns)

    def at(self, i: Any, *, taken: bool = False) -> Any:
        """Return an element; one that is `taken` out is in the list no more."""
        columns = zip(self.columns, self.element.types, strict=True)
        leaves = [_pick(c, i, t) for c, t in columns]
        if taken:
            leaves = [_taken(x, c) for x, c in zip(leaves, self.columns, strict=True)]
        found = rebuild(self.element.template, iter(leaves))
        if isinstance(found, Unsure):
            found = Either(found.defined, found.content, None, running_tracer().source)
        freeze(found)
        return found

    def apart(self) -> Rows:
        """Return copies of the elements."""
        return self.with_columns(wrap(c._value) for c in self.columns)

    def contains(self, x: Any) -> Any:
        """Return whether an element is equal to `x`."""
        return python_number(call_function(np.any, (self._equal(x),), {}), "b")

    def count(self, x: Any) -> Any:
        """Return how many elements are equal to `x`."""
        return python_number(call_function(np.count_nonzero, (self._equal(x),), {}), "i")

    def _equal(self, x: Any) -> Any:
        leaves: list[Any] = []
        if self.has_holes:
            return self.filled()._equal(x)
        try:
            self.element.joined(Element.of(x, leaves))
        except JoinError:
            return np.zeros(0, np.bool_)
        found: Any = None
        for column, leaf in zip(self.columns, leaves, strict=True):
            if column.ndim > 1:
                msg = "looking for an array in a list is not carried; compare with np.array"
                raise UnsupportedError(msg)
            test = column == (dim_array(leaf) if isinstance(leaf, Dim) else leaf)
            found = test if found is None else np.logical_and(found, test)
        return found

    def _numbers(self, what: str) -> Array:
        """Return the one column of a list of numbers."""
        if self.has_holes:
            return self.filled()._numbers(what)
        if self.element.template[0] != "leaf" or self.columns[0].ndim != 1:
            msg = f"{what} of a list that grows in a loop is for numbers; use np.array"
            raise UnsupportedError(msg)
        return self.columns[0]


# ---------------------------------------------------------------------------- columns


def column_of(value: Value, t: Type, sources: Sequence[Any]) -> Array:
    """Return a column; arrays in it are the ones that `sources` hold."""
    column = wrap(value)
    if t.kind == ARRAY:
        storage = column._storage
        for x in sources:
            if isinstance(x, Array) and x._nd is None:
                for other in x._storage.same_ones():
                    storage.continue_as(other)
    return column


def _cell(leaf: Any, t: Type) -> Array:
    """Return a column of one."""
    value = to_value(leaf, Type(ARRAY, t.dtype, t.shape))
    return column_of(unsqueeze(value, [0]), t, [leaf])


def check_sizes(first: Sequence[DimLike], second: Sequence[DimLike]) -> None:
    """See to it that all elements have one shape."""
    for m, n in zip(first, second, strict=True):
        if same(m, n):
            continue
        difference: Any = m - n
        if has_data(difference):
            test: Any = np.not_equal(dim_array(difference), 0)
            running_tracer().fail_if(test._value)
        elif difference != 0:
            msg = (
                f"a list at {running_tracer().source} gets arrays with {m} and with {n} "
                "elements along an axis; pad them to one size"
            )
            raise UnsupportedError(msg)


def _pick(column: Array, i: Any, t: Type) -> Any:
    """Return what a column holds for one element."""
    if t.kind == ARRAY:
        return get_item(column, (i, ...))
    value = get_item(column, i)._value
    if t.kind == SCALAR:
        return wrap(value, SCALAR)
    return from_value(as_weak(value), t)


def _taken(x: Any, column: Array) -> Any:
    """Return an array that a column has held: only the one that was put in can be it."""
    if not isinstance(x, Array) or x._kind != ARRAY:
        return x
    new = wrap(x._value)
    for other in column._storage.same_ones()[1:]:
        new._storage.continue_as(other)
    return new


# ---------------------------------------------------------------------------- changing nature


def described(x: Any, leaves: list[Any]) -> Element:
    try:
        return Element.of(x, leaves)
    except JoinError as e:
        raise refused(e) from e


def refused(error: JoinError) -> UnsupportedError:
    return UnsupportedError(f"a list at {running_tracer().source} cannot be stacked: {error}")


def element_of(owner: List) -> Element | None:
    """Return what one element of a list is, None for an empty list.

    Raises
    ------
    JoinError
        They differ.
    """
    if owner.rows is not None:
        element: Element = owner.rows.element
        return element
    return _element_of_items(list.copy(owner), [])


def _element_of_items(items: Sequence[Any], leaves: list[list[Any]]) -> Element | None:
    found: Element | None = None
    for x in items:
        leaves.append([])
        element = Element.of(x, leaves[-1])
        found = element if found is None else found.joined(element)
    return found


def switch(owner: List, element: Element | None = None) -> Rows:
    """Make a list hold its elements stacked, wide enough for `element`; return them.

    Raises
    ------
    Switch
        It was made outside of the region that is being traced.
    """
    rows: Rows | None = owner.rows
    try:
        if rows is None or rows.element.joined(element) is not rows.element:
            Switch(owner, element).apply()
    except JoinError as e:
        raise refused(e) from e
    found: Rows = owner.rows
    return found


def _become(owner: List, element: Element | None) -> None:
    """Make a list hold its elements stacked."""
    try:
        if owner.rows is not None:
            owner.rows = owner.rows.widened(owner.rows.element.joined(element))
            return
        items = [definite(x) for x in list.copy(owner)]
        rows = stacked(items, element)
    except JoinError as e:
        raise refused(e) from e
    list.clear(owner)
    owner.rows = rows
    running_tracer().has_rows = True
    for x in items:
        freeze(x)


def stack_items(owner: List, items: Sequence[Any]) -> None:
    """Let a list made outside hold its elements stacked, as there are `items` in it now.

    Raises
    ------
    Switch
        Always, but for
    UnsupportedError
        The items are not of one kind.
    """
    try:
        element = _element_of_items([likely(x) for x in items], [])
    except JoinError as e:
        raise refused(e) from e
    raise Switch(owner, element)


def stack_lists(snapshot: Snapshot, error: ListsDifferError) -> None:
    """Let one of two lists that differ hold its elements stacked, if it was made outside."""
    first, second = error.lists
    for owner, other in ((first, second), (second, first)):
        if not snapshot.holds(owner):
            continue
        try:
            element = element_of(other)
            own = element_of(owner)
            both = element if own is None else own.joined(element)
        except JoinError as e:
            raise refused(e) from e
        if both is not None and (owner.rows is None or both is not own):
            raise Switch(owner, both)


def stacked(items: Sequence[Any], element: Element | None) -> Rows:
    leaves: list[list[Any]] = []
    own = _element_of_items(items, leaves)
    both = element if own is None else own.joined(element)
    if both is None:
        msg = "it is empty"
        raise JoinError(msg)
    if own is None:
        return Rows(both, [_empty(t) for t in both.types])
    rows = Rows(both, [])
    cells = [rows.cells(each) for each in leaves]
    return rows.with_columns(cells[0]).joined(cells[1:])


def _empty(t: Type, length: DimLike = 0) -> Array:
    """Return a column without elements, or of zeros."""
    block = running_tracer().block
    if not all(visible(n, block) for n in t.shape):
        msg = "its arrays differ in shape from one iteration to the next; pad them to one size"
        raise JoinError(msg)
    found: Array = call_function(np.zeros, ((length, *t.shape), t.dtype.numpy), {})
    return found


def freeze(x: Any) -> None:
    """Let nobody change a list of which another list holds a copy."""
    if isinstance(x, List):
        x.freeze()
    if isinstance(x, (list, tuple)):
        for part in () if rows_of(x) is not None else x:
            freeze(part)


def number_of(place: Any) -> Any:
    """Return a place as an int or Dim."""
    if isinstance(place, Array):
        if place.ndim or place.dtype.kind not in "iu":
            msg = "list indices must be integers or slices, not numpy.ndarray"
            raise TypeError(msg)
        return python_number(place, "i")
    return place if place is None or isinstance(place, Dim) else place.__index__()
