# SPDX-License-Identifier: Apache-2.0
"""What the installed onnxruntime accepts, and its undocumented inner session."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ERRORS", "LOAD_ERRORS", "VERSION", "accepts", "open_session"]

VERSION: Final[str] = onnxruntime.__version__

#: classes of the extension module, which have no common base; older wheels lack some
ERRORS: Final[tuple[type[BaseException], ...]] = tuple(
    getattr(state, name)
    for name in (
        "EPFail", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoModel",
        "NoSuchFile", "NotImplemented", "RuntimeException",
    )
    if hasattr(state, name)
)  # fmt: skip

#: session creation also raises these for a model it cannot read
LOAD_ERRORS: Final[tuple[type[BaseException], ...]] = (*ERRORS, RuntimeError, ValueError)


@functools.cache
def share_threads() -> bool:
    """Give the process one pool of threads that sessions can share; whether it has one.

    A session with threads of its own starts one for each core but one: hundreds of graphs would
    be hundreds of threads, each spinning for a while after each run.
    """
    make = getattr(state, "set_global_thread_pool_sizes", None)
    if make is None or not hasattr(state.SessionOptions, "use_per_session_threads"):
        return False
    try:
        make(0, 0)
    except ERRORS:  # the process has an environment with other settings already
        return False
    return True


def open_session(options: Any, model: bytes, disabled: Sequence[str]) -> Any:
    """Return an initialised C-level CPU session, which is cheaper than the Python class.

    Falls back to the object inside the Python class where the wheel has other internals.
    """
    make = getattr(state, "InferenceSession", None)
    if make is not None and hasattr(make, "initialize_session"):
        session = make(options, model, False, False)
        session.initialize_session([], [], set(disabled))
        return session
    outer = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"], disabled_optimizers=list(disabled)
    )
    return outer._sess


def accepts(model: bytes) -> bool:
    """Whether a model loads."""
    options = state.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        open_session(options, model, ())
    except LOAD_ERRORS:
        return False
    return True
