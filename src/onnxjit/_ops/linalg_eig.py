# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of general matrices, from their Schur form.

The rows of `eigen_values` and `eigen_pairs` always give complex numbers.  `sources_polynomial`
has what is traced for NumPy's functions, whose results are real where every eigenvalue is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import dim_value
from onnxjit._core.dtypes import COMPLEX128, WHOLE, DType
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import conjugate, imag_part, is_complex, make_complex, real_part
from .elementwise import (
    absolute,
    add,
    divide,
    equal,
    greater,
    isfinite,
    less,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    negative,
    sign,
    sqrt,
    subtract,
    where,
)
from .gather import gather, scatter_nd
from .linalg_base import Stack, common_types, fail_where, square, void_where
from .linalg_jacobi import (
    EPS,
    TINY,
    batch_first,
    batch_last,
    safe_scale,
    scaled,
    sum_of_squares,
    with_peaks,
)
from .linalg_schur import Schur, flat
from .product import matrix_product
from .reduce import reduce_all, reduce_max, reduce_sum
from .row import Function, Sample, Ufunc, function
from .samples import Make, call, calls
from .sources_polynomial import eigen_pairs, eigen_values, is_empty
from .structure import broadcast_to, const, iota, may_guard, reshape, transpose, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

    Step = tuple[Sequence[Value], Sequence[Value]]

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

#: eigenvectors are scaled down where they grow beyond this
_LARGE: Final = 1e100


# --- blocks of two rows ----------------------------------------------------------------------


class Blocks:
    """The eigenvalues of a real Schur form, and what makes it triangular.

    Attributes
    ----------
    values : (n, B) complex Value
        In the order of the diagonal; pairs are exact conjugates, real ones are exactly real.

    Notes
    -----
    A block ``[[a, b], [c, d]]`` has the eigenvalues ``d + z`` and ``d - b*c/z`` with
    ``z = p + sign(p)*sqrt(p**2 + b*c)``, ``p = (a - d)/2``, if they are real, and the vector
    ``(z, c)`` for the first.
    """

    __slots__ = ("_bottom", "_top", "_x", "_y", "values")

    def __init__(self, t: Value, below: Value) -> None:
        n = t.shape[0]
        places, size = iota(n), dim_value(n)
        self._top: Final = _next_row(below)
        self._bottom: Final = below
        elements = flat(t)
        own = multiply(places, add(size, 1))
        after = minimum_place(add(own, size), n)
        a = gather(elements, own)
        d = gather(elements, minimum_place(add(own, add(size, 1)), n))
        b = gather(elements, minimum_place(add(own, 1), n))
        c = gather(elements, after)
        p = multiply(subtract(a, d), 0.5)
        product = multiply(b, c)
        square_ = add(multiply(p, p), product)
        is_pair = less(square_, 0.0)
        root = sqrt(absolute(square_))
        z = add(p, multiply(sign(add(sign(p), 0.5)), root))
        first = where(is_pair, add(d, p), add(d, z))
        safe = where(equal(z, 0.0), 1.0, z)
        second = where(is_pair, add(d, p), subtract(d, divide(product, safe)))
        im = where(is_pair, root, 0.0)
        top, bottom = self._top, self._bottom
        re = where(top, first, where(bottom, _previous_row(second), a))
        im = where(top, im, where(bottom, negative(_previous_row(im)), 0.0))
        self.values: Final[Value] = make_complex(re, im)
        x = make_complex(where(is_pair, p, z), where(is_pair, root, 0.0))
        length = sqrt(add(sum_of_squares(unsqueeze(x, [0]), (0,)), multiply(c, c)))
        inverse = divide(1.0, where(equal(length, 0.0), 1.0, length))
        self._x: Final = scaled(inverse, x)
        self._y: Final = multiply(inverse, c)

    def columns(self, m: Value) -> Value:
        """Return the rows of (n, m, B) turned with the transposed rotations."""
        return self._turned(m, conjugate_x=False)

    def rows(self, m: Value) -> Value:
        """Return the rows of (n, m, B) turned with the adjoint rotations."""
        return self._turned(m, conjugate_x=True)

    def _turned(self, m: Value, *, conjugate_x: bool) -> Value:
        """Turn rows of blocks by ``[[x, y], [-y, x.conj()]]``, x conjugated or not."""
        x, y = self._x, self._y
        own_top = conjugate(x) if conjugate_x else x
        own_bottom = _previous_row(x if conjugate_x else conjugate(x))
        one = cast(const(np.asarray(1.0)), x.dtype)
        own = where(self._top, own_top, where(self._bottom, own_bottom, one))
        up = where(self._top, y, 0.0)
        down = where(self._bottom, negative(_previous_row(y)), 0.0)
        result: Value = add(
            multiply(unsqueeze(own, [1]), m),
            add(
                scaled(unsqueeze(up, [1]), _next_row(m)),
                scaled(unsqueeze(down, [1]), _previous_row(m)),
            ),
        )
        return result


