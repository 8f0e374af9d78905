# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dims import dim_prod
from onnxjit._core.dtypes import FLOAT64, PART

from .cast import cast
from .complex_parts import imag_part, is_complex, real_part
from .convert import as_array, normalize_axes, plain_option
from .elementwise import (
    absolute,
    add,
    maximum,
    multiply,
    not_equal,
    power,
    sqrt,
)
from .reduce import reduce_max, reduce_sum
from .row import Function, Ufunc, function
from .samples import call, calls, within
from .structure import (
    reshape,
    transpose,
)
from .ufunc_methods import ufunc_reduce

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS", "norm"]

ROWS: list[Function | Ufunc] = []


def _root_of_squares(x: Value, axes: tuple[int, ...], *, keepdims: bool) -> Value:
    squares = multiply(x, x)
    if is_complex(x):
        re, im = real_part(x), imag_part(x)
        squares = add(multiply(re, re), multiply(im, im))
    result: Value = sqrt(reduce_sum(squares, axes, keepdims=keepdims))
    return result


def _vector_norm(x: Value, order: Any, axes: tuple[int, ...], *, keepdims: bool) -> Value:
    if isinstance(order, str):
        msg = f"Invalid norm order '{order}' for vectors"
        raise ValueError(msg)  # noqa: TRY004  NumPy's exception
    if order is None or order == 2:
        return _root_of_squares(x, axes, keepdims=keepdims)
    if order == 0:
        counted = cast(not_equal(x, np.zeros((), x.dtype.numpy)), PART.get(x.dtype, x.dtype))
        return reduce_sum(counted, axes, keepdims=keepdims)
    size: Value = absolute(x)
    if order == math.inf:
        best: Value = maximum(reduce_max(size, axes, keepdims=keepdims), 0)  # of nothing, 0
        return best
    if order == -math.inf:
        return ufunc_reduce(np.minimum, size, axes, keepdims=keepdims)
    if order == 1:
        return reduce_sum(size, axes, keepdims=keepdims)
    powers = reduce_sum(power(size, order), axes, keepdims=keepdims)
    result: Value = power(powers, np.reciprocal(np.asarray(order, size.dtype.numpy))[()])
    return result


def _matrix_norm(x: Value, order: Any, axes: tuple[int, ...], *, keepdims: bool) -> Value:
    if order in {None, "fro", "f"}:
        return _root_of_squares(x, tuple(sorted(axes)), keepdims=keepdims)
    if order in {2, -2, "nuc"}:
        return _norm_of_singular_values(x, order, axes, keepdims=keepdims)
    by = {1: axes, -1: axes, math.inf: axes[::-1], -math.inf: axes[::-1]}.get(order)
    if by is None:
        msg = "Invalid norm order for matrices."
        raise ValueError(msg)
    sums = reduce_sum(absolute(x), (by[0],), keepdims=True)
    best: Value
    if order > 0:
        best = maximum(reduce_max(sums, (by[1],), keepdims=True), 0)  # of nothing, 0
    else:
        best = ufunc_reduce(np.minimum, sums, (by[1],), keepdims=True)
    if keepdims:
        return best
    return reshape(best, [n for i, n in enumerate(x.shape) if i not in axes])


def _norm_of_singular_values(
    x: Value, order: Any, axes: tuple[int, ...], *, keepdims: bool
) -> Value:
    from .linalg_singular import singular_values

    others = [i for i in range(x.ndim) if i not in axes]
    s = singular_values(transpose(x, [*others, *axes]))
    last = (s.ndim - 1,)
    found: Value
    if order == 2:
        found = maximum(reduce_max(s, last), 0)  # of nothing, 0
    elif order == -2:
        found = ufunc_reduce(np.minimum, s, last)
    else:
        found = reduce_sum(s, last)
    if not keepdims:
        return found
    return reshape(found, [1 if i in axes else n for i, n in enumerate(x.shape)])


@function(
    ROWS, np.linalg.norm, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m(5)), call(m(3, 4)), call(m(3, 4), axis=1), call(m(3, 4), 1, 0),
        call(m(3, 4), np.inf, -1, True), call(m(3, 4), "fro"), call(m(3, 4), 1),
        call(m(3, 4), -np.inf), call(m(5), 0), call(m(5), 3), call(m(2, 3, 4), axis=(0, 2)),
        call(m(0)), call(m(3, 4), "nuclear"),
        call(m(3, 4), 2), call(m(3, 4), -2, keepdims=True), call(m(2, 3, 4), "nuc", (2, 0)),
        call(m(0, 3), 2), call(m(3, 0), -2), call(m(2, 3, 3), 2, (1, 1)),
    ]),
)  # fmt: skip
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Value:
    """Return the norm of vectors or matrices.

    Parameters
    ----------
    x : (..., n, ...) array
        Values; integers as float64.
    ord : number, "fro", "nuc", optional
        Which norm; the root of the sum of squares by default.
    axis : int or pair of int, optional
        The vectors' axis, or the matrices' axes.
    keepdims : bool
        Keep these axes with length 1.

    Raises
    ------
    ValueError
        The order does not fit.

    Notes
    -----
    Mul, ReduceSum, Sqrt; Abs and ReduceMax, ReduceMin or Pow for other orders; what `svd`
    takes for the matrix norms 2, -2 and "nuc".
    """
    value = as_array(x)
    if value.dtype.kind not in "fc":
        value = cast(value, FLOAT64)
    keep = bool(keepdims)
    ord = plain_option(ord, "the order of a norm")
    if axis is None and (
        ord is None
        or (ord in {"f", "fro"} and value.ndim == 2)
        or (ord == 2 and value.ndim == 1)
    ):
        return _root_of_squares(value, tuple(range(value.ndim)), keepdims=keep)
    axes = normalize_axes(axis, value.ndim)
    if len(axes) == 1:
        return _vector_norm(value, ord, axes, keepdims=keep)
    if len(axes) == 2:
        return _matrix_norm(value, ord, axes, keepdims=keep)
    msg = "Improper number of dimensions to norm."
    raise ValueError(msg)


@function(
    ROWS, np.linalg.vector_norm, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m(5)), call(m(3, 4)), call(m(3, 4), axis=1, keepdims=True),
        call(m(3, 4), axis=0, ord=1), call(m(5), ord=np.inf), call(m(5), ord=0),
        call(m(2, 3, 4), axis=(0, 2), ord=3),
    ]),
)  # fmt: skip
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Value:
    """Return the norm of vectors, of all elements without an axis; see `norm`."""
    value = as_array(x)
    if axis is not None and not isinstance(axis, tuple):
        return norm(value, ord, axis, keepdims)
    axes = normalize_axes(axis, value.ndim)
    rest = [i for i in range(value.ndim) if i not in axes]
    length = dim_prod(value.shape[i] for i in axes)
    joined = reshape(
        transpose(value, [*axes, *rest]), (length, *(value.shape[i] for i in rest))
    )
    found = norm(joined, ord, 0)
    if not keepdims:
        return found
    return reshape(found, [1 if i in axes else n for i, n in enumerate(value.shape)])


@function(
    ROWS, np.linalg.matrix_norm, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m(3, 4)), call(m(2, 3, 4), keepdims=True), call(m(3, 4), ord=1),
        call(m(3, 4), ord=-np.inf), call(m(2, 3, 4), ord=2), call(m(3, 3), ord="nuc"),
    ]),
)  # fmt: skip
def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Value:
    """Return the norm of the matrices of the last two axes; see `norm`."""
    return norm(as_array(x), ord, (-2, -1), keepdims)
