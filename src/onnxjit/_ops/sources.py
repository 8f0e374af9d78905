# SPDX-License-Identifier: Apache-2.0
"""NumPy functions written in NumPy: traced like the user's code where NumPy's own cannot be.

Here no step asks array data for a decision, and nothing looks at memory.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .sources_emath import SOURCES as _EMATH
from .sources_polynomial import SOURCES as _POLYNOMIALS
from .sources_statistics import SOURCES as _STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SOURCES"]


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Call functions on the elements that meet conditions; also on none, unlike NumPy."""
    x = np.asanyarray(x)
    if np.isscalar(condlist) or (
        not isinstance(condlist[0], (list, np.ndarray)) and x.ndim != 0
    ):
        condlist = [condlist]
    masks = [np.asarray(c, dtype=bool) for c in condlist]
    n = len(masks)
    if n == len(funclist) - 1:
        masks.append(~np.any(np.stack(masks), axis=0))
    elif n != len(funclist):
        msg = f"with {n} condition(s), either {n} or {n + 1} functions are expected"
        raise ValueError(msg)
    y = np.zeros_like(x)
    for mask, func in zip(masks, funclist, strict=True):
        y[mask] = func(x[mask], *args, **kw) if callable(func) else func
    return y


def _apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function on each vector along an axis; how many there are is frozen."""
    arr = np.asanyarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    lanes = np.moveaxis(arr, axis, -1)
    lead = lanes.shape[:-1]
    count = math.prod(lead)
    if count == 0:
        msg = "Cannot apply_along_axis when any iteration dimensions are 0"
        raise ValueError(msg)
    rows = lanes.reshape(count, lanes.shape[-1])
    made = [np.asanyarray(func1d(rows[i], *args, **kwargs)) for i in range(count)]
    first = made[0]
    result = np.stack([m.astype(first.dtype) for m in made]).reshape(lead + first.shape)
    places = list(range(len(lead), len(lead) + first.ndim))
    return np.moveaxis(result, places, [axis + i for i in range(first.ndim)])


def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Cut zeros off the ends."""
    filt = np.asarray(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        msg = f"unexpected character(s) in `trim`: {trim!r}"
        raise ValueError(msg)
    axes = range(filt.ndim) if axis is None else normalize_axis_tuple(axis, filt.ndim)
    found = filt != 0
    result = filt
    for i in axes:
        others = tuple(k for k in range(filt.ndim) if k != i)
        hit = found.any(axis=others)
        keep = np.cumsum(hit) > 0 if "f" in trim else hit | True
        if "b" in trim:
            keep = keep & (np.cumsum(hit[::-1])[::-1] > 0)
        result = np.compress(keep & hit.any(), result, axis=i)
    return result


def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return what is in one of two arrays only."""
    if not assume_unique:
        ar1, ar2 = np.unique(ar1), np.unique(ar2)
    every = np.sort(np.concatenate((ar1, ar2), axis=None))
    n = every.shape[0]
    change = every[1:] != every[:-1]
    end = np.ones(1, dtype=bool)
    first = np.concatenate((end, change))[:n]
    last = np.concatenate((change, end))[:n]
    return every[first & last]


def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return what is in the first of two arrays only."""
    kept = np.asarray(ar1).ravel() if assume_unique else np.unique(ar1)
    return kept[~np.isin(kept, ar2)]


def _leading_zeros(a: Any) -> Any:
    found = a != 0
    return np.where(found.any(), np.argmax(found), a.shape[0] - 1)


def _coefficients(a: Any) -> Any:
    """Return coefficients behind a zero, so that there is one of any number of them."""
    a = np.atleast_1d(a)
    return np.concatenate([np.zeros(1, a.dtype), a])


def _polymul(a1: Any, a2: Any) -> Any:
    """Multiply polynomials; their leading zeros are cut off the product."""
    a, b = _coefficients(a1), _coefficients(a2)
    return np.convolve(a, b)[_leading_zeros(a) + _leading_zeros(b) :]


def _sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Any:
    """Return every window, as a copy."""
    del subok
    x = np.array(x)
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    if any(size < 0 for size in sizes):
        msg = "`window_shape` cannot contain negative values"
        raise ValueError(msg)
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if len(sizes) != len(axes):
        msg = (
            "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
            f"{len(sizes)} window_shape elements and `x.ndim` is {x.ndim}."
            if axis is None
            else "Must provide matching length window_shape and axis; got "
            f"{len(sizes)} window_shape elements and {len(axes)} axes elements."
        )
        raise ValueError(msg)
    for i, size in zip(axes, sizes, strict=True):
        n = x.shape[i]
        if n < size:
            msg = "window shape cannot be larger than input array shape"
            raise ValueError(msg)
        places = np.arange(n - size + 1)[:, None] + np.arange(size)
        x = np.moveaxis(np.take(x, places, axis=i), i + 1, -1)
    x.flags.writeable = writeable
    return x


def _bit_values(bitorder: str) -> Any:
    if bitorder not in ("big", "little"):
        msg = "'order' must be either 'little' or 'big'"
        raise ValueError(msg)
    values = 1 << np.arange(8, dtype=np.uint8)
    return values[::-1] if bitorder == "big" else values


def _packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    """Join eight truth values to a byte."""
    a = np.asarray(a)
    if a.dtype.kind not in "biu":
        msg = "Expected an input array of integer or boolean data type"
        raise TypeError(msg)
    if axis is None:
        a, axis = a.ravel(), 0
    lanes = np.moveaxis(np.atleast_1d(a), axis, -1) != 0
    n = lanes.shape[-1]
    widths = [(0, 0)] * (lanes.ndim - 1) + [(0, -n % 8)]
    padded = np.pad(lanes, widths)
    bits = padded.reshape(*lanes.shape[:-1], (n + 7) // 8, 8)
    made = (bits * _bit_values(bitorder)).sum(axis=-1, dtype=np.uint8)
    return np.moveaxis(made, -1, axis)


def _unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    """Take bytes apart."""
    a = np.asarray(a)
    if a.dtype != np.uint8:
        msg = "Expected an input array of unsigned byte data type"
        raise TypeError(msg)
    if axis is None:
        a, axis = a.ravel(), 0
    lanes = np.moveaxis(np.atleast_1d(a), axis, -1)
    bits = (lanes[..., None] & _bit_values(bitorder)) != 0
    made = bits.reshape(*lanes.shape[:-1], lanes.shape[-1] * 8).astype(np.uint8)
    if count is not None:
        missing = max(count - made.shape[-1], 0) if count >= 0 else 0
        made = np.pad(made, [(0, 0)] * (made.ndim - 1) + [(0, missing)])[..., :count]
    return np.moveaxis(made, -1, axis)


#: NumPy function -> what is traced for it
SOURCES: Final[dict[Any, Callable[..., Any]]] = {
    np.piecewise: _piecewise,
    np.apply_along_axis: _apply_along_axis,
    np.trim_zeros: _trim_zeros,
    np.setdiff1d: _setdiff1d,
    np.setxor1d: _setxor1d,
    np.polymul: _polymul,
    np.lib.stride_tricks.sliding_window_view: _sliding_window_view,
    np.packbits: _packbits,
    np.unpackbits: _unpackbits,
    **_EMATH,
    **_POLYNOMIALS,
    **_STATISTICS,
}
