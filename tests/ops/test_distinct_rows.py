# SPDX-License-Identifier: Apache-2.0
"""`np.unique` along an axis: order, NaN, many columns, sizes other than traced."""

import numpy as np
import pytest

from onnxjit import jit_onnx

DTYPES = [np.dtype(c) for c in "?bhilBHILefd"]
SHAPES = [(3, 2), (6, 1), (1, 5), (0, 2), (2, 0), (4, 7), (30, 2), (3, 2, 2), (0, 2, 2)]


def everything(x, axis):
    all_of_it = np.unique(x, True, True, True, axis)
    return *all_of_it, np.unique(x, axis=axis)


def few_values(shape, dtype, rng):
    x = rng.integers(-1, 2, shape).astype(dtype)
    if dtype.kind == "f":
        x = np.where(rng.random(shape) < 0.2, np.nan, x).astype(dtype)
    return x


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_is_numpys(dtype, opset):
    rng = np.random.default_rng(dtype.num)
    jit = jit_onnx(everything, fallback="error", opset=opset)
    for shape in SHAPES:
        x = few_values(shape, dtype, rng)
        for axis in range(-1, len(shape) - 1):
            for got, want in zip(jit(x, axis), everything(x, axis), strict=True):
                np.testing.assert_array_equal(got, want, strict=True)


def test_infinities_and_nan_of_float16():
    x = np.array([[np.inf, 1], [np.nan, 1], [-np.inf, 1], [65504, 1], [np.nan, 0]], np.float16)
    got = jit_onnx(everything, fallback="error")(x, 0)
    for result, want in zip(got, everything(x, 0), strict=True):
        np.testing.assert_array_equal(result, want, strict=True)
