# SPDX-License-Identifier: Apache-2.0
"""Sliding products of vectors: convolution, correlation, products of polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value, dim_value
from onnxjit._core.dims import dim_max, dim_min
from onnxjit._core.dtypes import BOOL, INT64

from .cast import cast
from .complex_parts import conjugate
from .convert import as_strong
from .elementwise import (
    add,
    greater_equal,
    less,
    logical_and,
    maximum,
    minimum,
    multiply,
    subtract,
)
from .elementwise import where as pick
from .gather import gather
from .product import matvec
from .reduce import reduce_any
from .row import Function, Ufunc, function
from .samples import COMPLEX, call, calls, within
from .statistics import total
from .structure import (
    iota,
    is_positive,
    is_zero,
    may_guard,
    reshape,
    reverse,
    take_range,
    unsqueeze,
)
from .ufunc import promoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._core.dims import DimLike

    from .samples import Make

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

_MODES: Final = ("valid", "same", "full")


def _mode(mode: Any) -> str:
    """Return the name of a mode, which NumPy takes by its number or first letter too."""
    if isinstance(mode, (int, np.integer)) and 0 <= mode < len(_MODES):
        return _MODES[int(mode)]
    if not isinstance(mode, str) or mode not in _MODES:
        np.correlate([0.0], [0.0], mode=mode)  # NumPy's refusal
        return next(name for name in _MODES if name[0] == mode[0].lower())
    return mode


def _number(n: DimLike) -> Any:
    return cast(dim_value(n), INT64)


def _margins(mode: str, n: DimLike) -> tuple[DimLike, DimLike]:
    """Return how far the shorter vector may stick out in front and behind."""
    if mode == "valid":
        return 0, 0
    return (n - 1, n - 1) if mode == "full" else (n // 2, n - n // 2 - 1)


def _slide(a: Any, v: Any, mode: str) -> Any:
    """Return the sums of products of `v` with each stretch of `a`, which is not shorter."""
    m, n = a.shape[0], v.shape[0]
    low, high = _margins(mode, n)
    start = subtract(iota(m + low + high - n + 1), _number(low))
    place = add(unsqueeze(start, [1]), iota(n))
    if mode == "valid":
        return _products(gather(a, place), v)
    zero, last = as_value(0, INT64), _number(m - 1)
    inside = logical_and(greater_equal(place, zero), less(place, _number(m)))
    taken = gather(a, maximum(minimum(place, last), zero))
    return _masked_products(taken, v, inside)


def _products(windows: Any, v: Any) -> Any:
    return matvec(windows, v)


def _masked_products(windows: Any, v: Any, inside: Any) -> Any:
    """Add products inside only: what lies outside is no zero, which makes NaN of infinity."""
    if v.dtype is BOOL:
        return reduce_any(logical_and(logical_and(windows, v), inside), (1,))
    if v.dtype.kind in "iu":
        return matvec(pick(inside, windows, as_value(0, v.dtype)), v)
    products = pick(inside, multiply(windows, v), as_value(0, v.dtype))
    return total(products, 1, v.dtype.numpy)


def _is_longer(v: DimLike, a: DimLike) -> bool | None:
    """Whether one size is above another, None where a model has to find out."""
    if is_positive(v - a):
        return True
    if is_positive(a - v + 1):
        return False
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
    Gather, Mul, ReduceSum over windows: a matrix of k rows.  Which vector is longer takes a
    guard, not for "full"; models for all sizes cut the part out of all sums.  Integers are
    exact.
    """
    x, y = _vectors(a, v)
    _check_rank(x, y)
    for w, name in ((x, "first"), (y, "second")):
        if is_zero(w.shape[0]):
            msg = f"{name} array argument cannot be empty"
            raise ValueError(msg)
    chosen, longer = _mode(mode), _is_longer(y.shape[0], x.shape[0])
    if longer is None and chosen != "full":
        full = _slide(x, conjugate(y), "full")
        return _cut(full, chosen, x.shape[0], y.shape[0], flips=True)
    if longer and chosen != "full":
        return conjugate(reverse(_slide(y, conjugate(x), chosen), [0]))
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
    chosen, longer = _mode(mode), _is_longer(y.shape[0], x.shape[0])
    if longer is None and chosen != "full":
        full = _slide(x, reverse(y, [0]), "full")
        return _cut(full, chosen, x.shape[0], y.shape[0], flips=False)
    if longer and chosen != "full":
        x, y = y, x
    return _slide(x, reverse(y, [0]), chosen)
