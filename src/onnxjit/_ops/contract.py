# SPDX-License-Identifier: Apache-2.0
"""Contractions of several axes: tensordot, einsum, outer, kron, cross, products of many."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import DimLike, broadcast_dim, dim_prod, require_equal, same
from onnxjit._core.dtypes import BOOL

from .cast import to_dtype
from .convert import as_array, as_strong, normalize_axis
from .elementwise import (
    multiply,
    negative,
    subtract,
)
from .gather import gather_nd
from .product import dot, matrix_product, size_text
from .reduce import reduce_any, reduce_sum
from .row import Function, Ufunc, function
from .samples import FUSED, call, calls, within
from .structure import (
    as_1d,
    broadcast_to,
    concat,
    iota,
    move_axis,
    reshape,
    take_range,
    transpose,
    unsqueeze,
)
from .ufunc import at_dtype, promoted, result_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

__all__ = ["ROWS", "einsum", "outer", "tensordot"]

ROWS: list[Function | Ufunc] = []


# --- tensordot, outer, kron ------------------------------------------------------------------


def _axis_pairs(axes: Any) -> tuple[list[int], list[int]]:
    if not isinstance(axes, (tuple, list, np.ndarray)):
        n = int(axes)
        return list(range(-n, 0)), list(range(n))
    first, second = axes
    pair = tuple(
        list(s) if isinstance(s, (tuple, list, np.ndarray)) else [s] for s in (first, second)
    )
    if any(len(set(s)) != len(s) for s in pair):
        msg = "duplicate axes are not allowed in tensordot"
        raise ValueError(msg)
    return pair[0], pair[1]


@function(
    ROWS, np.tensordot, ulp=within(1),
    samples=calls(lambda m: [
        call(m(3, 4), m(4, 2), 1), call(m(2, 3, 4), m(3, 4, 2)),
        call(m(2, 3, 4), m(4, 3), axes=([1, 2], [1, 0])), call(m(2), m(3), axes=0),
        call(m(2), 2, axes=0),
        call(m(2, 0), m(0, 3), axes=1),
    ]),
)  # fmt: skip
def tensordot(a: Any, b: Any, axes: Any = 2) -> Value:
    """Sum products over pairs of axes.

    Parameters
    ----------
    a, b : array
        Factors.
    axes : int, or pair of sequences of int
        How many axes (the last of `a`, the first of `b`), or which.

    Returns
    -------
    array
        The other axes of `a`, then those of `b`.

    Raises
    ------
    ValueError
        The axes do not fit.

    Notes
    -----
    Transpose, Reshape, MatMul.
    """
    x, y = promoted(as_strong(a), as_strong(b))
    first, second = _axis_pairs(axes)
    env = running_trace().env
    fits = len(first) == len(second) and all(
        require_equal(env, x.shape[i], y.shape[j]) for i, j in zip(first, second, strict=True)
    )
    if not fits:
        msg = "shape-mismatch for sum"
        raise ValueError(msg)
    over_x = [i % x.ndim for i in first]
    over_y = [i % y.ndim for i in second]
    kept_x = [i for i in range(x.ndim) if i not in over_x]
    kept_y = [i for i in range(y.ndim) if i not in over_y]
    n = dim_prod(x.shape[i] for i in over_x)
    rows = reshape(transpose(x, kept_x + over_x), (dim_prod(x.shape[i] for i in kept_x), n))
    columns = reshape(transpose(y, over_y + kept_y), (n, dim_prod(y.shape[i] for i in kept_y)))
    shape = [x.shape[i] for i in kept_x] + [y.shape[i] for i in kept_y]
    return reshape(matrix_product(rows, columns), shape)


@function(
    ROWS, np.linalg.tensordot, api="tensordot", ulp=within(1),
    samples=calls(lambda m: [call(m(3, 4), m(4, 2), axes=1), call(m(2, 3, 4), m(3, 4, 2))]),
)  # fmt: skip
def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Value:
    """Sum products over pairs of axes; see `tensordot`."""
    return tensordot(x1, x2, axes)


@function(
    ROWS, np.outer, ulp=FUSED,
    samples=calls(lambda m: [call(m.special(5), m(3)), call(m(2, 2), m()), call(m(0), m(3))]),
)  # fmt: skip
def outer(a: Any, b: Any) -> Value:
    """Return the products of each element of `a` with each of `b`, flattened.

    Notes
    -----
    Mul.
    """
    x, y = as_1d(as_strong(a)), as_1d(as_strong(b))
    result: Value = multiply(unsqueeze(x, [1]), y)
    return result


@function(
    ROWS, np.linalg.outer, ulp=FUSED,
    samples=calls(lambda m: [call(m(5), m.special(3)), call(m(0), m(3)), call(m(2, 2), m(2))]),
)  # fmt: skip
def linalg_outer(x1: Any, x2: Any, /) -> Value:
    """Return the products of each element of one vector with each of another.

    Raises
    ------
    ValueError
        An operand is not 1-d.
    """
    x, y = as_array(x1), as_array(x2)
    if x.ndim != 1 or y.ndim != 1:
        msg = (
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={x.ndim} and x2.ndim={y.ndim}."
        )
        raise ValueError(msg)
    return outer(x, y)


@function(
    ROWS, np.kron, scalar=True,
    samples=calls(lambda m: [
        call(m(2, 3), m(3, 2)), call(m(4), m(2, 2)), call(m(), m(2)), call(m(2, 0), m(2, 2)),
        call(m(2), 2), call(m(), m()),
    ]),
)  # fmt: skip
def kron(a: Any, b: Any) -> Value:
    """Return the Kronecker product: a copy of `b` times each element of `a`.

    Notes
    -----
    Mul, Reshape.
    """
    x, y = as_strong(a), as_strong(b)
    rank = max(x.ndim, y.ndim)
    if x.ndim == 0 or y.ndim == 0:
        result: Value = multiply(x, y)
        return reshape(result, ((1,) * (rank - result.ndim)) + result.shape)
    outer_sizes = (1,) * (rank - x.ndim) + x.shape
    inner_sizes = (1,) * (rank - y.ndim) + y.shape
    left = reshape(x, [s for n in outer_sizes for s in (n, 1)])
    right = reshape(y, [s for n in inner_sizes for s in (1, n)])
    product: Value = multiply(left, right)
    return reshape(product, [m * n for m, n in zip(outer_sizes, inner_sizes, strict=True)])


# --- cross -----------------------------------------------------------------------------------


def _component(x: Value, i: int) -> Value:
    return take_range(x, x.ndim - 1, i, 1)


def _vector_length(x: Value) -> int:
    env = running_trace().env
    n = x.shape[-1]
    for length in (3, 2):
        if same(n, length) or (not isinstance(n, int) and require_equal(env, n, length)):
            return length
    msg = "incompatible dimensions for cross product\n(dimension must be 2 or 3)"
    raise ValueError(msg)


def _turn(x: Value, y: Value, i: int, j: int) -> Value:
    result: Value = subtract(
        multiply(_component(x, i), _component(y, j)),
        multiply(_component(x, j), _component(y, i)),
    )
    return result


def _cross(x: Value, y: Value) -> Value:
    """Return the cross product along the last axes; the last axis of 2-d ones has length 1."""
    m, n = _vector_length(x), _vector_length(y)
    third = _turn(x, y, 0, 1)
    if m == 3 and n == 3:
        return concat([_turn(x, y, 1, 2), _turn(x, y, 2, 0), third], third.ndim - 1)
    if m == 2 and n == 2:
        return third
    if m == 2:
        first = multiply(_component(x, 1), _component(y, 2))
        second = negative(multiply(_component(x, 0), _component(y, 2)))
    else:
        first = negative(multiply(_component(x, 2), _component(y, 1)))
        second = multiply(_component(x, 2), _component(y, 0))
    return concat([first, second, third], third.ndim - 1)


@function(
    ROWS, np.cross,
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(4, 3), m(3)), call(m(3, 4), m(3, 4), axis=0),
        call(m(3, 4), m(4, 3), axisa=0, axisc=0), call(m(2, 4), m(2, 4)),
        call(m(0, 3), m(0, 3)),
    ]),
)  # fmt: skip
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Value:
    """Return the cross product of vectors of length 3 (or 2).

    Parameters
    ----------
    a, b : (..., 3, ...) or (..., 2, ...) array
        Vectors.
    axisa, axisb, axisc, axis : int
        Axes of the vectors and of the result; `axis` for all.

    Raises
    ------
    ValueError
        The vectors are of another length.

    Notes
    -----
    Slice, Mul, Sub, Concat.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_array(a), as_array(b)
    if x.ndim < 1 or y.ndim < 1:
        msg = "At least one array has zero dimension"
        raise ValueError(msg)
    x, y = promoted(x, y)
    x = move_axis(x, normalize_axis(axisa, x.ndim, "axisa"), x.ndim - 1)
    y = move_axis(y, normalize_axis(axisb, y.ndim, "axisb"), y.ndim - 1)
    flat = _vector_length(x) == 2 and _vector_length(y) == 2
    product = _cross(x, y)
    if flat:
        return reshape(product, product.shape[:-1])
    return move_axis(product, product.ndim - 1, normalize_axis(axisc, product.ndim, "axisc"))


