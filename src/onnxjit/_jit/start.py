# SPDX-License-Identifier: Apache-2.0
"""The state from which several runs of one function start."""

from __future__ import annotations

import copy
from collections import deque
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.source import is_hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .arguments import Arguments

__all__ = ["Start", "settled"]

#: what holds no state of the user's, or none that can be put back
_ATOMS: Final = (
    int, float, complex, bool, str, bytes, type(None), type, ModuleType, np.generic, np.dtype,
)  # fmt: skip
#: objects looked at before giving up
_LIMIT: Final = 20_000


def settled(result: Any, given: Arguments) -> tuple[Any, Arguments]:
    """Return a result and arguments that stay as they are when a state is put back."""
    try:
        return copy.deepcopy((result, given))
    except Exception:  # noqa: BLE001  what has no copy is no array either
        return result, given


class Start:
    """What a function can change outside: kept, to be put back after a run.

    Parameters
    ----------
    roots : objects
        The function, its object, arguments. What is reachable from them through attributes,
        items, variables of enclosing functions and globals that the code names is kept.
    """

    def __init__(self, *roots: Any) -> None:
        self._kept: Final[list[Callable[[], bool]]] = []
        seen: dict[int, Any] = {}
        open_ = list(roots)
        while open_ and len(seen) < _LIMIT:
            x = open_.pop()
            if isinstance(x, _ATOMS) or id(x) in seen:
                continue
            seen[id(x)] = x
            open_ += self._keep(x)

    def restore(self) -> bool:
        """Put everything back; return whether something had changed."""
        return any([put_back() for put_back in self._kept])  # noqa: C419  all of them

    def _keep(self, x: Any) -> list[Any]:
        """Keep what is in an object; return the objects inside."""
        wrapped = getattr(x, "__wrapped__", None) if hasattr(type(x), "__onnxjit__") else None
        if wrapped is not None:
            return [wrapped, getattr(x, "__self__", None)]
        if isinstance(x, MethodType):
            return [x.__func__, x.__self__]
        if isinstance(x, FunctionType):
            return self._keep_function(x)
        for kind, keep in _KINDS.items():
            if isinstance(x, kind):
                put_back, inside = keep(x)
                self._kept.append(put_back)
                return inside
        if isinstance(x, (tuple, frozenset)):
            return list(x)
        attributes = getattr(x, "__dict__", None)
        ours = type(x).__module__.partition(".")[0] == "onnxjit"
        return [attributes] if type(attributes) is dict and not ours else []

    def _keep_function(self, f: FunctionType) -> list[Any]:
        if is_hidden(f.__code__.co_filename):
            return []
        cells = list(f.__closure__ or ())
        names = [n for n in _names(f.__code__) if n in f.__globals__]
        values = {n: f.__globals__[n] for n in names}

        def put_back() -> bool:
            changed = [n for n in names if f.__globals__.get(n, _MISSING) is not values[n]]
            f.__globals__.update({n: values[n] for n in changed})
            return bool(changed)

        self._kept.append(put_back)
        return [*cells, *values.values(), *(f.__defaults__ or ())]


_MISSING: Final = object()


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code mentions, also in functions inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


_Kept = tuple["Callable[[], bool]", list[Any]]


def _same(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=True))


def _keep_list(x: Any) -> _Kept:
    before = list(x)

    def put_back() -> bool:
        if _same(list(x), before):
            return False
        x.clear()
        x.extend(before)
        return True

    return put_back, before


def _keep_dict(x: Any) -> _Kept:
    before = dict(x)
    values = list(before.values())

    def put_back() -> bool:
        if list(x) == list(before) and _same(list(x.values()), values):
            return False
        x.clear()
        x.update(before)
        return True

    return put_back, values


def _keep_set(x: Any) -> _Kept:
    before = set(x)

    def put_back() -> bool:
        if x == before:
            return False
        x.clear()
        x.update(before)
        return True

    return put_back, []


def _keep_cell(x: CellType) -> _Kept:
    try:
        before = x.cell_contents
    except ValueError:
        before = _MISSING

    def put_back() -> bool:
        try:
            now = x.cell_contents
        except ValueError:
            now = _MISSING
        if now is before:
            return False
        if before is _MISSING:
            del x.cell_contents
        else:
            x.cell_contents = before
        return True

    return put_back, [] if before is _MISSING else [before]


def _keep_array(x: np.ndarray[Any, Any]) -> _Kept:
    before = x.copy() if x.flags.writeable else x

    def put_back() -> bool:
        alike = before is x or (x.shape == before.shape and x.tobytes() == before.tobytes())
        if alike:
            return False
        x[...] = before
        return True

    return put_back, []


def _keep_generator(x: Any) -> _Kept:
    source = x.bit_generator
    before = source.state

    def put_back() -> bool:
        if repr(source.state) == repr(before):
            return False
        source.state = before
        return True

    return put_back, []


_KINDS: Final[dict[type, Callable[[Any], _Kept]]] = {
    list: _keep_list, deque: _keep_list, dict: _keep_dict, set: _keep_set,
    CellType: _keep_cell, np.ndarray: _keep_array, np.random.Generator: _keep_generator,
}  # fmt: skip
