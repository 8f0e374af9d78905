# SPDX-License-Identifier: Apache-2.0
"""Repeating, rolling and padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import (
    Dim,
    DimLike,
    dim_max,
    dim_prod,
    hint_of,
    is_empty,
    require_equal,
)
from onnxjit._core.dtypes import BOOL, INT64
from onnxjit._core.program import Value
from onnxjit.errors import UnsupportedError

from . import structure
from .basic import as_number
from .cast import cast
from .convert import as_array, as_shape, as_size, normalize_axes, normalize_axis, truncated
from .elementwise import less, maximum, minimum, remainder, subtract
from .fitting import shape_text
from .gather import gather, nonzero
from .index_write import assigned
from .pad_edges import PADDED
from .pad_odd import reflected_odd
from .reduce import reduce_any, reduce_max
from .row import Function, Ufunc, function
from .samples import call, calls, within
from .shape import as_list
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    reshape,
    take_range,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ROWS", "repeated", "resized"]

ROWS: list[Function | Ufunc] = []


# --- repeating -----------------------------------------------------------------------------


@function(
    ROWS, np.tile, api="tile",
    samples=calls(lambda m: [
        call(m.special(3), 2), call(m(2, 3), (2, 2)), call(m(3), (2, 1, 2)), call(m(), 3),
        call(m(2, 3), 0), call(m(0), 2),
    ]),
)  # fmt: skip
def tile(A: Any, reps: Any) -> Value:  # noqa: N803  NumPy's name
    """Repeat the whole array along its axes.

    Notes
    -----
    Tile.
    """
    x = as_array(A)
    counts = as_shape(reps)
    if any(map(structure.is_negative, counts)):
        msg = "negative dimensions are not allowed"
        raise ValueError(msg)
    rank = max(x.ndim, len(counts))
    x = unsqueeze(cast(x, x.dtype), range(rank - x.ndim))
    return structure.tile(x, (*(1,) * (rank - len(counts)), *counts))


def repeated(x: Value, count: DimLike, axis: int) -> Value:
    """Repeat each element along an axis `count` times: Unsqueeze, Expand, Reshape."""
    shape = x.shape
    wide = unsqueeze(x, [axis + 1])
    wide = broadcast_to(wide, (*shape[: axis + 1], count, *shape[axis + 1 :]))
    return reshape(wide, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def _repeated_by(x: Value, counts: Value, axis: int) -> Value:
    """Repeat each element by its own count: the true places of a table of n by the largest."""
    if counts.known is not None:
        if (counts.known < 0).any():
            msg = "repeats may not contain negative values."
            raise ValueError(msg)
        return gather(x, const(np.repeat(np.arange(counts.known.size), counts.known)), axis)
    env = running_trace().env
    most = reduce_max(concat([counts, const([0])], 0), (0,))
    width = env.symbol("most", data=True, origin=(most, None))
    table = less(unsqueeze(iota(width), [0]), unsqueeze(counts, [1]))
    found = nonzero(table)
    rows = reshape(take_range(found, 0, 0, 1), (found.shape[1],))
    return gather(x, rows, axis)


@function(
    ROWS, np.repeat, api="repeat",
    samples=calls(lambda m: [
        call(m.special(3), 2), call(m(2, 3), 2, axis=0), call(m(3), m.counts(4, 3)),
        call(m(2, 3), [1, 0, 2], 1), call(m(), 3), call(m(3), 0),
        call(m(2, 3), m.counts(3, 2), axis=0), call(m(3), m.counts(4, 1)),
        call(m(0), m.counts(4, 1)),
    ]),
)  # fmt: skip
def repeat(a: Any, repeats: Any, axis: Any = None) -> Value:
    """Repeat each element along an axis.

    Parameters
    ----------
    a : (...) array
        Values; flattened without `axis`.
    repeats : int or (n,) int
        How often each; counts that are data give a length that is data.
    axis : int, optional
        Which axis.

    Notes
    -----
    Expand, Reshape; Gather where counts differ.
    """
    x = as_array(a)
    x = structure.as_1d(x) if axis is None or not x.ndim else x
    at = normalize_axis(0 if axis is None else axis, x.ndim)
    if isinstance(repeats, float) or (isinstance(repeats, Value) and repeats.weak):
        repeats = truncated(repeats)
    elif isinstance(repeats, (list, tuple)) and any(isinstance(r, float) for r in repeats):
        repeats = [truncated(r) for r in repeats]
    count = as_number(repeats)
    counts = as_array(repeats) if count is None or isinstance(count, Value) else None
    if counts is None:
        assert isinstance(count, (int, Dim))
        if structure.is_negative(count):
            msg = "negative dimensions are not allowed"
            raise ValueError(msg)
        return repeated(x, count, at)
    if counts.dtype.kind not in "iub":
        msg = (
            f"Cannot cast array data from {counts.dtype.numpy!r} to dtype('int64') according "
            "to the rule 'safe'"
        )
        raise TypeError(msg)
    n = x.shape[at]
    counts = cast(structure.as_1d(counts), INT64)
    if counts.known is None:
        running_trace().fail_if(reduce_any(less(counts, const(np.int64(0))), (0,)))
    given = counts.shape[0]
    single = structure.same_shape([given], [1])
    if not (single or (structure.may_guard(given) and given == 1)):
        if not _goes_with(given, n):
            msg = (
                "operands could not be broadcast together with shape "
                f"{shape_text((n,))} {shape_text(counts.shape)}"
            )
            raise ValueError(msg)
    elif counts.known is not None:
        return repeated(x, int(counts.known[0]), at)
    return _repeated_by(x, broadcast_to(counts, (n,)), at)


def _goes_with(given: DimLike, n: DimLike) -> bool:
    """Whether one count for each of n elements is given; a model has room for a single one."""
    hints = hint_of(given), hint_of(n)
    if not isinstance(given, Dim) or structure.may_guard(given) or None in hints:
        return require_equal(running_trace().env, given, n)
    return hints[0] in {1, hints[1]}


def resized(x: Value, shape: Sequence[DimLike]) -> Value:
    """Fill a shape with the elements of `x`, from the start again when they run out."""
    flat = structure.as_1d(x)
    have, want = flat.shape[0], dim_prod(shape)
    if require_static_equal(have, want):
        return reshape(flat, shape)
    zero = np.zeros((), x.dtype.numpy)
    if structure.may_guard(have):
        if have == 0:
            return broadcast_to(const(zero), shape)
    elif not structure.is_positive(have):
        # an element to read where there is none: NumPy fills with zeros then
        flat = concat([flat, const(zero.reshape(1))], 0)
    places = remainder(iota(want), dim_max(have, 1))
    return reshape(gather(flat, places, 0), shape)


def require_static_equal(a: DimLike, b: DimLike) -> bool:
    """Whether two sizes are provably equal."""
    return structure.same_shape([a], [b])


@function(
    ROWS, np.resize,
    samples=calls(lambda m: [
        call(m.special(3), 5), call(m(2, 3), (3, 3)), call(m(3), (2, 0)), call(m(4), 2),
        call(m(0), 2), call(m(), (2, 2)),
    ]),
)  # fmt: skip
def resize(a: Any, new_shape: Any) -> Value:
    """Return an array of another shape with the elements repeated as needed.

    Notes
    -----
    Reshape, Gather.
    """
    shape = as_shape(new_shape)
    if any(map(structure.is_negative, shape)):
        msg = "all elements of `new_shape` must be non-negative"
        raise ValueError(msg)
    return resized(as_array(a), shape)


# --- rolling -------------------------------------------------------------------------------


def _rolled(x: Value, shift: Any, axis: int) -> Value:
    n = x.shape[axis]
    if require_static_equal(n, 0):
        return x
    if isinstance(shift, Value):
        places = remainder(subtract(iota(n), shift), dim_max(n, 1))
        return gather(x, places, axis)
    by = shift % dim_max(n, 1)
    tail = take_range(x, axis, n - by, by)
    return concat([tail, take_range(x, axis, 0, n - by)], axis)


@function(
    ROWS, np.roll, api="roll",
    samples=calls(lambda m: [
        call(m.special(5), 2), call(m(3, 4), -1, axis=0), call(m(3, 4), (1, 2), (0, 1)),
        call(m(3, 4), 5), call(m(3, 4), 1, axis=(0, 1)), call(m(0), 2),
        call(m(4), m.counts(9)), call(m(), 1),
    ]),
)  # fmt: skip
def roll(a: Any, shift: Any, axis: Any = None) -> Value:
    """Shift elements along axes; what leaves one end enters at the other.

    Notes
    -----
    Slice, Concat; Gather for shifts that are data.
    """
    x = as_array(a)
    if axis is None:
        rolled = roll(structure.as_1d(x), shift, 0)
        return reshape(rolled, x.shape)
    axes = normalize_axes(axis, x.ndim, repeats=True)
    shift = shift.tolist() if isinstance(shift, np.ndarray) else shift
    if isinstance(shift, Value) and shift.ndim == 1:
        shift = as_list(shift)
    given = shift if isinstance(shift, (tuple, list)) else (shift,)
    if len(given) != len(axes) and 1 not in {len(given), len(axes)}:
        msg = "shape mismatch: objects cannot be broadcast to a single shape."
        raise ValueError(msg)
    count = max(len(given), len(axes))
    shifts = list(given) * (count if len(given) == 1 else 1)
    for by, at in zip(shifts, axes * (count if len(axes) == 1 else 1), strict=True):
        whole = truncated(by)
        number = as_number(whole)
        x = _rolled(x, as_size(whole) if number is None else number, at)
    return x


# --- padding -------------------------------------------------------------------------------


def _pairs(spec: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Return (before, after) for each axis: NumPy's broadcast to (ndim, 2)."""
    if isinstance(spec, dict):
        pairs: list[tuple[Any, Any]] = [(0, 0)] * ndim
        for axis, width in spec.items():
            pairs[axis] = tuple(width) if isinstance(width, (tuple, list)) else (width, width)
        return pairs
    if isinstance(spec, np.ndarray):
        spec = spec.tolist()
    if isinstance(spec, Value):
        spec = list(as_shape(spec)) if spec.ndim else spec
    if not isinstance(spec, (tuple, list)):
        return [(spec, spec)] * ndim
    rows = [r.tolist() if isinstance(r, np.ndarray) else r for r in spec]
    if all(isinstance(r, (tuple, list)) for r in rows):
        full = [tuple(r) * (2 if len(r) == 1 else 1) for r in rows]
        full = full * ndim if len(full) == 1 else full
    elif len(rows) == 1:
        full = [(rows[0], rows[0])] * ndim
    else:
        full = [tuple(rows)] * ndim
    if len(full) != ndim or any(len(r) != 2 for r in full):
        msg = f"pad widths {spec} do not broadcast to shape ({ndim}, 2)"
        raise ValueError(msg)
    return [(r[0], r[1]) for r in full]


