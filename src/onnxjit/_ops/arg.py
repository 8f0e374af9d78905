# SPDX-License-Identifier: Apache-2.0
"""Places of extrema: argmax and argmin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one
from onnxjit._core.dtypes import INT64
from onnxjit._core.op import Op

from .convert import as_array, normalize_axis
from .reduce_exact import reduced_shape, to_ordered
from .row import NO_VALUE, Function, Ufunc, function
from .samples import reductions
from .structure import as_1d, is_zero, reshape

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS", "arg_max", "arg_min"]

ROWS: list[Function | Ufunc] = []


def _place(x: Tensor, *, axis: int, keepdims: bool) -> Tensor:
    return Tensor(INT64, reduced_shape(x.shape, (axis,), keepdims=keepdims))


def _float_place(e: Emit, equation: Equation, y: Handle) -> Handle:
    """Find the largest: TopK puts NaN first and keeps the order of equals, ArgMax does not."""
    axis = equation.params["axis"]
    one = e.const(np.array([1], np.int64))
    _, place = e.multi("TopK", y, one, out=(y.dtype, INT64), axis=axis, largest=1, sorted=1)
    if equation.params["keepdims"]:
        return place
    return e.op("Squeeze", place, e.const(np.array([axis], np.int64)))


def _lower(node: str) -> Callable[..., Handle]:
    def lower(e: Emit, equation: Equation, x: Handle) -> Handle:
        y = to_ordered(e, x)
        if y.dtype.kind == "f":
            y = e.op("Neg", y) if node == "ArgMin" else y
            return _float_place(e, equation, y)
        p = equation.params
        return e.op(node, y, out=INT64, axis=p["axis"], keepdims=int(p["keepdims"]))

    return lower


_EMPTY: Final = "attempt to get {} of an empty sequence"


def _empty(name: str) -> Callable[[str], BaseException]:
    return lambda _: ValueError(_EMPTY.format(name))


ARG_MAX: Final = Op(
    "argmax", result=_place, lower={13: _lower("ArgMax")}, evaluate=np.argmax, may_fail=True,
    error=_empty("argmax"),
)  # fmt: skip
ARG_MIN: Final = Op(
    "argmin", result=_place, lower={13: _lower("ArgMin")}, evaluate=np.argmin, may_fail=True,
    error=_empty("argmin"),
)  # fmt: skip


def _arg(op: Op, x: Value, axis: int, *, keepdims: bool) -> Value:
    if is_zero(x.shape[axis]):
        raise ValueError(_EMPTY.format(op.name))
    if x.dtype.kind == "c":
        from .complex_reduce import place_of_extreme

        return place_of_extreme(x, axis, largest=op is ARG_MAX, keepdims=keepdims)
    return bind_one(op, x, axis=axis, keepdims=keepdims)


def arg_max(x: Value, axis: int, *, keepdims: bool = False) -> Value:
    """Return the first place of the largest element, of the first NaN if there is one."""
    return _arg(ARG_MAX, x, axis, keepdims=keepdims)


def arg_min(x: Value, axis: int, *, keepdims: bool = False) -> Value:
    """Return the first place of the smallest element, of the first NaN if there is one."""
    return _arg(ARG_MIN, x, axis, keepdims=keepdims)


def arg_along(find: Callable[..., Value], a: Any, axis: Any, keepdims: Any) -> Value:
    """Apply `arg_max` or `arg_min` with NumPy's axis and keepdims."""
    x = as_array(a)
    keep = keepdims is not NO_VALUE and bool(keepdims)
    if axis is None:
        place = find(as_1d(x), 0)
        return reshape(place, (1,) * x.ndim) if keep else place
    if x.ndim == 0:
        x = reshape(x, (1,))
        keep = False
    at = normalize_axis(axis, x.ndim)
    return find(x, at, keepdims=keep)


@function(ROWS, np.argmax, scalar=True, api="argmax", samples=reductions(several=False))
def argmax(a: Any, axis: int | None = None, *, keepdims: Any = NO_VALUE) -> Value:
    """Return the indices of the largest elements along an axis.

    Parameters
    ----------
    a : (..., n, ...) real
        Values.
    axis : int, optional
        Axis; None for the flattened array.
    keepdims : bool
        Keep the axis with length 1.

    Returns
    -------
    (..., ...) int64
        The first place; NaN counts as largest.

    Raises
    ------
    ValueError
        The axis is empty.

    Notes
    -----
    ArgMax; for floats TopK.
    """
    return arg_along(arg_max, a, axis, keepdims)


@function(ROWS, np.argmin, scalar=True, api="argmin", samples=reductions(several=False))
def argmin(a: Any, axis: int | None = None, *, keepdims: Any = NO_VALUE) -> Value:
    """Return the indices of the smallest elements along an axis.

    As `argmax`; NaN counts as smallest.

    Notes
    -----
    ArgMin; for floats TopK of the negated values.
    """
    return arg_along(arg_min, a, axis, keepdims)
