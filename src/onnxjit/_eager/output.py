# SPDX-License-Identifier: Apache-2.0
"""Where eager results go that are written to an array: ``out=`` and in-place operators."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.reduced import REDUCES, in_dtype_of, may_reduce, reducing

from .boundary import from_eager

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["in_dtype_of_out", "named", "parameters", "split_out", "store", "store_ufunc"]

#: parameters of the methods of ufuncs
_REDUCE: Final = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
_METHODS: Final = {
    "reduce": _REDUCE, "accumulate": _REDUCE[:4],
    "reduceat": ("array", "indices", *_REDUCE[1:4]),
}  # fmt: skip
#: functions that accumulate, besides the method of ufuncs
_ACCUMULATES: Final = frozenset({
    np.cumsum, np.cumprod, np.nancumsum, np.nancumprod, np.cumulative_sum, np.cumulative_prod,
})  # fmt: skip
#: functions of any number of arguments -> the name of those
_MANY: Final = {np.einsum: "operands"}
#: functions that take arrays in C order only
_IN_C_ORDER: Final = frozenset({np.dot})


@functools.cache
def parameters(func: Any, method: str) -> tuple[str, ...]:
    """Return the names of the positional parameters of a function, or of a ufunc's method."""
    if isinstance(func, np.ufunc):
        return _METHODS.get(method, ())
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):
        return ()
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return tuple(p.name for p in parameters if p.kind in kinds)


def named(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function by name; those of any number are a tuple."""
    names = parameters(func, "__call__")
    if args and not names:
        return {_MANY.get(func, "args"): args, **kwargs}
    return dict(zip(names, args, strict=False)) | kwargs


def split_out(
    func: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Return arguments without `out`, and what was given for it: None where nothing was."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    if isinstance(func, np.ufunc) and method == "__call__":
        if len(args) > func.nin:
            out, args = args[func.nin :], args[: func.nin]
    else:
        names = parameters(func, method)
        place = names.index("out") if "out" in names else len(args)
        if place < len(args):
            kwargs.update(zip(names[place + 1 :], args[place + 1 :], strict=False))
            out, args = args[place], args[:place]
    if isinstance(out, tuple) and all(o is None for o in out):
        out = None
    return args, kwargs, out


def in_dtype_of_out(
    func: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments of a sum or product, with the dtype of `out` and operand together."""
    if not isinstance(func, np.ufunc) and not may_reduce(func):
        return args, kwargs
    names = parameters(func, method)
    place = names.index("dtype") if "dtype" in names else len(args)
    if place < len(args):
        kwargs = dict(zip(names[place:], args[place:], strict=False)) | kwargs
    only = out[0] if isinstance(out, tuple) else out
    operand = np.asarray(from_eager(args[0] if args else kwargs[names[0]]))
    ufunc = func if isinstance(func, np.ufunc) else reducing(func, operand)
    return args[:place], in_dtype_of(only, ufunc, kwargs, operand)


def _target(out: Any) -> np.ndarray[Any, Any] | None:
    """Return the ndarray that a result is written to; None where there is none to write to."""
    values = out._nd if isinstance(out, Array) and out._kind == ARRAY else out
    return values if isinstance(values, np.ndarray) and values.flags.writeable else None


def _broadcasts(target: np.ndarray[Any, Any], *shapes: tuple[int, ...]) -> bool:
    try:
        joint = np.broadcast_shapes(target.shape, *shapes)
    except ValueError:
        return False
    return bool(joint == target.shape)


def store(func: Any, method: str, out: Any, result: Any, ask: Callable[[], Any]) -> Any:
    """Write the result of a function to `out`, and return that.

    Parameters
    ----------
    func, method
        The NumPy function, or the ufunc and its method.
    out : object
        What was given.
    result : Array
        What onnxruntime made.
    ask : callable
        Makes NumPy do the whole call: where `out` is not just like the result, each function
        has rules and messages of its own.
    """
    if isinstance(func, np.ufunc) and isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    target, values = _target(out), from_eager(result)
    reduces = isinstance(func, np.ufunc) or func in REDUCES
    fits = (
        target is not None
        and target.shape == values.shape
        and (reduces or target.dtype == values.dtype)
        and (func not in _IN_C_ORDER or target.flags.c_contiguous)
    )
    if not fits:
        accumulates = func in _ACCUMULATES or method == "accumulate"
        if accumulates and target is not None and values.ndim == 1 and not target.ndim:
            # NumPy 2.4 crashes: tests/upstream/test_numpy.py
            msg = "provided out is the wrong size for the accumulation."
            raise ValueError(msg)
        is_kept = isinstance(ask(), tuple)
        only = out[0] if isinstance(out, tuple) else out
        target, out = _target(only), out if is_kept else only
    assert target is not None  # NumPy has written to it
    np.copyto(target, values, casting="unsafe")
    return out


def store_ufunc(
    func: np.ufunc, outs: tuple[Any, ...], results: tuple[Any, ...], kwargs: dict[str, Any],
    ask: Callable[[], Any],
) -> tuple[Any, ...]:  # fmt: skip
    """Write the results of a ufunc where `outs` has an array for them, and return all.

    Parameters
    ----------
    func, kwargs
        The call, without `out`.
    outs, results : tuple
        What was given, None where nothing was, and what onnxruntime made.
    ask : callable
        Makes NumPy do the whole call, which raises if something does not fit.
    """
    where = kwargs.get("where", True)
    where = where if where is True else from_eager(where)
    casting = kwargs.get("casting", "same_kind")

    def fits(out: Any, result: Any) -> bool:
        target = _target(out)
        if target is None:
            return out is None
        same = result.dtype == target.dtype
        if not (same or np.can_cast(result.dtype, target.dtype, casting)):
            return False
        if where is True and target.shape == result.shape:
            return True
        return func.signature is None and _broadcasts(target, result.shape, np.shape(where))

    if not all(map(fits, outs, results)) or len(outs) != len(results):
        ask()
    for out, result in zip(outs, results, strict=True):
        target = _target(out)
        if target is not None:
            values: Any = result._nd if isinstance(result, Array) else result
            np.copyto(target, values, where=where, casting="unsafe")
    return tuple(r if o is None else o for o, r in zip(outs, results, strict=True))
