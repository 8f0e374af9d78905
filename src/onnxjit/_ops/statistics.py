# SPDX-License-Identifier: Apache-2.0
"""Sums, products, extrema, truth, and moments along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import dim_max, dim_prod
from onnxjit._core.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, DType
from onnxjit._core.program import Value

from .cast import cast
from .checks import fail_where
from .complex_parts import imag_part, real_part
from .convert import as_array, as_dtype, normalize_axes, reduction_axes
from .elementwise import (
    add,
    divide,
    equal,
    maximum,
    multiply,
    sqrt,
    square,
    subtract,
)
from .reduce import count_true
from .row import NO_VALUE, Function, Ufunc, function
from .samples import call, calls, reductions, within
from .structure import broadcast_to, is_zero
from .ufunc_methods import as_truth, ufunc_reduce

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ROWS", "amax", "amin", "mean", "std", "total", "var"]

ROWS: list[Function | Ufunc] = []
Axis = Any
Flag = Any


def is_given(x: Any) -> bool:
    """Whether an optional argument was passed."""
    return x is not NO_VALUE and x is not None


def has_no_mask(where: Any) -> bool:
    """Whether ``where`` includes everything."""
    return where is True or where is NO_VALUE


# --- reductions that are ufuncs --------------------------------------------------------------


@function(
    ROWS, np.sum, scalar=True, api="sum", ulp=within(4),
    samples=reductions(values="wide", where=True, initial=True, dtype="f8"),
)  # fmt: skip
def total(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Sum over axes.

    Parameters
    ----------
    a : (..., n, ...) array
        Values; small integers and bool are added as 64-bit integers.
    axis : int or tuple of int, optional
        Axes; all by default.
    dtype : dtype, optional
        What is added, and the dtype of the result.
    keepdims : bool
        Keep reduced axes with length 1.
    initial : number
        Start of the sum.
    where : (...) bool
        Elements to include.

    Notes
    -----
    ReduceSum; MatMul with ones for integers, exact modulo 2**64 at every length.  float32:
    within 3e-7 relative for terms of one sign (long axes in two stages), float64 4e-15;
    float16 in float32, rounded once, where NumPy rounds each step along other axes than the
    last.
    """
    x = as_array(a)
    if x.dtype is BOOL and dtype is None and not is_given(initial) and has_no_mask(where):
        keep = keepdims is not NO_VALUE and bool(keepdims)
        return count_true(x, reduction_axes(axis, x.ndim), keepdims=keep)
    return ufunc_reduce(np.add, x, axis, dtype, keepdims, initial, where)


