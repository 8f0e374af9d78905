# SPDX-License-Identifier: Apache-2.0
"""Medians, quantiles and percentiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim, DimLike, dim_prod
from onnxjit._core.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, DType
from onnxjit._core.program import Value

from .cast import cast
from .checks import fail_unless_between
from .convert import as_array
from .elementwise import (
    add,
    ceil,
    divide,
    equal,
    floor,
    floor_divide,
    greater_equal,
    isnan,
    less,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    remainder,
    rint,
    subtract,
)
from .elementwise import where as pick
from .gather import gather_elements
from .quantile_order import Integers, Ordered, WithoutNan, number_of
from .quantile_weighted import weighted_quantile
from .reduce import count_true, reduce_sum
from .row import NO_VALUE, Function, Ufunc, function
from .samples import NUMBERS, call, calls, reductions, within
from .structure import (
    broadcast_to,
    is_zero,
    reshape,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


# --- median ----------------------------------------------------------------------------------


@function(ROWS, np.median, scalar=True, ulp=within(4), samples=reductions(values="nearly"))
def median(
    a: Any,
    axis: Any = None,
    overwrite_input: Any = False,  # noqa: ARG001
    keepdims: Any = False,
) -> Value:
    """Return the middle element over axes, or the mean of the two in the middle.

    Parameters
    ----------
    a : (..., n, ...) array
        Values; integers give float64.
    axis : int or tuple of int, optional
        Axes; all by default.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    (..., ...) float or complex
        NaN where a NaN is, or nothing.

    Notes
    -----
    TopK, Gather, Add, Div.
    """
    ordered = Ordered(a, axis, keepdims)
    n = ordered.count
    dtype = ordered.values.dtype
    wide = {FLOAT16: FLOAT32}.get(dtype, dtype if dtype.kind in "fc" else FLOAT64)
    narrow = dtype if dtype.kind in "fc" else FLOAT64
    if is_zero(n):
        return broadcast_to(_nan(narrow), ordered.kept)
    some = ordered.allow_nothing()
    low = cast(ordered.at(number_of((n - 1) // 2)), wide)
    high = cast(ordered.at(number_of(n // 2)), wide)
    middle = divide(add(low, high), as_value(2, wide))
    if isinstance(n, Dim):
        middle = pick(_is_odd(n), low, middle)
    elif n % 2:
        middle = low
    middle = cast(middle, narrow)
    met = ordered.nan_met()
    if met is not None:
        middle = pick(met, ordered.at(number_of(n - 1)), middle)
    if some is not None:
        middle = pick(some, middle, _nan(narrow))
    return reshape(_without_negative_zero(middle), ordered.kept)


def _nan(dtype: DType) -> Value:
    """Return what the mean of nothing is."""
    return as_value(complex(np.nan, np.nan) if dtype.kind == "c" else np.nan, dtype)


def _without_negative_zero(x: Value) -> Value:
    """Return 0.0 for -0.0: NumPy's median is a mean, which adds to 0.0."""
    return reduce_sum(x, ())


def _is_odd(n: DimLike) -> Value:
    return cast(number_of(n % 2), BOOL)


@function(ROWS, np.nanmedian, scalar=True, ulp=within(4), samples=reductions(values="nearly"))
def nanmedian(
    a: Any,
    axis: Any = None,
    overwrite_input: Any = False,  # noqa: ARG001
    keepdims: Any = NO_VALUE,
) -> Value:
    """Return the `median` over axes, NaN left out.

    Notes
    -----
    TopK, GatherElements, Add, Div.
    """
    ordered = Ordered(a, axis, keepdims)
    values = ordered.values
    if values.dtype.kind not in "fc" or is_zero(ordered.count):
        return median(a, axis, keepdims=keepdims is not NO_VALUE and keepdims)
    number = count_true(logical_not(isnan(values)), (0,), keepdims=True)
    some = ordered.allow_nothing()
    values = ordered.values
    zero, one, two = (as_value(i, INT64) for i in range(3))
    below = maximum(floor_divide(subtract(number, one), two), zero)
    # of NaN alone this is the first, a NaN
    low = gather_elements(values, below, 0)
    high = gather_elements(values, minimum(floor_divide(number, two), number), 0)
    wide = FLOAT32 if values.dtype is FLOAT16 else values.dtype
    middle = divide(add(cast(low, wide), cast(high, wide)), as_value(2, wide))
    odd = equal(remainder(number, two), one)
    result = pick(odd, low, cast(middle, values.dtype))
    if some is not None:
        result = pick(some, result, _nan(values.dtype))
    return reshape(_without_negative_zero(result), ordered.kept)


