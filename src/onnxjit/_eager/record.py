# SPDX-License-Identifier: Apache-2.0
"""Record a function called on leaves as a program, with the guards under which it holds."""

from __future__ import annotations

import copy
import enum
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, ModuleType
from typing import Any, Final

import numpy as np

from onnxjit._core.bind import dim_value, tracing
from onnxjit._core.dims import Dim, ShapeEnv, has_data
from onnxjit._core.program import Program, Value
from onnxjit._rewrite.path import Path
from onnxjit._rewrite.state import ATOMS
from onnxjit._trace.array import ARRAY, SCALAR, Array
from onnxjit._trace.control.either import Either, Unsure
from onnxjit._trace.convert import arrays_in, is_traced, to_numpy
from onnxjit._trace.lists import rows_of
from onnxjit._trace.places import CHANGING, Places
from onnxjit._trace.trace import Tracer
from onnxjit.errors import (
    AliasError,
    DataDependentError,
    SideEffectError,
    UnsupportedError,
)

from .hidden import Hidden, Wanted
from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF, Leaf, children
from .lent import Lent
from .stacked import Stacked

__all__ = ["Effect", "Recording", "Result", "hidden_leaves", "record"]


class Result:
    """Where one leaf of the result comes from.

    `source` is ``"output"`` (`index` of the program's results), ``"argument"`` (`index` of the
    leaf, returned itself), ``"container"`` (`index` among the containers of the arguments),
    ``"size"`` (`value` is a Dim), ``"static"`` (`value`) or ``"held"`` (the object `value`
    itself).
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


class Effect:
    """Something that a call stores in an older object.

    Attributes
    ----------
    what, key
        As of a `Place`; ``"content"`` for all of a container among the arguments.
    path : Path or int
        To the object; number of the container.
    tree : object
        What is stored, with `Result` leaves.
    name : str
        Readable name of the place.
    source : Source or None
        Line that stores first.
    """

    __slots__ = ("key", "name", "path", "source", "tree", "what")

    def __init__(
        self, what: str, key: Any, path: Any, tree: Any, *, name: str = "", source: Any = None
    ) -> None:
        self.what: Final = what
        self.key: Final = key
        self.path: Final = path
        self.tree: Final = tree
        self.name: Final = name
        self.source: Final = source


class Recording:
    """A recorded function.

    Attributes
    ----------
    program : Program
    tracer : Tracer
        Guards, layouts and captured values.
    tree : object
        The result with `Result` leaves.
    written : list of (leaf index, output index)
        Array arguments that the function changes.
    captures : list of (path, value)
        Values of the surroundings that the program holds.
    merged : tuple of (int, int)
        Pairs of leaves that are one object.
    effects : list of Effect
        What is stored in older objects, in the order of the first stores.
    dropped : list of str
        Places that are stored to, and not by the model.
    pattern : tuple of int
        Which containers among the arguments are one object.
    failed : int or None
        Output that tells whether Python has to make the call again.
    """

    __slots__ = (
        "captures", "dropped", "effects", "failed", "merged", "pattern", "program", "tracer",
        "tree", "written",
    )  # fmt: skip

    def __init__(self, tracer: Tracer, merged: tuple[tuple[int, int], ...]) -> None:
        self.tracer: Final = tracer
        self.merged: Final = merged
        self.captures: list[tuple[Path, Any]] = []
        self.tree: Any = None
        self.written: list[tuple[int, int]] = []
        self.effects: list[Effect] = []
        self.dropped: list[str] = []
        self.pattern: tuple[int, ...] = ()
        self.failed: int | None = None
        self.program: Program = Program(tracer.root, (), ())

    @property
    def checks(self) -> bool:
        """Whether Python may have to make the call again."""
        return self.failed is not None or self.tracer.has_handlers


Body = Callable[[Tracer, list[Any]], tuple[Any, list[tuple[Path, Any]]]]


def record(
    body: Body,
    leaves: Sequence[Leaf],
    names: Sequence[str],
    *,
    policy: Any = "guard",
    sizes: Sequence[Any] | None = None,
    stores: str = "refuse",
) -> Recording:
    """Trace `body` on traced twins of the leaves.

    Parameters
    ----------
    body : callable
        ``body(tracer, traced_leaves)`` -> (result, captured values).
    leaves, names : sequences
        Dynamic arguments of the example call.
    policy : str
        ``"guard"`` for calls, ``"assume"`` for exports.
    sizes : sequence, optional
        For each leaf the sizes of its axes (int, name or None), default: all symbolic.
    stores : {"refuse", "replay", "drop"}
        What becomes of stores in older objects.

    Raises
    ------
    AliasError
        A written argument overlaps another one in memory.
    """
    request = _Request(body, leaves, names, policy, sizes, stores)
    first = request.settled(())
    merged = _identical(first, leaves)
    return request.settled(merged) if merged else first


#: traces of one call until it is known what it changes of what it reads
_ROUNDS: Final = 6


class _Request:
    """What `record` was asked for."""

    __slots__ = ("_body", "_leaves", "_names", "_policy", "_sizes", "_stores", "_wanted")

    def __init__(
        self,
        body: Body,
        leaves: Sequence[Leaf],
        names: Sequence[str],
        policy: Any,
        sizes: Sequence[Any] | None,
        stores: str,
    ) -> None:
        self._body: Final = body
        self._leaves: Final = leaves
        self._names: Final = names
        self._policy: Final = policy
        self._sizes: Final = sizes
        self._stores: Final = stores
        self._wanted: Final = Wanted()

    def settled(self, merged: tuple[tuple[int, int], ...]) -> Recording:
        """Trace until no value of the surroundings turns out to be a hidden input."""
        for _ in range(_ROUNDS):
            self._wanted.grown = False
            try:
                recording = self.once(merged)
            except Exception:
                if not self._wanted.grown:
                    raise
                continue
            if not self._wanted.grown:
                return recording
        return self.once(merged)

    def once(self, merged: tuple[tuple[int, int], ...]) -> Recording:
        """Trace."""
        leaves, names = self._leaves, self._names
        tracer = Tracer(ShapeEnv(self._policy))
        if self._stores != "refuse":
            tracer.places = Places(tracer)
        if self._stores == "replay":
            tracer.hidden = Hidden(tracer, self._wanted)
            tracer.lent = Lent()
        recording = Recording(tracer, merged)
        try:
            with tracing(tracer):
                traced = _inputs(tracer, leaves, names, self._sizes)
                for keep, drop in merged:
                    traced[drop] = traced[keep]
                inputs = list(traced)
                result, recording.captures = self._body(tracer, list(traced))
                _finish(recording, inputs, result, names)
        finally:
            if tracer.places is not None:
                tracer.places.forget()
            if tracer.lent is not None:
                tracer.lent.forget()
        return recording


def hidden_leaves(recording: Recording) -> list[Leaf]:
    """Return the hidden inputs as leaves; they follow those of the arguments."""
    hidden = recording.tracer.hidden
    return [] if hidden is None else hidden.leaves


def _identical(recording: Recording, leaves: Sequence[Leaf]) -> tuple[tuple[int, int], ...]:
    """Return pairs of leaves that are one written object; refuse other overlaps."""
    pairs: list[tuple[int, int]] = []
    count = len(leaves)
    leaves = [*leaves, *hidden_leaves(recording)]
    for written, _ in recording.written:
        a = leaves[written].value
        for i, leaf in enumerate(leaves):
            if i == written or leaf.kind != ARRAY_LEAF or not isinstance(a, np.ndarray):
                continue
            if leaf.value is a and i < count and written < count:
                pairs.append((min(i, written), max(i, written)))
            elif np.may_share_memory(a, leaf.value):
                msg = (
                    f"argument {leaves[written].name!r} is written and overlaps argument "
                    f"{leaf.name!r} in memory; pass a copy of one of them"
                )
                raise AliasError(msg)
    return tuple(sorted(set(pairs)))


def _inputs(
    tracer: Tracer, leaves: Sequence[Leaf], names: Sequence[str], sizes: Sequence[Any] | None
) -> list[Any]:
    traced: list[Any] = []
    for i, (leaf, name) in enumerate(zip(leaves, names, strict=True)):
        if leaf.kind == INT_LEAF:
            traced.append(tracer.int_input(name, leaf.value))
        elif leaf.kind == FLOAT_LEAF:
            traced.append(tracer.float_input(name, leaf.value))
        else:
            ndim = leaf.key[2] if leaf.kind == ARRAY_LEAF else 0
            axes = sizes[i] if sizes is not None and sizes[i] is not None else (None,) * ndim
            example = None if leaf.value is None else np.asarray(leaf.value)
            traced.append(
                tracer.array_input(
                    name, leaf.key[1], axes, example=example, scalar=leaf.kind == SCALAR_LEAF
                )
            )
    return traced


class _Outputs:
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


def _finish(
    recording: Recording, inputs: list[Any], result: Any, names: Sequence[str]
) -> None:
    tracer = recording.tracer
    hidden = tracer.hidden
    if hidden is not None:
        inputs = [*inputs, *hidden.traced]
        names = [*names, *hidden.names(names)]
    outputs = _Outputs(inputs, tracer)
    recording.tree = _tree(result, outputs)
    if tracer.places is not None:
        _add_effects(recording, outputs)
    seen: set[int] = set()
    for i, x in enumerate(inputs):
        if not isinstance(x, Array) or id(x._storage) in seen:
            continue
        seen.add(id(x._storage))
        argument = x._storage.argument
        if argument is not None and argument.written:
            outputs.values.append(x._storage.value)
            recording.written.append((i, len(outputs.values) - 1))
    failed = recording.tracer.failed
    is_call = recording.tracer.env.policy == "guard"  # a model has nobody to ask
    if is_call and failed is not None and failed.value.known is None:
        outputs.values.append(failed.value)
        recording.failed = len(outputs.values) - 1
    block = recording.tracer.root
    block.outputs = outputs.values
    output_names = [f"output_{k}" for k in range(len(outputs.values))]
    recording.program = Program(block, names, output_names)


def _add_effects(recording: Recording, outputs: _Outputs) -> None:
    """Note what is stored in older objects."""
    tracer = recording.tracer
    places, lent = tracer.places, tracer.lent
    assert places is not None  # who calls has looked
    if tracer.hidden is None:
        recording.dropped = [repr(place) for place in places if place.what != "flag"]
        return
    outputs.stored = True
    for place, value in places.items():
        if place.what == "flag":
            continue
        stored = places.is_stored(place)
        tree = _tree(value if stored is True else Unsure(stored, value), outputs)
        line = places.lines.get(place)
        effect = Effect(place.what, place.key, place.path, tree, name=repr(place), source=line)
        recording.effects.append(effect)
        if place.what == "attr":
            CHANGING.add_attribute(type(place.owner), place.key)
    recording.pattern = lent.pattern
    for i in lent.changed():
        tree = _content_tree(lent.copies[i], outputs, lent.before(i))
        name = f"the {type(lent.copies[i]).__name__} among the arguments"
        recording.effects.append(Effect("content", None, i, tree, name=name))


def _content_tree(x: Any, outputs: _Outputs, before: Any) -> Any:
    """Return a container as a tree; what data has left alone stays the same object."""
    if rows_of(x) is not None:
        return _stacked(x, outputs)
    parts = children(x)
    assert parts is not None  # a container
    items = []
    for name, item in parts:
        tree = _tree(item, outputs)
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


def _held(x: Any, outputs: _Outputs) -> Result | None:
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
    return Result("held", value=x) if same else None


def _tree(x: Any, outputs: _Outputs) -> Any:
    if isinstance(x, Array):
        return _array_result(x, outputs)
    if isinstance(x, (Either, Unsure)):
        either = isinstance(x, Either)
        open_ = (x.pred, x.first, x.second) if either else (x.defined, x.content)
        return (x, [_tree(part, outputs) for part in open_])
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
    if parts is None:
        value = _checked_static(x)
        if outputs.stored:
            _check_stored(value)
        return Result("static", value=value)
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
    made = (like, [_tree(item, outputs) for _, item in parts])
    outputs.nodes[id(x)] = x, made
    return made


def _array_result(x: Array, outputs: _Outputs) -> Result:
    if x._nd is not None:
        return Result("static", value=x._nd.copy() if x._kind == ARRAY else x._nd[()])
    if x._trace is not outputs.tracer:
        _ = x._value  # says so if the other trace has ended
        msg = "the function returns an array of another trace"
        raise SideEffectError(msg)
    if outputs.stored and x._kind == ARRAY and not x._views:
        original = outputs.tracer.original(x._storage)
        if original is not None:
            return Result("held", value=original)
    return outputs.array(x)


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


def _stacked(x: Any, outputs: _Outputs) -> Any:
    """Return where the elements of a list of unknown length come from."""
    if isinstance(x, Iterator):
        _checked_static(x)  # says that a generator is no result
    columns = [outputs.value(c._value, ARRAY) for c in x.rows.columns]
    return Stacked(x.rows.element), columns


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
    if isinstance(x, str) and "<traced " in x:
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
