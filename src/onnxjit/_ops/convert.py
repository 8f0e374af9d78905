# SPDX-License-Identifier: Apache-2.0
"""From what users pass (arrays, scalars, sizes, nested lists) to values, shapes and axes."""

from __future__ import annotations

import operator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value, running_trace
from onnxjit._core.dims import Dim, DimLike, hint_of, require_equal
from onnxjit._core.dtypes import INT64, DType, from_numpy
from onnxjit._core.program import Value
from onnxjit.errors import DataDependentError

from .cast import cast
from .structure import concat, reshape, unsqueeze, vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "as_array",
    "as_dtype",
    "as_shape",
    "as_size",
    "known_int",
    "normalize_axes",
    "normalize_axis",
    "plain_dim",
]  # fmt: skip

_RAGGED: Final = (
    "setting an array element with a sequence. The requested array has an inhomogeneous shape "
    "after {} dimensions. The detected shape was {} + inhomogeneous part."
)


# --- dtypes --------------------------------------------------------------------------------


def as_dtype(dtype: Any) -> DType:
    """Return the element type that a dtype argument names.

    Raises
    ------
    UnsupportedError
        The dtype is not carried.
    """
    if isinstance(dtype, DType):
        return dtype
    return from_numpy(np.dtype(dtype))


# --- arrays --------------------------------------------------------------------------------


def as_array(x: Any, dtype: Any = None) -> Value:
    """Return the value of anything that NumPy would make an array of.

    Parameters
    ----------
    x : Value, ndarray, scalar, Dim, or nested list or tuple of them
        A Python scalar on its own stays weak; in a list it counts as in ``np.array``.
    dtype : dtype, optional
        What to cast to.

    Raises
    ------
    ValueError
        The lists are ragged.
    UnsupportedError
        The dtype or the kind of object is not carried.
    """
    made = _as_array(x)
    return made if dtype is None else cast(made, as_dtype(dtype))


def as_strong(x: Any) -> Value:
    """Return the value of anything as an operand of functions that first make arrays.

    A Python number counts with its default dtype in them: ``np.dot(int8_array, 2)`` is int64.
    """
    made = as_array(x)
    return cast(made, made.dtype) if made.weak else made


def _as_array(x: Any) -> Value:
    if isinstance(x, (Value, Dim)):
        return as_value(x)
    if isinstance(x, (list, tuple)):
        return _stack_lists(x)
    if type(x) in {bool, int, float, complex}:
        return as_value(x)
    array = np.asarray(x)
    if array.dtype.kind == "O" and any(isinstance(i, (Value, Dim)) for i in array.flat):
        return _stack_lists(array.tolist())
    return _constant(array)


def _constant(array: np.ndarray[Any, Any]) -> Value:
    as_dtype(array.dtype)
    return running_trace().constant(array)


def _is_traced(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_is_traced, x))
    return isinstance(x, (Value, Dim))


def _leaf_dtypes(x: Any) -> Iterator[np.dtype[Any]]:
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from _leaf_dtypes(item)
    elif isinstance(x, Value):
        yield x.dtype.numpy
    else:
        yield np.dtype(np.int64) if isinstance(x, Dim) else np.asarray(x).dtype


def _stack_lists(x: Sequence[Any]) -> Value:
    if not _is_traced(x):
        return _constant(np.array(x))
    dtype = as_dtype(np.result_type(*set(_leaf_dtypes(x))))
    return _stack(x, dtype)


def _stack(x: Any, dtype: DType) -> Value:
    """Return the array of a nested list of which some leaf is traced."""
    if not isinstance(x, (list, tuple)):
        return cast(as_value(x), dtype)
    if all(isinstance(i, (int, Dim)) and not isinstance(i, bool) for i in x):
        return cast(vector(x), dtype)
    pieces: list[Value] = []
    for traced, run in groupby(x, _is_traced):
        if traced:
            pieces += [unsqueeze(_stack(item, dtype), [0]) for item in run]
        else:
            pieces.append(_constant(np.array(list(run)).astype(dtype.numpy)))
    shape = _common_shape(len(x), pieces)
    rows = [reshape(p, (p.shape[0], *shape)) if p.ndim > 1 else p for p in pieces]
    return concat(rows, 0)


def _common_shape(count: int, pieces: Sequence[Value]) -> tuple[DimLike, ...]:
    """Return the shape of every item.

    Raises
    ------
    ValueError
        They differ.
    """
    env = running_trace().env
    first = pieces[0].shape[1:]
    for other in pieces[1:]:
        shape = other.shape[1:]
        depth = next(
            (
                i
                for i, (a, b) in enumerate(zip(first, shape, strict=False))
                if not require_equal(env, a, b)
            ),
            min(len(first), len(shape)),
        )
        if depth < max(len(first), len(shape)):
            found = (count, *(n if hint_of(n) is None else hint_of(n) for n in first[:depth]))
            raise ValueError(_RAGGED.format(len(found), found))
    return first


# --- sizes ---------------------------------------------------------------------------------


def plain_dim(x: Value) -> int | Dim | None:
    """Return the number that a 0-d integer value holds, where it is known or a size."""
    if x.known is not None:
        return int(x.known)
    made = x.equation
    if made is None:
        return None
    if made.op.name == "dim":
        dim: int | Dim = made.params["dim"]
        return dim
    return plain_dim(made.inputs[0]) if _keeps_value(x, made.inputs, made.op.name) else None


