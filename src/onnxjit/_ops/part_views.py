# SPDX-License-Identifier: Apache-2.0
"""Views of the parts of complex numbers, and of pairs of numbers as complex ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .complex_parts import imag_part, make_complex, real_part
from .structure import Shape, concat, reshape, squeeze, take_range, unsqueeze

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["PairsView", "PartView", "PartsView"]

Ranks = tuple[int, ...]


class PartView:
    """The real or the imaginary parts of complex numbers.

    Parameters
    ----------
    place : int
        0 for the real ones, 1 for the imaginary ones.
    """

    __slots__ = ("place", "writable")

    def __init__(self, place: int) -> None:
        self.place: Final = place
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the parts."""
        return imag_part(base) if self.place else real_part(base)

    def write(self, base: Value, new: Value) -> Value:
        """Return numbers with the other parts of the base."""
        if self.place:
            return make_complex(real_part(base), new)
        return make_complex(new, imag_part(base))

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides: the elements are half as large."""
        return tuple(2 * s for s in strides)

    def shown(self, shape: Shape) -> Shape:
        """Return the same sizes."""
        return shape

    def ranks(self, ranks: Ranks) -> Ranks:
        """Return the same ranks."""
        return ranks


def _in_pairs(z: Value) -> Value:
    """Return (..., n) complex numbers as (..., 2 n) parts."""
    last = z.ndim
    pairs = concat([unsqueeze(part(z), [last]) for part in (real_part, imag_part)], last)
    return reshape(pairs, (*z.shape[:-1], 2 * z.shape[-1]))


def _of_pairs(x: Value) -> Value:
    """Return (..., 2 n) parts as (..., n) complex numbers."""
    last = x.ndim
    pairs = reshape(x, (*x.shape[:-1], x.shape[-1] // 2, 2))
    re, im = (squeeze(take_range(pairs, last, i, 1), [last]) for i in (0, 1))
    return make_complex(re, im)


class PartsView:
    """The (..., 2 n) parts of (..., n) complex numbers whose last axis is contiguous."""

    __slots__ = ("writable",)

    def __init__(self) -> None:
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the parts."""
        return _in_pairs(base)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  all is overwritten
        """Return the numbers that have these parts."""
        return _of_pairs(new)

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides: the elements are half as large."""
        return (*(2 * s for s in strides[:-1]), 1)

    def shown(self, shape: Shape) -> Shape:
        """Return the sizes, the last one doubled."""
        return (*shape[:-1], 2 * shape[-1])

    def ranks(self, ranks: Ranks) -> Ranks:
        """Return the same ranks."""
        return ranks


class PairsView:
    """The (..., n) complex numbers of (..., 2 n) parts whose last axis is contiguous."""

    __slots__ = ("writable",)

    def __init__(self) -> None:
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the numbers."""
        return _of_pairs(base)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  all is overwritten
        """Return their parts."""
        return _in_pairs(new)

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides: the elements are twice as large."""
        return (*(s // 2 for s in strides[:-1]), 1)

    def shown(self, shape: Shape) -> Shape:
        """Return the sizes, the last one halved."""
        return (*shape[:-1], shape[-1] // 2)

    def ranks(self, ranks: Ranks) -> Ranks:
        """Return the same ranks."""
        return ranks
