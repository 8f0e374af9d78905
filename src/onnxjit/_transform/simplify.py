# SPDX-License-Identifier: Apache-2.0
"""Operations that do nothing, and pairs that are one operation.

onnxruntime does none of this for reshapes, slices and broadcasts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from onnxjit._core.dims import same

if TYPE_CHECKING:
    from onnxjit._core.dtypes import DType
    from onnxjit._core.program import Equation, Value

    from .rewrite import Rewrite, Rule

__all__ = ["RULES", "holds"]

#: bits of integers that floats hold exactly
_MANTISSA: Final = {16: 11, 32: 24, 64: 53}


@cache
def holds(wide: DType, narrow: DType) -> bool:
    """Whether every value of a dtype survives a cast to another."""
    if wide is narrow or narrow.kind == "b":
        return wide.kind in "biuf" or wide is narrow
    if wide.kind == "b" or narrow.kind not in "iufc" or wide.kind not in "iufc":
        return False
    if narrow.kind in "fc":
        if wide.kind == "c":
            return wide.bits >= narrow.bits * (2 if narrow.kind == "f" else 1)
        return wide.kind == narrow.kind and wide.bits >= narrow.bits
    needed = narrow.bits - (narrow.kind == "i")
    if wide.kind == "i":
        return wide.bits - 1 >= needed
    if wide.kind == "u":
        return narrow.kind == "u" and wide.bits >= needed
    return _MANTISSA.get(wide.bits // (2 if wide.kind == "c" else 1), 0) >= needed


def _same_shape(a: Value, b: Value) -> bool:
    m, n = a.shape, b.shape
    return m is n or (len(m) == len(n) and all(map(same, m, n)))


def _maker(value: Value, name: str) -> Equation | None:
    equation = value.equation
    return equation if equation is not None and equation.op.name == name else None


def _cast(do: Rewrite, equation: Equation) -> Value | None:
    (x,) = equation.inputs
    dtype = equation.outputs[0].dtype
    if x.dtype is dtype:
        return x
    inner = _maker(x, equation.op.name)
    if inner is None:
        return None
    source = inner.inputs[0]
    if not holds(x.dtype, source.dtype) or source.dtype.kind == "c":
        return None
    if source.dtype is dtype:
        return source
    # integers wrap on the way to a narrower integer, floats need not
    if x.dtype.kind == "f" and source.dtype.kind in "iu" and dtype.kind in "iu":
        return None
    return do.make(equation, equation.op, (source,), **equation.params)


def _transpose(do: Rewrite, equation: Equation) -> Value | None:
    (x,) = equation.inputs
    perm = equation.params["perm"]
    inner = _maker(x, equation.op.name)
    if inner is not None:
        x = inner.inputs[0]
        perm = tuple(inner.params["perm"][i] for i in perm)
    if tuple(perm) == tuple(range(len(perm))):
        return x
    return do.make(equation, equation.op, (x,), perm=perm) if inner is not None else None


def _reshape(do: Rewrite, equation: Equation) -> Value | None:
    """Of two, the last alone gives the result."""
    x = equation.inputs[0]
    out = equation.outputs[0]
    if _same_shape(x, out):
        return x
    inner = _maker(x, equation.op.name)
    if inner is None or len(inner.inputs) != 1:
        return None
    source = inner.inputs[0]
    if equation.op.name == "reshape" and _same_shape(source, out):
        return source
    return do.make(equation, equation.op, (source,), **equation.params)


def _broadcast(do: Rewrite, equation: Equation) -> Value | None:
    """As reshapes, unless the run has to check that the first result fits the second."""
    have, want = equation.inputs[0].shape, equation.outputs[0].shape
    pairs = zip(reversed(have), reversed(want), strict=False)
    return _reshape(do, equation) if all(same(n, 1) or same(n, m) for n, m in pairs) else None


def _slice(_: Rewrite, equation: Equation) -> Value | None:
    x = equation.inputs[0]
    whole = all(type(s) is int and s == 1 for s in equation.params["steps"])
    return x if whole and _same_shape(x, equation.outputs[0]) else None


RULES: Final[dict[str, Rule]] = {
    "cast": _cast,
    "transpose": _transpose,
    "reshape": _reshape,
    "broadcast_to": _broadcast,
    "slice": _slice,
}