_REAL: Final = "a must be an array of real numbers"


# --- quantiles -------------------------------------------------------------------------------

#: method -> (alpha, beta) of Hyndman and Fan's continuous methods, as NumPy's
_CONTINUOUS: Final = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _whole(f: Callable[[Any], Any]) -> Callable[[Value, Value], Value]:
    def place(n: Value, q: Value) -> Value:
        return cast(f(multiply(subtract(n, 1), q)), INT64)

    return place


def _stepped(shift: float, stays: Callable[[Value, Value], Value]) -> Callable[..., Value]:
    def place(n: Value, q: Value) -> Value:
        index = subtract(multiply(n, q), 1)
        if shift:
            index = subtract(index, shift)
        below = floor(index)
        at = pick(stays(subtract(index, below), index), below, add(below, 1))
        at = cast(at, INT64)
        return pick(less(at, as_value(0, INT64)), as_value(0, INT64), at)

    return place


def _on_step(gamma: Value, _: Value) -> Value:
    result: Value = equal(gamma, 0)
    return result


def _on_odd_step(gamma: Value, index: Value) -> Value:
    result: Value = logical_and(equal(gamma, 0), equal(remainder(floor(index), 2), 1))
    return result


#: methods that choose an element: (n, q) -> place
_DISCRETE: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "lower": _whole(floor),
    "higher": _whole(ceil),
    "nearest": _whole(rint),
    "inverted_cdf": _stepped(0, _on_step),
    "closest_observation": _stepped(0.5, _on_odd_step),
}
_BETWEEN: Final = ("linear", "midpoint", "averaged_inverted_cdf", *_CONTINUOUS)
#: methods that samples use
_CHECKED: Final = ("lower", "nearest", "midpoint", "hazen", "weibull", "inverted_cdf")


def _virtual(method: str, n: Value, q: Value) -> Value:
    """Return places between elements."""
    index: Value
    if method == "averaged_inverted_cdf":
        index = subtract(multiply(n, q), 1)
        return index
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        shift = add(alpha, multiply(q, 1 - alpha - beta))
        index = subtract(add(multiply(n, q), shift), 1)
        return index
    index = multiply(subtract(n, 1), q)
    if method == "midpoint":
        index = multiply(0.5, add(floor(index), ceil(index)))
    return index


def _weight(method: str, gamma: Value, index: Value) -> Value:
    """Return how far to go from the element below to the one above."""
    if method == "averaged_inverted_cdf":
        return pick(equal(gamma, 0), as_value(0.5, gamma.dtype), as_value(1, gamma.dtype))
    if method == "midpoint":
        whole = equal(remainder(index, 1), 0)
        return pick(whole, as_value(0, gamma.dtype), as_value(0.5, gamma.dtype))
    return gamma


def _between(ordered: Ordered, method: str, n: Value, q: Value, *, weak: bool) -> Value:
    """Interpolate between neighbours."""
    index = _virtual(method, n, q)
    last: Value = subtract(n, 1)
    below = floor(index)
    above = add(below, 1)
    top = logical_or(greater_equal(index, last), isnan(index))
    bottom = less(index, 0)
    end, zero = ordered.end(n), as_value(0, index.dtype)
    below, above = (pick(bottom, zero, pick(top, end, p)) for p in (below, above))
    gamma = _weight(method, subtract(index, below), index)
    low, high = (ordered.at(cast(p, INT64)) for p in (below, above))
    if weak and ordered.values.dtype.kind == "f":
        gamma = cast(gamma, ordered.values.dtype)
    return _lerp(low, high, ordered.along(gamma))


