# SPDX-License-Identifier: Apache-2.0
"""What functions do with lists whose length only a run of the model knows."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import ItemsView, KeysView, ValuesView
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, has_data
from onnxjit._core.dtypes import FLOAT64, INT64
from onnxjit._trace.array import INT, Array, wrap
from onnxjit._trace.dispatch import call_function
from onnxjit._trace.doors import DOORS
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import python_number
from onnxjit._trace.lists import Generated, List, Numbers, Stack, rows_of
from onnxjit._trace.trace import dim_array
from onnxjit.errors import UnsupportedError

from .join import Type
from .kept import SKIPPED, Lazy, Maybe
from .places import stacked_of
from .sorting import sort
from .steps import taken
from .truth import compare, ifexp

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.dims import DimLike

    from .rows import Rows

__all__ = [
    "as_array", "as_arrays", "gathered", "given", "joined_rows", "new_list",
    "next_", "numbers_of", "sort", "spread",
    "sum_of",
]  # fmt: skip

_CONTAINERS: Final = (tuple, list)
#: what has elements, but none by place
_VIEWS: Final = (KeysView, ValuesView, ItemsView, deque)


def gathered(x: Any) -> Any:
    """Return what an iterator or view has as a list or array, anything else as it is."""
    if isinstance(x, _VIEWS):
        return List(x)
    if not isinstance(x, Lazy):
        return taken(x, whole=True)
    found = List()
    for result in x.raw:
        x.add(found, result)
    return found


def next_(x: Any, *default: Any) -> Any:
    """Return the next result of a generator expression, or what stands for the end."""
    if isinstance(x, Lazy) and default:
        return _first(x, default[0])
    if not isinstance(x, Generated) or not default:
        return next(x, *default)
    return ifexp(compare(">", x.length, 0), lambda: x.pop(0), lambda: default[0], (lambda: x,))


def _first(x: Lazy, default: Any) -> Any:
    result = next(x.raw, SKIPPED)
    if not isinstance(result, Maybe):
        return default if result is SKIPPED else result
    found = ifexp(wrap(result.pred), result.make, lambda: _first(x, default))
    x.raw = iter([result])  # how much is left, only data knows: nobody can go on
    return found


def new_list(iterable: Any = ()) -> List:
    """Return a list of the elements of an iterable, whose number may be symbolic."""
    iterable = taken(iterable, whole=True)
    rows = stacked_of(iterable)
    if rows is None:
        return List(iterable)
    running_tracer().has_rows = True
    return List.of_rows(rows[:])


def spread(x: Any) -> List:
    """Return the elements of a starred part of a list.

    What stands beside them may be of another type: a call takes one by one what it can count.
    """
    x = gathered(x)
    rows = stacked_of(x)
    if (
        rows is not None
        and running_tracer().env.policy == "guard"
        and not has_data(rows.length)
    ):
        return List(x)
    return new_list(x)


# ---------------------------------------------------------------------------- as arrays


def as_array(x: List, *, typed: bool = False) -> Array:
    """Return a list as `np.array` makes an array of it; `typed`: the dtype is given."""
    rows = x.rows.filled()
    found = _array_of(rows, rows.element.template, iter(rows.columns))
    is_same = found.ndim == 1 and (typed or found._value.dtype is FLOAT64)
    # NumPy makes float64 numbers of no elements, whatever they would have been
    if not is_same and _is_empty(x.length):
        found = call_function(np.zeros, (0, found.dtype if typed else np.float64), {})
    return wrap(found._value)


def _array_of(rows: Rows, template: Any, columns: Any) -> Array:
    kind, like, children = template
    if kind == "leaf":
        found: Array = next(columns)
        return found
    if kind == "static" or isinstance(like, dict):
        msg = f"an array of the elements {like!r:.40} is not carried"
        raise UnsupportedError(msg)
    parts = [_array_of(rows, child, columns) for child in children]
    if isinstance(like, Stack):
        return parts[0]
    if isinstance(like, List) and like.rows is not None:
        return parts[0]
    stacked: Array = call_function(np.stack, (parts,), {"axis": 1})
    return stacked


def _is_empty(length: DimLike) -> bool:
    """Whether there is no element; what only data knows is left to Python if there is none."""
    if not isinstance(length, Dim):
        return length == 0
    if length.env.proves("ge", length.poly - 1):
        return False
    tracer = running_tracer()
    if not (tracer.symbolic or has_data(length)):
        return not length > 0
    test: Any = np.equal(dim_array(length), 0)
    tracer.fail_if(test._value)
    return False


def _has_rows(x: Any) -> bool:
    if isinstance(x, Numbers) or (isinstance(x, List) and x.rows is not None):
        return True
    if isinstance(x, _CONTAINERS):
        return any(map(_has_rows, x))
    return isinstance(x, dict) and any(map(_has_rows, x.values()))


def as_arrays(x: Any) -> Any:
    """Replace lists of unknown length by arrays, in arguments of NumPy."""
    return _replaced(x) if _has_rows(x) else x


def _replaced(x: Any) -> Any:
    if rows_of(x) is not None:
        return as_array(x)
    if isinstance(x, Numbers):
        found = x.array()
        empty = _is_empty(found.shape[0])  # NumPy makes float64 numbers of none
        return call_function(np.zeros, (0,), {}) if empty else found
    if isinstance(x, tuple):
        items = tuple(map(_replaced, x))
        return type(x)(*items) if hasattr(x, "_fields") else items
    if isinstance(x, list):
        return list(map(_replaced, x))
    return {k: _replaced(v) for k, v in x.items()} if isinstance(x, dict) else x


_TYPED: Final = frozenset({np.array, np.asarray, np.asanyarray, np.ascontiguousarray})


def given(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a function with arrays in the place of lists."""
    typed = func in _TYPED and (len(args) > 1 or kwargs.get("dtype") is not None)
    if typed and args and rows_of(args[0]) is not None:
        args = (as_array(args[0], typed=True), *args[1:])
    return as_arrays(args), as_arrays(kwargs)


