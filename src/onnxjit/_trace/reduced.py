# SPDX-License-Identifier: Apache-2.0
"""The dtype of reductions with ``out=``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnxjit._ops.convert import as_array

from .array import Array
from .convert import to_values

__all__ = ["REDUCES", "in_dtype_of", "may_reduce", "reducing"]

#: functions that reduce or accumulate by a ufunc
REDUCES: Final[dict[Any, np.ufunc]] = {
    np.sum: np.add, np.prod: np.multiply, np.cumsum: np.add, np.cumprod: np.multiply,
    np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum,
    np.any: np.logical_or, np.all: np.logical_and, np.trace: np.add, np.nansum: np.add,
    np.nanprod: np.multiply, np.nancumsum: np.add, np.nancumprod: np.multiply,
    np.cumulative_sum: np.add, np.cumulative_prod: np.multiply,
}  # fmt: skip


#: functions that divide a sum, in the dtype of `out`
_AVERAGES: Final = frozenset[Any]({np.mean, np.nanmean})


def may_reduce(func: Any) -> bool:
    """Whether a function may reduce in the dtype of ``out=``."""
    return func in REDUCES or func in _AVERAGES


def reducing(func: Any, x: Any) -> np.ufunc | None:
    """Return the ufunc by which a function reduces in the dtype of ``out=``, if it does."""
    if func not in _AVERAGES:
        return REDUCES.get(func)
    dtype = np.dtype(getattr(x, "dtype", np.float64))
    if func is np.mean and dtype == np.float16:
        return None  # which is added in float32, whatever `out` is
    return np.add if dtype.kind in "fc" else None


def in_dtype_of(
    out: Any, ufunc: np.ufunc | None, given: dict[str, Any], x: Any
) -> dict[str, Any]:
    """Return keywords of a reduction with the dtype that `out` and `x` have together.

    The dtype of `out` takes the part of the first operand, and small integers stay small.
    """
    if given.get("dtype") is not None or not isinstance(out, (Array, np.ndarray)):
        return given
    if ufunc not in (np.add, np.multiply):
        return given
    is_array = isinstance(x, (Array, np.ndarray))
    operand = x.dtype if is_array else as_array(to_values(x)).dtype.numpy
    found = ufunc.resolve_dtypes((out.dtype, operand, None), casting="unsafe", reduction=True)
    return {**given, "dtype": found[0]}
