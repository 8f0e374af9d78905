# SPDX-License-Identifier: Apache-2.0
"""Guards: conditions on sizes under which a trace may be reused, and what they imply."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Literal

from .dim_polynomial import FloorDiv, Poly, Symbol, atom_poly, evaluate_poly
from .dim_polynomial import poly_symbols as symbols_in
from .dim_rules import as_facts, never_zero, nonneg, substitute
from .dim_text import Printer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["eq", "ne", "ge"]


class Guard:
    """Condition `poly == 0`, `poly != 0` or `poly >= 0`.

    Parameters
    ----------
    kind
        "eq", "ne" or "ge".
    poly
        Left side; brought to a normal form.
    source
        Line that asked, as the tracer gave it.
    """

    __slots__ = ("kind", "poly", "source")

    def __init__(self, kind: Kind, poly: Poly, source: object = None) -> None:
        self.kind: Kind = kind
        self.poly = normal_side(kind, poly)
        self.source = source

    @property
    def key(self) -> tuple[Kind, Poly]:
        """Hashable identity: guards with equal keys say the same."""
        return self.kind, self.poly

    @property
    def text(self) -> str:
        """The condition in display names, such as `N >= 3`."""
        return Printer().compare(self.kind, self.poly)

    def __repr__(self) -> str:
        return f"Guard({self.text})"


def normal_side(kind: Kind, poly: Poly) -> Poly:
    """Divide by the common factor and fix the sign where it does not matter."""
    step = gcd(*(c for m, c in poly.terms if m))
    if step > 1 and (kind == "ge" or poly.constant % step == 0):
        poly = Poly(tuple((m, c // step) for m, c in poly.terms if c // step))
    if kind != "ge" and poly.terms and poly.terms[0][1] < 0:
        poly = -poly
    return poly


class Knowledge:
    """Consequences of guards: solved symbols, known bounds, known inequalities."""

    __slots__ = ("_cache", "_facts", "nonneg", "nonzero", "solved", "zero")

    def __init__(self) -> None:
        self.solved: dict[Symbol, Poly] = {}
        self.nonneg: list[Poly] = []
        self.nonzero: set[Poly] = set()
        self.zero: set[Poly] = set()
        self._cache: dict[Poly, Poly] = {}
        self._facts: tuple[Poly, ...] | None = ()

    def resolve(self, poly: Poly) -> Poly:
        """Put what equalities have solved for the symbols."""
        if not self.solved:
            return poly
        if poly not in self._cache:
            try:
                self._cache[poly] = substitute(poly, self.solved)
            except ZeroDivisionError:  # a branch that the guards made unreachable
                self._cache[poly] = poly
        return self._cache[poly]

    def facts(self) -> tuple[Poly, ...]:
        """List resolved polynomials that are known to be >= 0."""
        if self._facts is None:
            both = [q for p in self.zero for q in (p, -p)]
            known = [normal_side("ge", self.resolve(p)) for p in (*self.nonneg, *both)]
            self._facts = as_facts(known)
        return self._facts

    def decide_nonneg(self, poly: Poly) -> bool | None:
        """Decide `poly >= 0`, None when open."""
        poly = normal_side("ge", self.resolve(poly))
        facts = self.facts()
        if nonneg(poly, facts):
            return True
        return False if nonneg(-poly - 1, facts) else None

    def decide_zero(self, poly: Poly) -> bool | None:
        """Decide `poly == 0`, None when open."""
        poly = normal_side("eq", self.resolve(poly))
        value = poly.as_int()
        if value is not None:
            return value == 0
        facts = self.facts()
        if self._known_nonzero(poly) or never_zero(poly, facts):
            return False
        if nonneg(poly, facts) and nonneg(-poly, facts):
            return True
        return None

    def _known_nonzero(self, poly: Poly) -> bool:
        return any(poly == normal_side("ne", self.resolve(p)) for p in self.nonzero)

    def decide(self, kind: Kind, poly: Poly) -> bool | None:
        """Decide a condition of any kind, None when open."""
        if kind == "ge":
            return self.decide_nonneg(poly)
        zero = self.decide_zero(poly)
        return zero if kind == "eq" or zero is None else not zero

    def learn(self, kind: Kind, poly: Poly) -> None:
        """Take a condition as true from now on."""
        if kind == "ge":
            self.nonneg.append(poly)
        elif kind == "ne":
            self.nonzero.add(poly)
        else:
            self._learn_zero(normal_side("eq", self.resolve(poly)))
        self._facts = None

    def _learn_zero(self, poly: Poly) -> None:
        solution = solve(poly)
        if solution is None:
            self.zero.add(poly)
            return
        symbol, value = solution
        if symbol.lower is not None:
            self.nonneg.append(value - symbol.lower)
        step = {symbol: value}
        self.solved = {s: _substituted(p, step) for s, p in self.solved.items()}
        self.solved[symbol] = value
        self._cache.clear()


def _substituted(poly: Poly, values: Mapping[Symbol, Poly]) -> Poly:
    try:
        return substitute(poly, values)
    except ZeroDivisionError:
        return poly


def solve(poly: Poly) -> tuple[Symbol, Poly] | None:
    """Solve `poly == 0` for its newest symbol that stands alone with factor 1 or -1."""
    best: tuple[Symbol, Poly] | None = None
    for monomial, factor in poly.terms:
        if len(monomial) != 1 or monomial[0][1] != 1 or abs(factor) != 1:
            continue
        symbol = monomial[0][0]
        if not isinstance(symbol, Symbol) or (best and symbol.order < best[0].order):
            continue
        rest = poly - atom_poly(symbol) * factor
        if symbol not in symbols_in(rest):
            best = symbol, rest * -factor
    return best


def reduce_guards(guards: Sequence[Guard]) -> list[Guard]:
    """Drop guards that the others imply; those that divide by a size come last."""
    unique = list({guard.key: guard for guard in reversed(guards)}.values())[::-1]
    known = Knowledge()
    equal: list[Guard] = []
    for guard in unique:
        if guard.kind == "eq" and known.decide_zero(guard.poly) is not True:
            known.learn("eq", guard.poly)
            equal.append(guard)
    bounds = _needed_bounds([g for g in unique if g.kind == "ge"], known)
    for guard in bounds:
        known.learn("ge", guard.poly)
    kept = {id(guard) for guard in (*equal, *bounds)}
    for guard in unique:
        if guard.kind == "ne" and known.decide_zero(guard.poly) is not False:
            kept.add(id(guard))
    return sorted((g for g in unique if id(g) in kept), key=lambda g: _divides(g.poly))


def _needed_bounds(bounds: list[Guard], known: Knowledge) -> list[Guard]:
    kept = [guard for guard in bounds if known.decide_nonneg(guard.poly) is not True]
    sides = {id(guard): normal_side("ge", known.resolve(guard.poly)) for guard in kept}
    for guard in list(kept):
        others = as_facts([sides[id(g)] for g in kept if g is not guard])
        if nonneg(sides[id(guard)], (*others, *known.facts())):
            kept.remove(guard)
    return kept


def _divides(poly: Poly) -> bool:
    """Tell whether evaluating the polynomial divides by a size, which may be 0."""
    return any(
        (isinstance(atom, FloorDiv) and atom.args[1].as_int() is None)
        or any(_divides(arg) for arg in atom.args)
        for atom in poly.atoms()
    )


def guards_source(guards: Sequence[Guard], names: Mapping[Symbol, str]) -> str:
    """One Python expression that is true where all guards hold.

    Parameters
    ----------
    guards
        Conditions, tested left to right.
    names
        Expression of each symbol, one that needs no parentheses.
    """
    printer = Printer(names, code=True)
    return " and ".join(printer.compare(g.kind, g.poly) for g in guards) or "True"


def check_guards(guards: Sequence[Guard], values: Mapping[Symbol, int]) -> bool:
    """Tell whether all guards hold for given sizes."""
    try:
        return all(_holds(guard, evaluate_poly(guard.poly, values)) for guard in guards)
    except ZeroDivisionError:
        return False


def _holds(guard: Guard, value: int) -> bool:
    if guard.kind == "ge":
        return value >= 0
    return (value == 0) == (guard.kind == "eq")
