# SPDX-License-Identifier: Apache-2.0
"""Methods of ufuncs on values: ``reduce``, ``accumulate``, ``outer``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one
from onnxjit._core.dims import has_data, same
from onnxjit._core.dtypes import BOOL, INT64, UINT64, DType, from_numpy
from onnxjit._core.op import Op
from onnxjit.errors import UnsupportedError

from .cast import cast
from .complex_reduce import extreme
from .convert import as_array, as_dtype, as_strong, normalize_axis, reduction_axes
from .elementwise import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    fmax,
    fmin,
    isnan,
    logical_xor,
    maximum,
    minimum,
    multiply,
    not_equal,
)
from .elementwise import (
    where as pick,
)
from .reduce import (
    count_true,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from .reduce_exact import merge_axes, reduced_shape
from .row import NO_VALUE, Ufunc
from .scan import (
    cumprod,
    cumsum,
    fold,
    fold_associative,
    running,
    running_associative,
)
from .structure import is_zero, reshape
from .ufunc import ufunc_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["ufunc_accumulate", "ufunc_outer", "ufunc_reduce"]

Axes = tuple[int, ...]


# --- what each ufunc is over axes ------------------------------------------------------------


def limits(dtype: DType) -> np.iinfo[Any]:
    """Return the range of an integer dtype."""
    return np.iinfo(dtype.name)


def _lowest(dtype: DType) -> Any:
    if dtype.kind == "b":
        return False
    if dtype.kind == "c":
        return complex(-np.inf, -np.inf)
    return limits(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: DType) -> Any:
    if dtype.kind == "b":
        return True
    if dtype.kind == "c":
        return complex(np.inf, np.inf)
    return limits(dtype).max if dtype.kind in "iu" else np.inf


def _nan_if_float(other: Callable[[DType], Any]) -> Callable[[DType], Any]:
    return lambda dtype: np.nan if dtype.kind in "fc" else other(dtype)


def folded(
    combine: Callable[[Value, Value], Value], neutral: Callable[[DType], Any]
) -> Callable[..., Value]:
    """Return the reduction of an exactly associative operation with an identity."""

    def reduce(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
        shape = reduced_shape(x.shape, axes, keepdims=keepdims)
        merged = merge_axes(x, axes)
        start = as_value(neutral(x.dtype), x.dtype)
        return reshape(fold_associative(combine, merged, merged.ndim - 1, start), shape)

    return reduce


def _one(_: DType) -> int:
    return 1


def _zero(_: DType) -> int:
    return 0


def _all_bits(dtype: DType) -> Any:
    return True if dtype.kind == "b" else np.invert(np.zeros((), dtype.numpy))


def _prod(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    rule = reduce_prod if x.dtype.kind in "fc" else folded(multiply, _one)
    return rule(x, axes, keepdims=keepdims)


def _sum(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    rule = reduce_any if x.dtype is BOOL else reduce_sum
    return rule(x, axes, keepdims=keepdims)


def _xor(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Return the parity of a count."""
    odd = bitwise_and(count_true(x, axes, keepdims=keepdims), as_value(1, INT64))
    return cast(odd, BOOL)


