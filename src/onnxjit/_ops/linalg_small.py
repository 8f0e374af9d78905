# SPDX-License-Identifier: Apache-2.0
"""Gaussian elimination and Cholesky's factorisation of stacks of very small matrices.

The number of rows is known, so that nothing is a loop; the stack is the last axis, along which
every operation runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.dtypes import INT64

from .cast import cast
from .complex_parts import conjugate, real_part
from .elementwise import (
    add,
    divide,
    equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    not_equal,
    reciprocal,
    sqrt,
    subtract,
)
from .gather import gather, gather_elements
from .linalg_base import either, pivot_size, place_of_largest, stack_first, stack_last
from .reduce import reduce_any
from .structure import (
    LAST,
    broadcast_to,
    concat,
    const,
    slice_axes,
    squeeze,
    take_range,
    unsqueeze,
)

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["SMALL", "SmallElimination", "small_factor"]

#: the largest number of rows that is written out
SMALL: Final = 5
#: below it a reciprocal may be infinite
_SAFE: Final = float(np.finfo(np.float64).tiny)


def _order(place: Value, count: int) -> Value:
    """Return the (count, 1, B) order of rows of which the one at a (1, B) place comes first.

    The first row takes its place.
    """
    others = const(np.arange(1, count)[:, None])
    kept = multiply(cast(not_equal(place, others), INT64), others)
    return unsqueeze(concat([place, kept], 0), [1])


class SmallElimination:
    """Matrices of few rows, eliminated.

    Parameters
    ----------
    m : (B, n, n) float64 or complex128 Value
        Matrices; n is an int.
    beside : (B, n, k) Value, optional
        What is carried along, in the columns from n on; they are c in all.

    Attributes
    ----------
    rows : list of (1, c - i, B) Value
        The upper factor from its diagonal on, and what stood beside the matrix.
    places : list of (1, B) int64 Value
        Where each pivot was among the rows that were left; the first of these took its place.
    pivots : (n, B) Value
        The diagonal.

    Notes
    -----
    LAPACK's order of rows; products are summed before they are subtracted, and factors are
    multiplied by the reciprocal of the pivot.  OpenBLAS computes that for so few rows, bit by
    bit where its kernels round products, and within a rounding where they do not (FMA): a
    matrix that is singular but for rounding is exactly singular in both or nearly so.
    """

    __slots__ = ("pivots", "places", "rows")

    def __init__(self, m: Value, beside: Value | None = None) -> None:
        count = m.shape[1]
        assert isinstance(count, int)  # the caller looked
        self.rows: Final[list[Value]] = []
        self.places: Final[list[Value]] = []
        given, sums = stack_last(m), None
        more = [] if beside is None else [stack_last(beside)]
        for left in range(count, 0, -1):
            column = _value(_columns(given, 0, 1), sums, 0)
            sizes = pivot_size(squeeze(column, [1]))
            if left > 1:
                place = place_of_largest(sizes, 0)
                self.places.append(place)
                order = _order(place, left)
                # joined here: onnxruntime (1.32) would join before it transposes, small rows
                given = concat([_ordered(x, order) for x in (given, *more)], 1)
                more = []
                sums = None if sums is None else _ordered(sums, order)
                column = _value(_columns(given, 0, 1), sums, 0)
            given = concat([given, *more], 1)
            row = _value(take_range(given, 0, 0, 1), _row(sums), None)
            self.rows.append(row)
            if left > 1:
                factors = _factors(column)
                products = multiply(factors, _columns(row, 1))
                given = _rest(given)
                sums = products if sums is None else add(_rest(sums), products)
        #: (n, B)
        self.pivots: Final = concat(
            [squeeze(_columns(row, 0, 1), [1]) for row in self.rows], 0
        )

    def is_singular(self) -> Value:
        """Return the (B,) truth values of "a pivot is exactly zero", where NaN is not met."""
        zero = reduce_any(equal(self.pivots, 0), (0,))
        met = isnan(pivot_size(gather(self.pivots, const(np.int64(len(self.rows) - 1)), 0)))
        found: Value = logical_and(zero, logical_not(met))
        return found

    def is_odd(self) -> Value:
        """Return the (B,) truth values of "an odd number of rows was exchanged"."""
        odd: Value = broadcast_to(const(np.bool_(False)), self.pivots.shape[1:])
        for place in self.places:
            odd = not_equal(odd, squeeze(not_equal(place, const(np.int64(0))), [0]))
        return odd

    def solved(self) -> Value:
        """Return the (B, n, c - n) solutions for what stood beside the matrix."""
        count = len(self.rows)
        found: list[Value] = []
        for i in range(count - 1, -1, -1):
            row = self.rows[i]
            right = _columns(row, count - i)
            for k, x in enumerate(found):
                right = subtract(right, multiply(_columns(row, count - i - 1 - k, 1), x))
            found.append(divide(right, _columns(row, 0, 1)))
        return stack_first(concat(found[::-1], 0))


def _columns(x: Value, start: int, length: int | None = None) -> Value:
    return take_range(x, 1, start, x.shape[1] - start if length is None else length)


def _rest(x: Value) -> Value:
    """Return an (r, c, B) value without its first row and column."""
    sizes = [n - 1 for n in x.shape[:2]]
    return slice_axes(x, [0, 1], [1, 1], [LAST, LAST], [1, 1], sizes)


def _row(sums: Value | None) -> Value | None:
    return None if sums is None else take_range(sums, 0, 0, 1)


def _value(given: Value, sums: Value | None, column: int | None) -> Value:
    if sums is None:
        return given
    if column is not None:
        sums = _columns(sums, column, 1)
    found: Value = subtract(given, sums)
    return found


def _ordered(x: Value, order: Value) -> Value:
    """Return rows of an (r, c, B) array in the (r, 1, B) order of each matrix."""
    return gather_elements(x, broadcast_to(order, x.shape), 0)


def _factors(column: Value) -> Value:
    """Divide a column by its first element, as LAPACK does; leave zeros as they are."""
    pivot = take_range(column, 0, 0, 1)
    rest = take_range(column, 0, 1, column.shape[0] - 1)
    one = const(np.ones((), column.dtype.numpy))
    divisor = either(equal(pivot, 0), one, pivot)
    quick = multiply(rest, reciprocal(divisor))
    tiny = less(pivot_size(divisor), _SAFE)
    return either(tiny, divide(rest, divisor), quick)


def small_factor(x: Value) -> tuple[Value, Value]:
    """Factorise Hermitian matrices of few rows; see `lower_factor`."""
    count = x.shape[1]
    assert isinstance(count, int)  # the caller looked
    batch = x.shape[0]
    given = stack_last(x)
    failed: Value = broadcast_to(const(np.bool_(False)), (batch,))
    zero = const(np.zeros((), x.dtype.numpy))
    columns: list[Value] = []
    for j in range(count):
        column = take_range(given, 0, j, count - j)
        column = squeeze(_columns(column, j, 1), [1])
        for k, done in enumerate(columns):
            below = take_range(done, 0, j - k, count - j)
            column = subtract(column, multiply(below, conjugate(take_range(below, 0, 0, 1))))
        found = real_part(take_range(column, 0, 0, 1))
        failed = logical_or(failed, less_equal(squeeze(found, [0]), const(np.float64(0))))
        root = cast(sqrt(found), x.dtype)
        below = divide(take_range(column, 0, 1, count - j - 1), root)
        columns.append(concat([root, below], 0))
    padded = [
        concat([broadcast_to(zero, (j, batch)), column], 0) for j, column in enumerate(columns)
    ]
    return stack_first(concat([unsqueeze(column, [1]) for column in padded], 1)), failed
