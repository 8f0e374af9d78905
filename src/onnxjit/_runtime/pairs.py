# SPDX-License-Identifier: Apache-2.0
"""Complex arrays as models have them: arrays of parts with one axis more, of length 2.

Nothing is copied either way; the trailing axis is a look at the same memory.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnxjit._core.dtypes import PART

__all__ = ["PARTS", "WHOLES", "from_pairs", "to_pairs"]

Array = np.ndarray[Any, Any]

#: dtype of the parts by complex dtype, and the other way round
PARTS: Final = {whole.numpy: part.numpy for whole, part in PART.items()}
WHOLES: Final = {part: whole for whole, part in PARTS.items()}


def to_pairs(z: Array) -> Array:
    """Return the parts of an (...) complex array in native byte order as an (..., 2) array."""
    return z[..., None].view(PARTS[z.dtype])


def from_pairs(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return the (...) complex array of C-contiguous (..., 2) parts."""
    whole: Array = x.view(dtype)[..., 0]
    return whole
