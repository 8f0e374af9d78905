# SPDX-License-Identifier: Apache-2.0
"""What the installed onnxruntime accepts, and its undocumented inner session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ERRORS", "LOAD_ERRORS", "VERSION", "accepts", "add_weights", "open_session"]

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


def add_weights(options: Any, weights: Mapping[str, Any]) -> list[Any]:
    """Give a session the constants that its model says are external.

    Returns what has to live as long as the session does.
    """
    if not weights:
        return []
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(w) for w in weights.values()]
    options.add_external_initializers(list(weights), values)
    return [*values, *weights.values()]


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
