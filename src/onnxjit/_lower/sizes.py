# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes as int64 nodes; each is computed once, in the outermost graph that can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, DimLike, Symbol, fold
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.op import Handle
from onnxjit._core.program import Value
from onnxjit.errors import InternalError

if TYPE_CHECKING:
    from .emit import Emitter, Scope

__all__ = ["Sizes"]

#: opset from which Shape takes start and end
_SHAPE_RANGE: Final = 15


_INTS: Final = frozenset({int})


class Size(Handle):
    """A 1-element int64 vector and the graph it lives in."""

    __slots__ = ("known", "scope")

    def __init__(self, name: str, scope: Scope, known: int | None = None) -> None:
        super().__init__(name, INT64)
        self.scope: Final = scope
        self.known: Final = known


class Sizes:
    """The algebra that `fold` interprets a size with.

    A node for a size goes to the innermost graph among the origins of its symbols, so it is
    visible to whoever may use the size, and loops do not repeat it.
    """

    __slots__ = ("_emit", "_known", "_memo", "_origins", "_scalars", "_shapes", "_vectors")

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self._memo: dict[object, Size] = {}
        self._known: dict[tuple[int, ...], Handle] = {}
        self._shapes: dict[int, Size] = {}
        self._origins: dict[tuple[int, int, int], Size] = {}
        self._scalars: dict[str, Handle] = {}
        self._vectors: dict[tuple[str, ...], Handle] = {}

    def scalar(self, n: DimLike) -> Handle:
        """Return a 0-d int64."""
        if not isinstance(n, Dim):
            return self._emit.const(np.int64(n))
        size = self._size(n)
        if size.known is not None:
            return self._emit.const(np.int64(size.known))
        found = self._scalars.get(size.name)
        if found is None:
            axes = self._emit.const(np.zeros(1, np.int64))
            found = self._node("Squeeze", size.scope, size, axes)
            self._scalars[size.name] = found
        return found

    def vector(self, sizes: tuple[DimLike, ...]) -> Handle:
        """Return a 1-d int64."""
        if not _INTS.issuperset(map(type, sizes)):
            sizes = tuple([self._resolved(n) for n in sizes])
        if not any(isinstance(n, Dim) for n in sizes):
            return self._numbers(tuple(map(int, sizes)))
        parts = self._parts(sizes)
        if len(parts) == 1:
            return parts[0]
        name = tuple(p.name for p in parts)
        found = self._vectors.get(name)
        if found is None:
            scope = self._deepest(*parts)
            found = self._vectors[name] = self._node("Concat", scope, *parts, axis=0)
        return found

    def _numbers(self, numbers: tuple[int, ...]) -> Handle:
        """Return a constant 1-d int64."""
        found = self._known.get(numbers)
        if found is None:
            made = self._emit.const(np.array(numbers, np.int64))
            found = self._known[numbers] = made
        return found

    def _resolved(self, n: DimLike) -> DimLike:
        return n.env.resolve(n) if isinstance(n, Dim) else n

    def _parts(self, sizes: tuple[DimLike, ...]) -> list[Size]:
        """Return pieces: runs of ints, runs of axes of one value, single sizes."""
        parts: list[Size] = []
        at = 0
        while at < len(sizes):
            stop = at
            while stop < len(sizes) and not isinstance(sizes[stop], Dim):
                stop += 1
            if stop > at:
                run = np.array([int(n) for n in sizes[at:stop]], np.int64)
                parts.append(Size(self._emit.const(run).name, self._emit.root))
            else:
                stop, part = self._axes_run(sizes, at)
                parts.append(part)
            at = stop
        return parts

    def _axes_run(self, sizes: tuple[DimLike, ...], at: int) -> tuple[int, Size]:
        origin = _axis_of(sizes[at])
        stop = at + 1
        if origin is None:
            return stop, self._size(sizes[at])
        value, axis = origin
        while stop < len(sizes) and _axis_of(sizes[stop]) == (value, axis + stop - at):
            stop += 1
        if stop == at + 1:
            return stop, self._size(sizes[at])
        return stop, self._axes(value, axis, axis + stop - at)

    def _size(self, n: DimLike) -> Size:
        return fold(self._resolved(n), self, self._memo)

    def _deepest(self, *sizes: Size) -> Scope:
        return max((s.scope for s in sizes), key=lambda scope: scope.depth)

    def _node(self, op_type: str, scope: Scope, *inputs: Handle, **attributes: Any) -> Size:
        handle = self._emit.raw(op_type, inputs, INT64, attributes, scope=scope, prefix="size")
        return Size(handle.name, scope)

    def _axes(self, value: Value, start: int, stop: int) -> Size:
        """Return sizes of consecutive axes of a value."""
        found = self._origins.get((value.id, start, stop))
        if found is not None:
            return found
        x, scope = self._emit.handle(value), self._emit.scope_of(value)
        if self._emit.opset >= _SHAPE_RANGE:
            made = self._node("Shape", scope, x, start=start, end=stop)
        else:
            whole = self._shapes.get(value.id)
            if whole is None:
                whole = self._shapes[value.id] = self._node("Shape", scope, x)
            picks = self._emit.const(np.arange(start, stop, dtype=np.int64))
            made = self._node("Gather", scope, whole, picks, axis=0)
        self._origins[value.id, start, stop] = made
        return made

    # ---- the algebra

    def const(self, value: int, /) -> Size:
        """Return a number."""
        name = self._emit.const(np.array([value], np.int64)).name
        return Size(name, self._emit.root, value)

    def symbol(self, symbol: Symbol, /) -> Size:
        """Return an axis of a value, or a scalar value."""
        origin = symbol.origin
        if not (isinstance(origin, tuple) and isinstance(origin[0], Value)):
            msg = f"size {symbol.name} is not computed from any value of the program"
            raise InternalError(msg)
        value, axis = origin
        if axis is not None:
            return self._axes(value, axis, axis + 1)
        scope = self._emit.scope_of(value)
        x = self._emit.handle(value)
        if x.dtype is not INT64:
            x = self._emit.raw("Cast", (x,), INT64, {"to": INT64}, scope=scope, prefix="size")
        one = self._emit.const(np.ones(1, np.int64))
        return self._node("Reshape", scope, x, one)

    def add(self, left: Size, right: Size, /) -> Size:
        """Add."""
        return self._node("Add", self._deepest(left, right), left, right)

    def mul(self, left: Size, right: Size, /) -> Size:
        """Multiply; by -1 is a negation."""
        for a, b in ((left, right), (right, left)):
            if a.known == -1:
                return self._node("Neg", b.scope, b)
        return self._node("Mul", self._deepest(left, right), left, right)

    def pos(self, value: Size, /) -> Size:
        """Clip below at zero."""
        return self._node("Max", value.scope, value, self.const(0))

    def floordiv(self, value: Size, divisor: Size, /) -> Size:
        """Divide, rounding down: what is left after Mod divides exactly.

        A divisor that is not a number may be 0 in a branch that is not taken; onnxruntime
        would stop at it.
        """
        scope = self._deepest(value, divisor)
        if divisor.known == -1:
            return self._node("Neg", scope, value)
        if divisor.known is None:
            zero = self._emit.raw(
                "Equal", (divisor, self.const(0)), BOOL, {}, scope=scope, prefix="size"
            )
            divisor = self._node("Where", scope, zero, self.const(1), divisor)
        rest = self._node("Mod", scope, value, divisor)
        whole = self._node("Sub", scope, value, rest)
        return self._node("Div", scope, whole, divisor)

    def bcast(self, first: Size, second: Size, /) -> Size:
        """Return the second where the first is one."""
        scope = self._deepest(first, second)
        one = self._emit.raw(
            "Equal", (first, self.const(1)), BOOL, {}, scope=scope, prefix="size"
        )
        return self._node("Where", scope, one, second, first)

    def select(self, test: Size, negative: Size, other: Size, /) -> Size:
        """Return the second where the first is negative, else the third."""
        scope = self._deepest(test, negative, other)
        below = self._emit.raw(
            "Less", (test, self.const(0)), BOOL, {}, scope=scope, prefix="size"
        )
        return self._node("Where", scope, below, negative, other)


def _axis_of(n: DimLike) -> tuple[Value, int] | None:
    """Return value and axis where a size is just an axis of a value."""
    if not isinstance(n, Dim):
        return None
    symbol = n.poly.atom
    origin = symbol.origin if isinstance(symbol, Symbol) else None
    if isinstance(origin, tuple) and origin[1] is not None:
        return origin
    return None
