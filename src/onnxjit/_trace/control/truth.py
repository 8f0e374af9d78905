# SPDX-License-Identifier: Apache-2.0
"""Truth values: what Python decides now, and what becomes part of the graph."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, has_data
from onnxjit._core.dtypes import BOOL
from onnxjit._ops.cast import cast
from onnxjit._ops.structure import reshape
from onnxjit._ops.ufunc import as_weak
from onnxjit._trace import host
from onnxjit._trace.array import BOOL as BOOL_KIND
from onnxjit._trace.array import Array, wrap
from onnxjit._trace.doors import DOORS
from onnxjit._trace.lists import rows_of
from onnxjit._trace.trace import Tracer, current_tracer, dim_array, note_control

from .branch import branch
from .either import Either, Unsure

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.dim_polynomial import Poly
    from onnxjit._core.guards import Kind
    from onnxjit._core.program import Value

__all__ = ["and_", "chain", "compare", "decide", "ifexp", "is_symbolic", "not_", "or_"]

_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "is": operator.is_, "is not": operator.is_not,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_UFUNCS: Final[dict[str, np.ufunc]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
}  # fmt: skip

#: sequences that are compared item by item, and how
_ITEMS: Final = (tuple, list)
_BY_ITEMS: Final = ("==", "!=", "<", "<=", ">", ">=")
#: what may be asked of any two objects
_ANYTHING: Final = ("is", "is not", "==", "!=")


def decide(x: Any, tracer: Tracer | None = None) -> bool | Value:
    """Return the truth of an object as Python sees it, or a () bool of the graph.

    Sizes and scalar arguments are decided with a guard, but for exports and for the tests of
    ``while``, where they become part of the graph.
    """
    if rows_of(x) is not None:
        x = x.length
    if isinstance(x, Either):
        return _decide_either(x, tracer)
    if isinstance(x, Dim):
        tracer = tracer or current_tracer()
        if tracer is None or not _is_open(x, tracer):
            return bool(x)
        found = _as_bool(dim_array(x))
        tracer.conditions[found.id] = ("ne", x.poly)
        return found
    if not isinstance(x, Array) or x._nd is not None:
        return _decide_object(x, tracer)
    if x._known is not None:
        return bool(x)
    trace: Any = x._trace
    symbolic = getattr(trace, "symbolic", False)
    if x.ndim and not (isinstance(x.size, int) and x.size == 1):
        return bool(x)  # NumPy's error, or a guard that there is one element
    if not symbolic and host.example(x._value) is not None:
        return bool(x)
    found = _as_bool(x)
    known = trace.conditions.get(x._value.id)
    if known is not None:
        trace.conditions[found.id] = known
    return found


def _as_changed(x: Any, tracer: Tracer | None) -> Any:
    """Return an object as it is now; what is older than the trace does not know that."""
    tracer = tracer or current_tracer()
    places = None if tracer is None else tracer.places
    return x if not places or places.look is None else places.look(x)


def _decide_object(x: Any, tracer: Tracer | None) -> bool | Value:
    """Return the truth of what is no array: of a dict, whether it has a key."""
    if type(x) is bool:
        return x
    answer = DOORS.truth(x)
    if answer is not x:
        return decide(answer, tracer)
    if type(x) is not dict or Unsure not in map(type, x.values()):
        return bool(_as_changed(x, tracer))
    tests = [v.defined if isinstance(v, Unsure) else True for v in x.values()]
    return decide(or_(False, *map(_constant, tests)), tracer)


def _constant(x: Any) -> Callable[[], Any]:
    return lambda: x


def _decide_either(x: Either, tracer: Tracer | None) -> bool | Value:
    """Return the truth of the one of two objects that data chooses."""
    first, second = decide(x.first, tracer), decide(x.second, tracer)
    if isinstance(first, bool) and first is second:
        return first
    a, b = (t if isinstance(t, bool) else wrap(t) for t in (first, second))
    yes: Any = np.logical_and(x.pred, a)
    no: Any = np.logical_and(np.logical_not(x.pred), b)
    found: Any = np.logical_or(yes, no)
    return _as_bool(found)


def _is_open(x: Dim, tracer: Tracer) -> bool:
    """Whether the truth of a size is for the graph to find out."""
    if not (has_data(x) or tracer.symbolic):
        return False
    return x.env.proves("ne", x.poly) is None


def _as_bool(x: Array) -> Value:
    x._mark()
    value = x._value
    if value.ndim:
        value = reshape(value, ())
    if value.dtype is not BOOL:
        found: Any = np.not_equal(wrap(value), 0)
        value = found._value
    return cast(value, BOOL)


def is_symbolic(x: Any) -> bool:
    """Whether the truth of an object is not known while tracing."""
    return not isinstance(decide(x), bool)


def _number(value: Value) -> Array:
    """Return a () bool as a traced Python bool."""
    return wrap(as_weak(value))


def compare(symbol: str, a: Any, b: Any) -> Any:
    """Return ``a <symbol> b``; of sizes that only a run knows, a traced bool."""
    if isinstance(a, Dim) or isinstance(b, Dim):
        ufunc = _UFUNCS.get(symbol)
        if ufunc is not None:
            found = _compare_sizes(symbol, ufunc, a, b)
            if found is not None:
                return found
    if isinstance(a, Either) or isinstance(b, Either):
        return _compare_either(symbol, a, b)
    is_identity = symbol in ("is", "is not") and isinstance(b, bool)
    if is_identity and isinstance(a, Array) and a._kind == BOOL_KIND:
        return a if b is (symbol == "is") else not_(a)
    if symbol in _BY_ITEMS and isinstance(a, _ITEMS) and isinstance(b, _ITEMS):
        return _compare_items(symbol, a, b)
    return _COMPARE[symbol](a, b)


def _compare_sizes(symbol: str, ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Compare integers of which one is symbolic; None where Python's way will do."""
    tracer = current_tracer()
    data = has_data(a) or has_data(b)
    if tracer is None or not (data or tracer.symbolic):
        return None
    if not all(isinstance(x, (int, Dim)) for x in (a, b)):
        if not all(isinstance(x, (int, float, Dim)) for x in (a, b)):
            return None
        arrays = [dim_array(x) if isinstance(x, Dim) else x for x in (a, b)]
        return _number(ufunc(*arrays)._value)
    difference = a - b
    if not isinstance(difference, Dim):
        return _COMPARE[symbol](difference, 0)
    env, poly = difference.env, difference.poly
    known = {
        "<": lambda: _not(env.proves("ge", poly)),
        "<=": lambda: env.proves("ge", -poly),
        ">": lambda: _not(env.proves("ge", -poly)),
        ">=": lambda: env.proves("ge", poly),
        "==": lambda: env.proves("eq", poly),
        "!=": lambda: env.proves("ne", poly),
    }[symbol]()
    if known is not None:
        return known
    left, right = (dim_array(x) if isinstance(x, Dim) else x for x in (a, b))
    found: Any = ufunc(left, right)
    test = _number(found._value)
    tracer.conditions[test._value.id] = _condition(symbol, poly)
    return test


