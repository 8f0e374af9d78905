# SPDX-License-Identifier: Apache-2.0
"""Padding with numbers computed from what is near the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import DimLike, dim_min

from .cast import cast
from .convert import as_size
from .create import linspace
from .elementwise import rint
from .quantile import median
from .reduce import reduce_max, reduce_min
from .statistics import mean
from .structure import broadcast_to, is_zero, reverse, squeeze, take_range

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnxjit._core.program import Value

__all__ = ["PADDED"]

Pair = tuple[Any, Any]


def _extreme(reduce: Callable[..., Value]) -> Callable[[Value, int], Value]:
    def statistic(x: Value, axis: int) -> Value:
        if is_zero(x.shape[axis]):
            msg = "stat_length of 0 yields no value for padding"
            raise ValueError(msg)
        return reduce(x, (axis,), keepdims=True)

    return statistic


def _rounded(average: Callable[..., Value]) -> Callable[[Value, int], Value]:
    def statistic(x: Value, axis: int) -> Value:
        found = average(x, axis, keepdims=True)
        return rint(found) if x.dtype.kind in "iu" else found

    return statistic


_STATISTICS: Final = {
    "maximum": _extreme(reduce_max),
    "minimum": _extreme(reduce_min),
    "mean": _rounded(mean),
    "median": _rounded(median),
}


def _statistics(name: str) -> Callable[..., Sequence[Value]]:
    statistic = _STATISTICS[name]

    def sides(x: Value, axis: int, widths: Pair, lengths: Pair) -> Sequence[Value]:
        n = x.shape[axis]
        taken: list[DimLike] = [
            n if m is None else dim_min(as_size(m, "stat_length"), n) for m in lengths
        ]
        starts = (0, n - taken[1])
        made = []
        for start, count, width in zip(starts, taken, widths, strict=True):
            number = cast(statistic(take_range(x, axis, start, count), axis), x.dtype)
            shape = [width if i == axis else m for i, m in enumerate(x.shape)]
            made.append(broadcast_to(number, shape))
        return made

    return sides


def _ramps(x: Value, axis: int, widths: Pair, ends: Pair) -> Sequence[Value]:
    n = x.shape[axis]
    if is_zero(n):
        msg = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        raise ValueError(msg)
    made = []
    for place, width, end in zip((0, n - 1), widths, ends, strict=True):
        edge = squeeze(take_range(x, axis, place, 1), [axis])
        ramp = linspace(end, edge, width, endpoint=False, dtype=x.dtype.numpy, axis=axis)
        made.append(ramp)
    return made[0], reverse(made[1], [axis])


#: mode -> (its option, the option's default, what is put before and after)
PADDED: Final[dict[str, tuple[str, Any, Callable[..., Sequence[Value]]]]] = {
    **{name: ("stat_length", None, _statistics(name)) for name in _STATISTICS},
    "linear_ramp": ("end_values", 0, _ramps),
}
