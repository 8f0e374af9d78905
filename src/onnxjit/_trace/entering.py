# SPDX-License-Identifier: Apache-2.0
"""What every door does: note the user's line, find the trace, fold known values."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit.errors import LeakError

from .array import ARRAY, Array, wrap
from .convert import (
    from_numpy_results,
)
from .layout import Layout, lies
from .trace import Tracer, current_tracer, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


__all__ = [
    "constant_array",
    "entered",
    "folded",
    "note_error",
    "noted",
    "running_tracer",
]


def noted(door: Callable[..., Any]) -> Callable[..., Any]:
    """Add the user's line to whatever a door raises."""

    @functools.wraps(door)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = current_tracer()
        if tracer is None:
            return door(*args, **kwargs)
        return entered(tracer, door, *args, **kwargs)

    return call


def entered(tracer: Tracer, door: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a door in a trace; the user's line is noted, and added to what it raises."""
    tracer.mark_line()
    tracer.doors += 1
    try:
        return door(*args, **kwargs)
    except Exception as error:
        note_error(tracer, error)
        raise
    finally:
        tracer.doors -= 1


def note_error(tracer: Tracer, error: Exception) -> None:
    """Add the user's line to what a door raises; the outermost one lets the trace refuse."""
    note = f"traced at {tracer.source}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
    if tracer.doors == 1:
        tracer.refuse(error)


def constant_array(values: Any, kind: str = ARRAY, layout: Layout | None = None) -> Array:
    """Return a traced array whose values are known; it lies as they do by default."""
    tracer = running_tracer()
    array = np.array(values, copy=True)
    lies = layout_of(array, frozenset()) if layout is None else layout
    return wrap(tracer.constant(array), kind, lies)


def running_tracer() -> Tracer:
    tracer = current_tracer()
    if tracer is None:
        msg = "a traced array is used outside its trace; return it from the function instead"
        raise LeakError(msg)
    return tracer


def folded(call: Callable[[], Any], func: Any, arrays: Sequence[Any], order: Any) -> Any:
    """Let NumPy compute; what it makes of arrays lies as its rule says."""
    lie = lies(func, arrays, order)

    def constant(values: Any, kind: str) -> Array:
        layout = (lie(values.ndim) or Layout()) if arrays else None
        return constant_array(values, kind, layout)

    with np.errstate(all="ignore"):
        return from_numpy_results(call(), constant)
