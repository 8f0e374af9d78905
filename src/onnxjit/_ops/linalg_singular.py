# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of singular values: decomposition, condition, rank, pseudo-inverse."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dims import Dim, DimLike, dim_max
from onnxjit._core.dtypes import INT64, PART

from .cast import cast
from .complex_parts import conjugate, imag_part, real_part
from .convert import as_array
from .elementwise import (
    absolute,
    copysign,
    divide,
    equal,
    greater,
    isnan,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    where,
)
from .gather import gather_elements
from .linalg_base import (
    Stack,
    adjoint,
    assumed,
    common_types,
    fail_where,
    fixed_size,
    identity,
    square,
    stacked,
    void_where,
)
from .linalg_eigh import eigh, eigvalsh
from .linalg_few import LIMIT
from .linalg_jacobi import batch_first, batch_last
from .linalg_solve import solution
from .linalg_svd import Singular
from .norm import norm
from .product import matmul
from .reduce import count_true, reduce_any, reduce_max
from .row import NO_VALUE, Function, Ufunc, function
from .samples import call, calls, within
from .sort import argsort_along, sort_along
from .structure import (
    broadcast_to,
    full,
    may_guard,
    reshape,
    reverse,
    squeeze,
    take_range,
    transpose,
    unsqueeze,
)
from .ufunc import as_weak

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS", "singular_values", "svd"]

ROWS: list[Function | Ufunc] = []


# --- decomposition ---------------------------------------------------------------------------


@cache
def _result_type() -> Any:
    return type(np.linalg.svd(np.eye(1)))


def _is_wide(m: DimLike, n: DimLike) -> bool:
    """Whether there are more columns than rows, where the graph may count on it."""
    if isinstance(m, int) and isinstance(n, int):
        return m < n
    return may_guard(m) and may_guard(n) and bool(m < n)


def _smaller(m: DimLike, n: int) -> int | None:
    """Return n if there are as many rows, where the graph may count on it."""
    if isinstance(m, int):
        return min(m, n)
    return n if may_guard(m) and m >= n else None


def _found(x: Value, *, vectors: bool, whole: bool) -> tuple[Value, Value, Value]:
    """Return u, s and vh of (B, m, n) matrices; without vectors, s alone counts."""
    wide = _is_wide(*x.shape[1:])
    few = fixed_size(x.shape[1 if wide else 2], LIMIT)
    if few is not None:
        b, m, n = x.shape
        x = assumed(x, (b, few, n) if wide else (b, m, few))
    tall = batch_last(adjoint(x) if wide else x)
    short = few if wide or few is None else _smaller(x.shape[1], few)
    found = Singular(tall, vectors=vectors, full=whole, short=short)
    fail_where(found.failed)

    def given(y: Value) -> Value:
        return void_where(found.failed, batch_first(y))

    s = given(found.values)
    if found.left is None or found.right is None:
        return s, s, s
    left, right = given(found.left), given(found.right)
    return (adjoint(right), s, left) if wide else (adjoint(left), s, right)


def singular_values(a: Any) -> Value:
    """Return the singular values (..., r) of (..., m, n) matrices in falling order."""
    x = stacked(a)
    compute, result = common_types(x)
    stack = Stack(x, compute)
    values = _found(stack.value, vectors=False, whole=False)[1]
    return stack.unpack(values, PART.get(result, result))


def _of_hermitian(a: Any, *, vectors: bool) -> Any:
    """Return the decomposition that eigenvalues give, sorted by their size."""
    if not vectors:
        sizes = absolute(eigvalsh(a))
        return reverse(sort_along(sizes, sizes.ndim - 1), [sizes.ndim - 1])
    values, u = eigh(a)
    last = values.ndim - 1
    sign, sizes = copysign(1.0, values), absolute(values)
    order = reverse(argsort_along(sizes, last), [last])
    sign, sizes = (gather_elements(y, order, last) for y in (cast(sign, sizes.dtype), sizes))
    u = gather_elements(u, broadcast_to(unsqueeze(order, [last]), u.shape), u.ndim - 1)
    vh = adjoint(multiply(u, cast(unsqueeze(sign, [last]), u.dtype)))
    return _result_type()(u, sizes, vh)


