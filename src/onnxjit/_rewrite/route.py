# SPDX-License-Identifier: Apache-2.0
"""Choose, by the identity of a callable, what runs in its place."""

from __future__ import annotations

import array
import dataclasses
import datetime as dt
import functools
import os
import random
import sys
import types
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._rewrite import effects, stored
from onnxjit._rewrite.library import in_python, looks_at_values
from onnxjit._rewrite.overlay import overlay_function, unchecked_stores
from onnxjit._rewrite.state import CONTAINERS, Old, State
from onnxjit._trace.array import Array
from onnxjit._trace.control.either import Either, open_part, replaced
from onnxjit._trace.control.keys import has_unsure, method_of
from onnxjit._trace.control.truth import ifexp as choose
from onnxjit._trace.convert import arrays_in, is_traced
from onnxjit._trace.lists import List
from onnxjit._trace.moved import check_moved
from onnxjit.errors import DataDependentError

if TYPE_CHECKING:
    from collections.abc import Callable

_BOUND_NATIVES = (BuiltinFunctionType, types.MethodWrapperType)
_BUILTIN_OWNERS = frozenset({list, dict, set, str, tuple})
_UNKNOWN: Any = object()
# What the functions of the two modules are methods of.
_SHARED_RANDOM: object = getattr(random.random, "__self__", None)


def route(state: State, f: Any) -> Callable[..., Any]:
    """Return what is called in the place of `f`: a twin, a rewritten copy, or `f`.

    Raises
    ------
    Exception
        Whatever the tracer raises for a side effect that the call would have.
    """
    hit = state.routes.get(id(f))
    if hit is not None:
        return hit[1]
    if isinstance(f, MethodType):
        return _route_method(state, f)
    if type(f) is BuiltinFunctionType and type(f.__self__) in _BUILTIN_OWNERS:
        if type(f.__self__) is str and f.__name__ == "format":
            return lambda *args, **kwargs: state.hooks.text(
                _with_numbers(state, f, *args, **kwargs)
            )
        owner: Any = f.__self__
        if has_unsure(owner):
            return method_of(owner, f.__name__)
        return f if id(f.__self__) not in state.known else _route_bound_native(state, f)
    if isinstance(f, _BOUND_NATIVES) and not _is_function(f):
        return state.hooks.twin(f) or _route_bound_native(state, f)
    twin = state.hooks.twin(f)
    result: Callable[..., Any] = twin or _route_object(state, f)
    if twin is not None or effects.impure_name(f) is None:
        state.routes[id(f)] = f, result
    return result


def called(state: State, f: Any) -> Callable[..., Any]:
    """Return what a call of `f` runs.

    Code that is not rewritten may look at all of an old container among its arguments.
    """
    if isinstance(f, Either):
        return functools.partial(_call_either, state, f)
    result = route(state, f)
    name = _ASKING.get(id(f))
    if name is not None:
        result = functools.partial(_asked, state, result, name)
    elif f is not len and not _is_seen(f, result):
        looks = looks_at_values(f)
        result = functools.partial(_call_unseen, state, result)
        if looks:
            result = functools.partial(_call_looking, state, result, looks)
    if f is len:
        result = functools.partial(_length, state, result)
    if id(f) in state.routes:
        state.calls[id(f)] = f, result
    return result


def _call_either(state: State, f: Either, *args: Any, **kwargs: Any) -> Any:
    """Call one of two functions, chosen by data."""
    own, other = f.first, f.second
    first, second = called(state, own), called(state, other)
    return choose(
        f.pred,
        lambda: first(*args, **kwargs),
        lambda: second(*args, **kwargs),
        functions=(own, other, lambda: (own, other)),  # methods change their objects
    )


#: builtins that call a method of what they are given
_ASKING = {
    id(f): f"__{f.__name__}__" for f in (abs, float, int, bool, complex, round, divmod, iter)
}


