# SPDX-License-Identifier: Apache-2.0
"""Guards: conditions on sizes under which a trace may be reused, and what they imply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .dim_atoms import FloorDiv, Pos, Symbol
from .dim_fold import evaluate_poly
from .dim_polynomial import ZERO, make
from .dim_rules import (
    as_facts,
    bounds,
    common_factor,
    indivisible,
    is_refuted,
    nonneg,
    substitute,
)
from .dim_text import Printer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .dim_atoms import Interval
    from .dim_polynomial import Poly

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
    refused
        NumPy itself raises where it does not hold.
    """

    __slots__ = ("kind", "poly", "refused", "source")

    def __init__(
        self, kind: Kind, poly: Poly, source: object = None, *, refused: bool = False
    ) -> None:
        self.refused = refused
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
    step = common_factor(poly)
    if step > 1 and (kind == "ge" or poly.constant % step == 0):
        poly = make(tuple([(m, c // step) for m, c in poly.terms if c // step]))
    if kind != "ge" and poly.terms and poly.terms[0][1] < 0:
        poly = -poly
    return poly


class Knowledge:
    """Consequences of guards: solved symbols, known bounds, known inequalities.

    Answers are remembered until something is learnt. While all that was learnt holds in the
    example, what the example contradicts need not be tried.
    """

    __slots__ = (
        "_answers", "_bounds", "_facts", "_resolved", "is_exemplary", "nonneg", "nonzero",
        "solved", "zero",
    )  # fmt: skip

    def __init__(self) -> None:
        self.solved: dict[Symbol, Poly] = {}
        self.nonneg: list[Poly] = []
        self.nonzero: dict[Poly, None] = {}
        self.zero: dict[Poly, None] = {}
        self.is_exemplary = True
        self._resolved: dict[Poly, Poly] = {}
        self._answers: dict[tuple[Kind, Poly], bool | None] = {}
        self._bounds: dict[Poly, Interval] = {}
        self._facts: tuple[Poly, ...] | None = ()

    def copy(self) -> Knowledge:
        """Return knowledge that can learn more by itself."""
        new = Knowledge()
        new.solved = dict(self.solved)
        new.nonneg = list(self.nonneg)
        new.nonzero = dict(self.nonzero)
        new.zero = dict(self.zero)
        new.is_exemplary = self.is_exemplary
        new._facts = self._facts
        return new

    def resolve(self, poly: Poly) -> Poly:
        """Put what equalities have solved for the symbols."""
        if not self.solved:
            return poly
        made = self._resolved.get(poly)
        if made is None:
            try:
                made = substitute(poly, self.solved)
            except ZeroDivisionError:  # a branch that the guards made unreachable
                made = poly
            self._resolved[poly] = made
        return made

    def facts(self) -> tuple[Poly, ...]:
        """List resolved polynomials that are known to be >= 0."""
        if self._facts is None:
            both = [q for p in self.zero for q in (p, -p)]
            known = [normal_side("ge", self.resolve(p)) for p in (*self.nonneg, *both)]
            self._facts = as_facts(known)
        return self._facts

    def bounds(self, poly: Poly) -> Interval:
        """Least and greatest value, infinite where unknown."""
        known = self._bounds.get(poly)
        if known is None:
            known = self._bounds[poly] = bounds(self.resolve(poly), self.facts())
        return known

    def are_apart(self, left: Poly, right: Poly) -> bool:
        """Tell whether the example shows that two sizes cannot be proved equal."""
        if not self.is_exemplary:
            return False
        a, b = left.hint, right.hint
        return a is not None and b is not None and a != b

    def decide(self, kind: Kind, poly: Poly) -> bool | None:
        """Decide a condition of any kind, None when open."""
        if poly.value is not None:
            return poly.value >= 0 if kind == "ge" else (poly.value == 0) == (kind == "eq")
        if kind == "ne":
            zero = self.decide("eq", poly)
            return None if zero is None else not zero
        key = (kind, poly)
        if key not in self._answers:
            find = self._decide_nonneg if kind == "ge" else self._decide_zero
            self._answers[key] = find(normal_side(kind, self.resolve(poly)))
        return self._answers[key]

    def _nonneg(self, poly: Poly) -> bool:
        hint = poly.hint if self.is_exemplary else None
        return (hint is None or hint >= 0) and nonneg(poly, self.facts())

    def _decide_nonneg(self, poly: Poly) -> bool | None:
        if self._nonneg(poly):
            return True
        return False if self._nonneg(-poly - 1) else None

    def _decide_zero(self, poly: Poly) -> bool | None:
        if poly.value is not None:
            return poly.value == 0
        if self._is_nonzero(poly):
            return False
        facts = self.facts()
        if is_refuted(poly, facts) or is_refuted(-poly, facts):
            return None
        return True if self._nonneg(poly) and self._nonneg(-poly) else None

    def _is_nonzero(self, poly: Poly) -> bool:
        if self.is_exemplary and poly.hint == 0:
            return False
        for other in self.nonzero:
            if poly is normal_side("ne", self.resolve(other)):
                return True
        return indivisible(poly) or self._nonneg(poly - 1) or self._nonneg(-poly - 1)

    def learn(self, kind: Kind, poly: Poly) -> None:
        """Take a condition as true from now on."""
        if kind == "ge":
            self.nonneg.append(poly)
        elif kind == "ne":
            self.nonzero[poly] = None
        else:
            self._learn_zero(normal_side("eq", self.resolve(poly)))
        hint = poly.hint
        self.is_exemplary = self.is_exemplary and hint is not None and holds(kind, hint)
        self._facts = None
        self._answers.clear()
        self._bounds.clear()

    def suppose(self, poly: Poly) -> Callable[[], None]:
        """Take a number as not negative, until what is returned is called."""
        poly = _unclipped(poly)
        was = self.is_exemplary
        self.learn("ge", poly)

        def end() -> None:
            self.nonneg.remove(poly)
            self.is_exemplary = was
            self._facts = None
            self._answers.clear()
            self._bounds.clear()

        return end

    def _learn_zero(self, poly: Poly) -> None:
        solution = solve(poly)
        if solution is None:
            self.zero[poly] = None
            return
        symbol, value = solution
        if symbol.lower is not None:
            self.nonneg.append(value - symbol.lower)
        step = {symbol: value}
        self.solved = {s: _substituted(p, step) for s, p in self.solved.items()}
        self.solved[symbol] = value
        self._resolved.clear()


def _unclipped(poly: Poly) -> Poly:
    """Say more of a number that is not negative: a larger-of-zero is not zero if that is why.

    Where an iteration runs, there are as many as ``max(n - 3, 0)``, so ``n - 3`` of them.
    """
    for atom in poly.atoms:
        if isinstance(atom, Pos) and poly.replace(atom, ZERO).interval[1] < 0:
            poly = poly.replace(atom, atom.args[0])
    return poly


def _substituted(poly: Poly, values: Mapping[Symbol, Poly]) -> Poly:
    try:
        return substitute(poly, values)
    except ZeroDivisionError:
        return poly


def solve(poly: Poly) -> tuple[Symbol, Poly] | None:
    """Solve `poly == 0` for its newest symbol that stands alone with factor 1 or -1."""
    terms = poly.terms
    for at in range(len(terms) - 1, -1, -1):  # newest first
        monomial, factor = terms[at]
        symbol = monomial.atom
        if abs(factor) == 1 and isinstance(symbol, Symbol):
            rest = make((*terms[:at], *terms[at + 1 :]))
            if symbol not in rest.symbols:
                return symbol, -rest if factor == 1 else rest
    return None


def reduce_guards(guards: Sequence[Guard]) -> list[Guard]:
    """Drop guards that the others imply; those that divide by a size come last."""
    unique = list({guard.key: guard for guard in reversed(guards)}.values())[::-1]
    known = Knowledge()
    equal: list[Guard] = []
    for guard in unique:
        if guard.kind == "eq" and known.decide("eq", guard.poly) is not True:
            known.learn("eq", guard.poly)
            equal.append(guard)
    bounds = _needed_bounds([g for g in unique if g.kind == "ge"], known)
    for guard in bounds:
        known.learn("ge", guard.poly)
    kept = {id(guard) for guard in (*equal, *bounds)}
    for guard in unique:
        if guard.kind == "ne" and known.decide("eq", guard.poly) is not False:
            kept.add(id(guard))
    return sorted((g for g in unique if id(g) in kept), key=lambda g: _divides(g.poly))


def _needed_bounds(bounds: list[Guard], known: Knowledge) -> list[Guard]:
    kept = [guard for guard in bounds if known.decide("ge", guard.poly) is not True]
    sides = {id(guard): normal_side("ge", known.resolve(guard.poly)) for guard in kept}
    for guard in list(kept):
        others = as_facts([sides[id(g)] for g in kept if g is not guard])
        if nonneg(sides[id(guard)], (*others, *known.facts())):
            kept.remove(guard)
    return kept


def _divides(poly: Poly) -> bool:
    """Tell whether evaluating the polynomial divides by a size, which may be 0."""
    return any(
        (isinstance(atom, FloorDiv) and atom.args[1].value is None)
        or any(_divides(arg) for arg in atom.args)
        for atom in poly.atoms
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
        return all(holds(g.kind, evaluate_poly(g.poly, values)) for g in guards)
    except ZeroDivisionError:
        return False


def holds(kind: Kind, value: int) -> bool:
    """Tell whether a condition holds for the value of its side."""
    return value >= 0 if kind == "ge" else (value == 0) == (kind == "eq")
