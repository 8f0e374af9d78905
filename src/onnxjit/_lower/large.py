# SPDX-License-Identifier: Apache-2.0
"""Models above 2 GB, which protobuf does not write in one piece."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import EncodeError  # type: ignore[import-untyped]  # no stubs
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["detach", "is_large"]

_PROTOBUF_LIMIT: Final = 2**31 - 2**20
#: bytes of a weight that is taken out of a large model
_HEAVY: Final = 2**16


def _nbytes(t: TensorProto) -> int:
    return prod(map(int, t.dims)) * tensor_dtype_to_np_dtype(t.data_type).itemsize


def is_large(model: ModelProto) -> bool:
    """Whether a model is too large for one protobuf message."""
    if sum(map(_nbytes, model.graph.initializer)) >= _PROTOBUF_LIMIT:
        return True  # counted here, because protobuf writes all of it to count
    try:
        return bool(model.ByteSize() >= _PROTOBUF_LIMIT)
    except EncodeError:  # newer protobufs do not even count
        return True


def detach(model: ModelProto) -> dict[str, np.ndarray[Any, Any]]:
    """Take the heavy weights out of a model, and return them by name.

    The model then says that they are external; a session has to be given them.
    """
    weights: dict[str, np.ndarray[Any, Any]] = {}
    for t in model.graph.initializer:
        size = _nbytes(t)
        if size < _HEAVY or not t.HasField("raw_data"):
            continue
        dtype = tensor_dtype_to_np_dtype(t.data_type)
        weights[t.name] = np.frombuffer(t.raw_data, dtype).reshape(t.dims)
        t.ClearField("raw_data")
        t.data_location = TensorProto.EXTERNAL
        for key, value in (("location", t.name), ("offset", 0), ("length", size)):
            t.external_data.add(key=key, value=str(value))
    return weights
