# SPDX-License-Identifier: Apache-2.0
"""Sizes interpreted from the bottom up: evaluation, substitution, code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from .dim_atoms import UNIT, Bcast, FloorDiv, Pos, Select, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .dim_atoms import Atom, Monomial
    from .dim_polynomial import Poly

T = TypeVar("T")


class Algebra(Protocol[T]):
    """What each construct of a dimension becomes; see `fold`."""

    def const(self, value: int, /) -> T:
        """Give the meaning of a number."""

    def symbol(self, symbol: Symbol, /) -> T:
        """Give the meaning of a symbol."""

    def add(self, left: T, right: T, /) -> T:
        """Give the meaning of a sum."""

    def mul(self, left: T, right: T, /) -> T:
        """Give the meaning of a product."""

    def pos(self, value: T, /) -> T:
        """Give the meaning of max(value, 0)."""

    def floordiv(self, value: T, divisor: T, /) -> T:
        """Give the meaning of a quotient rounded down."""

    def bcast(self, first: T, second: T, /) -> T:
        """Give the meaning of `second if first == 1 else first`."""

    def select(self, test: T, negative: T, other: T, /) -> T:
        """Give the meaning of `negative if test < 0 else other`."""


def fold_poly(poly: Poly, algebra: Algebra[T], memo: dict[object, T]) -> T:
    """Interpret a polynomial bottom-up; equal parts are interpreted once per memo."""
    if poly in memo:
        return memo[poly]
    total: list[T] = []
    for monomial, factor in poly.terms:
        if monomial is UNIT:
            total.append(_fold_const(factor, algebra, memo))
            continue
        value = _fold_monomial(monomial, algebra, memo)
        if factor != 1:
            value = algebra.mul(value, _fold_const(factor, algebra, memo))
        total.append(value)
    memo[poly] = out = _joined(total or [algebra.const(0)], algebra.add)
    return out


def _joined(values: list[T], combine: Callable[[T, T], T]) -> T:
    out = values[0]
    for value in values[1:]:
        out = combine(out, value)
    return out


def _fold_const(value: int, algebra: Algebra[T], memo: dict[object, T]) -> T:
    if value not in memo:
        memo[value] = algebra.const(value)
    return memo[value]


def _fold_monomial(monomial: Monomial, algebra: Algebra[T], memo: dict[object, T]) -> T:
    if monomial not in memo:
        factors: list[T] = []
        for atom, power in monomial.pairs:
            factors += [_fold_atom(atom, algebra, memo)] * power
        memo[monomial] = _joined(factors, algebra.mul)
    return memo[monomial]


def _fold_atom(atom: Atom, algebra: Algebra[T], memo: dict[object, T]) -> T:
    if atom not in memo:
        if isinstance(atom, Symbol):
            memo[atom] = algebra.symbol(atom)
        else:
            args = [fold_poly(arg, algebra, memo) for arg in atom.args]
            build: dict[type[Atom], Callable[..., T]] = {
                Pos: algebra.pos,
                FloorDiv: algebra.floordiv,
                Bcast: algebra.bcast,
                Select: algebra.select,
            }
            memo[atom] = build[type(atom)](*args)
    return memo[atom]


class Evaluation:
    """Algebra of plain integers."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[Symbol, int]) -> None:
        self.values = values

    def const(self, value: int, /) -> int:
        """Return the number."""
        return value

    def symbol(self, symbol: Symbol, /) -> int:
        """Look the symbol up."""
        return self.values[symbol]

    def add(self, left: int, right: int, /) -> int:
        """Add."""
        return left + right

    def mul(self, left: int, right: int, /) -> int:
        """Multiply."""
        return left * right

    def pos(self, value: int, /) -> int:
        """Clip below at zero."""
        return max(value, 0)

    def floordiv(self, value: int, divisor: int, /) -> int:
        """Divide, rounding down."""
        return value // divisor

    def bcast(self, first: int, second: int, /) -> int:
        """Broadcast two sizes."""
        return second if first == 1 else first

    def select(self, test: int, negative: int, other: int, /) -> int:
        """Choose by sign."""
        return negative if test < 0 else other


def evaluate_poly(poly: Poly, values: Mapping[Symbol, int]) -> int:
    """Value of a polynomial in exact integers."""
    return fold_poly(poly, Evaluation(values), {})
