# SPDX-License-Identifier: Apache-2.0
"""Operators and truth values that special methods of the user's classes give.

C code calls the methods as they are; here it is their rewritten copies, in Python's order.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._rewrite import plain
from onnxjit._rewrite.route import routed_member
from onnxjit._rewrite.snapshot import ATOMS
from onnxjit._rewrite.state import SESSION
from onnxjit._trace.array import Array
from onnxjit._trace.control.either import Either
from onnxjit._trace.control.truth import compare, not_
from onnxjit._trace.doors import DOORS
from onnxjit._trace.lists import List

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._rewrite.state import State

__all__ = ["binary", "compared", "unary"]

#: operator -> the names of the method and of the reflected one
_BINARY: Final = {
    "+": ("__add__", "__radd__"), "-": ("__sub__", "__rsub__"),
    "*": ("__mul__", "__rmul__"), "/": ("__truediv__", "__rtruediv__"),
    "//": ("__floordiv__", "__rfloordiv__"), "%": ("__mod__", "__rmod__"),
    "**": ("__pow__", "__rpow__"), "@": ("__matmul__", "__rmatmul__"),
    "&": ("__and__", "__rand__"), "|": ("__or__", "__ror__"), "^": ("__xor__", "__rxor__"),
    "<<": ("__lshift__", "__rlshift__"), ">>": ("__rshift__", "__rrshift__"),
}  # fmt: skip
_COMPARED: Final = {
    "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"), "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"),
}  # fmt: skip
_UNARY: Final = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
#: objects whose operators are Python's, NumPy's or ours
_KNOWN: Final = ATOMS | {
    Array, Dim, Either, List, list, tuple, dict, set, frozenset, np.ndarray, np.float64,
    np.float32, np.int64,
}  # fmt: skip


def _method(state: State, x: Any, name: str) -> Callable[..., Any] | None:
    return None if type(x) in _KNOWN else routed_member(state, x, name)


def binary(state: State, symbol: str, a: Any, b: Any) -> Any:
    """Return ``a <symbol> b``."""
    left, right = type(a), type(b)
    native = plain.BINARY[symbol]
    if left in _KNOWN and right in _KNOWN:
        return native(a, b)
    name, reflected = _BINARY[symbol]
    own = _method(state, a, name)
    other = _method(state, b, reflected) if left is not right else None
    if own is None and other is None:
        return native(a, b)
    tries = [(own, a, name, b), (other, b, reflected, a)]
    if issubclass(right, left) and other is not None and _differ(left, right, reflected):
        tries.reverse()
    for method, x, its, y in tries:
        found = _tried(method, x, its, y)
        if found is not NotImplemented:
            return found
    return native(a, b)  # raises what Python does


def _differ(cls: type, sub: type, name: str) -> bool:
    return getattr(cls, name, None) is not getattr(sub, name, None)


def _tried(method: Callable[..., Any] | None, x: Any, name: str, y: Any) -> Any:
    if method is not None:
        return method(y)
    native = getattr(type(x), name, None)
    return NotImplemented if native is None else native(x, y)


def unary(state: State, symbol: str, x: Any) -> Any:
    """Return ``<symbol> x``."""
    method = _method(state, x, _UNARY[symbol])
    return plain.UNARY[symbol](x) if method is None else method()


def compared(state: State, symbol: str, a: Any, b: Any) -> Any:
    """Return ``a <symbol> b`` of objects with methods of the user's, else `NotImplemented`."""
    names = _COMPARED.get(symbol)
    left, right = type(a), type(b)
    if names is None or (left in _KNOWN and right in _KNOWN):
        return NotImplemented
    if left is right and dataclasses.is_dataclass(left):
        found = _compared_fields(symbol, a, b)
        if found is not NotImplemented:
            return found
    tries = [(a, names[0], b), (b, names[1], a)]
    if left is not right and issubclass(right, left):
        tries.reverse()
    for x, name, y in tries:
        method = _method(state, x, name)
        found = NotImplemented if method is None else method(y)
        if found is not NotImplemented:
            return found
    if symbol == "!=" and not _differ(left, object, "__ne__"):
        equal = compared(state, "==", a, b)
        return equal if equal is NotImplemented else not_(equal)
    return NotImplemented


def _compared_fields(symbol: str, a: Any, b: Any) -> Any:
    """Compare as the methods do that `dataclass` has written: tuples of the fields."""
    name = _COMPARED["==" if symbol == "!=" else symbol][0]
    method = vars(type(a)).get(name)
    code = getattr(method, "__code__", None)
    if code is None or code.co_filename != "<string>" or a is b:
        return NotImplemented
    names = [f.name for f in dataclasses.fields(a) if f.compare]
    first, second = (tuple([getattr(x, n) for n in names]) for x in (a, b))
    return compare(symbol, first, second)


def _truth(x: Any) -> Any:
    """Return what a user's object answers when it is asked for its truth, else the object."""
    state = SESSION.get()
    if state is None or type(x) in _KNOWN:
        return x
    method = routed_member(state, x, "__bool__")
    if method is not None:
        return method()
    if hasattr(type(x), "__bool__"):
        return x
    method = routed_member(state, x, "__len__")
    return x if method is None else compare(">", method(), 0)


DOORS.truth = _truth
