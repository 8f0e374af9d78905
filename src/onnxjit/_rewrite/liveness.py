# SPDX-License-Identifier: Apache-2.0
"""Which variables of a function are read, bound and needed where.

Sets of names are integers, one bit a name. The tree has been through `flow`: blocks are left
at their end or by an exception.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from onnxjit._rewrite.flow import is_exhaustive
from onnxjit._rewrite.reads import EVERY, Head, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnxjit._rewrite.reads import Names

#: context managers that let exceptions pass
_OPEN_MANAGERS = frozenset(
    {"catch_warnings", "closing", "errstate", "localcontext", "nullcontext", "printoptions"}
)


class Facts:
    """What is known of a statement.

    Attributes
    ----------
    head : Head
        Of the statement itself, blocks left out.
    gen : int
        Names whose value before the statement may be read in it.
    kill : int
        Names that surely have another value after it; all, if it never ends.
    binds, rebinds, unbinds : int
        Names that it may bind or unbind; those bound by more than `op=`; those it may unbind.
    mutated : int
        Names whose object it may change in place.
    out : int
        Names whose value may be read after it.
    again : int
        For a loop, names whose value may be read after an iteration, or after the loop.
    """

    __slots__ = (
        "again",
        "binds",
        "gen",
        "head",
        "kill",
        "mutated",
        "out",
        "rebinds",
        "unbinds",
    )

    def __init__(self, head: Head) -> None:
        self.head = head
        self.gen = head.reads
        self.kill = head.sure
        self.binds = head.binds
        self.rebinds = head.rebinds
        self.unbinds = head.unbinds
        self.mutated = head.mutated
        self.out = 0
        self.again = 0


_Sums: TypeAlias = tuple[int, int]  # gen and kill of a block


class Liveness:
    """Finds the facts of each statement of one function, in two sweeps.

    Parameters
    ----------
    go_on
        For loops that may be left, what says whether they go on.
    """

    def __init__(self, names: Names, go_on: dict[ast.For, ast.expr]) -> None:
        self.names = names
        self.of: dict[int, Facts] = {}
        self._reader = Reader(names)
        self._go_on = go_on
        self._tests: dict[int, int] = {}

    def function(self, body: list[ast.stmt]) -> None:
        self._sum(body)
        self._spread(body, 0, 0)

    @property
    def always(self) -> int:
        """Names that code outside of the statements may read at any time."""
        return self._reader.always

    @property
    def captured(self) -> int:
        """Names that nested functions or comprehensions read."""
        return self._reader.always | self._reader.nested

    @property
    def shared(self) -> int:
        """Names that nested functions bind."""
        return self._reader.shared

    def block(self, body: list[ast.stmt]) -> tuple[int, int, int, int]:
        """Join what the statements of a block bind, rebind, unbind and change in place."""
        binds = rebinds = unbinds = mutated = 0
        for statement in body:
            facts = self.of[id(statement)]
            binds |= facts.binds
            rebinds |= facts.rebinds
            unbinds |= facts.unbinds
            mutated |= facts.mutated
        return binds, rebinds, unbinds, mutated

    def target(self, node: ast.expr) -> int:
        """Names that the target of a loop binds."""
        return self._reader.target(node).binds

    def handler(self, node: ast.ExceptHandler) -> Head:
        return self._reader.handler(node)

    def case(self, node: ast.match_case) -> Head:
        return self._reader.case(node)

    # Upwards: what each statement does by itself

    def _sum(self, body: list[ast.stmt]) -> _Sums:
        gen = kill = 0
        for statement in body:
            facts = self._facts(statement)
            gen |= facts.gen & ~kill
            kill |= facts.kill
        return gen, kill

    def _facts(self, node: ast.stmt) -> Facts:
        facts = self.of[id(node)] = Facts(self._reader.head(node))
        match node:
            case ast.If():
                self._sum_if(node, facts)
            case ast.While():
                gen, _ = self._sum(node.body)
                facts.gen |= gen & ~facts.kill
                self._join(facts, node.body)
            case ast.For():
                self._sum_for(node, facts)
            case ast.Try() | ast.TryStar():
                self._sum_try(node, facts)
            case ast.With():
                gen, kill = self._sum(node.body)
                facts.gen |= gen & ~facts.kill
                facts.kill |= 0 if may_suppress(node) else kill
                self._join(facts, node.body)
            case ast.Match():
                self._sum_match(node, facts)
            case _:
                pass
        return facts

    def _join(self, facts: Facts, *bodies: list[ast.stmt]) -> None:
        for body in bodies:
            binds, rebinds, unbinds, mutated = self.block(body)
            facts.binds |= binds
            facts.rebinds |= rebinds
            facts.unbinds |= unbinds
            facts.mutated |= mutated

    def _sum_if(self, node: ast.If, facts: Facts) -> None:
        gen, kill = self._sum(node.body)
        gen2, kill2 = self._sum(node.orelse)
        facts.gen |= (gen | gen2) & ~facts.kill
        facts.kill |= kill & kill2
        self._join(facts, node.body, node.orelse)

    def _sum_for(self, node: ast.For, facts: Facts) -> None:
        target = self._reader.target(node.target)
        gen, kill = self._sum(node.body)
        gen = target.reads | (gen & ~target.sure)
        test = self._go_on.get(node)
        if test is not None:
            self._tests[id(node)] = self._reader.expression(test).reads
            gen |= self._tests[id(node)] & ~(kill | target.sure)
        facts.again = gen
        facts.gen |= gen & ~facts.kill
        facts.binds |= target.binds
        facts.rebinds |= target.binds
        self._join(facts, node.body)

    def _sum_try(self, node: ast.Try | ast.TryStar, facts: Facts) -> None:
        gen, kill = self._sum([*node.body, *node.orelse])
        for handler in node.handlers:
            inner, kill2 = self._sum(handler.body)
            head = self._reader.handler(handler)
            gen |= head.reads | (inner & ~head.sure)
            kill &= kill2 | head.sure
            facts.binds |= head.binds
            facts.rebinds |= head.binds
            facts.unbinds |= head.unbinds
            self._join(facts, handler.body)
        last, kill2 = self._sum(node.finalbody)
        facts.gen |= gen | last
        facts.kill |= kill | kill2
        self._join(facts, node.body, node.orelse, node.finalbody)

    def _sum_match(self, node: ast.Match, facts: Facts) -> None:
        gen, kill = 0, EVERY
        for case in node.cases:
            head = self._reader.case(case)
            inner, kill2 = self._sum(case.body)
            gen |= head.reads | inner  # a pattern may bind some of its names and then fail
            kill &= kill2
            facts.binds |= head.binds
            facts.rebinds |= head.binds
            facts.mutated |= head.mutated
            self._join(facts, case.body)
        facts.gen |= gen & ~facts.kill
        if is_exhaustive(node):
            facts.kill |= kill

    # Downwards: what is needed after each statement

    def _spread(self, body: list[ast.stmt], out: int, caught: int) -> None:
        """Note what is live after each statement; `caught` is so wherever one may raise."""
        for statement in reversed(body):
            facts = self.of[id(statement)]
            facts.out = out | caught
            self._descend(statement, facts, out, caught)
            out = facts.gen | (out & ~facts.kill)

    def _descend(self, node: ast.stmt, facts: Facts, out: int, caught: int) -> None:
        match node:
            case ast.If():
                self._spread(node.body, out, caught)
                self._spread(node.orelse, out, caught)
            case ast.While():
                head = facts.gen | (out & ~facts.kill)
                self._spread(node.body, head, caught)
                facts.again = head | out | caught
            case ast.For():
                facts.again |= out
                test = self._tests.get(id(node), 0)
                self._spread(node.body, facts.again | test, caught)
                facts.again |= caught
            case ast.Try() | ast.TryStar():
                self._spread_try(node, out, caught)
            case ast.With():
                self._spread(node.body, out, caught | (out if may_suppress(node) else 0))
            case ast.Match():
                for case in node.cases:
                    self._spread(case.body, out, caught)
            case _:
                pass

    def _spread_try(self, node: ast.Try | ast.TryStar, out: int, caught: int) -> None:
        self._spread(node.finalbody, out, caught)
        last, kill = self._sums_of(node.finalbody)
        out = last | (out & ~kill)
        after = caught | last
        wanted = after
        for handler in node.handlers:
            self._spread(handler.body, out, after)
            head = self._reader.handler(handler)
            gen, kill = self._sums_of(handler.body)
            wanted |= head.reads | ((gen | (out & ~kill)) & ~head.sure)
        self._spread(node.orelse, out, after)
        gen, kill = self._sums_of(node.orelse)
        self._spread(node.body, gen | (out & ~kill), wanted)

    def _sums_of(self, body: list[ast.stmt]) -> _Sums:
        gen = kill = 0
        for statement in body:
            facts = self.of[id(statement)]
            gen |= facts.gen & ~kill
            kill |= facts.kill
        return gen, kill


def may_suppress(node: ast.With) -> bool:
    """Whether a `with` may go on after an exception in its body."""
    return not all(_name(item.context_expr) in _OPEN_MANAGERS for item in node.items)


def _name(node: ast.expr) -> str:
    """Last name in the callee of a call, seen through hooks."""
    if not isinstance(node, ast.Call):
        return ""
    names: Iterable[str] = (
        part.value
        for part in ast.walk(node.func)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )
    plain = [part.id for part in ast.walk(node.func) if isinstance(part, ast.Name)]
    return next(iter(names), plain[-1] if plain else "")
