# SPDX-License-Identifier: Apache-2.0
"""Reading ``x[index]``: NumPy's rules for arrays, masks and mixtures as indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value, running_trace
from onnxjit._core.dims import (
    DimLike,
    broadcast_shapes,
    dim_prod,
    has_data,
    hint_of,
    require_equal,
    same,
)
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.program import Value

from .basic import (
    INVALID,
    as_number,
    expand_ellipsis,
    make_pick,
    make_span,
    out_of_bounds,
    parse_basic,
)
from .cast import cast
from .convert import as_array
from .gather import compress, gather, gather_nd, nonzero, sized
from .span import Span, take_span
from .structure import (
    Shape,
    as_1d,
    broadcast_to,
    concat,
    reshape,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .view import View

__all__ = ["Advanced", "Mask", "getitem", "is_scalar_index", "parse_advanced", "read"]

_NOT_INTEGER: Final = "arrays used as indices must be of integer (or boolean) type"


# --- the parts of an advanced index --------------------------------------------------------


class Mask:
    """A boolean index.

    Parameters
    ----------
    value : (...) bool
        Covers as many axes as it has; a 0-d one covers none and adds one.
    """

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value: Final = value

    @property
    def ndim(self) -> int:
        """Axes it covers."""
        return self.value.ndim


class Places:
    """An integer index: int64 of any shape.

    Parameters
    ----------
    value : (...) int64
        Negative ones count from the end.
    is_number : bool
        Whether it was written as a number: NumPy checks those first.
    """

    __slots__ = ("is_number", "value")

    def __init__(self, value: Value, *, is_number: bool = False) -> None:
        self.value: Final = value
        self.is_number: Final = is_number


def _array_part(x: Any) -> Mask | Places:
    """Return an index that is an array, a list or a bool."""
    if isinstance(x, (list, tuple)) and not len(x):
        x = np.zeros(0, np.int64)
    value = as_array(x)
    if value.dtype is BOOL:
        return Mask(value)
    if value.dtype.kind not in "iu":
        is_array = value.ndim and not isinstance(x, (list, tuple))
        raise IndexError(_NOT_INTEGER if is_array else INVALID)
    return Places(cast(value, INT64))


def _part(x: Any) -> Any:
    """Return one part of an index in a form to go by."""
    if x is None or x is Ellipsis or isinstance(x, slice):
        return x
    number = as_number(x)
    if number is not None:
        return Places(cast(as_value(number), INT64), is_number=True)
    if isinstance(x, (list, tuple, np.ndarray, Value, bool, np.bool_)):
        return _array_part(x)
    if hasattr(x, "__array__") and not isinstance(x, np.generic):
        return _array_part(np.asarray(x))
    raise IndexError(INVALID)


def _axes_used(part: Any) -> int:
    if isinstance(part, Mask):
        return part.ndim
    return int(part is not None and part is not Ellipsis)


def _fitted(mask: Value, shape: Shape, axis: int) -> Value:
    """Return a mask that fits the axes that it covers; where data decides, the run checks.

    An axis of length 0 fits every axis, as in NumPy.

    Raises
    ------
    IndexError
        It does not fit.
    """
    env = running_trace().env
    for i, m in enumerate(mask.shape):
        n = shape[axis + i]
        if same(m, 0) or require_equal(env, n, m) or require_equal(env, m, 0):
            continue
        msg = (
            f"boolean index did not match indexed array along axis {axis + i}; size of "
            f"axis is {hint_of(n)} but size of corresponding boolean axis is {hint_of(m)}"
        )
        raise IndexError(msg)
    covered = shape[axis : axis + mask.ndim]
    is_open = any(has_data(n - m) for n, m in zip(covered, mask.shape, strict=True))
    return sized(mask, covered) if is_open else mask


def _check_places(places: Value, axis: int, n: DimLike) -> None:
    """Raise IndexError where known places are outside; takes a guard on a symbolic size."""
    known = places.known
    if known is None or known.dtype.kind == "b" or not known.size:
        return
    if isinstance(n, int):
        wrong = known[(known < -n) | (known >= n)]
        if wrong.size:
            raise out_of_bounds(int(wrong[0]), axis, n)
    elif running_trace().env.policy == "guard":
        for extreme in (int(known.max()), int(known.min())):
            make_pick(extreme, axis, n)


class Advanced:
    """An index that holds arrays or masks.

    Attributes
    ----------
    items : list
        Span, None, or an int: the number of an index array in `arrays`; a mask became one for
        each axis it covers.  -1 stands for a 0-d mask.
    arrays : list of int64 Value
        Broadcast to `shape`.
    axes : list of int
        The axis of the base that each array indexes.
    shape : tuple
        What the arrays broadcast to.
    mask : Mask or None
        The mask, where it is the only advanced part.
    """

    __slots__ = ("arrays", "axes", "items", "mask", "ndim", "shape")

    def __init__(self, parts: Sequence[Any], shape: Shape) -> None:
        self.items: list[Any] = []
        self.axes: list[int] = []
        self.arrays: list[Value] = []
        self.ndim: Final = len(shape)
        ghosts: list[Value] = []
        axis = 0
        advanced = [p for p in parts if isinstance(p, (Mask, Places))]
        only = advanced[0] if len(advanced) == 1 else None
        self.mask = only if isinstance(only, Mask) else None
        for given in parts:
            part = self._fit(given, shape, axis) if isinstance(given, Mask) else given
            if part is None:
                self.items.append(None)
            elif isinstance(part, slice):
                self.items.append(make_span(part, shape[axis]))
                axis += 1
            elif isinstance(part, Mask) and not part.ndim:
                self.items.append(-1)
                ghosts.append(nonzero(reshape(part.value, (1,))))
            else:
                if isinstance(part, Places) and part.is_number:
                    _check_places(part.value, axis, shape[axis])
                for places in self._places(part):
                    self.items.append(len(self.arrays))
                    self.arrays.append(places)
                    self.axes.append(axis)
                    axis += 1
        self._broadcast([reshape(g, (g.shape[1],)) for g in ghosts])

    def checked(self, shape: Shape) -> Advanced:
        """Return self after a look at places that are known, in an array of a shape.

        Raises
        ------
        IndexError
            One is outside.
        """
        for places, axis in zip(self.arrays, self.axes, strict=True):
            _check_places(places, axis, shape[axis])
        return self

    def _fit(self, mask: Mask, shape: Shape, axis: int) -> Mask:
        fitted = Mask(_fitted(mask.value, shape, axis))
        if self.mask is mask:
            self.mask = fitted
        return fitted

    def _places(self, part: Mask | Places) -> list[Value]:
        if isinstance(part, Places):
            return [part.value]
        if self.mask is not None and part.value.known is None:
            return [part.value] * part.ndim  # replaced by `places` where they are needed
        return mask_places(part.value)

    def _broadcast(self, ghosts: list[Value]) -> None:
        if self.mask is not None and self.arrays and self.mask.value.known is None:
            self.shape: Shape = ()
            return
        shapes = [v.shape for v in (*self.arrays, *ghosts)]
        try:
            self.shape = broadcast_shapes(running_trace().env, *shapes)
        except ValueError as error:
            text = str(error).removeprefix("operands")
            msg = f"shape mismatch: indexing arrays{text}"
            raise IndexError(msg) from None
        self.arrays = [broadcast_to(v, self.shape) for v in self.arrays]

    def as_places(self) -> Advanced:
        """Return the same index with a lone mask spelt as places."""
        if self.mask is None or not self.arrays or self.mask.value.known is not None:
            return self
        self.arrays = mask_places(self.mask.value)
        self.shape = self.arrays[0].shape
        return self

    @property
    def spans(self) -> list[tuple[int, Span]]:
        """The slices, each with the axis of the base it belongs to."""
        free = [axis for axis in range(self.ndim) if axis not in self.axes]
        spans = [i for i in self.items if isinstance(i, Span)]
        return list(zip(free, spans, strict=True))

    @property
    def place(self) -> int:
        """Where the axes of the index arrays stand among the other axes of the result."""
        at = [i for i, item in enumerate(self.items) if isinstance(item, int)]
        if not at or at[-1] - at[0] + 1 != len(at):
            return 0
        return at[0]

    @property
    def new_axes(self) -> list[int]:
        """Places of new axes among the axes of the result that are no index array's."""
        others = [i for i in self.items if not isinstance(i, int)]
        return [i for i, item in enumerate(others) if item is None]

    def result_shape(self) -> Shape:
        """Shape of what the index reads."""
        others = [1 if i is None else i.length for i in self.items if not isinstance(i, int)]
        return (*others[: self.place], *self.shape, *others[self.place :])

    def stacked(self) -> Value:
        """Return the places, one vector of them in the last axis for each element."""
        last = len(self.shape)
        return concat([unsqueeze(v, [last]) for v in self.arrays], last)

    def front(self) -> list[int]:
        """Return the base's axes with the indexed ones first."""
        return [*self.axes, *(axis for axis, _ in self.spans)]


