# SPDX-License-Identifier: Apache-2.0
"""Nested blocks: `cond`, `loop` and `scan` on values.

Layout of the equations, for lowering rules and passes (inner blocks may use outer values):

=====  ==================================  ========================  =========================
op     inputs                              block inputs              block outputs
=====  ==================================  ========================  =========================
cond   pred                                none (two blocks)         results
loop   trips, [cond,] state...             i, [cond,] state...       [cond,] state..., scans...
scan   state..., sequences...              state..., elements...     state..., scans...
=====  ==================================  ========================  =========================

``params["results"]`` holds the avals of the results, ``params["states"]`` the number of
carried values, ``params["with_cond"]`` whether a loop has a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from .aval import Tensor
from .bind import Trace, bind, dim_value, running_trace
from .dims import Dim, DimLike, same, symbols_of
from .dtypes import BOOL, INT64
from .op import Op
from .program import Block, Value

__all__ = [
    "COND", "LOOP", "SCAN", "Traced", "bind_cond", "bind_loop", "carried_values", "cond",
    "join_types", "loop", "scan", "visible",
]  # fmt: skip

Values = Sequence[Value]
#: a body is traced again at most this often while shapes of carried values settle
_ROUNDS: Final = 4


def _results(*_: object, results: tuple[Tensor, ...], **__: object) -> tuple[Tensor, ...]:
    return results


def _lower_cond(e: Any, equation: Any, pred: Any) -> Any:
    return e.multi(
        "If",
        pred,
        out=tuple(v.dtype for v in equation.outputs),
        then_branch=e.block(equation, 0),
        else_branch=e.block(equation, 1),
    )


def _lower_loop(e: Any, equation: Any, trips: Any, *rest: Any) -> Any:
    with_cond = equation.params["with_cond"]
    keep_going, state = (rest[0], rest[1:]) if with_cond else (e.const(True, BOOL), rest)
    return e.multi(
        "Loop",
        trips,
        keep_going,
        *state,
        out=tuple(v.dtype for v in equation.outputs),
        body=e.block(equation, 0, loop=True, with_cond=with_cond),
    )


def _lower_scan(e: Any, equation: Any, *inputs: Any) -> Any:
    return e.multi(
        "Scan",
        *inputs,
        out=tuple(v.dtype for v in equation.outputs),
        body=e.block(equation, 0, ranked=True),
        num_scan_inputs=len(inputs) - equation.params["states"],
    )


COND: Final = Op("cond", result=_results, lower={13: _lower_cond}, may_fail=True, parts="own")
LOOP: Final = Op("loop", result=_results, lower={13: _lower_loop}, may_fail=True, parts="own")
SCAN: Final = Op("scan", result=_results, lower={13: _lower_scan}, may_fail=True, parts="own")


def _fresh(trace: Trace, name: str) -> Dim:
    """Return a size that only the run knows; `_settle` says later of which value."""
    return trace.env.symbol(name, data=True)


def _settle(outputs: Iterable[Value], fresh: dict[int, Dim]) -> None:
    """Give fresh sizes their origin: the axis of the result in which they show first."""
    for value in outputs:
        for axis, n in enumerate(value.shape):
            if isinstance(n, Dim) and id(n) in fresh:
                (symbol,) = symbols_of(fresh.pop(id(n)))
                symbol.origin = (value, axis)


def join_types(
    trace: Trace,
    a: Tensor,
    b: Tensor,
    fresh: dict[int, Dim],
    free: Iterable[int] = (),
) -> Tensor:
    """Return a type that holds both; sizes that differ become fresh, unless free already."""
    if a.dtype is not b.dtype or a.ndim != b.ndim:
        msg = f"branches or iterations give {a} and {b}: dtype and rank must agree"
        raise TypeError(msg)
    shape: list[DimLike] = []
    for m, n in zip(a.shape, b.shape, strict=True):
        if id(m) in free or same(m, n):
            shape.append(m)
        else:
            size = _fresh(trace, "joined")
            fresh[id(size)] = size
            shape.append(size)
    return Tensor(a.dtype, tuple(shape), weak=a.weak and b.weak)


def _run(trace: Trace, body: Callable[[], Values]) -> tuple[Block, list[Value]]:
    with trace.inner() as block:
        results = list(body())
        block.outputs = results
    return block, results


def visible(size: DimLike, outer: Block) -> bool:
    """Whether a size can be computed outside the block that made it."""
    if not isinstance(size, Dim):
        return True
    for symbol in symbols_of(size):
        origin = symbol.origin
        if isinstance(origin, tuple) and not outer.is_inside(origin[0].block):
            return False
    return True


def _visible(trace: Trace, aval: Tensor, fresh: dict[int, Dim]) -> Tensor:
    """Return an aval whose sizes make sense outside the inner block."""
    shape: list[DimLike] = []
    for n in aval.shape:
        if visible(n, trace.block):
            shape.append(n)
        else:
            size = _fresh(trace, "inner")
            fresh[id(size)] = size
            shape.append(size)
    return Tensor(aval.dtype, tuple(shape), weak=aval.weak)


def cond(
    pred: Value, then: Callable[[], Values], orelse: Callable[[], Values]
) -> tuple[Value, ...]:
    """Run one of two bodies.

    Parameters
    ----------
    pred : () bool
        Chooses `then` when true.
    then, orelse : callable
        Return equally many values of the same dtypes and ranks.

    Notes
    -----
    ONNX If.
    """
    trace = running_trace([pred])
    yes, _ = _run(trace, then)
    no, _ = _run(trace, orelse)
    return bind_cond(pred, yes, no)


def bind_cond(pred: Value, yes: Block, no: Block) -> tuple[Value, ...]:
    """Add a conditional with two blocks that are complete, their outputs of like types."""
    trace = running_trace([pred])
    a, b = yes.outputs, no.outputs
    if len(a) != len(b):
        msg = f"the branches return {len(a)} and {len(b)} values"
        raise TypeError(msg)
    fresh: dict[int, Dim] = {}
    results = tuple(
        join_types(
            trace, _visible(trace, x.tensor, fresh), _visible(trace, y.tensor, fresh), fresh
        )
        for x, y in zip(a, b, strict=True)
    )
    outputs = bind(COND, pred, blocks=(yes, no), results=results)
    _settle(outputs, fresh)
    return outputs


def carried_values(block: Block, avals: Sequence[Tensor], free: dict[int, Dim]) -> list[Value]:
    """Return values of a block for what is carried; sizes in `free` are theirs."""
    values = [Value(aval, block) for aval in avals]
    for value in values:
        for axis, n in enumerate(value.shape):
            if isinstance(n, Dim) and id(n) in free:
                (symbol,) = symbols_of(n)
                symbol.origin = (value, axis)
    return values


class Traced:
    """A complete loop body: its block, the types of what is carried, and its results."""

    __slots__ = ("avals", "block", "results")

    def __init__(
        self, block: Block, avals: Sequence[Tensor], results: Sequence[Value]
    ) -> None:
        self.block = block
        self.avals = list(avals)
        self.results = list(results)


class _Body:
    """A loop body traced until the shapes of its carried values hold for every iteration."""

    __slots__ = ("avals", "block", "free", "results", "states")

    def __init__(self, trace: Trace, avals: list[Tensor], body: Callable[..., Any]) -> None:
        self.avals = avals
        #: sizes that may be others in each iteration
        self.free: dict[int, Dim] = {}
        for _ in range(_ROUNDS):
            with trace.inner() as block:
                self.states = carried_values(block, self.avals, self.free)
                results = list(body(block, self.states))
                block.outputs = results
            self.block, self.results = block, results
            widened = self._widened(trace)
            if widened is None:
                return
            self.avals = widened
        msg = "the types of the carried values do not settle"
        raise TypeError(msg)

    def _widened(self, trace: Trace) -> list[Tensor] | None:
        """Return wider avals where an iteration gives another shape than it was given."""
        fresh: dict[int, Dim] = {}
        after = [v.tensor for v in self.results[: len(self.avals)]]
        joined = [
            join_types(trace, a, b, fresh, self.free)
            for a, b in zip(self.avals, after, strict=True)
        ]
        self.free.update(fresh)
        return joined if fresh else None


def loop(
    trips: Value | DimLike,
    body: Callable[..., tuple[Values, Values]],
    state: Values,
    *,
    while_true: Callable[..., Value] | None = None,
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Carry `state` through `trips` runs of `body`.

    Parameters
    ----------
    trips : () int64
        How often at most.
    body : callable
        ``body(i, *state)`` -> (new state, values to stack); dtypes and ranks stay, sizes may
        change.
    state : sequence of Value
        Initial state.
    while_true : callable, optional
        ``while_true(*state)`` -> () bool, tested before each run.

    Returns
    -------
    state, stacked : tuples of Value
        Final state, and the stacked values with a leading axis as long as the number of runs.

    Notes
    -----
    ONNX Loop.
    """
    count = trips if isinstance(trips, Value) else dim_value(trips)
    trace = running_trace([count, *state])
    with_cond = while_true is not None

    def run(block: Block, carried: list[Value]) -> list[Value]:
        counter = Value(Tensor(INT64, ()), block)
        block.inputs = [
            counter,
            *([Value(Tensor(BOOL, ()), block)] if with_cond else []),
            *carried,
        ]
        with trace.iterating() as failed:
            after, stacked = body(counter, *carried)
        ends[:] = [len(after) + len(stacked)]
        return [*after, *stacked, *failed]

    ends: list[int] = []
    traced = _Body(trace, [v.tensor for v in state], run)
    number = len(state)
    first: list[Value] = []
    if while_true is not None:
        first = [while_true(*state)]
        outer, trace.block = trace.block, traced.block
        try:
            again = while_true(*traced.results[:number])
        finally:
            trace.block = outer
        traced.block.outputs = [again, *traced.results]
    inputs = (count, *first, *state)
    made = bind_loop(trace, LOOP, traced, inputs, number, with_cond=with_cond)
    return _without_failures(trace, made, ends[0] - number)


