# SPDX-License-Identifier: Apache-2.0
"""Loops over single numbers as ONNX Scan, which hands an iteration its elements.

For onnxruntime an iteration of a Loop costs four times that of a Scan, and each element that
it reads or stacks is a node of its own (`benchmarks/README.md`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind, dim_value
from onnxjit._core.dims import Dim, DimLike, has_data, hint_of, lower, symbols_of
from onnxjit._core.program import Block, Equation, Value, dims_in
from onnxjit._core.region import COND, SCAN, visible
from onnxjit._ops.elementwise import greater
from onnxjit._ops.gather import gather
from onnxjit._ops.structure import (
    broadcast_to,
    concat,
    const,
    iota,
    reshape,
    take_range,
    unsqueeze,
)

from .uses import reads

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Scanned", "fits"]

#: iterations that one of a Scan does, by the operations of each and of all together
_COPIES: Final = 8
_SHORT: Final = 16
_NODES: Final = 64
#: iterations beyond which that pays
_LONG: Final = 100


def fits(values: Sequence[Value], outer: Block) -> bool:
    """Whether a Scan in a block can hand on values: no iteration may change their sizes."""
    return all(visible(n, outer) for v in values for n in v.shape)


class Scanned:
    """A loop with a known number of iterations, as a Scan.

    Parameters
    ----------
    body : Block
        Its inputs are the counter and the states, its outputs the states and what is stacked.
    trips : int or Dim
        Number of iterations.
    starts : sequence of Value
        States before the loop.
    rows : sequence of (body's value, (trips, ...) Value)
        Elements that the body reads, and those of all iterations.
    """

    __slots__ = ("body", "rows", "starts", "trips")

    def __init__(
        self,
        body: Block,
        trips: DimLike,
        starts: Sequence[Value],
        rows: Sequence[tuple[Value, Value]],
    ) -> None:
        self.body: Final = body
        self.trips: Final = trips
        self.starts: Final = list(starts)
        self.rows: Final = list(rows)

    def bind(self) -> tuple[Value, ...]:
        """Add the loop to the block around it; return final states and stacked values."""
        body = self.body
        counter, *states = body.inputs
        if self._counts(counter) or not self.rows:
            self.rows.append((counter, iota(self.trips)))
        body.inputs = [*states, *(element for element, _ in self.rows)]
        copies = self._copies()
        if copies > 1 and self._has_more_than(_LONG):
            return self._stripped(copies)
        if self._has_some():
            return self._scan()
        trace = body.trace
        trips = trace.env.resolve(self.trips)
        if isinstance(trips, int) and not trips:  # the sizes of the call say so
            return tuple(self._without_iterations())
        some = greater(dim_value(self.trips), const(np.int64(0)))
        with trace.inner() as yes:
            body.parent = yes
            yes.outputs = list(self._scan())
        with trace.inner() as no:
            no.outputs = self._without_iterations()
        return bind(COND, some, blocks=(yes, no), results=self._results())

    def _without_iterations(self) -> list[Value]:
        """Return the states as they were, and nothing stacked."""
        none = [
            broadcast_to(const(np.zeros((), v.dtype.numpy)), (0, *v.shape))
            for v in self.body.outputs[len(self.starts) :]
        ]
        return [*self.starts, *none]

    def _has_some(self) -> bool:
        """Whether there is an iteration: onnxruntime's Scan refuses to run none.

        Sizes that do not depend on data take a guard: other calls get another graph.
        """
        return self._has_more_than(0)

    def _has_more_than(self, number: int) -> bool:
        trips = self.trips
        low = lower(trips)
        if low is not None and low > number:
            return True
        hint = hint_of(trips)
        if hint is None or hint <= number or not visible(trips, self.body.trace.root):
            return False
        return not has_data(trips) and bool(trips > number)

    def _scan(self) -> tuple[Value, ...]:
        return bind(
            SCAN, *self.starts, *(rows for _, rows in self.rows), blocks=(self.body,),
            results=self._results(), states=len(self.starts), with_cond=False,
        )  # fmt: skip

    # --- several iterations at once

    def _copies(self) -> int:
        """Return how many iterations one of the Scan may do; 1 where there is no use in it."""
        body = self.body
        numbers = [*body.inputs, *body.outputs]
        if body.trace.block is not body.trace.root or any(v.ndim for v in numbers):
            return 1
        count = len(body.equations)
        if count > _SHORT or any(e.blocks or not _is_free(e, body) for e in body.equations):
            return 1
        return min(_COPIES, _NODES // max(count, 1))

    def _stripped(self, copies: int) -> tuple[Value, ...]:
        """Do several iterations in one, and what is left one by one, at least one of them."""
        number, block = len(self.starts), Block(self.body.trace, self.body.parent)
        whole: Any = (self.trips - 1) // copies
        done: Any = whole * copies
        states = [Value(Tensor(v.dtype, ()), block) for v in self.body.inputs[:number]]
        block.inputs = list(states)
        sequences: list[Value] = []
        stacked: list[list[Value]] = []
        split = [
            reshape(take_range(rows, 0, 0, done), (whole, copies)) for _, rows in self.rows
        ]
        for j in range(copies):
            elements = [Value(Tensor(v.dtype, ()), block) for v, _ in self.rows]
            block.inputs += elements
            sequences += [gather(rows, const(np.int64(j)), 1) for rows in split]
            after = self._copy(block, [*states, *elements])
            states = after[:number]
            stacked.append(after[number:])
        block.outputs = [*states, *(v for each in stacked for v in each)]
        results = [Tensor(v.dtype, ()) for v in states]
        results += [Tensor(v.dtype, (whole,)) for v in block.outputs[number:]]
        made = bind(
            SCAN, *self.starts, *sequences, blocks=(block,), results=tuple(results),
            states=number, with_cond=False,
        )  # fmt: skip
        rest = Scanned(
            self.body, self.trips - done, made[:number],
            [(v, take_range(rows, 0, done, self.trips - done)) for v, rows in self.rows],
        )._scan()  # fmt: skip
        width = len(self.body.outputs) - number
        lines = []
        for k in range(width):
            parts = [unsqueeze(made[number + j * width + k], [1]) for j in range(copies)]
            first = reshape(concat(parts, 1), (done,))
            lines.append(concat([first, rest[number + k]], 0))
        return (*rest[:number], *lines)

    def _copy(self, block: Block, inputs: list[Value]) -> list[Value]:
        """Put the body's equations into another block; return its outputs there."""
        new = dict(zip((v.id for v in self.body.inputs), inputs, strict=True))
        for equation in self.body.equations:
            operands = tuple(new.get(v.id, v) for v in equation.inputs)
            made = Equation(
                equation.op, operands, equation.params, source=equation.source,
                scope=equation.scope,
            )  # fmt: skip
            made.outputs = tuple(
                Value(v.aval, block, equation=made, index=i)
                for i, v in enumerate(equation.outputs)
            )
            new.update(zip((v.id for v in equation.outputs), made.outputs, strict=True))
            block.equations.append(made)
        return [new.get(v.id, v) for v in self.body.outputs]

    def _results(self) -> tuple[Tensor, ...]:
        number = len(self.starts)
        outputs = self.body.outputs
        results = [Tensor(v.dtype, v.shape) for v in outputs[:number]]
        results += [Tensor(v.dtype, (self.trips, *v.shape)) for v in outputs[number:]]
        return tuple(results)

    def _counts(self, counter: Value) -> bool:
        """Whether the body needs to know which iteration it is."""
        stack: list[Block] = [self.body]
        while stack:
            block = stack.pop()
            if any(v is counter for v in block.outputs):
                return True
            for equation in block.equations:
                if _reads(equation, counter):
                    return True
                stack.extend(equation.blocks)
        return False


def _is_free(equation: Equation, body: Block) -> bool:
    """Whether an equation has no sizes that an iteration decides."""
    sizes = [*dims_in(equation.params.values())]
    sizes += [n for v in equation.outputs for n in v.shape if isinstance(n, Dim)]
    return all(visible(n, body.trace.block) for n in sizes)


def _reads(equation: Equation, counter: Value) -> bool:
    if any(v is counter for v in reads(equation)):
        return True
    sizes = [*dims_in(equation.params.values())]
    sizes += [n for v in equation.outputs for n in v.shape if isinstance(n, Dim)]
    return any(
        isinstance(symbol.origin, tuple) and symbol.origin[0] is counter
        for n in sizes
        for symbol in symbols_of(n)
    )