def mask_places(mask: Value) -> list[Value]:
    """Return the places of the true elements, a vector for each axis."""
    if mask.known is not None:
        return [as_array(i.astype(np.int64)) for i in np.nonzero(mask.known)]
    found = nonzero(mask)
    return [reshape(take_range(found, 0, i, 1), (found.shape[1],)) for i in range(mask.ndim)]


def parse_advanced(index: Any, shape: Shape) -> Advanced:
    """Read an index that holds arrays, lists or booleans.

    Raises
    ------
    IndexError
        NumPy's own: too many indices, a wrong dtype, shapes that do not fit, out of range.
    """
    parts = [_part(p) for p in (index if isinstance(index, tuple) else (index,))]
    used = sum(map(_axes_used, parts))
    return Advanced(expand_ellipsis(parts, used, len(shape)), shape)


def is_scalar_index(index: Any, ndim: int) -> bool:
    """Whether ``x[index]`` is a NumPy scalar for an array of `ndim` axes."""
    parts = index if isinstance(index, tuple) else (index,)
    return (
        len(parts) == ndim
        and all(
            p is not None and p is not Ellipsis and not isinstance(p, slice) for p in parts
        )
        and all(as_number(p) is not None for p in parts)
    )


# --- reading -------------------------------------------------------------------------------


