# SPDX-License-Identifier: Apache-2.0
"""An object that data chooses, of two that no array holds: text, None, other structures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from onnxjit.errors import DataDependentError

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["Either"]


class Either:
    """One of two objects; it can be returned, and nothing else.

    Attributes
    ----------
    pred : () bool
        Chooses the first.
    first, second : object
    source : Source or None
        Where it was chosen.
    """

    __slots__ = ("first", "pred", "second", "source")

    def __init__(self, pred: Value, first: Any, second: Any, source: Any) -> None:
        self.pred: Final = pred
        self.first: Final = first
        self.second: Final = second
        self.source: Final = source

    def _refuse(self, *_: Any) -> NoReturn:
        msg = (
            f"data chooses at {self.source} between {self.first!r:.60} and "
            f"{self.second!r:.60}, which only a run knows: return it as it is, or give both "
            "the same structure"
        )
        raise DataDependentError(msg)

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
