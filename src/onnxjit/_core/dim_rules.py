# SPDX-License-Identifier: Apache-2.0
"""Simplifying constructors for dimension polynomials, and the prover they rest on."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from .dim_atoms import (
    INF,
    UNIT,
    Bcast,
    FloorDiv,
    Pos,
    Select,
    Symbol,
    divide_monomials,
    function,
    monomial_of,
)
from .dim_fold import fold_poly
from .dim_polynomial import ONE, ZERO, Poly, atom_poly, constant, make

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from .dim_atoms import Atom, Bound, Interval, Monomial

_SPLITS = 4
_DIVISION_STEPS = 64
_MANY_FACTS = 12
#: steps of one proof, and of one where the environment's effort is spent
_PROOF_STEPS = 200
_FEW_STEPS = 4
Facts = tuple[Poly, ...]


def nonneg(poly: Poly, facts: Facts = ()) -> bool:
    """Tell whether `poly >= 0` is provable; False means unknown.

    Parameters
    ----------
    poly
        Polynomial to judge.
    facts
        Polynomials known to be >= 0.
    """
    low, high = poly.interval
    if low >= 0 or high < 0:
        return low >= 0
    memo, key = poly.store.memo, ("nonneg", poly, facts)
    known: bool | None = memo.get(key)
    if known is None:
        known = not is_refuted(poly, facts) and _within_effort(poly, facts)
        memo[key] = known
    return known


def _within_effort(poly: Poly, facts: Facts) -> bool:
    """Look for a proof, and give up after some steps; sooner where many were taken before."""
    store = poly.store
    steps = store.steps = _PROOF_STEPS if store.effort > 0 else _FEW_STEPS
    found = _nonneg(poly, (*facts, *_remainders(facts)), _SPLITS)
    store.effort -= steps - store.steps
    return found


def _remainders(facts: Facts) -> Facts:
    """Return the remainders of quotients in facts: what is below a quotient has room below."""
    atoms = dict.fromkeys(atom for fact in facts for atom in fact.atoms)
    found = []
    for atom in atoms:
        if isinstance(atom, FloorDiv):
            value, divisor = atom.args
            if divisor.value is not None:
                found.append(value - atom_poly(atom) * divisor.value)
    return tuple(found)


def is_refuted(poly: Poly, facts: Facts) -> bool:
    """Tell whether the example or a sample shows that `poly >= 0` has no proof from facts."""
    hint = poly.hint
    if hint is not None and hint < 0 and _hold_in_example(facts):
        return True
    for at, value in enumerate(poly.samples or ()):
        if value < 0 and _hold_in_sample(facts, at):
            return True
    return False


def _hold_in_example(facts: Facts) -> bool:
    for fact in facts:
        hint = fact.hint
        if hint is None or hint < 0:
            return False
    return True


def _hold_in_sample(facts: Facts, at: int) -> bool:
    for fact in facts:
        samples = fact.samples
        if samples is None or samples[at] < 0:
            return False
    return True


def never_zero(poly: Poly, facts: Facts = ()) -> bool:
    """Tell whether `poly != 0` is provable; False means unknown."""
    return indivisible(poly) or nonneg(poly - 1, facts) or nonneg(-poly - 1, facts)


def indivisible(poly: Poly) -> bool:
    """Tell whether a common factor of all terms with symbols does not divide the constant."""
    step = common_factor(poly)
    return step > 1 and poly.constant % step != 0


def common_factor(poly: Poly) -> int:
    """Greatest common factor of the coefficients, that of the constant left out."""
    common = 0
    for monomial, factor in poly.terms:
        if monomial is not UNIT:
            if factor in _ONES:  # mostly
                return 1
            common = gcd(common, factor)
    return common


_ONES = frozenset({1, -1})


def _nonneg(poly: Poly, facts: Facts, splits: int) -> bool:
    low, high = poly.interval
    poly.store.steps -= 1
    if low >= 0:
        return True
    if high < 0:
        return False
    if _from_facts(poly, facts, 2):
        return True
    return splits > 0 < poly.store.steps and (
        _by_cases(poly, facts, splits) or _by_quotients(poly, facts, splits)
    )


def _from_facts(poly: Poly, facts: Facts, steps: int) -> bool:
    """Subtract multiples of known nonnegatives until an interval decides."""
    if len(facts) > _MANY_FACTS:
        steps = 1
    for fact in facts:
        times = _useful_multiple(poly, fact)
        if times:
            rest = poly - fact * times
            if rest.interval[0] >= 0 or (steps > 1 and _from_facts(rest, facts, steps - 1)):
                return True
    return False


def _useful_multiple(poly: Poly, fact: Poly) -> int:
    for monomial, factor in fact.terms:
        if monomial is not UNIT:
            have = poly.coefficient(monomial)
            if have * factor > 0:
                return max(have // factor, 1)
    return 0


def _by_cases(poly: Poly, facts: Facts, splits: int) -> bool:
    """Split on the sign inside the first clipped or selected atom."""
    for atom in poly.atoms:
        if isinstance(atom, Pos):
            test, negative, other = atom.args[0], ZERO, atom.args[0]
        elif isinstance(atom, Select):
            test, negative, other = atom.args
        else:
            continue
        return _in_case(poly.replace(atom, other), test, facts, splits) and _in_case(
            poly.replace(atom, negative), -test - 1, facts, splits
        )
    return False


def _in_case(poly: Poly, fact: Poly, facts: Facts, splits: int) -> bool:
    if fact.interval[1] < 0 or _from_facts(-fact - 1, facts, 2):
        return True  # the case cannot happen
    return _nonneg(poly, (*facts, fact), splits - 1)


def _by_quotients(poly: Poly, facts: Facts, splits: int) -> bool:
    """Bound a quotient that stands alone by its dividend."""
    for monomial, factor in poly.terms:
        atom = monomial.atom
        if isinstance(atom, FloorDiv):
            rest = poly - atom_poly(atom) * factor
            if _quotient_bound(atom, rest, factor, facts, splits):
                return True
    return False


def _quotient_bound(
    atom: FloorDiv, rest: Poly, factor: int, facts: Facts, splits: int
) -> bool:
    value, divisor = atom.args
    by = divisor.value
    if by is not None:
        least = value if factor < 0 else value - (by - 1)
        return _nonneg(rest * by + least * factor + (by - 1), facts, splits - 1)
    if factor < 0 and value.interval[0] >= 0 and divisor.interval[0] >= 1:
        return _nonneg(rest + value * factor, facts, splits - 1)
    return False


# ---- bounds


def bounds(poly: Poly, facts: Facts = (), splits: int = _SPLITS) -> Interval:
    """Least and greatest value, infinite where unknown; tighter than `poly.interval`."""
    low, high = poly.interval
    if facts:
        start = poly.shifted(-poly.constant)
        opposite = -start
    for fact in facts:  # p - fact or p + fact may be a number
        known = fact.shifted(-fact.constant)
        if known is start:
            low = max(low, poly.constant - fact.constant)
        elif known is opposite:
            high = min(high, poly.constant + fact.constant)
    if splits and low != high:
        for atom in poly.atoms:
            least, most = _bounds_through(poly, atom, facts, splits - 1)
            low, high = max(low, least), min(high, most)
    return low, high


def _bounds_through(poly: Poly, atom: Atom, facts: Facts, splits: int) -> Interval:
    if isinstance(atom, FloorDiv):
        return _quotient_bounds(poly, atom, facts, splits)
    if isinstance(atom, Pos):
        test, negative, other = atom.args[0], ZERO, atom.args[0]
    elif isinstance(atom, Select):
        test, negative, other = atom.args
    else:
        return -INF, INF
    first = bounds(poly.replace(atom, negative), (*facts, -test - 1), splits)
    second = bounds(poly.replace(atom, other), (*facts, test), splits)
    return min(first[0], second[0]), max(first[1], second[1])


def _quotient_bounds(poly: Poly, atom: FloorDiv, facts: Facts, splits: int) -> Interval:
    """Use by * (p // by) == p - r with 0 <= r < by."""
    by = atom.args[1].value
    factor = poly.coefficient(monomial_of(((atom, 1),)))
    rest = poly - atom_poly(atom) * factor
    if by is None or not factor or atom in rest.atoms:
        return -INF, INF
    low, high = bounds(rest * by + atom.args[0] * factor, facts, splits)
    slack = -factor * (by - 1)
    least, most = low + min(slack, 0), high + max(slack, 0)
    return _ceil(least, by), most // by if isinstance(most, int) else most


def _ceil(value: Bound, by: int) -> Bound:
    return -(-value // by) if isinstance(value, int) else value


# ---- max(p, 0)


def pos(poly: Poly) -> Poly:
    """Simplified `max(poly, 0)`."""
    if poly.value is not None:
        return poly if poly.constant > 0 else ZERO
    return _remembered(("pos", poly), poly, _pos, poly)


def _remembered(
    key: Hashable, owner: Poly, compute: Callable[..., Poly], *args: Poly | int
) -> Poly:
    memo: dict[Hashable, Poly] = owner.store.memo
    made = memo.get(key)
    if made is None:
        made = memo[key] = compute(*args)
    return made


def _pos(poly: Poly) -> Poly:
    if len(poly.terms) == 2 and poly.constant < 0:
        monomial, factor = poly.terms[0]  # a slice, and a slice of a slice
        if factor == 1 and isinstance(monomial.atom, Symbol):
            return poly if poly.interval[0] >= 0 else atom_poly(function(Pos, poly))
        if factor == 1 and isinstance(monomial.atom, Pos):
            return pos(monomial.atom.args[0] + poly.constant)
    hint = poly.hint or 0  # what the example contradicts has no proof
    if hint >= 0 and nonneg(poly):
        return poly
    if hint <= 0 and nonneg(-poly):
        return ZERO
    if poly.terms[0][1] < 0:
        return pos(-poly) + poly
    outside, inside = _nonneg_factor(poly)
    if outside != ONE:
        return outside * pos(inside)
    absorbed = _absorb(poly)
    return atom_poly(function(Pos, poly)) if absorbed is None else absorbed


def _nonneg_factor(poly: Poly) -> tuple[Poly, Poly]:
    """Split off the largest common factor that is known to be >= 0."""
    number = gcd(*[c for _, c in poly.terms])
    shared = UNIT
    if not poly.constant:
        pairs = common_monomial(poly).pairs
        shared = monomial_of(tuple([pair for pair in pairs if pair[0].interval[0] >= 0]))
    if number == 1 and shared is UNIT:
        return ONE, poly
    return make(((shared, number),)), _divided(poly, shared, number)


def common_monomial(*polys: Poly) -> Monomial:
    """Largest monomial that divides every term."""
    monomials = [m for poly in polys for m, _ in poly.terms]
    if not monomials or UNIT in monomials:
        return UNIT
    shared = dict(monomials[0].pairs)
    for monomial in monomials[1:]:
        powers = dict(monomial.pairs)
        shared = {a: min(p, powers[a]) for a, p in shared.items() if a in powers}
    return monomial_of(tuple(shared.items()))


def _divided(poly: Poly, monomial: Monomial, number: int) -> Poly:
    return make(tuple([(_exact(m, monomial), c // number) for m, c in poly.terms]))


def _exact(left: Monomial, right: Monomial) -> Monomial:
    out = divide_monomials(left, right)
    assert out is not None
    return out


def _absorb(poly: Poly) -> Poly | None:
    """Take one clipped term out of a clipped polynomial."""
    for monomial, factor in poly.terms:
        atom = monomial.atom
        if not isinstance(atom, Pos):
            continue
        inner, rest = atom.args[0], poly - atom_poly(atom) * factor
        out = _absorb_term(inner, atom_poly(atom), factor, rest)
        if out is None:  # the same term oriented the other way
            other = atom_poly(atom) - inner
            out = _absorb_term(-inner, other, factor, rest + inner * factor)
        if out is not None:
            return out
    return None


def _absorb_term(inner: Poly, clipped: Poly, factor: int, rest: Poly) -> Poly | None:
    """Simplify pos(factor * clipped + rest) where clipped is pos(inner)."""
    shown = rest if factor > 0 else rest + inner * factor
    if nonneg(shown, (inner,)):
        return pos(rest) + clipped * factor
    below = (-inner - 1,)
    both = inner * factor + rest
    if nonneg(-rest, below) and (factor > 0 or nonneg(-both, below)):
        return pos(both)
    return None


# ---- quotients


def floordiv(value: Poly, divisor: Poly) -> Poly:
    """Simplified `value // divisor`; where the divisor is 0 the result means nothing.

    Raises
    ------
    ZeroDivisionError
        The divisor is the number 0.
    """
    by = divisor.value
    if by is None:
        return _remembered(("//", value, divisor), divisor, _symbolic_quotient, value, divisor)
    if by == 0:
        message = "integer division or modulo by zero"
        raise ZeroDivisionError(message)
    if value.value is not None:
        return constant(value.constant // by)
    if by < 0:
        value, by = -value, -by
    return _remembered(("//", value, by), value, _constant_quotient, value, by)


def _constant_quotient(value: Poly, by: int) -> Poly:
    whole = make(tuple([(m, c // by) for m, c in value.terms if c // by]))
    rest = value - whole * by
    number = rest.value
    if number is not None:  # 0 <= number < by
        return whole
    low, high = rest.interval
    if isinstance(low, int) and isinstance(high, int) and low // by == high // by:
        return whole + low // by
    step = gcd(by, common_factor(rest))
    if step > 1:
        smaller = make(tuple([(m, c // step) for m, c in rest.terms if c // step]))
        return whole + _constant_quotient(smaller, by // step)
    joined = _clipped_quotient(rest, by) or _nested_quotient(rest, by)
    if joined is not None:
        return whole + joined
    if by == 2 and rest.constant == 1:  # the half rounded up: n - n // 2
        return whole + (rest - 1) - _constant_quotient(rest - 1, by)
    return whole + atom_poly(function(FloorDiv, rest, constant(by)))


def _clipped_quotient(value: Poly, by: int) -> Poly | None:
    """Clip (a * max(p, 0) + c) // b after dividing, for a > 0: quotients are monotonic."""
    monomial, factor = value.terms[0]
    atom = monomial.atom
    if len(value.terms) > 1 + bool(value.constant) or not isinstance(atom, Pos):
        return None
    least = value.constant // by
    return pos(_constant_quotient(atom.args[0] * factor + value.constant, by) - least) + least


def _nested_quotient(value: Poly, by: int) -> Poly | None:
    """Join (p // a + c) // b into (p + a*c) // (a*b)."""
    monomial, factor = value.terms[0]
    atom = monomial.atom
    if len(value.terms) > 1 + bool(value.constant) or factor != 1:
        return None
    if not isinstance(atom, FloorDiv):
        return None
    inner, inner_by = atom.args[0], atom.args[1].value
    if inner_by is None:
        return None
    return _constant_quotient(inner + value.constant * inner_by, by * inner_by)


def _symbolic_quotient(value: Poly, divisor: Poly) -> Poly:
    if divisor.terms[0][1] < 0:
        value, divisor = -value, -divisor
    whole, rest = _divide(value, divisor)
    if not rest.terms or (nonneg(rest) and nonneg(divisor - rest - 1)):
        return whole
    number = gcd(*[c for p in (rest, divisor) for _, c in p.terms])
    shared = common_monomial(rest, divisor)
    if shared is not UNIT or number > 1:
        return whole + floordiv(
            _divided(rest, shared, number), _divided(divisor, shared, number)
        )
    return whole + atom_poly(function(FloorDiv, rest, divisor))


def _divide(value: Poly, divisor: Poly) -> tuple[Poly, Poly]:
    """Polynomial division over the integers: value == whole * divisor + rest."""
    lead, factor = divisor.terms[0]
    whole, rest, todo = ZERO, ZERO, value
    for _ in range(_DIVISION_STEPS):
        if not todo.terms:
            break
        monomial, number = todo.terms[0]
        quotient = divide_monomials(monomial, lead)
        if quotient is None or number % factor:
            term = make((todo.terms[0],))
            rest, todo = rest + term, todo - term
        else:
            term = make(((quotient, number // factor),))
            whole, todo = whole + term, todo - term * divisor
    return whole, rest + todo


# ---- choices


def bcast(first: Poly, second: Poly) -> Poly:
    """Simplified `second if first == 1 else first`."""
    one = first.value
    if second in {first, ONE} or (one is not None and one != 1):
        return first
    if one == 1:
        return second
    if never_zero(first - 1):
        return first
    if second in bcast_parts(first):
        return first
    if first in bcast_parts(second)[:1]:
        return second
    return atom_poly(function(Bcast, first, second))


def bcast_parts(poly: Poly) -> tuple[Poly, ...]:
    """Operands of nested broadcasting terms, left to right."""
    atom = poly.atom
    if isinstance(atom, Bcast):
        return tuple(part for arg in atom.args for part in bcast_parts(arg))
    return (poly,)


def select(test: Poly, negative: Poly, other: Poly) -> Poly:
    """Simplified `negative if test < 0 else other`."""
    if negative == other or nonneg(test):
        return other
    if nonneg(-test - 1):
        return negative
    return atom_poly(function(Select, test, negative, other))


def maximum(left: Poly, right: Poly) -> Poly:
    """Larger of two polynomials."""
    return right + pos(left - right)


def minimum(left: Poly, right: Poly) -> Poly:
    """Smaller of two polynomials."""
    return left - pos(left - right)


# ---- substitution


class _Rebuild:
    """Algebra that puts polynomials for symbols and simplifies again."""

    __slots__ = ("bcast", "floordiv", "pos", "select", "values")

    def __init__(self, values: Mapping[Symbol, Poly]) -> None:
        self.values = values
        self.pos, self.floordiv, self.bcast, self.select = pos, floordiv, bcast, select

    def const(self, value: int, /) -> Poly:
        return constant(value)

    def symbol(self, symbol: Symbol, /) -> Poly:
        return self.values.get(symbol) or atom_poly(symbol)

    def add(self, left: Poly, right: Poly, /) -> Poly:
        return left + right

    def mul(self, left: Poly, right: Poly, /) -> Poly:
        return left * right


def substitute(poly: Poly, values: Mapping[Symbol, Poly]) -> Poly:
    """Put polynomials for symbols everywhere.

    Raises
    ------
    ZeroDivisionError
        A divisor became the number 0.
    """
    atom = poly.atom
    if isinstance(atom, Symbol):
        return values.get(atom, poly)
    if values.keys().isdisjoint(poly.symbols):
        return poly
    return fold_poly(poly, _Rebuild(values), {})


def as_facts(polys: Sequence[Poly]) -> Facts:
    """Facts for `nonneg`: of bounds on one expression the strictest, and no constants."""
    strictest: dict[Poly, Poly] = {}
    for poly in polys:
        if poly.value is None:
            start = poly - poly.constant
            best = strictest.get(start)
            if best is None or poly.constant < best.constant:
                strictest[start] = poly
    return tuple(strictest.values())
