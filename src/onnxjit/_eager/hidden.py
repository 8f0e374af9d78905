# SPDX-License-Identifier: Apache-2.0
"""Hidden inputs: what a function reads from its surroundings, and changes.

As constants such values would hold for one call only.  What is changed is known after a trace;
it is then traced again, with the values as inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import is_carried
from onnxjit._trace.places import CHANGING

from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF, Leaf, leaf_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._rewrite.path import GuardNames, Path
    from onnxjit._trace.places import Place
    from onnxjit._trace.trace import Tracer

__all__ = ["Hidden", "Wanted"]


class Wanted:
    """What the next trace of the same call takes as an input: ids of arrays, and paths."""

    __slots__ = ("_keys", "grown")

    def __init__(self) -> None:
        self._keys: Final[set[Any]] = set()
        self.grown = False

    def add(self, key: Any) -> None:
        """Ask for one more."""
        if key not in self._keys:
            self._keys.add(key)
            self.grown = True

    def __contains__(self, key: Any) -> bool:
        return key in self._keys


class Hidden:
    """The hidden inputs of one trace.

    Attributes
    ----------
    inputs : list of (path, leaf)
        In the order of the program's inputs, which the arguments come before.
    aliases : list of (path, int)
        Other paths to the same arrays, by number of the input.
    """

    __slots__ = ("_constants", "_made", "_tracer", "_wanted", "aliases", "inputs")

    def __init__(self, tracer: Tracer, wanted: Wanted) -> None:
        self._tracer: Final = tracer
        self._wanted: Final = wanted
        self._made: Final[dict[Any, tuple[int, Path, Any]]] = {}
        self._constants: Final[dict[Path, Any]] = {}
        self.inputs: Final[list[tuple[Path, Leaf]]] = []
        self.aliases: Final[list[tuple[Path, int]]] = []

    @property
    def leaves(self) -> list[Leaf]:
        """The inputs as leaves."""
        return [leaf for _, leaf in self.inputs]

    @property
    def traced(self) -> list[Any]:
        """The inputs as the trace has them."""
        return [traced for _, _, traced in self._made.values()]

    def names(self, taken: Sequence[str]) -> list[str]:
        """Return names of the inputs, none of which is taken."""
        found: list[str] = []
        for _, leaf in self.inputs:
            name = leaf.name
            while name in taken or name in found:
                name += "_"
            found.append(name)
        return found

    def take(self, value: Any, path: Path, owner: Any) -> Any:
        """Return an input in the place of a value of the surroundings, None for a constant."""
        leaf = _leaf(value, path)
        if leaf is None:
            return None
        key: Any = id(value) if leaf.kind == ARRAY_LEAF else path
        found = self._made.get(key)
        if found is None and not self._is_wanted(key, leaf, path, owner):
            self._constants[path] = key
            return None
        if found is None:
            found = self._made[key] = len(self.inputs), path, self._input(leaf)
            self.inputs.append((path, leaf))
        number, first, traced = found
        if path != first:
            self.aliases.append((path, number))
        return traced

    def _is_wanted(self, key: Any, leaf: Leaf, path: Path, owner: Any) -> bool:
        if key in self._wanted:
            return True
        if leaf.kind == INT_LEAF:
            return False  # it may well be a size, or the number of runs of a loop
        what, name = path.steps[-1] if path.steps else ("", "")
        is_state = what == "attr" and CHANGING.has_attribute(type(owner), str(name))
        if not is_state and key not in CHANGING.arrays:
            return False
        if key in self._tracer.captured:
            # it has been a constant so far: the same array must not be both
            self._wanted.add(key)
            return False
        return True

    def _input(self, leaf: Leaf) -> Any:
        tracer, value = self._tracer, leaf.value
        if leaf.kind == INT_LEAF:
            return tracer.int_input(leaf.name, value)
        if leaf.kind == FLOAT_LEAF:
            return tracer.float_input(leaf.name, value)
        example = np.asarray(value)
        axes = (None,) * example.ndim
        scalar = leaf.kind == SCALAR_LEAF
        return tracer.array_input(leaf.name, leaf.key[1], axes, example=example, scalar=scalar)

    def forget(self) -> None:
        """Let go of the example values."""
        self.inputs[:] = [(p, Leaf(x.kind, x.key, x.name, None)) for p, x in self.inputs]
        self._made.clear()
        self._constants.clear()

    def want_array(self, array: Any) -> None:
        """Ask for an array that was a constant, and is written to."""
        self._wanted.add(id(array))

    def want_places(self, places: Any) -> None:
        """Ask for what was a constant, and has been stored to."""
        for place in places.lines:
            path = _path(place)
            if path in self._constants:
                self._wanted.add(self._constants[path])

    def tests(self, count: int, names: GuardNames) -> list[str]:
        """Return the conditions on the kinds of the inputs, which follow `count` leaves."""
        return [
            _test(f"a[{count + i}]", leaf, names) for i, (_, leaf) in enumerate(self.inputs)
        ]


def _path(place: Place) -> Any:
    if place.what == "attr":
        return place.path.attr(place.key)
    return place.path.item(place.key) if place.what == "item" else place.path


def _leaf(value: Any, path: Path) -> Leaf | None:
    kind = type(value)
    if kind is np.ndarray or isinstance(value, np.generic):
        if not is_carried(value.dtype):
            return None
    elif kind is not int and kind is not float:
        return None
    return leaf_of(value, str(path), top=True)


def _test(x: str, leaf: Leaf, names: GuardNames) -> str:
    if leaf.kind == INT_LEAF:
        return f"type({x}) is int and -{2**63} <= {x} < {2**63}"
    if leaf.kind == FLOAT_LEAF:
        return f"type({x}) is float"
    kind = f"type({x}) is {names.name(type(leaf.value), 't')}"
    if leaf.kind == SCALAR_LEAF:
        return kind
    dtype = names.name(leaf.value.dtype, "d")
    return f"{kind} and {x}.dtype == {dtype} and {x}.ndim == {leaf.value.ndim}"
