# SPDX-License-Identifier: Apache-2.0
"""Singular values and vectors, by a QR factorisation and Hestenes' method.

Stacks of matrices have their leading axis last here, (m, n, B), as in `linalg_jacobi`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dims import dim_min
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import conjugate, real_part
from .elementwise import (
    add,
    divide,
    equal,
    greater,
    isnan,
    logical_or,
    maximum,
    multiply,
    sqrt,
    subtract,
    where,
)
from .gather import gather, gather_elements
from .linalg_base import as_index, place_of_largest
from .linalg_few import LIMIT, orthogonal_rows_of_few
from .linalg_jacobi import (
    EPS,
    SWEEPS,
    TINY,
    Rotation,
    Table,
    batch_first,
    batch_last,
    direction,
    in_order,
    polished,
    safe_scale,
    scaled,
    shifted,
    squared_size,
    sum_of_squares,
    unit_rows,
    with_peaks,
)
from .product import matrix_product
from .reduce import reduce_any, reduce_max, reduce_sum
from .sort import argsort_along
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    pad,
    reshape,
    reverse,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

    Step = tuple[Sequence[Value], Sequence[Value]]

__all__ = ["Singular", "complement"]

#: columns whose norm is below this (of a matrix whose largest element is 1) count as zero
_LEAST: Final = 2.0**-420
#: what stands for the norm of such a column, so that its direction is not lost; squares of
#: products with it are not subnormal, even times ulp squared
_STAND_IN: Final = 2.0**-440


class Triangular:
    """A matrix ``A = Q @ R`` with pivoting by columns.

    Attributes
    ----------
    rows : (r, n, B) Value
        R, its columns where those of A are; r is the smaller of m and n.
    """

    __slots__ = ("_factors", "_mirrors", "rows")

    def __init__(self, x: Value, r: DimLike | None = None) -> None:
        m, n, batch = x.shape
        r = dim_min(m, n) if r is None else r
        lines, columns = iota(m), iota(n)
        real = real_part(x).dtype

        def step(j: Value, x: Value, free: Value) -> tuple[Sequence[Value], Sequence[Value]]:
            norms = sum_of_squares(x, (0,))
            norms = subtract(multiply(norms, free), subtract(1.0, free))
            place = place_of_largest(norms, 0)
            square = gather_elements(norms, place, 0)  # (1, B)
            chosen = cast(equal(unsqueeze(columns, [1]), place), real)
            column = reduce_sum(scaled(chosen, x), (1,))
            keep = cast(greater(square, _LEAST**2), real)
            first = gather(column, as_index(j))
            size = sqrt(squared_size(first))
            norm = sqrt(maximum(square, 0.0))
            here = cast(equal(unsqueeze(lines, [1]), j), real)
            v = add(column, scaled(multiply(here, norm), direction(first, size)))
            factor = divide(keep, add(multiply(norm, add(norm, size)), subtract(1.0, keep)))
            part = reduce_sum(multiply(conjugate(unsqueeze(v, [1])), x), (0,))
            x = subtract(x, multiply(unsqueeze(scaled(factor, v), [1]), part))
            # what is left in columns that were chosen before is rounding noise
            row = scaled(free, gather(x, as_index(j)))
            lost = scaled(multiply(chosen, subtract(1.0, keep)), const_of(_STAND_IN, x))
            row = add(scaled(keep, row), lost)
            below = cast(greater(unsqueeze(lines, [1]), j), real)
            x = scaled(unsqueeze(below, [1]), x)
            free = multiply(free, subtract(1.0, chosen))
            return [x, free], [row, v, factor]

        start = broadcast_to(const(np.ones(())), (n, batch))
        _, (rows, mirrors, factors) = loop(r, step, [x, start])
        # of no steps the runtime says nothing of the other axes
        self.rows: Final = reshape(rows, (r, n, batch))
        self._mirrors: Final = reshape(mirrors, (r, m, batch))
        self._factors: Final = reshape(factors, (r, 1, batch))

    def unitary(self, count: DimLike) -> Value:
        """Return the first rows of Q's adjoint (count, m, B); all are orthonormal."""
        r, m, batch = self._mirrors.shape
        last = subtract(dim_value(r), 1)

        def step(j: Value, q: Value) -> tuple[Sequence[Value], Sequence[Value]]:
            at = as_index(subtract(last, j))
            v = gather(self._mirrors, at)  # (1, m, B)
            part = reduce_sum(multiply(q, v), (1,), keepdims=True)
            across = scaled(gather(self._factors, at), conjugate(v))
            return [subtract(q, multiply(part, across))], []

        start = broadcast_to(unit_rows(count, m, self._mirrors), (count, m, batch))
        (q,), _ = loop(r, step, [start])
        return q


def const_of(number: float, like: Value) -> Value:
    """Return a () constant of the dtype of a value."""
    return const(np.asarray(number, like.dtype.numpy))