@function(
    ROWS, np.prod, scalar=True, api="prod", ulp=within(8),
    samples=reductions(values="wide", where=True, initial=True, dtype="f8"),
)  # fmt: skip
def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Multiply over axes; parameters as in `total`.

    Notes
    -----
    ReduceProd; integers exactly modulo 2**64 by repeated halving (a Loop where the length is
    symbolic).  float16 in float32, rounded once, where NumPy rounds each step.
    """
    return ufunc_reduce(np.multiply, a, axis, dtype, keepdims, initial, where)


def _extremum(ufunc: np.ufunc, word: str, node: str) -> Callable[..., Value]:
    def extremum(
        a: Any,
        axis: Axis = None,
        *,
        keepdims: Flag = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Value:
        return ufunc_reduce(ufunc, a, axis, None, keepdims, initial, where)

    extremum.__doc__ = f"""Return the {word} element over axes; NaN if one is there.

    Parameters
    ----------
    a : (..., n, ...) real
        Values.
    axis, keepdims, initial, where
        As in `total`.

    Raises
    ------
    ValueError
        There is no element, where the sizes are known.

    Notes
    -----
    {node}; for floats IsNaN and Where as well.
    """
    return extremum


amax = _extremum(np.maximum, "largest", "ReduceMax")
amin = _extremum(np.minimum, "smallest", "ReduceMin")
ROWS += [
    Function(
        np.max,
        amax,
        scalar=True,
        api="max",
        aliases=(np.amax,),
        samples=reductions(where=True, initial=True),
        ties=True,
    ),
    Function(
        np.min,
        amin,
        scalar=True,
        api="min",
        aliases=(np.amin,),
        samples=reductions(where=True, initial=True),
        ties=True,
    ),
]


@function(ROWS, np.any, scalar=True, api="any", samples=reductions(where=True))
def any_true(
    a: Any, axis: Axis = None, *, keepdims: Flag = NO_VALUE, where: Any = NO_VALUE
) -> Value:
    """Whether any element over axes is true; parameters as in `total`.

    Notes
    -----
    ReduceMax over uint8.
    """
    return ufunc_reduce(np.logical_or, a, axis, None, keepdims, NO_VALUE, where)


@function(ROWS, np.all, scalar=True, api="all", samples=reductions(where=True))
def all_true(
    a: Any, axis: Axis = None, *, keepdims: Flag = NO_VALUE, where: Any = NO_VALUE
) -> Value:
    """Whether all elements over axes are true; parameters as in `total`.

    Notes
    -----
    ReduceMin over uint8.
    """
    return ufunc_reduce(np.logical_and, a, axis, None, keepdims, NO_VALUE, where)


@function(ROWS, np.ptp, scalar=True, samples=reductions())
def ptp(a: Any, axis: Axis = None, *, keepdims: Flag = NO_VALUE) -> Value:
    """Largest minus smallest element over axes; parameters as in `total`.

    Notes
    -----
    ReduceMax, ReduceMin, Sub; integers wrap as NumPy's do.
    """
    x = as_array(a)
    high = amax(x, axis, keepdims=keepdims)
    result: Value = subtract(high, amin(x, axis, keepdims=keepdims))
    return result


@function(ROWS, np.count_nonzero, scalar=True, api="count_nonzero", samples=reductions())
def count_nonzero(a: Any, axis: Axis = None, *, keepdims: Flag = False) -> Value:
    """Count elements that are not zero over axes, as int64.

    Notes
    -----
    ReduceSum over floats, exact for every count.
    """
    x = as_array(a)
    axes = reduction_axes(axis, x.ndim)
    return count_true(as_truth(x), axes, keepdims=bool(keepdims))


# --- moments ---------------------------------------------------------------------------------


def item_count(x: Value, axis: Axis, keepdims: Flag, where: Any) -> Value | int:
    """Return how many elements go into each result, as int64 (a plain int where known)."""
    if has_no_mask(where):
        n = dim_prod(x.shape[i] for i in normalize_axes(axis, x.ndim))
        return n if isinstance(n, int) else dim_value(n)
    mask = broadcast_to(as_array(where), x.shape)
    return total(mask, axis, keepdims=keepdims)


def over_count(x: Value, count: Value | float) -> Value:
    """Return ``x / count`` in the dtype of `x`, truncated if that is an integer's."""
    wide = x.dtype if x.dtype.kind in "fc" else FLOAT64
    n = cast(as_value(count), wide)
    result: Value = divide(cast(x, wide), n)
    return cast(result, x.dtype)


def _inexact(dtype: DType) -> DType:
    return dtype if dtype.kind in "fc" else FLOAT64


@function(
    ROWS, np.mean, scalar=True, api="mean", ulp=within(4),
    samples=reductions(values="wide", where=True, dtype="f8"),
)  # fmt: skip
def mean(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: Flag = NO_VALUE,
    where: Any = NO_VALUE,
) -> Value:
    """Average over axes, NaN of nothing.

    Parameters
    ----------
    a : (..., n, ...) array
        Values; integers are averaged as float64.
    axis, keepdims, where
        As in `total`.
    dtype : dtype, optional
        What is added, and the dtype of the result.

    Notes
    -----
    ReduceSum, Div; accuracy as in `total`.  float16 is added and divided in float32.
    """
    x = as_array(a)
    if dtype is not None:
        adds = as_dtype(dtype)
    else:
        adds = FLOAT32 if x.dtype is FLOAT16 else _inexact(x.dtype)
    count = item_count(x, axis, keepdims, where)
    added = ufunc_reduce(np.add, x, axis, adds, keepdims, NO_VALUE, where)
    average = over_count(added, count)
    return cast(average, x.dtype) if dtype is None and x.dtype is FLOAT16 else average