@function(
    ROWS, np.linalg.cross,
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(4, 3), m(4, 3)), call(m(3, 4), m(3, 4), axis=0),
        call(m(2), m(2)),
    ]),
)  # fmt: skip
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Value:
    """Return the cross product of vectors of length 3.

    Raises
    ------
    ValueError
        The vectors are of another length.
    """
    x, y = as_array(x1), as_array(x2)
    sizes = [v.shape[normalize_axis(axis, v.ndim)] for v in (x, y)]
    if not all(require_equal(running_trace().env, n, 3) for n in sizes):
        msg = (
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{size_text(sizes[0])} and {size_text(sizes[1])} dimensional instead."
        )
        raise ValueError(msg)
    return cross(x, y, axis=axis)


# --- einsum ----------------------------------------------------------------------------------


class _Term:
    """An operand and the letters of its axes."""

    __slots__ = ("letters", "value")

    def __init__(self, value: Value, letters: str) -> None:
        self.value: Final = value
        self.letters: Final = letters

    def size(self, letter: str) -> DimLike:
        """Return the length of an axis."""
        return self.value.shape[self.letters.index(letter)]


def _add_up(x: Value, axes: tuple[int, ...]) -> Value:
    return (reduce_any if x.dtype is BOOL else reduce_sum)(x, axes)


