# SPDX-License-Identifier: Apache-2.0
"""Programs around Fourier transforms as people write them, and inputs of several sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["PROGRAMS"]

Array = np.ndarray[Any, Any]


def power_spectrum(x: Array) -> tuple[Array, Array]:
    n = x.shape[-1]
    spectrum = np.fft.rfft(x - x.mean(axis=-1, keepdims=True))
    return np.fft.rfftfreq(n, d=1 / 8000), np.abs(spectrum) ** 2 / n


def stft(x: Array) -> Array:
    size, hop = 16, 6
    count = 1 + (len(x) - size) // hop
    places = hop * np.arange(count)[:, None] + np.arange(size)
    return np.fft.rfft(x[places] * np.hanning(size).astype(x.dtype), axis=-1)


def stft_of_windows(x: Array) -> Array:
    frames = np.lib.stride_tricks.sliding_window_view(x, 12)[::5]
    return np.fft.fft(frames * np.hamming(12), n=16)


def mel_filters(bands: int, size: int, rate: float) -> Array:
    def to_mel(f: Any) -> Any:
        return 2595.0 * np.log10(1.0 + f / 700.0)

    edges = np.linspace(0.0, to_mel(rate / 2), bands + 2)
    hertz = 700.0 * (10.0 ** (edges / 2595.0) - 1.0)
    bins = np.fft.rfftfreq(size, 1 / rate)
    rising = (bins - hertz[:-2, None]) / (hertz[1:-1] - hertz[:-2])[:, None]
    falling = (hertz[2:, None] - bins) / (hertz[2:] - hertz[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def log_mel(x: Array) -> Any:
    size, hop = 32, 16
    padded = np.pad(x, size // 2, mode="reflect")
    count = 1 + (padded.shape[0] - size) // hop
    frames = np.stack([padded[i * hop : i * hop + size] for i in range(count)])
    power = np.abs(np.fft.rfft(frames * np.hanning(size), axis=1)) ** 2
    mel = power @ mel_filters(6, size, 16000.0).T
    log = 10 * np.log10(np.maximum(mel, 1e-10))
    return np.maximum(log, log.max() - 80)


def fft_convolve(x: Array, h: Array) -> Array:
    n = len(x) + len(h) - 1
    return np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(h, n), n)


def fft_convolve_same(x: Array, h: Array) -> Array:
    n = x.shape[-1] + h.shape[-1] - 1
    full = np.fft.ifft(np.fft.fft(x, n) * np.fft.fft(h, n)).real
    start = (h.shape[-1] - 1) // 2
    return full[..., start : start + x.shape[-1]]


def welch(x: Array) -> tuple[Array, Array]:
    size, step, rate = 16, 8, 100.0
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    starts = np.arange(0, len(x) - size + 1, step)
    segments = x[starts[:, None] + np.arange(size)]
    segments = segments - segments.mean(axis=1, keepdims=True)
    density = np.abs(np.fft.rfft(segments * window)) ** 2 / (rate * np.sum(window**2))
    density[:, 1:-1] *= 2
    return np.fft.rfftfreq(size, 1 / rate), density.mean(axis=0)


def analytic_signal(x: Array) -> tuple[Array, Array]:
    n = len(x)
    h = np.zeros(n)
    h[0] = 1
    h[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        h[n // 2] = 1
    z = np.fft.ifft(np.fft.fft(x) * h)
    return z, np.abs(z)


def phase_correlation(a: Array, b: Array) -> tuple[Any, Array]:
    cross = np.fft.fft2(a) * np.conj(np.fft.fft2(b))
    cross /= np.abs(cross) + 1e-9
    surface = np.fft.ifft2(cross).real
    return np.argmax(surface), np.fft.fftshift(surface)


def spectral_derivative(u: Array) -> Array:
    n = u.shape[0]
    k = 2j * np.pi * np.fft.fftfreq(n, d=1.0 / n)
    return np.real(np.fft.ifft(k * np.fft.fft(u)))


def cosine_transform(x: Array) -> Any:
    n = x.shape[-1]
    folded = np.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], axis=-1)
    turn = np.exp(-1j * np.pi * np.arange(n) / (2 * n))
    return 2 * (np.fft.fft(folded) * turn).real


def smooth_image(image: Array) -> Array:
    fy = np.fft.fftfreq(image.shape[0])[:, None]
    fx = np.fft.fftfreq(image.shape[1])[None, :]
    weight = np.exp(-2 * (np.pi * 1.5) ** 2 * (fx**2 + fy**2))
    return np.fft.ifft2(np.fft.fft2(image) * weight).real


def smooth_half(image: Array) -> Array:
    h, w = image.shape[-2:]
    far = np.hypot(np.fft.fftfreq(h)[:, None], np.fft.rfftfreq(w))
    spectrum = np.fft.rfft2(image)
    return np.fft.irfft2(np.where(far < 0.3, spectrum, 0), s=(h, w))


def high_pass(image: Array) -> Array:
    shifted = np.fft.fftshift(np.fft.fft2(image))
    cy, cx = image.shape[0] // 2, image.shape[1] // 2
    shifted[cy - 1 : cy + 2, cx - 1 : cx + 2] = 0
    return np.abs(np.fft.ifft2(np.fft.ifftshift(shifted)))


def band_pass(x: Array) -> Array:
    spectrum = np.fft.rfft(x)
    f = np.fft.rfftfreq(len(x))
    spectrum[(f < 0.1) | (f > 0.3)] = 0
    return np.fft.irfft(spectrum, n=len(x))


def autocorrelation(x: Array) -> Any:
    n = len(x)
    spectrum = np.fft.rfft(x - x.mean(), 2 * n)
    found = np.fft.irfft(spectrum * spectrum.conj())[:n]
    return found / found[0]


def resample(x: Array) -> Array:
    n = len(x)
    m = 2 * n
    spectrum = np.zeros(m // 2 + 1, dtype=complex)
    spectrum[: n // 2 + 1] = np.fft.rfft(x)
    return np.fft.irfft(spectrum, m) * (m / n)


def overlap_add(x: Array) -> Array:
    size, hop = 8, 4
    window = np.sqrt(np.hanning(size + 1)[:-1])
    count = (len(x) - size) // hop + 1
    out = np.zeros(len(x))
    for i in range(count):
        part = np.fft.rfft(x[i * hop : i * hop + size] * window)
        out[i * hop : i * hop + size] += np.fft.irfft(part) * window
    return out


def cepstrum(x: Array) -> Array:
    return np.fft.irfft(np.log(np.abs(np.fft.rfft(x)) + 1e-6), n=x.shape[-1])


def radial_profile(image: Array) -> Array:
    power = np.abs(np.fft.fftshift(np.fft.fft2(image))) ** 2
    y, x = np.indices(image.shape)
    r = np.hypot(x - image.shape[1] // 2, y - image.shape[0] // 2).astype(int)
    return np.bincount(r.ravel(), power.ravel()) / np.bincount(r.ravel())


def poisson(f: Array) -> Array:
    k = np.fft.fftfreq(f.shape[0], 1 / f.shape[0])
    square = k[:, None] ** 2 + np.fft.fftfreq(f.shape[1], 1 / f.shape[1]) ** 2
    square[0, 0] = 1
    potential = -np.fft.fftn(f) / square
    potential[0, 0] = 0
    return np.fft.ifftn(potential).real


def delay(x: Array, y: Array) -> Any:
    n = x.shape[0] + y.shape[0]
    found = np.fft.irfft(np.fft.rfft(x, n=n) * np.conj(np.fft.rfft(y, n=n)), n=n)
    return np.argmax(np.abs(found))


def chirp_z(x: Array) -> Any:
    n = x.shape[0]
    k = np.arange(n)
    w = np.exp(-1j * np.pi * k**2 / n)
    a = np.fft.fft(x * w, 2 * n - 1)
    kernel = np.concatenate([np.conj(w), np.conj(w[:0:-1])])
    return w * np.fft.ifft(a * np.fft.fft(kernel))[:n]


def phase_of_frames(x: Array) -> tuple[Array, Array]:
    frames = np.stack([x[i * 4 : i * 4 + 8] for i in range((len(x) - 8) // 4 + 1)])
    spectra = np.fft.rfft(frames * np.blackman(8))
    phase = np.unwrap(np.angle(spectra), axis=0)
    return np.abs(spectra), np.diff(phase, axis=0)


def griffin_lim_step(magnitude: Array, spectra: Array) -> Any:
    frames = np.fft.irfft(spectra, axis=-1)
    again = np.fft.rfft(frames, axis=-1)
    return magnitude * np.exp(1j * np.angle(again + 1e-9))


def energies(x: Array) -> tuple[Any, Any]:
    """Return both sides of Parseval's theorem."""
    spectrum = np.fft.fft(x, norm="ortho")
    return np.sum(np.abs(x) ** 2), np.sum((spectrum * np.conj(spectrum)).real)


