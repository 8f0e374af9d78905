# SPDX-License-Identifier: Apache-2.0
"""Python integers of numbers that 64 bits do not hold, and truth values of `in`."""

import math

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.jit.harness import same

CALLS = {
    "int": lambda x: int(x[0]),
    "round": lambda x: round(x[0]),
    "floor": lambda x: math.floor(x[0]),
    "ceil": lambda x: math.ceil(x[0]),
    "trunc": lambda x: math.trunc(float(x[0])) + 1,
    "in a loop": lambda x: sum(int(v) for v in x),
}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", CALLS)
def test_nothing_whole_is_pythons_error(name, dtype, value):
    fn = jit_onnx(CALLS[name])
    x = np.array([2.75, -1.5], dtype)
    same(fn(x), CALLS[name](x))
    x[0] = value
    with pytest.raises((ValueError, OverflowError)) as want:
        CALLS[name](x)
    with pytest.raises(type(want.value)) as got:
        fn(x)
    assert str(want.value) in str(got.value)


@pytest.mark.filterwarnings("ignore:.*beyond 64 bits")
@pytest.mark.parametrize("x", [
    np.array([1e30, 1.0]), np.array([-(2.0**63), 1.0]), np.array([2.0**63, 1.0], np.float32),
    np.array([2**64 - 1, 3], np.uint64), np.array([2**63, 3], np.uint64),
])  # fmt: skip
def test_large_ones_are_as_large(x):
    for call in CALLS["int"], lambda x: x[0].item(), lambda x: [int(v) for v in x]:
        if x.dtype.kind == "f" and call is not CALLS["int"]:
            continue
        fn = jit_onnx(call)
        same(fn(np.ones(2, x.dtype)), call(np.ones(2, x.dtype)))
        same(fn(x), call(x))


def test_in_is_a_truth_value_of_python():
    x = np.array([1.0, 5.0])
    for call in (
        lambda x: 5 in x,
        lambda x: [7 in x, x[0] in x, 7 not in x],
        lambda x: (5 in x) + 1,
    ):
        same(jit_onnx(call, fallback="error")(x), call(x))


def test_elements_are_not_deleted():
    def short(x):
        del x[0]
        return x

    with pytest.raises(ValueError, match="cannot delete array elements"):
        jit_onnx(short)(np.ones(3))
