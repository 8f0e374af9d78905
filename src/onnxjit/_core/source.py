# SPDX-License-Identifier: Apache-2.0
"""Where in the user's code an operation was asked for."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from types import CodeType, FrameType

__all__ = [
    "Scope", "Source", "caller", "is_hidden", "raised_at", "user_frames", "user_level",
]  # fmt: skip

_PACKAGE: Final = str(Path(__file__).resolve().parent.parent) + "/"
_NUMPY: Final = str(Path(np.__file__).resolve().parent) + "/"
#: the function of this package that starts a user's function under a trace
_START: Final = "call_traced"
_PYTHON: Final = str(Path(os.__file__).resolve().parent) + "/"
_HIDDEN: Final = (_PACKAGE, _NUMPY, "<__array_function__", "<frozen ")
#: folders inside of Python's own that hold what was installed
_INSTALLED: Final = ("site-packages/", "dist-packages/")

#: flag of code with ``yield``: `inspect.CO_GENERATOR`, which is slow to import
_GENERATOR: Final = 0x20


class Source:
    """An instruction of user code; line and text are worked out only when somebody looks.

    `position` is the instruction's (``f_lasti``); a `line` known beforehand takes its place.
    """

    __slots__ = ("_line", "code", "position")

    def __init__(self, code: CodeType, position: int = -1, *, line: int | None = None) -> None:
        self.code: Final = code
        self.position: Final = position
        self._line = line

    @property
    def line(self) -> int:
        """Number of the line."""
        if self._line is None:
            self._line = _line_at(self.code, self.position)
        return self._line

    @property
    def file(self) -> str:
        """Path of the file as Python knows it."""
        return self.code.co_filename

    @property
    def function(self) -> str:
        """Qualified name of the function."""
        return self.code.co_qualname

    @property
    def pauses(self) -> bool:
        """Whether the function is a generator, whose statements stay Python's."""
        named = self.code.co_name != "<genexpr>"  # whose loops are put into the graph
        return named and bool(self.code.co_flags & _GENERATOR)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


def _line_at(code: CodeType, position: int) -> int:
    for start, end, line in code.co_lines():
        if start <= position < end and line is not None:
            return line
    return code.co_firstlineno


class Scope:
    """A call in progress: function, the line it was called from, and the call around it."""

    __slots__ = ("called_from", "function", "parent")

    def __init__(
        self, function: str, called_from: Source | None, parent: Scope | None
    ) -> None:
        self.function: Final = function
        self.called_from: Final = called_from
        self.parent: Final = parent

    def __str__(self) -> str:
        outer = f"{self.parent}/" if self.parent is not None else ""
        return outer + self.function


@cache
def is_hidden(filename: str) -> bool:
    """Whether frames of a file are this library's, NumPy's or Python's own."""
    if filename.startswith(_PYTHON):
        return not filename[len(_PYTHON) :].startswith(_INSTALLED) or (
            filename.startswith(_HIDDEN)
        )
    return filename.startswith(_HIDDEN)


def user_level() -> int:
    """Return the stack level of the user's frame, for a warning raised by the caller."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and is_hidden(frame.f_code.co_filename):
        frame = frame.f_back
        level += 1
    return level


def user_frames() -> list[Source]:
    """Return the running lines of user code, innermost first, up to where the trace began."""
    found: list[Source] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if is_hidden(code.co_filename):
            if code.co_name == _START and found:
                break
        else:
            found.append(Source(code, frame.f_lasti))
        frame = frame.f_back
    return found


def caller(within: int = 1) -> Source | None:
    """Return the innermost frame outside this package and NumPy, or None at the bottom.

    So many frames around this call are known to be the library's own.
    """
    frame: FrameType | None = sys._getframe(within)
    while frame is not None and is_hidden(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return Source(frame.f_code, frame.f_lasti)


def raised_at(error: BaseException) -> Source | None:
    """Return the innermost line outside this package and NumPy that an exception passed."""
    found: Source | None = None
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not is_hidden(code.co_filename):
            found = Source(code, step.tb_lasti)
        step = step.tb_next
    return found
