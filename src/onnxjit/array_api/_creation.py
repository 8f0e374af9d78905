# SPDX-License-Identifier: Apache-2.0
"""Arrays made from numbers, and from other objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxjit._core.dtypes import from_numpy
from onnxjit._eager.boundary import from_eager
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.trace import current_tracer

from ._call import arrays, call, check_device, created

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Any:
    """Return an object as an array.

    Parameters
    ----------
    obj : array, ndarray, number, nested sequence of those, or buffer
    dtype : dtype, optional
    device : "cpu" or None
    copy : bool, optional
        True copies always, False never; None shares memory where that is possible.

    Returns
    -------
    array

    Raises
    ------
    ValueError
        `copy` is false, and a copy is needed.
    UnsupportedError
        The dtype is not carried.
    """
    check_device(device)
    if current_tracer() is not None:
        options = {} if dtype is None else {"dtype": dtype}
        if copy is not False:
            func = np.array if copy else np.asarray
            return arrays(call_function(func, (obj,), options))
        return arrays(call_function(np.asarray, (obj,), {**options, "copy": False}))
    if isinstance(obj, Array) and obj._kind != ARRAY:
        obj = obj.copy()
    values = np.asarray(from_eager(obj), dtype, copy=copy)
    from_numpy(values.dtype)
    same = isinstance(obj, Array) and obj._nd is values and obj._kind == ARRAY
    return obj if same else Array.eager(values)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array of another library, sharing its memory where that is possible.

    Parameters
    ----------
    x : object with ``__dlpack__``
    device : "cpu" or None
    copy : bool, optional
        As in `asarray`.

    Returns
    -------
    array

    Raises
    ------
    BufferError
        The other library cannot export it.
    UnsupportedError
        The dtype is not carried.
    """
    if isinstance(x, Array):
        return asarray(x, device=device, copy=copy)
    return asarray(np.from_dlpack(x, device=device, copy=copy))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of any values; float64 by default."""
    return created(np.empty, shape, dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of zeros; float64 by default."""
    return created(np.zeros, shape, dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of ones; float64 by default."""
    return created(np.ones, shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of one value; its default dtype is that of the value."""
    return created(np.full, shape, fill_value, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of any values, of the shape and by default the dtype of `x`."""
    return created(np.empty_like, x, dtype=dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of zeros, of the shape and by default the dtype of `x`."""
    return created(np.zeros_like, x, dtype=dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of ones, of the shape and by default the dtype of `x`."""
    return created(np.ones_like, x, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of one value, of the shape and by default the dtype of `x`."""
    return created(np.full_like, x, fill_value, dtype=dtype, device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Return evenly spaced numbers from `start`, or 0, to before `stop`."""
    bounds = (start,) if stop is None else (start, stop)
    if stop is None and step != 1:
        bounds = (0, start)
    steps = () if len(bounds) == 1 else (step,)
    return created(np.arange, *bounds, *steps, dtype=dtype, device=device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    options = {"dtype": dtype, "device": device, "endpoint": endpoint}
    return created(np.linspace, start, stop, num, **options)


def eye(
    n_rows: Any,
    n_cols: Any = None,
    /,
    *,
    k: Any = 0,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """Return a matrix with ones on a diagonal and zeros elsewhere."""
    columns = () if n_cols is None else (n_cols,)
    return created(np.eye, n_rows, *columns, k=k, dtype=dtype, device=device)


def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Return the coordinates of a grid as a tuple of arrays, one for each axis."""
    return call("meshgrid", *arrays, indexing=indexing)


def tril(x: Any, /, *, k: Any = 0) -> Any:
    """Return matrices with zeros above a diagonal."""
    return call("tril", x, k=k)


def triu(x: Any, /, *, k: Any = 0) -> Any:
    """Return matrices with zeros below a diagonal."""
    return call("triu", x, k=k)
