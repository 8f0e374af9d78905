# SPDX-License-Identifier: Apache-2.0
"""``numpy.fft``: discrete Fourier transforms along axes.

Accuracy: the relative error of a transform, in the Euclidean norm, is below 1e-16 times
``4 + log2(n)`` for float64 and below 1e-7 times that for float32, for every length; NumPy's is
of the same size.  NaN and infinities spread over the whole of their vector, as in NumPy, where
some of the results of an infinity are infinite instead of NaN.

Lengths may be sizes that only a run of a model knows.
"""

from __future__ import annotations

import operator
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value, dim_value, running_trace
from onnxjit._core.dims import Dim, DimLike, dim_min, dim_prod, has_data, hint_of, same
from onnxjit._core.dtypes import FLOAT16, FLOAT32, FLOAT64, INT64, PART, DType

from . import fourier, fourier_dynamic
from .cast import cast
from .complex_parts import (
    conjugate,
    imag_part,
    is_complex,
    make_complex,
    pairs_of,
    real_part,
)
from .convert import as_size, as_strong, normalize_axis
from .elementwise import less, multiply, negative
from .row import Function, Ufunc, function
from .samples import call, calls
from .structure import (
    concat,
    const,
    may_guard,
    move_axis,
    pad,
    reshape,
    take_range,
    transpose,
    zero_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._core.program import Value

    from .samples import Make

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

Shape = tuple[DimLike, ...]

#: norm of a forward transform -> that of the inverse one that does the same
_SWAPPED: Final[dict[Any, str]] = {
    "backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward",
}  # fmt: skip


# --- arguments -----------------------------------------------------------------------------


def _swapped(norm: Any) -> str:
    if norm not in _SWAPPED:
        msg = f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".'
        raise ValueError(msg)
    return _SWAPPED[norm]


def _length(n: Any) -> DimLike:
    """Return a length; a size is frozen in the first graphs of a call.

    Raises
    ------
    ValueError
        It is below 1.
    """
    size = as_size(n)
    if isinstance(size, Dim) and may_guard(size) and (size.env.freezes or size < 1):
        size = operator.index(size)
    if has_data(size):
        number = cast(dim_value(size), INT64)
        running_trace().fail_if(less(number, const(np.int64(1))))
    if isinstance(size, int) and size < 1:
        msg = f"Invalid number of FFT data points ({size}) specified."
        raise ValueError(msg)
    return size


def _scale(n: DimLike, norm: Any, dtype: DType) -> Any:
    """Return what a transform is multiplied by: a number, or a value where n is symbolic."""
    if norm is None or norm == "backward":
        return 1.0
    if norm not in {"ortho", "forward"}:
        msg = f'Invalid norm value {norm}; should be "backward","ortho" or "forward".'
        raise ValueError(msg)
    if isinstance(n, Dim):
        return fourier_dynamic.scale_of(n, dtype, root=norm == "ortho")
    kind = dtype.numpy
    with np.errstate(all="ignore"):
        divisor = np.sqrt(n, dtype=kind) if norm == "ortho" else n
        return float(np.reciprocal(divisor, dtype=kind))


def _real_dtype(x: Value) -> DType:
    """Return the dtype of the parts of a spectrum as NumPy names it: float16 stays."""
    if is_complex(x):
        return PART[x.dtype]
    return x.dtype if x.dtype.kind == "f" else FLOAT64


def _fitted(x: Value, axis: int, n: DimLike) -> Value:
    """Cut an axis at n elements, or fill it up with zeros."""
    length = x.shape[axis]
    if same(length, n):
        return x
    kept = dim_min(length, n)
    x = take_range(x, axis, 0, kept)
    high: list[DimLike] = [0] * x.ndim
    high[axis] = n - kept
    return pad(x, [0] * x.ndim, high, as_value(zero_of(x.dtype)))


class _Lanes:
    """An array as vectors along an axis, and the way back."""

    __slots__ = ("_axis", "_lead", "_x", "batch", "dtype", "is_real", "n")

    def __init__(self, x: Value, axis: int, n: DimLike) -> None:
        is_single = _real_dtype(x) in {FLOAT16, FLOAT32}
        #: what is computed in
        self.dtype: Final = FLOAT32 if is_single else FLOAT64
        self.is_real: Final = not is_complex(x)
        self.n: Final = n
        self._x: Final = x
        self._axis: Final = axis
        self._lead: Final = tuple(s for i, s in enumerate(x.shape) if i != axis)
        self.batch: Final = dim_prod(self._lead)

    @property
    def numbers(self) -> Value:
        """The (batch, n) vectors of a real array."""
        return self._flat(self._x)

    def _flat(self, part: Value) -> Value:
        part = cast(_fitted(part, self._axis, self.n), self.dtype)
        return reshape(move_axis(part, self._axis, part.ndim - 1), (self.batch, self.n))

    @property
    def planes(self) -> Value:
        """The vectors as (batch, 2, n) parts; real ones are given zeros."""
        pairs = None if self.is_real else pairs_of(self._x)
        if pairs is not None:
            whole = move_axis(_fitted(pairs, self._axis, self.n), self._axis, pairs.ndim - 2)
            return transpose(reshape(whole, (self.batch, self.n, 2)), (0, 2, 1))
        shape = (self.batch, 1, self.n)
        if self.is_real:
            row = reshape(self.numbers, shape)
            return pad(row, (0, 0, 0), (0, 1, 0), as_value(zero_of(self.dtype)))
        parts = (real_part(self._x), imag_part(self._x))
        return concat([reshape(self._flat(part), shape) for part in parts], 1)

    def unflat(self, x: Value) -> Value:
        """Return (batch, m, ...) vectors as an array."""
        whole = reshape(x, (*self._lead, *x.shape[1:]))
        return move_axis(whole, len(self._lead), self._axis)

    def complex(self, y: Value, rows: DimLike, *, conjugated: bool = False) -> Value:
        """Return the first results of a transform as a complex array."""
        planes = take_range(fourier.planes(y), 2, 0, rows)
        pairs = take_range(fourier.pairs(y), 1, 0, rows)
        re, im = (reshape(take_range(planes, 1, i, 1), (self.batch, rows)) for i in (0, 1))
        if conjugated:
            im = negative(im)
            pairs = multiply(pairs, const(np.array([1, -1], self.dtype.numpy)))
        return make_complex(*map(self.unflat, (re, im, pairs)))


def _settings(x: Value, n: Any, axis: Any, norm: Any) -> tuple[DimLike, Any, int]:
    """Return the length of a transform, its scale, and a nonnegative axis."""
    length = _length(n)
    scale = _scale(length, norm, _real_dtype(x))
    return length, scale, normalize_axis(axis, x.ndim)


def _kernels(n: DimLike) -> Any:
    """Return the module that knows how to transform a length."""
    return fourier_dynamic if isinstance(n, Dim) else fourier


# --- along one axis ------------------------------------------------------------------------


def _complex_transform(a: Any, n: Any, axis: Any, norm: Any, *, inverse: bool) -> Value:
    x = as_strong(a)
    n = x.shape[axis] if n is None else n
    length, scale, at = _settings(x, n, axis, _swapped(norm) if inverse else norm)
    lanes = _Lanes(x, at, length)
    kernels = _kernels(length)
    if lanes.is_real:
        made = kernels.transform_real(lanes.numbers, length, length, scale=scale)
        return lanes.complex(made, length, conjugated=inverse)
    made = kernels.transform(lanes.planes, length, inverse=inverse, scale=scale)
    return lanes.complex(made, length)


def _half_transform(a: Any, n: Any, axis: Any, norm: Any) -> Value:
    x = as_strong(a)
    n = x.shape[axis] if n is None else n
    length, scale, at = _settings(x, n, axis, norm)
    if is_complex(x):
        np.fft.rfft(np.empty(2 - (hint_of(length) or 0) % 2, x.dtype.numpy))  # its refusal
    lanes = _Lanes(x, at, length)
    rows = length // 2 + 1
    made = _kernels(length).transform_real(lanes.numbers, length, rows, scale=scale)
    return lanes.complex(made, rows)


def _real_transform(a: Any, n: Any, axis: Any, norm: Any) -> Value:
    x = as_strong(a)
    n = (x.shape[axis] - 1) * 2 if n is None else n
    length, scale, at = _settings(x, n, axis, _swapped(norm))
    lanes = _Lanes(x, at, length // 2 + 1)
    made = _kernels(length).from_half(lanes.planes, length, scale=scale)
    return cast(lanes.unflat(made), _real_dtype(x))


# --- rows: one axis ------------------------------------------------------------------------


_DTYPES: Final = ("?", "i2", "f2", "f4", "f8")


def _along(m: Make, *, half: bool = False, complex_too: bool = True) -> Iterator[Any]:
    """Yield calls of a transform along one axis; `half` where n counts what comes out."""
    more = 2 if half else 1
    yield call(m(8))
    yield call(m(3, 7), n=5 * more)
    yield call(m(5, 2), n=6 * more, axis=0)
    yield call(m(4, 1, 3), axis=-2, norm="ortho", n=more)
    yield call(m(2, 9), norm="forward")
    yield call(m(0, 4), norm="backward")
    yield call(m.wide(100))
    yield call(m.wide(2, 34 * more))
    yield call(m(3), n=0)
    yield call(m(3), norm="none")
    yield call(m(3), axis=1)
    yield call(m())
    if complex_too and m.dtype in {"f4", "f8"}:
        z = (m.wide(2, 3, 10) + 1j * m.wide(2, 3, 10)).astype(f"c{2 * int(m.dtype[1])}")
        yield call(z)
        yield call(z, 7 * more, 1, "ortho")
        yield call(z[:, :, ::2], axis=0, n=more)


_INEXACT: Final = ("float16", "float32", "float64", "complex64", "complex128")
_FACTS: Final[dict[str, Any]] = {"ulp": dict.fromkeys(_INEXACT, 64.0), "ties": True}
_SAMPLES: Final = calls(_along, _DTYPES)
_HALF: Final = calls(partial(_along, half=True), _DTYPES)


@function(ROWS, np.fft.fft, samples=_SAMPLES, **_FACTS)
def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Value:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : (..., k, ...) array
        Real or complex; at least 1-d.
    n : int, optional
        Length: the axis is cut, or filled up with zeros.  That of the axis by default.
    axis : int
        Which axis.
    norm : {"backward", "ortho", "forward"}, optional
        Whether the results are multiplied by 1, ``1 / sqrt(n)`` or ``1 / n``.

    Returns
    -------
    (..., n, ...) complex
        complex64 for float16, float32 and complex64, else complex128.

    Raises
    ------
    ValueError
        `n` is below 1, or `norm` unknown.
    AxisError, IndexError
        `axis` is out of range.

    Notes
    -----
    MatMul, Mul, Add, Transpose: see `fourier`, and `fourier_dynamic` for a length that only a
    run of the model knows.  A call's graph holds for the length that it was traced with.
    """
    return _complex_transform(a, n, axis, norm, inverse=False)


@function(ROWS, np.fft.ifft, samples=_SAMPLES, **_FACTS)
def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Value:
    """Return the inverse of `fft`; parameters, result and errors are those of `fft`."""
    return _complex_transform(a, n, axis, norm, inverse=True)


@function(ROWS, np.fft.rfft, samples=_SAMPLES, **_FACTS)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Value:
    """Return the first ``n // 2 + 1`` results of `fft` of real numbers.

    The others are conjugates of them.

    Raises
    ------
    TypeError
        The numbers are complex.
    """
    return _half_transform(a, n, axis, norm)


@function(ROWS, np.fft.irfft, samples=_HALF, **_FACTS)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Value:
    """Return the inverse of `rfft`: n real numbers of the ``n // 2 + 1`` given.

    Parameters
    ----------
    n : int, optional
        Even by default: ``2 * (k - 1)`` for k numbers.

    Returns
    -------
    (..., n, ...) real
        Of the dtype of the parts; float16 stays.
    """
    return _real_transform(a, n, axis, norm)


@function(ROWS, np.fft.hfft, samples=_HALF, **_FACTS)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Value:
    """Return the real transform of a Hermitian signal, of which half is given."""
    x = as_strong(a)
    n = (x.shape[axis] - 1) * 2 if n is None else n
    return _real_transform(conjugate(x), n, axis, _swapped(norm))


@function(ROWS, np.fft.ihfft, samples=_SAMPLES, **_FACTS)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Value:
    """Return half of the Hermitian inverse transform of real numbers."""
    x = as_strong(a)
    n = x.shape[axis] if n is None else n
    return conjugate(_half_transform(x, n, axis, _swapped(norm)))


# --- rows: several axes --------------------------------------------------------------------


def _sizes_and_axes(
    x: Value, s: Any, axes: Any, *, doubled: bool = False
) -> tuple[list[Any], list[Any]]:
    """Return the lengths and axes of a transform along several axes, as NumPy reads them.

    Raises
    ------
    ValueError
        There are not as many lengths as axes.
    """
    given = s is not None
    if given:
        sizes = list(s)
    elif axes is None:
        sizes = list(x.shape)
    else:
        sizes = [x.shape[i] for i in np.take(np.arange(x.ndim), axes)]
    if axes is None:
        if given:
            warnings.warn(_NO_AXES, DeprecationWarning, stacklevel=2)
        axes = range(-len(sizes), 0)
    places = list(axes)
    if len(sizes) != len(places):
        msg = "Shape and axes have different lengths."
        raise ValueError(msg)
    if doubled and not given:
        sizes[-1] = (x.shape[places[-1]] - 1) * 2
    if any(n is None for n in sizes):
        warnings.warn(_NO_SIZE, DeprecationWarning, stacklevel=2)
    kept = [
        x.shape[i] if isinstance(n, int) and n == -1 else n
        for n, i in zip(sizes, places, strict=True)
    ]
    return kept, places


_NO_AXES: Final = "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0)"
_NO_SIZE: Final = (
    "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will "
    "raise an error in a future version of NumPy."
)


def _several(m: Make, *, pair: bool, half: bool = False) -> Iterator[Any]:
    yield call(m(3, 4))
    yield call(m(2, 3, 5), norm="ortho")
    yield call(m(2, 3, 5), s=(4, 6), axes=(0, 2))
    yield call(m(2, 3, 5), s=(-1, 4), axes=(1, -1), norm="forward")
    yield call(m(0, 3, 4), axes=(-1, 1))
    yield call(m(2, 3), s=(2,), axes=(0, 1))
    yield call(m(2, 3), axes=(0, 2))
    yield call(m(2, 3), axes=(0, 0))
    yield call(m(4, 4), s=(0, 2), axes=(0, 1))
    if not pair:
        yield call(m(6), axes=None)
        yield call(m())
    if m.dtype in {"f4", "f8"} and not half:
        z = (m.wide(3, 4, 6) + 1j * m.wide(3, 4, 6)).astype(f"c{2 * int(m.dtype[1])}")
        yield call(z)


_PAIR: Final = calls(partial(_several, pair=True), _DTYPES)
_MANY: Final = calls(partial(_several, pair=False), _DTYPES)


def _each_axis(a: Any, s: Any, axes: Any, norm: Any, *, inverse: bool) -> Value:
    x = as_strong(a)
    sizes, places = _sizes_and_axes(x, s, axes)
    for n, axis in zip(reversed(sizes), reversed(places), strict=True):
        x = _complex_transform(x, n, axis, norm, inverse=inverse)
    return x


@function(ROWS, np.fft.fftn, samples=_MANY, **_FACTS)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    """Return the discrete Fourier transform along several axes, the last one first.

    Parameters
    ----------
    a : array
        Real or complex.
    s : sequence of int, optional
        A length for each of `axes`; -1 is the axis's own.
    axes : sequence of int, optional
        All by default.
    norm
        As in `fft`.

    Raises
    ------
    ValueError
        There are not as many lengths as axes, or as in `fft`.
    """
    return _each_axis(a, s, axes, norm, inverse=False)


@function(ROWS, np.fft.ifftn, samples=_MANY, **_FACTS)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    """Return the inverse of `fftn`."""
    return _each_axis(a, s, axes, norm, inverse=True)


@function(ROWS, np.fft.fft2, samples=_PAIR, **_FACTS)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Value:
    """Return the discrete Fourier transform along two axes; see `fftn`."""
    return _each_axis(a, s, axes, norm, inverse=False)


@function(ROWS, np.fft.ifft2, samples=_PAIR, **_FACTS)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Value:
    """Return the inverse of `fft2`."""
    return _each_axis(a, s, axes, norm, inverse=True)


_MANY_HALF: Final = calls(partial(_several, pair=False, half=True), _DTYPES)
_PAIR_HALF: Final = calls(partial(_several, pair=True, half=True), _DTYPES)


@function(ROWS, np.fft.rfftn, samples=_MANY_HALF, **_FACTS)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    """Return `fftn` of real numbers, half of it: along the last axis it is `rfft`."""
    x = as_strong(a)
    sizes, places = _sizes_and_axes(x, s, axes)
    x = _half_transform(x, sizes[-1], places[-1], norm)
    for n, axis in zip(reversed(sizes[:-1]), reversed(places[:-1]), strict=True):
        x = _complex_transform(x, n, axis, norm, inverse=False)
    return x


@function(ROWS, np.fft.rfft2, samples=_PAIR_HALF, **_FACTS)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Value:
    """Return `fft2` of real numbers, half of it; see `rfftn`."""
    return rfftn(a, s, axes, norm=norm)


@function(ROWS, np.fft.irfftn, samples=_MANY, **_FACTS)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    """Return the inverse of `rfftn`: along the last axis it is `irfft`."""
    x = as_strong(a)
    sizes, places = _sizes_and_axes(x, s, axes, doubled=True)
    for n, axis in zip(sizes[:-1], places[:-1], strict=True):
        x = _complex_transform(x, n, axis, norm, inverse=True)
    return _real_transform(x, sizes[-1], places[-1], norm)


@function(ROWS, np.fft.irfft2, samples=_PAIR, **_FACTS)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Value:
    """Return the inverse of `rfft2`; see `irfftn`."""
    return irfftn(a, s, axes, norm=norm)
