# SPDX-License-Identifier: Apache-2.0
"""Route stores to attributes, items, globals and outer cells through hooks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from onnxjit._rewrite import nodes
from onnxjit._rewrite.nodes import HELPER
from onnxjit._rewrite.nodes import at as _at
from onnxjit._rewrite.nodes import load as _load
from onnxjit._rewrite.nodes import store as _store
from onnxjit._rewrite.scope import stored_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnxjit._rewrite.scope import Scope


class StoreRewriter(ast.NodeTransformer):
    """The part of the rewriting that concerns statements which store something.

    A value goes to its place through a temporary variable where Python's own order of
    evaluation needs one.
    """

    scope: Scope

    def __init__(self, free: frozenset[str]) -> None:
        self.free = free
        self._temporaries = 0

    def combined(self, node: ast.expr) -> ast.expr:
        """Rewrite an operand that may be any container."""
        raise NotImplementedError

    # Tools

    def hook(self, name: str, *args: ast.expr, at: ast.AST) -> ast.expr:
        """Call of a hook, placed where `at` is in the source."""
        return nodes.hook(name, *args, place=at)

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite a block; a statement may become several."""
        result: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            result.extend(new if isinstance(new, list) else [new])
        return result

    def key(self, node: ast.expr) -> ast.expr:
        """Rewrite a subscript, so that it can be an argument."""
        if isinstance(node, ast.Slice):
            parts = [self._bound(part, node) for part in (node.lower, node.upper, node.step)]
            return self.hook("slice", *parts, at=node)
        if isinstance(node, ast.Tuple):
            node.elts = [self.key(e) for e in node.elts]
            return node
        result: ast.expr = self.visit(node)
        return result

    def _bound(self, part: ast.expr | None, at: ast.AST) -> ast.expr:
        return _at(ast.Constant(None), at) if part is None else self.visit(part)

    def defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]

    def outer_kind(self, name: str) -> Literal["global", "cell"] | None:
        """Whether a name is a global or a variable of an enclosing function."""
        where = self.scope.where(name, self.free)
        if where == "local":
            return None
        return "cell" if where == "free" else "global"

    def outer_store(self, name: str) -> str | None:
        """Name of the hook to tell of a store to `name`, if it is not a local variable."""
        kind = self.outer_kind(name)
        return None if kind is None else f"store_{kind}"

    def has_place(self, target: ast.expr) -> bool:
        """Whether something else than a local variable is stored to somewhere in `target`."""
        if isinstance(target, ast.Tuple | ast.List):
            return any(map(self.has_place, target.elts))
        if isinstance(target, ast.Starred):
            return self.has_place(target.value)
        if isinstance(target, ast.Name):
            return self.outer_kind(target.id) is not None
        return isinstance(target, ast.Attribute | ast.Subscript)

    def outer_stores(self, at: ast.AST, names: Iterable[str]) -> list[ast.stmt]:
        hooks = [(self.outer_store(name), name) for name in sorted(names)]
        return [self._statement(h, ast.Constant(n), at=at) for h, n in hooks if h is not None]

    def _statement(self, name: str, *args: ast.expr, at: ast.AST) -> ast.stmt:
        return _at(ast.Expr(self.hook(name, *args, at=at)), at)

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"{HELPER}_t{self._temporaries}"

    # Assignments

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        value: ast.expr = self.visit(node.value)
        if any(isinstance(t, ast.Tuple | ast.List) for t in node.targets):
            value = self._unpackable(value, node)
        if len(node.targets) == 1:
            return self._assign(node.targets[0], value, node)
        if not any(self.has_place(t) for t in node.targets):
            node.value = value
            return [node]
        name = self._temporary()
        result = [_store(name, value, node)]
        for target in node.targets:
            result += self._assign(target, _load(name, node), node)
        return result

    def _unpackable(self, value: ast.expr, at: ast.Assign) -> ast.expr:
        if isinstance(value, ast.Tuple | ast.List) or len(at.targets) != 1:
            return value  # nothing to load; or the value itself goes to a name as well
        targets = getattr(at.targets[0], "elts", [])
        if any(isinstance(t, ast.Starred) for t in targets):
            return self.hook("iterate", value, at=at.value)
        return self.hook("iterate", value, ast.Constant(len(targets)), at=at.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return [node]
        value: ast.expr = self.visit(node.value)
        if isinstance(node.target, ast.Name) and not self.has_place(node.target):
            node.value = value
            return [node]
        return self._assign(node.target, value, node)

    def _assign(self, target: ast.expr, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        """Statements for `target = value`; `value` is rewritten, `target` is not."""
        if isinstance(target, ast.Attribute):
            place = self.visit(target.value)
            return [
                self._statement("set_attr", value, place, ast.Constant(target.attr), at=at)
            ]
        if isinstance(target, ast.Subscript):
            place, key = self.visit(target.value), self.key(target.slice)
            return [self._statement("set_item", value, place, key, at=at)]
        if not self.has_place(target):
            return [_at(ast.Assign([target], value), at)]
        if isinstance(target, ast.Name):
            hook = f"put_{self.outer_kind(target.id)}"
            return [self._statement(hook, value, ast.Constant(target.id), at=at)]
        target, later = self._through_temporaries(target, at)
        return [_at(ast.Assign([target], value), at), *later]

    def _through_temporaries(
        self, target: ast.expr, at: ast.stmt
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """Replace each leaf of a target by a variable; the statements store them in order."""
        if isinstance(target, ast.Tuple | ast.List):
            later: list[ast.stmt] = []
            for i, element in enumerate(target.elts):
                target.elts[i], more = self._through_temporaries(element, at)
                later += more
            return target, later
        if isinstance(target, ast.Starred):
            target.value, later = self._through_temporaries(target.value, at)
            return target, later
        name = self._temporary()
        stored = _at(ast.Name(name, ast.Store()), at)
        return stored, self._assign(target, _load(name, at), at)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        target = node.target
        if isinstance(target, ast.Name):
            return self._augment_name(node, target)
        place, value = self._temporary(), self._temporary()
        result = [_store(place, self.visit(target.value), node)]
        first, second, kind = self._augmented_key(target, node, result)
        old = self.hook(f"begin_{kind}", _load(place, node), first, at=node)
        result.append(_store(value, old, node))
        node.target = _at(ast.Name(value, ast.Store()), target)
        node.value = self.combined(node.value)
        args = (_load(value, node), _load(place, node), second)
        return [*result, node, self._statement(f"end_{kind}", *args, at=node)]

    def _augmented_key(
        self, target: ast.Attribute | ast.Subscript, at: ast.stmt, result: list[ast.stmt]
    ) -> tuple[ast.expr, ast.expr, str]:
        """Give the name or key for the load and for the store; a key is evaluated once."""
        if isinstance(target, ast.Attribute):
            return ast.Constant(target.attr), ast.Constant(target.attr), "attr"
        key = self._temporary()
        result.append(_store(key, self.key(target.slice), at))
        return _load(key, at), _load(key, at), "item"

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> list[ast.stmt]:
        kind = self.outer_kind(target.id)
        if kind is None:
            prelude = self._statement("inplace", _load(target.id, node), at=node)
            node.value = self.combined(node.value)
            return [prelude, node]
        name = self._temporary()
        old = self.visit(_at(ast.Name(target.id, ast.Load()), target))
        first = _store(name, self.hook("begin_name", old, at=node), node)
        node.target = _at(ast.Name(name, ast.Store()), target)
        node.value = self.combined(node.value)
        args = (_load(name, node), ast.Constant(target.id))
        return [first, node, self._statement(f"end_{kind}", *args, at=node)]

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        result: list[ast.stmt] = self.outer_stores(node, stored_names(node.targets))
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                place, name = self.visit(target.value), ast.Constant(target.attr)
                result.append(self._statement("del_attr", place, name, at=node))
            elif isinstance(target, ast.Subscript):
                place, key = self.visit(target.value), self.key(target.slice)
                result.append(self._statement("del_item", place, key, at=node))
            else:
                result.append(_at(ast.Delete([target]), node))
        return result

    # Statements with a target in their head

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        prelude = self.outer_stores(node, stored_names([node.target]))
        node.iter = self.hook("iterate", self.visit(node.iter), at=node.iter)
        later: list[ast.stmt] = []
        if self.has_place(node.target):
            node.target, later = self._through_temporaries(node.target, node)
        node.body = [*later, *self.statements(node.body)]
        node.orelse = self.statements(node.orelse)
        return [*prelude, node]

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        targets = [i.optional_vars for i in node.items if i.optional_vars is not None]
        prelude = self.outer_stores(node, stored_names(targets))
        return [*prelude, self._with(node, node.items)]

    def _with(self, node: ast.With, items: list[ast.withitem]) -> ast.stmt:
        """Nest the statement after an item whose target is an attribute or item."""
        later: list[ast.stmt] = []
        rest: list[ast.withitem] = []
        for i, item in enumerate(items):
            item.context_expr = self.visit(item.context_expr)
            if item.optional_vars is not None and self.has_place(item.optional_vars):
                target, later = self._through_temporaries(item.optional_vars, node)
                item.optional_vars = target
                items, rest = items[: i + 1], items[i + 1 :]
                break
        inner = [self._with(node, rest)] if rest else self.statements(node.body)
        return _at(ast.With(items, [*later, *inner]), node)

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [*self.outer_stores(node, stored_names([node])), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        return [*self.outer_stores(node, stored_names([node])), node]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self.visit(node.type)
        prelude = self.outer_stores(node, {node.name} if node.name else ())
        # a refusal is not an error of the user's code: the handler would hide it
        prelude.insert(0, self._statement("caught", at=node))
        node.body = [*prelude, *self.statements(node.body)]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        # Patterns must stay as they are: only dotted names and literals are allowed there.
        prelude = self.outer_stores(node.pattern, stored_names([node.pattern]))
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [*prelude, *self.statements(node.body)]
        return node
