# SPDX-License-Identifier: Apache-2.0
"""The calls that operators and methods make; `dispatch` and others fill the record."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DOORS", "Doors"]


def _unset(*_: Any, **__: Any) -> Any:
    msg = "onnxjit._trace.dispatch has not been imported"
    raise RuntimeError(msg)


class Doors:
    """Entry points.

    Attributes
    ----------
    operator : callable
        ``operator(ufunc, a, b)``: a Python operator on arrays, `NotImplemented` for others.
    unary : callable
        ``unary(ufunc, a)``.
    inplace : callable
        ``inplace(ufunc, a, b)``: ``a op= b``.
    function : callable
        ``function(numpy_function, args, kwargs)``.
    ufunc : callable
        ``ufunc(ufunc, method, inputs, kwargs)``.
    getitem, setitem : callable
        Subscripts.
    quick : callable
        ``quick(ufunc, inputs)``: evaluate through a program met before, or None.
    quick_function : callable
        ``quick_function(func, args, kwargs)``: the same for NumPy functions.
    eager : callable
        ``eager(numpy_callable, method, args, kwargs)``: evaluate at once.
    listed : module
        Functions of lists whose length only a run knows: `_trace.control.listed`.
    places : module
        Methods of such lists: `_trace.control.places`.
    truth : callable
        ``truth(object)``: what an object of the user's answers, else the object itself.
    tolist : callable
        ``tolist(array)``.
    source : callable
        ``source(numpy_function)``: a function's Python source as a traceable twin, or None.
    """

    __slots__ = (
        "astype", "attribute", "conj", "copy", "eager", "flat", "function", "getitem",
        "imag", "inplace", "item", "listed", "namespace", "operator", "places", "quick",
        "quick_function", "real", "refuse", "round", "setflags", "setitem", "setpart",
        "source", "tolist", "trunc", "truth", "ufunc", "unary", "view",
    )  # fmt: skip
    #: filled late, see `__getattr__`
    listed: Any
    places: Any
    tolist: Callable[..., Any]

    def __init__(self) -> None:
        self.operator: Callable[..., Any] = _unset
        self.unary: Callable[..., Any] = _unset
        self.inplace: Callable[..., Any] = _unset
        self.function: Callable[..., Any] = _unset
        self.ufunc: Callable[..., Any] = _unset
        self.getitem: Callable[..., Any] = _unset
        self.setitem: Callable[..., Any] = _unset
        self.eager: Callable[..., Any] = _unset
        self.source: Callable[..., Any] = lambda _: None
        self.astype: Callable[..., Any] = _unset
        self.attribute: Callable[..., Any] = _unset
        self.conj: Callable[..., Any] = _unset
        self.copy: Callable[..., Any] = _unset
        self.flat: Callable[..., Any] = _unset
        self.item: Callable[..., Any] = _unset
        self.quick: Callable[..., Any] = lambda *_: None
        self.quick_function: Callable[..., Any] = lambda *_: None
        self.real: Callable[..., Any] = _unset
        self.imag: Callable[..., Any] = _unset
        self.refuse: Callable[..., Any] = _unset
        self.round: Callable[..., Any] = _unset
        self.setflags: Callable[..., Any] = _unset
        self.setpart: Callable[..., Any] = _unset
        self.truth: Callable[[Any], Any] = lambda x: x
        self.trunc: Callable[..., Any] = _unset
        self.view: Callable[..., Any] = _unset
        self.namespace: Callable[..., Any] = _unset

    def __getattr__(self, name: str) -> Any:
        """Import the module that fills an entry which few programs need."""
        module = _LATER.get(name)
        if module is None:
            msg = f"there is no door {name!r}"
            raise AttributeError(msg)
        importlib.import_module(module, __package__)
        return object.__getattribute__(self, name)


#: entry -> the module that fills it when it is asked for
_LATER: Final = {
    "listed": ".control.listed",
    "places": ".control.places",
    "tolist": ".control.steps",
}

DOORS = Doors()
