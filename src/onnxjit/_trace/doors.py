# SPDX-License-Identifier: Apache-2.0
"""The calls that operators and methods make; who fills the record is imported when asked."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DOORS", "LATER", "Doors"]


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
    divide : callable
        ``divide(ufunc, a, b, inplace=False)``: an operator that raises for Python's numbers.
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
        "astype", "attribute", "conj", "copy", "divide", "eager", "flat", "function",
        "getitem", "imag", "inplace", "item", "listed", "namespace", "operator", "places",
        "quick", "quick_function", "real", "refuse", "round", "setflags", "setitem", "setpart",
        "source", "tolist", "trunc", "truth", "ufunc", "unary", "view",
    )  # fmt: skip
    listed: Any
    places: Any
    astype: Callable[..., Any]
    attribute: Callable[..., Any]
    conj: Callable[..., Any]
    copy: Callable[..., Any]
    divide: Callable[..., Any]
    eager: Callable[..., Any]
    flat: Callable[..., Any]
    function: Callable[..., Any]
    getitem: Callable[..., Any]
    imag: Callable[..., Any]
    inplace: Callable[..., Any]
    item: Callable[..., Any]
    namespace: Callable[..., Any]
    operator: Callable[..., Any]
    quick: Callable[..., Any]
    quick_function: Callable[..., Any]
    real: Callable[..., Any]
    refuse: Callable[..., Any]
    round: Callable[..., Any]
    setflags: Callable[..., Any]
    setitem: Callable[..., Any]
    setpart: Callable[..., Any]
    source: Callable[..., Any]
    tolist: Callable[..., Any]
    trunc: Callable[..., Any]
    truth: Callable[..., Any]
    ufunc: Callable[..., Any]
    unary: Callable[..., Any]
    view: Callable[..., Any]

    def __init__(self) -> None:
        self.source = lambda _: None
        self.quick = lambda *_: None
        self.quick_function = lambda *_: None
        self.truth = lambda x: x

    def __getattr__(self, name: str) -> Any:
        """Import the module that fills an entry."""
        module = LATER.get(name)
        if module is None:
            msg = f"there is no door {name!r}"
            raise AttributeError(msg)
        importlib.import_module(module, __package__)
        return object.__getattribute__(self, name)


#: entry -> the module that fills it when it is asked for
LATER: Final = {
    "divide": ".raising",
    "listed": ".control.listed",
    "places": ".control.places",
    "tolist": ".control.steps",
    **dict.fromkeys(("function", "inplace", "operator", "ufunc", "unary"), ".dispatch"),
    **dict.fromkeys(
        (
            "astype", "attribute", "conj", "copy", "flat", "getitem", "imag", "item", "real",
            "refuse", "round", "setflags", "setitem", "setpart", "trunc", "view",
        ),
        ".items",
    ),
}  # fmt: skip

DOORS = Doors()
