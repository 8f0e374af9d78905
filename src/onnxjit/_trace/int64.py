# SPDX-License-Identifier: Apache-2.0
"""Numbers that become integers of Python, which a graph has 64 bits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dtypes import FLOAT16, UINT64
from onnxjit._ops.elementwise import absolute, greater, less

from . import host

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["require_int64"]


def require_int64(value: Value, cast: Value) -> None:
    """Let Python make the call where a number is none of int64: NaN, say, raises.

    Parameters
    ----------
    value : () number
        What becomes an integer.
    cast : () int64
        The integer; it is looked at once.
    """
    if value.dtype.kind != "f" and value.dtype is not UINT64:
        return
    trace: Any = value.block.trace
    if cast.id in trace.sizes or host.example(value) is not None:
        return
    if value.dtype is UINT64:
        trace.fail_if(greater(value, as_value(2**63 - 1, UINT64)))
        return
    limit = np.inf if value.dtype is FLOAT16 else 2.0**63
    inside = less(absolute(value), as_value(limit, value.dtype))
    trace.fail_if(inside, holds=False)
