# SPDX-License-Identifier: Apache-2.0
"""Integer polynomials over sizes: the normal form behind symbolic dimensions.

A polynomial is a sorted tuple of (monomial, coefficient), of parts that `dim_atoms` knows.
This module does arithmetic; `dim_rules` builds simplified atoms.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from .dim_atoms import UNIT, Monomial, Store, Symbol, monomial_of, multiply_monomials, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .dim_atoms import Atom, Bound, Interval, Samples

Terms = tuple[tuple[Monomial, int], ...]


class Poly:
    """Integer polynomial in normal form; equal ones of an environment are one object.

    Made by `make`, `constant` and `from_terms`.

    Parameters
    ----------
    terms
        Sorted by falling degree, then by atoms; the constant comes last. No zeros.
    store
        Where the environment keeps its parts; not used for a constant.

    Attributes
    ----------
    constant
        Coefficient of the empty monomial.
    value
        Value of a constant polynomial, else None.
    """

    __slots__ = (
        "__weakref__", "_atoms", "_hint", "_interval", "_negated", "_order", "_samples",
        "_symbols", "constant", "store", "terms", "value",
    )  # fmt: skip

    def __init__(self, terms: Terms, store: Store) -> None:
        self.terms = terms
        self.store = store
        self.constant = terms[-1][1] if terms and terms[-1][0] is UNIT else 0
        self.value = self.constant if not terms or terms[0][0] is UNIT else None
        self._interval: Interval | None = None
        self._hint: tuple[int | None] | None = None
        self._samples: tuple[Samples | None] | None = None
        self._negated: Poly | None = None
        self._atoms: tuple[Atom, ...] | None = None
        self._symbols: tuple[Symbol, ...] | None = None
        self._order: tuple[Any, ...] | None = None

    # -- what is known

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key that agrees with equality."""
        if self._order is None:
            self._order = tuple([(m.key, c) for m, c in self.terms])
        return self._order

    @property
    def interval(self) -> Interval:
        """Least and greatest value that interval arithmetic can promise."""
        if self._interval is None:
            low: Bound = self.constant
            high: Bound = low
            for monomial, factor in self.terms:
                if monomial is not UNIT:
                    least, most = scaled(monomial.interval, factor)
                    low, high = low + least, high + most
            self._interval = (low, high)
        return self._interval

    @property
    def hint(self) -> int | None:
        """Value in the example, None when it is not known."""
        if self._hint is None:
            total: int | None = 0
            for monomial, factor in self.terms:
                if total is None or monomial.hint is None:
                    total = None
                else:
                    total += monomial.hint * factor
            self._hint = (total,)
        return self._hint[0]

    @property
    def samples(self) -> Samples | None:
        """Values for three choices of the symbols; see `Atom`."""
        if self._samples is None:
            self._samples = (self._sampled(),)
        return self._samples[0]

    def _sampled(self) -> Samples | None:
        first = second = third = 0
        for monomial, factor in self.terms:
            values = monomial.samples
            if values is None:
                return None
            first += values[0] * factor
            second += values[1] * factor
            third += values[2] * factor
        return first, second, third

    @property
    def data(self) -> bool:
        """Whether the value depends on array data."""
        for monomial, _ in self.terms:  # noqa: SIM110  asked for each size that is indexed
            if monomial.data:
                return True
        return False

    @property
    def depth(self) -> int:
        """How many quotients are inside each other."""
        deepest = 0
        for monomial, _ in self.terms:
            for atom, _ in monomial.pairs:
                deepest = max(deepest, atom.depth)
        return deepest

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Atoms of the monomials, each once; nested ones are left out."""
        if self._atoms is None:
            found = [atom for monomial, _ in self.terms for atom, _ in monomial.pairs]
            self._atoms = tuple(dict.fromkeys(found))
        return self._atoms

    @property
    def atom(self) -> Atom | None:
        """Atom that the polynomial consists of, or None."""
        if len(self.terms) != 1 or self.terms[0][1] != 1:
            return None
        return self.terms[0][0].atom

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Symbols, nested ones included, each once in order of appearance."""
        if self._symbols is None:
            atom = self.atom
            self._symbols = (atom,) if isinstance(atom, Symbol) else _symbols(self)
        return self._symbols

    def coefficient(self, monomial: Monomial) -> int:
        """Coefficient of a monomial, 0 when absent."""
        for each, factor in self.terms:
            if each is monomial:
                return factor
        return 0

    # -- arithmetic

    def shifted(self, number: int) -> Poly:
        """Sum with a number."""
        if self.value is not None:
            return constant(self.value + number)
        sums, key = self.store.sums, (self, number)
        made = sums.get(key)
        if made is None:
            total = self.constant + number
            rest = self.terms[:-1] if self.constant else self.terms
            made = sums[key] = make((*rest, (UNIT, total)) if total else rest)
        return made

    def __add__(self, other: Poly | int) -> Poly:
        if isinstance(other, int):
            return self.shifted(other)
        if other.value is not None:
            return self.shifted(other.value)
        if self.value is not None:
            return other.shifted(self.value)
        sums, key = self.store.sums, (self, other)
        made = sums.get(key)
        if made is None:
            made = sums[key] = make(_merged(self.terms, other.terms, 1))
        return made

    def __neg__(self) -> Poly:
        made = self._negated
        if made is None:
            made = self._negated = make(tuple([(m, -c) for m, c in self.terms]))
            if made.value is None:  # constants are shared and die on their own
                made._negated = self
        return made

    def __sub__(self, other: Poly | int) -> Poly:
        if isinstance(other, int):
            return self.shifted(-other)
        if other.value is not None:
            return self.shifted(-other.value)
        if self.value is not None:
            return (-other).shifted(self.value)
        differences, key = self.store.differences, (self, other)
        made = differences.get(key)
        if made is None:
            made = differences[key] = make(_merged(self.terms, other.terms, -1))
        return made

    def __mul__(self, other: Poly | int) -> Poly:
        factor = other if isinstance(other, int) else other.value
        if factor is not None and (factor == 0 or self.value is not None):
            return constant(factor * (self.value or 0))
        if factor == 1:
            return self
        if self.value is not None:
            assert not isinstance(other, int)
            return other * self.value
        key = (self, other if factor is None else factor)
        made: Poly | None = self.store.products.get(key)
        if made is None:
            made = _multiple(self, factor) if factor is not None else _product(self, other)  # type: ignore[arg-type]
            self.store.products[key] = made
        return made

    def power(self, exponent: int) -> Poly:
        """Polynomial multiplied with itself."""
        out = ONE
        for _ in range(exponent):
            out = out * self
        return out

    def replace(self, atom: Atom, value: Poly) -> Poly:
        """Put a polynomial for an atom of the monomials; nested ones stay."""
        kept: list[tuple[Monomial, int]] = []
        out = ZERO
        for term in self.terms:
            monomial, factor = term
            if monomial.atom is atom:
                out = out + value * factor
                continue
            power = dict(monomial.pairs).get(atom, 0)
            if power:
                rest = monomial_of(tuple([p for p in monomial.pairs if p[0] is not atom]))
                out = out + make(((rest, factor),)) * value.power(power)
            else:
                kept.append(term)
        return out + make(tuple(kept))