@function(
    ROWS, np.linalg.svd, api="linalg.svd", ulp=within(64), floor=16.0,
    samples=calls(lambda m: [
        call(m(3, 3), compute_uv=False), call(m(2, 3, 4), compute_uv=False),
        call(m(5, 2), False, False), call(m(0, 3), compute_uv=False), call(m(0, 2, 3)),
        call(m(0, 3)), call(m(3, 0), False), call(m(3)),
        call(m(4, 4), compute_uv=False, hermitian=True),
    ]),
)  # fmt: skip
def svd(
    a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False
) -> Any:
    """Return the singular value decomposition ``u @ diag(s) @ vh``.

    Parameters
    ----------
    a : (..., m, n) real or complex
        Matrices; integers as float64.
    full_matrices : bool
        Complete u and vh to square matrices.
    compute_uv : bool
        Whether u and vh are wanted; else s is the result.
    hermitian : bool
        The matrices are Hermitian: from `eigh`.

    Returns
    -------
    u : (..., m, m) or (..., m, r)
        Orthonormal columns; r is the smaller of m and n.  The largest component of each
        column (for wide matrices: of each row of vh), the first of equal ones, is real and
        positive; NumPy's differs by a factor of size 1, and by any rotation among the vectors
        of equal singular values.
    s : (..., r) float32 or float64
        In falling order.
    vh : (..., n, n) or (..., r, n)
        Orthonormal rows.

    Raises
    ------
    LinAlgError
        Fewer than two axes.
    TypeError
        float16.

    Notes
    -----
    A QR factorisation with column pivoting, then Hestenes' one-sided rotations of the rows of
    R: Loop; Gather, Mul, Add, ReduceSum, ArgMax; MatMul and TopK at the end.  Computed in
    float64, as NumPy does: the backward error is about n ulp of the largest singular value,
    vectors are orthonormal to a few ulp, of matrices without full rank too.  Singular values
    below 1e-126 of the largest are given as 0.

    A matrix with NaN makes NumPy repeat the call, which raises "SVD did not converge"; a model
    gives NaN.  A matrix with infinities gives NaN.
    """
    if hermitian:
        return _of_hermitian(a, vectors=bool(compute_uv))
    if not compute_uv:
        return singular_values(a)
    x = stacked(a)
    compute, result = common_types(x)
    stack = Stack(x, compute)
    u, s, vh = _found(stack.value, vectors=True, whole=bool(full_matrices))
    return _result_type()(
        stack.unpack(u, result),
        stack.unpack(s, PART.get(result, result)),
        stack.unpack(vh, result),
    )


@function(
    ROWS, np.linalg.svdvals, api="linalg.svdvals", ulp=within(64), floor=16.0,
    samples=calls(lambda m: [call(m(3, 3)), call(m(2, 4, 3)), call(m(2, 0)), call(m(3))]),
)  # fmt: skip
def svdvals(x: Any, /) -> Value:
    """Return the singular values in falling order; see `svd`."""
    return singular_values(x)


# --- condition, rank -------------------------------------------------------------------------


def _lacks_elements(x: Value) -> bool:
    """Whether the matrices are empty, where the graph may count on it."""
    return any(bool(n == 0) for n in x.shape[-2:] if not isinstance(n, Dim) or may_guard(n))


