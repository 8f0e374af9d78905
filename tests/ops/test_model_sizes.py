# SPDX-License-Identifier: Apache-2.0
"""Models at sizes where NumPy takes another way than at those of the example."""

from typing import Any

import numpy as np
import pytest

from tests.ops.models import check, check_model

LONG, SHORT = np.arange(8.0) - 2.5, np.array([1.0, -2.0, 4.0])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_either_vector_of_a_sliding_product_may_be_the_longer_one(f, mode):
    def slide(a, v):
        return f(a, v, mode)

    runs = [(LONG[:m], SHORT[:n] + 1j) for m in (8, 1, 2, 3, 4) for n in (3, 1, 2)]
    check_model(lambda a, v: slide(a, v.real), *((a, v.real) for a, v in runs), rtol=1e-14)
    for a, v in runs:
        check(slide, a * 1j, v, rtol=1e-14)
    more = [(v.real, a) for a, v in runs]
    check_model(slide, *more, rtol=1e-14)


def test_a_single_count_goes_for_every_element():
    def twice(x, counts):
        return np.repeat(x, counts[:3], axis=0)

    x, counts = np.ones((3, 2)), np.array([1, 0, 2, 5])
    check_model(twice, (x, counts), (x, counts[3:]), (x[:1], counts[3:]), (x[:2], counts[:2]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_zeros_that_are_added_change_signs(dtype):
    x = np.array([[-1.5], [0.0]], dtype)
    zero = np.zeros(1, dtype)
    check_model(lambda x: -(-(x * 0) + 0.0), (x,))
    check_model(lambda x: -(zero + -(x * 0)), (x,))
    check_model(lambda x: -(-(x * 0) - -zero), (x,))
    check_model(lambda x: np.linspace(0, x, 3), (x,))
    check_model(lambda x: np.pad(x, 2, "linear_ramp"), (x,))


@pytest.mark.parametrize("f", [np.mean, np.nanmean, np.sum])
@pytest.mark.parametrize(("dtype", "wide"), [("f4", "f8"), ("c8", "c16"), ("f8", "f4")])
def test_averages_are_computed_in_the_dtype_of_out(dtype, wide, f):
    def into(x):
        out = np.empty(3, wide)
        f(x, axis=0, out=out)
        return out

    x = np.random.default_rng(1).normal(size=(7, 3)).astype(dtype) + 1e3
    check(into, x, rtol=1e-6 if wide == "f4" else 1e-12)


def test_a_float_may_say_how_many_parts_there_are():
    parts: list[Any] = [2.0, 3.0]
    check(lambda x: (np.split(x, parts[0]), np.array_split(x, parts[1])), LONG)


def test_numbers_combined_with_truth_values():
    def at(x):
        np.logical_or.at(x, [0, 1], 1)
        np.add.at(x, [1, 1], True)
        return x

    check(at, np.array([True, False, False]))