def _keeps_value(x: Value, inputs: Sequence[Value], name: str) -> bool:
    if name not in {"cast", "reshape", "expand_dims", "squeeze"} or x.dtype.kind not in "iu":
        return False
    return inputs[0].dtype.kind in "iu" and x.dtype.bits >= inputs[0].dtype.bits


def _plain_dims(x: Value) -> list[int | Dim] | None:
    if x.known is not None:
        return [int(n) for n in x.known]
    made = x.equation
    if made is not None and made.op.name == "dims":
        return list(made.params["dims"])
    if made is not None and made.op.name == "cast":
        return _plain_dims(made.inputs[0])
    return None


def as_size(n: Any, what: str = "a size") -> int | Dim:
    """Return a number that must be an int or a size.

    Raises
    ------
    DataDependentError
        It is data that only the run knows.
    TypeError
        It is no integer.
    """
    if isinstance(n, Dim):
        return n
    if isinstance(n, Value):
        if n.dtype.kind not in "iub" or n.ndim:
            msg = f"{what} must be an integer, not an array of {n.dtype} and shape {n.shape}"
            raise TypeError(msg)
        dim = plain_dim(n)
        if dim is None:
            return n.block.trace.data_size(n)
        return dim
    return operator.index(n)


def truncated(n: Any) -> Any:
    """Return a float as the integer that C code takes it for; anything else as it is."""
    if isinstance(n, float):
        return int(n)
    if isinstance(n, Value) and n.dtype.kind == "f" and not n.ndim:
        return cast(n, INT64)
    return n


def as_shape(shape: Any) -> tuple[int | Dim, ...]:
    """Return a shape argument as a tuple of ints and sizes.

    Parameters
    ----------
    shape : int, Dim, sequence of them, or integer array
        Minus one is passed on.

    Raises
    ------
    DataDependentError
        A size is data that only the run knows.
    """
    if isinstance(shape, Value):
        if shape.ndim == 0:
            return (as_size(shape),)
        sizes = _plain_dims(shape)
        if sizes is None:
            msg = "a shape depends on array data: take it from a shape or from int arguments"
            raise DataDependentError(msg)
        return tuple(sizes)
    if isinstance(shape, (Dim, int, np.integer)):
        return (as_size(shape),)
    if isinstance(shape, np.ndarray) and shape.ndim == 0:
        return (as_size(shape),)
    return tuple(as_size(n) for n in shape)


def known_int(x: Any) -> int | None:
    """Return the plain int of a number, None where it is symbolic or data."""
    if isinstance(x, Value):
        return None if x.known is None or x.known.ndim else int(x.known)
    return None if isinstance(x, Dim) else operator.index(x)


def plain_option(x: Any, what: str) -> Any:
    """Return a number that chooses what is computed, as Python's.

    Raises
    ------
    DataDependentError
        Only the run knows it.
    """
    if isinstance(x, Dim):
        return operator.index(x)
    if not isinstance(x, Value):
        return x
    if x.known is None:
        msg = f"{what} depends on array data: it decides what is computed"
        raise DataDependentError(msg)
    return x.known.item() if x.known.ndim == 0 else x.known


# --- axes ----------------------------------------------------------------------------------


def _axis_number(axis: Any) -> int:
    if isinstance(axis, Value):
        number = known_int(axis)
        if number is None:
            msg = "an axis depends on array data: the rank of the result would too"
            raise DataDependentError(msg)
        return number
    return operator.index(axis)


def normalize_axis(axis: Any, ndim: int, name: str | None = None) -> int:
    """Return an axis as a nonnegative int; raises NumPy's AxisError."""
    return np.lib.array_utils.normalize_axis_index(_axis_number(axis), ndim, name)


def reduction_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a ufunc's reduction in ascending order.

    Stricter than `normalize_axes`: only a tuple names several; a number, which has no axes,
    takes its first or last one.

    Raises
    ------
    AxisError, ValueError, TypeError
        NumPy's own.
    """
    if isinstance(axis, list):
        msg = "'list' object cannot be interpreted as an integer"
        raise TypeError(msg)
    if isinstance(axis, bool):
        msg = "an integer is required for the axis"
        raise TypeError(msg)
    if ndim == 0 and axis is not None and not isinstance(axis, tuple):
        normalize_axis(axis, 1)
        return ()
    axes = tuple(sorted(normalize_axes(axis, ndim, repeats=True)))
    if len(set(axes)) != len(axes):
        msg = "duplicate value in 'axis'"
        raise ValueError(msg)
    return axes


def normalize_axes(
    axis: Any, ndim: int, name: str | None = None, *, repeats: bool = False
) -> tuple[int, ...]:
    """Return axes as nonnegative ints in the order given; None means all.

    Raises
    ------
    AxisError
        An axis is out of range.
    ValueError
        An axis is named twice, and `repeats` is false.
    """
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, np.ndarray):
        axis = axis.tolist()
    given = [axis] if not isinstance(axis, (tuple, list)) else axis
    numbers = [_axis_number(a) for a in given]
    return np.lib.array_utils.normalize_axis_tuple(
        numbers, ndim, name, allow_duplicate=repeats
    )
