# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of symmetric and Hermitian matrices, by Jacobi's method."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dtypes import PART
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import conjugate, imag_part, is_complex, make_complex, real_part
from .diagonal import triangle
from .elementwise import (
    add,
    divide,
    equal,
    greater,
    isnan,
    logical_not,
    logical_or,
    multiply,
    subtract,
)
from .gather import gather, gather_elements
from .linalg_base import (
    Stack,
    adjoint,
    assumed,
    common_types,
    fail_where,
    fixed_size,
    square,
    void_where,
)
from .linalg_few import LIMIT, diagonal_of_few
from .linalg_jacobi import (
    EPS,
    SWEEPS,
    Rotation,
    Table,
    batch_first,
    batch_last,
    in_order,
    polished,
    safe_scale,
    scaled,
    shifted,
    sum_of_squares,
    unit_rows,
    with_peaks,
)
from .reduce import reduce_any
from .row import Function, Ufunc, function
from .samples import call, calls, within
from .sort import argsort_along
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    pad,
    reshape,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

    Step = tuple[Sequence[Value], Sequence[Value]]

__all__ = ["ROWS", "Decomposed", "eigen_stack", "eigh", "eigvalsh"]

ROWS: list[Function | Ufunc] = []


# --- the method ------------------------------------------------------------------------------


class Decomposed:
    """Hermitian (n, n, B) matrices taken apart.

    Attributes
    ----------
    values : (n, B) Value
        Eigenvalues in rising order; NaN for a matrix that is not finite.
    vectors : (n, n, B) Value or None
        Row j is the conjugate of the j-th eigenvector.
    failed : (B,) bool Value
        NaN in the matrix, or no convergence.

    Notes
    -----
    Cyclic Jacobi in the order of a tournament, until what is off the diagonal has a norm below
    half an ulp of the matrix's: backward stable, and quadratically convergent (7 to 10 sweeps
    for 10 to 100 rows).  What a rotation annihilates is set to zero, and the diagonal changes
    by the shifts of the rotations.  Source: G. H. Golub and C. F. Van Loan, "Matrix
    Computations", 4th ed., section 8.5.
    """

    __slots__ = ("failed", "values", "vectors")

    def __init__(self, a: Value, *, vectors: bool) -> None:
        n = a.shape[0]
        scale = safe_scale(a)
        x = scaled(scale, a)
        total = sum_of_squares(x, (0, 1))
        limit = multiply(total, (EPS / 2) ** 2)
        start = broadcast_to(unit_rows(n, n, x), x.shape) if vectors else None
        is_small = isinstance(n, int) and 2 <= n <= LIMIT
        apply = diagonal_of_few if is_small else _diagonal_of_many
        diagonal, unfinished, *rows = apply(x, limit, start)
        self.failed: Final[Value] = logical_or(isnan(scale), unfinished)
        void = multiply(total, 0.0)  # NaN for what is not finite
        values = add(diagonal, void)
        order = argsort_along(values, 0)
        self.values: Final[Value] = divide(gather_elements(values, order, 0), scale)
        self.vectors: Value | None = None
        if rows:
            # few rotations leave nothing to polish
            found = in_order(rows[0] if is_small else polished(rows[0]), order)
            self.vectors = shifted(void, with_peaks(found)[0])


def _diagonal_of_many(x: Value, limit: Value, rows: Value | None) -> tuple[Value, ...]:
    """Make Hermitian matrices diagonal by tournaments; see `diagonal_of_few`."""
    n = x.shape[0]
    table = Table(n)
    grow = table.size - n
    apart = cast(logical_not(_on_diagonal(n)), real_part(x).dtype)
    state: Sequence[Value] = [
        pad(scaled(unsqueeze(apart, [2]), x), [0, 0, 0], [grow, grow, 0], _zero(x)),
        pad(_diagonal(real_part(x)), [0, 0], [grow, 0], const(np.zeros(()))),
    ]
    if rows is not None:
        state = [*state, pad(rows, [0, 0, 0], [grow, 0, 0], _zero(x))]

    def unfinished(off: Value, *_: Value) -> Value:
        result: Value = greater(sum_of_squares(off, (0, 1)), limit)
        return result

    state = _swept(table, state, lambda *s: reduce_any(unfinished(*s), (0,)))
    results = (take_range(state[1], 0, 0, n), unfinished(*state))
    return results if rows is None else (*results, take_range(state[2], 0, 0, n))


def _swept(table: Table, state: Sequence[Value], unfinished: Any) -> Sequence[Value]:
    """Rotate the matrix without its diagonal, the diagonal, and what goes with them."""
    kept = logical_not(table.partners())
    size, meetings = table.size, table.meetings()

    def one_round(_: Value, off: Value, d: Value, *rest: Value) -> Step:
        real = real_part(off).dtype
        across = gather(reshape(off, (size * size, off.shape[2])), meetings)
        p, q = table.halves(d)
        rotation = Rotation(p, q, across)
        turn = table.turn(rotation)
        left = turn(scaled(unsqueeze(cast(kept, real), [2]), off))
        off = turn(conjugate(transpose(left, [1, 0, 2])))
        d = concat([subtract(p, rotation.shift), add(q, rotation.shift)], 0)
        return [off, table.moved(d), *map(turn, rest)], []

    def sweep(_: Value, *state: Value) -> Step:
        return loop(table.rounds, one_round, state)[0], []

    return loop(SWEEPS, sweep, state, while_true=unfinished)[0]


