# SPDX-License-Identifier: Apache-2.0
"""What a jitted function was called with, kept without the arrays themselves."""

from __future__ import annotations

import inspect
import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._eager.leaves import ARRAY_LEAF, SCALAR_LEAF, Leaf, leaf_of, map_tree, static_key
from onnxjit.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Signatures"]

#: more signatures than this are not told apart
_LIMIT: Final = 8


class _Kept:
    """An array or NumPy scalar of a call: its dtype and shape."""

    __slots__ = ("dtype", "shape")

    def __init__(self, leaf: Leaf) -> None:
        self.dtype: Final[np.dtype[Any]] = leaf.key[1]
        self.shape: Final = np.shape(leaf.value) if leaf.kind == ARRAY_LEAF else None

    def example(self) -> Any:
        """Return an array or scalar like it; its memory is never touched."""
        if self.shape is None:
            return self.dtype.type(0)
        return np.empty(self.shape, self.dtype)


class Signatures:
    """The signatures that calls of one function were traced for."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Any, tuple[Any, Any]] = {}

    def add(self, leaves: list[Leaf], args: Any, kwargs: Mapping[str, Any]) -> None:
        """Keep the signature of a call."""
        key = tuple(x.key for x in leaves if x.kind in (ARRAY_LEAF, SCALAR_LEAF))
        if len(self._kept) < _LIMIT or key in self._kept:
            kept = [map_tree(x, _keep, top=True) for x in args]
            named = {k: map_tree(v, _keep, top=True) for k, v in kwargs.items()}
            self._kept = {**self._kept, key: (kept, named)}

    def clear(self) -> None:
        """Forget every signature."""
        self._kept = {}

    def last(self, fn: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments like those of the call traced last.

        Raises
        ------
        SpecError
            No call was traced, or several that differ in dtypes or ranks.
        """
        name = getattr(fn, "__name__", "f")
        if not self._kept and _takes_nothing(fn):
            return (), {}
        if len(self._kept) != 1:
            found = (
                "no call has been traced"
                if not self._kept
                else ("calls with several dtypes or ranks have been traced")
            )
            msg = (
                f"{name}.to_onnx() needs to know the arguments, and {found}; give example "
                f"arrays or specifications, as in {name}.to_onnx(float32['N', 3])"
            )
            raise SpecError(msg)
        ((args, kwargs),) = self._kept.values()
        again = [map_tree(x, _restored) for x in args]
        return tuple(again), {k: map_tree(v, _restored) for k, v in kwargs.items()}


def _keep(x: Any, top: bool) -> Any:
    leaf = leaf_of(x, "", top=top)
    if leaf is not None and leaf.kind in (ARRAY_LEAF, SCALAR_LEAF):
        return _Kept(leaf)
    if leaf is None and static_key(x)[0] == "object":
        return _reference(x)
    return x


def _reference(x: Any) -> Any:
    """Return a weak reference where there can be one."""
    try:
        return weakref.ref(x)
    except TypeError:
        return x


def _restored(x: Any, _top: bool) -> Any:
    if isinstance(x, _Kept):
        return x.example()
    if isinstance(x, weakref.ref):
        found = x()
        if found is None:
            msg = (
                "an object among the arguments of the traced call is gone; give the arguments"
            )
            raise SpecError(msg)
        return found
    return x


def _takes_nothing(fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p for p in parameters if p.default is p.empty and p.kind not in variadic]
    return not needed
