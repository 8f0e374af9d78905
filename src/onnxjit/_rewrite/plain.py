# SPDX-License-Identifier: Apache-2.0
"""What statements and operators mean where Python itself can decide."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def if_(
    test: Any,
    then: Callable[[], object],
    orelse: Callable[[], object],
    _stores: tuple[str, ...],
    _live: tuple[str, ...],
) -> None:
    if test:
        then()
    else:
        orelse()


def while_(
    test: Callable[[], Any],
    body: Callable[[], object],
    _stores: tuple[str, ...],
    _live: tuple[str, ...],
    _rebound: tuple[str, ...],
    _mutated: tuple[str, ...],
) -> None:
    while test():
        body()


def for_(
    iterable: Iterable[Any],
    body: Callable[[Any], object],
    test: Callable[[], Any] | None,
    _stores: tuple[str, ...],
    _live: tuple[str, ...],
    _rebound: tuple[str, ...],
    _mutated: tuple[str, ...],
) -> None:
    for element in iterable:
        body(element)
        if test is not None and not test():
            break


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    value = first
    for operand in rest:
        if not value:
            break
        value = operand()
    return value


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    value = first
    for operand in rest:
        if value:
            break
        value = operand()
    return value


def not_(x: Any) -> Any:
    return not x


def ifexp(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    return then() if test else orelse()


def compare(symbol: str, a: Any, b: Any) -> Any:
    return _COMPARISONS[symbol](a, b)


def chain(first: Any, *pairs: tuple[str, Callable[[], Any]]) -> Any:
    left, value = first, None
    for i, (symbol, operand) in enumerate(pairs):
        if i and not value:
            break
        right = operand()
        value = _COMPARISONS[symbol](left, right)
        left = right
    return value


def raised(make: Callable[[], Any]) -> Any:
    return make()


def bound(value: Any) -> Any:
    return value


def assert_(test: Any, message: Callable[[], object] | None) -> None:
    if not test:
        raise AssertionError if message is None else AssertionError(message())


def comp(kind: str, iterable: Iterable[Any], function: Callable[[Any], Iterable[Any]]) -> Any:
    """Collect the results of a function that gives any number of them for an element."""
    if kind == "generator":
        return _results(iter(iterable), function)
    return _MAKERS[kind](_results(iter(iterable), function))


_MAKERS: dict[str, Callable[..., Any]] = {"list": list, "set": set, "dict": dict}
#: what stands for a result that is left out
_SKIPPED = object()


def kept(test: Any, make: Callable[[], Any]) -> Any:
    """Return the result of an element for which a test holds."""
    return make() if test else _SKIPPED


def _results(
    elements: Iterator[Any], function: Callable[[Any], Iterable[Any]]
) -> Iterator[Any]:
    for element in elements:
        for result in function(element):
            if result is not _SKIPPED:
                yield result