def _number_extreme(
    reduce: Callable[..., Value], worst: Callable[[DType], Any]
) -> Callable[..., Value]:
    """Return fmax or fmin over axes: NaN only where every element is."""

    def over(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
        if x.dtype.kind == "c":
            largest = reduce is reduce_max
            return extreme(x, axes, largest=largest, keepdims=keepdims, skip_nan=True)
        if x.dtype.kind != "f":
            return reduce(x, axes, keepdims=keepdims)
        missing = isnan(x)
        filled = pick(missing, as_value(worst(x.dtype), x.dtype), x)
        none = reduce_all(missing, axes, keepdims=keepdims)
        best = reduce(filled, axes, keepdims=keepdims)
        return pick(none, as_value(np.nan, x.dtype), best)

    return over


class Reduction:
    """How a ufunc reduces and accumulates.

    Attributes
    ----------
    reduce : callable
        ``reduce(x, axes, keepdims=)`` in the dtype of `x`.
    neutral : callable
        dtype -> the element that changes nothing; stands for elements left out.
    combine : callable
        The operation on two values.
    truth : bool
        It works on truth values.
    accumulate : callable, optional
        ``accumulate(x, axis)``; through `combine` when missing.
    """

    __slots__ = ("accumulate", "combine", "neutral", "reduce", "truth")

    def __init__(
        self,
        reduce: Callable[..., Value],
        neutral: Callable[[DType], Any],
        combine: Callable[[Value, Value], Value],
        *,
        truth: bool = False,
        accumulate: Callable[[Value, int], Value] | None = None,
    ) -> None:
        self.reduce: Final = reduce
        self.neutral: Final = neutral
        self.combine: Final = combine
        self.truth: Final = truth
        self.accumulate: Final = accumulate


def _bitwise(
    on_bool: Callable[..., Value],
    combine: Callable[..., Value],
    neutral: Callable[[DType], Any],
) -> Reduction:
    on_ints = folded(combine, neutral)

    def reduce(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
        return (on_bool if x.dtype is BOOL else on_ints)(x, axes, keepdims=keepdims)

    return Reduction(reduce, neutral, combine)


REDUCTIONS: Final[dict[np.ufunc, Reduction]] = {
    np.add: Reduction(_sum, _zero, add, accumulate=cumsum),
    np.multiply: Reduction(_prod, _one, multiply, accumulate=cumprod),
    np.maximum: Reduction(reduce_max, _lowest, maximum),
    np.minimum: Reduction(reduce_min, _highest, minimum),
    np.fmax: Reduction(_number_extreme(reduce_max, _lowest), _nan_if_float(_lowest), fmax),
    np.fmin: Reduction(_number_extreme(reduce_min, _highest), _nan_if_float(_highest), fmin),
    np.logical_or: Reduction(reduce_any, _zero, bitwise_or, truth=True),
    np.logical_and: Reduction(reduce_all, _one, bitwise_and, truth=True),
    np.logical_xor: Reduction(_xor, _zero, logical_xor, truth=True),
    np.bitwise_or: _bitwise(reduce_any, bitwise_or, _zero),
    np.bitwise_and: _bitwise(reduce_all, bitwise_and, _all_bits),
    np.bitwise_xor: _bitwise(_xor, bitwise_xor, _zero),
}


# --- reduce ----------------------------------------------------------------------------------

_SMALL: Final = {"b": INT64, "i": INT64, "u": UINT64}


def _wide_sum(dtype: DType) -> DType:
    """Return the dtype in which NumPy adds and multiplies along axes."""
    return _SMALL[dtype.kind] if dtype.kind in "biu" and dtype.bits < 64 else dtype


#: ufuncs that reduce in any dtype of numbers
_ANY_DTYPE: Final = frozenset({np.add, np.multiply, np.maximum, np.minimum})


def reduction_dtype(ufunc: np.ufunc, x: Value, dtype: Any) -> DType:
    """Return the dtype that a reduction works in.

    Raises
    ------
    TypeError
        The ufunc has no loop for it.
    """
    if dtype is not None:
        if ufunc not in _ANY_DTYPE:
            ufunc.reduce(np.ones(1, x.dtype.numpy), dtype=dtype)  # NumPy's own refusal
        return as_dtype(dtype)
    if ufunc in {np.add, np.multiply}:
        return _wide_sum(x.dtype)
    if ufunc in REDUCTIONS and REDUCTIONS[ufunc].truth:
        return BOOL
    found = ufunc.resolve_dtypes((None, x.dtype.numpy, None), reduction=True)
    return from_numpy(found[0])


def _nothing(ufunc: np.ufunc) -> ValueError:
    return ValueError(
        f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
    )


def _first(ufunc: np.ufunc) -> Op:
    """Return the operation that reads the first element along the last axis."""

    def lower(e: Emit, equation: Equation, x: Handle) -> Handle:
        return e.op("Gather", x, e.const(0, INT64), axis=equation.inputs[0].ndim - 1)

    return Op(
        f"first_{ufunc.__name__}",
        result=lambda x: Tensor(x.dtype, x.shape[:-1]),
        lower={13: lower},
        evaluate=lambda x: x[..., 0],
        parts="each",
        may_fail=True,
        error=lambda _: _nothing(ufunc),
    )


_FIRST: Final[dict[np.ufunc, Op]] = {
    ufunc: _first(ufunc) for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)
}


def _mask(where: Any) -> Value | None:
    if where is True or where is NO_VALUE:
        return None
    mask = as_array(where)
    if mask.dtype is not BOOL:
        msg = (
            f"Cannot cast array data from dtype('{mask.dtype}') to dtype('bool') according to "
            "the rule 'safe'"
        )
        raise TypeError(msg)
    return None if mask.known is not None and mask.known.all() else mask


def _start(x: Value, initial: Any) -> Value:
    """Return what a reduction of `x` starts from; NumPy refuses what its dtype cannot hold."""
    if type(initial) in {int, float, complex} and x.dtype.kind != "c":
        np.zeros((), x.dtype.numpy)[()] = initial
    return as_array(initial, x.dtype)


def _left_out(ufunc: np.ufunc, x: Value, where: Any, initial: Any) -> Value:
    """Replace the elements that `where` leaves out by a neutral one."""
    mask = _mask(where)
    if mask is None:
        return x
    if ufunc.identity is None and initial is NO_VALUE:
        msg = (
            f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a "
            "where mask one has to specify 'initial'"
        )
        raise ValueError(msg)
    return pick(mask, x, as_value(REDUCTIONS[ufunc].neutral(x.dtype), x.dtype))


def row_ufunc(ufunc: Ufunc | np.ufunc) -> np.ufunc:
    """Return the NumPy ufunc of a row."""
    return ufunc.numpy if isinstance(ufunc, Ufunc) else ufunc


def combiner(ufunc: Ufunc | np.ufunc) -> Callable[[Value, Value], Value]:
    """Return a ufunc on two values of its own dtype.

    Raises
    ------
    UnsupportedError
        There is no row for it.
    """
    if isinstance(ufunc, Ufunc):
        return partial(_apply, ufunc)
    if ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc].combine
    msg = f"np.{ufunc.__name__} is not carried"
    raise UnsupportedError(msg)


