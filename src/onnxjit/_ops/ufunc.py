# SPDX-License-Identifier: Apache-2.0
"""Calls of ufuncs on values: NumPy's promotion, bounds of Python ints, ``where=``."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import DIM, as_value, bind_one, running_trace
from onnxjit._core.dims import Dim, has_data, hint_of, same
from onnxjit._core.dtypes import BOOL, FLOAT64, INT64, DType, from_numpy, is_carried
from onnxjit._core.op import Op
from onnxjit._core.program import Value
from onnxjit.errors import UnsupportedError

from .cast import cast, to_dtype
from .core_axes import core_axes
from .elementwise_base import joined_shape, keep
from .elementwise_where import choose
from .structure import broadcast_to

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnxjit._core.bind import Trace

    from .row import Ufunc

__all__ = [
    "as_weak",
    "plain_call",
    "promoted",
    "resolve",
    "result_type",
    "ufunc_call",
    "weak_binary",
    "weak_unary",
]

#: Python types that take the other operand's dtype; bool is a dtype like the others
_WEAK_TYPES: Final[dict[str, type]] = {
    "i": int, "u": int, "O": int, "f": float, "c": complex,
}  # fmt: skip


# --- promotion ----------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _resolved(
    ufunc: np.ufunc, descriptors: tuple[Any, ...], signature: Any, casting: Any
) -> tuple[np.dtype[Any], ...]:
    given = {} if signature is None else {"signature": signature}
    return ufunc.resolve_dtypes(descriptors, casting=casting, **given)


class _Big:
    """A Python int that no integer dtype holds."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value: Final = value


Operand = Value | _Big


def _operand(x: Any) -> Operand:
    if isinstance(x, Value):
        return x
    if type(x) is int and not -(2**63) <= x < 2**64:
        return _Big(x)
    return as_value(x)


def _is_weak(x: Operand) -> bool:
    return isinstance(x, _Big) or (x.weak and x.dtype.kind in _WEAK_TYPES)


def _descriptor(x: Operand) -> Any:
    if isinstance(x, _Big):
        return int
    return _WEAK_TYPES[x.dtype.kind] if _is_weak(x) else x.dtype.numpy


def _descriptors(operands: Sequence[Operand]) -> list[Any]:
    """Return what NumPy resolves dtypes from; Python scalars alone have default dtypes."""
    if not all(map(_is_weak, operands)):
        return [_descriptor(x) for x in operands]
    return [int if isinstance(x, _Big) else x.dtype.numpy for x in operands]


def _signature(ufunc: np.ufunc, dtype: Any, signature: Any) -> Any:
    if dtype is not None:
        if signature is not None:
            msg = "cannot specify both 'signature' and 'dtype'"
            raise TypeError(msg)
        return (None,) * ufunc.nin + (to_dtype(dtype).numpy,) * ufunc.nout
    if signature is None or isinstance(signature, str):
        return signature
    return tuple(None if s is None else to_dtype(s).numpy for s in signature)


def resolve(
    ufunc: np.ufunc,
    descriptors: Sequence[Any],
    out: Sequence[Any] = (),
    *,
    dtype: Any = None,
    signature: Any = None,
    casting: str = "same_kind",
) -> tuple[DType, ...]:
    """Return the loop's dtypes, inputs then outputs.

    Parameters
    ----------
    descriptors : sequence of numpy.dtype or type
        Of the inputs; ``int``, ``float`` and ``complex`` stand for Python scalars.
    out : sequence of numpy.dtype or None
        Of the arrays that results are written to.

    Raises
    ------
    TypeError
        NumPy's own: no such loop, or a cast that `casting` does not allow.
    """
    outs = tuple(out) or (None,) * ufunc.nout
    signature = _signature(ufunc, dtype, signature)
    found = _resolved(ufunc, (*descriptors, *outs), signature, casting)
    for d in found:
        if not is_carried(d):
            msg = f"np.{ufunc.__name__} computes in {d} here, which is not carried"
            raise UnsupportedError(msg)
    return tuple(map(from_numpy, found))


