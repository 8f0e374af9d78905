# SPDX-License-Identifier: Apache-2.0
"""The evaluator behind operations on eager arrays: each call is a program of one call."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.source import caller, user_level
from onnxjit._engine.cache import Cache
from onnxjit._ops import table
from onnxjit._trace.array import ARRAY, SCALAR, Array
from onnxjit._trace.doors import DOORS
from onnxjit._trace.into import computing_in
from onnxjit.errors import (
    DataDependentError,
    FallbackWarning,
    LoweringError,
    OpsetError,
    SideEffectError,
    UnsupportedError,
)

from .boundary import as_eager, from_eager, numpy_result
from .entry import FROZEN, Entry, Rerun
from .leaves import Leaf, flatten, leaf_names, leaf_of, map_tree
from .lie import Lies, lie_as_operands, lying, shows_order
from .output import in_dtype_of_out, named, split_out, store, store_ufunc
from .quick import is_plain, quick_call, quick_function, remember, remember_function
from .record import record
from .run import call_traced

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._ops.row import Function
    from onnxjit._trace.trace import Tracer

__all__ = ["evaluate"]

_REFUSED: Final = (
    DataDependentError,
    SideEffectError,
    UnsupportedError,
    LoweringError,
    OpsetError,
)
_CACHE: Final[Cache[Program]] = Cache(512)
_WARNED: Final[set[str]] = set()


def _get_item(array: Array, index: Any) -> Any:
    """Return an item: memory movement, which NumPy does, as a view for basic indices."""
    values = array._nd
    assert values is not None  # eager
    found = values[_plain_index(index)]
    if isinstance(found, np.ndarray):
        return Array.eager(found)
    return Array.eager(np.asarray(found), SCALAR)


def _plain_index(index: Any) -> Any:
    """Replace eager arrays in an index by NumPy's."""
    if isinstance(index, tuple):
        return tuple(_plain_index(i) for i in index)
    if isinstance(index, slice):
        return slice(*(_plain_index(i) for i in (index.start, index.stop, index.step)))
    return from_eager(index)


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
        if not copy and array.dtype == dtype and _lies_in(array._nd, order):
            return array
        given = (array, dtype, casting, order)
        made = quick_function(_astype, given, {})
        return _compiled_or_numpy(_astype, given, {}) if made is None else made
    row = table.FUNCTIONS.get(func)
    if row is not None and _moves_memory(row, args, kwargs):
        return numpy_result(func, args, kwargs)
    if method == "at":
        func.at(*from_eager(args))
        return None
    return _call(func, method, args, kwargs)