def _condition(symbol: str, difference: Poly) -> tuple[Kind, Poly]:
    """Return ``difference <symbol> 0`` as a guard has it."""
    if symbol in ("==", "!="):
        return ("eq" if symbol == "==" else "ne"), difference
    side = difference if symbol[0] == ">" else -difference
    return "ge", side if symbol.endswith("=") else side - 1


def _compare_items(symbol: str, a: Any, b: Any) -> Any:
    """Return whether sequences are equal, or differ, or which one is first in order."""
    alike = isinstance(a, tuple) is isinstance(b, tuple)
    alike = alike and rows_of(a) is None and rows_of(b) is None
    if not alike or not any(isinstance(x, (Array, Dim, Either, *_ITEMS)) for x in (*a, *b)):
        return _COMPARE[symbol](a, b)
    if symbol not in ("==", "!="):
        return _in_order(symbol, list(a), list(b))
    if len(a) != len(b):
        return symbol == "!="
    tests = [lambda x=x, y=y: x is y or compare("==", x, y) for x, y in zip(a, b, strict=True)]
    equal = and_(True, *tests)
    known = decide(equal)
    equal = known if isinstance(known, bool) else _number(known)
    return equal if symbol == "==" else not_(equal)


def _in_order(symbol: str, a: list[Any], b: list[Any]) -> Any:
    """Compare the first items that differ, as sequences are compared."""
    while a and b and a[0] is b[0]:
        a, b = a[1:], b[1:]
    if not a or not b:
        return _COMPARE[symbol](len(a), len(b))
    return ifexp(
        compare("==", a[0], b[0]),
        lambda: _in_order(symbol, a[1:], b[1:]),
        lambda: compare(symbol, a[0], b[0]),
    )


