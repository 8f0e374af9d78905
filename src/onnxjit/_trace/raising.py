# SPDX-License-Identifier: Apache-2.0
"""What is known of exceptions of the user's code while it is traced."""

from __future__ import annotations

from onnxjit.errors import OnnxJitError

from .convert import arrays_in, is_traced

__all__ = ["AlwaysRaises", "is_plain"]


class AlwaysRaises(OnnxJitError):  # noqa: N818  says what the code does
    """Every path of the code that is being traced raises; only Python can say what."""


def is_plain(error: Exception) -> bool:
    """Whether an exception is made of what is known while tracing."""
    args = getattr(error, "args", ())
    traced = any(map(is_traced, arrays_in(args)))
    return not traced and not any("<traced " in str(x) for x in args)
