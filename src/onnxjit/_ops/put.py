# SPDX-License-Identifier: Apache-2.0
"""Functions that write to elements of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import dim_max, require_equal
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.program import Value

from . import structure
from .cast import cast
from .convert import as_array
from .elementwise import add, multiply, remainder, subtract
from .elementwise_where import choose
from .gather import gather, scatter_elements, scatter_nd
from .index_write import assigned, fit
from .rearrange import resized
from .row import Function, Ufunc, function
from .samples import call, calls
from .scan import cumsum
from .structure import concat, iota, is_positive, may_guard, reshape, same_shape, unsqueeze
from .take import along_axis, safe_places, truth

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


@function(
    ROWS, np.put, writes="a",
    samples=calls(lambda m: [
        call(m(5), m.places(5, 3), m(3)), call(m(2, 3), [0, 4], 1),
        call(m(5), m.places(9, 4), m(2), mode="wrap"),
        call(m(5), m.places(9, 3), m(3), "clip"), call(m(4), [], 1), call(m(3), 7, 1),
    ]),
)  # fmt: skip
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Value:
    """Write elements at places of the array taken as a vector; values are repeated.

    Notes
    -----
    ScatterND.
    """
    x = as_array(a)
    flat = structure.as_1d(x)
    if structure.is_zero(flat.shape[0]) and not structure.is_zero(as_array(ind).tensor.size):
        msg = "cannot replace elements of an empty array"
        raise IndexError(msg)
    at = structure.as_1d(safe_places(ind, flat.shape[0], mode, casting="safe"))
    new = structure.as_1d(assigned(x, v))
    count = new.shape[0]
    is_tested = may_guard(count)
    if same_shape(at.shape, (0,)) or (is_tested and count == 0):
        return x
    if is_tested or is_positive(count):
        new = resized(new, at.shape)
    else:
        # no values: what is there stays
        back = add(
            remainder(iota(at.shape[0]), dim_max(count, 1)),
            multiply(iota(at.shape[0]), dim_max(1 - count, 0)),
        )
        new = gather(concat([new, gather(flat, at)], 0), back)
    return reshape(scatter_nd(flat, unsqueeze(at, [1]), new), x.shape)


@function(
    ROWS, np.put_along_axis, writes="arr",
    samples=calls(lambda m: [
        call(m(3, 4), m.places(4, 3, 1), 1, 1),
        call(m(3, 4), np.array([[2, 0, 1, 1]]), m(1, 4), axis=0),
        call(m(5), np.array([4, 0]), m(2), None), call(m(3), np.array([0, 2]), m.scalar(1), 0),
    ]),
)  # fmt: skip
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Value:
    """Write one element for each place, place by place along an axis.

    Notes
    -----
    ScatterElements.
    """
    original = as_array(arr)
    x, at, axis = along_axis(original, indices, axis)
    new = fit(assigned(x, values), at.shape)
    return reshape(scatter_elements(x, at, new, axis), original.shape)


@function(
    ROWS, np.putmask, writes="a",
    samples=calls(lambda m: [
        call(m(5), m.mask(5), m(5)), call(m(2, 3), m.mask(2, 3), m(4)),
        call(m(5), m.mask(5), 1), call(m(3), [True, False, True], m(2)),
        call(m(0), m.mask(0), 1),
    ]),
)  # fmt: skip
def putmask(a: Any, /, mask: Any, values: Any) -> Value:
    """Write ``values[i]`` where ``mask[i]``, both taken as vectors; values are repeated.

    Notes
    -----
    Where.
    """
    x, where = as_array(a), truth(mask)
    if not _same_size(where, x):
        msg = "putmask: mask and data must be the same size"
        raise ValueError(msg)
    _check_array(values, x)
    new = assigned(x, values)
    if not same_shape(new.shape, x.shape):
        one = new.known is not None and new.known.size == 1
        new = reshape(new, ()) if one else resized(new, x.shape)
    return choose(reshape(where, x.shape), new, x)


def _same_size(a: Value, b: Value) -> bool:
    return require_equal(running_trace().env, a.tensor.size, b.tensor.size)


@function(
    ROWS, np.place, writes="arr",
    samples=calls(lambda m: [
        call(m(5), m.mask(5), m(2)), call(m(2, 3), m.mask(2, 3), [1]),
        call(m(3), [False, False, False], m(1)), call(m(3), [True, False, True], m(4)),
    ]),
)  # fmt: skip
def place(arr: Any, mask: Any, vals: Any) -> Value:
    """Write the first values, repeated as needed, where a mask holds.

    Notes
    -----
    CumSum, Gather, Where.
    """
    x, where = as_array(arr), truth(mask)
    if not _same_size(where, x):
        msg = "place: mask and data must be the same size"
        raise ValueError(msg)
    _check_array(vals, x)
    new = structure.as_1d(assigned(x, vals))
    count = new.shape[0]
    if same_shape(new.shape, (1,)):
        return choose(reshape(where, x.shape), reshape(new, ()), x)
    flags = structure.as_1d(where)
    number = subtract(cumsum(cast(flags, INT64), 0), 1)
    chosen = gather(new, remainder(number, dim_max(count, 1)), 0)
    return choose(reshape(where, x.shape), reshape(chosen, x.shape), x)


#: kinds in the order in which Python numbers may be written
_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3, "U": 4}


def _check_cast(new: Value, x: Value, casting: str) -> None:
    """Raise NumPy's TypeError where a copy is not allowed; Python numbers go by kind."""
    have, want = new.dtype.numpy, x.dtype.numpy
    is_weak = new.weak or (new.dtype is BOOL and not new.ndim)
    if is_weak and casting != "unsafe":
        allowed = _KINDS[new.dtype.kind] <= _KINDS[x.dtype.kind]
    else:
        allowed = np.can_cast(have, want, casting)  # type: ignore[arg-type]
    if not allowed:
        what = "scalar" if is_weak else "array data"
        msg = f"Cannot cast {what} from {have!r} to {want!r} according to the rule '{casting}'"
        raise TypeError(msg)


def _check_array(values: Any, x: Value) -> None:
    """Raise NumPy's TypeError for an array that `x` cannot hold; numbers and lists convert."""
    if isinstance(values, np.ndarray) or (isinstance(values, Value) and not values.weak):
        _check_cast(as_array(values), x, "safe")


@function(
    ROWS, np.copyto, writes="dst",
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(2, 3), m(3)), call(m(3), 1),
        call(m(2, 3), m.scalar(1), where=m.mask(3)), call(m(3), np.ones(3, "f4")),
        call(m(3), np.ones(3, "f4"), casting="unsafe"),
    ]),
)  # fmt: skip
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Value:
    """Write an array into another, where a condition holds.

    Raises
    ------
    TypeError
        `casting` does not allow the cast.
    ValueError
        `src` does not broadcast to the shape of `dst`.

    Notes
    -----
    Cast, Expand; Where with a condition.
    """
    x, new = as_array(dst), as_array(src)
    _check_cast(new, x, casting)
    new = fit(assigned(x, new), x.shape)
    if where is True:
        return new
    condition = as_array(where)
    if condition.dtype is not BOOL:
        msg = (
            f"Cannot cast array data from {condition.dtype.numpy!r} to dtype('bool') "
            "according to the rule 'safe'"
        )
        raise TypeError(msg)
    return choose(fit(condition, x.shape), new, x)
