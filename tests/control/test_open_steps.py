# SPDX-License-Identifier: Apache-2.0
"""Slices whose step is data."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import AliasError, int64, jit_onnx

X = np.arange(7)
BOUNDS = (None, 0, 2, -3, 9, -9)


def read(x: Any, i: Any, j: Any, k: Any) -> Any:
    return x[i:j:k], x[::k], x[i::k].sum()


def written(x: Any, i: Any, j: Any, k: Any) -> Any:
    x = x.copy()
    x[i:j:k] = 50
    x[::k] = x[::k] + 1
    return x


def _data(*numbers: int | None) -> list[Any]:
    return [None if n is None else np.int64(n) for n in numbers]


@pytest.mark.parametrize("fn", [read, written])
@pytest.mark.parametrize("step", [1, 2, 3, 9, -1, -2, -9])
def test_steps_of_data_take_the_places_of_pythons(fn: Any, step: int) -> None:
    fn_of = {
        missing: jit_onnx(fn, fallback="error")
        for missing in itertools.product((False, True), repeat=2)
    }
    for i, j in itertools.product(BOUNDS, BOUNDS):
        converted = fn_of[i is None, j is None]
        for x in (X, X[:0], X[:1]):
            args = (x, *_data(i, j, step))
            got, want = converted(*args), fn(*args)
            for g, w in (
                zip(np.atleast_1d(got), np.atleast_1d(want), strict=True)
                if fn is (written)
                else zip(got, want, strict=True)
            ):
                np.testing.assert_array_equal(g, w)


def test_a_step_of_zero_is_pythons_error() -> None:
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        jit_onnx(read, fallback="error")(X, *_data(0, 5, 0))


@pytest.mark.parametrize("opset", [13, None])
def test_models_take_steps(opset: int | None) -> None:
    model = jit_onnx(written).to_onnx(int64["N"], int64, int64, int64, opset=opset)
    session = ort.InferenceSession(model.SerializeToString())
    for i, j, k in ((0, 7, 2), (6, -9, -3), (-3, 9, 1)):
        feeds = {"x": X, **{n: np.array(v) for n, v in zip("ijk", (i, j, k), strict=True)}}
        np.testing.assert_array_equal(session.run(None, feeds)[0], written(X, i, j, k))


def through(x: Any, k: Any) -> Any:
    part = x[::k]
    part += 1
    return x


def test_writing_through_such_a_view_is_refused() -> None:
    with pytest.raises(AliasError):
        jit_onnx(through, fallback="error")(X.copy(), np.int64(2))