# ---------------------------------------------------------------------------- joined


def _at_least(a: Array, ndim: int) -> Array:
    """Give elements axes as `np.atleast_1d` and its like do."""
    own = a.ndim - 1
    if ndim > own:
        front = ndim - own if ndim < 3 else int(own < 2)
        back = ndim - own - front
        shape = (a.shape[0], *(1,) * front, *a.shape[1:], *(1,) * back)
        a = call_function(np.reshape, (a, shape), {})
    return a


def _along(a: Array, axis: int) -> Any:
    """Join stacked arrays along one of their axes."""
    ndim = a.ndim - 1
    if not ndim:
        msg = "zero-dimensional arrays cannot be concatenated"
        raise ValueError(msg)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    axis %= ndim
    n, *shape = a.shape
    moved = call_function(np.moveaxis, (a, 0, axis), {})
    shape[axis] = shape[axis] * n
    return call_function(np.reshape, (moved, tuple(shape)), {})


def _concatenate(a: Array, axis: int | None = 0) -> Any:
    return call_function(np.ravel, (a,), {}) if axis is None else _along(a, axis)


def _stack(a: Array, axis: int = 0) -> Any:
    moved = call_function(np.moveaxis, (a, 0, axis), {})
    return call_function(np.array, (moved,), {})


def _vstack(a: Array) -> Any:
    return _along(_at_least(a, 2), 0)


def _hstack(a: Array) -> Any:
    a = _at_least(a, 1)
    return _along(a, 0 if a.ndim == 2 else 1)


def _dstack(a: Array) -> Any:
    return _along(_at_least(a, 3), 2)


def _column_stack(a: Array) -> Any:
    if a.ndim < 3:
        a = call_function(np.reshape, (_at_least(a, 1), (a.shape[0], -1, 1)), {})
    return _along(a, 1)


_JOINS: Final[dict[Any, Callable[..., Any]]] = {
    np.concatenate: _concatenate, np.stack: _stack, np.vstack: _vstack, np.hstack: _hstack,
    np.dstack: _dstack, np.column_stack: _column_stack,
}  # fmt: skip


def joined_rows(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a function makes of a list of arrays to be joined, None for other calls."""
    join = _JOINS.get(func)
    if join is None or not args or rows_of(args[0]) is None:
        return None
    x, *rest = args
    if _is_empty(x.length):
        return func((), *rest, **kwargs)
    rows = x.rows.filled()
    array = wrap(_array_of(rows, rows.element.template, iter(rows.columns))._value)
    options = dict(kwargs)
    dtype, casting = options.pop("dtype", None), options.pop("casting", "same_kind")
    if options.pop("out", None) is not None:
        msg = f"np.{func.__name__} of a growing list is not carried with out="
        raise UnsupportedError(msg)
    found = join(array, *rest, **options)
    return found if dtype is None else found.astype(dtype, casting=casting)


# ---------------------------------------------------------------------------- builtins


def numbers_of(x: List, what: str) -> Array:
    """Return a list of numbers as an array."""
    return wrap(x.rows._numbers(what)._value)


def _like_elements(found: Any, t: Type) -> Any:
    """Return a result of the kind of the elements."""
    if not t.is_python:
        return found
    return python_number(found, t.dtype.kind if t.dtype.kind != "u" else "i")


def sum_of(x: List, start: Any) -> Any:
    """Return ``sum(x, start)``."""
    rows: Rows = x.rows.filled()
    if rows.element.template[0] != "leaf":
        msg = "the elements of a list that grows in a loop are added, but are no numbers"
        raise UnsupportedError(msg)
    (column,), (t,) = rows.columns, rows.element.types
    dtype = np.int64 if t.dtype.kind == "b" else t.dtype.numpy
    found = np.add.reduce(wrap(column._value), axis=0, dtype=dtype)
    if t.dtype.kind == "b":
        t = Type(INT if t.is_python else t.kind, INT64, ())
    return start + _like_elements(found, t)


DOORS.listed = sys.modules[__name__]
