# SPDX-License-Identifier: Apache-2.0
"""Matrix products: the primitive, and what NumPy builds on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dims import (
    Dim,
    DimLike,
    broadcast_shapes,
    dim_prod,
    hint_of,
    lower,
    require_equal,
)
from onnxjit._core.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from onnxjit._core.op import Op

from .complex_parts import conjugate, imag_part, is_complex, make_complex, real_part
from .convert import as_array, as_strong, normalize_axis
from .elementwise import add, multiply, subtract
from .row import Function, Ufunc, function
from .samples import call, calls, within
from .structure import as_1d, move_axis, reshape, squeeze, unsqueeze
from .ufunc import promoted

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["ROWS", "dot", "matmul", "matrix_product"]

ROWS: list[Function | Ufunc] = []

#: dtype -> the one whose MatMul is exact for it (modulo 2**n for integers)
_THROUGH: Final = {
    BOOL: FLOAT32, FLOAT16: FLOAT32, INT8: INT32, INT16: INT32, UINT8: INT32, UINT16: INT32,
    UINT32: INT64, UINT64: INT64,
}  # fmt: skip
#: kernels that fail on a contraction of length 0 only
_NOT_EMPTY: Final = (UINT32, UINT64)

_NO_CORE: Final = (
    "{0}: Input operand {1} does not have enough dimensions (has {2}, gufunc core with "
    "signature {3} requires {4})"
)
_MISMATCH: Final = (
    "{0}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
    "{1} (size {{1}} is different from {{0}})"
)
_MATMUL: Final = "(n?,k),(k,m?)->(n?,m?)"


def _product_shape(a: Tensor, b: Tensor) -> Tensor:
    env = next((n.env for n in (*a.shape, *b.shape) if isinstance(n, Dim)), None)
    env = running_trace().env if env is None else env
    batch = broadcast_shapes(env, a.shape[:-2], b.shape[:-2])
    return Tensor(a.dtype, (*batch, a.shape[-2], b.shape[-1]))


def _lower_product(e: Emit, equation: Equation, a: Handle, b: Handle) -> Handle:
    through = _THROUGH.get(a.dtype, a.dtype)
    if a.dtype in _NOT_EMPTY and (lower(equation.inputs[0].shape[-1]) or 0) > 0:
        through = a.dtype
    return e.cast(e.op("MatMul", e.cast(a, through), e.cast(b, through)), a.dtype)


PRODUCT: Final = Op(
    "matmul",
    result=_product_shape,
    lower={13: _lower_product},
    evaluate=np.matmul,
)


def matrix_product(a: Value, b: Value) -> Value:
    """Multiply matrices of one dtype, (..., n, k) by (..., k, m); k is known to agree.

    Notes
    -----
    MatMul; four, of the parts, for complex numbers.  Integers wrap as NumPy's do; bool is an
    or of ands (a float32 sum of ones and zeros, which is zero only when every term is);
    float16 runs in float32, rounded once.
    """
    if is_complex(a):
        return _complex_product(a, b)
    return bind_one(PRODUCT, a, b)


def _complex_product(a: Value, b: Value) -> Value:
    (p, q), (r, s) = ((real_part(z), imag_part(z)) for z in (a, b))
    re = subtract(matrix_product(p, r), matrix_product(q, s))
    return make_complex(re, add(matrix_product(p, s), matrix_product(q, r)))


def size_text(n: DimLike) -> str:
    """Return a size for a message: the example's where it is symbolic."""
    hint = hint_of(n)
    return str(n if hint is None else hint)


def same_length(a: DimLike, b: DimLike, message: str) -> None:
    """Require equal sizes.

    Raises
    ------
    ValueError
        They differ; `message` is formatted with both.
    """
    if not require_equal(running_trace().env, a, b):
        raise ValueError(message.format(size_text(a), size_text(b)))


def _check_core(
    name: str, signature: str, operands: tuple[Value, ...], ranks: tuple[int, ...]
) -> None:
    for i, (x, rank) in enumerate(zip(operands, ranks, strict=True)):
        if x.ndim < rank:
            raise ValueError(_NO_CORE.format(name, i, x.ndim, signature, rank))


def matmul(a: Value, b: Value) -> Value:
    """Multiply as ``np.matmul`` does, for operands of one dtype.

    Parameters
    ----------
    a : (k) or (..., n, k)
        Left factor.
    b : (k) or (..., k, m)
        Right factor.

    Returns
    -------
    (..., n, m)
        Without n where `a` is 1-d, and without m where `b` is.

    Raises
    ------
    ValueError
        An operand is 0-d, or the inner sizes differ.

    Notes
    -----
    MatMul; a 1-d right operand becomes a column, for which onnxruntime is 30 times faster.
    """
    _check_core("matmul", _MATMUL, (a, b), (1, 1))
    same_length(
        a.shape[-1], b.shape[0 if b.ndim == 1 else -2], _MISMATCH.format("matmul", _MATMUL)
    )
    row, column = a.ndim == 1, b.ndim == 1
    left = unsqueeze(a, [0]) if row else a
    right = unsqueeze(b, [1]) if column else b
    product = matrix_product(left, right)
    last = product.ndim - 1
    return squeeze(product, [*([last - 1] if row else []), *([last] if column else [])])


