# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for callables that Python or C would run on plain values only.

They are chosen by the identity of the callable, so that aliases and
``from numpy import *`` are seen.
"""

from __future__ import annotations

import builtins
import cmath
import functools
import heapq
import math
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from onnxjit._core.dims import Dim, broadcast_shapes, dim_max, dim_min, dim_prod
from onnxjit._ops import table
from onnxjit._ops.refused import by_source
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.control.consumer import (
    Quantifier,
    filter_,
    fromiter_,
    iter_,
    map_,
    sorted_,
    sum_,
)
from onnxjit._trace.control.either import Either
from onnxjit._trace.control.extremes import extreme
from onnxjit._trace.control.keys import has_unsure, length
from onnxjit._trace.control.listed import (
    gathered,
    new_list,
    next_,
)
from onnxjit._trace.control.ranges import range_
from onnxjit._trace.control.steps import Steps, enumerate_, open_steps, reversed_, zip_
from onnxjit._trace.control.truth import compare as in_order
from onnxjit._trace.control.truth import ifexp
from onnxjit._trace.convert import arrays_in, is_known, is_traced
from onnxjit._trace.dispatch import call_function, call_ufunc
from onnxjit._trace.items import complex_number, python_number, representative
from onnxjit._trace.lists import List
from onnxjit._trace.raising import may_raise
from onnxjit._trace.trace import current_tracer, dim_array

from .elements import as_strided_, ndenumerate_, ndindex_, vectorized
from .warned import warn_

__all__ = ["is_instance", "length_of", "plain", "representative", "shuffle_of", "twin_of"]

Twin = Callable[..., Any]


def is_instance(x: Any, kinds: Any) -> Any:
    """Return ``isinstance(x, kinds)`` of what an object stands for."""
    if isinstance(x, Either):
        return x.apply(lambda each: is_instance(each, kinds))
    return isinstance(x, kinds) or (
        isinstance(x, (Array, Dim)) and isinstance(representative(x), kinds)
    )


def _type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], Either):
        return args[0].apply(_type)
    if len(args) == 1 and isinstance(args[0], (Array, Dim)):
        return type(representative(args[0]))
    if len(args) == 1 and isinstance(args[0], List):
        return list
    return type(*args, **kwargs)


def length_of(x: Any) -> Any:
    if is_traced(x) and isinstance(x, Array) and x.ndim:
        return x.shape[0]
    if has_unsure(x):
        return length(x)
    return x.length if isinstance(x, (List, Steps)) else len(x)


def _list(*args: Any) -> Any:
    args = tuple(map(gathered, args))
    return new_list(*args) if current_tracer() is not None else list(*args)


def _array(x: Any) -> Any:
    return dim_array(x) if isinstance(x, Dim) else x


def _int(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and is_traced(args[0]):
        if isinstance(args[0], Dim):
            return args[0]
        if args[0].dtype.kind == "f":
            may_raise(*_BOTH)
        return python_number(args[0], "i")
    return int(*args, **kwargs)


def _bool(*args: Any) -> Any:
    x = args[0] if len(args) == 1 else None
    if isinstance(x, Array) and is_traced(x) and x.size == 1:
        return python_number(x, "b")
    return bool(*args)


def _float(*args: Any) -> Any:
    if len(args) == 1 and is_traced(args[0]):
        return python_number(_array(args[0]), "f")
    return float(*args)


def _complex(*args: Any, **kwargs: Any) -> Any:
    given = dict(zip(("real", "imag"), args, strict=False)) | kwargs
    if not given or not any(map(is_traced, given.values())):
        return complex(*args, **kwargs)
    re, im = _array(given.get("real", 0)), _array(given.get("imag", 0))
    return complex_number(re, im) if "imag" in given else python_number(re, "c")


def _extreme(
    native: Twin, compare: np.ufunc, of_dims: Callable[[Any, Any], Any], name: str
) -> Twin:
    symbol = ">" if native is max else "<"

    def twin(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(gathered, args))
        kwargs = {name: _own(x) for name, x in kwargs.items()}
        by_key = kwargs.get("key") is not None and current_tracer() is not None
        if by_key or (len(args) == 1 and open_steps(args) is not None):
            return extreme(native, args[0] if len(args) == 1 else args, **kwargs)
        if kwargs or not any(True for a in arrays_in(list(args)) if is_traced(a)):
            return native(*args, **kwargs)
        items = list(args[0]) if len(args) == 1 else list(args)
        if not items or all(isinstance(i, Array) and is_known(i) for i in items):
            return native(*args, **kwargs)
        return functools.reduce(choose, items)

    def choose(best: Any, new: Any) -> Any:
        if isinstance(best, (int, Dim)) and isinstance(new, (int, Dim)):
            return of_dims(best, new)
        if isinstance(best, (tuple, list)):
            return ifexp(in_order(symbol, new, best), lambda: new, lambda: best)
        best, new = _array(best), _array(new)
        if np.ndim(best) or np.ndim(new):
            return new if compare(new, best) else best
        chosen = call_function(np.where, (compare(new, best), new, best), {})
        return _scalar_like(chosen, best, new)

    twin.__name__ = name
    return twin


def _scalar_like(chosen: Array, *operands: Any) -> Any:
    """Give a chosen 0-d value the nature of its operands: a Python number or a scalar."""
    if all(
        type(o) in (int, float, bool) or (isinstance(o, Array) and o._is_weak)
        for o in operands
    ):
        return python_number(chosen)
    return chosen[()]


def _sorted(iterable: Any, /, **options: Any) -> Any:
    return sorted_(iterable, **{name: _own(x) for name, x in options.items()})


def _first_of(native: Twin, **order: bool) -> Twin:
    """Return `heapq.nlargest` or `nsmallest`, by what the documentation says it equals."""

    @functools.wraps(native)
    def twin(n: Any, iterable: Any, key: Any = None) -> Any:
        if current_tracer() is None:
            return native(n, iterable, key)
        return _sorted(iterable, key=key, **order)[: dim_max(n, 0)]

    return twin


def _math(native: Twin, ufunc: Any, kind: str) -> Twin:
    @functools.wraps(native)
    def twin(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not any(map(is_traced, args)):
            return native(*args, **kwargs)
        if kind == "i" and isinstance(args[0], Dim):
            return args[0]
        may_raise(*_MATH_RAISES.get(native, ()))
        arrays = [_array(a) if is_traced(a) else a for a in args]
        numbers = [python_number(a, "f") if isinstance(a, Array) else a for a in arrays]
        return python_number(ufunc(*numbers), kind)

    return twin


_MATH: Final = {
    "sqrt": np.sqrt, "exp": np.exp, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "fabs": np.fabs, "hypot": np.hypot, "pow": np.float_power, "copysign": np.copysign,
    "degrees": np.degrees, "radians": np.radians, "fmod": np.fmod,
}  # fmt: skip
_BOTH: Final = (ValueError, OverflowError)
#: what functions raise for some numbers; the others never do
_MATH_RAISES: Final[dict[Any, tuple[type[Exception], ...]]] = {
    **dict.fromkeys(
        (math.sqrt, math.log2, math.log10, math.log1p, math.sin, math.cos, math.tan, math.asin,
         math.acos, math.acosh, math.atanh, math.fmod), (ValueError,)
    ),
    **dict.fromkeys((math.exp, math.expm1, math.sinh, math.cosh), (OverflowError,)),
    **dict.fromkeys((math.pow, math.floor, math.ceil, math.trunc), _BOTH),
}  # fmt: skip
_MATH_INT: Final = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}
_MATH_BOOL: Final = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def _log(x: Any, *base: Any) -> Any:
    if any(isinstance(a, Array) and is_traced(a) for a in (x, *base)):
        may_raise(ValueError, ZeroDivisionError)
        top = np.log(python_number(_array(x), "f"))
        return python_number(top / np.log(base[0]) if base else top, "f")
    return math.log(x, *base)


def _cmath(native: Twin, compute: Any, kind: str) -> Twin:
    """Return a function of `cmath`, which takes and mostly gives Python's complex numbers."""

    @functools.wraps(native)
    def twin(*args: Any) -> Any:
        if not any(map(is_traced, args)):
            return native(*args)
        numbers = [python_number(_array(a), "c") if is_traced(a) else a for a in args]
        return python_number(compute(*numbers), kind)

    return twin


