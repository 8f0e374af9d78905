# SPDX-License-Identifier: Apache-2.0
"""Sorting: the primitive, and NumPy's functions that order elements."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one
from onnxjit._core.dims import Dim, hint_of
from onnxjit._core.dtypes import COMPLEX64, COMPLEX128, INT64
from onnxjit._core.op import Op
from onnxjit._core.program import Value
from onnxjit.errors import UnsupportedError

from .cast import cast
from .convert import as_array, normalize_axis
from .gather import gather_elements
from .reduce_exact import from_ordered, to_ordered
from .row import Function, Ufunc, function
from .samples import NUMBERS, call, calls
from .structure import as_1d, iota, may_guard, reshape

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation

__all__ = ["ROWS", "argsort_along", "sort_along"]

ROWS: list[Function | Ufunc] = []


# --- primitives ------------------------------------------------------------------------------


def _as_operand(x: Tensor, *, axis: int) -> Tensor:  # noqa: ARG001
    return Tensor(x.dtype, x.shape)


def _as_places(x: Tensor, *, axis: int) -> Tensor:  # noqa: ARG001
    return Tensor(INT64, x.shape)


def _all_of(e: Emit, equation: Equation, x: Handle) -> tuple[Handle, Handle]:
    """Order a whole axis.

    onnxruntime's TopK of everything is stable, with NaN last, as NumPy's stable sort.
    """
    axis = equation.params["axis"]
    count = e.dims((equation.inputs[0].shape[axis],))
    y = to_ordered(e, x)
    return e.multi("TopK", y, count, out=(y.dtype, INT64), axis=axis, largest=0, sorted=1)  # type: ignore[return-value]


def _lower_sort(e: Emit, equation: Equation, x: Handle) -> Handle:
    return from_ordered(e, _all_of(e, equation, x)[0], x.dtype)


def _lower_argsort(e: Emit, equation: Equation, x: Handle) -> Handle:
    return _all_of(e, equation, x)[1]


SORT: Final = Op(
    "sort",
    result=_as_operand,
    lower={13: _lower_sort},
    evaluate=lambda x, *, axis: np.sort(x, axis, kind="stable"),
)
ARGSORT: Final = Op(
    "argsort",
    result=_as_places,
    lower={13: _lower_argsort},
    evaluate=lambda x, *, axis: np.argsort(x, axis, kind="stable"),
)


def sort_along(x: Value, axis: int) -> Value:
    """Return the elements in order along an axis of an at least 1-d array, NaN last.

    Notes
    -----
    TopK: stable.  float16, bool and integers without a kernel in a wider dtype, uint64 shifted
    to int64.
    """
    if x.dtype.kind == "c":
        return gather_elements(x, argsort_along(x, axis), axis)
    return bind_one(SORT, x, axis=axis)


def argsort_along(x: Value, axis: int) -> Value:
    """Return the places of the elements in order; equal ones keep their order."""
    if x.dtype.kind == "c":
        from .complex_reduce import argsort_complex

        return argsort_complex(x, axis)
    return bind_one(ARGSORT, x, axis=axis)


# --- NumPy's functions -----------------------------------------------------------------------


def _check_order(x: Value, order: Any) -> None:
    if order is not None:
        np.sort(np.empty(0, x.dtype.numpy), order=order)  # NumPy's own refusal
    if x.dtype.kind == "U":
        msg = f"sorting arrays of {x.dtype} is not carried"
        raise UnsupportedError(msg)


def _check_kind(kind: Any, stable: Any) -> None:
    """Raise NumPy's exception for a bad `kind` or both ways to ask for stability."""
    np.sort(np.empty(0), kind=kind, stable=stable)


def _laid_out(a: Any, axis: Any) -> tuple[Value, int]:
    """Return an array and a nonnegative axis; None flattens."""
    x = as_array(a)
    if axis is None:
        return as_1d(x), 0
    return x, normalize_axis(axis, x.ndim)


@function(
    ROWS, np.sort, api="sort", ties=True,
    samples=calls(lambda m: [
        call(m.special(20)), call(m.special(3, 5)), call(m.special(3, 5), 0),
        call(m(2, 3, 2), axis=1), call(m(3, 4), None), call(m(0)), call(m(1)),
        call(m(9), kind="stable"), call(m(9), stable=True), call(m()), call(m(3), 1),
    ]),
)  # fmt: skip
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Value:
    """Return a sorted copy.

    Parameters
    ----------
    a : (..., n, ...) real
        Values.
    axis : int, optional
        Axis; None sorts the flattened array.
    kind, stable
        Every sort is stable.

    Returns
    -------
    (..., n, ...) dtype of `a`
        NaN comes last.

    Notes
    -----
    TopK.
    """
    x, at = _laid_out(a, axis)
    _check_kind(kind, stable)
    _check_order(x, order)
    return sort_along(x, at)


@function(
    ROWS, np.argsort, api="argsort",
    samples=calls(lambda m: [
        call(m.special(20), kind="stable"), call(m.special(3, 5), 0, stable=True), call(m(0)),
        call(m(1)), call(m(9), kind="stable"), call(m(9), stable=True), call(m()),
        call(m(3), 1),
    ]),
)  # fmt: skip
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Value:
    """Return the places that sort an array; parameters as in `sort`.

    Notes
    -----
    TopK: always stable, so places of equal elements can differ from NumPy's unstable kinds.
    """
    x = as_array(a)
    if x.ndim == 0 and axis in {-1, 0, None}:
        x = reshape(x, (1,))
    x, at = _laid_out(x, axis)
    _check_kind(kind, stable)
    _check_order(x, order)
    return argsort_along(x, at)


