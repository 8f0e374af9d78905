# SPDX-License-Identifier: Apache-2.0
"""Norms of complex arrays are real, at once and in a trace."""

import math

import numpy as np
import pytest

import onnxjit as oj

Z = np.array([[3 + 4j, -1j, 0], [1.5 - 2j, 2, 1 + 1j]])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("order", [2, 1, 0, 3, 0.5, math.inf, -math.inf])
def test_vector_norms(order, axis, dtype):
    z = Z.astype(dtype)
    want = np.linalg.vector_norm(z, ord=order, axis=axis)
    for found in (
        oj.array_api.linalg.vector_norm(oj.asarray(z), ord=order, axis=axis),
        oj.jit_onnx(
            lambda z: np.linalg.vector_norm(z, ord=order, axis=axis), fallback="error"
        )(z),
    ):
        assert found.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(found), want, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("order", ["fro", 1, -1, math.inf, -math.inf, 2, "nuc"])
def test_matrix_norms(order):
    want = np.linalg.matrix_norm(Z, ord=order)
    found = oj.array_api.linalg.matrix_norm(oj.asarray(Z), ord=order)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(np.asarray(found), want, rtol=1e-14)
