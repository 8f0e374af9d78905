# SPDX-License-Identifier: Apache-2.0
"""Memory of traced arrays: what it holds now, how it is laid out, who looks at it.

A traced `Array` is a handle: a storage and a chain of views.  Writing through any handle
replaces the value of the storage, so every other handle sees it, exactly where NumPy's would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .layout import Layout

if TYPE_CHECKING:
    import weakref

    from onnxjit._core.program import Value

    from .array import Array

__all__ = ["Argument", "Storage"]


class Argument:
    """An array argument of the traced function, seen from inside.

    Attributes
    ----------
    index : int
        Position among the array leaves of the call.
    name : str
        Name of the parameter or path of the leaf.
    writeable : bool
        ``flags.writeable`` of the example.
    written : bool
        Set by the first write.
    """

    __slots__ = ("index", "name", "writeable", "written")

    def __init__(self, index: int, name: str, *, writeable: bool = True) -> None:
        self.index: Final = index
        self.name: Final = name
        self.writeable: Final = writeable
        self.written = False


_PLAIN: Final = Layout.plain()


class Storage:
    """The memory behind one or more traced arrays.

    `captured` names the array of the surroundings that this is; nothing may write to it.
    `aliases` are handles that can be one object, by the conversions that made one of another.
    """

    __slots__ = (
        "__weakref__", "aliases", "argument", "captured", "layout", "read_only", "undecided",
        "value", "version",
    )  # fmt: skip

    def __init__(
        self,
        value: Value,
        *,
        layout: Layout | None = None,
        argument: Argument | None = None,
        captured: str | None = None,
    ) -> None:
        self.value = value
        self.version = 0
        self.layout: Final = layout or _PLAIN
        self.argument: Final = argument
        self.captured: Final = captured
        self.read_only = argument is not None and not argument.writeable
        self.undecided: list[weakref.ref[Array]] = []
        self.aliases: list[weakref.ref[Array]] = []

    def replace(self, value: Value) -> None:
        """Make `value` the content."""
        self.value = value
        self.version += 1
        if self.argument is not None:
            self.argument.written = True
