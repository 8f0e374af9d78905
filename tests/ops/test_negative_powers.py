# SPDX-License-Identifier: Apache-2.0
"""Negative powers of integers: NumPy's error for arrays, a float for Python's numbers."""

import numpy as np
import pytest

from onnxjit import FallbackWarning, asarray, jit_onnx

X, Y = np.array([2, 3, 4]), np.array([1, -2, 3])
FORMS = [
    lambda x, y: x**y,
    np.power,
    lambda _x, y: 2**y,
    lambda x, y: np.power(x[0], y) + 1,
]


@pytest.mark.parametrize("fn", FORMS)
@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_arrays(fn, dtype):
    x, y = X.astype(dtype), Y.astype(dtype)
    for call in (jit_onnx(fn), lambda x, y: fn(asarray(x), asarray(y))):
        np.testing.assert_array_equal(call(x, abs(y)), fn(x, abs(y)), strict=True)
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            call(x, y)


def test_numbers_of_python():
    with pytest.warns(FallbackWarning):
        assert jit_onnx(lambda n, k: n**k)(2, -2) == 0.25
    assert jit_onnx(lambda n: n**-2, fallback="error")(4) == 0.0625
    assert jit_onnx(lambda x: int(x[0]) ** -2, fallback="error")(X) == 0.25
