# SPDX-License-Identifier: Apache-2.0
"""Sizes written in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxjit._core.bind import bind_one
from onnxjit._core.dims import key

from .structure import RESHAPE, same_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

__all__ = ["with_sizes"]


def with_sizes(x: Value, shape: Sequence[DimLike]) -> Value:
    """Return a value whose sizes are written as those of a shape that is provably the same.

    What is computed from them later is then known to agree with what others compute.
    """
    if tuple(map(key, x.shape)) == tuple(map(key, shape)) or not same_shape(x.shape, shape):
        return x
    return bind_one(RESHAPE, x, shape=tuple(shape))
