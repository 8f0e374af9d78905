# SPDX-License-Identifier: Apache-2.0
"""Eager work: arrays with values, and whole functions operation by operation."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dtypes import from_numpy
from onnxjit._eager.boundary import from_eager
from onnxjit._eager.leaves import leaf_of
from onnxjit._eager.run import call_eagerly
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.doors import LATER

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["asarray", "eager_onnx"]

LATER["eager"] = "onnxjit._eager.evaluate"


def asarray(x: Any, dtype: Any = None) -> Array:
    """Return an array that holds values; operations on it run at once on onnxruntime.

    Parameters
    ----------
    x : array_like
        An ndarray is not copied: the result shares its memory, as with ``np.asarray``.
    dtype : dtype_like, optional
        Dtype of the result.

    Returns
    -------
    Array

    Raises
    ------
    UnsupportedError
        The dtype is not carried.

    Examples
    --------
    >>> import onnxjit as oj
    >>> oj.asarray([1.0, 2.0]) + 1
    Array([2., 3.])
    """
    if isinstance(x, Array):
        return x if dtype is None else x.astype(dtype, copy=False)
    values = np.asarray(from_eager(x), dtype)
    if leaf_of(values, "x", top=False) is None:
        from_numpy(values.dtype)
    return Array.eager(values, ARRAY)


def eager_onnx(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Run a whole function eagerly: each NumPy call at once, through onnxruntime.

    Array arguments become `Array`, and what the function makes of them by ``np.array`` and the
    like stays one; results come back as ndarrays and NumPy scalars.  ``print`` and a debugger
    work inside.
    What is stored in lists, dicts and dataclasses among the arguments is NumPy's again too.

    Parameters
    ----------
    fn : callable
        A function written in NumPy.

    Returns
    -------
    callable
        With the same signature.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import eager_onnx
    >>> @eager_onnx
    ... def flip_if_negative(x):
    ...     if x.sum() < 0:
    ...         return -x
    ...     return x
    >>> flip_if_negative(np.array([1.0, -3.0]))
    array([-1.,  3.])
    """

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return call_eagerly(fn, args, kwargs)

    return call
