# SPDX-License-Identifier: Apache-2.0
"""The object that rewritten code calls; without a trace it does what Python does."""

from __future__ import annotations

import builtins
import functools
import sys
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dims import Dim, require_equal
from onnxjit._rewrite import stored
from onnxjit._rewrite.control import Control
from onnxjit._rewrite.route import called, route, routed_member
from onnxjit._rewrite.snapshot import ATOMS
from onnxjit._rewrite.state import CONTAINERS, SESSION, State
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.control.either import Either, open_part, replaced
from onnxjit._trace.control.keys import loaded
from onnxjit._trace.lists import List
from onnxjit._trace.moved import check_moved
from onnxjit._trace.places import ABSENT
from onnxjit.errors import OnnxJitError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CellType

_session = SESSION.get
_NO_HIT = (object(), None)
_PLAIN_KEYS = ATOMS | {np.ndarray}
_SPECIAL = frozenset({ModuleType, super, Array})
_NATIVE_ITEMS = frozenset({list, tuple, dict, str, np.ndarray})
_HASHED = (dict, set, frozenset)


class Door(Control):
    """Hooks as one rewritten function sees them: it knows the globals and outer cells.

    The methods are called by generated code only. Each has a short way out for the common
    case that the object is not older than the trace.
    """

    __slots__ = ("_cells", "_globals", "_globals_id")

    slice = builtins.slice

    def __init__(self, module_globals: dict[str, Any], cells: dict[str, CellType]) -> None:
        self._globals = module_globals
        self._globals_id = id(module_globals)
        self._cells = cells

    # Loads

    def load_global(self, name: str, value: Any) -> Any:
        state = _session()
        if state is None:
            return value
        entry = state.known.get(self._globals_id)
        if entry is not None:
            if entry.is_changed:
                return stored.name(state, entry, name, value)
            found, result = entry.attrs.get(name, _NO_HIT)
            if found is value:
                return result
        return state.root(self._globals, name, value)

    def load_cell(self, name: str, value: Any) -> Any:
        state = _session()
        if state is None:
            return value
        cell = self._cells[name]
        entry = state.known.get(id(cell))
        if entry is not None:
            if entry.is_changed:
                return stored.name(state, entry, name, value)
            found, result = entry.attrs.get(name, _NO_HIT)
            if found is value:
                return result
        return state.root(cell, name, value)

    def attr(self, obj: Any, name: str) -> Any:
        state = _session()
        if state is None:
            return getattr(obj, name)
        cls = type(obj)
        if cls is Either:
            return obj.apply(lambda x: self.attr(x, name))
        entry = state.known.get(id(obj))
        if entry is not None:
            now = stored.attr(state, entry, name) if entry.is_changed else ABSENT
            if now is not ABSENT:
                return now
            found, result = entry.attrs.get(name, _NO_HIT)
            if result is not None:
                value = getattr(obj, name)
                if value is found:
                    return result
                if type(value) is MethodType and value.__func__ is found:
                    return value
        getters = state.getters.get(cls) or state.getters_of(cls)
        if name in getters:
            return self._got(state, obj, name, getters[name])
        return self._held(state, obj, name)

    def _held(self, state: State, obj: Any, name: str) -> Any:
        entry = state.known.get(id(obj))
        if entry is not None:
            return state.attr(entry, name)
        is_special = type(obj) in _SPECIAL
        return self._special(obj, name, state) if is_special else loaded(getattr(obj, name))

    def _got(self, state: State, obj: Any, name: str, getter: Any) -> Any:
        """Return a property; what an old object keeps of one is for Python to compute."""
        if type(getter) is not functools.cached_property:
            return route(state, getter)(obj)
        if id(obj) in state.known:
            return self._held(state, obj, name)
        kept = vars(obj)
        if name not in kept:
            kept[name] = route(state, getter.func)(obj)
        return kept[name]

    def _special(self, obj: Any, name: str, state: State) -> Any:
        """Attribute of a new module, of what `super()` gives, or of an array."""
        if type(obj) is ModuleType:
            return state.module_attr(obj, name)
        if type(obj) is super:
            return state.super_attr(obj, name)
        return self.call(type)(obj) if name == "__class__" else getattr(obj, name)

    def item(self, obj: Any, key: Any) -> Any:
        state = _session()
        if state is None:
            return obj[key]
        kind = type(key)
        chosen = None if kind in _PLAIN_KEYS else open_part(key)
        if chosen is not None:
            return chosen.apply(lambda k: self.item(obj, replaced(key, chosen, k)))
        plain = kind in _PLAIN_KEYS or not _has_traced(state, key)
        entry = state.known.get(id(obj))
        if not plain and entry is not None and isinstance(obj, dict):
            key, plain = stored.hashed(state, key), True
        if entry is not None and entry.is_changed:
            now = stored.item(state, entry, key)
            if now is not ABSENT:
                return now
        if entry is not None and plain and (kind is int or kind is str):
            found, result = entry.items.get(key, _NO_HIT)
            if result is not None and obj[key] is found:
                return result
        if type(obj) not in _NATIVE_ITEMS:
            member = routed_member(state, obj, "__getitem__")
            if member is not None:
                return member(key)
        return self._item(state, obj, key, plain=plain)

    def _item(self, state: State, obj: Any, key: Any, *, plain: bool) -> Any:
        """Perform the subscript of an object that has no code of its own for it."""
        entry = state.known.get(id(obj))
        if entry is not None and plain:
            return state.item(entry, key)
        if plain or state.hooks.is_traced(obj):
            return loaded(obj[key])
        if entry is not None and not isinstance(obj, np.ndarray):
            state.whole(obj)
        return state.hooks.getitem_captured(obj, key)

    def iterate(self, iterable: Any, count: int | None = None) -> Any:
        """Elements of an old list or tuple as loads of their own; else `iterable` itself.

        It is given to `count` names, where that is known.
        """
        state = _session()
        if state is None:
            return iterable
        if count is not None and type(iterable) is Array and iterable.ndim:
            length = iterable.shape[0]
            if isinstance(length, Dim):  # of which Python asks how many they are
                require_equal(length.env, length, count)
            return iterable
        entry = state.known.get(id(iterable))
        if entry is None:
            member = routed_member(state, iterable, "__iter__")
            return iterable if member is None else member()
        if entry.is_changed:
            return stored.current(state, entry)
        if type(iterable) is list or type(iterable) is tuple:
            return state.elements(entry)
        if hasattr(type(iterable), "__next__"):
            state.check_store(iterable, "iterator", " is advanced")
        state.whole(iterable)
        return iterable

    def caught(self) -> None:
        """Raise the exception of a handler again if plain NumPy would not have raised it."""
        error = sys.exc_info()[1]
        if isinstance(error, OnnxJitError):
            raise error

    def contains(self, item: Any, container: Any) -> Any:
        state = _session()
        if state is None or type(container) is str:
            return item in container
        if isinstance(item, Either):
            return item.apply(lambda x: self.contains(x, container))
        member = routed_member(state, container, "__contains__")
        if member is not None:
            return self.call(bool)(member(item))
        entry = state.known.get(id(container))
        if entry is not None and isinstance(container, _HASHED):
            item = stored.hashed(state, item)
        if entry is not None and entry.is_changed:
            container = stored.current(state, entry)
        elif entry is not None:
            state.membership(entry, item)
        else:
            check_moved(container)
        return state.hooks.contains(container, item)

    def lacks(self, item: Any, container: Any) -> Any:
        found = self.contains(item, container)
        return not found if type(found) is bool else self.not_(found)

    def formatted(self, value: Any) -> Any:
        state = _session()
        if state is None:
            return value
        state.whole(value)
        return state.hooks.formatted(value)

    def text(self, value: str) -> str:
        """Return text that has just been made."""
        state = _session()
        return value if state is None else state.hooks.text(value)

    def call(self, f: Any) -> Callable[..., Any]:
        """Return what is called in the place of `f`."""
        state = _session()
        if state is None:
            result: Callable[..., Any] = f
            return result
        hit = state.calls.get(id(f))
        return hit[1] if hit is not None else called(state, f)

    def whole(self, value: Any) -> Any:
        """Return a value of which Python or C code looks at any part."""
        state = _session()
        if state is None or id(value) not in state.known:
            return value
        if id(value) in state.changed:
            return state.as_changed(value)
        state.whole(value)
        return value

    def now(self, value: Any) -> Any:
        """Return an operand that may be a container which the trace has changed."""
        state = _session()
        changed = state is not None and id(value) in state.changed
        return state.as_changed(value) if changed else value  # type: ignore[union-attr]

    def itself(self, value: Any) -> Any:
        """Return a value that goes into the result or a container as the object it is."""
        state = _session()
        if state is not None and id(value) in state.known and id(value) not in state.changed:
            state.whole(value)
        return value

    # Stores

    def set_attr(self, value: Any, obj: Any, name: str) -> None:
        state = _session()
        if state is not None:
            if isinstance(obj, Either):
                obj.change(lambda x: self.set_attr(value, x, name))
                return
            entry = state.known.get(id(obj))
            if entry is not None and state.places is not None:
                stored.set_attr(state, entry, name, value)
                return
            state.check_store(obj, "attribute", f".{name}")
            if state.old_entry(obj) is not None:
                value = state.hooks.stored(value)
        setattr(obj, name, value)

    def set_item(self, value: Any, obj: Any, key: Any) -> None:
        state = _session()
        if state is None:
            obj[key] = value
            return
        if isinstance(obj, Either):
            obj.change(lambda x: self.set_item(value, x, key))
            return
        chosen = open_part(key)
        if chosen is not None:
            sides = [replaced(key, chosen, k) for k in (chosen.first, chosen.second)]
            first, second = (functools.partial(self.set_item, value, obj, k) for k in sides)
            chosen.choose(chosen.pred, first, second, (lambda: obj,))
            return
        member = routed_member(state, obj, "__setitem__")
        if member is not None:
            member(key, value)
            return
        entry = state.known.get(id(obj))
        if entry is not None and state.places is not None:
            stored.set_item(state, entry, key, value)
            return
        state.check_store(obj, "item", "[...]")
        state.hooks.setitem(obj, key, _kept_outside(state, obj, value))

    def del_attr(self, obj: Any, name: str) -> None:
        state = _session()
        if state is not None:
            state.check_store(obj, "attribute", f".{name}")
        delattr(obj, name)

    def del_item(self, obj: Any, key: Any) -> None:
        state = _session()
        if state is not None:
            state.check_store(obj, "item", "[...]")
        del obj[key]

    def begin_attr(self, obj: Any, name: str) -> Any:
        """First half of `obj.name op= v`: load, before the operator may change in place."""
        state = _session()
        if state is None:
            return getattr(obj, name)
        value = self.attr(obj, name)
        return self._begun(state, value, obj, "attribute", f".{name}")

    def begin_item(self, obj: Any, key: Any) -> Any:
        """First half of `obj[key] op= v`."""
        state = _session()
        if state is None:
            return obj[key]
        value = self.item(obj, key)
        return self._begun(state, value, obj, "item", "[...]")

    def _begun(self, state: State, value: Any, obj: Any, what: str, detail: str) -> Any:
        if state.places is None and not _is_array(value):
            state.check_store(obj, what, detail)
        found = stored.in_place(state, value)
        if found is not None:
            return found
        self.inplace(value)
        return value

    def end_attr(self, value: Any, obj: Any, name: str) -> None:
        """Second half of `obj.name op= v`; `begin_attr` has reported what is refused.

        What the operator has changed in place is where it was: nothing is stored.
        """
        state = _session()
        if state is None:
            setattr(obj, name, value)
        elif state.places is None and not _is_array(value) and type(obj) is not Either:
            setattr(obj, name, _kept_outside(state, obj, value))
        elif not (
            _stays(value)
            and stored.only_stores(type(obj), name)
            and self.attr(obj, name) is value
        ):
            self.set_attr(value, obj, name)

    def end_item(self, value: Any, obj: Any, key: Any) -> None:
        """Second half of `obj[key] op= v`."""
        state = _session()
        if state is None:
            obj[key] = value
            return
        is_old = state.old_entry(obj) is not None
        if is_old and _stays(value) and self.item(obj, key) is value:
            return
        is_open = open_part([obj, key]) is not None
        if state.places is not None or _is_array(value) or is_open:
            self.set_item(value, obj, key)
            return
        value = _kept_outside(state, obj, value)
        member = routed_member(state, obj, "__setitem__")
        if member is not None:
            member(key, value)
        else:
            state.hooks.setitem(obj, key, value)

    def inplace(self, obj: Any) -> None:
        """`obj op= v` follows, which changes a mutable object in place."""
        if type(obj) in ATOMS:
            return
        state = _session()
        if state is None:
            return
        if id(obj) in state.known or isinstance(obj, np.ndarray):
            self._old_inplace(state, obj)

    def _old_inplace(self, state: State, obj: Any) -> None:
        if isinstance(obj, CONTAINERS) or hasattr(type(obj), "__iadd__"):
            state.check_store(obj, "container", " op= ...")

    def put_global(self, value: Any, name: str) -> None:
        if not _put_name(self._globals, name, value, "global"):
            self._globals[name] = _outside(value)

    def put_cell(self, value: Any, name: str) -> None:
        if not _put_name(self._cells[name], name, value, "cell"):
            self._cells[name].cell_contents = _outside(value)

    def begin_name(self, value: Any) -> Any:
        """First half of `name op= v` for a global or outer variable, which has been loaded."""
        state = _session()
        if state is None:
            return value
        found = stored.in_place(state, value)
        if found is not None:
            return found
        self.inplace(value)
        return value

    def end_global(self, value: Any, name: str) -> None:
        state = _session()
        stays = state is not None and _stays(value) and name in self._globals
        if not stays or self.load_global(name, self._globals[name]) is not value:
            self.put_global(value, name)

    def end_cell(self, value: Any, name: str) -> None:
        state = _session()
        stays = state is not None and _stays(value)
        if not stays or self.load_cell(name, self._cells[name].cell_contents) is not value:
            self.put_cell(value, name)

    def store_global(self, name: str) -> None:
        state = _session()
        if state is not None:
            state.hooks.side_effect("global", name, name)

    def store_cell(self, name: str) -> None:
        state = _session()
        if state is not None:
            state.hooks.side_effect("cell", name, name)

    def store_global_value(self, name: str, value: Any) -> Any:
        self.store_global(name)
        return value

    def store_cell_value(self, name: str, value: Any) -> Any:
        self.store_cell(name)
        return value


