# SPDX-License-Identifier: Apache-2.0
"""Distinct rows of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import FLOAT16, FLOAT32, INT64
from onnxjit._core.region import loop

from .cast import cast
from .elementwise import isnan, less, logical_or, maximum, minimum, not_equal, subtract
from .elementwise import where as pick
from .gather import compress, gather
from .reduce import reduce_any
from .scan import cumsum
from .sort import argsort_along, inverse_order
from .structure import iota, reshape, transpose

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["DistinctRows", "lexical_order"]

#: matrices of so many columns at most are sorted without a loop
_FEW_COLUMNS: Final = 4


def _sorted_further(order: Value, column: Value) -> Value:
    """Sort places by one more column, stably."""
    return gather(order, argsort_along(gather(column, order), 0))


#: beyond all finite float16
_LOW: Final = 2.0**17


def _comparable(rows: Value) -> Value:
    """Return rows that sort as NumPy sorts them: float16 with NaN below all numbers."""
    if rows.dtype is not FLOAT16:
        return rows
    wide = cast(rows, FLOAT32)
    low, high = as_value(-_LOW, FLOAT32), as_value(_LOW, FLOAT32)
    finite = maximum(minimum(wide, high), low)
    result: Value = pick(isnan(wide), as_value(2 * -_LOW, FLOAT32), finite)
    return result


def lexical_order(rows: Value) -> Value:
    """Return the places that sort the rows of a matrix, the first column first.

    Parameters
    ----------
    rows : (n, m) real

    Returns
    -------
    (n) int64
        Of equal rows, the first one comes first; NaN is above all numbers, in float16 below
        them, as in NumPy's comparison of records.

    Notes
    -----
    A stable sort by each column, the last one first (a radix sort by columns): TopK, Gather,
    and Loop where there are many columns or their number is not known.
    """
    n, m = rows.shape
    columns = transpose(_comparable(rows), (1, 0))
    order = iota(n)
    if not isinstance(m, Dim) and m <= _FEW_COLUMNS:
        for i in reversed(range(m)):
            order = _sorted_further(order, gather(columns, as_value(i, INT64)))
        return order
    last = subtract(cast(dim_value(m), INT64), as_value(1, INT64))

    def body(i: Value, order: Value) -> tuple[list[Value], list[Value]]:
        column = gather(columns, subtract(last, i))
        return [reshape(_sorted_further(order, column), (n,))], []

    ((order,), _) = loop(m, body, [order])
    return order


def starts_of_equal_rows(ordered: Value) -> Value:
    """Return where a sorted matrix has a row unlike the one before; NaN is unlike NaN."""
    places = iota(ordered.shape[0])
    one = as_value(1, INT64)
    first = less(places, one)
    previous = gather(ordered, pick(first, places, subtract(places, one)))
    result: Value = logical_or(first, reduce_any(not_equal(ordered, previous), (1,)))
    return result


def numbers_of_rows(order: Value, starts: Value) -> Value:
    """Return the place of each row among the distinct ones."""
    number = subtract(cumsum(cast(starts, INT64), 0), as_value(1, INT64))
    return gather(number, inverse_order(order))


class DistinctRows:
    """The distinct rows of a matrix in order, their first places, and what they stand for.

    Attributes
    ----------
    values : (k, m) dtype of the rows
    first : (k) int64
    inverse : (n) int64
    starts : (n) bool
        Which rows of the sorted matrix are unlike the one before.
    counts : (k) int64
        Left to who knows how to count.
    """

    __slots__ = ("counts", "first", "inverse", "starts", "values")
    counts: Value

    def __init__(self, rows: Value) -> None:
        order = lexical_order(rows)
        ordered = gather(rows, order)
        self.starts = starts_of_equal_rows(ordered)
        self.values = compress(ordered, self.starts, 0)
        self.first = compress(order, self.starts, 0)
        self.inverse = numbers_of_rows(order, self.starts)
