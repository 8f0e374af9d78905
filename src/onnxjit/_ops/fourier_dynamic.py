# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms of a length that only a run of the model knows.

The functions are those of `fourier`, for the same planes.  One graph serves every length: it
looks for divisors itself, makes its tables when it runs, and goes the way of the chirp where
divisors do not suffice.  Angles are reduced exactly for lengths below 4e7.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind, dim_value, running_trace
from onnxjit._core.dtypes import FLOAT64, INT64
from onnxjit._core.op import Op
from onnxjit._core.region import cond, loop

from .cast import cast
from .elementwise import (
    add,
    divide,
    equal,
    greater,
    greater_equal,
    less_equal,
    logical_and,
    logical_or,
    multiply,
    negative,
    reciprocal,
    sqrt,
)
from .elementwise import where as pick
from .elementwise_base import Term, formula, joined_shape
from .elementwise_integer import REMAINDER
from .fourier import swapped
from .fourier_tables import roots
from .gather import compress, gather
from .product import matrix_product
from .reduce import reduce_max, reduce_min
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    pad,
    reshape,
    reverse,
    take_range,
    transpose,
    unsqueeze,
    zero_of,
)

if TYPE_CHECKING:
    from onnxjit._core.dims import Dim, DimLike
    from onnxjit._core.dtypes import DType
    from onnxjit._core.program import Value

__all__ = ["from_half", "scale_of", "transform", "transform_real"]

#: what may divide a length: up to `_ALWAYS`, or up to its cube root
_DIVISORS: Final = np.arange(1, 513)
_ALWAYS: Final = 64
#: longest last step
_LONGEST: Final = 512
_POWERS: Final = np.int64(1) << np.arange(50)


# --- roots of unity ------------------------------------------------------------------------


