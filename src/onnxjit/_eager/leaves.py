# SPDX-License-Identifier: Apache-2.0
"""Arguments and results as trees: leaves, structure keys, rebuilding."""

from __future__ import annotations

import copy
import enum
import functools
from collections import OrderedDict, defaultdict
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import is_carried
from onnxjit._core.program import param_key
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.lists import List
from onnxjit.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "Leaf", "children", "flatten", "holds_dates", "is_date", "leaf_names", "map_tree",
    "static_key", "with_parts",
]  # fmt: skip

#: kinds of leaves that become inputs of a program
ARRAY_LEAF: Final = "array"
SCALAR_LEAF: Final = "scalar"
INT_LEAF: Final = "int"
FLOAT_LEAF: Final = "float"

_MAPPINGS: Final = (dict, OrderedDict, defaultdict)
_ATOMS: Final = (str, bytes, type(None), bool, np.dtype, type, slice, complex, range)
_INT64: Final = 2**63


class Leaf:
    """One dynamic argument: kind, key, name, and the value of this call."""

    __slots__ = ("key", "kind", "name", "value")

    def __init__(self, kind: str, key: tuple[Any, ...], name: str, value: Any) -> None:
        self.kind: Final = kind
        self.key: Final = key
        self.name: Final = name
        self.value: Final = value


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return NumPy's own object for a dtype in native byte order; text has one."""
    if dtype.kind == "U":
        return np.dtype(np.str_)
    return dtype if dtype.isnative else np.dtype(dtype.newbyteorder("=").str)


def is_date(x: Any) -> bool:
    """Whether something is an array or scalar of dates or durations, which NumPy computes."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "mM"


def holds_dates(x: Any) -> bool:
    """Whether a tree has a leaf of dates or durations."""
    parts = None if isinstance(x, np.ndarray) else children(x)
    return is_date(x) if parts is None else any(holds_dates(item) for _, item in parts)


def _array_leaf(x: np.ndarray[Any, Any], name: str) -> Leaf:
    if type(x) is not np.ndarray and not isinstance(x, np.memmap):
        msg = (
            f"argument {name!r} is a {type(x).__module__}.{type(x).__qualname__}, whose rules "
            "differ from ndarray's; pass np.asarray(...) of it (.filled() for a masked array)"
        )
        raise UnsupportedError(msg)
    if not is_carried(x.dtype):
        msg = (
            f"argument {name!r} has dtype {x.dtype}, which onnxjit does not carry; "
            "convert it with .astype() before the call"
        )
        raise UnsupportedError(msg)
    return Leaf(ARRAY_LEAF, ("array", native(x.dtype), x.ndim), name, x)


def leaf_of(x: Any, name: str, *, top: bool) -> Leaf | None:
    """Return the leaf of a dynamic argument, None for anything static.

    Python ints and floats are dynamic only as direct arguments (`top`).
    """
    kind = type(x)
    if isinstance(x, np.ndarray):
        return _array_leaf(x, name)
    if kind is Array and x._nd is not None:
        if x._kind == ARRAY:
            return _array_leaf(x._nd, name)
        x = x._nd[()]
    if isinstance(x, np.generic):
        if not is_carried(x.dtype):
            _array_leaf(np.asarray(x), name)
        return Leaf(SCALAR_LEAF, ("scalar", native(x.dtype)), name, x)
    if top and kind is int and -_INT64 <= x < _INT64:
        return Leaf(INT_LEAF, ("int",), name, x)
    if top and kind is float:
        return Leaf(FLOAT_LEAF, ("float",), name, x)
    return None


def field_names(x: Any) -> list[str]:
    """Return the names of a dataclass instance's fields."""
    from dataclasses import fields  # the instance's class has imported it

    return [f.name for f in fields(x)]


