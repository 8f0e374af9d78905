# SPDX-License-Identifier: Apache-2.0
"""Views that are not indices: transposed, reshaped, broadcast arrays, and diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.dims import DimLike, dim_max, dim_min, dim_prod, hint_of, lower, same

from . import structure
from .basic import IndexView, parse_basic
from .gather import gather
from .structure import Shape, is_positive, same_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

    from .view import View

__all__ = [
    "BroadcastView", "ChainView", "ContiguousView", "DiagonalView", "IndexView",
    "RavelView", "ReshapeView", "SqueezeView", "TransposeView", "TurnView", "UndecidedError",
    "c_strides", "is_contiguous", "parse_basic", "reshape_strides",
]  # fmt: skip


Ranks = tuple[int, ...]


class UndecidedError(Exception):
    """Whether NumPy would copy depends on sizes that are not known."""


def read_only() -> ValueError:
    """Return NumPy's exception for a write through a read-only view."""
    return ValueError("assignment destination is read-only")


class TransposeView:
    """Axes in another order.

    Parameters
    ----------
    perm : sequence of int
        The axis of the base at each place; nonnegative.
    """

    __slots__ = ("perm", "writable")

    def __init__(self, perm: Sequence[int]) -> None:
        self.perm: Final = tuple(perm)
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the transposed value."""
        return structure.transpose(base, self.perm)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  all is overwritten
        """Return `new` in the base's order."""
        return structure.transpose(new, [self.perm.index(i) for i in range(len(self.perm))])

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides in the new order."""
        return tuple(strides[p] for p in self.perm)

    def shown(self, shape: Shape) -> Shape:
        """Return the sizes in the new order."""
        return tuple(shape[p] for p in self.perm)

    def ranks(self, ranks: Ranks) -> Ranks:
        """Return the ranks in the new order."""
        return tuple(ranks[p] for p in self.perm)


class TurnView(TransposeView):
    """The axes reversed and back, around a view that asks for F order."""

    __slots__ = ()


class ReshapeView:
    """The elements in C order under another shape.

    Parameters
    ----------
    shape : sequence of int or Dim
        No -1, known to fit.
    """

    __slots__ = ("shape", "writable")

    def __init__(self, shape: Sequence[DimLike]) -> None:
        self.shape: Final = tuple(shape)
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the reshaped value."""
        return structure.reshape(base, self.shape)

    def write(self, base: Value, new: Value) -> Value:
        """Return `new` in the base's shape."""
        return structure.reshape(new, base.shape)

    def strides(self, shape: Shape, strides: Shape, *, guard: bool = False) -> Shape | None:
        """Return the strides, None where NumPy copies.

        Parameters
        ----------
        shape, strides : tuple of int or Dim
            The array as it lies in memory.
        guard : bool
            Decide by the example what the sizes leave open, with a guard.

        Raises
        ------
        UndecidedError
            It depends on sizes that are not known.
        """
        return reshape_strides(shape, strides, self.shape, guard=guard)

    def shown(self, shape: Shape) -> Shape:  # noqa: ARG002
        """Return the new sizes."""
        return self.shape

    def ranks(self, ranks: Ranks) -> Ranks | None:  # noqa: ARG002
        """Return None: the order in memory follows from strides only."""
        return None


class RavelView(ReshapeView):
    """The elements in C order as a vector: a view of contiguous memory only.

    ``x[::2].reshape(-1)`` is a view, ``x[::2].ravel()`` a copy.
    """

    __slots__ = ()

    def strides(self, shape: Shape, strides: Shape, *, guard: bool = False) -> Shape | None:
        """Return the stride 1, None where the array is not contiguous.

        Raises
        ------
        UndecidedError
            It depends on sizes that are not known.
        """
        return (1,) if is_contiguous(shape, strides, guard=guard) else None


class ContiguousView(ReshapeView):
    """The array itself where it is C-contiguous, else a copy that is."""

    __slots__ = ()

    def strides(self, shape: Shape, strides: Shape, *, guard: bool = False) -> Shape | None:
        """Return the strides unchanged, None where the array is not contiguous.

        Raises
        ------
        UndecidedError
            It depends on sizes that are not known.
        """
        return strides if is_contiguous(shape, strides, guard=guard) else None


class SqueezeView:
    """Axes of length 1 left out.

    Parameters
    ----------
    axes : sequence of int
        Nonnegative; known to have length 1.
    """

    __slots__ = ("axes", "writable")

    def __init__(self, axes: Sequence[int]) -> None:
        self.axes: Final = tuple(axes)
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the value without the axes."""
        return structure.squeeze(base, self.axes)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  all is overwritten
        """Return `new` with the axes put back."""
        return structure.unsqueeze(new, self.axes)

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides that are left."""
        return self.shown(strides)

    def shown(self, shape: Shape) -> Shape:
        """Return the sizes that are left."""
        return tuple(s for axis, s in enumerate(shape) if axis not in self.axes)

    def ranks(self, ranks: Ranks) -> Ranks:
        """Return the ranks that are left."""
        return tuple(r for axis, r in enumerate(ranks) if axis not in self.axes)


