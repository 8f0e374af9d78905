# SPDX-License-Identifier: Apache-2.0
"""Basic indices (integers, slices, new axes): reading and writing through them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import (
    Dim,
    DimLike,
    has_data,
    hint_of,
    lower,
    upper,
)
from onnxjit._core.dtypes import INT64
from onnxjit._core.program import Value
from onnxjit.errors import DataDependentError

from .cast import cast
from .gather import (
    gather,
    gather_nd,
    scatter_elements,
    scatter_nd,
)
from .sizes import with_sizes
from .span import Item, Number, Pick, Span, static_slice, take_span
from .structure import (
    Shape,
    broadcast_to,
    concat,
    move_axis,
    reshape,
    reverse,
    take_range,
    unsqueeze,
    vector,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["IndexView", "basic_items", "parse_basic", "parse_plain"]

INVALID: Final = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
    "boolean arrays are valid indices"
)
_BOUND: Final = "slice indices must be integers or None or have an __index__ method"


# --- reading an index ----------------------------------------------------------------------


def out_of_bounds(at: int, axis: int, n: DimLike) -> IndexError:
    """Return NumPy's exception for an integer index that is out of range."""
    size = hint_of(n)
    shown = n if size is None else size
    return IndexError(f"index {at} is out of bounds for axis {axis} with size {shown}")


def make_pick(at: Number, axis: int, n: DimLike) -> Pick:
    """Return an integer index of an axis of size `n`.

    Outside branches and loops, and where a handler may catch the exception, a plain int takes
    a guard that it is inside.

    Raises
    ------
    IndexError
        It is out of range.
    """
    if isinstance(at, Value) and at.known is not None:
        at = int(at.known)
    safe = False
    if not isinstance(at, Value):
        low, high = lower(at), upper(at)
        if low is not None and low >= 0:
            safe = _holds(n - at - 1, at, axis, n)
        elif high is not None and high < 0:
            safe = _holds(n + at, at, axis, n)
    trace = running_trace()
    if not safe and trace.tries and trace.env.policy != "guard":
        msg = (
            f"whether an index at {trace.source} is out of bounds depends on data, and it is "
            "in a try statement that may handle the IndexError, which a model cannot do; test "
            "for the condition instead"
        )
        raise DataDependentError(msg)
    return Pick(at, is_safe=safe)


def _holds(slack: DimLike, at: DimLike, axis: int, n: DimLike) -> bool:
    """Whether `slack` is not negative, by proof, or by a guard where the example says so."""
    low, high = lower(slack), upper(slack)
    if low is not None and low >= 0:
        return True
    trace = running_trace()
    if high is not None and high < 0:
        shown = hint_of(at)
        raise out_of_bounds(shown if shown is not None else 0, axis, n)
    hint = hint_of(slack)
    if hint is None or has_data(slack):
        return False
    if trace.tries == 0 and trace.block is not trace.root:
        return False
    # what a handler may catch, no run can decide: an export assumes it
    if (trace.env.policy == "guard" or trace.tries) and slack >= 0:
        return True
    if hint < 0:
        raise out_of_bounds(hint_of(at) or 0, axis, n)
    return False  # an exported model assumes nothing: Gather looks at the index itself


def as_number(x: Any) -> Number | None:
    """Return an integer index as int, Dim or 0-d int64 value; None for anything else."""
    if isinstance(x, (bool, np.bool_)):
        return None
    if isinstance(x, (int, Dim)):
        return x
    if isinstance(x, Value):
        if x.ndim or x.dtype.kind not in "iu":
            return None
        return int(x.known) if x.known is not None else cast(x, INT64)
    if isinstance(x, np.ndarray) and (x.ndim or x.dtype.kind not in "iu"):
        return None
    try:
        return operator.index(x)
    except TypeError:
        return None


def slice_bound(bound: Any) -> Number:
    """Return a bound of a slice that is given.

    Raises
    ------
    TypeError
        It is no integer.
    """
    number = int(bound) if isinstance(bound, (bool, np.bool_)) else as_number(bound)
    if number is None:
        raise TypeError(_BOUND)
    return number


