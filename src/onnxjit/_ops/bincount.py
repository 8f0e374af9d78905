# SPDX-License-Identifier: Apache-2.0
"""Counting small nonnegative integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one
from onnxjit._core.dims import DimLike, dim_max, symbols_of
from onnxjit._core.dtypes import BOOL, FLOAT64, INT64, UINT64
from onnxjit._core.op import Op

from .cast import cast, checked_astype
from .checks import fail_where
from .convert import as_array, as_size
from .elementwise import add, less, maximum
from .gather import Fresh, fresh_length
from .product import same_length
from .reduce import reduce_max
from .row import Function, Ufunc, function
from .samples import call, calls
from .structure import broadcast_to, const, is_zero

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


def _size(length: Fresh | DimLike) -> DimLike:
    return length.dim if isinstance(length, Fresh) else length


def _bins(_: Tensor, weights: Tensor, *, length: Fresh | DimLike) -> Tensor:
    return Tensor(weights.dtype, (_size(length),))


def _lower_scatter(e: Emit, equation: Equation, x: Handle, weights: Handle) -> Handle:
    zeros = e.op("Expand", e.const(0, weights.dtype), e.dims(equation.outputs[0].shape))
    return e.op("ScatterElements", zeros, x, weights, axis=0, reduction="add")


def _lower_compare(e: Emit, equation: Equation, x: Handle, weights: Handle) -> Handle:
    """Compare each element with each bin: scatters cannot add yet."""
    size = e.dim(equation.outputs[0].shape[0])
    bins = e.op("Range", e.const(0, INT64), size, e.const(1, INT64))
    column = e.op("Unsqueeze", bins, e.const(np.array([1], np.int64)))
    hit = e.op("Equal", column, x, out=BOOL)
    zero = e.const(0, FLOAT64)
    taken = e.op("Where", hit, e.cast(weights, FLOAT64), zero, out=FLOAT64)
    # counts are far below 2**53
    summed = e.op("ReduceSum", taken, e.const(np.array([1], np.int64)), keepdims=0)
    return e.cast(summed, weights.dtype)


BINS: Final = Op(
    "bincount",
    result=_bins,
    lower={13: _lower_compare, 16: _lower_scatter},
    may_fail=True,
)


def _length_of(x: Value, minlength: DimLike) -> DimLike | Fresh:
    """Return the number of bins, which data decides unless `x` is known."""
    if x.known is not None:
        return dim_max(int(x.known.max(initial=-1)) + 1, minlength)
    # the highest of no elements is the dtype's lowest, and wraps to a positive number
    highest = maximum(reduce_max(x, (0,)), as_value(-1, INT64))
    needed = maximum(add(highest, as_value(1, INT64)), cast(as_value(minlength), INT64))
    dim = fresh_length(needed, "value", "bins")
    (symbol,) = symbols_of(dim)
    if symbol.origin is None:
        symbol.origin = (needed, None)
    return Fresh(dim)


@function(
    ROWS, np.bincount,
    samples=calls(lambda m: [
        call(m.counts(6, 20).astype(m.dtype)), call(m.counts(3, 8), weights=m(8)),
        call(m.counts(3, 4), minlength=7), call(m.counts(1, 0)), call([1, 1, 4], m(3), 2),
    ]),
)  # fmt: skip
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Value:
    """Count how often each nonnegative integer occurs.

    Parameters
    ----------
    x : (n) int
        Nonnegative.
    weights : (n) array, optional
        Weights, as float64.
    minlength : int
        Least number of bins.

    Returns
    -------
    (bins) int64, or float64 with weights (int64 where `x` is known to be empty, as in NumPy)
        One more than the largest element; known only to the run.

    Raises
    ------
    ValueError
        `x` is not 1-d or has negative elements, or the lengths differ.
    TypeError
        `x` is not of integers.

    Notes
    -----
    ReduceMax, ScatterElements; before opset 16 Equal and ReduceSum over all pairs.
    """
    values = as_array(x)
    if values.dtype is UINT64:
        values = cast(values, INT64)  # NumPy's exception: what does not fit is negative
    values = checked_astype(values, np.int64, "safe")
    if values.ndim != 1:
        msg = (
            "object too deep for desired array"
            if values.ndim
            else "object of too small depth for desired array"
        )
        raise ValueError(msg)
    least = as_size(minlength, "minlength")
    if least < 0:
        msg = "'minlength' must not be negative"
        raise ValueError(msg)
    if weights is None:
        w = as_value(1, INT64)
        w = broadcast_to(w, values.shape)
    else:
        if is_zero(values.shape[0]):
            return broadcast_to(as_value(0, INT64), (least,))  # whatever the weights are
        w = checked_astype(as_array(weights), np.float64, "safe")
        same_length(
            values.shape[0], w.shape[0], "The weights and list don't have the same length."
        )
    fail_where(less(values, const(np.int64(0))))
    return bind_one(BINS, values, w, length=_length_of(values, least))
