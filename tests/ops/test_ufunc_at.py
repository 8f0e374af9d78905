# SPDX-License-Identifier: Apache-2.0
"""``ufunc.at`` for ufuncs that no scatter combines, and data-dependent errors in loops."""

from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.ops.models import check, check_model

V = np.array([1.0, 4.0, 9.0, 0.25])
K = np.array([[5, 3], [7, 2], [0, 4]])
PLACES = np.array([0, 2, 0])


@pytest.mark.parametrize("f", [np.negative, np.square, np.sqrt, np.reciprocal, np.logical_not])
def test_ufuncs_of_one_operand(f):
    def at(x, places):
        f.at(x, places)
        f.at(x, (x > 3,))
        return x

    check(at, V, PLACES)
    check(at, V.astype("f4"), PLACES)
    check_model(at, (V, PLACES), (V[:3], PLACES[:1]), (V, PLACES[:0]))


@pytest.mark.parametrize("f", [np.divide, np.power, np.hypot, np.floor_divide, np.logical_or])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ufuncs_of_two_operands(f):
    def at(x, places, y):
        f.at(x, places, y)
        f.at(x, slice(1, 3), 2)
        return x

    check(at, V, PLACES, V[:3], rtol=1e-15)


def test_parts_of_matrices():
    def at(x):
        columns: Any = (slice(None), [0, 0])
        np.bitwise_or.at(x, columns, 8)
        np.gcd.at(x, ([0, 1, 1], 1), [[2], [3], [4]][0])
        return x

    check(at, K)


@pytest.mark.parametrize("number", [200, 0.1, -1, 2, 2.5], ids=str)
@pytest.mark.parametrize("f", [np.add, np.multiply, np.maximum, np.subtract])
@pytest.mark.parametrize("dtype", ["i1", "u1", "f2", "f4", "f8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_python_numbers_are_no_weak_operands(dtype, f, number):
    def at(x):
        f.at(x, [0, 1, 0], number)
        return x

    x = np.array([3, 7, 1], dtype)
    try:
        at(x.copy())
    except TypeError:
        with pytest.raises(TypeError, match="Cannot cast ufunc"):
            jit_onnx(at, fallback="error")(x)
    else:
        check(at, x)


@pytest.mark.parametrize("args", [(np.negative, [0], 1), (np.add, [0]), (np.divmod, [0], 1)])
def test_numbers_of_operands(args):
    f, *rest = args
    with pytest.raises((TypeError, ValueError)) as raised:
        f.at(V.copy(), *rest)
    with pytest.raises(raised.type):
        jit_onnx(lambda x: f.at(x, *rest), fallback="error")(V)


def test_errors_that_data_makes_in_loops():
    def powers(x, y):
        np.power.at(x, (0, [1, 1]), y)
        return x, np.power.accumulate(x, axis=1)

    check(powers, K, np.array([1, 2]))
    with pytest.raises(ValueError, match="negative integer powers"):
        jit_onnx(powers, fallback="error")(K, np.array([1, -2]))
    with pytest.raises(ValueError, match="negative integer powers"):
        jit_onnx(np.power.accumulate, fallback="error")(np.array([3, -1]))
