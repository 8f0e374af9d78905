# SPDX-License-Identifier: Apache-2.0
"""Writing ``x[index] = value``: the new array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import (
    broadcast_shapes,
    dim_prod,
    require_equal,
    same,
)
from onnxjit._core.dtypes import STRING

from .basic import IndexView, parse_basic, put_span
from .convert import as_array
from .elementwise_where import choose
from .fitting import INPUT, shape_text, trim
from .gather import gather, gather_nd, scatter_nd
from .index import Advanced, parse_advanced
from .scatter import scatter_combined
from .span import Span, take_span
from .structure import (
    Shape,
    broadcast_to,
    concat,
    const,
    reshape,
    squeeze,
    transpose,
    unsqueeze,
)
from .ufunc import at_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

__all__ = ["assign", "check_output", "fit", "scatter", "setitem"]


# --- the value -----------------------------------------------------------------------------


_MISMATCH = (
    "shape mismatch: value array of shape {} could not be broadcast to indexing result of "
    "shape {}"
)
_MASKED = (
    "NumPy boolean array indexing assignment cannot assign {} input values to the {} output "
    "values where the mask is true"
)
_MASKED_RANK = (
    "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
    "{} dimensions"
)


def fit(value: Value, shape: Shape, message: str = INPUT) -> Value:
    """Return a value broadcast to a shape; leading axes of length 1 may be too many.

    Raises
    ------
    ValueError
        It does not broadcast.
    """
    return broadcast_to(trim(value, shape, message), shape)


def check_output(out: Shape, result: Shape) -> None:
    """Check that an output is as large as what goes into it.

    Raises
    ------
    ValueError
        It is smaller.
    """
    env = running_trace().env
    joined = broadcast_shapes(env, out, result)
    fits = len(joined) == len(out) and all(
        require_equal(env, n, m) for n, m in zip(joined, out, strict=True)
    )
    if not fits:
        msg = (
            f"non-broadcastable output operand with shape {shape_text(out)} doesn't match "
            f"the broadcast shape {shape_text(joined)}"
        )
        raise ValueError(msg)


#: what NumPy's assignment looks at by itself, None included: it is NaN to floats
_PYTHON_NUMBERS: Final = frozenset({int, float, complex, type(None)})


def assigned(x: Value, value: Any) -> Value:
    """Return a value to be written in `x`, cast as NumPy's assignment casts.

    Raises
    ------
    OverflowError, TypeError, ValueError
        NumPy's own, for a Python number that x's dtype cannot hold.
    """
    if type(value) in _PYTHON_NUMBERS and x.dtype is not STRING:
        cell = np.zeros((), x.dtype.numpy)
        with np.errstate(all="ignore"):
            cell[()] = value
        return running_trace().constant(cell)
    return at_dtype(as_array(value), x.dtype)


# --- writing -------------------------------------------------------------------------------


def setitem(x: Value, index: Any, value: Any) -> Value:
    """Return `x` after ``x[index] = value``.

    Parameters
    ----------
    x : (...) array
        Any dtype.
    index : object
        As in `getitem`.
    value : (...) array
        Broadcast to what the index reads, and cast to x's dtype without a check.

    Raises
    ------
    IndexError
        The index does not fit.
    ValueError
        The value does not broadcast.

    Notes
    -----
    Concat, ScatterND, ScatterElements; Where for a mask and a value that does not vary along
    it.  Where several elements go to one place the last one stays.
    """
    new = assigned(x, value)
    view = parse_basic(index, x.shape)
    if view is not None:
        return view.write(x, fit(new, view.shape))
    plan = parse_advanced(index, x.shape)
    if plan.mask is not None:
        if plan.mask.ndim == x.ndim > 0 and len(plan.items) == x.ndim and new.ndim > 1:
            raise TypeError(_MASKED_RANK.format(new.ndim))
        done = _write_mask(x, plan, plan.mask.value, new)
        if done is not None:
            return done
    return _write_places(x, plan, new)


def assign(view: IndexView, base: Value, value: Any) -> Value:
    """Return `base` after ``base[view] = value`` for an index that was read before."""
    return view.write(base, fit(assigned(base, value), view.shape))


def _write_mask(x: Value, plan: Advanced, mask: Value, new: Value) -> Value | None:
    """Write through a lone mask with Where; None where the value varies along the mask.

    The axes that the mask covers are one axis of the result, along which `new` has length 1.
    """
    if not all(span.is_plain for _, span in plan.spans) or plan.new_axes:
        return None
    before = plan.axes[0] if plan.axes else plan.place
    after = x.ndim - before - mask.ndim
    if any(same(n, 0) for n in mask.shape):
        fit(new, (*x.shape[:before], 0, *x.shape[before + mask.ndim :]), _MISMATCH)
        return x
    if new.ndim > after:
        if not same(new.shape[new.ndim - after - 1], 1):
            return None
        new = squeeze(new, [new.ndim - after - 1])
    value = trim(new, (*x.shape[:before], *x.shape[before + mask.ndim :]), _MISMATCH)
    if value.ndim > after:
        lead = value.ndim - after
        value = unsqueeze(value, range(lead, lead + mask.ndim))
    return choose(reshape(mask, (*mask.shape, *(1,) * after)), value, x)


def _aligned(plan: Advanced, new: Value, x: Value) -> Value:
    """Return the value with the axes of the index arrays first, then x's other axes."""
    want = plan.result_shape()
    mask = plan.mask
    if mask is not None and mask.ndim == x.ndim and new.ndim == 1:
        have, count = new.shape[0], want[0]
        if isinstance(have, int) and isinstance(count, int) and have not in {1, count}:
            raise ValueError(_MASKED.format(have, count))
    value = fit(new, want, _MISMATCH)
    place, count = plan.place, len(plan.shape)
    value = squeeze(value, [a if a < place else a + count for a in plan.new_axes])
    at = place - sum(a < place for a in plan.new_axes)
    moved = range(at, at + count)
    return transpose(value, [*moved, *(p for p in range(value.ndim) if p not in moved)])


