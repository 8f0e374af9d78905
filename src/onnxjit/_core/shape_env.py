# SPDX-License-Identifier: Apache-2.0
"""`ShapeEnv`: the symbols and guards of one trace, and broadcasting under its policy."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from .dim_atoms import Store, Symbol
from .dim_object import HOOKS, Dim, as_poly
from .dim_polynomial import atom_poly
from .dim_rules import as_facts, bcast, bcast_parts, never_zero, nonneg
from .guards import Guard, Knowledge, holds

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from .dim_object import DimLike
    from .dim_polynomial import Poly
    from .guards import Kind

#: quotients inside quotients beyond which numbers are frozen
_DEEPEST = 5


class ShapeEnv:
    """Owner of symbols and guards; belongs to one trace, and so to one thread.

    Parameters
    ----------
    policy
        "guard": the trace is reused only where its guards hold, so examples may decide.
        "assume": the model must be right everywhere, so broadcasting asks examples only
        whether two sizes are equal.

    Attributes
    ----------
    conditional
        What a model assumes only in branches.
    freezes
        Whether a size may be frozen to make its graph faster: not where there are such graphs
        for several sizes already.
    memo
        Results of functions of sizes that guards do not change.
    """

    __slots__ = (
        "_known",
        "_made",
        "_store",
        "conditional",
        "freezes",
        "guards",
        "memo",
        "policy",
        "symbols",
    )

    def __init__(self, policy: Literal["guard", "assume"] = "guard") -> None:
        self.policy = policy
        self.symbols: list[Symbol] = []
        self.guards: list[Guard] = []
        self.conditional: list[Guard] = []
        self.freezes = policy == "guard"
        self._known = Knowledge()
        self._made: dict[Poly, Dim] = {}
        self._store = Store()
        self.memo: dict[Hashable, Any] = {}

    def symbol(
        self,
        name: str,
        hint: int | None = None,
        lower: int | None = 0,
        *,
        origin: object = None,
        data: bool = False,
    ) -> Dim:
        """Make a new unknown; see `Symbol`."""
        serial = len(self.symbols)
        made = Symbol(
            name, hint, lower, origin=origin, data=data, serial=serial, store=self._store
        )
        self.symbols.append(made)
        return self._intern(atom_poly(made))

    def dim(self, poly: Poly) -> DimLike:
        """Give the one object of a polynomial, an int when it is constant."""
        if poly.value is not None:
            return poly.value
        if poly not in self._made and self._is_deep(poly):
            return self._frozen(poly)
        return self._intern(poly)

    def _is_deep(self, poly: Poly) -> bool:
        """Whether the example's number has to do: text and proofs grow with each quotient."""
        if poly.depth <= _DEEPEST:
            return False
        return self.policy == "guard" and poly.hint is not None and not poly.data

    def freeze(self, dim: Dim, what: str) -> int:
        """Freeze all symbols of a size, so that declared shapes tell of it."""
        for atom in dim.poly.symbols:
            self.specialise(self._intern(atom_poly(atom)), what)
        return self.specialise(dim, what)

    def _frozen(self, poly: Poly) -> DimLike:
        """Freeze the symbols of an expression, and return what it then is."""
        for atom in poly.symbols:
            self.specialise(self._intern(atom_poly(atom)), "deep arithmetic")
        found = self._known.resolve(poly)
        return self._intern(found) if found.value is None else found.value

    def _intern(self, poly: Poly) -> Dim:
        made = self._made.get(poly)
        if made is None:
            made = self._made[poly] = Dim(poly, self)
        return made

    # -- decisions

    def test(self, kind: Kind, poly: Poly, dim: Dim, what: str) -> bool:
        """Decide a condition, with a guard when only the example can tell."""
        known = self._known.decide(kind, poly)
        if known is not None:
            return known
        value = self._value(poly, dim, what)
        answer = holds(kind, value)
        if not answer:
            kind, poly = OPPOSITE[kind], -poly - 1 if kind == "ge" else poly
        self.record(kind, poly)
        return answer

    def _value(self, poly: Poly, dim: Dim, what: str) -> int:
        if poly.data:
            raise HOOKS.data_test(dim, what)
        value = poly.hint
        if value is None:
            raise HOOKS.no_hint(dim, what)
        return value

    def specialise(self, dim: Dim, what: str) -> int:
        """Freeze a dimension to its example's value, with a guard."""
        known = self._known.resolve(dim.poly).value
        if known is not None:
            return known
        value = self._value(dim.poly, dim, what)
        self.require(self._known.decide("eq", dim.poly - value), "eq", dim.poly - value)
        return value

    def require(self, known: bool | None, kind: Kind, poly: Poly) -> None:
        """Record a condition of the example unless it is known already.

        In code that the example does not run the contrary may be known.
        """
        if not known:
            self.record(kind, poly)

    def record(self, kind: Kind, poly: Poly, *, refused: bool = False) -> None:
        """Add a guard; `!= 0` becomes a bound where the sign is known.

        The example may be one where the code at hand does not run: what is known there of
        signs is then not so in the example, and the guard has to hold in it.
        """
        if kind == "ne":
            for side in (poly, -poly):
                hint = side.hint
                if (hint is None or hint > 0) and self._known.decide("ge", side):
                    kind, poly = "ge", side - 1
                    break
        self.guards.append(Guard(kind, poly, HOOKS.source(), refused=refused))
        self._known.learn(kind, poly)

    def require_nonzero(self, poly: Poly, message: str) -> None:
        """Make sure that a divisor is not zero.

        Raises
        ------
        ZeroDivisionError
            The divisor is zero, or is zero in the example.
        """
        known = self._known.decide("ne", poly)
        if known is None and not poly.data and poly.hint is None:
            self.record("ne", poly)
        elif known is None and poly.data:
            HOOKS.nonzero(self._intern(poly))
        elif known is None:
            dim = self._intern(poly)
            known = self.test("ne", poly, dim, f"division by {dim}")
        if known is False:
            raise ZeroDivisionError(message)

    # -- what is known

    def follows(self, dim: Dim, facts: Sequence[Dim]) -> bool:
        """Tell whether a number is provably not negative where those of `facts` are not."""
        known = self._known
        given = as_facts([known.resolve(f.poly) for f in facts])
        return nonneg(known.resolve(dim.poly), (*known.facts(), *given))

    @contextmanager
    def branch(self, fact: tuple[Kind, Poly] | None) -> Iterator[None]:
        """Decide things for code that runs only where a condition holds.

        What is guarded there is guarded for all of a call's graph. A model runs with other
        sizes too, so that what is assumed there says nothing of the code around it.
        """
        outer, start, memo = self._known, len(self.guards), dict(self.memo)
        self._known = outer.copy()
        if fact is not None:
            self._known.learn(*fact)
        try:
            yield
        finally:
            inner = self.guards[start:]
            self._known, self.memo = outer, memo
            if self.policy == "guard":
                for guard in inner:
                    outer.learn(guard.kind, guard.poly)
            else:
                del self.guards[start:]
                self.conditional += inner

    @contextmanager
    def supposing(self, dim: DimLike) -> Iterator[None]:
        """Take a number as not negative in a part of the trace."""
        if not isinstance(dim, Dim):
            yield
            return
        end = self._known.suppose(dim.poly)
        try:
            yield
        finally:
            end()

    def resolve(self, dim: DimLike) -> DimLike:
        """Rewrite with what guards have fixed: an int once its value is known."""
        return self.dim(self._known.resolve(dim.poly)) if isinstance(dim, Dim) else dim

    def proves(self, kind: Kind, poly: Poly) -> bool | None:
        """Decide a condition without ever adding a guard; None when open."""
        return self._known.decide(kind, poly)

    def are_equal(self, a: Poly, b: Poly) -> bool:
        """Tell whether two sizes are provably equal."""
        if a is b:
            return True
        known = self._known
        return not known.are_apart(a, b) and known.decide("eq", a - b) is True

    def bounds(self, poly: Poly) -> tuple[int | None, int | None]:
        """Least and greatest value that is known, None where there is none."""
        low, high = self._known.bounds(poly)
        return _finite(low), _finite(high)


