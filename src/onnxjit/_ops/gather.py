# SPDX-License-Identifier: Apache-2.0
"""Primitives that read or write elements at places given as data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dims import Dim, DimLike, dim_prod, key, symbols_of
from onnxjit._core.dtypes import BOOL, FLOAT16, FLOAT32, INT64, UINT8
from onnxjit._core.op import Op

from .structure import LAST, const, ints

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = [
    "compress", "gather", "gather_elements", "gather_nd", "nonzero", "scatter_elements",
    "scatter_nd", "slice_at", "slice_length",
]  # fmt: skip

Array = np.ndarray[Any, Any]

_INDEX: Final = r"(?:idx|index|indice|value is)\s*=?\s*(-?\d+)"
_RANGE: Final = r"\[\s*-?\d+\s*,\s*(-?\d+)\s*\]"


def index_error(message: str) -> Exception:
    """Return NumPy's exception for a failure of Gather or Scatter."""
    if "updates" in message and "shape" in message:
        return ValueError("shape mismatch: the values do not fit what the index reads")
    found, last = re.search(_INDEX, message), re.search(_RANGE, message)
    if found is None:
        return IndexError("index is out of bounds")
    text = f"index {found[1]} is out of bounds"
    if last is not None:
        text += f" for an axis with size {int(last[1]) + 1}"
    return IndexError(text)


# --- sizes that depend on data -------------------------------------------------------------


class Fresh:
    """A size that only the run knows, as a parameter: its origin is the very result."""

    __slots__ = ("dim",)

    def __init__(self, dim: Dim) -> None:
        self.dim: Final = dim

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fresh) and key(self.dim) == key(other.dim)

    def __hash__(self) -> int:
        return hash(key(self.dim))

    def __repr__(self) -> str:
        return str(self.dim)


def fresh_length(owner: Value, what: Any, name: str = "k") -> Dim:
    """Return the size that data decides: one for each owner and use, where it can be seen.

    Parameters
    ----------
    owner : Value
        The mask or bound that decides it.
    what : hashable
        Which size of it.
    name : str
        Shown in messages.
    """
    trace = running_trace([owner])
    known: list[Dim] = trace.lengths.setdefault((owner.id, what), [])
    for dim in known:
        (symbol,) = symbols_of(dim)
        origin = symbol.origin
        if origin is None or trace.block.is_inside(origin[0].block):  # type: ignore[index]
            return dim
    made = trace.env.symbol(name, data=True)
    assert isinstance(made, Dim)
    known.append(made)
    return made


def settle(result: Value, axis: int, dim: Dim) -> Value:
    """Tell a fresh size where to read its value, the first time."""
    (symbol,) = symbols_of(dim)
    if symbol.origin is None:
        symbol.origin = (result, axis)
    return result


# --- gather --------------------------------------------------------------------------------


