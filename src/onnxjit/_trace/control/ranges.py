# SPDX-License-Identifier: Apache-2.0
"""``range`` of sizes, and of numbers that only a run knows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnxjit._core.dims import Dim, dim_max, dim_min, lower, upper
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.convert import is_traced
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import python_number, representative
from onnxjit._trace.lists import Numbers

from .steps import Steps
from .truth import and_, compare, decide

__all__ = ["Range", "range_"]


class Range(Numbers, Steps):
    """Numbers of a range.

    Attributes
    ----------
    start, stop, step : int or Dim
    """

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start: Final = start
        self.stop: Final = stop
        self.step: Final = step
        super().__init__(_length(start, stop, step), lambda i: start + step * i)

    def turned(self) -> Range:
        """Return the numbers from the last to the first."""
        last = self.start + self.step * (self.length - 1)
        return Range(last, self.start - self.step, -self.step)

    def array(self) -> Any:
        """Return the numbers as an array."""
        return call_function(np.arange, (self.length,), {}) * self.step + self.start

    def holds(self, x: Any) -> Any:
        """Return whether a number is one of them."""
        if not isinstance(x, (int, Dim)):
            return x in range(int(self.start), int(self.stop), int(self.step))
        first, last = (self.start, self.at(self.length - 1))
        return and_(
            compare(">", self.length, 0),
            lambda: compare(">=", x, dim_min(first, last)),
            lambda: compare("<=", x, dim_max(first, last)),
            lambda: compare("==", (x - first) % self.step, 0),
        )

    def __getitem__(self, i: Any) -> Any:
        if not isinstance(i, slice):
            return super().__getitem__(i)
        stride = 1 if i.step is None else int(i.step)
        if not stride:
            msg = "slice step cannot be zero"
            raise ValueError(msg)
        low, high = (0, self.length) if stride > 0 else (-1, self.length - 1)
        begin, end = (low, high) if stride > 0 else (high, low)
        begin = begin if i.start is None else self._place(i.start, low, high)
        end = end if i.stop is None else self._place(i.stop, low, high)
        return Range(self.at(begin), self.at(end), self.step * stride)

    def _place(self, i: Any, low: Any, high: Any) -> Any:
        """Return a bound of a slice as a place between two."""
        return dim_max(dim_min(i + self.length if i < 0 else i, high), low)


def _length(start: Any, stop: Any, step: Any) -> Any:
    """Return how many numbers there are."""
    if (lower(step) or 0) > 0:
        return dim_max((stop - start + step - 1) // step, 0)
    if (upper(step) or 0) < 0:
        return dim_max((start - stop - step - 1) // -step, 0)
    return dim_max(-((start - stop) // step), 0)


def range_(*args: Any) -> Any:
    """Return ``range(...)``; with sizes among its arguments it stays symbolic."""
    if not any(map(is_traced, args)):
        return range(*args)
    for a in args:
        if isinstance(a, Array) and (a._kind != ARRAY or a.dtype.kind not in "iu"):
            range(representative(a))  # Python's error
    numbers = [python_number(a, "i") if isinstance(a, Array) else a for a in args]
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if not any(isinstance(n, Dim) for n in numbers):
        return range(*numbers)
    none = decide(compare("==", step, 0))
    if none is True:
        return range(0, 0, 0)  # Python's error
    if none is not False:
        running_tracer().fail_if(none)
    running_tracer().has_rows = True
    return Range(start, stop, step)
