# SPDX-License-Identifier: Apache-2.0
"""Which scope a name of a function belongs to, without `symtable`."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Literal, TypeAlias

from onnxjit._rewrite.nodes import children

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


class _Names:
    """Collects the names bound by statements of one scope."""

    __slots__ = ("_depth", "declared_global", "declared_nonlocal", "pauses", "stored")

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()
        self.pauses = False
        self._depth = 0  # of comprehensions

    def visit(self, root: ast.AST) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                self._name(node)  # type: ignore[arg-type]
                continue
            if kind in _SPECIAL:
                if isinstance(node, _DEFINITIONS):
                    self.stored.add(node.name)
                    stack += _around(node)
                    continue
                if isinstance(node, ast.Lambda):
                    stack += _defaults(node.args)
                    continue
                if isinstance(node, _COMPREHENSIONS):
                    self._inside(node)
                    continue
                self._binding(node)
            stack += children(node)

    def _name(self, node: ast.Name) -> None:
        if not self._depth and type(node.ctx) is not ast.Load:
            self.stored.add(node.id)

    def _inside(self, node: Comprehension) -> None:
        self._depth += 1
        for child in children(node):
            self.visit(child)
        self._depth -= 1

    def _binding(self, node: ast.AST) -> None:
        match node:
            case ast.NamedExpr():
                self.stored.add(node.target.id)
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


#: kinds of nodes that bind names otherwise than by a target, or have a scope
_SPECIAL = frozenset(
    {
        *_DEFINITIONS,
        *_COMPREHENSIONS,
        ast.Lambda,
        ast.NamedExpr,
        ast.Import,
        ast.ImportFrom,
        ast.Global,
        ast.Nonlocal,
        ast.Yield,
        ast.YieldFrom,
        ast.Await,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    }
)


def _around(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.AST]:
    """Parts of a definition that the scope around it evaluates."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    return [*node.decorator_list, *_defaults(node.args)]


def _defaults(args: ast.arguments) -> list[ast.AST]:
    return [d for d in (*args.defaults, *args.kw_defaults) if d is not None]
