# SPDX-License-Identifier: Apache-2.0
"""Where in the user's code an operation was asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

import numpy as np

__all__ = ["Scope", "Source", "caller"]

_PACKAGE: Final = str(Path(__file__).resolve().parent.parent) + "/"
_NUMPY: Final = str(Path(np.__file__).resolve().parent) + "/"
_HIDDEN: Final = (_PACKAGE, _NUMPY, "<__array_function__")


class Source:
    """A line of user code; formatted only when somebody looks."""

    __slots__ = ("code", "line")

    def __init__(self, code: CodeType, line: int) -> None:
        self.code: Final = code
        self.line: Final = line

    @property
    def file(self) -> str:
        """Path of the file as Python knows it."""
        return self.code.co_filename

    @property
    def function(self) -> str:
        """Qualified name of the function."""
        return self.code.co_qualname

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


class Scope:
    """A call in progress: function, the line it was called from, and the call around it."""

    __slots__ = ("called_from", "function", "parent")

    def __init__(self, function: str, called_from: Source | None, parent: Scope | None) -> None:
        self.function: Final = function
        self.called_from: Final = called_from
        self.parent: Final = parent

    def __str__(self) -> str:
        outer = f"{self.parent}/" if self.parent is not None else ""
        return outer + self.function


def is_hidden(filename: str) -> bool:
    """Whether frames of a file are the library's or NumPy's own."""
    return filename.startswith(_HIDDEN)


def caller() -> Source | None:
    """Return the innermost frame outside this package and NumPy, or None at the bottom."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_hidden(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return Source(frame.f_code, frame.f_lineno)
