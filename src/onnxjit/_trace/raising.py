# SPDX-License-Identifier: Apache-2.0
"""What is known of exceptions of the user's code while it is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, has_data
from onnxjit.errors import OnnxJitError

from .array import Array
from .convert import arrays_in, is_traced
from .doors import DOORS
from .entering import running_tracer
from .trace import current_tracer

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AlwaysRaises", "is_plain", "may_raise"]


class AlwaysRaises(OnnxJitError):  # noqa: N818  says what the code does
    """Every path of the code that is being traced raises; only Python can say what."""


def is_plain(error: Exception) -> bool:
    """Whether an exception is made of what is known while tracing."""
    args = getattr(error, "args", ())
    traced = any(map(is_traced, arrays_in(args)))
    return not traced and not any("<traced " in str(x) for x in args)


# --- what raises for numbers that only data knows


def may_raise(*errors: type[Exception]) -> None:
    """Refuse what raises for some numbers where a handler would see one of the exceptions.

    Elsewhere such numbers are NumPy's infinities and NaN.

    Raises
    ------
    DataDependentError
        There is such a handler.
    """
    tracer = current_tracer()
    if tracer is None or not tracer.tries:
        return
    if any(
        issubclass(e, t) for types in tracer.handlers for t in _caught(types) for e in errors
    ):
        tracer.mark_line()
        tracer.fail()


def _caught(types: Any) -> Iterator[type]:
    """Yield the types of exceptions that a handler names; `types()` looks them up."""
    try:
        found = BaseException if types is None else types()
    except Exception:  # noqa: BLE001  only a handler that is needed looks for its types
        found = BaseException
    stack = [found]
    while stack:
        one = stack.pop()
        if isinstance(one, tuple):
            stack.extend(one)
        elif isinstance(one, type):
            yield one


def _divide(ufunc: np.ufunc, a: Any, b: Any, *, inplace: bool = False) -> Any:
    """Perform an operator that raises for some of Python's numbers, not for NumPy's."""
    tracer = current_tracer()
    if tracer is not None and tracer.tries and _is_python(a) and _is_python(b):
        _ask(ufunc, b)
    return (DOORS.inplace if inplace else DOORS.operator)(ufunc, a, b)


def _ask(ufunc: np.ufunc, b: Any) -> None:
    """Refuse an operator on Python's numbers that a handler may see raise."""
    if isinstance(b, Dim) and not (has_data(b) or running_tracer().symbolic):
        known: Any = not b  # a guard
    else:
        known = None if is_traced(b) else not b
    if ufunc is not np.power:
        if known is not False:
            may_raise(ZeroDivisionError)
    elif is_traced(b) or b < 0:
        may_raise(ZeroDivisionError, OverflowError)
    else:
        may_raise(OverflowError)


def _is_python(x: Any) -> bool:
    return x._is_weak if isinstance(x, Array) else type(x) in _PYTHON or is_traced(x)


_PYTHON: Final = frozenset({bool, int, float, complex})

DOORS.divide = _divide
