# SPDX-License-Identifier: Apache-2.0
"""`numpy.emath`: which results are complex, in calls, eagerly and in models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
import pytest

import onnxjit
from onnxjit import eager_onnx, jit_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

DTYPES = ["?", "i1", "u1", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]
NUMBERS: list[list[float]] = [
    [1, -4, 9],
    [0.5, 0.25],
    [0, 1],
    [-1, 0.5],
    [np.nan, 1],
    [-np.inf, 2],
    [],
]
NAMES = ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"]
PAIRS: dict[str, Callable[..., Any]] = {
    "logn 2": lambda x: np.emath.logn(2, x),
    "logn -2": lambda x: np.emath.logn(-2, x),
    "logn x": lambda x: np.emath.logn(x, x),
    "power 0.5": lambda x: np.emath.power(x, 0.5),
    "power -2": lambda x: np.emath.power(x, -2),
    "power x": lambda x: np.emath.power(-2, x),
    "whole powers": lambda x: np.emath.power(x, np.arange(x.shape[0])),
    "powers": lambda x: np.emath.power(x, np.arange(x.shape[0]) - 1),
}


def of(name: str) -> Callable[..., Any]:
    return PAIRS[name] if name in PAIRS else getattr(np.emath, name)


@pytest.mark.parametrize("name", [*NAMES, *PAIRS])
def test_results_are_of_the_kind_of_numpys(name: str) -> None:
    f = of(name)
    for form in (jit_onnx, eager_onnx):
        call = form(f)
        for dtype in DTYPES if name in NAMES else DTYPES[2::2]:
            for numbers in NUMBERS:
                if not np.isfinite(numbers).all() and dtype[0] in "?iu":
                    continue
                x = np.array(numbers, float).astype(dtype)
                with np.errstate(all="ignore"):
                    got, want = call(x), f(x)
                assert (got.dtype, type(got)) == (want.dtype, type(want)), (dtype, numbers)
                rtol = 1e-6 if want.dtype.itemsize < 16 else 1e-12
                rtol = 2e-3 if want.dtype == np.float16 else rtol
                for part in (np.real, np.imag):
                    np.testing.assert_allclose(part(got), part(want), rtol=rtol, atol=1e-15)


def test_numbers_of_an_array() -> None:
    call = jit_onnx(lambda x: (np.emath.sqrt(x[0]), np.emath.log(x[1])), fallback="error")
    for given in ([-4.0, 1.0], [4.0, -1.0]):
        x = np.array(given)
        got, want = call(x), (np.emath.sqrt(x[0]), np.emath.log(x[1]))
        assert [type(g) for g in got] == [type(w) for w in want]
        np.testing.assert_allclose(got, want)


def test_results_of_models_are_complex() -> None:
    model = jit_onnx(np.emath.sqrt).to_onnx(onnxjit.float64["N"])
    session = ort.InferenceSession(model.SerializeToString())
    for x in (np.array([4.0, -9.0, 0.0]), np.array([4.0, 9.0])):
        (pairs,) = session.run(None, {session.get_inputs()[0].name: x})
        np.testing.assert_array_equal(pairs.view(complex)[..., 0], np.emath.sqrt(x))
