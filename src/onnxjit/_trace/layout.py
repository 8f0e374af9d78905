# SPDX-License-Identifier: Apache-2.0
"""How traced arrays lie in memory, as far as NumPy's choice between view and copy needs it.

Most programs never ask: the order of a result is worked out when a write makes the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, DimLike, dim_prod, same
from onnxjit._ops.views import ReshapeView, UndecidedError, c_strides
from onnxjit.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._ops.view import View

__all__ = [
    "UNDECIDED", "Layout", "Operand", "Picked", "k_order", "lies", "picked_layout",
    "result_layout", "ufunc_layout", "walk",
]  # fmt: skip

#: what is asked depends on sizes that are not known, and no guard may be taken
UNDECIDED: Final = object()
#: length of each axis, and its rank: larger further out in memory, 0 where there is no step
Row = tuple[tuple[DimLike, int], ...]
#: rows of operands, number of axes of the result -> axes in memory order, None or UNDECIDED
Rule = Callable[..., Any]
Shape = tuple[DimLike, ...]


class Layout:
    """Order of the axes in memory, and the arguments it was learnt from.

    Parameters
    ----------
    order : tuple of int, optional
        Axes, outermost first; None is C order.
    arguments : frozenset of int
        Arguments whose own layout decided this one: a graph that makes use of it is right only
        for arguments laid out alike.
    example : tuple of int, optional
        Element strides of an argument that is neither C nor F contiguous.
    operands : sequence of Operand
        What an elementwise result is made of, where the order follows from theirs.
    unknown : str
        The function that made it, where its rule is not known unless all operands lie in C
        order.
    rule : callable, optional
        How the order follows: `k_order` and the like.
    """

    __slots__ = (
        "_is_open", "_order", "arguments", "example", "operands", "rule", "unknown",
    )  # fmt: skip

    def __init__(
        self,
        order: tuple[int, ...] | None = None,
        arguments: frozenset[int] = frozenset(),
        *,
        example: tuple[int, ...] | None = None,
        operands: Sequence[Operand] = (),
        unknown: str = "",
        rule: Rule | None = None,
    ) -> None:
        self._order = order
        self._is_open = False
        self.arguments: Final = arguments
        self.example: Final = example
        self.operands: Sequence[Operand] = operands
        self.unknown: Final = unknown
        self.rule: Final[Rule] = rule or k_order

    @property
    def is_plain(self) -> bool:
        """Whether it is C order for all sizes, given the arguments' layouts."""
        return self._order is None and self.example is None and not self.operands

    @staticmethod
    @cache
    def plain(arguments: frozenset[int] = frozenset()) -> Layout:
        """Return the one C order that was learnt from some arguments."""
        return Layout(None, arguments)

    def strides(self, shape: Shape, *, guard: bool = False) -> Any:
        """Return the element strides of an array of a shape, or UNDECIDED.

        Raises
        ------
        UnsupportedError
            They are asked for with `guard`, and nobody knows.
        """
        if self.example is not None:
            return self.example
        order = self.order(len(shape), guard=guard)
        return order if order is UNDECIDED else contiguous_strides(shape, order)

    def order(self, ndim: int, *, guard: bool) -> Any:
        """Return the axes in memory order, None for C order, or UNDECIDED."""
        if guard:
            self._resolve(ndim)
        elif self.operands and not self._is_open:
            order = self._found(ndim, guard=False)
            if order is not UNDECIDED:
                self._order, self.operands = order, ()
            self._is_open = order is UNDECIDED
        return UNDECIDED if self.operands else self._order

    def _resolve(self, ndim: int) -> None:
        """Decide the order, those of the operands first: chains of them may be long."""
        stack = [(self, ndim)]
        while stack:
            layout, axes = stack[-1]
            before = [x.source for x in layout.operands if x.source[0].operands]
            stack += before
            if not before:
                stack.pop()
                if layout.operands:
                    layout._order, layout.operands = layout._found(axes, guard=True), ()

    def _found(self, ndim: int, *, guard: bool) -> Any:
        found = [x.row(guard=guard) for x in self.operands]
        rows = [row for row in found if row is not None]
        if len(rows) < len(found):
            return UNDECIDED
        if self.unknown and not all(map(_is_c, rows)):
            return self._refuse() if guard else UNDECIDED
        return self.rule(rows, ndim, guard=guard)

    def _refuse(self) -> Any:
        msg = (
            f"a reshaped result of {self.unknown} is written to, and whether that is a view "
            "depends on the memory order of the result, which is not known here; "
            "make it with .copy() before the write"
        )
        raise UnsupportedError(msg)

    def row(self, shape: Shape) -> Row | None:
        """Return lengths and ranks of the axes of an array of a shape; None: undecided."""
        if self.example is not None:
            return tuple(zip(shape, map(abs, self.example), strict=True))
        order = self.order(len(shape), guard=False)
        if order is UNDECIDED:
            return None
        return ranked(shape, order)


