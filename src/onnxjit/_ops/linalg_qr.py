# SPDX-License-Identifier: Apache-2.0
"""Factorisation by Householder reflections, with LAPACK's signs."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dims import DimLike, dim_min, same
from onnxjit._core.dtypes import INT64
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import conjugate, imag_part, is_complex, real_part
from .diagonal import triangle
from .elementwise import (
    absolute,
    add,
    divide,
    equal,
    less,
    less_equal,
    maximum,
    multiply,
    negative,
    reciprocal,
    sqrt,
    square,
    subtract,
    where,
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
    identity,
    is_at_most,
    largest,
    stack_first,
    stack_last,
    stacked,
)
from .linalg_lu import SHORT, WIDTH, solve_upper
from .product import matrix_product
from .reduce import reduce_sum
from .row import Function, Ufunc, function
from .samples import MATRICES, call, calls, regular, within
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

__all__ = ["ROWS", "Reflected", "qr", "reflect"]

ROWS: list[Function | Ufunc] = []

#: NumPy's class of results
_Q_AND_R: Final[Any] = type(np.linalg.qr(np.eye(1)))


# --- one reflection --------------------------------------------------------------------------


def _size(x: Value) -> Value:
    """Return what is at least as large as the parts, and at most twice the absolute value."""
    if not is_complex(x):
        size: Value = absolute(x)
        return size
    both: Value = add(absolute(real_part(x)), absolute(imag_part(x)))
    return both


def _square(x: Value) -> Value:
    """Return the square of the absolute value."""
    if not is_complex(x):
        size: Value = square(x)
        return size
    both: Value = add(square(real_part(x)), square(imag_part(x)))
    return both


def _reflection(tail: Value, alpha: Value) -> tuple[Value, Value, Value]:
    """Return ``beta``, ``tau`` and what `tail` is to be divided by.

    Parameters
    ----------
    tail : (m, 1, B) Value
        A column, zero down to the diagonal.
    alpha : (1, 1, B) Value
        Its element on the diagonal.

    Notes
    -----
    ``H = I - tau v v^H`` with ``v = (1, tail / divisor)`` makes ``(beta, 0)`` of the column,
    where beta is real, as large as the column is long, and of the sign that alpha's real part
    has not.  Where there is nothing to do ``tau`` is 0.  Lengths are scaled, so that their
    squares neither overflow nor vanish.

    Source: LAPACK's larfg.
    """
    dtype = alpha.dtype
    below = largest(_size(tail), 0)
    is_done = equal(below, 0)
    if is_complex(alpha):
        is_done = where(is_done, equal(imag_part(alpha), 0), is_done)
    scale = maximum(below, _size(alpha))
    scale = either(equal(scale, 0), const(np.float64(1)), scale)
    factor = cast(scale, dtype)
    total = reduce_sum(_square(divide(tail, factor)), (0,), keepdims=True)
    length = multiply(scale, sqrt(add(total, _square(divide(alpha, factor)))))
    # the reciprocal tells -0.0 from 0.0
    turned = where(less(reciprocal(real_part(alpha)), 0), 1.0, -1.0)
    beta = cast(multiply(turned, length), dtype)
    rest = subtract(alpha, beta)
    one, zero = (const(np.asarray(n, dtype.numpy)) for n in (1, 0))
    tau = either(is_done, zero, negative(divide(rest, beta)))
    return where(is_done, alpha, beta), tau, either(is_done, one, rest)


class _Panel:
    """A few columns made triangular.

    Attributes
    ----------
    vectors : (B, m, count) Value
        Of the reflections, zero above the diagonal and 1 on it.
    taus : (B, count) Value
        Their factors.
    rows : (B, m, c) Value
        What the columns became; without meaning below the diagonal.
    """

    __slots__ = ("rows", "taus", "vectors")

    def __init__(self, x: Value, count: DimLike) -> None:
        batch, height, width = x.shape
        places = unsqueeze(iota(height), [1, 2])
        zero, one = (const(np.asarray(n, x.dtype.numpy)) for n in (0, 1))

        def body(j: Value, left: Value) -> tuple[Sequence[Value], Sequence[Value]]:
            at = as_index(j)
            column = gather(left, at, 1)
            tail = either(less_equal(places, at), zero, column)
            beta, tau, divisor = _reflection(tail, gather(column, at, 0))
            vector = either(equal(places, at), one, divide(tail, divisor))
            moved = reduce_sum(multiply(conjugate(vector), left), (0,), keepdims=True)
            step = multiply(vector, multiply(conjugate(tau), moved))
            after = subtract(left, step)
            return [assumed(after, left.shape)], [vector, tau, beta]

        (rows,), (vectors, taus, betas) = loop(count, body, [stack_last(x)])
        self.vectors: Final = as_columns(vectors, count, height, batch)
        self.taus: Final = transpose(reshape(taus, (count, batch)), [1, 0])
        diagonal = reshape(betas, (1, count, batch))
        if not same(width, count):
            diagonal = concat([diagonal, broadcast_to(zero, (1, width - count, batch))], 1)
        on = equal(places, unsqueeze(iota(width), [0, 2]))
        self.rows: Final = stack_first(either(on, diagonal, rows))


def _joint(vectors: Value, taus: Value) -> Value:
    """Return the (B, k, k) triangle t for which ``I - v t v^H`` is the product of reflections.

    Notes
    -----
    ``t = (I + d s)^-1 d``, d the diagonal of taus, s what is above the diagonal of ``v^H v``.

    Source: Puglisi, "Modification of the Householder method based on the compact WY
    representation", SIAM Journal on Scientific and Statistical Computing 13, 1992; here with
    the taus multiplied, because some are 0.
    """
    above = triangle(matrix_product(adjoint(vectors), vectors), 1, lower=False)
    factors = unsqueeze(taus, [2])
    one = identity(taus.shape[1], taus.dtype)
    return solve_upper(multiply(factors, above), multiply(factors, one), is_unit=True)


# --- all columns -----------------------------------------------------------------------------


class Reflected:
    """Matrices made triangular.

    Attributes
    ----------
    vectors : (B, m, k) Value
        Of the reflections, zero above the diagonal and 1 on it; k is the smaller of m and n.
    taus : (B, k) Value
        Their factors.
    rows : (B, k, n) Value
        What the matrices became; without meaning below the diagonal.
    """

    __slots__ = ("rows", "taus", "vectors")

    def __init__(self, vectors: Value, taus: Value, rows: Value) -> None:
        self.vectors: Final = vectors
        self.taus: Final = taus
        self.rows: Final = rows

    def upper(self) -> Value:
        """Return the (B, k, n) triangle."""
        return triangle(self.rows, 0, lower=False)

    def packed(self) -> Value:
        """Return (B, m, n) matrices: the triangle, and below it the vectors."""
        batch, m, k = self.vectors.shape
        n = self.rows.shape[2]
        zero = const(np.zeros((), self.rows.dtype.numpy))
        upper = concat([self.upper(), broadcast_to(zero, (batch, m - k, n))], 1)
        vectors = concat([self.vectors, broadcast_to(zero, (batch, m, n - k))], 2)
        below = triangle(negative(vectors), -1, lower=True)
        # what is subtracted above the diagonal is 0.0, which keeps a sign of zero
        both: Value = subtract(assumed(upper, (batch, m, n)), assumed(below, (batch, m, n)))
        return both

    def unitary(self, columns: DimLike) -> Value:
        """Return the first columns of the (B, m, m) product of the reflections."""
        batch, m, k = self.vectors.shape
        dtype = self.vectors.dtype
        one = cast(equal(unsqueeze(iota(m), [1]), iota(columns)), dtype)
        start = broadcast_to(one, (batch, m, columns))
        if is_at_most(k, SHORT):
            return _applied_singly(self.vectors, self.taus, start)

        def body(
            _i: Value, vectors: Value, taus: Value, q: Value
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            left = vectors.shape[2]
            w = dim_min(WIDTH, left)
            rest = left - w
            q = _applied(take_range(vectors, 2, rest, w), take_range(taus, 1, rest, w), q)
            return [
                take_range(vectors, 2, 0, rest),
                take_range(taus, 1, 0, rest),
                assumed(q, (batch, m, columns)),
            ], []

        state = [self.vectors, self.taus, start]
        (_, _, q), _ = loop((k + WIDTH - 1) // WIDTH, body, state)
        return q


def _applied_singly(vectors: Value, taus: Value, x: Value) -> Value:
    """Multiply by reflections from the left, the last one first."""
    count = taus.shape[1]
    columns, factors = stack_last(vectors), stack_last(unsqueeze(taus, [1]))

    def body(i: Value, left: Value) -> tuple[Sequence[Value], Sequence[Value]]:
        at = as_index(subtract(last, i))
        vector = gather(columns, at, 1)
        inner = reduce_sum(multiply(conjugate(vector), left), (0,), keepdims=True)
        step = multiply(vector, multiply(gather(factors, at, 1), inner))
        return [assumed(subtract(left, step), left.shape)], []

    last = cast(dim_value(count - 1), INT64)
    (done,), _ = loop(count, body, [stack_last(x)])
    return stack_first(done)


def _applied(vectors: Value, taus: Value, x: Value) -> Value:
    """Multiply by a product of reflections from the left."""
    inner = matrix_product(_joint(vectors, taus), matrix_product(adjoint(vectors), x))
    done: Value = subtract(x, matrix_product(vectors, inner))
    return done


def reflect(x: Value) -> Reflected:
    """Make matrices triangular by reflections.

    Parameters
    ----------
    x : (B, m, n) float64 or complex128 Value
        Matrices.

    Notes
    -----
    Column by column; beyond 48 columns 32 at a time, the rest by MatMul.  Loop, Gather, Abs,
    ReduceMax, ReduceSum, Sqrt, Div, Mul, Sub, MatMul.

    Sources: Golub and Van Loan, "Matrix Computations", 4th edition, 5.1 and 5.2; LAPACK's
    geqrf for the signs.
    """
    batch, m, n = x.shape
    k = dim_min(m, n)
    if is_at_most(k, SHORT):
        panel = _Panel(x, k)
        return Reflected(panel.vectors, panel.taus, take_range(panel.rows, 1, 0, k))
    zero = const(np.zeros((), x.dtype.numpy))

    def body(
        _i: Value, left: Value, vectors: Value, taus: Value, rows: Value
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        high, wide = left.shape[1:]
        done = vectors.shape[2]
        w = dim_min(WIDTH, dim_min(high, wide))
        panel = _Panel(take_range(left, 2, 0, w), w)
        rest = take_range(left, 2, w, wide - w)
        inner = matrix_product(adjoint(panel.vectors), rest)
        inner = matrix_product(adjoint(_joint(panel.vectors, panel.taus)), inner)
        rest = assumed(
            subtract(rest, matrix_product(panel.vectors, inner)), (batch, high, wide - w)
        )
        row = concat(
            [
                broadcast_to(zero, (batch, w, done)),
                take_range(panel.rows, 1, 0, w),
                take_range(rest, 1, 0, w),
            ],
            2,
        )
        column = concat([broadcast_to(zero, (batch, done, w)), panel.vectors], 1)
        return [
            take_range(rest, 1, w, high - w),
            concat([vectors, assumed(column, (batch, m, w))], 2),
            concat([taus, panel.taus], 1),
            concat([rows, assumed(row, (batch, w, n))], 1),
        ], []

    start = [
        x,
        broadcast_to(zero, (batch, m, 0)),
        broadcast_to(zero, (batch, 0)),
        broadcast_to(zero, (batch, 0, n)),
    ]
    (_, vectors, taus, rows), _ = loop((k + WIDTH - 1) // WIDTH, body, start)
    return Reflected(
        assumed(vectors, (batch, m, k)),
        assumed(taus, (batch, k)),
        assumed(rows, (batch, k, n)),
    )


# --- NumPy's function ------------------------------------------------------------------------

_MODES: Final = ("reduced", "complete", "r", "raw")
_FULL: Final = (
    "The 'full' option is deprecated in favor of 'reduced'.\n"
    "For backward compatibility let mode default."
)
_ECONOMIC: Final = "The 'economic' option is deprecated."


def _mode(mode: Any) -> str:
    """Return the mode by its name; names that NumPy deprecates warn as it does."""
    if mode in _MODES:
        return str(mode)
    for names, name, text in (
        (("f", "full"), "reduced", _FULL),
        (("e", "economic"), "economic", _ECONOMIC),
    ):
        if mode in names:
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return name
    msg = f"Unrecognized mode '{mode}'"
    raise ValueError(msg)


@function(
    ROWS, np.linalg.qr, ulp=within(64), floor="operands", ties=True,
    samples=calls(lambda m: [
        call(regular(m, 3, 3)), call(regular(m, 2, 5, 3)), call(regular(m, 3, 5)),
        call(regular(m, 4, 2), "complete"), call(regular(m, 2, 4), mode="complete"),
        call(regular(m, 6, 3), mode="r"), call(regular(m, 3, 6), "r"),
        call(regular(m, 5, 3), mode="raw"), call(regular(m, 3, 5), mode="raw"),
        call(m(0, 3)), call(m(3, 0)), call(m(0, 3), "complete"), call(m(3, 0), "complete"),
        call(m(2, 0, 0)), call(m(0, 2, 3), "raw"), call(m(3)), call(m(2, 2), "half"),
        call(np.triu(regular(m, 4, 4))), call(m(3, 3) * 0),
    ], MATRICES),
)  # fmt: skip
def qr(a: Any, mode: Any = "reduced") -> Any:
    """Factorise each matrix of the last two axes into a unitary and an upper triangular one.

    Parameters
    ----------
    a : (..., m, n) array
        Matrices; integers and bool as float64.
    mode : str
        What is returned, with k the smaller of m and n: ``"reduced"`` q (..., m, k) and r
        (..., k, n); ``"complete"`` q (..., m, m) and r (..., m, n); ``"r"`` only r
        (..., k, n); ``"raw"`` h (..., n, m) and tau (..., k), the
        transpose of what LAPACK leaves.

    Returns
    -------
    float32, float64, complex64 or complex128
        Computed in double precision, as NumPy does, and then rounded to single where the
        matrices are.

    Raises
    ------
    LinAlgError
        The operand has fewer than two axes.
    ValueError
        There is no such mode.
    TypeError
        The operand is float16.

    Notes
    -----
    See `reflect`.  Signs are NumPy's wherever the length of a column is not a rounding error.
    """
    mode = _mode(mode)
    x = stacked(a)
    inner, outer = common_types(x)
    stack = Stack(x, inner)
    batch, m, n = stack.value.shape
    done = reflect(stack.value)
    if mode == "r":
        return stack.unpack(done.upper(), outer)
    if mode == "raw":
        h = transpose(done.packed(), [0, 2, 1])
        return stack.unpack(h, outer), stack.unpack(done.taus, outer)
    if mode == "economic":
        return stack.unpack(done.packed(), outer)
    k = dim_min(m, n)
    upper = done.upper()
    if mode == "complete":
        zero = const(np.zeros((), inner.numpy))
        below = broadcast_to(zero, (batch, m - k, n))
        upper, k = assumed(concat([upper, below], 1), (batch, m, n)), m
    return _Q_AND_R(stack.unpack(done.unitary(k), outer), stack.unpack(upper, outer))
