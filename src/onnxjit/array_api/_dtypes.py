# SPDX-License-Identifier: Apache-2.0
"""Constants, dtypes, and what the standard asks about dtypes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ._call import arrays, check_device, dtype_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from onnxjit._trace.array import Array

__all__ = [
    "astype", "bool", "can_cast", "complex64", "complex128", "e", "finfo", "float32",
    "float64", "iinfo", "inf", "int8", "int16", "int32", "int64", "isdtype", "nan", "newaxis",
    "pi", "result_type", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

e: Final = math.e
inf: Final = math.inf
nan: Final = math.nan
pi: Final = math.pi
newaxis: Final = None

bool: Final = np.dtype(np.bool_)
int8: Final = np.dtype(np.int8)
int16: Final = np.dtype(np.int16)
int32: Final = np.dtype(np.int32)
int64: Final = np.dtype(np.int64)
uint8: Final = np.dtype(np.uint8)
uint16: Final = np.dtype(np.uint16)
uint32: Final = np.dtype(np.uint32)
uint64: Final = np.dtype(np.uint64)
float32: Final = np.dtype(np.float32)
float64: Final = np.dtype(np.float64)
complex64: Final = np.dtype(np.complex64)
complex128: Final = np.dtype(np.complex128)


class FInfo(NamedTuple):
    """Limits of a floating-point dtype, as Python numbers.

    Attributes
    ----------
    bits : int
        Bits of a real number.
    eps : float
        From 1.0 to the next larger number.
    max, min : float
        Largest and smallest number.
    smallest_normal : float
        Smallest positive number of full precision.
    dtype : numpy.dtype
        The real dtype.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


class IInfo(NamedTuple):
    """Limits of an integer dtype, as Python numbers.

    Attributes
    ----------
    bits : int
        Bits of a number.
    max, min : int
        Largest and smallest number.
    dtype : numpy.dtype
        The dtype.
    """

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FInfo:
    """Return the limits of a floating-point dtype, real or complex, or of an array's.

    Parameters
    ----------
    type : dtype or array

    Returns
    -------
    FInfo

    Raises
    ------
    ValueError
        It is no floating-point dtype.

    Notes
    -----
    NumPy's has the same numbers as NumPy scalars.
    """
    found = np.finfo(dtype_of(type))
    return FInfo(
        int(found.bits), float(found.eps), float(found.max), float(found.min),
        float(found.smallest_normal), np.dtype(found.dtype),
    )  # fmt: skip


def iinfo(type: Any, /) -> IInfo:
    """Return the limits of an integer dtype, or of an array's.

    Parameters
    ----------
    type : dtype or array

    Returns
    -------
    IInfo

    Raises
    ------
    ValueError
        It is no integer dtype.
    """
    found = np.iinfo(dtype_of(type))
    return IInfo(found.bits, found.max, found.min, np.dtype(found.dtype))


def isdtype(dtype: DTypeLike, kind: Any) -> Any:
    """Whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype
    kind : dtype, str or tuple of those
        A dtype, or ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
        ``"real floating"``, ``"complex floating"`` or ``"numeric"``.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        The name of a kind is none of these.
    """
    return np.isdtype(np.dtype(dtype), kind)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that arrays, dtypes and Python numbers promote to.

    Parameters
    ----------
    *arrays_and_dtypes : array, dtype or number
        One of them at least is an array or a dtype.

    Returns
    -------
    dtype
    """
    found: np.dtype[Any] = np.result_type(*map(dtype_of, arrays_and_dtypes))
    return found


def can_cast(from_: Any, to: DTypeLike, /) -> Any:
    """Whether one dtype, or the dtype of an array, casts to another without loss.

    Parameters
    ----------
    from_ : dtype or array
    to : dtype

    Returns
    -------
    bool
    """
    return np.can_cast(dtype_of(from_), to)


def astype(x: Array, dtype: DTypeLike, /, *, copy: Any = True, device: Any = None) -> Any:
    """Return an array in another dtype.

    Parameters
    ----------
    x : array
    dtype : dtype
    copy : bool
        False returns `x` itself where it has this dtype.
    device : "cpu" or None

    Returns
    -------
    array of the same shape

    Raises
    ------
    TypeError
        `x` is complex and `dtype` real.

    Notes
    -----
    Cast.
    """
    check_device(device)
    to = np.dtype(dtype)
    if x.dtype.kind == "c" and to.kind not in "cb":
        msg = f"{x.dtype} is not cast to {to}: take real(x) or imag(x) first"
        raise TypeError(msg)
    return arrays(x.astype(to, copy=copy))
