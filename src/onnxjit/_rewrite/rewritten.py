# SPDX-License-Identifier: Apache-2.0
"""Compile the rewritten copy of a function."""

from __future__ import annotations

import ast
import weakref
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from onnxjit._rewrite.door import Door
from onnxjit._rewrite.expressions import ExpressionRewriter, Mangler, reads_frame
from onnxjit._rewrite.flow import TooDeepError
from onnxjit._rewrite.matching import MatchRewriter
from onnxjit._rewrite.nodes import HELPER, MARK, at, function, load
from onnxjit._rewrite.regions import convert, keep
from onnxjit._rewrite.source import FUTURE_FLAGS, FunctionNode, find_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._rewrite.source import Located

_N = TypeVar("_N", bound=ast.AST)

_FACTORY = f"{HELPER}_factory"
_INNER = f"{HELPER}_function"
_ASYNC = 0x80 | 0x200  # CO_COROUTINE, CO_ASYNC_GENERATOR


class _Codes:
    """Rewritten code by the identity of the original; equality of code ignores the file."""

    __slots__ = ("_copies", "_own")

    def __init__(self) -> None:
        self._copies: dict[int, tuple[weakref.ref[CodeType], CodeType | None]] = {}
        self._own: dict[int, CodeType] = {}

    def get(self, code: CodeType) -> tuple[CodeType | None] | None:
        found = self._copies.get(id(code))
        return None if found is None or found[0]() is not code else (found[1],)

    def add(self, code: CodeType, copy: CodeType | None) -> None:
        key = id(code)
        reference = weakref.ref(code, lambda _: self._copies.pop(key, None))
        self._copies[key] = reference, copy
        if copy is not None:
            for inner in _rewritten_codes(copy):
                self._own[id(inner)] = inner

    def is_own(self, code: CodeType) -> bool:
        return id(code) in self._own


_CODES = _Codes()


def rewrite_function(fn: FunctionType) -> FunctionType | None:
    """Return a copy of `fn` whose expressions go through hooks.

    The copy shares globals, cells, defaults and `__dict__` with `fn`. A function that is a
    rewritten copy, or was made by one, is returned as it is.

    Returns
    -------
    FunctionType or None
        None if there is no source, if the source has changed, or if the function is
        asynchronous or looks at its own frame (`locals()`, `eval`, ...).
    """
    code = fn.__code__
    if _CODES.is_own(code):
        return fn
    known = _CODES.get(code)
    if known is None:
        known = (_rewrite_code(fn),)
        _CODES.add(code, known[0])
    return None if known[0] is None else _bind(fn, known[0])


def is_rewritten(code: CodeType) -> bool:
    """Whether `code` belongs to a rewritten copy."""
    return _CODES.is_own(code)


def _rewrite_code(fn: FunctionType) -> CodeType | None:
    code = fn.__code__
    if code.co_flags & _ASYNC:
        return None
    located = find_function(code, fn.__globals__)
    if located is None or reads_frame(located.node):
        return None
    try:
        node = _transform(located, code, frozenset(fn.__globals__))
        compiled = _compiled(_module(node, code), code)
    except TooDeepError:
        node = _transform(located, code, frozenset(fn.__globals__), statements=False)
        compiled = _compiled(_module(node, code), code)
    factory = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    wanted = _INNER if isinstance(node, ast.FunctionDef) else "<lambda>"
    inner = next(
        c for c in factory.co_consts if isinstance(c, CodeType) and c.co_name == wanted
    )
    return _renamed(inner, code.co_qualname, code.co_name)


def _compiled(tree: ast.Module, code: CodeType) -> CodeType:
    flags = code.co_flags & FUTURE_FLAGS
    result: CodeType = compile(tree, code.co_filename, "exec", flags=flags, dont_inherit=True)
    return result