def squared_deviation(x: Value, middle: Value) -> Value:
    """Return ``abs(x - middle) ** 2`` element by element, as NumPy's variance does."""
    deviation = subtract(x, middle)
    if deviation.dtype.kind == "c":
        return square_of_size(deviation)
    result: Value = (
        square(deviation) if x.dtype.kind != "b" else multiply(deviation, deviation)
    )
    return result


def square_of_size(x: Value) -> Value:
    """Return ``abs(x) ** 2`` element by element, real for complex numbers."""
    result: Value
    if x.dtype.kind != "c":
        result = multiply(x, x)
    else:
        re, im = real_part(x), imag_part(x)
        result = add(multiply(re, re), multiply(im, im))
    return result


def degrees(count: Value | int, ddof: Any) -> Value | float:
    """Return ``max(count - ddof, 0)``."""
    if isinstance(count, int) and not isinstance(ddof, Value):
        known: float = max(count - ddof, 0)
        return known
    if isinstance(count, Value) and count.equation is not None and isinstance(ddof, int):
        dim = count.equation.params.get("dim")
        if dim is not None:
            freedom: Value = dim_value(dim_max(dim - ddof, 0))
            return freedom
    result: Value = maximum(subtract(count, ddof), 0)
    return result


def which_ddof(ddof: Any, correction: Any) -> Any:
    """Return the divisor's correction.

    Raises
    ------
    ValueError
        Both names are used.
    """
    if correction is NO_VALUE:
        return ddof
    if ddof != 0:
        msg = "ddof and correction can't be provided simultaneously."
        raise ValueError(msg)
    return correction


