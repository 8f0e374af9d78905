# SPDX-License-Identifier: Apache-2.0
"""Slices whose step only a run knows, as the places that they take."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import Dim, has_data
from onnxjit._ops.structure import iota

from .array import Array, wrap
from .convert import is_known
from .trace import current_tracer, dim_array

if TYPE_CHECKING:
    from onnxjit._core.dims import DimLike

__all__ = ["has_open_step", "places"]


def has_open_step(index: Any) -> bool:
    """Whether an index is one slice whose step depends on data."""
    if type(index) is not slice:
        return False
    step = index.step
    if isinstance(step, Array):
        return not step.ndim and step.dtype.kind in "iu" and not is_known(step)
    return has_data(step) if isinstance(step, Dim) else False


def places(index: slice, n: DimLike) -> Any:
    """Return the places of an axis of size `n` that a slice takes, as a 1-d int64 array.

    Notes
    -----
    The bounds are read as ``slice.indices`` of Python does. A step of 0 is Python's error:
    the call is made again.
    """
    size: Any = dim_array(n) if isinstance(n, Dim) else np.int64(n)
    step = _number(index.step)
    tracer = current_tracer()
    if tracer is not None:
        tracer.fail_if(np.equal(step, 0)._value)
    forward: Any = np.greater(step, 0)
    low, high = np.where(forward, 0, -1), np.where(forward, size, size - 1)
    start = _bound(index.start, size, low, high, np.where(forward, low, high))
    stop = _bound(index.stop, size, low, high, np.where(forward, high, low))
    # where the step is 0, nothing that follows means anything
    safe = np.where(np.equal(step, 0), 1, step)
    count: Any = np.maximum((stop - start + safe - np.sign(safe)) // safe, 0)
    length = running_trace([count._value]).data_size(count._value)
    return start + safe * wrap(iota(length))


def _number(x: Any) -> Any:
    """Return an integer as an int64."""
    if isinstance(x, Dim):
        return dim_array(x)
    return x.astype(np.int64) if isinstance(x, Array) else np.int64(operator.index(x))


def _bound(bound: Any, size: Any, low: Any, high: Any, otherwise: Any) -> Any:
    if bound is None:
        return otherwise
    at = _number(bound)
    at = np.where(np.less(at, 0), at + size, at)
    return np.minimum(np.maximum(at, low), high)