def _asked(state: State, f: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a builtin that calls a method of its argument."""
    method = routed_member(state, args[0], name) if args else None
    if method is not None:
        return method(*args[1:], **kwargs)
    return _call_unseen(state, f, *args, **kwargs)


#: builtins that do not look into their arguments
_BLIND = frozenset(
    map(id, (isinstance, issubclass, callable, id, type, print, super, getattr, hasattr))
)


def _is_seen(f: Any, result: Any) -> bool:
    """Whether `result` is rewritten code, or needs none to be seen."""
    if id(f) in _BLIND or hasattr(result, "__onnxjit_seen__"):
        return True
    if isinstance(result, MethodType):
        result = result.__func__
    if type(result) is functools.partial:
        return True  # made here, or of the user: what it calls is routed by itself
    from onnxjit._rewrite.rewritten import is_rewritten

    return isinstance(result, FunctionType) and is_rewritten(result.__code__)


#: what is neither old nor chosen by data
_ONLY_ARRAYS = frozenset({Array})


def _call_unseen(state: State, f: Any, *args: Any, **kwargs: Any) -> Any:
    if not kwargs and _ONLY_ARRAYS.issuperset(map(type, args)):
        return f(*args)
    chosen = open_part(args)
    if chosen is not None and not hasattr(f, "__self__"):
        return chosen.apply(
            lambda x: _call_unseen(state, f, *replaced(args, chosen, x), **kwargs)
        )
    for x in args:
        check_moved(x)
    seen = [_given(state, x) for x in args]
    if kwargs:
        kwargs = {name: _given(state, x) for name, x in kwargs.items()}
    if state.changed:
        seen = [_as_it_is(state, x, f) for x in seen]
        kwargs = {name: _as_it_is(state, x, f) for name, x in kwargs.items()}
    if List in map(type, seen):
        f, seen = _of_grown(f, seen)
    return f(*seen, **kwargs)


def _call_looking(state: State, f: Any, what: str, *args: Any, **kwargs: Any) -> Any:
    """Call code of Python's library that knows NumPy's numbers, but no others."""
    look = state.hooks.looked_at
    return f(*[look(x, what) for x in args], **{k: look(x, what) for k, x in kwargs.items()})


#: C code that reads the memory of a list, instead of its elements one by one
_READS_MEMORY: Final = frozenset({array.array})


def _of_grown(f: Any, args: list[Any]) -> tuple[Any, list[Any]]:
    """Return a call in which no C code reads the memory of a list that grows in the graph."""
    first, *rest = args
    if type(f) in _DESCRIPTORS and f.__objclass__ is list and type(first) is List:
        return getattr(first, f.__name__), rest
    if f in _READS_MEMORY and any(type(x) is List and x.rows is not None for x in args):
        name = f"{f.__module__}.{f.__qualname__}"
        msg = (
            f"{name} reads the memory of a list whose elements only a run of the model knows; "
            "use np.array"
        )
        raise DataDependentError(msg)
    return f, args


_DESCRIPTORS: Final = (types.MethodDescriptorType, types.WrapperDescriptorType)


def _as_it_is(state: State, x: Any, f: Any, depth: int = 0) -> Any:
    """Return an argument of code that is not rewritten, with what the trace has stored."""
    if id(x) in state.changed:
        entry = state.known[id(x)]
        if type(x) not in stored.CONTAINERS or not _keeps_nothing(f):
            state.refuse_look(entry)
        return stored.current(state, entry)
    if type(x) in (list, tuple) and depth < _DEPTH:
        parts = [_as_it_is(state, part, f, depth + 1) for part in x]
        same = all(a is b for a, b in zip(parts, x, strict=True))
        return x if same else type(x)(parts)
    if type(x) is dict and depth < _DEPTH:
        for part in x.values():
            if _as_it_is(state, part, f, depth + 1) is not part:
                state.refuse_look(state.known[id(part)])
    return x


def _keeps_nothing(f: Any) -> bool:
    """Whether a callable makes do with a copy: builtins, NumPy's functions, their twins."""
    ours = str(getattr(f, "__module__", "")).startswith("onnxjit.")
    return ours or isinstance(f, (*_NATIVE_TYPES, type))


#: nested containers that are looked through for changed objects
_DEPTH = 6


def _given(state: State, x: Any) -> Any:
    """Return an argument of code that is not rewritten: what it calls back is rewritten."""
    kind = type(x)
    if kind is FunctionType:
        return copy_of(state, x) if state.is_user(x) else x
    if kind is MethodType and isinstance(x.__func__, FunctionType):
        return MethodType(_given(state, x.__func__), x.__self__)
    if id(x) in state.known and id(x) not in state.changed:
        state.whole(x)
    return x


def _length(state: State, f: Any, x: Any) -> Any:
    if isinstance(x, Either):
        return x.apply(lambda each: _length(state, f, each))
    method = routed_member(state, x, "__len__")
    if method is not None:
        return method()
    entry = state.known.get(id(x))
    if entry is not None and entry.is_changed:
        return stored.length(state, entry)
    if entry is not None and isinstance(x, _SIZED):
        state.length(entry)
    else:
        state.whole(x)
    return f(x)


_SIZED = (list, tuple, dict, set, frozenset)


def _is_function(f: Any) -> bool:
    return f.__self__ is None or isinstance(f.__self__, ModuleType)


def _route_method(state: State, f: MethodType) -> Callable[..., Any]:
    owner, function = f.__self__, f.__func__
    if _is_impure_owner(state, owner):
        name = f"{_owner_name(owner)}.{f.__name__}"
        return state.hooks.twin(f) or _impure(state, f, name)
    if isinstance(owner, _random_states()):
        check_moved(owner)
        return _random_method(state, f)
    routed = route(state, function)
    if routed is not function:
        return MethodType(routed, owner)
    if id(owner) in state.changed:
        state.refuse_look(state.known[id(owner)])
    name = getattr(function, "__name__", "")
    if name in effects.MUTATORS and isinstance(owner, CONTAINERS + effects.USER_CONTAINERS):
        state.check_store(owner, "container", f".{name}")
    return f


def _route_bound_native(state: State, f: Callable[..., Any]) -> Callable[..., Any]:
    owner, name = _owner(f), f.__name__
    entry = state.old_entry(owner)
    if _is_impure_owner(state, owner):
        return _impure(state, f, f"{_owner_name(owner)}.{name}")
    if isinstance(owner, _random_states()):
        check_moved(owner)
        return _random_method(state, f)
    if isinstance(owner, type):
        if issubclass(owner, dt.date) and name in effects.CLOCK_METHODS:
            return _impure(state, f, f"{owner.__name__}.{name}")
        return f
    if entry is None:
        check_moved(owner)
        return f
    if isinstance(owner, CONTAINERS):
        return _route_container(state, entry, f)
    if name == "__next__":
        state.check_store(owner, "iterator", " is advanced")
    return f


def _route_container(state: State, entry: Old, f: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls a method of an old container."""
    owner, name = _owner(f), f.__name__
    if name in effects.MUTATORS:
        changed = stored.mutator(state, entry, name)
        if changed is not None:
            return _seen(changed)
        state.check_store(owner, "container", f".{name}")
        return functools.partial(_store, state, f)
    if isinstance(owner, dict) and name in effects.DICT_READS:
        return functools.partial(effects.DICT_READS[name], state, entry)
    if entry.is_changed:
        now: Callable[..., Any] = getattr(stored.current(state, entry), name)
        return now
    state.whole(owner)
    return f


def _seen(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that looks into its arguments as rewritten code does."""
    f.__onnxjit_seen__ = True  # type: ignore[attr-defined]
    return f


def _random_method(state: State, f: Any) -> Callable[..., Any]:
    """Return what calls a method of a random generator."""
    from onnxjit._rewrite.twins import shuffle_of

    return shuffle_of(f) or functools.partial(_with_numbers, state, f)


def _store(state: State, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a method that changes an old container, with what it may hold."""
    stored = {k: state.hooks.stored(v) for k, v in kwargs.items()}
    return f(*map(state.hooks.stored, args), **stored)


def _with_numbers(state: State, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a method that has to have plain numbers in the place of sizes."""
    formatted = {k: state.hooks.formatted(v) for k, v in kwargs.items()}
    return f(*map(state.hooks.formatted, args), **formatted)


def _owner(f: Any) -> Any:
    return f.__self__


def _numpy_random() -> ModuleType | None:
    """Return ``numpy.random`` if somebody has imported it: it is slow to."""
    return sys.modules.get("numpy.random")


def _shared_numpy_random() -> object:
    module = _numpy_random()
    return None if module is None else getattr(module.rand, "__self__", None)


def _random_states() -> tuple[type, ...]:
    module = _numpy_random()
    if module is None:
        return (random.Random,)
    return (random.Random, module.RandomState, module.Generator)


def _is_impure_owner(state: State, owner: object) -> bool:
    """Whether methods of `owner` depend on, or change, a state older than the trace."""
    if isinstance(owner, _random_states()):
        return id(owner) in state.known or (
            owner is _SHARED_RANDOM or owner is _shared_numpy_random()
        )
    return owner is os.environ


def _owner_name(owner: object) -> str:
    names = {id(_SHARED_RANDOM): "random", id(_shared_numpy_random()): "np.random"}
    return names.get(id(owner), "os.environ" if owner is os.environ else type(owner).__name__)


def _impure(state: State, f: Any, name: str) -> Callable[..., Any]:
    state.hooks.side_effect("impure", f, name)
    if isinstance(getattr(f, "__self__", None), _random_states()):
        return _random_method(state, f)
    result: Callable[..., Any] = f
    return result


def _route_object(state: State, f: Any) -> Callable[..., Any]:
    name = effects.impure_name(f)
    if name is not None:
        return _impure(state, f, name)
    checked = effects.checked(state, f)
    if checked is not None:
        return checked
    python = in_python(f)
    if python is not None:
        return copy_of(state, python)
    if isinstance(f, FunctionType):
        return _route_function(state, f)
    if isinstance(f, type):
        return _route_class(state, f)
    if type(f) is functools.partial:
        inner = route(state, f.func)
        return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
    if type(f) is _CACHED:
        return functools.partial(_call_cached, state, f)
    if hasattr(type(f), "__onnxjit__") and hasattr(f, "__wrapped__"):
        return route(state, f.__wrapped__)
    member = None if isinstance(f, _NATIVE_TYPES) else routed_member(state, f, "__call__")
    result: Callable[..., Any] = member if member is not None else f
    return result


_NATIVE_TYPES = (BuiltinFunctionType, np.ufunc, type(np.sum))
#: what `functools.lru_cache` makes of a function
_CACHED = type(functools.lru_cache(id))


def _call_cached(state: State, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function that has a cache, past the cache for what belongs to the trace."""
    if any(map(is_traced, arrays_in((*args, *kwargs.values())))):
        return called(state, f.__wrapped__)(*args, **kwargs)
    return _call_unseen(state, f, *args, **kwargs)


def _route_function(state: State, f: FunctionType) -> Callable[..., Any]:
    if "__onnxjit__" in f.__dict__ and "__wrapped__" in f.__dict__:
        return route(state, f.__dict__["__wrapped__"])
    return copy_of(state, f) if state.is_user(f) else f


def copy_of(state: State, f: FunctionType) -> FunctionType:
    """Rewritten copy of `f`, or what comes closest to it."""
    from onnxjit._rewrite.rewritten import rewrite_function

    state.mark_defaults(f)
    copy = rewrite_function(f)
    if copy is not None:
        state.routes[id(copy)] = copy, copy
        return copy
    unchecked = unchecked_stores(f.__code__)
    if unchecked is not None:
        state.hooks.side_effect("unchecked store", f, f"{f.__qualname__}: {unchecked}")
    return overlay_function(f)


def _route_class(state: State, cls: type) -> Callable[..., Any]:
    """Construct with a rewritten `__init__`, where nothing else takes part in it."""
    init = cls.__init__  # type: ignore[misc]
    new: object = cls.__new__
    plain = type(cls) is type and new is object.__new__
    if not plain or not isinstance(init, FunctionType) or not state.is_user(init):
        return cls
    from onnxjit._rewrite.rewritten import rewrite_function

    if rewrite_function(init) is None:
        return _with_lists(cls)  # such as the one of a dataclass, which only stores
    return _constructor(cls, route(state, init))


def _with_lists(cls: type) -> Callable[..., Any]:
    """Construct a dataclass; lists that its `__init__` makes may grow like others."""
    if not dataclasses.is_dataclass(cls):
        return cls
    names = [f.name for f in dataclasses.fields(cls) if f.default_factory is list]
    if not names:
        return cls

    @functools.wraps(cls, updated=())
    def construct(*args: Any, **kwargs: Any) -> Any:
        new = cls(*args, **kwargs)
        for name in names:
            value = getattr(new, name, None)
            # the object, this variable and the call are all that know a list made for it
            if type(value) is list and not value and sys.getrefcount(value) <= _OWN:
                object.__setattr__(new, name, List())
        return new

    return construct


_OWN: Final = 3


def _constructor(cls: type, init: Callable[..., Any]) -> Callable[..., Any]:
    def construct(*args: Any, **kwargs: Any) -> Any:
        new: Any = object.__new__(cls)
        if init(new, *args, **kwargs) is not None:
            message = "__init__() should return None"
            raise TypeError(message)
        return new

    construct.__wrapped__ = cls  # type: ignore[attr-defined]
    construct.__onnxjit_seen__ = True  # type: ignore[attr-defined]
    return construct


def routed_member(state: State, obj: Any, name: str) -> Callable[..., Any] | None:
    """Route and bind a special method of a user's class; None for other classes."""
    key = type(obj), name
    function = state.members.get(key, _UNKNOWN)
    if function is _UNKNOWN:
        found = getattr(type(obj), name, None)
        is_user = isinstance(found, FunctionType) and state.is_user(found)
        function = state.members[key] = found if is_user else None
    return None if function is None else MethodType(route(state, function), obj)