def _moves_memory(row: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call views or changes the buffer itself, without arithmetic."""
    if row.view or row.writes is not None:
        return True
    if row.copies is None:
        return False
    return not named(row.numpy, args, kwargs).get(row.copies, True)


def _lies_in(values: Any, order: Any) -> bool:
    """Whether NumPy asks for no other memory order."""
    found: bool = values.astype(values.dtype, order, copy=False) is values
    return found


def _astype(array: Any, dtype: Any, casting: Any, order: Any) -> Any:
    return array.astype(dtype, order, casting)


def _call(func: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a function, a ufunc or one of its methods, and write to `out`."""
    is_ufunc = isinstance(func, np.ufunc)
    call = getattr(func, method) if is_ufunc and method != "__call__" else func
    name = (func, method) if is_ufunc else None
    args, kwargs, out = split_out(func, method, args, kwargs)
    if out is None:
        return _compiled_or_numpy(call, args, kwargs, name)

    def ask() -> Any:
        return call(*from_eager(args), **from_eager(kwargs), out=from_eager(out))

    if not is_ufunc or method not in {"__call__", "outer"}:
        within = None if is_ufunc else computing_in(func, named(func, args, kwargs), out)
        if within is not None:
            return within()
        given, options = in_dtype_of_out(func, method, args, kwargs, out)
        return store(func, method, out, _compiled_or_numpy(call, given, options, name), ask)
    everywhere = {k: v for k, v in kwargs.items() if k != "where"}
    try:
        result = _compiled_or_numpy(call, args, everywhere, name)
    except (TypeError, ValueError):
        ask()  # NumPy looks at the dtype of `out` first
        raise
    outs = out if isinstance(out, tuple) else (out,)
    results = result if isinstance(result, tuple) else (result,)
    stored = store_ufunc(func, outs, results, kwargs, ask)
    return stored if len(stored) > 1 else stored[0]


def _compiled_or_numpy(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: Any = None
) -> Any:
    called = isinstance(name, tuple) and name[1] == "__call__"
    hints = _operands if called and name[0] is not np.power else _hints
    try:
        try:
            return _compiled(call, name, args, kwargs, hints)
        except DataDependentError:
            if not any(map(hints, args)):
                raise
            # a number that is no operand but an option, such as the order of a norm
            return _compiled(call, name, args, kwargs, _constant)
    except Rerun as e:
        result = numpy_result(call, args, kwargs)  # which raises, mostly
        reason = f"its graph fails where NumPy does not: {e.__cause__ or 'a check'}"
        _warn(getattr(call, "__name__", str(call)), reason)
        return result
    except _REFUSED as e:
        text = getattr(call, "__name__", str(call))
        _warn(text, str(e))
        return numpy_result(call, args, kwargs)


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
    program, values = _program(call, name, args, kwargs, hints)
    run, lies = program.entry.run, program.lies
    keep = program.is_plain and hints is not _constant
    if isinstance(call, np.ufunc) and not kwargs and lies is None:
        if keep:
            remember(call, args, program.entry)
        return lie_as_operands(args, as_eager(run(values)))
    if lies is None:
        result = as_eager(run(values))
    else:
        result = lying(lies, call, args, kwargs, values, run)
    if keep and (name is None or name == (call, "__call__")):
        remember_function(call, args, kwargs, program.entry, lies)
    return result


class Program:
    """The program of a call.

    Attributes
    ----------
    entry : Entry
    lies : dict or None
        How its results lie; None where nothing is to be learnt about that.
    is_plain : bool
        Whether calls may go a shorter way from now on.
    """

    __slots__ = ("entry", "is_plain", "lies")

    def __init__(self, entry: Entry, lies: Lies | None) -> None:
        self.entry: Final = entry
        self.lies: Final = lies
        self.is_plain: Final = is_plain(entry)


def _program(
    call: Callable[..., Any],
    name: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    hints: Callable[[Any], bool],
) -> tuple[Program, list[Any]]:
    """Return the program of a call, made now if there is none, and its leaves."""
    leaves: list[Leaf] = []
    keys = [flatten(x, f"x{i}", leaves, top=hints(x)) for i, x in enumerate(args)]
    keys += [(k, flatten(v, k, leaves)) for k, v in kwargs.items()]
    key = (name or call, *keys)
    values = [leaf.value for leaf in leaves]
    every = _CACHE.get(key)
    for kept in every:
        guard = kept.value.entry.guard
        if guard is None or guard(values):
            _CACHE.touch(kept)
            return kept.value, values
    entry = _build(call, args, kwargs, leaves, hints, freezes=len(every) < FROZEN)
    known = isinstance(call, np.ufunc) and call.signature is None and not kwargs
    known = known or not shows_order(entry.recording, (args, kwargs))
    program = Program(entry, None if known else {})
    _CACHE.add(key, entry.guard, program)
    return program, values


def _hints(x: Any) -> bool:
    """Floats next to arrays are dynamic: one program serves them all."""
    return isinstance(x, float)


def _operands(x: Any) -> bool:
    """Operands of a ufunc are dynamic, counters of loops among them.

    Except of a power: its whole exponents are few, and decide how it is computed.
    """
    return type(x) is int or isinstance(x, float)


def _constant(_: Any) -> bool:
    """No Python number is dynamic."""
    return False


def _build(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: list[Leaf],
    hints: Callable[[Any], bool],
    *,
    freezes: bool = True,
) -> Entry:
    def body(tracer: Tracer, traced: list[Any]) -> Any:
        tracer.env.freezes = freezes
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
DOORS.quick_function = quick_function