def _is_c(row: Row) -> bool:
    ranks = [rank for n, rank in row if rank and not same(n, 1)]
    return ranks == sorted(ranks, reverse=True)


def ranked(shape: Shape, order: Sequence[int] | None) -> Row:
    """Return the row of a contiguous array whose axes lie in `order`."""
    axes = range(len(shape)) if order is None else order
    ranks = [0] * len(shape)
    for place, axis in enumerate(axes):
        ranks[axis] = len(shape) - place
    return tuple(zip(shape, ranks, strict=True))


def contiguous_strides(shape: Shape, order: Sequence[int] | None) -> Shape:
    """Return element strides of a contiguous array whose axes lie in `order` in memory."""
    if order is None:
        return c_strides(shape)
    strides: list[DimLike] = [1] * len(shape)
    for position, axis in enumerate(order):
        strides[axis] = dim_prod(shape[a] for a in order[position + 1 :])
    return tuple(strides)


# --- through views -------------------------------------------------------------------------


class Walk:
    """Where a chain of views has led.

    Attributes
    ----------
    shape, strides : tuple of int or Dim
        Of what the last view shows; `strides` is UNDECIDED without guards.
    row : tuple or None
        Lengths and ranks of the axes.
    copied : int or None
        Which view was the first to copy.
    """

    __slots__ = ("copied", "row", "shape", "strides")

    def __init__(self, shape: Shape, layout: Layout, *, guard: bool) -> None:
        self.shape = shape
        self.strides: Any = layout.strides(shape, guard=guard)
        self.row = layout.row(shape)
        self.copied: int | None = None

    def step(self, position: int, view: View, *, guard: bool) -> None:
        """Go through one view."""
        shape = view.shown(self.shape)
        found = self._strides(view, guard=guard)
        ranks = None if self.row is None else view.ranks(tuple(rank for _, rank in self.row))
        if found is None:
            self.copied = position if self.copied is None else self.copied
            found, self.row = c_strides(shape), ranked(shape, None)
        elif ranks is not None:
            self.row = tuple(zip(shape, ranks, strict=True))
        else:
            self.row = _row_of_strides(shape, found, guard=guard)
        self.shape, self.strides = shape, found

    def _strides(self, view: View, *, guard: bool) -> Any:
        if self.strides is UNDECIDED:
            return UNDECIDED
        try:
            if isinstance(view, ReshapeView):
                return view.strides(self.shape, self.strides, guard=guard)
            return view.strides(self.shape, self.strides)
        except UndecidedError:
            return UNDECIDED


def _row_of_strides(shape: Shape, strides: Any, *, guard: bool) -> Row | None:
    """Rank axes by their strides; symbolic ones are frozen, with a guard."""
    if strides is UNDECIDED:
        return None
    if all(same(a, b) for a, b in zip(strides, c_strides(shape), strict=True)):
        return ranked(shape, None)
    if not guard and any(isinstance(s, Dim) for s in strides):
        return None
    return tuple((n, abs(int(s))) for n, s in zip(shape, strides, strict=True))


def walk(shape: Shape, layout: Layout, views: Sequence[View], *, guard: bool) -> Walk:
    """Follow a chain of views of an array, going on after a copy as after any new array."""
    at = Walk(shape, layout, guard=guard)
    for position, view in enumerate(views):
        at.step(position, view, guard=guard)
    return at


class Operand:
    """An array that took part in making another, as it was then."""

    __slots__ = ("_layout", "_shape", "_views")

    def __init__(self, shape: Shape, layout: Layout, views: Sequence[View]) -> None:
        self._shape: Final = shape
        self._layout: Final = layout
        self._views: Final = views

    @property
    def source(self) -> tuple[Layout, int]:
        """Layout and number of axes of the memory that it looks at."""
        return self._layout, len(self._shape)

    def row(self, *, guard: bool) -> Row | None:
        """Return lengths and ranks of its axes; None: undecided."""
        return walk(self._shape, self._layout, self._views, guard=guard).row


