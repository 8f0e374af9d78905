# SPDX-License-Identifier: Apache-2.0
"""Numbers of discrete Fourier transforms: roots of unity, matrices, and how lengths divide."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

__all__ = [
    "DIRECT", "chirp", "convolution_length", "half_matrix", "matrix", "radices", "real_matrix",
    "real_radices", "roots", "to_real_matrix", "turned_matrices", "twiddles",
]  # fmt: skip

Array = np.ndarray[Any, Any]

#: lengths that are one product with a matrix, if they have no factors that serve better
DIRECT: Final = 256
#: lengths that are always one
_SMALL: Final = 32
#: the cost of a step, in products with a number; of real numbers products take half the work
_STEP: Final = 80
_REAL_STEP: Final = 200


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


def half_matrix(r: int, m: int) -> tuple[Array, Array]:
    """Return what makes transforms of whole columns of those of half a Hermitian spectrum.

    The spectrum is (m, r) numbers; with column k of its first half goes column ``r - k``.

    Returns
    -------
    numbers : (2, m, 2, 2, c) float64
        Part and place of the result, then which column, part and place of the operand.
    weights : (r // 2 + 1, 2, 2, c) float64
        What column, which of the two, part and place are multiplied by before.
    """
    n, h = r * m, r // 2 + 1
    c = -(-(n // 2 + 1) // r)
    whole = matrix(m, inverse=True)
    mirrored = whole[..., ::-1][..., :c] * np.array([1.0, -1.0])[:, None]
    numbers = np.stack([whole[..., :c], mirrored], 2)
    place = np.arange(h)[:, None] + r * np.arange(c)
    other = place[:, :1] * -1 + r * np.arange(1, c + 1)
    own = np.where(2 * place <= n, 1.0, 0.0)
    own[0] = np.where((place[0] == 0) | (2 * place[0] == n), 1.0, 2.0 * own[0])
    imaginary = np.where((place == 0) | (2 * place == n), 0.0, own)
    partner = np.where((2 * other < n) & (place[:, :1] > 0), 1.0, 0.0)
    weights = np.stack([np.stack([own, imaginary], 1), np.stack([partner, partner], 1)], 1)
    return numbers, weights


def turned_matrices(r: int, turns: Array, n: int, *, inverse: bool) -> Array:
    """Return the matrices of a step after multiplications by roots of unity.

    Parameters
    ----------
    turns : (rows) int64
        Place j of row i is multiplied by the root of `n` to the power of ``turns[i] * j``.
    n : int
        A multiple of `r`.

    Returns
    -------
    (rows, 2 * r, 2 * r) float64
        Place and part of the result, then part and place of the operand; without the rows,
        where there is nothing to multiply by.
    """
    if not turns.any():
        turns = turns[:1]
    k = turns[:, None] + n // r * np.arange(r)
    re, im = _phases(k.reshape(-1) % n, np.arange(r), n, inverse=inverse)
    numbers = np.moveaxis(_block(re, im), 0, 1).reshape(len(turns), 2 * r, 2 * r)
    return numbers if len(turns) > 1 else numbers[0]


def twiddles(n: int, turns: Array, columns: int, *, inverse: bool) -> tuple[Array, Array]:
    """Return what ``a * w`` is made of: ``a * straight + swapped(a) * crossed``.

    Returns
    -------
    straight, crossed : (rows, 2, columns) float64
        `w` is the root of unity of n to the power of the row's turns times the column;
        `swapped` exchanges the parts.
    """
    re, im = _phases(turns, np.arange(columns), n, inverse=inverse)
    return np.stack([re, re], 1), np.stack([0.0 - im, im], 1)


# --- how a length divides ------------------------------------------------------------------


def _largest_prime(n: int) -> int:
    found, p = 1, 2
    while p * p <= n:
        while n % p == 0:
            found, n = p, n // p
        p += 1
    return max(found, n)


@lru_cache(maxsize=4096)
def _best(n: int, step: int) -> tuple[int, tuple[int, ...]]:
    """Return the cheapest way to divide a length into those of single products."""
    best: tuple[int, tuple[int, ...]]
    best = (2 * n + step, (n,)) if n <= DIRECT else ((2 * DIRECT + step) * n, (n,))
    if n <= _SMALL:
        return best
    for r in range(2, min(DIRECT, n // 2) + 1):
        if n % r == 0:
            cost, rest = _best(n // r, step)
            best = min(best, (cost + 2 * r + step, (r, *rest)))
    return best


def radices(n: int) -> tuple[int, ...]:
    """Return factors of a length, each the length of a step.

    The last one is the only that may be above `DIRECT`, if it has a large prime factor; of an
    even length it is even, if it is not that large, so that what is real in theory is.
    """
    return _radices(n, _STEP)


def real_radices(n: int) -> tuple[int, ...]:
    """Return those of a transform from or to real numbers."""
    return _radices(n, _REAL_STEP)


@lru_cache(maxsize=4096)
def _radices(n: int, step: int) -> tuple[int, ...]:
    large = _largest_prime(n)
    if large > DIRECT:
        rest = n // large
        return (*_radices(rest, step), large) if rest > 1 else (large,)
    plan = _best(n, step)[1]
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
    return min(lengths, key=lambda m: (m * _best(m, _STEP)[0], m))


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
