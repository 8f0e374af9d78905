# SPDX-License-Identifier: Apache-2.0
"""Record a function called on leaves as a program, with the guards under which it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from onnxjit._core.bind import tracing
from onnxjit._core.dims import ShapeEnv
from onnxjit._core.program import Program
from onnxjit._rewrite.path import Path
from onnxjit._trace.array import Array
from onnxjit._trace.control.either import Unsure
from onnxjit._trace.places import CHANGING, Places
from onnxjit._trace.trace import Tracer
from onnxjit.errors import (
    AliasError,
)

from .hidden import Hidden, Wanted
from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF, Leaf
from .lent import Lent
from .results import Outputs, content_tree, result_tree

__all__ = ["Effect", "Recording", "hidden_leaves", "record"]


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


def _finish(
    recording: Recording, inputs: list[Any], result: Any, names: Sequence[str]
) -> None:
    tracer = recording.tracer
    hidden = tracer.hidden
    if hidden is not None:
        inputs = [*inputs, *hidden.traced]
        names = [*names, *hidden.names(names)]
    outputs = Outputs(inputs, tracer)
    recording.tree = result_tree(result, outputs)
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


def _add_effects(recording: Recording, outputs: Outputs) -> None:
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
        tree = result_tree(value if stored is True else Unsure(stored, value), outputs)
        line = places.lines.get(place)
        effect = Effect(place.what, place.key, place.path, tree, name=repr(place), source=line)
        recording.effects.append(effect)
        if place.what == "attr":
            CHANGING.add_attribute(type(place.owner), place.key)
    recording.pattern = lent.pattern
    for i in lent.changed():
        tree = content_tree(lent.copies[i], outputs, lent.before(i))
        name = f"the {type(lent.copies[i]).__name__} among the arguments"
        recording.effects.append(Effect("content", None, i, tree, name=name))