def _transform(
    located: Located,
    code: CodeType,
    module_names: frozenset[str],
    *,
    statements: bool = True,
) -> FunctionNode:
    node = clone(located.node)
    if located.class_name is not None:
        mangler = Mangler(located.class_name)
        node = mangler.generic_visit(node)
    node = MatchRewriter().visit(node)
    rewriter = ExpressionRewriter(frozenset(code.co_freevars), module_names)
    node = rewriter.rewrite(node)
    if not statements:
        keep(rewriter.scopes)
    elif isinstance(node, ast.FunctionDef):
        convert(node, rewriter.scopes)
    return node


def _module(node: FunctionNode, code: CodeType) -> ast.Module:
    """`def factory(<free variables>): <function>; return it`, at the function's own lines."""
    _strip(node)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [at(ast.Return(node), node)]
    else:
        node.name = _INNER
        body = [node, at(ast.Return(load(_INNER, node)), node)]
    names = [HELPER, *(n for n in code.co_freevars if n != HELPER)]
    args = [at(ast.arg(n), node) for n in names]
    factory = function(_FACTORY, ast.arguments([], args, None, [], [], None, []), body, node)
    return ast.Module([factory], [])


def _strip(node: FunctionNode) -> None:
    """Drop what the original function object already carries."""
    args = node.args
    args.defaults = []
    # Without its defaults a keyword-only argument is still one; its value is set later.
    args.kw_defaults = [None] * len(args.kwonlyargs)
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if arg is not None:
            arg.annotation = None
    if not isinstance(node, ast.Lambda):
        node.decorator_list = []
        node.returns = None
        if hasattr(node, "type_params"):
            node.type_params = []


def _renamed(code: CodeType, qualname: str, name: str) -> CodeType:
    """Give `code` and what is nested in it the names of the original.

    A function that the rewriting has made of a part of another is called like that.
    """
    old = code.co_qualname

    def renamed(const: Any) -> Any:
        if isinstance(const, CodeType):
            if is_part(const):
                return _renamed(const, qualname, name)
            inner = const.co_qualname
            inner = qualname + inner[len(old) :] if inner.startswith(f"{old}.") else inner
            return _renamed(const, inner, const.co_name)
        # a class body stores its own name
        return qualname if isinstance(const, str) and const == old else const

    consts = tuple(renamed(c) for c in code.co_consts)
    return code.replace(co_consts=consts, co_qualname=qualname, co_name=name)


def is_part(code: CodeType) -> bool:
    """Whether `code` is a part of a user's function that the rewriting made a function of."""
    place = code.co_argcount + code.co_kwonlyargcount
    return bool(code.co_flags & 0x4) and code.co_varnames[place] == MARK  # CO_VARARGS


def _rewritten_codes(code: CodeType) -> Iterator[CodeType]:
    """`code` and its nested code, without class bodies: those are not rewritten."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType) and not _is_untouched(const):
            yield from _rewritten_codes(const)


def _is_untouched(code: CodeType) -> bool:
    is_class_body = not code.co_flags & 0x2  # CO_NEWLOCALS
    return is_class_body or bool(code.co_flags & _ASYNC)


def _bind(fn: FunctionType, code: CodeType) -> FunctionType:
    cells: dict[str, CellType] = dict(
        zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    )
    door = CellType(Door(fn.__globals__, cells))
    closure = tuple(door if n == HELPER else cells[n] for n in code.co_freevars)
    copy = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    copy_attributes(fn, copy)
    return copy


def copy_attributes(fn: FunctionType, copy: FunctionType) -> None:
    """Give `copy` what a function carries besides code; `__dict__` is the same object."""
    copy.__kwdefaults__ = fn.__kwdefaults__
    copy.__qualname__ = fn.__qualname__
    copy.__module__ = fn.__module__
    copy.__doc__ = fn.__doc__
    copy.__dict__ = fn.__dict__
    if fn.__annotations__:
        copy.__annotations__ = fn.__annotations__


def clone(node: _N) -> _N:
    """Copy a syntax tree; several times faster than `copy.deepcopy`."""
    values: dict[str, Any] = {}
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            value = clone(value)
        elif isinstance(value, list):
            value = [clone(v) if isinstance(v, ast.AST) else v for v in value]
        values[field] = value
    for name in node._attributes:
        if hasattr(node, name):
            values[name] = getattr(node, name)
    return type(node)(**values)
