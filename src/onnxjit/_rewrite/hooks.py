# SPDX-License-Identifier: Apache-2.0
"""What a running trace must offer to rewritten code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._rewrite.path import Path
    from onnxjit._trace.places import Places


class Hooks(Protocol):
    """Questions and reports of rewritten code; one object per running trace."""

    @property
    def places(self) -> Places | None:
        """Where stores to old objects go; None where they take place, or are refused."""
        ...

    def is_traced(self, obj: object, /) -> bool:
        """Whether `obj` is a traced array or dimension."""
        ...

    def twin(self, f: object, /) -> Callable[..., Any] | None:
        """Return the replacement for the callable `f`, by its identity, or None."""
        ...

    def capture(self, value: Any, path: Path, owner: object = None, /) -> Any:
        """Return what is used in the place of a value loaded from outside the trace.

        Called once for each pair of path and value; `owner` is what it is an attribute of.
        """
        ...

    def getitem_captured(self, obj: Any, key: Any, /) -> Any:
        """Return `obj[key]` where `key` is or contains a traced value and `obj` is not one."""
        ...

    def setitem(self, obj: Any, key: Any, value: Any, /) -> None:
        """Perform `obj[key] = value`."""
        ...

    def contains(self, container: Any, item: Any, /) -> Any:
        """Return `item in container`; a traced truth value is allowed."""
        ...

    def formatted(self, value: Any, /) -> Any:
        """Return what a string is formatted with in the place of `value`."""
        ...

    def looked_at(self, x: Any, what: str, /) -> Any:
        """Return what code gets, in the place of an argument, that looks at its values.

        `what` names the code.
        """
        ...

    def text(self, value: str, /) -> str:
        """Return text that may be made of what only a run knows."""
        ...

    def stored(self, value: Any, /) -> Any:
        """Return what an object older than the trace gets in the place of `value`."""
        ...

    def side_effect(self, what: str, obj: object, detail: str, /) -> None:
        """Something older than the trace is about to change, or an impure function to run.

        Raise to stop it; if this returns, the effect takes place.

        Parameters
        ----------
        what
            "attribute", "item", "global", "cell", "container", "ndarray", "iterator",
            "impure" or "unchecked store".
        obj
            What changes, or the callable; a name for "global" and "cell".
        detail
            Readable description, such as `self.history.append`.
        """
        ...


class PlainHooks:
    """Hooks that change nothing: a base class, and the behaviour of plain Python."""

    __slots__ = ()
    places: ClassVar[Places | None] = None

    def is_traced(self, _obj: object, /) -> bool:
        return False

    def twin(self, _f: object, /) -> Callable[..., Any] | None:
        return None

    def capture(self, value: Any, _path: Path, _owner: object = None, /) -> Any:
        return value

    def getitem_captured(self, obj: Any, key: Any, /) -> Any:
        return obj[key]

    def setitem(self, obj: Any, key: Any, value: Any, /) -> None:
        obj[key] = value

    def contains(self, container: Any, item: Any, /) -> Any:
        return item in container

    def formatted(self, value: Any, /) -> Any:
        return value

    def looked_at(self, x: Any, _what: str, /) -> Any:
        return x

    def text(self, value: str, /) -> str:
        return value

    def stored(self, value: Any, /) -> Any:
        return value

    def side_effect(self, _what: str, _obj: object, _detail: str, /) -> None:
        return
