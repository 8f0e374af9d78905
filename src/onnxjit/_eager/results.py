# SPDX-License-Identifier: Apache-2.0
"""Results of a traced function, and what it stores, as trees of program results."""

from __future__ import annotations

import copy
import enum
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dims import Dim, has_data, hint_of, symbols_of
from onnxjit._rewrite.snapshot import ATOMS
from onnxjit._trace.array import ARRAY, SCALAR, Array
from onnxjit._trace.control.either import Either, Unsure
from onnxjit._trace.convert import arrays_in, is_traced, to_numpy
from onnxjit._trace.lists import rows_of
from onnxjit.errors import DataDependentError, SideEffectError, UnsupportedError

from .leaves import children
from .stacked import Stacked

if TYPE_CHECKING:
    from onnxjit._core.program import Value
    from onnxjit._trace.trace import Tracer

__all__ = ["Outputs", "Result", "Unless", "content_tree", "result_tree"]


class Result:
    """Where one leaf of the result comes from.

    `source` is ``"output"`` (`index` of the program's results), ``"argument"`` (`index` of the
    leaf, returned itself), ``"container"`` (`index` among the containers of the arguments),
    ``"size"`` (`value` is a Dim), ``"static"`` (`value`), ``"held"`` (the object `value`
    itself) or ``"weak"`` (the object that the weak reference `value` leads to).
    `kind` is the kind of traced value; `copy` marks a second array of the same value.
    """

    __slots__ = ("copy", "index", "kind", "source", "value")

    def __init__(
        self,
        source: str,
        *,
        index: int = -1,
        kind: str = "",
        value: Any = None,
        copy: bool = False,
    ) -> None:
        self.source: Final = source
        self.index: Final = index
        self.kind: Final = kind
        self.value: Final = value
        self.copy: Final = copy


class Outputs:
    """Results collected in order; the same handle is one result, the same value a copy."""

    def __init__(self, inputs: list[Any], tracer: Tracer) -> None:
        self.tracer: Final = tracer
        self.nodes: dict[int, tuple[Any, Any]] = {}
        self.stored = False  # whether what is looked at is stored, not returned
        self.values: list[Value] = []
        self.handles: dict[tuple[int, ...], Result] = {}
        self.by_value: dict[int, int] = {}
        self.alive: list[Any] = []
        self.arguments = {
            id(x._storage): i
            for i, x in reversed(list(enumerate(inputs)))
            if isinstance(x, Array)
        }

    def array(self, x: Array) -> Result:
        """Return where a traced array of the result comes from."""
        is_argument = x._settled_argument()
        # the same memory seen through the same views is one object
        key = (id(x._storage), *map(id, x._views)) if x._kind == ARRAY else (id(x),)
        found = self.handles.get(key)
        if found is None:
            found = self.handles[key] = self._array(x, is_argument=is_argument)
            self.alive.append((x, x._storage, x._views))
        return found

    def _array(self, x: Array, *, is_argument: bool) -> Result:
        if is_argument and id(x._storage) in self.arguments and x._kind in (ARRAY, SCALAR):
            return Result("argument", index=self.arguments[id(x._storage)], kind=x._kind)
        return self.value(x._value, x._kind)

    def value(self, value: Value, kind: str) -> Result:
        """Return a new result of the program."""
        index = self.by_value.get(value.id)
        again = index is not None
        if index is None:
            index = self.by_value[value.id] = len(self.values)
            self.values.append(value)
        return Result("output", index=index, kind=kind, copy=again)


def content_tree(x: Any, outputs: Outputs, before: Any) -> Any:
    """Return a container as a tree; what data has left alone stays the same object."""
    if rows_of(x) is not None:
        return _stacked(x, outputs)
    parts = children(x)
    assert parts is not None  # a container
    items = []
    for name, item in parts:
        tree = result_tree(item, outputs)
        old = before.get(name)
        if type(old) in _NUMBERS and _is_merged(item):
            tree = (Unless(old), [Result("static", value=old), tree])
        items.append(tree)
    return (_plain(x), items)


