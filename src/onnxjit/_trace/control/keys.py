# SPDX-License-Identifier: Apache-2.0
"""Dicts that have a key on some paths only, as long as a branch or loop is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._trace.entering import running_tracer
from onnxjit._trace.items import python_number
from onnxjit.errors import DataDependentError

from .either import Unsure
from .truth import decide, ifexp
from .unsure import bound

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["has_unsure", "holds", "length", "loaded", "method_of", "refuse_unsure"]


def has_unsure(x: Any) -> bool:
    """Whether a dict has a key on some paths only."""
    return type(x) is dict and Unsure in map(type, x.values())


def holds(x: dict[Any, Any], key: Any) -> Any:
    """Return ``key in x``."""
    found = x.get(key)
    return found.defined if isinstance(found, Unsure) else key in x


def length(x: dict[Any, Any]) -> Any:
    """Return ``len(x)``."""
    unsure = [v.defined for v in x.values() if isinstance(v, Unsure)]
    found: Any = len(x) - len(unsure)
    for test in unsure:
        one: Any = np.where(test, 1, 0)
        found = found + python_number(one, "i")
    return found


def method_of(x: dict[Any, Any], name: str) -> Callable[..., Any]:
    """Return what is called in the place of a method."""
    methods: dict[str, Callable[..., Any]] = {"get": _get, "setdefault": _setdefault}
    if name in methods:
        return lambda *args: methods[name](x, *args)
    if name in _WHOLE:
        refuse_unsure(x)
    method: Callable[..., Any] = getattr(x, name)
    return method


#: methods for which all keys count, or those that are there
_WHOLE = frozenset(
    {"values", "keys", "items", "copy", "pop", "popitem", "__len__", "__iter__"}
)


def _get(x: dict[Any, Any], key: Any, default: Any = None) -> Any:
    found = x.get(key, default)
    if not isinstance(found, Unsure):
        return found
    return ifexp(found.defined, lambda: found.content, lambda: default)


def _setdefault(x: dict[Any, Any], key: Any, default: Any = None) -> Any:
    found = x.setdefault(key, default)
    if isinstance(found, Unsure):
        found = x[key] = _get(x, key, default)
    return found


def refuse_unsure(x: Any) -> None:
    """Refuse what goes through all keys of a dict that has some on some paths only."""
    if not has_unsure(x):
        return
    for key, value in x.items():
        test = decide(value.defined) if isinstance(value, Unsure) else True
        if test is not True:
            msg = (
                f"which keys a dict has, data decides: {key!r:.40} is there on some paths "
                f"only at {running_tracer().source}; store it before the branch or loop"
            )
            error = DataDependentError(msg)
            running_tracer().refuse(error)
            raise error


def loaded(x: Any) -> Any:
    """Return an item or attribute; where it is not there, Python makes the call."""
    return bound(x) if type(x) is Unsure else x
