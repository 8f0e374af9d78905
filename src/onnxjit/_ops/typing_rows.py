# SPDX-License-Identifier: Apache-2.0
"""Rows that answer questions about dtypes: nothing is computed."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._core.program import Value

from .row import Function, Ufunc, function
from .samples import DTYPES, call, calls, vectors

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []
_EXAMPLES: Final[dict[str, Any]] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}


def _dtype_of(x: Any) -> Any:
    """Return what stands for an operand in NumPy's dtype functions."""
    if isinstance(x, Dim):
        return 0
    if isinstance(x, Value):
        return _EXAMPLES[x.dtype.kind] if x.weak else x.dtype.numpy
    return x


@function(
    ROWS, np.result_type, api="result_type",
    samples=calls(lambda m: [
        call(m(2), np.ones(2, "f4")), call(m(2), 1), call(m(2), 1.5), call(m.dtype, "i4"),
        call(m.scalar(1), True), call(m(2)),
    ]),
)  # fmt: skip
def _result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that operands promote to."""
    return np.result_type(*map(_dtype_of, arrays_and_dtypes))


@function(
    ROWS, np.can_cast, api="can_cast",
    samples=calls(lambda m: [
        *(call(m.dtype, t) for t in DTYPES), call(m.dtype, "f2", "same_kind"),
        call(m.dtype, "i1", casting="unsafe"),
    ]),
)  # fmt: skip
def _can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype can be cast by a rule."""
    return bool(np.can_cast(_dtype_of(from_), to, casting))


@function(
    ROWS, np.common_type,
    samples=calls(lambda m: [call(m(2), np.ones(2, "f4")), call(m(2)), call(m(2), m(2, 2))]),
)  # fmt: skip
def _common_type(*arrays: Any) -> type:
    """Return the inexact scalar type that arrays have in common."""
    kind: type = np.common_type(*(np.empty(0, _dtype_of(a)) for a in arrays))
    return kind


@function(ROWS, np.iscomplexobj, samples=vectors())
def _iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    dtype = _dtype_of(x)
    return isinstance(dtype, np.dtype) and dtype.kind == "c"


@function(ROWS, np.isrealobj, samples=vectors())
def _isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not _iscomplexobj(x)
