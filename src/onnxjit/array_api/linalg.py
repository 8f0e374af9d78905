# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of the array API standard: ``numpy.linalg`` under its signatures."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnxjit._ops.sources_polynomial import eigen_pairs, eigen_values

from ._call import call_numpy

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip

_EIG: Final = type(np.linalg.eig(np.eye(1)))


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Return the triangular factors of positive definite matrices."""
    return call_numpy(np.linalg.cholesky, x, upper=upper)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the cross products of vectors of three elements."""
    return call_numpy(np.linalg.cross, x1, x2, axis=axis)


def det(x: Any, /) -> Any:
    """Return the determinants of matrices."""
    return call_numpy(np.linalg.det, x)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of the last two axes."""
    return call_numpy(np.linalg.diagonal, x, offset=offset)


def eig(x: Any, /) -> Any:
    """Return the complex eigenvalues and eigenvectors of matrices.

    Notes
    -----
    Complex also where all are real; `numpy.linalg.eig` then returns real arrays.
    """
    return _EIG(*call_numpy(eigen_pairs, x))


def eigh(x: Any, /) -> Any:
    """Return the eigenvalues and eigenvectors of symmetric or Hermitian matrices."""
    return call_numpy(np.linalg.eigh, x)


def eigvals(x: Any, /) -> Any:
    """Return the complex eigenvalues of matrices, see `eig`."""
    return call_numpy(eigen_values, x)


def eigvalsh(x: Any, /) -> Any:
    """Return the eigenvalues of symmetric or Hermitian matrices."""
    return call_numpy(np.linalg.eigvalsh, x)


def inv(x: Any, /) -> Any:
    """Return the inverses of matrices."""
    return call_numpy(np.linalg.inv, x)


def matmul(x1: Any, x2: Any, /) -> Any:
    """Return the products of matrices."""
    return call_numpy(np.linalg.matmul, x1, x2)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return the norms of matrices."""
    return call_numpy(np.linalg.matrix_norm, x, keepdims=keepdims, ord=ord)


def matrix_power(x: Any, n: int, /) -> Any:
    """Return the powers of matrices to a whole exponent."""
    return call_numpy(np.linalg.matrix_power, x, n)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the ranks of matrices.

    Notes
    -----
    Singular values are zero below `rtol` times the largest one; by default that is the larger
    size of the matrix times the distance from 1.0 to the next number.
    """
    return call_numpy(np.linalg.matrix_rank, x, rtol=rtol)


def matrix_transpose(x: Any, /) -> Any:
    """Exchange the last two axes."""
    return call_numpy(np.linalg.matrix_transpose, x)


def outer(x1: Any, x2: Any, /) -> Any:
    """Return the products of each element of a vector with each of another."""
    return call_numpy(np.linalg.outer, x1, x2)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverses of matrices.

    Notes
    -----
    The default of `rtol` is that of `matrix_rank`; `numpy.linalg.pinv` takes 1e-15.
    """
    return call_numpy(np.linalg.pinv, x, rtol=rtol)


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """Return the orthogonal and the triangular factors of matrices."""
    return call_numpy(np.linalg.qr, x, mode=mode)


def slogdet(x: Any, /) -> Any:
    """Return the sign and the logarithm of the absolute value of determinants."""
    return call_numpy(np.linalg.slogdet, x)


def solve(x1: Any, x2: Any, /) -> Any:
    """Return the solutions of systems of linear equations."""
    return call_numpy(np.linalg.solve, x1, x2)


def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """Return the singular value decomposition of matrices."""
    return call_numpy(np.linalg.svd, x, full_matrices=full_matrices)


def svdvals(x: Any, /) -> Any:
    """Return the singular values of matrices."""
    return call_numpy(np.linalg.svdvals, x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Return the sum of products over axes of both arrays."""
    return call_numpy(np.linalg.tensordot, x1, x2, axes=axes)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sums of the diagonals of the last two axes."""
    return call_numpy(np.linalg.trace, x, offset=offset, dtype=dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the sum of products along an axis; complex `x1` is conjugated."""
    return call_numpy(np.linalg.vecdot, x1, x2, axis=axis)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return the norms of vectors along axes, of all elements by default."""
    return call_numpy(np.linalg.vector_norm, x, axis=axis, keepdims=keepdims, ord=ord)