def _orthogonal(x: Value, turned: Value | None) -> tuple[Value, Value, Value | None]:
    """Turn (r, n, B) rows until they are orthogonal to each other.

    Returns
    -------
    rows : (r, n, B) Value
        The rows that came of it.
    unfinished : (B,) bool Value
        Whether the sweeps ran out.
    turned : (r, m, B) Value or None
        What was turned with them.
    """
    r, n, batch = x.shape
    bound = multiply(cast(dim_value(n), real_part(x).dtype), (2 * EPS) ** 2)
    worst = broadcast_to(const(np.asarray(np.inf)), (batch,))
    apply = orthogonal_rows_of_few if _is_small(r) else _orthogonal_rows_of_many
    worst, rows, *others = apply(x, bound, worst, turned)
    return rows, greater(worst, bound), others[0] if others else None


def _is_small(r: DimLike) -> bool:
    return isinstance(r, int) and 1 <= r <= LIMIT


def _orthogonal_rows_of_many(
    x: Value, bound: Value, worst: Value, turned: Value | None
) -> list[Value]:
    """Turn rows by tournaments until they are orthogonal; see `orthogonal_rows_of_few`."""
    r, _, batch = x.shape
    table = Table(r)
    parts = [x] if turned is None else [x, turned]
    zero = const(np.zeros((), x.dtype.numpy))
    state = [pad(y, [0, 0, 0], [table.size - r, 0, 0], zero) for y in parts]

    def one_round(_: Value, worst: Value, *state: Value) -> Step:
        squares = sum_of_squares(state[0], (1,))
        p, q = table.halves(squares)
        upper, lower = table.halves(state[0])
        across = reduce_sum(multiply(upper, conjugate(lower)), (1,))
        size = divide(1.0, maximum(add(p, q), TINY))
        p, q, across = multiply(size, p), multiply(size, q), scaled(size, across)
        ratio = divide(squared_size(across), maximum(multiply(p, q), TINY))
        worst = maximum(worst, reduce_max(ratio, (0,)))
        turn = table.turn(Rotation(p, q, across))
        return [worst, *(turn(y) for y in state)], []

    def sweep(_: Value, worst: Value, *state: Value) -> Step:
        del worst
        start = broadcast_to(const(np.zeros(())), (batch,))
        return loop(table.rounds, one_round, [start, *state])[0], []

    after, _none = loop(
        SWEEPS,
        sweep,
        [worst, *state],
        while_true=lambda worst, *_: reduce_any(greater(worst, bound), (0,)),
    )
    return [after[0], *(take_range(y, 0, 0, r) for y in after[1:])]


class Singular:
    """Singular values and vectors of (m, n, B) matrices.

    Parameters
    ----------
    a : (m, n, B) Value
        Matrices.
    vectors, full : bool
        Whether vectors are wanted, and of all directions.
    short : int, optional
        The smaller of m and n, where that is known.

    Attributes
    ----------
    values : (r, B) Value
        In falling order.
    left : (r, m, B) Value or None
        Row j is the conjugate of the j-th left singular vector; with `full`, (m, m, B).
    right : (r, n, B) Value or None
        Row j is the conjugate of the j-th right singular vector; with `full`, (n, n, B).
    failed : (B,) bool Value
        NaN in the matrix, or no convergence.
    """

    __slots__ = ("failed", "left", "right", "values")

    def __init__(
        self, a: Value, *, vectors: bool, full: bool, short: int | None = None
    ) -> None:
        m = a.shape[0]
        scale = safe_scale(a)
        x = scaled(scale, a)
        void = multiply(sum_of_squares(x, (0, 1)), 0.0)  # NaN for what is not finite
        x = shifted(void, x)
        triangular = Triangular(x, short)
        rows = triangular.rows
        r = rows.shape[0]
        q = triangular.unitary(m if full else r) if vectors else None
        start = None
        if q is not None:
            # a product of two rows costs more than turning longer rows
            own = take_range(q, 0, 0, r) if full else q
            start = own if _is_small(r) else _units(rows)
        rows, unfinished, turned = _orthogonal(rows, start)
        norms = sqrt(sum_of_squares(rows, (1,)))
        lost = reduce_any(equal(norms, 0.0), (0,))
        bad = logical_or(isnan(scale), unfinished)
        self.failed: Final[Value] = logical_or(bad, lost)
        order = reverse(argsort_along(norms, 0), [0])
        sizes = gather_elements(norms, order, 0)
        real = where(greater(sizes, _LEAST), sizes, multiply(sizes, 0.0))
        self.values: Final[Value] = divide(real, scale)
        self.left: Value | None = None
        self.right: Value | None = None
        if turned is None or q is None:
            return
        right = scaled(divide(1.0, unsqueeze(sizes, [1])), in_order(rows, order))
        if _is_small(r):
            left = in_order(turned, order)
        else:
            left = _product(in_order(polished(turned), order), own)
        self.left, self.right = with_peaks(left, right)
        if full:
            self.left = concat([self.left, take_range(q, 0, r, m - r)], 0)
            self.right = concat([self.right, complement(self.right)], 0)


def complement(rows: Value) -> Value:
    """Return orthonormal rows that (r, n, B) orthonormal ones lack, (n - r, n, B)."""
    r, n, _ = rows.shape
    columns = conjugate(transpose(rows, [1, 0, 2]))
    return take_range(Triangular(columns).unitary(n), 0, r, n - r)


def _units(rows: Value) -> Value:
    r, _, batch = rows.shape
    return broadcast_to(unit_rows(r, r, rows), (r, r, batch))


def _product(a: Value, b: Value) -> Value:
    return batch_last(matrix_product(batch_first(a), batch_first(b)))
