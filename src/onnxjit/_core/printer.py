# SPDX-License-Identifier: Apache-2.0
"""Programs as text, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .program import Block, Equation, Program, Value

__all__ = ["program_text"]

#: constants of more elements are shown by type
_SHOWN: Final = 6


class _Printer:
    """Numbers values in the order in which they appear."""

    __slots__ = ("names", "sources")

    def __init__(self, *, sources: bool) -> None:
        self.names: Final[dict[int, str]] = {}
        self.sources: Final = sources

    def name(self, value: Value) -> str:
        if value.known is not None:
            return _constant(value.known)
        return self.names.setdefault(value.id, f"%{len(self.names)}")

    def typed(self, values: Any) -> str:
        return ", ".join(f"{self.name(v)}: {v.aval}" for v in values)

    def equation(self, equation: Equation, indent: str) -> Iterator[str]:
        parts = [self.name(v) for v in equation.inputs]
        parts += [f"{k}={_param(p)}" for k, p in equation.params.items()]
        call = f"{equation.op.name}({', '.join(parts)})"
        left = f"{self.typed(equation.outputs)} = " if equation.outputs else ""
        note = f"  # {equation.source}" if self.sources and equation.source else ""
        yield f"{indent}{left}{call}{note}"
        for block in equation.blocks:
            yield from self.block(block, f"{indent}  ")

    def block(self, block: Block, indent: str) -> Iterator[str]:
        yield f"{indent}({self.typed(block.inputs)}) {{"
        for equation in block.equations:
            yield from self.equation(equation, f"{indent}  ")
        yield f"{indent}  return {', '.join(map(self.name, block.outputs))}"
        yield f"{indent}}}"


def _constant(array: np.ndarray[Any, Any]) -> str:
    if array.size <= _SHOWN:
        return f"{array.dtype}({array.tolist()})"
    return f"{array.dtype}{list(array.shape)}"


def _param(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _constant(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_param, value))}{',' if len(value) == 1 else ''})"
    return str(value)


def program_text(program: Program, *, sources: bool = False) -> str:
    """Return a program as text: inputs, one equation a line, nested blocks indented.

    Parameters
    ----------
    sources : bool
        Whether the user's line follows each equation.
    """
    printer = _Printer(sources=sources)
    for value, name in zip(program.inputs, program.input_names, strict=True):
        printer.names[value.id] = name
    return "\n".join(printer.block(program.block, ""))
