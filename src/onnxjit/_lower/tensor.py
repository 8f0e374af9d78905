# SPDX-License-Identifier: Apache-2.0
"""Element types, tensors and attributes as ONNX protobuf."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import AttributeProto, TensorProto, TypeProto

from onnxjit._core.dtypes import ALL, PART, DType, from_numpy
from onnxjit.errors import LoweringError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ELEM", "array_type", "attribute", "elem_type", "tensor"]

_NAMES: Final = {
    "bool": TensorProto.BOOL,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "str": TensorProto.STRING,
}
ELEM: Final = {t: int(_NAMES[t.name]) for t in ALL if t.name in _NAMES}

A: Final = AttributeProto


def elem_type(dtype: DType) -> int:
    """Return ONNX's number of an element type."""
    found = ELEM.get(dtype)
    if found is None:
        msg = f"ONNX models cannot carry {dtype.name} arrays; keep that part outside the graph"
        raise LoweringError(msg)
    return found


@lru_cache(256)
def array_type(dtype: DType, sizes: tuple[int | str | None, ...] | None) -> TypeProto:
    """Return the type of arrays; a size is a number, a name or not known, None an open rank.

    Complex ones are arrays of their parts with one axis more.  Nobody may change it: it is
    kept.
    """
    if dtype in PART:
        return array_type(PART[dtype], None if sizes is None else (*sizes, 2))
    made = TypeProto()
    made.tensor_type.elem_type = elem_type(dtype)
    if sizes is not None:
        shape = made.tensor_type.shape
        shape.SetInParent()
        for size in sizes:
            n = shape.dim.add()
            if isinstance(size, str):
                n.dim_param = size
            elif size is not None:
                n.dim_value = size
    return made


def tensor(
    array: np.ndarray[Any, Any], name: str = "", dtype: DType | None = None
) -> TensorProto:
    """Return an array as a TensorProto; a complex one as its parts with one axis more."""
    dtype = dtype or from_numpy(array.dtype)
    if dtype in PART:
        dtype = PART[dtype]
        array = array[..., None].view(dtype.numpy)
    if dtype.kind == "U":
        data = [str(s).encode() for s in array.ravel()]
        return TensorProto(
            name=name, data_type=elem_type(dtype), dims=array.shape, string_data=data
        )
    return TensorProto(
        name=name, data_type=elem_type(dtype), dims=array.shape, raw_data=array.tobytes()
    )


def _list(name: str, value: Any) -> AttributeProto:
    items = list(value)
    if any(isinstance(v, (str, bytes)) for v in items):
        data = [v.encode() if isinstance(v, str) else v for v in items]
        return A(name=name, type=A.STRINGS, strings=data)
    if any(isinstance(v, (float, np.floating)) for v in items):
        return A(name=name, type=A.FLOATS, floats=[float(v) for v in items])
    return A(name=name, type=A.INTS, ints=[int(v) for v in items])


def _int(name: str, value: Any) -> AttributeProto:
    return A(name=name, type=A.INT, i=int(value))


def _float(name: str, value: Any) -> AttributeProto:
    return A(name=name, type=A.FLOAT, f=float(value))


_WRITERS: Final[Mapping[type, Callable[[str, Any], AttributeProto]]] = {
    int: _int,
    bool: _int,
    float: _float,
    str: lambda n, v: A(name=n, type=A.STRING, s=v.encode()),
    bytes: lambda n, v: A(name=n, type=A.STRING, s=v),
    tuple: _list,
    list: _list,
    DType: lambda n, v: A(name=n, type=A.INT, i=elem_type(v)),
    TensorProto: lambda n, v: A(name=n, type=A.TENSOR, t=v),
    np.ndarray: lambda n, v: A(name=n, type=A.TENSOR, t=tensor(v)),
}


def _other(name: str, value: Any) -> AttributeProto:
    if isinstance(value, np.integer):
        return _int(name, value)
    if isinstance(value, np.floating):
        return _float(name, value)
    msg = f"attribute {name} of {type(value).__name__}"
    raise TypeError(msg)


def attribute(name: str, value: Any) -> AttributeProto:
    """Return an attribute of a Python value.

    A `DType` becomes its ONNX number, an ndarray a tensor.
    """
    return _WRITERS.get(type(value), _other)(name, value)
