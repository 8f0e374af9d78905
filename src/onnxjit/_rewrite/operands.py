# SPDX-License-Identifier: Apache-2.0
"""Route the expressions that decide, and what they evaluate later, through hooks.

Python evaluates some operands only if others say so. Such an operand is given to the hook as a
function without arguments.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite.nodes import (
    ELEMENT,
    LATE,
    PlainIf,
    at,
    children,
    constant,
    lazy,
    load,
    walk,
)
from onnxjit._rewrite.scope import comprehension_scope, stored_names
from onnxjit._rewrite.stores import StoreRewriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnxjit._rewrite.scope import Comprehension

_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
_IDENTITY = (ast.Is, ast.IsNot)
_UNHOOKED = (ast.In, ast.NotIn, *_IDENTITY)
_MEMBERSHIP = {ast.In: "contains", ast.NotIn: "lacks"}
_KINDS = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict"}
_BINDING = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: builtins that have run a generator expression, or called a key, when they return
_CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)


class OperandRewriter(StoreRewriter):
    """The part of the rewriting that concerns truth values and comprehensions."""

    def __init__(self, free: frozenset[str]) -> None:
        super().__init__(free)
        self._consumed: set[int] = set()

    def operand(self, node: ast.expr, hook: str = "whole") -> ast.expr:
        """Rewrite an expression; what is loaded from outside may be an old container."""
        raise NotImplementedError

    # Tools

    def consume(self, node: ast.Call) -> None:
        """Note which arguments of a builtin are not run after it has returned."""
        if not isinstance(node.func, ast.Name) or node.func.id not in _CONSUMERS:
            return
        if self.scope.where(node.func.id, self.free) == "global":
            self._consumed |= {id(a) for a in node.args}
            self._consumed |= {id(k.value) for k in node.keywords if k.arg == "key"}

    # Truth values

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        movable = are_movable(node.values[1:])
        values = [self.operand(v) for v in node.values]
        if not movable:
            node.values = values
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.hook(name, values[0], *map(lazy, values[1:]), at=node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.operand(node.operand)
        if isinstance(node.op, ast.Not):
            return self.hook("not_", node.operand, at=node)
        if isinstance(node.operand, ast.Constant):
            return node
        symbol = ast.Constant(_UNARY[type(node.op)])
        routed = self.hook("unary", symbol, at=node)
        return ast.copy_location(ast.Call(routed, [node.operand], []), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        movable = are_movable([node.body, node.orelse])
        node.test = self.operand(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        if not movable:
            return node
        branches = lazy(node.body), lazy(node.orelse)
        return self.hook("ifexp", node.test, *branches, at=node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        looks = not all(isinstance(op, _UNHOOKED) for op in node.ops)
        visit = self.operand if looks else self.visit
        movable = are_movable(node.comparators)
        node.left = visit(node.left)
        node.comparators = [visit(c) for c in node.comparators]
        if len(node.ops) == 1:
            return self._comparison(node)
        if not movable or all(isinstance(op, _IDENTITY) for op in node.ops):
            return node
        pairs = [
            at(ast.Tuple([constant(_SYMBOLS[type(op)], c), lazy(c)], ast.Load()), c)
            for op, c in zip(node.ops, node.comparators, strict=True)
        ]
        return self.hook("chain", node.left, *pairs, at=node)

    def _comparison(self, node: ast.Compare) -> ast.expr:
        kind, right = type(node.ops[0]), node.comparators[0]
        if kind in _MEMBERSHIP:
            return self.hook(_MEMBERSHIP[kind], node.left, right, at=node)
        symbol = ast.Constant(_SYMBOLS[kind])
        return self.hook("compare", symbol, node.left, right, at=node)

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        if node.exc is not None:
            movable = are_movable([node.exc])
            node.exc = self.visit(node.exc)
            if movable:
                node.exc = self.hook("raised", lazy(node.exc), at=node.exc)
        node.cause = None if node.cause is None else self.visit(node.cause)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        movable = node.msg is None or are_movable([node.msg])
        node.test = self.operand(node.test)
        node.msg = None if node.msg is None else self.visit(node.msg)
        if not movable:
            return node
        message = ast.Constant(None) if node.msg is None else lazy(node.msg)
        call = at(ast.Expr(self.hook("assert_", node.test, message, at=node)), node)
        return at(PlainIf(load("__debug__", node), [call], []), node)

    # Comprehensions

    def comprehension(self, node: Comprehension) -> ast.expr:
        kind = self._kind(node)
        first = node.generators[0]
        outermost = self._iterable(first)  # evaluated in the scope around
        outer, self.scope = self.scope, comprehension_scope(node, self.scope)
        for generator in node.generators:
            if generator is not first:
                generator.iter = self._iterable(generator)
            generator.ifs = [self.visit(test) for test in generator.ifs]
            generator.target = self.visit(generator.target)
        first.iter = outermost
        if isinstance(node, ast.DictComp):
            node.key = self.visit(node.key)
            node.value = self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.scope = outer
        return node if kind is None else self._mapped(node, kind, outermost)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def _iterable(self, generator: ast.comprehension) -> ast.expr:
        value: ast.expr = self.visit(generator.iter)
        if generator.is_async:
            return value
        return self.hook("iterate", value, at=generator.iter)

    def _kind(self, node: Comprehension) -> str | None:
        """Name the kind of a comprehension whose elements may be made one by one."""
        if any(g.is_async for g in node.generators):
            return None
        parts = [*_elements(node), *(g.target for g in node.generators)]
        parts += [test for g in node.generators for test in g.ifs]
        parts += [g.iter for g in node.generators[1:]]
        if not are_movable(parts) or self._outlive(node, parts):
            return None
        return _KINDS.get(type(node), "generator")

    def _outlive(self, node: Comprehension, parts: list[ast.expr]) -> bool:
        """Whether functions made by an element may see the variables of a later one."""
        targets = stored_names([g.target for g in node.generators])
        kept = (part for part in self._kept(parts) if not targets.isdisjoint(_names(part)))
        return next(kept, None) is not None

    def _kept(self, parts: Iterable[ast.AST]) -> Iterator[ast.AST]:
        stack: list[ast.AST] = list(parts)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                self.consume(node)
            if (
                isinstance(node, ast.Lambda | ast.GeneratorExp)
                and id(node) not in self._consumed
            ):
                yield node
            stack += children(node)

    def _mapped(self, node: Comprehension, kind: str, iterable: ast.expr) -> ast.expr:
        """Call of `comp`, with a function that gives the results for one element."""
        late = kind == "generator" and id(node) not in self._consumed
        name = LATE if late else ELEMENT
        element = load(name, iterable)
        node.generators[0].iter = at(ast.Tuple([element], ast.Load()), iterable)
        elements = _elements(node)
        result: Any = elements[0]
        if len(elements) == 2:
            result = at(ast.Tuple(elements, ast.Load()), node)
        # more than one result for an element may be asked for one by one
        lazily = kind == "generator" and len(node.generators) > 1
        tests = node.generators[-1].ifs
        if tests:
            lazily = len(node.generators) > 1  # what is kept is made before the next result
            test, *others = tests
            if others:
                test = self.hook("and_", test, *map(lazy, others), at=test)
            result = self.hook("kept", test, lazy(result), at=node)
            node.generators[-1].ifs = []
        made = ast.GeneratorExp if lazily else ast.ListComp
        results = at(made(result, node.generators), node)
        return self.hook("comp", ast.Constant(kind), iterable, lazy(results, name), at=node)


def _elements(node: Comprehension) -> list[ast.expr]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}


def are_movable(nodes: Iterable[ast.expr]) -> bool:
    """Whether expressions mean the same in a function of their own."""
    stack: list[ast.AST] = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, _BINDING):
            return False
        if not isinstance(node, ast.Lambda):
            stack += children(node)
    return True
