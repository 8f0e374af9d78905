# SPDX-License-Identifier: Apache-2.0
"""NumPy's own loops over elements: `np.vectorize`, `np.ndindex` and `np.ndenumerate`.

They are written out here as loops, which are rewritten like the user's.
"""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._trace.array import Array
from onnxjit._trace.control.either import Either
from onnxjit._trace.convert import arrays_in, is_traced
from onnxjit._trace.entering import running_tracer
from onnxjit.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

__all__ = ["as_strided_", "ndenumerate_", "ndindex_", "vectorized"]

#: so many places are gone through in Python
_FEW: Final = 64


def vectorized(f: np.vectorize) -> Callable[..., Any]:
    """Return what calls a vectorized function on traced arrays.

    As in NumPy, the function gets Python's numbers, and its result on NumPy's first elements
    gives the dtype.
    """
    return functools.partial(_call, f)


def _call(f: Any, *args: Any, **kwargs: Any) -> Any:
    if not any(map(is_traced, arrays_in([args, kwargs]))):
        return f(*args, **kwargs)
    if f.pyfunc is np._NoValue:
        msg = "a decorator np.vectorize(...) without its function is called"
        raise UnsupportedError(msg)
    otypes = None if f.otypes is None else [np.dtype(t) for t in f.otypes]
    places = [i for i in range(len(args)) if i not in f.excluded]
    names = [name for name in kwargs if name not in f.excluded]
    given = [*(args[i] for i in places), *(kwargs[name] for name in names)]
    fill = functools.partial(_filled, args, kwargs, places, names)
    if f.signature is None:
        return _rewritten(_outputs)(f.pyfunc, otypes, given, fill)
    inputs, outputs = _core_names(f.signature)
    if len(inputs) != len(given):
        msg = f"wrong number of positional arguments: expected {len(inputs)}, got {len(given)}"
        raise TypeError(msg)
    return _rewritten(_core_outputs)(f.pyfunc, otypes, given, fill, inputs, outputs)


