# SPDX-License-Identifier: Apache-2.0
"""Diagonals and triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dims import DimLike, dim_max, dim_min, dim_prod, require_equal
from onnxjit._core.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64
from onnxjit._core.op import Op

from . import structure
from .cast import cast
from .convert import as_array, as_size, normalize_axis
from .elementwise import add, greater_equal, multiply
from .elementwise_base import Term, pick
from .index_write import assigned, setitem
from .rearrange import resized
from .row import Function, Ufunc, function
from .samples import call, calls, matrices, within
from .structure import (
    broadcast_to,
    const,
    iota,
    reshape,
    take_range,
    unsqueeze,
)
from .views import DiagonalView

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

    from .view import View

__all__ = ["ROWS", "triangle", "triangle_mask"]

ROWS: list[Function | Ufunc] = []


# --- triangles -----------------------------------------------------------------------------

_TRILU = frozenset({FLOAT32, FLOAT64, INT32, INT64, BOOL})


def _same(x: Tensor, **_: Any) -> Tensor:
    return Tensor(x.dtype, x.shape)


def _kept(e: Emit, equation: Equation) -> Term:
    """Return the (rows, columns) bool mask of what a triangle keeps."""
    *_, n, m = equation.inputs[0].shape
    k: DimLike = equation.params["k"]
    zero, one = e.const(np.int64(0)), e.const(np.int64(1))
    # in each row, the column of the diagonal
    diagonal = Term(e, e.op("Range", e.dim(k), e.dim(n + k), one))
    diagonal = diagonal.op("Unsqueeze", Term(e, e.const(np.array([1]))))
    columns = Term(e, e.op("Range", zero, e.dim(m), one))
    return diagonal >= columns if equation.params["lower"] else columns >= diagonal


def _lower_by_mask(e: Emit, equation: Equation, x: Handle) -> Handle:
    kept = _kept(e, equation)
    return pick(~kept, Term(e, x).const(0), Term(e, x)).h


def _lower_triangle(e: Emit, equation: Equation, x: Handle) -> Handle:
    if x.dtype not in _TRILU:
        return _lower_by_mask(e, equation, x)
    p = equation.params
    return e.op("Trilu", x, e.dim(p["k"]), upper=int(not p["lower"]))


def _triangle_evaluate(x: np.ndarray[Any, Any], *, k: int, lower: bool) -> Any:
    return np.tril(x, k) if lower else np.triu(x, k)


TRIANGLE = Op(
    "triangle",
    result=_same,
    evaluate=_triangle_evaluate,
    lower={13: _lower_by_mask, 14: _lower_triangle},
    parts="each",
)


def triangle(x: Value, k: DimLike, *, lower: bool) -> Value:
    """Return an at least 2-d array with the elements beyond a diagonal set to zero."""
    return bind_one(TRIANGLE, x, k=k, lower=lower)


def triangle_mask(n: DimLike, m: DimLike, k: DimLike) -> Value:
    """Return the (n, m) bool array that is true on and below the k-th diagonal."""
    rows = add(unsqueeze(iota(n), [1]), k)
    kept: Value = greater_equal(rows, unsqueeze(iota(m), [0]))
    return kept


def _triangle_of(m: Any, k: Any, *, lower: bool) -> Value:
    x = as_array(m)
    x = cast(x, x.dtype)
    if x.ndim == 0:
        msg = "array must be at least 1-dimensional"
        raise TypeError(msg)
    if x.ndim == 1:
        x = broadcast_to(x, (x.shape[0], x.shape[0]))
    return triangle(x, as_size(k, "k"), lower=lower)


@function(
    ROWS, np.tril, api="tril",
    samples=calls(lambda m: [
        *(call(x) for x in matrices(m)), call(m(3, 5), 1), call(m(4, 3), k=-2),
        call(m(3, 3), 9), call(m(4)),
    ]),
)  # fmt: skip
def tril(m: Any, k: Any = 0) -> Value:
    """Set the elements above the k-th diagonal of the last two axes to zero.

    Notes
    -----
    Trilu; Where for dtypes that it lacks, and before opset 14.
    """
    return _triangle_of(m, k, lower=True)


@function(
    ROWS, np.triu, api="triu",
    samples=calls(lambda m: [
        *(call(x) for x in matrices(m)), call(m(3, 5), 1), call(m(4, 3), k=-2),
        call(m(3, 3), 9), call(m(4)),
    ]),
)  # fmt: skip
def triu(m: Any, k: Any = 0) -> Value:
    """Set the elements below the k-th diagonal of the last two axes to zero.

    Notes
    -----
    Trilu; Where for dtypes that it lacks, and before opset 14.
    """
    return _triangle_of(m, k, lower=False)


# --- diagonals -----------------------------------------------------------------------------


def _diagonal(x: Value, offset: Any, axis1: Any, axis2: Any) -> DiagonalView:
    if x.ndim < 2:
        msg = "diag requires an array of at least two dimensions"
        raise ValueError(msg)
    i, j = normalize_axis(axis1, x.ndim), normalize_axis(axis2, x.ndim)
    if i == j:
        msg = "axis1 and axis2 cannot be the same"
        raise ValueError(msg)
    return DiagonalView(as_size(offset, "an offset"), i, j)


@function(
    ROWS, np.diagonal, view=True,
    samples=calls(lambda m: [
        *(call(x) for x in matrices(m)), call(m(3, 5), 1), call(m(4, 3), -2),
        call(m(2, 3, 4), 1, 0, 2), call(m(2, 3, 4), axis1=-1, axis2=0), call(m(3, 3), 7),
    ]),
)  # fmt: skip
def diagonal(a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> View:
    """Return a read-only view of a diagonal, as the last axis.

    Notes
    -----
    Transpose, Reshape, Slice.
    """
    return _diagonal(as_array(a), offset, axis1, axis2)


@function(
    ROWS, np.linalg.diagonal, view=True, api="linalg.diagonal",
    samples=calls(lambda m: [
        *(call(x) for x in matrices(m)), call(m(3, 5), offset=1), call(m(2, 4, 3), offset=-2),
    ]),
)  # fmt: skip
def linalg_diagonal(x: Any, /, *, offset: Any = 0) -> View:
    """Return a read-only view of the diagonal of the last two axes.

    Notes
    -----
    Reshape, Slice.
    """
    return _diagonal(as_array(x), offset, -2, -1)


def diagonal_matrix(v: Value, k: DimLike) -> Value:
    """Return the square matrix with a vector on its k-th diagonal.

    Notes
    -----
    Rows of one element padded to n + 1, cut to n * n elements: Pad, Reshape, Slice.
    """
    n = v.shape[0]
    zero = const(np.zeros((), v.dtype.numpy))
    rows = structure.pad(unsqueeze(v, [1]), [0, 0], [0, n], zero)
    flat = reshape(rows, (n * (n + 1),))
    square = reshape(take_range(flat, 0, 0, n * n), (n, n))
    up, down = dim_max(k, 0), dim_max(-k, 0)
    return structure.pad(square, [down, up], [up, down], zero)


@function(
    ROWS, np.diag, view=True,
    samples=calls(lambda m: [
        call(m.special(4)), call(m(3), 1), call(m(3), k=-2), call(m(3, 4)), call(m(4, 3), 1),
        call(m(0)), call(m(3, 3), -5), call(m()),
    ]),
)  # fmt: skip
def diag(v: Any, k: Any = 0) -> Value | View:
    """Return the matrix with a vector on a diagonal, or a view of a matrix's diagonal.

    Notes
    -----
    Pad, Reshape, Slice.
    """
    x = as_array(v)
    if x.ndim == 1:
        return diagonal_matrix(cast(x, x.dtype), as_size(k, "k"))
    if x.ndim != 2:
        msg = "Input must be 1- or 2-d."
        raise ValueError(msg)
    return _diagonal(x, k, 0, 1)


@function(
    ROWS, np.diagflat,
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(3), 1), call(m(3), k=-2), call(m()), call(m(0)),
    ]),
)  # fmt: skip
def diagflat(v: Any, k: Any = 0) -> Value:
    """Return the matrix with the elements of an array on a diagonal.

    Notes
    -----
    Pad, Reshape, Slice.
    """
    x = as_array(v)
    return diagonal_matrix(structure.as_1d(cast(x, x.dtype)), as_size(k, "k"))


def _trace(x: Value, offset: Any, axes: tuple[int, int], dtype: Any) -> Any:
    from .table import FUNCTIONS

    line = _diagonal(x, offset, *axes).apply(x)
    return FUNCTIONS[np.sum].implementation(line, axis=-1, dtype=dtype)


@function(
    ROWS, np.trace, scalar=True, ulp=within(2),
    samples=calls(lambda m: [
        *(call(x) for x in matrices(m)), call(m(3, 5), 1), call(m(2, 3, 4), 1, 0, 2),
        call(m(3, 3), dtype="f8"),
    ]),
)  # fmt: skip
def trace(a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """Return the sum along a diagonal.

    Notes
    -----
    Slice, ReduceSum.
    """
    return _trace(as_array(a), offset, (axis1, axis2), dtype)


@function(
    ROWS, np.linalg.trace, scalar=True, api="linalg.trace", ulp=within(2),
    samples=calls(lambda m: [
        *(call(x) for x in matrices(m)), call(m(3, 5), offset=-1),
        call(m(2, 3, 3), dtype="f4"),
    ]),
)  # fmt: skip
def linalg_trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    """Return the sum along the diagonal of the last two axes.

    Notes
    -----
    Slice, ReduceSum.
    """
    return _trace(as_array(x), offset, (-2, -1), dtype)


@function(
    ROWS, np.fill_diagonal, writes="a",
    samples=calls(lambda m: [
        call(m(3, 3), 1), call(m(3, 5), m.scalar(1)), call(m(5, 3), m(3)),
        call(m(7, 3), 1, wrap=True), call(m(2, 2, 2), m(2)), call(m(0, 2), 1),
    ]),
)  # fmt: skip
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> Value:
    """Write the main diagonal.

    Parameters
    ----------
    a : (n, m) array or one of equal sizes along all of more axes
        What is written to.
    val : array
        Repeated as needed.
    wrap : bool
        Go on with a new diagonal below a tall matrix.

    Notes
    -----
    ScatterND on the elements as a vector.
    """
    x = as_array(a)
    if x.ndim < 2:
        msg = "array must be at least 2-d"
        raise ValueError(msg)
    env = running_trace().env
    if x.ndim > 2 and not all(require_equal(env, n, x.shape[0]) for n in x.shape):
        msg = "All dimensions of input must be of equal length"
        raise ValueError(msg)
    step: DimLike = 1
    for i in range(1, x.ndim):
        step = step + dim_prod(x.shape[i:])
    total = dim_prod(x.shape)
    end = total
    if x.ndim == 2 and not wrap:
        end = dim_min(total, x.shape[1] * x.shape[1])
    count = (end + step - 1) // step
    new = assigned(x, val)
    new = resized(new, (count,)) if new.ndim else new
    flat = structure.as_1d(x)
    return reshape(setitem(flat, multiply(iota(count), step), new), x.shape)
