# SPDX-License-Identifier: Apache-2.0
"""Write ``match`` as ``if``, where its patterns only compare, so that data can decide.

Patterns that look into classes, mappings or sequences of unknown length stay Python's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite.nodes import HELPER, at, constant, load, store

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MatchRewriter"]


class _Unsupported(Exception):  # noqa: N818  not an error
    """A pattern that is not a comparison."""


class MatchRewriter(ast.NodeTransformer):
    """Replaces the ``match`` statements of a function that it can."""

    def __init__(self) -> None:
        self._count = 0

    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
        parts = node.subject.elts if isinstance(node.subject, ast.Tuple) else None
        subjects = [node.subject] if parts is None else parts
        if any(isinstance(s, ast.Starred) for s in subjects):
            return node
        names = [self._name() for _ in subjects]
        try:
            cases = [_case(case, names, is_tuple=parts is not None) for case in node.cases]
        except _Unsupported:
            return node
        first = [store(n, s, s) for n, s in zip(names, subjects, strict=True)]
        rest: list[ast.stmt] = []
        for case, (test, binds) in zip(reversed(node.cases), reversed(cases), strict=True):
            if test is None:
                rest = [*binds, *case.body]
            elif test is case.guard:
                # a pattern that always fits binds its name even where the guard fails
                rest = [*binds, at(ast.If(test, case.body, rest), case.pattern)]
            else:
                rest = [at(ast.If(test, [*binds, *case.body], rest), case.pattern)]
        return [*first, *rest]

    def _name(self) -> str:
        self._count += 1
        return f"{HELPER}_tm{self._count}"


def _case(
    case: ast.match_case, names: Sequence[str], *, is_tuple: bool
) -> tuple[ast.expr | None, list[ast.stmt]]:
    """Return the test of a case, None if it always holds, and the names that it binds."""
    tests: list[ast.expr] = []
    binds: list[ast.stmt] = []
    if is_tuple:
        _tuple(case.pattern, names, tests, binds)
    else:
        _pattern(case.pattern, names[0], tests, binds)
    if case.guard is not None:
        if binds and tests:
            raise _Unsupported  # the guard may read what the pattern binds
        tests.append(case.guard)
    return _joined(tests, ast.And(), case.pattern), binds


def _tuple(
    pattern: ast.pattern,
    names: Sequence[str],
    tests: list[ast.expr],
    binds: list[ast.stmt],
) -> None:
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and not pattern.name:
        return
    if not isinstance(pattern, ast.MatchSequence) or len(pattern.patterns) != len(names):
        raise _Unsupported
    for part, name in zip(pattern.patterns, names, strict=True):
        _pattern(part, name, tests, binds)


def _pattern(
    pattern: ast.pattern, name: str, tests: list[ast.expr], binds: list[ast.stmt]
) -> None:
    """Add the tests and bindings of a pattern for what a name holds."""
    match pattern:
        case ast.MatchValue(value=value):
            tests.append(at(ast.Compare(load(name, value), [ast.Eq()], [value]), pattern))
        case ast.MatchSingleton(value=single):
            other = constant(single, pattern)
            test = ast.Compare(load(name, pattern), [ast.Is()], [other])
            tests.append(at(test, pattern))
        case ast.MatchOr(patterns=parts):
            tests.append(_either(parts, name, pattern))
        case ast.MatchAs(pattern=inner, name=bound):
            if inner is not None:
                _pattern(inner, name, tests, binds)
            if bound is not None:
                binds.append(store(bound, load(name, pattern), pattern))
        case _:
            raise _Unsupported


def _either(patterns: Sequence[ast.pattern], name: str, place: ast.AST) -> ast.expr:
    found: list[ast.expr] = []
    for part in patterns:
        tests: list[ast.expr] = []
        binds: list[ast.stmt] = []
        _pattern(part, name, tests, binds)
        test = _joined(tests, ast.And(), part)
        if binds or test is None:
            raise _Unsupported
        found.append(test)
    test = _joined(found, ast.Or(), place)
    assert test is not None  # a pattern of alternatives has some
    return test


def _joined(tests: list[ast.expr], op: ast.boolop, place: ast.AST) -> ast.expr | None:
    if len(tests) < 2:
        return tests[0] if tests else None
    return at(ast.BoolOp(op, tests), place)