@function(
    ROWS, np.linalg.matrix_rank, scalar=True, api="linalg.matrix_rank",
    samples=calls(lambda m: [
        call(m(3, 3)), call(m(4)), call(m()), call(np.zeros(3, m.dtype)),
        call(np.ones((3, 2), m.dtype)), call(np.zeros((2, 3, 2), m.dtype)), call(m(2, 0, 3)),
        call(np.eye(4, dtype=m.dtype), 2), call(np.eye(4, dtype=m.dtype), rtol=0.5),
        call(np.ones((4, 4), m.dtype), hermitian=True), call(m(2, 2), 1, rtol=1),
        call(np.ones((2, 3, 3), m.dtype), np.array([1.0, 8.0])),
    ]),
)  # fmt: skip
def matrix_rank(
    A: Any,  # noqa: N803  NumPy's name
    tol: Any = None,
    hermitian: Any = False,
    *,
    rtol: Any = None,
) -> Value:
    """Return how many singular values are above a tolerance.

    Parameters
    ----------
    A : (..., m, n) array
        Matrices; of a vector, whether it is not zero.
    tol : (...) float, optional
        The tolerance.
    hermitian : bool
        The matrices are Hermitian.
    rtol : (...) float, optional
        The tolerance by the largest singular value; by default ulp times the larger size.

    Returns
    -------
    (...) int64

    Raises
    ------
    ValueError
        Both tolerances are given.
    """
    if rtol is not None and tol is not None:
        msg = "`tol` and `rtol` can't be both set."
        raise ValueError(msg)
    x = as_array(A)
    if x.ndim < 2:
        nonzero = logical_not(equal(x, np.zeros((), x.dtype.numpy)))
        return as_weak(cast(reduce_any(nonzero, tuple(range(x.ndim))), INT64))
    s = _of_hermitian(x, vectors=False) if hermitian else singular_values(x)
    last = s.ndim - 1
    if tol is not None:
        limit = _column(tol)
    else:
        limit = multiply(
            _largest(s), _relative(x, s.dtype.numpy) if rtol is None else _column(rtol)
        )
    return count_true(greater(s, limit), (last,))


def _column(tolerance: Any) -> Value:
    value = as_array(tolerance)
    return unsqueeze(value, [value.ndim])


def _largest(s: Value) -> Value:
    """Return the largest singular values (..., 1), 0 of none."""
    from .elementwise import maximum

    result: Value = maximum(reduce_max(s, (s.ndim - 1,), keepdims=True), 0)
    return result


def _relative(x: Value, dtype: Any) -> Any:
    """Return the larger size times the dtype's ulp, a NumPy scalar of that dtype."""
    longer = dim_max(*x.shape[-2:])
    eps = np.finfo(dtype).eps
    if isinstance(longer, int):
        return longer * eps
    return multiply(dim_value(longer), eps)


@function(
    ROWS, np.linalg.cond, scalar=True, ulp=within(256), floor=1e6,
    samples=calls(lambda m: [
        call(m(3, 3)), call(m(2, 4, 3), -2), call(np.eye(3, dtype=m.dtype), 2),
        call(np.zeros((2, 2), m.dtype)), call(m(0, 3)), call(m(3)),
        call(np.eye(3, dtype=m.dtype) * 3, 1), call(np.ones((2, 2), m.dtype), np.inf),
        call(np.eye(2, dtype=m.dtype), "fro"), call(m(2, 3), -1), call(m(2, 2), "x"),
    ]),
)  # fmt: skip
def cond(x: Any, p: Any = None) -> Value:
    """Return the condition number in a matrix norm.

    Parameters
    ----------
    x : (..., m, n) array
        Matrices; square ones for other norms than 2 and -2.
    p : None, 1, -1, 2, -2, inf, -inf or "fro"
        Which norm; None is 2.

    Returns
    -------
    (...) float
        Infinite for singular matrices.

    Raises
    ------
    LinAlgError
        The matrices are empty or, for other norms than 2 and -2, not square.
    """
    a = as_array(x)
    if a.ndim >= 2 and _lacks_elements(a):
        msg = "cond is not defined on empty arrays"
        raise np.linalg.LinAlgError(msg)
    if p is not None and p not in {2, -2}:
        return _with_infinities(a, _by_inverse(a, p))
    s = singular_values(a)
    last, r = s.ndim - 1, s.shape[-1]
    first = squeeze(take_range(s, last, 0, 1), [last])
    end = squeeze(take_range(s, last, r - 1, 1), [last])
    ratio = divide(end, first) if p == -2 else divide(first, end)
    return _with_infinities(a, ratio)