def make_span(s: slice, n: DimLike) -> Span:
    """Return a slice of an axis of size `n`.

    Raises
    ------
    TypeError
        A bound is no integer.
    ValueError
        The step is 0.
    """
    if s is _ALL:
        return Span(None, None, 1, n)
    ends: list[Number | None] = []
    for bound in (s.start, s.stop, s.step):
        if type(bound) in PLAIN:
            ends.append(bound)
            continue
        ends.append(None if bound is None else slice_bound(bound))
    if ends[2] is None:
        return Span(ends[0], ends[1], 1, n)
    step = ends[2]
    if isinstance(step, Value):
        from onnxjit.errors import DataDependentError

        msg = "the step of a slice depends on data: take it from a static argument or a size"
        raise DataDependentError(msg)
    step = operator.index(step)
    if step == 0:
        msg = "slice step cannot be zero"
        raise ValueError(msg)
    return Span(ends[0], ends[1], step, n)


_ALL: Final = slice(None)


def expand_ellipsis(items: Sequence[Any], used: int, ndim: int) -> list[Any]:
    """Replace the Ellipsis, or the missing end, by full slices.

    Parameters
    ----------
    items : sequence
        Parts of an index.
    used : int
        Axes that the parts use up.
    ndim : int
        Axes there are.

    Raises
    ------
    IndexError
        Too many indices, or more than one Ellipsis.
    """
    at = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(at) > 1:
        msg = "an index can only have a single ellipsis ('...')"
        raise IndexError(msg)
    if used > ndim:
        msg = (
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
        raise IndexError(msg)
    fill = [_ALL] * (ndim - used)
    if not at:
        return [*items, *fill]
    return [*items[: at[0]], *fill, *items[at[0] + 1 :]]


def basic_items(index: Any) -> tuple[Any, ...] | None:
    """Return the parts of an index of integers, slices, None, Ellipsis; None for others."""
    parts = index if isinstance(index, tuple) else (index,)
    out: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis or isinstance(part, slice):
            out.append(part)
            continue
        number = as_number(part)
        if number is None:
            return None
        out.append(number)
    return tuple(out)


def parse_basic(index: Any, shape: Shape) -> IndexView | None:
    """Read an index of integers (traced ones too), slices, new axes and Ellipsis.

    Parameters
    ----------
    index : object
        What stands in the brackets.
    shape : tuple of int or Dim
        Shape of the array.

    Returns
    -------
    IndexView or None
        None when the index holds arrays, lists or booleans.

    Raises
    ------
    IndexError
        Out of range, or too many indices.
    """
    items = basic_items(index)
    if items is None:
        return None
    used = len([0 for item in items if item is not None and item is not Ellipsis])
    return IndexView(resolve(expand_ellipsis(items, used, len(shape)), shape))


#: what bounds of slices and whole indices mostly are; NumPy's numbers are not among them
PLAIN: Final = frozenset({int, Dim, type(None)})


def parse_plain(index: Any, shape: Shape) -> IndexView | None:
    """Read an index of plain ints, sizes, slices of them and new axes; None for others.

    Gives what `parse_basic` gives, in fewer steps.

    Raises
    ------
    IndexError
        Out of range, or too many indices.
    """
    parts = index if type(index) is tuple else (index,)
    used = len(parts)
    for part in parts:
        if type(part) is slice:
            if not PLAIN.issuperset((type(part.start), type(part.stop), type(part.step))):
                return None
        elif type(part) not in PLAIN:
            return None
        elif part is None:
            used -= 1
    if not parts:
        return None
    items = parts if used == len(shape) else expand_ellipsis(parts, used, len(shape))
    return IndexView(resolve(items, shape))


def resolve(items: Sequence[Any], shape: Shape) -> list[Item]:
    """Turn the parts of a basic index into picks and spans of the axes in order."""
    out: list[Item] = []
    axis = 0
    for item in items:
        if item is None:
            out.append(None)
            continue
        n = shape[axis]
        out.append(make_span(item, n) if isinstance(item, slice) else make_pick(item, axis, n))
        axis += 1
    return out


class IndexView:
    """A basic index of an array.

    Parameters
    ----------
    items : sequence of Pick, Span or None
        One Pick or Span for each axis of the base, None where the result gets a new axis.
    """

    __slots__ = ("_cuts", "axes", "items", "writable")

    def __init__(self, items: Sequence[Item]) -> None:
        self.items: Final = tuple(items)
        self.axes: Final[tuple[Pick | Span, ...]] = tuple([i for i in items if i is not None])
        self.writable = True
        spans = [i for i in items if type(i) is Span and not i.is_data]
        #: the slices, where there is nothing else and no bound is data
        self._cuts: Final = spans if len(spans) == len(self.items) else None

    @property
    def shape(self) -> Shape:
        """Shape of the result."""
        if self._cuts is not None:
            return tuple([span.length for span in self._cuts])
        return tuple(
            1 if i is None else i.length for i in self.items if not isinstance(i, Pick)
        )

    @property
    def new_axes(self) -> list[int]:
        """Places of the new axes in the result."""
        kept = [i for i in self.items if not isinstance(i, Pick)]
        return [at for at, i in enumerate(kept) if i is None]

    @property
    def is_element(self) -> bool:
        """Whether every axis is picked and none added: NumPy returns a copied scalar."""
        return self._cuts is None and all(isinstance(i, Pick) for i in self.items)

    def apply(self, base: Value) -> Value:
        """Return the indexed value.

        Notes
        -----
        GatherND for leading integers, Gather for others, one Slice, Unsqueeze.
        """
        if self._cuts is not None:
            return static_slice(base, list(enumerate(self._cuts)))
        x, axes = pick_axes(base, self.axes)
        spans = [(axis, item) for axis, item in enumerate(axes)]
        fixed = [(axis, span) for axis, span in spans if not span.is_data]
        x = static_slice(x, fixed) if fixed else x
        for axis, span in spans:
            if span.is_data:
                x = take_span(x, axis, span)
        return unsqueeze(x, self.new_axes)

    def write(self, base: Value, new: Value) -> Value:
        """Return `base` with the indexed part replaced by `new`, which has that part's shape.

        Notes
        -----
        Axis by axis, the outermost last: Concat of pieces where the part is wide, ScatterND of
        rows where it is narrow or strided, ScatterElements for an integer on an inner axis.
        """
        part = tuple(i.length for i in self.axes if isinstance(i, Span))
        done = write_axes(base, 0, self.axes, reshape(new, part) if self.new_axes else new)
        return with_sizes(done, base.shape)

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides: multiplied by the steps, 0 along new axes."""
        out: list[DimLike] = []
        axis = 0
        for item in self.items:
            if item is None:
                out.append(0)
                continue
            if isinstance(item, Span):
                out.append(strides[axis] * item.step)
            axis += 1
        return tuple(out)

    def shown(self, shape: Shape) -> Shape:  # noqa: ARG002
        """Return the sizes of the slices, 1 for new axes."""
        return self.shape

    def ranks(self, ranks: tuple[int, ...]) -> tuple[int, ...]:
        """Return the ranks of the sliced axes, 0 for new ones."""
        if self._cuts is not None:
            return ranks
        rest = iter(ranks)
        pairs = [(item, 0 if item is None else next(rest)) for item in self.items]
        return tuple(rank for item, rank in pairs if not isinstance(item, Pick))


def _places_vector(picks: Sequence[Pick]) -> Value:
    if not any(isinstance(p.at, Value) for p in picks):
        return vector([p.at for p in picks])  # type: ignore[misc]
    return concat([reshape(p.value(), (1,)) for p in picks], 0)


def leading_picks(axes: Sequence[Pick | Span]) -> list[Pick]:
    """Return the picks before the first span."""
    picks: list[Pick] = []
    for item in axes:
        if not isinstance(item, Pick):
            break
        picks.append(item)
    return picks


def pick_axes(x: Value, axes: Sequence[Pick | Span]) -> tuple[Value, list[Span]]:
    """Apply the integer indices; returns the spans of the axes that are left."""
    lead = leading_picks(axes)
    for axis in range(len(axes) - 1, len(lead) - 1, -1):
        item = axes[axis]
        if isinstance(item, Pick):
            x = gather(x, item.value(), axis)
    if len(lead) == 1:
        x = gather(x, lead[0].value(), 0)
    elif lead:
        x = gather_nd(x, _places_vector(lead))
    return x, [item for item in axes if isinstance(item, Span)]


# --- writing -------------------------------------------------------------------------------


def write_axes(x: Value, axis: int, axes: Sequence[Pick | Span], new: Value) -> Value:
    """Return `x` with the part at `axes`, which are its axes from `axis` on, replaced."""
    while axes and isinstance(axes[0], Span) and axes[0].is_plain:
        axis, axes = axis + 1, axes[1:]
    if not axes:
        return new
    lead = leading_picks(axes) if axis == 0 else []
    if lead:
        return _write_rows(x, lead, axes[len(lead) :], new)
    first, rest = axes[0], axes[1:]
    more = not all(isinstance(i, Span) and i.is_plain for i in rest)
    if isinstance(first, Pick):
        if more:
            new = write_axes(gather(x, first.value(), axis), axis, rest, new)
        return _put_pick(x, axis, first, new)
    if more:
        new = write_axes(take_span(x, axis, first), axis + 1, rest, new)
    return put_span(x, axis, first, new)


def _write_rows(x: Value, lead: list[Pick], rest: Sequence[Pick | Span], new: Value) -> Value:
    """Write below leading integers: one slice of ScatterND."""
    index = _places_vector(lead)
    if not all(isinstance(i, Span) and i.is_plain for i in rest):
        new = write_axes(gather_nd(x, index), 0, rest, new)
    return scatter_nd(x, reshape(index, (1, len(lead))), unsqueeze(new, [0]))


def _put_pick(x: Value, axis: int, pick: Pick, new: Value) -> Value:
    """Write at one place of an inner axis; `new` lacks the axis."""
    row = unsqueeze(new, [axis])
    if pick.is_safe and not isinstance(pick.at, Value) and axis < x.ndim - 1:
        low = lower(pick.at)
        at = pick.at if low is not None and low >= 0 else pick.at + x.shape[axis]
        return _put_block(x, axis, at, row, 1)
    return scatter_elements(x, broadcast_to(pick.value(), row.shape), row, axis)


def _put_block(x: Value, axis: int, begin: DimLike, new: Value, length: DimLike) -> Value:
    """Write a contiguous block: Concat of what is before, the block, what is after."""
    end = begin + length
    before = take_range(x, axis, 0, begin)
    after = take_range(x, axis, end, x.shape[axis] - end)
    return concat([before, new, after], axis)


def _is_narrow(span: Span, x: Value) -> bool:
    """Whether a block of rows is a small part of the array, as far as sizes tell."""
    length, n = hint_of(span.length), hint_of(span.n)
    return length is not None and n is not None and length * 4 < n and x.ndim > 0


def put_span(x: Value, axis: int, span: Span, new: Value) -> Value:
    """Write a slice of one axis; `new` has x's shape with that axis as long as the slice."""
    if span.is_all:
        return reverse(new, [axis]) if span.step < 0 else new
    if span.step == 1 and not span.is_data and not (axis == 0 and _is_narrow(span, x)):
        return _put_block(x, axis, span.begin, new, span.length)
    rows = scatter_nd(
        move_axis(x, axis, 0), unsqueeze(span.places(), [1]), move_axis(new, axis, 0)
    )
    return move_axis(rows, 0, axis)
