# SPDX-License-Identifier: Apache-2.0
"""Cholesky's factorisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import DimLike, dim_min
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import conjugate, real_part
from .elementwise import (
    divide,
    equal,
    greater,
    less_equal,
    logical_or,
    multiply,
    sqrt,
    subtract,
)
from .gather import gather
from .linalg_base import (
    Stack,
    adjoint,
    as_columns,
    as_index,
    assumed,
    common_types,
    either,
    fail_where,
    fixed_size,
    is_at_most,
    square,
    stack_last,
    void_where,
)
from .linalg_lu import SHORT, WIDTH
from .linalg_small import SMALL, small_factor
from .product import matrix_product
from .reduce import reduce_any
from .row import Function, Ufunc, function
from .samples import MATRICES, Make, call, calls, within
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    reshape,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

    from .samples import Array

__all__ = ["ROWS", "cholesky", "lower_factor"]

ROWS: list[Function | Ufunc] = []


def _positive(m: Make, *shape: int) -> Array:
    """Return symmetric matrices whose diagonal is large."""
    x = m(*shape).astype("f8")
    both = x + np.swapaxes(x, -1, -2) + 30 * np.eye(shape[-1])
    return both.astype(m.dtype) if m.dtype != "?" else np.eye(shape[-1], dtype=bool)


class _Panel:
    """The factor's columns for the first columns of a matrix, and its squared diagonal."""

    __slots__ = ("columns", "squares")

    def __init__(self, x: Value, count: DimLike) -> None:
        batch, height, _ = x.shape
        places = unsqueeze(iota(height), [1, 2])
        zero = const(np.zeros((), x.dtype.numpy))

        def body(j: Value, left: Value) -> tuple[Sequence[Value], Sequence[Value]]:
            at = as_index(j)
            column = gather(left, at, 1)
            found = real_part(gather(column, at, 0))
            root = cast(sqrt(found), x.dtype)
            diagonal = either(equal(places, at), root, zero)
            column = either(greater(places, at), divide(column, root), diagonal)
            row = transpose(conjugate(take_range(column, 0, 0, count)), [1, 0, 2])
            after = subtract(left, multiply(column, row))
            return [assumed(after, left.shape)], [column, found]

        _, (columns, squares) = loop(count, body, [stack_last(x)])
        #: (B, height, count)
        self.columns: Final = as_columns(columns, count, height, batch)
        #: (B, count) float64
        self.squares: Final = transpose(reshape(squares, (count, batch)), [1, 0])

    def has_failed(self) -> Value:
        """Return the (B,) truth values of "not positive definite"; NaN does not say so."""
        return reduce_any(less_equal(self.squares, const(np.float64(0))), (1,))


def lower_factor(x: Value) -> tuple[Value, Value]:
    """Factorise Hermitian matrices.

    Parameters
    ----------
    x : (B, n, n) float64 or complex128 Value
        Matrices, of which only what is on and below the diagonal counts.

    Returns
    -------
    (B, n, n) Value
        Lower triangles.
    (B,) bool Value
        Which matrices are not positive definite: their triangles mean nothing.

    Notes
    -----
    By outer products; beyond 48 rows 32 columns at a time, the rest by MatMul.  Loop, Gather,
    Sqrt, Div, Mul, Sub, Where.

    Source: Golub and Van Loan, "Matrix Computations", 4th edition, 4.2; LAPACK's potrf.
    """
    batch, n, _ = x.shape
    few = fixed_size(n, SMALL)
    if few:
        factor, failed = small_factor(assumed(x, (batch, few, few)))
        return assumed(factor, x.shape), failed
    if is_at_most(n, SHORT):
        panel = _Panel(x, n)
        return panel.columns, panel.has_failed()
    zero = const(np.zeros((), x.dtype.numpy))

    def body(
        _i: Value, left: Value, factor: Value, failed: Value
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        high = left.shape[1]
        done = factor.shape[2]
        w = dim_min(WIDTH, high)
        panel = _Panel(take_range(left, 2, 0, w), w)
        below = take_range(panel.columns, 1, w, high - w)
        rest = take_range(take_range(left, 1, w, high - w), 2, w, high - w)
        after = subtract(rest, matrix_product(below, adjoint(below)))
        above = broadcast_to(zero, (batch, done, w))
        new = assumed(concat([above, panel.columns], 1), (batch, n, w))
        return [
            assumed(after, (batch, high - w, high - w)),
            concat([factor, new], 2),
            logical_or(failed, panel.has_failed()),
        ], []

    start = [
        x,
        broadcast_to(zero, (batch, n, 0)),
        broadcast_to(const(np.bool_(False)), (batch,)),
    ]
    (_, factor, failed), _ = loop((n + WIDTH - 1) // WIDTH, body, start)
    return assumed(factor, (batch, n, n)), failed


@function(
    ROWS, np.linalg.cholesky, ulp=within(16), floor="operands",
    samples=calls(lambda m: [
        call(_positive(m, 3, 3)), call(_positive(m, 2, 5, 5)), call(m(0, 0)), call(m(0, 3, 3)),
        call(_positive(m, 6, 6), upper=True), call(np.triu(_positive(m, 3, 3)), upper=True),
        call(np.tril(_positive(m, 2, 3, 3))), call(m(3)), call(m(2, 3)),
        call(m(3, 3) * 0),
    ], MATRICES),
)  # fmt: skip
def cholesky(a: Any, /, *, upper: Any = False) -> Value:
    """Return the Cholesky factor of each Hermitian matrix of the last two axes.

    Parameters
    ----------
    a : (..., n, n) array
        Matrices; integers and bool as float64.  Only one triangle is read.
    upper : bool
        Read the upper triangle, and return ``u`` with ``u^H @ u == a`` instead of the lower
        triangle ``l`` with ``l @ l^H == a``.

    Returns
    -------
    (..., n, n) float32, float64, complex64 or complex128
        Computed in double precision, as NumPy does, and then rounded to single where the
        matrices are.

    Raises
    ------
    LinAlgError
        The operand is not a stack of square matrices; or one is not positive definite, which
        a call finds out.  A model then returns NaN for that matrix.
    TypeError
        The operand is float16.

    Notes
    -----
    See `lower_factor`.
    """
    x = square(a)
    inner, outer = common_types(x)
    stack = Stack(x, inner)
    given = adjoint(stack.value) if upper else stack.value
    factor, failed = lower_factor(given)
    fail_where(failed)
    factor = void_where(failed, factor)
    return stack.unpack(adjoint(factor) if upper else factor, outer)
