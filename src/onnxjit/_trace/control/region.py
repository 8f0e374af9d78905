# SPDX-License-Identifier: Apache-2.0
"""Trace a piece of the user's code into a block of its own, and undo what it did."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import Dim
from onnxjit._core.program import Value
from onnxjit._core.region import visible
from onnxjit._core.source import is_hidden, raised_at
from onnxjit._trace.array import Array, Unsettled
from onnxjit._trace.places import Unprepared
from onnxjit._trace.raising import AlwaysRaises
from onnxjit._trace.trace import Control
from onnxjit.errors import OnnxJitError, UnsupportedError

from .rows import Switch, put_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._core.program import Block
    from onnxjit._trace.storage import Storage
    from onnxjit._trace.trace import Tracer

    from .slots import Key, Resized, Slot, Snapshot

__all__ = [
    "Region", "at_the_end", "entered", "is_visible", "settled",
    "trace_region",
]  # fmt: skip

#: times that the same code is traced while views of arrays get decided
_ROUNDS: Final = 50
#: times that code may run inside its own branches: a function that calls itself
_SELF: Final = 6
#: exceptions that no code means to raise unless it says so
_MISTAKES: Final = frozenset({AttributeError, NameError, TypeError})
_DEEP: Final = (
    "a function calls itself in a branch at {}, and only data says how often: write a loop"
)


class Region:
    """What a piece of code did.

    Attributes
    ----------
    block : Block
    error : Exception or None
        What it raised; it then has changed nothing.
    changes : dict
        Place -> (slot, content before, content after).
    resized : list of Resized
        Containers that have another number of elements.
    written : dict
        Storages made outside -> their content at the end.
    """

    __slots__ = ("block", "changes", "error", "resized", "written")

    def __init__(self, block: Block) -> None:
        self.block: Final = block
        self.error: Exception | None = None
        self.changes: dict[Key, tuple[Slot, Any, Any]] = {}
        self.resized: list[Resized] = []
        self.written: dict[Storage, Value] = {}

    def items_of(self, resized: Resized) -> list[Any]:
        """Return the elements that a list has at the end, which some region has resized."""
        for own in self.resized:
            if own.owner is resized.owner:
                return own.after
        items = list(resized.before)
        for (owner, place), (_, _, after) in self.changes.items():
            if owner == id(resized.owner):
                items[place] = after
        return items


def trace_region(
    tracer: Tracer, snapshot: Snapshot, run: Callable[[Block], Any], after: Any = None
) -> Region:
    """Run code in a new block; afterwards Python's state is as before.

    Parameters
    ----------
    run : callable
        ``run(block)``.
    after : callable, optional
        ``after(region)``, in the block, with the state that the code has left.
    """
    journal, tracer.journal = tracer.journal, {}
    lengths, tracer.lengths = tracer.lengths, dict(tracer.lengths)
    source = tracer.source
    tracer.snapshots.append(snapshot)
    try:
        with tracer.inner() as block:
            region = Region(block)
            _run(tracer, region, run)
            region.changes, region.resized = snapshot.changes()
            region.written = {
                storage: storage.value
                for storage in tracer.journal
                if not storage.block.is_inside(block)
            }
            if after is not None:
                after(region)
    finally:
        for storage, value in tracer.journal.items():
            if not storage.block.is_inside(block):
                storage.put(value)
        tracer.journal, tracer.lengths = journal, lengths
        tracer.source = source
        tracer.snapshots.pop()
        snapshot.restore()
    return region


def _run(tracer: Tracer, region: Region, run: Callable[[Block], Any]) -> None:
    refusal = tracer.refusal
    try:
        run(region.block)
    except AlwaysRaises as e:
        region.error = e
    except OnnxJitError:
        raise
    except RecursionError as e:
        raise UnsupportedError(_DEEP.format(tracer.source)) from e
    except Exception as e:
        if tracer.refusal is not refusal and tracer.refusal is not None:
            raise tracer.refusal from e  # which C code has made its own exception of
        region.error = e
        if id(e) != tracer.meant and type(e) in _MISTAKES:
            text = f"{type(e).__name__}: {e}"
            tracer.controls.append(Control(raised_at(e) or tracer.source, "raise", text))
    if region.error is not None:
        tracer.fail()


def is_visible(x: Any, outer: Block) -> bool:
    """Whether a number or array can be used outside the block in which it was made."""
    if isinstance(x, Dim):
        return visible(x, outer)
    if not isinstance(x, Array) or x._nd is not None:
        return True
    return outer.is_inside(x._storage.block) and all(_sees(v, outer) for v in x._views)


def _sees(part: Any, outer: Block) -> bool:
    """Whether the sizes that a view is made of can be computed in a block."""
    if isinstance(part, tuple):
        return all(_sees(p, outer) for p in part)
    if isinstance(part, Value):
        return outer.is_inside(part.block)
    if isinstance(part, (Dim, Array)):
        return is_visible(part, outer)
    names = [n for cls in type(part).__mro__ for n in getattr(cls, "__slots__", ())]
    return all(_sees(getattr(part, n, None), outer) for n in names)


@contextmanager
def entered(tracer: Tracer, body: Any) -> Iterator[None]:
    """Count a branch as running; refuse what calls itself until data stops it."""
    code = getattr(body, "__code__", None)
    if code is None or is_hidden(code.co_filename):
        yield
        return
    if tracer.running.count(code) >= _SELF:
        raise UnsupportedError(_DEEP.format(tracer.source))
    tracer.running.append(code)
    try:
        yield
    finally:
        tracer.running.pop()


@contextmanager
def at_the_end(tracer: Tracer, region: Region) -> Iterator[None]:
    """Let operations go to a region's block, and see arrays as it has left them."""
    outer, tracer.block = tracer.block, region.block
    before = {storage: storage.value for storage in region.written}
    for storage, value in region.written.items():
        storage.put(value)
    try:
        yield
    finally:
        tracer.block = outer
        for storage, value in before.items():
            storage.put(value)


def settled(attempt: Callable[[], Any]) -> Any:
    """Trace; where a view or a list has to be decided first, decide it and trace again."""
    switched: list[tuple[Any, list[Any], Any]] = []
    try:
        for _ in range(_ROUNDS):
            try:
                return attempt()
            except Unsettled as e:
                e.array._settle()
            except Unprepared as e:
                e.prepare()
            except Switch as e:
                switched.append(e.apply())
        msg = "which views and lists a branch or loop works on does not settle"
        raise UnsupportedError(msg)
    except OnnxJitError:
        for before in reversed(switched):
            put_back(*before)
        raise
