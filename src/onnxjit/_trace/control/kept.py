# SPDX-License-Identifier: Apache-2.0
"""Results of comprehensions that a test of data keeps or leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit.errors import DataDependentError

from .truth import decide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._core.program import Value

__all__ = ["SKIPPED", "Lazy", "Maybe", "kept", "sure"]

#: what stands for a result that is left out
SKIPPED: Final = object()


class Maybe:
    """A result that is left out where a test of data is false."""

    __slots__ = ("make", "pred")

    def __init__(self, pred: Value, make: Callable[[], Any]) -> None:
        self.pred: Final = pred
        self.make: Final = make


class Lazy:
    """A generator expression over elements of known number.

    Attributes
    ----------
    raw : iterator
        Its results, some of them `Maybe`.
    add : callable
        ``add(found, result)`` adds one to a list.
    """

    __slots__ = ("add", "raw")

    def __init__(self, raw: Iterator[Any], add: Callable[[Any, Any], None]) -> None:
        self.raw = raw
        self.add: Final = add

    def __iter__(self) -> Lazy:
        return self

    def __next__(self) -> Any:
        return sure(next(self.raw))


def kept(test: Any, make: Callable[[], Any]) -> Any:
    """Return the result of an element for which a test holds."""
    found = decide(test)
    if isinstance(found, bool):
        return make() if found else SKIPPED
    return Maybe(found, make)


def sure(result: Any) -> Any:
    """Return a result, which has to be there or not for all data."""
    if isinstance(result, Maybe):
        msg = (
            "a test of data chooses the elements of a set, dict or generator, which a graph "
            "does not have; use a list comprehension"
        )
        raise DataDependentError(msg)
    return result