_NUMBERS: Final = frozenset({bool, int, float, complex})


class Unless:
    """In the place of a number that a branch or loop may have replaced by a NumPy scalar.

    The joined value is NumPy's in any case; where it is the old one, it has not been replaced.
    """

    __slots__ = ("before",)

    def __init__(self, before: Any) -> None:
        self.before: Final = before

    def choose(self, new: Any) -> Any:
        """Return the old number if the new one is equal to it."""
        same = isinstance(new, np.generic) and repr(new.item()) == repr(self.before)
        return self.before if same else new


def _is_merged(x: Any) -> bool:
    """Whether a value comes from a branch or loop."""
    if not isinstance(x, Array) or x._nd is not None or x._kind != SCALAR:
        return False
    equation = x._value.equation
    return equation is not None and bool(equation.blocks)


def _plain(x: Any) -> Any:
    """Return a container without the traced values that it holds."""
    if isinstance(x, list):
        return []
    if not isinstance(x, dict):
        return x
    plain = copy.copy(x)
    plain.clear()
    plain.update((_plain_key(k), None) for k in x)
    return plain


def _held(x: Any, outputs: Outputs) -> Result | None:
    """Return an older object as a result of its own."""
    tracer = outputs.tracer
    places, lent = tracer.places, tracer.lent
    if places is None or lent is None or type(x) in ATOMS or is_traced(x):
        return None
    number = lent.number(x)
    if number is not None:
        same = outputs.stored or lent.is_changed(number)
        return Result("container", index=number) if same else None
    if places.is_old is None or not places.is_old(x):
        return None
    same = outputs.stored or any(place.owner is x for place in places)
    return _itself(x, outputs) if same else None


def result_tree(x: Any, outputs: Outputs) -> Any:
    """Return an object as a tree of results: a `Result`, or an example and its parts."""
    if isinstance(x, Array):
        return _array_result(x, outputs)
    if isinstance(x, Either):
        return [
            _container(c, [("", part) for part in (c.pred, c.first, c.second)], outputs)
            for c in x.choices()
        ][-1]
    if isinstance(x, Unsure):
        return (x, [result_tree(part, outputs) for part in (x.defined, x.content)])
    if isinstance(x, Dim):
        if has_data(x):
            return outputs.value(dim_value(x), "int")
        return Result("size", value=x)
    held = _held(x, outputs)
    if held is not None:
        return held
    if rows_of(x) is not None:
        return _stacked(x, outputs)
    parts = None if isinstance(x, np.ndarray) else children(x)
    return _static(x, outputs) if parts is None else _container(x, parts, outputs)


def _itself(x: Any, outputs: Outputs) -> Result:
    """Return an object as a result; what a call is made for must not be kept alive."""
    if id(x) in outputs.tracer.roots and type(x).__weakrefoffset__:
        return Result("weak", value=weakref.ref(x))
    return Result("held", value=x)


def _static(x: Any, outputs: Outputs) -> Result:
    if id(x) in outputs.tracer.roots:
        return _itself(x, outputs)
    value = _checked_static(x)
    if outputs.stored:
        _check_stored(value)
    return Result("static", value=value)


def _container(x: Any, parts: list[tuple[str, Any]], outputs: Outputs) -> Any:
    found = outputs.nodes.get(id(x))
    if found is not None:
        return found[1]
    like = x
    if isinstance(x, dict) and any(True for _ in arrays_in(list(x))):
        # sizes among the keys have become numbers when they were hashed
        like = copy.copy(x)
        like.clear()
        like.update((_plain_key(k), v) for k, v in x.items())
        parts = children(like) or []
    made = (like, [result_tree(item, outputs) for _, item in parts])
    outputs.nodes[id(x)] = x, made
    return made


