# SPDX-License-Identifier: Apache-2.0
"""The evaluator behind operations on eager arrays: each call is a program of one call."""

from __future__ import annotations

import operator
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy._core._exceptions import _UFuncOutputCastingError

from onnxjit._core.source import caller, user_level
from onnxjit._engine.cache import Cache
from onnxjit._ops import table
from onnxjit._trace.array import ARRAY, SCALAR, Array
from onnxjit._trace.convert import to_samples
from onnxjit._trace.doors import DOORS
from onnxjit._trace.out_casting import casting_of
from onnxjit._trace.reduced import REDUCES, in_dtype_of
from onnxjit.errors import (
    DataDependentError,
    FallbackWarning,
    LoweringError,
    OpsetError,
    SideEffectError,
    UnsupportedError,
)

from .boundary import as_eager, from_eager, from_numpy
from .entry import Entry
from .leaves import Leaf, flatten, leaf_names, leaf_of, map_tree
from .lie import lie_as, lie_as_picked
from .quick import quick_call, remember
from .record import record
from .run import call_traced

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._trace.trace import Tracer

__all__ = ["evaluate"]

_REFUSED: Final = (
    DataDependentError,
    SideEffectError,
    UnsupportedError,
    LoweringError,
    OpsetError,
)
_CACHE: Final[Cache[Entry]] = Cache(512)
_WARNED: Final[set[str]] = set()


