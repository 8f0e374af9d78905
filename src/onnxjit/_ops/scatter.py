# SPDX-License-Identifier: Apache-2.0
"""Writes that combine with what is there, such as ``np.add.at``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, dim_value, running_trace
from onnxjit._core.dims import dim_prod
from onnxjit._core.dtypes import INT64
from onnxjit._core.program import Value
from onnxjit._core.region import loop

from .complex_parts import imag_part, make_complex, real_part
from .gather import SCATTER_ND_REDUCED, gather, gather_nd, scatter_nd
from .structure import reshape, unsqueeze
from .ufunc import ufunc_call

if TYPE_CHECKING:
    from onnxjit._core.program import Block

__all__ = ["scatter_combined"]

_UFUNCS: Final = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip


def scatter_combined(x: Value, index: Value, updates: Value, reduction: str) -> Value:
    """Return `x` with slices combined with what is at the places that `index` holds.

    Parameters
    ----------
    x : array
        At least 1-d.
    index : (..., depth) int64
        Places; negative ones count from the end, repeated ones combine one after another.
    updates : (..., rest of x) array of x's dtype
        What to combine with.
    reduction : {"add", "mul", "max", "min"}
        How.

    Notes
    -----
    ScatterND, from opset 16 (add, mul) or 18 (max, min); before that a Loop over the places.
    Complex numbers are added part by part, for other reductions a Loop goes over the places.
    """
    if x.dtype.kind == "c" and reduction == "add":
        re, im = (
            scatter_combined(part(x), index, part(updates), reduction)
            for part in (real_part, imag_part)
        )
        return make_complex(re, im)
    op = SCATTER_ND_REDUCED[reduction]
    if all(v.known is not None for v in (x, index, updates)):
        return bind_one(op, x, index, updates, reduction=reduction)
    count, depth = dim_prod(index.shape[:-1]), int(index.shape[-1])
    places = reshape(index, (count, depth))
    rows = reshape(updates, (count, *x.shape[depth:]))
    if x.dtype.kind == "c":
        return _one_by_one(x, places, rows, reduction)
    trace = running_trace([x, index, updates])
    with trace.inner() as block:
        _body(block, x, places, rows, reduction)
    trips = dim_value(count)
    return bind_one(op, x, index, updates, trips, blocks=(block,), reduction=reduction)


def _body(block: Block, x: Value, places: Value, rows: Value, reduction: str) -> None:
    """Write one iteration of the Loop: combine one row."""
    counter = Value(Tensor(INT64, ()), block)
    state = Value(Tensor(x.dtype, x.shape), block)
    block.inputs = [counter, state]
    block.outputs = [_combined(state, counter, places, rows, reduction)]


def _combined(
    state: Value, number: Value, places: Value, rows: Value, reduction: str
) -> Value:
    """Return the array with one row combined with what is at its place."""
    from .table import UFUNCS

    one = unsqueeze(number, [0])
    at, row = gather(places, one, 0), gather(rows, one, 0)
    combined = ufunc_call(UFUNCS[_UFUNCS[reduction]], (gather_nd(state, at), row))
    return scatter_nd(state, at, combined)


def _one_by_one(x: Value, places: Value, rows: Value, reduction: str) -> Value:
    """Combine row after row."""
    (made,), _ = loop(
        places.shape[0],
        lambda i, state: ([_combined(state, i, places, rows, reduction)], []),
        [x],
    )
    return made
