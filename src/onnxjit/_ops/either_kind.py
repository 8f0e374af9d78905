# SPDX-License-Identifier: Apache-2.0
"""`numpy.emath`: functions whose results are complex where no real number will do.

Of complex arrays they are the ufuncs.  Of real ones NumPy looks at the numbers to choose the
dtype of the result, which no graph can; where a dtype has no such numbers, nothing is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit.errors import UnsupportedError

from . import elementwise as ew
from .convert import as_strong
from .row import Function, Ufunc, function
from .samples import COMPLEX, call, calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value

    from .samples import Make

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []

#: kinds of dtypes without negative numbers
_UNSIGNED: Final = "bu"


def _settled(name: str, x: Any, kinds: str = "") -> Value:
    """Return an array for which the kind of the result is known.

    Raises
    ------
    UnsupportedError
        It is real, and of a dtype with numbers that give complex results.
    """
    array = as_strong(x)
    known = array.known
    is_open = array.dtype.kind not in f"c{kinds}"
    if is_open and (not kinds or known is None or bool((known < 0).any())):
        msg = (
            f"whether the result of np.emath.{name} is complex depends on array data; use "
            f"np.{name} of real numbers, or of .astype(complex)"
        )
        raise UnsupportedError(msg)
    return array


def _unary(m: Make) -> list[Any]:
    return [call(m.special(20)), call(m(3, 4)), call(m.scalar(1)), call(m()), call(m(0))]


def _of(name: str, ufunc: Callable[..., Any], kinds: str = "") -> None:
    def implementation(x: Any) -> Value:
        made: Value = ufunc(_settled(name, x, kinds))
        return made

    implementation.__doc__ = f"Return `np.{name}` of complex numbers."
    ulp = {"complex64": 8.0, "complex128": 8.0, "float64": 8.0}
    facts: dict[str, Any] = {"scalar": True, "ulp": ulp, "floor": 0.0}
    function(ROWS, getattr(np.emath, name), samples=calls(_unary, COMPLEX), **facts)(
        implementation
    )


_of("sqrt", ew.sqrt, _UNSIGNED)
_of("log", ew.log, _UNSIGNED)
_of("log2", ew.log2, _UNSIGNED)
_of("log10", ew.log10, _UNSIGNED)
_of("arccos", ew.arccos)
_of("arcsin", ew.arcsin)
_of("arctanh", ew.arctanh)


@function(
    ROWS, np.emath.logn, scalar=True, ulp={"complex64": 16, "complex128": 16}, floor=0.0,
    samples=calls(lambda m: [call(2, m.wide(9)), call(m.wide(4), m.wide(4))], ("c16",)),
)  # fmt: skip
def logn(n: Any, x: Any) -> Value:
    """Return logarithms to base `n`: a quotient of two logarithms."""
    base, number = (_settled("logn", v, _UNSIGNED) for v in (n, x))
    made: Value = ew.divide(ew.log(number), ew.log(base))
    return made


@function(
    ROWS, np.emath.power, scalar=True, ulp={"complex64": 64, "complex128": 64}, floor=0.0,
    samples=calls(lambda m: [call(m.wide(9), 2), call(m.wide(4), m.wide(4))], COMPLEX),
)  # fmt: skip
def power(x: Any, p: Any) -> Value:
    """Return powers; negative whole exponents of whole numbers are taken as floats."""
    base, exponent = _settled("power", x, _UNSIGNED), as_strong(p)
    if exponent.dtype.kind == "i" and base.dtype.kind != "c":
        _settled("power", exponent, _UNSIGNED)
    made: Value = ew.power(base, exponent)
    return made
