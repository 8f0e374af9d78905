# SPDX-License-Identifier: Apache-2.0
"""Loads of names that have a value only on some paths."""

from __future__ import annotations

from typing import Any

from .either import Unsure
from .truth import decide

__all__ = ["bound"]


def bound(value: Any) -> Any:
    """Return the value of a name; where it has none, Python makes the call, and raises."""
    if not isinstance(value, Unsure):
        return value
    found = decide(value.defined)
    if found is False:
        raise NameError
    if found is not True:
        tracer: Any = found.block.trace
        tracer.fail_if(found, holds=False)
    return value.content