def _lerp(a: Value, b: Value, t: Value) -> Value:
    """Interpolate linearly from the nearer end, as NumPy does."""
    span = subtract(b, a)
    near_a = add(a, multiply(span, t))
    near_b = cast(subtract(b, multiply(span, subtract(1, t))), near_a.dtype)
    return pick(greater_equal(t, 0.5), near_b, near_a)


def _fractions(q: Any, scale: int, message: str) -> tuple[Value, bool]:
    """Return quantiles between 0 and 1, and whether they are one Python number.

    Raises
    ------
    ValueError
        One is out of range.
    """
    weak = type(q) in {int, float} or (isinstance(q, Value) and q.weak)
    value = as_array(q)
    if scale != 1:
        value = divide(value, scale)
    known = value.known
    if known is None:
        fail_unless_between(value, 0, 1)
    elif known.size and not (known.min() >= 0 and known.max() <= 1):
        raise ValueError(message)
    if value.ndim > 2:
        msg = "q must be a scalar or 1d"
        raise ValueError(msg)
    return cast(value, value.dtype), weak


def _quantile(  # noqa: PLR0913, PLR0917  what the four functions differ in
    a: Any,
    q: Value,
    weak: bool,
    axis: Any,
    method: str,
    keepdims: Any,
    weights: Any,
    kind: type[Ordered] = Ordered,
) -> Value:
    if method not in _DISCRETE and method not in _BETWEEN:
        np.quantile([0.0], 0.5, method=method)  # type: ignore[call-overload]  # NumPy's refusal
    if as_array(a).dtype.kind == "c":
        raise TypeError(_REAL)
    if weights is not None:
        if method != "inverted_cdf":
            msg = f"Only method 'inverted_cdf' supports weights. Got: {method}."
            raise ValueError(msg)
        left_out = kind is WithoutNan
        return weighted_quantile(a, q, axis, keepdims, weights, without_nan=left_out)
    ordered = kind(a, axis, keepdims)
    if q.dtype.kind in "biu":
        # of integer fractions NumPy's default method returns elements, no averages
        method = "lower" if method == "linear" else method
        q = cast(q, FLOAT64)
    n = cast(ordered.numbered(), q.dtype)
    given = q.shape
    if kind is WithoutNan:
        q = reshape(q, (dim_prod(given), *(1,) * (ordered.values.ndim - 1)))
    if method in _DISCRETE:
        result = ordered.at(_DISCRETE[method](n, q))
    else:
        result = _between(ordered, method, n, q, weak=weak)
    met = ordered.nan_met()
    if met is not None and result.dtype.kind == "f":
        result = pick(met, as_value(np.nan, result.dtype), result)
    return reshape(result, (*given, *ordered.kept))


@function(
    ROWS, np.quantile, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m.wide(7), 0.3), call(m(3, 4), 0.3, axis=0),
        call(m(3, 4), [0, 0.3, 1], axis=-1, keepdims=True), call(m(2, 3, 2), 0.3, axis=(0, 2)),
        call(m(4, 3), np.array([[1, 0.3]]), 0),
        *(call(m(6), 0.3, method=t) for t in _CHECKED),
        call(m(3, 2), np.float64(0.3), 0),
    ], NUMBERS),
)  # fmt: skip
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    overwrite_input: Any = False,  # noqa: ARG001
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Value:
    """Return quantiles over axes.

    Parameters
    ----------
    a : (..., n, ...) real
        Values.
    q : (...) float
        Fractions between 0 and 1.
    axis : int or tuple of int, optional
        Axes; all by default.
    method : str
        NumPy's name of the estimator.
    keepdims : bool
        Keep reduced axes with length 1.
    weights : array, optional
        Of the shape of `a` or of its axes, for the method `inverted_cdf`.

    Returns
    -------
    (..., ...) array
        The axes of `q` lead.

    Raises
    ------
    ValueError
        A known fraction is out of range, or the method is unknown.
    UnsupportedError
        Weights are given.

    Notes
    -----
    TopK, Gather, Floor; formulas and order of operations as NumPy's.  Source: Hyndman and
    Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996.
    """
    fractions, weak = _fractions(q, 1, "Quantiles must be in the range [0, 1]")
    return _quantile(a, fractions, weak, axis, method, keepdims, weights)


