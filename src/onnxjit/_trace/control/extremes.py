# SPDX-License-Identifier: Apache-2.0
"""``max``, ``min`` and ``sort`` by a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import Dim
from onnxjit._trace.doors import DOORS

from .ordered import place_of_extreme, sort
from .statements import comp, for_, if_
from .steps import steps_of
from .truth import compare, ifexp, or_

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._trace.lists import List

__all__ = ["extreme_by", "sort_list"]

#: what stands for the greatest of no elements
_NOTHING: Final = object()


def extreme_by(
    native: Callable[..., Any], iterable: Any, *, key: Callable[[Any], Any], **default: Any
) -> Any:
    """Return the first element whose key is the greatest, or the least.

    Parameters
    ----------
    native : callable
        `max` or `min`.
    """
    symbol = ">" if native is max else "<"
    steps = steps_of(iterable)
    if steps is not None and isinstance(steps.length, Dim):
        keys = comp("list", steps, lambda e: [key(e)])
        place = place_of_extreme(keys, symbol)
        if place is not None:
            none = compare("==", steps.length, 0)
            return ifexp(none, lambda: native((), **default), lambda: steps.at(place))
    names = ("best", "best_key")
    best: Any = _NOTHING
    best_key: Any = None

    def body(e: Any) -> None:
        found = key(e)

        def take() -> None:
            nonlocal best, best_key
            best, best_key = e, found

        first = compare("is", best, _NOTHING)
        if_(or_(first, lambda: compare(symbol, found, best_key)), take, _keep, names, names)

    for_(iterable, body, None, names, names, names, ())
    return ifexp(compare("is", best, _NOTHING), lambda: native((), **default), lambda: best)


def _keep() -> None:
    pass


def sort_list(owner: List, key: Callable[[Any], Any] | None, *, reverse: bool) -> None:
    """Do what ``owner.sort(key=key, reverse=reverse)`` does."""
    if key is None or (not list.__len__(owner) and owner.rows is None):
        keys = owner
    else:
        keys = comp("list", owner, lambda e: [key(e)])
    sort(owner, keys, reverse=reverse)


DOORS.sort_list = sort_list