def _filled(
    args: Any, kwargs: Any, places: list[int], names: list[str], given: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of one call: those that vary, between those that do not."""
    positional, named = list(args), dict(kwargs)
    for place, x in zip(places, given, strict=False):
        positional[place] = x
    named.update(zip(names, given[len(places) :], strict=True))
    return tuple(positional), named


def _core_names(signature: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the names of the core axes of operands and results; NumPy checked the text."""
    sides = signature.replace(" ", "").split("->")
    inputs, outputs = (
        [[n for n in part.split(",") if n] for part in re.findall(r"\(([^)]*)\)", side)]
        for side in sides
    )
    return inputs, outputs


def _rewritten(f: Any) -> Callable[..., Any]:
    from .rewritten import rewrite_function  # which knows the twins

    source = rewrite_function(cast("FunctionType", f))
    assert source is not None  # its text is here
    return source


def _dtype(result: Any) -> np.dtype[Any]:
    """Return the dtype of a result on the first elements.

    Raises
    ------
    UnsupportedError
        It depends on the branch that these elements take.
    """
    if isinstance(result, Array) and result._nd is None:
        result = running_tracer().original(result)
    if not isinstance(result, Either):
        found: Any = result if isinstance(result, Array) else np.asarray(result)
        dtype: np.dtype[Any] = np.dtype(found.dtype)
        return dtype
    choices = result.choices()
    leaves = [x for c in choices for x in (c.first, c.second) if not isinstance(x, Either)]
    first, *others = dict.fromkeys(map(_dtype, leaves))
    for second in others:
        msg = (
            f"a function of np.vectorize returns {first} or {second}, and the first element "
            "decides which one all results get; give otypes"
        )
        raise UnsupportedError(msg)
    return first


def _outputs(func: Any, otypes: Any, args: Any, fill: Any) -> Any:
    """Call a function on the elements of arrays; rewritten before it is used."""
    arrays = np.broadcast_arrays(*args)
    shape = arrays[0].shape
    flats = [a.ravel() for a in arrays]
    several = otypes is not None and len(otypes) > 1
    if otypes is None:
        if flats[0].size == 0:
            msg = "cannot call `vectorize` on size 0 inputs unless `otypes` is set"
            raise ValueError(msg)
        positional, named = fill([a[0] for a in flats])
        first = func(*positional, **named)
        several = isinstance(first, tuple)
        otypes = [_dtype(x) for x in (first if several else (first,))]
    made = [np.empty(flats[0].size, t) for t in otypes]
    for i, each in enumerate(zip(*flats, strict=True)):
        positional, named = fill([x.item() for x in each])
        found = func(*positional, **named)
        for out, x in zip(made, found if several else (found,), strict=True):
            out[i] = x
    results = [out.reshape(shape) for out in made]
    return tuple(results) if several else results[0]


def _core_outputs(
    func: Any, otypes: Any, args: Any, fill: Any, inputs: Any, outputs: Any
) -> Any:
    """Call a function on parts of arrays, whose number is frozen; rewritten before its use."""
    arrays = [np.asarray(a) for a in args]
    for x, names in zip(arrays, inputs, strict=True):
        if x.ndim < len(names):
            msg = (
                f"{x.ndim}-dimensional argument does not have enough dimensions for all core "
                f"dimensions {tuple(names)!r}"
            )
            raise ValueError(msg)
    cores = [x.shape[x.ndim - len(names) :] for x, names in zip(arrays, inputs, strict=True)]
    leads = [x.shape[: x.ndim - len(names)] for x, names in zip(arrays, inputs, strict=True)]
    lead = np.broadcast_shapes(*leads)
    count = math.prod(lead)
    if count == 0:
        msg = "cannot call `vectorize` with a signature on size 0 inputs"
        raise ValueError(msg)
    parts = [
        np.broadcast_to(x, lead + core).reshape((count, *core))
        for x, core in zip(arrays, cores, strict=True)
    ]

    def called(i: Any) -> Any:
        positional, named = fill(tuple([x[i] for x in parts]))
        return func(*positional, **named)

    made = [called(i) for i in range(count)]
    several = len(outputs) > 1
    columns = [[m[k] for m in made] for k in range(len(outputs))] if several else [made]
    results = []
    for k, column in enumerate(columns):
        first = np.asanyarray(column[0])
        if first.ndim != len(outputs[k]):
            msg = "a result has another number of dimensions than the signature says"
            raise ValueError(msg)
        dtype = first.dtype if otypes is None else otypes[k]
        rows = [np.asanyarray(x).astype(dtype) for x in column]
        results.append(np.stack(rows).reshape(lead + first.shape))
    return tuple(results) if several else results[0]


def ndindex_(*shape: Any) -> Any:
    """Return the places of an array of a shape, as `np.ndindex` goes through them."""
    if len(shape) == 1 and isinstance(shape[0], tuple):
        (shape,) = shape
    if not any(isinstance(n, Dim) for n in shape) and math.prod(shape) < _FEW:
        return np.ndindex(*shape)
    return _rewritten(_places)(shape)


def as_strided_(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse a view of memory that no array has in a graph."""
    if not is_traced(x):
        return np.lib.stride_tricks.as_strided(x, *args, **kwargs)
    msg = (
        "np.lib.stride_tricks.as_strided is not carried by onnxjit inside a trace: arrays "
        "of a graph have no place in memory; use sliding_window_view, broadcast_to or indices"
    )
    raise UnsupportedError(msg)


def ndenumerate_(arr: Any) -> Any:
    """Return the places of an array with its elements, as `np.ndenumerate` does."""
    if not is_traced(arr):
        return np.ndenumerate(arr)
    return _rewritten(_enumerated)(arr)


def _places(shape: Any) -> Any:
    steps = []
    size = 1
    for n in reversed(shape):
        some = max(n, 1)  # nothing is divided by zero: there are no places then
        steps.append((size, some))
        size = size * some
    steps.reverse()
    count = math.prod(shape)
    return (tuple([k // step % n for step, n in steps]) for k in range(count))


def _enumerated(arr: Any) -> Any:
    flat = arr.ravel()
    return ((place, flat[k]) for k, place in enumerate(np.ndindex(arr.shape)))
