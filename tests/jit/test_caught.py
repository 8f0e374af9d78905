# SPDX-License-Identifier: Apache-2.0
"""Exceptions that the function itself catches, and other decisions made while tracing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import DataDependentError, eager_onnx, jit_onnx
from tests.jit.harness import agrees, same, same_error

ones = np.ones


def test_an_index_out_of_range():
    def f(x):
        try:
            return x[10]
        except IndexError:
            return x[0]

    agrees(f, (np.arange(3.0),), (np.arange(20.0),), (np.arange(11.0),), (np.arange(2.0),))


def test_a_shape_that_does_not_fit():
    def f(x):
        try:
            return x.reshape(2, -1)
        except ValueError:
            return x

    agrees(f, (np.arange(5.0),), (np.arange(4.0),), (np.arange(0.0),))


def test_shapes_that_do_not_broadcast():
    def f(x, y):
        try:
            return x + y
        except ValueError:
            return x

    agrees(f, (ones(5), ones(3)), (ones(5), ones(5)), (ones(5), ones(1)), (ones(1), ones(4)))


def test_lengths_that_differ():
    def f(x, y):
        try:
            return x @ y, np.concatenate([x, y[None]])
        except ValueError:
            return x

    agrees(f, (ones((2, 3)), ones(2)), (ones((2, 3)), ones(3)))


def test_the_largest_of_nothing():
    def f(x):
        try:
            return x.max()
        except ValueError:
            return np.float64(-1)

    agrees(f, (ones(0),), (ones(3),), (ones(0),))


def test_a_refusal_is_not_an_error_of_the_function():
    def f(x):
        try:
            return np.frombuffer(x.tobytes())
        except Exception:  # noqa: BLE001  what the test is about
            return x - 1

    with pytest.raises(DataDependentError):
        jit_onnx(f, fallback="error")(ones(3))
    with pytest.warns(match="eagerly"):
        assert (jit_onnx(f)(ones(3)) == 1).all()


def test_negative_sizes_are_asked_for():
    def f(x, n):
        return x.reshape(n, 2)

    agrees(f, (np.arange(6.0), 3), (np.arange(6.0), -1), (np.arange(8.0), -1))


def test_order_a_reads_and_writes_as_the_array_lies():
    def f(x):
        return x.reshape(3, 2, order="A"), np.reshape(x, 6, order="A")

    x = np.arange(6).reshape(2, 3)
    agrees(f, (x,), (np.asfortranarray(x),), (np.arange(6).reshape(3, 2).T,))


def test_weighted_counts_of_nothing_are_integers():
    def f(places, weights):
        return np.bincount(places, weights=weights)

    agrees(f, (np.array([0, 2]), ones(2)), (np.array([], int), ones(0)))


def test_the_median_of_nothing():
    def f(x):
        return np.median(x), np.median(x, axis=0)

    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        agrees(f, (ones((3, 2), "f2"),), (ones((0, 2), "f2"),))


def test_methods_of_ufuncs_in_a_function_without_source():
    scope: dict[str, Any] = {"np": np}
    text = "u.reduce(x), u.outer(x, x), isinstance(u, np.ufunc)"
    exec(f"def f(x):\n    u = np.add\n    return {text}", scope)
    agrees(scope["f"], (ones(3),))


def test_the_largest_of_what_a_mask_leaves():
    def largest(x):
        return x[x > 1].max(), np.unique(x).min()

    agrees(largest, (np.array([1.0, 2, 3]),), (np.array([5, 0]),))
    assert "zero-size" in str(same_error(largest, np.array([1.0, 0])))
    jit = jit_onnx(largest, fallback="error")
    jit(np.array([3, 4]))
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        jit(np.array([1, 0]))


def test_views_of_scalars_are_scalars():
    def f(x):
        s = x.sum()
        a = np.asarray(s)
        return (
            np.transpose(s),
            s.T,
            np.squeeze(s),
            np.flip(s),
            s.reshape(()),
            a,
            np.nan_to_num(s),
        )

    agrees(f, (ones(3),), (np.arange(3),))


def test_views_of_nested_sequences():
    def f(a, b):
        return (
            np.transpose((a, b)),
            np.squeeze([a, b]),
            np.swapaxes((a, b), 0, 1),
            np.flip([a, b]),
        )

    agrees(f, (ones((1, 1)), ones((1, 1))), (ones((2, 1)), ones((2, 1))), (ones(2), ones(2)))


def test_the_order_of_a_norm_is_an_option_in_eager_calls():
    def f(x):
        return np.linalg.norm(x, np.inf), np.linalg.norm(x, 0.5)

    same(eager_onnx(f)(np.arange(3.0)), f(np.arange(3.0)))
