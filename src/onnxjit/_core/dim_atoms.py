# SPDX-License-Identifier: Apache-2.0
"""Symbols, integer functions and monomials: what the polynomials of sizes are made of.

Equal parts of one environment are one object, kept in its `Store`: they are compared and
hashed by identity, and what is known of them is computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .dim_polynomial import Poly, Terms

INF = float("inf")
Bound = int | float
Interval = tuple[Bound, Bound]
Pairs = tuple[tuple["Atom", int], ...]
Samples = tuple[int, int, int]
_EFFORT = 3_000


class Store:
    """Everything that one environment has made; used by one thread.

    Attributes
    ----------
    atoms, monomials, polys
        The one object for each content.
    sums, differences, products
        Results of arithmetic, by operands.
    memo
        Results of simplification.
    effort, steps
        Steps of proofs that are left: of all together, of the one under way.
    """

    __slots__ = (
        "atoms", "differences", "effort", "memo", "monomials", "polys", "products", "steps",
        "sums",
    )  # fmt: skip

    def __init__(self) -> None:
        self.atoms: dict[tuple[int, tuple[Poly, ...]], Any] = {}
        self.monomials: dict[Pairs, Monomial] = {}
        self.polys: dict[Terms, Poly] = {}
        self.sums: dict[tuple[Poly, Poly | int], Poly] = {}
        self.differences: dict[tuple[Poly, Poly], Poly] = {}
        self.products: dict[tuple[Any, Any], Any] = {}
        self.memo: dict[Hashable, Any] = {}
        self.effort = _EFFORT
        self.steps = 0


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
    hint
        Value in the example that is being traced, None when it is not known.
    data
        True when the value depends on array data, so that it can never be guarded.
    depth
        How many quotients are inside each other.
    samples
        Values for three choices of the symbols, which show that a claim cannot be proved; None
        where there is a division by zero.
    store
        Where the environment keeps its parts.
    """

    __slots__ = (
        "args", "data", "depth", "hint", "interval", "order", "poly", "samples", "store",
    )  # fmt: skip
    rank: ClassVar[int] = -1

    args: tuple[Poly, ...]
    order: tuple[Any, ...]
    interval: Interval
    hint: int | None
    data: bool
    depth: int
    poly: Poly | None
    samples: Samples | None
    store: Store


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
    store
        Where the environment keeps its parts.
    """

    __slots__ = ("lower", "name", "origin")
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
        store: Store | None = None,
    ) -> None:
        self.store = Store() if store is None else store
        self.name, self.hint, self.lower = name, hint, lower
        self.origin, self.data = origin, data
        self.depth = 0
        self.args = ()
        self.poly = None
        self.order = (0, (serial, name))
        self.interval = (-INF if lower is None else lower, INF)
        least = -1 if lower is None else lower  # the samples are small, and differ by symbol
        self.samples = (
            least + serial % 3,
            least + (serial + 1) % 3,
            least + (serial + 2) % 3,
        )

    def __repr__(self) -> str:
        return self.name


class Function(Atom):
    """Atom computed from polynomials; made by `function`."""

    __slots__ = ()

    def __init__(self, store: Store, *args: Poly) -> None:
        self.args = args
        self.poly = None
        self.store = store
        self.order = (self.rank, tuple([p.order for p in args]))
        self.data = any(p.data for p in args)
        self.depth = max(p.depth for p in args) + (self.rank == FloorDiv.rank)
        self.interval = self.bounds()
        self.hint = self._hint()
        self.samples = self._samples()

    def _hint(self) -> int | None:
        values: list[int] = []
        for arg in self.args:
            if arg.hint is None:
                return None
            values.append(arg.hint)
        try:
            return self.apply(*values)
        except ZeroDivisionError:
            return None

    def _samples(self) -> Samples | None:
        columns = [arg.samples for arg in self.args]
        if None in columns:
            return None
        try:
            a, b, c = [self.apply(*values) for values in zip(*columns, strict=True)]
        except ZeroDivisionError:
            return None
        return a, b, c

    def bounds(self) -> Interval:
        """Interval implied by those of the arguments."""
        raise NotImplementedError

    def apply(self, *values: int) -> int:
        """Value for given values of the arguments."""
        raise NotImplementedError


F = TypeVar("F", bound=Function)


def function(kind: type[F], *args: Poly) -> F:
    """Return the one atom of a kind for some arguments, of which at least one is no number."""
    store = next(p.store for p in args if p.value is None)
    key = (kind.rank, args)
    made: F | None = store.atoms.get(key)
    if made is None:
        made = store.atoms[key] = kind(store, *args)
    return made


class Pos(Function):
    """The larger of a polynomial and zero."""

    __slots__ = ()
    rank = 1

    def __init__(self, store: Store, *args: Poly) -> None:
        # most slices make one: in fewer steps than the base class, and to the same effect
        arg = args[0]
        self.args, self.poly, self.store = args, None, store
        self.order = (self.rank, (arg.order,))
        self.data, self.depth = arg.data, arg.depth
        self.interval = self.bounds()
        self.hint = None if arg.hint is None else max(arg.hint, 0)
        self.samples = self._samples()

    def bounds(self) -> Interval:
        low, high = self.args[0].interval
        return max(low, 0), max(high, 0)

    def apply(self, *values: int) -> int:
        return max(values[0], 0)

    def _samples(self) -> Samples | None:
        values = self.args[0].samples
        return values and (max(values[0], 0), max(values[1], 0), max(values[2], 0))


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

    def apply(self, *values: int) -> int:
        return values[0] // values[1]


class Bcast(Function):
    """Result size of broadcasting: the second argument where the first is one."""

    __slots__ = ()
    rank = 3

    def bounds(self) -> Interval:
        return _hull(self.args[0].interval, self.args[1].interval)

    def apply(self, *values: int) -> int:
        return values[1] if values[0] == 1 else values[0]


class Select(Function):
    """The second argument where the first is negative, else the third."""

    __slots__ = ()
    rank = 4

    def bounds(self) -> Interval:
        return _hull(self.args[1].interval, self.args[2].interval)

    def apply(self, *values: int) -> int:
        return values[1] if values[0] < 0 else values[2]


class Monomial:
    """Product of powers of atoms; made by `monomial_of`.

    Attributes
    ----------
    pairs
        Atoms, in order, and their powers.
    atom
        The atom, where the monomial is just one.
    key
        Sort key: falling degree, then by atoms.
    interval
        Least and greatest value.
    hint
        Value in the example, None when it is not known.
    data
        Whether the value depends on array data.
    samples
        See `Atom`.
    """

    __slots__ = ("atom", "data", "hint", "interval", "key", "pairs", "samples", "store")

    def __init__(self, pairs: Pairs, store: Store) -> None:
        self.pairs = pairs
        self.store = store
        self.atom = pairs[0][0] if len(pairs) == 1 == pairs[0][1] else None
        if self.atom is not None:
            self._take(self.atom)
            return
        degree, order, data = 0, [], False
        hint: int | None = 1
        samples: Samples | None = (1, 1, 1)
        for atom, power in pairs:
            degree += power
            order.append((atom.order, -power))
            data = data or atom.data
            hint = None if hint is None or atom.hint is None else hint * atom.hint**power
            samples = _sample_product(samples, atom.samples, power)
        self.key = (-degree, tuple(order))
        self.hint, self.samples, self.data = hint, samples, data
        self.interval = _monomial_interval(pairs)

    def _take(self, atom: Atom) -> None:
        """Take over what is known of the only atom."""
        self.key = (-1, ((atom.order, -1),))
        self.hint, self.samples, self.data = atom.hint, atom.samples, atom.data
        self.interval = atom.interval


def _sample_product(left: Samples | None, right: Samples | None, power: int) -> Samples | None:
    if left is None or right is None:
        return None
    return (
        left[0] * right[0] ** power,
        left[1] * right[1] ** power,
        left[2] * right[2] ** power,
    )


def monomial_of(pairs: Pairs) -> Monomial:
    """Return the one monomial of sorted pairs."""
    if not pairs:
        return UNIT
    store = pairs[0][0].store
    made = store.monomials.get(pairs)
    if made is None:
        made = store.monomials[pairs] = Monomial(pairs, store)
    return made


def multiply_monomials(left: Monomial, right: Monomial) -> Monomial:
    """Product of two monomials."""
    if left is UNIT or right is UNIT:
        return right if left is UNIT else left
    powers = dict(left.pairs)
    for atom, power in right.pairs:
        powers[atom] = powers.get(atom, 0) + power
    return monomial_of(tuple(sorted(powers.items(), key=_pair_key)))


def _pair_key(pair: tuple[Atom, int]) -> tuple[Any, ...]:
    return pair[0].order


def divide_monomials(left: Monomial, right: Monomial) -> Monomial | None:
    """Exact quotient of two monomials, None when there is none."""
    if right is UNIT:
        return left
    powers = dict(left.pairs)
    for atom, power in right.pairs:
        rest = powers.get(atom, 0) - power
        if rest < 0:
            return None
        powers[atom] = rest
    return monomial_of(tuple((atom, power) for atom, power in powers.items() if power))


# ---- intervals


def scaled(interval: Interval, factor: int) -> Interval:
    """Interval of a multiple."""
    low, high = interval
    if low != -INF and high != INF:
        return (low * factor, high * factor) if factor > 0 else (high * factor, low * factor)
    low, high = _times(low, factor), _times(high, factor)
    return (low, high) if factor > 0 else (high, low)


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


def _monomial_interval(pairs: Pairs) -> Interval:
    low: Bound = 1
    high: Bound = 1
    for atom, power in pairs:
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


#: the monomial of constants, the one that belongs to no environment
UNIT = Monomial((), Store())
