# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and polynomials written in NumPy: traced like the user's code.

Where NumPy looks at the data to tell whether a result is real, a graph has both: a call gives
what NumPy gives, but what is computed with such a result is complex; so are results of models.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SOURCES", "eigen_pairs", "eigen_values", "is_empty"]

_EIG: Final = type(np.linalg.eig(np.eye(1)))


def eigen_values(a: Any) -> Any:
    """Return eigenvalues as complex numbers; it has a row as NumPy's functions have."""
    if type(a) is np.ndarray:
        values = np.linalg.eigvals(a)
        return values.astype(np.result_type(values, np.complex64))
    return a.__array_function__(eigen_values, (type(a),), (a,), {})


def eigen_pairs(a: Any) -> Any:
    """Return eigenvalues and eigenvectors as complex numbers; see `eigen_values`."""
    if type(a) is np.ndarray:
        values, vectors = np.linalg.eig(a)
        dtype = np.result_type(values, np.complex64)
        return values.astype(dtype), vectors.astype(dtype)
    return a.__array_function__(eigen_pairs, (type(a),), (a,), {})


def is_empty(a: Any) -> Any:
    """Whether a vector is empty; a model of vectors of any size counts on elements."""
    if type(a) is np.ndarray:
        return len(a) == 0
    return a.__array_function__(is_empty, (type(a),), (a,), {})


def _eigvals(a: Any) -> Any:
    """Return eigenvalues; real ones where all of a real matrix are."""
    a = np.asarray(a)
    values = eigen_values(a)
    if a.dtype.kind != "c" and np.all(values.imag == 0):
        return values.real
    return values


def _eig(a: Any) -> Any:
    """Return eigenvalues and eigenvectors; real ones where all of a real matrix are.

    The largest component of each vector, the first of equal ones, is real and positive.
    """
    a = np.asarray(a)
    values, vectors = eigen_pairs(a)
    if a.dtype.kind != "c" and np.all(values.imag == 0):
        return _EIG(values.real, vectors.real)
    return _EIG(values, vectors)


def _roots(p: Any) -> Any:
    """Return the eigenvalues of the companion matrix, and a zero for each trailing zero."""
    p = np.atleast_1d(p)
    if p.ndim != 1:
        msg = "Input must be a rank-1 array."
        raise ValueError(msg)
    if p.dtype.kind not in "fc":
        p = p.astype(np.float64)
    # one more is never zero, so that something is found
    found = np.concatenate([p != 0, np.ones(1, dtype=bool)])
    back = np.argmax(np.concatenate([found[:-1][::-1], np.ones(1, dtype=bool)]))
    n, first = p.shape[0], np.argmax(found)
    kept = p[first : n - back]
    rest = kept[1:]
    rows = np.arange(rest.shape[0])
    step = (rows[:, None] == rows + 1).astype(p.dtype)
    companion = np.where(rows[:, None] == 0, -rest / kept[:1], step)
    values = eigen_values(companion)
    zeros = np.zeros_like(p, dtype=values.dtype)[: np.where(first < n, back, 0)]
    values = np.concatenate([values, zeros])
    if p.dtype.kind != "c" and np.all(values.imag == 0):
        return values.real
    return values


def _poly(seq_of_zeros: Any) -> Any:
    """Multiply factors; eigenvalues of a real matrix come in pairs, and give real results."""
    zeros = np.atleast_1d(seq_of_zeros)
    is_real = zeros.dtype.kind != "c"
    shape = zeros.shape
    if len(shape) == 2 and shape[0] == shape[1] and shape[0] != 0:
        zeros = eigen_values(zeros)
    elif len(shape) == 1:
        zeros = zeros.astype(np.mintypecode(zeros.dtype.char))
    else:
        msg = "input must be 1d or non-empty square 2d array."
        raise ValueError(msg)
    if is_empty(zeros):
        return 1.0
    made = (np.arange(zeros.shape[0] + 1) == 0).astype(zeros.dtype)
    for zero in zeros:
        made = np.concatenate([made[:1], made[1:] - zero * made[:-1]])
    if is_real:
        return made.real
    twins = (zeros[:, None] == zeros).sum(axis=1)
    mirrored = (zeros[:, None] == zeros.conj()).sum(axis=1)
    if np.all((twins == mirrored) & (twins > 0)):
        return made.real
    return made


def _polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """Fit by least squares; does not warn of a rank below the order."""
    deg = operator.index(deg)
    order = deg + 1
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    _check_points(x, y, deg)
    n = x.shape[0]
    if rcond is None:
        rcond = n * np.finfo(x.dtype).eps
    left, right = np.vander(x, order), y
    if w is not None:
        w = np.asarray(w) + 0.0
        _check_weights(w, y)
        left = left * w[:, np.newaxis]
        right = right * (w[:, np.newaxis] if right.ndim == 2 else w)
    scale = np.sqrt((left * left).sum(axis=0))
    left = left / scale
    raw, residuals, rank, s = np.linalg.lstsq(left, right, rcond)
    c = (raw.T / scale).T
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    base = np.linalg.inv(np.dot(left.T, left)) / np.outer(scale, scale)
    factor = 1
    if cov != "unscaled":
        if n <= order:
            msg = "the number of data points must exceed order to scale the covariance matrix"
            raise ValueError(msg)
        if rank != order:
            msg = "there are no residuals to scale by"
            raise ValueError(msg)
        rest = right - left @ raw
        factor = (rest * rest).sum(axis=0) / (n - order)
    if y.ndim == 1:
        return c, base * factor
    return c, base[:, :, np.newaxis] * factor


def _check_points(x: Any, y: Any, deg: int) -> None:
    if deg < 0:
        msg = "expected deg >= 0"
        raise ValueError(msg)
    if x.ndim != 1:
        msg = "expected 1D vector for x"
        raise TypeError(msg)
    if is_empty(x):
        msg = "expected non-empty vector for x"
        raise TypeError(msg)
    if y.ndim < 1 or y.ndim > 2:
        msg = "expected 1D or 2D array for y"
        raise TypeError(msg)
    if x.shape[0] != y.shape[0]:
        msg = "expected x and y to have same length"
        raise TypeError(msg)


def _check_weights(w: Any, y: Any) -> None:
    if w.ndim != 1:
        msg = "expected a 1-d array for weights"
        raise TypeError(msg)
    if w.shape[0] != y.shape[0]:
        msg = "expected w and y to have the same length"
        raise TypeError(msg)


def _polydiv(u: Any, v: Any) -> Any:
    """Divide polynomials; leading elements below 1e-8 are cut off the remainder."""
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    dtype = (u[0] + v[0]).dtype
    m, n = u.shape[0] - 1, v.shape[0] - 1
    scale = 1.0 / v[0]
    quotient = np.zeros(max(m - n + 1, 1), dtype)
    rest = u.astype(dtype)
    for k in range(m - n + 1):
        d = scale * rest[k]
        quotient[k] = d
        rest[k : k + n + 1] -= d * v
    large = ~(np.abs(rest) <= 1e-8)
    return quotient, rest[np.where(large.any(), np.argmax(large), m) :]


#: NumPy function -> what is traced for it
SOURCES: Final[dict[Any, Callable[..., Any]]] = {
    np.linalg.eig: _eig,
    np.linalg.eigvals: _eigvals,
    np.roots: _roots,
    np.poly: _poly,
    np.polyfit: _polyfit,
    np.polydiv: _polydiv,
}