# --- the other generalised ufuncs ------------------------------------------------------------


def vecdot(a: Value, b: Value) -> Value:
    """Multiply vectors along the last axis, (..., n) by (..., n)."""
    _check_core("vecdot", "(n),(n)->()", (a, b), (1, 1))
    same_length(a.shape[-1], b.shape[-1], _MISMATCH.format("vecdot", "(n),(n)->()"))
    product = matrix_product(unsqueeze(conjugate(a), [a.ndim - 1]), unsqueeze(b, [b.ndim]))
    return squeeze(product, [product.ndim - 2, product.ndim - 1])


def matvec(a: Value, b: Value) -> Value:
    """Multiply matrices by vectors, (..., m, n) by (..., n)."""
    _check_core("matvec", "(m,n),(n)->(m)", (a, b), (2, 1))
    same_length(a.shape[-1], b.shape[-1], _MISMATCH.format("matvec", "(m,n),(n)->(m)"))
    product = matrix_product(a, unsqueeze(b, [b.ndim]))
    return squeeze(product, [product.ndim - 1])


def vecmat(a: Value, b: Value) -> Value:
    """Multiply vectors by matrices, (..., n) by (..., n, m)."""
    _check_core("vecmat", "(n),(n,m)->(m)", (a, b), (1, 2))
    same_length(a.shape[-1], b.shape[-2], _MISMATCH.format("vecmat", "(n),(n,m)->(m)"))
    product = matrix_product(unsqueeze(conjugate(a), [a.ndim - 1]), b)
    return squeeze(product, [product.ndim - 2])


ROWS += [
    Ufunc(
        np.matmul,
        matmul,
        api="matmul",
        ulp=within(1),
        floor="operands",
        samples=calls(
            lambda m: [
                call(m(2, 3), m(3, 4)),
                call(m(3), m(3)),
                call(m(3), m(3, 2)),
                call(m(2, 3), m(3)),
                call(m(2, 2, 3), m(2, 3, 4)),
                call(m(2, 1, 2, 3), m(3, 3, 2)),
                call(m(2, 0), m(0, 3)),
                call(m(0, 3), m(3, 2)),
                call(m(2, 3), m(2, 3)),
                call(m(), m(2, 2)),
                call(m(2, 3, 4), m(3, 2, 4), axes=[(0, 1), (0, 1), (1, 2)]),
                call(m(2, 3), m(2, 4), axes=[(1, 0), (0, 1), (1, 0)]),
                call(m(2, 3), m(3), axis=0),
                call(m(2, 3), m(3, 2), keepdims=True),
                call(m(2, 3), m(3), axes=[(0, 1)]),
            ]
        ),
    ),
    Ufunc(
        np.vecdot,
        vecdot,
        api="vecdot",
        ulp=within(1),
        floor="operands",
        samples=calls(
            lambda m: [
                call(m(3), m(3)),
                call(m(2, 3), m(3)),
                call(m(2, 0), m(2, 0)),
                call(m(2, 1, 3), m(4, 3)),
                call(m(2, 3), m(2, 3), axis=0),
                call(m(2, 3), m(3), keepdims=True),
                call(m(2, 3), m(2, 3), axis=0, keepdims=True),
                call(m(2, 3), m(3, 2), axes=[0, 1]),
                call(m(2, 3), m(2, 3), axis=2),
                call(m(3), m(2)),
                call(m(), m(2)),
            ]
        ),
    ),
    Ufunc(
        np.matvec,
        matvec,
        ulp=within(1),
        floor="operands",
        samples=calls(
            lambda m: [
                call(m(2, 3), m(3)),
                call(m(4, 2, 3), m(4, 3)),
                call(m(2, 0), m(0)),
                call(m(2, 3), m(2)),
            ]
        ),
    ),
    Ufunc(
        np.vecmat,
        vecmat,
        ulp=within(1),
        floor="operands",
        samples=calls(
            lambda m: [
                call(m(3), m(3, 2)),
                call(m(4, 3), m(4, 3, 2)),
                call(m(0), m(0, 2)),
                call(m(2), m(3, 2)),
            ]
        ),
    ),
]


