# SPDX-License-Identifier: Apache-2.0
"""Which lines of functions run: line events of Python's own tracing."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["functions_of", "lines_of", "lines_run"]

_NESTED: Final = ("<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


def lines_of(code: CodeType) -> set[int]:
    """Return the lines of a code object and of the functions inside, without their heads."""
    lines = {line for _, _, line in code.co_lines() if line}
    if code.co_name not in _NESTED:
        lines.discard(code.co_firstlineno)
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return lines.union(*map(lines_of, inner))


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Yield functions and methods that a module defines."""
    for value in vars(module).values():
        found = vars(value).values() if isinstance(value, type) else (value,)
        for each in found:
            if isinstance(each, FunctionType) and each.__module__ == module.__name__:
                yield each


def lines_run(file: str, call: Callable[[], Any]) -> set[int]:
    """Return the lines of a file that run in a call."""
    seen: set[int] = set()

    def local(frame: Any, event: str, _arg: Any) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
        return local

    def opened(frame: Any, _event: str, _arg: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        # the line of a one-line body is also that of its head
        return local

    before = sys.gettrace()
    sys.settrace(opened)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen
