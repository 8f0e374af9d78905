# SPDX-License-Identifier: Apache-2.0
"""Record a function called on leaves as a program, with the guards under which it holds."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from onnxjit._core.bind import dim_value, tracing
from onnxjit._core.dims import Dim, ShapeEnv, has_data
from onnxjit._core.program import Program, Value
from onnxjit._rewrite.path import Path
from onnxjit._trace.array import ARRAY, SCALAR, Array
from onnxjit._trace.control.either import Either
from onnxjit._trace.convert import arrays_in, is_traced, to_numpy
from onnxjit._trace.lists import rows_of
from onnxjit._trace.trace import Tracer
from onnxjit.errors import (
    AliasError,
    DataDependentError,
    SideEffectError,
    UnsupportedError,
)

from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF, Leaf, children
from .stacked import Stacked

__all__ = ["Recording", "Result", "record"]


class Result:
    """Where one leaf of the result comes from.

    `source` is ``"output"`` (`index` of the program's results), ``"argument"`` (`index` of the
    leaf, returned itself), ``"size"`` (`value` is a Dim) or ``"static"`` (`value`).
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
    failed : int or None
        Output that tells whether Python has to make the call again.
    """

    __slots__ = ("captures", "failed", "merged", "program", "tracer", "tree", "written")

    def __init__(self, tracer: Tracer, merged: tuple[tuple[int, int], ...]) -> None:
        self.tracer: Final = tracer
        self.merged: Final = merged
        self.captures: list[tuple[Path, Any]] = []
        self.tree: Any = None
        self.written: list[tuple[int, int]] = []
        self.failed: int | None = None
        self.program: Program = Program(tracer.root, (), ())

    @property
    def checks(self) -> bool:
        """Whether Python may have to make the call again."""
        unsure = self.failed is not None or self.tracer.has_handlers
        return unsure or bool(self.written)


Body = Callable[[Tracer, list[Any]], tuple[Any, list[tuple[Path, Any]]]]


def record(
    body: Body,
    leaves: Sequence[Leaf],
    names: Sequence[str],
    *,
    policy: Any = "guard",
    sizes: Sequence[Any] | None = None,
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

    Raises
    ------
    AliasError
        A written argument overlaps another one in memory.
    """
    first = _record(body, leaves, names, policy, sizes, ())
    merged = _identical(first, leaves)
    if not merged:
        return first
    return _record(body, leaves, names, policy, sizes, merged)


def _identical(recording: Recording, leaves: Sequence[Leaf]) -> tuple[tuple[int, int], ...]:
    """Return pairs of leaves that are one written object; refuse other overlaps."""
    pairs: list[tuple[int, int]] = []
    for written, _ in recording.written:
        a = leaves[written].value
        for i, leaf in enumerate(leaves):
            if i == written or leaf.kind != ARRAY_LEAF or not isinstance(a, np.ndarray):
                continue
            if leaf.value is a:
                pairs.append((min(i, written), max(i, written)))
            elif np.may_share_memory(a, leaf.value):
                msg = (
                    f"argument {leaves[written].name!r} is written and overlaps argument "
                    f"{leaf.name!r} in memory; pass a copy of one of them"
                )
                raise AliasError(msg)
    return tuple(sorted(set(pairs)))


def _record(
    body: Body,
    leaves: Sequence[Leaf],
    names: Sequence[str],
    policy: Any,
    sizes: Sequence[Any] | None,
    merged: tuple[tuple[int, int], ...],
) -> Recording:
    tracer = Tracer(ShapeEnv(policy))
    recording = Recording(tracer, merged)
    with tracing(tracer):
        traced = _inputs(tracer, leaves, names, sizes)
        for keep, drop in merged:
            traced[drop] = traced[keep]
        inputs = list(traced)
        result, recording.captures = body(tracer, list(traced))
        _finish(recording, inputs, result, names)
    return recording


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

    def __init__(self, inputs: list[Any]) -> None:
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
    outputs = _Outputs(inputs)
    recording.tree = _tree(result, outputs, recording.tracer)
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


def _tree(x: Any, outputs: _Outputs, tracer: Tracer) -> Any:
    if isinstance(x, Array):
        return _array_tree(x, outputs, tracer)
    if isinstance(x, Either):
        chosen = [_tree(part, outputs, tracer) for part in (x.pred, x.first, x.second)]
        return (x, chosen)
    if isinstance(x, Dim):
        if has_data(x):
            return outputs.value(dim_value(x), "int")
        return Result("size", value=x)
    if rows_of(x) is not None:
        return _stacked(x, outputs)
    parts = None if isinstance(x, np.ndarray) else children(x)
    if parts is None:
        return Result("static", value=_checked_static(x))
    if isinstance(x, dict) and any(True for _ in arrays_in(list(x))):
        # sizes among the keys have become numbers when they were hashed
        plain = copy.copy(x)
        plain.clear()
        plain.update((_plain_key(k), v) for k, v in x.items())
        x, parts = plain, children(plain) or []
    items = [_tree(item, outputs, tracer) for _, item in parts]
    return (x, items)


def _stacked(x: Any, outputs: _Outputs) -> Any:
    """Return where the elements of a list of unknown length come from."""
    if isinstance(x, Iterator):
        _checked_static(x)  # says that a generator is no result
    columns = [outputs.value(c._value, ARRAY) for c in x.rows.columns]
    return Stacked(x.rows.element), columns


def _array_tree(x: Array, outputs: _Outputs, tracer: Tracer) -> Any:
    if x._nd is not None:
        return Result("static", value=x._nd.copy() if x._kind == ARRAY else x._nd[()])
    if x._trace is not tracer:
        _ = x._value  # says so if the other trace has ended
        msg = "the function returns an array of another trace"
        raise SideEffectError(msg)
    original = tracer.original(x)
    return outputs.array(x) if original is x else _tree(original, outputs, tracer)


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
