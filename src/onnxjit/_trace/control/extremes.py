# SPDX-License-Identifier: Apache-2.0
"""``max`` and ``min`` by a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .statements import for_, if_
from .truth import compare, ifexp, or_

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["extreme_by"]

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
