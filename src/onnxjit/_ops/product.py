# SPDX-License-Identifier: Apache-2.0
"""Matrix products: the primitive, and what NumPy builds on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dims import Dim, DimLike, broadcast_shapes, hint_of, lower, require_equal
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

from .structure import squeeze, unsqueeze

if TYPE_CHECKING:
    from onnxjit._core.op import Emit, Handle
    from onnxjit._core.program import Equation, Value

__all__ = ["matmul", "matrix_product"]

#: dtype -> the one whose MatMul is exact for it (modulo 2**n for integers)
_THROUGH: Final = {
    BOOL: FLOAT32, FLOAT16: FLOAT32, INT8: INT32, INT16: INT32, UINT8: INT32, UINT16: INT32,
    UINT32: INT64, UINT64: INT64,
}  # fmt: skip
#: kernels that fail on a contraction of length 0 only
_NOT_EMPTY: Final = (UINT32, UINT64)

_NO_CORE: Final = (
    "matmul: Input operand {0} does not have enough dimensions (has 0, gufunc core with "
    "signature (n?,k),(k,m?)->(n?,m?) requires 1)"
)
_MISMATCH: Final = (
    "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
    "(n?,k),(k,m?)->(n?,m?) (size {1} is different from {0})"
)


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
    MatMul.  Integers wrap as NumPy's do; bool is an or of ands (a float32 sum of ones and
    zeros, which is zero only when every term is); float16 runs in float32, rounded once.
    """
    return bind_one(PRODUCT, a, b)


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
    for i, operand in enumerate((a, b)):
        if operand.ndim == 0:
            raise ValueError(_NO_CORE.format(i))
    same_length(a.shape[-1], b.shape[0 if b.ndim == 1 else -2], _MISMATCH)
    row, column = a.ndim == 1, b.ndim == 1
    left = unsqueeze(a, [0]) if row else a
    right = unsqueeze(b, [1]) if column else b
    product = matrix_product(left, right)
    last = product.ndim - 1
    return squeeze(product, [*([last - 1] if row else []), *([last] if column else [])])
