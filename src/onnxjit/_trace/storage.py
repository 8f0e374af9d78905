# SPDX-License-Identifier: Apache-2.0
"""Memory of traced arrays: what it holds now, how it is laid out, who looks at it.

A traced `Array` is a handle: a storage and a chain of views.  Writing through any handle
replaces the value of the storage, so every other handle sees it, exactly where NumPy's would.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final

from onnxjit.errors import AliasError

from .layout import Layout

if TYPE_CHECKING:
    from onnxjit._core.program import Block, Value

    from .array import Array
    from .control.chosen import Chosen

__all__ = ["Argument", "Storage", "connected"]


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
    asked : bool
        Set by who looks at `writeable`.
    """

    __slots__ = ("asked", "index", "name", "writeable", "written")

    def __init__(self, index: int, name: str, *, writeable: bool = True) -> None:
        self.index: Final = index
        self.name: Final = name
        self.writeable: Final = writeable
        self.written = False
        self.asked = False


_PLAIN: Final = Layout.plain()


class Storage:
    """The memory behind one or more traced arrays.

    Attributes
    ----------
    aliases : list
        Handles that can be one object, by the conversions that made one of another.
    block : Block
        Where it was made; blocks inside of it may write to it.
    captured : str or None
        Name of the array of the surroundings that this is; nothing may write to it.
    choice : Chosen or None
        The two arrays of which a condition makes this one.
    choices : tuple of Chosen
        Arrays that are this one, or another, by a condition.
    others : tuple of weak references
        Storages that may be this very one, depending on data; see `may_be`.
    before : tuple of weak references
        Storages that this one may go on with; see `continue_as`.
    stale : bool
        Whether it may have been written to through one that goes on with it.
    """

    __slots__ = (
        "__weakref__", "aliases", "argument", "before", "block", "captured", "choice",
        "choices", "layout",
        "others", "read_only", "stale", "undecided", "value", "version",
    )  # fmt: skip

    def __init__(
        self,
        value: Value,
        *,
        layout: Layout | None = None,
        argument: Argument | None = None,
        captured: str | None = None,
        block: Block | None = None,
    ) -> None:
        self.value = value
        self.block: Final = block or value.block.trace.block
        # few storages have any of these: tuples cost nothing until then
        self.others: tuple[weakref.ref[Storage], ...] = ()
        self.before: tuple[weakref.ref[Storage], ...] = ()
        self.choice: Chosen | None = None
        self.choices: tuple[Chosen, ...] = ()
        self.stale = False
        self.version = 0
        self.layout: Final = layout or _PLAIN
        self.argument: Final = argument
        self.captured = captured
        self.read_only = argument is not None and not argument.writeable
        self.undecided: tuple[weakref.ref[Array], ...] = ()
        self.aliases: tuple[weakref.ref[Array], ...] = ()

    def replace(self, value: Value) -> None:
        """Make `value` the content."""
        journal = value.block.trace.journal
        if journal is not None:
            journal.setdefault(self, self.value)
        self.put(value)
        if self.argument is not None:
            self.argument.written = True

    def put(self, value: Value) -> None:
        """Make `value` the content, unseen by the journal."""
        self.value = value
        self.version += 1

    def may_be(self, other: Storage) -> None:
        """Note that data decides whether this is the memory of another array."""
        self.others = (*self.others, weakref.ref(other))
        other.others = (*other.others, weakref.ref(self))

    def continue_as(self, other: Storage) -> None:
        """Note that this may be the memory of `other`, which nobody has to look at any more.

        A write to this one makes the other stale: whoever reads it then is refused.
        """
        if other.argument is not None or other.captured is not None:
            self.may_be(other)
            return
        self.before = (*self.before, weakref.ref(other))
        other.others = (*other.others, weakref.ref(self))

    def same_ones(self) -> list[Storage]:
        """Return this storage, and those that may be it."""
        found = (ref() for ref in self.before)
        return [*self.same_now(), *(s for s in found if s is not None)]

    def same_now(self) -> list[Storage]:
        """Return this storage, and those in use beside it that may be it."""
        return [self, *(s for s in (ref() for ref in self.others) if s is not None)]

    def _outdate(self) -> None:
        """Make stale what this one goes on with."""
        for ref in self.before:
            other = ref()
            if other is not None and not other.stale:
                other.stale = True
                other._outdate()

    def check_identity(self, block: Block) -> None:
        """Refuse a write in a block if nobody knows which arrays it changes.

        Raises
        ------
        AliasError
            Another array that may be this one is alive, and no condition says whether.
        """
        if not self.others and not self.choices:
            self._outdate()
            return
        known = connected(self, block)
        for one in known:
            others = [s for s in (ref() for ref in one.others) if s is not None]
            if any(block.is_inside(s.block) and s not in known for s in others):
                msg = (
                    "an array is written to that is one of several arrays, depending on a "
                    "condition or on the number of iterations; write to a .copy(), or choose "
                    "values with np.where instead of arrays"
                )
                raise AliasError(msg)
        for one in known:
            one._outdate()


def connected(storage: Storage, block: Block) -> list[Storage]:
    """Return a storage, and those that conditions seen in a block make the same memory."""
    found = {storage: None}
    stack = [storage]
    while stack:
        one = stack.pop()
        near = [c.storage for c in one.choices if c.is_seen(block)]
        if one.choice is not None:
            near += [side._storage for side in one.choice.sides if side is not None]
        for other in near:
            if other not in found:
                found[other] = None
                stack.append(other)
    return list(found)