def _diagonal(term: _Term, number: int) -> _Term:
    """Join axes that have the same letter."""
    value, letters = term.value, term.letters
    while len(set(letters)) < len(letters):
        i = next(k for k, c in enumerate(letters) if letters.count(c) > 1)
        j = letters.index(letters[i], i + 1)
        n, m = value.shape[i], value.shape[j]
        if not require_equal(running_trace().env, n, m):
            msg = (
                f"dimensions in operand {number} for collapsing index '{letters[i]}' don't "
                f"match ({size_text(n)} != {size_text(m)})"
            )
            raise ValueError(msg)
        rest = [k for k in range(value.ndim) if k not in (i, j)]
        places = iota(n)
        value = gather_nd(
            transpose(value, [i, j, *rest]),
            concat([unsqueeze(places, [1]), unsqueeze(places, [1])], 1),
        )
        letters = letters[i] + "".join(letters[k] for k in rest)
    return _Term(value, letters)


def _drop(term: _Term, needed: set[str]) -> _Term:
    """Sum over the letters that nothing else needs."""
    axes = tuple(i for i, c in enumerate(term.letters) if c not in needed)
    if not axes:
        return term
    left = "".join(c for c in term.letters if c in needed)
    return _Term(_add_up(term.value, axes), left)


def _arranged(term: _Term, groups: Sequence[str], sizes: dict[str, DimLike]) -> Value:
    """Return the operand with its axes in groups, axes of length 1 spread."""
    order = "".join(groups)
    x = transpose(term.value, [term.letters.index(c) for c in order])
    return broadcast_to(x, [sizes[c] for c in order])