def _array_result(x: Array, outputs: Outputs) -> Result:
    if x._nd is not None:
        return Result("static", value=x._nd.copy() if x._kind == ARRAY else x._nd[()])
    if x._trace is not outputs.tracer:
        _ = x._value  # says so if the other trace has ended
        msg = "the function returns an array of another trace"
        raise SideEffectError(msg)
    if outputs.stored and x._kind == ARRAY and not x._views:
        original = outputs.tracer.outside(x._storage)
        if original is not None:
            return Result("held", value=original)
    joined = outputs.tracer.original(x)
    return outputs.array(x) if joined is x else result_tree(joined, outputs)


#: what may be stored in each call anew: nothing can change it
_CONSTANTS: Final[tuple[Any, ...]] = (
    *ATOMS, enum.Enum, np.generic, np.dtype, np.ufunc, frozenset, slice, type, ModuleType,
    BuiltinFunctionType,
)  # fmt: skip


def _check_stored(x: Any) -> None:
    """Refuse to store an object that each call would have to make anew.

    Raises
    ------
    UnsupportedError
        It is one.
    """
    if isinstance(x, (*_CONSTANTS, np.ndarray, set, deque, bytearray)):
        return
    module = sys.modules.get(getattr(x, "__module__", None) or "")
    found: Any = module
    for part in getattr(x, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    if module is not None and found is x:
        return
    msg = (
        f"a {type(x).__qualname__} made by the function is stored in an object made before "
        "the call; store arrays, numbers, tuples, lists, dicts or dataclasses"
    )
    raise UnsupportedError(msg)


def _stacked(x: Any, outputs: Outputs) -> Any:
    """Return where the elements of a list of unknown length come from."""
    if isinstance(x, Iterator):
        _checked_static(x)  # says that a generator is no result
    rows = x.rows.filled()
    count = _example_length(rows.length, outputs.tracer)
    if count is not None:
        return [], [result_tree(rows.at(i), outputs) for i in range(count)]
    columns = [outputs.value(c._value, ARRAY) for c in rows.columns]
    return Stacked(rows.element), columns


def _example_length(length: Any, tracer: Tracer) -> int | None:
    """Return how many results a list is in a model: as many as for the example.

    That fixes sizes of inputs, which the declared shapes tell, so only axes that nobody gave
    a name are asked.  None: data settles the length, it is open by name, or this is a call,
    which makes the list anew.
    """
    if tracer.env.policy == "guard" or has_data(length):
        return None
    if isinstance(length, int):
        return length
    named = {s for size in tracer.named.values() for s in symbols_of(size)}
    if hint_of(length) is None or not named.isdisjoint(symbols_of(length)):
        return None
    return tracer.env.freeze(length, "the number of results in a list")


def _plain_key(x: Any) -> Any:
    """Return a hashed value with numbers in the place of sizes."""
    if isinstance(x, tuple):
        return tuple(map(_plain_key, x))
    return int(x) if isinstance(x, Dim) else to_numpy(x)


def _checked_static(x: Any) -> Any:
    """Return a plain result; refuse one that cannot serve every call.

    Raises
    ------
    DataDependentError
        Text made of a traced array.
    UnsupportedError
        An iterator, which only one call can use up, or an object that holds traced arrays.
    """
    if isinstance(x, Iterator):
        msg = f"the function returns a {type(x).__name__}; return a list or tuple instead"
        raise UnsupportedError(msg)
    if isinstance(x, str) and "<traced " in str(x):
        msg = "the function returns text made of a traced array, which only a run knows"
        raise DataDependentError(msg)
    held = [*getattr(x, "__dict__", {}).values()] if not isinstance(x, type) else []
    if isinstance(x, (set, frozenset)) and any(True for _ in arrays_in(list(x))):
        x = type(x)(map(_plain_key, x))
    if isinstance(x, (set, frozenset, deque)):
        held += x
    if any(map(is_traced, arrays_in(held))):
        msg = (
            f"the function returns traced arrays inside a {type(x).__qualname__}; "
            "return them in "
            "tuples, lists, dicts or dataclasses"
        )
        raise UnsupportedError(msg)
    return x
