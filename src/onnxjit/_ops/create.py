# SPDX-License-Identifier: Apache-2.0
"""Arrays made from sizes and numbers: constants, ranges, and conversions of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim, DimLike, dim_max, symbols_of
from onnxjit._core.dtypes import FLOAT64, INT64, DType
from onnxjit._core.program import Value

from . import structure
from .cast import cast
from .convert import as_array, as_dtype, as_shape, as_size, normalize_axis, plain_dim
from .elementwise import (
    add,
    ceil,
    divide,
    equal,
    floor,
    greater,
    logical_and,
    maximum,
    multiply,
    power,
    reciprocal,
    subtract,
)
from .elementwise_where import choose
from .gather import fresh_length
from .index_write import fit
from .reduce import reduce_any
from .row import Function, Ufunc, function
from .samples import NUMBERS, call, calls, vectors, within
from .shape import at_least
from .structure import broadcast_to, concat, const, iota, move_axis, reshape, unsqueeze
from .ufunc import result_type
from .views import ChainView, ContiguousView, IndexView, TurnView

if TYPE_CHECKING:
    from .view import View

__all__ = ["ROWS", "filled"]

ROWS: list[Function | Ufunc] = []

#: keywords that ask for a layout or a device, of which there is one
_ONE: Final = ("like",)


# --- constants -----------------------------------------------------------------------------


def _checked_shape(shape: Any) -> tuple[DimLike, ...]:
    sizes = as_shape(shape)
    if any(map(structure.is_negative, sizes)):
        msg = "negative dimensions are not allowed"
        raise ValueError(msg)
    return sizes


def filled(shape: Any, value: Any, dtype: DType) -> Value:
    """Return an array of one number."""
    return broadcast_to(const(np.asarray(value, dtype.numpy)), _checked_shape(shape))


def _default(dtype: Any) -> DType:
    return FLOAT64 if dtype is None else as_dtype(dtype)


def _constant(numpy: Any, like: Any, number: int) -> None:
    """Add the rows of ``np.zeros`` or its kin, and of its ``_like``."""
    name = numpy.__name__

    def make(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Value:
        del order, device
        return filled(shape, number, _default(dtype))

    def make_like(
        a: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Value:
        del order, subok, device
        x = as_array(a)
        wanted = x.dtype if dtype is None else as_dtype(dtype)
        return filled(x.shape if shape is None else shape, number, wanted)

    def make_like_prototype(prototype: Any, /, *args: Any, **kwargs: Any) -> Value:
        return make_like(prototype, *args, **kwargs)

    make.__name__, make_like.__name__ = name, f"{name}_like"
    make.__doc__ = f"Return an array of {number} (Expand)."
    make_like.__doc__ = f"Return an array of {number} in the shape of another (Expand)."
    sizes = (2, 0) if numpy is np.empty else (2, 3)  # np.empty's elements are anything
    of_shape = calls(lambda m: [call(sizes, m.dtype), call(0), call((0, 2), dtype="i4")])
    like_another = calls(
        lambda m: [call(m(*sizes)), call(m(0), dtype="f8"), call(m(2), shape=sizes)]
    )
    ROWS.append(Function(numpy, make, api=name, omits=_ONE, samples=of_shape))
    implementation = make_like_prototype if numpy is np.empty else make_like
    ROWS.append(Function(like, implementation, api=f"{name}_like", samples=like_another))


_constant(np.zeros, np.zeros_like, 0)
_constant(np.ones, np.ones_like, 1)
_constant(np.empty, np.empty_like, 0)


def _full(shape: Any, fill_value: Any, dtype: DType | None) -> Value:
    fill = as_array(fill_value)
    fill = cast(fill, fill.dtype if dtype is None else dtype)
    return fit(fill, _checked_shape(shape))


@function(
    ROWS, np.full, api="full", omits=_ONE,
    samples=calls(lambda m: [
        call((2, 3), m.scalar()), call(3, m(), dtype="f4"), call((2, 3), m(3)), call((), 2.5),
        call((0, 2), m.scalar(1), "i4"), call(4, 7, order="F"),
    ]),
)  # fmt: skip
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None
) -> Value:
    """Return an array filled with a number, or with an array broadcast to its shape.

    Notes
    -----
    Expand.
    """
    del order, device
    return _full(shape, fill_value, None if dtype is None else as_dtype(dtype))


@function(
    ROWS, np.full_like, api="full_like",
    samples=calls(lambda m: [
        call(m(2, 3), 1), call(m(2, 3), m.scalar(1)), call(m(3), m(3)),
        call(m(2, 3), 1, dtype="f8"), call(m(2), 1, shape=(2, 2)), call(m(), 0),
        call(m(0), True),
    ]),
)  # fmt: skip
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Value:
    """Return a filled array with the shape and dtype of another.

    Notes
    -----
    Expand.
    """
    del order, subok, device
    x = as_array(a)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    return _full(x.shape if shape is None else shape, fill_value, wanted)


@function(
    ROWS, np.eye, api="eye", omits=_ONE,
    samples=calls(lambda m: [
        call(3, dtype=m.dtype), call(2, 4, 1, m.dtype), call(3, k=-1, dtype=m.dtype),
        call(0, dtype=m.dtype), call(2, k=5, dtype=m.dtype),
    ]),
)  # fmt: skip
def eye(
    N: Any,  # noqa: N803
    M: Any = None,  # noqa: N803
    k: Any = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
) -> Value:
    """Return ones on the k-th diagonal, zeros elsewhere.

    Notes
    -----
    Range, Equal, Cast.
    """
    del order, device
    n, m = _checked_shape((N, N if M is None else M))
    rows, columns = unsqueeze(iota(n), [1]), unsqueeze(iota(m), [0])
    return cast(equal(add(rows, as_size(k)), columns), _default(dtype))


@function(
    ROWS, np.identity, omits=_ONE,
    samples=calls(lambda m: [call(3, m.dtype), call(0, dtype=m.dtype), call(2)]),
)  # fmt: skip
def identity(n: Any, dtype: Any = None) -> Value:
    """Return the square identity matrix.

    Notes
    -----
    Range, Equal, Cast.
    """
    return eye(n, dtype=_default(dtype))


@function(
    ROWS, np.tri, omits=_ONE,
    samples=calls(lambda m: [
        call(3, dtype=m.dtype), call(2, 4, 1, m.dtype), call(3, k=-1, dtype=m.dtype),
        call(0, 2, dtype=m.dtype),
    ]),
)  # fmt: skip
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Value:  # noqa: N803
    """Return ones on and below the k-th diagonal, zeros above.

    Notes
    -----
    Range, GreaterOrEqual, Cast.
    """
    from .diagonal import triangle_mask

    n = as_size(N)
    m = n if M is None else as_size(M)
    return cast(triangle_mask(dim_max(n, 0), dim_max(m, 0), as_size(k)), _default(dtype))


# --- ranges --------------------------------------------------------------------------------


def _sample(x: Any, number: int) -> Any:
    """Return a small number of the type of an argument, for NumPy to find the dtype."""
    if isinstance(x, Dim):
        return number
    if isinstance(x, Value):
        kinds: dict[str, Any] = {"i": int, "f": float, "u": int, "b": bool}
        return (kinds[x.dtype.kind] if x.weak else x.dtype.numpy.type)(number)
    return type(x)(number) if isinstance(x, (int, float, np.generic)) else number


def value_size(value: Value, name: str) -> DimLike:
    """Return the size that a 0-d int64 value holds: a size of data where it is not known."""
    known = plain_dim(value)
    if known is not None:
        return known
    dim = fresh_length(value, "size", name)
    (symbol,) = symbols_of(dim)
    symbol.origin = (value, None)
    return dim


def _plain_size(x: Any) -> int | Dim | None:
    """Return an argument as int or size, None where it is a float or data."""
    if isinstance(x, Dim) or (isinstance(x, (int, np.integer)) and not isinstance(x, bool)):
        return x if isinstance(x, Dim) else int(x)
    if isinstance(x, Value) and x.dtype.kind in "iu" and not x.ndim:
        return plain_dim(x)
    return None


def _steps(start: DimLike, stop: DimLike, step: DimLike) -> DimLike:
    """Return how many integers a range has."""
    if step == 0:
        msg = "division by zero"
        raise ZeroDivisionError(msg)
    if step > 0:
        return dim_max((stop - start + step - 1) // step, 0)
    return dim_max((start - stop - step - 1) // -step, 0)


def _length(start: Any, stop: Any, step: Any) -> DimLike:
    plain = [_plain_size(v) for v in (start, stop, step)]
    if all(v is not None for v in plain):
        return _steps(*plain)  # type: ignore[arg-type]
    first, last, by = map(as_array, (start, stop, step))  # in whose dtypes NumPy counts
    count = ceil(cast(divide(subtract(last, first), by), FLOAT64))
    return value_size(maximum(cast(count, INT64), 0), "range")


@function(
    ROWS, np.arange, api="arange", omits=_ONE,
    samples=calls(lambda m: [
        call(5, dtype=m.dtype), call(2, 9, 2, dtype=m.dtype), call(m.scalar(4)),
        call(1.5, 4.0, 0.25), call(7, 1, -2), call(0), call(m.scalar(1), m.scalar(5)),
        call(3, 1),
    ], NUMBERS),
)  # fmt: skip
def arange(
    start_or_stop: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Value:
    """Return evenly spaced numbers.

    Parameters
    ----------
    start_or_stop, stop, step : number or size
        The end is left out; the start is 0 when only one is given.
    dtype : dtype, optional
        NumPy's choice for these numbers by default.

    Notes
    -----
    Range over int64, Cast, Mul, Add: element i is start + i * delta in the result's dtype,
    where delta is the second element minus the first, as NumPy's fill functions compute it.
    """
    del device
    start, end = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    step = 1 if step is None else step
    samples = [_sample(v, n) for v, n in ((start, 0), (end, 1), (step, 1))]
    wanted = as_dtype(np.arange(*samples).dtype if dtype is None else dtype)
    n = _length(start, end, step)
    first = cast(as_array(start), wanted)
    second = cast(add(as_array(start), as_array(step)), wanted)
    delta = subtract(second, first)
    numbers = cast(iota(n), wanted)
    if _is_number(first, 0) and _is_number(delta, 1):
        return numbers
    spaced: Value = add(multiply(numbers, delta), first)
    return spaced


def _is_number(x: Value, number: int) -> bool:
    return x.known is not None and x.ndim == 0 and bool(x.known == number)


def _any_zero(step: Value) -> Value:
    """Return whether some step is zero: NumPy then divides first, for every column."""
    zero = equal(step, 0)
    return reduce_any(zero, tuple(range(zero.ndim)), keepdims=False) if zero.ndim else zero


def _spaced(
    start: Value, stop: Value, num: DimLike, div: DimLike, dtype: DType, *, is_closed: bool
) -> tuple[Value, Value]:
    """Return ``linspace`` along a new first axis, and the step."""
    delta = subtract(stop, start)
    places = reshape(cast(iota(num), dtype), (num, *(1,) * delta.ndim))
    if not (structure.is_positive(div) or isinstance(div, int) or structure.may_guard(div)):
        return _spaced_anyhow(start, stop, places, div, is_closed=is_closed)
    if div > 0:
        width = cast(as_value(div), dtype)
        # onnxruntime makes x * (1 / y) with a constant 1 into x / y
        step = reciprocal(width) if _is_number(delta, 1) else divide(delta, width)
        y = multiply(places, step)
        if delta.known is None or (delta.ndim and not delta.known.all()):
            y = choose(_any_zero(step), multiply(divide(places, width), delta), y)
    else:
        step = const(np.asarray(np.nan, dtype.numpy))
        y = multiply(places, delta)
    y = add(y, start)
    if is_closed and num > 1:
        last = broadcast_to(stop, y.shape[1:])
        y = concat([structure.take_range(y, 0, 0, num - 1), unsqueeze(last, [0])], 0)
    return y, step


def _spaced_anyhow(
    start: Value, stop: Value, places: Value, div: DimLike, *, is_closed: bool
) -> tuple[Value, Value]:
    """Return what `_spaced` does, for any number of places."""
    delta, dtype = subtract(stop, start), places.dtype
    width = cast(as_value(dim_max(div, 1)), dtype)
    step = divide(delta, width)
    y = choose(_any_zero(step), multiply(divide(places, width), delta), multiply(places, step))
    y = add(y, start)
    several = greater(cast(as_value(div), dtype), as_value(0, dtype))
    if is_closed:
        is_last = logical_and(equal(places, cast(as_value(div), dtype)), several)
        y = choose(is_last, stop, y)
    return y, choose(several, step, const(np.asarray(np.nan, dtype.numpy)))


@function(
    ROWS, np.linspace, api="linspace", ulp=within(2), scalar=True,  # the step
    samples=calls(lambda m: [
        call(0.0, m.scalar(1), 5), call(m(3), m(3), 4), call(m(3), 2, 4, axis=-1),
        call(0, m.scalar(5), 6, dtype=m.dtype), call(m(), m(), 5, endpoint=False),
        call(0, 1, 5, retstep=True), call(m.scalar(1), 2, 1), call(0.0, m.scalar(1), 0),
    ]),
)  # fmt: skip
def linspace(  # noqa: PLR0913  NumPy's signature
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return evenly spaced numbers over an interval.

    Parameters
    ----------
    start, stop : (...) array
        First and last numbers; broadcast against each other.
    num : int or Dim
        How many; a symbolic one takes guards that it is more than 1.
    endpoint : bool
        Whether `stop` is the last number.
    retstep : bool
        Whether the step is returned as well.
    dtype : dtype, optional
        Integers are rounded down.
    axis : int
        Where the new axis goes.

    Notes
    -----
    Range, Cast, Mul, Add, Concat, in NumPy's order of operations.
    """
    del device
    count = as_size(num)
    if count < 0:
        msg = f"Number of samples, {count}, must be non-negative."
        raise ValueError(msg)
    a, b = as_array(start), as_array(stop)
    inexact = result_type(a, b, 0.0)
    wanted = inexact if dtype is None else as_dtype(dtype)
    div = count - 1 if endpoint else count
    y, step = _spaced(
        cast(a, inexact), cast(b, inexact), count, div, inexact, is_closed=bool(endpoint)
    )
    y = move_axis(y, 0, normalize_axis(axis, y.ndim))
    if wanted.kind in "iu":
        y = floor(y)
    y = cast(y, wanted)
    return (y, step) if retstep else y


