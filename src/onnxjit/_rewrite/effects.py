# SPDX-License-Identifier: Apache-2.0
"""Callables that change an argument, or whose results differ from call to call."""

from __future__ import annotations

import collections
import functools
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._rewrite import stored
from onnxjit._trace.lists import List
from onnxjit._trace.places import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onnxjit._rewrite.state import Old, State

MUTATORS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "appendleft",
        "extendleft",
        "popleft",
        "rotate",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "move_to_end",
        "subtract",
        "fill",
        "put",
        "partition",
        "resize",
        "setflags",
        "setfield",
        "itemset",
        "byteswap",
        "frombytes",
        "fromlist",
        "__setitem__",
        "__delitem__",
        "__iadd__",
        "__ior__",
        "__iand__",
        "__isub__",
        "__ixor__",
        "__imul__",
        "__init__",
    ]
)
USER_CONTAINERS = (collections.UserDict, collections.UserList)
CLOCK_METHODS = frozenset({"now", "utcnow", "today"})


def _split(table: dict[str, str]) -> dict[str, list[str]]:
    return {module: names.split() for module, names in table.items()}


#: functions whose result changes from call to call, by module; only modules that somebody has
#: imported are looked at
_IMPURE = _split(
    {
        "time": "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns "
        "process_time process_time_ns localtime gmtime ctime strftime",
        "os": "getenv urandom",
        "uuid": "uuid1 uuid4",
        "secrets": "token_bytes token_hex token_urlsafe randbelow choice",
        "builtins": "input",
        "numpy.random": "seed",
    }
)
#: makers of generators, which differ from call to call without a seed
_SEEDED = _split(
    {
        "numpy.random": "default_rng RandomState SeedSequence",
        "random": "Random",
    }
)


def _named(f: object, table: dict[str, list[str]]) -> str | None:
    """Return module and name of a callable of a table, None for others."""
    for module, names in table.items():
        loaded = sys.modules.get(module)
        if loaded is None:
            continue
        for name in names:
            if getattr(loaded, name, None) is f:
                return f"{module}.{name}"
    return None


# Callables that change their first argument.
_CHANGE_FIRST: dict[int, tuple[Callable[..., Any], str]] = {
    id(f): (f, what)
    for what, functions in {
        "attribute": (setattr, delattr, object.__setattr__, object.__delattr__),
        "item": (operator.setitem, operator.delitem),
        "container": (
            operator.iadd,
            operator.isub,
            operator.imul,
            operator.iconcat,
            operator.ior,
            operator.iand,
            operator.ixor,
            list.append,
            list.extend,
            list.insert,
            list.pop,
            list.sort,
            dict.update,
            dict.setdefault,
            dict.pop,
            dict.__setitem__,
            set.add,
            np.copyto,
            np.put,
            np.place,
            np.putmask,
            np.fill_diagonal,
            np.put_along_axis,
        ),
        "iterator": (next,),
    }.items()
    for f in functions
}


def impure_name(f: object) -> str | None:
    return _named(f, _IMPURE)


def checked(state: State, f: Any) -> Callable[..., Any] | None:
    """`f` with a look at its arguments before it runs, or None if it needs none."""
    change = _CHANGE_FIRST.get(id(f))
    if change is not None and change[0] is f and f is not setattr:
        return functools.partial(_change_first, state, f, change[1])
    if _named(f, _SEEDED) is not None:
        return functools.partial(_seeded, state, f)
    if f is hasattr:
        return functools.partial(_hasattr, state)
    if f is setattr:
        return _setattr
    return functools.partial(_getattr, state) if f is getattr else None


def _change_first(state: State, f: Any, what: str, *args: Any, **kwargs: Any) -> Any:
    name: str = f.__name__
    if args:
        state.check_store(args[0], what, f" ({name})")
        if isinstance(args[0], List) and getattr(list, name, None) is f:
            f, args = getattr(args[0], name), args[1:]  # C's would see no elements
    return f(*args, **kwargs)


def _seeded(state: State, f: Any, *args: Any, **kwargs: Any) -> Any:
    seeds = (*args, *kwargs.values())
    if not seeds or seeds[0] is None:
        state.hooks.side_effect("impure", f, f"{f.__name__}() without a seed")
    return f(*args, **kwargs)


def _getattr(state: State, obj: Any, name: str, *default: Any) -> Any:
    from onnxjit._rewrite.door import Door

    if default and not _hasattr(state, obj, name):
        return getattr(obj, name, *default)
    return Door({}, {}).attr(obj, name)


def _setattr(obj: Any, name: str, value: Any) -> None:
    from onnxjit._rewrite.door import Door

    Door({}, {}).set_attr(value, obj, name)


_setattr.__onnxjit_seen__ = True  # type: ignore[attr-defined]  # rewritten code looks here


def _hasattr(state: State, obj: Any, name: str) -> bool:
    entry = state.known.get(id(obj))
    changed = entry is not None and entry.is_changed
    if changed and stored.attr(state, entry, name) is not ABSENT:  # type: ignore[arg-type]
        return True
    found = hasattr(obj, name)
    if entry is not None and entry.path is not None:
        state.hooks.capture(found, entry.path.has_attr(name))
    return found


def _dict_get(state: State, entry: Old, key: Any, default: Any = None, /) -> Any:
    mapping: Any = entry.obj
    if entry.is_changed:
        now = stored.item(state, entry, key)
        if now is not ABSENT:
            return now
    if key in mapping:
        return state.item(entry, key)
    state.absent(entry, key)
    return default


def _dict_values(state: State, entry: Old, /) -> Iterable[Any]:
    return _captured(state, entry).values()


def _dict_items(state: State, entry: Old, /) -> Iterable[tuple[Any, Any]]:
    return _captured(state, entry).items()


def _captured(state: State, entry: Old) -> dict[Any, Any]:
    mapping: Any = entry.obj
    if entry.is_changed:
        now: dict[Any, Any] = stored.current(state, entry)
        return now
    state.length(entry)
    return {key: state.item(entry, key) for key in mapping}


DICT_READS: dict[str, Callable[..., Any]] = {
    "get": _dict_get,
    "values": _dict_values,
    "items": _dict_items,
}
