# SPDX-License-Identifier: Apache-2.0
"""Tuples and lists of data are compared as Python compares them."""

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx


def best_of(x: Any) -> Any:
    best = (0, 0.0)
    for i, e in enumerate(x):
        best = max(best, (int(e) % 3, float(e)))
        if (i, float(e)) < best:
            best = (best[0], best[1] + 1)
    return best


def least(x: Any) -> Any:
    a, b = [int(x[0]), float(x[1])], [int(x[1]), float(x[0])]
    return min(a, b), a <= b, a > b, a >= [*b, 1], (a, 1) < (b, 2), a[:1] < a


@pytest.mark.parametrize("fn", [best_of, least])
@pytest.mark.parametrize("convert", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
def test_sequences_have_an_order(fn: Any, convert: Any) -> None:
    converted = convert(fn)
    for seed in range(6):
        x = np.random.default_rng(seed).integers(-2, 5, 2 + seed) / 2
        for got, want in zip(converted(x), fn(x), strict=True):
            assert np.array_equal(got, want)
