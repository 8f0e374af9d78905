# SPDX-License-Identifier: Apache-2.0
"""``max`` and ``min`` of one iterable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._trace.array import Array, wrap
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import get_item
from onnxjit._trace.lists import rows_of

from .statements import for_, if_
from .steps import Steps, steps_of
from .truth import compare, decide, ifexp

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["extreme"]

#: what stands for no default
_NOTHING: Final = object()


def extreme(
    native: Callable[..., Any],
    iterable: Any,
    *,
    key: Callable[[Any], Any] | None = None,
    default: Any = _NOTHING,
) -> Any:
    """Return the first element that is, or whose key is, the greatest or the least.

    Parameters
    ----------
    native : callable
        `max` or `min`.
    iterable : iterable
        Python runs through it where it has no elements by place.
    """
    steps = steps_of(iterable)
    if steps is None:
        steps = steps_of(list(iterable))
    assert steps is not None  # lists have elements by place

    def found() -> Any:
        numbers = _numbers(iterable) if key is None else None
        if numbers is None:
            return _searched(native, steps, key)
        place = _place(native, numbers)
        rows = rows_of(iterable)
        return get_item(numbers, place) if rows is None else rows.filled().at(place)

    some = decide(compare(">", steps.length, 0))
    if isinstance(some, bool):
        options = {} if default is _NOTHING else {"default": default}
        return found() if some else native((), **options)
    if default is _NOTHING:
        running_tracer().fail_if(some, holds=False)
        return found()
    return ifexp(wrap(some), found, lambda: default)


def _numbers(x: Any) -> Array | None:
    """Return an array of real numbers in one row, None for everything else."""
    rows = rows_of(x)
    if rows is not None:
        rows = rows.filled()
        x = rows.columns[0] if rows.element.template[0] == "leaf" else None
    is_row = isinstance(x, Array) and x.ndim == 1 and x.dtype.kind in "biuf"
    return x if is_row else None


def _place(native: Callable[..., Any], numbers: Array) -> Any:
    """Return where the result is: a NaN counts as the first element only."""
    farthest = np.argmax if native is max else np.argmin
    if numbers.dtype.kind != "f":
        return call_function(farthest, (numbers,), {})
    least = -np.inf if native is max else np.inf
    numbers = wrap(numbers._value)
    others = call_function(np.where, (np.isnan(numbers), least, numbers), {})
    place = call_function(farthest, (others,), {})
    return call_function(np.where, (np.isnan(numbers[0]), 0, place), {})


def _searched(native: Callable[..., Any], steps: Steps, key: Any) -> Any:
    """Return the result of comparing element by element."""
    symbol = ">" if native is max else "<"
    names = ("best", "best_key")
    best = steps.at(0)
    best_key = best if key is None else key(best)

    def body(e: Any) -> None:
        found = e if key is None else key(e)

        def take() -> None:
            nonlocal best, best_key
            best, best_key = e, found

        if_(compare(symbol, found, best_key), take, _keep, names, names)

    for_(steps.rest(), body, None, names, names, names, ())
    return best


def _keep() -> None:
    pass