def _basic(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return all(
        i is None
        or i is Ellipsis
        or (isinstance(i, (int, np.integer)) and not isinstance(i, bool))
        or (isinstance(i, slice) and all(_static_bound(b) for b in (i.start, i.stop, i.step)))
        for i in items
    )


def _static_bound(x: Any) -> bool:
    return x is None or isinstance(x, (int, np.integer))


def _get_item(array: Array, index: Any) -> Any:
    """Return an item: basic indices are NumPy views of the buffer."""
    index = _plain_index(index)
    values = array._nd
    assert values is not None  # eager
    if _basic(index):
        found = values[index]
        if isinstance(found, np.ndarray):
            return Array.eager(found)
        return Array.eager(np.asarray(found), SCALAR)
    made = _compiled_or_numpy(operator.getitem, (array, index), {})
    return lie_as_picked(values, index, made)


def _plain_index(index: Any) -> Any:
    """Replace eager integer scalars in an index by ints."""
    if isinstance(index, tuple):
        return tuple(_plain_index(i) for i in index)
    if isinstance(index, slice):
        return slice(*(_plain_index(i) for i in (index.start, index.stop, index.step)))
    if isinstance(index, Array) and index._nd is not None:
        values = index._nd
        if values.ndim == 0 and values.dtype.kind in "iu":
            return int(values)
        return values
    return index


def _set_item(array: Array, index: Any, value: Any) -> None:
    """Assign into the buffer: memory movement, which NumPy does in place."""
    values = array._nd
    assert values is not None  # eager
    if array._kind != ARRAY:
        msg = f"'numpy.{values.dtype.name}' object does not support item assignment"
        raise TypeError(msg)
    values[_plain_index(index)] = from_eager(value)


def evaluate(func: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Evaluate a NumPy call on eager arrays."""
    if func is operator.getitem:
        return _get_item(*args)
    if func is operator.setitem:
        _set_item(*args)
        return None
    if func is np.ndarray.astype:
        array, dtype, casting, copy, order = args
        if not copy and array.dtype == dtype and order in {"K", None}:
            return array
        made = _compiled_or_numpy(_astype, (array, dtype, casting), {})
        return lie_as(np.array, (array,), made, order)
    kwargs = dict(kwargs)
    if isinstance(func, np.ufunc):
        return _ufunc(func, method, args, kwargs)
    row = table.FUNCTIONS.get(func)
    out = kwargs.pop("out", None)
    if row is not None and (row.view or row.writes is not None):
        return _in_place(func, args, kwargs)
    if out is not None:
        return _call_into(out, func, args, kwargs)
    result = _compiled_or_numpy(func, args, kwargs)
    return lie_as(func, (args, list(kwargs.values())), result, kwargs.get("order"))


def _call_into(out: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with `out=`, whose dtype takes part in reductions."""
    target = out[0] if isinstance(out, tuple) else out
    ufunc = REDUCES.get(func)
    if ufunc is not None and 0 < len(args) < _DTYPE_AT:
        kwargs = in_dtype_of(target, ufunc, kwargs, np.asarray(from_eager(args[0])))
    result = _compiled_or_numpy(func, args, kwargs)
    question = partial(func, *to_samples(args), **to_samples(kwargs))
    return _store(target, result, casting=casting_of(question, result.dtype, target.dtype))


#: position of the dtype of a function that reduces, and of methods of ufuncs
_DTYPE_AT: Final = 3
_REDUCTIONS: Final = {"reduce": 3, "accumulate": 3, "reduceat": 4}


def _astype(array: Any, dtype: Any, casting: Any) -> Any:
    return array.astype(dtype, casting=casting)


def _in_place(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """View or write the buffer itself: NumPy's own functions, which do no arithmetic."""
    result = func(*from_eager(args), **from_eager(kwargs))
    for x in args:
        if isinstance(x, Array) and x._kind == ARRAY and x._nd is result:
            return x  # np.asarray(x) is x
    return from_numpy(result)


def _ufunc(func: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if method == "at":
        func.at(*from_eager(args))
        return None
    out = kwargs.pop("out", None)
    if method == "__call__" and len(args) > func.nin:
        out, args = args[func.nin :], args[: func.nin]
    call = func if method == "__call__" else getattr(func, method)
    if out is None or all(o is None for o in (out if isinstance(out, tuple) else (out,))):
        result = _compiled_or_numpy(call, args, kwargs, name=(func, method))
        rule = func if method in {"__call__", "accumulate"} else call
        return lie_as(rule, args, result, kwargs.get("order"))
    outs = out if isinstance(out, tuple) else (out,)
    # a reduction has no other place for `where` than its own
    where = kwargs.pop("where", True) if method == "__call__" else True
    reduces = method in _REDUCTIONS
    if reduces and len(args) < _REDUCTIONS[method]:
        kwargs = in_dtype_of(outs[0], func, kwargs, np.asarray(from_eager(args[0])))
    result = _compiled_or_numpy(call, args, kwargs, name=(func, method))
    results = result if isinstance(result, tuple) else (result,)
    casting: Any = "unsafe" if reduces else kwargs.get("casting", "same_kind")
    for position, (o, r) in enumerate(zip(outs, results, strict=True)):
        if o is not None and not np.can_cast(r.dtype, o.dtype, casting):
            raise _UFuncOutputCastingError(func, casting, r.dtype, o.dtype, position)
    stored = tuple(
        r if o is None else _store(o, r, where, casting)
        for o, r in zip(outs, results, strict=True)
    )
    return stored if len(stored) > 1 else stored[0]


def _store(out: Any, result: Any, where: Any = True, casting: Any = "same_kind") -> Any:
    if isinstance(out, tuple):
        (out,) = out
    target: Any = out._nd if isinstance(out, Array) else out
    np.copyto(target, from_eager(result), where=from_eager(where), casting=casting)
    return out


def _compiled_or_numpy(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: Any = None
) -> Any:
    try:
        try:
            return _compiled(call, name, args, kwargs, _hints)
        except DataDependentError:
            if not any(map(_hints, args)):
                raise
            # a float that is no operand but an option, such as the order of a norm
            return _compiled(call, name, args, kwargs, _constant)
    except _REFUSED as e:
        text = getattr(call, "__name__", str(call))
        _warn(text, str(e))
        return from_numpy(call(*from_eager(args), **from_eager(kwargs)))


def _warn(name: str, reason: str) -> None:
    where = caller()
    key = f"{name} at {where}"
    if key not in _WARNED:
        _WARNED.add(key)
        msg = f"{key} ran in NumPy itself, not in onnxruntime: {reason}"
        warnings.warn(msg, FallbackWarning, stacklevel=user_level())


def _compiled(
    call: Callable[..., Any],
    name: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    hints: Callable[[Any], bool],
) -> Any:
    entry, values = _entry(call, name, args, kwargs, hints)
    is_call = isinstance(name, tuple) and name[1] == "__call__" and not kwargs
    if is_call and hints is _hints:
        remember(name[0], args, entry)
    return as_eager(entry.run(values))


def _entry(
    call: Callable[..., Any],
    name: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    hints: Callable[[Any], bool],
) -> tuple[Entry, list[Any]]:
    """Return the program of a call, made now if there is none, and its leaves."""
    leaves: list[Leaf] = []
    keys = [flatten(x, f"x{i}", leaves, top=hints(x)) for i, x in enumerate(args)]
    keys += [(k, flatten(v, k, leaves)) for k, v in kwargs.items()]
    key = (name or call, *keys)
    values = [leaf.value for leaf in leaves]
    for kept in _CACHE.get(key):
        guard = kept.value.guard
        if guard is None or guard(values):
            _CACHE.touch(kept)
            return kept.value, values
    entry = _build(call, args, kwargs, leaves, hints)
    _CACHE.add(key, entry.guard, entry)
    return entry, values


def _hints(x: Any) -> bool:
    """Python numbers next to arrays are dynamic: one program serves them all."""
    return isinstance(x, float)


def _constant(_: Any) -> bool:
    """No Python number is dynamic."""
    return False


def _build(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: list[Leaf],
    hints: Callable[[Any], bool],
) -> Entry:
    def body(tracer: Tracer, traced: list[Any]) -> Any:
        new = iter(traced)

        def leaf(item: Any, top: bool) -> Any:
            return next(new) if leaf_of(item, "", top=top) is not None else item

        fresh = [map_tree(x, leaf, top=hints(x)) for x in args]
        options = {k: map_tree(v, leaf) for k, v in kwargs.items()}
        return call_traced(tracer, call, fresh, options)

    recording = record(body, leaves, leaf_names(leaves))
    return Entry(recording, leaves)


DOORS.eager = evaluate
DOORS.quick = quick_call