class ChainView:
    """A view of a view.

    Parameters
    ----------
    views : sequence of View
        The first one is applied to the base.
    """

    __slots__ = ("views", "writable")

    def __init__(self, views: Sequence[View]) -> None:
        self.views: Final = tuple(views)
        self.writable = all(v.writable for v in views)

    def apply(self, base: Value) -> Value:
        """Apply the views in order."""
        for view in self.views:
            base = view.apply(base)
        return base

    def write(self, base: Value, new: Value) -> Value:
        """Write through the last view into what the one before it shows, and so on."""
        seen = [base]
        for view in self.views[:-1]:
            seen.append(view.apply(seen[-1]))
        for view, value in zip(reversed(self.views), reversed(seen), strict=True):
            new = view.write(value, new)
        return new

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:
        """Return the strides, None where one of the views is a copy."""
        for view in self.views:
            found = view.strides(shape, strides)
            if found is None:
                return None
            shape, strides = view.shown(shape), found
        return strides

    def shown(self, shape: Shape) -> Shape:
        """Return the sizes of the last view."""
        for view in self.views:
            shape = view.shown(shape)
        return shape

    def ranks(self, ranks: Ranks) -> Ranks | None:
        """Return the ranks of the last view."""
        found: Ranks | None = ranks
        for view in self.views:
            found = None if found is None else view.ranks(found)
        return found


class BroadcastView:
    """The array repeated along axes, read-only.

    Parameters
    ----------
    shape : sequence of int or Dim
        Known to fit.
    """

    __slots__ = ("shape", "writable")

    def __init__(self, shape: Sequence[DimLike]) -> None:
        self.shape: Final = tuple(shape)
        self.writable = False

    def apply(self, base: Value) -> Value:
        """Return the broadcast value."""
        return structure.broadcast_to(base, self.shape)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  the protocol's
        """Refuse."""
        raise read_only()

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:
        """Return the strides: 0 along repeated axes."""
        lead = len(self.shape) - len(shape)
        kept = [
            s if same(a, b) else 0
            for a, b, s in zip(shape, self.shape[lead:], strides, strict=True)
        ]
        return (*(0,) * lead, *kept)

    def shown(self, shape: Shape) -> Shape:  # noqa: ARG002
        """Return the new sizes."""
        return self.shape

    def ranks(self, ranks: Ranks) -> Ranks | None:
        """Return the ranks, 0 for new axes; repeated ones have a length of 1 in the base."""
        return (*(0,) * (len(self.shape) - len(ranks)), *ranks)


class DiagonalView:
    """The diagonal of two axes, last in the result, read-only.

    Parameters
    ----------
    offset : int or Dim
        Positive above the main diagonal.
    axis1, axis2 : int
        Nonnegative, distinct.
    """

    __slots__ = ("axis1", "axis2", "offset", "writable")

    def __init__(self, offset: DimLike, axis1: int, axis2: int) -> None:
        self.offset: Final = offset
        self.axis1: Final = axis1
        self.axis2: Final = axis2
        self.writable = False

    def length(self, shape: Shape) -> DimLike:
        """Return the number of elements on the diagonal."""
        down, right = dim_max(-self.offset, 0), dim_max(self.offset, 0)
        rows, columns = shape[self.axis1] - down, shape[self.axis2] - right
        return dim_max(dim_min(rows, columns), 0)

    def apply(self, base: Value) -> Value:
        """Return the diagonal.

        Notes
        -----
        The two axes as one, and a strided Slice of it.
        """
        rest = [p for p in range(base.ndim) if p not in {self.axis1, self.axis2}]
        x = structure.transpose(base, [*rest, self.axis1, self.axis2])
        n = self.length(base.shape)
        m = x.shape[-1]
        if not isinstance(m, int):
            return self._gathered(x, n)
        flat = structure.reshape(x, (*x.shape[:-2], x.shape[-2] * m))
        start = dim_max(-self.offset, 0) * m + dim_max(self.offset, 0)
        stop = start + n * (m + 1)
        axis = flat.ndim - 1
        return structure.slice_axes(flat, [axis], [start], [stop], [m + 1], [n])

    def _gathered(self, x: Value, n: DimLike) -> Value:
        """Return the diagonal of the last two axes where the width is not a plain int."""
        from .elementwise import add, multiply

        m = x.shape[-1]
        flat = structure.reshape(x, (*x.shape[:-2], x.shape[-2] * m))
        start = dim_max(-self.offset, 0) * m + dim_max(self.offset, 0)
        places = add(multiply(structure.iota(n), m + 1), start)
        return gather(flat, places, flat.ndim - 1)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  the protocol's
        """Refuse."""
        raise read_only()

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:
        """Return the strides: both steps at once along the diagonal."""
        rest = [s for i, s in enumerate(strides) if i not in {self.axis1, self.axis2}]
        del shape
        return (*rest, strides[self.axis1] + strides[self.axis2])

    def shown(self, shape: Shape) -> Shape:
        """Return the sizes, the diagonal's last."""
        rest = [n for i, n in enumerate(shape) if i not in {self.axis1, self.axis2}]
        return (*rest, self.length(shape))

    def ranks(self, ranks: Ranks) -> Ranks | None:  # noqa: ARG002
        """Return None: the order in memory follows from strides only."""
        return None


