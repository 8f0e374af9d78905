# SPDX-License-Identifier: Apache-2.0
"""Where the standard and NumPy differ, and functions written in NumPy for it.

What is listed in `OVERRIDES` is the whole difference, apart from signatures and from results
that are never scalars.  The rest of the namespace is the rows of the op table with its names.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = [
    "OVERRIDES", "argsort_descending", "exponential_less_one", "floor_of_quotient",
    "hyperbolic_tangent", "sort_descending",
]  # fmt: skip

#: name in the standard -> what NumPy does differently
OVERRIDES: Final = {
    "argsort": "NumPy sorts in ascending order only",
    "astype": "NumPy casts complex numbers to real ones",
    "broadcast_shapes": "NumPy knows no sizes that are None",
    "expm1": "NumPy gives NaN for complex numbers with an infinite part, or a part of NaN",
    "fft.fftfreq": "NumPy's frequencies are float64",
    "fft.rfftfreq": "NumPy's frequencies are float64",
    "finfo": "NumPy's limits are NumPy scalars",
    "floor_divide": "NumPy gives NaN and -1 where an operand is infinite, as Python does",
    "linalg.eig": "NumPy's results are real where no eigenvalue is complex",
    "linalg.eigvals": "NumPy's results are real where no eigenvalue is complex",
    "linalg.pinv": "NumPy's singular values count as zero below 1e-15 of the largest",
    "sort": "NumPy sorts in ascending order only",
    "tanh": "NumPy's zeros next to a real part of 1 have the sign of sin(2 imag)",
}

_ZERO: Final = np.array(0j)
_ONE: Final = np.array(1 + 0j)


def floor_of_quotient(x1: Any, x2: Any) -> Any:
    """Return the floor of a quotient, which with infinite operands is not Python's ``//``."""
    whole = np.floor_divide(x1, x2)
    if whole.dtype.kind != "f":
        return whole
    endless = np.logical_or(np.isinf(x1), np.isinf(x2))
    return np.where(endless, np.floor(np.divide(x1, x2)), whole)


def sort_descending(x: Any, axis: int) -> Any:
    """Return the elements along an axis from the largest to the smallest."""
    return np.flip(np.sort(x, axis=axis), axis=axis)


def argsort_descending(x: Any, axis: int) -> Any:
    """Return the places that sort an axis from the largest, equal elements in order."""
    last = x.shape[axis] - 1
    return last - np.flip(np.argsort(np.flip(x, axis=axis), axis=axis, stable=True), axis=axis)


def exponential_less_one(x: Any) -> Any:
    """Return e**x - 1, whose infinities and NaN are those of e**x for complex numbers."""
    made = np.expm1(x)
    if made.dtype.kind != "c":
        return made
    re, im = np.real(x), np.imag(x)
    unusual = np.logical_or(np.isinf(re), np.logical_and(np.isnan(re), np.equal(im, 0)))
    made = np.where(unusual, np.exp(x) - 1, made)
    # the real zero is positive
    zero = np.where(np.signbit(im), np.conj(_ZERO), _ZERO).astype(made.dtype)
    return np.where(np.logical_and(np.equal(re, 0), np.equal(im, 0)), zero, made)


def hyperbolic_tangent(x: Any) -> Any:
    """Return tanh(x), whose imaginary zeros have the sign of the imaginary part."""
    made = np.tanh(x)
    if made.dtype.kind != "c":
        return made
    re, im = np.real(x), np.imag(x)
    end = np.where(np.signbit(im), np.conj(_ONE), _ONE).astype(made.dtype)
    end = np.where(np.signbit(re), np.negative(np.conj(end)), end)
    return np.where(np.logical_and(np.isinf(re), np.isfinite(im)), end, made)
