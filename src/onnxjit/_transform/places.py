# SPDX-License-Identifier: Apache-2.0
"""Places in arrays as sizes: how they move with a loop's counter, what is known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.bind import DIM
from onnxjit._core.dim_polynomial import atom_poly
from onnxjit._core.dim_rules import substitute
from onnxjit._core.dims import Dim, DimLike, as_poly, symbols_of
from onnxjit._ops.cast import CAST
from onnxjit._ops.structure import CONCAT, RESHAPE, UNSQUEEZE, VECTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import ShapeEnv, Symbol
    from onnxjit._core.program import Block, Value

__all__ = [
    "Facts", "Moving", "counters", "is_inside", "moving", "place_of", "places_of", "proves",
]  # fmt: skip

#: numbers that are known not to be negative
Facts = tuple[Dim, ...]


def proves(env: ShapeEnv, number: DimLike, facts: Facts) -> bool:
    """Whether a number is surely not negative, where those of `facts` are not."""
    if isinstance(number, int):
        return number >= 0
    return env.follows(number, facts)


def is_inside(env: ShapeEnv, at: DimLike, n: DimLike, facts: Facts) -> bool:
    """Whether a place is surely in an axis of size n.

    What only compares sizes of arguments is taken from those of the call, with a guard.
    """
    if not proves(env, at, facts):
        return False
    room = n - 1 - at
    return proves(env, room, facts) or _is_guarded(env, room, facts)


def _is_guarded(env: ShapeEnv, number: DimLike, facts: Facts) -> bool:
    """Make sure, in a graph for calls, that a number is not negative where facts are not."""
    if env.policy != "guard" or not isinstance(number, Dim):
        return False
    for least in (number, *(number - fact for fact in facts)):
        poly = as_poly(least)
        if not poly.data and poly.hint is not None and poly.hint >= 0:
            env.record("ge", poly)
            return True
    return False


def counters(env: ShapeEnv, counter: Value) -> list[Symbol]:
    """Return the symbols that stand for a loop's counter."""
    return [
        s
        for s in env.symbols
        if isinstance(s.origin, tuple) and s.origin[0] is counter and s.origin[1] is None
    ]


class Moving:
    """A place that moves evenly: ``start + step * i`` in iteration i.

    Parameters
    ----------
    start : int or Dim
        Does not depend on i.
    step : int
        0 for a place that stays.
    """

    __slots__ = ("start", "step")

    def __init__(self, start: DimLike, step: int) -> None:
        self.start: Final = start
        self.step: Final = step


def moving(place: DimLike, symbols: Sequence[Symbol], block: Block) -> Moving | None:
    """Return how a place moves with a counter; None where it is not even.

    Parameters
    ----------
    symbols
        Those of the counter.
    block : Block
        The loop's body; other places that it computes do not count as even.
    """
    if not isinstance(place, Dim):
        return Moving(place, 0)
    env = place.env
    first = env.dim(substitute(place.poly, dict.fromkeys(symbols, as_poly(0))))
    second = env.dim(substitute(place.poly, dict.fromkeys(symbols, as_poly(1))))
    step = second - first
    if not isinstance(step, int):
        return None
    way = as_poly(place) - as_poly(first)
    if step and not any(way is atom_poly(symbol) * step for symbol in symbols):
        return None
    if not step and way.value != 0:
        return None
    for symbol in symbols_of(first):
        origin = symbol.origin
        if isinstance(origin, tuple) and origin[0].block.is_inside(block):
            return None
    return Moving(first, step)


def place_of(value: Value) -> DimLike | None:
    """Return a 0-d integer as a size, None where it is data."""
    if value.known is not None:
        return int(value.known) if value.known.ndim == 0 else None
    made = value.equation
    if made is None:
        return None
    if made.op is DIM:
        found: DimLike = made.params["dim"]
        return found
    if made.op is CAST and value.dtype.kind == "i" and made.inputs[0].ndim == 0:
        return place_of(made.inputs[0]) if value.dtype.bits == 64 else None
    return None


def places_of(value: Value) -> list[DimLike] | None:
    """Return an index vector, of any number of leading axes of length 1, as sizes."""
    if any(n != 1 if isinstance(n, int) else True for n in value.shape[:-1]):
        return None
    if value.known is not None:
        return [int(n) for n in value.known.ravel()]
    made = value.equation
    if made is None:
        return None
    if made.op is VECTOR:
        return list(made.params["dims"])
    if made.op in {RESHAPE, UNSQUEEZE}:
        source = made.inputs[0]
        if source.ndim == 0:
            place = place_of(source)
            return None if place is None else [place]
        return places_of(source)
    if made.op is CONCAT and value.ndim == 1:
        parts = [places_of(v) for v in made.inputs]
        return None if None in parts else [p for part in parts if part for p in part]
    return None
