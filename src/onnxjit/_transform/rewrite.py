# SPDX-License-Identifier: Apache-2.0
"""Sweeps over a program that put values in place of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.program import Block, Equation, Program, Value

if TYPE_CHECKING:
    from onnxjit._core.aval import Aval
    from onnxjit._core.op import Op

__all__ = ["Rewrite", "Rule", "rewrite"]

#: ``rule(rewrite, equation)`` -> the value to use instead of the only result, or None
Rule = Callable[["Rewrite", Equation], Value | None]


class Rewrite:
    """One forward sweep; operands are replaced before an equation is looked at.

    Equations keep their identity, so symbolic sizes still find the values they come from.
    """

    __slots__ = ("_new", "_pending", "_rules")

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules: Final = rules
        self._new: dict[int, Value] = {}
        self._pending: list[Equation] = []

    def make(self, like: Equation, op: Op, inputs: tuple[Value, ...], **params: Any) -> Value:
        """Return the result of a new equation of the type, and from the line, of another."""
        made = Equation(op, inputs, params, source=like.source, scope=like.scope)
        aval: Aval = like.outputs[0].aval
        made.outputs = (Value(aval, like.outputs[0].block, equation=made),)
        self._pending.append(made)
        return made.outputs[0]

    def run(self, program: Program) -> bool:
        """Sweep, and say whether anything changed."""
        self._block(program.block)
        if not self._new:
            return False
        for symbol in program.block.trace.env.symbols:
            origin = symbol.origin
            if isinstance(origin, tuple) and isinstance(origin[0], Value):
                symbol.origin = (self._new.get(origin[0].id, origin[0]), *origin[1:])
        return True

    def _block(self, block: Block) -> None:
        rules, new = self._rules, self._new
        done: list[Equation] = []
        for equation in block.equations:
            if new and any(v.id in new for v in equation.inputs):
                equation.inputs = tuple(new.get(v.id, v) for v in equation.inputs)
            rule = rules.get(equation.op.name)
            if rule is not None:
                better = rule(self, equation)
                if better is not None:
                    new[equation.outputs[0].id] = better
                    done += self._pending
                    self._pending.clear()
                    continue
            for inner in equation.blocks:
                self._block(inner)
            done.append(equation)
        if new:
            block.equations[:] = done
            block.outputs = [new.get(v.id, v) for v in block.outputs]


def rewrite(program: Program, rules: Mapping[str, Rule]) -> tuple[Program, bool]:
    """Apply rules, by name of operation, to each equation in order.

    The program is changed in place: that is safe, since every program is simplified the same
    way and the result is equivalent.
    """
    return program, Rewrite(rules).run(program)
