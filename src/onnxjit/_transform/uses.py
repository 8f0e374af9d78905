# SPDX-License-Identifier: Apache-2.0
"""Who reads a value, inner blocks included, and the replacement of values there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxjit._core.program import Block, Equation, Value, dim_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnxjit._core.dims import ShapeEnv

__all__ = ["all_uses", "move_origins", "reads", "replace"]


def reads(equation: Equation) -> Iterator[Value]:
    """Yield what an equation reads of its own block and those around it."""
    yield from equation.inputs
    yield from dim_values(equation)
    for block in equation.blocks:
        yield from block.captures()


def all_uses(block: Block) -> dict[int, list[Equation]]:
    """Return the equations of a block, and of blocks in it, by id of the values they read."""
    found: dict[int, list[Equation]] = {}
    stack = [block]
    while stack:
        for equation in stack.pop().equations:
            for value in (*equation.inputs, *dim_values(equation)):
                found.setdefault(value.id, []).append(equation)
            for inner in equation.blocks:
                stack.append(inner)
                for value in inner.outputs:
                    found.setdefault(value.id, []).append(equation)
    return found


def replace(block: Block, new: Mapping[int, Value]) -> None:
    """Put values in place of others, in a block and in blocks in it."""
    if not new:
        return
    move_origins(block.trace.env, new)
    _replace(block, new)


def move_origins(env: ShapeEnv, new: Mapping[int, Value]) -> None:
    """Tell symbolic sizes where to find what was replaced."""
    for symbol in env.symbols:
        origin = symbol.origin
        if isinstance(origin, tuple) and isinstance(origin[0], Value) and origin[0].id in new:
            symbol.origin = (new[origin[0].id], *origin[1:])


def _replace(block: Block, new: Mapping[int, Value]) -> None:
    for equation in block.equations:
        if any(v.id in new for v in equation.inputs):
            equation.inputs = tuple(new.get(v.id, v) for v in equation.inputs)
        for inner in equation.blocks:
            _replace(inner, new)
    block.outputs = [new.get(v.id, v) for v in block.outputs]