def getitem(x: Value, index: Any) -> Value | View:
    """Return ``x[index]``.

    Parameters
    ----------
    x : (...) array
        Any dtype.
    index : object
        Integers, slices, None, Ellipsis, integer and boolean arrays, lists; sizes and traced
        values among them.

    Returns
    -------
    View or Value
        A view for a basic index that leaves or adds an axis, else a new value.

    Raises
    ------
    IndexError
        As NumPy's; for places that only the run knows, when it runs.

    Notes
    -----
    Slice, Gather, GatherND, Compress.  Integer arrays are applied before slices.
    """
    return read(x, index)[0]


def read(x: Value, index: Any) -> tuple[Value | View, list[int | None]]:
    """Do what `getitem` does, and tell where the axes of a new value come from.

    Returns
    -------
    View or Value
        As `getitem`.
    list
        For each axis of a new value the axis of `x`, -1 for a new one, None for the index's;
        empty for a view or an element.
    """
    view = parse_basic(index, x.shape)
    if view is not None:
        return (view.apply(x) if view.is_element else view), []
    plan = parse_advanced(index, x.shape).checked(x.shape)
    if plan.mask is not None and plan.mask.value.known is None:
        result, count = _read_mask(x, plan, plan.mask.value), 1
    else:
        result, count = _read_places(x, plan), len(plan.shape)
    free = iter(axis for axis, _ in plan.spans)
    others = [-1 if i is None else next(free) for i in plan.items if not isinstance(i, int)]
    return result, [*others[: plan.place], *(None,) * count, *others[plan.place :]]


def _read_mask(x: Value, plan: Advanced, mask: Value) -> Value:
    """Read through one mask: Compress along its axes taken as one."""
    axis = plan.axes[0] if plan.axes else plan.place
    if not mask.ndim:
        merged = unsqueeze(x, [0])
        axis = 0
    else:
        shape, k = x.shape, mask.ndim
        n = dim_prod(shape[axis : axis + k])
        merged = reshape(x, (*shape[:axis], n, *shape[axis + k :])) if k > 1 else x
    kept = compress(merged, as_1d(mask) if mask.ndim else reshape(mask, (1,)), axis, mask)
    spans = [s for _, s in plan.spans]
    for i, span in enumerate(spans):
        kept = take_span(kept, i + (i >= axis), span)
    return _arranged(kept, plan, axis, 1)


def _read_places(x: Value, plan: Advanced) -> Value:
    """Read at places: Gather for one array, GatherND with the indexed axes first for more."""
    count = len(plan.shape)
    if not plan.arrays:
        kept, at = broadcast_to(unsqueeze(x, range(count)), (*plan.shape, *x.shape)), 0
    elif len(plan.arrays) == 1:
        at = plan.axes[0]
        kept = gather(x, plan.arrays[0], at)
    else:
        at = 0
        kept = gather_nd(transpose(x, plan.front()), plan.stacked())
    for i, (_, span) in enumerate(plan.spans):
        kept = take_span(kept, i + (count if i >= at else 0), span)
    return _arranged(kept, plan, at, count)


def _arranged(x: Value, plan: Advanced, at: int, count: int) -> Value:
    """Put the axes in the order of the result, and add the new ones.

    `x` has the `count` axes of the index arrays at `at`, the others in order.
    """
    order = [p for p in range(x.ndim) if not at <= p < at + count]
    moved = list(range(at, at + count))
    before = plan.place - sum(a < plan.place for a in plan.new_axes)
    x = transpose(x, [*order[:before], *moved, *order[before:]])
    return unsqueeze(x, [a if a < plan.place else a + count for a in plan.new_axes])
