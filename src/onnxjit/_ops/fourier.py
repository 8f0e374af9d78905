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

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value, running_trace

from .elementwise import add, multiply
from .fourier_tables import (
    DIRECT,
    chirp,
    convolution_length,
    half_matrix,
    matrix,
    radices,
    real_matrix,
    real_radices,
    to_real_matrix,
    turned_matrices,
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

#: how much wider a step may be than what it leaves, to have matrices of its own for each row:
#: they are at most four times this many numbers for each of the transform's
_WIDEST: Final = 2


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
    A step of length r is a MatMul with (2 r, 2 r) matrices and a Transpose; before the last
    are two Mul and an Add for roots of unity.  The matrices are rounded once from float64; the
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
    n = math.prod(plan)
    rows = _Rows(reshape(x, (x.shape[0], 1, 2, n)), np.zeros(1, np.int64), n)
    return rows.transformed(plan, inverse=inverse, scale=scale)


class _Rows:
    """Planes in rows, (batch, rows, 2, columns), not yet multiplied by roots of unity.

    Those of row i are the roots of unity of `n` to the power of ``turns[i]`` times the column.
    """

    __slots__ = ("n", "turns", "x")

    def __init__(self, x: Value, turns: Array, n: int) -> None:
        self.x: Final = x
        self.turns: Final = turns
        self.n: Final = n

    def transformed(self, plan: Sequence[int], *, inverse: bool, scale: float) -> Value:
        """Return rows transformed by steps, of which the last is as long as what they leave.

        Returns
        -------
        (batch, k * rows, 2, last) dtype of the planes
            Row ``i * rows + j``, of k times as many, has in column c result ``i + k * c`` of
            row j.
        """
        rows, (*steps, last) = self, plan
        for r in steps:
            rows = rows.step(r, inverse=inverse)
        x = rows.multiplied(inverse=inverse).x
        batch, count, _, _ = x.shape
        flat = reshape(x, (batch * count, 2, last))
        made = _last_step(flat, last, inverse=inverse, scale=scale)
        return reshape(made, (batch, count, 2, last))

    def multiplied(self, *, inverse: bool) -> _Rows:
        """Multiply by the roots of unity."""
        columns = int(self.x.shape[3])
        if not self.turns.any():
            return _Rows(self.x, self.turns, columns)
        numbers = twiddles(self.n, self.turns, columns, inverse=inverse)
        return _Rows(_turned(self.x, *numbers, axis=2), np.zeros_like(self.turns), columns)

    def step(self, r: int, *, inverse: bool) -> _Rows:
        """Do a step of length r.

        A column is ``j * m + c``, with j the place in the step.  The roots that belong to j
        are in the step's matrices, one for each row; those of c are left to later steps.
        """
        columns = int(self.x.shape[3])
        m = columns // r
        rows = self.multiplied(inverse=inverse) if r > _WIDEST * m else self
        batch, count, _, _ = rows.x.shape
        left = _table(
            turned_matrices(r, rows.turns, rows.n // m, inverse=inverse), rows.x.dtype
        )
        a = matrix_product(left, reshape(rows.x, (batch, count, 2 * r, m)))
        if count != 1:
            a = transpose(reshape(a, (batch, count, r, 2 * m)), (0, 2, 1, 3))
        turns = rows.turns + rows.n // columns * np.arange(r)[:, None]
        return _Rows(reshape(a, (batch, r * count, 2, m)), turns.reshape(-1), rows.n)


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
    r, *rest = real_radices(n)
    batch = x.shape[0]
    if rest:
        m, h = n // r, r // 2 + 1
        left = _table(_rows(real_matrix(r, h)), x.dtype)
        a = matrix_product(left, reshape(x, (batch, r, m)))
        spectra = _Rows(reshape(a, (batch, h, 2, m)), np.arange(h), n)
        if rest == [m] and m <= DIRECT:
            return _mirrored_step(spectra.multiplied(inverse=False).x, r, -(-rows // r), scale)
        y = spectra.transformed(rest, inverse=False, scale=scale)
        y = transpose(reshape(y, (batch, m // rest[-1], h, 2, rest[-1])), (0, 2, 3, 4, 1))
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
    r, *rest = real_radices(n)
    batch, half = x.shape[0], n // 2 + 1
    if not rest and n <= DIRECT:
        numbers = to_real_matrix(n, scale=scale).reshape(n, 2 * half)
        return matrix_product(reshape(x, (batch, 2 * half)), _table(numbers.T, x.dtype))
    if rest == [n // r] and rest[0] <= DIRECT:
        return _half_in_two(x, r, rest[0], scale)
    whole = _whole(_without_middle(x, n, rest), n)
    if not rest:
        made = take_range(_bluestein(whole, n, inverse=True, scale=scale), 1, 0, 1)
        return reshape(made, (batch, n))
    m, h = n // r, r // 2 + 1
    part = take_range(reshape(whole, (batch, 2 * m, r)), 2, 0, h)
    y = _steps(reshape(_moved(part), (batch * h, 2, m)), rest, inverse=True, scale=1.0)
    numbers = np.moveaxis(to_real_matrix(r, scale=scale), 1, 2).reshape(r, 2 * h)
    return _to_real(reshape(y, (batch, h, 2, m)), n, numbers)


def _to_real(y: Value, n: int, numbers: Array) -> Value:
    """Multiply rows by roots of unity, and do the last step of a transform to real numbers."""
    batch, h, _, m = y.shape
    y = _Rows(y, np.arange(int(h)), n).multiplied(inverse=True).x
    made = matrix_product(_table(numbers, y.dtype), reshape(y, (batch, 2 * h, m)))
    return reshape(made, (batch, n))


def _half_in_two(x: Value, r: int, m: int, scale: float) -> Value:
    """Do `from_half` by two steps.

    Of column k of (m, r) numbers one half is given.  The other half is, conjugated and
    upside down, what is given of column ``r - k``.  Of column 0, whose transform is real, the
    given half is taken twice.
    """
    n, batch, h = r * m, x.shape[0], r // 2 + 1
    numbers, weights = half_matrix(r, m)
    c = weights.shape[-1]
    x = pad(x, (0, 0, 0), (0, 0, c * r - (n // 2 + 1)), as_value(0, x.dtype))
    columns = _moved(reshape(x, (batch, 2 * c, r)))
    k = np.arange(h)
    both = gather(columns, const(np.stack([k, -k % r], 1).reshape(-1)), 1)
    both = multiply(reshape(both, (batch, h, 4 * c)), _table(weights.reshape(h, -1), x.dtype))
    rows = reshape(both, (batch * h, 4 * c))
    y = matrix_product(rows, _table(numbers.reshape(2 * m, -1).T, x.dtype))
    last = np.moveaxis(to_real_matrix(r, scale=scale), 1, 2).reshape(r, 2 * h)
    return _to_real(reshape(y, (batch, h, 2, m)), n, last)


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
