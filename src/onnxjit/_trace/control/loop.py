# SPDX-License-Identifier: Apache-2.0
"""Loops whose number of runs, or whose end, only a run of the model knows.

The body is traced on stand-ins for what one iteration hands to the next: names that are bound
again, places in containers, and arrays that are written to.  Which these are, and of which
type, is found out by tracing: where an iteration leaves something else than it was given, the
body is traced again with that carried, until nothing new turns up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import dim_value
from onnxjit._core.dims import Dim, lower, same, symbols_of, upper
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.program import Value
from onnxjit._core.region import LOOP, Traced, bind_loop, carried_values, join_types, visible
from onnxjit._trace.array import ARRAY, Array, wrap
from onnxjit._trace.lists import List, rows_of
from onnxjit._trace.raising import AlwaysRaises
from onnxjit._trace.trace import Control
from onnxjit.errors import UnsupportedError

from .aliases import Links
from .carried import Carried, MixedError, is_open, joins, leaf_type, mixed, written
from .choices import arranged, ordered
from .either import Unsure
from .entries import is_exact, note_entries, surely_runs
from .join import (
    JoinError,
    ListsDifferError,
    Type,
    flatten,
    from_value,
    joined,
    rebuild,
    to_value,
    unify,
)
from .records import is_record
from .region import Region, settled, trace_region
from .rows import stack_items, stack_lists
from .slots import UNBOUND, Snapshot, cells_of, containers_in
from .truth import and_, compare, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Block
    from onnxjit._trace.storage import Storage
    from onnxjit._trace.trace import Tracer

    from .slots import Key, Slot

__all__ = ["Names", "capture"]

#: times that a body is traced while what it carries settles
_ROUNDS: Final = 12


class Names:
    """What is known of the names in a loop from its text.

    Attributes
    ----------
    stores : names that are bound in it
    live : those of them that are read by a later iteration, or after it
    rebound : those of them that are bound by something else than an augmented assignment
    mutated : names of arrays that may be written to
    """

    __slots__ = ("live", "mutated", "rebound", "stores")

    def __init__(
        self,
        stores: Sequence[str],
        live: Sequence[str],
        rebound: Sequence[str],
        mutated: Sequence[str],
    ) -> None:
        self.stores: Final = frozenset(stores)
        self.live: Final = frozenset(live)
        self.rebound: Final = frozenset(rebound)
        self.mutated: Final = frozenset(mutated)


class _Again(Exception):  # noqa: N818  not an error
    """The body has to be traced again."""


class _Loop:
    """One loop being captured."""

    def __init__(
        self,
        tracer: Tracer,
        body: Callable[[Dim | None], Any],
        test: Callable[[], Any] | None,
        functions: Sequence[Any],
        names: Names,
    ) -> None:
        self.tracer: Final = tracer
        self.body: Final = body
        self.test: Final = test
        self.names: Final = names
        self.cells: Final = cells_of(*functions)
        self.snapshot: Final = Snapshot(self.cells, tracer.is_old, tracer.places)
        self.carried: dict[Key, Carried] = {}
        self.storages: dict[Storage, Tensor] = {}
        self.outer: Final = tracer.block
        self.links: Final = Links(tracer.block)
        #: new containers and objects that an iteration leaves
        self.held: Final[dict[int, Any]] = {}
        self.free: dict[int, Dim] = {}
        #: size that grows by as much in each iteration -> itself, at the start, and how much
        self.growing: dict[int, tuple[Dim, DimLike, DimLike]] = {}
        self.iteration: Final = tracer.env.symbol("i", None, 0, data=True)
        self.region: Region
        self.again: Value | None = None
        self.overwritten = False
        self.inputs: list[Value] = []
        self.states: list[Value] = []
        self.after: list[Value] = []
        self._guess()

    # --- what is carried

    def _guess(self) -> None:
        """Start with what the text of the loop says."""
        for name in sorted(self.names.live):
            cell = self.cells.get(name)
            if cell is None:
                continue
            key, slot = self.snapshot.slot(cell, name)
            content = slot.get()
            if content is UNBOUND or self._by_identity(name, content):
                continue
            self.carried[key] = Carried(slot, content, ordered(content))
        for name in sorted(self.names.mutated):
            cell = self.cells.get(name)
            content = None if cell is None else self.snapshot.slot(cell, name)[1].get()
            for x in _arrays(content):
                if x._nd is None and x._kind == ARRAY:
                    self._carry_storage(x._storage)

    def _by_identity(self, name: str, content: Any) -> bool:
        """Whether a name is taken to stay the same array, which is written to."""
        array = isinstance(content, Array) and content._kind == ARRAY
        return array and name not in self.names.rebound

    def _carry_storage(self, storage: Storage) -> None:
        if storage not in self.storages and storage.captured is None:
            self.storages[storage] = storage.value.tensor

    # --- one round

    def trace(self) -> None:
        """Trace the body until it gives what it was given."""
        for _ in range(_ROUNDS):
            outer = {s: s.value for s in self.storages}
            try:
                self.region = trace_region(
                    self.tracer, self.snapshot, self._enter_and_run, self._collect
                )
            except _Again:
                continue
            finally:
                for storage, value in outer.items():
                    storage.put(value)
            return
        msg = f"what the loop at {self.tracer.source} carries does not settle"
        raise UnsupportedError(msg)

    def _enter_and_run(self, block: Block) -> None:
        types = [t for c in self.carried.values() for t in c.types]
        avals = [t.aval for t in types] + list(self.storages.values())
        self.states = carried_values(block, avals, self.free)
        counter = Value(Tensor(INT64, ()), block)
        condition = [Value(Tensor(BOOL, ()), block)] if self.test is not None else []
        self.inputs = block.inputs = [counter, *condition, *self.states]
        at = 0
        given: list[Any] = []
        for c in self.carried.values():
            values = self.states[at : at + len(c.types)]
            at += len(values)
            leaves = [
                from_value(v, t, _arrays(x))
                for v, t, x in zip(values, c.types, c.leaves, strict=True)
            ]
            given += leaves
            c.give(rebuild(c.template, iter(leaves)))
            c.slot.set(c.given)
        self.links.start([x for c in self.carried.values() for x in c.leaves])
        self.links.apply(given)
        for storage, value in zip(self.storages, self.states[at:], strict=True):
            storage.put(value)
        known = len(self.links.stale)
        with self.links.reading():
            self.body(self._counter(counter))
        self.overwritten = len(self.links.stale) > known
        if self.test is not None:
            self.again = self._asked(self.test)

    def _asked(self, test: Callable[[], Any]) -> Value:
        """Return whether to go on, which may bind names too."""
        with self.tracer.asking():
            again = decide(test())
        if isinstance(again, bool):
            return self.tracer.constant(np.bool_(again))
        return again

    def _counter(self, counter: Value) -> Dim:
        """Return the number of the iteration: one size in all rounds."""
        (symbol,) = symbols_of(self.iteration)
        symbol.origin = (counter, None)
        return self.iteration

    # --- after the body, in its block

    def _collect(self, region: Region) -> None:
        if region.error is not None:
            raise _failing(region.error)
        if self.again is not None:
            self.again = self._unless_failed(region, self.again)
        changed = self._new_places(region)
        for storage in region.written:
            if storage not in self.storages:
                self._carry_storage(storage)
                changed = True
        if changed:
            raise _Again
        self.after = self._after(region)

    def _unless_failed(self, region: Region, again: Value) -> Value:
        """Return a condition that ends a loop whose state no longer means anything."""
        failed = self.tracer.failed
        if failed is None or failed not in region.written:
            return again
        go_on: Any = np.logical_and(wrap(again), np.logical_not(wrap(failed.value)))
        return go_on._value  # type: ignore[no-any-return]  # an Array's

    def _new_places(self, region: Region) -> bool:
        """Carry the places that the body turned out to change; tell whether there are any."""
        for resized in region.resized:
            owner = resized.owner
            if isinstance(owner, List):
                stack_items(owner, resized.after)
            msg = (
                f"the loop at {self.tracer.source} changes the length of a "
                f"{type(owner).__name__}; use an array of fixed size"
            )
            raise UnsupportedError(msg)
        found = False
        for key, (slot, before, after) in region.changes.items():
            if key in self.carried or self._is_dead(slot):
                continue
            like = before
            if before is UNBOUND:
                like = after if isinstance(after, Unsure) else Unsure(True, after)
            self.carried[key] = Carried(slot, before, self._before(like))
            found = True
        return found

    def _before(self, like: Any) -> Any:
        """Return a content from before the loop, as it is carried."""
        block, self.tracer.block = self.tracer.block, self.outer
        try:
            return ordered(like)
        finally:
            self.tracer.block = block

    def _is_dead(self, slot: Slot) -> bool:
        is_name = self.cells.get(slot.name) is slot.owner
        return is_name and slot.name in self.names.stores and slot.name not in self.names.live

    def _after(self, region: Region) -> list[Value]:
        """Return the values after one iteration; start over where a type was too narrow."""
        values: list[Value] = []
        wider = False
        left: list[Any] = []
        self.held.clear()
        for key, c in self.carried.items():
            content = region.changes[key][2] if key in region.changes else c.slot.get()
            leaves = self._leaves(c, content)
            left += leaves
            self._hold(content)
            for i, (leaf, t) in enumerate(zip(leaves, c.types, strict=True)):
                both = joined(t, leaf_type(leaf))
                if both != t:
                    c.types[i] = both
                    wider = True
                values.append(to_value(leaf, c.types[i]))
        values += [s.value for s in self.storages]
        linked = self.links.learn(left, region.block)
        if self.overwritten or wider or linked or self._widened(values):
            raise _Again
        return values

    def _hold(self, content: Any) -> None:
        """Refuse a new container or object that another place holds as well: they are one."""
        inner = [content] if is_record(content) else containers_in(content)
        for x in inner:
            if self.snapshot.holds(x):
                continue
            if id(x) in self.held:
                msg = (
                    f"two places hold one {type(x).__name__} after an iteration of the loop "
                    f"at {self.tracer.source}; give one of them a copy"
                )
                raise UnsupportedError(msg)
            self.held[id(x)] = x

    def _leaves(self, c: Carried, content: Any) -> list[Any]:
        is_kept = content is not UNBOUND and (
            isinstance(c.given, Unsure) or not isinstance(content, Unsure)
        )
        if not is_kept:
            msg = f"{c.slot.name} is deleted in a loop at {self.tracer.source}"
            raise UnsupportedError(msg)
        if content is not c.given and c.is_written():
            raise written(c, self.tracer)
        pairs: list[tuple[Any, Any]] = []
        leaves: list[Any] = []
        like = rebuild(c.template, iter(c.leaves))
        if isinstance(like, Unsure) and not isinstance(content, Unsure):
            content = Unsure(True, content)
        try:
            if is_open(like) or is_open(content) or not joins(c, content):
                content = self._arranged(c, content)
                like = c.given
            flatten(content, leaves)
            unify(like, content, pairs)
        except ListsDifferError as e:
            stack_lists(self.snapshot, e)
            raise mixed(c, like, content, self.tracer) from e
        except JoinError as e:
            raise mixed(c, like, content, self.tracer) from e
        if len(leaves) != len(c.types):
            raise mixed(c, like, content, self.tracer)
        return leaves

    def _arranged(self, c: Carried, content: Any) -> Any:
        """Return a content of one of several kinds in the structure that is carried."""
        like, content = arranged(c.given, content)
        if like is c.given:
            return content
        entry = rebuild(c.template, iter(c.leaves))
        c.describe(arranged(entry, content)[0])
        self.links.forget()
        raise _Again

    def _widened(self, values: list[Value]) -> bool:
        """Give carried values free sizes where an iteration changes them."""
        avals: list[Tensor] = []
        for state, value in zip(self.states, values, strict=True):
            a, b = state.tensor, value.tensor
            if len(a.shape) == len(b.shape):
                a = Tensor(a.dtype, tuple(map(self._grown, a.shape, b.shape)), weak=a.weak)
                b = Tensor(b.dtype, tuple(map(self._expected, a.shape, b.shape)), weak=b.weak)
            fresh: dict[int, Dim] = {}
            avals.append(join_types(self.tracer, a, b, fresh, self.free))
            self.free.update(fresh)
        if all(_alike(v.tensor, aval) for v, aval in zip(self.states, avals, strict=True)):
            return False
        at = 0
        for c in self.carried.values():
            for i, t in enumerate(c.types):
                c.types[i] = Type(t.kind, t.dtype, avals[at].shape)
                at += 1
        for storage, aval in zip(self.storages, avals[at:], strict=True):
            self.storages[storage] = aval
        return True

    def _grown(self, before: DimLike, after: DimLike) -> DimLike:
        """Return the size in any iteration, of which the first is seen to make it greater."""
        if id(before) in self.free or id(before) in self.growing or same(before, after):
            return before
        more: Any = after - before
        if (lower(more) or 0) <= 0 or not visible(more, self.outer):
            return before
        size: Any = before + more * self.iteration
        if not isinstance(size, Dim):
            return before
        self.growing[id(size)] = size, before, more
        return size

    def _expected(self, size: DimLike, after: DimLike) -> DimLike:
        """Return the size after an iteration, or `size` if it has grown as it should."""
        found = self.growing.get(id(size))
        if found is None:
            return after
        _, start, more = found
        first = same(start + more, after)  # the round that has found the growth
        return size if first or same(size + more, after) else after

    def _final(self, aval: Tensor, trips: DimLike) -> Tensor:
        """Return the type of a carried value after all iterations of a plain ``for``."""
        shape = []
        for n in aval.shape:
            _, start, more = self.growing.get(id(n), (n, n, 0))
            shape.append(n if self.test is not None else start + more * trips)
        return Tensor(aval.dtype, tuple(shape), weak=aval.weak)

    # --- the equation

    def bind(self, trips: DimLike, first: Value | None) -> None:
        """Add the loop to the block around it, and give places their final content."""
        block = self.region.block
        results = self.after
        entry = [
            to_value(x, t)
            for c in self.carried.values()
            for x, t in zip(c.leaves, c.types, strict=True)
        ]
        entry += [s.value for s in self.storages]
        with_cond = self.test is not None
        if with_cond:
            assert self.again is not None  # set with `test`
            block.outputs = [self.again, *results]
        else:
            block.outputs = list(results)
        start = [first or self.tracer.constant(np.bool_(True))] if with_cond else []
        traced = Traced(block, [self._final(v.tensor, trips) for v in self.states], results)
        inputs = (dim_value(trips), *start, *entry)
        outputs, _ = bind_loop(
            self.tracer, LOOP, traced, inputs, len(entry), with_cond=with_cond
        )
        none = self._none(trips, first)
        self._finish(outputs, none)

    def _none(self, trips: DimLike, first: Value | None) -> Value | None:
        """Return whether there is no iteration, None if there surely is one."""
        with self.tracer.asking():  # a graph serves calls with and without iterations
            runs = _runs(self.tracer, trips, first)
        if isinstance(runs, bool):
            return None if runs else self.tracer.constant(np.bool_(True))
        none: Any = np.logical_not(wrap(runs))
        return none._value  # type: ignore[no-any-return]  # an Array's

    def _finish(self, results: Sequence[Value], none: Value | None) -> None:
        outputs = iter(results)
        count = len(results) - len(self.storages)
        written = dict(zip(self.storages, results[count:], strict=True))
        if self.tracer.failed in written:  # before places add checks to it
            self.tracer.failed.replace(written.pop(self.tracer.failed))
        made: list[Any] = []
        entry: list[Any] = []
        for c in self.carried.values():
            new = [
                from_value(next(outputs), t, _arrays(x))
                for x, t in zip(c.leaves, c.types, strict=True)
            ]
            made += new
            entry += c.leaves
            content = rebuild(c.template, iter(new))
            if isinstance(content, List) and isinstance(c.entry, List):
                content.freeze()  # it may be the list from before, which others may hold
            c.slot.settle(content, self.tracer)
        self.links.finish_with(none, entry, made)
        for storage, value in written.items():
            if storage in self.region.written:
                storage.replace(value)
        for name in self.names.stores - self.names.live:
            cell = self.cells.get(name)
            if cell is not None:
                self.snapshot.slot(cell, name)[1].set(UNBOUND)


def _alike(a: Tensor, b: Tensor) -> bool:
    """Whether two types have the very same sizes."""
    return all(map(same, a.shape, b.shape))


def _failing(error: Exception) -> Exception:
    if isinstance(error, AlwaysRaises):
        return error
    return AlwaysRaises(str(error)).with_traceback(error.__traceback__)


def _runs(tracer: Tracer, trips: DimLike | None, first: Value | None) -> bool | Value:
    """Return whether a loop has a first iteration."""
    runs: Any = True
    if trips is not None:
        with tracer.asking():
            runs = compare(">", trips, 0)
    if first is not None:
        runs = and_(runs, lambda: wrap(first))
    return decide(runs)


def _is_single(trips: DimLike) -> bool:
    """Whether there is one iteration: were it known to be 0, no size would grow with it."""
    most = upper(trips)
    return most is not None and most <= 1


def _arrays(x: Any) -> list[Array]:
    if isinstance(x, Array):
        return [x]
    if isinstance(x, (list, tuple)):
        return [] if rows_of(x) is not None else [a for part in x for a in _arrays(part)]
    return [a for part in x.values() for a in _arrays(part)] if type(x) is dict else []


def capture(  # noqa: PLR0913  facts about one loop
    tracer: Tracer,
    body: Callable[[Dim | None], Any],
    test: Callable[[], Any] | None,
    functions: Sequence[Any],
    names: Names,
    *,
    trips: DimLike | None,
    first: Value | None = None,
    exact: bool = False,
) -> bool:
    """Trace a loop into the graph.

    Parameters
    ----------
    body : callable
        ``body(i)`` runs an iteration.
    test : callable or None
        Whether to go on, asked after each iteration.
    functions : sequence of closures
        Whose cells the loop may change.
    trips : int, Dim or None
        Greatest number of runs.
    first : () bool, optional
        Whether the first iteration runs.
    exact : bool
        Do nothing where what the first iteration is given would lose its precision, or is
        of another kind than what it leaves.

    Returns
    -------
    bool
        Whether it is done.
    """
    tracer.mark_line()
    source = tracer.source
    controls = len(tracer.controls)

    def attempt() -> _Loop:
        loop = _Loop(tracer, body, test, functions, names)
        remaining: Any = 0
        if trips is not None and not _is_single(trips):
            remaining = trips - 1 - loop.iteration
        with tracer.env.supposing(remaining):
            loop.trace()
        return loop

    try:
        loop = settled(attempt)
    except AlwaysRaises:
        mistakes = [c for c in tracer.controls[controls:] if c.what == "raise"]
        tracer.controls[controls:] = mistakes
        runs = _runs(tracer, trips, first)
        if runs is True:
            raise
        if runs is not False:
            tracer.fail_if(runs)
        return True
    except Exception as error:
        del tracer.controls[controls:]
        if exact and isinstance(error, MixedError):
            return False
        raise
    if exact and not is_exact(loop.carried.values()):
        del tracer.controls[controls:]
        return False
    ran = surely_runs(tracer, loop.carried.values(), trips, first)
    if ran is False:
        return True
    tracer.controls.append(Control(source, "for" if trips is not None else "while", "Loop"))
    most = 2**63 - 1 if trips is None else trips
    loop.bind(most, first)
    note_entries(tracer, loop.carried.values(), ran, source)
    return True
