# SPDX-License-Identifier: Apache-2.0
"""Route the expressions of a function through hooks.

What Python evaluates, and in which order, stays the same: a hook gets the values that
Python has evaluated, and gives back the value to go on with.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, TypeVar

from onnxjit._rewrite.nodes import walk
from onnxjit._rewrite.operands import OperandRewriter
from onnxjit._rewrite.scope import Scope, function_scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._rewrite.source import FunctionNode

_N = TypeVar("_N", bound=ast.AST)

#: operators that lists, dicts and sets have
_OF_CONTAINERS = (ast.Add, ast.Mult, ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
    ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_FRAME_READERS = frozenset({"locals", "globals", "eval", "exec"})
_FRAME_READERS_WITHOUT_ARGUMENTS = frozenset({"vars", "dir"})
_FRAME_ATTRIBUTES = frozenset({"_getframe", "currentframe", "_current_frames"})


class ExpressionRewriter(OperandRewriter):
    """Rewrites one function and what is nested in it; class bodies are left alone.

    Parameters
    ----------
    free
        Free variables of the outermost function.
    module_names
        Names found in the module; a builtin's name counts as global only if listed here.

    Attributes
    ----------
    scopes : dict
        Scopes of the functions that were rewritten.
    """

    def __init__(self, free: frozenset[str], module_names: frozenset[str]) -> None:
        super().__init__(free)
        self.scopes: dict[FunctionNode, Scope] = {}
        self._module_names = module_names
        self._printing = False

    def rewrite(self, node: FunctionNode) -> FunctionNode:
        """Rewrite the body of the outermost function in place; its own defaults stay."""
        self.scope = self.scopes[node] = function_scope(node, None)
        self._body(node)
        return node

    def _body(self, node: FunctionNode) -> None:
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
            return
        first = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body[first:] = self.statements(node.body[first:])

    # Names, attributes, subscripts, calls

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id == "__class__":
            return node
        where = self.scope.where(node.id, self.free)
        if where == "local" or self._is_builtin(node.id, where):
            return node
        hook = "load_cell" if where == "free" else "load_global"
        return self.hook(hook, ast.Constant(node.id), node, at=node)

    def _is_builtin(self, name: str, where: str) -> bool:
        known = name in self._module_names
        return where == "global" and not known and hasattr(builtins, name)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return self.hook("attr", value, ast.Constant(node.attr), at=node)
        node.value = value
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            return self.hook("item", self.visit(node.value), self.key(node.slice), at=node)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self._is_bare_super(node):
            return self._spelled_out(node)
        self.consume(node)
        func = self.visit(node.func)
        outer, self._printing = self._printing, self._printing or _is_print(node)
        args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
            if keyword.arg is None:
                keyword.value = self.hook("whole", keyword.value, at=node)
        self._printing = outer
        routed = self.hook("call", func, at=node.func)
        return ast.copy_location(ast.Call(routed, args, node.keywords), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._formatted(self.visit(node.value), node.value)
        if node.format_spec is not None:
            self.generic_visit(node.format_spec)  # part of the text
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        return self._text(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        of_containers = isinstance(node.op, _OF_CONTAINERS)
        node.left, node.right = (
            self.combined(side) if of_containers else self.operand(side)
            for side in (node.left, node.right)
        )
        if is_text and isinstance(node.op, ast.Mod):
            node.right = self._formatted(node.right, node.right)
            return self._text(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        symbol = ast.Constant(_OPERATORS[type(node.op)])
        routed = self.hook("binary", symbol, at=node)
        return ast.copy_location(ast.Call(routed, [node.left, node.right], []), node)

    def _formatted(self, value: ast.expr, at: ast.expr) -> ast.expr:
        # what is only printed may show a size by its name
        return value if self._printing else self.hook("formatted", value, at=at)

    def _text(self, node: ast.expr) -> ast.expr:
        return node if self._printing else self.hook("text", node, at=node)

    def _is_bare_super(self, node: ast.Call) -> bool:
        if not isinstance(node.func, ast.Name) or node.func.id != "super" or node.args:
            return False
        return self._is_builtin("super", self.scope.where("super", self.free))

    def _spelled_out(self, node: ast.Call) -> ast.expr:
        # without arguments `super` looks at its frame, which may become another function's
        if self.scope.first is not None and "__class__" in self.free:
            names = "__class__", self.scope.first
            node.args = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in names]
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            value = self.hook("iterate", value, at=node.value)
        node.value = value
        return node

    # Places where Python looks at a whole container

    def operand(self, node: ast.expr, hook: str = "whole") -> ast.expr:
        """Rewrite an expression; what is loaded from outside may be an old container."""
        is_load = isinstance(node, ast.Attribute | ast.Subscript) or (
            isinstance(node, ast.Name) and self.scope.where(node.id, self.free) != "local"
        )
        result: ast.expr = self.visit(node)
        return self.hook(hook, result, at=node) if is_load else result

    def combined(self, node: ast.expr) -> ast.expr:
        """Rewrite an operand that may be any container, also one in a local variable."""
        if isinstance(node, ast.Name) and self.scope.where(node.id, self.free) == "local":
            return self.hook("now", self.visit(node), at=node)
        return self.operand(node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        pairs = zip(node.keys, node.values, strict=True)
        values = [
            self._unpacked(v) if k is None else self.operand(v, "itself") for k, v in pairs
        ]
        node.keys = [None if k is None else self.visit(k) for k in node.keys]
        node.values = values
        return node

    def _unpacked(self, node: ast.expr) -> ast.expr:
        return self.hook("whole", self.visit(node), at=node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return self._display(node)

    def visit_List(self, node: ast.List) -> ast.expr:
        display = self._display(node)
        if not isinstance(node.ctx, ast.Load):
            return display
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return self.hook("joined_list", *self._runs(node), at=node)
        return self.hook("list_", display, at=node)

    def _runs(self, node: ast.List) -> list[ast.expr]:
        """Return the parts of a list, each one a list or made one where it is evaluated."""
        parts: list[ast.expr] = []
        for e in node.elts:
            if isinstance(e, ast.Starred):
                parts.append(self.hook("spread", e.value, at=e))
            elif parts and isinstance(parts[-1], ast.List):
                parts[-1].elts.append(e)
            else:
                parts.append(ast.copy_location(ast.List([e], ast.Load()), e))
        return parts

    def visit_Set(self, node: ast.Set) -> ast.expr:
        node.elts = [self.operand(e) for e in node.elts]
        return node

    def _display(self, node: ast.Tuple | ast.List) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.elts = [self.operand(e, "itself") for e in node.elts]
        else:
            self.generic_visit(node)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.operand(node.test)
        node.body, node.orelse = self.statements(node.body), self.statements(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        node.test = self.operand(node.test)
        node.body, node.orelse = self.statements(node.body), self.statements(node.orelse)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        node.value = None if node.value is None else self.operand(node.value, "itself")
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.visit(node.value)
        hook = self.outer_store(node.target.id)
        if hook is not None:
            name = ast.Constant(node.target.id)
            node.value = self.hook(f"{hook}_value", name, node.value, at=node)
        return node

    # Nested scopes

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.defaults(node.args)
        self._nested(node, function_scope(node, self.scope))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        prelude = self.outer_stores(node, {node.name})
        node.decorator_list = self._decorators(node.decorator_list)
        self.defaults(node.args)
        self.scopes[node] = function_scope(node, self.scope)
        self._nested(node, self.scopes[node])
        return [*prelude, node]

    def _nested(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> None:
        outer, self.scope = self.scope, scope
        self._body(node)
        self.scope = outer

    def _decorators(self, decorators: list[ast.expr]) -> list[ast.expr]:
        return [self.hook("call", self.visit(d), at=d) for d in decorators]

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        prelude = self.outer_stores(node, {node.name})
        node.decorator_list = self._decorators(node.decorator_list)
        node.bases = [self.visit(b) for b in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return [*prelude, node]


def _is_print(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "print"


class Mangler(ast.NodeTransformer):
    """Writes out the names that Python mangles with the name of the class around them."""

    def __init__(self, class_name: str) -> None:
        self._prefix = f"_{class_name.lstrip('_')}" if class_name.strip("_") else ""

    def mangle(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self._prefix + name if private else name

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        # The body is mangled by its own class; what surrounds it by this one.
        node.name = self.mangle(node.name)
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases = [self.visit(b) for b in node.bases]
        return node

    def generic_visit(self, node: _N) -> _N:
        match node:
            case ast.Name(id=name):
                node.id = self.mangle(name)
            case ast.Attribute(attr=name):
                node.attr = self.mangle(name)
            case ast.arg(arg=name):
                node.arg = self.mangle(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                node.name = self.mangle(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                node.names = [self.mangle(n) for n in names]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                node.name = self.mangle(name)
            case ast.MatchStar(name=str(name)):
                node.name = self.mangle(name)
            case ast.Import() | ast.ImportFrom():
                self._aliases(node)
            case _:
                pass
        return super().generic_visit(node)  # type: ignore[return-value]

    def _aliases(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name
            if self.mangle(bound) != bound:
                alias.asname = self.mangle(bound)


def reads_frame(node: FunctionNode) -> bool:
    """Whether a function looks at its own frame, so that a copy would not do."""
    return any(_reads_frame(part) for part in _walk_function(node))


def _reads_frame(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _FRAME_ATTRIBUTES
    if isinstance(node, ast.Name):
        return node.id == "_oj" or node.id in _FRAME_ATTRIBUTES
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    name = node.func.id
    bare = not node.args and not node.keywords
    return name in _FRAME_READERS or (bare and name in _FRAME_READERS_WITHOUT_ARGUMENTS)


def _walk_function(node: FunctionNode) -> Iterator[ast.AST]:
    if isinstance(node, ast.Lambda):
        yield from walk(node.body)
        return
    for statement in node.body:
        yield from walk(statement)
