# SPDX-License-Identifier: Apache-2.0
"""Which dtypes an operator takes at an opset, and the detour for one that it does not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from onnxjit._core.dtypes import (
    ALL,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
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

from .kernel_table import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOVERS", "TRUTHS", "WIDER", "Parameter", "Target", "detour", "parameters"]

Target = Literal["onnxruntime", "spec"]

#: dtypes that hold every value of a dtype, nearest first; widening never changes the kind of
#: arithmetic, except that False and True are 0 and 1
WIDER: Final[dict[DType, tuple[DType, ...]]] = {
    BOOL: (UINT8, INT32, INT64),
    INT8: (INT16, INT32, INT64),
    INT16: (INT32, INT64),
    INT32: (INT64,),
    UINT8: (UINT16, INT16, INT32, UINT32, INT64),
    UINT16: (INT32, UINT32, INT64),
    UINT32: (INT64, UINT64),
    FLOAT16: (FLOAT32, FLOAT64),
    FLOAT32: (FLOAT64,),
}

#: operators that only move, select or compare elements for equality: any bijection will do
MOVERS: Final = frozenset({
    "Compress", "Concat", "ConstantOfShape", "DepthToSpace", "Equal", "Expand", "Flatten",
    "Gather", "GatherElements", "GatherND", "Identity", "OneHot", "Pad", "Reshape",
    "ReverseSequence", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split",
    "Squeeze", "Tile", "Transpose", "Trilu", "Unsqueeze", "Where",
})  # fmt: skip
#: the bijection for dtypes that nothing is wider than
_SAME_BITS: Final = {UINT64: INT64}
#: operators that ask only whether an element is zero
TRUTHS: Final = frozenset({"NonZero"})

_LETTERS: Final[dict[str, DType]] = {t.numpy.char if t.kind != "U" else "U": t for t in ALL}
_EVERYTHING: Final = frozenset(t for t in ALL if t.kind != "c")


class Parameter:
    """A type parameter of an operator.

    Attributes
    ----------
    first : int
        First input that has the type.
    inputs, outputs : tuple of int
        Positions that have the type.
    rest : int or None
        First position of a variadic input that has it.
    native, legal : frozenset of DType
        What onnxruntime has kernels for; what the standard allows.
    """

    __slots__ = ("first", "inputs", "legal", "native", "outputs", "rest", "rest_out")

    def __init__(self, places: str, native: str, legal: str) -> None:
        inputs, outputs = places.split(">")
        self.inputs, self.rest = _positions(inputs)
        self.first = self.inputs[0] if self.inputs else self.rest or 0
        self.outputs, self.rest_out = _positions(outputs)
        self.native = _dtypes(native)
        self.legal = _dtypes(legal)

    def positions(self, count: int) -> Iterator[int]:
        """Yield which of `count` inputs have the type."""
        yield from (i for i in self.inputs if i < count)
        if self.rest is not None:
            yield from range(self.rest, count)

    def has_output(self, index: int) -> bool:
        """Whether a result has the type."""
        return index in self.outputs or (self.rest_out is not None and index >= self.rest_out)


def _positions(text: str) -> tuple[tuple[int, ...], int | None]:
    items = [item for item in text.split(",") if item]
    rest = next((int(item[:-1]) for item in items if item.endswith("+")), None)
    return tuple(int(item) for item in items if not item.endswith("+")), rest


def _dtypes(letters: str) -> frozenset[DType]:
    return _EVERYTHING if letters == "*" else frozenset(_LETTERS[c] for c in letters)


@cache
def _lines() -> dict[str, list[tuple[int, list[str]]]]:
    found: dict[str, list[tuple[int, list[str]]]] = {}
    for line in TABLE.splitlines():
        op, since, *rest = line.split(" ")
        found.setdefault(op, []).append((int(since), rest))
    return found


@cache
def parameters(op_type: str, opset: int) -> tuple[Parameter, ...]:
    """Return the type parameters of a standard operator that do not take every dtype."""
    lines = _lines().get(op_type, ())
    version = max((since for since, _ in lines if since <= opset), default=0)
    return tuple(
        Parameter(*rest[1:]) for since, rest in lines if since == version and rest[0] != "-"
    )


def detour(op_type: str, dtype: DType, allowed: frozenset[DType]) -> DType | None:
    """Return the dtype to go through where `dtype` is not taken; None when there is none.

    A cast to it and back (of the results that have the type) gives the same values, except
    where integer arithmetic would wrap, which casting back to the narrower type restores.
    """
    if op_type in TRUTHS:
        return BOOL
    wide = next((w for w in WIDER.get(dtype, ()) if w in allowed), None)
    if wide is None and op_type in MOVERS:
        wide = _SAME_BITS.get(dtype)
        return wide if wide in allowed else None
    return wide
