# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms of a length that is known while tracing.

Complex numbers are *planes* here: real arrays of shape (batch, 2, n), first the real and then
the imaginary parts, so that a transform of a small length is one product with a real matrix.

Sources: J. W. Cooley, J. W. Tukey, "An algorithm for the machine calculation of complex
Fourier series", Math. Comp. 19, 1965; D. H. Bailey, "FFTs in external or hierarchical memory",
J. Supercomputing 4, 1990 (a step as a product of matrices); L. I. Bluestein, "A linear
filtering approach to the computation of the discrete Fourier transform", IEEE Trans. Audio
Electroacoust. 18, 1970 (lengths with large prime factors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value, running_trace

from .elementwise import add, multiply
from .fourier_tables import (
    DIRECT,
    chirp,
    convolution_length,
    matrix,
    radices,
    real_matrix,
    to_real_matrix,
    twiddles,
)
from .gather import gather
from .product import matrix_product
from .structure import (
    LAST,
    concat,
    const,
    pad,
    reshape,
    reverse,
    slice_axes,
    take_range,
    transpose,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dtypes import DType
    from onnxjit._core.program import Value

__all__ = ["from_half", "pairs", "planes", "swapped", "transform", "transform_real"]

Array = np.ndarray[Any, Any]


def _table(numbers: Array, dtype: DType) -> Value:
    rounded = np.ascontiguousarray(numbers, dtype.numpy)
    return running_trace().constant(rounded)


def swapped(x: Value, axis: int = 1) -> Value:
    """Exchange real and imaginary parts."""
    return gather(x, const(np.array([1, 0])), axis)


def _turned(x: Value, straight: Array, crossed: Array, axis: int = 1) -> Value:
    """Multiply complex numbers, whose parts are along an axis, by constant ones."""
    kept = multiply(x, _table(straight, x.dtype))
    result: Value = add(kept, multiply(swapped(x, axis), _table(crossed, x.dtype)))
    return result


def _rows(numbers: Array) -> Array:
    """Return the matrix (2, rows, ...) of a step with parts below rows, one column each."""
    return np.moveaxis(numbers, 0, 1).reshape(2 * numbers.shape[1], -1)


def _moved(x: Value) -> Value:
    """Exchange the last two of three axes."""
    return transpose(x, (0, 2, 1))


# --- complex to complex --------------------------------------------------------------------


def transform(x: Value, n: int, *, inverse: bool, scale: float = 1.0) -> Value:
    """Return the discrete Fourier transform of planes.

    Parameters
    ----------
    x : (batch, 2, n) float32 or float64
        Planes.
    n : int
        At least 1.
    inverse : bool
        Whether angles are positive.
    scale : float
        What the result is multiplied by.

    Returns
    -------
    (batch, r, 2, n / r) dtype of `x`
        Element (k, c) of each part is result ``k + r * c``; see `planes` and `pairs`.

    Notes
    -----
    A step of length r is a MatMul with a (2 r, 2 r) matrix, two Mul and an Add for the roots
    of unity between steps, and a Transpose.  The matrices are rounded once from float64; the
    scale is in the last one.
    """
    return _unordered(x, radices(n), inverse=inverse, scale=scale)


def planes(y: Value) -> Value:
    """Return the results of a transform in order, as (batch, 2, n) planes."""
    batch, r, _, m = y.shape
    if r == 1:
        return reshape(y, (batch, 2, m))
    return reshape(_moved(reshape(y, (batch, r, 2 * m))), (batch, 2, m * r))


def pairs(y: Value) -> Value:
    """Return the results of a transform in order, as (batch, n, 2) pairs of parts."""
    batch, r, _, m = y.shape
    return reshape(_moved(reshape(y, (batch, 2 * r, m))), (batch, m * r, 2))


def _unordered(x: Value, plan: Sequence[int], *, inverse: bool, scale: float) -> Value:
    r, *rest = plan
    batch = x.shape[0]
    if not rest:
        made = _last_step(x, r, inverse=inverse, scale=scale)
        return reshape(made, (batch, 1, 2, r))
    m = int(np.prod(rest))
    left = _table(_rows(matrix(r, inverse=inverse)), x.dtype)
    a = matrix_product(left, reshape(x, (batch, 2 * r, m)))
    a = reshape(a, (batch, r, 2, m))
    a = _turned(a, *twiddles(r * m, r, m, inverse=inverse), axis=2)
    y = _steps(reshape(a, (batch * r, 2, m)), rest, inverse=inverse, scale=scale)
    return reshape(y, (batch, r, 2, m))


def _steps(x: Value, plan: Sequence[int], *, inverse: bool, scale: float) -> Value:
    """Return planes transformed by steps, in order."""
    return planes(_unordered(x, plan, inverse=inverse, scale=scale))


def _last_step(x: Value, n: int, *, inverse: bool, scale: float) -> Value:
    if n > DIRECT:
        return _bluestein(x, n, inverse=inverse, scale=scale)
    numbers = matrix(n, inverse=inverse, scale=scale).reshape(2 * n, 2 * n)
    flat = reshape(x, (x.shape[0], 2 * n))
    return reshape(matrix_product(flat, _table(numbers.T, x.dtype)), (x.shape[0], 2, n))


def _bluestein(x: Value, n: int, *, inverse: bool, scale: float) -> Value:
    """Transform a length without small factors as a convolution with a chirp."""
    m = convolution_length(n)
    re, im = chirp(n, inverse=inverse)
    wave = np.zeros(m, complex)
    wave[:n] = re - 1j * im
    wave[m - n + 1 :] = wave[1:n][::-1]
    spectrum = np.fft.fft(wave) / m
    straight, crossed = np.stack([re, re]), np.stack([0.0 - im, im])
    a = _turned(x, straight, crossed)
    a = pad(a, (0, 0, 0), (0, 0, m - n), as_value(0, x.dtype))
    a = _steps(a, radices(m), inverse=False, scale=1.0)
    re, im = spectrum.real, spectrum.imag
    a = _turned(a, np.stack([re, re]), np.stack([0.0 - im, im]))
    a = take_range(_steps(a, radices(m), inverse=True, scale=1.0), 2, 0, n)
    return _turned(a, straight * scale, crossed * scale)


# --- real to complex -----------------------------------------------------------------------


def transform_real(x: Value, n: int, rows: int, *, scale: float = 1.0) -> Value:
    """Return the forward transform of real numbers.

    Parameters
    ----------
    x : (batch, n) float32 or float64
        Real numbers.
    n : int
        At least 1.
    rows : int
        How many of the n results are wanted: ``n // 2 + 1``, or n.
    scale : float
        What the result is multiplied by.

    Returns
    -------
    (batch, r, 2, m) dtype of `x`
        As of `transform`; results behind the wanted ones may follow them.

    Notes
    -----
    Half the work of `transform`: of the r results of the first step, half are conjugates of
    the others, and so are those of all later steps.
    """
    r, *rest = radices(n)
    batch = x.shape[0]
    if rest:
        m, h = n // r, r // 2 + 1
        left = _table(_rows(real_matrix(r, h)), x.dtype)
        a = matrix_product(left, reshape(x, (batch, r, m)))
        a = _turned(reshape(a, (batch, h, 2, m)), *twiddles(n, h, m, inverse=False), axis=2)
        if rest == [m] and m <= DIRECT:
            return _mirrored_step(a, r, -(-rows // r), scale)
        y = _steps(reshape(a, (batch * h, 2, m)), rest, inverse=False, scale=scale)
        return _mirrored(reshape(y, (batch, h, 2, m)), r, -(-rows // r))
    if n > DIRECT:
        whole = pad(reshape(x, (batch, 1, n)), (0, 0, 0), (0, 1, 0), as_value(0, x.dtype))
        return reshape(_bluestein(whole, n, inverse=False, scale=scale), (batch, 1, 2, n))
    numbers = real_matrix(n, rows, scale=scale).reshape(2 * rows, n)
    made = matrix_product(x, _table(numbers.T, x.dtype))
    return reshape(made, (batch, 1, 2, rows))


def _mirrored(y: Value, r: int, columns: int) -> Value:
    """Return r rows, of which the first ``r // 2 + 1`` are given, and the first columns.

    The other rows are the conjugates of given ones, with their columns reversed.
    """
    h = y.shape[1]
    upper = take_range(y, 3, 0, columns)
    lower = slice_axes(
        y, [1, 3], [r - int(h), LAST], [0, -columns - 1], [-1, -1], [r - int(h), columns]
    )
    lower = multiply(lower, _table(np.array([[1.0], [-1.0]]), y.dtype))
    return concat([upper, lower], 1)


def _mirrored_step(a: Value, r: int, columns: int, scale: float) -> Value:
    """Do the last step and what `_mirrored` does, which its matrix can do for nothing."""
    batch, h, _, m = a.shape
    numbers = matrix(int(m), inverse=False, scale=scale).reshape(2, m, 2 * int(m))
    conjugate = numbers[:, ::-1] * np.array([1.0, -1.0])[:, None, None]
    below = r - int(h)
    flipped = slice_axes(a, [1], [below], [0], [-1], [below])
    made = [
        reshape(
            matrix_product(
                reshape(x, (batch * n, 2 * m)),
                _table(part[:, :columns].reshape(2 * columns, -1).T, a.dtype),
            ),
            (batch, n, 2, columns),
        )
        for x, n, part in ((a, h, numbers), (flipped, below, conjugate))
    ]
    return concat(made, 1)


# --- half a Hermitian spectrum to real numbers ---------------------------------------------


def from_half(x: Value, n: int, *, scale: float = 1.0) -> Value:
    """Return the inverse transform of the first half of a Hermitian spectrum.

    Parameters
    ----------
    x : (batch, 2, n // 2 + 1) float32 or float64
        Planes.
    n : int
        At least 1: how many real numbers come out.
    scale : float
        What the result is multiplied by.

    Returns
    -------
    (batch, n) dtype of `x`

    Notes
    -----
    The imaginary parts of the first number, and of the last for even n, count as 0.
    """
    r, *rest = radices(n)
    batch, half = x.shape[0], n // 2 + 1
    if not rest and n <= DIRECT:
        numbers = to_real_matrix(n, scale=scale).reshape(n, 2 * half)
        return matrix_product(reshape(x, (batch, 2 * half)), _table(numbers.T, x.dtype))
    whole = _whole(_without_middle(x, n, rest), n)
    if not rest:
        made = take_range(_bluestein(whole, n, inverse=True, scale=scale), 1, 0, 1)
        return reshape(made, (batch, n))
    m, h = n // r, r // 2 + 1
    part = take_range(reshape(whole, (batch, 2 * m, r)), 2, 0, h)
    y = _steps(reshape(_moved(part), (batch * h, 2, m)), rest, inverse=True, scale=1.0)
    y = _turned(reshape(y, (batch, h, 2, m)), *twiddles(n, h, m, inverse=True), axis=2)
    left = np.moveaxis(to_real_matrix(r, scale=scale), 1, 2).reshape(r, 2 * h)
    made = matrix_product(_table(left, x.dtype), reshape(y, (batch, 2 * h, m)))
    return reshape(made, (batch, n))


def _without_middle(x: Value, n: int, rest: Sequence[int]) -> Value:
    """Drop the imaginary part of the middle, where the steps would make use of it."""
    if n % 2 or not rest or rest[-1] % 2 == 0:
        return x
    mask = np.ones((2, n // 2 + 1))
    mask[1, -1] = 0.0
    result: Value = multiply(x, _table(mask, x.dtype))
    return result


def _whole(x: Value, n: int) -> Value:
    """Return all n numbers of a Hermitian spectrum."""
    other = reverse(take_range(x, 2, 1, (n - 1) // 2), [2])
    other = multiply(other, _table(np.array([[1.0], [-1.0]]), x.dtype))
    return concat([x, other], 2)