def _logarithm(z: Any, *base: Any) -> Any:
    top = np.log(z)
    return top / np.log(complex(*base)) if base else top


_CMATH: Final[dict[str, Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": _logarithm, "log10": np.log10, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip


def plain(x: Any, what: str) -> Any:
    """Return what NumPy would have in the place of traced values; `what` is the asking call.

    Raises
    ------
    DataDependentError
        A value is known only when the model runs.
    """
    if isinstance(x, Dim):
        return int(x)
    if isinstance(x, Array):
        values = x._plain(what)
        if x._is_weak:
            return values.item()
        return values if x._kind == ARRAY else values[()]
    if type(x) in (tuple, list):
        return type(x)(plain(item, what) for item in x)
    return {k: plain(v, what) for k, v in x.items()} if type(x) is dict else x


def _text(native: Twin) -> Twin:
    """Return a function that makes text: of values, not of what stands for them."""
    name = f"{native.__name__}()"

    def twin(*args: Any, **kwargs: Any) -> Any:
        if args and any(True for _ in arrays_in(args[0])):
            args = (plain(args[0], name), *args[1:])
        return native(*args, **kwargs)

    return twin


def _ufunc(ufunc: np.ufunc) -> Twin:
    """Return a ufunc that sees traced values inside lists, where NumPy does not look."""

    def twin(*args: Any, **kwargs: Any) -> Any:
        kinds = set(map(type, args))
        if Array in kinds and len(args) == count and not kwargs and kinds <= _COMMON:
            return call_ufunc(ufunc, "__call__", args, kwargs)  # as NumPy would
        lists = [a for a in args if type(a) in (list, List, tuple)]
        if lists and any(map(is_traced, arrays_in(lists))):
            return call_ufunc(ufunc, "__call__", args, kwargs)
        return ufunc(*args, **kwargs)

    count = ufunc.nin
    return twin


#: method of ufuncs -> how many of its arguments NumPy makes arrays of
_METHODS: Final = {"reduce": 1, "accumulate": 1, "reduceat": 2, "outer": 2}


def _ufunc_method(ufunc: np.ufunc, method: Any) -> Twin:
    """Return ``ufunc.reduce`` or the like, which sees traced values inside lists."""
    name = method.__name__
    count = _METHODS.get(name, 0)

    def has_traced(x: Any) -> bool:
        return type(x) in (list, List, tuple) and any(map(is_traced, arrays_in(x)))

    def operand(x: Any) -> Any:
        return call_function(np.asarray, (x,), {}) if has_traced(x) else x

    def twin(*args: Any, **kwargs: Any) -> Any:
        if name == "at" and any(map(has_traced, args)):
            return call_ufunc(ufunc, name, args, kwargs)
        # NumPy itself tells what the others are: `out` may be given by its place
        return method(*map(operand, args[:count]), *args[count:], **kwargs)

    return twin


#: operands of most ufuncs
_COMMON: Final = frozenset({Array, bool, int, float, complex})


class _Broadcast:
    """What `np.broadcast` of traced arrays tells: the joint shape."""

    __slots__ = ("nd", "ndim", "numiter", "shape", "size")

    def __init__(self, shape: tuple[Any, ...], count: int) -> None:
        self.shape: Final = shape
        self.nd = self.ndim = len(shape)
        self.numiter: Final = count
        self.size: Final = dim_prod(shape)


def _broadcast(*args: Any) -> Any:
    tracer = current_tracer()
    if tracer is None or not any(map(is_traced, arrays_in(args))):
        return np.broadcast(*args)
    return _Broadcast(broadcast_shapes(tracer.env, *map(np.shape, args)), len(args))


def _numpy_function(func: Any) -> Twin:
    @functools.wraps(func, updated=())
    def twin(*args: Any, **kwargs: Any) -> Any:
        return call_function(func, args, kwargs)

    return twin


#: methods of every object, which are no arithmetic
_LEFT: Final = ("__new__", "__init__", "__class", "__array", "__get", "__set", "__del")


def _method(name: str, method: Callable[..., Any]) -> Twin:
    """Return the stand-in of a method that is called as ``np.ndarray.sum(x)``."""

    def twin(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], Array):
            return getattr(args[0], name)(*args[1:], **kwargs)
        return method(*args, **kwargs)

    return twin


def _scalar_type(kind: type[np.generic]) -> Twin:
    def twin(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and is_traced(args[0]):
            cast = _array(args[0]).astype(kind)
            return cast[()] if not cast.ndim else cast
        return kind(*args, **kwargs)

    return twin


@functools.cache
def _twins() -> dict[int, tuple[Any, Twin]]:
    """Return id of a callable -> (the callable, its stand-in)."""
    pairs: list[tuple[Any, Twin]] = [
        (builtins.isinstance, is_instance),
        (builtins.type, _type),
        (builtins.len, length_of),
        (builtins.bool, _bool),
        (builtins.int, _int),
        (builtins.float, _float),
        (builtins.complex, _complex),
        (builtins.max, _extreme(max, np.greater, dim_max, "max")),
        (builtins.min, _extreme(min, np.less, dim_min, "min")),
        (builtins.sum, sum_),
        (math.log, _log),
        (warnings.warn, warn_),
        (np.broadcast, _broadcast),
        (np.fromiter, fromiter_),
        (np.ndindex, ndindex_),
        (np.ndenumerate, ndenumerate_),
        (np.lib.stride_tricks.as_strided, as_strided_),
        (builtins.list, _list),
        (builtins.sorted, _sorted),
        (heapq.nlargest, _first_of(heapq.nlargest, reverse=True)),
        (heapq.nsmallest, _first_of(heapq.nsmallest)),
        (builtins.next, next_),
        (builtins.any, Quantifier(np.logical_or)),
        (builtins.all, Quantifier(np.logical_and)),
        (range, range_),
        (enumerate, enumerate_),
        (zip, zip_),
        (reversed, reversed_),
        (map, lambda f, *iterables: map_(_own(f), *iterables)),
        (filter, lambda f, iterable: filter_(_own(f), iterable)),
        (builtins.iter, iter_),
    ]
    for names, kind in ((_MATH, "f"), (_MATH_INT, "i"), (_MATH_BOOL, "b")):
        pairs += [
            (getattr(math, n), _math(getattr(math, n), u, kind)) for n, u in names.items()
        ]
    complexes = ((_CMATH, "c"), ({**_MATH_BOOL}, "b"), ({"phase": np.angle}, "f"))
    for found, kind in complexes:
        pairs += [
            (getattr(cmath, n), _cmath(getattr(cmath, n), u, kind)) for n, u in found.items()
        ]
    pairs += [(f, _text(f)) for f in (str, repr, ascii, format)]
    pairs += [(f, _numpy_function(f)) for f in (*table.FUNCTIONS, *by_source())]
    pairs += [(f, _ufunc(f)) for f in table.UFUNCS]
    pairs += [
        (f, _method(name, f))
        for name, f in vars(np.ndarray).items()
        if callable(f) and hasattr(Array, name) and not name.startswith(_LEFT)
    ]
    scalars = {t.type for t in map(np.dtype, "?bhilqBHILQefdFD")}
    pairs += [(t, _scalar_type(t)) for t in scalars]
    return {id(f): (f, twin) for f, twin in pairs}


def _own(f: Any) -> Any:
    """Return what is called in the place of a function that a function is given."""
    return f if f is None else twin_of(f) or f


def twin_of(f: object) -> Twin | None:
    """Return the stand-in of a callable, None if it has none."""
    if type(f) is np.vectorize:
        return vectorized(f)
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ufunc):
        return _ufunc_method(owner, f)
    found = _twins().get(id(f))
    return found[1] if found is not None else None


@functools.cache
def _eager_twins() -> dict[int, tuple[Any, Twin]]:
    pairs = [(isinstance, is_instance), (type, _type)]
    pairs.append((np.lib.stride_tricks.as_strided, as_strided_))
    pairs += [(f, _text(f)) for f in (str, repr, ascii, format)]
    pairs += [(f, _converter(f)) for f in _CONVERTERS]
    return {id(f): (f, twin) for f, twin in pairs}


#: functions that would make ndarrays of eager arrays
_CONVERTERS: Final = (
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray,
)  # fmt: skip


def _converter(func: Any) -> Twin:
    def twin(*args: Any, **kwargs: Any) -> Any:
        if any(True for _ in arrays_in(args)):
            return call_function(func, args, kwargs)
        return func(*args, **kwargs)

    return twin


def eager_twin_of(f: object) -> Twin | None:
    """Return the stand-in of a callable for code that runs on eager arrays."""
    found = _eager_twins().get(id(f))
    return found[1] if found is not None else None


def shuffle_of(f: Any) -> Twin | None:
    """Return a shuffle that moves whole rows: NumPy swaps them, and here they are views."""
    owner = f.__self__
    known = isinstance(owner, (np.random.Generator, np.random.RandomState))
    if f.__name__ != "shuffle" or not known:
        return None

    def twin(x: Any, axis: int = 0) -> Any:
        option = {"axis": axis} if isinstance(owner, np.random.Generator) else {}
        if not isinstance(x, Array) or x._nd is not None:
            return f(x._nd if isinstance(x, Array) else x, **option)
        places = np.arange(int(x.shape[axis]))
        f(places)
        x[...] = call_function(np.take, (x, places), {"axis": axis})
        return None

    return twin
