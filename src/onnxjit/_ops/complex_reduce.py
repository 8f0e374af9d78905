# SPDX-License-Identifier: Apache-2.0
"""Products, extrema and the order of complex numbers along axes.

Numbers are ordered by their real parts, equal ones by their imaginary parts, as in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import INT64
from onnxjit._core.region import cond

from .arg import arg_max
from .cast import cast
from .complex_base import Real, parts, pick
from .elementwise import add, isfinite, multiply
from .gather import gather_elements
from .reduce import reduce_all, reduce_any, reduce_max, reduce_min
from .reduce_exact import merge_axes, reduced_shape
from .scan import fold, fold_associative
from .sort import argsort_along
from .structure import broadcast_to, concat, is_positive, reshape, squeeze

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["argsort_complex", "extreme", "place_of_extreme", "product_over", "sorts_before"]

Axes = tuple[int, ...]
#: products of as many numbers are multiplied one after another
_FEW = 16


# --- products -----------------------------------------------------------------------------


def product_over(x: Value, axes: Axes, *, keepdims: bool = False) -> Value:
    """Multiply along axes.

    Notes
    -----
    By halving; where that gives no finite numbers, one after another from 1 on as NumPy does:
    which part of a product becomes NaN depends on the order.
    """
    shape = reduced_shape(x.shape, axes, keepdims=keepdims)
    merged = merge_axes(x, axes)
    last, one = merged.ndim - 1, as_value(1, x.dtype)
    n = merged.shape[last]
    if not isinstance(n, Dim) and n <= _FEW:
        return reshape(fold(multiply, merged, last, one), shape)
    quick = fold_associative(multiply, merged, last, one)
    is_finite = reduce_all(isfinite(quick), tuple(range(quick.ndim)))
    (found,) = cond(is_finite, lambda: [quick], lambda: [fold(multiply, merged, last, one)])
    return reshape(found, shape)


# --- extrema ------------------------------------------------------------------------------


def place_of_extreme(
    x: Value, axis: int, *, largest: bool, keepdims: bool = False, skip_nan: bool = False
) -> Value:
    """Return the first place of the largest or smallest number along an axis.

    NaN in one part makes a number win, or lose with `skip_nan`.

    Notes
    -----
    ReduceMax or ReduceMin of the real parts, then of the imaginary parts next to it; ArgMax.
    """
    re, im = parts(x)
    worst = -np.inf if largest else np.inf
    reduce = reduce_max if largest else reduce_min

    def best(part: Real) -> Real:
        return Real(reduce(part.value, (axis,), keepdims=True))

    is_nan = re.is_nan() | im.is_nan()
    is_first = ~is_nan & re.equals(best(pick(is_nan, worst, re)))
    is_best = is_first & im.equals(best(pick(is_first, im, worst)))
    if not skip_nan:
        met = Real(reduce_any(is_nan.value, (axis,), keepdims=True))
        is_best = is_nan | (~met & is_best)
    return arg_max(is_best.value, axis, keepdims=keepdims)


def extreme(
    x: Value, axes: Axes, *, largest: bool, keepdims: bool = False, skip_nan: bool = False
) -> Value:
    """Return the first of the largest or smallest numbers along axes.

    Of nothing it is the number that never wins: NaN, with `skip_nan`.
    """
    if not axes:
        return x
    shape = reduced_shape(x.shape, axes, keepdims=keepdims)
    merged = merge_axes(x, axes)
    last = merged.ndim - 1
    if not is_positive(merged.shape[last]):
        loser = np.nan if skip_nan else -np.inf if largest else np.inf
        worst = as_value(complex(loser, loser), x.dtype)
        row = broadcast_to(worst, (*merged.shape[:last], 1))
        merged = concat([merged, row], last)
    place = place_of_extreme(merged, last, largest=largest, keepdims=True, skip_nan=skip_nan)
    return reshape(squeeze(gather_elements(merged, place, last), [last]), shape)


# --- order --------------------------------------------------------------------------------


def _rank(re: Real, im: Real) -> Value:
    """Return what decides first: numbers, then those with NaN in one part, then in both."""
    in_im, in_re = (cast(x.is_nan().value, INT64) for x in (im, re))
    rank: Value = add(in_im, add(in_re, in_re))
    return rank


def argsort_complex(x: Value, axis: int) -> Value:
    """Return the places of numbers in order, stably; those with NaN come last.

    Notes
    -----
    TopK of the imaginary parts, of the real parts, and of where NaN is.
    """
    re, im = parts(x)
    order = argsort_along(im.value, axis)
    for key in (re.value, _rank(re, im)):
        inner = argsort_along(gather_elements(key, order, axis), axis)
        order = gather_elements(order, inner, axis)
    return order


def sorts_before(x: Value, y: Value) -> Value:
    """Whether numbers sort before others, NaN last."""
    (a, b, c, d) = parts(x, y)
    p, q = Real(_rank(a, b)), Real(_rank(c, d))
    a, b, c, d = (pick(v.is_nan(), v.const(0), v) for v in (a, b, c, d))
    is_less = (a < c) | (a.equals(c) & (b < d))
    return ((p < q) | (p.equals(q) & is_less)).value