def _is_array(value: Any) -> bool:
    """Whether an augmented assignment changes a traced array in place."""
    return isinstance(value, Array) and value._nd is None and value._kind == ARRAY


def _put_name(owner: Any, name: str, value: Any, what: str) -> bool:
    """Store to a global or outer variable; tell whether Python has not to do it any more."""
    state = _session()
    if state is None:
        return False
    if state.places is not None and stored.set_name(state, owner, name, value):
        return True
    state.hooks.side_effect(what, name, name)
    return False


def _outside(value: Any) -> Any:
    state = _session()
    return value if state is None else state.hooks.stored(value)


def _kept_outside(state: State, obj: Any, value: Any) -> Any:
    """Return what an object holds in the place of a value of the running code."""
    return value if state.old_entry(obj) is None else state.hooks.stored(value)


def _stays(value: Any) -> bool:
    """Whether an augmented assignment may give the object itself."""
    return _is_array(value) or type(value) in stored.CONTAINERS


def _has_traced(state: State, key: Any) -> bool:
    kind = type(key)
    if kind in _PLAIN_KEYS:
        return False
    if kind is slice:
        parts = [p for p in (key.start, key.stop, key.step) if type(p) not in _PLAIN_KEYS]
    elif kind is List and key.rows is not None:
        return True
    elif kind is tuple or kind is list or kind is List:
        parts = key
    else:
        return state.hooks.is_traced(key)
    return any(_has_traced(state, part) for part in parts)
