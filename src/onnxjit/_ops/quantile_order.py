# SPDX-License-Identifier: Apache-2.0
"""What quantiles are taken of: arrays sorted along the axes of a reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import Dim, DimLike
from onnxjit._core.dtypes import INT64

from .cast import cast
from .convert import as_array, normalize_axes
from .elementwise import equal, greater, isnan, logical_not, maximum, minimum, subtract
from .gather import gather, gather_elements
from .reduce import count_true
from .row import NO_VALUE
from .sort import sort_along
from .structure import broadcast_to, concat, is_positive, may_guard, reshape, transpose

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["Integers", "Ordered", "WithoutNan", "number_of"]


def number_of(n: DimLike) -> Value:
    return cast(dim_value(n), INT64)


class Ordered:
    """An array sorted along the axes of a reduction, which are joined and lead.

    Attributes
    ----------
    count : int or Dim
        How many elements go into each result.
    values : (n, ...) Value
        In order, NaN last.
    kept : tuple
        Shape of the result of a reduction that drops or keeps the axes.
    """

    __slots__ = ("count", "kept", "values")

    def __init__(self, a: Any, axis: Any, keepdims: Any) -> None:
        x = as_array(a)
        axes = normalize_axes(axis, x.ndim)
        rest = [i for i in range(x.ndim) if i not in axes]
        n: DimLike = 1
        for i in axes:
            n = n * x.shape[i]
        joined = reshape(transpose(x, [*axes, *rest]), (n, *(x.shape[i] for i in rest)))
        self.values = sort_along(joined, 0)
        self.count = n
        keep = keepdims is not NO_VALUE and bool(keepdims)
        shape = [1 if i in axes else m for i, m in enumerate(x.shape)]
        self.kept: Final = tuple(shape) if keep else joined.shape[1:]

    def allow_nothing(self) -> Value | None:
        """Let elements be read where there may be none; return whether there are some.

        None means that there are: a guard tells for calls, so that only models have to ask.
        """
        if is_positive(self.count) or (isinstance(self.count, Dim) and may_guard(self.count)):
            return None
        row = broadcast_to(as_value(0, self.values.dtype), (1, *self.values.shape[1:]))
        self.values = concat([self.values, row], 0)
        some: Value = greater(number_of(self.count), as_value(0, INT64))
        return some

    def at(self, places: Value) -> Value:
        """Return the elements at places."""
        return gather(self.values, places)

    def numbered(self) -> Value:
        """Return how many elements go into each result, for places along the first axis."""
        return number_of(self.count)

    def end(self, n: Value) -> Value:
        """Return the place of the last element."""
        return as_value(-1, n.dtype)

    def along(self, q: Value) -> Value:
        """Return fractions or weights as they broadcast against elements."""
        return reshape(q, (*q.shape, *(1,) * (self.values.ndim - 1)))

    def nan_met(self) -> Value | None:
        """Whether there is a NaN, which then is last."""
        if self.values.dtype.kind not in "fc":
            return None
        met: Value = isnan(self.at(number_of(self.count - 1)))
        return met


class Integers(Ordered):
    """An array of integers, which have no NaN but in place of what a model finds none of."""

    __slots__ = ("some",)

    def __init__(self, a: Any, axis: Any, keepdims: Any) -> None:
        super().__init__(a, axis, keepdims)
        self.some: Final = self.allow_nothing()

    def end(self, n: Value) -> Value:
        """Return the place of the last element."""
        result: Value = subtract(n, 1)
        return result

    def nan_met(self) -> Value | None:
        """Whether there are no elements."""
        return None if self.some is None else logical_not(self.some)


class WithoutNan(Ordered):
    """An array of floats sorted as `Ordered`, of which NaN is left out."""

    __slots__ = ("number",)

    def __init__(self, a: Any, axis: Any, keepdims: Any) -> None:
        super().__init__(a, axis, keepdims)
        present = logical_not(isnan(self.values))
        self.number: Final = count_true(present, (0,), keepdims=True)
        self.allow_nothing()

    def at(self, places: Value) -> Value:
        """Return the elements at places of each lane."""
        last = maximum(subtract(self.number, as_value(1, INT64)), as_value(0, INT64))
        inside = maximum(minimum(places, last), as_value(0, INT64))
        count = places.shape[0]
        wanted = broadcast_to(inside, (count, *self.values.shape[1:]))
        return gather_elements(self.values, wanted, 0)

    def numbered(self) -> Value:
        """Return how many elements each lane has."""
        return self.number

    def end(self, n: Value) -> Value:
        """Return the places of the last elements."""
        result: Value = subtract(n, 1)
        return result

    def along(self, q: Value) -> Value:
        """Return what has all axes already."""
        return q

    def nan_met(self) -> Value | None:
        """Whether there is nothing but NaN."""
        met: Value = equal(self.number, as_value(0, INT64))
        return met
