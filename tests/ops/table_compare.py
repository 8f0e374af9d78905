# SPDX-License-Identifier: Apache-2.0
"""What a call comes to, and how two results differ."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Outcome", "bound", "described", "difference", "is_excused", "leaves"]

Array = np.ndarray[Any, Any]

#: calls whose signs of zero are not NumPy's: sums of products, and the order of equals
UNSIGNED: Final = re.compile(
    r"einsum|dot|inner|outer|@|mat|vec|tensor|sort|partition|unique|initial|median|quantile|logaddexp"
)
#: NumPy's documentation calls this a multiplication; its BLAS skips a factor that is 0.0, and
#: with it the infinities and NaN of the other one
ABSORBING: Final = re.compile(r"np\.dot\(a_, ")
BOUNDS: Final = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-12}


class Outcome:
    """What a call came to: a result and the arguments after it, or an exception."""

    __slots__ = ("arguments", "error", "undefined", "value")

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        self.arguments = arguments
        self.error: BaseException | None = None
        self.value: Any = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.value = function(*arguments)
            except Exception as e:  # noqa: BLE001  whatever it raises is compared
                self.error = e
        self.undefined = any("encountered in cast" in str(w.message) for w in caught)


def bound(outcome: Outcome) -> float:
    """Return the bound of the least exact floats among results and arguments."""
    parts = (np.asarray(x) for x in (*leaves(outcome.value), *leaves(outcome.arguments)))
    return max((BOUNDS.get(x.dtype.name, 0.0) for x in parts), default=0.0)


def is_excused(body: str, text: str, want: Outcome) -> bool:
    """Whether a difference is one of those that are documented."""
    if "signed zero" in text:
        return UNSIGNED.search(body) is not None
    return ABSORBING.search(body) is not None and not np.any(want.value)


def difference(
    got: Any, want: Any, where: str = "result", *, types: bool = True, bound: float = 1e-12
) -> str:
    """Return how two results differ, nothing if they do not."""
    if types and type(got) is not type(want):
        return f"{where}: {type(got)} instead of {type(want)}"
    if isinstance(want, (np.ndarray, np.generic)):
        return _array_difference(np.asarray(got), np.asarray(want), where, bound)
    if isinstance(want, (tuple, list)):
        if len(got) != len(want):
            return f"{where}: {len(got)} items instead of {len(want)}"
        parts = (
            difference(g, w, f"{where}[{i}]", types=types, bound=bound)
            for i, (g, w) in enumerate(zip(got, want, strict=True))
        )
        return next((p for p in parts if p), "")
    if isinstance(want, np.dtype) and isinstance(got, np.dtype):
        # big-endian arguments are native inside
        got, want = got.newbyteorder("="), want.newbyteorder("=")
    if isinstance(want, float):
        return _array_difference(np.asarray(got), np.asarray(want), where, bound)
    return "" if got == want else f"{where}: {got!r} instead of {want!r}"


def _array_difference(got: Array, want: Array, where: str, bound: float) -> str:
    if got.dtype.newbyteorder("=") != want.dtype.newbyteorder("="):
        return f"{where}: {got.dtype} instead of {want.dtype}"
    if got.shape != want.shape:
        return f"{where}: shape {got.shape} instead of {want.shape}"
    if want.dtype.kind != "f":
        same = bool((got == want).all())
        return "" if same else f"{where}: {got.tolist()} instead of {want.tolist()}"
    bound = max(bound, BOUNDS[want.dtype.name])
    with np.errstate(all="ignore"):
        g, w = got.astype(float), want.astype(float)
        largest = np.abs(w[np.isfinite(w)]).max(initial=0) if w.size else 0
        near = np.isclose(
            g, w, rtol=bound, atol=bound * min(largest, 1e6) + 1e-300, equal_nan=True
        )
        over = np.isinf(g) ^ np.isinf(w)
        top = float(np.finfo(want.dtype).max) * (1 - bound)
        near |= over & (np.abs(np.where(np.isinf(g), w, g)) >= top)
    if not near.all():
        return f"{where}: {got.tolist()} instead of {want.tolist()}"
    signs = (np.signbit(got) != np.signbit(want)) & (want == 0) & (got == 0)
    return (
        f"{where}: signed zero {got.tolist()} instead of {want.tolist()}"
        if signs.any()
        else ""
    )


def leaves(x: Any) -> list[Any]:
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in leaves(item)]
    return [x] if isinstance(x, (np.ndarray, np.generic)) else []


def described(arguments: Any) -> str:
    return ", ".join(
        f"{np.asarray(x).dtype.str}{list(np.shape(x))}={np.asarray(x).tolist()}"
        for x in arguments
    )
