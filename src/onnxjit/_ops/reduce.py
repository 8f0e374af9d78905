# SPDX-License-Identifier: Apache-2.0
"""Primitive reductions over one or more axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one
from onnxjit._core.dims import Dim, DimLike, dim_prod, upper
from onnxjit._core.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT16,
    INT64,
    INTEGERS,
    UINT8,
)
from onnxjit._core.op import Op

from .cast import cast
from .reduce_exact import from_ordered, integer_sum, reduced_shape, to_ordered

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = [
    "count_true", "reduce_all", "reduce_any", "reduce_max", "reduce_min", "reduce_prod",
    "reduce_sum",
]  # fmt: skip

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]
#: how a reduction node is written: ``spell(e, operator, x, axes, keepdims)``
Spell = Callable[..., "Handle"]

#: float32 sums of more elements than this are taken in two stages
LONG: Final = 4096
_BLOCK: Final = 1024
#: more elements than this cannot be counted in float32
_EXACT_FLOAT32: Final = 1 << 24


def axes_attribute(e: Emit, op: str, x: Handle, axes: Axes, keepdims: bool) -> Handle:
    """Write a reduction with its axes as an attribute."""
    return e.op(op, x, axes=list(axes), keepdims=int(keepdims))


def axes_input(e: Emit, op: str, x: Handle, axes: Axes, keepdims: bool) -> Handle:
    """Write a reduction with its axes as an input."""
    return e.op(op, x, e.const(np.array(axes, np.int64)), keepdims=int(keepdims))


def _reduced(x: Tensor, *, axes: Axes, keepdims: bool) -> Tensor:
    return Tensor(x.dtype, reduced_shape(x.shape, axes, keepdims=keepdims))


def _counted(x: Tensor, *, axes: Axes, keepdims: bool) -> Tensor:
    return Tensor(INT64, reduced_shape(x.shape, axes, keepdims=keepdims))


def _numpy(ufunc: np.ufunc) -> Callable[..., Any]:
    def evaluate(x: Array, *, axes: Axes, keepdims: bool) -> Any:
        return ufunc.reduce(x, axis=axes, dtype=x.dtype, keepdims=keepdims)

    return evaluate


# --- sum -------------------------------------------------------------------------------------


def _length(equation: Equation) -> DimLike:
    return dim_prod(equation.inputs[0].shape[i] for i in equation.params["axes"])


def _is_long(length: DimLike) -> bool:
    """Whether a float32 sum may lose digits that NumPy's pairwise sum keeps."""
    most = upper(length)
    return most is None or most > LONG


def _divisor(length: int) -> int | None:
    """Return a length of blocks that leave no rest, the one nearest to the root."""
    root = round(length**0.5)
    near = sorted(range(64, LONG + 1), key=lambda d: abs(d - root))
    return next((d for d in near if length % d == 0), None)


def _blocks(e: Emit, length: Handle) -> tuple[Handle, Handle, Handle]:
    """Return the number of blocks, their length and how much is missing, as [1] int64.

    The blocks are as even as possible, so that padding adds less than one element to each.
    """
    one = e.const(np.array([1], np.int64))
    size = e.const(np.array([_BLOCK], np.int64))
    most = e.const(np.array([_BLOCK - 1], np.int64))
    number = e.op("Max", e.op("Div", e.op("Add", length, most), size), one)
    block = e.op("Div", e.op("Sub", e.op("Add", length, number), one), number)
    block = e.op("Max", block, one)
    return number, block, e.op("Sub", e.op("Mul", number, block), length)


def _is_flat(equation: Equation, x: Handle) -> bool:
    """Whether float32 elements of unknown number are summed to one."""
    axes: Axes = equation.params["axes"]
    whole = len(axes) == equation.inputs[0].ndim > 0
    return x.dtype is FLOAT32 and whole and isinstance(_length(equation), Dim)