@function(
    ROWS, np.logspace, ulp=within(16),
    samples=calls(lambda m: [
        call(0.0, m.scalar(1), 5), call(m(3), 2.0, 3, base=2.0),
        call(0, m.scalar(3), 4, dtype=m.dtype), call(0, m.scalar(1), 3, endpoint=False),
    ], NUMBERS),
)  # fmt: skip
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Value:
    """Return powers of a base with evenly spaced exponents.

    Notes
    -----
    As linspace, and Pow.
    """
    start, stop, root = xs = [as_array(x) for x in (start, stop, base)]
    if root.ndim:  # it takes part in the meaning of `axis`
        rank = max(x.ndim for x in xs)
        start, stop, root = (unsqueeze(x, range(rank - x.ndim)) for x in xs)
        root = unsqueeze(root, [normalize_axis(axis, rank + 1)])
    y = power(root, linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else cast(y, as_dtype(dtype))


# --- conversions ---------------------------------------------------------------------------


def _converted(x: Any, dtype: Any) -> Value:
    value = as_array(x)
    return cast(value, value.dtype if dtype is None else as_dtype(dtype))


@function(
    ROWS, np.array, omits=_ONE,
    samples=calls(lambda m: [
        call(m(2, 3)), call([m.scalar(1), 2, m.scalar(0)]), call([m(3), [1, 2, 3]]),
        call(m(3), "f4"), call(m(2, 2), ndmin=3), call([[m.scalar(1)], [2.5]]), call(m()),
        call([]), call([m(2), m(2)], dtype="i4"),
    ]),
)  # fmt: skip
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
) -> Value:
    """Return an array of numbers, sizes, arrays, or nested lists of them.

    Notes
    -----
    Cast, Unsqueeze, Concat.
    """
    del copy, order, subok, ndmax
    x = _converted(object, dtype)
    return unsqueeze(x, range(max(ndmin - x.ndim, 0)))


