# SPDX-License-Identifier: Apache-2.0
"""Padding by reflection in the points at the ends: `reflect_type="odd"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import DimLike, dim_max
from onnxjit._core.dtypes import INT64

from .cast import cast
from .elementwise import (
    add,
    equal,
    floor_divide,
    greater_equal,
    logical_and,
    multiply,
    remainder,
    subtract,
)
from .elementwise import where as pick
from .gather import gather
from .structure import take_range, unsqueeze

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["reflected_odd"]


def reflected_odd(x: Value, axis: int, place: Value, n: DimLike, *, twice: bool) -> Value:
    """Return elements at places that may be outside, reflected in the points at the ends.

    Parameters
    ----------
    x : (..., n, ...) number
    axis : int
    place : (m) int64
    n : int or Dim
        At least 1.
    twice : bool
        Whether the element at an end is met again behind it: the mode "symmetric".

    Notes
    -----
    Gather, Mul, Sub.  Reflections of reflections are reached at once, by as many rises from
    one end to the other: they may differ from NumPy's by rounding.
    """
    period = n * 2 if twice else dim_max(n * 2 - 2, 1)
    turns = cast(floor_divide(place, dim_value(period)), INT64)
    at = cast(remainder(place, dim_value(period)), INT64)
    back = greater_equal(at, dim_value(n))
    mirror = subtract(dim_value(period - 1 if twice else period), at)
    inner = gather(x, pick(back, mirror, at), axis)
    two = as_value(2, x.dtype)
    first, last = take_range(x, axis, 0, 1), take_range(x, axis, n - 1, 1)

    def along(mask: Value) -> Value:
        return unsqueeze(mask, range(1, x.ndim - axis))

    behind = subtract(multiply(two, last), inner)
    turned = pick(along(back), behind, inner)
    rise = multiply(two, subtract(last, first))
    far = add(turned, multiply(along(cast(turns, x.dtype)), rise))
    found = pick(along(equal(turns, as_value(0, INT64))), turned, far)
    # the first reflection at either end, in NumPy's order of operations
    low = greater_equal(at, dim_value(n if twice else dim_max(n - 1, 1)))
    before = logical_and(equal(turns, as_value(-1, INT64)), low)
    found = pick(along(before), subtract(multiply(two, first), inner), found)
    if twice:
        return found
    after = logical_and(equal(turns, as_value(1, INT64)), equal(at, as_value(0, INT64)))
    single = equal(dim_value(n), as_value(1, INT64))
    found = pick(along(after), behind, found)
    return pick(single, inner, found)