def _with_infinities(x: Value, ratio: Value) -> Value:
    """Return infinity for NaN that was not in the matrix."""
    nan = logical_or(isnan(real_part(x)), isnan(imag_part(x)))
    had_nan = reduce_any(nan, (x.ndim - 2, x.ndim - 1))
    lost = logical_and(isnan(ratio), logical_not(had_nan))
    result: Value = where(lost, ratio.dtype.numpy.type(np.inf), ratio)
    return result


def _by_inverse(a: Value, p: Any) -> Value:
    """Return the product of the norms of matrix and inverse; NaN where there is none."""
    x = square(a)
    compute, result = common_types(x)
    stack = Stack(x, compute)
    units = broadcast_to(identity(x.shape[-1], compute), stack.value.shape)
    inverse, singular = solution(stack.value, units)
    nan = np.asarray(np.nan, compute.numpy)[()]
    marks = reshape(singular, (singular.shape[0], 1, 1))
    inverse = stack.unpack(where(marks, nan, inverse), compute)
    product = multiply(norm(x, p, axis=(-2, -1)), norm(inverse, p, axis=(-2, -1)))
    return cast(product, PART.get(result, result))


# --- pseudo-inverse --------------------------------------------------------------------------


@function(
    ROWS, np.linalg.pinv, api="linalg.pinv", ulp=within(256), floor=16.0,
    samples=calls(lambda m: [
        call(np.ones((3, 2), m.dtype)), call(m(2, 3, 0)), call(np.eye(3, dtype=m.dtype) * 2),
        call(np.eye(3, 5, dtype=m.dtype), 0.5), call(np.eye(3, dtype=m.dtype), rtol=1e-3),
        call(np.ones((3, 3), m.dtype), hermitian=True), call(m(3)), call(m(2, 2), 1, rtol=1),
    ]),
)  # fmt: skip
def pinv(a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = NO_VALUE) -> Value:
    """Return the Moore-Penrose inverse.

    Parameters
    ----------
    a : (..., m, n) array
        Matrices.
    rcond, rtol : (...) float, optional
        Singular values up to this part of the largest count as 0; 1e-15 by default, the
        larger size times ulp for an `rtol` of None.
    hermitian : bool
        The matrices are Hermitian.

    Returns
    -------
    (..., n, m)

    Raises
    ------
    ValueError
        Both tolerances are given.

    Notes
    -----
    MatMul of what `svd` gives.
    """
    x = as_array(a)
    cut = _cut(x, rcond, rtol)
    if x.ndim >= 2 and _lacks_elements(x):
        zero = as_array(np.zeros((), x.dtype.numpy))
        return full((*x.shape[:-2], x.shape[-1], x.shape[-2]), zero)
    x = conjugate(x)
    u, s, vt = svd(x, full_matrices=False, hermitian=hermitian)
    large = greater(s, multiply(_column(cut), _largest(s)))
    inverse = where(large, divide(1, where(large, s, 1)), 0)
    part = multiply(unsqueeze(cast(inverse, s.dtype), [s.ndim]), _transposed(u))
    return matmul(_transposed(vt), cast(part, u.dtype))


def _cut(x: Value, rcond: Any, rtol: Any) -> Any:
    if rcond is not None:
        if rtol is not NO_VALUE:
            msg = "`rtol` and `rcond` can't be both set."
            raise ValueError(msg)
        return rcond
    if rtol is NO_VALUE:
        return np.asarray(1e-15)
    return _relative(x, x.dtype.numpy) if rtol is None else rtol


def _transposed(x: Value) -> Value:
    *lead, last, first = range(x.ndim)
    return transpose(x, [*lead, first, last])
