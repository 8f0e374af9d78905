# SPDX-License-Identifier: Apache-2.0
"""What one running trace knows of the objects that are older than it."""

from __future__ import annotations

import array
import os
import sys
from collections import deque
from contextvars import ContextVar
from functools import cached_property
from itertools import islice
from types import (
    BuiltinFunctionType,
    CellType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._rewrite.origin import is_library_module, is_user_function
from onnxjit._rewrite.path import Path, held_path
from onnxjit._rewrite.snapshot import ATOMS, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._rewrite.hooks import Hooks

NATIVE_CALLABLES = frozenset(
    {
        BuiltinFunctionType,
        ClassMethodDescriptorType,
        MethodDescriptorType,
        MethodWrapperType,
        WrapperDescriptorType,
        GetSetDescriptorType,
        MemberDescriptorType,
        np.ufunc,
        type(np.sum),  # NumPy's dispatching functions
    }
)
CONTAINERS = (list, dict, set, bytearray, deque, np.ndarray, array.array)

_NO_GETTERS: dict[str, FunctionType | cached_property[Any]] = {}
_KEY_TYPES = frozenset({int, str, bool, float, bytes, type(None)})
_MAX_DEPTH = 6
_MAX_MARKED = 10_000


class Old:
    """An object older than the trace, and what was found in it so far.

    `attrs` and `items` map a name or key to the value found and what is used in its place.
    """

    __slots__ = ("attrs", "is_changed", "is_whole", "items", "obj", "path", "size")

    def __init__(self, obj: object, path: Path | None) -> None:
        self.obj = obj
        self.path = path
        self.attrs: dict[str, tuple[object, object]] = {}
        self.items: dict[object, tuple[object, object]] = {}
        self.size = -1  # not noted yet
        self.is_whole = False
        self.is_changed = False  # by this trace, which knows how it is now


class State:
    """Old objects, paths and routed callables of one trace.

    Parameters
    ----------
    hooks
        The tracer's side.
    packages
        Modules and packages, besides code outside the library folders, that are rewritten.
    """

    __slots__ = (
        "base",
        "calls",
        "changed",
        "getters",
        "hooks",
        "known",
        "libraries",
        "members",
        "packages",
        "places",
        "routes",
    )

    def __init__(self, hooks: Hooks, packages: tuple[str, ...] = ()) -> None:
        self.hooks = hooks
        self.packages = packages
        self.known: dict[int, Old] = {id(os.environ): Old(os.environ, None)}
        self.routes: dict[int, tuple[object, Callable[..., Any]]] = {}
        self.calls: dict[int, tuple[object, Callable[..., Any]]] = {}
        self.libraries: dict[int, ModuleType] = {}
        self.members: dict[tuple[type, str], FunctionType | None] = {}
        self.getters: dict[type, dict[str, FunctionType | cached_property[Any]]] = {}
        self.base = 0
        self.places = hooks.places
        self.changed: set[int] = set()
        if self.places is not None:
            self.places.look = self.as_changed

    # Which objects are old

    def mark_old(self, value: object, path: Path | None = None) -> None:
        """Note that `value`, and what containers reach from it, is older than the trace."""
        stack: list[tuple[object, Path | None, int]] = [(value, path, 0)]
        known, budget = self.known, _MAX_MARKED
        while stack and budget:
            obj, where, depth = stack.pop()
            budget -= 1
            if type(obj) in ATOMS or not self._can_be_old(obj):
                continue
            entry = known.get(id(obj))
            if entry is not None:
                entry.path = entry.path or where
                continue
            known[id(obj)] = Old(obj, where)
            if depth < _MAX_DEPTH:
                stack.extend((o, p, depth + 1) for o, p in _children(obj, where))

    def mark_defaults(self, fn: FunctionType) -> None:
        """Note that the defaults of a function are older than the trace."""
        for defaults in (fn.__defaults__, fn.__kwdefaults__):
            if defaults:
                self.mark_old(defaults, held_path("default", defaults))

    def _can_be_old(self, obj: object) -> bool:
        if type(obj) in NATIVE_CALLABLES or isinstance(obj, FunctionType | MethodType):
            return False
        if isinstance(obj, ModuleType):
            return not is_library_module(obj.__name__, self.packages)
        if isinstance(obj, type):
            return self.is_user_class(obj)
        return not self.hooks.is_traced(obj)

    def is_user_class(self, cls: type) -> bool:
        return not is_library_module(cls.__module__, self.packages)

    def is_user(self, fn: FunctionType) -> bool:
        """Whether calls of `fn` run a rewritten copy."""
        return is_user_function(fn, self.packages)

    # Loads

    def root(self, owner: dict[str, Any] | CellType, name: str, value: object) -> object:
        """Note the load of a global or outer variable that is new or was rebound."""
        entry = self.known.get(id(owner)) or self.new_root(owner)
        path = Path("cell" if isinstance(owner, CellType) else "global", name, owner)
        result = self.loaded(value, path)
        entry.attrs[name] = value, result
        return result

    def new_root(self, owner: dict[str, Any] | CellType) -> Old:
        """Note the globals of a module, or a cell."""
        entry = self.known[id(owner)] = Old(owner, None)
        return entry

    def loaded(self, value: object, path: Path | None, owner: object = None) -> object:
        """Note a value found in an old object; `path` leads to it, if anything does."""
        kind = type(value)
        if kind in ATOMS:
            return value if path is None else self.hooks.capture(value, path, owner)
        if kind in NATIVE_CALLABLES:
            return value
        if isinstance(value, FunctionType | MethodType):
            self._capture_function(value, path)
            return value
        if isinstance(value, ModuleType) or not self._can_be_old(value):
            self.mark_old(value, path)
            return value
        self.mark_old(value, path)
        return value if path is None else self.hooks.capture(value, path, owner)

    def _capture_function(self, value: FunctionType | MethodType, path: Path | None) -> None:
        if path is None:
            return
        if isinstance(value, MethodType):
            path, function = path.attr("__func__"), value.__func__
        else:
            function = value
        if isinstance(function, FunctionType) and self.is_user(function):
            self.hooks.capture(function, path)
            self.known.setdefault(id(function), Old(function, path))

    def module_attr(self, module: ModuleType, name: str) -> object:
        """Attribute of a module that was reached without a global, as by a local import."""
        if id(module) in self.libraries:
            return getattr(module, name)
        if is_library_module(module.__name__, self.packages):
            self.libraries[id(module)] = module
            return getattr(module, name)
        if sys.modules.get(module.__name__) is not module:
            return getattr(module, name)
        self.mark_old(module, Path("module", module.__name__))
        return self.attr(self.known[id(module)], name)

    def attr(self, entry: Old, name: str) -> object:
        """Attribute of an old object, not seen before under this name and value."""
        obj = entry.obj
        try:
            value = getattr(obj, name)
        except AttributeError:
            if entry.path is not None:
                self.hooks.capture(False, entry.path.has_attr(name))
            raise
        if type(value) in NATIVE_CALLABLES:
            return value
        if isinstance(obj, np.ndarray):
            return value  # `arr.T` is old through its base
        path = None if entry.path is None else entry.path.attr(name)
        if path is not None and not _is_stored(obj, name, value):
            path = None
        result = self.loaded(value, path, obj)
        if path is not None:
            found = value.__func__ if isinstance(value, MethodType) else value
            entry.attrs[name] = found, result
        return result

    def super_attr(self, obj: super, name: str) -> object:
        """Attribute found by `super()`; the function of a method is noted."""
        value: object = getattr(obj, name)
        looked_in: Any = obj
        mro = looked_in.__self_class__.__mro__
        later = mro[mro.index(looked_in.__thisclass__) + 1 :]
        base = next((cls for cls in later if name in vars(cls)), None)
        function = value.__func__ if isinstance(value, MethodType) else None
        is_own = base is not None and self.is_user_class(base)
        if base is not None and is_own and isinstance(function, FunctionType):
            self._capture_function(function, held_path(base.__name__, base).attr(name))
        return value

    def item(self, entry: Old, key: object) -> object:
        """Item of an old object, not seen before under this key and value."""
        obj: Any = entry.obj
        if obj is os.environ:
            self.hooks.side_effect("impure", obj, f"os.environ[{key!r}]")
        try:
            value = obj[key]
        except LookupError:
            self.absent(entry, key)
            raise
        if isinstance(obj, np.ndarray) and obj.dtype != object:
            return value
        if type(key) in {int, str}:
            found = entry.items.get(key)
            if found is not None and found[0] is value:
                return found[1]
        stable = isinstance(obj, list | tuple | dict) and type(key) in _KEY_TYPES
        path = entry.path.item(key) if entry.path is not None and stable else None
        if not stable:
            self.whole(obj)
        result = self.loaded(value, path)
        if path is not None and type(key) in {int, str}:
            entry.items[key] = value, result
        return result

    def absent(self, entry: Old, key: object) -> None:
        """Note that an old container lacks an item."""
        if isinstance(entry.obj, dict) and type(key) in _KEY_TYPES:
            if entry.path is not None:
                self.hooks.capture(False, entry.path.has_item(key))
        else:
            self.whole(entry.obj)

    def membership(self, entry: Old, item: object) -> None:
        """Note whether an old container has an item."""
        obj: Any = entry.obj
        if isinstance(obj, dict | set | frozenset) and type(item) in _KEY_TYPES:
            if entry.path is not None:
                self.hooks.capture(item in obj, entry.path.has_item(item))
        else:
            self.whole(obj)

    def whole(self, obj: object) -> None:
        """Note that everything in an old container or object matters."""
        entry = self.known.get(id(obj))
        if entry is None:
            return
        if entry.is_changed:
            self.refuse_look(entry)
        self.note_whole(entry)

    def note_whole(self, entry: Old) -> None:
        """Note that everything matters that was in an old object before the trace."""
        if entry.is_whole or not _has_parts(entry.obj):
            return
        entry.is_whole = True
        if entry.path is not None:
            self.hooks.capture(Snapshot(entry.obj), entry.path)

    def refuse_look(self, entry: Old) -> None:
        """Refuse that code looks at an object which does not know what was stored in it."""
        self.hooks.side_effect("look", entry.obj, str(entry.path))

    def elements(self, entry: Old) -> Iterator[object]:
        """Yield the elements of an old list or tuple, as if each were loaded by its index.

        Like a list's own iterator it sees what the loop appends, if hooks allow that.
        """
        obj: Any = entry.obj
        self.length(entry)
        i = 0
        while i < len(obj):
            yield self.item(entry, i)
            i += 1

    def length(self, entry: Old) -> None:
        """Note that the number of elements of an old container matters."""
        size = len(entry.obj)  # type: ignore[arg-type]
        if entry.path is not None and entry.size != size:
            self.hooks.capture(size, entry.path.length())
            entry.size = size

    def getters_of(self, cls: type) -> dict[str, FunctionType | cached_property[Any]]:
        """Getters of the properties of a user's class, by name."""
        found = self.getters.get(cls)
        if found is None:
            found = {}
            bases = cls.__mro__ if self.is_user_class(cls) else ()
            for base in reversed(bases):
                for name, member in vars(base).items():
                    found.pop(name, None)
                    if type(member) is property and isinstance(member.fget, FunctionType):
                        found[name] = member.fget
                    elif type(member) is cached_property:
                        found[name] = member
            found = {n: f for n, f in found.items() if self._is_getter(f)} or _NO_GETTERS
            self.getters[cls] = found
        return found

    def _is_getter(self, f: FunctionType | cached_property[Any]) -> bool:
        function = f if isinstance(f, FunctionType) else f.func
        return isinstance(function, FunctionType) and self.is_user(function)

    def as_changed(self, x: object) -> object:
        """Return what Python looks at in the place of `x`, which may have been changed."""
        if id(x) not in self.changed:
            return x
        from onnxjit._rewrite.stored import current

        return current(self, self.known[id(x)])

    # Stores

    def old_entry(self, obj: object) -> Old | None:
        """Entry of `obj`, or of the old array that the array `obj` is a view of."""
        entry = self.known.get(id(obj))
        while entry is None and isinstance(obj, np.ndarray) and obj.base is not None:
            obj = obj.base
            entry = self.known.get(id(obj))
        return entry

    def check_store(self, obj: object, what: str, detail: str) -> None:
        """Report a store to `obj`, if it is old; `detail` follows the name of the object."""
        entry = self.old_entry(obj)
        if entry is None and not _is_shared(obj):
            return
        name = str(entry.path) if entry is not None and entry.path is not None else _name(obj)
        what = "ndarray" if isinstance(obj, np.ndarray) else what
        self.hooks.side_effect(what, obj, f"{name}{detail}")


SESSION: ContextVar[State | None] = ContextVar("onnxjit_rewrite_session", default=None)


def _children(obj: object, path: Path | None) -> list[tuple[object, Path | None]]:
    # The base classes iterate, so that no user's `__iter__` runs.
    if isinstance(obj, list | tuple):
        elements = list.__iter__(obj) if isinstance(obj, list) else tuple.__iter__(obj)
        few = islice(elements, _MAX_MARKED)
        return [(v, path and path.item(i)) for i, v in enumerate(few)]
    if isinstance(obj, dict):
        return [
            (v, path.item(k) if path and type(k) in _KEY_TYPES else None)
            for k, v in islice(dict.items(obj), _MAX_MARKED)
        ]
    if isinstance(obj, np.ndarray):
        return [(obj.base, None)] if isinstance(obj.base, np.ndarray) else []
    if isinstance(obj, set | frozenset | deque):
        return [(v, None) for v in islice(iter(obj), _MAX_MARKED)]
    return []


def _is_stored(obj: object, name: str, value: object) -> bool:
    """Whether an attribute is looked up, not computed afresh by each look."""
    if isinstance(obj, ModuleType):
        return True
    if vars(obj).get(name) is value if hasattr(obj, "__dict__") else False:
        return True
    for base in type(obj).__mro__:
        if name in vars(base):
            member = vars(base)[name]
            if member is value or isinstance(member, MemberDescriptorType | FunctionType):
                return True
            break
    return _same(getattr(obj, name), value)


def _has_parts(obj: object) -> bool:
    """Whether an object has items or attributes that a guard can look at."""
    if isinstance(obj, np.ndarray | ModuleType | type | FunctionType):
        return False
    return isinstance(obj, list | tuple | dict | set | frozenset | deque) or hasattr(
        obj, "__dict__"
    )


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and type(a) in ATOMS and repr(a) == repr(b))


def _is_shared(obj: object) -> bool:
    """Modules and classes are old unless a function made them."""
    if isinstance(obj, ModuleType):
        return True
    return isinstance(obj, type) and "<locals>" not in obj.__qualname__


def _name(obj: object) -> str:
    if isinstance(obj, type | ModuleType):
        return obj.__name__
    return f"<{type(obj).__name__}>"