def _grouped(x: Value, groups: Sequence[str], sizes: dict[str, DimLike], batch: str) -> Value:
    """Join each group after the batch axes to one axis."""
    lead = [sizes[c] for c in batch]
    return reshape(x, [*lead, *(dim_prod(sizes[c] for c in g) for g in groups)])


def _pair(a: _Term, b: _Term, needed: set[str], sizes: dict[str, DimLike]) -> _Term:
    """Multiply two operands and sum over the letters that nothing else needs."""
    common = [c for c in a.letters if c in b.letters]
    batch = "".join(c for c in common if c in needed)
    summed = "".join(c for c in common if c not in needed)
    left = "".join(c for c in a.letters if c not in common)
    right = "".join(c for c in b.letters if c not in common)
    if not summed:
        return _spread_product(a, b, batch + left + right)
    x = _grouped(_arranged(a, (batch, left, summed), sizes), (left, summed), sizes, batch)
    y = _grouped(_arranged(b, (batch, summed, right), sizes), (summed, right), sizes, batch)
    product = matrix_product(x, y)
    letters = batch + left + right
    return _Term(reshape(product, [sizes[c] for c in letters]), letters)


def _spread_product(a: _Term, b: _Term, letters: str) -> _Term:
    """Multiply element by element."""

    def spread(term: _Term) -> Value:
        order = [c for c in letters if c in term.letters]
        x = transpose(term.value, [term.letters.index(c) for c in order])
        return reshape(x, [term.size(c) if c in term.letters else 1 for c in letters])

    product: Value = multiply(spread(a), spread(b))
    return _Term(product, letters)


def _sizes_of(terms: Sequence[_Term]) -> dict[str, DimLike]:
    env = running_trace().env
    sizes: dict[str, DimLike] = {}
    for term in terms:
        for c, n in zip(term.letters, term.value.shape, strict=True):
            sizes[c] = broadcast_dim(env, sizes[c], n) if c in sizes else n
    return sizes


def _parsed(operands: Sequence[Any]) -> tuple[list[str], str, list[Any]]:
    """Return the letters of each operand, those of the result, and the operands.

    NumPy's own parser reads the subscripts; it is shown arrays of the right ranks.
    """
    from numpy._core.einsumfunc import _parse_einsum_input  # type: ignore[attr-defined]

    if isinstance(operands[0], str):
        arrays = [as_array(x) for x in operands[1:]]
        shown: list[Any] = [operands[0], *(np.empty((1,) * x.ndim) for x in arrays)]
    else:
        pairs = len(operands) // 2
        arrays = [as_array(operands[2 * i]) for i in range(pairs)]
        shown = list(operands)
        for i, x in enumerate(arrays):
            shown[2 * i] = np.empty((1,) * x.ndim)
    try:
        inputs, output, _ = _parse_einsum_input(shown)
    except ValueError:
        np.einsum(*shown)  # whose message is another
        raise
    return inputs.split(","), output, arrays


