# SPDX-License-Identifier: Apache-2.0
"""Models for any size: what NumPy refuses at some sizes is no reason to ask for an example."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import AssumptionWarning, eager_onnx, float64, jit_onnx

MODES = [
    "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median",
    "linear_ramp",
]  # fmt: skip


def model_of(fn: Any, given: Any) -> ort.InferenceSession:
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        model = jit_onnx(fn).to_onnx(given)
    return ort.InferenceSession(model.SerializeToString())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "given", [float64[None, "M"], np.ones((3, 4))], ids=["sizes", "example"]
)
def test_padding(mode: Any, given: Any) -> None:
    def f(x: Any) -> Any:
        return np.pad(x, ((1, 2), (0, 3)), mode=mode)

    session = model_of(f, given)
    for shape in ((3, 4), (1, 1), (1, 5), (2, 2), (7, 3)):
        x = np.random.default_rng(0).normal(size=shape)
        np.testing.assert_allclose(session.run(None, {"x": x})[0], f(x))


def channels(x: Any) -> Any:
    r, g, b = np.moveaxis(x, -1, 0)
    return 0.3 * r + 0.6 * g + 0.1 * b


def corners(x: Any) -> Any:
    [a, b, c] = x.T
    return np.stack([a, c], axis=1) * b[:, None]


@pytest.mark.parametrize("fn", [channels, corners])
@pytest.mark.parametrize(
    "given", [float64[None, None], np.ones((4, 3))], ids=["sizes", "example"]
)
def test_as_many_elements_as_names(fn: Any, given: Any) -> None:
    session = model_of(fn, given)
    assert session.get_inputs()[0].shape[1] == 3
    for n in (4, 1, 0):
        x = np.random.default_rng(n).normal(size=(n, 3))
        np.testing.assert_allclose(session.run(None, {"x": x})[0], fn(x))
    jitted = jit_onnx(fn, fallback="error")
    for shape in ((2, 3), (2, 2), (2, 4), (5, 3)):
        x = np.ones(shape)
        if shape[1] == 3:
            np.testing.assert_allclose(jitted(x), fn(x))
        else:
            with pytest.raises(ValueError, match="values to unpack"):
                jitted(x)


def test_shapes_that_numpy_would_refuse_are_no_assumption() -> None:
    def patches(x: Any) -> Any:
        h, w = x.shape
        return x.reshape(h // 2, 2, w // 2, 2).swapaxes(1, 2).reshape(-1, 2, 2)

    for given in (np.ones((4, 6)), float64["H", "W"]):
        session = model_of(patches, given)
        for shape in ((2, 2), (6, 4)):
            x = np.random.default_rng(0).normal(size=shape)
            np.testing.assert_allclose(session.run(None, {"x": x})[0], patches(x))


def test_shapes_whose_refusal_the_code_catches_are_one() -> None:
    def pairs(x: Any) -> Any:
        try:
            return x.reshape(-1, 2)
        except ValueError:
            return x[None]

    with pytest.warns(AssumptionWarning):
        jit_onnx(pairs).to_onnx(np.ones(4))


def largest(x: Any) -> Any:
    return np.maximum.reduce([x, x[::-1], x * 0])


def both(x: Any) -> Any:
    return np.logical_and.reduce((x > 0, x < 2)), np.logical_or.reduce([x > 1, x < -1])


def others(x: Any) -> Any:
    return (
        np.add.accumulate([x, x]), np.multiply.outer([x[0], x[1]], x),
        np.add.reduceat([x[0], x[1], x[2]], [0, 1]), np.add.reduce([x.sum(), x.max(), 1]),
    )  # fmt: skip


def grown(x: Any) -> Any:
    rows = []
    for v in x:
        rows.append(v * 2)  # noqa: PERF401
    return np.maximum.reduce(rows)


@pytest.mark.parametrize("fn", [largest, both, others, grown])
@pytest.mark.parametrize("run", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
def test_methods_of_ufuncs_take_lists(fn: Any, run: Any) -> None:
    x = np.array([3.0, -2.0, 1.0])
    assert repr(run(fn)(x)) == repr(fn(x))


@pytest.mark.parametrize("fn", [np.squeeze, np.cov, np.corrcoef, lambda x: x[None].squeeze()])
def test_axes_with_a_name_are_assumed_to_be_no_single_one(fn: Any) -> None:
    with pytest.warns(AssumptionWarning, match="N != 1"):
        model = jit_onnx(lambda x: fn(x)).to_onnx(float64["N", "M"])
    session = ort.InferenceSession(model.SerializeToString())
    for shape in (3, 4), (2, 7):
        x = np.random.default_rng(0).normal(size=shape)
        assert np.allclose(session.run(None, {"x": x})[0], fn(x), rtol=1e-12)