#: small integers become complex64, other real numbers complex128
_SMALL: Final = frozenset("bhBH")


@function(
    ROWS, np.sort_complex, ties=True,
    samples=calls(lambda m: [call(m.special(20)), call(m(3, 4)), call(m(0)), call([3, 1, 2])]),
)  # fmt: skip
def sort_complex(a: Any) -> Value:
    """Return a sorted complex copy: by the real parts, then by the imaginary ones.

    Parameters
    ----------
    a : (..., n) array
        Values; integers of 8 and 16 bits become complex64, other real ones complex128.

    Notes
    -----
    TopK of the imaginary parts, of the real parts, and of where NaN is.
    """
    x = as_array(a)
    ordered = sort(x)
    if x.dtype.kind == "c":
        return ordered
    small = x.dtype.numpy.char in _SMALL
    return cast(ordered, COMPLEX64 if small else COMPLEX128)


def _check_kth(kth: Any, n: Any) -> None:
    """Raise NumPy's exception for a place outside the axis, where that may be asked."""
    for k in np.atleast_1d(kth) if not isinstance(kth, Value) else ():
        place = operator.index(k)
        if (isinstance(n, int) or may_guard(n)) and not -n <= place < n and n != 0:
            size = hint_of(n)
            assert size is not None
            msg = f"kth(={place + size if place < 0 else place}) out of bounds ({size})"
            raise ValueError(msg)


@function(
    ROWS, np.partition,
    samples=calls(lambda m: [
        call(np.arange(6).astype(m.dtype), 2),
        call(np.arange(8).reshape(4, 2).astype(m.dtype), 1, axis=0), call(m(1, 3), 0, 0),
        call(m(0), 0), call(m(3), 5),
    ], NUMBERS),
)  # fmt: skip
def partition(
    a: Any,
    kth: Any,
    axis: Any = -1,
    kind: str = "introselect",  # noqa: ARG001
    order: Any = None,
) -> Value:
    """Return a copy in which place `kth` holds what sorting would put there: a sorted copy.

    Notes
    -----
    TopK.  All places are sorted, which fulfils what NumPy promises; the order inside NumPy's
    two parts is not defined.
    """
    x, at = _laid_out(a, axis)
    _check_order(x, order)
    _check_kth(kth, x.shape[at])
    return sort_along(x, at)


@function(
    ROWS, np.argpartition,
    samples=calls(lambda m: [
        call(np.arange(6).astype(m.dtype), 2),
        call(np.arange(8).reshape(4, 2).astype(m.dtype), 1, axis=0), call(m(1, 3), 0, 0),
        call(m(0), 0), call(m(3), 5),
    ], NUMBERS),
)  # fmt: skip
def argpartition(
    a: Any,
    kth: Any,
    axis: Any = -1,
    kind: str = "introselect",  # noqa: ARG001
    order: Any = None,
) -> Value:
    """Return the places of `partition`: those that sort the array.

    Notes
    -----
    TopK.
    """
    x, at = _laid_out(a, axis)
    _check_order(x, order)
    _check_kth(kth, x.shape[at])
    return argsort_along(x, at)


@function(
    ROWS, np.lexsort,
    samples=calls(lambda m: [
        call((m(6), m(6))), call([m.special(8)]), call(m(2, 6)),
        call((m(2, 3), m(2, 3)), axis=0), call((m(6), m.rising(6), m(6))), call((m(0), m(0))),
    ]),
)  # fmt: skip
def lexsort(keys: Any, axis: int = -1) -> Value:
    """Return the places that sort by several keys, the last one first.

    Parameters
    ----------
    keys : sequence of (..., n, ...) arrays, or (k, ..., n, ...) array
        Keys of equal shape.
    axis : int
        Axis of each key.

    Notes
    -----
    TopK for each key, GatherElements: a stable sort by each key in turn.
    """
    if isinstance(keys, (list, tuple)):
        columns = [as_array(k) for k in keys]
    else:
        from .structure import squeeze, take_range

        stacked = as_array(keys)
        n = stacked.shape[0] if stacked.ndim else 0
        if isinstance(n, Dim):
            n = operator.index(n)
        columns = [squeeze(take_range(stacked, 0, i, 1), [0]) for i in range(n)]
    if not columns:
        msg = "need sequence of keys with len > 0 in lexsort"
        raise TypeError(msg)
    if columns[0].ndim == 0:
        columns = [reshape(c, (1,)) for c in columns]
    at = normalize_axis(axis, columns[0].ndim)
    order = argsort_along(columns[0], at)
    for key in columns[1:]:
        inner = argsort_along(gather_elements(key, order, at), at)
        order = gather_elements(order, inner, at)
    return order


def inverse_order(order: Value) -> Value:
    """Return the inverse of a 1-d permutation."""
    from .gather import scatter_elements

    n = order.shape[0]
    return scatter_elements(iota(n), order, iota(n), 0)
