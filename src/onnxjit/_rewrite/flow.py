# SPDX-License-Identifier: Apache-2.0
"""Let `return`, `break` and `continue` set variables, so that a block always ends at its end.

What follows a statement that may have left is put into its other branch, or is guarded by
the variables. They are called flags here: `_oj_r` for a return, `_oj_b1` and `_oj_c1` for the
first loop of a function.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from onnxjit._rewrite.nodes import HELPER, PlainIf, at, constant, hook, lazy, load, store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RESULT = f"{HELPER}_rv"
RETURNED = f"{HELPER}_r"

Flags: TypeAlias = frozenset[str]
_NONE: Flags = frozenset()
_TRY = (ast.Try, ast.TryStar)
_LOOPS = (ast.For, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVING = (ast.Return, ast.Break, ast.Continue)


#: how many functions deep a block may come to lie: Python has a limit for running frames
_DEPTH = 64


class TooDeepError(Exception):
    """Blocks would be nested more deeply than Python can run."""


class Place:
    """Where a block is: inside of what becomes a function, and of which loop."""

    __slots__ = ("inside", "loop")

    def __init__(self, loop: int, *, inside: bool) -> None:
        self.loop = loop
        self.inside = inside

    @property
    def within(self) -> Place:
        return self if self.inside else Place(self.loop, inside=True)


class Flow:
    """Converts the statements of one function.

    Attributes
    ----------
    go_on : dict
        For a `for` loop that may be left, the expression that says whether it goes on.
    stopped : set
        The `while` loops whose test looks at flags before it evaluates the user's test.
    """

    def __init__(self) -> None:
        self.go_on: dict[ast.For, ast.expr] = {}
        self.stopped: set[ast.While] = set()
        self.read: set[str] = set()
        self._depth = 0
        self._loops = 0
        self._withs = 0
        self._exits: set[str] = set()  # flags that are set before `finally` or `__exit__`
        self._ends: dict[int, tuple[bool, bool]] = {}

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Convert the body of a function, without its docstring."""
        if not self.block_ends(body)[0] and _returns(body):
            # every path says what it returns, so that none has to start with a None
            body = [*body, at(ast.Return(constant(None, body[-1])), body[-1])]
        result, left = self.block(body, Place(0, inside=False))
        result = self._pruned(result)
        if RETURNED in left:
            last = result[-1]  # where Python is when it comes there
            result.append(at(ast.Return(load(RESULT, last)), last))
        if RETURNED in self.read:
            result.insert(0, self._flag(RETURNED, body[0], value=False))
        return result

    def block(self, body: list[ast.stmt], place: Place) -> tuple[list[ast.stmt], Flags]:
        """Convert a block, and name the flags that may be set after it."""
        self._depth += 1
        if self._depth > _DEPTH:
            raise TooDeepError
        result, left = self._sequence(body, place)
        self._depth -= 1
        return result, left

    def _sequence(self, body: list[ast.stmt], place: Place) -> tuple[list[ast.stmt], Flags]:
        result: list[ast.stmt] = []
        left = _NONE
        for i, statement in enumerate(body):
            rest = body[i + 1 :]
            ends, _ = self.ends(statement)
            if rest and not ends and self._took(statement, rest):
                rest = []
            new, flags = self._statement(statement, place)
            result += new
            left |= flags
            if ends or not rest:
                break
            if flags:
                guarded, more = self.block(rest, place.within)
                result.append(self._unless(flags, guarded, statement))
                left |= more
                break
        return result, left

    def _took(self, statement: ast.stmt, rest: list[ast.stmt]) -> bool:
        """Move what follows an `if` into the branch after which it runs, if only one does."""
        if not isinstance(statement, ast.If):
            return False
        if self.block_ends(statement.body) == (True, True):
            statement.orelse = [*statement.orelse, *rest]
            return True
        if self.block_ends(statement.orelse) == (True, True):
            statement.body = [*statement.body, *rest]
            return True
        return False

    # Statements

    def _statement(self, node: ast.stmt, place: Place) -> tuple[list[ast.stmt], Flags]:
        match node:
            case ast.Return():
                return self._return(node, place)
            case ast.Break():
                return self._leave(f"{HELPER}_b{place.loop}", node)
            case ast.Continue():
                return self._leave(f"{HELPER}_c{place.loop}", node)
            case ast.If():
                return self._if(node, place)
            case ast.For() | ast.While():
                return self._loop(node, place)
            case ast.Try() | ast.TryStar():
                return self._try(node, place)
            case ast.With():
                return self._with(node, place)
            case ast.Match():
                return self._match(node, place)
            case _:
                return [node], _NONE

    def _return(self, node: ast.Return, place: Place) -> tuple[list[ast.stmt], Flags]:
        if not place.inside:
            return [node], _NONE
        value = constant(None, node) if node.value is None else node.value
        flagged, flags = self._leave(RETURNED, node)
        return [store(RESULT, value, node), *flagged], flags

    def _leave(self, flag: str, place: ast.stmt) -> tuple[list[ast.stmt], Flags]:
        return [self._flag(flag, place, value=True)], frozenset((flag,))

    def _if(self, node: ast.If, place: Place) -> tuple[list[ast.stmt], Flags]:
        is_plain = isinstance(node.test, ast.Name) and node.test.id == "__debug__"
        if is_plain and not isinstance(node, PlainIf):
            node = at(PlainIf(node.test, node.body, node.orelse), node)
        inner = place if is_plain else place.within
        node.body, left = self.block(node.body, inner)
        node.orelse, more = self.block(node.orelse, inner)
        return [node], left | more

    def _loop(self, node: ast.For | ast.While, place: Place) -> tuple[list[ast.stmt], Flags]:
        self._loops += 1
        number = self._loops
        breaks, continues = f"{HELPER}_b{number}", f"{HELPER}_c{number}"
        node.body, left = self.block(node.body, Place(number, inside=True))
        if continues in self.read:
            node.body.insert(0, self._flag(continues, node, value=False))
        stop, outer = left - {continues}, left - {breaks, continues}
        if stop:
            self._go_on(node, stop)
        result: list[ast.stmt] = [node]
        if breaks in stop:
            result.insert(0, self._flag(breaks, node, value=False))
        if not node.orelse:
            return result, outer
        orelse, more = self.block(node.orelse, place.within if stop else place)
        result += [self._unless(stop, orelse, node)] if stop else orelse
        node.orelse = []
        return result, outer | more

    def _go_on(self, node: ast.For | ast.While, stop: Flags) -> None:
        test = self._none_of(stop, node)
        if isinstance(node, ast.For):
            self.go_on[node] = test
        elif isinstance(node.test, ast.Constant) and node.test.value:
            node.test = test
        else:
            node.test = hook("and_", test, lazy(node.test), place=node.test)
            self.stopped.add(node)

    def _try(self, node: ast.Try | ast.TryStar, place: Place) -> tuple[list[ast.stmt], Flags]:
        node.body, left = self.block(node.body, place)
        reset = left & self._exits
        flags = left
        for handler in node.handlers:
            handler.body, more = self.block(handler.body, place)
            handler.body[:0] = self._resets(reset, handler)
            flags |= more
        if node.orelse:
            orelse, more = self.block(node.orelse, place.within if left else place)
            guarded = [self._unless(left, orelse, node)] if left else orelse
            node.orelse = guarded
            flags |= more
        node.finalbody, _ = self.block(node.finalbody, place)
        if node.finalbody:
            self._exits |= flags
        return [node], flags

    def _with(self, node: ast.With, place: Place) -> tuple[list[ast.stmt], Flags]:
        if len(node.items) > 1:
            # an outer manager may catch what the exit of an inner one raises
            inner = at(ast.With(node.items[1:], node.body), node)
            node = at(ast.With(node.items[:1], [inner]), node)
        node.body, left = self.block(node.body, place)
        reset = left & self._exits
        self._exits |= left
        if not reset:
            return [node], left
        # an exception may have come after the flag was set, and `node` may have caught it
        self._withs += 1
        done = f"{HELPER}_w{self._withs}"
        node.body.append(store(done, constant(True, node), node))
        test = at(ast.UnaryOp(ast.Not(), load(done, node)), node)
        again = at(PlainIf(test, self._resets(reset, node), []), node)
        return [store(done, constant(False, node), node), node, again], left

    def _match(self, node: ast.Match, place: Place) -> tuple[list[ast.stmt], Flags]:
        left = _NONE
        for case in node.cases:
            case.body, more = self.block(case.body, place)
            left |= more
        return [node], left

    # Flags

    def _flag(self, flag: str, place: ast.AST, *, value: bool) -> ast.stmt:
        return store(flag, constant(value, place), place)

    def _resets(self, flags: Flags, place: ast.AST) -> list[ast.stmt]:
        return [self._flag(f, place, value=False) for f in sorted(flags)]

    def _none_of(self, flags: Flags, place: ast.AST) -> ast.expr:
        self.read |= flags
        first, *rest = (load(f, place) for f in sorted(flags))
        any_of = hook("or_", first, *map(lazy, rest), place=place) if rest else first
        return hook("not_", any_of, place=place)

    def _unless(self, flags: Flags, body: list[ast.stmt], place: ast.stmt) -> ast.stmt:
        return at(ast.If(self._none_of(flags, place), body, []), place)

    def _pruned(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Drop the stores to flags that nothing reads."""
        kept = [s for s in body if not self._is_unread(s)]
        for statement in kept:
            for owner, name in blocks(statement):
                inner = getattr(owner, name)
                if inner:
                    pruned = self._pruned(inner)
                    setattr(owner, name, pruned or [at(ast.Pass(), inner[0])])
        return kept

    def _is_unread(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return False
        name = node.targets[0].id
        is_flag = name == RETURNED or name.startswith((f"{HELPER}_b", f"{HELPER}_c"))
        return is_flag and name not in self.read

    # What never runs to its end

    def block_ends(self, body: list[ast.stmt]) -> tuple[bool, bool]:
        """Whether a block never gets to its end, and whether a jump is a reason."""
        for statement in body:
            ends = self.ends(statement)
            if ends[0]:
                return ends
        return False, False

    def ends(self, node: ast.stmt) -> tuple[bool, bool]:
        found = self._ends.get(id(node))
        if found is None:
            found = self._ends[id(node)] = self._ending(node)
        return found

    def _ending(self, node: ast.stmt) -> tuple[bool, bool]:
        match node:
            case ast.Return() | ast.Break() | ast.Continue():
                return True, True
            case ast.Raise():
                return True, False
            case ast.While(test=ast.Constant(value=True)) if not _breaks(node.body):
                return True, _returns([node])
            case ast.If():
                return _all((self.block_ends(node.body), self.block_ends(node.orelse)))
            case ast.Try() | ast.TryStar():
                main = self.block_ends([*node.body, *node.orelse])
                caught = (self.block_ends(h.body) for h in node.handlers)
                return _all((main, *caught))
            case ast.Match() if is_exhaustive(node):
                return _all(self.block_ends(case.body) for case in node.cases)
            case _:
                return False, False


def _all(ends: Iterable[tuple[bool, bool]]) -> tuple[bool, bool]:
    every = list(ends)
    return all(e for e, _ in every), any(leaves for _, leaves in every)


def is_exhaustive(node: ast.Match) -> bool:
    """Whether one of the cases always runs."""
    last = node.cases[-1]
    return last.guard is None and _is_irrefutable(last.pattern)


def _is_irrefutable(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return _is_irrefutable(pattern.patterns[-1])
    if not isinstance(pattern, ast.MatchAs):
        return False
    return pattern.pattern is None or _is_irrefutable(pattern.pattern)


def blocks(node: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """Blocks of a statement, as owner and field; nested functions and classes left out."""
    if isinstance(node, ast.If | ast.For | ast.While):
        yield node, "body"
        yield node, "orelse"
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield node, "body"
    elif isinstance(node, _TRY):
        yield node, "body"
        for handler in node.handlers:
            yield handler, "body"
        yield node, "orelse"
        yield node, "finalbody"
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield case, "body"


def can_convert(body: list[ast.stmt]) -> bool:
    """Whether no jump leaves a `finally` block, where it would stop an exception."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, _TRY) and _jumps(node.finalbody, in_loop=False):
            return False
        for owner, name in blocks(node):
            stack.extend(getattr(owner, name))
    return True


def _returns(body: list[ast.stmt]) -> bool:
    """Whether a statement in a block of a block returns."""
    stack = [(node, False) for node in body]
    while stack:
        node, inner = stack.pop()
        if inner and isinstance(node, ast.Return):
            return True
        for owner, name in blocks(node):
            stack.extend((each, True) for each in getattr(owner, name))
    return False


def _breaks(body: list[ast.stmt]) -> bool:
    """Whether a loop with this body can be left by a `break`."""
    for node in body:
        if isinstance(node, ast.Break):
            return True
        for owner, name in blocks(node):
            inner = isinstance(node, _LOOPS) and name == "body"
            if not inner and _breaks(getattr(owner, name)):
                return True
    return False


def _jumps(body: list[ast.stmt], *, in_loop: bool) -> bool:
    for node in body:
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, _LEAVING) and not in_loop:
            return True
        for owner, name in blocks(node):
            inner = in_loop or (isinstance(node, _LOOPS) and name == "body")
            if _jumps(getattr(owner, name), in_loop=inner):
                return True
    return False
