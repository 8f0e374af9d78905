# SPDX-License-Identifier: Apache-2.0
"""Linear least squares by singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import dim_value, running_trace
from onnxjit._core.dims import dim_max, require_equal
from onnxjit._core.dtypes import FLOAT64, INT32, PART

from .cast import cast
from .convert import as_array
from .elementwise import (
    divide,
    equal,
    greater,
    greater_equal,
    less_equal,
    logical_and,
    logical_or,
    multiply,
    subtract,
    where,
)
from .gather import compress
from .linalg_base import adjoint, common_types, fail_where
from .linalg_jacobi import scaled, sum_of_squares
from .linalg_svd import Singular
from .product import matrix_product
from .reduce import count_true, reduce_max
from .row import Function, Ufunc, function
from .samples import Make, call, calls, within
from .structure import broadcast_to, reshape, squeeze, unsqueeze

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS", "lstsq"]

ROWS: list[Function | Ufunc] = []

_ULP: Final = float(np.finfo(np.float64).eps)


def _two_axes(*arrays: Value) -> None:
    for x in arrays:
        if x.ndim != 2:
            msg = f"{x.ndim}-dimensional array given. Array must be two-dimensional"
            raise np.linalg.LinAlgError(msg)


def _part(a: Value, rcond: Any) -> Any:
    """Return which part of the largest singular value counts as 0, as LAPACK reads it."""
    if rcond is None:
        longer = dim_max(*a.shape)
        return multiply(cast(dim_value(longer), FLOAT64), _ULP)
    given = cast(as_array(rcond), FLOAT64)
    outside = logical_or(less_equal(given, 0.0), greater_equal(given, 1.0))
    return where(outside, _ULP / 2, given)


def _slope(m: Make, rows: int, columns: int) -> Any:
    """Return a matrix with 4, 2, ... on its diagonal."""
    return (np.eye(rows, columns) * 4 / 2.0 ** np.arange(columns)).astype(m.dtype)


@function(
    ROWS, np.linalg.lstsq, scalar=True, ulp=within(256), floor=16.0,
    samples=calls(lambda m: [
        call(_slope(m, 3, 2) * 2, m(3)), call(_slope(m, 3, 2), m(3, 2)),
        call(_slope(m, 2, 3), m(2)), call(np.ones((3, 2), m.dtype), m(3)),
        call(np.zeros((3, 2), m.dtype), m(3)), call(_slope(m, 2, 2), m(2, 0)),
        call(m(0, 2), m(0)), call(m(2, 0), m(2)), call(_slope(m, 2, 2), m(2), 0.6),
        call(_slope(m, 2, 2), m(2), -1), call(m(3, 2), m(2)), call(m(3), m(3)),
        call(m(2, 3, 2), m(3)),
    ]),
)  # fmt: skip
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return the shortest vectors that come nearest to solving linear equations.

    Parameters
    ----------
    a : (m, n) array
        The matrix.
    b : (m,) or (m, k) array
        Right-hand sides.
    rcond : float, optional
        Singular values up to this part of the largest count as 0; ulp times the larger size
        by default, half an ulp where it is not between 0 and 1.

    Returns
    -------
    x : (n,) or (n, k) float or complex
        Solutions.
    residuals : (k,) or (0,) float
        Sums of squares of what is left; none where m <= n, or the rank is below n.
    rank : () int32
        How many singular values count.
    s : (r,) float
        Singular values in falling order.

    Raises
    ------
    LinAlgError
        The axes do not fit.
    TypeError
        float16.

    Notes
    -----
    ``V @ (U.H @ b / s)``, see `svd`; MatMul, Where.  Source: LAPACK's xGELSD, which NumPy
    calls.  How many residuals there are is known when a model runs.  A matrix with NaN makes
    NumPy repeat the call, which raises; a model gives NaN.
    """
    x, right = as_array(a), as_array(b)
    is_vector = right.ndim == 1
    right = unsqueeze(right, [1]) if is_vector else right
    _two_axes(x, right)
    (m, n), k = x.shape, right.shape[1]
    if not require_equal(running_trace().env, m, right.shape[0]):
        msg = "Incompatible dimensions"
        raise np.linalg.LinAlgError(msg)
    compute, result = common_types(x, right)
    right = cast(right, compute)
    found = Singular(unsqueeze(cast(x, compute), [2]), vectors=True, full=False)
    fail_where(found.failed)
    assert found.left is not None  # vectors were asked for
    assert found.right is not None
    s = squeeze(found.values, [1])
    largest = reduce_max(s, (0,), keepdims=True)
    counts = greater(s, multiply(largest, _part(x, rcond)))
    inverse = where(counts, divide(1.0, where(counts, s, 1.0)), 0.0)
    left, vh = squeeze(found.left, [2]), squeeze(found.right, [2])
    inside = matrix_product(left, right)
    solution = matrix_product(adjoint(vh), scaled(unsqueeze(inverse, [1]), inside))
    rest = sum_of_squares(subtract(right, matrix_product(adjoint(left), inside)), (0,))
    rank = count_true(counts, (0,))
    shown = logical_and(equal(rank, dim_value(n)), greater(dim_value(m), dim_value(n)))
    residuals = compress(rest, broadcast_to(reshape(shown, (1,)), (k,)), 0)
    real = PART.get(result, result)
    solution = squeeze(solution, [1]) if is_vector else solution
    return cast(solution, result), cast(residuals, real), cast(rank, INT32), cast(s, real)
