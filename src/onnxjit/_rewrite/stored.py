# SPDX-License-Identifier: Apache-2.0
"""Stores to objects older than the trace, and loads of what was stored there.

What is stored goes to the places of the trace (`onnxjit._trace.places`); the object itself
stays as it is.  What cannot be kept that way is refused, as a side effect.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict, deque
from types import CellType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from onnxjit._rewrite.path import Path
from onnxjit._trace.control.either import Unsure
from onnxjit._trace.control.join import type_of
from onnxjit._trace.control.truth import ifexp
from onnxjit._trace.lists import rows_of
from onnxjit._trace.places import ABSENT, Place, Unprepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onnxjit._rewrite.state import Old, State

_MAPPINGS = frozenset({dict, OrderedDict, defaultdict})
_GROWING = frozenset({list, deque})
CONTAINERS = _MAPPINGS | _GROWING | {set}
_OPERATORS = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift",
    "rshift", "and", "xor", "or",
)  # fmt: skip
#: special methods that Python calls itself: they would see the object as it was
_IMPLICIT = frozenset(
    f"__{side}{name}__"
    for name in _OPERATORS
    for side in ("", "r", "i")
) | {
    "__neg__", "__pos__", "__abs__", "__invert__", "__bool__", "__len__", "__index__",
    "__int__", "__float__", "__complex__", "__array__", "__array_ufunc__",
    "__array_function__", "__getattribute__", "__getattr__", "__enter__", "__exit__",
}  # fmt: skip


# Stores


def set_attr(state: State, entry: Old, name: str, value: Any) -> None:
    """Store an attribute of an old object."""
    from onnxjit._rewrite.route import route

    obj, cls = entry.obj, type(entry.obj)
    member = _member(cls, name)
    if type(member) is property:
        setter = member.fset
        if isinstance(setter, FunctionType) and state.is_user(setter):
            route(state, setter)(obj, value)
            return
    is_slot = isinstance(member, MemberDescriptorType)
    takes = is_slot or (hasattr(obj, "__dict__") and not hasattr(type(member), "__set__"))
    if entry.path is None or not takes or not _is_plain(cls):
        state.check_store(obj, "attribute", f".{name}")
        setattr(obj, name, value)
        return
    place = Place(obj, "attr", name, entry.path)
    _store(state, entry, place, value, (getattr, state.attr))


def set_name(state: State, owner: Any, name: str, value: Any) -> bool:
    """Store to a global or outer variable that has a value; tell whether there was one."""
    try:
        old = owner.cell_contents if isinstance(owner, CellType) else owner[name]
    except (ValueError, LookupError):
        return False
    entry = state.known.get(id(owner))
    if entry is None:
        entry = state.new_root(owner)
    path = Path("cell" if isinstance(owner, CellType) else "global", name, owner)
    place = Place(owner, "name", name, path)
    loads = (lambda *_: old), (lambda *_: state.root(owner, name, old))
    _store(state, entry, place, value, loads)
    return True


def name(state: State, entry: Old, name: str, value: Any) -> Any:
    """Return a global or outer variable, of which the object itself holds `value`."""
    owner: Any = entry.obj

    def load(*_: Any) -> Any:
        return state.root(owner, name, value)

    found = _found(state, Place(owner, "name", name, None), entry, load)
    return load() if found is ABSENT else found


def set_item(state: State, entry: Old, key: Any, value: Any) -> None:
    """Store an item of an old list or dict."""
    obj: Any = entry.obj
    kind = type(obj)
    key = hashed(state, key) if kind in _MAPPINGS else state.hooks.formatted(key)
    is_number = kind is list and hasattr(type(key), "__index__")
    added = state.places is not None and _added(state, entry)
    refused = entry.path is None or state.hooks.is_traced(key) or added
    if refused or not (is_number or kind in _MAPPINGS):
        state.check_store(obj, "item", "[...]")
        obj[key] = value
        return
    if is_number:
        key = _place_in(state, entry, key, "list assignment index out of range")
    place = Place(obj, "item", key, entry.path)
    _store(state, entry, place, value, (operator.getitem, state.item))


def hashed(state: State, key: Any) -> Any:
    """Return a key with numbers in the place of sizes: looking it up settles those."""
    hash(key)
    return state.hooks.formatted(key)


def _store(state: State, entry: Old, place: Place, value: Any, loads: tuple[Any, Any]) -> None:
    """Store; `loads` are how Python and how the trace loads from the place."""
    places = state.places
    assert places is not None  # who calls has looked
    if places.needs_before(place):
        peek, load = loads
        try:
            alike = type_of(peek(entry.obj, place.key)) == (type_of(value) or _NO_TYPE)
        except (AttributeError, LookupError):
            alike = False
        places.begin(place, load(entry, place.key) if alike else ABSENT)
    _mark(state, entry)
    places.put(place, value)


_NO_TYPE = object()


def _mark(state: State, entry: Old) -> None:
    entry.is_changed = True
    state.changed.add(id(entry.obj))


def _is_plain(cls: type) -> bool:
    """Whether stores do what they say, and only rewritten code looks at the object."""
    if not _is_silent(cls):
        return False
    return not any(_IMPLICIT & vars(base).keys() for base in cls.__mro__[:-1])


def _is_silent(cls: Any) -> bool:
    """Whether a class stores attributes as `object` does."""
    return cls.__setattr__ is object.__setattr__


def only_stores(cls: type, name: str) -> bool:
    """Whether storing what an attribute holds already does nothing at all."""
    return _is_silent(cls) and type(_member(cls, name)) is not property


def _member(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _place_in(state: State, entry: Old, key: Any, message: str) -> int:
    """Return an index of a list, counted from its start."""
    state.length(entry)
    index, size = operator.index(key), len(entry.obj)  # type: ignore[arg-type]
    if not -size <= index < size:
        raise IndexError(message)
    return index % size


# What is added to containers


def _tail(state: State, entry: Old, what: str) -> Any:
    """Return the list of what is added to an old container."""
    places = state.places
    assert places is not None  # who calls has looked
    place = Place(entry.obj, what, None, entry.path)
    tail = places.get(place)
    if tail is None:
        if places.tracer.block is not places.tracer.root:
            raise Unprepared(places, place)
        tail = places.open(place)
    _mark(state, entry)
    places.note_line(place)
    return tail


def _added(state: State, entry: Old) -> Any:
    """Return what has been added to an old list or deque: a list, or nothing."""
    if state.places is None:
        return None
    added = state.places.get(Place(entry.obj, "grow", None, entry.path))
    if rows_of(added) is not None:
        state.refuse_look(entry)
    return added


def _append(state: State, entry: Old, value: Any, /) -> None:
    _tail(state, entry, "grow").append(value)


def _extend(state: State, entry: Old, values: Iterable[Any], /) -> None:
    _tail(state, entry, "grow").extend(_now(state, values))


def _update(state: State, entry: Old, *others: Any, **named: Any) -> None:
    new: dict[Any, Any] = {}
    for other in others:
        new.update(_now(state, other))
    for key, value in {**new, **named}.items():
        set_item(state, entry, key, value)


def _setdefault(state: State, entry: Old, key: Any, default: Any = None, /) -> Any:
    if contains(state, entry, key) is False:
        set_item(state, entry, key, default)
        return default
    found = item(state, entry, key)
    return state.item(entry, key) if found is ABSENT else found


def _add(state: State, entry: Old, value: Any, /) -> None:
    value = state.hooks.formatted(value)
    if state.hooks.is_traced(value):
        state.check_store(entry.obj, "container", ".add")
    _tail(state, entry, "add").append(value)


def _add_all(state: State, entry: Old, *others: Iterable[Any]) -> None:
    for other in others:
        for value in _now(state, other):
            _add(state, entry, value)


def _now(state: State, x: Any) -> Any:
    """Return an operand as it is now."""
    entry = state.known.get(id(x))
    if entry is None or type(x) not in CONTAINERS:
        return x
    return current(state, entry)


_MUTATORS: dict[tuple[type, str], Callable[..., Any]] = {
    **{(kind, "append"): _append for kind in _GROWING},
    **{(kind, name): _extend for kind in _GROWING for name in ("extend", "__iadd__")},
    **{(kind, name): _update for kind in _MAPPINGS for name in ("update", "__ior__")},
    **{(kind, "setdefault"): _setdefault for kind in _MAPPINGS},
    **{(kind, "__setitem__"): set_item for kind in (*_MAPPINGS, list)},
    (set, "add"): _add,
    (set, "update"): _add_all,
    (set, "__ior__"): _add_all,
}


def mutator(state: State, entry: Old, name: str) -> Callable[..., Any] | None:
    """Return what a method does that changes an old container; None where it is refused."""
    found = _MUTATORS.get((type(entry.obj), name))
    if found is None or state.places is None or entry.path is None:
        return None
    return lambda *args, **kwargs: found(state, entry, *args, **kwargs)


class InPlace:
    """An old container for the time of an augmented assignment."""

    __slots__ = ("_entry", "_state")

    def __init__(self, state: State, entry: Old) -> None:
        self._state = state
        self._entry = entry

    def __iadd__(self, other: Any) -> Any:
        return self._change("__iadd__", other)

    def __ior__(self, other: Any) -> Any:
        return self._change("__ior__", other)

    def _change(self, name: str, other: Any) -> Any:
        change = mutator(self._state, self._entry, name)
        if change is None:
            self._state.check_store(self._entry.obj, "container", " op= ...")
            return NotImplemented
        change(other)
        return self._entry.obj


def in_place(state: State, value: Any) -> Any:
    """Return what an augmented assignment changes in the place of an old container."""
    if state.places is None or type(value) not in CONTAINERS:
        return None
    entry = state.known.get(id(value))
    return None if entry is None or entry.path is None else InPlace(state, entry)


# Loads


def attr(state: State, entry: Old, name: str) -> Any:
    """Return an attribute that was stored to, ABSENT for any other."""
    return _found(state, Place(entry.obj, "attr", name, None), entry, state.attr)


def item(state: State, entry: Old, key: Any) -> Any:
    """Return an item of a changed container, ABSENT if it is as it was."""
    obj, kind = entry.obj, type(entry.obj)
    if kind in _GROWING:
        is_index = hasattr(type(key), "__index__") and not state.hooks.is_traced(key)
        if kind is deque or not is_index or _added(state, entry):
            now = current(state, entry)
            traced = state.hooks.is_traced(key)
            return state.hooks.getitem_captured(now, key) if traced else now[key]
        key = _place_in(state, entry, key, "list index out of range")
    try:
        return _found(state, Place(obj, "item", key, None), entry, state.item)
    except TypeError:  # an unhashable key
        return ABSENT


def _found(state: State, place: Place, entry: Old, load: Callable[[Old, Any], Any]) -> Any:
    assert state.places is not None  # something has changed
    found = state.places.find(place)
    if not isinstance(found, Unsure):
        return found
    return ifexp(found.defined, lambda: found.content, lambda: load(entry, place.key))


def contains(state: State, entry: Old, key: Any) -> Any:
    """Return whether a changed container has an item; None where nothing changes it."""
    if type(entry.obj) not in _MAPPINGS:
        return None
    if entry.is_changed and item(state, entry, key) is not ABSENT:
        return True
    state.membership(entry, key)
    return key in entry.obj  # type: ignore[operator]


def length(state: State, entry: Old) -> Any:
    """Return the number of elements of a changed container."""
    if type(entry.obj) is not list:
        return len(current(state, entry))
    state.length(entry)
    added = _added(state, entry)
    return len(entry.obj) + (len(added) if added else 0)


def current(state: State, entry: Old) -> Any:
    """Return a copy of an old container as it is now."""
    obj: Any = entry.obj
    kind = type(obj)
    if kind not in CONTAINERS or state.places is None:
        state.whole(obj)
        return obj
    if kind in _MAPPINGS:
        return _mapping(state, entry)
    if kind is list:
        state.length(entry)
        now = [_item_now(state, entry, i) for i in range(len(obj))]
        return [*now, *(_added(state, entry) or ())]
    state.note_whole(entry)
    if kind is deque:
        return deque([*obj, *(_added(state, entry) or ())], obj.maxlen)
    return {*obj, *state.places.get(Place(obj, "add", None, None), ())}


def _item_now(state: State, entry: Old, key: Any) -> Any:
    found = _found(state, Place(entry.obj, "item", key, None), entry, state.item)
    return state.item(entry, key) if found is ABSENT else found


def _mapping(state: State, entry: Old) -> dict[Any, Any]:
    obj: Any = entry.obj
    assert state.places is not None  # who calls has looked
    state.length(entry)
    now = {key: _item_now(state, entry, key) for key in obj}
    for place in [p for p in state.places if p.owner is obj and p.what == "item"]:
        now[place.key] = _item_now(state, entry, place.key)
    return now
