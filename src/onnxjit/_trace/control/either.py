# SPDX-License-Identifier: Apache-2.0
"""What a name holds that depends on data in a way no array holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from onnxjit.errors import DataDependentError

if TYPE_CHECKING:
    from onnxjit._trace.array import Array

__all__ = ["Either", "Open", "Unsure"]


class Open:
    """Base of objects that are not yet one of several: nothing can be done with them."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise DataDependentError(self._reason())

    def _reason(self) -> str:
        raise NotImplementedError

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    __bool__ = __iter__ = __len__ = __getitem__ = __call__ = __index__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __float__ = __int__ = _refuse
    __array__ = __str__ = _refuse

    def __eq__(self, other: object) -> NoReturn:
        self._refuse()

    __hash__ = None  # type: ignore[assignment]


class Either(Open):
    """One of two objects that no array holds: text, None, other structures.

    It can be returned, chosen from again, and compared by identity.

    Attributes
    ----------
    pred : Array, () bool
        Chooses the first.
    first, second : object
    source : Source or None
        Where it was chosen.
    """

    __slots__ = ("first", "pred", "second", "source")

    def __init__(self, pred: Array, first: Any, second: Any, source: Any) -> None:
        self.pred: Final = pred
        self.first: Final = first
        self.second: Final = second
        self.source: Final = source

    def _reason(self) -> str:
        return (
            f"data chooses at {self.source} between {self.first!r:.60} and "
            f"{self.second!r:.60}, which only a run knows: return it as it is, or give both "
            "one structure and number of dimensions"
        )


class Unsure(Open):
    """The value of a name that has one only on some paths.

    Attributes
    ----------
    defined : Array, () bool, or bool
        Whether it has one.
    content : object
        The value; a stand-in where it has none.
    """

    __slots__ = ("content", "defined")

    def __init__(self, defined: Any, content: Any) -> None:
        self.defined: Final = defined
        self.content: Final = content

    def _reason(self) -> str:
        return "a variable is used that has a value only on some paths of the function"
