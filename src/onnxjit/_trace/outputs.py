# SPDX-License-Identifier: Apache-2.0
"""Where results go that are written to an array: ``out=`` and in-place operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy._core._exceptions import _UFuncOutputCastingError

from onnxjit._core.bind import as_value
from onnxjit._core.dims import require_equal
from onnxjit._core.dtypes import BOOL
from onnxjit._ops.cast import astype as cast_value
from onnxjit._ops.elementwise_where import choose
from onnxjit._ops.fitting import shape_text
from onnxjit._ops.index_write import check_output
from onnxjit._ops.structure import broadcast_to
from onnxjit.errors import SideEffectError

from .array import ARRAY, Array
from .convert import to_values

if TYPE_CHECKING:
    from onnxjit._core.program import Value
    from onnxjit._ops.row import Ufunc

__all__ = ["prepare_output", "refuse_write", "write_result", "write_ufunc_result"]


def refuse_write(target: Any, what: str) -> None:
    """Say that something outside the traced function would be written to.

    Raises
    ------
    SideEffectError
        Always.
    """
    msg = (
        f"{what} writes into a {type(target).__name__} made outside the traced function; "
        "make it inside (np.zeros, np.empty, .copy()) or pass it as an argument"
    )
    raise SideEffectError(msg)


def prepare_output(out: Any, name: str) -> None:
    """Require that `out=` is an array that may be written to.

    Raises
    ------
    SideEffectError
        It was made outside the traced function.
    TypeError
        It is no array.
    ValueError
        It is read-only.
    """
    if isinstance(out, np.ndarray):
        refuse_write(out, name)
    if not isinstance(out, Array) or out._kind != ARRAY:
        msg = "return arrays must be of ArrayType"
        raise TypeError(msg)
    out._prepare_write()


def write_result(out: Any, result: Any, name: str, casting: Any) -> Any:
    """Write a result into `out=`, which is prepared, and return `out`."""
    value = as_value(result)
    if not np.can_cast(value.dtype.numpy, out.dtype, casting):
        msg = (
            f"Cannot cast array data from {value.dtype.numpy!r} to {out.dtype!r} "
            f"according to the rule '{casting}'"
        )
        raise TypeError(msg)
    _check_out_shape(out, value, name)
    _write_broadcast(out, value)
    return out


#: functions that broadcast to `out`, as ufuncs do
_BROADCAST_OUT: Final = frozenset({"clip", "round", "around", "fix", "nan_to_num"})


def _check_out_shape(out: Array, value: Value, name: str) -> None:
    """Raise NumPy's ValueError for an `out=` of another shape than the result's."""
    env = out._trace.env
    if name in _BROADCAST_OUT:
        return
    if value.ndim != out.ndim or not all(
        require_equal(env, a, b) for a, b in zip(value.shape, out.shape, strict=True)
    ):
        msg = (
            f"output parameter of {name} has shape {shape_text(out.shape)}, "
            f"but the result has shape {shape_text(value.shape)}"
        )
        raise ValueError(msg)


def _write_broadcast(out: Array, value: Value) -> None:
    cast = cast_value(value, out._value.dtype)
    shape = out._value.shape
    out._write(broadcast_to(cast, shape))


def write_ufunc_result(
    row: Ufunc, out: Any, value: Value, where: Any, casting: Any, position: int
) -> Any:
    """Write result number `position` of a ufunc into an array of `out=`, and return that."""
    prepare_output(out, row.numpy.__name__)
    if not np.can_cast(value.dtype.numpy, out.dtype, casting):
        raise _UFuncOutputCastingError(
            row.numpy, casting, value.dtype.numpy, out.dtype, position
        )
    check_output(out.shape, value.shape)
    cast = cast_value(value, out._value.dtype)
    if where is not True:
        cast = choose(cast_value(as_value(to_values(where)), BOOL), cast, out._value)
    _write_broadcast(out, cast)
    return out
