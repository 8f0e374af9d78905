# SPDX-License-Identifier: Apache-2.0
"""Functions that give an array another shape or order of axes: mostly views."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import (
    DimLike,
    broadcast_shapes,
    dim_prod,
    is_one,
    quotient,
    require_equal,
)
from onnxjit._core.program import Value

from .basic import IndexView
from .convert import as_array, as_shape, normalize_axes, normalize_axis, reduction_axes
from .fitting import shape_text, trim
from .row import Function, Ufunc, function
from .samples import call, calls, vectors
from .span import Span, whole
from .structure import Shape, broadcast_to, is_negative, reshape, unsqueeze
from .views import (
    BroadcastView,
    ChainView,
    RavelView,
    ReshapeView,
    SqueezeView,
    TransposeView,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .view import View

__all__ = ["ADDED", "ROWS", "as_list", "at_least", "broadcast_all", "swapped", "target_shape"]

ROWS: list[Function | Ufunc] = []


# --- reshape -------------------------------------------------------------------------------


def target_shape(old: Shape, new: Any) -> Shape:
    """Return the shape that ``reshape(new)`` gives, a -1 replaced.

    Raises
    ------
    ValueError
        The number of elements differs, or more than one size is left open.
    """
    sizes = as_shape(new)
    total = dim_prod(old)
    open_at = [i for i, n in enumerate(sizes) if is_negative(n)]
    if len(open_at) > 1:
        msg = "can only specify one unknown dimension"
        raise ValueError(msg)
    trace = running_trace()
    rest = dim_prod(n for i, n in enumerate(sizes) if i not in open_at)
    found = list(sizes)
    try:
        for i in open_at:
            found[i] = 0 if isinstance(rest, int) and rest == 0 else quotient(total, rest)
        refused = not getattr(trace, "tries", 0)
        fits = require_equal(trace.env, dim_prod(found), total, refused=refused)
        if open_at and isinstance(rest, int) and rest == 0:
            fits = False
    except ZeroDivisionError:
        fits = False
    if not fits:
        shown = shape_text(sizes).replace("-1", "newaxis")
        size = shape_text([total]).strip("(,)")
        msg = f"cannot reshape array of size {size} into shape {shown}"
        raise ValueError(msg)
    return tuple(found)


def _checked_order(order: str, allowed: str = "CFA") -> str:
    if str(order).upper() not in tuple(allowed):
        msg = f"order must be one of {', '.join(map(repr, allowed))} (got {order!r})"
        raise ValueError(msg)
    return order.upper()


def reshape_view(shape: Shape, new: Any, order: str) -> View:
    """Return the view that reshapes; Fortran order goes through reversed axes."""
    target = target_shape(shape, new)
    if _checked_order(order, "CFAK") != "F":
        return ReshapeView(target)
    return ChainView(
        [
            TransposeView(range(len(shape))[::-1]),
            ReshapeView(target[::-1]),
            TransposeView(range(len(target))[::-1]),
        ]
    )


@function(
    ROWS, np.reshape, view=True, api="reshape",
    samples=calls(lambda m: [
        call(m.special(2, 6), (3, 4)), call(m(2, 6), -1), call(m(2, 6), (4, -1)),
        call(m(2, 6), 12), call(m(1), ()), call(m(2, 6), (3, 4), order="F"),
        call(m(0, 3), (3, 0)), call(m(6), (4, 2)), call(m(2, 3).T, (3, 2), copy=True),
    ]),
)  # fmt: skip
def reshape_row(
    a: Any,
    /,
    shape: Any = None,
    order: str = "C",
    *,
    newshape: Any = None,
    copy: bool | None = None,
) -> View | Value:
    """Return an array with the same elements and another shape.

    Parameters
    ----------
    a : (...) array
        Elements, taken in C order (F order with ``order="F"``).
    shape : int or tuple of int
        One size may be -1.
    newshape
        Old name of `shape`.
    copy : bool, optional
        True never gives a view.

    Raises
    ------
    ValueError
        The number of elements differs.

    Notes
    -----
    Reshape.
    """
    x = as_array(a)
    _checked_order(order)
    view = reshape_view(x.shape, newshape if shape is None else shape, order)
    return view.apply(x) if copy else view


@function(
    ROWS, np.ravel, view=True,
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3).T), call(m(2, 3), "F"), call(m()),
        call(m.scalar(1)), call(m(0, 2)), call(m(2, 3).T, order="K"),
    ]),
)  # fmt: skip
def ravel(a: Any, order: str = "C") -> View:
    """Return the elements as a vector: a view where NumPy gives one.

    Notes
    -----
    Reshape; Transpose for Fortran order.
    """
    x = as_array(a)
    flat = RavelView((dim_prod(x.shape),))
    if _checked_order(order, "CFAK") != "F":
        return flat
    return ChainView([TransposeView(range(x.ndim)[::-1]), flat])


# --- order of axes -------------------------------------------------------------------------


@function(
    ROWS, np.transpose, view=True, api="permute_dims",
    aliases=() if np.permute_dims is np.transpose else (np.permute_dims,),
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3, 4), (1, 2, 0)), call(m(2, 3, 4), axes=(-1, 0, 1)),
        call(m(3)), call(m()), call(m(2, 3), (0, 0)),
    ]),
)  # fmt: skip
def transpose(a: Any, axes: Any = None) -> View:
    """Return a view with its axes in another order, reversed by default.

    Raises
    ------
    ValueError
        `axes` is no permutation.

    Notes
    -----
    Transpose.
    """
    ndim = as_array(a).ndim
    if axes is None:
        return TransposeView(range(ndim)[::-1])
    given = axes if isinstance(axes, (tuple, list, np.ndarray)) else (axes,)
    if len(given) != ndim:
        msg = "axes don't match array"
        raise ValueError(msg)
    order = [normalize_axis(p, ndim) for p in given]
    if len(set(order)) != ndim:
        msg = "repeated axis in transpose"
        raise ValueError(msg)
    return TransposeView(order)


def swapped(ndim: int, i: int, j: int) -> View:
    order = list(range(ndim))
    order[i], order[j] = order[j], order[i]
    return TransposeView(order)


@function(
    ROWS, np.matrix_transpose, view=True, api="matrix_transpose",
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3, 4)), call(m(0, 2)), call(m(3)),
    ]),
)  # fmt: skip
def matrix_transpose(x: Any, /) -> View:
    """Return a view with the last two axes exchanged.

    Notes
    -----
    Transpose.
    """
    ndim = as_array(x).ndim
    if ndim < 2:
        msg = f"Input array must be at least 2-dimensional, but it is {ndim}"
        raise ValueError(msg)
    return swapped(ndim, ndim - 1, ndim - 2)


@function(
    ROWS, np.swapaxes, view=True,
    samples=calls(lambda m: [
        call(m.special(2, 3), 0, 1), call(m(2, 3, 4), -1, 0), call(m(3), 0, 0),
        call(m(2, 3), 0, 2),
    ]),
)  # fmt: skip
def swapaxes(a: Any, axis1: int, axis2: int) -> View:
    """Return a view with two axes exchanged.

    Notes
    -----
    Transpose.
    """
    ndim = as_array(a).ndim
    i = normalize_axis(axis1, ndim, "axis1")
    return swapped(ndim, i, normalize_axis(axis2, ndim, "axis2"))


@function(
    ROWS, np.moveaxis, view=True, api="moveaxis",
    samples=calls(lambda m: [
        call(m.special(2, 3), 0, 1), call(m(2, 3, 4), -1, 0),
        call(m(2, 3, 4), [0, 1], [-1, -2]), call(m(3), 0, 0), call(m(2, 3), 0, 2),
        call(m(2, 3, 4), (0, 0), (1, 2)),
    ]),
)  # fmt: skip
def moveaxis(a: Any, source: Any, destination: Any) -> View:
    """Return a view with axes moved to other places, the rest in order.

    Notes
    -----
    Transpose.
    """
    ndim = as_array(a).ndim
    start = normalize_axes(source, ndim, "source")
    stop = normalize_axes(destination, ndim, "destination")
    if len(start) != len(stop):
        msg = "`source` and `destination` arguments must have the same number of elements"
        raise ValueError(msg)
    order = [p for p in range(ndim) if p not in start]
    for to, which in sorted(zip(stop, start, strict=True)):
        order.insert(to, which)
    return TransposeView(order)


@function(
    ROWS, np.rollaxis, view=True,
    samples=calls(lambda m: [
        call(m.special(2, 3), 1), call(m(2, 3, 4), 2, 1), call(m(2, 3, 4), 0, 3),
        call(m(2, 3), 5),
    ]),
)  # fmt: skip
def rollaxis(a: Any, axis: int, start: int = 0) -> View:
    """Return a view with one axis moved before another.

    Notes
    -----
    Transpose.
    """
    ndim = as_array(a).ndim
    axis = normalize_axis(axis, ndim)
    at = operator.index(start)
    if at < 0:
        at += ndim
    if not 0 <= at <= ndim:
        msg = f"'start' arg requires {-ndim} <= start < {ndim + 1}, but {start} was passed in"
        raise np.exceptions.AxisError(msg)
    order = [p for p in range(ndim) if p != axis]
    order.insert(at - (axis < at), axis)
    return TransposeView(order)


# --- axes of length 1 ----------------------------------------------------------------------


@function(
    ROWS, np.expand_dims, view=True, api="expand_dims",
    samples=calls(lambda m: [
        call(m.special(2, 3), 0), call(m(3), -1), call(m(2, 3), (0, 2)), call(m(), 0),
        call(m(3), 4), call(m(2), (0, 0)),
    ]),
)  # fmt: skip
def expand_dims(a: Any, axis: Any) -> View:
    """Return a view with axes of length 1 added; `axis` counts in the result.

    Notes
    -----
    Unsqueeze.
    """
    x = as_array(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = x.ndim + len(given)
    places = normalize_axes(given, rank)
    rest = iter(whole(x.shape))
    return IndexView([None if i in places else next(rest) for i in range(rank)])


@function(
    ROWS, np.squeeze, view=True, api="squeeze",
    samples=calls(lambda m: [
        call(m.special(1, 3, 1)), call(m(1, 3, 1), 0), call(m(1, 3, 1), axis=(0, -1)),
        call(m(2, 3)), call(m(1)), call(m(2, 3), 0), call(m()), call(m.scalar(1)),
    ]),
)  # fmt: skip
def squeeze(a: Any, axis: Any = None) -> View | Value:
    """Return a view without axes of length 1.

    Parameters
    ----------
    a : (...) array
        Values.
    axis : int or tuple of int, optional
        Which ones; all of length 1 by default, which takes a guard on symbolic sizes.

    Raises
    ------
    ValueError
        A chosen axis is longer.

    Notes
    -----
    Squeeze.
    """
    x = as_array(a)
    if axis is None:
        ones = [i for i, n in enumerate(x.shape) if is_one(n)]
        return SqueezeView(ones) if ones else x
    axes = reduction_axes(axis, x.ndim)
    env = running_trace().env
    if not all(require_equal(env, x.shape[i], 1) for i in axes):
        msg = "cannot select an axis to squeeze out which has size not equal to one"
        raise ValueError(msg)
    return SqueezeView(axes)


#: (axes wanted, axes there) -> where ``atleast`` adds axes
ADDED: Final = {
    (1, 0): (0,), (2, 0): (0, 1), (2, 1): (0,),
    (3, 0): (0, 1, 2), (3, 1): (0, 2), (3, 2): (2,),
}  # fmt: skip


def at_least(x: Value, ndim: int) -> Value:
    """Return ``np.atleast_1d``, ``2d`` or ``3d`` of a value."""
    return unsqueeze(x, ADDED.get((ndim, x.ndim), ()))


def _padded(x: Value, ndim: int) -> Value | View:
    axes = ADDED.get((ndim, x.ndim))
    if axes is None:
        return x
    rest = iter(whole(x.shape))
    return IndexView([None if i in axes else next(rest) for i in range(ndim)])


def _atleast(numpy: Any, ndim: int) -> None:
    def atleast(*arys: Any) -> Any:
        results = tuple(_padded(as_array(a), ndim) for a in arys)
        return results[0] if len(results) == 1 else results

    atleast.__name__ = numpy.__name__
    atleast.__doc__ = f"Return arrays with at least {ndim} axes: views (Unsqueeze)."
    samples = calls(
        lambda m: [call(m.special(3)), call(m()), call(m(2, 3), m(2)), call(1), call(m(0, 2))]
    )
    ROWS.append(Function(numpy, atleast, view=True, samples=samples))


for _numpy, _ndim in ((np.atleast_1d, 1), (np.atleast_2d, 2), (np.atleast_3d, 3)):
    _atleast(_numpy, _ndim)


# --- broadcasting --------------------------------------------------------------------------

_REMAPPED: Final = (
    "operands could not be broadcast together with remapped shapes [original->remapped]: {}  "
    "and requested shape {}"
)


@function(
    ROWS, np.broadcast_to, view=True, api="broadcast_to", omits=("subok",),
    samples=calls(lambda m: [
        call(m.special(3), (2, 3)), call(m(2, 1), (2, 4)), call(m(), (2, 2)),
        call(m.scalar(1), 3), call(m(1), (0,)), call(m(3), (3, 2)), call(m(3), (2, 1, 3)),
    ]),
)  # fmt: skip
def broadcast_to_row(array: Any, shape: Any) -> View:
    """Return a read-only view of an array repeated along axes.

    Raises
    ------
    ValueError
        It does not broadcast.

    Notes
    -----
    Expand.
    """
    x = as_array(array)
    wanted = as_shape(shape)
    if any(map(is_negative, wanted)):
        msg = "all elements of broadcast shape must be non-negative"
        raise ValueError(msg)
    if x.ndim > len(wanted):
        msg = (
            "input operand has more dimensions than allowed by the axis remapping"
            if wanted
            else "cannot broadcast a non-scalar to a scalar array"
        )
        raise ValueError(msg)
    trim(x, wanted, _REMAPPED)
    return BroadcastView(wanted)


def broadcast_all(xs: Sequence[Value]) -> list[Value]:
    """Return values broadcast against one another."""
    shape = joint_shape([x.shape for x in xs])
    return [broadcast_to(x, shape) for x in xs]


def joint_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that shapes broadcast to; raises NumPy's ValueError."""
    try:
        return broadcast_shapes(running_trace().env, *shapes)
    except ValueError as error:
        msg = "shape mismatch: objects cannot be broadcast to a single shape."
        raise ValueError(msg) from error


