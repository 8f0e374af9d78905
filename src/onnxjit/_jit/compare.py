# SPDX-License-Identifier: Apache-2.0
"""How far an array is from NumPy's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["BOUNDS", "Check", "compare"]

Array = np.ndarray[Any, Any]

#: relative bounds of floats by size of an element; sums in another order stay below them
BOUNDS: Final = {2: 4e-3, 4: 1e-5, 8: 1e-12}


class Check:
    """How a result compares.

    Attributes
    ----------
    status : str
        ``"ok"``, ``"differs"``, ``"error"`` (an exception), ``"n/a"`` (not run or not usable).
    error : float or None
        Largest absolute difference of numbers.
    ulp : int or None
        Largest number of floats between a result and NumPy's.
    text : str
        What differs, the exception, or the reason.
    """

    __slots__ = ("error", "status", "text", "ulp")

    def __init__(
        self,
        status: str,
        *,
        error: float | None = None,
        ulp: int | None = None,
        text: str = "",
    ) -> None:
        self.status: Final = status
        self.error: Final = error
        self.ulp: Final = ulp
        self.text: Final = text

    @classmethod
    def failed(cls, error: BaseException) -> Check:
        """Return the check of something that raised."""
        notes = getattr(error, "__notes__", ())
        return cls("error", text="; ".join([f"{type(error).__name__}: {error}", *notes]))

    @property
    def ok(self) -> bool:
        """Whether there is nothing to object to."""
        return self.status in {"ok", "n/a"}

    def with_text(self, text: str) -> Check:
        """Return the same check with another text."""
        return Check(self.status, error=self.error, ulp=self.ulp, text=text)

    def cells(self) -> list[str]:
        """Return status and errors as text."""
        error = "" if self.error is None else f"{self.error:.3g}"
        return [self.status, error, "" if self.ulp is None else str(self.ulp)]

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {
            "status": self.status, "max_abs_error": self.error, "max_ulp": self.ulp,
            "text": self.text,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Check({', '.join([*filter(None, self.cells()), *filter(None, [self.text])])})"


def compare(got: Array, want: Array, *, rtol: float | None = None) -> Check:
    """Compare an array with NumPy's.

    Parameters
    ----------
    got, want : ndarray
        NaNs are equal.
    rtol : float, optional
        Bound of floats, by the dtype if None: a float may differ by `rtol` times itself plus
        `rtol` (less where all numbers are below 1).  Anything else is compared exactly.
    """
    if want.dtype.kind in "UT" and got.dtype.kind in "OUT":
        got, want = got.astype(str), want.astype(str)
    elif got.dtype != want.dtype:
        return Check("differs", text=f"dtype {got.dtype} instead of {want.dtype}")
    if got.shape != want.shape:
        return Check("differs", text=f"shape {got.shape} instead of {want.shape}")
    if want.dtype.kind == "c":
        parts = np.dtype(f"f{want.itemsize // 2}")
        got, want = (np.ascontiguousarray(x).view(parts) for x in (got, want))
    if want.dtype.kind == "f":
        return _compare_floats(got, want, BOUNDS[want.itemsize] if rtol is None else rtol)
    wrong = np.count_nonzero(got != want)
    error = None if want.dtype.kind not in "biu" else _distance(got, want)
    text = f"{wrong} of {want.size} elements" if wrong else ""
    return Check("differs" if wrong else "ok", error=error, text=text)


def _compare_floats(got: Array, want: Array, rtol: float) -> Check:
    finite = np.isfinite(got) & np.isfinite(want)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if not np.all(finite | same):
        at = np.flatnonzero(~(finite | same))[0]
        text = f"{got.flat[at]!r} instead of {want.flat[at]!r} at flat index {at}"
        return Check("differs", text=text)
    a, b = got[finite], want[finite]
    if not a.size:
        return Check("ok", error=0.0, ulp=0)
    wide = np.promote_types(a.dtype, np.float64)
    with np.errstate(over="ignore"):
        error = np.abs(a.astype(wide) - b.astype(wide))
    size = np.abs(b.astype(wide))
    least = 4 * float(np.finfo(want.dtype).smallest_subnormal) if rtol else 0.0
    close = error <= rtol * size + rtol * min(1.0, float(size.max())) + least
    wrong = close.size - np.count_nonzero(close)
    text = f"{wrong} of {want.size} elements beyond rtol={rtol:g}" if wrong else ""
    status = "differs" if wrong else "ok"
    return Check(status, error=float(error.max()), ulp=_ulp(a, b), text=text)


def _ulp(a: Array, b: Array) -> int:
    """Return how many floats lie between two arrays at most."""
    whole = np.dtype(f"i{a.itemsize}")
    least = np.iinfo(whole).min

    def ordered(x: Array) -> Array:
        bits = np.ascontiguousarray(x).view(whole)
        return np.where(bits < 0, least - bits, bits)

    return int(_distance(ordered(a), ordered(b)))


def _distance(a: Array, b: Array) -> int:
    """Return the largest difference of integers or bools, exactly."""
    if not a.size:
        return 0
    if a.dtype.kind == "b":
        return int(np.count_nonzero(a != b) > 0)
    unsigned = np.dtype(f"u{a.itemsize}")
    return int((np.maximum(a, b).astype(unsigned) - np.minimum(a, b).astype(unsigned)).max())
