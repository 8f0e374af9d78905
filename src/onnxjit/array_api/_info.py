# SPDX-License-Identifier: Apache-2.0
"""What the namespace says about itself."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ._call import check_device
from ._dtypes import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = ["Info", "__array_namespace_info__"]

_DTYPES: Final = {
    str(dtype): dtype
    for dtype in (
        bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64,
        complex64, complex128,
    )
}  # fmt: skip


class Info:
    """Answers to the standard's questions about a namespace."""

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Return what arrays can do: boolean indices, shapes made of data, so many axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device of new arrays."""
        return "cpu"

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes that arrays have by default."""
        check_device(device)
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def devices(self) -> Any:
        """Return the devices, as a tuple."""
        return ("cpu",)

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of a kind, or of several, by name; `kind` as in `isdtype`."""
        check_device(device)
        if kind is None:
            return dict(_DTYPES)
        return {name: dtype for name, dtype in _DTYPES.items() if np.isdtype(dtype, kind)}


def __array_namespace_info__() -> Info:  # noqa: N807  the standard's name
    """Return the answers of this namespace."""
    return Info()