def _mirrored(place: Value, n: DimLike) -> Value:
    period = dim_max(n * 2 - 2, 1)
    at = remainder(place, period)
    return cast(minimum(at, subtract(period, at)), INT64)


def _doubled(place: Value, n: DimLike) -> Value:
    at = remainder(place, n * 2)
    return cast(minimum(at, subtract(n * 2 - 1, at)), INT64)


def _clamped(place: Value, n: DimLike) -> Value:
    return cast(maximum(minimum(place, n - 1), 0), INT64)


def _wrapped(place: Value, n: DimLike) -> Value:
    return cast(remainder(place, n), INT64)


_PLACES: Final[dict[str, Callable[[Value, DimLike], Value]]] = {
    "reflect": _mirrored,
    "symmetric": _doubled,
    "wrap": _wrapped,
    "edge": _clamped,
}


def _fill(x: Value, fill: Any) -> Value:
    """Return a constant at x's dtype; Python ints wrap, since NumPy makes an array of them."""
    plain = isinstance(fill, (bool, int, float, complex))
    return assigned(x, np.asarray(fill) if plain else fill)


def _pad_constant(
    x: Value, pairs: list[tuple[Any, Any]], fills: list[tuple[Any, Any]]
) -> Value:
    """Pad with one constant, or axis by axis with a constant for each side."""
    flat = [v for pair in fills for v in pair]
    if all(v is flat[0] or (not isinstance(v, Value) and v == flat[0]) for v in flat[1:]):
        fill = _fill(x, flat[0] if flat else 0)
        low, high = [a for a, _ in pairs], [b for _, b in pairs]
        return structure.pad(x, low, high, fill)
    for axis, ((low, high), (before, after)) in enumerate(zip(pairs, fills, strict=True)):
        sides = []
        for size, fill in ((low, before), (high, after)):
            shape = list(x.shape)
            shape[axis] = size
            sides.append(broadcast_to(_fill(x, fill), shape))
        x = concat([sides[0], x, sides[1]], axis)
    return x


