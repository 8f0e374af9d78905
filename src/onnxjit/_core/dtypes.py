# SPDX-License-Identifier: Apache-2.0
"""Element types of a program: small interned records, each with its NumPy dtype."""

from __future__ import annotations

from typing import Final

import numpy as np

from onnxjit.errors import UnsupportedError

__all__ = ["PART", "WHOLE", "DType", "from_numpy", "is_carried"]


class DType:
    """An element type.

    Attributes
    ----------
    name : str
        NumPy's name, e.g. ``"float32"``.
    kind : str
        NumPy's kind letter: ``b i u f c U``.
    bits : int
        Width of one element; 0 for strings.
    numpy : numpy.dtype
        The dtype that holds it in memory.
    """

    __slots__ = ("bits", "kind", "name", "numpy")

    def __init__(self, name: str, dtype: np.dtype[np.generic]) -> None:
        self.name: Final = name
        self.numpy: Final = dtype
        self.kind: Final = dtype.kind
        self.bits: Final = dtype.itemsize * 8

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[np.dtype[np.generic]]]:
        return from_numpy, (self.numpy,)


BOOL = DType("bool", np.dtype(np.bool_))
INT8 = DType("int8", np.dtype(np.int8))
INT16 = DType("int16", np.dtype(np.int16))
INT32 = DType("int32", np.dtype(np.int32))
INT64 = DType("int64", np.dtype(np.int64))
UINT8 = DType("uint8", np.dtype(np.uint8))
UINT16 = DType("uint16", np.dtype(np.uint16))
UINT32 = DType("uint32", np.dtype(np.uint32))
UINT64 = DType("uint64", np.dtype(np.uint64))
FLOAT16 = DType("float16", np.dtype(np.float16))
FLOAT32 = DType("float32", np.dtype(np.float32))
FLOAT64 = DType("float64", np.dtype(np.float64))
COMPLEX64 = DType("complex64", np.dtype(np.complex64))
COMPLEX128 = DType("complex128", np.dtype(np.complex128))
STRING = DType("str", np.dtype(np.str_))

SIGNED: Final = (INT8, INT16, INT32, INT64)
UNSIGNED: Final = (UINT8, UINT16, UINT32, UINT64)
INTEGERS: Final = SIGNED + UNSIGNED
FLOATS: Final = (FLOAT16, FLOAT32, FLOAT64)
REAL: Final = (BOOL, *INTEGERS, *FLOATS)
COMPLEX: Final = (COMPLEX64, COMPLEX128)
ALL: Final = (*REAL, *COMPLEX, STRING)
#: what the parts of complex numbers are, and what numbers with such parts are
PART: Final = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
WHOLE: Final = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128}

_BY_NUMPY: Final = {t.numpy: t for t in ALL}
_BY_KIND_SIZE: Final = {(t.kind, t.numpy.itemsize): t for t in ALL}


def is_carried(dtype: np.dtype[np.generic]) -> bool:
    """Whether arrays of a NumPy dtype can be held in a program."""
    return (
        dtype in _BY_NUMPY
        or (dtype.kind, dtype.itemsize) in _BY_KIND_SIZE
        or dtype.kind == "U"
    )


def from_numpy(dtype: np.dtype[np.generic]) -> DType:
    """Return the element type of a NumPy dtype, byte order and C name aside.

    Raises
    ------
    UnsupportedError
        The dtype is not carried (object, void, bytes, datetime, long double).
    """
    found = _BY_NUMPY.get(dtype)
    if found is None:
        if dtype.kind == "U":
            return STRING
        found = _BY_KIND_SIZE.get((dtype.kind, dtype.itemsize))
    if found is None:
        msg = f"arrays of dtype {dtype} are not carried: use a bool, number or string dtype"
        raise UnsupportedError(msg)
    return found
