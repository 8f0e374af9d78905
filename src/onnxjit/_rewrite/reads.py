# SPDX-License-Identifier: Apache-2.0
"""Which names single statements and expressions read, bind and change in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from onnxjit._rewrite.nodes import HELPER, LATE, called_hook, children, is_made, walk
from onnxjit._rewrite.scope import function_scope, stored_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnxjit._rewrite.scope import Comprehension

EVERY = -1

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: hooks that change one of their arguments, by its place
_STORES = {
    "set_attr": 1,
    "set_item": 1,
    "del_attr": 0,
    "del_item": 0,
    "begin_attr": 0,
    "begin_item": 0,
}
_LOADS = frozenset({"attr", "item", "iterate", "itself", "now", "whole"})
_CHANGING_METHODS = frozenset(
    {"append", "clear", "extend", "fill", "insert", "itemset", "partition", "pop", "put"}
    | {"remove", "resize", "reverse", "setdefault", "sort", "update"}
)
_CHANGING_FUNCTIONS = frozenset(
    {"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle"}
)
_PRIVATE = (f"{HELPER}_t", f"{HELPER}_e", f"{HELPER}_late")


class Names:
    """A bit for each name of a function."""

    __slots__ = ("_bits", "_names")

    def __init__(self) -> None:
        self._bits: dict[str, int] = {HELPER: 0}
        self._names: list[str] = []

    def bit(self, name: str) -> int:
        found = self._bits.get(name)
        if found is None:
            found = 0
            if not name.startswith(_PRIVATE):
                found = 1 << len(self._names)
                self._names.append(name)
            self._bits[name] = found
        return found

    def mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= self.bit(name)
        return mask

    def of(self, mask: int) -> tuple[str, ...]:
        """Names in a set, in the order of the alphabet."""
        return tuple(sorted(n for i, n in enumerate(self._names) if mask >> i & 1))


class Head:
    """What a statement does itself, as sets of names; see `Facts`."""

    __slots__ = ("binds", "made", "mutated", "reads", "rebinds", "sure", "unbinds")

    def __init__(self) -> None:
        self.reads = 0
        self.binds = 0
        self.sure = 0  # surely bound or unbound
        self.rebinds = 0
        self.unbinds = 0
        self.mutated = 0
        self.made = 0  # read by functions of the rewriting

    def bind(self, mask: int) -> None:
        self.binds |= mask
        self.sure |= mask
        self.rebinds |= mask

    def add(self, other: Head) -> None:
        """Add what a part does that may not run."""
        self.reads |= other.reads
        self.binds |= other.binds
        self.rebinds |= other.rebinds
        self.mutated |= other.mutated


class Reader:
    """Looks at statements and expressions.

    Attributes
    ----------
    always : int
        Names that a nested function, or something else that runs later, mentions.
    nested : int
        Names that comprehensions read.
    shared : int
        Names that a nested function may bind.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.always = 0
        self.shared = 0
        self.nested = 0
        self._roots: dict[str, int] = {}  # what temporaries stand for

    def head(self, node: ast.stmt) -> Head:
        match node:
            case ast.If() | ast.While():
                return self.expression(node.test)
            case ast.For():
                return self.expression(node.iter)
            case ast.With():
                return self._with(node)
            case ast.Match():
                return self.expression(node.subject)
            case ast.Try() | ast.TryStar():
                return Head()
            case _:
                return self._simple(node)

    def expression(self, *nodes: ast.AST | None) -> Head:
        head = Head()
        for node in nodes:
            if node is not None:
                self._read(node, head)
        return head

    def target(self, node: ast.expr) -> Head:
        head = self.expression(node)
        head.bind(self.names.mask(stored_names([node])))
        return head

    def handler(self, node: ast.ExceptHandler) -> Head:
        head = self.expression(node.type)
        if node.name is not None:
            head.bind(self.names.bit(node.name))
            head.unbinds = head.sure
        return head

    def case(self, node: ast.match_case) -> Head:
        head = self.expression(node.pattern, node.guard)
        mask = self.names.mask(stored_names([node.pattern]))
        head.binds |= mask
        head.rebinds |= mask
        return head

    def _with(self, node: ast.With) -> Head:
        head = Head()
        for item in node.items:
            self._read(item.context_expr, head)
            if item.optional_vars is not None:
                self._read(item.optional_vars, head)
                head.bind(self.names.mask(stored_names([item.optional_vars])))
        return head

    def _simple(self, node: ast.stmt) -> Head:
        head = Head()
        bit = self.names.bit
        match node:
            case ast.Assign():
                self._assign(node, head)
            case ast.AugAssign(target=ast.Name(id=name)):
                self._read(node.value, head)
                head.reads |= bit(name)
                head.binds |= bit(name)
                head.sure |= bit(name)
                head.mutated |= bit(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                if node.value is not None:
                    self._read(node.value, head)
                    head.bind(bit(name))
            case ast.Delete():
                mask = self.names.mask(stored_names([node]))
                self._read(node, head)
                head.bind(mask)
                head.reads |= mask
                head.unbinds |= mask
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node, head)
            case ast.Import() | ast.ImportFrom():
                head.bind(self.names.mask(stored_names([node])))
            case ast.Return() | ast.Raise():
                self._read(node, head)
                head.sure = EVERY
            case _:
                self._read(node, head)
                if type(node).__name__ == "TypeAlias":
                    self._class(node)
                    head.bind(self.names.mask(stored_names([node])))
        return head

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, head: Head
    ) -> None:
        if isinstance(node, ast.ClassDef):
            self._class(node)
            head.reads |= self.names.mask(_mentioned(node))
        else:
            for part in (*node.decorator_list, node.args):
                self._read(part, head)
            self._outside(node)
        head.bind(self.names.bit(node.name))

    def _assign(self, node: ast.Assign, head: Head) -> None:
        self._read(node.value, head)
        first = node.targets[0]
        if type(first) is ast.Name and len(node.targets) == 1:
            if first.id.startswith(f"{HELPER}_t"):
                self._roots[first.id] = self._root(node.value)
            head.bind(self.names.bit(first.id))
            return
        for target in node.targets:
            self._read(target, head)
        head.bind(self.names.mask(stored_names(node.targets)))

    # Expressions

    def _read(self, root: ast.AST, head: Head) -> None:
        stack = [root]
        bit = self.names.bit
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                if type(node.ctx) is ast.Load:  # type: ignore[attr-defined]
                    head.reads |= bit(node.id)  # type: ignore[attr-defined]
            elif kind is ast.Constant:
                pass
            elif kind is ast.Call:
                self._call(node, head, stack)  # type: ignore[arg-type]
            elif isinstance(node, ast.NamedExpr):
                head.bind(bit(node.target.id))
                stack.append(node.value)
            elif isinstance(node, ast.BoolOp | ast.IfExp | ast.Compare):
                self._partly(node, head, stack)
            elif isinstance(node, ast.Lambda):
                self._lambda(node, head, stack)
            elif isinstance(node, _COMPREHENSIONS):
                self._comprehension(node, head, stack)
            else:
                stack += children(node)

    def _partly(
        self, node: ast.BoolOp | ast.IfExp | ast.Compare, head: Head, stack: list[ast.AST]
    ) -> None:
        """Read an expression of which Python may not evaluate all."""
        if isinstance(node, ast.BoolOp):
            first, rest = [node.values[0]], node.values[1:]
        elif isinstance(node, ast.IfExp):
            first, rest = [node.test], [node.body, node.orelse]
        else:
            first, rest = [node.left, node.comparators[0]], node.comparators[1:]
        stack += first
        for part in rest:
            inner = Head()
            self._read(part, inner)
            head.add(inner)

    def _call(self, node: ast.Call, head: Head, stack: list[ast.AST]) -> None:
        name = called_hook(node)
        if name is None:
            stack.append(node.func)
            self._changes(node, head)
            stack.extend(k.value for k in node.keywords)
        elif name in _STORES:
            head.mutated |= self._root(node.args[_STORES[name]])
        stack.extend(node.args)

    def _changes(self, node: ast.Call, head: Head) -> None:
        """Note which arguments a call may change in place, as far as its name says."""
        for keyword in node.keywords:
            if keyword.arg == "out":
                value = keyword.value
                outs = value.elts if isinstance(value, ast.Tuple) else [value]
                for out in outs:
                    head.mutated |= self._root(out)
        func = node.func
        if called_hook(func) == "call":
            func = func.args[0]  # type: ignore[attr-defined]
        if called_hook(func) != "attr":
            return
        owner, name = func.args  # type: ignore[attr-defined]
        if name.value in _CHANGING_METHODS:
            head.mutated |= self._root(owner)
        if name.value in _CHANGING_FUNCTIONS and node.args:
            head.mutated |= self._root(node.args[0])

    def _root(self, node: ast.expr) -> int:
        """Name of the variable through which an object is reached."""
        while True:
            if isinstance(node, ast.Name):
                return self._roots.get(node.id) or self.names.bit(node.id)
            if isinstance(node, ast.Starred):
                node = node.value
            elif called_hook(node) in _LOADS:
                node = node.args[0]  # type: ignore[attr-defined]
            else:
                return 0

    def _lambda(self, node: ast.Lambda, head: Head, stack: list[ast.AST]) -> None:
        if not is_made(node):
            stack.append(node.args)
            self._outside(node)
            return
        inner = Head()
        self._read(node.body, inner)
        head.add(inner)
        head.made |= inner.reads
        if node.args.args and node.args.args[0].arg == LATE:
            self.always |= inner.reads

    def _comprehension(self, node: Comprehension, head: Head, stack: list[ast.AST]) -> None:
        """Read a comprehension, whose own variables are not those of the function."""
        own = self.names.mask(stored_names([g.target for g in node.generators]))
        inner = Head()
        first = node.generators[0]
        stack.append(first.iter)
        for generator in node.generators:
            for part in (generator.target, *generator.ifs):
                self._read(part, inner)
            if generator is not first:
                self._read(generator.iter, inner)
        if isinstance(node, ast.DictComp):
            self._read(node.key, inner)
            self._read(node.value, inner)
        else:
            self._read(node.elt, inner)
        inner.reads &= ~own
        inner.mutated &= ~own
        head.add(inner)
        self.nested |= inner.reads
        if isinstance(node, ast.GeneratorExp):
            self.always |= inner.reads

    # What runs at another time

    def _outside(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        scope = function_scope(node, None)
        mentioned = _mentioned(node) - scope.bound - scope.declared_global
        self.always |= self.names.mask(mentioned)
        self.shared |= self.names.mask(_nonlocals(node))

    def _class(self, node: ast.AST) -> None:
        self.always |= self.names.mask(_mentioned(node))
        self.shared |= self.names.mask(_nonlocals(node))


def _mentioned(node: ast.AST) -> set[str]:
    """Names in a tree; a name that only a nested function has counts as well."""
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}


def _nonlocals(node: ast.AST) -> set[str]:
    return {
        name for part in walk(node) if isinstance(part, ast.Nonlocal) for name in part.names
    }
