# SPDX-License-Identifier: Apache-2.0
"""Parts of basic indices: places and slices of one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.bind import as_value
from onnxjit._core.dims import (
    Dim,
    DimLike,
    has_data,
    places_in_slice,
    same,
    slice_bounds,
    upper,
)
from onnxjit._core.dtypes import INT64
from onnxjit._core.program import Value

from .cast import cast
from .gather import slice_at, slice_length
from .structure import FIRST, LAST, Shape, from_end, iota, slice_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Item", "Number", "Pick", "Span", "static_slice", "take_span", "whole"]

Number = int | Dim | Value


class Pick:
    """One place along an axis; the axis goes.

    Parameters
    ----------
    at : int, Dim or () int64 Value
        Negative ones count from the end.
    is_safe : bool
        Whether it is known to be inside.
    """

    __slots__ = ("at", "is_safe")

    def __init__(self, at: Number, *, is_safe: bool) -> None:
        self.at: Final = at
        self.is_safe: Final = is_safe

    def value(self) -> Value:
        """Return the place as a 0-d int64 value."""
        at = self.at
        return at if isinstance(at, Value) else cast(as_value(at), INT64)


def _fixed(length: DimLike) -> DimLike:
    """Return a length as an int where a loop's own end is what proves it.

    Of ``x[8 * i : 8 * i + 16]`` in an iteration before the last that has so many elements.
    """
    if not isinstance(length, Dim) or not has_data(length):
        return length
    most = upper(length)
    return most if most is not None and same(length, most) else length


class Span:
    """A slice of an axis.

    Parameters
    ----------
    start, stop : int, Dim, () int64 Value or None
        As written.
    step : int
        Nonzero.
    n : int or Dim
        Size of the axis.

    Attributes
    ----------
    is_data : bool
        Whether a bound is data.
    length : int or Dim
        Number of places.
    """

    __slots__ = ("_begin", "is_data", "length", "n", "start", "step", "stop")

    start: Number | None
    stop: Number | None
    step: int
    n: DimLike
    is_data: bool
    length: DimLike
    _begin: DimLike | None

    def __init__(
        self, start: Number | None, stop: Number | None, step: int, n: DimLike
    ) -> None:
        self._set(start, stop, step, n)
        self.is_data = isinstance(start, Value) or isinstance(stop, Value)
        if self.is_data:
            self.length = slice_length(*self.ends(), step, n)
        elif start is None and stop is None and step == 1:
            self.length = n
        else:
            self.length = _fixed(places_in_slice(start, stop, step, n))  # type: ignore[arg-type]

    @classmethod
    def block(cls, begin: DimLike, length: DimLike, n: DimLike) -> Span:
        """Return the slice of `length` places from `begin`, which are known to be there."""
        span = cls.__new__(cls)
        span._set(begin, begin + length, 1, n)
        span.is_data, span.length = False, length
        span._begin = begin
        return span

    def _set(self, start: Number | None, stop: Number | None, step: int, n: DimLike) -> None:
        self.start = start
        self.stop = stop
        self.step = step
        self.n = n
        self._begin = None

    @property
    def begin(self) -> DimLike:
        """First place; not of a slice whose bounds are data."""
        if self._begin is None:
            self._begin = slice_bounds(self.start, self.stop, self.step, self.n)[0]  # type: ignore[arg-type]
        return self._begin

    @property
    def is_all(self) -> bool:
        """Whether it takes every place, in order or reversed."""
        return abs(self.step) == 1 and not self.is_data and same(self.length, self.n)

    @property
    def is_plain(self) -> bool:
        """Whether it takes the whole axis in order."""
        return self.step == 1 and (self.length is self.n or self.is_all)

    def ends(self) -> tuple[Value, Value]:
        """Return both bounds as 0-d int64 values."""
        low, high = self.bounds()
        return tuple(  # type: ignore[return-value]
            b if isinstance(b, Value) else cast(as_value(b), INT64) for b in (low, high)
        )

    def sizes(self) -> tuple[DimLike, DimLike]:
        """Return both bounds, which are sizes, as constants where they can be."""
        start, stop = self.bounds()
        assert not isinstance(start, Value)
        assert not isinstance(stop, Value)
        return from_end(start, self.n), from_end(stop, self.n)

    def bounds(self) -> tuple[Number, Number]:
        """Return both bounds, missing ones as the ends of the axis."""
        first, last = (0, LAST) if self.step > 0 else (LAST, FIRST)
        start = first if self.start is None else self.start
        return start, last if self.stop is None else self.stop

    def places(self) -> Value:
        """Return the places as an int64 vector."""
        return take_span(iota(self.n), 0, self)


Item = Pick | Span | None


def whole(shape: Shape) -> list[Item]:
    """Return the index that takes everything."""
    return [Span(None, None, 1, n) for n in shape]


def take_span(x: Value, axis: int, span: Span) -> Value:
    """Apply a slice to one axis."""
    if span.is_plain:
        return x
    if isinstance(span.length, Dim) and span.is_data:
        return slice_at(x, axis, *span.ends(), span.step, span.length)
    return static_slice(x, [(axis, span)])


def static_slice(x: Value, spans: Sequence[tuple[int, Span]]) -> Value:
    """Apply slices whose bounds are sizes, all in one Slice."""
    cut = [(axis, s) for axis, s in spans if not s.is_plain]
    starts: list[DimLike] = []
    stops: list[DimLike] = []
    for _, span in cut:
        start, stop = span.sizes()
        starts.append(start)
        stops.append(stop)
    return slice_axes(
        x,
        [axis for axis, _ in cut],
        starts,
        stops,
        [s.step for _, s in cut],
        [s.length for _, s in cut],
    )
