# SPDX-License-Identifier: Apache-2.0
"""Results of comprehensions that a test of data keeps or leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit.errors import DataDependentError

from .truth import decide

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value

__all__ = ["SKIPPED", "Maybe", "kept", "sure"]

#: what stands for a result that is left out
SKIPPED: Final = object()


class Maybe:
    """A result that is left out where a test of data is false."""

    __slots__ = ("make", "pred")

    def __init__(self, pred: Value, make: Callable[[], Any]) -> None:
        self.pred: Final = pred
        self.make: Final = make


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
