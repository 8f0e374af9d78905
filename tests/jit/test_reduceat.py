# SPDX-License-Identifier: Apache-2.0
"""`ufunc.reduceat` at any length, with places that are known and places that are data."""

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.jit.harness import run_model, same

UFUNCS = (np.add, np.multiply, np.maximum, np.minimum, np.logical_or, np.subtract, np.hypot)
PLACES = ([0, 3, 5], [0], [4, 1, 1, 6], [6, 0], [2, 2, 2])
LENGTHS = (7, 9, 30)


def numbers(n, dtype):
    x = np.random.default_rng(n).integers(1, 5, (n, 2)).astype(dtype)
    return x / 4 if dtype[0] == "f" else x


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u4", "i8"])
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_known_places(ufunc, dtype):
    def f(x):
        return [ufunc.reduceat(x, places) for places in PLACES], ufunc.reduceat(x.T, [1], 1)

    jit = jit_onnx(f, fallback="error")
    for n in LENGTHS:
        same(jit(numbers(n, dtype)), f(numbers(n, dtype)))


@pytest.mark.parametrize("opset", [13, 21, 28])
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_places_that_are_data(ufunc, opset):
    def f(x, places):
        return ufunc.reduceat(x, places)

    jit = jit_onnx(f, fallback="error", opset=opset)
    for places in (*PLACES, []):
        for n in LENGTHS:
            at = np.array(places, np.int64)
            x = numbers(n, "f8")
            same(jit(x, at), f(x, at))
            same(jit(x, at.astype("u1")), f(x, at.astype("u1")))


def test_one_model_for_every_length_without_assumptions():
    def f(x):
        return np.add.reduceat(x, [0, 3, 5]), np.maximum.reduceat(x, [5, 2])

    model = jit_onnx(f).to_onnx(numbers(8, "f4"), strict=True)
    for n in (6, 7, 20):
        same(run_model(model, numbers(n, "f4")), list(f(numbers(n, "f4"))))
    with pytest.raises(Exception, match=r"out of (data )?bounds"):
        run_model(model, numbers(5, "f4"))


@pytest.mark.parametrize("places", [[0, 7], [-1], [7, 0]])
def test_places_outside(places):
    x = numbers(7, "f8")
    with pytest.raises(IndexError):
        jit_onnx(lambda x: np.add.reduceat(x, places), fallback="error")(x)
    jit = jit_onnx(lambda x, p: np.add.reduceat(x, p), fallback="error")
    with pytest.raises(IndexError):
        jit(x, np.array(places))