def _flat_sum(e: Emit, equation: Equation, x: Handle) -> Handle:
    """Sum all elements in blocks of 1024, then the sums of the blocks.

    There is always a zero of padding, so that the result is 0.0 where NumPy's is.
    """
    size = e.const(np.array([_BLOCK], np.int64))
    if equation.inputs[0].ndim > 1:
        x = e.op("Reshape", x, e.const(np.array([-1], np.int64)))
    length = e.op("Shape", x, out=INT64)
    missing = e.op("Sub", size, e.op("Mod", length, size))
    pads = e.op("Concat", e.const(np.array([0], np.int64)), missing, axis=0)
    x = e.op("Pad", x, pads, e.const(0, x.dtype), mode="constant")
    x = e.op("Reshape", x, e.const(np.array([-1, _BLOCK], np.int64)))
    x = axes_input(e, "ReduceSum", axes_input(e, "ReduceSum", x, (-1,), False), (-1,), False)
    if equation.params["keepdims"]:
        x = e.op("Unsqueeze", x, e.const(np.array(equation.params["axes"], np.int64)))
    return x


def _two_stages(e: Emit, x: Handle, rank: int, length: DimLike) -> Handle:
    """Sum the last axis in blocks of about a thousand, then the sums of the blocks."""
    kept = [0] * (rank - 1)  # Reshape copies these sizes
    even = None if isinstance(length, Dim) else _divisor(length)
    if even is not None and not isinstance(length, Dim):
        target = e.const(np.array([*kept, length // even, even], np.int64))
    else:
        number, block, missing = _blocks(e, e.dims((length,)))
        zeros = e.const(np.zeros(2 * rank - 1, np.int64))
        pads = e.op("Concat", zeros, missing, axis=0)
        x = e.op("Pad", x, pads, e.const(0, x.dtype), mode="constant")
        lead = (e.const(np.array(kept, np.int64)),) if kept else ()
        target = e.op("Concat", *lead, number, block, axis=0)
    x = e.op("Reshape", x, target)
    return axes_input(
        e, "ReduceSum", axes_input(e, "ReduceSum", x, (-1,), False), (-1,), False
    )


def _trailing_sum(e: Emit, equation: Equation, x: Handle) -> Handle:
    """Sum the last axes of float32, each in two stages where it may be long."""
    shape = equation.inputs[0].shape
    axes: Axes = equation.params["axes"]
    if len(axes) == len(shape) > 1:
        x = e.op("Reshape", x, e.const(np.array([-1], np.int64)))
        shape = (dim_prod(shape),)
    while len(shape) > equation.inputs[0].ndim - len(axes):
        if _is_long(shape[-1]):
            x = _two_stages(e, x, len(shape), shape[-1])
        else:
            x = axes_input(e, "ReduceSum", x, (-1,), False)
        shape = shape[:-1]
    if equation.params["keepdims"]:
        x = e.op("Unsqueeze", x, e.const(np.array(axes, np.int64)))
    return x


def _plain_sum(e: Emit, equation: Equation, x: Handle) -> Handle:
    axes, keepdims = equation.params["axes"], equation.params["keepdims"]
    ndim = equation.inputs[0].ndim
    trailing = axes == tuple(range(ndim - len(axes), ndim))
    # elsewhere NumPy adds row by row too
    if x.dtype is FLOAT32 and trailing and _is_long(_length(equation)):
        return _trailing_sum(e, equation, x)
    return axes_input(e, "ReduceSum", x, axes, keepdims)


#: operations that never give -0.0
_NOT_MINUS_ZERO: Final = frozenset({"absolute", "cosh", "exp", "exp2", "fabs", "square"})
#: operations that give elements of their first operand, or of its size
_SAME_SIGNS: Final = frozenset({
    "broadcast_to", "cast", "expand_dims", "reshape", "slice", "sqrt", "squeeze", "transpose",
})  # fmt: skip


def _may_be_minus_zero(x: Value) -> bool:
    """Whether all elements may be -0.0; a sum that has another one is not."""
    made = x.equation
    while made is not None and made.op.name in _SAME_SIGNS:
        if made.inputs[0].dtype.kind != "f":
            return False  # cast from a dtype without it
        made = made.inputs[0].equation
    if made is None:
        return True
    if made.op.name == "multiply":
        return made.inputs[0] is not made.inputs[1]
    if made.op.name == "power":
        exponent = made.inputs[1].known
        return exponent is None or bool(np.any(exponent % 2 != 0))
    return made.op.name not in _NOT_MINUS_ZERO


def _float_sum(e: Emit, equation: Equation, x: Handle) -> Handle:
    """Sum; the node named Sum turns a result of -0.0 into NumPy's 0.0.

    NumPy starts at 0.0.  onnxruntime's optimiser removes an Add of zero, but not a Sum.
    """
    wide = FLOAT32 if x.dtype is FLOAT16 else x.dtype
    y = e.cast(x, wide)
    if _is_flat(equation, y):
        return e.cast(_flat_sum(e, equation, y), x.dtype)
    if equation.params["axes"]:
        y = _plain_sum(e, equation, y)
        if not _may_be_minus_zero(equation.inputs[0]):
            return e.cast(y, x.dtype)
    return e.cast(e.op("Sum", y, e.const(0, wide)), x.dtype)


SUM: Final = Op(
    "reduce_sum",
    result=_reduced,
    lower={13: _float_sum},
    evaluate=_numpy(np.add),
    parts="each",
)


def _lower_count(e: Emit, equation: Equation, x: Handle) -> Handle:
    """Count in floats: exact in float32 below 2**24, in float64 for all that fits memory."""
    most = upper(_length(equation))
    small = most is not None and most < _EXACT_FLOAT32
    axes, keepdims = equation.params["axes"], equation.params["keepdims"]
    y = e.cast(x, FLOAT32 if small else FLOAT64)
    return e.cast(axes_input(e, "ReduceSum", y, axes, keepdims), INT64)


COUNT: Final = Op(
    "count_true",
    result=_counted,
    lower={13: _lower_count},
    evaluate=lambda x, *, axes, keepdims: np.sum(
        x, axis=axes, keepdims=keepdims, dtype=np.int64
    ),
)


def reduce_sum(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Sum over axes, in the dtype of `x`.

    Notes
    -----
    Integers: modulo 2**n for every length (MatMul with ones, in int64).  float16: in float32,
    rounded once.  float32: relative error about 1e-7 for sums of one sign; sums over the last
    axes of more than 4096 elements (or of unknown length) are taken in two stages.
    """
    if x.dtype in INTEGERS:
        wide = x.dtype if x.dtype.bits == 64 else INT64
        return cast(integer_sum(cast(x, wide), axes, keepdims=keepdims), x.dtype)
    return bind_one(SUM, x, axes=axes, keepdims=keepdims)


def count_true(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Count the true elements along axes, as int64."""
    if not axes:
        return cast(x, INT64)
    return bind_one(COUNT, x, axes=axes, keepdims=keepdims)


# --- product ---------------------------------------------------------------------------------


def _product(spell: Spell) -> Callable[..., Handle]:
    def lower(e: Emit, equation: Equation, x: Handle) -> Handle:
        p = equation.params
        wide = FLOAT32 if x.dtype is FLOAT16 else x.dtype
        return e.cast(
            spell(e, "ReduceProd", e.cast(x, wide), p["axes"], p["keepdims"]), x.dtype
        )

    return lower


PROD: Final = Op(
    "reduce_prod",
    result=_reduced,
    lower={13: _product(axes_attribute), 18: _product(axes_input)},
    evaluate=_numpy(np.multiply),
)


def reduce_prod(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Multiply floats, or complex numbers, along axes.

    Notes
    -----
    ReduceProd; float16 runs in float32 and is rounded once, where NumPy rounds each step.
    """
    if x.dtype.kind == "c":
        from .complex_reduce import product_over

        return product_over(x, axes, keepdims=keepdims)
    return bind_one(PROD, x, axes=axes, keepdims=keepdims) if axes else x


# --- extrema ---------------------------------------------------------------------------------


def _extremum(spell: Spell, node: str) -> Callable[..., Handle]:
    def plain(e: Emit, equation: Equation, x: Handle) -> Handle:
        p = equation.params
        y = spell(e, node, to_ordered(e, x), p["axes"], p["keepdims"])
        if x.dtype is INT16 and isinstance(_length(equation), Dim):
            # of nothing, the int32 extreme: keep it extreme in int16
            info = np.iinfo(np.int16)
            clamp = ("Max", info.min) if node == "ReduceMax" else ("Min", info.max)
            y = e.op(clamp[0], y, e.const(clamp[1], y.dtype))
        return from_ordered(e, y, x.dtype)

    def nan_aware(e: Emit, equation: Equation, x: Handle) -> Handle:
        """Put NaN where one is met: the kernel sees a NaN only in the first place."""
        p = equation.params
        is_nan = e.cast(e.op("IsNaN", x, out=BOOL), UINT8)
        met = e.cast(spell(e, "ReduceMax", is_nan, p["axes"], p["keepdims"]), BOOL)
        return e.op("Where", met, e.const(np.nan, x.dtype), plain(e, equation, x), out=x.dtype)

    def lower(e: Emit, equation: Equation, x: Handle) -> Handle:
        return (nan_aware if x.dtype.kind == "f" else plain)(e, equation, x)

    return lower


def _extreme_of(ufunc: np.ufunc) -> Callable[..., Any]:
    def evaluate(x: Array, *, axes: Axes, keepdims: bool) -> Any:
        info = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        low, high = (-np.inf, np.inf) if info is None else (info.min, info.max)
        start = low if ufunc is np.maximum else high
        return ufunc.reduce(x, axis=axes, keepdims=keepdims, initial=start)

    return evaluate


MAX: Final = Op(
    "reduce_max",
    result=_reduced,
    lower={
        13: _extremum(axes_attribute, "ReduceMax"),
        18: _extremum(axes_input, "ReduceMax"),
    },
    evaluate=_extreme_of(np.maximum),
)
MIN: Final = Op(
    "reduce_min",
    result=_reduced,
    lower={
        13: _extremum(axes_attribute, "ReduceMin"),
        18: _extremum(axes_input, "ReduceMin"),
    },
    evaluate=_extreme_of(np.minimum),
)


def reduce_max(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Largest element along axes; NaN if one is there, the dtype's lowest value of none.

    Notes
    -----
    ReduceMax; for floats also IsNaN, Where.
    """
    if x.dtype is BOOL:
        return reduce_any(x, axes, keepdims=keepdims)
    if x.dtype.kind == "c":
        from .complex_reduce import extreme

        return extreme(x, axes, largest=True, keepdims=keepdims)
    return bind_one(MAX, x, axes=axes, keepdims=keepdims) if axes else x


def reduce_min(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Smallest element along axes; NaN if one is there, the dtype's highest value of none."""
    if x.dtype is BOOL:
        return reduce_all(x, axes, keepdims=keepdims)
    if x.dtype.kind == "c":
        from .complex_reduce import extreme

        return extreme(x, axes, largest=False, keepdims=keepdims)
    return bind_one(MIN, x, axes=axes, keepdims=keepdims) if axes else x


# --- truth -----------------------------------------------------------------------------------


def _truth(spell: Spell, node: str) -> Callable[..., Handle]:
    """Reduce as uint8, which has a kernel everywhere and answers for empty axes."""

    def lower(e: Emit, equation: Equation, x: Handle) -> Handle:
        p = equation.params
        return e.cast(spell(e, node, e.cast(x, UINT8), p["axes"], p["keepdims"]), BOOL)

    return lower


ANY: Final = Op(
    "reduce_any",
    result=_reduced,
    lower={13: _truth(axes_attribute, "ReduceMax"), 18: _truth(axes_input, "ReduceMax")},
    evaluate=_numpy(np.logical_or),
)
ALL: Final = Op(
    "reduce_all",
    result=_reduced,
    lower={13: _truth(axes_attribute, "ReduceMin"), 18: _truth(axes_input, "ReduceMin")},
    evaluate=_numpy(np.logical_and),
)


def reduce_any(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Whether any element of a bool array is true along axes."""
    return bind_one(ANY, x, axes=axes, keepdims=keepdims) if axes else x


def reduce_all(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Whether all elements of a bool array are true along axes."""
    return bind_one(ALL, x, axes=axes, keepdims=keepdims) if axes else x
