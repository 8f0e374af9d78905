# SPDX-License-Identifier: Apache-2.0
"""How a program with control flow is written down: a function, its inputs, what is allowed."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PROGRAMS", "Program", "program"]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A plain NumPy function and the inputs that reach every line of it.

    Attributes
    ----------
    fn : callable
        Plain Python; a method is bound to a fresh object of its class.
    inputs : tuple of tuple
        Positional arguments; the first are the example of a trace.
    raises : type, optional
        What Python raises for some of the inputs.
    joins : str
        Why a result may come back in the common dtype or kind of all branches instead of the
        one that Python gives; empty where it must be the same.
    calls_only : str
        Why no export can carry the program; empty where one must.
    rtol : float
        Bound of relative and absolute differences of floats, 0 for the bounds of rounding.
    why : str
        Why `rtol` is needed.
    large : callable, optional
        Makes more inputs, of sizes that are too slow for every day.
    """

    fn: Callable[..., Any]
    inputs: tuple[tuple[Any, ...], ...]
    raises: type[Exception] | None = None
    joins: str = ""
    calls_only: str = ""
    rtol: float = 0.0
    why: str = ""
    large: Callable[[], tuple[tuple[Any, ...], ...]] | None = None

    @property
    def name(self) -> str:
        """The function's own name, with the module's."""
        return f"{self.fn.__module__.rpartition('.')[2]}.{self.fn.__name__}"

    def bound(self) -> tuple[Callable[..., Any], Any]:
        """Return a function to call, and the fresh object that a method is bound to."""
        owner, dot, _ = self.fn.__qualname__.rpartition(".")
        if not dot:
            return self.fn, None
        instance = getattr(sys.modules[self.fn.__module__], owner)()
        return getattr(instance, self.fn.__name__), instance


PROGRAMS: Final[list[Program]] = []


def program(*inputs: tuple[Any, ...], **flags: Any) -> Callable[..., Any]:
    """Add the decorated function, which stays as it is."""

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(fn, inputs, **flags))
        return fn

    return add
