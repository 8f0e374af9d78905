# SPDX-License-Identifier: Apache-2.0
"""Determinants, inverses and solutions of linear equations."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import broadcast_shapes, dim_prod, require_equal

from .cast import cast
from .convert import as_array, plain_option
from .elementwise import (
    subtract,
    where,
)
from .linalg_base import (
    Stack,
    assumed,
    common_types,
    fail_where,
    fixed_size,
    identity,
    square,
    void_where,
)
from .linalg_lu import eliminate, solve_upper
from .linalg_small import SMALL, SmallElimination
from .product import size_text
from .row import Function, Ufunc, function
from .samples import MATRICES, call, calls, regular, within
from .structure import (
    as_1d,
    broadcast_to,
    concat,
    const,
    is_zero,
    reshape,
    squeeze,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS", "inv", "solution", "solve"]

ROWS: list[Function | Ufunc] = []

# --- equations -------------------------------------------------------------------------------


def solution(x: Value, b: Value) -> tuple[Value, Value]:
    """Solve linear equations.

    Parameters
    ----------
    x : (B, n, n) float64 or complex128 Value
        Matrices.
    b : (B, n, m) Value of the same dtype
        Right-hand sides.

    Returns
    -------
    (B, n, m) Value
        Solutions, NaN where NaN came up on the way.
    (B,) bool Value
        Which matrices are exactly singular: their solutions mean nothing.

    Notes
    -----
    Elimination with partial pivoting, then substitution; see `eliminate` and `solve_upper`.
    The backward error is that of LAPACK's gesv.
    """
    n = x.shape[2]
    few = fixed_size(n, SMALL)
    if few is not None:
        return _small_solution(assumed(x, (x.shape[0], few, few)), b, few)
    done = eliminate(concat([x, b], 2), n)
    upper = take_range(done.rows, 2, 0, n)
    beside = take_range(done.rows, 2, n, b.shape[2])
    nothing = where(done.has_nan, np.nan, 0.0)
    beside = subtract(beside, reshape(cast(nothing, x.dtype), (x.shape[0], 1, 1)))
    return solve_upper(upper, beside), done.is_singular()


def _small_solution(x: Value, b: Value, n: int) -> tuple[Value, Value]:
    if not n:
        return b, broadcast_to(const(np.bool_(False)), x.shape[:1])
    right = assumed(b, (x.shape[0], n, b.shape[2]))
    done = SmallElimination(x, right)
    return assumed(done.solved(), b.shape), done.is_singular()


@function(
    ROWS, np.linalg.inv, ulp=within(64), floor="operands",
    samples=calls(lambda m: [
        call(regular(m, 3, 3)), call(regular(m, 2, 5, 5)), call(m(0, 0)), call(m(0, 3, 3)),
        call(m(3)), call(m(2, 3)), call(m(3, 3) * 0), call(m(2, 6, 6) * 0),
    ], MATRICES),
)  # fmt: skip
def inv(a: Any) -> Value:
    """Return the inverse of each matrix of the last two axes.

    Parameters
    ----------
    a : (..., n, n) array
        Matrices; integers and bool as float64.

    Returns
    -------
    (..., n, n) float32, float64, complex64 or complex128
        Computed in double precision, as NumPy does, and then rounded to single where the
        matrices are.

    Raises
    ------
    LinAlgError
        The operand is not a stack of square matrices; or one is exactly singular, which a
        call finds out.  A model then returns NaN for that matrix.
    TypeError
        The operand is float16.

    Notes
    -----
    The solution for an identity matrix, as in NumPy; see `solution`.
    """
    x = square(a)
    inner, outer = common_types(x)
    stack = Stack(x, inner)
    found, singular = solution(
        stack.value, broadcast_to(identity(x.shape[-1], inner), stack.value.shape)
    )
    fail_where(singular)
    return stack.unpack(void_where(singular, found), outer)


_MATRIX: Final = "(m,m),(m,n)->(m,n)"
_VECTOR: Final = "(m,m),(m)->(m)"


def _check_right(name: str, signature: str, x: Value, b: Value, axis: int) -> None:
    if b.ndim < -axis:
        msg = (
            f"{name}: Input operand 1 does not have enough dimensions (has {b.ndim}, gufunc "
            f"core with signature {signature} requires {-axis})"
        )
        raise ValueError(msg)
    if not require_equal(running_trace().env, x.shape[-1], b.shape[axis]):
        msg = (
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
            f"signature {signature} (size {size_text(b.shape[axis])} is different from "
            f"{size_text(x.shape[-1])})"
        )
        raise ValueError(msg)


@function(
    ROWS, np.linalg.solve, ulp=within(64), floor="operands",
    samples=calls(lambda m: [
        call(regular(m, 3, 3), m(3)), call(regular(m, 3, 3), m(3, 2)),
        call(regular(m, 2, 3, 3), m(3)), call(regular(m, 2, 3, 3), m(2, 3, 1)),
        call(regular(m, 3, 3), m(4, 3, 2)), call(regular(m, 2, 1, 3, 3), m(4, 3, 2)),
        call(regular(m, 6, 6), m(6, 2)), call(m(0, 0), m(0)), call(m(0, 0), m(0, 2)),
        call(m(0, 3, 3), m(3)), call(regular(m, 3, 3), m(3, 0)), call(regular(m, 3, 3), m()),
        call(regular(m, 3, 3), m(2)), call(regular(m, 3, 3), m(2, 2)), call(m(2, 3), m(2)),
        call(m(3, 3) * 0, m(3)),
    ], MATRICES),
)  # fmt: skip
def solve(a: Any, b: Any) -> Value:
    """Solve the equations ``a @ x = b``.

    Parameters
    ----------
    a : (..., n, n) array
        Matrices; integers and bool as float64.
    b : (n,) or (..., n, m) array
        Right-hand sides: one vector for every matrix if it has one axis, else matrices.

    Returns
    -------
    (..., n) or (..., n, m) float32, float64, complex64 or complex128
        Computed in double precision, as NumPy does, and then rounded to single where both
        operands are.

    Raises
    ------
    LinAlgError
        `a` is not a stack of square matrices; or one is exactly singular, which a call finds
        out.  A model then returns NaN for that matrix.
    ValueError
        The shapes do not fit.
    TypeError
        An operand is float16.

    Notes
    -----
    See `solution`.
    """
    x = square(a)
    right = as_array(b)
    inner, outer = common_types(x, right)
    is_vector = right.ndim == 1
    if is_vector:
        _check_right("solve1", _VECTOR, x, right, -1)
        right = unsqueeze(right, [1])
    else:
        _check_right("solve", _MATRIX, x, right, -2)
    found = _solved(cast(x, inner), cast(right, inner))
    if is_vector:
        found = squeeze(found, [found.ndim - 1])
    return cast(found, outer)


def _solved(x: Value, b: Value) -> Value:
    """Solve for (..., n, n) and (..., n, m) arrays whose leading axes broadcast."""
    if x.ndim == 2 and b.ndim > 2:
        return _solved_at_once(x, b)
    lead = broadcast_shapes(running_trace().env, x.shape[:-2], b.shape[:-2])
    n, width = x.shape[-1], b.shape[-1]
    stack = Stack(broadcast_to(x, (*lead, n, n)), x.dtype)
    right = Stack(broadcast_to(b, (*lead, n, width)), x.dtype)
    found, singular = solution(stack.value, right.value)
    fail_where(singular)
    return stack.unpack(void_where(singular, found), x.dtype)


def _solved_at_once(x: Value, b: Value) -> Value:
    """Solve for one matrix and many right-hand sides, as columns of one."""
    n, last = x.shape[-1], b.ndim - 1
    lead = range(last - 1)
    columns = transpose(b, [last - 1, *lead, last])
    flat = reshape(columns, (n, dim_prod(columns.shape[1:])))
    found = reshape(_solved(x, flat), columns.shape)
    return transpose(found, [*(1 + i for i in lead), 0, last])


# --- tensors ---------------------------------------------------------------------------------


@function(
    ROWS, np.linalg.tensorinv, ulp=within(64),
    samples=calls(lambda m: [
        call(regular(m, 6, 6).reshape(2, 3, 3, 2)),
        call(regular(m, 6, 6).reshape(6, 2, 3), ind=1), call(m(2, 3, 3), 1), call(m(2, 2), 0),
        call(m(2, 0, 0)), call(m(0, 0), 1), call(m(0, 2), 1), call(m(2, 0, 0), 3),
    ], MATRICES),
)  # fmt: skip
def tensorinv(a: Any, ind: Any = 2) -> Value:
    """Return the inverse of an array as a linear map of arrays.

    Parameters
    ----------
    a : array
        ``prod(a.shape[:ind]) == prod(a.shape[ind:])``.
    ind : int
        How many axes come first, as the shape of what the map gives.

    Returns
    -------
    array of shape ``a.shape[ind:] + a.shape[:ind]``

    Raises
    ------
    ValueError
        `ind` is not positive, or the axes behind the first are empty.
    LinAlgError
        The products of sizes differ, or as in `inv`.
    """
    x = as_array(a)
    count = operator.index(plain_option(ind, "the number of axes"))
    if count <= 0:
        msg = "Invalid ind argument."
        raise ValueError(msg)
    first, last = x.shape[:count], x.shape[count:]
    if is_zero(dim_prod(last)):
        np.empty(0).reshape(0, -1)  # NumPy's refusal
    flat = reshape(x, (dim_prod(first), dim_prod(last)))
    return reshape(inv(flat), (*last, *first))


@function(
    ROWS, np.linalg.tensorsolve, ulp=within(64),
    samples=calls(lambda m: [
        call(regular(m, 6, 6).reshape(2, 3, 6), m(2, 3)),
        call(regular(m, 6, 6).reshape(2, 3, 3, 2), m(2, 3)),
        call(regular(m, 6, 6).reshape(2, 6, 3), m(2, 3), axes=(1,)), call(m(2, 3, 5), m(2, 3)),
    ], MATRICES),
)  # fmt: skip
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Value:
    """Solve ``tensordot(a, x, x.ndim) == b``.

    Parameters
    ----------
    a : array of shape ``b.shape + q``
        ``prod(q) == b.size``.
    b : array
        Right-hand side.
    axes : sequence of int, optional
        Axes of `a` that are moved to the end first.

    Returns
    -------
    array of shape q

    Raises
    ------
    LinAlgError
        The products of sizes differ, or as in `solve`.
    """
    x, right = as_array(a), as_array(b)
    rank = x.ndim
    if axes is not None:
        order = list(range(rank))
        for axis in axes:
            order.remove(axis)
            order.insert(rank, axis)
        x = transpose(x, order)
    shape = x.shape[-(rank - right.ndim) :]
    size = dim_prod(shape)
    if not require_equal(running_trace().env, dim_prod(x.shape), size * size):
        msg = (
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
        raise np.linalg.LinAlgError(msg)
    return reshape(solve(reshape(x, (size, size)), as_1d(right)), shape)
