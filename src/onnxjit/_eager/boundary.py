# SPDX-License-Identifier: Apache-2.0
"""Between NumPy's arrays outside and eager arrays inside."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._trace.array import ARRAY, SCALAR, Array
from onnxjit.errors import UnsupportedError

from .leaves import children, field_names, is_date, leaf_of, map_tree, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Loan", "as_eager", "eager_arrays", "from_eager", "numpy_result"]

#: containers whose elements have no names
_BAGS: Final = frozenset({set, frozenset, deque})
_MAPPINGS: Final = frozenset({Counter, OrderedDict, defaultdict})
#: what NumPy is left to compute: dates and durations
_PLAIN: Final = (np.ndarray, np.datetime64, np.timedelta64)


def _eager_leaf(x: Any) -> Any:
    if (
        isinstance(x, (np.ndarray, np.generic))
        and not (is_date(x) and type(x) in _PLAIN)
        and leaf_of(x, "argument", top=False) is not None
    ):
        return Array.eager(np.asarray(x), ARRAY if isinstance(x, np.ndarray) else SCALAR)
    return x


def as_eager(x: Any, *, top: bool = False) -> Any:
    """Replace ndarrays and NumPy scalars in a tree by eager arrays."""
    return map_tree(x, lambda item, _top: _eager_leaf(item), top=top)


def eager_arrays(x: Any) -> list[Array]:
    """Return the eager arrays in a tree; scalars are none."""
    found: list[Array] = []

    def leaf(item: Any, _top: bool) -> None:
        if isinstance(item, Array) and item._kind == ARRAY:
            found.append(item)

    map_tree(x, leaf)
    return found


def numpy_result(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Let NumPy itself do a call, and return its result as eager arrays.

    An argument that it returns is the eager array that was given; arrays of objects stay as
    they are.
    """
    result = call(*from_eager(args), **from_eager(kwargs))
    given = {id(x._nd): x for x in eager_arrays((args, kwargs))}

    def leaf(item: Any, _top: bool) -> Any:
        try:
            return given[id(item)] if id(item) in given else _eager_leaf(item)
        except UnsupportedError:
            return item

    return map_tree(result, leaf)


def from_eager(x: Any) -> Any:
    """Replace eager arrays in a tree by ndarrays and NumPy scalars."""
    return Loan().restored(x)


class Loan:
    """Arguments of an eager run.

    Containers are lent as copies that hold eager arrays; `settle` brings back what has changed
    in them.
    """

    __slots__ = ("_back", "_containers")

    def __init__(self) -> None:
        self._back: Final[dict[int, tuple[Any, Any]]] = {}
        self._containers: Final[list[tuple[Any, Any]]] = []

    def lend(self, x: Any) -> Any:
        """Return an argument as eager code gets it."""
        parts = None if isinstance(x, np.ndarray) else children(x)
        if parts is None:
            new = _eager_leaf(x)
        else:
            new = with_parts(x, [self.lend(item) for _, item in parts])
            if not isinstance(x, tuple):
                self._containers.append((x, new))
        if new is not x:
            self._back[id(new)] = (new, x)
        return new

    def restored(self, x: Any) -> Any:
        """Return a result with NumPy's arrays; what was lent is the original object again."""
        found = self._back.get(id(x))
        if found is not None:
            return found[1]
        if isinstance(x, Array) and x._nd is not None:
            return x._nd if x._kind == ARRAY else x._nd[()]
        parts = None if isinstance(x, np.ndarray) else children(x)
        if parts is None:
            if type(x) in _MAPPINGS:
                return self._with_keys(x)
            return self._restored_bag(x) if type(x) in _BAGS else x
        items = [self.restored(item) for _, item in parts]
        same = all(new is old for new, (_, old) in zip(items, parts, strict=True))
        made = x if same else with_parts(x, items)
        return self._with_keys(made) if isinstance(x, dict) else made

    def _restored_bag(self, x: Any) -> Any:
        """Return a set or deque of restored elements."""
        items = [self.restored(item) for item in x]
        if all(new is old for new, old in zip(items, x, strict=True)):
            return x
        return deque(items, x.maxlen) if type(x) is deque else type(x)(items)

    def _with_keys(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """Return a mapping with restored keys and values."""
        before = [part for item in x.items() for part in item]
        after = [self.restored(part) for part in before]
        if all(new is old for new, old in zip(after, before, strict=True)):
            return x
        made = copy.copy(x)
        made.clear()
        for key, value in zip(after[::2], after[1::2], strict=True):
            made[key] = value  # a Counter's update would count
        return made

    def settle(self) -> None:
        """Bring changes of the lent containers back to the originals."""
        for original, lent in self._containers:
            if isinstance(original, list):
                items = [self.restored(item) for item in lent]
                if not _alike(items, original):
                    original[:] = items
            elif isinstance(original, dict):
                values = {k: self.restored(v) for k, v in lent.items()}
                same_keys = list(values) == list(original)
                if not same_keys or not _alike(values.values(), original.values()):
                    original.clear()
                    original.update(values)
            else:
                self._settle_fields(original, lent)

    def _settle_fields(self, original: Any, lent: Any) -> None:
        names = field_names(original) + list(vars(lent) if hasattr(lent, "__dict__") else ())
        for name in dict.fromkeys(names):
            value = self.restored(getattr(lent, name))
            if getattr(original, name, self) is not value:
                object.__setattr__(original, name, value)


def _alike(items: Any, others: Any) -> bool:
    return len(items) == len(others) and all(
        a is b for a, b in zip(items, others, strict=True)
    )
