# SPDX-License-Identifier: Apache-2.0
"""Run a function without source on globals whose values are routed.

On CPython, LOAD_GLOBAL asks `__getitem__` of globals and builtins that are not exactly of
type `dict`.
"""

from __future__ import annotations

import builtins
import dis
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._rewrite.state import SESSION, State

if TYPE_CHECKING:
    from collections.abc import Iterator

_GLOBAL_STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_PLACE_STORES = frozenset(
    {"STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"}
)
_CELL_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_ROUTED = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))


class Overlay(dict[str, Any]):
    """The names of a module; each look reads the module again and routes what it finds."""

    __slots__ = ("live",)

    def __init__(self, live: dict[str, Any]) -> None:
        super().__init__(live)
        self.live = live
        self["__builtins__"] = _Builtins()

    def __getitem__(self, name: str) -> Any:
        value = self.live[name]
        state = SESSION.get()
        if state is None or name.startswith("__"):
            return value
        return substitute(state, state.root(self.live, name, value))


class _Builtins(dict[str, Any]):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(vars(builtins))
        self["__import__"] = _import

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        state = SESSION.get()
        if state is None or name.startswith("__"):
            return value
        return substitute(state, value)


class _ModuleView(ModuleType):
    """A module as code without source sees it: functions are routed when they are loaded."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__wrapped__ = module

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        module = super().__getattribute__("__wrapped__")
        value = getattr(module, name)
        state = SESSION.get()
        return value if state is None else substitute(state, value)


class _UfuncView:
    """A ufunc as code without source sees it: calls and methods are routed."""

    __slots__ = ("__wrapped__", "_routed")

    def __init__(self, ufunc: np.ufunc, routed: Any) -> None:
        self.__wrapped__ = ufunc
        self._routed = routed

    __class__ = property(lambda _: np.ufunc)  # for isinstance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._routed(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        state = SESSION.get()
        return value if state is None else substitute(state, value)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    module = builtins.__import__(name, *args, **kwargs)
    state = SESSION.get()
    return module if state is None else substitute(state, module)


def substitute(state: State, value: Any) -> Any:
    """Replace `value` for code without source; classes stay, for `isinstance` and dtypes."""
    if isinstance(value, ModuleType):
        return value if isinstance(value, _ModuleView) else _ModuleView(value)
    if isinstance(value, _ROUTED):
        from onnxjit._rewrite.route import route

        routed = route(state, value)
        if isinstance(value, np.ufunc) and routed is not value:
            return _UfuncView(value, routed)
        return routed
    return value


def overlay_function(fn: FunctionType) -> FunctionType:
    """Return a copy of `fn` on an overlay of its globals; cells are shared if stored to."""
    from onnxjit._rewrite.rewritten import copy_attributes

    if isinstance(fn.__globals__, Overlay):
        return fn
    stored = {name for op, name in _stores(fn.__code__) if op in _CELL_STORES}
    cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    closure = tuple(c if n in stored else _overlay_cell(n, c) for n, c in cells)
    overlay = Overlay(fn.__globals__)
    copy = FunctionType(fn.__code__, overlay, fn.__name__, fn.__defaults__, closure)
    copy_attributes(fn, copy)
    return copy


def _overlay_cell(name: str, cell: CellType) -> CellType:
    state = SESSION.get()
    if state is None or name == "__class__":
        return cell
    try:
        value = cell.cell_contents
    except ValueError:
        return cell  # not filled yet
    new = substitute(state, state.root(cell, name, value))
    return cell if new is value else CellType(new)


def unchecked_stores(code: CodeType) -> str | None:
    """Describe stores of `code` that may change what is older than the trace, or None.

    Without source it cannot be seen which objects they reach.
    """
    outer = frozenset(code.co_freevars)
    for op, name in _stores(code):
        if op in _GLOBAL_STORES or op in _PLACE_STORES or name in outer:
            return f"{op} {name}".strip()
    return None


def _stores(code: CodeType) -> Iterator[tuple[str, str]]:
    for instruction in dis.get_instructions(code):
        op = instruction.opname
        if op in _PLACE_STORES or op in _GLOBAL_STORES or op in _CELL_STORES:
            argument = instruction.argval
            yield op, argument if isinstance(argument, str) else ""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _stores(const)
