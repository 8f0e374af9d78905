# SPDX-License-Identifier: Apache-2.0
"""Views: how a piece of an array is read, and how a write to it goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

__all__ = ["View"]


class View(Protocol):
    """A NumPy view of a base array.

    Attributes
    ----------
    writable : bool
        Whether NumPy allows writing through it.
    """

    writable: bool

    def apply(self, base: Value) -> Value:
        """Return the viewed value."""

    def write(self, base: Value, new: Value) -> Value:
        """Return `base` with the viewed part replaced by `new` (same shape and dtype)."""

    def strides(
        self, shape: tuple[DimLike, ...], strides: tuple[DimLike, ...]
    ) -> tuple[DimLike, ...] | None:
        """Return element strides of the view of an array laid out so; None: NumPy copies."""

    def shown(self, shape: tuple[DimLike, ...]) -> tuple[DimLike, ...]:
        """Return the shape of the view of an array of `shape`."""

    def ranks(self, ranks: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the ranks of the axes: larger further out in memory, 0 without a step.

        None where they do not follow from those of the base.
        """