def _zero(like: Value) -> Value:
    return const(np.zeros((), like.dtype.numpy))


def _on_diagonal(n: DimLike) -> Value:
    result: Value = equal(unsqueeze(iota(n), [1]), iota(n))
    return result


def _diagonal(x: Value) -> Value:
    """Return the diagonals (n, B)."""
    n = x.shape[0]
    places = multiply(iota(n), add(dim_value(n), 1))
    return gather(reshape(x, (n * n, x.shape[2])), places)


# --- NumPy's functions -----------------------------------------------------------------------


def _is_upper(uplo: Any) -> bool:
    given = uplo.upper()
    if given not in {"L", "U"}:
        msg = "UPLO argument must be 'L' or 'U'"
        raise ValueError(msg)
    return bool(given == "U")


def _mirrored(a: Value, *, upper: bool) -> Value:
    """Return the Hermitian matrices that a triangle of (B, n, n) says."""
    a = adjoint(a) if upper else a
    x = real_part(a)
    re: Value = add(triangle(x, 0, lower=True), adjoint(triangle(x, -1, lower=True)))
    if not is_complex(a):
        return re
    below = triangle(imag_part(a), -1, lower=True)
    return make_complex(re, subtract(below, adjoint(below)))


def eigen_stack(a: Value, *, upper: bool, vectors: bool) -> tuple[Value, Value]:
    """Return eigenvalues (B, n) in rising order, eigenvectors in columns (B, n, n).

    Without `vectors` the second is the first again.
    """
    found = Decomposed(batch_last(_mirrored(a, upper=upper)), vectors=vectors)
    fail_where(found.failed)
    values = void_where(found.failed, batch_first(found.values))
    if found.vectors is None:
        return values, values
    return values, void_where(found.failed, adjoint(batch_first(found.vectors)))


@cache
def _result_type() -> Any:
    return type(np.linalg.eigh(np.eye(1)))


def _solved(a: Any, uplo: Any, *, vectors: bool) -> tuple[Value, Value]:
    upper = _is_upper(uplo)
    x = square(a)
    compute, result = common_types(x)
    few = fixed_size(x.shape[-1], LIMIT)
    x = x if few is None else assumed(x, (*x.shape[:-2], few, few))
    stack = Stack(x, compute)
    values, columns = eigen_stack(stack.value, upper=upper, vectors=vectors)
    values = stack.unpack(values, PART.get(result, result))
    return values, stack.unpack(columns, result) if vectors else values


@function(
    ROWS, np.linalg.eigvalsh, api="linalg.eigvalsh", ulp=within(64), floor=16.0,
    samples=calls(lambda m: [
        call(m(3, 3)), call(m(2, 4, 4), "U"), call(m(5, 5), UPLO="l"), call(m(1, 1)),
        call(m(0, 0)), call(m(2, 0, 3, 3)), call(m(2, 3)), call(m(3)), call(m(2, 2), "X"),
    ]),
)  # fmt: skip
def eigvalsh(a: Any, UPLO: Any = "L") -> Value:  # noqa: N803  NumPy's name
    """Return eigenvalues of symmetric or Hermitian matrices in rising order; see `eigh`."""
    return _solved(a, UPLO, vectors=False)[0]


@function(
    ROWS, np.linalg.eigh, api="linalg.eigh", ulp=within(64), floor=16.0, ties=True,
    samples=calls(lambda m: [
        call(m(1, 1)), call(m(0, 0)), call(m(2, 0, 3, 3)), call(m(2, 3)), call(m(3)),
        call(m(2, 2), "X"),
    ]),
)  # fmt: skip
def eigh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803  NumPy's name
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : (..., n, n) real or complex
        Matrices; only one triangle is read, and of the diagonal the real part.
    UPLO : "L" or "U"
        Which triangle.

    Returns
    -------
    eigenvalues : (..., n) float
        In rising order; float32 for float32 and complex64, else float64.
    eigenvectors : (..., n, n) float or complex
        In columns.  The largest component of each, the first of equal ones, is real and
        positive; what NumPy returns differs by a factor of size 1, and by any rotation among
        the vectors of equal eigenvalues.

    Raises
    ------
    LinAlgError
        Fewer than two axes, or the last two differ.
    ValueError
        `UPLO` is neither.
    TypeError
        float16.

    Notes
    -----
    Loop over sweeps of Jacobi's method, in it Loop over rounds of rotations: Gather, Mul, Add,
    Sqrt, Div, Transpose; TopK at the end.  Computed in float64, as NumPy does, with a backward
    error and a loss of orthogonality of about n ulp.

    A matrix with NaN makes NumPy repeat the call, which raises "Eigenvalues did not converge"
    or not; a model gives NaN, and so does everybody for infinities.
    """
    values, columns = _solved(a, UPLO, vectors=True)
    return _result_type()(values, columns)
