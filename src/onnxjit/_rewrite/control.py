# SPDX-License-Identifier: Apache-2.0
"""Hooks of the statements and operators that decide what runs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite import plain, special
from onnxjit._rewrite.state import SESSION
from onnxjit._rewrite.twins import is_instance, length_of
from onnxjit._trace.control import constructs as traced
from onnxjit._trace.control.either import Either
from onnxjit._trace.convert import is_traced
from onnxjit.errors import DataDependentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

_session = SESSION.get
#: comparisons that look into objects
_BY_CONTENT = frozenset({"==", "!=", "<", "<=", ">", ">="})
_PLAIN = nullcontext()
_Names = tuple[str, ...]


class Control:
    """The part of the hooks that concerns control flow.

    Without a trace, `plain` says what happens; in a trace `traced` does.
    """

    __slots__ = ()

    def if_(
        self,
        test: Any,
        then: Callable[[], object],
        orelse: Callable[[], object],
        stores: _Names,
        live: _Names,
    ) -> None:
        if _session() is None:
            plain.if_(test, then, orelse, stores, live)
        else:
            traced.if_(test, then, orelse, stores, live)

    def while_(
        self,
        test: Callable[[], Any],
        body: Callable[[], object],
        stores: _Names,
        live: _Names,
        rebound: _Names,
        mutated: _Names,
    ) -> None:
        loop = plain.while_ if _session() is None else traced.while_
        loop(test, body, stores, live, rebound, mutated)

    def for_(
        self,
        iterable: Iterable[Any],
        body: Callable[[Any], object],
        test: Callable[[], Any] | None,
        stores: _Names,
        live: _Names,
        rebound: _Names,
        mutated: _Names,
    ) -> None:
        loop = plain.for_ if _session() is None else traced.for_
        loop(iterable, body, test, stores, live, rebound, mutated)

    def and_(self, first: Any, *rest: Callable[[], Any]) -> Any:
        return (plain if _session() is None else traced).and_(first, *rest)

    def or_(self, first: Any, *rest: Callable[[], Any]) -> Any:
        return (plain if _session() is None else traced).or_(first, *rest)

    def not_(self, x: Any) -> Any:
        return (plain if _session() is None else traced).not_(x)

    def ifexp(self, test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        return (plain if _session() is None else traced).ifexp(test, then, orelse)

    def compare(self, symbol: str, a: Any, b: Any) -> Any:
        state = _session()
        if state is None:
            return plain.compare(symbol, a, b)
        found = special.compared(state, symbol, a, b)
        if found is not NotImplemented:
            return found
        if state.changed and symbol in _BY_CONTENT:
            a, b = state.as_changed(a), state.as_changed(b)
        return traced.compare(symbol, a, b)

    def binary(self, symbol: str) -> Callable[[Any, Any], Any]:
        """Return what performs ``a <symbol> b``."""
        state = _session()
        if state is None:
            return plain.BINARY[symbol]
        return functools.partial(special.binary, state, symbol)

    def unary(self, symbol: str) -> Callable[[Any], Any]:
        """Return what performs ``<symbol> x``."""
        state = _session()
        if state is None:
            return plain.UNARY[symbol]
        return functools.partial(special.unary, state, symbol)

    def chain(self, first: Any, *pairs: tuple[str, Callable[[], Any]]) -> Any:
        return (plain if _session() is None else traced).chain(first, *pairs)

    def assert_(self, test: Any, message: Callable[[], object] | None) -> None:
        check = plain.assert_ if _session() is None else traced.assert_
        check(test, message)

    def comp(
        self, kind: str, iterable: Iterable[Any], function: Callable[[Any], Iterable[Any]]
    ) -> Any:
        return (plain if _session() is None else traced).comp(kind, iterable, function)

    def kept(self, test: Any, make: Callable[[], Any]) -> Any:
        return (plain if _session() is None else traced).kept(test, make)

    def list_(self, items: list[Any]) -> list[Any]:
        return items if _session() is None else traced.list_(items)

    def spread(self, x: Iterable[Any]) -> list[Any]:
        """Return the elements of a starred part of a list."""
        return list(x) if _session() is None else traced.spread(x)

    def joined_list(self, *parts: list[Any]) -> list[Any]:
        """Return one list of the elements of several."""
        found = self.list_([])
        for part in parts:
            found.extend(part)
        return found

    def is_sequence(self, x: Any, length: int) -> Any:
        """Return whether a pattern of so many parts may fit, for ``match``."""
        if isinstance(x, Either):
            return x.apply(lambda each: self.is_sequence(each, length))
        if not isinstance(x, Sequence) or isinstance(x, (str, bytes, bytearray)):
            return False
        found = len(x) if _session() is None else length_of(x)
        return self.compare("==", found, length)

    def is_a(self, x: Any, kind: Any) -> Any:
        """Return ``isinstance(x, kind)``, for ``match``."""
        return isinstance(x, kind) if _session() is None else is_instance(x, kind)

    def has_attribute(self, x: Any, name: str) -> Any:
        """Return ``hasattr(x, name)``, for ``match``."""
        if isinstance(x, Either):
            return x.apply(lambda each: self.has_attribute(each, name))
        return hasattr(x, name)

    def decided(self, x: Any) -> Any:
        """Return the subject of a ``match`` that is left to Python."""
        state = _session()
        if state is None:
            return x
        parts = x if isinstance(x, (tuple, list)) else (x,)
        if any(isinstance(p, Either) or is_traced(p) for p in parts):
            msg = (
                "a match of a number or array has a pattern that is not in a graph: a star, a "
                "mapping, a class with positional arguments, or alternatives that bind names"
            )
            raise DataDependentError(msg)
        return state.hooks.formatted(x)

    def trying(self, types: Any = None) -> AbstractContextManager[object]:
        """Return the context in which exceptions may be handled, of the types `types()`."""
        return _PLAIN if _session() is None else traced.trying(types)

    def raised(self, make: Callable[[], Any]) -> Any:
        """Return what is raised."""
        return make() if _session() is None else traced.raised(make)

    def bound(self, name: str, load: Callable[[], Any]) -> Any:
        """Load a local variable that may be unbound from a function made of a statement."""
        with suppress(NameError):
            return self._loaded(load)
        message = (
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
        raise UnboundLocalError(message)

    def free(self, name: str, load: Callable[[], Any]) -> Any:
        """Load a variable of an outer function that may be unbound."""
        with suppress(NameError):
            return self._loaded(load)
        message = (
            f"cannot access free variable '{name}' where it is not associated with a value in "
            "enclosing scope"
        )
        raise NameError(message)

    def _loaded(self, load: Callable[[], Any]) -> Any:
        value = load()
        return value if _session() is None else traced.bound(value)
