# SPDX-License-Identifier: Apache-2.0
"""Run rewritten code under the hooks of one trace."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite.rewritten import is_part, is_rewritten
from onnxjit._rewrite.route import copy_of, route
from onnxjit._rewrite.state import SESSION, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType, FunctionType

    from onnxjit._rewrite.hooks import Hooks
    from onnxjit._rewrite.path import Path


class Session:
    """One trace's view of the objects around it; see `active`."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def mark_old(self, value: object, path: Path | None = None) -> None:
        """Note that an argument, or `self`, is older than the trace.

        What lists, tuples, dicts and sets reach is noted too, traced values left out.
        """
        self._state.mark_old(value, path)

    def copy_of(self, fn: FunctionType) -> FunctionType:
        """Return the rewritten copy of a function, or what comes closest to it."""
        return copy_of(self._state, fn)

    def is_old(self, obj: object) -> bool:
        return self._state.old_entry(obj) is not None

    def path_of(self, obj: object) -> Path | None:
        """Path by which an old object was first reached, if it has one."""
        entry = self._state.known.get(id(obj))
        return None if entry is None else entry.path

    def routed(self, f: Any) -> Callable[..., Any]:
        """Return what rewritten code would call in the place of `f`."""
        return route(self._state, f)

    def check_store(self, obj: object, what: str, detail: str) -> None:
        """Report a store to `obj` if it is old: for twins that change an argument."""
        self._state.check_store(obj, what, detail)


@contextmanager
def active(hooks: Hooks, packages: tuple[str, ...] = ()) -> Iterator[Session]:
    """Let rewritten code that runs in this context go through `hooks`.

    Parameters
    ----------
    hooks
        The running trace.
    packages
        Modules or packages to rewrite besides code outside the library folders.

    Notes
    -----
    Contexts nest; each has its own old objects. Other threads are not concerned.
    """
    state = State(hooks, packages)
    # Two frames up: the generator's caller is contextlib.
    state.base = id(sys._getframe(2))
    token = SESSION.set(state)
    try:
        yield Session(state)
    finally:
        SESSION.reset(token)


def current_session() -> Session | None:
    """Session of the innermost `active` context of this thread."""
    state = SESSION.get()
    return None if state is None else Session(state)


class Scope:
    """A running call of a rewritten function, and the one it was called from."""

    __slots__ = ("file", "function", "line", "parent")

    def __init__(self, function: str, file: str, line: int, parent: Scope | None) -> None:
        self.function = function
        self.file = file
        self.line = line
        self.parent = parent

    def __repr__(self) -> str:
        return f"Scope({self.function} at {self.file}:{self.line})"


def current_scope() -> Scope | None:
    """Innermost running call of rewritten code, with the line it is at.

    Read from the frames when asked for, so that calls cost nothing.
    """
    state = SESSION.get()
    base = 0 if state is None else state.base
    calls: list[tuple[CodeType, int]] = []
    line = 0  # in a part of the function that comes next
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and id(frame) != base:
        code = frame.f_code
        if is_rewritten(code):
            line = line or frame.f_lineno
            if not is_part(code):
                calls.append((code, line))
                line = 0
        frame = frame.f_back
    scope: Scope | None = None
    for code, line in reversed(calls):
        scope = Scope(code.co_qualname, code.co_filename, line, scope)
    return scope
