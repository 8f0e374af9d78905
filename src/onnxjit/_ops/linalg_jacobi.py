# SPDX-License-Identifier: Apache-2.0
"""Plane rotations in parallel: what the methods of Jacobi and of Hestenes share.

A round turns disjoint pairs of rows at once.  Rows stand in an order in which row i of the
first half meets row i of the second; between rounds all but the first move one place around
the table, as in a tournament, so that after as many rounds as there are rows, less one, each
pair has met once and all are back where they were.  Source: R. P. Brent and F. T. Luk, "The
solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays", SIAM
J. Sci. Stat. Comput. 6, 1985.

Stacks of matrices have their leading axis last here, (n, m, B): one operation then works on
whole rows of memory, whatever the size of the matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnxjit._core.bind import dim_value

from .cast import cast
from .complex_parts import conjugate, imag_part, is_complex, make_complex, real_part
from .elementwise import (
    absolute,
    add,
    divide,
    equal,
    less,
    log2,
    maximum,
    minimum,
    multiply,
    negative,
    power,
    rint,
    sign,
    sqrt,
    subtract,
    where,
)
from .gather import gather, gather_elements
from .linalg_base import adjoint, place_of_largest
from .product import matrix_product
from .reduce import reduce_max, reduce_sum
from .structure import (
    broadcast_to,
    concat,
    const,
    iota,
    take_range,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value

__all__ = [
    "EPS",
    "SWEEPS",
    "TINY",
    "Rotation",
    "Table",
    "batch_first",
    "batch_last",
    "direction",
    "in_order",
    "polished",
    "safe_scale",
    "scaled",
    "shifted",
    "squared_size",
    "sum_of_squares",
    "unit_rows",
    "with_peaks",
]  # fmt: skip

EPS: Final = float(np.finfo(np.float64).eps)
TINY: Final = float(np.finfo(np.float64).tiny)
#: more sweeps than any matrix was seen to need: about 10 do for 1000 rows
SWEEPS: Final = 40


# --- arithmetic ------------------------------------------------------------------------------


def scaled(x: Value, z: Value) -> Value:
    """Multiply by a real value, part by part."""
    if is_complex(z):
        return make_complex(multiply(x, real_part(z)), multiply(x, imag_part(z)))
    result: Value = multiply(x, z)
    return result


def squared_size(z: Value) -> Value:
    """Return ``abs(z) ** 2``."""
    re = real_part(z)
    result: Value = multiply(re, re)
    if is_complex(z):
        im = imag_part(z)
        result = add(result, multiply(im, im))
    return result


def direction(z: Value, size: Value) -> Value:
    """Return ``z / abs(z)``, 1 for 0."""
    if not is_complex(z):
        side: Value = sign(add(sign(z), 0.5))
        return side
    zero = equal(size, 0.0)
    length = where(zero, 1.0, size)
    re = where(zero, 1.0, divide(real_part(z), length))
    return make_complex(re, divide(imag_part(z), length))


def batch_last(x: Value) -> Value:
    """Move the leading axis to the end."""
    return transpose(x, [*range(1, x.ndim), 0])


def batch_first(x: Value) -> Value:
    """Move the last axis to the front."""
    return transpose(x, [x.ndim - 1, *range(x.ndim - 1)])


# --- rotations -------------------------------------------------------------------------------


class Rotation:
    """The rotation that makes the Hermitian matrix ``[[p, a], [conj(a), q]]`` diagonal.

    Row p becomes ``c * p - w * q``, row q becomes ``conj(w) * p + c * q``; the diagonal
    becomes ``p - shift`` and ``q + shift``.  Its angle is at most 45 degrees.

    Notes
    -----
    The smaller root of ``t**2 + 2*tau*t = 1``, as in G. H. Golub and C. F. Van Loan, "Matrix
    Computations", 4th ed., section 8.5.2, written without a division by `a`: nothing is
    divided by zero, and `a` of 0 gives exactly the identity.
    """

    __slots__ = ("c", "shift", "w")

    def __init__(self, p: Value, q: Value, a: Value) -> None:
        d = subtract(q, p)
        r2 = squared_size(a)
        root = sqrt(maximum(add(multiply(d, d), multiply(r2, 4.0)), TINY))
        side = sign(add(sign(d), 0.5))  # 1 for 0 too
        t = divide(multiply(side, 2.0), add(absolute(d), root))
        self.shift: Final[Value] = multiply(t, r2)
        self.c: Final[Value] = divide(1.0, sqrt(add(multiply(t, self.shift), 1.0)))
        self.w: Final[Value] = scaled(multiply(self.c, t), a)


# --- the tournament --------------------------------------------------------------------------


class Table:
    """An even number of rows, and how they move between rounds.

    Parameters
    ----------
    n : int or Dim
        How many rows there are; an odd number gets one more.

    Attributes
    ----------
    half, size : int or Dim
        How many pairs, and rows.
    rounds : int or Dim
        How many rounds let every pair meet once.
    """

    __slots__ = ("_from", "_partner", "_slot", "half", "rounds", "size")

    def __init__(self, n: DimLike) -> None:
        k = self.half = (n + 1) // 2
        self.size = 2 * k
        self.rounds = 2 * k - 1
        place, half = iota(self.size), dim_value(k)
        top = where(equal(place, 0), 0, where(equal(place, 1), half, subtract(place, 1)))
        # of one pair, nobody moves
        end = maximum(subtract(half, 1), subtract(2, half))
        last = equal(place, subtract(multiply(half, 2), 1))
        bottom = where(last, end, add(place, 1))
        self._from: Value = where(less(place, half), top, bottom)
        upper = less(self._from, half)
        self._slot: Value = where(upper, self._from, subtract(self._from, half))
        self._partner: Value = where(upper, add(self._from, half), self._slot)

    def partners(self) -> Value:
        """Return the (size, size) truth values of "these two meet in this round"."""
        place, half = iota(self.size), dim_value(self.half)
        apart = absolute(subtract(unsqueeze(place, [1]), place))
        result: Value = equal(apart, half)
        return result

    def meetings(self) -> Value:
        """Return where the elements ``[i, i + half]`` are in a flat (size, size) matrix."""
        i = iota(self.half)
        wide = multiply(dim_value(self.half), 2)
        result: Value = add(multiply(i, add(wide, 1)), dim_value(self.half))
        return result

    def halves(self, x: Value) -> tuple[Value, Value]:
        """Return the rows of both halves."""
        return take_range(x, 0, 0, self.half), take_range(x, 0, self.half, self.half)

    def moved(self, x: Value) -> Value:
        """Return rows in the order of the next round."""
        return gather(x, self._from)

    def turn(self, rotation: Rotation) -> Callable[[Value], Value]:
        """Return what turns (size, m, B) rows by a (half, B) rotation and moves them."""
        own = unsqueeze(gather(rotation.c, self._slot), [1])
        both = concat([negative(rotation.w), conjugate(rotation.w)], 0)
        other = unsqueeze(gather(both, self._from), [1])

        def turned(x: Value) -> Value:
            partners = multiply(other, gather(x, self._partner))
            result: Value = add(scaled(own, gather(x, self._from)), partners)
            return result

        return turned


def sum_of_squares(x: Value, axes: tuple[int, ...], *, keepdims: bool = False) -> Value:
    """Return sums of squared sizes over axes."""
    return reduce_sum(squared_size(x), axes, keepdims=keepdims)


def safe_scale(x: Value) -> Value:
    """Return the powers of two (B,) that bring the largest element of (n, m, B) near 1.

    Zero for matrices with an infinite element; the products are then NaN.
    """
    most: Value = absolute(real_part(x))
    if is_complex(x):
        most = maximum(most, absolute(imag_part(x)))
    most = reduce_max(most, (0, 1))
    exponent = rint(log2(maximum(most, TINY)))
    result: Value = power(2.0, minimum(negative(exponent), 1000.0))
    return result


def unit_rows(n: DimLike, m: DimLike, like: Value) -> Value:
    """Return the (n, m, 1) identity of the dtype of a value."""
    found = cast(equal(unsqueeze(iota(n), [1]), iota(m)), real_part(like).dtype)
    return cast(unsqueeze(found, [2]), like.dtype)


def shifted(x: Value, z: Value) -> Value:
    """Add a real value to both parts."""
    if is_complex(z):
        return make_complex(add(x, real_part(z)), add(x, imag_part(z)))
    result: Value = add(x, z)
    return result


def polished(rows: Value) -> Value:
    """Return nearly orthonormal (r, n, B) rows made orthonormal.

    Notes
    -----
    One step of Newton and Schulz, ``(3*I - V @ V.H) @ V / 2``: an error of 1e-14, which is
    what many rotations add up to, is squared.  Source: N. J. Higham, "Functions of Matrices",
    2008, section 8.3.
    """
    v = batch_first(rows)
    r = rows.shape[0]
    excess = subtract(matrix_product(v, adjoint(v)), batch_first(unit_rows(r, r, rows)))
    return batch_last(subtract(v, matrix_product(scaled(half_of(rows), excess), v)))


def half_of(like: Value) -> Value:
    """Return a () constant of 0.5."""
    return const(np.asarray(0.5, real_part(like).dtype.numpy))


def with_peaks(rows: Value, *others: Value) -> tuple[Value, ...]:
    """Multiply (r, n, B) rows, and others along with them, by one factor of size 1 each.

    It makes the largest component of each row, the first of equal ones, real and positive.
    """
    size = squared_size(rows)
    place = place_of_largest(size, 1)
    peak = gather_elements(rows, place, 1)
    factor: Value
    if is_complex(rows):
        length = sqrt(gather_elements(size, place, 1))
        factor = scaled(divide(1.0, length), conjugate(peak))
    else:
        factor = sign(peak)
    return tuple(multiply(factor, x) for x in (rows, *others))


def in_order(rows: Value, order: Value) -> Value:
    """Return (r, n, B) rows in an (r, B) order."""
    return gather_elements(rows, broadcast_to(unsqueeze(order, [1]), rows.shape), 0)
