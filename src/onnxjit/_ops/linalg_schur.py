# SPDX-License-Identifier: Apache-2.0
"""The Schur form of general matrices, by reflections that chase a bulge (Francis).

Stacks of matrices have their leading axis last here, (n, n, B), as in `linalg_jacobi`.  All
matrices of a stack take their steps at the same places at the same time; a step outside of a
matrix's own active block is none for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dtypes import INT64
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import conjugate, is_complex, real_part
from .elementwise import (
    absolute,
    add,
    divide,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    multiply,
    remainder,
    sqrt,
    subtract,
    where,
)
from .gather import gather, gather_elements
from .linalg_base import as_index
from .linalg_jacobi import (
    EPS,
    TINY,
    direction,
    scaled,
    squared_size,
    sum_of_squares,
    unit_rows,
)
from .reduce import reduce_any, reduce_max, reduce_min, reduce_sum
from .structure import broadcast_to, concat, const, iota, reshape, take_range, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

    Step = tuple[Sequence[Value], Sequence[Value]]

__all__ = ["Schur"]

#: LAPACK allows 30 sweeps for each eigenvalue, too
_SWEEPS: Final = 30
#: elements below the diagonal of this size, where the largest element is 1, count as zero
_FLOOR: Final = 1e-30


class Reflector:
    """Reflections that take (w, B) vectors to multiples of the first unit vector.

    Those of vectors that are zero, or not `active` (B,), do nothing.

    Notes
    -----
    Source: G. H. Golub and C. F. Van Loan, "Matrix Computations", 4th ed., section 5.1.
    """

    __slots__ = ("_count", "_factor", "_v")

    def __init__(self, x: Value, active: Value) -> None:
        self._count: Final = x.shape[0]
        squares = sum_of_squares(x, (0,))
        first = reshape(take_range(x, 0, 0, 1), squares.shape)
        size, norm = absolute_of(first), sqrt(squares)
        head = scaled(norm, direction(first, size))
        rest = take_range(x, 0, 1, x.shape[0] - 1)
        self._v: Final = concat([unsqueeze(add(first, head), [0]), rest], 0)
        some = logical_and(active, greater(squares, TINY))
        length = where(some, multiply(norm, add(norm, size)), 1.0)
        self._factor: Final = divide(cast(some, norm.dtype), length)

    def at(self, place: Value, n: DimLike) -> Placed:
        """Return the reflections of whole rows that start at a () row."""
        lines = unsqueeze(iota(n), [1])
        whole: Value | None = None
        assert isinstance(self._count, int)  # 2 or 3
        for k in range(self._count):
            here = cast(equal(lines, add(place, k)), self._factor.dtype)
            part = scaled(here, take_range(self._v, 0, k, 1))
            whole = part if whole is None else add(whole, part)
        assert whole is not None  # there is a first row
        return Placed(whole, self._factor)


class Placed:
    """Reflections ``I - factor * v @ v.H`` with (n, B) vectors and (B,) factors."""

    __slots__ = ("_longer", "_v")

    def __init__(self, v: Value, factor: Value) -> None:
        self._v: Final = v
        self._longer: Final = scaled(factor, v)

    def from_left(self, x: Value) -> Value:
        """Return reflected columns."""
        part = reduce_sum(multiply(unsqueeze(conjugate(self._v), [1]), x), (0,))
        result: Value = subtract(x, multiply(unsqueeze(self._longer, [1]), part))
        return result

    def from_right(self, x: Value) -> Value:
        """Return reflected rows."""
        part = reduce_sum(multiply(x, self._v), (1,))
        across = multiply(unsqueeze(part, [1]), conjugate(self._longer))
        result: Value = subtract(x, across)
        return result


def absolute_of(z: Value) -> Value:
    """Return the sizes of real or complex numbers that are neither huge nor tiny."""
    result: Value = sqrt(squared_size(z)) if is_complex(z) else absolute(z)
    return result


def flat(x: Value) -> Value:
    """Return matrices (n * n, B) row by row."""
    return reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))


class Schur:
    """``A = Z @ T @ Z.H``, with T upper triangular but for 2 by 2 blocks of real matrices.

    Attributes
    ----------
    form : (n, n, B) Value
        T.
    below : (n, B) bool Value
        Whether T has an element left of its diagonal in a row.
    vectors : (n, n, B) Value or None
        Z.
    unfinished : (B,) bool Value
        Whether the sweeps ran out.

    Notes
    -----
    Reduction to Hessenberg form, then double shifts of real and single shifts of complex
    matrices.  Source: Golub and Van Loan, sections 7.4 and 7.5; the first column of a sweep
    and the shifts after ten in vain as in EISPACK's hqr (B. T. Smith et al., "Matrix
    Eigensystem Routines", 1976).
    """

    __slots__ = ("_n", "below", "form", "unfinished", "vectors")

    def __init__(self, a: Value, *, vectors: bool) -> None:
        n = self._n = a.shape[0]
        batch = a.shape[2]
        state: Sequence[Value] = [a]
        if vectors:
            state = [a, broadcast_to(unit_rows(n, n, a), a.shape)]
        state = self._hessenberg(state)
        low, high, below = self._active(state[0])
        vain = broadcast_to(const(np.int64(0)), (batch,))

        def sweep(_: Value, low: Value, high: Value, vain: Value, *state: Value) -> Step:
            after = self._sweep(low, high, vain, state)
            new_low, new_high, below = self._active(after[0])
            vain = where(equal(high, new_high), add(vain, 1), 0)
            return [new_low, new_high, vain, *self._cleared(after, below)], []

        cleared = self._cleared(state, below)
        most = multiply(dim_value(n), _SWEEPS)
        (_, high, _, *state), _none = loop(
            cast(most, INT64),
            sweep,
            [low, high, vain, *cleared],
            while_true=lambda _, high, *__: reduce_any(greater(high, 0), (0,)),
        )
        self.unfinished: Final[Value] = greater(high, 0)
        self.form: Final = state[0]
        self.below: Final = self._active(state[0])[2]
        self.vectors: Final = state[1] if vectors else None

    def _hessenberg(self, state: Sequence[Value]) -> Sequence[Value]:
        """Clear what is below the first subdiagonal."""
        n = self._n
        lines = unsqueeze(iota(n), [1])

        def step(j: Value, h: Value, *rest: Value) -> Step:
            column = reshape(gather(h, as_index(j), 1), (n, h.shape[2]))
            real = real_part(h).dtype
            below = cast(greater(lines, add(j, 1)), real)
            here = cast(equal(lines, add(j, 1)), real)
            first = reduce_sum(scaled(here, column), (0,))
            under = scaled(below, column)
            squares = sum_of_squares(under, (0,))
            size = absolute_of(first)
            some = greater(squares, TINY)
            norm = sqrt(add(squares, multiply(size, size)))
            head = add(first, scaled(norm, direction(first, size)))
            length = where(some, multiply(norm, add(norm, size)), 1.0)
            placed = Placed(add(under, scaled(here, head)), divide(cast(some, real), length))
            h = placed.from_right(placed.from_left(h))
            return [h, *(placed.from_right(z) for z in rest)], []

        steps = maximum(subtract(dim_value(n), 2), 0)
        return loop(cast(steps, INT64), step, state)[0]

    def _active(self, h: Value) -> tuple[Value, Value, Value]:
        """Return first and last row (B,) of the last block to work on, and what is not zero.

        The last row is 0, or less, where nothing is left to do.
        """
        n = self._n
        places = iota(n)
        before = maximum(subtract(places, 1), 0)
        elements = flat(h)
        own = multiply(places, add(dim_value(n), 1))
        left = add(multiply(places, dim_value(n)), before)
        size = absolute_of(gather(elements, own))
        sub = absolute_of(gather(elements, left))
        bound = maximum(multiply(add(size, gather(size, before)), EPS), _FLOOR)
        row = unsqueeze(places, [1])
        below = logical_and(greater(sub, bound), greater(row, 0))
        # real matrices keep blocks of two rows
        unready = below if is_complex(h) else logical_and(below, gather(below, before))
        high = reduce_max(where(unready, row, 0), (0,))
        starts = logical_and(logical_not(below), less_equal(row, high))
        low = reduce_max(where(starts, row, 0), (0,))
        return low, high, below

    def _cleared(self, state: Sequence[Value], below: Value) -> list[Value]:
        """Set to zero what is below the subdiagonal, and what is negligible on it."""
        h, *rest = state
        n = self._n
        line, column = unsqueeze(iota(n), [1]), iota(n)
        upper = unsqueeze(less_equal(line, column), [2])
        beside = unsqueeze(equal(line, add(column, 1)), [2])
        real = real_part(h).dtype
        keep = add(
            cast(upper, real), multiply(cast(beside, real), cast(unsqueeze(below, [1]), real))
        )
        return [scaled(keep, h), *rest]

    def _sweep(
        self, low: Value, high: Value, vain: Value, state: Sequence[Value]
    ) -> Sequence[Value]:
        h = state[0]
        n, single = self._n, is_complex(h)
        width = 2 if single else 3
        busy = greater(high, 0)
        first = (
            _first_complex(h, low, high, vain) if single else _first_real(h, low, high, vain)
        )
        start = reduce_min(where(busy, low, dim_value(n)), (0,))
        stop = reduce_max(where(busy, high, 0), (0,))
        offsets = multiply(const(np.arange(width)), dim_value(n))
        last = subtract(multiply(dim_value(n), dim_value(n)), 1)
        reach = unsqueeze(const(np.arange(width)), [1])

        def step(counter: Value, *state: Value) -> Step:
            h, *rest = state
            i = add(start, counter)
            corner = add(multiply(i, dim_value(n)), maximum(subtract(i, 1), 0))
            column = gather(flat(h), minimum(add(corner, offsets), last))
            inside = cast(less_equal(add(i, reach), high), real_part(h).dtype)
            x = where(equal(low, i), first, scaled(inside, column))
            active = logical_and(busy, logical_and(greater_equal(i, low), less(i, high)))
            placed = Reflector(x, active).at(i, n)
            h = placed.from_right(placed.from_left(h))
            return [h, *(placed.from_right(z) for z in rest)], []

        trips = maximum(subtract(stop, start), 0)
        return loop(trips, step, state)[0]


def _elements(h: Value, corner: Value, offsets: Sequence[Value]) -> list[Value]:
    """Return (B,) elements at offsets from (B,) places in flat matrices."""
    elements = flat(h)
    n = dim_value(h.shape[0])
    places = concat([unsqueeze(add(corner, o), [0]) for o in offsets], 0)
    last = subtract(multiply(n, n), 1)
    places = maximum(minimum(places, last), 0)
    found = gather_elements(elements, places, 0)
    return [reshape(take_range(found, 0, k, 1), corner.shape) for k in range(len(offsets))]


def _corners(h: Value, high: Value) -> list[Value]:
    """Return the last two by two elements of a block: own, above it, left of it, between."""
    n = dim_value(h.shape[0])
    zero = const(np.int64(0))
    row = add(n, 1)
    offsets = [
        zero,
        subtract(zero, row),
        subtract(zero, const(np.int64(1))),
        subtract(zero, n),
    ]
    own, other, left, above = _elements(h, multiply(high, row), offsets)
    return [own, other, left, above]


def _is_vain(vain: Value) -> Value:
    ten = const(np.int64(10))
    result: Value = logical_and(greater(vain, 0), equal(remainder(vain, ten), 0))
    return result


def _first_real(h: Value, low: Value, high: Value, vain: Value) -> Value:
    """Return the direction of the first column of ``(H - s1) @ (H - s2)``, (3, B)."""
    n = dim_value(h.shape[0])
    x, y, left, above = _corners(h, high)
    w = multiply(left, above)
    again = _is_vain(vain)
    size = multiply(absolute(left), 1.5)
    x, y, w = (
        where(again, add(x, multiply(size, 0.75)), x),
        where(again, add(x, multiply(size, 0.75)), y),
        where(again, multiply(multiply(size, size), -0.4375), w),
    )
    zero, one = const(np.int64(0)), const(np.int64(1))
    row = add(n, 1)
    offsets = [zero, one, n, row, add(multiply(n, 2), one)]
    z, beside, under, next_, second = _elements(h, multiply(low, row), offsets)
    r, s = subtract(x, z), subtract(y, z)
    divisor = where(equal(under, 0.0), 1.0, under)
    p = add(divide(subtract(multiply(r, s), w), divisor), beside)
    q = subtract(subtract(subtract(next_, z), r), s)
    first = concat([unsqueeze(v, [0]) for v in (p, q, second)], 0)
    largest = reduce_max(absolute(first), (0,))
    found: Value = divide(first, where(greater(largest, 0.0), largest, 1.0))
    return found


def _first_complex(h: Value, low: Value, high: Value, vain: Value) -> Value:
    """Return the first column of ``H - s``, (2, B), s the last block's nearer eigenvalue."""
    n = dim_value(h.shape[0])
    x, y, left, above = _corners(h, high)
    w = multiply(left, above)
    half = scaled(const(np.asarray(0.5)), subtract(y, x))
    root = sqrt(add(multiply(half, half), w))
    plus, minus = add(half, root), subtract(half, root)
    far = where(greater(squared_size(plus), squared_size(minus)), plus, minus)
    none = equal(squared_size(far), 0.0)
    unit = cast(const(np.asarray(1.0)), h.dtype)
    step = where(none, root, divide(w, where(none, unit, far)))
    shift = where(
        _is_vain(vain),
        add(x, cast(multiply(absolute_of(left), 0.75), h.dtype)),
        subtract(x, step),
    )
    zero = const(np.int64(0))
    z, under = _elements(h, multiply(low, add(n, 1)), [zero, n])
    return concat([unsqueeze(v, [0]) for v in (subtract(z, shift), under)], 0)
