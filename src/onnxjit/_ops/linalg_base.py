# SPDX-License-Identifier: Apache-2.0
"""What the factorisations share: types and shapes of operands, stacks of matrices, checks.

Inside, every stack has exactly one leading axis, and computes in float64 (complex128), as
NumPy's `linalg` does whatever it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dims import Dim, DimLike, dim_prod, hint_of, key, require_equal
from onnxjit._core.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT64, DType
from onnxjit._core.op import Op

from .cast import cast
from .complex_parts import conjugate, imag_part, is_complex, real_part
from .convert import as_array
from .elementwise import absolute, add, equal, where
from .elementwise_base import direct, joined_shape
from .reduce import axes_attribute, axes_input, reduce_any
from .reduce_exact import reduced_shape
from .structure import iota, may_guard, reshape, squeeze, transpose, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = [
    "Stack",
    "adjoint",
    "as_columns",
    "as_index",
    "assumed",
    "common_types",
    "either",
    "fail_where",
    "fixed_size",
    "is_at_most",
    "largest",
    "pivot_size",
    "place_of_largest",
    "square",
    "stack_first",
    "stack_last",
    "stacked",
    "void_where",
]  # fmt: skip

_NO_STACK: Final = "{}-dimensional array given. Array must be at least two-dimensional"


# --- operands --------------------------------------------------------------------------------


def common_types(*arrays: Value) -> tuple[DType, DType]:
    """Return the dtype that NumPy computes in, and that of its results.

    Raises
    ------
    TypeError
        An operand is float16.

    Notes
    -----
    NumPy computes in double precision whatever it is given; results are single precision
    where every operand is.
    """
    for x in arrays:
        if x.dtype.kind in "fc" and x.dtype not in _INEXACT:
            msg = f"array type {x.dtype.name} is unsupported in linalg"
            raise TypeError(msg)
    single = all(x.dtype in (FLOAT32, COMPLEX64) for x in arrays)
    if any(x.dtype.kind == "c" for x in arrays):
        return COMPLEX128, COMPLEX64 if single else COMPLEX128
    return FLOAT64, FLOAT32 if single else FLOAT64


_INEXACT: Final = frozenset({FLOAT32, FLOAT64, COMPLEX64, COMPLEX128})


def stacked(a: Any) -> Value:
    """Return an operand of at least two axes.

    Raises
    ------
    LinAlgError
        It has fewer.
    """
    x = as_array(a)
    if x.ndim < 2:
        raise np.linalg.LinAlgError(_NO_STACK.format(x.ndim))
    return x


def square(a: Any) -> Value:
    """Return an operand whose last two axes are equally long.

    Raises
    ------
    LinAlgError
        They are not, or there are fewer than two.
    """
    x = stacked(a)
    if not require_equal(running_trace().env, x.shape[-2], x.shape[-1]):
        msg = "Last 2 dimensions of the array must be square"
        raise np.linalg.LinAlgError(msg)
    n = _plainer(x.shape[-2], x.shape[-1])
    return assumed(x, (*x.shape[:-2], n, n))


def _plainer(a: DimLike, b: DimLike) -> DimLike:
    return a if isinstance(a, int) else b


class Stack:
    """Matrices behind exactly one leading axis, and how to get back to the axes they had.

    Attributes
    ----------
    value : (B, n, m) Value
        The matrices.
    lead : tuple of int or Dim
        The axes that were there.
    """

    __slots__ = ("lead", "value")

    def __init__(self, x: Value, dtype: DType) -> None:
        self.lead: Final = x.shape[:-2]
        self.value: Final = _with_one_axis(cast(x, dtype))

    def unpack(self, y: Value, dtype: DType) -> Value:
        """Return a (B, ...) result with the leading axes that the operand had."""
        y = cast(y, dtype)
        if len(self.lead) == 1:
            return y
        if not self.lead:
            return squeeze(y, [0])
        return reshape(y, (*self.lead, *y.shape[1:]))


def _with_one_axis(x: Value) -> Value:
    if x.ndim == 3:
        return x
    if x.ndim == 2:
        return unsqueeze(x, [0])
    return reshape(x, (dim_prod(x.shape[:-2]), *x.shape[-2:]))


def adjoint(x: Value) -> Value:
    """Return the conjugate transposes of the matrices of the last two axes."""
    *lead, last, first = range(x.ndim)
    turned = transpose(x, [*lead, first, last])
    return conjugate(turned)


def stack_last(x: Value) -> Value:
    """Return (B, n, m) matrices as an (n, m, B) array."""
    return transpose(x, [1, 2, 0])


def stack_first(x: Value) -> Value:
    """Return an (n, m, B) array as (B, n, m) matrices."""
    return transpose(x, [2, 0, 1])


def as_columns(x: Value, count: DimLike, height: DimLike, batch: DimLike) -> Value:
    """Return (B, r, k) matrices of the k columns that a loop has stacked, each (r, 1, B).

    Notes
    -----
    Two transpositions with a Reshape between them: onnxruntime (1.32) is 10 times slower at
    turning all three axes round.
    """
    rows = transpose(reshape(x, (count, height, batch)), [1, 0, 2])
    flat = transpose(reshape(rows, (height * count, batch)), [1, 0])
    return reshape(flat, (batch, height, count))


def identity(n: DimLike, dtype: DType) -> Value:
    """Return the (n, n) identity matrix."""
    places = iota(n)
    return cast(equal(unsqueeze(places, [1]), places), dtype)


# --- sizes -----------------------------------------------------------------------------------


def fixed_size(n: DimLike, limit: int) -> int | None:
    """Return a size that is at most `limit` as an int, where the graph may count on it.

    A call takes a guard, so that each small size has a graph of its own.
    """
    if isinstance(n, int):
        return n if n <= limit else None
    if not may_guard(n):
        return None
    hint = hint_of(n)
    assert hint is not None  # may_guard looked
    if hint > limit:
        return hint if n <= limit else None  # takes the guard
    return hint if n == hint else None


def is_at_most(n: DimLike, limit: int) -> bool:
    """Whether a size is known to be at most `limit`; takes a guard where the call may."""
    if isinstance(n, Dim) and not may_guard(n):
        return False
    return bool(n <= limit)


def _assumed(x: Tensor, *, shape: tuple[DimLike, ...]) -> Tensor:
    return Tensor(x.dtype, shape)


ASSUMED: Final = Op(
    "assumed_shape",
    result=_assumed,
    evaluate=lambda x, *, shape: x,  # noqa: ARG005
    lower={13: lambda _e, _equation, x: x},
    parts="each",
)


def assumed(x: Value, shape: Sequence[DimLike]) -> Value:
    """Return a value whose sizes are known to be those of `shape`, written in that way."""
    new = tuple(shape)
    if tuple(map(key, x.shape)) == tuple(map(key, new)):
        return x
    return bind_one(ASSUMED, x, shape=new)


def as_index(j: Value) -> Value:
    """Return a () counter as a vector of one place."""
    return unsqueeze(j, [0])


def _chosen(_c: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return Tensor(x.dtype, joined_shape(_c.shape, x.shape, y.shape))


EITHER: Final = Op("either", result=_chosen, lower={13: direct("Where")}, evaluate=np.where)


def either(condition: Value, x: Value, y: Value) -> Value:
    """Choose as `where` does; which zero a chosen zero is, is not fixed.

    Notes
    -----
    Where alone (float64), where `where` takes care of signs.
    """
    if is_complex(y):
        chosen: Value = where(condition, x, y)
        return chosen
    return bind_one(EITHER, condition, x, y)


# --- extremes without a thought for NaN ------------------------------------------------------


def _place(x: Tensor, *, axis: int) -> Tensor:
    return Tensor(INT64, reduced_shape(x.shape, (axis,), keepdims=True))


def _lower_place(e: Emit, equation: Equation, x: Handle) -> Handle:
    return e.op("ArgMax", x, out=INT64, axis=equation.params["axis"], keepdims=1)


PLACE: Final = Op("place_of_largest", result=_place, lower={13: _lower_place}, may_fail=True)


def place_of_largest(x: Value, axis: int) -> Value:
    """Return the first place of the largest number, with the axis kept; NaN is passed over."""
    return bind_one(PLACE, x, axis=axis)


def _largest(x: Tensor, *, axis: int) -> Tensor:
    return Tensor(x.dtype, reduced_shape(x.shape, (axis,), keepdims=True))


def _lower_largest(spell: Any) -> Any:
    def lower(e: Emit, equation: Equation, x: Handle) -> Handle:
        found: Handle = spell(e, "ReduceMax", x, (equation.params["axis"],), True)
        return found

    return lower


LARGEST: Final = Op(
    "largest",
    result=_largest,
    lower={13: _lower_largest(axes_attribute), 18: _lower_largest(axes_input)},
)


def largest(x: Value, axis: int) -> Value:
    """Return the largest number, with the axis kept; NaN is passed over or not."""
    return bind_one(LARGEST, x, axis=axis)


def pivot_size(x: Value) -> Value:
    """Return what LAPACK compares pivots by: ``abs(re) + abs(im)``."""
    if not is_complex(x):
        size: Value = absolute(x)
        return size
    total: Value = add(absolute(real_part(x)), absolute(imag_part(x)))
    return total


# --- what only data knows --------------------------------------------------------------------


def fail_where(bad: Value) -> None:
    """Let NumPy raise where any of (B,) truth values holds: the call is then made by it."""
    running_trace().fail_if(reduce_any(bad, (0,)))


def void_where(bad: Value, x: Value) -> Value:
    """Return NaN for the (B, ...) results of matrices that NumPy refuses, in a model.

    A call is made again by NumPy there, which raises.
    """
    if running_trace().env.policy == "guard":
        return x
    marks = reshape(bad, (bad.shape[0], *(1,) * (x.ndim - 1)))
    void: Value = where(marks, np.asarray(np.nan, x.dtype.numpy)[()], x)
    return void
