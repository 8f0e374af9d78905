# SPDX-License-Identifier: Apache-2.0
"""``axis=``, ``axes=`` and ``keepdims=`` of generalised ufuncs: which axes are multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .convert import normalize_axis
from .structure import transpose, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from onnxjit._core.program import Value

__all__ = ["CoreAxes", "core_axes"]

Axes = tuple[int, ...]


def _ranks(ufunc: np.ufunc) -> list[int]:
    """Return the number of core axes of each operand and result."""
    signature = str(ufunc.signature)
    parts = signature.replace("->", ",").split("),(")
    return [len([n for n in part.strip("()").split(",") if n]) for part in parts]


class CoreAxes:
    """Where the core axes of the operands and the result of one call are.

    Attributes
    ----------
    axes : list of tuple of int
        Of each operand and the result, as the user gave them.
    keepdims : bool
        The axis that goes stays with length 1.
    """

    __slots__ = ("axes", "keepdims")

    def __init__(self, axes: Sequence[Axes], *, keepdims: bool) -> None:
        self.axes: Final = list(axes)
        self.keepdims: Final = keepdims

    def last(self, operands: Sequence[Value]) -> list[Value]:
        """Return operands with their core axes at the end."""
        return [_to_end(x, axes) for x, axes in zip(operands, self.axes, strict=False)]

    def placed(self, result: Value) -> Value:
        """Return a result with its core axes where they were asked for."""
        axes = self.axes[-1]
        if self.keepdims:
            rank = result.ndim + len(self.axes[0])
            return unsqueeze(result, [normalize_axis(a, rank) for a in self.axes[0]])
        rank = result.ndim
        at = [normalize_axis(a, rank) for a in axes]
        rest = iter(range(rank - len(at)))
        order = [rank - len(at) + at.index(i) if i in at else next(rest) for i in range(rank)]
        return transpose(result, tuple(order)) if order != [*range(rank)] else result


def _to_end(x: Value, axes: Axes) -> Value:
    at = [normalize_axis(a, x.ndim) for a in axes]
    if at == [*range(x.ndim - len(at), x.ndim)]:
        return x
    return transpose(x, (*(i for i in range(x.ndim) if i not in at), *at))


def core_axes(ufunc: np.ufunc, axis: Any, axes: Any, keepdims: Any) -> CoreAxes | None:
    """Return what ``axis=``, ``axes=`` and ``keepdims=`` ask for, None for nothing.

    Raises
    ------
    TypeError
        The ufunc does not take them.
    ValueError
        `axes` has another number of entries than the ufunc has operands.
    """
    if axis is None and axes is None and not keepdims:
        return None
    name = ufunc.__name__
    if ufunc.signature is None:
        given = "keepdims" if keepdims else "axes" if axis is None else "axis"
        msg = f"{name}() got an unexpected keyword argument '{given}'"
        raise TypeError(msg)
    ranks = _ranks(ufunc)
    if axis is not None and axes is not None:
        msg = "cannot specify both 'axis' and 'axes'"
        raise TypeError(msg)
    if keepdims and (any(ranks[ufunc.nin :]) or len(set(ranks[: ufunc.nin])) > 1):
        msg = (
            f"{name} does not support keepdims: its signature {ufunc.signature} requires "
            "multiple core dimensions or its inputs differ"
        )
        raise TypeError(msg)
    if axis is not None:
        if max(ranks) > 1 or str(ufunc.signature).count("(n)") < ufunc.nin:
            msg = (
                f"{name}: axis can only be used with a single shared core dimension, not with "
                f"the 2 distinct ones implied by signature {ufunc.signature}."
            )
            raise TypeError(msg)
        return CoreAxes([(axis,) * n for n in ranks], keepdims=bool(keepdims))
    if axes is None:
        return CoreAxes([(*range(-n, 0),) for n in ranks], keepdims=bool(keepdims))
    entries = [(a,) if isinstance(a, int) else tuple(a) for a in axes]
    if len(entries) == ufunc.nin and not any(ranks[ufunc.nin :]):
        entries.append(())
    if len(entries) != len(ranks):
        msg = (
            "axes should be a list with an entry for all inputs and outputs; entries for "
            "outputs can only be omitted if none of them has core axes."
        )
        raise ValueError(msg)
    return CoreAxes(entries, keepdims=bool(keepdims))