@function(
    ROWS, np.einsum, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call("ij,jk->ik", m(2, 3), m(3, 4)), call("ii", m(3, 3)), call("ii->i", m(3, 3)),
        call("ij->ji", m.special(2, 3)), call("i,j", m(3), m(2)),
        call("...ij,...jk", m(2, 2, 3), m(3, 2)), call("ij->", m(3, 4)),
        call("ij,ij,ij->i", m(2, 3), m(2, 3), m(2, 3)), call(m(2, 3), [0, 1], m(3), [1], [0]),
        call("ij,j->i", m(2, 0), m(0)),
    ]),
)  # fmt: skip
def einsum(
    *operands: Any,
    optimize: Any = False,  # noqa: ARG001  pairs are contracted from the left
    dtype: Any = None,
    casting: Any = "safe",
    order: str = "K",  # noqa: ARG001
) -> Value:
    """Evaluate Einstein's summation convention.

    Parameters
    ----------
    *operands
        Subscripts and arrays, or arrays and lists of axis numbers.
    optimize
        Operands are contracted in pairs from the left, whatever it says.
    dtype : dtype, optional
        What is multiplied.
    casting : str
        Which casts to that are allowed.

    Raises
    ------
    TypeError
        `casting` does not allow a cast.
    ValueError
        The subscripts or the shapes do not fit.

    Notes
    -----
    MatMul for each pair with a common letter that is summed, Mul for others; integers wrap
    exactly, bool is an or of ands.
    """
    letters, output, arrays = _parsed(operands)
    wanted = result_type(*arrays) if dtype is None else to_dtype(dtype)
    for i, x in enumerate(arrays):
        if not np.can_cast(x.dtype.numpy, wanted.numpy, casting):
            msg = (
                f"Iterator operand {i} dtype could not be cast from {x.dtype.numpy!r} to "
                f"{wanted.numpy!r} according to the rule '{casting}'"
            )
            raise TypeError(msg)
    values = [at_dtype(x, wanted) for x in arrays]
    for i, (text, v) in enumerate(zip(letters, values, strict=True)):
        if len(text) != v.ndim:
            more = len(text) < v.ndim
            msg = (
                "operand has more dimensions than subscripts given in einstein sum, but no "
                "'...' ellipsis provided to broadcast the extra dimensions."
                if more
                else "einstein sum subscripts string contains too many subscripts for operand "
                f"{i}"
            )
            raise ValueError(msg)
    terms = [
        _diagonal(_Term(v, t), i) for i, (t, v) in enumerate(zip(letters, values, strict=True))
    ]
    sizes = _sizes_of(terms)
    whole = terms[0]
    for i, term in enumerate(terms[1:], 1):
        later = set(output).union(*(t.letters for t in terms[i + 1 :]))
        first = _drop(whole, later | set(term.letters))
        whole = _pair(first, _drop(term, later | set(first.letters)), later, sizes)
    whole = _drop(whole, set(output))
    x = transpose(whole.value, [whole.letters.index(c) for c in output])
    return broadcast_to(x, [sizes[c] for c in output])


@function(
    ROWS, np.linalg.multi_dot, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call([m(2, 3), m(3, 4), m(4, 2)]), call([m(3), m(3, 4), m(4, 2)]),
        call([m(2, 3), m(3)]), call([m(3), m(3, 2), m(2)]),
    ]),
)  # fmt: skip
def multi_dot(arrays: Sequence[Any]) -> Value:
    """Multiply several matrices, from the left; the first and last may be vectors.

    Raises
    ------
    ValueError
        There are fewer than two.
    LinAlgError
        There are more than two, and one is no matrix, or no vector at an end.

    Notes
    -----
    MatMul.  NumPy chooses the order of products by the sizes, so rounding may differ.
    """
    factors = [as_array(a) for a in arrays]
    if len(factors) < 2:
        msg = "Expecting at least two arrays."
        raise ValueError(msg)
    last = len(factors) - 1
    for place, x in enumerate(factors):
        if last > 1 and x.ndim != 2 and not (x.ndim == 1 and place in (0, last)):
            msg = f"{x.ndim}-dimensional array given. Array must be two-dimensional"
            raise np.linalg.LinAlgError(msg)
    return reduce(dot, factors)
