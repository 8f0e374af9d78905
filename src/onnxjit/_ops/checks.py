# SPDX-License-Identifier: Apache-2.0
"""Errors of NumPy that depend on data: the graph says that there is one, Python raises it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnxjit._core.bind import as_value, running_trace

from .elementwise import greater_equal, less, less_equal, logical_and, logical_not, logical_or
from .reduce import reduce_any

if TYPE_CHECKING:
    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

__all__ = ["fail_unless_between", "fail_where", "fail_where_outside"]


def fail_where(bad: Value) -> None:
    """Let Python make the call again where any of some truth values holds.

    Notes
    -----
    ReduceMax, Or.
    """
    if bad.known is not None and not bad.known.any():
        return
    running_trace([bad]).fail_if(reduce_any(bad, tuple(range(bad.ndim))))


def fail_where_outside(places: Value, n: DimLike) -> None:
    """Let Python make the call again where integers are negative, or not less than a size."""
    low = less(places, as_value(np.int64(0)))
    fail_where(logical_or(low, greater_equal(places, as_value(n))))


def fail_unless_between(x: Value, low: float, high: float) -> None:
    """Let Python make the call again unless numbers are in a closed interval; NaN is not."""
    inside = logical_and(greater_equal(x, low), less_equal(x, high))
    fail_where(logical_not(inside))
