# SPDX-License-Identifier: Apache-2.0
"""Primitives that move elements without reading them: shapes, slices, joins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dims import (
    Dim,
    DimLike,
    dim_max,
    dim_prod,
    has_data,
    hint_of,
    lower,
    same,
    slice_bounds,
)
from onnxjit._core.dtypes import INT64, DType
from onnxjit._core.op import Op

from .cast import cast as astype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = [
    "astype", "broadcast_to", "concat", "iota", "pad", "reshape", "slice_axes", "squeeze",
    "tile", "transpose", "unsqueeze",
]  # fmt: skip

Array = np.ndarray[Any, Any]
Shape = tuple[DimLike, ...]

LAST: Final = 2**63 - 1
FIRST: Final = -(2**63)
#: ranges up to this length are constants, so that their values are known while tracing
_KNOWN_RANGE: Final = 1024


def same_shape(a: Sequence[DimLike], b: Sequence[DimLike]) -> bool:
    """Whether two shapes are provably equal."""
    return len(a) == len(b) and all(map(same, a, b))


def is_positive(n: DimLike) -> bool:
    """Whether a size is provably at least 1."""
    low = lower(n)
    return low is not None and low >= 1


def is_nonnegative(n: DimLike) -> bool:
    """Whether a number is provably not negative."""
    low = lower(n)
    return low is not None and low >= 0


def may_guard(n: DimLike) -> bool:
    """Whether a condition on a size may be decided by the example, with a guard.

    Not where a model must be right for every size, for data, nor in a branch or loop that
    may not run.
    """
    trace = running_trace()
    if hint_of(n) is None or has_data(n):
        return False
    return trace.env.policy == "guard" and trace.block is trace.root


def is_zero(n: DimLike) -> bool:
    """Whether a size is 0; takes a guard where that is open and the example may decide."""
    return same(n, 0) or (isinstance(n, Dim) and may_guard(n) and n == 0)


def is_negative(n: DimLike) -> bool:
    """Whether a number is below 0; takes a guard where the example may decide."""
    if isinstance(n, int):
        return n < 0
    return not is_nonnegative(n) and may_guard(n) and n < 0


def ints(e: Emit, values: Sequence[int]) -> Handle:
    """Return a constant int64 vector."""
    return e.dims(tuple(map(int, values)))


#: an operation that only moves elements: parts of complex ones are moved alike
_move = partial(Op, parts="each")

# --- reshape -------------------------------------------------------------------------------


def _reshaped(x: Tensor, *, shape: Shape) -> Tensor:
    return Tensor(x.dtype, shape)


def _compact_target(old: Shape, new: Shape) -> list[int] | None:
    """Return a constant target for Reshape: sizes, 0 = copied from the operand, one -1."""
    target: list[int] = []
    open_at = -1
    safe = True
    for axis, n in enumerate(new):
        if isinstance(n, int):
            if n == 0 and not (axis < len(old) and same(old[axis], 0)):
                return None
            target.append(n)
            safe = safe and n > 0
        elif axis < len(old) and same(old[axis], n):
            target.append(0)
            safe = safe and is_positive(n)
        elif open_at < 0:
            open_at = axis
            target.append(-1)
        else:
            return None
    if open_at >= 0 and not safe:
        return _one_open(new)
    return target


def _one_open(new: Shape) -> list[int] | None:
    """Return a target whose only symbolic size is -1, where the others are not zero."""
    if sum(isinstance(n, Dim) for n in new) != 1 or any(same(n, 0) for n in new):
        return None
    return [n if isinstance(n, int) else -1 for n in new]


def _shapes(equation: Equation) -> tuple[Shape, Shape]:
    return equation.inputs[0].shape, equation.params["shape"]


def _lower_reshape(e: Emit, equation: Equation, x: Handle) -> Handle:
    old, new = _shapes(equation)
    target = _compact_target(old, new)
    if target is not None:
        return e.op("Reshape", x, ints(e, target))
    return e.op("Reshape", x, e.dims(new), allowzero=1)


def zero_of(dtype: DType) -> Array:
    """Return a 0-d zero (an empty string) of a dtype."""
    return np.zeros((), dtype.numpy)


def _lower_reshape_13(e: Emit, equation: Equation, x: Handle) -> Handle:
    """Reshape where a size 0 cannot be written: pad to sizes of at least 1, then cut."""
    old, new = _shapes(equation)
    target = _compact_target(old, new)
    if target is not None:
        return e.op("Reshape", x, ints(e, target))
    if any(same(n, 0) for n in new):
        return e.op("Expand", e.const(zero_of(x.dtype)), e.dims(new))
    cut = [axis for axis, n in enumerate(new) if not is_positive(n)]
    if not cut:
        return e.op("Reshape", x, e.dims(new))
    sizes = e.dims(new)
    filled = e.op("Max", sizes, ints(e, [1]))
    flat = e.op("Reshape", x, ints(e, [-1]))
    missing = e.op(
        "Sub",
        e.op("ReduceProd", filled, axes=[0], keepdims=1),
        e.op("Shape", flat, out=INT64),
    )
    filler = e.op("Expand", e.const(zero_of(x.dtype)), missing)
    whole = e.op("Reshape", e.op("Concat", flat, filler, axis=0), filled)
    ends = e.op("Gather", sizes, ints(e, cut), axis=0)
    return e.op("Slice", whole, ints(e, [0] * len(cut)), ends, ints(e, cut))


def _no_reshape(_: str) -> ValueError:
    return ValueError("cannot reshape array into the shape asked for: the sizes differ")


RESHAPE = _move(
    "reshape",
    result=_reshaped,
    error=_no_reshape,
    evaluate=lambda x, *, shape: x.reshape(shape),
    lower={13: _lower_reshape_13, 14: _lower_reshape},
)


def reshape(x: Value, shape: Sequence[DimLike]) -> Value:
    """Lay the elements out anew in C order; the sizes are known to fit.

    Notes
    -----
    Reshape.  Before opset 14 a zero size cannot be written in its target: where one may occur
    the elements are padded, reshaped and cut.
    """
    new = tuple(shape)
    if same_shape(x.shape, new) and not x.weak:
        return x
    made = x.equation
    if made is not None and made.op is RESHAPE:
        return reshape(made.inputs[0], new)
    return bind_one(RESHAPE, x, shape=new)


def as_1d(x: Value) -> Value:
    """Return the elements as a vector."""
    return x if x.ndim == 1 else reshape(x, (dim_prod(x.shape),))


# --- transpose -----------------------------------------------------------------------------


def _transposed(x: Tensor, *, perm: tuple[int, ...]) -> Tensor:
    return Tensor(x.dtype, tuple(x.shape[p] for p in perm))


def _lower_transpose(e: Emit, equation: Equation, x: Handle) -> Handle:
    return e.op("Transpose", x, perm=list(equation.params["perm"]))


TRANSPOSE = _move(
    "transpose",
    result=_transposed,
    evaluate=lambda x, *, perm: x.transpose(perm),
    lower={13: _lower_transpose},
)


def transpose(x: Value, perm: Sequence[int]) -> Value:
    """Put axis ``perm[i]`` of `x` at place i."""
    order = tuple([int(p) for p in perm])
    if order == (*range(x.ndim),):
        return x
    made = x.equation
    if made is not None and made.op is TRANSPOSE:
        inner = made.params["perm"]
        return transpose(made.inputs[0], [inner[p] for p in order])
    return bind_one(TRANSPOSE, x, perm=order)


def move_axis(x: Value, source: int, target: int) -> Value:
    """Move one axis (nonnegative numbers)."""
    order = [p for p in range(x.ndim) if p != source]
    order.insert(target, source)
    return transpose(x, order)


# --- broadcast -----------------------------------------------------------------------------


def _lower_expand(e: Emit, equation: Equation, x: Handle) -> Handle:
    old, new = _shapes(equation)
    if any(same(n, 0) for n in new):
        # onnxruntime removes an Expand to a constant target of zeros and ones (1.32)
        if not any(map(has_data, old)):
            return e.op("Expand", e.const(zero_of(x.dtype)), e.dims(new))
        size = e.op("Gather", e.op("Shape", x, out=INT64), ints(e, [0]))
        return e.op("Expand", x, e.op("Add", e.dims(new), e.op("Mul", size, ints(e, [0]))))
    lead = len(new) - len(old)
    # Expand broadcasts both ways, so a size that x has already may be written as 1
    wanted = tuple(
        1 if axis >= lead and same(old[axis - lead], n) else n for axis, n in enumerate(new)
    )
    return e.op("Expand", x, e.dims(wanted))


def _no_broadcast(message: str) -> ValueError:  # noqa: ARG001
    return ValueError("shape mismatch: a value could not be broadcast to the shape asked for")


BROADCAST = _move(
    "broadcast_to",
    result=_reshaped,
    error=_no_broadcast,
    evaluate=lambda x, *, shape: np.ascontiguousarray(np.broadcast_to(x, shape)).reshape(
        shape
    ),
    lower={13: _lower_expand},
)


def broadcast_to(x: Value, shape: Sequence[DimLike]) -> Value:
    """Repeat axes of length 1, and add leading ones; the shapes are known to fit."""
    new = tuple(shape)
    if same_shape(x.shape, new) and not x.weak:
        return x
    return bind_one(BROADCAST, x, shape=new)


# --- axes of length 1 ----------------------------------------------------------------------


def _squeezed(x: Tensor, *, axes: tuple[int, ...]) -> Tensor:
    return Tensor(x.dtype, tuple(n for axis, n in enumerate(x.shape) if axis not in axes))


def _unsqueezed(x: Tensor, *, axes: tuple[int, ...]) -> Tensor:
    sizes = iter(x.shape)
    rank = len(x.shape) + len(axes)
    return Tensor(x.dtype, tuple(1 if axis in axes else next(sizes) for axis in range(rank)))


def _lower_squeeze(e: Emit, equation: Equation, x: Handle) -> Handle:
    return e.op("Squeeze", x, ints(e, equation.params["axes"]))


def _lower_unsqueeze(e: Emit, equation: Equation, x: Handle) -> Handle:
    return e.op("Unsqueeze", x, ints(e, equation.params["axes"]))


SQUEEZE = _move(
    "squeeze",
    result=_squeezed,
    evaluate=lambda x, *, axes: np.squeeze(x, axes),
    lower={13: _lower_squeeze},
)
UNSQUEEZE = _move(
    "expand_dims",
    result=_unsqueezed,
    evaluate=lambda x, *, axes: np.expand_dims(x, axes),
    lower={13: _lower_unsqueeze},
)


def squeeze(x: Value, axes: Sequence[int]) -> Value:
    """Drop axes of length 1 (nonnegative numbers)."""
    return bind_one(SQUEEZE, x, axes=tuple(sorted(axes))) if axes else x


def unsqueeze(x: Value, axes: Sequence[int]) -> Value:
    """Add axes of length 1; `axes` count in the result."""
    return bind_one(UNSQUEEZE, x, axes=tuple(sorted(axes))) if axes else x


# --- slice ---------------------------------------------------------------------------------


def _sliced(x: Tensor, *, axes: tuple[int, ...], lengths: Shape, **_: Any) -> Tensor:
    shape = list(x.shape)
    for axis, n in zip(axes, lengths, strict=True):
        shape[axis] = n
    return Tensor(x.dtype, tuple(shape))


def _slice_evaluate(
    x: Array,
    *,
    axes: tuple[int, ...],
    starts: tuple[int, ...],
    stops: tuple[int, ...],
    steps: tuple[int, ...],
    lengths: Shape,  # noqa: ARG001
) -> Array:
    index: list[slice] = [slice(None)] * x.ndim
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        index[axis] = slice(start, stop, step)
    return x[tuple(index)]


def _onnx_ends(
    start: DimLike, stop: DimLike, step: int, n: DimLike, length: DimLike
) -> tuple[DimLike, DimLike]:
    """Return bounds that ONNX reads as Python does.

    Going backwards, Python takes a start before the first element for "nothing", ONNX for the
    first element, and a stop of 2**63 - 1 for "no bound".
    """
    if step > 0:
        return start, stop
    if same(start, -1) or is_nonnegative(start) or is_nonnegative(start + n):
        return start, min(stop, LAST - 1) if isinstance(stop, int) else stop
    begin = dim_max(slice_bounds(start, None, step, n)[0], 0) - n
    return begin, begin + length * step


def _lower_slice(e: Emit, equation: Equation, x: Handle) -> Handle:
    p = equation.params
    sizes = [equation.inputs[0].shape[axis] for axis in p["axes"]]
    ends = list(map(_onnx_ends, p["starts"], p["stops"], p["steps"], sizes, p["lengths"]))
    starts, stops = zip(*ends, strict=True)
    steps = None if set(p["steps"]) == {1} else ints(e, p["steps"])
    return e.op("Slice", x, e.dims(starts), e.dims(stops), ints(e, p["axes"]), steps)


SLICE = _move("slice", result=_sliced, evaluate=_slice_evaluate, lower={13: _lower_slice})


def slice_axes(
    x: Value,
    axes: Sequence[int],
    starts: Sequence[DimLike],
    stops: Sequence[DimLike],
    steps: Sequence[int],
    lengths: Sequence[DimLike],
) -> Value:
    """Take every step-th element from `starts` to `stops` along some axes.

    Parameters
    ----------
    x : array
        At least 1-d.
    axes : sequence of int
        Nonnegative, distinct.
    starts, stops : sequence of int or Dim
        Python's bounds (negative ones count from the end, outliers are clipped); `LAST` and
        `FIRST` reach the ends.
    steps : sequence of int
        Nonzero.
    lengths : sequence of int or Dim
        The lengths that come out.
    """
    if not axes:
        return x
    return bind_one(
        SLICE,
        x,
        axes=tuple(axes),
        starts=tuple(starts),
        stops=tuple(stops),
        steps=tuple(steps),
        lengths=tuple(lengths),
    )


def take_range(x: Value, axis: int, start: DimLike, length: DimLike) -> Value:
    """Return `length` elements from `start` (known to be there) along an axis."""
    n = x.shape[axis]
    if same(start, 0) and same(length, n):
        return x
    stop = LAST if same(start + length, n) else from_end(start + length, n)
    return slice_axes(x, [axis], [from_end(start, n)], [stop], [1], [length])


def from_end(place: DimLike, n: DimLike) -> DimLike:
    """Return a place along an axis of size `n` as a negative constant where it is one.

    ``x[: N - 1]`` is then ``x[: -1]``, which needs no arithmetic on sizes when running.
    """
    if isinstance(place, Dim):
        back = place - n
        if isinstance(back, int) and back < 0 and (back == -1 or is_nonnegative(place)):
            return back
    return place


def reverse(x: Value, axes: Sequence[int]) -> Value:
    """Reverse the order of elements along axes."""
    count = len(axes)
    lengths = [x.shape[axis] for axis in axes]
    return slice_axes(x, axes, [LAST] * count, [FIRST] * count, [-1] * count, lengths)


# --- concat, pad, tile ---------------------------------------------------------------------


def _concatenated(*xs: Tensor, axis: int) -> Tensor:
    shape = list(xs[0].shape)
    total: DimLike = 0
    for x in xs:
        total = total + x.shape[axis]
        for i, n in enumerate(x.shape):
            if isinstance(n, int):  # a plain size says more than an equal symbolic one
                shape[i] = n
    shape[axis] = total
    return Tensor(xs[0].dtype, tuple(shape))


def _lower_concat(e: Emit, equation: Equation, *xs: Handle) -> Handle:
    return e.op("Concat", *xs, axis=equation.params["axis"])


CONCAT = _move(
    "concat",
    result=_concatenated,
    evaluate=lambda *xs, axis: np.concatenate(xs, axis),
    lower={13: _lower_concat},
)


def concat(xs: Sequence[Value], axis: int) -> Value:
    """Join arrays of one dtype along an axis; the other sizes are known to agree."""
    kept = [x for x in xs if not same(x.shape[axis], 0)] or [xs[0]]
    return kept[0] if len(kept) == 1 else bind_one(CONCAT, *kept, axis=axis)


def _padded(x: Tensor, _: Tensor, *, low: Shape, high: Shape) -> Tensor:
    return Tensor(
        x.dtype, tuple(a + n + b for a, n, b in zip(low, x.shape, high, strict=True))
    )


def _pad_evaluate(x: Array, c: Array, *, low: tuple[int, ...], high: tuple[int, ...]) -> Array:
    return np.pad(x, list(zip(low, high, strict=True)), constant_values=c)


def _lower_pad(e: Emit, equation: Equation, x: Handle, c: Handle) -> Handle:
    p = equation.params
    return e.op("Pad", x, e.dims((*p["low"], *p["high"])), c, mode="constant")


PAD = _move("pad", result=_padded, evaluate=_pad_evaluate, lower={13: _lower_pad})


def pad(x: Value, low: Sequence[DimLike], high: Sequence[DimLike], fill: Value) -> Value:
    """Put `low` and `high` copies of the 0-d `fill` (of the same dtype) around each axis."""
    if all(same(n, 0) for n in (*low, *high)):
        return x
    return bind_one(PAD, x, fill, low=tuple(low), high=tuple(high))


def _tiled(x: Tensor, *, reps: Shape) -> Tensor:
    return Tensor(x.dtype, tuple(n * r for n, r in zip(x.shape, reps, strict=True)))


def _lower_tile(e: Emit, equation: Equation, x: Handle) -> Handle:
    return e.op("Tile", x, e.dims(equation.params["reps"]))


TILE = _move("tile", result=_tiled, evaluate=np.tile, lower={13: _lower_tile})


def tile(x: Value, reps: Sequence[DimLike]) -> Value:
    """Repeat the whole array ``reps[axis]`` times along each axis."""
    if all(same(r, 1) for r in reps):
        return x
    return bind_one(TILE, x, reps=tuple(reps))


# --- iota ----------------------------------------------------------------------------------


def _iota_result(*, n: DimLike) -> Tensor:
    return Tensor(INT64, (n,))


def _lower_iota(e: Emit, equation: Equation) -> Handle:
    zero, one = e.const(np.int64(0)), e.const(np.int64(1))
    return e.op("Range", zero, e.dim(equation.params["n"]), one, out=INT64)


IOTA = Op("iota", result=_iota_result, lower={13: _lower_iota})


def iota(n: DimLike) -> Value:
    """Return 0, 1, ..., n - 1 as int64.

    Notes
    -----
    Range over int64, which is exact.
    """
    if isinstance(n, int) and n <= _KNOWN_RANGE:
        return running_trace().constant(np.arange(n))
    return bind_one(IOTA, n=n)


def _vector_result(*, dims: Shape) -> Tensor:
    return Tensor(INT64, (len(dims),))


VECTOR = Op(
    "dims",
    result=_vector_result,
    lower={13: lambda e, equation: e.dims(equation.params["dims"])},
)


def vector(dims: Sequence[DimLike]) -> Value:
    """Return sizes as an int64 vector."""
    if any(isinstance(n, Dim) for n in dims):
        return bind_one(VECTOR, dims=tuple(dims))
    return running_trace().constant(np.array([int(n) for n in dims], np.int64))


def full(shape: Sequence[DimLike], fill: Value) -> Value:
    """Return an array filled with a 0-d value."""
    return broadcast_to(fill, shape)


def fresh(x: Value) -> Value:
    """Return another value of the same content."""
    return bind_one(IDENTITY, x)


IDENTITY = _move(
    "identity",
    result=lambda x: Tensor(x.dtype, x.shape),
    lower={13: lambda _e, _equation, x: x},
    rowwise=True,
)


def const(x: Any) -> Value:
    """Return a constant that is not weak."""
    return running_trace().constant(np.asarray(x))
