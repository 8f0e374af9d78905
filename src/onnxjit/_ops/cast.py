# SPDX-License-Identifier: Apache-2.0
"""Changes of dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one, running_trace
from onnxjit._core.dtypes import FLOAT16, FLOAT32, FLOAT64, INT64, STRING, DType, from_numpy
from onnxjit._core.op import Emit, Handle, Op, Rule
from onnxjit.errors import UnsupportedError

from .elementwise_base import Term, pick
from .row import Function, Ufunc, function
from .samples import DTYPES, call, calls

if TYPE_CHECKING:
    from onnxjit._core.program import Equation, Value

__all__ = ["CAST", "ROWS", "astype", "cast"]

ROWS: list[Function | Ufunc] = []


def _result(x: Tensor, *, dtype: DType) -> Tensor:
    return Tensor(dtype, x.shape)


def _evaluate(x: np.ndarray[Any, Any], *, dtype: DType) -> np.ndarray[Any, Any]:
    return x.astype(dtype.numpy)


_BELOW_INFINITY: Final = 65520.0
_LARGEST: Final = 65519.99609375  # the float32 below


def _half_by_ties(x: Term) -> Term:
    """Round float64 to float16 once.

    Cast goes by way of float32, which is wrong only where the float32 lies half way between
    two float16: there the neighbour nearer to the float64 is chosen.
    """
    limit = pick(abs(x) < _BELOW_INFINITY, _LARGEST, x.const(np.inf))
    x = x.op("Min", limit).op("Max", -limit)
    single = x.to(FLOAT32).to(FLOAT64)
    near = x.to(FLOAT32).to(FLOAT16).to(FLOAT64)
    other = single + (single - near)
    is_half = other.to(FLOAT32).to(FLOAT16).to(FLOAT64).equals(other)
    nearer = abs(x - other) < abs(x - near)
    # a signed zero is never the one that changes: the other operand keeps its sign
    return pick(nearer & is_half, other, near).to(FLOAT32).to(FLOAT16)


_DROPPED: Final = (1 << 29) - 1


def _half_by_bits(x: Term) -> Term:
    """Round float64 to float32 to odd, then to float16.

    Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved
    algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008.
    """
    bits = x.op("BitCast", out=INT64, to=INT64)
    exact = bits.op("BitwiseAnd", _DROPPED).equals(0)
    odd = pick(exact, bits.const(0), bits.const(_DROPPED + 1))
    kept = bits.op("BitwiseAnd", ~_DROPPED).op("BitwiseOr", odd)
    return kept.op("BitCast", out=FLOAT64, to=FLOAT64).to(FLOAT32).to(FLOAT16)


def _lower(half: Any) -> Rule:
    def rule(e: Emit, equation: Equation, x: Handle) -> Handle:
        dtype = equation.params["dtype"]
        if x.dtype is FLOAT64 and dtype is FLOAT16:
            rounded: Handle = half(Term(e, x)).h
            return rounded
        return e.cast(x, dtype)

    return rule


CAST: Final = Op(
    "cast",
    result=_result,
    lower={1: _lower(_half_by_ties), 26: _lower(_half_by_bits)},
    evaluate=_evaluate,
    rowwise=True,
)


def cast(x: Value, dtype: DType) -> Value:
    """Return a value of another dtype, as ``ndarray.astype`` computes it; never weak.

    Raises
    ------
    UnsupportedError
        Numbers that only a run knows are to be text.

    Notes
    -----
    Cast; float64 to float16 is rounded once (Cast rounds twice).  A complex number becomes its
    real part, or whether one of its parts is not 0.
    """
    if x.known is not None:
        with np.errstate(all="ignore"):  # a graph does not warn
            return running_trace((x,)).constant(x.known.astype(dtype.numpy, copy=False))
    if x.dtype is dtype and not x.weak:
        return x
    if dtype is STRING:
        msg = (
            f"{x.dtype.name} as text is not carried by onnxjit: the runtime writes numbers "
            "and truth values otherwise than NumPy"
        )
        raise UnsupportedError(msg)
    if x.dtype.kind == "c" or dtype.kind == "c":
        from .complex_base import cast_complex

        return cast_complex(x, dtype)
    return bind_one(CAST, x, dtype=dtype)


def to_dtype(dtype: Any) -> DType:
    """Return the element type that ``np.dtype(dtype)`` names."""
    return dtype if isinstance(dtype, DType) else from_numpy(np.dtype(dtype))


@function(
    ROWS, np.astype, api="astype",
    samples=calls(lambda m: [
        *(call(m.special(20), np.dtype(t)) for t in DTYPES), call(m(2, 0), "f8"),
        call(m(), "i2", copy=False),
    ]),
)  # fmt: skip
def astype(
    x: Any,
    dtype: Any,
    /,
    *,
    copy: bool = True,  # noqa: ARG001  values are never shared
    device: Any = None,  # noqa: ARG001  checked by the caller
) -> Value:
    """Return an array of another dtype.

    Parameters
    ----------
    x : (...) array
        Values.
    dtype : dtype
        What they become.
    copy : bool
        Whether the result is always new; values are never shared, so it changes nothing.

    Notes
    -----
    Cast.
    """
    return cast(as_value(x), to_dtype(dtype))


def checked_astype(x: Value, dtype: Any, casting: str = "unsafe") -> Value:
    """Return ``x.astype(dtype, casting=casting)``.

    Raises
    ------
    TypeError
        The cast is not allowed by `casting`; the message is NumPy's.
    """
    wanted = to_dtype(dtype)
    np.empty(0, x.dtype.numpy).astype(wanted.numpy, casting=casting)  # type: ignore[call-overload]
    return cast(x, wanted)
