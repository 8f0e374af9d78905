# SPDX-License-Identifier: Apache-2.0
"""What Python's functions of an iterable do where its number of elements is symbolic."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._trace.array import Array, wrap
from onnxjit._trace.convert import arrays_in, is_traced
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.items import python_number
from onnxjit._trace.lists import Generated, rows_of
from onnxjit._trace.trace import current_tracer

from .kept import Lazy, Maybe, kept
from .listed import gathered, new_list, numbers_of, sum_of
from .statements import comp, for_
from .steps import Steps, open_steps, taken
from .truth import compare, decide, ifexp

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.dims import Dim

__all__ = ["Quantifier", "filter_", "fromiter_", "iter_", "map_", "sorted_", "sum_"]


def map_(f: Callable[..., Any], *iterables: Any) -> Any:
    """Return ``map(f, *iterables)``."""
    iterables = tuple(taken(x, whole=False) for x in iterables)
    found = open_steps(iterables)
    if found is None:
        return map(f, *iterables)
    length, at = found
    return Steps(length, lambda i: f(*at(i)))


def filter_(f: Callable[[Any], Any] | None, iterable: Any) -> Any:
    """Return ``filter(f, iterable)``."""
    if current_tracer() is None:
        return filter(f, iterable)
    test = _itself if f is None else f
    return comp("generator", iterable, lambda e: [kept(test(e), lambda: e)])


def _itself(x: Any) -> Any:
    return x


def iter_(x: Any, *end: Any) -> Any:
    """Return ``iter(x)``: a list to take elements from, where their number is symbolic."""
    if isinstance(x, Generated) and not end:
        return x
    if end or open_steps((x,)) is None:
        return iter(x, *end)
    found = new_list(x)
    found.__class__ = Generated
    return found


def sum_(iterable: Any, /, start: Any = 0) -> Any:
    """Return ``sum(iterable, start)``."""
    iterable = gathered(iterable)
    found = open_steps((iterable,))
    if found is None:
        return sum(iterable, start)
    length, at = found
    if compare("==", length, 0) is True:
        return start
    if rows_of(iterable) is not None:
        return sum_of(iterable, start)
    if isinstance(iterable, Array):
        dtype = np.int64 if iterable.dtype.kind == "b" else iterable.dtype
        return np.add.reduce(iterable, axis=0, dtype=dtype) + start
    return _added(Steps(length, lambda i: at(i)[0]), start)


def _added(steps: Steps, total: Any) -> Any:
    names = ("total",)

    def body(e: Any) -> None:
        nonlocal total
        total = total + e

    for_(steps, body, None, names, names, names, ())
    return total


def fromiter_(iterable: Any, dtype: Any, count: Any = -1, **options: Any) -> Any:
    """Return ``np.fromiter(iterable, dtype, count)``."""
    if current_tracer() is None:
        return np.fromiter(iterable, dtype, count, **options)
    items = new_list(gathered(iterable))
    if rows_of(items) is None and not any(map(is_traced, arrays_in(items))):
        return np.fromiter(items, dtype, count, **options)
    found = call_function(np.array, (items, dtype), {})
    return found if count < 0 else found[:count]


def sorted_(iterable: Any, /, **options: Any) -> Any:
    """Return ``sorted(iterable, **options)``."""
    if current_tracer() is None:
        return sorted(iterable, **options)
    found = new_list(gathered(iterable))
    found.sort(**options)
    return found


class Quantifier:
    """`any` or `all`.

    Attributes
    ----------
    ufunc : ufunc
        What joins the truth of elements.
    ends : bool
        The truth of an element that settles the result.
    """

    __slots__ = ("ends", "ufunc")

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc: Final = ufunc
        self.ends: Final = ufunc is np.logical_or

    def __call__(self, iterable: Any, /) -> Any:
        """Return whether the elements are true."""
        iterable = taken(iterable, whole=False)
        found = open_steps((iterable,))
        if isinstance(iterable, Array) and iterable.ndim == 1 and is_traced(iterable):
            return python_number(self.ufunc.reduce(iterable), "b")
        if found is not None:
            return python_number(self.ufunc.reduce(self._tests(iterable, *found)), "b")
        tests = []
        for x in iterable.raw if isinstance(iterable, Lazy) else iterable:
            test = self._truth(x)
            if test is self.ends:
                return test
            if not isinstance(test, bool):
                tests.append(test)
        if not tests:
            return not self.ends
        return python_number(functools.reduce(self.ufunc, tests), "b")

    def _tests(self, x: Any, length: Dim, at: Callable[[Any], Any]) -> Any:
        """Return numbers that have the truth of the elements."""
        if rows_of(x) is None:
            x = comp("list", Steps(length, at), lambda e: [ifexp(e[0], _yes, _no)])
        return numbers_of(x, "any" if self.ends else "all")

    def _truth(self, x: Any) -> Any:
        """Return the truth of an element; one that is left out has no say."""
        if not isinstance(x, Maybe):
            found = decide(x)
            return found if isinstance(found, bool) else wrap(found)
        return ifexp(wrap(x.pred), lambda: self._truth(x.make()), lambda: not self.ends)


def _yes() -> bool:
    return True


def _no() -> bool:
    return False
