# SPDX-License-Identifier: Apache-2.0
"""Grids of coordinates, and places of elements as numbers or as coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dims import DimLike, dim_prod
from onnxjit._core.dtypes import BOOL, INT64

from . import structure
from .cast import cast
from .checks import fail_where_outside
from .convert import as_array, as_dtype, as_shape, as_size
from .diagonal import triangle_mask
from .elementwise import add, floor_divide, logical_not, maximum, minimum, multiply, remainder
from .gather import nonzero
from .row import Function, Ufunc, function
from .samples import INTEGERS, call, calls
from .shape import as_list, broadcast_all
from .structure import broadcast_to, concat, iota, reshape, take_range, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


def _along(x: Value, axis: int, rank: int) -> Value:
    """Return a vector as an array whose only long axis is `axis`."""
    return unsqueeze(x, [i for i in range(rank) if i != axis])


@function(
    ROWS, np.meshgrid, api="meshgrid",
    samples=calls(lambda m: [
        call(m.special(3), m(2)), call(m(3), m(2), indexing="ij"),
        call(m(3), m(2), m(4), sparse=True), call(m(3)), call(m(0), m(2)), call(m(), m(2)),
        call(),
    ]),
)  # fmt: skip
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> Sequence[Value]:
    """Return the coordinates of a grid: for each vector an array of its element at each point.

    Notes
    -----
    Unsqueeze, Expand.
    """
    if indexing not in {"xy", "ij"}:
        msg = "Valid values for `indexing` are 'xy' and 'ij'."
        raise ValueError(msg)
    rank = len(xi)
    vectors = [as_array(x) for x in xi]
    vectors = [structure.as_1d(cast(v, v.dtype)) for v in vectors]
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[:2] = 1, 0
    made = [_along(v, axis, rank) for v, axis in zip(vectors, axes, strict=True)]
    if sparse and not copy:
        return made
    return tuple(made if sparse or not made else broadcast_all(made))


@function(
    ROWS, np.ix_,
    samples=calls(lambda m: [
        call(m.mask(4), m.counts(5, 3)), call(m.counts(4, 2)), call(m(3)),
        call([0, 2], m.mask(3)), call([], m(2)),
    ]),
)  # fmt: skip
def ix_(*args: Any) -> tuple[Value, ...]:
    """Return vectors turned so that they index a grid together.

    Notes
    -----
    Unsqueeze; NonZero for booleans.
    """
    out: list[Value] = []
    for axis, arg in enumerate(args):
        x = as_array(
            np.zeros(0, np.int64) if isinstance(arg, (list, tuple)) and not arg else arg
        )
        if x.ndim != 1:
            msg = "Cross index must be 1 dimensional"
            raise ValueError(msg)
        x = _places(x)[0] if x.dtype is BOOL else x
        out.append(_along(x, axis, len(args)))
    return tuple(out)


def _places(mask: Value) -> tuple[Value, ...]:
    found = nonzero(mask)
    return tuple(
        reshape(take_range(found, 0, i, 1), (found.shape[1],)) for i in range(mask.ndim)
    )


@function(
    ROWS, np.indices,
    samples=calls(lambda m: [
        call((2, 3)), call((2, 3), m.dtype), call((2, 3), sparse=True), call((0, 2)), call(()),
    ]),
)  # fmt: skip
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the coordinates of each element of an array of a shape.

    Notes
    -----
    Range, Expand, Concat.
    """
    shape = as_shape(dimensions)
    rank = len(shape)
    lines = [_along(cast(iota(n), as_dtype(dtype)), i, rank) for i, n in enumerate(shape)]
    if sparse:
        return tuple(lines)
    if not lines:
        return as_array(np.indices((), dtype))
    return concat([unsqueeze(broadcast_to(line, shape), [0]) for line in lines], 0)


@function(
    ROWS, np.diag_indices,
    samples=calls(lambda _: [call(3), call(2, 3), call(0)], ("i8",)),
)  # fmt: skip
def diag_indices(n: Any, ndim: int = 2) -> tuple[Value, ...]:
    """Return the places of the main diagonal.

    Notes
    -----
    Range.
    """
    return (iota(as_size(n)),) * ndim


@function(
    ROWS, np.diag_indices_from,
    samples=calls(lambda m: [
        call(m(3, 3)), call(m(2, 2, 2)), call(m(2, 3)), call(m(3)),
    ], ("f4",)),
)  # fmt: skip
def diag_indices_from(arr: Any) -> tuple[Value, ...]:
    """Return the places of the main diagonal of an array.

    Notes
    -----
    Range.
    """
    x = as_array(arr)
    if x.ndim < 2:
        msg = "input array must be at least 2-d"
        raise ValueError(msg)
    if any(n != x.shape[0] for n in x.shape):
        msg = "All dimensions of input must be of equal length"
        raise ValueError(msg)
    return diag_indices(x.shape[0], x.ndim)


def _triangle_places(n: Any, k: Any, m: Any, *, lower: bool) -> tuple[Value, ...]:
    rows = as_size(n)
    columns = rows if m is None else as_size(m)
    k = as_size(k)
    mask = triangle_mask(rows, columns, k if lower else k - 1)
    return _places(mask if lower else logical_not(mask))


@function(
    ROWS, np.tril_indices,
    samples=calls(lambda _: [
        call(3), call(3, 1), call(2, -1, 4), call(0), call(3, m=2),
    ], ("i8",)),
)  # fmt: skip
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Value, ...]:
    """Return the places of a lower triangle.

    Notes
    -----
    Range, GreaterOrEqual, NonZero.
    """
    return _triangle_places(n, k, m, lower=True)


