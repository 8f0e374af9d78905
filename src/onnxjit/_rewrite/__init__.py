# SPDX-License-Identifier: Apache-2.0
"""Rewritten copies of user functions, whose expressions go through the hooks of a trace.

Importing the package loads none of it: eager work, and programs that only import, need no
rewriting.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from onnxjit._rewrite.hooks import Hooks, PlainHooks
    from onnxjit._rewrite.overlay import overlay_function, unchecked_stores
    from onnxjit._rewrite.path import GuardNames, Path, guard_source, path_source, resolve
    from onnxjit._rewrite.rewritten import is_rewritten, rewrite_function
    from onnxjit._rewrite.session import (
        Scope,
        Session,
        active,
        current_scope,
        current_session,
    )

__all__ = [
    "GuardNames",
    "Hooks",
    "Path",
    "PlainHooks",
    "Scope",
    "Session",
    "active",
    "current_scope",
    "current_session",
    "guard_source",
    "is_rewritten",
    "overlay_function",
    "path_source",
    "resolve",
    "rewrite_function",
    "unchecked_stores",
]

#: module -> what it has
_HOMES: Final = {
    "hooks": "Hooks PlainHooks",
    "overlay": "overlay_function unchecked_stores",
    "path": "GuardNames Path guard_source path_source resolve",
    "rewritten": "is_rewritten rewrite_function",
    "session": "Scope Session active current_scope current_session",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    for module, names in _HOMES.items():
        if name in names.split():
            found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