@function(
    ROWS, np.var, scalar=True, api="var", ulp=within(16),
    samples=reductions(values="wide", where=True, dtype="f8"),
)  # fmt: skip
def var(  # noqa: PLR0913  NumPy's signature
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Flag = NO_VALUE,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Value:
    """Return the mean squared deviation from the mean over axes.

    Parameters
    ----------
    a : (..., n, ...) array
        Values; integers as float64.
    axis, dtype, keepdims, where
        As in `mean`.
    ddof, correction : number
        The divisor is ``max(n - ddof, 0)``.
    mean : (..., 1, ...) array
        The mean, where it is known already.

    Notes
    -----
    ReduceSum, Div, Sub, Mul in the order of NumPy's own algorithm.
    """
    x = as_array(a)
    ddof = which_ddof(ddof, correction)
    adds = as_dtype(dtype) if dtype is not None else _inexact(x.dtype)
    if is_given(mean):
        middle = as_array(mean)
    else:
        added = ufunc_reduce(np.add, x, axis, adds, True, NO_VALUE, where)
        middle = over_count(added, item_count(x, axis, True, where))
    deviations = squared_deviation(x, middle)
    # NumPy's sum takes x's dtype unless one was asked for (integers: float64)
    result = adds if dtype is not None or x.dtype.kind in "iub" else None
    added = ufunc_reduce(np.add, deviations, axis, result, keepdims, NO_VALUE, where)
    return over_count(added, degrees(item_count(x, axis, keepdims, where), ddof))


@function(
    ROWS, np.std, scalar=True, api="std", ulp=within(16),
    samples=reductions(values="wide", where=True, dtype="f8"),
)  # fmt: skip
def std(  # noqa: PLR0913  NumPy's signature
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Flag = NO_VALUE,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Value:
    """Return the square root of `var`, with the same parameters.

    Notes
    -----
    As `var`, and Sqrt.
    """
    squared = var(
        a,
        axis,
        dtype,
        ddof=ddof,
        keepdims=keepdims,
        where=where,
        mean=mean,
        correction=correction,
    )
    if squared.dtype.kind in "iu":
        if squared.ndim:
            ones = np.ones(1, squared.dtype.numpy)
            np.sqrt(ones, out=ones)  # NumPy's own refusal
        return cast(sqrt(squared), squared.dtype)
    result: Value = sqrt(squared)
    return result


@function(
    ROWS, np.average, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m(5)), call(m(3, 4), axis=0), call(m(3, 4), 1, m.positive(4)),
        call(m(3, 4), weights=m.positive(3, 4)),
        call(m(3, 4), 0, m.positive(3), returned=True), call(m(3, 4), 1, keepdims=True),
        call(m(4), id="no-weight", weights=np.zeros(4)),
    ]),
)  # fmt: skip
def average(
    a: Any,
    axis: Axis = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Flag = NO_VALUE,
) -> Value | tuple[Value, Value]:
    """Return the weighted average over axes.

    Parameters
    ----------
    a : (..., n, ...) array
        Values.
    axis, keepdims
        As in `total`.
    weights : (..., n, ...) or (n) array, optional
        Weights, of the shape of `a` or of its axis.
    returned : bool
        Return the sum of weights too.

    Raises
    ------
    TypeError, ValueError
        The weights do not fit.
    ZeroDivisionError
        Weights sum to zero, or there are no results.

    Notes
    -----
    Mul, ReduceSum, Div.
    """
    x = as_array(a)
    axis = None if axis is None else normalize_axes(axis, x.ndim, "axis")
    if weights is None:
        middle = mean(x, axis, keepdims=keepdims)
        if is_zero(dim_prod(middle.shape)):
            msg = "division by zero"
            raise ZeroDivisionError(msg)
        count = item_count(x, axis, keepdims, True)
        scale = cast(as_value(count), middle.dtype)
    else:
        w = fitting_weights(x, as_array(weights), axis)
        from .ufunc import result_type

        dtype = result_type(x, w, *([np.float64(0)] if x.dtype.kind in "iub" else []))
        scale = ufunc_reduce(np.add, w, axis, dtype, keepdims)
        if scale.known is not None and not np.all(scale.known):
            msg = "Weights sum to zero, can't be normalized"
            raise ZeroDivisionError(msg)
        fail_where(equal(scale, cast(as_value(0), scale.dtype)))
        product = multiply(cast(x, dtype), cast(w, dtype))
        middle = divide(total(product, axis, keepdims=keepdims), scale)
    return (middle, broadcast_to(scale, middle.shape)) if returned else middle


def fitting_weights(x: Value, w: Value, axis: Axis) -> Value:
    """Return weights in a shape that broadcasts to `x`.

    Raises
    ------
    TypeError, ValueError
        They do not fit.
    """
    from .product import same_length
    from .structure import reshape, transpose

    if w.ndim == x.ndim:
        for m, n in zip(x.shape, w.shape, strict=True):
            message = (
                "Shape of weights must be consistent with shape of a along specified axis."
            )
            same_length(m, n, message)
        return w
    if axis is None:
        msg = "Axis must be specified when shapes of a and weights differ."
        raise TypeError(msg)
    axes = normalize_axes(axis, x.ndim, "axis")
    if len(axes) != w.ndim:
        msg = "Shape of weights must be consistent with shape of a along specified axis."
        raise ValueError(msg)
    for i, n in zip(axes, w.shape, strict=True):
        same_length(
            x.shape[i],
            n,
            "Shape of weights must be consistent with shape of a along specified axis.",
        )
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    w = transpose(w, order)
    sizes = iter(w.shape)
    return reshape(w, [next(sizes) if i in axes else 1 for i in range(x.ndim)])
