# SPDX-License-Identifier: Apache-2.0
"""``ufunc.at`` at every opset: a Loop where ScatterND does not combine."""

from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")


def combined(x: Any, i: Any, v: Any) -> Any:
    total, most, product, rest = (x.copy() for _ in range(4))
    np.add.at(total, i, v)
    np.maximum.at(most, i, v)
    np.multiply.at(product, (i,), v)
    np.subtract.at(rest, i, 1)
    return total, most, product, rest


def by_rows(x: Any, i: Any) -> Any:
    x = x.copy()
    np.add.at(x, (i, slice(1, None)), 2)
    return x


@pytest.mark.parametrize("opset", [13, 15, 16, 17, 18])
@pytest.mark.parametrize("dtype", DTYPES)
def test_repeated_places_combine(opset: int, dtype: str) -> None:
    fn = jit_onnx(combined, opset=opset, fallback="error")
    x = np.arange(5).astype(dtype)
    for i in ([1, 1, -1, 3], [], [0]):
        places = np.array(i, np.int64)
        v = np.arange(2, 2 + len(i)).astype(dtype)
        for got, want in zip(fn(x, places, v), combined(x, places, v), strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("opset", [13, 16])
def test_rows_and_slices(opset: int) -> None:
    fn = jit_onnx(by_rows, opset=opset, fallback="error")
    for n in (0, 1, 4):
        x = np.arange(3.0 * n).reshape(n, 3)
        i = np.arange(n) // 2
        np.testing.assert_array_equal(fn(x, i), by_rows(x, i))