def make(terms: Terms) -> Poly:
    """Return the one polynomial of sorted terms."""
    if not terms:
        return ZERO
    first, factor = terms[0]
    if first is UNIT:
        return constant(factor)
    store = first.store
    made = store.polys.get(terms)
    if made is None:
        made = store.polys[terms] = Poly(terms, store)
    return made


def _merged(left: Terms, right: Terms, sign: int) -> Terms:
    """Sum of two sorted tuples of terms, the second one times 1 or -1."""
    out: list[tuple[Monomial, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        (m, a), (n, b) = left[i], right[j]
        if m is n:
            total = a + b * sign
            if total:
                out.append((m, total))
            i, j = i + 1, j + 1
        elif m.key < n.key:
            out.append(left[i])
            i += 1
        else:
            out.append((n, b * sign))
            j += 1
    out += left[i:]
    out += [(n, b * sign) for n, b in right[j:]]
    return tuple(out)


def _multiple(poly: Poly, factor: int) -> Poly:
    return make(tuple([(m, c * factor) for m, c in poly.terms]))


def _product(left: Poly, right: Poly) -> Poly:
    out: dict[Monomial, int] = {}
    for m, a in left.terms:
        for n, b in right.terms:
            monomial = multiply_monomials(m, n)
            out[monomial] = out.get(monomial, 0) + a * b
    return from_terms(out)


def from_terms(terms: Mapping[Monomial, int]) -> Poly:
    """Build the normal form of a sum of terms."""
    kept = [term for term in terms.items() if term[1]]
    if len(kept) > 1:
        kept.sort(key=_term_key)
    return make(tuple(kept))


def _term_key(term: tuple[Monomial, int]) -> tuple[Any, ...]:
    return term[0].key


def atom_poly(atom: Atom) -> Poly:
    """Polynomial of one atom."""
    if atom.poly is None:
        atom.poly = make(((monomial_of(((atom, 1),)), 1),))
    return atom.poly


def _symbols(poly: Poly) -> tuple[Symbol, ...]:
    out: dict[Symbol, None] = {}
    seen: set[Poly] = set()
    stack = [poly]
    while stack:
        part = stack.pop()
        if part in seen:
            continue
        seen.add(part)
        for monomial, _ in part.terms:
            for atom, _ in monomial.pairs:
                if isinstance(atom, Symbol):
                    out[atom] = None
                stack.extend(reversed(atom.args))
    return tuple(out)


# ---- constants: one object each in the whole process, the large ones while they are in use

_SMALL = 1024
_NUMBERS: dict[int, Poly] = {}
_LARGE: WeakValueDictionary[int, Poly] = WeakValueDictionary()
_LOCK = Lock()


def constant(value: int) -> Poly:
    """Polynomial of one number."""
    made = _NUMBERS.get(value)
    return _constant(int(value)) if made is None else made


def _constant(value: int) -> Poly:
    table = _NUMBERS if -_SMALL <= value <= _SMALL else _LARGE
    with _LOCK:
        made = table.get(value)
        if made is None:
            made = table[value] = Poly(((UNIT, value),) if value else (), UNIT.store)
    return made


ZERO = constant(0)
ONE = constant(1)
