# SPDX-License-Identifier: Apache-2.0
"""Loops made shorter: what need not be done again and again is done before, after or at once.

onnxruntime takes about a microsecond for each node of a body, whatever it computes, and
copies a carried array with each write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import DIM, bind, bind_one, tracing
from onnxjit._core.dim_atoms import Pos
from onnxjit._core.dim_polynomial import atom_poly
from onnxjit._core.dims import Dim, DimLike, dim_max, has_data, lower, same, symbols_of
from onnxjit._core.dtypes import FLOAT32, FLOAT64, INT32, INT64
from onnxjit._core.program import Block, Equation, Program, Value, dims_in
from onnxjit._core.region import COND, LOOP, visible
from onnxjit._ops.cast import CAST
from onnxjit._ops.elementwise import negative
from onnxjit._ops.gather import GATHER, GATHER_ND, gather
from onnxjit._ops.scan import cumsum
from onnxjit._ops.structure import (
    RESHAPE,
    UNSQUEEZE,
    VECTOR,
    concat,
    squeeze,
    take_range,
    unsqueeze,
)

from .batch import Batch
from .borders import take_borders
from .branches import join_branches
from .dce import sweep
from .fold import decided, folded
from .forward import forward_writes, read_places
from .places import Facts, counters, is_inside
from .scans import Scanned, fits
from .uses import all_uses, move_origins, reads, replace
from .writes import Grown, Written, grown, written

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["shorten_loops"]

_SUMS: Final = frozenset({"add", "subtract"})
_SUMMED: Final = frozenset({FLOAT32, FLOAT64, INT32, INT64})


class _Loops:
    """One sweep over a program, inner loops first."""

    __slots__ = ("changed", "new", "trace")

    def __init__(self, program: Program) -> None:
        self.trace: Final = program.block.trace
        self.new: dict[int, Value] = {}
        self.changed = False

    def block(self, block: Block, facts: Facts) -> None:
        """Rewrite the equations of a block; new ones go where they are needed."""
        equations = block.equations
        block.equations, block.shared = [], {}
        outer, self.trace.block = self.trace.block, block
        self._equations(equations, block, facts)
        if self.new:
            block.outputs = [self._now(v) for v in block.outputs]
        self.trace.block = outer

    def _equations(self, equations: list[Equation], block: Block, facts: Facts) -> None:
        for equation in equations:
            if self.new:
                equation.inputs = tuple(self._now(v) for v in equation.inputs)
            self.trace.source, self.trace.scope = equation.source, equation.scope
            better = folded(equation)
            if better is not None:
                for old, new in zip(equation.outputs, better, strict=True):
                    self.replace(old, new)
                continue
            branch = decided(equation)
            if branch is not None:
                self._splice(branch, equation, block, facts)
                continue
            if equation.op is LOOP:
                self._loop(equation, block, facts)
                continue
            for inner in equation.blocks:
                self.block(inner, facts)
            if equation.op is not COND or not self._join(equation, block, facts):
                block.equations.append(equation)

    def _splice(self, branch: Block, equation: Equation, block: Block, facts: Facts) -> None:
        """Put the only branch that runs in the place of an If."""
        for inner in branch.equations:
            for value in inner.outputs:
                value.block = block
            for below in inner.blocks:
                below.parent = block
        self._equations(branch.equations, block, facts)
        for old, new in zip(equation.outputs, branch.outputs, strict=True):
            self.replace(old, self._now(new))

    def _now(self, value: Value) -> Value:
        while value.id in self.new:
            value = self.new[value.id]
        return value

    def replace(self, old: Value, new: Value) -> None:
        """Use another value from now on."""
        self.new[old.id] = new
        self.changed = True
        move_origins(self.trace.env, {old.id: new})

    def _join(self, equation: Equation, block: Block, facts: Facts) -> bool:
        self.trace.source, self.trace.scope = equation.source, equation.scope
        results = join_branches(equation, block, facts)
        if results is None:
            return False
        for old, new in zip(equation.outputs, results, strict=True):
            self.replace(old, new)
        return True

    # --- one loop

    def _loop(self, equation: Equation, block: Block, facts: Facts) -> None:
        self.trace.source, self.trace.scope = equation.source, equation.scope
        (body,) = equation.blocks
        trips = _trips(equation)
        inner = facts
        if trips is not None:
            inner = (*facts, *_within(body, trips))
        self.block(body, inner)
        self.trace.source, self.trace.scope = equation.source, equation.scope
        left = self._pass_through(equation, body)
        if left is None:
            return
        if forward_writes(body, inner):
            self.changed = True
        self._take_borders(left, body)
        sweep(body, set())
        self.hoist(body, block, facts)
        batch = None if trips is None else Batch(body, trips, facts, inner)
        if batch is None or not batch.symbols or not _Loop(self, left, batch).run():
            block.equations.append(left)

    def _pass_through(self, equation: Equation, body: Block) -> Equation | None:
        """Let the body use the outer value of what no iteration changes.

        Returns the loop, or None where nothing is left to carry.
        """
        lead, number = 1 + equation.params["with_cond"], equation.params["states"]
        dropped: dict[int, Value] = {}
        for k in range(number):
            state, start = body.inputs[lead + k], equation.inputs[lead + k]
            is_same = body.outputs[lead - 1 + k] is state
            if is_same and _same_type(state, start, equation.outputs[k]):
                dropped[k] = start
        if not dropped:
            return equation
        replace(body, {body.inputs[lead + k].id: start for k, start in dropped.items()})
        for k, start in dropped.items():
            self.replace(body.inputs[lead + k], start)
            self.replace(equation.outputs[k], start)
        gone = {lead + k for k in dropped}
        body.inputs = [v for i, v in enumerate(body.inputs) if i not in gone]
        body.outputs = [v for i, v in enumerate(body.outputs) if i + 1 not in gone]
        kept = [v for k, v in enumerate(equation.outputs) if k not in dropped]
        if not kept:
            return None
        params = {
            **equation.params,
            "states": number - len(dropped),
            "results": tuple(v.aval for v in kept),
        }
        inputs = tuple(v for i, v in enumerate(equation.inputs) if i not in gone)
        made = Equation(
            LOOP, inputs, params, blocks=equation.blocks, source=equation.source,
            scope=equation.scope,
        )  # fmt: skip
        made.outputs = tuple(
            Value(v.aval, v.block, equation=made, index=i) for i, v in enumerate(kept)
        )
        for old, new in zip(kept, made.outputs, strict=True):
            self.replace(old, new)
        return made

    def _take_borders(self, equation: Equation, body: Block) -> None:
        lead = 1 + equation.params["with_cond"]
        for k in range(equation.params["states"]):
            state, start = body.inputs[lead + k], equation.inputs[lead + k]
            after = body.outputs[lead - 1 + k]
            if _same_type(state, start, after) and take_borders(body, state, start, after):
                self.changed = True

    def hoist(self, body: Block, block: Block, facts: Facts) -> None:
        """Move what is the same in all iterations out, unless it may fail."""
        stay: list[Equation] = []
        for equation in body.equations:
            if _may_move(equation, body, block, facts):
                for value in equation.outputs:
                    value.block = block
                block.equations.append(equation)
                self.changed = True
            else:
                stay.append(equation)
        body.equations[:] = stay


def _same_type(a: Value, *others: Value) -> bool:
    return all(
        a.dtype is b.dtype and a.ndim == b.ndim and all(map(same, a.shape, b.shape))
        for b in others
    )


def _may_move(equation: Equation, body: Block, block: Block, facts: Facts) -> bool:
    op = equation.op
    if op.stateful or equation.blocks or (op.may_fail and not _is_read(equation, facts)):
        return False
    if any(v.known is None and v.block.is_inside(body) for v in equation.inputs):
        return False
    values = (*equation.inputs, *equation.outputs)
    sizes = [*dims_in(equation.params.values())]
    sizes += [n for v in values for n in v.shape if isinstance(n, Dim)]
    if (len(equation.inputs) > 1 or op.error is not None) and any(map(has_data, sizes)):
        return False  # only the run can tell whether such sizes fit
    return all(visible(n, block) for n in sizes)


def _is_read(equation: Equation, facts: Facts) -> bool:
    """Whether an equation reads a place that is surely there."""
    if equation.op not in {GATHER, GATHER_ND}:
        return False
    x, places = equation.inputs[0], read_places(equation)
    env = x.block.trace.env
    return places is not None and all(
        is_inside(env, p, n, facts) for p, n in zip(places, x.shape, strict=False)
    )


def _trips(equation: Equation) -> DimLike | None:
    """Return the number of iterations, None where it is data or depends on a condition."""
    if equation.params["with_cond"]:
        return None
    count = equation.inputs[0]
    if count.known is not None:
        return max(int(count.known), 0)
    made = count.equation
    if made is None or made.op is not DIM:
        return None
    trips: DimLike = made.params["dim"]
    low = lower(trips)
    return trips if low is not None and low >= 0 else dim_max(trips, 0)


def _within(body: Block, trips: DimLike) -> Facts:
    """Return what an iteration knows of its counter."""
    env = body.trace.env
    if isinstance(trips, Dim) and isinstance(trips.poly.atom, Pos):
        trips = env.dim(trips.poly.atom.args[0])  # there is an iteration
    rest = [trips - 1 - env.dim(atom_poly(s)) for s in counters(env, body.inputs[0])]
    return tuple(n for n in rest if isinstance(n, Dim))


class _State:
    """A carried value: in the body, before the loop, after an iteration, after the loop."""

    __slots__ = ("after", "result", "start", "value")

    def __init__(self, value: Value, start: Value, after: Value, result: Value | None) -> None:
        self.value: Final = value
        self.start: Final = start
        self.after = after
        self.result: Final = result


class _Write:
    """An array that is not carried, what an iteration puts there, and carries for it."""

    __slots__ = ("array", "element", "last", "state")

    def __init__(self, array: Written | Grown, state: _State, element: Value) -> None:
        self.array: Final[Written | Grown] = array
        self.state: Final = state
        self.element = element
        self.last: Value | None = None


class _Loop:
    """A loop that runs as often as a size says."""

    __slots__ = (
        "batch", "body", "equation", "owner", "scans", "states", "totals", "writes",
    )  # fmt: skip

    def __init__(self, owner: _Loops, equation: Equation, batch: Batch) -> None:
        self.owner: Final = owner
        self.equation: Final = equation
        self.batch: Final = batch
        self.body: Final = batch.body
        number = equation.params["states"]
        self.states: Final = [
            _State(*parts)
            for parts in zip(
                self.body.inputs[1:], equation.inputs[1:], self.body.outputs[:number],
                equation.outputs[:number], strict=True,
            )
        ]  # fmt: skip
        #: what an iteration gives, and the stacked result
        self.scans = list(
            zip(self.body.outputs[number:], equation.outputs[number:], strict=True)
        )
        self.writes: Final[list[_Write]] = []
        #: carried values that are running totals, and what they are at last
        self.totals: Final[list[tuple[_State, Value]]] = []

    def run(self) -> bool:
        """Replace the loop by a shorter one, or by none; tell whether that was possible."""
        for state in list(self.states):
            self._take_write(state)
        self.owner.hoist(self.body, self.owner.trace.block, self.batch.outer)
        self._compute_at_once()
        left = self._left()
        frontier = self._frontier(left)
        is_scan = self._fits_scan(frontier)
        if not (self.writes or self.totals or frontier or is_scan):
            return False
        if is_scan:
            self._bind(left, self._elements(frontier))
        else:
            self._bind([*self._read_rows(frontier), *left], None)
        self.owner.changed = True
        return True

    def _fits_scan(self, frontier: Sequence[Value]) -> bool:
        """Whether the loop is left as a Scan: in calls, where nobody looks at the graph."""
        if self.batch.env.policy != "guard":
            return False
        if not all(_same_type(s.value, s.start, s.after) for s in self.states):
            return False
        states = [s.value for s in self.states]
        return fits([*states, *self._stacked(), *frontier], self.owner.trace.block)

    def _elements(self, frontier: Sequence[Value]) -> list[tuple[Value, Value]]:
        """Let the body be given the values of an iteration; return them and all values."""
        made = {v.id: Value(Tensor(v.dtype, v.shape), self.body) for v in frontier}
        self._substitute(made)
        return [(made[v.id], self.batch.rows[v.id]) for v in frontier]

    def _substitute(self, new: dict[int, Value]) -> None:
        """Put values in place of others in the body and in what is known of it."""
        replace(self.body, new)
        for state in self.states:
            state.after = new.get(state.after.id, state.after)
        for write in self.writes:
            write.element = new.get(write.element.id, write.element)
        self.scans = [(new.get(v.id, v), result) for v, result in self.scans]

    # --- arrays that are written

    def _take_write(self, state: _State) -> None:
        """Stop carrying an array that iterations write one place of, or lengthen."""
        uses = all_uses(self.body)
        read = sum(v is state.after or v is state.value for v in self.body.outputs)
        if read != 1 or not state.value.ndim or uses.get(state.after.id):
            return
        found: Written | Grown | None
        if _same_type(state.value, state.start):
            found = written(self.batch, state.value, state.after, uses.get(state.value.id, []))
        else:
            found = grown(self.batch, state.value, state.start, state.after, uses)
        if found is None:
            return
        trace = self.owner.trace
        outer, trace.block = trace.block, self.body
        write = _Write(found, state, found.element())
        trace.block = outer
        self.states.remove(state)
        self.writes.append(write)
        if found.axis is not None:
            self.batch.most = max(self.batch.most, write.element.ndim)
        for equation in found.before:
            equation.inputs = (state.start, *equation.inputs[1:])
        if isinstance(found, Written) and (found.last or found.axis is None):
            start = found.first(self.batch, state.start)
            last = write.last = Value(Tensor(start.dtype, write.element.shape), self.body)
            self._substitute({read.outputs[0].id: last for read in found.last})
            self.states.append(_State(last, start, write.element, None))

    # --- all iterations at once

    def _compute_at_once(self) -> None:
        rows = self.batch.rows
        while True:
            for equation in self.body.equations:
                if equation.outputs[0].id not in rows:
                    self.batch.all_at_once(equation)
            totals = [s for s in self.states if self._take_total(s)]
            if not totals:
                return
            self.states[:] = [s for s in self.states if s not in totals]

    def _take_total(self, state: _State) -> bool:
        """Compute the running totals of what all iterations add to a value."""
        made = state.after.equation
        if made is None or made.op.name not in _SUMS or state.value.dtype not in _SUMMED:
            return False
        a, b = made.inputs
        if b is state.value and made.op.name == "add":
            a, b = b, a
        rows = self.batch.rows.get(b.id)
        if a is not state.value or rows is None or not _same_type(b, a):
            return False
        if not _same_type(a, state.start):
            return False
        if made.op.name == "subtract":
            rows = negative(rows)
        trips = self.batch.trips
        sums = cumsum(concat([unsqueeze(state.start, [0]), rows], 0), 0)
        self.batch.rows[a.id] = take_range(sums, 0, 0, trips)
        self.batch.rows[state.after.id] = take_range(sums, 0, 1, trips)
        self.totals.append((state, squeeze(take_range(sums, 0, trips, 1), [0])))
        return True

    # --- what is left

    def _stacked(self) -> list[Value]:
        """Return what the loop has to stack."""
        given = [w.element for w in self.writes if w.array.axis is not None]
        given += [v for v, _ in self.scans]
        return list({v.id: v for v in given if v.id not in self.batch.rows}.values())

    def _left(self) -> list[Equation]:
        """Return the equations that are left for the body."""
        wanted = {v.id for v in (*(s.after for s in self.states), *self._stacked())}
        left: list[Equation] = []
        for equation in reversed(self.body.equations):
            ids = [v.id for v in equation.outputs]
            if wanted.isdisjoint(ids):
                continue
            if ids[0] in self.batch.rows and not self._is_cheap(equation):
                continue
            left.append(equation)
            wanted.update(v.id for v in reads(equation))
        return left[::-1]

    def _is_cheap(self, equation: Equation) -> bool:
        """Whether an iteration computes a value as quickly as it reads it from the rows."""
        if equation.op in {CAST, RESHAPE, UNSQUEEZE}:
            made = equation.inputs[0].equation
            return made is not None and made.op is not GATHER and self._is_cheap(made)
        if equation.op is not GATHER:
            return equation.op in {DIM, VECTOR}
        place = self.batch.place(equation.inputs[1])
        at = None if place is None else self.batch.moving(place)
        return at is not None and at.step == 1 and same(at.start, 0)

    def _frontier(self, left: Sequence[Equation]) -> list[Value]:
        """Return the values that the body reads from what was computed at once."""
        made = {v.id for e in left for v in e.outputs}
        used = [v for e in left for v in reads(e)]
        used += [s.after for s in self.states]
        found = {v.id: v for v in used if v.id in self.batch.rows and v.id not in made}
        return list(found.values())

    def _read_rows(self, frontier: Sequence[Value]) -> list[Equation]:
        """Read the values of an iteration; returns the equations that do."""
        trace = self.owner.trace
        outer, trace.block = trace.block, self.body
        before, self.body.equations = self.body.equations, []
        counter = self.body.inputs[0]
        made = {v.id: gather(self.batch.rows[v.id], counter, 0) for v in frontier}
        reading, self.body.equations = self.body.equations, before
        trace.block = outer
        self._substitute(made)
        return reading

    # --- the new loop

    def _bind(
        self, equations: list[Equation], elements: list[tuple[Value, Value]] | None
    ) -> None:
        """Add the loop that is left, and say what the results are now.

        It is a Scan where it is said which elements an iteration is given.
        """
        body, trips, rows = self.body, self.batch.trips, self.batch.rows
        body.equations = equations
        stacked, number = self._stacked(), len(self.states)
        body.inputs = [body.inputs[0], *(s.value for s in self.states)]
        body.outputs = [*(s.after for s in self.states), *stacked]
        finals = {state.value.id: last for state, last in self.totals}
        if body.outputs:
            avals = [(s.result or s.value).tensor for s in self.states]
            avals += [Tensor(v.dtype, (trips, *map(_hidden, v.shape))) for v in stacked]
            starts = [s.start for s in self.states]
            if elements is not None:
                outputs = Scanned(body, trips, starts, elements).bind()
            else:
                outputs = bind(
                    LOOP, self.equation.inputs[0], *starts, blocks=(body,),
                    results=tuple(avals), states=number, with_cond=False,
                )  # fmt: skip
            finals.update(
                (s.value.id, v) for s, v in zip(self.states, outputs[:number], strict=True)
            )
            for v, result in zip(stacked, outputs[number:], strict=True):
                is_loop = elements is None
                rows[v.id] = _sized(result, (trips, *v.shape)) if is_loop else result
        self._give_results(finals)

    def _give_results(self, finals: dict[int, Value]) -> None:
        give, rows = self.owner.replace, self.batch.rows
        for state in (*self.states, *(s for s, _ in self.totals)):
            if state.result is not None:
                give(state.result, finals[state.value.id])
        for write in self.writes:
            array, start, result = write.array, write.state.start, write.state.result
            assert result is not None  # the loop has one for each state
            if array.axis is not None:
                give(result, array.final(self.batch, start, rows[write.element.id]))
            else:
                assert write.last is not None  # such a place is carried
                give(result, array.final_place(start, finals[write.last.id]))
        for value, result in self.scans:
            give(result, rows[value.id])


def _hidden(n: DimLike) -> DimLike:
    """Return a size that is unknown where an iteration decides it: without any it is 0."""
    return n.env.symbol("inner", data=True) if isinstance(n, Dim) else n


def _sized(stacked: Value, shape: tuple[DimLike, ...]) -> Value:
    """Return stacked values in the shape that they have also without iterations."""
    for axis, n in enumerate(stacked.shape):
        if isinstance(n, Dim) and axis:
            (symbol,) = symbols_of(n)
            symbol.origin = (stacked, axis)
    return bind_one(RESHAPE, stacked, shape=shape) if stacked.ndim > 1 else stacked


def shorten_loops(program: Program) -> bool:
    """Rewrite the loops of a program in place; tell whether anything changed."""
    trace = program.block.trace
    before = trace.block, trace.source, trace.scope
    loops = _Loops(program)
    with tracing(trace):
        loops.block(program.block, ())
    trace.block, trace.source, trace.scope = before
    return loops.changed