def children(x: Any) -> list[tuple[str, Any]] | None:
    """Return the named parts of a container, None for anything else."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return list(zip(x._fields, x, strict=True))
    if type(x) in (tuple, list) or isinstance(x, List):
        return [(str(i), item) for i, item in enumerate(x)]
    if type(x) in _MAPPINGS:
        return [(str(k), item) for k, item in x.items()]
    if hasattr(type(x), "__dataclass_fields__"):
        return [(name, getattr(x, name)) for name in field_names(x)]
    return None


def static_key(x: Any) -> tuple[Any, ...]:
    """Return what tells static objects apart: type and bits of values, identity of others."""
    if isinstance(x, enum.Enum):
        return ("enum", type(x), x.name)
    if isinstance(x, (int, float, *_ATOMS)):
        if isinstance(x, slice):
            return ("slice", *(static_key(i) for i in (x.start, x.stop, x.step)))
        return ("static", type(x), param_key(x) if not isinstance(x, complex) else repr(x))
    if type(x) in (set, frozenset):
        return ("set", type(x), frozenset(map(static_key, x)))
    if type(x) in _CALLS:
        return ("call", type(x), *(static_key(part) for part in _call_parts(x)))
    return ("object", type(x), id(x))


#: made afresh by each look: told apart by what they call
_CALLS: Final = (MethodType, functools.partial)


def _call_parts(x: Any) -> tuple[Any, ...]:
    """Return the objects that a bound method or partial holds."""
    if isinstance(x, MethodType):
        return x.__func__, x.__self__
    return x.func, *x.args, *(part for pair in x.keywords.items() for part in pair)


def flatten(x: Any, name: str, leaves: list[Leaf], *, top: bool = False) -> tuple[Any, ...]:
    """Append the dynamic leaves of an argument and return the key of its structure."""
    leaf = leaf_of(x, name, top=top)
    if leaf is not None:
        leaves.append(leaf)
        return leaf.key
    parts = children(x)
    if parts is None:
        return static_key(x)
    keys = tuple(flatten(item, f"{name}_{part}", leaves) for part, item in parts)
    labels = tuple(map(static_key, x)) if isinstance(x, dict) else len(parts)
    return ("tree", type(x), labels, keys)


def map_tree(x: Any, leaf: Callable[[Any, bool], Any], *, top: bool = False) -> Any:
    """Rebuild a tree with every leaf, dynamic or not, replaced by `leaf(x, top)`."""
    parts = None if isinstance(x, np.ndarray) else children(x)
    if parts is None:
        return leaf(x, top)
    return with_parts(x, [map_tree(item, leaf) for _, item in parts])


def with_parts(example: Any, items: list[Any]) -> Any:
    """Return a container like `example` that holds other items, in the order of `children`."""
    if isinstance(example, tuple):
        return type(example)(*items) if hasattr(example, "_fields") else tuple(items)
    if isinstance(example, list):
        return items
    if isinstance(example, dict):
        mapping = copy.copy(example)
        mapping.update(zip(example, items, strict=True))
        return mapping
    # a dataclass, made without a second __init__; fields may live in slots
    new = object.__new__(type(example))
    for name, value in getattr(example, "__dict__", {}).items():
        object.__setattr__(new, name, value)
    for field, item in zip(field_names(example), items, strict=True):
        object.__setattr__(new, field, item)
    return new


def leaf_names(leaves: list[Leaf]) -> list[str]:
    """Return unique names of the leaves, fit for model inputs."""
    seen: dict[str, int] = {}
    names = []
    for leaf in leaves:
        name = leaf.name
        while name in seen:
            seen[name] += 1
            name = f"{name}_{seen[name]}"
        seen[name] = 0
        names.append(name)
    return names


def static_objects(x: Any) -> Iterator[Any]:
    """Yield the static leaves that are told apart by identity."""
    parts = None if isinstance(x, np.ndarray) else children(x)
    if parts is not None:
        for _, item in parts:
            yield from static_objects(item)
    elif type(x) in _CALLS:
        for part in _call_parts(x):
            if static_key(part)[0] == "object":
                yield part
            elif type(part) in _CALLS:
                yield from static_objects(part)
    elif leaf_of(x, "", top=True) is None and static_key(x)[0] == "object":
        yield x