# --- NumPy's rule for reshaping without a copy ---------------------------------------------


def c_strides(shape: Sequence[DimLike]) -> tuple[DimLike, ...]:
    """Return the strides, in elements, of a C-contiguous array."""
    return tuple(dim_prod(shape[i + 1 :]) for i in range(len(shape)))


def _decide_equal(a: DimLike, b: DimLike, guard: bool) -> bool:
    if same(a, b):
        return True
    for difference in (a - b, b - a):
        if is_positive(difference):
            return False
    if guard or (isinstance(a, int) and isinstance(b, int)):
        return bool(a == b)
    raise UndecidedError


def _decide_less(a: DimLike, b: DimLike, guard: bool) -> bool:
    if is_positive(b - a):
        return True
    low = lower(a - b)
    if low is not None and low >= 0:
        return False
    if guard:
        return bool(a < b)
    raise UndecidedError


def _is_empty(n: DimLike, guard: bool) -> bool:
    """Whether a length is 0; where it may be later, no element tells a view from a copy."""
    return same(n, 0) or (guard and hint_of(n) == 0 and bool(n == 0))


def is_contiguous(
    shape: Sequence[DimLike], strides: Sequence[DimLike], *, guard: bool = False
) -> bool:
    """Whether an array is C-contiguous; axes of length 1 may have any stride.

    Raises
    ------
    UndecidedError
        It depends on sizes that are not known, and no guard may be taken.
    """
    if all(
        same(n, 1) or same(s, want)
        for n, s, want in zip(shape, strides, c_strides(shape), strict=True)
    ):
        return True
    if any(_is_empty(n, guard) for n in shape):
        return True
    want: DimLike = 1
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if not _decide_equal(n, 1, guard):
            if not _decide_equal(s, want, guard):
                return False
            want = want * n
    return True


def reshape_strides(
    shape: Sequence[DimLike],
    strides: Sequence[DimLike],
    new: Sequence[DimLike],
    *,
    guard: bool = False,
) -> tuple[DimLike, ...] | None:
    """Return the strides of a reshaped view, None where NumPy copies.

    Parameters
    ----------
    shape, strides : sequence of int or Dim
        The array as it lies in memory; strides count elements.
    new : sequence of int or Dim
        The shape asked for, of as many elements.
    guard : bool
        Decide by the example what the sizes leave open, with a guard.

    Raises
    ------
    UndecidedError
        It depends on sizes that are not known; plain ints always have an answer.
    """
    if all(
        same(n, 1) or same(s, want)
        for n, s, want in zip(shape, strides, c_strides(shape), strict=True)
    ):
        return c_strides(new)
    if any(_is_empty(n, guard) for n in shape):
        return c_strides(new)
    kept = [
        (n, s)
        for n, s in zip(shape, strides, strict=True)
        if not (same(n, 1) or (guard and _decide_equal(n, 1, guard)))
    ]
    if not kept:
        return c_strides(new)
    old_n, old_s = [n for n, _ in kept], [s for _, s in kept]
    if same_shape(old_n, new):
        return tuple(old_s)
    return _regrouped(old_n, old_s, list(new), guard)


def _regrouped(
    old: list[DimLike],
    strides: list[DimLike],
    new: list[DimLike],
    guard: bool,
) -> tuple[DimLike, ...] | None:
    """Match runs of old axes with runs of new ones of the same product (NumPy's walk)."""
    out: list[DimLike] = [0] * len(new)
    oi = ni = 0
    oj = nj = 1
    while oi < len(old) and ni < len(new):
        have, want = old[oi], new[ni]
        while not _decide_equal(want, have, guard):
            if _decide_less(want, have, guard):
                want = want * new[nj]
                nj += 1
            else:
                have = have * old[oj]
                oj += 1
        for k in range(oi, oj - 1):
            if not _decide_equal(strides[k], old[k + 1] * strides[k + 1], guard):
                return None
        out[nj - 1] = strides[oj - 1]
        for k in range(nj - 1, ni, -1):
            out[k - 1] = out[k] * new[k]
        ni, oi = nj, oj
        nj, oj = nj + 1, oj + 1
    last = out[ni - 1] if ni >= 1 else 1
    for k in range(ni, len(new)):
        out[k] = last
    return tuple(out)
