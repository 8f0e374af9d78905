# SPDX-License-Identifier: Apache-2.0
"""Errors of NumPy's functions that only data decides are raised by calls, with their text."""

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx

CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "average": (
        lambda a, w: np.average(a, weights=w),
        (np.array([2.0, 3.0]), np.array([1.0, 3.0])),
        (np.array([2.0, 3.0]), np.array([1.0, -1.0])),
    ),
    "average-axis": (
        lambda a, w: np.average(a, axis=0, weights=w),
        (np.ones((2, 3)), np.array([1.0, 3.0])),
        (np.ones((2, 3)), np.array([0.0, 0.0])),
    ),
    "ravel_multi_index": (
        lambda a: np.ravel_multi_index((a, a), (3, 4)),
        (np.array([2, 0]),),
        (np.array([2, 3]),),
    ),
    "ravel_multi_index-negative": (
        lambda a: np.ravel_multi_index((a, a), (3, 4)),
        (np.array([2, 0]),),
        (np.array([2, -1]),),
    ),
    "unravel_index": (
        lambda a: np.unravel_index(a, (3, 4))[1],
        (np.array([2, 11]),),
        (np.array([2, 12]),),
    ),
    "bincount": (np.bincount, (np.array([2, 0, 2]),), (np.array([2, -1, 2]),)),
    "percentile": (
        np.percentile,
        (np.arange(4.0), np.array(50.0)),
        (np.arange(4.0), np.array(101.0)),
    ),
    "quantile": (
        np.quantile,
        (np.arange(4.0), np.array([0.5])),
        (np.arange(4.0), np.array([-0.5])),
    ),
}


@pytest.mark.parametrize("convert", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
@pytest.mark.parametrize("name", CASES)
def test_numpys_exception_is_raised(name: str, convert: Any) -> None:
    fn, good, bad = CASES[name]

    def called(*args: Any) -> Any:
        return fn(*args)

    converted = convert(called)
    np.testing.assert_allclose(np.asarray(converted(*good)), fn(*good))
    with pytest.raises((ValueError, ZeroDivisionError)) as want:
        fn(*bad)
    with pytest.raises(type(want.value)) as got:
        converted(*bad)
    assert str(got.value).partition("\n")[0] == str(want.value)
    np.testing.assert_allclose(np.asarray(converted(*good)), fn(*good))
