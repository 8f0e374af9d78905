# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms of the array API standard: ``numpy.fft`` under its signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import call_numpy, created

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft",
    "irfft", "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip


def fft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Return the discrete Fourier transform along an axis."""
    return call_numpy(np.fft.fft, x, n=n, axis=axis, norm=norm)


def ifft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Return the inverse discrete Fourier transform along an axis."""
    return call_numpy(np.fft.ifft, x, n=n, axis=axis, norm=norm)


def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Return the discrete Fourier transform along axes."""
    return call_numpy(np.fft.fftn, x, s=s, axes=axes, norm=norm)


def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Return the inverse discrete Fourier transform along axes."""
    return call_numpy(np.fft.ifftn, x, s=s, axes=axes, norm=norm)


def rfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Return the half of a real array's transform that determines it."""
    return call_numpy(np.fft.rfft, x, n=n, axis=axis, norm=norm)


def irfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Return the real array with a given half of the transform."""
    return call_numpy(np.fft.irfft, x, n=n, axis=axis, norm=norm)


def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Return the half of a real array's transform along axes."""
    return call_numpy(np.fft.rfftn, x, s=s, axes=axes, norm=norm)


def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Return the real array with a given half of the transform along axes."""
    return call_numpy(np.fft.irfftn, x, s=s, axes=axes, norm=norm)


def hfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Return the real transform of an array with Hermitian symmetry."""
    return call_numpy(np.fft.hfft, x, n=n, axis=axis, norm=norm)


def ihfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Return the Hermitian half of the inverse transform of a real array."""
    return call_numpy(np.fft.ihfft, x, n=n, axis=axis, norm=norm)


def fftfreq(n: Any, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of a transform of length `n`; float64 by default."""
    found = created(np.fft.fftfreq, n, d=d, device=device)
    return found if dtype is None else found.astype(dtype)


def rfftfreq(n: Any, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of the half of a transform; float64 by default."""
    found = created(np.fft.rfftfreq, n, d=d, device=device)
    return found if dtype is None else found.astype(dtype)


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Move the frequency zero to the middle of axes."""
    return call_numpy(np.fft.fftshift, x, axes=axes)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Undo `fftshift`."""
    return call_numpy(np.fft.ifftshift, x, axes=axes)
