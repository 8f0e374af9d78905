# SPDX-License-Identifier: Apache-2.0
"""Objects whose state C code keeps: no branch or loop of the graph can give it back."""

from __future__ import annotations

import datetime as dt
import decimal
import functools
import re
import struct
import types
from collections import deque
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._core.source import caller
from onnxjit.errors import UnsupportedError

from .array import Array
from .trace import current_tracer

__all__ = ["check_moved"]

#: classes in C whose objects do not change, or whose content is looked at
_KEPT: Final = (
    int, float, complex, str, bytes, type(None), tuple, frozenset, list, dict, set, deque,
    range, slice, type, type(...), np.ndarray, np.generic, np.dtype, np.ufunc, re.Pattern,
    re.Match, dt.date, dt.time, dt.timedelta, dt.tzinfo, decimal.Decimal, struct.Struct,
    functools.partial, property, staticmethod, classmethod, types.ModuleType,
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.CodeType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.MappingProxyType, types.SimpleNamespace, BaseException, Array, Dim, type(np.sum),
)  # fmt: skip
_POINTER: Final = 8
_KNOWN: Final[WeakKeyDictionary[type, bool]] = WeakKeyDictionary()


def check_moved(x: object) -> None:
    """Refuse to change or advance an object in a branch or loop that it is older than.

    Raises
    ------
    UnsupportedError
        Its state is kept by C code: an iterator, a random generator, a file in memory.
    """
    tracer = current_tracer()
    if tracer is None or not tracer.snapshots or not _has_own_state(type(x)):
        return
    if not tracer.holds(x):
        return
    kind = type(x)
    what = "a generator" if kind is types.GeneratorType else f"a {kind.__qualname__}"
    msg = (
        f"{what} is advanced or changed at {caller()} in a branch or loop of the graph, which "
        "cannot keep its state; use it before, and what it gives as an array"
    )
    error = UnsupportedError(msg)
    tracer.refuse(error)
    raise error


def _has_own_state(kind: type) -> bool:
    """Whether objects of a class hold more than attributes, slots and looked-at items."""
    found = _KNOWN.get(kind)
    if found is None:
        kept = issubclass(kind, _KEPT) or kind.__module__.partition(".")[0] == "onnxjit"
        found = _KNOWN[kind] = not kept and any(map(_adds_state, kind.__mro__[:-1]))
    return found


def _adds_state(cls: type) -> bool:
    base = cls.__base__
    own = vars(cls)
    slots = own.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    seen = len(names) + ("__dict__" in own) + ("__weakref__" in own)
    more: Any = cls.__basicsize__ - (base or object).__basicsize__
    return bool(more > seen * _POINTER)