def _write_places(x: Value, plan: Advanced, new: Value) -> Value:
    """Write at places: rows of ScatterND, the indexed axes first."""
    plan = plan.as_places()
    value = _aligned(plan, new, x)
    plan.checked(x.shape)
    if not plan.arrays:
        return _write_ghosts(x, plan, value)
    front = plan.front()
    turned = transpose(x, front)
    index = plan.stacked()
    if not all(span.is_plain for _, span in plan.spans):
        rows = gather_nd(turned, index)
        value = _write_spans(rows, len(plan.shape), [s for _, s in plan.spans], value)
    done = scatter_nd(turned, index, value)
    return transpose(done, [front.index(p) for p in range(x.ndim)])


def _write_spans(rows: Value, axis: int, spans: Sequence[Span], value: Value) -> Value:
    """Write slices of the axes from `axis` on."""
    rest = spans[1:]
    if any(not s.is_plain for s in rest):
        part = take_span(rows, axis, spans[0])
        value = _write_spans(part, axis + 1, rest, value)
    return put_span(rows, axis, spans[0], value)


def _write_ghosts(x: Value, plan: Advanced, value: Value) -> Value:
    """Write through 0-d masks only: the last of the values that they leave, if any."""
    rows = unsqueeze(x, [0])
    view = IndexView([Span(0, None, 1, 1), *(s for _, s in plan.spans)])
    count = len(plan.shape)
    both = concat([view.apply(rows), as_rows(value, count)], 0)
    last = gather(both, const([-1]), 0)
    return squeeze(view.write(rows, last), [0])


# --- combining -----------------------------------------------------------------------------


def scatter(x: Value, index: Any, value: Any, reduction: str) -> Value:
    """Return `x` after ``ufunc.at(x, index, value)``: repeated places add up.

    Parameters
    ----------
    x : (...) array
        Any dtype but str.
    index : object
        As in `getitem`.
    value : (...) array
        Broadcast to what the index reads, and cast to x's dtype.
    reduction : {"add", "mul", "max", "min"}
        How to combine with what is there.

    Notes
    -----
    ScatterND with a reduction, before opset 16 (add, mul) and 18 (max, min) a Loop.
    """
    plan = parse_advanced(index, x.shape).as_places()
    value = _aligned(plan, assigned(x, value), x)
    plan.checked(x.shape)
    count = len(plan.shape)
    narrow = [i for i, (_, span) in enumerate(plan.spans) if not span.is_plain]
    wide = [i for i, (_, span) in enumerate(plan.spans) if span.is_plain]
    if not plan.arrays and not narrow:
        rows = as_rows(value, count)
        at = broadcast_to(const([[0]]), (rows.shape[0], 1))
        return squeeze(scatter_combined(unsqueeze(x, [0]), at, rows, reduction), [0])
    free = [axis for axis, _ in plan.spans]
    front = [*plan.axes, *(free[i] for i in (*narrow, *wide))]
    order = [*range(count), *(count + i for i in (*narrow, *wide))]
    index_of = _grid(plan, [plan.spans[i][1] for i in narrow])
    turned = transpose(x, front), index_of, transpose(value, order)
    done = scatter_combined(*turned, reduction)
    return transpose(done, [front.index(p) for p in range(x.ndim)])


def as_rows(value: Value, count: int) -> Value:
    """Take the first `count` axes as one."""
    return reshape(value, (dim_prod(value.shape[:count]), *value.shape[count:]))


def _grid(plan: Advanced, spans: Sequence[Span]) -> Value:
    """Return the places of index arrays and slices together, one vector for each element."""
    count, total = len(plan.shape), len(plan.shape) + len(spans)
    places = [unsqueeze(v, range(count, total)) for v in plan.arrays]
    for j, span in enumerate(spans):
        others = [a for a in range(total) if a != count + j]
        places.append(unsqueeze(span.places(), others))
    shape = (*plan.shape, *(s.length for s in spans))
    return concat([unsqueeze(broadcast_to(p, shape), [total]) for p in places], total)
