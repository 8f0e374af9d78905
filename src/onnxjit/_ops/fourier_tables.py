# SPDX-License-Identifier: Apache-2.0
"""Numbers of discrete Fourier transforms: roots of unity, matrices, and how lengths divide."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

__all__ = [
    "DIRECT", "chirp", "convolution_length", "matrix", "radices", "real_matrix", "roots",
    "to_real_matrix", "twiddles",
]  # fmt: skip

Array = np.ndarray[Any, Any]

#: lengths that are one product with a matrix, if they have no factors that serve better
DIRECT: Final = 256
#: lengths that are always one
_SMALL: Final = 32
#: the cost of a step, in products with a number
_STEP: Final = 80


def roots(places: Any, n: int) -> tuple[Array, Array]:
    """Return cosines and sines of ``-2 * pi * places / n``.

    Parameters
    ----------
    places : (...) int64
        From 0 to ``n - 1``.
    n : int
        Parts of a turn.

    Returns
    -------
    re, im : (...) float64
        Within 1.3e-16; multiples of a quarter turn are exact.

    Notes
    -----
    The angle is reduced to an eighth of a turn in integers.
    """
    k = np.asarray(places, np.int64)
    quarter = (8 * k + n) // (2 * n)
    angle = (4 * k - quarter * n) * (np.pi / 2) / n
    cosine, sine = np.cos(angle), np.sin(angle)
    turns = quarter % 4
    re = np.choose(turns, [cosine, -sine, -cosine, sine])
    im = np.choose(turns, [sine, cosine, -sine, -cosine])
    return re + 0.0, 0.0 - im


def _phases(rows: Array, columns: Array, n: int, *, inverse: bool) -> tuple[Array, Array]:
    re, im = roots(np.outer(rows, columns) % n, n)
    return re, (0.0 - im if inverse else im)


def _block(re: Array, im: Array) -> Array:
    """Return the real form of a complex matrix: (2, m, 2, k), parts first."""
    return np.stack([np.stack([re, 0.0 - im], 1), np.stack([im, re], 1)])


def matrix(n: int, *, inverse: bool, scale: float = 1.0) -> Array:
    """Return the matrix of a transform as a real one.

    Returns
    -------
    (2, n, 2, n) float64
        Part and place of the result, then of the operand.
    """
    k = np.arange(n)
    re, im = _phases(k, k, n, inverse=inverse)
    return _block(re * scale, im * scale)


def real_matrix(n: int, rows: int, *, scale: float = 1.0) -> Array:
    """Return the matrix of a forward transform of real numbers.

    Returns
    -------
    (2, rows, n) float64
        Part and place of the first `rows` results, then the place of the operand.
    """
    re, im = _phases(np.arange(rows), np.arange(n), n, inverse=False)
    return np.stack([re * scale, im * scale])


def to_real_matrix(n: int, *, scale: float = 1.0) -> Array:
    """Return the matrix of the inverse transform of half a Hermitian spectrum.

    Returns
    -------
    (n, 2, n // 2 + 1) float64
        Place of the result, then part and place of the operand.
    """
    half = np.arange(n // 2 + 1)
    re, im = _phases(np.arange(n), half, n, inverse=True)
    weight = np.where((half == 0) | (2 * half == n), 1.0, 2.0) * scale
    return np.stack([re * weight, (0.0 - im) * weight], 1)


def twiddles(n: int, rows: int, columns: int, *, inverse: bool) -> tuple[Array, Array]:
    """Return what ``a * w`` is made of: ``a * straight + swapped(a) * crossed``.

    Returns
    -------
    straight, crossed : (rows, 2, columns) float64
        `w` is the root of unity of n to the power of row times column; `swapped` exchanges
        the parts.
    """
    re, im = _phases(np.arange(rows), np.arange(columns), n, inverse=inverse)
    return np.stack([re, re], 1), np.stack([0.0 - im, im], 1)


# --- how a length divides ------------------------------------------------------------------


def _cost(r: int) -> int:
    return 2 * r + _STEP


def _largest_prime(n: int) -> int:
    found, p = 1, 2
    while p * p <= n:
        while n % p == 0:
            found, n = p, n // p
        p += 1
    return max(found, n)


@lru_cache(maxsize=4096)
def _best(n: int) -> tuple[int, tuple[int, ...]]:
    """Return the cheapest way to divide a length into those of single products."""
    best: tuple[int, tuple[int, ...]]
    best = (_cost(n), (n,)) if n <= DIRECT else (_cost(DIRECT) * n, (n,))
    if n <= _SMALL:
        return best
    for r in range(2, min(DIRECT, n // 2) + 1):
        if n % r == 0:
            cost, rest = _best(n // r)
            best = min(best, (cost + _cost(r), (r, *rest)))
    return best


@lru_cache(maxsize=4096)
def radices(n: int) -> tuple[int, ...]:
    """Return factors of a length, each the length of a step.

    The last one is the only that may be above `DIRECT`, if it has a large prime factor; of an
    even length it is even, if it is not that large, so that what is real in theory is.
    """
    large = _largest_prime(n)
    if large > DIRECT:
        rest = n // large
        return (*radices(rest), large) if rest > 1 else (large,)
    plan = _best(n)[1]
    return tuple(sorted(plan, key=lambda r: (r % 2 == 0, -r)))


# --- lengths with large prime factors ------------------------------------------------------


@lru_cache(maxsize=4096)
def convolution_length(n: int) -> int:
    """Return a length of at least ``2 * n - 1`` that is cheap to transform."""
    least = 2 * n - 1
    top = 1 << (least - 1).bit_length()
    lengths = {top}
    for odd in (3, 5, 9, 15, 25):
        m = odd
        while m < least:
            m *= 2
        lengths.add(m)
    return min(lengths, key=lambda m: (m * _best(m)[0], m))


def chirp(n: int, *, inverse: bool) -> tuple[Array, Array]:
    """Return the chirp of a length: the roots of unity of 2 n to the power of squares.

    Returns
    -------
    re, im : (n) float64
        The angles are reduced in integers: ``k * k`` modulo ``2 * n``.
    """
    k = np.arange(n, dtype=np.int64)
    re, im = roots(k * k % (2 * n), 2 * n)
    return re, (0.0 - im if inverse else im)
