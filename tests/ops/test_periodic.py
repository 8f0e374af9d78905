# SPDX-License-Identifier: Apache-2.0
"""sin and cos of float64 keep their relative accuracy next to their zeros."""

import numpy as np
import pytest

from onnxjit import jit_onnx

NEAR = np.concatenate([
    np.arange(-2000, 2001) * (np.pi / 2),
    np.arange(1, 600_000, 997) * (np.pi / 2),
    np.random.default_rng(0).uniform(-1e6, 1e6, 20_000),
    np.random.default_rng(1).normal(size=20_000),
])  # fmt: skip


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("function", [np.sin, np.cos], ids=lambda f: f.__name__)
def test_within_four_units(function, opset):
    got, want = jit_onnx(function, opset=opset)(NEAR), function(NEAR)
    assert (np.abs(got - want) / np.spacing(np.abs(want))).max() <= 4


@pytest.mark.parametrize("function", [np.sin, np.cos], ids=lambda f: f.__name__)
def test_special_values(function):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e22])
    with np.errstate(invalid="ignore"):
        want = function(x)
    got = jit_onnx(function)(x)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert np.signbit(got[:2]).tolist() == np.signbit(want[:2]).tolist()
