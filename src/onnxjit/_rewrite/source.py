# SPDX-License-Identifier: Apache-2.0
"""Find the syntax tree of a function from its code object."""

from __future__ import annotations
import __future__

import ast
import contextlib
import linecache
import threading
from collections import Counter
from types import CodeType
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag

_PYTEST_MARK = "@py"  # pytest's assert rewriting names its variables so


class Located:
    """A function's node and the innermost class around it, which mangles its names."""

    __slots__ = ("class_name", "node")

    def __init__(self, node: FunctionNode, class_name: str | None) -> None:
        self.node = node
        self.class_name = class_name


class _File:
    """One parsed and compiled text: nodes and code objects by (name, first line)."""

    __slots__ = ("codes", "flags", "nodes", "text")

    def __init__(self, text: str, filename: str, flags: int) -> None:
        self.text = text
        self.flags = flags
        self.nodes: dict[tuple[str, int], list[Located]] = {}
        self.codes: dict[tuple[str, int], list[CodeType]] = {}
        tree = _parsed(text, filename)
        self._add_nodes(tree, None)
        module = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
        for code in _nested(module):
            self.codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)

    def _add_nodes(self, root: ast.AST, class_name: str | None) -> None:
        stack: list[tuple[ast.AST, str | None]] = [(root, class_name)]
        while stack:
            node, owner = stack.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                self.nodes.setdefault(_node_key(node), []).append(Located(node, owner))
            inner = node.name if isinstance(node, ast.ClassDef) else owner
            stack.extend((child, inner) for child in ast.iter_child_nodes(node))


_FILES: dict[str, _File | None] = {}


def find_function(code: CodeType, module_globals: dict[str, object]) -> Located | None:
    """Return the node that `code` was compiled from.

    Works wherever `linecache` knows the text: files, doctest, IPython. None if there is no
    text, or if the text has changed since `code` was compiled.
    """
    file = _load(code, module_globals)
    if file is None:
        return None
    key = code.co_name, code.co_firstlineno
    if not any(_agree(code, other) for other in file.codes.get(key, ())):
        return None
    nodes = [n for n in file.nodes.get(key, ()) if _same_place(n.node, code)]
    if len(nodes) > 1:
        nodes = [n for n in nodes if _starts_at(n.node, code)]
    return nodes[0] if len(nodes) == 1 else None


# CPython 3.11 counts the depth of trees for all threads together, and raises SystemError
# when two of them parse at the same time.
_PARSING = threading.Lock()
_ATTEMPTS = 20


def _parsed(text: str, filename: str) -> ast.Module:
    for _ in range(_ATTEMPTS):
        with _PARSING, contextlib.suppress(SystemError):
            return ast.parse(text, filename)
    return ast.parse(text, filename)


def _load(code: CodeType, module_globals: dict[str, object]) -> _File | None:
    filename = code.co_filename
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, module_globals))
    if not text:
        return None
    flags = code.co_flags & FUTURE_FLAGS
    known = _FILES.get(filename)
    if known is not None and known.text == text and known.flags == flags:
        return known
    try:
        file = _File(text, filename, flags)
    except (SyntaxError, ValueError, RecursionError):
        return None
    _FILES[filename] = file
    return file


def _node_key(node: FunctionNode) -> tuple[str, int]:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    decorators = node.decorator_list
    return node.name, decorators[0].lineno if decorators else node.lineno


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


def _agree(code: CodeType, other: CodeType) -> bool:
    """Whether `other`, compiled now, has the same source as `code`."""
    if code is other or code == other:
        return True
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    if counts != (other.co_argcount, other.co_posonlyargcount, other.co_kwonlyargcount):
        return False
    if code.co_qualname != other.co_qualname or code.co_freevars != other.co_freevars:
        return False
    if _touched_by_pytest(code):
        return _contains(code, other) and _nested_agree(code, other)
    same = code.co_code == other.co_code and code.co_names == other.co_names
    return same and _constants(code) == _constants(other) and _nested_agree(code, other)


def _touched_by_pytest(code: CodeType) -> bool:
    return any(name.startswith(_PYTEST_MARK) for name in (*code.co_names, *code.co_varnames))


def _contains(code: CodeType, other: CodeType) -> bool:
    names = set(code.co_names) | set(code.co_varnames) | set(code.co_cellvars)
    wanted = set(other.co_names) | set(other.co_varnames) | set(other.co_cellvars)
    wanted.discard("AssertionError")
    return wanted <= names and _constants(other) <= _constants(code)


def _constants(code: CodeType) -> Counter[str]:
    plain = (c for c in code.co_consts if not isinstance(c, CodeType))
    return Counter({f"{type(c).__name__} {c!r}" for c in plain})


def _nested_agree(code: CodeType, other: CodeType) -> bool:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    wanted = [c for c in other.co_consts if isinstance(c, CodeType)]
    if len(inner) < len(wanted):
        return False
    return all(any(a.co_name == b.co_name and _agree(a, b) for a in inner) for b in wanted)


def _positions(code: CodeType) -> list[tuple[int, int]]:
    every = code.co_positions()
    found = {(p[0], p[2]) for p in every if p[0] is not None and p[2] is not None}
    return sorted(found)


def _same_place(node: FunctionNode, code: CodeType) -> bool:
    """Whether the instructions of `code` lie inside the text of `node`."""
    if not isinstance(node, ast.Lambda):
        return True
    start = node.lineno, node.col_offset
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    # The entry instructions of a lambda may carry the line's start; only its body counts.
    inside = [p for p in _positions(code) if p != (code.co_firstlineno, 0)]
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    if names != list(code.co_varnames[: code.co_argcount]):
        return False
    return all(start <= p < end for p in inside)


def _starts_at(node: FunctionNode, code: CodeType) -> bool:
    if not isinstance(node, ast.Lambda):
        return False
    return (node.body.lineno, node.body.col_offset) in _positions(code)
