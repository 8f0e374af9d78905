# SPDX-License-Identifier: Apache-2.0
"""Rotations of two or three rows, pair by pair: what large stacks of small matrices go by.

No row moves and none is added; each number of a matrix is a vector over the stack.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.region import loop

from .complex_parts import conjugate, real_part
from .elementwise import add, divide, greater, maximum, multiply, subtract
from .linalg_jacobi import SWEEPS, TINY, Rotation, scaled, squared_size, sum_of_squares
from .reduce import reduce_any, reduce_sum
from .structure import concat, reshape, take_range, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

    Step = tuple[Sequence[Value], Sequence[Value]]

__all__ = ["LIMIT", "diagonal_of_few", "orthogonal_rows_of_few"]

#: matrices of more rows go by the tournament
LIMIT: Final = 3


def _row(x: Value, i: int) -> Value:
    """Return row i of a (n, ...) value."""
    return reshape(take_range(x, 0, i, 1), x.shape[1:])


def _stacked(rows: Sequence[Value]) -> Value:
    return concat([unsqueeze(row, [0]) for row in rows], 0)


def _turned(rotation: Rotation, p: Value, q: Value) -> tuple[Value, Value]:
    c, w = rotation.c, rotation.w
    first: Value = subtract(scaled(c, p), multiply(w, q))
    second: Value = add(multiply(conjugate(w), p), scaled(c, q))
    return first, second


class _Hermitian:
    """The numbers of Hermitian matrices of n rows, and rows that are turned with them."""

    __slots__ = ("above", "d", "n", "rows")

    def __init__(self, n: int, state: Sequence[Value]) -> None:
        pairs = list(combinations(range(n), 2))
        self.n: Final = n
        self.d = list(state[:n])
        self.above = dict(zip(pairs, state[n : n + len(pairs)], strict=True))
        self.rows = list(state[n + len(pairs) :])

    def state(self) -> list[Value]:
        return [*self.d, *self.above.values(), *self.rows]

    def at(self, i: int, j: int) -> Value:
        return self.above[i, j] if i < j else conjugate(self.above[j, i])

    def put(self, i: int, j: int, x: Value) -> None:
        if i < j:
            self.above[i, j] = x
        else:
            self.above[j, i] = conjugate(x)

    def off(self) -> Value:
        total: Value | None = None
        for x in self.above.values():
            size = squared_size(x)
            total = size if total is None else add(total, size)
        assert total is not None  # two rows have a pair
        return total

    def turn(self, p: int, q: int) -> None:
        """Annihilate one pair."""
        rotation = Rotation(self.d[p], self.d[q], self.above[p, q])
        self.d[p] = subtract(self.d[p], rotation.shift)
        self.d[q] = add(self.d[q], rotation.shift)
        for r in range(self.n):
            if r not in (p, q):
                first, second = _turned(rotation, self.at(p, r), self.at(q, r))
                self.put(p, r, first)
                self.put(q, r, second)
        self.above[p, q] = scaled(multiply(rotation.c, 0.0), self.above[p, q])
        if self.rows:
            self.rows[p], self.rows[q] = _turned(rotation, self.rows[p], self.rows[q])


def diagonal_of_few(x: Value, limit: Value, rows: Value | None) -> tuple[Value, ...]:
    """Make Hermitian (n, n, B) matrices of two or three rows diagonal.

    Parameters
    ----------
    x : (n, n, B) Value
        Matrices.
    limit : (B,) Value
        Squared norm of what may be left off the diagonal.
    rows : (n, m, B) Value or None
        What is turned with the rows.

    Returns
    -------
    diagonal : (n, B) Value
    unfinished : (B,) bool Value
    rows : (n, m, B) Value
        If any were given.
    """
    n = x.shape[0]
    assert isinstance(n, int)  # the caller looked
    lines = [_row(x, i) for i in range(n)]
    state = [_row(real_part(lines[i]), i) for i in range(n)]
    state += [_row(lines[i], j) for i, j in combinations(range(n), 2)]
    state += [] if rows is None else [_row(rows, i) for i in range(n)]
    found = _Hermitian(n, state)

    def sweep(_: Value, *state: Value) -> Step:
        matrix = _Hermitian(n, state)
        for p, q in combinations(range(n), 2):
            matrix.turn(p, q)
        return matrix.state(), []

    def unfinished(*state: Value) -> Value:
        result: Value = greater(_Hermitian(n, state).off(), limit)
        return result

    if n == 2:
        found.turn(0, 1)
    else:
        after, _none = loop(
            SWEEPS, sweep, state, while_true=lambda *s: reduce_any(unfinished(*s), (0,))
        )
        found = _Hermitian(n, after)
    results = (_stacked(found.d), unfinished(*found.state()))
    return results if rows is None else (*results, _stacked(found.rows))


def orthogonal_rows_of_few(
    x: Value, bound: Value, worst: Value, turned: Value | None
) -> list[Any]:
    """Turn two or three rows until they are orthogonal.

    Parameters
    ----------
    x : (r, n, B) Value
        The rows.
    bound : () Value
        The largest square of a cosine that counts as zero.
    worst : (B,) Value
        Infinity.
    turned : (r, m, B) Value or None
        What is turned with the rows.

    Returns
    -------
    list of Value
        The largest squares of cosines (B,), the rows, and what was turned with them.
    """
    r = x.shape[0]
    assert isinstance(r, int)  # the caller looked
    parts = [x] if turned is None else [x, turned]
    state = [worst, *(_row(part, i) for part in parts for i in range(r))]

    def sweep(_: Value, worst: Value, *state: Value) -> Step:
        rows = list(state)
        found = multiply(worst, 0.0) if r < 2 else None
        for p, q in combinations(range(r), 2):
            ratio, rotation = _meeting(rows[p], rows[q])
            found = ratio if found is None else maximum(found, ratio)
            for start in range(0, len(rows), r):
                i, j = start + p, start + q
                rows[i], rows[j] = _turned(rotation, rows[i], rows[j])
        assert found is not None  # one way or the other
        return [found, *rows], []

    after, _none = loop(
        SWEEPS,
        sweep,
        state,
        while_true=lambda worst, *_: reduce_any(greater(worst, bound), (0,)),
    )
    results = [
        _stacked(after[1 + start : 1 + start + r]) for start in range(0, len(after) - 1, r)
    ]
    return [after[0], *results]


def _meeting(p: Value, q: Value) -> tuple[Value, Rotation]:
    """Return the squared cosine between two (n, B) rows, and what makes it zero."""
    a, b = sum_of_squares(p, (0,)), sum_of_squares(q, (0,))
    across = reduce_sum(multiply(p, conjugate(q)), (0,))
    size = divide(1.0, maximum(add(a, b), TINY))
    a, b, across = multiply(size, a), multiply(size, b), scaled(size, across)
    ratio: Value = divide(squared_size(across), maximum(multiply(a, b), TINY))
    return ratio, Rotation(a, b, across)
