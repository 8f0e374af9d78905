# SPDX-License-Identifier: Apache-2.0
"""`warnings.warn` of traced code."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from onnxjit._core.source import is_hidden
from onnxjit._trace.trace import current_tracer

from .nodes import MARK

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["warn_"]


def warn_(
    message: Any, category: Any = None, stacklevel: int = 1, *args: Any, **options: Any
) -> None:
    """Warn at the user's line, but not where only a run knows whether it gets there."""
    tracer = current_tracer()
    if tracer is not None and tracer.block is not tracer.root:
        return
    warnings.warn(message, category, _level(stacklevel), *args, **options)


def _level(wanted: int) -> int:
    """Return the stack level, for the caller, of the user's function so many calls up.

    Branches and bodies of loops are functions too, which belong to the one around them.
    """
    level, count, is_inner = 1, 0, False
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_hidden(code.co_filename):
            count += not is_inner
            if count == wanted:
                break
            is_inner = MARK in code.co_varnames
        level, frame = level + 1, frame.f_back
    return level
