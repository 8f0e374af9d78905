# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes as int64 nodes; each is computed once, in the outermost graph that can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dim_atoms import FloorDiv
from onnxjit._core.dim_polynomial import atom_poly
from onnxjit._core.dims import Dim, DimLike, Symbol, fold, key
from onnxjit._core.dtypes import BOOL, INT64, DType
from onnxjit._core.op import Handle
from onnxjit._core.program import Value
from onnxjit.errors import InternalError

if TYPE_CHECKING:
    from .emit import Emitter, Scope

__all__ = ["Sizes"]

#: opset from which Shape takes start and end
_SHAPE_RANGE: Final = 15
#: opset from which BitShift takes int64
_SIGNED_SHIFT: Final = 28


_INTS: Final = frozenset({int})


class Size(Handle):
    """An int64 of one element, 0-d or a vector, and the graph it lives in."""

    __slots__ = ("known", "ndim", "scope")

    def __init__(
        self, name: str, scope: Scope, known: int | None = None, *, ndim: int = 1
    ) -> None:
        super().__init__(name, INT64)
        self.scope: Final = scope
        self.known: Final = known
        self.ndim: Final = ndim


class Sizes:
    """The algebra that `fold` interprets a size with.

    A node for a size goes to the innermost graph among the origins of its symbols, so it is
    visible to whoever may use the size, and loops do not repeat it.
    """

    __slots__ = (
        "_emit", "_known", "_memo", "_ones", "_origins", "_rests", "_scalars", "_shapes",
        "_vectors",
    )  # fmt: skip

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self._memo: dict[object, Size] = {}
        self._known: dict[tuple[int, ...], Handle] = {}
        self._rests: dict[tuple[str | int | None, ...], Size] = {}
        self._shapes: dict[int, Size] = {}
        self._origins: dict[tuple[int, int, int], Size] = {}
        self._scalars: dict[str, Handle] = {}
        self._ones: dict[str, Size] = {}
        self._vectors: dict[tuple[str, ...], Handle] = {}

    def scalar(self, n: DimLike) -> Handle:
        """Return a 0-d int64."""
        if not isinstance(n, Dim):
            return self._emit.const(np.int64(n))
        size = self._size(n)
        if size.known is not None:
            return self._emit.const(np.int64(size.known))
        if not size.ndim:
            return size
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
            return stop, self._one(sizes[at])
        value, axis = origin
        while stop < len(sizes) and _axis_of(sizes[stop]) == (value, axis + stop - at):
            stop += 1
        if stop == at + 1:
            return stop, self._one(sizes[at])
        return stop, self._axes(value, axis, axis + stop - at)

    def _size(self, n: DimLike) -> Size:
        n = self._resolved(n)
        found = self._memo.get(key(n))
        rest = _remainder(n) if found is None else None
        if rest is None:
            return fold(n, self, self._memo) if found is None else found
        value, divisor = rest
        made = self._memo[key(n)] = self._rest(self._size(value), self.const(divisor))
        return made

    def _rest(self, value: Size, divisor: Size) -> Size:
        """Return a remainder, computed once."""
        operands = value.name, value.known, divisor.name, divisor.known
        found = self._rests.get(operands)
        if found is None:
            found = self._rests[operands] = self._apply("Mod", value, divisor)
        return found

    def _one(self, n: DimLike) -> Size:
        """Return a size as a vector."""
        size = self._size(n)
        if size.known is not None:
            return Size(self._number(size.known, 1).name, self._emit.root, size.known)
        if size.ndim:
            return size
        found = self._ones.get(size.name)
        if found is None:
            shape = self._emit.const(np.ones(1, np.int64))
            made = self._node("Reshape", size.scope, size, shape)
            found = self._ones[size.name] = Size(made.name, made.scope)
        return found

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
        """Return a number; those who use it give it a name."""
        return Size("", self._emit.root, value, ndim=0)

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
        return Size(x.name, scope, ndim=value.ndim)

    def _apply(
        self, op_type: str, *sizes: Size, out: DType = INT64, **attributes: Any
    ) -> Size:
        """Add a node that broadcasts, in the innermost graph of its operands."""
        scope = self._deepest(*sizes)
        ndim = max((s.ndim for s in sizes if s.known is None), default=1)
        operands = [s if s.known is None else self._number(s.known, ndim) for s in sizes]
        made = self._emit.raw(op_type, operands, out, attributes, scope=scope, prefix="size")
        return Size(made.name, scope, ndim=ndim)

    def _number(self, value: int, ndim: int) -> Handle:
        return self._emit.const(np.full((1,) * ndim, value, np.int64))

    def add(self, left: Size, right: Size, /) -> Size:
        """Add."""
        return self._apply("Add", left, right)

    def mul(self, left: Size, right: Size, /) -> Size:
        """Multiply; by -1 is a negation."""
        for a, b in ((left, right), (right, left)):
            if a.known == -1:
                return self._apply("Neg", b)
        return self._apply("Mul", left, right)

    def pos(self, value: Size, /) -> Size:
        """Clip below at zero."""
        return self._apply("Max", value, self.const(0))

    def floordiv(self, value: Size, divisor: Size, /) -> Size:
        """Divide, rounding down: what is left after Mod divides exactly.

        A divisor that is not a number may be 0 in a branch that is not taken; onnxruntime
        would stop at it.
        """
        if divisor.known == -1:
            return self._apply("Neg", value)
        bits = _bits_of(divisor.known)
        if bits is not None and self._emit.opset >= _SIGNED_SHIFT:
            return self._apply("BitShift", value, self.const(bits), direction="RIGHT")
        if divisor.known is None:
            zero = self._apply("Equal", divisor, self.const(0), out=BOOL)
            divisor = self._apply("Where", zero, self.const(1), divisor)
        rest = self._rest(value, divisor)
        whole = self._apply("Sub", value, rest)
        return self._apply("Div", whole, divisor)

    def bcast(self, first: Size, second: Size, /) -> Size:
        """Return the second where the first is one."""
        one = self._apply("Equal", first, self.const(1), out=BOOL)
        return self._apply("Where", one, second, first)

    def select(self, test: Size, negative: Size, other: Size, /) -> Size:
        """Return the second where the first is negative, else the third."""
        below = self._apply("Less", test, self.const(0), out=BOOL)
        return self._apply("Where", below, negative, other)


def _bits_of(number: int | None) -> int | None:
    """Return how far a shift to the right divides by a number, None for any other."""
    if number is None or number < 2 or number & (number - 1):
        return None
    return number.bit_length() - 1


def _remainder(n: DimLike) -> tuple[DimLike, int] | None:
    """Return what a size is the remainder of, where it is ``v - d * (v // d)``."""
    if not isinstance(n, Dim):
        return None
    for monomial, factor in n.poly.terms:
        atom = monomial.atom
        if not isinstance(atom, FloorDiv) or atom.args[1].value != -factor or factor >= 0:
            continue
        if n.poly - atom_poly(atom) * factor is atom.args[0]:
            return n.env.dim(atom.args[0]), -factor
    return None


def _axis_of(n: DimLike) -> tuple[Value, int] | None:
    """Return value and axis where a size is just an axis of a value."""
    if not isinstance(n, Dim):
        return None
    symbol = n.poly.atom
    origin = symbol.origin if isinstance(symbol, Symbol) else None
    if isinstance(origin, tuple) and origin[1] is not None:
        return origin
    return None