def minimum_place(places: Value, n: Any) -> Value:
    """Return places in a flat (n, n) matrix, at most the last."""
    size = dim_value(n)
    result: Value = minimum(places, subtract(multiply(size, size), 1))
    return result


def _next_row(x: Value) -> Value:
    """Return each row's successor; the last row's is itself, or false."""
    n = x.shape[0]
    places = iota(n)
    last = subtract(dim_value(n), 1)
    found = gather(x, minimum(add(places, 1), last))
    if x.dtype.kind != "b":
        return found
    result: Value = logical_and(found, unsqueeze(less(places, last), [1]))
    return result


def _previous_row(x: Value) -> Value:
    return gather(x, maximum(subtract(iota(x.shape[0]), 1), 0))


# --- vectors ---------------------------------------------------------------------------------


def _eigenvectors(t: Value, values: Value) -> Value:
    """Return the eigenvectors in columns of triangular (n, n, B) matrices, any length.

    Notes
    -----
    Back substitution for all eigenvalues at once.  A difference of eigenvalues below ulp is
    taken as ulp, and vectors that grow are scaled, as in LAPACK's xTREVC.
    """
    n, _, batch = t.shape
    last = subtract(dim_value(n), 1)
    size = sqrt(sum_of_squares(unsqueeze(values, [0]), (0,)))
    least = maximum(multiply(size, EPS), TINY / EPS)  # (k, B)
    numbers = unsqueeze(iota(n), [1])
    floor = make_complex(least, multiply(least, 0.0))

    def step(counter: Value, y: Value) -> Step:
        i = subtract(last, counter)
        at = unsqueeze(i, [0])
        row = reshape(gather(t, at), (n, batch))
        own = gather(values, at)  # (1, B)
        rest = negative(reduce_sum(multiply(unsqueeze(row, [1]), y), (0,)))
        apart = subtract(own, values)
        near = less(sqrt(sum_of_squares(unsqueeze(apart, [0]), (0,))), least)
        found = divide(rest, where(near, floor, apart))
        later = cast(greater(numbers, i), size.dtype)
        new = add(scaled(later, found), cast(cast(equal(numbers, i), size.dtype), t.dtype))
        grown = maximum(absolute(real_part(new)), absolute(imag_part(new)))
        factor = where(greater(grown, _LARGE), divide(1.0, maximum(grown, 1.0)), 1.0)
        y = scatter_nd(y, unsqueeze(at, [0]), unsqueeze(new, [0]))
        return [scaled(factor, y)], []

    zero = cast(const(np.zeros(())), t.dtype)
    (y,), _none = loop(n, step, [broadcast_to(zero, (n, n, batch))])
    return y


def _normalised(rows: Value) -> Value:
    """Return rows of length 1."""
    peak = maximum(absolute(real_part(rows)), absolute(imag_part(rows)))
    peak = reduce_max(peak, (1,), keepdims=True)
    rows = scaled(divide(1.0, where(greater(peak, 0.0), peak, 1.0)), rows)
    length = sqrt(sum_of_squares(rows, (1,), keepdims=True))
    return scaled(divide(1.0, where(greater(length, 0.0), length, 1.0)), rows)


