# SPDX-License-Identifier: Apache-2.0
"""What the installed onnx knows: opsets and their IR versions."""

from __future__ import annotations

import onnx
from onnx import defs, helper  # noqa: TID251  its table of versions

__all__ = ["ir_version", "newest_ir", "newest_opset"]


def newest_opset() -> int:
    """Return the newest opset of the standard domain that is released in this onnx."""
    released = [v for d, v in helper.OP_SET_ID_VERSION_MAP if d in {"", "ai.onnx"}]
    return min(defs.onnx_opset_version(), max(released))


def ir_version(opset: int) -> int:
    """Return the IR version that came with an opset."""
    return int(helper.OP_SET_ID_VERSION_MAP["ai.onnx", opset])


def newest_ir() -> int:
    """Return the newest IR version of this onnx."""
    return int(onnx.IR_VERSION)
