# SPDX-License-Identifier: Apache-2.0
"""Where a captured value came from, and how to test that it is still there."""

from __future__ import annotations

import builtins
import sys
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from onnxjit._rewrite.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind: TypeAlias = Literal["global", "cell", "held", "self", "arg", "module"]
Step: TypeAlias = tuple[Literal["attr", "item", "len", "has item", "has attr"], object]


class Path:
    """A root and the steps from it to a value.

    `owner` is the dictionary of globals for a "global", the cell for a "cell", a dictionary of
    its own for a "held" object, None for the rest. A "module" root is found in `sys.modules`;
    "self" and "arg" roots are handed in.
    """

    __slots__ = ("kind", "name", "owner", "steps")

    def __init__(
        self,
        kind: Kind,
        name: str,
        owner: dict[str, object] | CellType | None = None,
        steps: tuple[Step, ...] = (),
    ) -> None:
        self.kind: Kind = kind
        self.name = name
        self.owner = owner
        self.steps = steps

    def attr(self, name: str) -> Path:
        return Path(self.kind, self.name, self.owner, (*self.steps, ("attr", name)))

    def item(self, key: object) -> Path:
        return Path(self.kind, self.name, self.owner, (*self.steps, ("item", key)))

    def length(self) -> Path:
        return Path(self.kind, self.name, self.owner, (*self.steps, ("len", None)))

    def has_item(self, key: object) -> Path:
        """Path to whether there is an item."""
        return Path(self.kind, self.name, self.owner, (*self.steps, ("has item", key)))

    def has_attr(self, name: str) -> Path:
        """Path to whether there is an attribute."""
        return Path(self.kind, self.name, self.owner, (*self.steps, ("has attr", name)))

    def _key(self) -> tuple[object, ...]:
        steps = tuple((what, type(arg), arg) for what, arg in self.steps)
        owner = self.owner[self.name] if self.kind == "held" else self.owner  # type: ignore[index]
        return self.kind, self.name, id(owner), steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return _with_steps(self.name, self.steps)

    def __repr__(self) -> str:
        return f"Path({self.kind}: {self})"


def held_path(name: str, obj: object) -> Path:
    """Path to an object that the path itself holds, such as what a method is bound to."""
    return Path("held", name, {name: obj})


class GuardNames:
    """Names given to the objects that a generated guard refers to.

    Attributes
    ----------
    namespace : dict
        The objects by name.
    weak : dict
        Names of weak references, by the ids of what they refer to.
    """

    __slots__ = ("_by_id", "namespace", "weak")

    def __init__(self) -> None:
        self.namespace: dict[str, object] = {}
        self.weak: dict[int, str] = {}
        self._by_id: dict[int, str] = {}

    def name(self, obj: object, prefix: str) -> str:
        """Name of `obj` in `namespace`, the same each time."""
        known = self._by_id.get(id(obj))
        if known is None:
            known = f"{prefix}{len(self.namespace)}"
            self._by_id[id(obj)] = known
            self.namespace[known] = obj
        return known


def resolve(path: Path, roots: Mapping[str, object] | None = None) -> object:
    """Follow `path` to the value found there now.

    Parameters
    ----------
    path
        What to follow.
    roots
        Objects of the "self" and "arg" roots, by name.

    Raises
    ------
    LookupError, AttributeError, ValueError
        Something on the way is gone; ValueError is an empty cell's.
    """
    value = _root(path, roots or {})
    for what, arg in path.steps:
        if what == "attr":
            value = getattr(value, str(arg))
        elif what == "item":
            value = value[arg]  # type: ignore[index]
        elif what == "has item":
            value = arg in value  # type: ignore[operator]
        elif what == "has attr":
            value = hasattr(value, str(arg))
        else:
            value = len(value)  # type: ignore[arg-type]
    return value


def _root(path: Path, roots: Mapping[str, object]) -> object:
    if isinstance(path.owner, CellType):
        return path.owner.cell_contents
    if path.owner is not None:
        if path.name in path.owner:
            return path.owner[path.name]
        return vars(builtins)[path.name]
    return sys.modules[path.name] if path.kind == "module" else roots[path.name]


def path_source(path: Path, names: GuardNames, roots: Mapping[str, str] | None = None) -> str:
    """Python expression that loads what `path` points to, such as `g0['scaler'].mean_`.

    `roots` gives the expressions for "self" and "arg" roots; their names are the default.
    The expression may raise what `resolve` raises.
    """
    if isinstance(path.owner, CellType):
        root = f"{names.name(path.owner, 'c')}.cell_contents"
    elif path.owner is not None:
        root = f"{names.name(path.owner, 'g')}[{path.name!r}]"
    elif path.kind == "module":
        root = f"{names.name(sys.modules, 'm')}[{path.name!r}]"
    else:
        root = (roots or {}).get(path.name, path.name)
    return _with_steps(root, path.steps, names)


def _with_steps(root: str, steps: tuple[Step, ...], names: GuardNames | None = None) -> str:
    text = root
    for what, arg in steps:
        if what == "attr":
            text = f"{text}.{arg}"
        elif what == "len":
            text = f"len({text})"
        elif what == "has attr":
            text = f"hasattr({text}, {arg!r})"
        else:
            plain = names is None or type(arg) in {int, str, bool, bytes}
            key = repr(arg) if plain else names.name(arg, "k")  # type: ignore[union-attr]
            text = f"{text}[{key}]" if what == "item" else f"({key} in {text})"
    return text


def guard_source(
    path: Path, value: object, names: GuardNames, roots: Mapping[str, str] | None = None
) -> str:
    """Python expression that is true while `path` leads to `value`.

    Numbers and strings are compared by type and bits, functions by identity of themselves
    and of their code, everything else by identity. No `__eq__` of a user's class runs.
    """
    return value_test(path_source(path, names, roots), value, names)


def value_test(source: str, value: object, names: GuardNames) -> str:
    """Python expression that is true if the expression `source` gives `value`."""
    if value is None or value is True or value is False or value is Ellipsis:
        return f"{source} is {value!r}"
    kind = type(value)
    if kind is Snapshot:
        return f"{names.name(value, 's')}.holds({source})"
    if kind in {int, str, bytes}:
        literal = repr(value) if len(repr(value)) < 80 else names.name(value, "v")
        return f"(type(_t := {source}) is {kind.__name__} and _t == {literal})"
    if kind is float or kind is complex:
        return f"(type(_t := {source}) is {kind.__name__} and {_bits_test(value)})"
    if isinstance(value, np.generic):
        kind_name = names.name(kind, "t")
        return f"(type(_t := {source}) is {kind_name} and _t.tobytes() == {value.tobytes()!r})"
    if isinstance(value, FunctionType):
        function, code = names.name(value, "f"), names.name(value.__code__, "o")
        test = f"{source} is {function} and {function}.__code__ is {code}"
        if value.__defaults__ is not None:
            defaults = names.name(value.__defaults__, "d")
            test = f"{test} and {function}.__defaults__ is {defaults}"
        return f"({test})"
    return f"{source} is {names.name(value, 'v')}"


def _bits_test(value: object) -> str:
    # repr gives back the exact bits of a float, and tells -0.0 from 0.0 (not NaN payloads).
    if isinstance(value, float) and np.isfinite(value) and value != 0:
        return f"_t == {value!r}"
    return f"repr(_t) == {repr(value)!r}"