@function(
    ROWS, np.asarray, view=True, api="asarray", omits=_ONE, aliases=(np.asanyarray,),
    samples=calls(lambda m: [
        call(m.special(2, 3)), call([m.scalar(1), 0]), call(m(3), "f4"),
        call(m(2, 3), order="F"), call(m(), copy=True), call(m(0, 2)),
        call(m(3), "f4", copy=False), call([1, 2], copy=False),
    ]),
)  # fmt: skip
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Value | View:
    """Return the array itself where it has the dtype and order, else a converted one.

    Notes
    -----
    Cast; Unsqueeze and Concat for lists.
    """
    del device
    x = as_array(a)
    y = _converted(a, dtype)
    if copy:
        return structure.fresh(y)
    if copy is False and y is not x:
        np.array([0], copy=False)  # which raises
    return _in_order(y, order) if y is x else y


def _in_order(x: Value, order: Any) -> Value | View:
    """Return what gives an array in C or F order: itself where it lies so."""
    turned = TurnView(range(x.ndim)[::-1])
    if order in {"C", "c"}:
        return ContiguousView(x.shape)
    if order in {"F", "f"}:
        return ChainView([turned, ContiguousView(x.shape[::-1]), turned])
    return x


@function(
    ROWS, np.ascontiguousarray, view=True, omits=_ONE,
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3).T), call(m()), call(m(3), "f4"),
    ]),
)  # fmt: skip
def ascontiguousarray(a: Any, dtype: Any = None) -> Value | View:
    """Return the array itself where it has the dtype, C order and an axis, else another one.

    Notes
    -----
    Cast, Unsqueeze.
    """
    x = as_array(a)
    y = _converted(a, dtype)
    if y is not x:
        return at_least(y, 1)
    return _in_order(x, "C") if x.ndim else IndexView([None])


@function(
    ROWS, np.asfortranarray, view=True, omits=_ONE,
    samples=calls(lambda m: [
        call(m.special(2, 3)), call(m(2, 3).T), call(m()), call(m(3), "f4"),
    ]),
)  # fmt: skip
def asfortranarray(a: Any, dtype: Any = None) -> Value | View:
    """Return the array itself where it has the dtype, F order and an axis, else another one.

    Notes
    -----
    Cast, Unsqueeze.
    """
    x = as_array(a)
    y = _converted(a, dtype)
    if y is not x:
        return at_least(y, 1)
    return _in_order(x, "F") if x.ndim else IndexView([None])


@function(ROWS, np.copy, samples=vectors())
def copy_row(a: Any, order: str = "K", subok: bool = False) -> Value:
    """Return a copy.

    Notes
    -----
    Values never change, so nothing is computed.
    """
    del order, subok
    return _converted(a, None)
