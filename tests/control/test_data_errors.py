# SPDX-License-Identifier: Apache-2.0
"""Errors of NumPy's functions that only data decides are raised by calls, with their text."""

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx

V = np.arange(4.0)


def _written(x: Any, i: Any) -> Any:
    y = x + 1
    y[i] = 0
    return y


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
    "choose": (
        lambda i, a: np.choose(i, [a, -a]),
        (np.array([0, 1]), np.arange(2.0)),
        (np.array([0, 2]), np.arange(2.0)),
    ),
    "choose-negative": (
        lambda i, a: np.choose(i, [a, -a]),
        (np.array([0, 1]), np.arange(2.0)),
        (np.array([0, -1]), np.arange(2.0)),
    ),
    "digitize": (
        np.digitize,
        (np.arange(3.0), np.array([2.0, 1.0, 1.0])),
        (np.arange(3.0), np.array([0.0, 3.0, 2.0])),
    ),
    "digitize-nan": (
        lambda x, bins: np.digitize(x, bins, right=True),
        (np.arange(3.0), np.array([0.0, 1.0, np.nan])),
        (np.arange(3.0), np.array([np.nan, 1.0, 3.0])),
    ),
    "index": (lambda x, i: x[i], (V, np.array([3])), (V, np.array([4]))),
    "index-axis": (
        lambda x, i: x[:, i],
        (V.reshape(2, 2), np.array([1])),
        (V.reshape(2, 2), np.array([-3])),
    ),
    "index-scalar": (lambda x, i: x[i], (V, np.int64(3)), (V, np.int64(-5))),
    "take": (np.take, (V, np.array([3])), (V, np.array([4]))),
    "write": (_written, (V, np.array([3])), (V, np.array([4]))),
    "mask-length": (lambda x, m: x[m] + x[:2], (V, V < 2), (V, V < 3)),
    "stack": (lambda x, m: np.stack([x[m], x[:2]]), (V, V < 2), (V, V < 3)),
    "concatenate": (
        lambda x, m: np.concatenate([x[None, m], x[None, :2]]), (V, V < 2), (V, V < 3),
    ),
    "matmul": (lambda x, m: x[m] @ x[:2], (V, V < 2), (V, V < 3)),
    "reshape": (lambda x, m: x[m].reshape(1, 2), (V, V < 2), (V, V < 3)),
    "item": (lambda x, m: x[m].item(), (V, V < 1), (V, V < 3)),
    "max": (lambda x, m: x[m].max(), (V, V < 1), (V, V < 0)),
    "histogram": (lambda x: np.histogram(x, 3)[0], (V,), (V * np.nan,)),
}  # fmt: skip


@pytest.mark.parametrize("convert", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
@pytest.mark.parametrize("name", CASES)
def test_numpys_exception_is_raised(name: str, convert: Any) -> None:
    fn, good, bad = CASES[name]

    def called(*args: Any) -> Any:
        return fn(*args)

    converted = convert(called)
    np.testing.assert_allclose(np.asarray(converted(*good)), fn(*good))
    with pytest.raises((ValueError, IndexError, ZeroDivisionError)) as want:
        fn(*bad)
    with pytest.raises(type(want.value)) as got:
        converted(*bad)
    assert str(got.value).partition("\n")[0] == str(want.value)
    np.testing.assert_allclose(np.asarray(converted(*good)), fn(*good))
