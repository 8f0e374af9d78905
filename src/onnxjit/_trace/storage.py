# SPDX-License-Identifier: Apache-2.0
"""Memory of traced arrays: what it holds now, how it is laid out, who looks at it.

A traced `Array` is a handle: a storage and a chain of views.  Writing through any handle replaces
the value of the storage, so every other handle sees it, exactly where NumPy's would.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final

from onnxjit._core.dims import DimLike, dim_prod, hint_of
from onnxjit._core.program import Value

if TYPE_CHECKING:
    from onnxjit._trace.array import Array

__all__ = ["Argument", "Layout", "Storage", "contiguous_strides"]


class Argument:
    """An array argument of the traced function, seen from inside.

    Attributes
    ----------
    index : int
        Position among the array leaves of the call.
    name : str
        Name of the parameter or path of the leaf.
    writeable : bool
        ``flags.writeable`` of the example.
    written : bool
        Set by the first write.
    """

    __slots__ = ("index", "name", "writeable", "written")

    def __init__(self, index: int, name: str, *, writeable: bool = True) -> None:
        self.index: Final = index
        self.name: Final = name
        self.writeable: Final = writeable
        self.written = False


class Layout:
    """Order of the axes in memory, outermost first, and the arguments it was learnt from.

    `order` None is C order.  `example` holds the element strides of an argument that is neither
    C nor F contiguous.  `arguments` are those whose own layout decided this one: a graph that
    makes use of it is right only for arguments laid out alike.
    """

    __slots__ = ("arguments", "example", "order")

    def __init__(
        self,
        order: tuple[int, ...] | None = None,
        arguments: frozenset[int] = frozenset(),
        example: tuple[int, ...] | None = None,
    ) -> None:
        self.order: Final = order
        self.arguments: Final = arguments
        self.example: Final = example


def contiguous_strides(
    shape: tuple[DimLike, ...], order: tuple[int, ...] | None
) -> tuple[DimLike, ...]:
    """Return element strides of a contiguous array whose axes lie in `order` in memory."""
    axes = order if order is not None else tuple(range(len(shape)))
    strides: list[DimLike] = [1] * len(shape)
    for position, axis in enumerate(axes):
        strides[axis] = dim_prod(shape[a] for a in axes[position + 1 :])
    return tuple(strides)


class Storage:
    """The memory behind one or more traced arrays.

    `captured` names the array of the surroundings that this is; nothing may write to it.
    """

    __slots__ = (
        "__weakref__", "argument", "captured", "layout", "read_only", "undecided", "value",
        "version",
    )  # fmt: skip

    def __init__(
        self,
        value: Value,
        *,
        layout: Layout | None = None,
        argument: Argument | None = None,
        captured: str | None = None,
    ) -> None:
        self.value = value
        self.version = 0
        self.layout: Final = layout or Layout()
        self.argument: Final = argument
        self.captured: Final = captured
        self.read_only = argument is not None and not argument.writeable
        self.undecided: list[weakref.ref[Array]] = []

    def strides(self) -> tuple[DimLike, ...]:
        """Return element strides of the whole storage."""
        if self.layout.example is not None:
            return self.layout.example
        return contiguous_strides(self.value.shape, self.layout.order)

    def replace(self, value: Value) -> None:
        """Make `value` the content."""
        self.value = value
        self.version += 1
        if self.argument is not None:
            self.argument.written = True


def hints(sizes: tuple[DimLike, ...]) -> tuple[int, ...] | None:
    """Return example sizes, None when one is unknown."""
    out: list[int] = []
    for n in sizes:
        value = hint_of(n)
        if value is None:
            return None
        out.append(value)
    return tuple(out)


def k_order(shapes: list[tuple[DimLike, ...]], strides: list[tuple[DimLike, ...]], ndim: int) -> (
    tuple[int, ...] | None
):
    """Return the memory order that NumPy's ``order="K"`` gives a result, None for C.

    The axes are insertion-sorted by the absolute strides of the operands that are not broadcast
    along them; ambiguous axes keep C order.  Source: NumPy's `nditer` (axis ordering).
    """
    rows: list[tuple[int, ...]] = []
    for shape, stride in zip(shapes, strides, strict=True):
        sizes, steps = hints(shape), hints(stride)
        if sizes is None or steps is None:
            return None
        pad = ndim - len(sizes)
        rows.append(
            (0,) * pad + tuple(0 if n == 1 else abs(s) for n, s in zip(sizes, steps, strict=True))
        )
    order = list(range(ndim))
    for i in range(1, ndim):
        position = i
        for j in range(i - 1, -1, -1):
            verdict = _compare(rows, order[i] if position == i else order[position], order[j])
            if verdict is None:
                continue
            if not verdict:
                break
            position = j
        if position != i:
            order.insert(position, order.pop(i))
    return None if order == sorted(order) else tuple(order)


def _compare(rows: list[tuple[int, ...]], inner: int, outer: int) -> bool | None:
    """Whether `inner` (later in C order) must move outside `outer`; None when they tie."""
    ambiguous, swap = True, False
    for row in rows:
        a, b = row[inner], row[outer]
        if a and b:
            if a <= b:
                return False
            ambiguous, swap = False, True
    return None if ambiguous else swap
