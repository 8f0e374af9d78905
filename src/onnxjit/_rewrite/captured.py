# SPDX-License-Identifier: Apache-2.0
"""Loads, in nested functions, of outer variables that have a value on some paths only."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite.nodes import called_hook, constant, hook, is_made, lazy
from onnxjit._rewrite.scope import function_scope, stored_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnxjit._rewrite.scope import Scope
    from onnxjit._rewrite.source import FunctionNode

__all__ = ["guard_captured"]

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def guard_captured(
    body: list[ast.stmt], names: frozenset[str], scopes: Mapping[FunctionNode, Scope]
) -> None:
    """Let nested functions say so as Python would where a variable of `names` is unbound."""
    guard = _Guard(names, scopes)
    for statement in body:
        guard.visit(statement)


class _Guard(ast.NodeTransformer):
    """Guards loads in the scopes inside of a function."""

    def __init__(
        self, names: frozenset[str], scopes: Mapping[FunctionNode, Scope], kind: str = ""
    ) -> None:
        self._names = names
        self._scopes = scopes
        self._kind = kind  # of the hook: none is needed in the function itself

    def visit(self, node: ast.AST) -> Any:
        if called_hook(node) in ("bound", "free"):
            return node
        if isinstance(node, ast.Name):
            wanted = bool(self._kind) and node.id in self._names
            return self._load(node) if wanted and isinstance(node.ctx, ast.Load) else node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return self._function(node)
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node)
        return self.generic_visit(node)

    def _load(self, node: ast.Name) -> ast.expr:
        return hook(self._kind, constant(node.id, node), lazy(node), place=node)

    def _inner(self, own: set[str], kind: str) -> _Guard:
        return _Guard(self._names - own, self._scopes, kind)

    def _function(self, node: Any) -> Any:
        if isinstance(node, ast.Lambda | ast.FunctionDef) and is_made(node):
            return self.generic_visit(node)
        node.args = self.visit(node.args)
        scope = self._scopes.get(node) or function_scope(node, None)
        inner = self._inner(scope.bound | scope.declared_global, "free")
        if isinstance(node, ast.Lambda):
            node.body = inner.visit(node.body)
            return node
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.body = [inner.visit(s) for s in node.body]
        return node

    def _comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        # from Python 3.12 on most comprehensions run in the frame around them
        inlined = sys.version_info >= (3, 12) and not isinstance(node, ast.GeneratorExp)
        kind = (self._kind or "bound") if inlined else "free"
        inner = self._inner(stored_names([g.target for g in node.generators]), kind)
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, inner.visit(getattr(node, field)))
        for i, generator in enumerate(node.generators):
            if i:
                generator.iter = inner.visit(generator.iter)
            generator.ifs = [inner.visit(test) for test in generator.ifs]
        return node
