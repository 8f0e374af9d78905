# SPDX-License-Identifier: Apache-2.0
"""`numpy.emath`, traced like the user's code: complex where no real number will do.

NumPy looks at the numbers to tell whether a result is real.  A graph has both: a call gives
what NumPy gives, but what is computed with such a result is complex; so are results of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SOURCES"]

#: dtypes of which NumPy makes complex64
_SINGLE: Final = (np.float32, np.int8, np.int16, np.uint8, np.uint16)
#: kinds of dtypes without negative numbers, and that of complex ones
_NEVER_NEGATIVE: Final = "buc"


def _complex(x: Any) -> Any:
    return x.astype(np.complex64 if x.dtype in _SINGLE else np.complex128)


def _has_negative(x: Any) -> Any:
    return x.dtype.kind not in _NEVER_NEGATIVE and np.any(x < 0)


def _has_large(x: Any) -> Any:
    return x.dtype.kind not in "bc" and np.any(abs(x) > 1)


def _either(ufunc: Any, leaves_real: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that is complex for real numbers which leave the real ones."""

    def traced(x: Any) -> Any:
        x = np.asarray(x)
        if leaves_real(x):
            return ufunc(_complex(x))
        return ufunc(x)

    return traced


def _logn(n: Any, x: Any) -> Any:
    """Return logarithms to base `n`."""
    n, x = np.asarray(n), np.asarray(x)
    if _has_negative(x):
        if _has_negative(n):
            return np.log(_complex(x)) / np.log(_complex(n))
        return np.log(_complex(x)) / np.log(n)
    if _has_negative(n):
        return np.log(x) / np.log(_complex(n))
    return np.log(x) / np.log(n)


def _power(x: Any, p: Any) -> Any:
    """Return powers; exponents with a negative whole one among them are taken as floats."""
    x, p = np.asarray(x), np.asarray(p)
    if p.dtype.kind == "i" and np.any(p < 0):
        if _has_negative(x):
            return np.power(_complex(x), p * 1.0)
        return np.power(x, p * 1.0)
    if _has_negative(x):
        return np.power(_complex(x), p)
    return np.power(x, p)


#: NumPy function -> what is traced for it
SOURCES: Final[dict[Any, Callable[..., Any]]] = {
    np.emath.sqrt: _either(np.sqrt, _has_negative),
    np.emath.log: _either(np.log, _has_negative),
    np.emath.log2: _either(np.log2, _has_negative),
    np.emath.log10: _either(np.log10, _has_negative),
    np.emath.arccos: _either(np.arccos, _has_large),
    np.emath.arcsin: _either(np.arcsin, _has_large),
    np.emath.arctanh: _either(np.arctanh, _has_large),
    np.emath.logn: _logn,
    np.emath.power: _power,
}
