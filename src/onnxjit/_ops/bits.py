# SPDX-License-Identifier: Apache-2.0
"""The bits of numbers as numbers of another dtype of the same size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one
from onnxjit._core.op import Emit, Handle, Op
from onnxjit.errors import OpsetError

from .cast import cast

if TYPE_CHECKING:
    from onnxjit._core.dtypes import DType
    from onnxjit._core.program import Equation, Value

    from .structure import Shape

__all__ = ["BITCAST", "BitsView", "has_bits_of"]

Ranks = tuple[int, ...]


def _refused(_e: Emit, equation: Equation, _x: Handle) -> Handle:
    dtype = equation.params["dtype"]
    msg = f"the bits of floats, as .view({dtype.name}) shows them, need opset 26 or newer"
    raise OpsetError(msg)


def _bits(e: Emit, equation: Equation, x: Handle) -> Handle:
    dtype: Any = equation.params["dtype"]
    return e.op("BitCast", x, out=dtype, to=dtype)


BITCAST: Final = Op(
    "bitcast",
    result=lambda x, *, dtype: Tensor(dtype, x.shape),
    lower={1: _refused, 26: _bits},
    evaluate=lambda x, *, dtype: x.view(dtype.numpy),
    rowwise=True,
)


def has_bits_of(a: DType, b: DType) -> bool:
    """Whether numbers of one dtype can be seen as those of another, element by element."""
    sizes = a.numpy.itemsize, b.numpy.itemsize
    return a.kind in "iuf" and b.kind in "iuf" and sizes[0] == sizes[1]


def _seen_as(x: Value, dtype: DType) -> Value:
    if "f" not in (x.dtype.kind, dtype.kind):
        return cast(x, dtype)  # which wraps around
    return bind_one(BITCAST, x, dtype=dtype)


class BitsView:
    """Numbers whose bits are shown as those of another dtype.

    Parameters
    ----------
    before, dtype : DType
        Of the base, and what it is shown as.
    """

    __slots__ = ("before", "dtype", "writable")

    def __init__(self, before: DType, dtype: DType) -> None:
        self.before: Final = before
        self.dtype: Final = dtype
        self.writable = True

    def apply(self, base: Value) -> Value:
        """Return the bits."""
        return _seen_as(base, self.dtype)

    def write(self, base: Value, new: Value) -> Value:  # noqa: ARG002  all is overwritten
        """Return the numbers that have these bits."""
        return _seen_as(new, self.before)

    def strides(self, shape: Shape, strides: Shape) -> Shape | None:  # noqa: ARG002
        """Return the strides: the elements are as large."""
        return strides

    def shown(self, shape: Shape) -> Shape:
        """Return the same sizes."""
        return shape

    def ranks(self, ranks: Ranks) -> Ranks:
        """Return the same ranks."""
        return ranks