def result_type(*values: Any) -> DType:
    """Return ``np.result_type`` of values, weak Python scalars included."""
    operands = [_operand(v) for v in values]
    strong = [_descriptor(v) for v in operands if not _is_weak(v)]
    # np.result_type looks at kinds only for instances of Python's types
    weak = [_descriptor(v)(0) for v in operands if _is_weak(v)]
    return from_numpy(np.result_type(*strong, *weak))


def promoted(*values: Any) -> list[Value]:
    """Return values cast to their common dtype, as ``np.result_type`` says."""
    dtype = result_type(*values)
    return [at_dtype(_operand(v), dtype) for v in values]


# --- Python ints against small dtypes -----------------------------------------------------


def _beyond(x: Operand, dtype: DType) -> int:
    """Return -1 or 1 when a weak int lies below or above an integer dtype, else 0.

    Sizes are compared, which takes a guard; ints that depend on data are taken to fit.
    """
    if dtype.kind not in "iu" or (
        isinstance(x, Value) and (not x.weak or x.dtype.kind == "f")
    ):
        return 0
    n: Any = None
    if isinstance(x, _Big):
        n = x.value
    elif x.known is not None:
        n = x.known.item()
    elif x.equation is not None and x.equation.op is DIM and dtype.name != "int64":
        n = x.equation.params["dim"]
    if n is None or has_data(n):
        return 0
    limits = np.iinfo(dtype.name)
    if n > int(limits.max):
        return 1
    return -1 if n < int(limits.min) else 0


def _number(x: Operand) -> Any:
    if isinstance(x, _Big):
        return x.value
    if x.known is not None:
        return x.known.item()
    dim = x.equation.params["dim"] if x.equation is not None else None
    return hint_of(dim) if isinstance(dim, Dim) else dim


def at_dtype(x: Operand, dtype: DType) -> Value:
    """Return an operand at the loop's dtype.

    Raises
    ------
    OverflowError
        A Python int does not fit; NumPy's message.
    """
    if _beyond(x, dtype):
        msg = f"Python integer {_number(x)} out of bounds for {dtype}"
        raise OverflowError(msg)
    if isinstance(x, _Big):
        with np.errstate(over="ignore"):
            return running_trace().constant(np.asarray(x.value, dtype.numpy))
    return cast(x, dtype)


#: what a comparison with a Python int above (1) or below (-1) the dtype's range gives
_ABOVE: Final = {
    "less": True, "less_equal": True, "greater": False, "greater_equal": False,
    "equal": False, "not_equal": True,
}  # fmt: skip
_SYMMETRIC: Final = frozenset({"equal", "not_equal"})


def _compared_beyond(
    name: str, operands: Sequence[Operand], dtypes: Sequence[DType]
) -> Value | None:
    """Return the answer of a comparison with an int out of the other's range, else None."""
    if name not in _ABOVE:
        return None
    for place, (x, dtype) in enumerate(zip(operands, dtypes, strict=False)):
        side = _beyond(x, dtype)
        if not side:
            continue
        answer = _ABOVE[name]
        if name not in _SYMMETRIC and (side < 0) != (place == 0):
            answer = not answer
        other = operands[1 - place]
        return filled(other, answer) if isinstance(other, Value) else as_value(answer)
    return None


def filled(x: Value, answer: bool) -> Value:
    """Return a bool constant of the shape of a value."""
    return broadcast_to(as_value(answer), x.shape)


# --- the call -----------------------------------------------------------------------------