def spectral_centroid(x: Array) -> Any:
    size = np.abs(np.fft.rfft(x, axis=-1))
    f = np.fft.rfftfreq(x.shape[-1])
    return (size * f).sum(-1) / size.sum(-1)


def circular_shift(x: Array) -> Array:
    n = x.shape[-1]
    ramp = np.exp(-2j * np.pi * np.fft.fftfreq(n) * 3)
    return np.fft.ifft(np.fft.fft(x) * ramp).real


def volume_filter(x: Array) -> Array:
    spectrum = np.fft.rfftn(x, axes=(0, 1, 2))
    return np.fft.irfftn(spectrum * 0.5, s=x.shape, axes=(0, 1, 2))


def hermitian(x: Array) -> tuple[Array, Array]:
    half = np.fft.ihfft(x)
    return half, np.fft.hfft(half, n=x.shape[-1])


Inputs = list[tuple[Array, ...]]
Program = tuple[Callable[..., Any], Inputs]


def _some(*shape: int, dtype: str = "f8", seed: int = 0) -> Array:
    random = np.random.default_rng(seed + sum(shape))
    if np.dtype(dtype).kind == "c":
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    return (4 * random.normal(size=shape)).astype(dtype)


def _lengths(*lengths: int, dtype: str = "f8") -> Inputs:
    return [(_some(n, dtype=dtype),) for n in lengths]