def _without_failures(
    trace: Trace, made: tuple[tuple[Value, ...], tuple[Value, ...]], count: int
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return states and stacked values; what is stacked after them says what went wrong."""
    states, stacked = made
    for failed in stacked[count:]:
        trace.fail_if_any(failed)
    return states, stacked[:count]


def scan(
    body: Callable[..., tuple[Values, Values]], state: Values, sequences: Values
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Carry `state` along the leading axis of `sequences`.

    Parameters
    ----------
    body : callable
        ``body(*state, *elements)`` -> (new state, values to stack).
    state : sequence of Value
        Initial state; dtypes and shapes stay.
    sequences : sequence of (n, ...) Value
        Read one element at a time.

    Notes
    -----
    ONNX Scan.
    """
    trace = running_trace([*state, *sequences])

    def run(block: Block, carried: list[Value]) -> list[Value]:
        elements = [Value(Tensor(s.dtype, s.shape[1:]), block) for s in sequences]
        block.inputs = [*carried, *elements]
        with trace.iterating() as failed:
            after, stacked = body(*carried, *elements)
        ends[:] = [len(after) + len(stacked)]
        return [*after, *stacked, *failed]

    ends: list[int] = []
    traced = _Body(trace, [v.tensor for v in state], run)
    number = len(state)
    made = bind_loop(trace, SCAN, traced, (*state, *sequences), number, with_cond=False)
    return _without_failures(trace, made, ends[0] - number)


def bind_loop(
    trace: Trace,
    op: Op,
    traced: _Body | Traced,
    inputs: tuple[Value, ...],
    number: int,
    *,
    with_cond: bool,
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Add a loop or scan whose body is complete; return final state and stacked values."""
    fresh: dict[int, Dim] = {}
    results = [_visible(trace, aval, fresh) for aval in traced.avals]
    stacked = traced.results[number:]
    if stacked:
        runs = inputs[-1].shape[0] if op is SCAN else _fresh(trace, "trips")
        if isinstance(runs, Dim) and op is LOOP:
            fresh[id(runs)] = runs
        results += [
            Tensor(v.dtype, (runs, *_visible(trace, v.tensor, fresh).shape)) for v in stacked
        ]
    outputs = bind(
        op, *inputs, blocks=(traced.block,), results=tuple(results), states=number,
        with_cond=with_cond,
    )  # fmt: skip
    _settle(outputs, fresh)
    return outputs[:number], outputs[number:]
