# SPDX-License-Identifier: Apache-2.0
"""Gaussian elimination with partial pivoting on stacks of matrices.

Rows stay where they are: the row that is eliminated with becomes zero, and is not looked at
again.  What is collected is the rows that were chosen, in the order of the choice: the upper
factor, with whatever stood beside the matrix (right-hand sides) carried along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.dims import DimLike, dim_min, upper
from onnxjit._core.dtypes import INT64
from onnxjit._core.region import loop

from .cast import cast
from .elementwise import (
    divide,
    equal,
    greater,
    isnan,
    less,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    remainder,
    subtract,
)
from .gather import gather, gather_elements, gather_nd
from .linalg_base import (
    as_columns,
    as_index,
    assumed,
    either,
    is_at_most,
    pivot_size,
    place_of_largest,
    stack_last,
)
from .product import matrix_product
from .reduce import count_true, reduce_any
from .sort import argsort_along
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    reshape,
    reverse,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

__all__ = ["Eliminated", "eliminate", "solve_lower", "solve_upper"]

#: columns that are eliminated together
WIDTH: Final = 32
#: matrices up to this size are eliminated in one go
SHORT: Final = 48


class Eliminated:
    """What elimination leaves.

    Attributes
    ----------
    rows : (B, n, c) Value
        The upper factor and what stood beside the matrix; what is left of the diagonal is
        without meaning.
    order : (B, n) int64 Value
        Which row each of them was.
    pivots : (B, n) Value
        The diagonal.
    has_nan : (B,) bool Value
        Whether NaN came up, so that the order means nothing.
    """

    __slots__ = ("has_nan", "order", "pivots", "rows")

    def __init__(self, rows: Value, order: Value, pivots: Value, has_nan: Value) -> None:
        self.rows: Final = rows
        self.order: Final = order
        self.pivots: Final = pivots
        self.has_nan: Final = has_nan

    def is_singular(self) -> Value:
        """Return the (B,) truth values of "a pivot is exactly zero"."""
        zero = reduce_any(equal(self.pivots, 0), (1,))
        found: Value = logical_and(zero, logical_not(self.has_nan))
        return found

    def is_odd(self) -> Value:
        """Return the (B,) truth values of "the order is an odd permutation"."""
        n = self.order.shape[1]
        places = iota(n)
        before = less(unsqueeze(places, [1]), places)
        swapped = logical_and(
            before, greater(unsqueeze(self.order, [2]), unsqueeze(self.order, [1]))
        )
        count = count_true(swapped, (1, 2))
        found: Value = equal(remainder(count, const(np.int64(2))), const(np.int64(1)))
        return found


class _Panel:
    """A few columns eliminated.

    Attributes
    ----------
    rows : (B, count, c) Value
        The rows that were chosen, as they were then.
    places : (B, count) int64 Value
        Where they are.
    factors : (B, r, count) Value
        How often each of them was subtracted from each row; zero for those chosen before.
    has_nan : (B,) bool Value
        Whether NaN came up: the order means nothing then.
    """

    __slots__ = ("factors", "has_nan", "places", "rows")

    def __init__(self, m: Value, count: DimLike) -> None:
        batch, height, width = m.shape
        numbers = unsqueeze(iota(height), [1, 2])
        start = broadcast_to(const(np.bool_(False)), (height, 1, batch))
        none = const(np.float64(-1))

        def body(j: Value, x: Value, done: Value) -> tuple[Sequence[Value], Sequence[Value]]:
            at = as_index(j)
            column = gather(x, at, 1)
            place = place_of_largest(either(done, none, pivot_size(column)), 0)
            row = gather_elements(x, broadcast_to(place, (1, width, batch)), 0)
            pivot = gather(row, at, 1)
            done = logical_or(done, equal(numbers, place))
            divisor = either(equal(pivot, 0), _one(pivot), pivot)
            factors = either(done, _zero(pivot), divide(column, divisor))
            after = subtract(x, multiply(factors, row))
            return [assumed(after, x.shape), assumed(done, start.shape)], [row, place, factors]

        _, (rows, places, factors) = loop(count, body, [stack_last(m), start])
        # stacked over the columns; of no columns, the runtime says nothing of the other axes
        self.rows: Final = transpose(reshape(rows, (count, width, batch)), [2, 0, 1])
        self.places: Final = transpose(reshape(places, (count, batch)), [1, 0])
        self.factors: Final = as_columns(factors, count, height, batch)
        nan = isnan(pivot_size(reshape(factors, (count, height, batch))))
        self.has_nan: Final = reduce_any(nan, (0, 1))


def _one(like: Value) -> Value:
    return const(np.ones((), like.dtype.numpy))


def _zero(like: Value) -> Value:
    return const(np.zeros((), like.dtype.numpy))


def take_rows(x: Value, places: Value) -> Value:
    """Return rows of (B, n, c) matrices at (B, k) places."""
    return gather_nd(x, unsqueeze(places, [2]), batch=1)


def eliminate(m: Value, n: DimLike) -> Eliminated:
    """Eliminate the first `n` columns of matrices with `n` rows.

    Parameters
    ----------
    m : (B, n, c) float64 or complex128 Value
        Matrices, with what is to be carried along in the columns from `n` on.
    n : int or Dim
        Number of rows.

    Notes
    -----
    The pivot is the first of the largest numbers of a column by ``abs(re) + abs(im)``, in the
    order in which the rows were given.  Beyond 48 rows 32 columns at a time, the rest by
    MatMul.  Loop, ArgMax, GatherND, Div, Mul, Sub.

    Sources: Golub and Van Loan, "Matrix Computations", 4th edition, 3.2 (outer products,
    blocks) and 3.4 (partial pivoting); LAPACK's getrf.
    """
    if is_at_most(n, SHORT):
        panel = _Panel(m, n)
        pivots = _diagonal(panel.rows, n)
        return Eliminated(panel.rows, panel.places, pivots, panel.has_nan)
    return _by_blocks(m, n)


def _diagonal(rows: Value, n: DimLike) -> Value:
    """Return the (B, n) diagonal of the first n columns."""
    places = iota(n)
    turned = transpose(rows, [1, 2, 0])
    both = concat([unsqueeze(places, [1]), unsqueeze(places, [1])], 1)
    return transpose(gather_nd(turned, both), [1, 0])


def _by_blocks(m: Value, n: DimLike) -> Eliminated:
    batch, _, width = m.shape
    zeros = const(np.zeros((), m.dtype.numpy))

    def body(
        _i: Value, left: Value, names: Value, rows: Value, order: Value, nan: Value
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        high, wide = left.shape[1:]
        w = dim_min(WIDTH, high)
        panel = _Panel(take_range(left, 2, 0, w), w)
        rest = take_range(left, 2, w, wide - w)
        beside = solve_lower(
            take_rows(panel.factors, panel.places), take_rows(rest, panel.places), is_unit=True
        )
        kept = _kept(panel.places, high, w)
        after = subtract(
            take_rows(rest, kept), matrix_product(take_rows(panel.factors, kept), beside)
        )
        done = rows.shape[1]
        new = concat([broadcast_to(zeros, (batch, w, done)), panel.rows, beside], 2)
        new = assumed(new, (batch, w, width))
        nan = logical_or(nan, panel.has_nan)
        chosen = gather_rows_of(names, panel.places)
        return [
            assumed(after, (batch, high - w, wide - w)),
            gather_rows_of(names, kept),
            concat([rows, new], 1),
            concat([order, chosen], 1),
            nan,
        ], []

    start = [
        m,
        broadcast_to(iota(n), (batch, n)),
        broadcast_to(zeros, (batch, 0, width)),
        broadcast_to(const(np.int64(0)), (batch, 0)),
        broadcast_to(const(np.bool_(False)), (batch,)),
    ]
    (_, _, rows, order, nan), _ = loop((n + WIDTH - 1) // WIDTH, body, start)
    rows = assumed(rows, (batch, n, width))
    return Eliminated(rows, assumed(order, (batch, n)), _diagonal(rows, n), nan)


def gather_rows_of(names: Value, places: Value) -> Value:
    """Return the (B, k) elements of (B, n) vectors at places."""
    return gather_elements(names, places, 1)


def _kept(places: Value, high: DimLike, w: DimLike) -> Value:
    """Return the (B, high - w) places that are not among (B, w) others, in order."""
    batch = places.shape[0]
    numbers = iota(high)
    chosen = reduce_any(equal(unsqueeze(places, [2]), numbers), (1,))
    order = argsort_along(cast(chosen, INT64), 1)
    return assumed(take_range(order, 1, 0, high - w), (batch, high - w))


# --- triangles -------------------------------------------------------------------------------


def solve_lower(t: Value, b: Value, *, is_unit: bool = False) -> Value:
    """Solve with lower triangular matrices.

    Parameters
    ----------
    t : (B, n, n) float64 or complex128 Value
        Only what is on and below the diagonal counts; below it if `is_unit`.
    b : (B, n, m) Value
        Right-hand sides.
    is_unit : bool
        The diagonal counts as ones.

    Returns
    -------
    (B, n, m) Value

    Notes
    -----
    Substitution, column by column; beyond 48 rows 32 at a time, the rest by MatMul.  A zero on
    the diagonal divides.  Loop, Gather, Div, Mul, Sub, MatMul.

    Source: Golub and Van Loan, "Matrix Computations", 4th edition, 3.1.
    """
    n = t.shape[2]
    if is_at_most(n, SHORT) or _is_below(n, WIDTH):
        return _substitute(t, b, is_unit=is_unit)
    batch, _, width = b.shape

    def body(_i: Value, left: Value, solved: Value) -> tuple[Sequence[Value], Sequence[Value]]:
        high = left.shape[1]
        done = solved.shape[1]
        w = dim_min(WIDTH, high)
        band = take_range(take_range(t, 1, done, w), 2, done, w)
        x = _substitute(band, take_range(left, 1, 0, w), is_unit=is_unit)
        below = take_range(take_range(t, 1, done + w, high - w), 2, done, w)
        after = subtract(take_range(left, 1, w, high - w), matrix_product(below, x))
        return [assumed(after, (batch, high - w, width)), concat([solved, x], 1)], []

    zeros = const(np.zeros((), b.dtype.numpy))
    start = [b, broadcast_to(zeros, (batch, 0, width))]
    (_, solved), _ = loop((n + WIDTH - 1) // WIDTH, body, start)
    return assumed(solved, (batch, n, width))


def _is_below(n: DimLike, limit: int) -> bool:
    most = upper(n)
    return most is not None and most <= limit


def solve_upper(t: Value, b: Value, *, is_unit: bool = False) -> Value:
    """Solve with upper triangular matrices; parameters as in `solve_lower`.

    Notes
    -----
    Everything is turned round, which makes it a lower triangle.
    """
    turned = reverse(t, [1, 2])
    return reverse(solve_lower(turned, reverse(b, [1]), is_unit=is_unit), [1])


def _substitute(t: Value, b: Value, *, is_unit: bool) -> Value:
    batch, n, width = b.shape
    triangle = stack_last(t)

    def body(j: Value, left: Value) -> tuple[Sequence[Value], Sequence[Value]]:
        at = as_index(j)
        column = gather(triangle, at, 1)
        x = gather(left, at, 0)
        if not is_unit:
            x = divide(x, gather(column, at, 0))
        after = subtract(left, multiply(column, x))
        return [assumed(after, left.shape)], [x]

    _, (solved,) = loop(n, body, [stack_last(b)])
    return transpose(reshape(solved, (n, width, batch)), [2, 0, 1])
