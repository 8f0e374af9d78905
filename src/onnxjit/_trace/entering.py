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


__all__ = ["constant_array", "folded", "noted", "running_tracer"]


def noted(door: Callable[..., Any]) -> Callable[..., Any]:
    """Add the user's line to whatever a door raises."""

    @functools.wraps(door)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = current_tracer()
        if tracer is None:
            return door(*args, **kwargs)
        tracer.mark_line()
        tracer.doors += 1
        try:
            return door(*args, **kwargs)
        except Exception as e:
            note = f"traced at {tracer.source}"
            if note not in getattr(e, "__notes__", ()):
                e.add_note(note)
            if tracer.doors == 1:
                tracer.refuse(e)
            raise
        finally:
            tracer.doors -= 1

    return call


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
