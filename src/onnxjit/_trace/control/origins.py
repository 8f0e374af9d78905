# SPDX-License-Identifier: Apache-2.0
"""Results of a call keep the type that the branch taken gave them.

A number that is ``0.0`` in one branch and a NumPy scalar in the other has one type in the
graph, and what is computed from it has that type.  If it is returned as it is, the caller gets
what the branch made: both are kept beside the joined value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._trace.array import ARRAY, Array

from .either import Either
from .join import flatten, joined, type_of
from .slots import UNBOUND

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._trace.trace import Tracer

    from .join import Template, Type
    from .region import Region

__all__ = ["Origins", "same_handle"]

_NUMBERS: Final = (bool, int, float, complex)


class Origins:
    """What each of the joined values of a conditional is in either branch."""

    def __init__(self, tracer: Tracer, regions: tuple[Region, Region]) -> None:
        self._tracer: Final = tracer
        self._regions: Final = regions
        self._found: list[tuple[int, tuple[Template | None, Template | None]]] = []

    def look(self, pairs: list[tuple[Any, Any]]) -> None:
        """Add to `pairs` what has to leave the branches beside the joined values."""
        if self._tracer.env.policy != "guard":
            return  # the outputs of a model have one type
        for i, (x, y) in enumerate(tuple(pairs)):
            a, b = type_of(x), type_of(y)
            if a is None or b is None:
                continue
            t = joined(a, b)
            sides = self._side(0, x, a, t), self._side(1, y, b, t)
            if all(s is None for s in sides):
                continue
            first, second = (self._template(s, k, pairs) for k, s in enumerate(sides))
            self._found.append((i, (first, second)))

    def _side(self, which: int, x: Any, own: Type, t: Type) -> Any:
        """Return what a branch made, None where the joined value is just that."""
        if isinstance(x, Array):
            before = self._tracer.original(x)
            written = x._kind == ARRAY and x._storage in self._regions[which].written
            if before is not x and not written:
                return before
        return None if own == t else x

    def _template(self, x: Any, which: int, pairs: list[tuple[Any, Any]]) -> Template | None:
        if x is None:
            return None
        if isinstance(x, _NUMBERS):
            return "static", x, []
        leaves: list[Any] = []
        template = flatten(x, leaves)
        pairs += [(v, UNBOUND) if which == 0 else (UNBOUND, v) for v in leaves]
        return template

    def note(self, made: list[Any], pred: Array, built: Callable[[Template], Any]) -> None:
        """Remember the branches' own values, which `built` puts together."""
        for i, templates in self._found:
            value = made[i]
            x, y = (same_handle(value) if s is None else built(s) for s in templates)
            if isinstance(value, Array):
                self._tracer.note_joined(value, Either(pred, x, y, self._tracer.source))


def same_handle(value: Any) -> Any:
    """Return another handle on the same memory, which has no origins itself."""
    return Array.traced(value._storage, value._kind) if isinstance(value, Array) else value
