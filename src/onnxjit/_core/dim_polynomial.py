# SPDX-License-Identifier: Apache-2.0
"""Integer polynomials over sizes: the normal form behind symbolic dimensions.

A polynomial is a sorted tuple of (monomial, coefficient). A monomial is a sorted tuple of
(atom, power). An atom is a symbol or one of four integer functions of polynomials. This
module knows structure, intervals and traversal; `dim_rules` builds simplified atoms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

T = TypeVar("T")
INF = float("inf")
Bound = int | float
Interval = tuple[Bound, Bound]


class Atom:
    """Indivisible factor of a monomial.

    Parameters
    ----------
    args
        Polynomials that the atom is a function of.
    order
        Sort key, equal for equal atoms only.
    interval
        Least and greatest possible value, infinite where unknown.
    memo
        Results of simplification, shared by the atoms of one environment.
    """

    __slots__ = ("_hash", "args", "interval", "memo", "order")
    rank: ClassVar[int] = -1

    args: tuple[Poly, ...]
    order: tuple[Any, ...]
    interval: Interval
    memo: dict[Hashable, Any]
    _hash: int

    def __hash__(self) -> int:
        return self._hash


class Symbol(Atom):
    """Unknown integer, usually one size of an input.

    Parameters
    ----------
    name
        Display name.
    hint
        Value in the example that is being traced.
    lower
        Known least value, None for a number of unknown sign.
    origin
        Where the value comes from; not interpreted here.
    data
        True when the value depends on array data, so that it can never be guarded.
    serial
        Position among the symbols of its environment.
    memo
        Results of simplification that the environment keeps.
    """

    __slots__ = ("data", "hint", "lower", "name", "origin")
    rank = 0

    def __init__(
        self,
        name: str,
        hint: int | None = None,
        lower: int | None = 0,
        *,
        origin: object = None,
        data: bool = False,
        serial: int = 0,
        memo: dict[Hashable, Any] | None = None,
    ) -> None:
        self.memo = {} if memo is None else memo
        self.name, self.hint, self.lower = name, hint, lower
        self.origin, self.data = origin, data
        self.args = ()
        self.order = (0, (serial, name))
        self.interval = (-INF if lower is None else lower, INF)
        self._hash = hash((serial, name))

    def __repr__(self) -> str:
        return self.name

    __hash__ = Atom.__hash__


class Function(Atom):
    """Atom computed from polynomials; equal when kind and arguments are equal."""

    __slots__ = ()

    def __init__(self, *args: Poly) -> None:
        self.args = args
        self.memo = next(p.memo for p in args if p.as_int() is None)
        self.order = (self.rank, tuple(p.order for p in args))
        self._hash = hash((self.rank, args))
        self.interval = self.bounds()

    def bounds(self) -> Interval:
        """Interval implied by those of the arguments."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Function)
            and self.rank == other.rank
            and self._hash == other._hash
            and self.args == other.args
        )

    __hash__ = Atom.__hash__


class Pos(Function):
    """The larger of a polynomial and zero."""

    __slots__ = ()
    rank = 1

    def bounds(self) -> Interval:
        low, high = self.args[0].interval
        return max(low, 0), max(high, 0)


class FloorDiv(Function):
    """Quotient rounded down; the divisor is taken as nonzero."""

    __slots__ = ()
    rank = 2

    def bounds(self) -> Interval:
        (low, high), (least, most) = self.args[0].interval, self.args[1].interval
        if least < 1:
            return -INF, INF
        down = _floor(low, most if low >= 0 else least)
        return down, _floor(high, least if high >= 0 else most)


class Bcast(Function):
    """Result size of broadcasting: the second argument where the first is one."""

    __slots__ = ()
    rank = 3

    def bounds(self) -> Interval:
        return _hull(self.args[0].interval, self.args[1].interval)


class Select(Function):
    """The second argument where the first is negative, else the third."""

    __slots__ = ()
    rank = 4

    def bounds(self) -> Interval:
        return _hull(self.args[1].interval, self.args[2].interval)


Monomial = tuple[tuple[Atom, int], ...]
Terms = tuple[tuple[Monomial, int], ...]


