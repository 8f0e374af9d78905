# SPDX-License-Identifier: Apache-2.0
"""Which dtypes of ``out=`` a function takes: NumPy is asked, on arrays of one element."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["casting_of"]


#: functions whose samples may lack the elements that are asked for
_SELECTS: Final = frozenset[Any]({np.take, np.compress})


def casting_of(
    func: Any, call: Callable[..., Any], result: np.dtype[Any], out: np.dtype[Any]
) -> str:
    """Return the casting rule for a result of one dtype and an `out=` of another.

    Parameters
    ----------
    func : callable
        The NumPy function.
    call : callable
        ``call(**options)`` makes the call on samples: arrays of the same dtypes and ranks.
    result, out : dtype

    Returns
    -------
    str
        ``"unsafe"`` where NumPy takes such an `out=`.  There is no common rule: means and
        medians take any dtype, `numpy.dot` only its own, `numpy.take` what casts safely.
        ``"same_kind"`` where the samples do not tell, because sizes or values matter.

    Raises
    ------
    TypeError, ValueError
        What NumPy raises where it does not.
    """
    if result == out:
        return "unsafe"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            small = call()
        except Exception:  # noqa: BLE001  whatever it is that samples do not have
            if func in _SELECTS:
                np.zeros(1, result).take([0], out=np.zeros(1, out))
                return "unsafe"
            return "same_kind"
        call(out=np.zeros(np.shape(small), out))
    return "unsafe"