def ufunc_call(  # noqa: PLR0913  NumPy's keywords
    row: Ufunc,
    inputs: Sequence[Any],
    *,
    dtype: Any = None,
    signature: Any = None,
    casting: str = "same_kind",
    where: Any = True,
    out: Any = None,
    axis: Any = None,
    axes: Any = None,
    keepdims: Any = False,
) -> Any:
    """Return what a ufunc gives: one value, or a tuple for several outputs.

    Parameters
    ----------
    row : Ufunc
        Which ufunc.
    inputs : sequence
        Values, ndarrays, NumPy or Python scalars, sizes.
    dtype, signature, casting
        As in every ufunc.
    where : (...) bool
        Where it is computed.  Elsewhere results are those of `out`, and zero without it
        (NumPy leaves them undefined).
    out : Value, or tuple of Value or None, optional
        What results are written to: takes part in dtype checks and, with ``where``, gives
        the other elements.  Results have its shape; casting to its dtype is the caller's.
    axis, axes, keepdims
        Core axes of generalised ufuncs.

    Raises
    ------
    TypeError, OverflowError, ValueError
        NumPy's own, for dtypes, Python ints and shapes.
    """
    ufunc = row.numpy
    core = core_axes(ufunc, axis, axes, keepdims)
    if core is None and out is None and where is True and dtype is None and signature is None:
        quick = plain_call(row, inputs, casting)
        if quick is not None:
            return quick
    operands = [x if type(x) is Value else _operand(x) for x in inputs]
    outs = _outs(ufunc, out)
    dtypes = resolve(
        ufunc,
        _descriptors(operands),
        [None if o is None else o.dtype.numpy for o in outs],
        dtype=dtype,
        signature=signature,
        casting=casting,
    )
    results: Any = _compared_beyond(ufunc.__name__, operands, dtypes)
    if results is None:
        cast_operands = [at_dtype(x, t) for x, t in zip(operands, dtypes, strict=False)]
        if core is None:
            results = row.implementation(*cast_operands)
        else:
            results = core.placed(row.implementation(*core.last(cast_operands)))
    several: tuple[Value, ...] = results if isinstance(results, tuple) else (results,)
    made = tuple(_placed(r, o, where) for r, o in zip(several, outs, strict=True))
    return made if isinstance(results, tuple) else made[0]


def plain_call(row: Ufunc, inputs: Sequence[Any], casting: Any = "same_kind") -> Any:
    """Make the commonest call: strong values, and numbers next to them; else None."""
    described: list[Any] = []
    strong: Value | None = None
    for x in inputs:
        if type(x) is Value:
            if not x.weak:
                strong = x
                described.append(x.dtype)
                continue
            if x.dtype.kind != "f":
                return None
            described.append(float)
        elif type(x) is float or (type(x) is int and 0 <= x <= _EVERYWHERE):
            described.append(type(x))
        else:
            return None
    if strong is None:
        return None
    dtypes = _loop(row.numpy, casting, *described)
    if dtypes is None:
        return row.implementation(*inputs)
    trace = strong.block.trace
    return row.implementation(*[
        cast(x, t) if type(x) is Value else _number_at(trace, x, t)
        for x, t in zip(inputs, dtypes, strict=True)
    ])  # fmt: skip


#: every dtype of numbers has the ints up to this
_EVERYWHERE: Final = 127


@cache
def _loop(ufunc: np.ufunc, casting: str, *operands: DType | type) -> tuple[DType, ...] | None:
    """Return what operands become, for strong dtypes and types of Python numbers.

    None where they have these dtypes already.
    """
    described = [t.numpy if isinstance(t, DType) else t for t in operands]
    dtypes = resolve(ufunc, described, casting=casting)[: len(operands)]
    return None if dtypes == operands else dtypes


def _number_at(trace: Trace, x: float, dtype: DType) -> Value:
    found = trace.numbers.get((x, type(x), dtype))
    if found is None or not x:  # 0.0 and -0.0 are one key
        with np.errstate(over="ignore"):
            found = trace.constant(np.asarray(x, dtype.numpy))
        trace.numbers[x, type(x), dtype] = found
    return found


def _outs(ufunc: np.ufunc, out: Any) -> tuple[Value | None, ...]:
    if out is None:
        return (None,) * ufunc.nout
    return out if isinstance(out, tuple) else (out,)


def _placed(result: Value, out: Value | None, where: Any) -> Value:
    """Apply ``where=`` and the shape of ``out``."""
    if where is True:
        return result if out is None else broadcast_like(result, out)
    condition = cast(as_value(where), BOOL)
    rest = cast(out, result.dtype) if out is not None else zero(result.dtype)
    return choose(condition, result, rest)