def _root_result(k: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
    aval = Tensor(FLOAT64, joined_shape(k.shape, n.shape))
    return aval, aval


def _root(k: Term, n: Term) -> tuple[Term, Term]:
    """Return cosine and sine of ``-2 * pi * k / n``; every number but them is an integer.

    The kernels are right to 3 units in the last place within an eighth of a turn.
    """
    quarters = (k * 4 / n).op("Round")
    angle = (k * 4 - quarters * n) * (math.pi / 2) / n
    cosine, sine = angle.op("Cos"), angle.op("Sin")
    turns = quarters - (quarters * 0.25).op("Floor") * 4
    a, b = abs(turns - 2) - 1, 1 - abs(turns - 1)  # cosine and sine of the quarter turns
    return cosine * a - sine * b, (sine * a + cosine * b) * -1


ROOT: Final = Op(
    "root_of_unity",
    result=_root_result,
    lower={1: formula(_root)},
    evaluate=lambda k, n: roots(k.astype(np.int64) % n.astype(np.int64), int(n)),
    rowwise=True,
)


def _roots(places: Value, n: Value, dtype: DType) -> tuple[Value, Value]:
    """Return roots of unity at float64 places, rounded once to a dtype."""
    re, im = bind(ROOT, places, n)
    return cast(re, dtype), cast(im, dtype)


# --- numbers that the graph finds ----------------------------------------------------------


def _number(n: DimLike) -> Value:
    return cast(dim_value(n), INT64)


def _real(n: DimLike) -> Value:
    return cast(dim_value(n), FLOAT64)


def _places(n: DimLike) -> Value:
    return cast(iota(n), FLOAT64)


def _as_size(value: Value) -> Dim:
    """Return a () int64 that is at least 1 as a size."""
    env = running_trace((value,)).env
    size: Dim = env.symbol(f"part{value.id}", lower=1, data=True, origin=(value, None))
    return size


def _part(n: Value, divisor: Value) -> Value:
    """Return an int64 quotient that is one: exact in float64, and never 0 / 0."""
    return cast(divide(cast(n, FLOAT64), cast(divisor, FLOAT64)), INT64)


def _largest_divisor(n: Value, power: int) -> Value:
    """Return the largest divisor of n up to `_ALWAYS`, or whose power is not above n."""
    every = const(_DIVISORS)
    divides = equal(REMAINDER.implementation(n, every), const(np.int64(0)))
    is_short = logical_or(const(_DIVISORS <= _ALWAYS), less_equal(const(_DIVISORS**power), n))
    found = pick(logical_and(divides, is_short), every, const(np.int64(1)))
    return reduce_max(found, (0,))


def _steps_of(n: Value) -> tuple[Value, Value]:
    """Return the lengths of three steps as a vector, and the last one."""
    first = _largest_divisor(n, 3)
    rest = _part(n, first)
    second = _largest_divisor(rest, 2)
    last = _part(rest, second)
    return concat([reshape(r, (1,)) for r in (first, second, last)], 0), last


# --- steps ---------------------------------------------------------------------------------


def _matrix(r: Dim, dtype: DType) -> Value:
    """Return the real matrix (2 r, 2 r) of a step, parts outermost on both sides."""
    k = _places(r)
    re, im = _roots(multiply(unsqueeze(k, [1]), k), _real(r), dtype)
    upper, lower = concat([re, negative(im)], 1), concat([im, re], 1)
    return concat([upper, lower], 0)


def _step(x: Value, r: Dim, m: Dim, done: Dim) -> Value:
    """Do a step of length r after those whose lengths make the product `done`.

    The planes are (batch, 2, r, m, done) before, with m what is left for later steps, and
    (batch, 2, m, r, done) after it: so that the results come out in order.
    Source: the autosort algorithm of T. Stockham (C. Van Loan, "Computational Frameworks for
    the Fast Fourier Transform", 1992, 1.7).
    """
    batch = x.shape[0]
    columns = reshape(x, (batch, 2 * r, m * done))
    a = reshape(matrix_product(_matrix(r, x.dtype), columns), (batch, 2, r, m, done))
    places = multiply(unsqueeze(_places(r), [1]), _places(m))
    re, im = _roots(places, multiply(_real(r), _real(m)), x.dtype)
    re, im = (reshape(w, (1, r, m, 1)) for w in (re, im))
    crossed = multiply(swapped(a), concat([negative(im), im], 0))
    return reshape(transpose(add(multiply(a, re), crossed), (0, 1, 3, 2, 4)), x.shape)


def _forward(x: Value, n: DimLike, steps: Value) -> Value:
    """Transform planes by steps whose lengths are data and make n."""
    steps = compress(steps, greater(steps, const(np.int64(1))), 0)

    def body(i: Value, x: Value, done: Value, left: Value) -> Any:
        r = gather(steps, i)
        m = _part(left, r)
        y = _step(x, _as_size(r), _as_size(m), _as_size(done))
        return [y, multiply(done, r), m], []

    (y, _, _), _ = loop(steps.shape[0], body, [x, const(np.int64(1)), _number(n)])
    return y


def _turned(x: Value, re: Value, im: Value) -> Value:
    """Multiply planes by complex numbers along their last axis."""
    sides = concat([unsqueeze(negative(im), [0]), unsqueeze(im, [0])], 0)
    result: Value = add(multiply(x, re), multiply(swapped(x), sides))
    return result


def _chirped(x: Value, n: DimLike) -> Value:
    """Transform planes as a convolution with a chirp, whose spectrum is one more vector."""
    dtype, batch = x.dtype, x.shape[0]
    powers, least = const(_POWERS), _number(2 * n - 1)
    enough = pick(greater_equal(powers, least), powers, const(_POWERS[-1]))
    size = reduce_min(enough, (0,))
    m = _as_size(size)
    k = _places(n)
    re, im = _roots(multiply(k, k), _real(2 * n), dtype)
    zero = as_value(zero_of(dtype))
    gap = broadcast_to(zero, (m - 2 * n + 1,))
    wave = [
        reshape(concat([w, gap, reverse(take_range(w, 0, 1, n - 1), [0])], 0), (1, 1, m))
        for w in (re, negative(im))
    ]
    a = pad(_turned(x, re, im), (0, 0, 0), (0, 0, m - n), zero)
    a = reshape(a, (batch, 2, m))
    a = concat([concat(wave, 1), a], 0)
    steps, _ = _steps_of(size)
    spectra = _forward(a, m, steps)
    kernel = reshape(take_range(spectra, 0, 0, 1), (2, m))
    a = take_range(spectra, 0, 1, batch)
    a = _turned(a, *(reshape(take_range(kernel, 0, i, 1), (m,)) for i in (0, 1)))
    a = swapped(_forward(swapped(a), m, steps))
    a = multiply(take_range(a, 2, 0, n), cast(reciprocal(_real(m)), dtype))
    return _turned(a, re, im)


# --- what `fourier` offers too -------------------------------------------------------------


def scale_of(n: Dim, dtype: DType, *, root: bool) -> Value:
    """Return ``1 / n`` or ``1 / sqrt(n)`` as NumPy computes it, in a real dtype."""
    number = cast(dim_value(n), dtype)
    result: Value = reciprocal(sqrt(number) if root else number)
    return result


def _scaled(x: Value, scale: Any) -> Value:
    if not hasattr(scale, "dtype") and scale == 1.0:
        return x
    result: Value = multiply(x, cast(as_value(scale), x.dtype))
    return result


def transform(x: Value, n: Dim, *, inverse: bool, scale: Any = 1.0) -> Value:
    """Return the discrete Fourier transform of planes.

    Parameters
    ----------
    x : (batch, 2, n) float32 or float64
        Planes.
    n : Dim
        At least 1.
    inverse : bool
        Whether angles are positive.
    scale : float or () Value
        What the result is multiplied by.

    Returns
    -------
    (batch, 1, 2, n) dtype of `x`

    Notes
    -----
    If, Loop over up to three steps of MatMul, Mul, Add and Transpose; Cos and Sin of n angles
    each time.
    """
    return unsqueeze(_planes(x, n, inverse=inverse, scale=scale), [1])


def _planes(x: Value, n: Dim, *, inverse: bool, scale: Any) -> Value:
    steps, last = _steps_of(_number(n))
    shape = (x.shape[0], 2, n)
    given = swapped(x) if inverse else x
    (y,) = cond(
        less_equal(last, const(np.int64(_LONGEST))),
        lambda: [reshape(_forward(given, n, steps), shape)],
        lambda: [reshape(_chirped(given, n), shape)],
    )
    return _scaled(swapped(y) if inverse else y, scale)


def transform_real(x: Value, n: Dim, rows: DimLike, *, scale: Any = 1.0) -> Value:
    """Return the forward transform of (batch, n) real numbers as (batch, 1, 2, rows).

    Notes
    -----
    `transform` with imaginary parts of 0.
    """
    planes = unsqueeze(x, [1])
    planes = pad(planes, (0, 0, 0), (0, 1, 0), as_value(zero_of(x.dtype)))
    return take_range(transform(planes, n, inverse=False, scale=scale), 3, 0, rows)


def from_half(x: Value, n: Dim, *, scale: Any = 1.0) -> Value:
    """Return the (batch, n) inverse transform of half a Hermitian spectrum.

    Notes
    -----
    `transform` of the whole spectrum, whose first and middle numbers count as real.
    """
    batch, half = x.shape[0], n // 2 + 1
    k = iota(half)
    is_real = logical_or(equal(k, const(np.int64(0))), equal(add(k, k), _number(n)))
    one, zero = (const(np.asarray(v, x.dtype.numpy)) for v in (1, 0))
    weights = pick(is_real, zero, one)
    weights = concat([broadcast_to(one, (1, half)), unsqueeze(weights, [0])], 0)
    x = multiply(x, weights)
    other = reverse(take_range(x, 2, 1, (n - 1) // 2), [2])
    sides = const(np.array([[1], [-1]], x.dtype.numpy))
    whole = reshape(concat([x, multiply(other, sides)], 2), (batch, 2, n))
    made = _planes(whole, n, inverse=True, scale=scale)
    return reshape(take_range(made, 1, 0, 1), (batch, n))