OPPOSITE: dict[Kind, Kind] = {"eq": "ne", "ne": "eq", "ge": "ge"}


def _finite(bound: float) -> int | None:
    return bound if isinstance(bound, int) else None


# ---- broadcasting


def broadcast_dim(env: ShapeEnv, a: DimLike, b: DimLike) -> DimLike:
    """Size of one broadcast axis.

    Raises
    ------
    ValueError
        The sizes do not fit, with NumPy's text.
    """
    return broadcast_shapes(env, (a,), (b,))[0]


def broadcast_shapes(env: ShapeEnv, *shapes: Sequence[DimLike]) -> tuple[DimLike, ...]:
    """Shape that several shapes broadcast to.

    Raises
    ------
    ValueError
        The shapes do not fit, with NumPy's text.
    """
    if are_same(shapes):
        return tuple(shapes[0])
    rank = max(map(len, shapes), default=0)
    out: list[DimLike] = [1] * rank
    for shape in shapes:
        for at, size in enumerate(shape, rank - len(shape)):
            before = out[at]
            is_first = isinstance(before, int) and before == 1
            joined = size if is_first else _join(env, before, size)
            if joined is None:
                raise _misfit(shapes)
            out[at] = joined
    found = tuple(out)
    return next((tuple(s) for s in shapes if are_same((s, found))), found)


def are_same(shapes: Sequence[Sequence[DimLike]]) -> bool:
    """Tell whether the same sizes stand everywhere."""
    if not shapes:
        return False
    first = shapes[0]
    for shape in shapes[1:]:
        if shape is first:
            continue
        if len(shape) != len(first):
            return False
        for a, b in zip(first, shape, strict=True):
            if a is not b:
                return False
    return True