_SHORT: Final = _lengths(16, 5, 31, 1, 12)
_LONG: Final = _lengths(64, 53, 100, 131)
_IMAGES: Final[Inputs] = [(_some(*s),) for s in ((8, 6), (5, 7), (16, 16), (3, 11))]
_TWO: Final[Inputs] = [(_some(m), _some(n, seed=1)) for m, n in ((30, 7), (16, 16), (67, 3))]
_ROWS: Final[Inputs] = [(_some(*s),) for s in ((3, 16), (1, 9), (4, 37), (2, 1))]

#: function and arguments of each call
PROGRAMS: Final[list[Program]] = [
    (power_spectrum, _ROWS),
    (stft, _LONG),
    (stft, _lengths(50, 16, 77, dtype="f4")),
    (stft_of_windows, _LONG),
    (log_mel, _lengths(160, 100, 131)),
    (fft_convolve, _TWO),
    (fft_convolve_same, [(_some(2, 30), _some(7)), (_some(3, 13), _some(5))]),
    (welch, _LONG),
    (analytic_signal, _SHORT),
    (phase_correlation, [(i, np.roll(i, (1, 2), (0, 1))) for (i,) in _IMAGES]),
    (spectral_derivative, _SHORT),
    (cosine_transform, _ROWS),
    (smooth_image, _IMAGES),
    (smooth_half, _IMAGES),
    (high_pass, _IMAGES),
    (band_pass, _SHORT),
    (autocorrelation, _lengths(16, 5, 31)),
    (resample, _lengths(15, 5, 31)),
    (overlap_add, _lengths(32, 20, 41)),
    (cepstrum, _ROWS),
    (radial_profile, _IMAGES),
    (poisson, _IMAGES),
    (delay, _TWO),
    (chirp_z, _SHORT),
    (phase_of_frames, _lengths(24, 20, 41)),
    (
        griffin_lim_step,
        [(np.abs(z), z) for z in (_some(3, 5, dtype="c16"), _some(2, 9, dtype="c16"))],
    ),
    (energies, _SHORT),
    (energies, [(_some(n, dtype="c16"),) for n in (8, 7, 1)]),
    (energies, [(_some(n, dtype="c8"),) for n in (8, 7, 1)]),
    (spectral_centroid, _ROWS),
    (circular_shift, _ROWS),
    (volume_filter, [(_some(4, 3, 6),), (_some(2, 5, 8),)]),
    (hermitian, _lengths(8, 6, 10)),
]
