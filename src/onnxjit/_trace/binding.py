# SPDX-License-Identifier: Apache-2.0
"""Arguments of NumPy functions, bound with NumPy's own signatures."""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit.errors import UnsupportedError

from .options import ORDERS, check_device, check_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._ops.row import Function

__all__ = ["bind", "call_numpy", "call_row", "parameter_names", "takes_any_number"]

_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class _Parameters:
    """Parameters of a callable.

    Attributes
    ----------
    signature : inspect.Signature
    positional, only_positional : tuple of str
        Those that arguments by position go to, and those of them that have no other way.
    required, by_name : frozenset of str
        Those without a default, and those that may be given by name.
    variadic : str
        The one that takes any number of arguments, empty if there is none.
    is_plain : bool
        Whether no parameter is variadic.
    """

    __slots__ = (
        "by_name", "is_plain", "only_positional", "positional", "required", "signature",
        "variadic",
    )  # fmt: skip

    def __init__(self, signature: inspect.Signature) -> None:
        every = signature.parameters.values()
        self.signature: Final = signature
        only = [p.name for p in every if p.kind is inspect.Parameter.POSITIONAL_ONLY]
        either = [p.name for p in every if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        named = [p.name for p in every if p.kind is inspect.Parameter.KEYWORD_ONLY]
        self.only_positional: Final = tuple(only)
        self.positional: Final = (*only, *either)
        self.by_name: Final = frozenset((*either, *named))
        empty = inspect.Parameter.empty
        self.required: Final = frozenset(p.name for p in every if p.default is empty)
        rest = [p.name for p in every if p.kind is inspect.Parameter.VAR_POSITIONAL]
        self.variadic: Final = rest[0] if rest else ""
        self.is_plain: Final = not any(p.kind in _VARIADIC for p in every)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name; the variadic ones are left as they are.

        Raises
        ------
        TypeError
            They do not fit.
        """
        if args and self.is_plain and len(args) <= len(self.positional):
            given = dict(zip(self.positional, args, strict=False))
            fits = kwargs.keys() <= self.by_name and given.keys().isdisjoint(kwargs)
            given.update(kwargs)
            if fits and self.required <= given.keys():
                return given
        return self.signature.bind(*args, **kwargs).arguments


@cache
def _parameters(row: Function) -> _Parameters:
    try:
        return _Parameters(inspect.signature(row.numpy))
    except (TypeError, ValueError):
        return _own_parameters(row.implementation)


@cache
def _own_parameters(implementation: Callable[..., Any]) -> _Parameters:
    return _Parameters(inspect.signature(implementation))


def parameter_names(row: Function) -> tuple[str, ...]:
    """Return the names of the parameters of a NumPy function, in order."""
    return tuple(_parameters(row).signature.parameters)


def takes_any_number(row: Function, name: str) -> bool:
    """Whether a parameter takes any number of arguments."""
    return _parameters(row).variadic == name


def bind(row: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Bind a call with NumPy's own signature; options at "no value" are left out.

    Raises
    ------
    TypeError
        NumPy would not take the arguments.
    UnsupportedError
        An option is given that is not carried.
    """
    parameters = _parameters(row)
    try:
        bound = parameters.bound(args, kwargs)
    except TypeError as e:
        msg = f"{_name(row)}() {e}"
        raise TypeError(msg) from None
    known = parameters.signature.parameters
    given: dict[str, Any] = {}
    for key, value in bound.items():
        if known[key].kind is inspect.Parameter.VAR_KEYWORD:
            given.update(value)
        elif value is not np._NoValue:
            given[key] = value
    for key in row.omits:
        default = known[key].default if key in known else None
        if key in given and given.pop(key) is not default:
            msg = f"{_name(row)}() is not carried with {key}=; leave it out"
            raise UnsupportedError(msg)
    if "order" in given and "order" in known and known["order"].default in ORDERS:
        check_order(given["order"])
    check_device(given.get("device"))
    return given


def _name(row: Function) -> str:
    return getattr(row.numpy, "__name__", str(row.numpy))


def call_row(row: Function, given: dict[str, Any]) -> Any:
    """Call an implementation by keyword; its variadic parameter gets NumPy's."""
    return _call(row.implementation, _own_parameters(row.implementation), given)


def call_numpy(row: Function, given: dict[str, Any], **options: Any) -> Any:
    """Call the NumPy function itself with arguments that `bind` gave, and more of them."""
    return _call(row.numpy, _parameters(row), {**given, **options})


def _call(function: Callable[..., Any], parameters: _Parameters, given: dict[str, Any]) -> Any:
    positional = [given.pop(n) for n in parameters.only_positional if n in given]
    if parameters.variadic:
        positional.extend(given.pop(parameters.variadic, ()))
    return function(*positional, **given)
