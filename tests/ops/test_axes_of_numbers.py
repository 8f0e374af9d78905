# SPDX-License-Identifier: Apache-2.0
"""Axes of numbers, lists as axes, and other arguments on which NumPy's functions differ."""

import numpy as np
import pytest

from onnxjit import UnsupportedError, jit_onnx
from tests.ops.models import check

S = np.array(2.5)
X = np.array([[0.5, -1.5, 2.0], [-0.75, 1.0, -2.5]])
AXES = [0, -1, (0,), (), 1, None]
REDUCTIONS = [
    np.sum, np.prod, np.max, np.min, np.any, np.all, np.mean, np.std, np.var, np.ptp,
    np.count_nonzero, np.nansum, np.nanmax, np.average, np.squeeze, np.median,
]  # fmt: skip


def outcome(f, *args):
    """Check a call against NumPy: its result, or the class of its exception."""
    error = None
    with np.errstate(all="ignore"):
        try:
            f(*args)
        except Exception as e:  # noqa: BLE001  whichever NumPy raises
            error = type(e)
        if error is None:
            check(f, *args)
    if error is not None:
        with pytest.raises(error) as raised:
            jit_onnx(f, fallback="error")(*args)
        assert raised.type is error


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("f", REDUCTIONS, ids=lambda f: f.__name__)
def test_axes_of_a_number(f, axis):
    outcome(lambda x: f(x, axis=axis), S)


@pytest.mark.parametrize("axis", [[0], [0, 1], True, 1.0, "a"], ids=str)
@pytest.mark.parametrize("f", REDUCTIONS[:13], ids=lambda f: f.__name__)
def test_only_tuples_name_several_axes(f, axis):
    outcome(lambda x: f(x, axis=axis), X)


@pytest.mark.parametrize("axis", [0, -1, 1])
def test_repeats_of_a_number(axis):
    outcome(lambda x: np.repeat(x, 3, axis=axis), S)
    outcome(lambda x: np.repeat(x, [2], axis=axis), S)


def stored(write):
    def f(x):
        x = x.copy()
        write(x)
        return x

    return f


VALUES = [np.nan, 1j, None, 2**70, -1, 300, 2.7, True, 1e300, [1], np.ones(3)]


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "i8", "u1", "?", "c16", "f2"])
def test_stored_numbers(dtype, value):
    x = np.ones((2, 3), dtype)
    outcome(stored(lambda x: x.fill(value)), x)
    if not isinstance(value, list):
        outcome(stored(lambda x: x.__setitem__((slice(None), 1), value)), x)


FLAT = [
    (slice(None), [1, 2]), (slice(1, 5), X[0]), (slice(1, 3), X), ([0, 5, 2], [7, 8]),
    (np.array([4, 1]), X[0]), (Ellipsis, 3), (2, 5.5), (2, [1, 2]), (slice(0), X[0]),
    (slice(None), []), (np.array([True, False, True, True, False, True]), [1, 2, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("index", "value"), FLAT, ids=str)
def test_values_of_flat_writes_are_taken_again_when_they_run_out(index, value):
    def write(x, y):
        x = x + y
        x.flat[index] = value
        return x

    outcome(write, X, X)


def test_flat_writes_of_traced_values():
    def write(x, y, mask):
        x.flat = y
        x.flat[mask.ravel()] = y[:1]
        return x

    check(write, X, np.array([1.0, 2, 3]), X > 0)


def test_choices_as_several_arguments():
    def pick(i, x, y):
        return i.choose(x, y), i.choose(x, y, mode="wrap"), i.choose((x, y))

    check(pick, np.array([0, 1, 1]), X[0], X[1])


def test_deviations_from_a_given_mean():
    def spread(x):
        mean = x.mean(axis=1, keepdims=True)
        return x.std(axis=1, mean=mean), x.var(axis=1, ddof=1, mean=mean)

    check(spread, X, rtol=1e-15)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add(x, x, dtype=object),
        lambda x: np.array([x.shape, "a"], dtype=object),
        lambda x: x.astype("M8[s]"),
        lambda x: np.array(["2020-01-01"], "M8[D]") + x,
    ],
)
def test_dtypes_that_are_not_carried_are_named(f):
    with pytest.raises(UnsupportedError, match="not carried"):
        jit_onnx(f, fallback="error")(X)


def test_no_groups_to_reduce():
    check(lambda x: np.add.reduceat(x, [], axis=1), X)


def test_weights_that_sum_to_zero():
    outcome(lambda x: np.average(x, axis=0, weights=[1, -1]), X)


@pytest.mark.parametrize("initial", [-np.inf, 300, 2.5, -1, np.nan, 1j], ids=str)
@pytest.mark.parametrize("f", [np.max, np.min, np.sum, np.prod])
@pytest.mark.parametrize("dtype", ["u1", "i8"])
def test_starts_that_a_dtype_cannot_hold(dtype, f, initial):
    outcome(lambda x: f(x, axis=0, initial=initial), np.array([[3, 4], [1, 2]], dtype))


@pytest.mark.parametrize("kind", ["sort", "table", "x", None])
@pytest.mark.parametrize("others", [[1, 2], [1.5], []], ids=str)
def test_kinds_of_membership(others, kind):
    outcome(lambda x: np.isin(x, others, kind=kind), np.array([1, 2, 3]))
