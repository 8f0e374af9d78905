# SPDX-License-Identifier: Apache-2.0
"""Calls that NumPy refuses, and those next to them: its exception, or its result."""

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit.errors import UnsupportedError
from tests.jit.harness import same

X = np.arange(12.0).reshape(3, 4)
ANY: Any = np
windows: Any = np.lib.stride_tricks.sliding_window_view


def _write_to_windows(x):
    w = windows(x[0], 2)
    w[0, 0] = 1
    return w


REFUSED = {
    "an axis twice": lambda x: x.sum(axis=(0, 0)),
    "an axis twice from the end": lambda x: np.all(x > 1, axis=(0, -2)),
    "a truth of floats": lambda x: np.logical_and.reduce(x, dtype="f4"),
    "a truth of floats, either": lambda x: np.logical_or.reduce(x, dtype="f4"),
    "an and of floats": lambda x: np.bitwise_and.reduce(x, dtype="f4"),
    "an output that is no array": lambda x: ANY.add(x, 1, out=5),
    "an output that is a list": lambda x: ANY.sum(x, axis=0, out=[0.0] * 4),
    "whole deviations of rows": lambda x: np.std(x, axis=1, dtype=int),
    "a cast that loses the imaginary part": lambda x: np.einsum("ij->i", x * 1j, dtype="f8"),
    "a cast where none is allowed": lambda x: np.einsum("ij->i", x, dtype="c16", casting="no"),
    "a letter from nowhere": lambda x: np.einsum("ij->ix", x),
    "too many letters": lambda x: np.einsum("ijk", x),
    "too few windows": lambda x: windows(x, 2),
    "too many windows": lambda x: windows(x, (2, 2), axis=0),
    "a write to windows": _write_to_windows,
}


@pytest.mark.parametrize("how", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
@pytest.mark.parametrize("name", REFUSED)
def test_mistakes(name, how):
    with pytest.raises((TypeError, ValueError)) as want:
        REFUSED[name](X.copy())
    with pytest.raises(type(want.value)) as got:
        how(REFUSED[name])(X.copy())
    assert str(want.value) in str(got.value)


RIGHT = {
    "whole deviation of all": lambda x: np.std(x, dtype=int),
    "as many numbers as float32 counts": lambda x: np.arange(x[0], x[0] + 2),
    "writable windows": lambda x: windows(x[0], 2, writeable=True) + 1,
}


@pytest.mark.parametrize("name", RIGHT)
def test_neighbours_of_mistakes(name):
    x = np.array([-1.13, 2.2, 3.3], "f4") if "float32" in name else X
    same(jit_onnx(RIGHT[name], fallback="error")(x), RIGHT[name](x))


def test_memory_is_looked_at_in_eager_runs_only():
    def pairs(x):
        return np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8)) * 2

    assert np.array_equal(eager_onnx(pairs)(np.arange(3.0)), [[0, 2], [2, 4]])
    with pytest.raises(UnsupportedError, match="no place in memory"):
        jit_onnx(pairs).to_onnx(np.arange(3.0))