def _misfit(shapes: Sequence[Sequence[DimLike]]) -> ValueError:
    text = " ".join(_shape_text(shape) for shape in shapes)
    return ValueError(f"operands could not be broadcast together with shapes {text} ")


def _shape_text(shape: Sequence[DimLike]) -> str:
    sizes = [_size_text(size) for size in shape]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _size_text(size: DimLike) -> str:
    hint = size.poly.hint if isinstance(size, Dim) else size
    return str(size if hint is None else hint)


def _join(env: ShapeEnv, a: DimLike, b: DimLike) -> DimLike | None:
    """Joint size, None when the sizes do not fit."""
    if isinstance(a, int) and isinstance(b, int):
        return b if a == 1 else a if b in {a, 1} else None
    if a is b:
        return a
    left, right = as_poly(env.resolve(a)), as_poly(env.resolve(b))
    if left.value == 1:
        return b
    if right.value == 1:
        return a
    equal = env.proves("eq", left - right)
    if equal:
        return _simpler(a, b)
    for wide, narrow, size in ((left, right, a), (right, left, b)):
        if set(bcast_parts(narrow)) <= set(bcast_parts(wide)):
            return size  # a term that has taken the other in
    if equal is False and never_one(env, left) and never_one(env, right):
        return None
    if left.data or right.data:
        return _join_data(env, a, b)
    return _join_by_hints(env, a, b)


def never_one(env: ShapeEnv, poly: Poly) -> bool:
    """Tell whether a size is known to differ from 1."""
    return never_zero(poly - 1) or env.proves("ne", poly - 1) is True


def _simpler(a: DimLike, b: DimLike) -> DimLike:
    if isinstance(a, int) or isinstance(b, int):
        return a if isinstance(a, int) else b
    return min((a, b), key=lambda dim: (len(dim.poly.terms), dim.poly.order))


def _join_by_hints(env: ShapeEnv, a: DimLike, b: DimLike) -> DimLike | None:
    left, right = as_poly(a), as_poly(b)
    sizes = left.hint, right.hint
    if None in sizes:
        return _join_unknown(env, a, b)
    if env.policy == "assume" and sizes[0] == sizes[1]:
        # a size that is never 1 is the joint size, whether the other is equal or 1
        for size in (a, b):
            if never_one(env, as_poly(size)):
                return size
    if sizes[0] == sizes[1]:
        env.record("eq", left - right)
        return _simpler(a, b)
    if 1 not in sizes:
        for apart in (left - right, left - 1, right - 1):
            env.require(env.proves("ne", apart), "ne", apart)
        return None
    if env.policy == "assume":
        return _join_unknown(env, a, b)
    env.record("eq", (left if sizes[0] == 1 else right) - 1)
    return b if sizes[0] == 1 else a


def _join_unknown(env: ShapeEnv, a: DimLike, b: DimLike) -> DimLike:
    """Joint size without asking the example; that the sizes fit is taken for granted."""
    for size in (a, b):
        if never_one(env, as_poly(size)):
            return size
    parts = {part: None for size in (a, b) for part in bcast_parts(as_poly(size))}
    out, *rest = sorted(parts, key=lambda part: part.order)
    for part in rest:
        out = bcast(out, part)
    return env.dim(out)


def _join_data(env: ShapeEnv, a: DimLike, b: DimLike) -> DimLike:
    """Joint size with one that depends on data; whether they fit is seen when running."""
    plain, other = (b, a) if as_poly(a).data else (a, b)
    poly = as_poly(plain)
    hint = None if poly.data else poly.hint
    if hint is None or env.policy == "assume" or isinstance(plain, int):
        return _join_unknown(env, plain, other)
    if hint == 1:
        env.record("eq", poly - 1)
        return other
    env.require(never_one(env, poly) or None, "ne", poly - 1)
    return plain


def is_one(n: DimLike) -> bool:
    """Tell whether a size is 1; a model of one without an example assumes that it is not."""
    if not isinstance(n, Dim) or n.poly.data or n.poly.hint is not None:
        return bool(n == 1)
    env, difference = n.env, n.poly - 1
    known = env.proves("eq", difference)
    if known is None:
        env.record("ne", difference)
    return bool(known)


def require_equal(env: ShapeEnv, a: DimLike, b: DimLike, *, refused: bool = False) -> bool:
    """Tell whether two sizes are equal, with a guard or assumption when it is open.

    Sizes that depend on data, and sizes without an example, are taken as equal. `refused`
    says that NumPy raises for others, where nobody catches it: no model has to warn of them.
    """
    difference = as_poly(a) - as_poly(b)
    known = env.proves("eq", difference)
    if known is not None or difference.data:
        return known is not False
    if difference.hint not in {0, None}:
        # the caller's exception may be caught, so that the trace goes on
        env.record("ne", difference)
        return False
    env.record("eq", difference, refused=refused)
    return True
