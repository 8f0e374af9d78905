# SPDX-License-Identifier: Apache-2.0
"""Integer reductions that are exact for every length, and maps that keep an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim, dim_prod
from onnxjit._core.dtypes import (
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
from onnxjit.errors import LoweringError

from .cast import cast
from .product import matrix_product
from .structure import (
    broadcast_to,
    concat,
    reshape,
    squeeze,
    take_range,
    transpose,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Value

__all__ = [
    "fold_halves", "from_ordered", "integer_sum", "merge_axes", "ordered_dtype",
    "reduced_shape", "to_ordered",
]  # fmt: skip

Axes = tuple[int, ...]

#: dtypes that TopK, ArgMax and ReduceMax take as they are
_NATIVE: Final = frozenset({INT8, INT32, INT64, UINT8, FLOAT32, FLOAT64})
#: dtype -> a native one in which every value has the same order
_WIDER: Final = {
    BOOL: UINT8, INT16: INT32, UINT16: INT32, UINT32: INT64, UINT64: INT64, FLOAT16: FLOAT32,
}  # fmt: skip
_LOWEST: Final = np.iinfo(np.int64).min


# --- order -----------------------------------------------------------------------------------


def ordered_dtype(dtype: DType) -> DType:
    """Return the dtype in which onnxruntime has kernels that compare values of `dtype`."""
    if dtype not in _NATIVE and dtype not in _WIDER:
        msg = f"elements of {dtype} have no order in ONNX"
        raise LoweringError(msg)
    return dtype if dtype in _NATIVE else _WIDER[dtype]


def to_ordered(e: Emit, x: Handle) -> Handle:
    """Map to a dtype with kernels, order kept.

    uint64 becomes int64 by subtracting 2**63 modulo 2**64, which turns the unsigned order into
    the signed one (Warren, Hacker's Delight, 2nd ed., 2-12).
    """
    y = e.cast(x, ordered_dtype(x.dtype))
    return e.op("Add", y, e.const(_LOWEST, INT64)) if x.dtype is UINT64 else y


def from_ordered(e: Emit, y: Handle, dtype: DType) -> Handle:
    """Undo `to_ordered`."""
    if dtype is UINT64:
        y = e.op("Add", y, e.const(_LOWEST, INT64))
    return e.cast(y, dtype)


# --- shapes ----------------------------------------------------------------------------------


def reduced_shape(
    shape: tuple[int | Dim, ...], axes: Axes, *, keepdims: bool
) -> tuple[int | Dim, ...]:
    """Return the shape after a reduction over nonnegative axes."""
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def merge_axes(x: Value, axes: Axes) -> Value:
    """Move reduced axes to the end and join them to one."""
    kept = tuple(i for i in range(x.ndim) if i not in axes)
    length = dim_prod(x.shape[i] for i in axes)
    return reshape(transpose(x, (*kept, *axes)), (*(x.shape[i] for i in kept), length))


# --- sums ------------------------------------------------------------------------------------


def _ones(shape: tuple[int | Dim, ...]) -> Value:
    return broadcast_to(as_value(1, INT64), shape)


def integer_sum(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Sum int64 or uint64 modulo 2**64.

    Notes
    -----
    ReduceSum of integers runs in double and saturates; MatMul wraps.  So a sum is a product
    with ones: on the right for the last axis, on the left for the one before.
    """
    if x.dtype is UINT64:
        return cast(integer_sum(cast(x, INT64), axes, keepdims=keepdims), UINT64)
    shape = reduced_shape(x.shape, axes, keepdims=keepdims)
    if not axes:
        return x
    if len(axes) == 1 and x.ndim > 1 and axes[0] >= x.ndim - 2:
        n = x.shape[axes[0]]
        last = axes[0] == x.ndim - 1
        total = matrix_product(x, _ones((n, 1))) if last else matrix_product(_ones((1, n)), x)
        return total if keepdims else squeeze(total, axes)
    y = merge_axes(x, axes)
    rows = reshape(y, (dim_prod(y.shape[:-1]), y.shape[-1]))
    return reshape(matrix_product(rows, _ones((y.shape[-1], 1))), shape)


# --- products and other associative operations -----------------------------------------------


def fold_halves(
    combine: Callable[[Value, Value], Value], x: Value, axis: int, identity: Value
) -> Value:
    """Combine all elements of an axis of static length by halving it; the axis goes.

    For exactly associative and commutative operations only: the order is not NumPy's.
    """
    n = x.shape[axis]
    if isinstance(n, Dim):
        msg = "halving needs a static length"
        raise TypeError(msg)
    if n == 0:
        return broadcast_to(identity, reduced_shape(x.shape, (axis,), keepdims=False))
    while n > 1:
        half = n // 2
        joined = combine(take_range(x, axis, 0, half), take_range(x, axis, half, half))
        if n % 2:
            joined = concat([joined, take_range(x, axis, n - 1, 1)], axis)
        x, n = joined, half + n % 2
    return squeeze(x, [axis])