@function(
    ROWS, np.broadcast_arrays, api="broadcast_arrays", omits=("subok",),
    samples=calls(lambda m: [
        call(m.special(3), m(2, 1)), call(m(), m(2)), call(m(2)), call(m(1), m(0)),
        call(m(2), m(3)), call(1, m(2)), call(),
    ]),
)  # fmt: skip
def broadcast_arrays(*args: Any) -> tuple[Value, ...]:
    """Return arrays broadcast against one another.

    Notes
    -----
    Expand.
    """
    return tuple(broadcast_all([as_array(a) for a in args]))


@function(
    ROWS, np.broadcast_shapes, api="broadcast_shapes",
    samples=calls(lambda _: [
        call((2, 1), (3,)), call((), (2,)), call(3, (2, 1)), call((2,), (3,)), call(),
        call((0,), (1,)),
    ], ("i8",)),
)  # fmt: skip
def broadcast_shapes_row(*args: Any) -> Shape:
    """Return the shape that shapes broadcast to."""
    return joint_shape([as_shape(s) for s in args])


# --- sizes ---------------------------------------------------------------------------------


@function(ROWS, np.shape, samples=vectors())
def shape_row(a: Any) -> Shape:
    """Return the sizes of an array: ints and symbolic sizes."""
    return as_array(a).shape


@function(ROWS, np.ndim, samples=vectors())
def ndim_row(a: Any) -> int:
    """Return the number of axes."""
    return as_array(a).ndim


@function(
    ROWS, np.size,
    samples=calls(lambda m: [
        call(m(2, 3)), call(m(2, 3), 1), call(m()), call(m(0)), call([1, 2]),
        call(m(2, 3), axis=(0, 1)),
    ]),
)  # fmt: skip
def size_row(a: Any, axis: Any = None) -> DimLike:
    """Return the number of elements, along axes or altogether."""
    x = as_array(a)
    return dim_prod(x.shape[i] for i in normalize_axes(axis, x.ndim))


def as_list(x: Any) -> list[Any]:
    """Return the items of a sequence argument; an array gives its slices."""
    if isinstance(x, Value):
        if not x.ndim:
            msg = "iteration over a 0-d array"
            raise TypeError(msg)
        count = operator.index(x.shape[0])
        rows = (IndexView([Span.block(i, 1, n) if not axis else s
                for axis, (n, s) in enumerate(zip(x.shape, whole(x.shape), strict=True))])
                for i in range(count))  # fmt: skip
        return [reshape(r.apply(x), x.shape[1:]) for r in rows]
    return list(x)
