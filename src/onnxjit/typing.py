# SPDX-License-Identifier: Apache-2.0
"""Specifications of arrays: ``float32["N", 3]`` is a float32 matrix with three columns."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnxjit.errors import SpecError

__all__ = [
    "ArraySpec", "DTypeSpec", "bool_", "complex64", "complex128", "float16", "float32",
    "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


class ArraySpec:
    """Dtype and sizes of an array argument.

    Attributes
    ----------
    dtype : numpy.dtype
    sizes : tuple of int, str or None
        A fixed size, the name of a size (equal names are equal sizes), or None for any size.
    """

    __slots__ = ("dtype", "sizes")

    def __init__(self, dtype: np.dtype[Any], sizes: tuple[int | str | None, ...]) -> None:
        for n in sizes:
            if not _is_size(n):
                msg = f"a size is an int, a name or None, not {n!r}"
                raise SpecError(msg)
        self.dtype: Final = dtype
        self.sizes: Final = sizes

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(repr, self.sizes))}]"


def _is_size(n: object) -> bool:
    return n is None or (isinstance(n, str) and n != "") or (type(n) is int and n >= 0)


class DTypeSpec(ArraySpec):
    """A dtype: on its own a scalar argument, with a subscript an array."""

    __slots__ = ()

    def __init__(self, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype, ())

    def __getitem__(self, sizes: Any) -> ArraySpec:
        sizes = sizes if isinstance(sizes, tuple) else (sizes,)
        return ArraySpec(self.dtype, sizes)

    def __repr__(self) -> str:
        return self.dtype.name


bool_ = DTypeSpec(np.dtype(np.bool_))
int8 = DTypeSpec(np.dtype(np.int8))
int16 = DTypeSpec(np.dtype(np.int16))
int32 = DTypeSpec(np.dtype(np.int32))
int64 = DTypeSpec(np.dtype(np.int64))
uint8 = DTypeSpec(np.dtype(np.uint8))
uint16 = DTypeSpec(np.dtype(np.uint16))
uint32 = DTypeSpec(np.dtype(np.uint32))
uint64 = DTypeSpec(np.dtype(np.uint64))
float16 = DTypeSpec(np.dtype(np.float16))
float32 = DTypeSpec(np.dtype(np.float32))
float64 = DTypeSpec(np.dtype(np.float64))
complex64 = DTypeSpec(np.dtype(np.complex64))
complex128 = DTypeSpec(np.dtype(np.complex128))
