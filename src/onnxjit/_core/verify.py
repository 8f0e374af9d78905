# SPDX-License-Identifier: Apache-2.0
"""Checks that a program is well formed; for tests and for passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit.errors import InternalError

from .aval import Aval, Tensor
from .bind import tracing
from .dims import same
from .program import Block, Equation, Program, Value, dims_in, origins

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["verify"]


class _Checker:
    """What has been seen on the way down a program."""

    __slots__ = ("seen", "visible")

    def __init__(self) -> None:
        self.visible: set[int] = set()
        self.seen: Final[set[int]] = set()

    def block(self, block: Block, parent: Block | None) -> None:
        if block.parent is not parent:
            _fail("a block does not know the block around it")
        outer = set(self.visible)
        for value in block.inputs:
            if value.block is not block or value.equation is not None:
                _fail(f"{value!r} is not an input of its block")
            self.visible.add(value.id)
        for equation in block.equations:
            self.equation(equation, block)
        self.uses(block.outputs, "a result")
        self.visible = outer

    def equation(self, equation: Equation, block: Block) -> None:
        if equation.id in self.seen:
            _fail(f"{equation!r} stands in the program twice")
        self.seen.add(equation.id)
        self.uses(equation.inputs, f"an operand of {equation!r}")
        for dim in dims_in(equation.params.values()):
            self.uses(origins(dim), f"size {dim} of {equation!r}")
        for inner in equation.blocks:
            self.block(inner, block)
        _check_results(equation, block)
        self.visible.update(v.id for v in equation.outputs)

    def uses(self, values: Iterable[Value], what: str) -> None:
        for value in values:
            if value.known is None and value.id not in self.visible:
                _fail(f"{what}, {value!r}, is not defined before")


def _fail(text: str) -> None:
    raise InternalError(text)


def _check_results(equation: Equation, block: Block) -> None:
    for i, value in enumerate(equation.outputs):
        if value.equation is not equation or value.index != i or value.block is not block:
            _fail(f"{value!r} does not know that {equation!r} makes it")
    avals: Any = equation.op.result(*(v.aval for v in equation.inputs), **equation.params)
    if not isinstance(avals, tuple):
        avals = (avals,)
    if len(avals) != len(equation.outputs):
        _fail(f"{equation!r} has {len(equation.outputs)} results instead of {len(avals)}")
    for value, aval in zip(equation.outputs, avals, strict=True):
        if not _agree(value.aval, aval):
            _fail(f"result of {equation!r} is {value.aval}, should be {aval}")


def _agree(found: Aval, want: Aval) -> bool:
    if not isinstance(found, Tensor) or not isinstance(want, Tensor):
        return type(found) is type(want)
    if found.dtype is not want.dtype or found.ndim != want.ndim:
        return False
    return all(same(m, n) for m, n in zip(found.shape, want.shape, strict=True))


def verify(program: Program) -> Program:
    """Return the program, if it is well formed.

    Every use is dominated by its definition, inner blocks see values of the blocks around them
    only, types agree with what the operations' rules say, and nothing stands there twice.

    Raises
    ------
    InternalError
        Something does not hold; the message names the equation.
    """
    if len(program.input_names) != len(program.inputs):
        _fail("an input has no name")
    if len(program.output_names) != len(program.outputs):
        _fail("a result has no name")
    with tracing(program.block.trace):  # rules of results ask what is known of sizes
        _Checker().block(program.block, None)
    return program
