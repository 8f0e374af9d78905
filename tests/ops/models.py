# SPDX-License-Identifier: Apache-2.0
"""Calls and exported models against NumPy, at the sizes traced and at others."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort

from onnxjit import AssumptionWarning, jit_onnx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["check", "check_model", "same"]


def leaves(x: Any) -> list[Any]:
    """Return what is in nested lists and tuples."""
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in leaves(item)]
    return [x]


def same(got: Any, want: Any, rtol: float = 0) -> None:
    """Assert equal types, dtypes, shapes, values and signs of zeros."""
    assert type(got) is type(want)
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, rtol)
        return
    g, w = np.asarray(got), np.asarray(want)
    assert (g.dtype, g.shape) == (w.dtype, w.shape)
    np.testing.assert_allclose(g, w, rtol=rtol, atol=0)
    if w.dtype.kind == "f":
        zero = w == 0
        np.testing.assert_array_equal(np.signbit(g[zero]), np.signbit(w[zero]))


def check(
    f: Callable[..., Any], *args: Any, rtol: float = 0, opset: int | None = None
) -> None:
    """Compare a jitted call with NumPy, and what it does to its arguments."""
    mine, numpys = [np.copy(a) for a in args], [np.copy(a) for a in args]
    want = f(*numpys)
    same(jit_onnx(f, fallback="error", opset=opset)(*mine), want, rtol)
    for mine_after, numpys_after in zip(mine, numpys, strict=True):
        same(mine_after, numpys_after, rtol)


def check_model(
    f: Callable[..., Any],
    *runs: Sequence[Any],
    rtol: float = 0,
    opset: int | None = None,
) -> None:
    """Export for the first arguments; run the model for all of them, in plain onnxruntime."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        model = jit_onnx(f, opset=opset).to_onnx(*runs[0])
    session = ort.InferenceSession(model.SerializeToString())
    names = [i.name for i in session.get_inputs()]
    for args in runs:
        got = session.run(None, dict(zip(names, args, strict=True)))
        for g, w in zip(got, leaves(f(*args)), strict=True):
            same(np.asarray(g), np.asarray(w), rtol)
