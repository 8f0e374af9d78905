# SPDX-License-Identifier: Apache-2.0
"""Writes to a container of which there may be two: they are seen in both, or refused."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import (
    AssumptionWarning,
    DataDependentError,
    OnnxJitError,
    UnsupportedError,
    jit_onnx,
)


def handed(x: Any) -> Any:
    pos, neg = [0.0], [0.0]
    target = pos
    for v in x:
        target[0] += v
        target = neg if v > 0 else pos
    return pos[0] + neg[0] * 2


def rebound(x: Any) -> Any:
    a = [0.0]
    b = a
    for v in x:
        a[0] += v
        a = [v]
    return a[0] + b[0] * 2


def swapped(x: Any) -> Any:
    a, b = [0.0, 0.0], [1.0, 1.0]
    keep = a
    for v in x:
        a[0] += v
        a, b = b, a
    return a[0] + b[0] * 2 + keep[0] * 4


def swapped_dicts(x: Any) -> Any:
    a, b = {"s": 0.0}, {"s": 1.0}
    keep = a
    for v in x:
        a["s"] += v
        a, b = b, a
    return a["s"] + b["s"] * 2 + keep["s"] * 4


def replaced(x: Any) -> Any:
    w = [1.0, 2.0]
    keep = w
    if x.sum() > 0:
        w = [3.0, 4.0]
    w[0] = x[0]
    return w[0] + keep[0] * 2


def previous(x: Any) -> Any:
    row = [0.0, 0.0]
    first = row
    for v in x:
        row[1] += v
        row = [row[1], row[0]]
    return row[0] + row[1] * 2 + first[1] * 4


INPUTS = [np.array(v, float) for v in ([3, -1, 4, 1, -5], [-2], [1, 2], [-4, -5, 6])]


@pytest.mark.parametrize("fn", [handed, rebound, swapped, swapped_dicts, replaced, previous])
def test_a_write_is_seen_by_all_names(fn: Any) -> None:
    wanted = [fn(x) for x in INPUTS]
    jitted, strict = jit_onnx(fn), jit_onnx(fn, fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, want in zip(INPUTS, wanted, strict=True):
            np.testing.assert_allclose(jitted(x), want)
            try:
                np.testing.assert_allclose(strict(x), want)
            except UnsupportedError:
                continue
    try:
        model = strict.to_onnx(INPUTS[0])
    except OnnxJitError:
        return
    session = ort.InferenceSession(model.SerializeToString())
    (size,) = session.get_inputs()[0].shape
    for x, want in zip(INPUTS, wanted, strict=True):
        if isinstance(size, int) and size != len(x):
            continue  # unrolled: the model takes arrays of this size only, and says so
        (got,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, want)


def test_what_no_operator_carries_is_no_error_of_the_code() -> None:
    def f(x: Any) -> Any:
        names: dict[Any, Any] = {"up": 1.0}
        state: Any = None
        for v in x:
            state = "up" if v > 0 else state
            names |= {state: v}
        return names["up"]

    with pytest.raises((DataDependentError, UnsupportedError)):
        jit_onnx(f).to_onnx(copy.deepcopy(INPUTS[0]))


def test_a_model_warns_of_a_computed_size_that_it_fixes() -> None:
    def f(x: Any) -> Any:
        def steps(x: Any) -> Any:
            for i in range(len(x) - 1):
                yield x[i + 1] - x[i]

        return sum(step for step in steps(x))

    with pytest.warns(AssumptionWarning, match="right only where"):
        jit_onnx(f).to_onnx(np.arange(4.0))
