# SPDX-License-Identifier: Apache-2.0
"""Text in which something stands for a value that only a run of the model knows."""

from __future__ import annotations

from typing import Any, NoReturn

from onnxjit.errors import DataDependentError

from .trace import current_tracer

__all__ = ["TracedText", "marked_text"]

_MARK = "<traced "


def marked_text(text: str) -> str:
    """Return text as it is, or as one that is for printing only."""
    return TracedText(text) if type(text) is str and _MARK in text else text


class TracedText(str):
    """Text that may be printed, logged and raised; what asks for its content is refused."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        tracer = current_tracer()
        where = ""
        if tracer is not None:
            tracer.mark_line()
            where = f" at {tracer.source}"
        msg = (
            f"the content of the text {str(self)!r} is needed{where}, which is made of values "
            "that only a run knows; make it of sizes or constants, or let the call run eagerly"
        )
        raise DataDependentError(msg)

    __hash__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __len__ = __iter__ = __contains__ = __getitem__ = _refuse

    def __add__(self, other: Any) -> Any:
        return TracedText(str(self) + other) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return TracedText(other + str(self)) if isinstance(other, str) else NotImplemented
