# SPDX-License-Identifier: Apache-2.0
"""Python's functions of iterables in models whose sizes have names.

``programs/iterables.py`` compares them with plain Python.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import DataDependentError, FallbackWarning, UnsupportedError, float64, jit_onnx
from tests.control.programs.iterables import NANS, A

VECTORS = [A, A[:1], A[1:3], np.arange(9.0), np.array([0.0, 7.0, -2.0])]


def largest(x):
    return max(x) - min(x)


def ranked(x):
    return np.array(sorted(x, key=lambda v: (v > 1, v)))


def counted(x):
    return sum(x > 1) + sum(1 for v in filter(None, x) if v < 0)


def joined(x):
    return np.array([*x, *map(abs, x), 1.0])


def listed(x):
    return np.array(x.tolist()) + np.array(list(enumerate(x)))[:, 0]


@pytest.mark.parametrize("fn", [largest, ranked, counted, joined, listed])
@pytest.mark.parametrize("given", [float64["N"], np.arange(4.0)])
def test_a_model_is_right_at_every_size(fn: Any, given: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it assumes nothing
        model = jit_onnx(fn).to_onnx(given)
    (size,) = model.graph.input[0].type.tensor_type.shape.dim
    assert size.dim_param
    session = ort.InferenceSession(model.SerializeToString())
    for x in VECTORS:
        (got,) = session.run(None, {"x": x})
        np.testing.assert_array_equal(got, fn(x))


def taken_apart(x):
    return np.array(tuple(x)) * 2


def test_what_needs_the_number_of_elements_says_so() -> None:
    with pytest.raises(DataDependentError, match=r"tuple\(\).* at .*test_iterables.py"):
        jit_onnx(taken_apart).to_onnx(float64["N"])
    model = jit_onnx(taken_apart).to_onnx(A)
    (size,) = model.graph.input[0].type.tensor_type.shape.dim
    assert size.dim_value == len(A)


def test_python_sorts_what_has_no_order() -> None:
    fn = jit_onnx(lambda x: np.array(sorted(x)))
    np.testing.assert_array_equal(fn(A), sorted(A))
    with pytest.warns(FallbackWarning):
        np.testing.assert_array_equal(fn(NANS), sorted(NANS))


def went_on(x):
    steps = iter(x)
    total = 0.0
    for v in steps:
        total += v
        if v > 3:
            break
    return total + next(steps)


def test_an_iterator_that_data_has_advanced() -> None:
    with pytest.raises(UnsupportedError, match="only a run knows"):
        jit_onnx(went_on, fallback="error")(A)


def positive(x):
    for v in x:
        if v > 0:
            yield v


def doubled(x):
    for v in x:
        yield v * 2


def test_a_function_with_yield_says_what_it_cannot_be() -> None:
    with pytest.raises(DataDependentError, match=r"with yield are not put.*return a list"):
        jit_onnx(lambda x: sum(positive(x)), fallback="error")(A)
    with pytest.raises(DataDependentError, match=r"with yield .* at .* in doubled"):
        jit_onnx(lambda x: sum(doubled(x))).to_onnx(float64["N"])
    assert jit_onnx(lambda x: sum(doubled(x)), fallback="error")(A) == sum(doubled(A))
