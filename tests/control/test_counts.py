# SPDX-License-Identifier: Apache-2.0
"""Counts that are data: a negative one is NumPy's error, not a shorter result."""

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx


def repeated(x: Any, counts: Any) -> Any:
    return np.repeat(x, counts)


@pytest.mark.parametrize("opset", [13, None])
def test_negative_counts_raise(opset: int | None) -> None:
    fn = jit_onnx(repeated, opset=opset, fallback="error")
    x = np.array([1.0, 2.0])
    for counts in ([1, 2], [0, 0], [3, 0]):
        np.testing.assert_array_equal(fn(x, np.array(counts)), np.repeat(x, counts))
    for counts in ([1, -1], [-2, 0]):
        with pytest.raises(ValueError, match="negative"):
            fn(x, np.array(counts))
        with pytest.raises(ValueError, match="negative"):
            eager_onnx(repeated)(x, np.array(counts))