def contains(container: Any, item: Any) -> Any:
    """Return ``item in container`` for a list or tuple."""
    return or_(False, *[lambda c=c: item is c or compare("==", item, c) for c in container])


def _compare_either(symbol: str, a: Any, b: Any) -> Any:
    """Return whether an object that data chooses is another one, such as None."""
    chosen, other = (a, b) if isinstance(a, Either) else (b, a)
    if symbol not in _ANYTHING or isinstance(other, Either):
        return chosen.apply(
            lambda x: compare(symbol, x, other) if chosen is a else compare(symbol, other, x)
        )
    first, second = (compare(symbol, part, other) for part in (chosen.first, chosen.second))
    if isinstance(first, bool) and isinstance(second, bool):
        if first is second:
            return first
        return _number(chosen.pred._value) if first else not_(chosen.pred)
    return ifexp(chosen.pred, lambda: first, lambda: second)


def _not(x: bool | None) -> bool | None:
    return None if x is None else not x


def not_(x: Any) -> Any:
    """Return ``not x``."""
    found = decide(x)
    if isinstance(found, bool):
        return not found
    negated: Any = np.logical_not(wrap(found))
    return _number(negated._value)


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """Return ``first and ...``; later operands are evaluated where they are needed."""
    return _lazy(first, rest, stop=False)


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """Return ``first or ...``."""
    return _lazy(first, rest, stop=True)


def _lazy(x: Any, rest: tuple[Callable[[], Any], ...], *, stop: bool) -> Any:
    for i, operand in enumerate(rest):
        found = decide(x)
        if isinstance(found, bool):
            if found is stop:
                return x
            x = operand()
            continue
        value, later = x, rest[i:]

        def keep(value: Any = value) -> Any:
            return value

        last: list[Any] = []

        def go_on(later: Any = later, last: list[Any] = last) -> Any:
            last[:] = [_lazy(later[0](), later[1:], stop=stop)]
            return last[0]

        tracer: Any = found.block.trace
        bodies = (keep, go_on) if stop else (go_on, keep)
        result = branch(tracer, found, bodies, functions=later)
        if isinstance(result, Array):
            others = [y._value for y in last if isinstance(y, Array)]
            tracer.parts[result._value.id] = not stop, [found, *others]
        return result
    return x


def chain(first: Any, *pairs: tuple[str, Callable[[], Any]]) -> Any:
    """Return ``a < b < c``: each middle operand is evaluated once, and only if needed."""
    symbol, operand = pairs[0]
    right = operand()
    result = compare(symbol, first, right)
    if len(pairs) == 1:
        return result
    return and_(result, lambda: chain(right, *pairs[1:]))


def ifexp(
    test: Any,
    then: Callable[[], Any],
    orelse: Callable[[], Any],
    functions: tuple[Any, ...] | None = None,
) -> Any:
    """Return ``then() if test else orelse()``; `functions` are those that may change cells."""
    found = decide(test)
    if isinstance(found, bool):
        note_control("if", "static")
        return then() if found else orelse()
    tracer: Any = found.block.trace
    return branch(tracer, found, (then, orelse), functions=functions)


Either.choose = staticmethod(ifexp)
