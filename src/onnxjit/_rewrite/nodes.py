# SPDX-License-Identifier: Apache-2.0
"""Make nodes of a syntax tree, each placed where another is in the source."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

HELPER = "_oj"
#: a parameter that only functions made by the rewriting have
MARK = f"{HELPER}_"
#: an element of what a loop or comprehension runs over
ELEMENT = f"{HELPER}_e"
#: the same, in a generator expression that may be run later
LATE = f"{HELPER}_late"

_N = TypeVar("_N", bound=ast.AST)


class PlainIf(ast.If):
    """An `if` that Python itself decides."""


_PLAIN_FIELDS = frozenset({"ctx", "op", "ops", "kind", "type_comment", "id", "attr", "arg"})
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def children(node: ast.AST) -> list[ast.AST]:
    """Nodes right below `node`, without operators and contexts.

    Several times faster than `ast.iter_child_nodes`.
    """
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(f for f in node._fields if f not in _PLAIN_FIELDS)
    result: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            result += [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            result.append(value)
    return result


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree, without operators and contexts."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)


def at(node: _N, place: ast.AST) -> _N:
    """Give `node` the position of `place`; faster than `ast.copy_location`."""
    new: Any = node
    old: Any = place
    new.lineno, new.col_offset = old.lineno, old.col_offset
    new.end_lineno, new.end_col_offset = old.end_lineno, old.end_col_offset
    return node


def load(name: str, place: ast.AST) -> ast.expr:
    return at(ast.Name(name, ast.Load()), place)


def constant(value: object, place: ast.AST) -> ast.expr:
    return at(ast.Constant(value), place)  # type: ignore[arg-type, unused-ignore]


def store(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return at(ast.Assign([at(ast.Name(name, ast.Store()), place)], value), place)


def hook(name: str, *args: ast.expr, place: ast.AST) -> ast.Call:
    """Call of a hook; arguments without a position get the same."""
    function = _start(ast.Attribute(load(HELPER, place), name, ast.Load()), place)
    for arg in args:
        if not hasattr(arg, "lineno"):
            at(arg, place)
    return at(ast.Call(function, list(args), []), place)


def _start(node: ast.expr, place: ast.AST) -> ast.expr:
    """Give `node` the first line of `place` only: a method is called where its name ends."""
    at(node, place)
    node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    return node


def called_hook(node: ast.AST) -> str | None:
    """Name of the hook that `node` calls, if it calls one."""
    if type(node) is ast.Call and type(node.func) is ast.Attribute:
        value = node.func.value
        if type(value) is ast.Name and value.id == HELPER:
            return node.func.attr
    return None


def lazy(value: ast.expr, *names: str) -> ast.expr:
    """`lambda <names>: value`, for a hook to call in its own time."""
    return at(ast.Lambda(parameters(value, *names), value), value)


def function(
    name: str, args: ast.arguments, body: list[ast.stmt], place: ast.AST
) -> ast.FunctionDef:
    node: Any = ast.FunctionDef(name, args, body, [])
    node.returns = None
    if sys.version_info >= (3, 12):
        node.type_params = []
    result: ast.FunctionDef = at(node, place)
    return result


def parameters(place: ast.AST, *names: str) -> ast.arguments:
    """Parameters of a function that the rewriting makes."""
    args = [at(ast.arg(n), place) for n in names]
    return ast.arguments([], args, at(ast.arg(MARK), place), [], [], None, [])


def is_made(node: ast.Lambda | ast.FunctionDef) -> bool:
    """Whether the rewriting has made a function."""
    return node.args.vararg is not None and node.args.vararg.arg == MARK
