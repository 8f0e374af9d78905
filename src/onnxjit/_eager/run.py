# SPDX-License-Identifier: Apache-2.0
"""Run a user's function: traced under hooks, or eagerly."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._rewrite.path import Path, held_path
from onnxjit._trace.doors import DOORS

from .boundary import Loan
from .leaves import children

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnxjit._trace.trace import Tracer

__all__ = ["call_eagerly", "call_traced", "routed"]


def routed(session: Any, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rewritten twin of the decorated function, whatever package it is from."""
    if isinstance(fn, MethodType):
        session.mark_old(fn.__self__, held_path("self", fn.__self__))
        return MethodType(routed(session, fn.__func__), fn.__self__)
    if isinstance(fn, functools.partial):
        session.mark_old(fn.args, held_path("args", fn.args))
        session.mark_old(fn.keywords, held_path("keywords", fn.keywords))
        return functools.partial(routed(session, fn.func), *fn.args, **fn.keywords)
    if isinstance(fn, FunctionType):
        copy: Callable[..., Any] = session.copy_of(fn)
        return copy
    session.mark_old(fn, held_path("self", fn))
    found: Callable[..., Any] = session.routed(fn)
    return found


def call_traced(
    tracer: Tracer,
    fn: Callable[..., Any],
    args: Any,
    kwargs: Any,
    roots: Mapping[str, Any] | None = None,
) -> tuple[Any, list[Any]]:
    """Run a function on traced arguments; return its result and what it captured.

    `roots` names the static objects among the arguments, for guards on what hangs on them.
    """
    from onnxjit._rewrite import active  # loaded by the first trace

    from .hooks import TraceHooks

    hooks = TraceHooks(tracer)
    tracer.roots = frozenset(map(id, (roots or {}).values()))
    with active(hooks, _packages(fn)) as session:
        for name, x in (roots or {}).items():
            session.mark_old(x, Path("self" if name == "self" else "arg", name))
        for x in (*args, *kwargs.values()):
            _mark_old(session, tracer, x)
        tracer.is_old = session.is_old
        places, hidden = tracer.places, tracer.hidden
        if places is not None:
            places.is_old = session.is_old
        try:
            result = routed(session, fn)(*args, **kwargs)
        except Exception as e:
            if tracer.refusal is None or tracer.refusal is e:
                raise
            raise tracer.refusal from e
        finally:
            del tracer.is_old  # the session holds the user's objects
            if places is not None and hidden is not None:
                hidden.want_places(places)
    if tracer.refusal is not None:
        raise tracer.refusal
    return result, hooks.captures


def _mark_old(session: Any, tracer: Tracer, x: Any) -> None:
    """Note that an argument is old; containers are copies, for the trace to change."""
    parts = None if isinstance(x, np.ndarray) else children(x)
    if parts is None or tracer.places is None:
        session.mark_old(x)
        return
    for _, part in parts:
        _mark_old(session, tracer, part)


#: NumPy, and modules of ours whose helpers are traced like its source
_SOURCES: Final = ("numpy", "onnxjit._ops.sources_statistics")


def _packages(fn: Any) -> tuple[str, ...]:
    """Return what counts as the user's code: the function's package, and NumPy's source."""
    module = getattr(fn, "__module__", None)
    top = module.partition(".")[0] if isinstance(module, str) else ""
    return _SOURCES if top in ("", "numpy", "onnxjit") else (top, *_SOURCES)


def numpy_source(func: Any) -> Callable[..., Any] | None:
    """Return a traceable twin of a NumPy function made of Python source, or None."""
    from onnxjit._ops.sources import SOURCES
    from onnxjit._rewrite import current_session, rewrite_function

    implementation = SOURCES.get(func) or getattr(func, "_implementation", None)
    session = current_session()
    if not isinstance(implementation, FunctionType) or session is None:
        return None
    return rewrite_function(implementation)


DOORS.source = numpy_source


def call_eagerly(fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run the rewritten copy of a function on eager arrays and return NumPy results."""
    from onnxjit._rewrite import active

    from .hooks import EagerHooks

    loan = Loan()
    lent = [loan.lend(x) for x in args]
    named = {k: loan.lend(v) for k, v in kwargs.items()}
    try:
        with active(EagerHooks(), _packages(fn)) as session:
            return loan.restored(routed(session, fn)(*lent, **named))
    finally:
        loan.settle()
