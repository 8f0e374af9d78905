# SPDX-License-Identifier: Apache-2.0
"""Determinants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dtypes import PART
from onnxjit._core.region import loop

from .cast import cast
from .complex_parts import is_complex
from .elementwise import absolute, add, divide, exp, less, log, multiply, negative, where
from .gather import gather
from .linalg_base import Stack, assumed, common_types, either, fixed_size, square
from .linalg_lu import eliminate
from .linalg_small import SMALL, SmallElimination
from .reduce import reduce_prod, reduce_sum
from .row import Function, Ufunc, function
from .samples import MATRICES, call, calls, regular, within
from .structure import broadcast_to, const, reshape, transpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.dtypes import DType
    from onnxjit._core.program import Value

__all__ = ["ROWS", "det", "slogdet"]

ROWS: list[Function | Ufunc] = []

#: NumPy's class of results
_SIGN_AND_LOG: Final[Any] = type(np.linalg.slogdet(np.zeros((0, 0))))


def _sign_and_log(stack: Stack) -> tuple[Value, Value]:
    """Return (B,) signs, in the dtype of the matrices, and (B,) logarithms."""
    x = stack.value
    few = fixed_size(x.shape[2], SMALL)
    if few:
        small = SmallElimination(assumed(x, (x.shape[0], few, few)))
        pivots, is_odd = small.pivots, small.is_odd()
        singular = small.is_singular()
        nothing = const(np.float64(0))
    else:
        done = eliminate(x, x.shape[2])
        pivots, is_odd = transpose(done.pivots, [1, 0]), done.is_odd()
        singular = done.is_singular()
        nothing = where(done.has_nan, np.nan, 0.0)
    sizes = absolute(pivots)
    if is_complex(x):
        sign = _product(divide(pivots, cast(sizes, x.dtype)))
    else:
        sign = reduce_prod(where(less(pivots, 0), -1.0, 1.0), (0,))
    sign = either(is_odd, negative(sign), sign)
    logarithm = add(reduce_sum(log(sizes), (0,)), nothing)
    zero = const(np.zeros((), x.dtype.numpy))
    nowhere = const(np.float64(-np.inf))
    return either(singular, zero, sign), either(singular, nowhere, logarithm)


def _product(x: Value) -> Value:
    """Multiply (n, B) numbers along the first axis."""
    one = const(np.ones((), x.dtype.numpy))

    def body(j: Value, made: Value) -> tuple[Sequence[Value], Sequence[Value]]:
        return [multiply(made, gather(x, j, 0))], []

    (made,), _ = loop(x.shape[0], body, [broadcast_to(one, x.shape[1:])])
    return made


def _flat(stack: Stack, x: Value, dtype: DType) -> Value:
    """Return (B,) results with the leading axes of the operand."""
    return reshape(cast(x, dtype), stack.lead)


#: matrices that both functions are tried on
_STACKS: Final = calls(
    lambda m: [
        call(regular(m, 3, 3)), call(regular(m, 2, 5, 5)), call(m(0, 0)), call(m(0, 3, 3)),
        call(m(2, 0, 0)), call(regular(m, 2, 2, 7, 7)), call(m(4, 4) * 0),
        call(m(3)), call(m(2, 3)),
    ],
    MATRICES,
)  # fmt: skip


@function(
    ROWS, np.linalg.slogdet, scalar=True, ulp=within(64), floor="operands",
    samples=_STACKS,
)  # fmt: skip
def slogdet(a: Any) -> Any:
    """Return sign and logarithm of the absolute value of each determinant.

    Parameters
    ----------
    a : (..., n, n) array
        Matrices; integers and bool as float64.

    Returns
    -------
    sign : (...) array
        1.0 or -1.0, 0.0 for an exactly singular matrix; of absolute value 1 for complex
        matrices.
    logabsdet : (...) real array
        -inf for an exactly singular matrix; NaN where NaN came up.

    Raises
    ------
    LinAlgError
        The operand is not a stack of square matrices.
    TypeError
        The operand is float16.

    Notes
    -----
    The pivots of `eliminate`, Log, ReduceSum; in double precision, as NumPy computes it.
    """
    x = square(a)
    inner, outer = common_types(x)
    stack = Stack(x, inner)
    sign, logarithm = _sign_and_log(stack)
    return _SIGN_AND_LOG(
        _flat(stack, sign, outer), _flat(stack, logarithm, PART.get(outer, outer))
    )


@function(
    ROWS, np.linalg.det, scalar=True, ulp=within(512), floor="operands",
    samples=_STACKS,
)  # fmt: skip
def det(a: Any) -> Value:
    """Return the determinant of each matrix of the last two axes.

    Parameters
    ----------
    a : (..., n, n) array
        Matrices; integers and bool as float64.

    Returns
    -------
    (...) float32, float64, complex64 or complex128
        1.0 for matrices of no rows, 0.0 for exactly singular ones.

    Raises
    ------
    LinAlgError
        The operand is not a stack of square matrices.
    TypeError
        The operand is float16.

    Notes
    -----
    Sign times Exp of the logarithm of `slogdet`, as NumPy computes it: of the range of a
    product of pivots nothing is lost on the way.
    """
    x = square(a)
    inner, outer = common_types(x)
    stack = Stack(x, inner)
    sign, logarithm = _sign_and_log(stack)
    size = exp(logarithm)
    return _flat(stack, multiply(sign, cast(size, inner)), outer)