class Picked(Operand):
    """An array read at places: the axes of the index lie outermost, the rest as in the array.

    Parameters
    ----------
    base : Operand
        The array.
    axes : sequence of (DimLike, int or None)
        Length of each axis of the result, and the axis of the base, None where it is the
        index's; -1 for a new axis.
    """

    __slots__ = ("_axes", "_base")

    def __init__(self, base: Operand, axes: Sequence[tuple[DimLike, int | None]]) -> None:
        self._base: Final = base
        self._axes: Final = axes

    @property
    def source(self) -> tuple[Layout, int]:
        """Those of the array that was read."""
        return self._base.source

    def row(self, *, guard: bool) -> Row | None:
        """Return lengths and ranks of its axes; None: undecided."""
        base = self._base.row(guard=guard)
        return None if base is None else picked_row(base, self._axes)


def picked_row(base: Row, axes: Sequence[tuple[DimLike, int | None]]) -> Row:
    """Return lengths and ranks of what is read at places of an array; see `Picked`."""
    top = max((rank for _, rank in base), default=0) + len(axes)
    out: list[tuple[DimLike, int]] = []
    for place, (n, axis) in enumerate(axes):
        rank = top - place if axis is None else 0 if axis < 0 else base[axis][1]
        out.append((n, rank))
    return tuple(out)


# --- NumPy's order of results --------------------------------------------------------------


def like_order(rows: Sequence[Row], ndim: int, *, guard: bool = False) -> Any:
    """Return the memory order of a copy of the first array, None for C.

    A repeated axis, which has no step, lies innermost.  Source: NumPy, `PyArray_NewLikeArray`.
    """
    del guard
    ranks = [rank for _, rank in rows[0]]
    order = tuple(sorted(range(ndim), key=lambda axis: -ranks[axis]))
    return None if order == tuple(range(ndim)) else order


def joined_order(rows: Sequence[Row], ndim: int, *, guard: bool = False) -> Any:
    """Return the memory order of arrays put one after another; see `k_order`.

    An axis without a step counts as the smallest.  Source: NumPy's
    `PyArray_CreateMultiSortedStridePerm`.
    """
    shifted = [tuple((n, rank + 1) for n, rank in row) for row in rows]
    return k_order(shifted, ndim, guard=guard)


def k_order(rows: Sequence[Row], ndim: int, *, guard: bool = False) -> Any:
    """Return the memory order that ``order="K"`` gives a result, None for C, or UNDECIDED.

    The axes are insertion-sorted by the strides of the operands that step along both of two
    axes; where operands disagree C order wins.  Source: NumPy's `nditer` (axis ordering).

    Parameters
    ----------
    rows : sequence of Row
        The operands; axes are aligned at the end, as in broadcasting.
    ndim : int
        Axes of the result.
    guard : bool
        Whether guards may be taken on lengths being 1, where operands disagree.
    """
    padded = [((1, 0),) * (ndim - len(row)) + tuple(row) for row in rows]
    inwards = list(reversed(range(ndim)))
    for i in range(1, ndim):
        place = i
        for j in range(i - 1, -1, -1):
            verdict = _goes_outside(padded, inwards[j], inwards[i], guard=guard)
            if verdict is UNDECIDED:
                return UNDECIDED
            if verdict is None:
                continue
            if not verdict:
                break
            place = j
        inwards.insert(place, inwards.pop(i))
    order = tuple(reversed(inwards))
    return None if order == tuple(range(ndim)) else order


def _goes_outside(rows: Sequence[Row], inner: int, outer: int, *, guard: bool) -> Any:
    """Whether `inner` moves outside `outer`; None where no operand tells them apart."""
    votes = [
        (row[inner][1] > row[outer][1], row)
        for row in rows
        if row[inner][1]
        and row[outer][1]
        and not (same(row[inner][0], 1) or same(row[outer][0], 1))
    ]
    if not votes:
        return None
    if all(swap for swap, _ in votes) or not any(swap for swap, _ in votes):
        return votes[0][0]
    if not guard:
        return UNDECIDED
    real = [swap for swap, row in votes if row[inner][0] != 1 and row[outer][0] != 1]
    return all(real) if real else None


def lies(func: Any, arrays: Sequence[Any], order: Any) -> Callable[[int], Layout | None]:
    """Return how results of a function of these lie in memory, by their number of axes.

    Traced arrays with an axis count, whatever else is among them does not.
    """
    traced = [a for a in arrays if getattr(a, "_nd", 0) is None and a._value.shape]
    return lambda ndim: result_layout(func, traced, ndim, order)


