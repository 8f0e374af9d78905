# SPDX-License-Identifier: Apache-2.0
"""Removal of equations that no result depends on.

Lowering leaves them out by itself; this is for programs that are shown or differentiated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxjit._core.aval import Tensor
from onnxjit._core.dims import Dim
from onnxjit._core.program import Block, Equation, Program, Value, dims_in, origins

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["drop_dead", "sweep"]


def _sizes(values: Iterable[Value]) -> Iterable[Value]:
    for value in values:
        if isinstance(value.aval, Tensor):
            for n in value.aval.shape:
                if isinstance(n, Dim):
                    yield from origins(n)


def _reads(equation: Equation) -> Iterable[Value]:
    """Yield values that an equation may read, those behind symbolic sizes included."""
    yield from equation.inputs
    yield from _sizes(equation.inputs)
    yield from _sizes(equation.outputs)
    for dim in dims_in(equation.params.values()):
        yield from origins(dim)


def sweep(block: Block, wanted: set[int]) -> bool:
    """Remove what neither results of a block nor wanted values, by id, depend on."""
    wanted.update(v.id for v in (*block.outputs, *_sizes(block.outputs)))
    kept: list[Equation] = []
    changed = False
    for equation in reversed(block.equations):
        if not any(v.id in wanted for v in equation.outputs):
            changed = True
            continue
        kept.append(equation)
        for inner in equation.blocks:
            changed |= sweep(inner, wanted)
        wanted.update(v.id for v in _reads(equation))
    if changed:
        block.equations[:] = kept[::-1]
    return changed


def drop_dead(program: Program) -> tuple[Program, bool]:
    """Remove equations whose results nobody reads, in place."""
    return program, sweep(program.block, set())
