# SPDX-License-Identifier: Apache-2.0
"""How far whole results are from NumPy's: containers, and the arrays in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxjit._eager.leaves import children

from .compare import Check, compare
from .factors import compare_factors, has_freedom

__all__ = ["compare_results"]


def compare_results(got: Any, want: Any, *, rtol: float | None = None) -> Check:
    """Compare whole results, types included, and return what is worst."""
    checks: list[Check] = []
    _collect(got, want, "result", rtol, checks)
    bad = [c for c in checks if not c.ok]
    if bad:
        return bad[0]
    errors = [c.error for c in checks if c.error is not None]
    ulps = [c.ulp for c in checks if c.ulp is not None]
    text = "; ".join(dict.fromkeys(c.text for c in checks if c.text))
    return Check("ok", error=max(errors, default=None), ulp=max(ulps, default=None), text=text)


def _kind(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}"


def _collect(got: Any, want: Any, where: str, rtol: float | None, checks: list[Check]) -> None:
    if type(got) is not type(want):
        text = f"{where}: {_kind(got)} instead of {_kind(want)}"
        checks.append(Check("differs", text=text))
        return
    if isinstance(want, (np.ndarray, np.generic, float)):
        check = compare(np.asarray(got), np.asarray(want), rtol=rtol)
        checks.append(check if check.ok else check.with_text(f"{where}: {check.text}"))
        return
    if has_freedom(want):
        check = compare_factors(got, want, rtol)
        checks.append(check if check.ok else check.with_text(f"{where}: {check.text}"))
        return
    parts = children(want)
    if parts is None:
        same = got is want or bool(got == want)
        checks.append(
            Check("ok" if same else "differs", text="" if same else f"{where}: {got!r}")
        )
        return
    others = children(got) or []
    if [n for n, _ in parts] != [n for n, _ in others]:
        checks.append(Check("differs", text=f"{where}: {len(others)} parts, not {len(parts)}"))
        return
    for (name, w), (_, g) in zip(parts, others, strict=True):
        _collect(g, w, f"{where}[{name}]", rtol, checks)
