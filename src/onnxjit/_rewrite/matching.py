# SPDX-License-Identifier: Apache-2.0
"""Write ``match`` as ``if``, so that data can decide.

Sequences with a star, mappings, alternatives that bind names and positional arguments of
classes other than the builtin ones stay Python's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from onnxjit._rewrite.nodes import HELPER, at, constant, hook, load, store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: makes an expression of what a pattern looks at, placed where a node is
    Subject = Callable[[ast.AST], ast.expr]

__all__ = ["MatchRewriter"]

#: classes whose only positional argument is the object itself
_WHOLE: Final = frozenset({
    "bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str",
    "tuple",
})  # fmt: skip


class _Unsupported(Exception):  # noqa: N818  not an error
    """A pattern that is left to Python."""


class _Case:
    """What a pattern asks, and what it binds where all of that holds."""

    __slots__ = ("binds", "tests")

    def __init__(self) -> None:
        self.tests: Final[list[ast.expr]] = []
        self.binds: Final[list[ast.stmt]] = []

    def joined(self, op: ast.boolop, place: ast.AST) -> ast.expr | None:
        """Return all tests as one, None without any."""
        if len(self.tests) < 2:
            return self.tests[0] if self.tests else None
        return at(ast.BoolOp(op, self.tests), place)

    def add(self, pattern: ast.pattern, subject: Subject) -> None:
        """Add what a pattern asks of a subject."""
        match pattern:
            case ast.MatchValue(value=value):
                test = ast.Compare(subject(value), [ast.Eq()], [value])
                self.tests.append(at(test, pattern))
            case ast.MatchSingleton(value=single):
                other = constant(single, pattern)
                test = ast.Compare(subject(pattern), [ast.Is()], [other])
                self.tests.append(at(test, pattern))
            case ast.MatchOr():
                self._either(pattern, lambda case, part: case.add(part, subject))
            case ast.MatchAs(pattern=inner, name=bound):
                if inner is not None:
                    self.add(inner, subject)
                if bound is not None:
                    self.binds.append(store(bound, subject(pattern), pattern))
            case ast.MatchSequence(patterns=parts):
                self._sequence(parts, subject, pattern)
            case ast.MatchClass():
                self._class(pattern, subject)
            case _:
                raise _Unsupported

    def add_tuple(self, pattern: ast.pattern, subjects: Sequence[Subject]) -> None:
        """Add what a pattern asks of a tuple whose parts are known one by one."""
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and not pattern.name:
            return
        if isinstance(pattern, ast.MatchOr):
            self._either(pattern, lambda case, part: case.add_tuple(part, subjects))
            return
        if not isinstance(pattern, ast.MatchSequence) or len(pattern.patterns) != len(
            subjects
        ):
            raise _Unsupported
        if any(isinstance(part, ast.MatchStar) for part in pattern.patterns):
            raise _Unsupported
        self.parts(pattern.patterns, subjects)

    def _either(self, place: ast.MatchOr, add: Callable[[_Case, ast.pattern], None]) -> None:
        found = _Case()
        for part in place.patterns:
            case = _Case()
            add(case, part)
            test = case.joined(ast.And(), part)
            if case.binds:
                raise _Unsupported
            found.tests.append(constant(True, part) if test is None else test)
        test = found.joined(ast.Or(), place)
        assert test is not None  # a pattern of alternatives has some
        self.tests.append(test)

    def _sequence(
        self, parts: Sequence[ast.pattern], subject: Subject, place: ast.AST
    ) -> None:
        if any(isinstance(part, ast.MatchStar) for part in parts):
            raise _Unsupported
        length = constant(len(parts), place)
        self.tests.append(hook("is_sequence", subject(place), length, place=place))
        self.parts(parts, [_item(subject, i) for i in range(len(parts))])

    def parts(self, parts: Sequence[ast.pattern], subjects: Sequence[Subject]) -> None:
        """Add what patterns ask of as many subjects."""
        for part, subject in zip(parts, subjects, strict=True):
            self.add(part, subject)

    def _class(self, node: ast.MatchClass, subject: Subject) -> None:
        name = node.cls.id if isinstance(node.cls, ast.Name) else ""
        if node.patterns and (name not in _WHOLE or len(node.patterns) > 1):
            raise _Unsupported
        self.tests.append(hook("is_a", subject(node), node.cls, place=node))
        for part in node.patterns:
            self.add(part, subject)
        for attribute, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            text = constant(attribute, part)
            self.tests.append(hook("has_attribute", subject(part), text, place=part))
            self.add(part, _attribute(subject, attribute))


class MatchRewriter(ast.NodeTransformer):
    """Replaces the ``match`` statements of a function that it can."""

    def __init__(self) -> None:
        self._count = 0

    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
        parts = node.subject.elts if isinstance(node.subject, ast.Tuple) else None
        subjects = [node.subject] if parts is None else parts
        names = [self._name() for _ in subjects]
        if any(isinstance(s, ast.Starred) for s in subjects):
            return _left(node)
        try:
            cases = [_case(case, names, is_tuple=parts is not None) for case in node.cases]
        except _Unsupported:
            return _left(node)
        rest: list[ast.stmt] = []
        for case, found in zip(reversed(node.cases), reversed(cases), strict=True):
            rest = self._one(case, found, rest)
        first = [store(n, s, s) for n, s in zip(names, subjects, strict=True)]
        return [*first, *rest]

    def _one(self, case: ast.match_case, found: _Case, rest: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of a case and of those after it."""
        place, guard = case.pattern, case.guard
        test = found.joined(ast.And(), place)
        if guard is None:
            inner = [*found.binds, *case.body]
            return inner if test is None else [at(ast.If(test, inner, rest), place)]
        if test is None:
            # a pattern that always fits binds its name even where the guard fails
            return [*found.binds, at(ast.If(guard, case.body, rest), place)]
        if not found.binds:
            both = at(ast.BoolOp(ast.And(), [test, guard]), place)
            return [at(ast.If(both, case.body, rest), place)]
        fits = self._name("m")
        yes = at(ast.If(guard, [store(fits, constant(True, guard), guard)], []), guard)
        return [
            store(fits, constant(False, place), place),
            at(ast.If(test, [*found.binds, yes], []), place),
            at(ast.If(load(fits, place), case.body, rest), place),
        ]

    def _name(self, kind: str = "tm") -> str:
        """Return a new name; "tm" is for what is stored once, before all that reads it."""
        self._count += 1
        return f"{HELPER}_{kind}{self._count}"


def _left(node: ast.Match) -> ast.Match:
    """Leave a statement to Python, which looks at what an object is, not at what it is for."""
    patterns = (part for case in node.cases for part in ast.walk(case.pattern))
    if any(isinstance(part, (ast.MatchSingleton, ast.MatchClass)) for part in patterns):
        node.subject = hook("decided", node.subject, place=node.subject)
    return node


def _case(case: ast.match_case, names: Sequence[str], *, is_tuple: bool) -> _Case:
    """Return the tests and names of a case."""
    found = _Case()
    subjects = [_named(name) for name in names]
    if not is_tuple:
        found.add(case.pattern, subjects[0])
        return found
    found.add_tuple(case.pattern, subjects)
    return found


def _named(name: str) -> Subject:
    return lambda place: load(name, place)


def _item(subject: Subject, i: int) -> Subject:
    return lambda place: at(
        ast.Subscript(subject(place), constant(i, place), ast.Load()), place
    )


def _attribute(subject: Subject, name: str) -> Subject:
    return lambda place: at(ast.Attribute(subject(place), name, ast.Load()), place)
