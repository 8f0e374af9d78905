# SPDX-License-Identifier: Apache-2.0
"""Axes in reverse order, and turns of a plane: views."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .basic import IndexView
from .convert import as_array, normalize_axes
from .row import Function, Ufunc, function
from .samples import call, calls
from .shape import swapped
from .span import Span
from .views import (
    ChainView,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .structure import Shape
    from .view import View

__all__ = ["ROWS", "flipped"]

ROWS: list[Function | Ufunc] = []


def flipped(shape: Shape, axes: Sequence[int]) -> IndexView:
    """Return the view that reverses axes."""
    return IndexView(
        [Span(None, None, -1 if i in axes else 1, n) for i, n in enumerate(shape)]
    )


@function(
    ROWS, np.flip, view=True, scalar=True, api="flip",
    samples=calls(lambda m: [
        call(m.special(5)), call(m(2, 3), 0), call(m(2, 3), axis=(0, 1)), call(m(2, 3)),
        call(m()), call(m(0, 2), 0), call(m(2), 1),
    ]),
)  # fmt: skip
def flip(m: Any, axis: Any = None) -> View:
    """Return a view with the order along axes reversed.

    Notes
    -----
    Slice with step -1.
    """
    x = as_array(m)
    return flipped(x.shape, normalize_axes(axis, x.ndim))


def _flip_one(numpy: Any, axis: int) -> None:
    def flip_one(m: Any) -> View:
        x = as_array(m)
        if x.ndim <= axis:
            msg = f"Input must be >= {axis + 1}-d."
            raise ValueError(msg)
        return flipped(x.shape, [axis])

    flip_one.__name__ = numpy.__name__
    flip_one.__doc__ = f"Return a view with axis {axis} reversed (Slice with step -1)."
    samples = calls(lambda m: [call(x) for x in (m.special(2, 3), m(0, 2), m(4))])
    ROWS.append(Function(numpy, flip_one, view=True, samples=samples))


_flip_one(np.flipud, 0)
_flip_one(np.fliplr, 1)


@function(
    ROWS, np.rot90, view=True,
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3), 2), call(m(2, 3), -1),
        call(m(2, 3, 4), 1, (1, 2)), call(m(2, 3), 4), call(m(3)), call(m(2, 3), 1, (0, 0)),
    ]),
)  # fmt: skip
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> View:
    """Return a view turned by 90 degrees in the plane of two axes.

    Notes
    -----
    Slice with step -1, Transpose.
    """
    x = as_array(m)
    if len(tuple(axes)) != 2:
        msg = "len(axes) must be 2."
        raise ValueError(msg)
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == x.ndim:
        msg = "Axes must be different."
        raise ValueError(msg)
    if not all(-x.ndim <= a < x.ndim for a in axes):
        msg = f"Axes={tuple(axes)} out of range for array of ndim={x.ndim}."
        raise ValueError(msg)
    i, j = (a % x.ndim for a in axes)
    turns = operator.index(k) % 4
    if turns % 2 == 0:
        return flipped(x.shape, [i, j] if turns else [])
    swap = swapped(x.ndim, i, j)
    if turns == 1:
        return ChainView([flipped(x.shape, [j]), swap])
    turned = list(x.shape)
    turned[i], turned[j] = turned[j], turned[i]
    return ChainView([swap, flipped(tuple(turned), [j])])
