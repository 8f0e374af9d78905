# SPDX-License-Identifier: Apache-2.0
"""Arrays given for sequences of arrays, grids, steps of ranges, and methods of the class."""

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.ops.models import check, check_model

X = np.arange(12.0).reshape(3, 4) - 5
T = np.arange(24).reshape(2, 3, 4)
JOINS = {
    "concatenate": np.concatenate,
    "last": lambda x: np.concatenate(x, axis=-1, dtype="f4", casting="same_kind"),
    "all": lambda x: np.concatenate(x, axis=None),
    "stack": lambda x: np.stack(x, axis=1),
    "vstack": np.vstack,
    "hstack": np.hstack,
    "dstack": np.dstack,
    "column_stack": np.column_stack,
}


@pytest.mark.parametrize("f", JOINS.values(), ids=JOINS)
def test_slices_of_an_array_are_joined_at_every_size(f):
    def join(x):
        return f(x)

    if f is not JOINS["last"]:
        check(join, X)
    check(join, X[None].astype("f4"))
    check_model(join, (X,), (np.ones((5, 2)),), (np.ones((1, 3)),), (np.ones((2, 0)),))
    check_model(join, (X[None],), (X.reshape(2, 3, 2),))


def test_nothing_to_join():
    with pytest.raises(ValueError, match="need at least one array to concatenate"):
        jit_onnx(lambda x: np.concatenate(x, axis=None), fallback="error")(X[:0])


@pytest.mark.parametrize("method", [np.ndarray.sum, np.ndarray.copy, np.ndarray.argsort])
def test_methods_of_the_class(method):
    def call(x):
        return method(x), np.ndarray.__add__(x, 1), np.ndarray.reshape(x, -1)

    check(call, X)


@pytest.mark.parametrize("f", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_no_arrays(f):
    check(lambda x: (f(), x), X)


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_grids_are_lists_or_tuples(sparse, copy):
    check(lambda x: np.meshgrid(x, x[:2], sparse=sparse, copy=copy), X[0])


def test_steps_of_ranges_are_scalars():
    check(lambda a, x: (np.linspace(a, 4, 4, retstep=True), np.linspace(a, x, 3)), X[0, 1], X)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_bases_of_logarithmic_ranges_take_part_in_the_axes(axis):
    base = np.array([[2.0], [3.0]])
    check(lambda b: np.logspace(0, 3, 4, base=b, axis=axis), base, rtol=1e-14)


def test_places_as_one_array():
    places = np.array([[0, 1, 2], [3, 0, 1]])
    check(lambda p: np.ravel_multi_index(p, (3, 4)), places)
    check(lambda p: np.ravel_multi_index(p, (3, 4), mode=("clip", "wrap")), places * 3)
    with pytest.raises(TypeError, match="only int indices permitted"):
        jit_onnx(lambda p: np.ravel_multi_index(p / 2, (3, 4)), fallback="error")(places)


def test_shifts_as_one_array():
    check(lambda x, by: np.roll(x, by, axis=(0, 1)), X, np.array([1, -2]))


def test_orders_of_contractions():
    check(lambda x: np.einsum("ij,kj->ik", x, x, order="C"), X)


def test_orders_that_reshape_refuses():
    with pytest.raises(ValueError, match="order 'K' is not permitted for reshaping"):
        jit_onnx(lambda x: x.reshape(-1, order="K"), fallback="error")(X)


@pytest.mark.parametrize("widths", [1, (2, 0), 3, 7, ((2, 1), (0, 5))], ids=str)
@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("dtype", ["f8", "i4", "f4", "c16"])
def test_reflections_in_points(dtype, mode, widths):
    def pad(x):
        return np.pad(x, widths, mode, reflect_type="odd")

    x = (X * X).astype(dtype)
    check(pad, x)
    if dtype != "c16":
        check_model(pad, (x,), (x[:1],), (x[:, :2],))


@pytest.mark.parametrize("f", [np.quantile, np.nanquantile])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)], ids=str)
def test_weighted_quantiles(axis, f):
    def at(x, w):
        return f(x, [0.0, 0.3, 0.9, 1.0], axis=axis, weights=w, method="inverted_cdf")

    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(5, 4)), rng.integers(0, 3, (5, 4)) + 0.5 * (np.arange(4) > 1)
    x[1, 2] = np.nan
    check(at, x, w + 0.25)
    check(at, x.astype("f4"), w + 0.25)
    check_model(at, (x, w + 1), (x[:, :1], w[:, :1] + 1), (x[:2], w[:2] + 1))


def test_weights_of_one_axis():
    def at(x, w):
        return np.percentile(x, [10, 50], axis=1, weights=w, method="inverted_cdf")

    check(at, X, np.array([1.0, 0, 2, 4]))
    for bad in (np.array([1.0, -1, 2, 4]), np.zeros(4)):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match="Weights"):
            jit_onnx(at)(X, bad)