class Poly:
    """Integer polynomial in normal form; compared and hashed by structure.

    Parameters
    ----------
    terms
        Sorted by falling degree, then by atoms; the constant comes last. No zeros.
    """

    __slots__ = ("_hash", "_interval", "_order", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._hash = hash(terms)
        self._interval: Interval | None = None
        self._order: tuple[Any, ...] | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Poly) and self._hash == other._hash and self.terms == other.terms
        )

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key that agrees with equality."""
        if self._order is None:
            self._order = tuple((_monomial_key(m), c) for m, c in self.terms)
        return self._order

    @property
    def interval(self) -> Interval:
        """Least and greatest value that interval arithmetic can promise."""
        if self._interval is None:
            low: Bound = 0
            high: Bound = 0
            for monomial, factor in self.terms:
                least, most = _scaled(_monomial_interval(monomial), factor)
                low, high = low + least, high + most
            self._interval = (low, high)
        return self._interval

    @property
    def memo(self) -> dict[Hashable, Any]:
        """Memo of the environment; there is none for a constant."""
        return self.terms[0][0][0][0].memo

    @property
    def constant(self) -> int:
        """Coefficient of the empty monomial."""
        return self.terms[-1][1] if self.terms and not self.terms[-1][0] else 0

    def as_int(self) -> int | None:
        """Value of a constant polynomial, else None."""
        if not self.terms:
            return 0
        monomial, factor = self.terms[0]
        return None if monomial else factor

    def coefficient(self, monomial: Monomial) -> int:
        """Coefficient of a monomial, 0 when absent."""
        return next((c for m, c in self.terms if m == monomial), 0)

    def __add__(self, other: Poly | int) -> Poly:
        terms = _as_poly(other).terms
        if not terms or not self.terms:
            return self if not terms else _as_poly(other)
        out = dict(self.terms)
        for monomial, factor in terms:
            out[monomial] = out.get(monomial, 0) + factor
        return from_terms(out)

    def __neg__(self) -> Poly:
        return Poly(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Poly | int) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly | int) -> Poly:
        if isinstance(other, int):
            return Poly(tuple((m, c * other) for m, c in self.terms)) if other else ZERO
        out: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                monomial = multiply_monomials(left, right)
                out[monomial] = out.get(monomial, 0) + a * b
        return from_terms(out)

    def power(self, exponent: int) -> Poly:
        """Polynomial multiplied with itself."""
        out = ONE
        for _ in range(exponent):
            out = out * self
        return out

    def atoms(self) -> Iterator[Atom]:
        """Atoms of the monomials, nested ones left out, possibly repeated."""
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                yield atom

    def replace(self, atom: Atom, value: Poly) -> Poly:
        """Put a polynomial for an atom of the monomials; nested ones stay."""
        kept: dict[Monomial, int] = {}
        out = ZERO
        for monomial, factor in self.terms:
            power = next((p for a, p in monomial if a == atom), 0)
            if power:
                rest = tuple(pair for pair in monomial if pair[0] != atom)
                part = value if power == 1 else value.power(power)
                out = out + (Poly(((rest, factor),)) * part if rest else part * factor)
            else:
                kept[monomial] = factor
        return out + Poly(tuple(kept.items()))


def _as_poly(value: Poly | int) -> Poly:
    return constant(value) if isinstance(value, int) else value


def constant(value: int) -> Poly:
    """Polynomial of one number."""
    return Poly((((), int(value)),)) if value else ZERO


def atom_poly(atom: Atom) -> Poly:
    """Polynomial of one atom."""
    return Poly(((((atom, 1),), 1),))


def from_terms(terms: Mapping[Monomial, int]) -> Poly:
    """Build the normal form of a sum of terms."""
    kept = [(m, c) for m, c in terms.items() if c]
    if len(kept) > 1:
        kept.sort(key=_term_key)
    return Poly(tuple(kept))


def _term_key(term: tuple[Monomial, int]) -> tuple[Any, ...]:
    return _monomial_key(term[0])


def _monomial_key(monomial: Monomial) -> tuple[Any, ...]:
    degree = sum(power for _, power in monomial)
    return -degree, tuple((atom.order, -power) for atom, power in monomial)


def multiply_monomials(left: Monomial, right: Monomial) -> Monomial:
    """Product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda pair: pair[0].order))


def divide_monomials(left: Monomial, right: Monomial) -> Monomial | None:
    """Exact quotient of two monomials, None when there is none."""
    powers = dict(left)
    for atom, power in right:
        rest = powers.get(atom, 0) - power
        if rest < 0:
            return None
        powers[atom] = rest
    return tuple((atom, power) for atom, power in powers.items() if power)


ZERO = Poly(())
ONE = Poly((((), 1),))


def _times(a: Bound, b: Bound) -> Bound:
    if a == 0 or b == 0:
        return 0
    if isinstance(a, float) or isinstance(b, float):
        return INF if (a > 0) == (b > 0) else -INF
    return a * b


def _floor(value: Bound, divisor: Bound) -> Bound:
    if isinstance(value, float):
        return value if not isinstance(divisor, float) else (0 if value > 0 else -INF)
    if isinstance(divisor, float):
        return 0 if value >= 0 else -1
    return value // divisor


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def _scaled(interval: Interval, factor: int) -> Interval:
    low, high = _times(interval[0], factor), _times(interval[1], factor)
    return (low, high) if factor > 0 else (high, low)


def _monomial_interval(monomial: Monomial) -> Interval:
    low: Bound = 1
    high: Bound = 1
    for atom, power in monomial:
        least, most = _power_interval(atom.interval, power)
        corners = [_times(a, b) for a in (low, high) for b in (least, most)]
        low, high = min(corners), max(corners)
    return low, high


def _power_interval(interval: Interval, power: int) -> Interval:
    low, high = interval
    if power == 1:
        return interval
    ends = (_bound_power(low, power), _bound_power(high, power))
    if power % 2:
        return ends
    return (0 if low < 0 < high else min(ends)), max(ends)


def _bound_power(value: Bound, power: int) -> Bound:
    if isinstance(value, float):
        return INF if value > 0 or power % 2 == 0 else -INF
    return int(value**power)


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
        if not monomial:
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
        factors = [a for atom, p in monomial for a in (_fold_atom(atom, algebra, memo),) * p]
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


def poly_symbols(poly: Poly) -> dict[Symbol, None]:
    """Symbols of a polynomial, nested ones included, in order of appearance."""
    out: dict[Symbol, None] = {}
    seen: set[Poly] = set()
    stack = [poly]
    while stack:
        part = stack.pop()
        if part in seen:
            continue
        seen.add(part)
        for atom in part.atoms():
            if isinstance(atom, Symbol):
                out[atom] = None
            stack.extend(reversed(atom.args))
    return out
