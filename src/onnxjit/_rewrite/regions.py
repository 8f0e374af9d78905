# SPDX-License-Identifier: Apache-2.0
"""Make functions of the branches of `if` and of the bodies of loops, and hooks that call them.

The functions share the user's variables. They are named like the user's function when the code
is compiled, and lie at the lines of the statements.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite.captured import guard_captured
from onnxjit._rewrite.flow import Flow, blocks, can_convert, is_exhaustive
from onnxjit._rewrite.liveness import Liveness, may_suppress
from onnxjit._rewrite.nodes import (
    ELEMENT,
    HELPER,
    PlainIf,
    at,
    called_hook,
    constant,
    function,
    hook,
    is_made,
    lazy,
    load,
    parameters,
)
from onnxjit._rewrite.operands import are_movable
from onnxjit._rewrite.reads import EVERY, Names
from onnxjit._rewrite.scope import argument_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnxjit._rewrite.liveness import Facts
    from onnxjit._rewrite.reads import Head
    from onnxjit._rewrite.scope import Scope
    from onnxjit._rewrite.source import FunctionNode

    Scopes = Mapping[FunctionNode, Scope]

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def convert(node: ast.FunctionDef, scopes: Scopes) -> None:
    """Convert the statements of a function, and of functions nested in it, in place.

    Raises
    ------
    TooDeepError
        If blocks are nested too deeply. The tree is useless then.
    """
    first = 1 if ast.get_docstring(node, clean=False) is not None else 0
    body = node.body[first:]
    scope = scopes[node]
    if not scope.pauses and can_convert(body):
        node.body[first:] = _Regions(node, scope, scopes).function(body)
    else:
        _convert_nested(body, scopes)
        _guard(node, scope)


def keep(scopes: Scopes) -> None:
    """Leave the statements of functions as they are; only operands are in other functions."""
    for node, scope in scopes.items():
        if isinstance(node, ast.FunctionDef):
            _guard(node, scope)


def _guard(node: ast.FunctionDef, scope: Scope) -> None:
    guard = _Guard(scope.bound, inside=False)
    node.body = [guard.visit(statement) for statement in node.body]


def _convert_nested(body: list[ast.stmt], scopes: Scopes) -> None:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            convert(statement, scopes)
        for owner, name in blocks(statement):
            _convert_nested(getattr(owner, name), scopes)


class _Regions:
    """Converts one function.

    `bound` is everywhere the set of variables that surely have a value.
    """

    def __init__(self, node: ast.FunctionDef, scope: Scope, scopes: Scopes) -> None:
        self._scope = scope
        self._scopes = scopes
        self._names = Names()
        self._arguments = self._names.mask(argument_names(node.args))
        self._globals = self._names.mask(scope.declared_global)
        self._outer = self._names.mask(scope.declared_nonlocal)
        self._own = self._names.mask(scope.bound)
        self._flow = Flow()
        self._live = Liveness(self._names, self._flow.go_on)
        self._stored = 0  # names that may be bound in functions made here only
        self._shared = 0  # names that nested functions of the user bind
        self._always = 0
        self._unsure = 0  # names that a branch or loop binds on some paths, or unbinds
        self._count = 0

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        place = body[0]
        body = _without_declarations(body)
        body = self._flow.function(body) if body else []
        self._live.function(body)
        binds = self._live.block(body)[0]
        self._stored = self._own & ~binds  # what never runs has been dropped
        self._own |= binds & ~(self._globals | self._outer)
        cells = self._own | self._outer
        self._shared = self._live.shared & cells
        self._always = self._live.always | ~self._own
        new, _ = self._block(body, self._arguments, inside=False)
        captured = self._names.of(self._unsure & self._own & self._live.captured)
        if captured:
            guard_captured(new, frozenset(captured), self._scopes)
        head = self._declarations(self._globals, self._outer, place)
        bound = self._names.of(self._stored & self._own & ~self._arguments)
        if bound:
            targets: list[ast.expr] = [at(ast.Name(n, ast.Store()), place) for n in bound]
            never = at(ast.Assign(targets, constant(None, place)), place)
            head.append(at(ast.If(constant(False, place), [never], []), place))
        return [*head, *new]

    def _declarations(self, wide: int, outer: int, place: ast.AST) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        if wide:
            result.append(at(ast.Global(list(self._names.of(wide))), place))
        if outer:
            result.append(at(ast.Nonlocal(list(self._names.of(outer))), place))
        return result

    # Blocks and plain statements

    def _block(
        self, body: list[ast.stmt], bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        """Convert a block; `inside` says whether it is in a function made here."""
        result: list[ast.stmt] = []
        for statement in body:
            facts = self._live.of[id(statement)]
            new, bound = self._statement(statement, facts, bound, inside=inside)
            result += new
        return result, bound

    def _statement(
        self, node: ast.stmt, facts: Facts, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        match node:
            case PlainIf():
                return self._plain_if(node, bound, inside=inside)
            case ast.If():
                return self._if(node, facts, bound, inside=inside)
            case ast.While():
                return self._while(node, facts, bound & ~facts.unbinds)
            case ast.For():
                return self._for(node, facts, bound, inside=inside)
            case ast.Try() | ast.TryStar():
                return self._try(node, facts, bound, inside=inside)
            case ast.With():
                return self._with(node, facts, bound, inside=inside)
            case ast.Match():
                return self._match(node, facts, bound, inside=inside)
            case _:
                new = self._simple(node, facts, bound, inside=inside)
                return new, (bound | facts.head.sure) & ~facts.unbinds

    def _simple(
        self, node: ast.stmt, facts: Facts, bound: int, *, inside: bool
    ) -> list[ast.stmt]:
        if isinstance(node, ast.FunctionDef):
            convert(node, self._scopes)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            # a name with an annotation cannot be nonlocal
            if node.value is None:
                return [at(ast.Pass(), node)]
            node = at(ast.Assign([node.target], node.value), node)
        missing = self._missing(facts, bound, inside=inside)
        if not missing:
            return [node]
        guarded = self._guarded(node, missing, inside=inside)
        if not isinstance(node, ast.Delete) or not inside:
            return [guarded]
        unbound = [t for t in node.targets if isinstance(t, ast.Name) and t.id in missing]
        loads = [_bound(load(t.id, t)) for t in unbound]
        return [*(at(ast.Expr(value), value) for value in loads), guarded]

    # Variables that may be unbound

    def _missing(self, facts: Facts, bound: int, *, inside: bool) -> set[str]:
        """Names that a statement reads in functions made here, and that may be unbound."""
        return self._unbound(self._reads(facts.head, inside=inside), bound)

    def _reads(self, head: Head, *, inside: bool) -> int:
        """Names that may be bound elsewhere than in the function of a statement."""
        return head.reads if inside else head.made | (head.reads & self._stored)

    def _unbound(self, reads: int, bound: int) -> set[str]:
        missing = reads & self._own & ~bound
        return set(self._names.of(missing)) if missing else set()

    def _guarded(self, node: Any, missing: set[str], *, inside: bool) -> Any:
        elsewhere = set() if inside else missing & set(self._names.of(self._stored))
        if elsewhere:
            node = _Guard(elsewhere, inside=True).visit(node)
        return _Guard(missing, inside=inside).visit(node) if missing else node

    # Statements that become calls of hooks

    def _plain_if(
        self, node: ast.If, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        node.body, after = self._block(node.body, bound, inside=inside)
        node.orelse, other = self._block(node.orelse, bound, inside=inside)
        return [node], after & other

    def _if(
        self, node: ast.If, facts: Facts, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        missing = self._missing(facts, bound, inside=inside)
        test = self._guarded(node.test, missing, inside=inside)
        number = self._number()
        binds = self._live.block(node.body)[0]
        others = self._live.block(node.orelse)[0]
        then, after = self._function(f"then_{number}", node.body, binds, bound, node)
        orelse, other = self._function(f"else_{number}", node.orelse, others, bound, node)
        stores = self._cells(binds | others)
        live = stores & (facts.out | self._always)
        functions = load(then.name, node.test), load(orelse.name, node.test)
        names = self._tuples(node.test, stores, live)
        return [then, orelse, self._call("if_", node.test, test, *functions, *names)], (
            after & other
        )

    def _while(self, node: ast.While, facts: Facts, bound: int) -> tuple[list[ast.stmt], int]:
        number = self._number()
        missing = self._missing(facts, bound, inside=True)
        value = self._guarded(node.test, missing, inside=True)
        returned: list[ast.stmt] = []
        if node in self._flow.stopped and not are_movable([value.args[1].body]):
            users = value.args[1].body
            answer = at(ast.Return(users), users)
            condition = self._made(f"user_{number}", [answer], facts.head.binds, users)
            value.args[1] = load(condition.name, users)
            returned.append(condition)
        returned.append(at(ast.Return(value), node.test))
        test = self._made(f"test_{number}", returned, facts.head.binds, node)
        binds, rebinds, _, mutated = self._live.block(node.body)
        body, _ = self._function(f"body_{number}", node.body, binds, bound, node)
        functions = [load(test.name, node.test), load(body.name, node.test)]
        names = self._loop_names(
            node.test,
            facts,
            facts.head.binds | binds,
            facts.head.rebinds | rebinds,
            facts.head.mutated | mutated,
        )
        return [test, body, self._call("while_", node.test, *functions, *names)], bound

    def _for(
        self, node: ast.For, facts: Facts, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        missing = self._missing(facts, bound, inside=inside)
        iterable = self._guarded(node.iter, missing, inside=inside)
        bound &= ~facts.unbinds
        number = self._number()
        binds, rebinds, _, mutated = self._live.block(node.body)
        target = self._live.target(node.target)
        self._unsure |= (binds | target) & ~bound | facts.unbinds
        inner, _ = self._block(node.body, bound | target, inside=True)
        element = at(ast.Assign([node.target], load(ELEMENT, node.target)), node.target)
        name, both = f"body_{number}", binds | target
        body = self._made(name, [element, *inner], both, node.target, ELEMENT)
        test = self._flow.go_on.get(node)
        functions = [load(body.name, node.iter)]
        functions.append(constant(None, node.iter) if test is None else lazy(test))
        names = self._loop_names(node.iter, facts, both, rebinds | target, mutated)
        return [body, self._call("for_", node.iter, iterable, *functions, *names)], bound

    def _loop_names(
        self, place: ast.expr, facts: Facts, binds: int, rebinds: int, mutated: int
    ) -> list[ast.expr]:
        stores = self._cells(binds)
        live = stores & (facts.again | self._always)
        known = self._own | self._outer
        return self._tuples(place, stores, live, rebinds & stores, mutated & known)

    def _cells(self, binds: int) -> int:
        return (binds | self._shared) & ~self._globals

    def _tuples(self, place: ast.expr, *masks: int) -> list[ast.expr]:
        return [constant(self._names.of(mask), place) for mask in masks]

    def _call(self, name: str, place: ast.expr, *args: ast.expr) -> ast.stmt:
        return at(ast.Expr(hook(name, *args, place=place)), place)

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _function(
        self, name: str, body: list[ast.stmt], binds: int, bound: int, place: ast.AST
    ) -> tuple[ast.FunctionDef, int]:
        self._unsure |= (binds & ~bound) | self._live.block(body)[2]
        inner, after = self._block(body, bound, inside=True)
        return self._made(name, inner, binds, place), after

    def _made(
        self, name: str, body: list[ast.stmt], binds: int, place: ast.AST, *args: str
    ) -> ast.FunctionDef:
        """Make a function that stores the names `binds` where the user's function does."""
        self._stored |= binds | self._shared
        names = self._declarations(binds & self._globals, self._cells(binds), place)
        inner = [*names, *(body or [at(ast.Pass(), place)])]
        return function(f"{HELPER}_{name}", parameters(place, *args), inner, place)

    # Statements that stay, with blocks inside

    def _try(
        self, node: ast.Try | ast.TryStar, facts: Facts, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        raised = bound & ~self._live.block(node.body)[2]
        last = bound & ~facts.unbinds
        handled = _handled(node)
        node.body, after = self._block(node.body, bound, inside=inside)
        node.orelse, after = self._block(node.orelse, after, inside=inside)
        for handler in node.handlers:
            head = self._live.handler(handler)
            missing = self._unbound(self._reads(head, inside=inside), raised)
            if handler.type is not None:
                handler.type = self._guarded(handler.type, missing, inside=inside)
            handler.body, other = self._block(handler.body, raised | head.sure, inside=inside)
            after &= other & ~head.sure
        if node.handlers:
            first = node.body[0]
            item = ast.withitem(hook("trying", *handled, place=first))
            node.body = [at(ast.With([item], node.body), first)]
        lost = self._live.block(node.finalbody)[2]
        node.finalbody, final = self._block(node.finalbody, last, inside=inside)
        return [node], (after & ~lost) | (final & ~last)

    def _with(
        self, node: ast.With, facts: Facts, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        missing = self._missing(facts, bound, inside=inside)
        for item in node.items:
            item.context_expr = self._guarded(item.context_expr, missing, inside=inside)
        after = bound & ~facts.unbinds
        suppresses = may_suppress(node)
        node.body, end = self._block(node.body, bound | facts.head.sure, inside=inside)
        return [node], after if suppresses else end

    def _match(
        self, node: ast.Match, facts: Facts, bound: int, *, inside: bool
    ) -> tuple[list[ast.stmt], int]:
        missing = self._missing(facts, bound, inside=inside)
        node.subject = self._guarded(node.subject, missing, inside=inside)
        after = EVERY if is_exhaustive(node) else bound & ~facts.unbinds
        for case in node.cases:
            head = self._live.case(case)
            known = bound | head.binds
            missing = self._unbound(self._reads(head, inside=inside), known)
            if case.guard is not None:
                case.guard = self._guarded(case.guard, missing, inside=inside)
            case.body, end = self._block(case.body, known, inside=inside)
            after &= end
        return [node], after


def _without_declarations(body: list[ast.stmt]) -> list[ast.stmt]:
    """Drop `global` and `nonlocal`: they are written anew where they are needed."""
    kept = [s for s in body if not isinstance(s, ast.Global | ast.Nonlocal)]
    for statement in kept:
        for owner, name in blocks(statement):
            inner = getattr(owner, name)
            if inner:
                less = _without_declarations(inner)
                setattr(owner, name, less or [at(ast.Pass(), inner[0])])
    return kept


class _Guard(ast.NodeTransformer):
    """Let loads of variables that may be unbound say so as Python would.

    In another function than their own Python calls them free variables.
    """

    def __init__(self, names: set[str], *, inside: bool) -> None:
        self._names = names
        self._inside = inside

    def visit(self, node: ast.AST) -> Any:
        if called_hook(node) == "bound":
            return node
        if isinstance(node, ast.Name):
            wanted = self._inside and node.id in self._names
            return _bound(node) if wanted and isinstance(node.ctx, ast.Load) else node
        if isinstance(node, _COMPREHENSIONS):
            first = node.generators[0]
            first.iter = self.visit(first.iter)
            return node
        if isinstance(node, ast.Lambda):
            return self._lambda(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.args = self.visit(node.args)
            node.decorator_list = [self.visit(d) for d in node.decorator_list]
            return node
        return node if isinstance(node, ast.ClassDef) else self.generic_visit(node)

    def _lambda(self, node: ast.Lambda) -> ast.Lambda:
        if not is_made(node):
            node.args = self.visit(node.args)
            return node
        outer, self._inside = self._inside, True
        node.body = self.visit(node.body)
        self._inside = outer
        return node


def _bound(node: ast.expr) -> ast.expr:
    name = node.id  # type: ignore[attr-defined]
    return hook("bound", constant(name, node), lazy(node), place=node)


def _handled(node: ast.Try | ast.TryStar) -> list[ast.expr]:
    """Return a function that gives the types of the handlers; nothing if one takes all."""
    types = [copy.deepcopy(h.type) for h in node.handlers if h.type is not None]
    if len(types) < len(node.handlers) or not types:
        return []
    return [lazy(at(ast.Tuple(types, ast.Load()), types[0]))]