def _apply(row: Ufunc, a: Value, b: Value) -> Value:
    result: Value = ufunc_call(row, (a, b))
    return result


def ufunc_reduce(
    ufunc: Ufunc | np.ufunc,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Value:
    """Return ``ufunc.reduce(x, axis, dtype, None, keepdims, initial, where)``.

    Raises
    ------
    ValueError
        The axis is empty and the ufunc has no identity, where the size is known.
    """
    numpy = row_ufunc(ufunc)
    value = as_array(x)
    keep = keepdims is not NO_VALUE and bool(keepdims)
    axes = reduction_axes(axis, value.ndim)
    value = cast(value, reduction_dtype(numpy, value, dtype))
    known = REDUCTIONS.get(numpy)
    if known is None:
        return _reduce_in_order(ufunc, value, axes, keep, initial, where)
    value = _left_out(numpy, value, where, initial)
    starts = initial is not NO_VALUE and initial is not None
    if numpy.identity is None and not starts and _is_empty(value, axes):
        raise _nothing(numpy)
    total = known.reduce(value, axes, keepdims=keep)
    if numpy.identity is None and not starts and any(has_data(value.shape[i]) for i in axes):
        # only the run knows whether there is a first element, and fails if there is none
        first = bind_one(_FIRST[numpy], merge_axes(value, axes))
        total = known.combine(total, reshape(first, total.shape))
    if starts:
        total = known.combine(_start(value, initial), total)
    return total


def _is_empty(x: Value, axes: Axes) -> bool:
    """Whether nothing is reduced, which takes a guard on symbolic lengths."""
    return any(is_zero(x.shape[i]) for i in axes)


def _reduce_in_order(
    ufunc: Ufunc | np.ufunc,
    x: Value,
    axes: Axes,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Value:
    """Reduce by applying the ufunc to one element after another."""
    numpy = row_ufunc(ufunc)
    if _mask(where) is not None:
        msg = f"np.{numpy.__name__}.reduce with where= is not carried"
        raise UnsupportedError(msg)
    if len(axes) > 1 and numpy.identity is None and not numpy.signature:
        msg = (
            f"reduction operation '{numpy.__name__}' is not reorderable, "
            "so at most one axis may be specified"
        )
        raise ValueError(msg)
    shape = reduced_shape(x.shape, axes, keepdims=keepdims)
    if not axes:
        return x
    merged = merge_axes(x, axes)
    start: Value | None = None
    if initial is not NO_VALUE and initial is not None:
        start = _start(x, initial)
    elif numpy.identity is not None and initial is NO_VALUE:
        start = as_array(numpy.identity, x.dtype)
    elif _is_empty(x, axes):
        raise _nothing(numpy)
    return reshape(fold(combiner(ufunc), merged, merged.ndim - 1, start), shape)


# --- accumulate ------------------------------------------------------------------------------


def ufunc_accumulate(
    ufunc: Ufunc | np.ufunc, x: Any, axis: Any = 0, dtype: Any = None
) -> Value:
    """Return ``ufunc.accumulate(x, axis, dtype)``.

    Raises
    ------
    TypeError
        `x` is 0-d.
    """
    numpy = row_ufunc(ufunc)
    value = as_array(x)
    if value.ndim == 0:
        msg = "cannot accumulate on a scalar"
        raise TypeError(msg)
    at = normalize_axis(axis, value.ndim)
    value = cast(value, reduction_dtype(numpy, value, dtype))
    known = REDUCTIONS.get(numpy)
    if same(value.shape[at], 0):
        return value
    if known is None:
        return running(combiner(ufunc), value, at)
    if known.accumulate is not None and value.dtype is not BOOL:
        return known.accumulate(value, at)
    start = as_value(known.neutral(value.dtype), value.dtype)
    return running_associative(known.combine, value, at, start)


# --- outer -----------------------------------------------------------------------------------


def ufunc_outer(ufunc: Ufunc, a: Any, b: Any, **keywords: Any) -> Any:
    """Return ``ufunc.outer(a, b)``: the ufunc of each element of `a` with each of `b`.

    Python numbers become arrays first, so that their dtypes count.
    """
    x, y = as_strong(a), as_strong(b)
    spread = reshape(x, (*x.shape, *(1,) * y.ndim)) if y.ndim and x.ndim else x
    return ufunc_call(ufunc, (spread, y), **keywords)


def as_truth(x: Value) -> Value:
    """Return truth values; NaN is true."""
    return x if x.dtype is BOOL else not_equal(x, as_value(0, x.dtype))
