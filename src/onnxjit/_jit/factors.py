# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices that are not unique: compared by what they make.

The signs of singular vectors and eigenvectors are free, those of equal values may be turned,
and eigenvalues of general matrices come in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._eager.leaves import children

from .compare import BOUNDS, Check, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["compare_factors", "has_freedom", "parts_with_freedom"]

Array = np.ndarray[Any, Any]

_MATRIX: Final = np.eye(1)
_SVD: Final = type(np.linalg.svd(_MATRIX))
_EIGH: Final = type(np.linalg.eigh(_MATRIX))
_EIG: Final = type(np.linalg.eig(_MATRIX))
_NOTE: Final = "vectors are compared by what they make"


def has_freedom(x: Any) -> bool:
    """Whether an object holds factors that are not unique."""
    return type(x) in _KINDS


def parts_with_freedom(x: Any) -> Iterator[Any]:
    """Go through the results inside of an object whose factors are not unique."""
    if has_freedom(x):
        yield x
        return
    for _, part in children(x) or ():
        yield from parts_with_freedom(part)


def compare_factors(got: Sequence[Array], want: Any, rtol: float | None = None) -> Check:
    """Compare factors with NumPy's: shapes, values, lengths and angles, and the product.

    Parameters
    ----------
    got : sequence of ndarray
        In the order of the fields of `want`.
    want : SVDResult, EighResult or EigResult
    rtol : float, optional
        As in `compare`.
    """
    for g, w in zip(got, want, strict=True):
        is_finite = np.isfinite(g).all() and np.isfinite(w).all()
        if (g.dtype, g.shape) != (w.dtype, w.shape) or not is_finite:
            return compare(g, w, rtol=rtol)
    bound = BOUNDS[want[-1].real.itemsize] if rtol is None else rtol
    error = max(_KINDS[type(want)](got, want), default=0.0)
    size = max((float(np.abs(w).max(initial=0.0)) for w in want), default=0.0)
    rows = max(want[-1].shape[-1], 1)
    is_close = error <= bound * rows * max(1.0, size)
    return Check("ok" if is_close else "differs", error=error, text=_NOTE)


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def _adjoint(x: Array) -> Array:
    return np.swapaxes(x, -1, -2).conj()


def _from_unit(x: Array) -> float:
    """Return how far columns are from being orthonormal."""
    return _largest(_adjoint(x) @ x - np.eye(x.shape[-1]))


def _singular(got: Any, want: Any) -> list[float]:
    def product(u: Array, s: Array, v: Array) -> Array:
        k = s.shape[-1]
        made: Array = (u[..., :k] * s[..., None, :]) @ v[..., :k, :]
        return made

    u, s, v = got
    errors = [_largest(s - want[1]), _largest(product(u, s, v) - product(*want))]
    return [*errors, _from_unit(u), _from_unit(_adjoint(v))]


def _hermitian(got: Any, want: Any) -> list[float]:
    def product(w: Array, v: Array) -> Array:
        made: Array = (v * w[..., None, :]) @ _adjoint(v)
        return made

    w, v = got
    return [_largest(w - want[0]), _largest(product(w, v) - product(*want)), _from_unit(v)]


def _general(got: Any, want: Any) -> list[float]:
    """Compare eigenvalues in any order, and vectors by what the matrix makes of them."""
    (w, v), (values, vectors) = got, want
    try:
        matrix = (vectors * values[..., None, :]) @ np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        return [_largest(w - values), _largest(v - vectors)]
    lengths = np.linalg.norm(v, axis=-2)
    errors = [_largest(matrix @ v - v * w[..., None, :]), _largest(lengths - 1.0)]
    rows = w.reshape(-1, w.shape[-1]), values.reshape(-1, w.shape[-1])
    return [*errors, *map(_from_set, *rows)]


def _from_set(got: Array, want: Array) -> float:
    """Return how far numbers are from others, each from one of its own."""
    left, error = list(want), 0.0
    for number in got:
        at = int(np.argmin(np.abs(np.array(left) - number)))
        error = max(error, float(abs(left.pop(at) - number)))
    return error


_KINDS: Final[dict[type, Callable[[Any, Any], list[float]]]] = {
    _SVD: _singular,
    _EIGH: _hermitian,
    _EIG: _general,
}