@function(
    ROWS, np.percentile, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m.wide(7), 30), call(m(3, 4), 30, axis=0),
        call(m(3, 4), [0, 30, 100], axis=-1, keepdims=True), call(m(2, 3, 2), 30, axis=(0, 2)),
        call(m(4, 3), np.array([[100, 30]]), 0),
        *(call(m(6), 30, method=t) for t in _CHECKED),
        call(m(3, 2), np.float64(30), 0),
    ], NUMBERS),
)  # fmt: skip
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    overwrite_input: Any = False,  # noqa: ARG001
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Value:
    """Return percentiles over axes: quantiles of hundredths."""
    fractions, weak = _fractions(q, 100, "Percentiles must be in the range [0, 100]")
    return _quantile(a, fractions, weak, axis, method, keepdims, weights)


# --- without NaN -----------------------------------------------------------------------------


def _nan_quantile(
    a: Any, q: tuple[Value, bool], axis: Any, method: str, keepdims: Any, weights: Any
) -> Value:
    x = as_array(a)
    if x.dtype.kind == "c":
        raise TypeError(_REAL)
    if any(map(is_zero, x.shape)):
        from .nan_statistics import nanmean

        return nanmean(x, axis, keepdims=keepdims)
    kind = WithoutNan if x.dtype.kind == "f" else Integers
    return _quantile(x, *q, axis, method, keepdims, weights, kind)


@function(
    ROWS, np.nanquantile, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m.nearly(7), 0.3), call(m.nearly(3, 4), 0.3, axis=0),
        call(m.nearly(3, 4), [0, 0.3, 1], axis=-1, keepdims=True),
        call(m.nearly(2, 3, 2), 0.3, axis=(0, 2)), call(m(4, 3), np.array([[1, 0.3]]), 0),
        *(call(m.nearly(6), 0.3, method=t) for t in _CHECKED),
        call(m(3, 2), np.float64(0.3), 0), call(m(0), 0.5),
    ], NUMBERS),
)  # fmt: skip
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    overwrite_input: Any = False,  # noqa: ARG001
    method: str = "linear",
    keepdims: Any = NO_VALUE,
    *,
    weights: Any = None,
) -> Value:
    """Return quantiles over axes, NaN left out; NaN where nothing else is.

    Notes
    -----
    TopK, GatherElements; see `quantile`.
    """
    fractions = _fractions(q, 1, "Quantiles must be in the range [0, 1]")
    return _nan_quantile(a, fractions, axis, method, keepdims, weights)


@function(
    ROWS, np.nanpercentile, scalar=True, ulp=within(4),
    samples=calls(lambda m: [
        call(m.nearly(7), 30), call(m.nearly(3, 4), 30, axis=0),
        call(m.nearly(3, 4), [0, 30, 100], axis=-1, keepdims=True),
        call(m.nearly(2, 3, 2), 30, axis=(0, 2)), call(m(4, 3), np.array([[100, 30]]), 0),
        *(call(m.nearly(6), 30, method=t) for t in _CHECKED),
        call(m(3, 2), np.float64(30), 0), call(m(0), 50),
    ], NUMBERS),
)  # fmt: skip
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    overwrite_input: Any = False,  # noqa: ARG001
    method: str = "linear",
    keepdims: Any = NO_VALUE,
    *,
    weights: Any = None,
) -> Value:
    """Return percentiles over axes, NaN left out: quantiles of hundredths."""
    fractions = _fractions(q, 100, "Percentiles must be in the range [0, 100]")
    return _nan_quantile(a, fractions, axis, method, keepdims, weights)
