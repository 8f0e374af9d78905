# SPDX-License-Identifier: Apache-2.0
"""Rewritten copies of user functions, whose expressions go through the hooks of a trace."""

from onnxjit._rewrite.hooks import Hooks, PlainHooks
from onnxjit._rewrite.overlay import overlay_function, unchecked_stores
from onnxjit._rewrite.path import GuardNames, Path, guard_source, path_source, resolve
from onnxjit._rewrite.rewritten import is_rewritten, rewrite_function
from onnxjit._rewrite.session import Scope, Session, active, current_scope, current_session

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