def _whole(x: Value) -> Value:
    return x if is_complex(x) else cast(x, COMPLEX128)


def _product(a: Value, b: Value) -> Value:
    return batch_last(matrix_product(batch_first(a), batch_first(b)))


def _solved(a: Value, *, vectors: bool) -> tuple[Value, Value | None, Value]:
    """Return (n, B) eigenvalues, (n, n, B) vectors in rows, and which matrices failed."""
    scale = safe_scale(a)
    schur = Schur(scaled(scale, a), vectors=vectors)
    n = a.shape[0]
    if is_complex(a):
        form, basis = schur.form, schur.vectors
        places = multiply(iota(n), add(dim_value(n), 1))
        values = gather(flat(form), places)
    else:
        blocks = Blocks(schur.form, schur.below)
        values, form, basis = blocks.values, _whole(schur.form), None
        if schur.vectors is not None:
            form = blocks.rows(form)
            form = _turn_columns(blocks, form)
            basis = _turn_columns(blocks, _whole(schur.vectors))
    found = None
    if basis is not None:
        columns = _product(basis, _eigenvectors(form, values))
        found = with_peaks(_normalised(transpose(columns, [1, 0, 2])))[0]
    values = scaled(divide(1.0, scale), values)
    return values, found, schur.unfinished


def _turn_columns(blocks: Blocks, m: Value) -> Value:
    return transpose(blocks.columns(transpose(m, [1, 0, 2])), [1, 0, 2])


# --- what `sources_polynomial` calls ---------------------------------------------------------


def _prepared(a: Any) -> tuple[Stack, DType]:
    x = square(a)
    compute, result = common_types(x)
    return Stack(x, compute), WHOLE.get(result, result)


def _refuse(stack: Stack, unfinished: Value) -> Value:
    """Let NumPy raise for what is not finite, or did not converge; say which matrices."""
    x = stack.value
    finite = logical_and(isfinite(real_part(x)), isfinite(imag_part(x)))
    bad: Value = logical_or(logical_not(reduce_all(finite, (1, 2))), unfinished)
    fail_where(bad)
    return bad


_BOUNDS: Final = dict.fromkeys(("complex64", "complex128"), 64.0)


def _matrices(m: Make) -> list[Sample]:
    """Return calls whose results are determined up to rounding."""
    shapes = (np.ones((1, 1)), np.diag([3, 1, 2]), np.zeros((0, 0)), np.zeros((2, 0, 3, 3)))
    return [call(a.astype(m.dtype)) for a in shapes] + [call(m(3)), call(m(2, 3))]


@function(ROWS, eigen_values, ulp=_BOUNDS, floor=16.0, samples=calls(_matrices))
def _values_row(a: Any) -> Value:
    """Return complex eigenvalues; see `sources_polynomial`."""
    stack, result = _prepared(a)
    values, _, unfinished = _solved(batch_last(stack.value), vectors=False)
    bad = _refuse(stack, unfinished)
    return stack.unpack(void_where(bad, batch_first(values)), result)


@function(ROWS, eigen_pairs, ulp=_BOUNDS, floor=16.0, samples=calls(_matrices))
def _pairs_row(a: Any) -> tuple[Value, Value]:
    """Return complex eigenvalues and eigenvectors in columns; see `sources_polynomial`."""
    stack, result = _prepared(a)
    values, rows, unfinished = _solved(batch_last(stack.value), vectors=True)
    bad = _refuse(stack, unfinished)
    assert rows is not None  # vectors were asked for
    columns = batch_first(transpose(rows, [1, 0, 2]))
    return (
        stack.unpack(void_where(bad, batch_first(values)), result),
        stack.unpack(void_where(bad, columns), result),
    )


@function(ROWS, is_empty, samples=calls(lambda m: [call(m(3)), call(m(0))]))
def _empty_row(a: Any) -> bool:
    """Return whether a vector has no elements, where the graph may count on it."""
    n = a.shape[0]
    return bool(n == 0) if isinstance(n, int) or may_guard(n) else False
