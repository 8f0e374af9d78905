# SPDX-License-Identifier: Apache-2.0
"""What a sweep over branches and loops finds decided: constants, and choices that are simpler.

onnxruntime folds constants itself, but it crashes on an If inside of an If whose conditions
are one constant; and a choice of truth values that is one And would be four nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.bind import DIM, bind, dim_value
from onnxjit._core.dim_fold import evaluate_poly
from onnxjit._core.dims import Dim, lower, same, symbols_of, upper
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.region import COND
from onnxjit._ops.elementwise import (
    add,
    bitwise_xor,
    equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    subtract,
)
from onnxjit._ops.elementwise_where import WHERE, choose
from onnxjit._ops.structure import same_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.dims import DimLike, Symbol
    from onnxjit._core.program import Block, Equation, Value

__all__ = ["better_choice", "decided", "folded"]

_LOGICAL: Final = frozenset({"logical_and", "logical_or"})
#: comparisons of the second operand with the third: the choice that is a maximum or minimum
_FIRST: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "less": minimum, "less_equal": minimum, "greater": maximum, "greater_equal": maximum,
}  # fmt: skip
_SECOND: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "less": maximum, "less_equal": maximum, "greater": minimum, "greater_equal": minimum,
}  # fmt: skip


def folded(equation: Equation) -> tuple[Value, ...] | None:
    """Return what an equation gives if its operands are known or make it simpler."""
    op, inputs = equation.op, equation.inputs
    if op is DIM:
        size = _known_size(equation.params["dim"])
        return None if size is None else (dim_value(size),)
    if equation.blocks or op.stateful or not inputs:
        return None
    if op.evaluate is not None and all(v.known is not None for v in inputs):
        try:
            found = bind(op, *inputs, **equation.params)
        except Exception:  # noqa: BLE001  NumPy's: only a run knows whether it gets there
            return None
        return found if all(v.known is not None for v in found) else None
    if op.name == "logical_not":
        inner = inputs[0].equation
        if inner is not None and inner.op is op and inner.inputs[0].dtype is BOOL:
            return inner.inputs
    if op.name in _LOGICAL and all(v.dtype is BOOL and not v.ndim for v in inputs):
        kept = _of_logical(op.name, *inputs)
        return None if kept is None else (kept,)
    if op is WHERE:
        better = _better(*inputs)
        return None if better is None else (better,)
    return None


def _known_size(dim: DimLike) -> int | None:
    """Return a size that guards have fixed, or that is made of integers which are known."""
    if not isinstance(dim, Dim):
        return dim
    size = dim.env.resolve(dim)
    if not isinstance(size, Dim):
        return size
    values: dict[Symbol, int] = {}
    for symbol in symbols_of(size):
        origin = symbol.origin
        if not isinstance(origin, tuple) or origin[1] is not None:
            return None
        if origin[0].known is None:
            return None
        values[symbol] = int(origin[0].known)
    return evaluate_poly(size.poly, values)


def _of_logical(name: str, a: Value, b: Value) -> Value | None:
    """Return which operand an And or Or is, where one of them is known."""
    neutral = name == "logical_and"
    for one, other in ((a, b), (b, a)):
        if _is(one, value=neutral):
            return other
        if _is(one, value=not neutral):
            return one
    return a if a is b else None


def decided(equation: Equation) -> Block | None:
    """Return the branch of an If that is the only one to run."""
    if equation.op is not COND or equation.inputs[0].known is None:
        return None
    return equation.blocks[0 if equation.inputs[0].known.item() else 1]


def better_choice(pred: Value, x: Value, y: Value) -> Value:
    """Return `x` where a condition holds, else `y`, by the least operations."""
    better = _better(pred, x, y)
    return choose(pred, x, y) if better is None else better


def _better(pred: Value, x: Value, y: Value) -> Value | None:
    if not (same_shape(x.shape, y.shape) and same_shape(pred.shape, x.shape)):
        return None
    if pred.known is not None and not pred.ndim:
        return x if pred.known.item() else y
    if x is y:
        return x
    if x.dtype is BOOL:
        return _of_truth(pred, x, y)
    made = pred.equation
    bit = _bit(pred)
    if bit is not None and x.dtype is INT64 and not x.ndim and x.dtype is y.dtype:
        return _by_bit(bit, x, y)
    if made is not None and made.op.name == "not_equal":
        return better_choice(equal(*made.inputs), y, x)
    if x.dtype.kind in "iu" and made is not None and x.dtype is y.dtype:
        for pair, ways in (((x, y), _FIRST), ((y, x), _SECOND)):
            if made.op.name in ways and made.inputs == pair:
                return ways[made.op.name](x, y)
    return None


def _bit(pred: Value) -> Value | None:
    """Return a number that is 1 where a condition holds and 0 where not."""
    made = pred.equation
    if made is None or made.op.name != "not_equal" or pred.ndim:
        return None
    number, zero = made.inputs
    source = number.equation
    dim = source.params["dim"] if source is not None and source.op is DIM else 0
    is_bit = isinstance(dim, Dim) and lower(dim) == 0 and upper(dim) == 1
    is_zero = zero.known is not None and not zero.known.any()
    return number if is_bit and is_zero else None


def _are_same(a: Value, b: Value) -> bool:
    if a is b:
        return True
    m, n = a.equation, b.equation
    sizes = m is not None and n is not None and m.op is DIM and n.op is DIM
    return sizes and same(m.params["dim"], n.params["dim"])  # type: ignore[union-attr]


def _by_bit(bit: Value, x: Value, y: Value) -> Value:
    """Return `x` where a bit is 1: integers wrap, so that arithmetic is exact.

    Where takes ten times as long as Mul and Add for single numbers.
    """
    made = x.equation
    if made is not None and made.op.name == "bitwise_xor":
        for one, other in (made.inputs, made.inputs[::-1]):
            if _are_same(one, y):
                found: Value = bitwise_xor(y, multiply(other, bit))
                return found
    found = add(y, multiply(subtract(x, y), bit))
    return found  # noqa: RET504  its type is not known otherwise


def _of_truth(pred: Value, x: Value, y: Value) -> Value | None:
    """Return a choice of two truth values."""
    found: Value | None = None
    if x is pred or _is(x, value=True):
        found = pred if _is(y, value=False) else logical_or(pred, y)
    elif y is pred or _is(y, value=False):
        found = logical_and(pred, x)
    elif _is(x, value=False):
        unlike = logical_not(pred)
        found = unlike if _is(y, value=True) else logical_and(unlike, y)
    elif _is(y, value=True):
        found = logical_or(logical_not(pred), x)
    return found


def _is(x: Value, *, value: bool) -> bool:
    return x.known is not None and not x.ndim and bool(x.known) is value