def zero(dtype: DType) -> Value:
    """Return a 0-d zero of a dtype."""
    return running_trace().constant(np.zeros((), dtype.numpy))


def broadcast_like(x: Value, like: Value) -> Value:
    """Return `x` broadcast to the shape of another value.

    Raises
    ------
    ValueError
        `x` does not broadcast to it.
    """
    if x.ndim == like.ndim and all(map(same, x.shape, like.shape)):
        return x
    shape = joined_shape(x.shape, like.shape)
    if len(shape) != like.ndim or not all(map(same, shape, like.shape)):
        msg = (
            f"non-broadcastable output operand with shape {like.shape} doesn't match the "
            f"broadcast shape {shape}"
        )
        raise ValueError(msg)
    return broadcast_to(x, like.shape)


# --- weak results -------------------------------------------------------------------------


_WEAKEN: Final = Op(
    "weak",
    result=lambda x: Tensor(x.dtype, x.shape, weak=True),
    lower={1: keep},
    evaluate=lambda x: x,
    rowwise=True,
    parts="each",
)


def as_weak(x: Value) -> Value:
    """Return a 0-d number as a weak one: a traced Python int, float or complex."""
    return x if x.weak else bind_one(_WEAKEN, x)


@lru_cache(maxsize=1)
def _rows() -> dict[np.ufunc, Ufunc]:
    """Return every row by ufunc."""
    from .table import UFUNCS

    return UFUNCS


_OF_BOOLS: Final = frozenset({np.bitwise_and, np.bitwise_or, np.bitwise_xor})


def _number_dtype(x: Value) -> DType:
    return INT64 if x.dtype.kind in "biu" else FLOAT64 if x.dtype.kind == "f" else x.dtype


def _weak_call(ufunc: np.ufunc, *operands: Value) -> Any:
    dtypes = [_number_dtype(x) for x in operands]
    if ufunc in _OF_BOOLS and all(x.dtype is BOOL for x in operands):
        dtypes = [BOOL for _ in operands]
    strong = [cast(x, t) for x, t in zip(operands, dtypes, strict=True)]
    results = ufunc_call(_rows()[ufunc], strong)
    if isinstance(results, tuple):
        return tuple(map(as_weak, results))
    return results if results.dtype is BOOL else as_weak(results)


def weak_binary(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Apply a Python operator to two Python numbers, of which some are traced.

    Parameters
    ----------
    ufunc : numpy.ufunc
        The ufunc of the operator.
    a, b : () Value or Python number
        int64 values stand for ints, float64 ones for floats, bool ones for bools.

    Returns
    -------
    Value or tuple of Value
        Weak numbers, or a bool.

    Notes
    -----
    Ints wrap at 64 bits, and division of ints by a traced 0 gives 0 (Python raises
    ZeroDivisionError).  An int to a known negative power is a float, as in Python.
    """
    x, y = as_value(a), as_value(b)
    if ufunc is np.power and y.known is not None and y.dtype.kind == "i" and y.known < 0:
        y = cast(y, FLOAT64)
    if ufunc is np.divide or _number_dtype(x) is not _number_dtype(y):
        dtype = result_type(cast(x, _number_dtype(x)), cast(y, _number_dtype(y)), 0.0)
        x, y = cast(x, dtype), cast(y, dtype)
    return _weak_call(ufunc, x, y)


def weak_unary(ufunc: np.ufunc, a: Any) -> Any:
    """Apply a unary Python operator to a traced Python number; see `weak_binary`."""
    return _weak_call(ufunc, as_value(a))


def rowwise_call(row: Ufunc) -> Callable[..., Any]:
    """Return the function on values that a row's ufunc is, with promotion."""

    def call(*inputs: Any, **keywords: Any) -> Any:
        return ufunc_call(row, inputs, **keywords)

    call.__name__ = row.numpy.__name__
    call.__doc__ = f"Return ``np.{row.numpy.__name__}`` of values, with NumPy's promotion."
    return call