def _gathered(x: Tensor, index: Tensor, *, axis: int) -> Tensor:
    return Tensor(x.dtype, (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _strided_gather_is_slow(x: Tensor, index: Tensor, axis: int) -> bool:
    """Whether copying blocks of an inner axis costs more than two transposes.

    onnxruntime moves blocks of 1, 2 and 4 bytes 2 to 9 times faster by transposing; blocks of
    any other length (3 channels of uint8, one float64) 2 to 10 times slower.
    """
    block = dim_prod(x.shape[axis + 1 :])
    if axis == 0 or index.ndim == 0 or not isinstance(block, int):
        return False
    if block * x.dtype.bits not in {8, 16, 32}:
        return False
    count, n = index.size, x.shape[axis]
    return not (
        isinstance(count, int) and (count < 8 or (isinstance(n, int) and count * 4 < n))
    )


def _rows(e: Emit, x: Handle, index: Handle) -> Handle:
    """Take slices along the first axis.

    onnxruntime's Gather copies only the first element of each slice of strings; GatherND
    copies all.
    """
    if x.dtype.kind != "U":
        return e.op("Gather", x, index, axis=0)
    return e.op("GatherND", x, e.op("Unsqueeze", index, ints(e, [-1])))


def _lower_gather(e: Emit, equation: Equation, x: Handle, index: Handle) -> Handle:
    axis = equation.params["axis"]
    data, places = (v.tensor for v in equation.inputs)
    is_text = x.dtype.kind == "U" and axis < data.ndim - 1
    if axis and not is_text and not _strided_gather_is_slow(data, places, axis):
        return e.op("Gather", x, index, axis=axis)
    if axis == 0:
        return _rows(e, x, index)
    rest = [p for p in range(data.ndim) if p != axis]
    rows = _rows(e, e.op("Transpose", x, perm=[axis, *rest]), index)
    k = places.ndim
    back = [*range(k, k + axis), *range(k), *range(k + axis, k + data.ndim - 1)]
    return e.op("Transpose", rows, perm=back)


def _gather_evaluate(x: Array, index: Array, *, axis: int) -> Array:
    return np.take(x, index, axis)


GATHER = Op(
    "gather",
    result=_gathered,
    evaluate=_gather_evaluate,
    lower={13: _lower_gather},
    may_fail=True,
    error=index_error,
    parts="each",
)


def gather(x: Value, index: Value, axis: int = 0) -> Value:
    """Take slices along an axis at int64 places; negative ones count from the end.

    Notes
    -----
    Gather; of inner blocks of 1, 2 or 4 bytes through Transpose, which is faster.
    """
    return bind_one(GATHER, x, index, axis=axis)


def _gathered_nd(x: Tensor, index: Tensor, *, batch: int) -> Tensor:
    depth = index.shape[-1]
    assert isinstance(depth, int)
    return Tensor(x.dtype, (*index.shape[:-1], *x.shape[batch + depth :]))


def _gather_nd_evaluate(x: Array, index: Array, *, batch: int) -> Array:
    lead = np.indices(index.shape[:batch], sparse=True)
    inner = (1,) * (index.ndim - 1 - batch)
    grid = [i.reshape(i.shape + inner) for i in lead]
    return np.asarray(x[(*grid, *np.moveaxis(index, -1, 0))])


def _lower_gather_nd(e: Emit, equation: Equation, x: Handle, index: Handle) -> Handle:
    return e.op("GatherND", x, index, batch_dims=equation.params["batch"])


GATHER_ND = Op(
    "gather_nd",
    result=_gathered_nd,
    evaluate=_gather_nd_evaluate,
    lower={13: _lower_gather_nd},
    may_fail=True,
    error=index_error,
    parts="each",
)


def gather_nd(x: Value, index: Value, batch: int = 0) -> Value:
    """Take slices at the places that the last axis of `index` holds, after `batch` axes."""
    return bind_one(GATHER_ND, x, index, batch=batch)


def _gathered_elements(x: Tensor, index: Tensor, **_: Any) -> Tensor:
    return Tensor(x.dtype, index.shape)


def _elements_evaluate(x: Array, index: Array, *, axis: int) -> Array:
    cut = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(index.shape))
    return np.take_along_axis(x[cut], index, axis)


def _lower_gather_elements(e: Emit, equation: Equation, x: Handle, index: Handle) -> Handle:
    return e.op("GatherElements", x, index, axis=equation.params["axis"])


GATHER_ELEMENTS = Op(
    "gather_elements",
    result=_gathered_elements,
    evaluate=_elements_evaluate,
    lower={13: _lower_gather_elements},
    may_fail=True,
    error=index_error,
    parts="each",
)


def gather_elements(x: Value, index: Value, axis: int) -> Value:
    """Take one element for each element of `index`, which has x's shape off the axis."""
    return bind_one(GATHER_ELEMENTS, x, index, axis=axis)


# --- scatter -------------------------------------------------------------------------------

_NUMPY_SCATTER: Final = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _as_first(x: Tensor, *_: Tensor, **__: Any) -> Tensor:
    return Tensor(x.dtype, x.shape)


def _write(x: Array, where: Any, updates: Array, reduction: str) -> Array:
    out = x.copy()
    if reduction == "none":
        out[where] = updates
    else:
        _NUMPY_SCATTER[reduction].at(out, where, updates)
    return out


def _scatter_nd_evaluate(
    x: Array, index: Array, updates: Array, *_: Array, reduction: str
) -> Array:
    return _write(x, tuple(np.moveaxis(index, -1, 0)), updates, reduction)


def _scatter_elements_evaluate(
    x: Array, index: Array, updates: Array, *, axis: int, reduction: str
) -> Array:
    grid: list[Any] = list(np.indices(index.shape, sparse=True))
    grid[axis] = index
    return _write(x, tuple(grid), updates, reduction)


def _reduced(
    e: Emit, op_type: str, x: Handle, index: Handle, updates: Handle, **attributes: Any
) -> Handle:
    """Emit a scatter with a reduction, through a wider dtype where kernels need one."""
    reduction = attributes["reduction"]
    through = x.dtype
    if x.dtype is FLOAT16:
        through = FLOAT32
    elif x.dtype.kind == "b" and reduction in {"max", "min"}:
        through = UINT8
    done = e.op(op_type, e.cast(x, through), index, e.cast(updates, through), **attributes)
    return e.cast(done, x.dtype)


def _lower_scatter_nd(
    e: Emit, _: Equation, x: Handle, index: Handle, updates: Handle
) -> Handle:
    return e.op("ScatterND", x, index, updates)


def _combined_by_loop(
    e: Emit, equation: Equation, x: Handle, _index: Handle, _updates: Handle, trips: Handle
) -> Handle:
    """Combine row after row, in the block of the equation, where ScatterND cannot."""
    body = e.block(equation, 0, loop=True, with_cond=False)
    return e.multi("Loop", trips, e.const(True, BOOL), x, out=(x.dtype,), body=body)[0]


def _lower_scatter_nd_reduced(
    e: Emit, equation: Equation, x: Handle, index: Handle, updates: Handle, *_: Handle
) -> Handle:
    reduction = equation.params["reduction"]
    return _reduced(e, "ScatterND", x, index, updates, reduction=reduction)


def _lower_scatter_elements(
    e: Emit, equation: Equation, x: Handle, index: Handle, updates: Handle
) -> Handle:
    return e.op("ScatterElements", x, index, updates, axis=equation.params["axis"])


def _lower_scatter_elements_reduced(
    e: Emit, equation: Equation, x: Handle, index: Handle, updates: Handle
) -> Handle:
    p = equation.params
    return _reduced(
        e, "ScatterElements", x, index, updates, axis=p["axis"], reduction=p["reduction"]
    )


def _scatter_op(
    name: str, evaluate: Any, lower: dict[int, Any], parts: Literal["each"] | None = None
) -> Op:
    return Op(
        name,
        result=_as_first,
        evaluate=evaluate,
        lower=lower,
        may_fail=True,
        parts=parts,
        error=index_error,
    )


SCATTER_ND = _scatter_op("scatter_nd", _scatter_nd_evaluate, {13: _lower_scatter_nd}, "each")
SCATTER_ND_REDUCED = {
    name: _scatter_op(
        f"scatter_nd_{name}",
        _scatter_nd_evaluate,
        {13: _combined_by_loop, first: _lower_scatter_nd_reduced},
    )
    for name, first in (("add", 16), ("mul", 16), ("max", 18), ("min", 18))
}
SCATTER_ELEMENTS = _scatter_op(
    "scatter_elements", _scatter_elements_evaluate, {13: _lower_scatter_elements}, "each"
)
SCATTER_ELEMENTS_REDUCED = {
    name: _scatter_op(
        f"scatter_elements_{name}",
        _scatter_elements_evaluate,
        {first: _lower_scatter_elements_reduced},
    )
    for name, first in (("add", 16), ("mul", 16), ("max", 18), ("min", 18))
}


def scatter_nd(x: Value, index: Value, updates: Value) -> Value:
    """Return `x` with slices written at the places that the last axis of `index` holds.

    Parameters
    ----------
    x : array
        At least 1-d.
    index : (..., depth) int64
        Places; negative ones count from the end.
    updates : (..., rest of x) array of x's dtype
        What to write; the last of several writes wins.

    Notes
    -----
    ScatterND.
    """
    return bind_one(SCATTER_ND, x, index, updates, reduction="none")


def scatter_elements(
    x: Value, index: Value, updates: Value, axis: int, reduction: str = "none"
) -> Value:
    """Return `x` with one element written for each element of `index`."""
    op = SCATTER_ELEMENTS if reduction == "none" else SCATTER_ELEMENTS_REDUCED[reduction]
    return bind_one(op, x, index, updates, axis=axis, reduction=reduction)


# --- masks ---------------------------------------------------------------------------------


def _nonzero_result(x: Tensor, *, length: Fresh) -> Tensor:
    return Tensor(INT64, (x.ndim, length.dim))


def _lower_nonzero(e: Emit, _: Equation, x: Handle) -> Handle:
    return e.op("NonZero", x, out=INT64)


NONZERO = Op("nonzero", result=_nonzero_result, lower={13: _lower_nonzero})


def nonzero(mask: Value) -> Value:
    """Return the (rank, k) int64 places of the true elements of an at least 1-d bool array."""
    if mask.known is not None:
        return const(np.array(np.nonzero(mask.known), np.int64))
    length = fresh_length(mask, "true")
    return settle(bind_one(NONZERO, mask, length=Fresh(length)), 1, length)


def _as_sized(mask: Tensor, *, shape: tuple[DimLike, ...]) -> Tensor:
    return Tensor(mask.dtype, shape)


def _filled(e: Emit, equation: Equation, mask: Handle) -> Handle:
    """Return the mask as a vector, an empty one as a false one of the size asked for."""
    flat = e.op("Reshape", mask, ints(e, [-1]))
    nothing = e.op("Equal", e.op("Shape", flat, out=INT64), ints(e, [0]), out=BOOL)
    size = e.dims((dim_prod(equation.params["shape"]),))
    missing = e.op("Mul", size, e.cast(nothing, INT64))
    return e.op("Concat", flat, e.op("Expand", e.const(np.False_), missing), axis=0)


def _lower_sized_13(e: Emit, equation: Equation, mask: Handle) -> Handle:
    return e.op("Reshape", _filled(e, equation, mask), e.dims(equation.params["shape"]))


def _lower_sized(e: Emit, equation: Equation, mask: Handle) -> Handle:
    sizes = e.dims(equation.params["shape"])
    return e.op("Reshape", _filled(e, equation, mask), sizes, allowzero=1)


def _mask_error(_: str) -> IndexError:
    return IndexError("boolean index did not match indexed array")


SIZED = Op(
    "boolean_index",
    result=_as_sized,
    lower={13: _lower_sized_13, 14: _lower_sized},
    may_fail=True,
    error=_mask_error,
)


def sized(mask: Value, shape: tuple[DimLike, ...]) -> Value:
    """Return a mask of as many elements as `shape`, or none; only the run can check that."""
    return bind_one(SIZED, mask, shape=shape)


def _compressed(x: Tensor, _: Tensor, *, axis: int, length: Fresh | int) -> Tensor:
    n = length.dim if isinstance(length, Fresh) else length
    return Tensor(x.dtype, (*x.shape[:axis], n, *x.shape[axis + 1 :]))


def _compress_evaluate(x: Array, mask: Array, *, axis: int, length: Any) -> Array:  # noqa: ARG001
    return np.compress(mask, x, axis)


def _lower_compress(e: Emit, equation: Equation, x: Handle, mask: Handle) -> Handle:
    return e.op("Compress", x, mask, axis=equation.params["axis"])


COMPRESS = Op(
    "compress",
    result=_compressed,
    evaluate=_compress_evaluate,
    lower={13: _lower_compress},
    parts="each",
)


def compress(x: Value, mask: Value, axis: int, owner: Value | None = None) -> Value:
    """Keep the slices along an axis where a 1-d bool mask of the same length is true.

    `owner` is the mask that decides how many, where `mask` is that one in another shape.
    """
    if mask.known is not None:
        return bind_one(COMPRESS, x, mask, axis=axis, length=int(mask.known.sum()))
    length = fresh_length(mask if owner is None else owner, "true")
    made = bind_one(COMPRESS, x, mask, axis=axis, length=Fresh(length))
    return settle(made, axis, length)


# --- slices with bounds that are data ------------------------------------------------------


def _sliced_at(x: Tensor, *_: Tensor, axis: int, length: Fresh, **__: Any) -> Tensor:
    return Tensor(x.dtype, (*x.shape[:axis], length.dim, *x.shape[axis + 1 :]))


def _lower_slice_at(
    e: Emit, equation: Equation, x: Handle, start: Handle, stop: Handle
) -> Handle:
    p = equation.params
    one = ints(e, [-1])
    first, last = (e.op("Reshape", bound, one) for bound in (start, stop))
    if p["step"] < 0:
        # ONNX takes a start before the first element for the first one, Python for nothing
        size = e.dims((-equation.inputs[0].shape[p["axis"]],))
        nothing = e.op("Less", first, size, out=BOOL)
        last = e.op("Where", nothing, ints(e, [LAST - 1]), last, out=INT64)
    return e.op("Slice", x, first, last, ints(e, [p["axis"]]), ints(e, [p["step"]]))


SLICE_AT = Op("slice_at", result=_sliced_at, lower={13: _lower_slice_at}, parts="each")


def slice_length(start: Value, stop: Value, step: int, n: DimLike) -> Dim:
    """Return the size of a slice with 0-d int64 bounds along an axis of size n."""
    owner, other = (stop, start) if stop.known is None else (start, stop)
    return fresh_length(owner, ("slice", other.id, owner is stop, step, key(n)), "len")


def slice_at(x: Value, axis: int, start: Value, stop: Value, step: int, length: Dim) -> Value:
    """Slice one axis between 0-d int64 values, read as Python reads bounds.

    `length` comes from `slice_length`.
    """
    made = bind_one(SLICE_AT, x, start, stop, axis=axis, step=step, length=Fresh(length))
    return settle(made, axis, length)
