# SPDX-License-Identifier: Apache-2.0
"""Running totals, and folds of an axis by any operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one, dim_value, running_trace
from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, DType
from onnxjit._core.op import Op
from onnxjit._core.program import Value
from onnxjit._core.region import loop

from .cast import cast
from .elementwise import add, greater, minimum, multiply
from .gather import gather
from .reduce_exact import fold_halves
from .structure import broadcast_to, concat, move_axis, squeeze, take_range

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation

__all__ = [
    "cumprod", "cumsum", "fold", "fold_associative", "running", "running_associative",
]  # fmt: skip

Array = np.ndarray[Any, Any]
Combine = Callable[[Value, Value], Value]

#: static lengths up to which a fold is written out
_UNROLLED: Final = 16
_DIRECT: Final = frozenset({FLOAT32, FLOAT64, INT32, INT64})


# --- sums and products -----------------------------------------------------------------------


def _same(x: Tensor, *_: Tensor, **__: object) -> Tensor:
    return Tensor(x.dtype, x.shape)


def _through(dtype: DType) -> DType:
    """Return the dtype whose running sum or product is exact for `dtype` (modulo 2**n)."""
    if dtype in _DIRECT:
        return dtype
    return FLOAT32 if dtype is FLOAT16 else INT64


def _running(node: str) -> Callable[..., Handle]:
    def lower(e: Emit, equation: Equation, x: Handle, *_: Handle) -> Handle:
        axis = e.const(equation.params["axis"], INT64)
        return e.cast(e.op(node, e.cast(x, _through(x.dtype)), axis), x.dtype)

    return lower


def _by_scan(e: Emit, equation: Equation, x: Handle, first: Handle) -> Handle:
    """Write a running product where CumProd is missing: one step after another.

    A row of ones comes first, because Scan refuses an empty axis.  The axis is the first one:
    onnxruntime divides by zero where Scan moves another axis of an array without elements,
    which ends the process.
    """
    axis, rank = equation.params["axis"], len(equation.inputs[0].shape)
    there = [axis, *(i for i in range(rank) if i != axis)]
    back = [there.index(i) for i in range(rank)]
    at = e.const(np.array([0], np.int64))
    rows = e.op("Transpose", x, perm=there) if axis else x
    _, rows = e.multi(
        "Scan",
        first,
        e.op("Concat", e.op("Unsqueeze", first, at), rows, axis=0),
        out=(x.dtype, x.dtype),
        body=e.block(equation, 0),
        num_scan_inputs=1,
    )
    start, end = (e.const(np.array([n], np.int64)) for n in (1, np.iinfo(np.int64).max))
    rows = e.op("Slice", rows, start, end, at)
    return e.op("Transpose", rows, perm=back) if axis else rows


CUMSUM: Final = Op(
    "cumsum",
    result=_same,
    lower={13: _running("CumSum")},
    evaluate=lambda x, *, axis: np.cumsum(x, axis, dtype=x.dtype),
    parts="each",
)
CUMPROD: Final = Op("cumprod", result=_same, lower={13: _by_scan, 26: _running("CumProd")})


def cumsum(x: Value, axis: int) -> Value:
    """Return running sums along an axis of an at least 1-d array, in its dtype.

    Notes
    -----
    CumSum, for floats bit-equal to NumPy's.  Integers are exact modulo 2**n; float16 keeps
    float32 sums and rounds them once.
    """
    return bind_one(CUMSUM, x, axis=axis)


def cumprod(x: Value, axis: int) -> Value:
    """Return running products along an axis of an at least 1-d array, in its dtype.

    Notes
    -----
    CumProd, before opset 26 a Scan; a Loop for complex numbers.
    """
    trace = running_trace([x])
    if x.dtype.kind == "c":
        return running(multiply, x, axis)
    if x.known is not None:
        return trace.constant(np.cumprod(x.known, axis, dtype=x.dtype.numpy))
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    with trace.inner() as block:
        block.inputs = [Value(Tensor(x.dtype, rest), block) for _ in range(2)]
        product = multiply(*block.inputs)
        block.outputs = [product, product]
    first = broadcast_to(as_value(1, x.dtype), rest)
    return bind_one(CUMPROD, x, first, blocks=(block,), axis=axis)


# --- any operation ---------------------------------------------------------------------------


def _row(x: Value, shape: tuple[int | Dim, ...]) -> Value:
    return broadcast_to(x, (1, *shape))


def _in_order(combine: Combine, rows: Value) -> Value:
    """Combine at least one row, one after another."""
    n = rows.shape[0]
    first = squeeze(take_range(rows, 0, 0, 1), [0])
    one = as_value(1, INT64)

    def step(i: Value, total: Value) -> tuple[list[Value], list[Value]]:
        return [combine(total, gather(rows, add(i, one)))], []

    (last,), _ = loop(n - 1, step, [first])
    return last


def _each_in_order(combine: Combine, rows: Value) -> Value:
    """Return the totals up to each row.

    A row of zeros comes last: a Loop that never runs does not know the shape of its rows, so
    this one runs once more than there are rows.
    """
    n = rows.shape[0]
    rows = concat([rows, _row(as_value(0, rows.dtype), rows.shape[1:])], 0)
    first = squeeze(take_range(rows, 0, 0, 1), [0])
    one = as_value(1, INT64)
    end = cast(dim_value(n), INT64)

    def step(i: Value, total: Value) -> tuple[list[Value], list[Value]]:
        row = gather(rows, minimum(add(i, one), end))
        return [combine(total, row)], [total]

    _, (totals,) = loop(n + 1, step, [first])
    return take_range(totals, 0, 0, n)


def running(combine: Combine, x: Value, axis: int, start: Value | None = None) -> Value:
    """Return ``combine(...combine(x[0], x[1])..., x[i])`` for each i of an axis, in order.

    Parameters
    ----------
    start : () value, optional
        What comes before the first element.

    Notes
    -----
    Loop: onnxruntime's Scan refuses bodies whose shapes it cannot infer.
    """
    rows = move_axis(x, axis, 0)
    n = rows.shape[0]
    if start is not None:
        rows = concat([_row(start, rows.shape[1:]), rows], 0)
    totals = _each_in_order(combine, rows)
    if start is not None:
        totals = take_range(totals, 0, 1, n)
    return move_axis(totals, 0, axis)


def running_associative(combine: Combine, x: Value, axis: int, start: Value) -> Value:
    """Return `running` of an exactly associative operation with an identity.

    A static axis takes log2 of its length steps of whole arrays, each shifted twice as far
    (Hillis and Steele, "Data parallel algorithms", CACM 29, 1986).
    """
    n = x.shape[axis]
    if isinstance(n, Dim):
        return running(combine, x, axis, start)
    far = 1
    while far < n:
        lead = take_range(x, axis, 0, far)
        tail = combine(take_range(x, axis, 0, n - far), take_range(x, axis, far, n - far))
        x = concat([lead, tail], axis)
        far *= 2
    return x


def fold(combine: Combine, x: Value, axis: int, start: Value | None = None) -> Value:
    """Combine the elements of an axis one after another; the axis goes.

    Parameters
    ----------
    start : () value, optional
        What comes before the first element; without it the axis must not be empty.
    """
    rows = move_axis(x, axis, 0)
    if start is not None:
        rows = concat([_row(start, rows.shape[1:]), rows], 0)
    n = rows.shape[0]
    if isinstance(n, Dim) or n > _UNROLLED:
        return _in_order(combine, rows)
    total, *others = (squeeze(take_range(rows, 0, i, 1), [0]) for i in range(n))
    for row in others:
        total = combine(total, row)
    return total


def _halved(combine: Combine, x: Value) -> Value:
    """Combine the first half of the leading axis with the second; an odd one out stays."""
    n = x.shape[0]
    half = n // 2
    joined = combine(take_range(x, 0, 0, half), take_range(x, 0, half, half))
    return concat([joined, take_range(x, 0, half + half, n - half - half)], 0)


def fold_associative(combine: Combine, x: Value, axis: int, identity: Value) -> Value:
    """Combine the elements of an axis in any order; the axis goes.

    Notes
    -----
    Halving, which is written out for a static length and a Loop for another.
    """
    if not isinstance(x.shape[axis], Dim):
        return fold_halves(combine, x, axis, identity)
    rows = move_axis(x, axis, 0)
    rows = concat([_row(identity, rows.shape[1:]), rows], 0)
    one = as_value(1, INT64)
    (total,), _ = loop(
        64,
        lambda _, y: ([_halved(combine, y)], []),
        [rows],
        while_true=lambda y: greater(cast(dim_value(y.shape[0]), INT64), one),
    )
    return squeeze(total, [0])
