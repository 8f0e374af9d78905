# SPDX-License-Identifier: Apache-2.0
"""Functions that compute in the array of ``out=``: its dtype rounds what happens on the way.

Written in NumPy, as NumPy's own source of them is, for arrays that record and eager ones.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._ops.row import NO_VALUE

from .array import Array

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["computing_in"]

Given = dict[str, Any]

#: parameters of reductions that are handed on as they were given
_SHARED: Final = ("keepdims", "where")


def computing_in(func: Any, given: Given, out: Any) -> Callable[[], Any] | None:
    """Return a call of a function that computes in the array `out`, None where none does.

    Parameters
    ----------
    func : callable
        The NumPy function.
    given : dict
        Its arguments by name, without `out`.
    out : object
        What was given for it.
    """
    into = _INTO.get(func)
    if into is None or given.get("dtype") is not None:
        return None
    first = next(iter(given.values()), None)
    operand = first[0] if isinstance(first, tuple) and func is np.einsum else first
    arrays = Array, np.ndarray
    if not isinstance(out, arrays) or not isinstance(operand, (*arrays, str)):
        return None
    if not isinstance(operand, str) and operand.dtype == out.dtype:
        return None
    return partial(into, given, out) if _APPLIES.get(func, _always)(given) else None


def _shared(given: Given) -> Given:
    return {k: given[k] for k in _SHARED if given.get(k, NO_VALUE) is not NO_VALUE}


def _given(given: Given, name: str, other: Any) -> Any:
    found = given.get(name, other)
    return other if found is NO_VALUE else found


def _divided(total: Any, count: Any) -> Any:
    """Return a quotient in the dtype of the dividend."""
    return np.true_divide(total, count).astype(total.dtype)


def _square_of_size(x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.square(x.real) + np.square(x.imag)
    return np.square(x)


def _ddof(given: Given) -> Any:
    ddof, correction = given.get("ddof", 0), _given(given, "correction", None)
    if correction is None:
        return ddof
    if ddof != 0:
        msg = "ddof and correction can't be provided simultaneously."
        raise ValueError(msg)
    return correction


def _var(given: Given, out: Any) -> Any:
    a, axis, shared = given["a"], given.get("axis"), _shared(given)
    exact = np.float64 if a.dtype.kind in "iub" else None
    ones = np.ones_like(a, dtype=np.int64)
    middle = _given(given, "mean", None)
    if middle is None:
        each = {**shared, "keepdims": True}
        total = np.add.reduce(a, axis=axis, dtype=exact, **each)
        middle = _divided(total, np.add.reduce(ones, axis=axis, **each))
    squares = _square_of_size(np.subtract(a, middle))
    np.add.reduce(squares, axis=axis, dtype=exact, out=out, **shared)
    count = np.add.reduce(ones, axis=axis, **shared)
    degrees = np.maximum(count - _ddof(given), 0)
    return np.true_divide(out, degrees, out=out, casting="unsafe")


def _nan_var(given: Given, out: Any) -> Any:
    a, axis, shared = given["a"], given.get("axis"), _shared(given)
    if a.dtype.kind not in "fc":
        return np.var(**given, out=out)
    if out.dtype.kind not in "fc":
        msg = "If a is inexact, then out must be inexact"
        raise TypeError(msg)
    missing, none = np.isnan(a), a.dtype.type(0)
    middle = _given(given, "mean", None)
    if middle is None:
        each = {**shared, "keepdims": True}
        total = np.sum(np.where(missing, none, a), axis=axis, **each)
        middle = _divided(total, np.sum(~missing, axis=axis, **each))
    squares = _square_of_size(np.where(missing, none, np.subtract(a, middle)))
    np.sum(squares, axis=axis, out=out, **shared)
    degrees = np.sum(~missing, axis=axis, **shared) - _ddof(given)
    np.true_divide(out, degrees, out=out, casting="unsafe")
    np.copyto(out, np.nan, where=degrees <= 0)
    return out


def _root_of(var: Callable[[Given, Any], Any], given: Given, out: Any) -> Any:
    return np.sqrt(var(given, out), out=out)


def _mean(given: Given, out: Any) -> Any:
    """Average float16, which is added in float32."""
    a, axis, shared = given["a"], given.get("axis"), _shared(given)
    np.add.reduce(a, axis=axis, dtype=np.float32, out=out, **shared)
    count = np.add.reduce(np.ones_like(a, dtype=np.int64), axis=axis, **shared)
    return np.true_divide(out, count, out=out, casting="unsafe")


def _ptp(given: Given, out: Any) -> Any:
    a, axis = given["a"], given.get("axis")
    shared = {k: v for k, v in _shared(given).items() if k == "keepdims"}
    np.maximum.reduce(a, axis=axis, out=out, **shared)
    return np.subtract(out, np.minimum.reduce(a, axis=axis, **shared), out=out)


#: what moves the point to the right, and back
_SCALES: Final[tuple[np.ufunc, np.ufunc]] = (np.multiply, np.true_divide)


def _round(given: Given, out: Any) -> Any:
    decimals = given["decimals"]
    scale, back = _SCALES[::-1] if decimals < 0 else _SCALES
    factor = float(10 ** abs(decimals))
    scale(given["a"], factor, out=out)
    np.rint(out, out=out)
    return back(out, factor, out=out)


def _einsum(given: Given, out: Any) -> Any:
    operands, others = given["operands"], {k: v for k, v in given.items() if k != "operands"}
    in_pairs = not isinstance(operands[0], str)
    arrays = operands[: len(operands) & ~1 : 2] if in_pairs else operands[1:]
    dtypes = [x.dtype if isinstance(x, (Array, np.ndarray)) else x for x in arrays]
    others["dtype"] = np.result_type(out.dtype, *dtypes)
    return np.einsum(*operands, **others, out=out)


_INTO: Final[dict[Any, Callable[[Given, Any], Any]]] = {
    np.var: _var,
    np.std: partial(_root_of, _var),
    np.nanvar: _nan_var,
    np.nanstd: partial(_root_of, _nan_var),
    np.mean: _mean,
    np.ptp: _ptp,
    np.round: _round,
    np.around: _round,
    np.einsum: _einsum,
}


def _always(given: Given) -> bool:
    del given
    return True


def _scales(given: Given) -> bool:
    """Whether rounding multiplies: not at no decimals, and no part of a complex number."""
    decimals, kind = given.get("decimals", 0), given["a"].dtype.kind
    if not isinstance(decimals, int):
        return False
    return decimals < 0 if kind in "iu" else kind != "c" and decimals != 0


#: function -> whether its arguments are computed with in the array of ``out=``
_APPLIES: Final[dict[Any, Callable[[Given], bool]]] = {
    np.mean: lambda given: bool(given["a"].dtype == np.float16),
    np.round: _scales,
    np.around: _scales,
}
