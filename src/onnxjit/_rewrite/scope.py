# SPDX-License-Identifier: Apache-2.0
"""Which scope a name of a function belongs to, without `symtable`."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnxjit._rewrite.source import FunctionNode

Where: TypeAlias = Literal["local", "free", "global"]
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Scope:
    """The names bound in one function or comprehension, and the scope around it.

    `first` is the first parameter of the function whose frame runs the code; `pauses` says
    whether a function is a generator or a coroutine.
    """

    __slots__ = ("bound", "declared_global", "declared_nonlocal", "first", "parent", "pauses")

    def __init__(
        self,
        bound: set[str],
        declared_global: set[str],
        parent: Scope | None,
        first: str | None = None,
    ) -> None:
        self.bound = bound
        self.declared_global = declared_global
        self.parent = parent
        self.first = first
        self.declared_nonlocal: set[str] = set()
        self.pauses = False

    def where(self, name: str, free: frozenset[str]) -> Where:
        """Say where `name` lives; `free` are the free variables of the outermost function."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.declared_global:
                return "global"
            if name in scope.bound:
                return "local"
            scope = scope.parent
        return "free" if name in free else "global"


def function_scope(node: FunctionNode, parent: Scope | None) -> Scope:
    names = _Names()
    for statement in [node.body] if isinstance(node, ast.Lambda) else node.body:
        names.visit(statement)
    bound = names.stored | set(argument_names(node.args))
    bound |= {p.name for p in getattr(node, "type_params", ())}
    bound -= names.declared_global | names.declared_nonlocal
    positional = [*node.args.posonlyargs, *node.args.args]
    first = positional[0].arg if positional else None
    scope = Scope(bound, names.declared_global, parent, first)
    scope.declared_nonlocal = names.declared_nonlocal
    scope.pauses = names.pauses
    return scope


def comprehension_scope(node: Comprehension, parent: Scope) -> Scope:
    bound: set[str] = set()
    for generator in node.generators:
        bound |= stored_names([generator.target])
    # from Python 3.12 on most comprehensions run in the frame around them
    inlined = sys.version_info >= (3, 12) and not isinstance(node, ast.GeneratorExp)
    return Scope(bound, set(), parent, parent.first if inlined else None)


def stored_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that `nodes` bind in their own scope, nested functions left out."""
    names = _Names()
    for node in nodes:
        names.visit(node)
    return names.stored


def argument_names(args: ast.arguments) -> list[str]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [a for a in (args.vararg, args.kwarg) if a is not None]
    return [a.arg for a in every]


class _Names(ast.NodeVisitor):
    """Collects the names bound by statements of one scope."""

    __slots__ = ("_depth", "declared_global", "declared_nonlocal", "pauses", "stored")

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()
        self.pauses = False
        self._depth = 0  # of comprehensions

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _DEFINITIONS):
            self.stored.add(node.name)
            self._definition(node)
        elif isinstance(node, ast.Lambda):
            self._defaults(node.args)
        elif isinstance(node, _COMPREHENSIONS):
            self._depth += 1
            self.generic_visit(node)
            self._depth -= 1
        elif isinstance(node, ast.NamedExpr):
            self.stored.add(node.target.id)
            self.visit(node.value)
        else:
            self._simple(node)
            self.generic_visit(node)

    def _simple(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not self._depth:
                self.stored.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                self.stored |= {a.asname or a.name.partition(".")[0] for a in aliases}
            case ast.Global(names=names):
                self.declared_global |= set(names)
            case ast.Nonlocal(names=names):
                self.declared_nonlocal |= set(names)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                self.pauses = True
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                self.stored.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                self.stored.add(name)
            case _:
                pass

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        outside: list[ast.AST] = [*node.decorator_list]
        if isinstance(node, ast.ClassDef):
            outside += [*node.bases, *node.keywords]
        else:
            self._defaults(node.args)
        for part in outside:
            self.visit(part)

    def _defaults(self, args: ast.arguments) -> None:
        for default in (*args.defaults, *args.kw_defaults):
            if default is not None:
                self.visit(default)
