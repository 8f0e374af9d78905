# SPDX-License-Identifier: Apache-2.0
"""What is known of a value before it is computed: a sum of four kinds of type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .dims import Dim, DimLike, dim_prod, key

if TYPE_CHECKING:
    from .dtypes import DType

__all__ = ["Aval", "Optional", "Sequence", "Tensor", "Unranked"]


class Tensor:
    """An array: element type, symbolic shape, and whether it is a weak Python scalar.

    `weak` is NEP 50's: a Python int, float or complex takes part in promotion by kind only.
    """

    __slots__ = ("dtype", "shape", "weak")

    def __init__(
        self, dtype: DType, shape: tuple[DimLike, ...], *, weak: bool = False
    ) -> None:
        self.dtype: Final = dtype
        self.shape: Final = shape
        self.weak: Final = weak

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> DimLike:
        """Number of elements."""
        return dim_prod(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every size is a plain int."""
        return not any(isinstance(n, Dim) for n in self.shape)

    def same_type(self, other: Aval) -> bool:
        """Whether dtype, weakness and (provably) shape agree."""
        return (
            isinstance(other, Tensor)
            and self.dtype is other.dtype
            and self.weak == other.weak
            and [key(n) for n in self.shape] == [key(n) for n in other.shape]
        )

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        return f"{self.dtype.name}[{sizes}]{'~' if self.weak else ''}"


class Sequence:
    """A list of tensors whose length is known only at run time."""

    __slots__ = ("item",)

    def __init__(self, item: Tensor) -> None:
        self.item: Final = item

    def __repr__(self) -> str:
        return f"seq({self.item})"


class Optional:
    """A value that may be absent."""

    __slots__ = ("item",)

    def __init__(self, item: Aval) -> None:
        self.item: Final = item

    def __repr__(self) -> str:
        return f"optional({self.item})"


class Unranked:
    """A tensor whose number of axes depends on data; it may only be returned."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: DType) -> None:
        self.dtype: Final = dtype

    def __repr__(self) -> str:
        return f"{self.dtype.name}[...]"


Aval = Tensor | Sequence | Optional | Unranked
