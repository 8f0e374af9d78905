# SPDX-License-Identifier: Apache-2.0
"""What a loop is given where an iteration makes something of another type of it.

In the graph it has the type that holds both from the start.  That is no difference for a sum
that starts as ``0``; what would lose or gain precision by it gets its first iteration outside
of the loop.  Where no iteration runs, the result of a call is what was there before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, has_data
from onnxjit._trace.array import Array, wrap

from .join import flatten, type_of
from .origins import Origin, same_handle
from .slots import UNBOUND
from .truth import and_, compare, decide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value
    from onnxjit._trace.trace import Tracer

    from .carried import Carried
    from .join import Type

__all__ = ["is_exact", "note_entries", "surely_runs"]

_NUMBERS: Final = (bool, int, float, complex)


def _changed(carried: Iterable[Carried]) -> Iterator[tuple[Any, Type]]:
    """Yield what had another type before the loop, with its type in it."""
    for c in carried:
        if c.entry is not UNBOUND:
            yield from (
                (x, t) for x, t in zip(c.leaves, c.types, strict=True) if type_of(x) != t
            )


def is_exact(carried: Iterable[Carried]) -> bool:
    """Whether everything is the same number in the type that it has in the loop."""
    return all(_same_number(x, t) for x, t in _changed(carried))


def _same_number(x: Any, t: Type) -> bool:
    own = type_of(x)
    if own is not None and own.dtype is t.dtype:
        return True
    with np.errstate(all="ignore"):
        return isinstance(x, _NUMBERS) and bool(np.array(x, t.dtype.numpy).item() == x)


def surely_runs(
    tracer: Tracer, carried: Iterable[Carried], trips: DimLike | None, first: Value | None
) -> bool | Array:
    """Return whether an iteration runs, if that makes a difference for types."""
    if tracer.env.policy != "guard" or not any(True for _ in _changed(carried)):
        return True
    begun = True if first is None else wrap(first)
    if not isinstance(trips, Dim):
        return begun
    if has_data(trips):
        test = and_(begun, lambda: compare(">", trips, 0))
        return test if isinstance(test, bool) else wrap(decide(test))  # type: ignore[arg-type]
    symbolic, tracer.symbolic = tracer.symbolic, False
    try:
        return begun if trips > 0 else False
    finally:
        tracer.symbolic = symbolic


def note_entries(
    tracer: Tracer, carried: Iterable[Carried], ran: bool | Array, source: Any
) -> None:
    """Remember what the results are where no iteration has run."""
    if isinstance(ran, bool):
        return
    for c in carried:
        content, leaves = c.slot.get(), list[Any]()
        if c.entry is UNBOUND or content is UNBOUND:
            continue
        flatten(content, leaves)
        for x, t, leaf in zip(c.leaves, c.types, leaves, strict=True):
            if type_of(x) != t and isinstance(leaf, Array):
                made = Origin(ran, same_handle(leaf), x, source, tracer.block)
                tracer.note_joined(leaf, made)
