# SPDX-License-Identifier: Apache-2.0
"""Where the standard and NumPy differ: each function written in NumPy's.

What is listed in `OVERRIDES` is the whole difference in values; everything else of the
namespace is the row of the op table that has its name.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["OVERRIDES", "argsort_descending", "floor_of_quotient", "sort_descending"]

#: name in the standard -> what NumPy does differently
OVERRIDES: Final = {
    "argsort": "NumPy sorts in ascending order only",
    "broadcast_shapes": "NumPy knows no sizes that are None",
    "finfo": "NumPy's limits are NumPy scalars",
    "floor_divide": "NumPy gives NaN and -1 where an operand is infinite, as Python does",
    "sort": "NumPy sorts in ascending order only",
}


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
