# SPDX-License-Identifier: Apache-2.0
"""One type for what a place may hold after either branch, or after any iteration.

NumPy and Python decide as they do for ``np.where``: Python numbers give way to NumPy's, and
dtypes are promoted.  Containers of the same structure are joined element by element.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import (
    BOOL,
    COMPLEX128,
    FLOAT64,
    INT64,
    DType,
    from_numpy,
    is_carried,
)
from onnxjit._ops.cast import cast
from onnxjit._ops.ufunc import as_weak
from onnxjit._trace import array as kinds
from onnxjit._trace.array import Array, wrap
from onnxjit._trace.items import size_of
from onnxjit._trace.layout import Layout, lies
from onnxjit._trace.lists import List, Stack, rows_of

from .either import Either, Open, Unsure
from .records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

__all__ = [
    "JoinError", "ListsDifferError", "Type", "flatten", "joined", "rebuild", "stand_in",
    "type_of", "unify",
]  # fmt: skip


class JoinError(TypeError):
    """Two contents that no type holds."""


_PYTHON: Final[dict[type, tuple[str, DType]]] = {
    bool: (kinds.BOOL, BOOL),
    int: (kinds.INT, INT64),
    float: (kinds.FLOAT, FLOAT64),
    complex: (kinds.COMPLEX, COMPLEX128),
}
_ORDER: Final = (kinds.BOOL, kinds.INT, kinds.FLOAT, kinds.COMPLEX)
_DTYPES: Final = dict(_PYTHON.values())
_EXAMPLES: Final[dict[str, Any]] = {
    kinds.BOOL: False, kinds.INT: 0, kinds.FLOAT: 0.0, kinds.COMPLEX: 0j,
}  # fmt: skip


class Type:
    """Kind of object (array, scalar, Python number), dtype and shape."""

    __slots__ = ("dtype", "kind", "shape")

    def __init__(self, kind: str, dtype: DType, shape: tuple[DimLike, ...]) -> None:
        self.kind: Final = kind
        self.dtype: Final = dtype
        self.shape: Final = shape

    @property
    def is_python(self) -> bool:
        """Whether it is a Python number."""
        return self.kind in _DTYPES

    @property
    def aval(self) -> Tensor:
        """Type of the value."""
        return Tensor(self.dtype, self.shape, weak=self.is_python)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Type)
            and self.kind == other.kind
            and self.dtype is other.dtype
            and len(self.shape) == len(other.shape)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        name = self.kind if self.is_python else f"{self.kind} {self.dtype.name}[{sizes}]"
        return f"a Python {name}" if self.is_python else f"{name}"


def type_of(x: Any) -> Type | None:
    """Return the type of a number or array, None for anything else."""
    found = _PYTHON.get(type(x))
    if found is not None:
        too_big = type(x) is int and not -(2**63) <= x < 2**63
        return None if too_big else Type(*found, ())
    if isinstance(x, Dim):
        return Type(kinds.INT, INT64, ())
    if isinstance(x, Array):
        dtype = from_numpy(x.dtype)
        return Type(x._kind, dtype, tuple(x.shape))
    if isinstance(x, (np.ndarray, np.generic)) and is_carried(x.dtype):
        kind = kinds.ARRAY if isinstance(x, np.ndarray) else kinds.SCALAR
        return Type(kind, from_numpy(x.dtype), x.shape)
    return None


def joined(a: Type, b: Type) -> Type:
    """Return a type for both; its shape is the first's.

    Raises
    ------
    JoinError
        The ranks differ, or the dtypes have no common one.
    """
    if len(a.shape) != len(b.shape):
        msg = f"{a} and {b} differ in rank"
        raise JoinError(msg)
    if a.is_python and b.is_python:
        kind = max(a.kind, b.kind, key=_ORDER.index)
        return Type(kind, _DTYPES[kind], ())
    kind = kinds.ARRAY if kinds.ARRAY in (a.kind, b.kind) else kinds.SCALAR
    try:
        dtype = np.result_type(_promoted(a), _promoted(b))
    except TypeError as e:
        msg = f"{a} and {b} have no common dtype"
        raise JoinError(msg) from e
    return Type(kind, from_numpy(dtype), a.shape)


def _promoted(t: Type) -> Any:
    return _EXAMPLES[t.kind] if t.is_python else t.dtype.numpy


def stand_in(t: Type) -> Any:
    """Return a number or array that takes the place of one that is not there yet."""
    shape = tuple(n if isinstance(n, int) else 0 for n in t.shape)
    zeros = np.zeros(shape, t.dtype.numpy)
    if t.is_python:
        return zeros.item()
    return zeros if t.kind == kinds.ARRAY else zeros[()]


def to_value(x: Any, target: Type) -> Value:
    """Return a number or array as a value of a type, computed in the current block."""
    if isinstance(x, Dim):
        value = dim_value(x)
    elif isinstance(x, Array):
        value = as_value(x._nd) if x._nd is not None else x._value
    else:
        value = as_value(x)
    if value.dtype is not target.dtype or (value.weak and not target.is_python):
        value = cast(value, target.dtype)
    return as_weak(value) if target.is_python else value


def from_value(value: Value, target: Type, sources: Sequence[Any] = ()) -> Any:
    """Return a value as the object that a type describes."""
    if target.kind == kinds.INT:
        return size_of(value)
    if target.kind in _DTYPES:
        return wrap(value)
    return wrap(value, target.kind, _layout(value, sources))


def _layout(value: Value, sources: Sequence[Any]) -> Layout | None:
    """Return how a merged array lies: as all its sources do, or nobody knows."""
    if value.ndim < 2:
        return None
    return lies(merged, list(sources), None)(value.ndim)


def merged() -> None:
    """Name the source of a merged array in messages about its memory order."""


# --- structures ----------------------------------------------------------------------------

Template = tuple[str, Any, list[Any]]
_ITEMS: Final = (list, tuple)


class ListsDifferError(JoinError):
    """Two lists that become alike when one of them holds its elements stacked."""

    def __init__(self, first: List, second: List) -> None:
        super().__init__("lists of different lengths, or of different elements")
        self.lists: Final = (first, second)


def _parts(x: Any) -> list[Any] | None:
    rows = rows_of(x)
    if rows is not None:
        return [rows]
    if isinstance(x, Stack):
        return list(x.columns)  # type: ignore[attr-defined]  # a Rows
    if isinstance(x, Either):
        return [x.pred, x.first, x.second]
    if isinstance(x, Unsure):
        return [x.defined, x.content]
    if isinstance(x, Record):
        return x.parts
    if isinstance(x, _ITEMS):
        return list(x)
    return list(x.values()) if type(x) is dict else None


def _make(like: Any, parts: list[Any]) -> Any:
    if rows_of(like) is not None:
        return type(like).of_rows(parts[0])
    if isinstance(like, Stack):
        return like.with_columns(parts)  # type: ignore[attr-defined]  # a Rows
    if isinstance(like, Either):
        pred, first, second = parts
        return Either(pred, first, second, like.source)
    if isinstance(like, Unsure):
        return Unsure(*parts)
    if isinstance(like, Record):
        return like.made(parts)
    if type(like) is dict:
        return dict(zip(like, parts, strict=True))
    if hasattr(like, "_fields"):
        return type(like)(*parts)
    return type(like)(parts)


def flatten(
    x: Any,
    leaves: list[Any],
    found: Found | None = None,
    seen: Callable[[Any], Any] | None = None,
) -> Template:
    """Return the structure of a content, and add its numbers and arrays to `leaves`.

    `found` is called with each container or object in it, and the list of its parts;
    ``seen(part)`` gives what a part of a container is looked at as.
    """
    if type_of(x) is not None:
        leaves.append(x)
        return "leaf", None, []
    parts = _parts(x)
    if parts is None:
        return "static", x, []
    if seen is not None and not isinstance(x, Either):
        parts = list(map(seen, parts))
    children = [flatten(p, leaves, found, seen) for p in parts]
    if found is not None and isinstance(x, _CHANGING):
        found(x, None, children)
    return "node", x, children


def rebuild(
    template: Template, leaves: Iterator[Any], settled: Callable[[Any, Any], Any] | None = None
) -> Any:
    """Return a content with new leaves; what has none stays the same object.

    ``settled(children, made)`` gives what takes the place of a new container or object.
    """
    kind, x, children = template
    if kind == "leaf":
        return next(leaves)
    if not _is_new(template):
        return x
    made = _make(x, [rebuild(child, leaves, settled) for child in children])
    return made if settled is None else settled(children, made)


Found = Callable[[Any, Any, list[Any]], None]
#: what may be changed in place, so that two names of one are no two
_CHANGING: Final = (list, dict, Record)
#: what is always made anew: it stands for something, or for one of several things
_SEEN: Final = (Open, Record)


def _is_new(template: Template) -> bool:
    """Whether a content is not the object that it was made like."""
    kind, x, children = template
    if kind != "node":
        return kind == "leaf"
    return isinstance(x, _SEEN) or any(map(_is_new, children))


def unify(
    x: Any,
    y: Any,
    pairs: list[tuple[Any, Any]],
    found: Found | None = None,
    apart: Callable[[Any, Any], Template | None] | None = None,
) -> Template:
    """Return the common structure of two contents; add the pairs of leaves that may differ.

    `found` is called with both of two containers or objects, and the list of the parts;
    ``apart(m, n)`` gives the structure of two parts that do not become one, else None.

    Raises
    ------
    JoinError
        There is none.
    """
    if x is y:
        return "static", x, []
    if isinstance(x, Unsure) != isinstance(y, Unsure):
        x, y = (v if isinstance(v, Unsure) else Unsure(True, v) for v in (x, y))
    a, b = type_of(x), type_of(y)
    if a is not None and b is not None:
        plain = a.is_python and type(x) is type(y) and not isinstance(x, (Dim, Array))
        if plain and _same_bits(x, y):
            return "static", x, []
        joined(a, b)
        pairs.append((x, y))
        return "leaf", None, []
    if isinstance(x, List) and isinstance(y, List) and _differ(x, y):
        raise ListsDifferError(x, y)
    p, q = _parts(x), _parts(y)
    alike = type(x) is type(y) or (isinstance(x, List) and isinstance(y, List))
    alike = alike and (not isinstance(x, Record) or x.is_like(y))
    same = alike and p is not None and q is not None and len(p) == len(q)
    if same and (type(x) is not dict or list(x) == list(y)):
        assert p is not None  # `same` says so
        assert q is not None
        children = [
            (apart and apart(m, n)) or unify(m, n, pairs, found, apart)
            for m, n in zip(p, q, strict=True)
        ]
        if found is not None and isinstance(x, _CHANGING):
            found(x, y, children)
        return "node", x, children
    if type(x) is type(y) and type(x) in (str, bytes, int, slice, range) and x == y:
        return "static", x, []
    if _same_function(x, y):
        return "static", y, []
    msg = f"{described(x)} and {described(y)} cannot be one value"
    raise JoinError(msg)


def _differ(x: List, y: List) -> bool:
    """Whether two lists have other numbers of elements, or other kinds of them."""
    if x.rows is None or y.rows is None:
        return x.rows is not y.rows or len(x) != len(y)
    return bool(x.rows.element.differs(y.rows.element))


def _same_function(x: Any, y: Any) -> bool:
    """Whether two functions were made of one definition, and see the same variables."""
    if type(x) is not FunctionType or type(y) is not FunctionType:
        return False
    if x.__code__ is not y.__code__:
        return False
    parts = ((f.__closure__, f.__defaults__, f.__kwdefaults__) for f in (x, y))
    return all(map(_same_items, *parts))


def _same_items(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(a[k] is b[k] for k in a)
    return len(a) == len(b) and all(map(operator.is_, a, b))


def _same_bits(x: Any, y: Any) -> bool:
    return repr(x) == repr(y)


def described(x: Any) -> str:
    """Return a short text of a content, for messages."""
    if isinstance(x, Unsure):
        return described(x.content)
    if isinstance(x, Either):
        return f"{described(x.first)} or {described(x.second)}"
    found = type_of(x)
    return repr(found) if found is not None else f"{type(x).__name__} {x!r:.40}"
