# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, bitwise operators and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.dtypes import (
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)

from .elementwise_base import (
    Term,
    by_kind,
    direct,
    formula,
    known_scalar,
    pick,
    primitive,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.op import Emit, Handle, Rule
    from onnxjit._core.program import Equation

    from .row import Function, Ufunc

__all__ = ["ROWS"]

NOT: Final = direct("Not")


# --- comparisons --------------------------------------------------------------------------


def _mixed(op_type: str, *, of_negative: bool) -> Callable[[Term, Term], Term]:
    """Return the comparison of int64 with uint64: a negative int64 is below every uint64."""

    def compare(x: Term, y: Term) -> Term:
        negative = x < 0
        made = x.to(UINT64).op(op_type, y, out=BOOL)
        return negative | made if of_negative else ~negative & made

    return compare


_MIRRORED: Final = {
    "Less": "Greater", "Greater": "Less", "LessOrEqual": "GreaterOrEqual",
    "GreaterOrEqual": "LessOrEqual", "Equal": "Equal",
}  # fmt: skip


def _comparison(op_type: str, of_bools: Callable[[Term, Term], Term] | None) -> Rule:
    below, above = op_type.startswith("Less"), op_type.startswith("Greater")
    first = _mixed(op_type, of_negative=below)
    second = _mixed(_MIRRORED[op_type], of_negative=above)

    def compare(x: Term, y: Term) -> Term:
        if x.dtype is y.dtype:
            return x.op(op_type, y, out=BOOL)
        return first(x, y) if x.dtype is INT64 else second(y, x)

    return by_kind(formula(compare), **({"b": formula(of_bools)} if of_bools else {}))


def _unlike(rule: Rule) -> Rule:
    def negated(e: Emit, equation: Equation, *handles: Handle) -> Any:
        return e.op("Not", rule(e, equation, *handles), out=BOOL)  # type: ignore[arg-type]

    return negated


def _not(x: Term) -> Term:
    return x.op("Not")


_EQUAL: Final = _comparison("Equal", None)

EQUAL = primitive(np.equal, _EQUAL, result=truth, api="equal")
NOT_EQUAL = primitive(np.not_equal, _unlike(_EQUAL), result=truth, api="not_equal")
LESS = primitive(
    np.less, _comparison("Less", lambda x, y: _not(x) & y), result=truth, api="less"
)
LESS_EQUAL = primitive(
    np.less_equal,
    _comparison("LessOrEqual", lambda x, y: _not(x) | y),
    result=truth,
    api="less_equal",
)
GREATER = primitive(
    np.greater, _comparison("Greater", lambda x, y: x & _not(y)), result=truth, api="greater"
)
GREATER_EQUAL = primitive(
    np.greater_equal,
    _comparison("GreaterOrEqual", lambda x, y: x | _not(y)),
    result=truth,
    api="greater_equal",
)


# --- kinds of floats ----------------------------------------------------------------------


def _never(x: Term) -> Term:
    x = x.to(UINT8) if x.dtype is BOOL else x
    return x < x  # noqa: PLR0124  false, of the operand's shape


def _always(x: Term) -> Term:
    x = x.to(UINT8) if x.dtype is BOOL else x
    return x.equals(x)


def _is_finite(x: Term) -> Term:
    return abs(x) < np.inf


ISNAN = primitive(
    np.isnan, by_kind(formula(_never), f=direct("IsNaN")), result=truth, api="isnan"
)
ISINF = primitive(
    np.isinf, by_kind(formula(_never), f=direct("IsInf")), result=truth, api="isinf"
)
ISFINITE = primitive(
    np.isfinite, by_kind(formula(_always), f=formula(_is_finite)), result=truth, api="isfinite"
)


# --- logic --------------------------------------------------------------------------------


def _of_truths(op_type: str) -> Rule:
    """Return the rule of a logical operator: operands count as true where they are not 0."""

    def rule(e: Emit, _equation: Equation, x: Handle, y: Handle) -> Handle:
        return e.op(op_type, e.cast(x, BOOL), e.cast(y, BOOL), out=BOOL)

    return rule


def _is_zero(x: Term) -> Term:
    return x.equals(0)


LOGICAL_AND = primitive(np.logical_and, _of_truths("And"), result=truth, api="logical_and")
LOGICAL_OR = primitive(np.logical_or, _of_truths("Or"), result=truth, api="logical_or")
LOGICAL_XOR = primitive(np.logical_xor, _of_truths("Xor"), result=truth, api="logical_xor")
LOGICAL_NOT = primitive(
    np.logical_not, by_kind(formula(_is_zero), b=NOT), result=truth, api="logical_not"
)


# --- bits, from opset 18 ------------------------------------------------------------------


def _low_mask(equation: Equation) -> tuple[int, int] | None:
    """Return (place, 2**k) of a known operand 2**k - 1: ``x & (2**k - 1)`` is ``x % 2**k``."""
    for place, value in enumerate(equation.inputs):
        mask = known_scalar(value)
        if isinstance(mask, int) and mask > 0 and mask & (mask + 1) == 0:
            top = np.iinfo(value.dtype.name).max
            if mask < top and value.ndim <= equation.inputs[1 - place].ndim:
                return place, mask + 1
    return None


# --- bits, before opset 18: tables over bytes ----------------------------------------------


def byte_axis(x: Term, count: int) -> Term:
    """Return the bytes of unsigned numbers along a new last axis, lowest first, as int64."""
    x = x.to(UINT64).op("Unsqueeze", Term(x.e, x.e.const([-1], INT64)))
    shifts = np.arange(0, 8 * count, 8, dtype=np.uint64)
    return x.op("BitShift", x.const(shifts), direction="RIGHT").op("Mod", 256).to(INT64)


def _table(ufunc: np.ufunc) -> Any:
    byte = np.arange(256, dtype=np.uint8)
    return ufunc.outer(byte, byte).ravel()


def _by_bytes(ufunc: np.ufunc) -> Rule:
    """Return the rule that looks pairs of bytes up in a table of 65,536."""
    table = _table(ufunc)

    def bits(x: Term, y: Term) -> Term:
        dtype, count = x.dtype, x.dtype.bits // 8
        unsigned = UNSIGNED[dtype]
        index = byte_axis(x.to(unsigned), count) * 256 + byte_axis(y.to(unsigned), count)
        found = Term(
            x.e, x.e.op("Gather", x.e.const(table, UINT8), index.h, out=UINT8, axis=0)
        )
        weights = 1 << np.arange(0, 8 * count, 8, dtype=np.uint64)
        return found.to(UINT64).op("MatMul", found.to(UINT64).const(weights)).to(dtype)

    def of_equation(e: Emit, equation: Equation, *handles: Handle) -> Handle:
        x, y = (Term(e, h) for h in handles)
        if ufunc is np.bitwise_and:
            low = _low_mask(equation)
            if low is not None:
                return ((y, x)[low[0]]).op("Mod", low[1]).h
        return bits(x, y).h

    return of_equation


UNSIGNED: Final[dict[DType, DType]] = {
    INT8: UINT8, INT16: UINT16, INT32: UINT32, INT64: UINT64,
    UINT8: UINT8, UINT16: UINT16, UINT32: UINT32, UINT64: UINT64,
}  # fmt: skip


def _bitwise(ufunc: np.ufunc, of_bools: str, op_type: str, api: str) -> Ufunc:
    logical = direct(of_bools)
    return primitive(
        ufunc,
        {13: by_kind(_by_bytes(ufunc), b=logical), 18: by_kind(direct(op_type), b=logical)},
        api=api,
    )


BITWISE_AND = _bitwise(np.bitwise_and, "And", "BitwiseAnd", "bitwise_and")
BITWISE_OR = _bitwise(np.bitwise_or, "Or", "BitwiseOr", "bitwise_or")
BITWISE_XOR = _bitwise(np.bitwise_xor, "Xor", "BitwiseXor", "bitwise_xor")


def _complement(x: Term) -> Term:
    return -1 - x if x.dtype.kind == "i" else np.iinfo(x.dtype.name).max - x


INVERT = primitive(
    np.invert,
    {13: by_kind(formula(_complement), b=NOT), 18: by_kind(direct("BitwiseNot"), b=NOT)},
    api="bitwise_invert",
)


# --- shifts -------------------------------------------------------------------------------


def _shift_left(x: Term, by: Term) -> Term:
    # a negative count is a huge one when read as unsigned, and gives 0 like every one >= width
    unsigned = UNSIGNED[x.dtype]
    return x.to(unsigned).op("BitShift", by.to(unsigned), direction="LEFT").to(x.dtype)


def _shift_right(x: Term, by: Term) -> Term:
    # ~x is not negative where x is, and x >> n is ~(~x >> n)
    unsigned, negative = UNSIGNED[x.dtype], x < 0
    magnitude = pick(negative, _complement(x), x).to(unsigned)
    shifted = magnitude.op("BitShift", by.to(unsigned), direction="RIGHT").to(x.dtype)
    return pick(negative, _complement(shifted), shifted)


LEFT_SHIFT = primitive(
    np.left_shift,
    {
        11: by_kind(direct("BitShift", direction="LEFT"), i=formula(_shift_left)),
        28: direct("BitShift", direction="LEFT"),
    },
    api="bitwise_left_shift",
)
RIGHT_SHIFT = primitive(
    np.right_shift,
    {
        11: by_kind(direct("BitShift", direction="RIGHT"), i=formula(_shift_right)),
        28: direct("BitShift", direction="RIGHT"),
    },
    api="bitwise_right_shift",
)


_POPULATION: Final = np.array([(i).bit_count() for i in range(256)], np.int32)


def _population(x: Term) -> Term:
    """Count ones byte by byte; of a negative number in its absolute value."""
    count = x.dtype.bits // 8
    if x.dtype.kind == "i":
        x = abs(x).to(UNSIGNED[x.dtype])
    index = byte_axis(x, count)
    ones = Term(
        x.e, x.e.op("Gather", x.e.const(_POPULATION, INT32), index.h, out=INT32, axis=0)
    )
    return ones.op("ReduceSum", Term(x.e, x.e.const([-1], INT64)), keepdims=0)


def _byte_result(x: Tensor) -> Tensor:
    return Tensor(UINT8, x.shape)


BITWISE_COUNT = primitive(
    np.bitwise_count, formula(_population), result=_byte_result, api="bitwise_count"
)


ROWS: list[Function | Ufunc] = [
    EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LOGICAL_AND, LOGICAL_OR,
    LOGICAL_XOR, LOGICAL_NOT, BITWISE_AND, BITWISE_OR, BITWISE_XOR, INVERT, LEFT_SHIFT,
    RIGHT_SHIFT, BITWISE_COUNT, ISNAN, ISINF, ISFINITE,
]  # fmt: skip