def _extended(x: Value, axis: int) -> DimLike:
    """Return the length of an axis that is to get longer."""
    n = x.shape[axis]
    if is_empty(n):
        msg = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        raise ValueError(msg)
    return n


def _pad_computed(
    x: Value, pairs: list[tuple[Any, Any]], mode: str, options: dict[str, Any]
) -> Value:
    """Pad with numbers computed from the edge, axis by axis."""
    name, default, compute = PADDED[mode]
    unknown = sorted(set(options) - {name})
    if unknown:
        np.pad(np.zeros(1), 1, mode=mode, **options)  # type: ignore[call-overload]  # refuses
    given = _pairs(options.get(name, default), x.ndim)
    for axis, (widths, option) in enumerate(zip(pairs, given, strict=True)):
        if all(require_static_equal(width, 0) for width in widths):
            continue
        _extended(x, axis)
        before, after = compute(x, axis, widths, option)
        x = concat([before, x, after], axis)
    return x


@function(
    ROWS, np.pad, ulp=within(2),
    samples=calls(lambda m: [
        call(m.special(4), 2), call(m(2, 3), ((1, 0), (0, 2))),
        call(m(3), 1, constant_values=1),
        *(call(m(4), (2, 3), t) for t in ("edge", "reflect", "symmetric", "wrap")),
        *(call(m(2, 4), 1, t) for t in ("maximum", "minimum", "mean", "median")),
        call(m(3, 2), (2, 0), "mean", stat_length=2), call(m(2, 4), 1, "linear_ramp"),
        call(m(5), (4, 3), "linear_ramp", end_values=(1, 2)),
        call(m(3, 3), {0: 1, -1: (0, 2)}, "edge"), call(m(0), 1),
        *([] if m.dtype == "?" else [call(m(3), 7, "reflect", reflect_type="odd")]),
    ]),
)  # fmt: skip
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Value:
    """Put elements around an array.

    Parameters
    ----------
    array : (...) array
        Values.
    pad_width : int, (2,) or (ndim, 2) int, or dict
        How many before and after, for each axis.
    mode : str
        What they are: one of NumPy's names.
    **options
        ``constant_values``, ``end_values`` and ``stat_length`` of the modes that have them.

    Notes
    -----
    Pad; Gather for the modes that repeat elements; reductions and Concat for those that
    compute new ones.
    """
    x = as_array(array)
    x = cast(x, x.dtype)
    pairs = [(as_size(a, "a pad width"), as_size(b, "a pad width"))
             for a, b in _pairs(pad_width, x.ndim)]  # fmt: skip
    if any(structure.is_negative(n) for pair in pairs for n in pair):
        msg = "index can't contain negative values"
        raise ValueError(msg)
    if not x.ndim:
        return x
    if mode in {"constant", "empty"}:
        fills = _pairs(options.get("constant_values", 0), x.ndim)
        return _pad_constant(x, pairs, fills)
    if isinstance(mode, str) and mode in PADDED:
        return _pad_computed(x, pairs, mode, options)
    places = _PLACES.get(mode) if isinstance(mode, str) else None
    np.pad(np.zeros(1), 1, mode=mode, **options)  # NumPy's own refusal
    odd = mode in {"reflect", "symmetric"} and options.get("reflect_type", "even") == "odd"
    if places is None or (odd and x.dtype is BOOL):
        msg = f"np.pad is not carried with mode={mode!r} and {options}"
        raise UnsupportedError(msg)
    for axis, (low, high) in enumerate(pairs):
        if require_static_equal(low, 0) and require_static_equal(high, 0):
            continue
        n = _extended(x, axis)
        place = subtract(iota(low + n + high), low)
        if odd:
            x = reflected_odd(x, axis, place, n, twice=mode == "symmetric")
        else:
            x = gather(x, places(place, n), axis)
    return x