def picked_layout(array: Any, result: Shape, axes: Sequence[int | None]) -> Layout | None:
    """Return how an array read at places lies.

    Parameters
    ----------
    array : Array
        What was read.
    result : tuple of int or Dim
        Shape of what came out, with more than one axis.
    axes : sequence of int or None
        For each axis of it the array's axis, -1 for a new one, None for the index's.
    """
    layout, shape = array._storage.layout, array._storage.value.shape
    leading = list(axes).index(None) if None in axes else 0
    if not leading and not array._views and layout.is_plain:
        return Layout.plain(layout.arguments)
    base = Operand(shape, layout, array._views)
    pairs = list(zip(result, axes, strict=True))
    made = Layout(None, layout.arguments, operands=[Picked(base, pairs)], rule=like_order)
    made.order(len(result), guard=False)
    return made


def ufunc_layout(ufunc: np.ufunc, inputs: Sequence[Any], ndim: int) -> Layout | None:
    """Return how a new result of a ufunc lies; None is C order.

    What `result_layout` says, found sooner where no array has its axes in another order.
    """
    if ndim < 2:
        return None
    if ufunc.signature is not None:
        return lies(ufunc, inputs, None)(ndim)
    first, depends = None, _NONE
    for x in inputs:
        if getattr(x, "_nd", 0) is None:
            layout = x._storage.layout
            if layout is first and not x._views:
                continue
            if not layout.is_plain or (x._views and not _keep_order(x)):
                return lies(ufunc, inputs, None)(ndim)
            if first is None:
                first, depends = layout, layout.arguments
            elif not layout.arguments <= depends:
                depends |= layout.arguments
    return Layout.plain(depends)


def _keep_order(array: Any) -> bool:
    """Whether views of memory in C order have their axes, as far as they step, in order."""
    ranks = tuple(range(array._storage.value.ndim, 0, -1))
    for view in array._views:
        found = view.ranks(ranks)
        if found is None:
            return False
        ranks = found
    stepping = [rank for rank in ranks if rank]
    return len(ranks) > 0 and stepping == sorted(stepping, reverse=True)


#: function -> how the order of its result follows from its arrays, or its first array
_RULES: Final[dict[Any, Rule]] = {
    **dict.fromkeys((np.where, np.clip, np.cumsum, np.cumprod), k_order),
    **dict.fromkeys(
        (
            np.copy, np.array, np.asarray, np.asanyarray, np.sort, np.partition, np.astype,
            np.nan_to_num, np.zeros_like, np.ones_like, np.empty_like, np.full_like,
        ),
        like_order,
    ),
    np.concatenate: joined_order,
}  # fmt: skip
#: functions whose results lie in C order
_ROW_MAJOR: Final = frozenset({
    np.argsort, np.argmax, np.argmin, np.take, np.repeat, np.tile, np.compress, np.choose,
    np.dot, np.tensordot, np.zeros, np.ones, np.empty, np.full, np.arange, np.eye,
    np.ascontiguousarray,
})  # fmt: skip


def _rule(func: Any) -> Rule | None:
    """Return how the order of a function's result follows from its arrays, None: unknown."""
    if isinstance(func, np.ufunc):
        return k_order if func.signature is None else None
    return _RULES.get(func)


def _is_row_major(func: Any) -> bool:
    return func in _ROW_MAJOR or (isinstance(func, np.ufunc) and func.signature is not None)


_NONE: Final = frozenset[int]()


def result_layout(
    func: Any, arrays: Sequence[Any], ndim: int, order: Any = None
) -> Layout | None:
    """Return how a new result of a function of traced arrays lies; None is C order.

    `order` is what the call asks for; "K" is the rule of the function.
    """
    if ndim > 1 and order in {"F", "f"}:
        return Layout(tuple(reversed(range(ndim))))
    if ndim < 2 or _is_row_major(func) or order in {"C", "c"}:
        return None
    rule = _rule(func)
    if rule is like_order:
        if not arrays or arrays[0].ndim != ndim:  # made of a list
            return None
        arrays = arrays[:1]
    depends = _NONE
    plain = True
    for array in arrays:
        layout = array._storage.layout
        plain = plain and not array._views and layout.is_plain
        if layout.arguments:
            depends |= layout.arguments
    if plain:
        return Layout.plain(depends)
    operands = [Operand(a._storage.value.shape, a._storage.layout, a._views) for a in arrays]
    is_known = rule is not None and order not in {"A", "a"}
    name = "" if is_known else f"np.{getattr(func, '__name__', func)}"
    made = Layout(None, depends, operands=operands, unknown=name, rule=rule)
    made.order(ndim, guard=False)
    return made