@function(
    ROWS, np.triu_indices,
    samples=calls(lambda _: [
        call(3), call(3, 1), call(2, -1, 4), call(0), call(3, m=2),
    ], ("i8",)),
)  # fmt: skip
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Value, ...]:
    """Return the places of an upper triangle.

    Notes
    -----
    Range, GreaterOrEqual, NonZero.
    """
    return _triangle_places(n, k, m, lower=False)


def _matrix_shape(arr: Any) -> tuple[DimLike, ...]:
    x = as_array(arr)
    if x.ndim != 2:
        msg = "input array must be 2-d"
        raise ValueError(msg)
    return x.shape


@function(
    ROWS, np.tril_indices_from,
    samples=calls(lambda m: [
        call(m(3, 3)), call(m(3, 4), 1), call(m(4, 2), k=-1), call(m(3)),
    ], ("f4",)),
)  # fmt: skip
def tril_indices_from(arr: Any, k: Any = 0) -> tuple[Value, ...]:
    """Return the places of the lower triangle of a matrix.

    Notes
    -----
    Range, GreaterOrEqual, NonZero.
    """
    n, m = _matrix_shape(arr)
    return _triangle_places(n, k, m, lower=True)


@function(
    ROWS, np.triu_indices_from,
    samples=calls(lambda m: [
        call(m(3, 3)), call(m(3, 4), 1), call(m(4, 2), k=-1), call(m(3)),
    ], ("f4",)),
)  # fmt: skip
def triu_indices_from(arr: Any, k: Any = 0) -> tuple[Value, ...]:
    """Return the places of the upper triangle of a matrix.

    Notes
    -----
    Range, GreaterOrEqual, NonZero.
    """
    n, m = _matrix_shape(arr)
    return _triangle_places(n, k, m, lower=False)


# --- places as numbers ---------------------------------------------------------------------


def _strides(shape: Sequence[DimLike], order: str) -> list[DimLike]:
    if order not in {"C", "F"}:
        msg = "only 'C' or 'F' order is permitted"
        raise ValueError(msg)
    if order == "F":
        return [dim_prod(shape[:i]) for i in range(len(shape))]
    return [dim_prod(shape[i + 1 :]) for i in range(len(shape))]


@function(
    ROWS, np.unravel_index, scalar=True,
    samples=calls(lambda m: [
        call(m.counts(12, 5).astype(m.dtype), (3, 4)),
        call(m.counts(12, 2, 2), (2, 3, 2), "F"), call(5, (2, 3)), call(m.counts(3, 0), (3,)),
        call(m.scalar(1), (4, 2)),
    ], INTEGERS),
)  # fmt: skip
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Value, ...]:
    """Return the coordinates of elements given by their number.

    Raises
    ------
    ValueError
        A number is outside of the shape.

    Notes
    -----
    Div, Mod.
    """
    sizes = as_shape(shape)
    x = as_array(indices)
    if x.dtype.kind not in "iu":
        msg = "only int indices permitted"
        raise TypeError(msg)
    x = cast(x, INT64)
    total = dim_prod(sizes)
    if x.known is not None and isinstance(total, int):
        wrong = x.known[(x.known < 0) | (x.known >= total)]
        if wrong.size:
            msg = f"index {int(wrong[0])} is out of bounds for array with size {total}"
            raise ValueError(msg)
    else:
        fail_where_outside(x, total)
    return tuple(
        remainder(floor_divide(x, stride), n)
        for n, stride in zip(sizes, _strides(sizes, order), strict=True)
    )


@function(
    ROWS, np.ravel_multi_index, scalar=True,
    samples=calls(lambda m: [
        call((m.counts(3, 4).astype(m.dtype), m.counts(4, 4)), (3, 4)),
        call((m.places(9, 4), m.places(9, 4)), (3, 4), mode="wrap"),
        call((m.places(9, 4), m.places(9, 4)), (3, 4), mode=("clip", "wrap")),
        call((m.counts(3, 2), m.counts(3, 2)), (3, 3), order="F"),
        call((1, m.scalar(2)), (3, 4)),
    ], INTEGERS),
)  # fmt: skip
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C"
) -> Value:
    """Return the numbers of elements given by their coordinates.

    Parameters
    ----------
    multi_index : sequence of (...) int
        One array for each axis.
    dims : tuple of int
        The shape.
    mode : {"raise", "wrap", "clip"} or tuple of them
        What happens outside.
    order : {"C", "F"}
        Which axis runs fastest.

    Notes
    -----
    Mul, Add; Mod or Min and Max for the other modes.
    """
    sizes = as_shape(dims)
    modes = mode if isinstance(mode, tuple) else (mode,) * len(sizes)
    np.ravel_multi_index((0,) * len(sizes), (1,) * len(sizes), mode=modes)  # NumPy's refusal
    total: Value | None = None
    parts = zip(as_list(multi_index), sizes, _strides(sizes, order), modes, strict=True)
    for part, n, stride, how in parts:
        x = as_array(part)
        if x.dtype.kind not in "iub":
            msg = "only int indices permitted"
            raise TypeError(msg)
        x = cast(x, INT64)
        if how == "wrap":
            x = remainder(x, n)
        elif how == "clip":
            x = maximum(minimum(x, n - 1), 0)
        elif x.known is not None and isinstance(n, int):
            _check_inside(x.known, n)
        else:
            fail_where_outside(x, n)
        term = multiply(x, stride)
        total = term if total is None else add(total, term)
    assert total is not None
    return total


def _check_inside(known: Any, n: int) -> None:
    if ((known < 0) | (known >= n)).any():
        msg = "invalid entry in coordinates array"
        raise ValueError(msg)
