# SPDX-License-Identifier: Apache-2.0
"""Sliding products of vectors: convolution, correlation, products of polynomials."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim, dim_max, dim_min, hint_of
from onnxjit._core.dtypes import FLOAT16, FLOAT32
from onnxjit._core.region import cond, loop

from .cast import cast
from .complex_parts import conjugate
from .convert import as_strong
from .elementwise import add, isfinite, multiply
from .gather import gather
from .product import matrix_product
from .reduce import reduce_all
from .row import Function, Ufunc, function
from .samples import COMPLEX, call, calls, within
from .structure import (
    broadcast_to,
    iota,
    is_positive,
    is_zero,
    may_guard,
    pad,
    reshape,
    reverse,
    take_range,
    transpose,
    unsqueeze,
    zero_of,
)
from .ufunc import promoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

    from .samples import Make

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

_MODES: Final = ("valid", "same", "full")
#: length of blocks that fit the caches and the kernels of products, and the longest one
_BLOCK: Final = 64
_LONGEST: Final = 512


def _mode(mode: Any) -> str:
    """Return the name of a mode, which NumPy takes by its number or first letter too."""
    if isinstance(mode, (int, np.integer)) and 0 <= mode < len(_MODES):
        return _MODES[int(mode)]
    if not isinstance(mode, str) or mode not in _MODES:
        np.correlate([0.0], [0.0], mode=mode)  # NumPy's refusal
        return next(name for name in _MODES if name[0] == mode[0].lower())
    return mode


def _size(n: DimLike) -> DimLike:
    """Return a size, which the first graphs of a call freeze: there are sums of sizes."""
    if isinstance(n, Dim) and may_guard(n) and n.env.freezes:
        return operator.index(n)
    return n


def _margins(mode: str, n: DimLike) -> tuple[DimLike, DimLike]:
    """Return how far the shorter vector may stick out in front and behind."""
    if mode == "valid":
        return 0, 0
    return (n - 1, n - 1) if mode == "full" else (n // 2, n - n // 2 - 1)


def _slide(a: Value, v: Value, mode: str) -> Value:
    """Return the sums of products of `v` with each stretch of `a`.

    It is not shorter, unless the mode is "full".
    """
    low, high = _margins(mode, _size(v.shape[0]))
    made = _blocks(a, v, low, high)
    if a.dtype.kind not in "fc":
        return made
    is_right = reduce_all(isfinite(made), (0,))
    (result,) = cond(is_right, lambda: [made], lambda: [_in_turn(a, v, low, high)])
    return result


def _block_length(count: DimLike, n: DimLike) -> int:
    """Return how many sums are made by one row of a product of matrices.

    For `count` sums of `n` products it has rows of ``n + length``, and `count / length` of
    them; the other matrix has `length` such rows.
    """
    sums, width = hint_of(count), hint_of(n)
    if sums is None or width is None:
        return _BLOCK
    length = min(max(math.isqrt(sums), _BLOCK), max(width, _BLOCK // 2), _LONGEST)
    return 1 << (length - 1).bit_length()


def _blocks(a: Value, v: Value, low: DimLike, high: DimLike) -> Value:
    """Return the sums as a product of matrices; one that is not finite spoils its neighbours.

    Row s of the one matrix are the numbers that make the sums from ``s * length``, row t of
    the other is `v` from place t, between zeros.
    """
    m, n = _size(a.shape[0]), _size(v.shape[0])
    count = m + low + high - n + 1
    length = _block_length(count, n)
    rows, depth = (count + length - 1) // length, (n + 2 * length - 2) // length
    zero = as_value(zero_of(a.dtype))
    padded = pad(a, (low,), ((rows + depth - 1) * length - low - m,), zero)
    blocks = reshape(padded, (rows + depth - 1, length))
    place = add(unsqueeze(iota(rows), [1]), iota(depth))
    stretches = reshape(gather(blocks, place), (rows, depth * length))
    made = matrix_product(stretches, transpose(_shifted(v, length, depth * length), (1, 0)))
    return take_range(reshape(made, (rows * length,)), 0, 0, count)


def _shifted(v: Value, count: int, width: DimLike) -> Value:
    """Return rows with `v` from places 0, 1, 2 ..., between zeros.

    In rows of one more than the width the copies lie below each other.
    """
    row = pad(v, (0,), (width + 1 - _size(v.shape[0]),), as_value(zero_of(v.dtype)))
    copies = reshape(
        broadcast_to(unsqueeze(row, [0]), (count, width + 1)), ((width + 1) * count,)
    )
    return reshape(take_range(copies, 0, 0, width * count), (count, width))


def _in_turn(a: Value, v: Value, low: DimLike, high: DimLike) -> Value:
    """Return the sums, of which each has its own products only, one after the other."""
    m, n, dtype = _size(a.shape[0]), _size(v.shape[0]), a.dtype
    count = m + low + high - n + 1
    wide = FLOAT32 if dtype is FLOAT16 else dtype
    a, v, zero = cast(a, wide), cast(v, wide), as_value(zero_of(wide))
    after = count + n - 1 - low - m

    def body(j: Value, sums: Value) -> tuple[list[Value], list[Value]]:
        products = pad(multiply(a, gather(v, j)), (low,), (after,), zero)
        return [add(sums, gather(products, add(iota(count), j)))], []

    (sums,), _ = loop(n, body, [broadcast_to(zero, (count,))])
    return cast(sums, dtype)


def _is_longer(v: DimLike, a: DimLike, mode: str) -> bool | None:
    """Whether to exchange two vectors, None where a model has to find out.

    Full sums do not depend on it; they cost less if the second vector is the shorter one.
    """
    if is_positive(v - a):
        return True
    if is_positive(a - v + 1):
        return False
    if mode == "full":
        known, other = hint_of(v), hint_of(a)
        return known is not None and other is not None and known > other
    return bool(v > a) if may_guard(v) and may_guard(a) else None


def _cut(full: Any, mode: str, m: DimLike, n: DimLike, *, flips: bool) -> Any:
    """Return the part that a mode leaves of all sums of a vector of m and one of n.

    With `flips` the sums are in reverse order where the first vector is the shorter one.
    """
    long, short = dim_max(m, n), dim_min(m, n)
    if mode == "valid":
        return take_range(full, 0, short - 1, long - short + 1)
    start = short - 1 - short // 2
    if flips:
        start += dim_min(dim_max(n - m, 0), 1) * (2 * (short // 2) - short + 1)
    return take_range(full, 0, start, long)


def _vectors(a: Any, v: Any) -> list[Any]:
    """Return arrays of one dtype; numbers and lists have their own."""
    return promoted(as_strong(a), as_strong(v))


def _check_rank(*xs: Any) -> None:
    for x in xs:
        if x.ndim != 1:
            np.correlate(np.zeros((1,) * xs[0].ndim), np.zeros((1,) * xs[1].ndim))


def _samples(m: Make) -> Iterator[Any]:
    for mode in _MODES:
        yield call(m(7), m(3), mode)
        yield call(m(2), m(5), mode=mode)
        yield call(m(4), m(4), mode=mode)
        yield call(m(5), [1, 0, 2, 1], mode=mode)
    if m.dtype not in COMPLEX:  # which parts of infinite ones become NaN is up to BLAS
        yield call(m.special(6), m.special(3), "full")
    yield call(m.wide(6), m.wide(3), "same")
    yield call(m(1), m(1), "full")


@function(ROWS, np.correlate, ulp=within(8), samples=calls(_samples))
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Return sums of products of two vectors, one shifted against the other.

    Parameters
    ----------
    a, v : (m), (n) array
        Not empty; complex numbers of `v` are conjugated.
    mode : {"valid", "same", "full"}
        How far they overlap.

    Returns
    -------
    (k) array
        ``max(m, n) - min(m, n) + 1``, ``max(m, n)`` or ``m + n - 1`` sums.

    Raises
    ------
    ValueError
        A vector is empty or not 1-d, or the mode unknown.

    Notes
    -----
    Gather, MatMul: in blocks of some dozens of sums.  Where results are not finite they are
    added in a Loop, so that each has its own products only.  Which vector is longer takes a
    guard, not for "full"; models for all sizes cut the part out of all sums.  Integers are
    exact.
    """
    x, y = _vectors(a, v)
    _check_rank(x, y)
    for w, name in ((x, "first"), (y, "second")):
        if is_zero(w.shape[0]):
            msg = f"{name} array argument cannot be empty"
            raise ValueError(msg)
    chosen = _mode(mode)
    longer = _is_longer(y.shape[0], x.shape[0], chosen)
    if longer is None:
        full = _slide(x, conjugate(y), "full")
        return _cut(full, chosen, x.shape[0], y.shape[0], flips=True)
    if longer:
        return reverse(_slide(conjugate(y), x, chosen), [0])
    return _slide(x, conjugate(y), chosen)


@function(ROWS, np.convolve, ulp=within(8), samples=calls(_samples))
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Return the convolution of two vectors.

    Parameters
    ----------
    a, v : (m), (n) array
        Not empty.
    mode : {"full", "same", "valid"}
        How far they overlap.

    Raises
    ------
    ValueError
        A vector is empty or not 1-d, or the mode unknown.

    Notes
    -----
    As `correlate` with the shorter vector reversed.
    """
    x, y = (reshape(w, (1,)) if w.ndim == 0 else w for w in _vectors(a, v))
    if is_zero(x.shape[0]):
        msg = "a cannot be empty"
        raise ValueError(msg)
    if is_zero(y.shape[0]):
        msg = "v cannot be empty"
        raise ValueError(msg)
    _check_rank(x, y)
    chosen = _mode(mode)
    longer = _is_longer(y.shape[0], x.shape[0], chosen)
    if longer is None:
        full = _slide(x, reverse(y, [0]), "full")
        return _cut(full, chosen, x.shape[0], y.shape[0], flips=False)
    if longer:
        x, y = y, x
    return _slide(x, reverse(y, [0]), chosen)