@function(
    ROWS, np.linalg.matmul, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call(m(2, 3), m(3, 4)), call(m(3), m(3)), call(m(3), m(3, 2)), call(m(2, 3), m(3)),
        call(m(2, 2, 3), m(2, 3, 4)), call(m(2, 1, 2, 3), m(3, 3, 2)), call(m(2, 0), m(0, 3)),
        call(m(0, 3), m(3, 2)), call(m(2, 3), m(2, 3)), call(m(), m(2, 2)),
    ]),
)  # fmt: skip
def linalg_matmul(x1: Any, x2: Any, /) -> Value:
    """Multiply matrices; see `matmul`."""
    return matmul(*promoted(as_array(x1), as_array(x2)))


@function(
    ROWS, np.linalg.vecdot, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(2, 3), m(3)), call(m(2, 3), m(2, 3), axis=0),
        call(m(2, 0), m(2, 0)), call(m(3), m(2)),
    ]),
)  # fmt: skip
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Value:
    """Multiply vectors along an axis; see `vecdot`."""
    moved = (
        move_axis(v, normalize_axis(axis, v.ndim), v.ndim - 1)
        for v in promoted(as_array(x1), as_array(x2))
    )
    return vecdot(*moved)


# --- dot and its kin -------------------------------------------------------------------------


def _shape_text(x: Value) -> str:
    sizes = [size_text(n) for n in x.shape]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _contract(a: Value, b: Value, axis: int) -> Value:
    """Sum products over the last axis of `a` and one axis of `b`."""
    last = a.ndim - 1
    if not require_equal(running_trace().env, a.shape[last], b.shape[axis]):
        msg = (
            f"shapes {_shape_text(a)} and {_shape_text(b)} not aligned: "
            f"{size_text(a.shape[last])} (dim {last}) != "
            f"{size_text(b.shape[axis])} (dim {axis})"
        )
        raise ValueError(msg)
    if b.ndim <= 2 and (a.ndim <= 2 or b.ndim == 2):
        return matmul(a, b if b.ndim == 1 else move_axis(b, axis, 0))
    if b.ndim == 1:
        return matmul(a, b)
    right = move_axis(b, axis, 0)
    k = right.shape[0]
    left = reshape(a, (dim_prod(a.shape[:-1]), k))
    flat = reshape(right, (k, dim_prod(right.shape[1:])))
    return reshape(matrix_product(left, flat), (*a.shape[:-1], *right.shape[1:]))


@function(
    ROWS, np.dot, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call(m(2, 3), m(3, 4)), call(m(3), m(3)), call(m(2, 3), m(3)),
        call(m(2, 2, 3), m(2, 3, 4)), call(m(2, 3), 2), call(m(), m(3)),
        call(m(2, 0), m(0, 3)), call(m(2), m(3)), call(m.scalar(1), m.scalar(1)),
    ]),
)  # fmt: skip
def dot(a: Any, b: Any) -> Value:
    """Sum products over the last axis of `a` and the second-last (or only) axis of `b`.

    Parameters
    ----------
    a, b : array
        Factors; a 0-d one multiplies.

    Raises
    ------
    ValueError
        The lengths of these axes differ.

    Notes
    -----
    MatMul; accuracy as in `matrix_product`.  A 0-d factor multiplies, as NumPy documents it;
    BLAS inside NumPy makes 0.0 of 0.0 times -1.0, infinity or NaN there.
    """
    x, y = as_strong(a), as_strong(b)
    if x.ndim == 0 or y.ndim == 0:
        result: Value = multiply(x, y)
        return result
    x, y = promoted(x, y)
    return _contract(x, y, max(y.ndim - 2, 0))


@function(
    ROWS, np.inner, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(2, 3), m(4, 3)), call(m(2, 3), m(3)), call(m(2), 2),
        call(m(2, 3), m(2, 2)), call(m(0), m(0)),
    ]),
)  # fmt: skip
def inner(a: Any, b: Any, /) -> Value:
    """Sum products over the last axes; a 0-d factor multiplies.

    Notes
    -----
    MatMul.
    """
    x, y = as_strong(a), as_strong(b)
    if x.ndim == 0 or y.ndim == 0:
        result: Value = multiply(x, y)
        return result
    x, y = promoted(x, y)
    if y.ndim == 2:
        y = move_axis(y, 1, 0)
        return _contract(x, y, 0)
    return _contract(x, y, y.ndim - 1)


@function(
    ROWS, np.vdot, scalar=True, ulp=within(1),
    samples=calls(lambda m: [
        call(m(3), m(3)), call(m(2, 3), m(3, 2)), call(m(2), m(3)), call(m(0), m(0)),
        call(m(), m()),
    ]),
)  # fmt: skip
def vdot(a: Any, b: Any, /) -> Value:
    """Sum products of all elements, the first factor conjugated.

    Raises
    ------
    ValueError
        The numbers of elements differ.

    Notes
    -----
    MatMul.
    """
    x, y = (as_1d(v) for v in promoted(as_strong(a), as_strong(b)))
    x = conjugate(x)
    same_length(x.shape[0], y.shape[0], "cannot reshape array of size {1} into shape ({0},)")
    return matmul(x, y)
