# SPDX-License-Identifier: Apache-2.0
"""How functions of the namespace reach the rows of the op table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._core.dtypes import from_numpy
from onnxjit._eager.boundary import from_eager
from onnxjit._eager.quick import quick_function
from onnxjit._ops.table import rows
from onnxjit._trace.array import ARRAY, Array, wrap
from onnxjit._trace.dispatch import call_function, call_ufunc
from onnxjit._trace.doors import DOORS
from onnxjit._trace.trace import current_tracer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "NUMPY", "arrays", "binary", "call", "call_numpy", "check_device", "composed", "created",
    "dtype_of", "of_sizes", "unary", "view",
]  # fmt: skip

#: name in the standard -> the NumPy function or ufunc of its row
NUMPY: Final[dict[str, Any]] = {row.api: row.numpy for row in rows() if row.api is not None}
_NOTHING: Final[dict[str, Any]] = {}
_DEVICE: Final = "cpu"


def arrays(x: Any) -> Any:
    """Return a result with arrays of no axes in the place of scalars, in tuples too."""
    if type(x) is Array:
        if x._kind == ARRAY:
            return x
        if x._nd is not None:
            return Array.eager(x._nd)
        if x._is_weak:
            return call_function(np.asarray, (x,), {})
        return wrap(x._value)
    if isinstance(x, tuple):
        items = map(arrays, x)
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return tuple(map(arrays, x))
    return x


def call(name: str, *args: Any, **options: Any) -> Any:
    """Call the NumPy function that the table has under a name of the standard."""
    func = NUMPY[name]
    if current_tracer() is None:
        made = quick_function(func, args, options)
        if made is not None:
            return made if made._kind is ARRAY else arrays(made)
    return arrays(call_function(func, args, options))


def call_numpy(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a NumPy function by itself."""
    return arrays(call_function(func, args, options))


def view(name: str, x: Any, *args: Any, **options: Any) -> Any:
    """Call a NumPy function that shows the elements of its first argument otherwise."""
    values = x._nd if type(x) is Array and x._kind == ARRAY else None
    if values is None:
        return call_numpy(NUMPY[name], x, *args, **options)
    made = NUMPY[name](values, *args, **options)
    if isinstance(made, tuple):
        return tuple(Array.eager(np.asarray(each)) for each in made)
    return x if made is values else Array.eager(made)


def of_sizes(name: str, *args: Any) -> Any:
    """Call a function of sizes alone."""
    if current_tracer() is None:
        return NUMPY[name](*args)
    return call_function(NUMPY[name], args, {})


def composed(fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function written in NumPy: as part of the trace, or as one program of its own."""
    if current_tracer() is not None:
        return arrays(fn(*args, **options))
    made = quick_function(fn, args, options)
    return arrays(DOORS.eager(fn, "__call__", args, options) if made is None else made)


def created(func: Callable[..., Any], *args: Any, device: Any, **options: Any) -> Any:
    """Make an array of plain numbers: NumPy does outside a trace, the trace inside."""
    check_device(device)
    given = {name: x for name, x in options.items() if x is not None}
    if current_tracer() is not None:
        return arrays(call_function(func, args, given))
    values = func(*from_eager(args), **from_eager(given))
    from_numpy(values.dtype)
    return Array.eager(values)


def unary(name: str) -> Callable[[Any], Array]:
    """Return the elementwise function of one array with a name of the standard."""
    ufunc = NUMPY[name]

    def function(x: Any, /) -> Any:
        made = call_ufunc(ufunc, "__call__", (x,), _NOTHING)
        return made if type(made) is Array and made._kind is ARRAY else arrays(made)

    return _named(function, name, f"Return ``numpy.{ufunc.__name__}(x)`` as an array.")


def binary(name: str) -> Callable[[Any, Any], Array]:
    """Return the elementwise function of two operands with a name of the standard."""
    ufunc = NUMPY[name]

    def function(x1: Any, x2: Any, /) -> Any:
        made = call_ufunc(ufunc, "__call__", (x1, x2), _NOTHING)
        return made if type(made) is Array and made._kind is ARRAY else arrays(made)

    return _named(function, name, f"Return ``numpy.{ufunc.__name__}(x1, x2)`` as an array.")


def _named(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "onnxjit.array_api"
    function.__doc__ = text
    return function


def check_device(device: Any) -> None:
    """Require that a device is the one there is, or None.

    Raises
    ------
    ValueError
        It is another.
    """
    if device is not None and device != _DEVICE:
        msg = f"there is no device {device!r}; only {_DEVICE!r}"
        raise ValueError(msg)


def dtype_of(x: Any) -> Any:
    """Return the dtype of an array; sizes become the number that they promote as."""
    if isinstance(x, Array):
        return x.dtype if not x._is_weak else (x.dtype.type(0)).item()
    return 0 if isinstance(x, Dim) else x
