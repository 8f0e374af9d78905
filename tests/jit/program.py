# SPDX-License-Identifier: Apache-2.0
"""A random program: its source, the calls to be made of it, and how it is compiled."""

from __future__ import annotations

import linecache
import re
import traceback
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.jit.program_calls import Call

__all__ = ["Program"]

_PICKS: Final = re.compile(r"max|min|clip")
_CALL: Final = re.compile(r"helper(\d+)\(")
_ASSIGNED: Final = re.compile(r"    ([avpq]\d*)\b(?!\()")


class Program:
    """The source of a function, and the calls to be made of it."""

    __slots__ = ("calls", "seed", "source")

    def __init__(self, seed: int, source: str, calls: list[Call]) -> None:
        self.seed: Final = seed
        self.source: Final = source
        self.calls: Final = calls

    @property
    def signs(self) -> bool:
        """Whether zeros have defined signs: which of two zeros is picked, is not defined."""
        return _PICKS.search(self.source) is None

    @property
    def name(self) -> str:
        """The file name that its frames show."""
        return f"<random program {self.seed}>"

    def function(self) -> Callable[..., Any]:
        """Compile the source so that `linecache` knows it."""
        name = self.name
        lines = self.source.splitlines(keepends=True)
        linecache.cache[name] = (len(self.source), None, lines, name)
        scope: dict[str, Any] = {"np": np, "__name__": "random_program"}
        exec(compile(self.source, name, "exec"), scope)
        found: Callable[..., Any] = scope["program"]
        return found

    def forget(self) -> None:
        """Drop the source from `linecache`."""
        linecache.cache.pop(self.name, None)

    def until(self, error: BaseException) -> Program:
        """Return a program that stops where this one raised, and returns all it made so far.

        A graph leaves out what nothing depends on, with the exception that it would raise; and
        what cannot work for any data raises while tracing, before what depends on data.
        """
        frames = traceback.extract_tb(error.__traceback__)
        last = next(
            f.lineno for f in frames if f.filename == self.name and f.name == "program"
        )
        lines: list[str] = []
        for line in self.source.splitlines()[:last]:
            lines.append(_CALL.sub(r"helper\1(keep, ", line))
            if line.startswith("def program"):
                lines.append("    keep = []")
            name = _ASSIGNED.match(line)
            if name is not None:
                lines.append(f"    keep.append({name[1]})")
        return Program(self.seed, "\n".join([*lines, "    return keep", ""]), self.calls)

    def script(self) -> str:
        """Return the program as text that a person can run."""
        calls = "\n\n".join(f"{call.text()}\nprint(program(*args))" for call in self.calls)
        return f"# seed {self.seed}\n{self.source}\n\n{calls}\n"
