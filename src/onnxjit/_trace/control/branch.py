# SPDX-License-Identifier: Apache-2.0
"""``if`` on a condition that only a run knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import OPPOSITE
from onnxjit._core.region import bind_cond, visible
from onnxjit._ops.structure import broadcast_to, const
from onnxjit._trace.array import Array, wrap
from onnxjit._trace.lists import List
from onnxjit._trace.raising import AlwaysRaises
from onnxjit._trace.trace import Control
from onnxjit.errors import UnsupportedError

from .aliases import Aliases
from .either import MUTABLE, Either, Unsure
from .join import (
    JoinError,
    ListsDifferError,
    Type,
    flatten,
    from_value,
    joined,
    rebuild,
    to_value,
    type_of,
    unify,
)
from .origins import Origins
from .records import as_record
from .region import (
    Region,
    at_the_end,
    entered,
    is_visible,
    settled,
    trace_region,
)
from .rows import stack_items, stack_lists
from .shared import Shared
from .slots import ITEMS, UNBOUND, Slot, Snapshot, cells_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onnxjit._core.program import Value
    from onnxjit._trace.storage import Storage
    from onnxjit._trace.trace import Tracer

    from .join import Template

__all__ = ["branch"]


def branch(
    tracer: Tracer,
    pred: Value,
    bodies: tuple[Callable[[], Any], Callable[[], Any]],
    live: Sequence[str] | None = None,
    stores: Sequence[str] = (),
    functions: Sequence[Any] | None = None,
) -> Any:
    """Trace both bodies, and make the state and the result what the condition chooses.

    Parameters
    ----------
    pred : () bool
        Chooses the first body when true.
    bodies : two callables
        Without arguments; what they return is joined and returned.
    live : sequence of str, optional
        Names of `stores` that are read later; the others become unbound.
    functions : sequence of closures, optional
        Those whose cells the bodies may change, by default the bodies.
    """
    tracer.mark_line()
    owners = bodies if functions is None else functions
    return settled(lambda: _Branch(tracer, pred, bodies, stores, live, owners).run())


class _Branch:
    """One conditional being built."""

    def __init__(
        self,
        tracer: Tracer,
        pred: Value,
        bodies: tuple[Callable[[], Any], Callable[[], Any]],
        stores: Sequence[str],
        live: Sequence[str] | None,
        functions: Sequence[Any],
    ) -> None:
        self.tracer: Final = tracer
        self.pred: Final = pred
        self.bodies: Final = bodies
        self.cells: Final = cells_of(*functions)
        self.snapshot: Final = Snapshot(self.cells, tracer.is_old, tracer.places)
        self.dead: Final = set(stores) - set(stores if live is None else live)
        self.results: list[Any] = [None, None]
        self.pairs: list[tuple[Any, Any]] = []
        self.types: list[Type] = []
        self.outputs: list[Value] = []
        self._made: list[Any] = []
        self._shared: Final = Shared(self._stays)
        self.taken: int | None = None

    def run(self) -> Any:
        """Trace, join, bind; return the joined result of the bodies."""
        regions = [self._region(0), self._region(1)]
        for region in regions:
            for resized in region.resized:
                owner = resized.owner
                if isinstance(owner, List):
                    continue
                msg = (
                    f"a {type(owner).__name__} changes its length depending on a condition "
                    f"at {self.tracer.source}; keep its length, or use arrays and masks"
                )
                raise UnsupportedError(msg)
        yes, no = regions
        if yes.error is not None and no.error is not None:
            raise AlwaysRaises(str(yes.error)) from yes.error
        if yes.error is not None or no.error is not None:
            self.taken = 0 if yes.error is None else 1
        self.tracer.controls.append(Control(self.tracer.source, "if", "If"))
        slots = self._slots(yes, no)
        result = self._unify(*self._contents(regions, self.results))
        self._shared.settle(self.tracer.source)
        storages = self._storages(yes, no)
        origins = Origins(self.tracer, (yes, no))
        origins.look(self.pairs)
        self._bind(yes, no, storages)
        self._finish(slots, storages)
        found = self._built(result)
        for _ in self._new:
            pass  # what has left for the sake of origins
        origins.note(self._made, wrap(self.pred))
        return found

    def _region(self, which: int) -> Region:
        def run(_: Any) -> None:
            narrowed = self._narrow(which)
            self.results[which] = self.bodies[which]()
            for slot, before, content in narrowed:
                if slot.get() is content:
                    slot.set(before)

        body = self.bodies[which]
        with self.tracer.env.branch(self._fact(which)), entered(self.tracer, body):
            return trace_region(self.tracer, self.snapshot, run)

    def _narrow(self, which: int) -> list[tuple[Slot, Any, Any]]:
        """Let names hold what the condition says of them, as after ``x is None``."""
        narrowed: list[tuple[Slot, Any, Any]] = []
        for name, cell in self.cells.items():
            slot = Slot(cell, name)
            before = content = slot.get()
            while isinstance(content, Either):
                first = self.tracer.follows(content.pred._value, self.pred, which == 0)
                if first is None:
                    break
                content = content.first if first else content.second
            if content is not before:
                slot.set(content)
                narrowed.append((slot, before, content))
        return narrowed

    def _fact(self, which: int) -> Any:
        """Return what is known of sizes in a body."""
        found = self.tracer.conditions.get(self.pred.id)
        if found is None or which == 0:
            return found
        kind, poly = found
        return (OPPOSITE[kind], -poly - 1 if kind == "ge" else poly)

    # --- what may differ

    def _contents(self, regions: Sequence[Region], found: Sequence[Any]) -> tuple[Any, Any]:
        """Return two contents; a body that raises leaves the choice to the other."""
        x, y = found
        if regions[0].error is not None:
            x = y
        if regions[1].error is not None:
            y = x
        return x, y

    def _slots(self, yes: Region, no: Region) -> list[tuple[Slot, Any]]:
        """Return the places that change, with how their new content is put together."""
        found: list[tuple[Slot, Any]] = []
        resized = {id(r.owner) for r in (*yes.resized, *no.resized)}
        for key in {**yes.changes, **no.changes}:
            if key[0] in resized:
                continue
            slot, before, _ = yes.changes.get(key) or no.changes[key]
            after = [r.changes[key][2] if key in r.changes else before for r in (yes, no)]
            x, y = self._contents((yes, no), after)
            if slot.name in self.dead and self.cells.get(slot.name) is slot.owner:
                found.append((slot, ("static", UNBOUND, [])))
            else:
                found.append((slot, self._unify(x, y)))
        return found + self._resized(yes, no)

    def _resized(self, yes: Region, no: Region) -> list[tuple[Slot, Any]]:
        """Return lists that have as many elements after either body, but not as before."""
        found: list[tuple[Slot, Any]] = []
        for resized in {id(r.owner): r for r in (*yes.resized, *no.resized)}.values():
            items = [region.items_of(resized) for region in (yes, no)]
            x, y = self._contents((yes, no), items)
            if len(x) != len(y):
                stack_items(resized.owner, [*x, *y])
            found.append((Slot(resized.owner, ITEMS), self._unify(tuple(x), tuple(y))))
        return found

    def _unify(self, x: Any, y: Any) -> Any:
        if self.taken is not None:
            leaves: list[Any] = []
            template = flatten((x, y)[self.taken], leaves)
            return self._taken(template, iter(leaves))
        if x is UNBOUND or y is UNBOUND:
            return self._maybe(x, y)
        apart = self._apart(x, y)
        if apart is not None:
            return apart
        start, mark = len(self.pairs), self._shared.mark()
        if x is not y and not any(map(self._stays, (x, y))):
            x, y = as_record(x, self._stays), as_record(y, self._stays)
        try:
            template = unify(x, y, self.pairs, self._shared.note, self._apart)
        except JoinError as e:
            if isinstance(e, ListsDifferError):
                stack_lists(self.snapshot, e)
            del self.pairs[start:]
            self._shared.forget(mark)
            if type(x) is tuple and type(y) is tuple and len(x) == len(y):
                return "node", x, [self._unify(m, n) for m, n in zip(x, y, strict=True)]
            return self._either(x, y)
        return template

    def _apart(self, x: Any, y: Any) -> Template | None:
        """Return how two containers are kept that others may hold, None for what is joined."""
        there = [v for v in (x, y) if isinstance(v, MUTABLE) and self._was_there(v)]
        if x is y or not there:
            return None
        if len(there) > 1 or not (isinstance(x, List) and isinstance(y, List)):
            template: Template = self._either(x, y)
            return template
        # others may hold the one that was there: it is read, but changed no more
        x.freeze()
        y.freeze()
        return None

    def _was_there(self, container: Any) -> bool:
        """Whether others may hold a container: no new one takes its place."""
        return self.tracer.holds(container) or self.snapshot.holds(container)

    def _stays(self, x: Any) -> bool:
        """Whether an object stays itself: it is older than the branch, or than the trace."""
        return self._was_there(x) or self.tracer.is_old(x)

    def _taken(self, template: Template, leaves: Iterator[Any]) -> Template:
        """Return how a content is had of the only body that does not raise."""
        kind, like, parts = template
        if kind != "leaf":
            children = [self._taken(part, leaves) for part in parts]
            if kind == "node" and isinstance(like, MUTABLE):
                self._shared.note(like, None, children)
            return kind, like, children
        leaf = next(leaves)
        if is_visible(leaf, self.tracer.block):
            return "static", leaf, []
        self.pairs.append((leaf, UNBOUND) if self.taken == 0 else (UNBOUND, leaf))
        return "leaf", None, []

    def _maybe(self, x: Any, y: Any) -> Any:
        """Return how a name is had that one body has left without a value."""
        if x is y:
            return "static", x, []
        defined = y if x is UNBOUND else x
        template, leaves = self._flat(
            defined if isinstance(defined, Unsure) else Unsure(True, defined),
            0 if y is UNBOUND else 1,
        )
        none = [False, *(UNBOUND for _ in leaves[1:])]
        self.pairs += zip(*((none, leaves) if x is UNBOUND else (leaves, none)), strict=True)
        return template

    def _either(self, x: Any, y: Any) -> Any:
        """Return how two contents are kept that no type holds: both, to be chosen from."""
        if isinstance(x, Unsure) or isinstance(y, Unsure):
            x, y = (v if isinstance(v, Unsure) else Unsure(True, v) for v in (x, y))
            defined = self._unify(x.defined, y.defined)
            return "node", x, [defined, self._either(x.content, y.content)]
        first, leaves = self._kept(x, 0)
        self.pairs += [(leaf, UNBOUND) for leaf in leaves]
        second, others = self._kept(y, 1)
        self.pairs += [(UNBOUND, leaf) for leaf in others]
        pred = wrap(self.pred)
        like = Either(pred, x, y, self.tracer.source)
        return "node", like, [("static", pred, []), first, second]

    def _kept(self, x: Any, which: int) -> tuple[Template, list[Any]]:
        """Return how one of two contents leaves its branch; what was there stays itself."""
        if isinstance(x, MUTABLE) and self._was_there(x):
            return ("static", x, []), []
        return self._flat(as_record(x, self._stays), which)

    def _flat(self, x: Any, which: int) -> tuple[Template, list[Any]]:
        leaves: list[Any] = []
        return flatten(x, leaves, self._shared.of_side(which), self._seen), leaves

    def _seen(self, x: Any) -> Any:
        return as_record(x, self._stays)

    def _storages(self, yes: Region, no: Region) -> list[tuple[Storage, Value, Value]]:
        found = []
        for storage in {**yes.written, **no.written}:
            a = yes.written.get(storage, storage.value)
            b = no.written.get(storage, storage.value)
            if a is not b:
                found.append((storage, a, b))
            else:
                found.append((storage, a, a))
        return found

    # --- the conditional

    def _bind(
        self, yes: Region, no: Region, storages: list[tuple[Storage, Value, Value]]
    ) -> None:
        self.types = [_joined(x, y) for x, y in self.pairs]
        for side, region in enumerate((yes, no)):
            with at_the_end(self.tracer, region):
                outputs = [
                    self._value(pair[side], t)
                    for pair, t in zip(self.pairs, self.types, strict=True)
                ]
            outputs += [(a, b)[side] for _, a, b in storages]
            region.block.outputs = outputs
        if region.block.outputs:
            self.outputs = list(bind_cond(self.pred, yes.block, no.block))

    def _value(self, x: Any, t: Type) -> Value:
        """Return one side's value; a name without one gets a stand-in that nobody reads."""
        if x is not UNBOUND:
            return to_value(x, t)
        if not t.shape:
            return to_value(np.zeros((), t.dtype.numpy)[()], t)
        seen = all(visible(n, self.tracer.block) for n in t.shape)
        shape = t.shape if seen else tuple(n if isinstance(n, int) else 0 for n in t.shape)
        return broadcast_to(const(np.zeros((), t.dtype.numpy)), shape)

    # --- afterwards

    def _finish(
        self, slots: list[tuple[Slot, Any]], storages: list[tuple[Storage, Value, Value]]
    ) -> None:
        self._new = self._merged()
        results = self.outputs[len(self.pairs) :]
        written = {s: v for (s, _, _), v in zip(storages, results, strict=True)}
        if self.tracer.failed in written:  # before places add checks to it
            self.tracer.failed.replace(written.pop(self.tracer.failed))
        for slot, template in slots:
            slot.settle(Either.ordered(self._built(template)), self.tracer)
        for storage, value in written.items():
            storage.replace(value)

    def _merged(self) -> Iterator[Any]:
        """Yield the joined leaves, and note whose memory each may be."""
        aliases = Aliases(self.pred, self.tracer.block)
        aliases.look(self.pairs)
        same: dict[tuple[int, int], Any] = {}
        count = len(self.pairs)
        for pair, t, value in zip(self.pairs, self.types, self.outputs[:count], strict=True):
            arrays = [x for x in pair if isinstance(x, Array) and x._nd is None]
            key = id(pair[0]), id(pair[1])
            new = same.get(key) if arrays else None
            if new is None:
                new = same[key] = from_value(value, t, arrays)
                aliases.add(new, pair)
            self._made.append(new)
            yield new

    def _built(self, template: Any) -> Any:
        return rebuild(template, self._new, self._shared.one)


def _joined(x: Any, y: Any) -> Type:
    a, b = type_of(x), type_of(y)
    if a is None or b is None:
        found = a or b
        assert found is not None  # one of two leaves is one
        return found
    return joined(a, b)
