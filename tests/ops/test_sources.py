# SPDX-License-Identifier: Apache-2.0
"""Functions that are traced through Python source: lists, coordinates, edges, other sizes."""

from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.ops.models import check, check_model

V = np.array([1.0, -2.0, 3.0, 0.5])
W = np.array([0.5, 1.5, -1.0, 2.0])
RNG = np.random.default_rng(3)
XY = RNG.normal(size=(3, 4))
OF_LISTS = {
    "cov": lambda v, w: np.cov([v, w]),
    "corrcoef": lambda v, w: np.corrcoef([v, w]),
    "gradient": lambda v, w: np.gradient([v[0], w[1], v[2]]),
    "isclose": lambda v, w: np.isclose([v[0], 1], w[0]),
    "allclose": lambda v, w: np.allclose([v[0], w[0]], [v[0], 0.5]),
    "apply": lambda v, w: np.apply_along_axis(np.sum, 0, [v, w]),
    "fftshift": lambda v, w: np.fft.fftshift([v[0], w[1], 2]),
    "power": lambda v, w: np.linalg.matrix_power([v[:2], w[:2]], 2),
    "windows": lambda v, w: np.lib.stride_tricks.sliding_window_view([v[0], w[0], 1.0], 2),
    "packbits": lambda v, w: np.packbits([v[0] > 0, w[0] > 1]),
    "polyval": lambda v, w: np.polyval([v[0], w[0]], [1, 2]),
    "polyder": lambda v, w: np.polyder([v[0], 1, w[0]]),
    "setdiff1d": lambda v, w: np.setdiff1d([v[0], w[0]], [1, 2]),
    "unwrap": lambda v, w: np.unwrap([v[0], 9, w[1]]),
    "vander": lambda v, w: np.vander([v[0], 9, w[1]]),
    "i0": lambda v, w: np.i0([v[0], 9, w[1]]),
    "geomspace": lambda v, w: np.geomspace([v[0], 1], w[3], 3),
    "histogram2d": lambda v, w: np.histogram2d([v[0], 1, 2], [1, w[1], 2], 3),
    "matrix_transpose": lambda v, w: np.linalg.matrix_transpose([v, w]),
}


@pytest.mark.parametrize("f", OF_LISTS.values(), ids=OF_LISTS)
def test_lists_of_traced_values(f):
    check(f, V, W, rtol=1e-12)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4"])
@pytest.mark.parametrize("at", [[0, 1, 2.5, 4], [0, 1, 2, 3]])
def test_gradients_over_coordinates(at, dtype, edge_order):
    def along(f, x):
        return np.gradient(f, x, axis=0, edge_order=edge_order)

    f, x = (RNG.normal(size=(4, 3)) * 9).astype(dtype), np.asarray(at, dtype=float)
    check(along, f, x, rtol=1e-12)
    longer = (RNG.normal(size=(7, 2)) * 9).astype(dtype), np.arange(7.0) ** 2
    check_model(along, (f, x), longer, (longer[0], np.arange(7.0)), rtol=1e-12)


def test_gradients_over_several_axes():
    x, y = np.array([0, 1, 4]), np.array([1.0, 2, 3, 4])
    check(np.gradient, XY, x, y, rtol=1e-12)
    check(lambda f, x: np.gradient(f, x, 0.5, edge_order=2), XY, x, rtol=1e-12)
    check(np.gradient, XY, np.array(0.25), rtol=1e-12)


@pytest.mark.parametrize("steps", [(V, V, V), (np.ones((2, 2)), 1), (W[:2], 1)])
def test_gradients_refuse_what_numpy_refuses(steps):
    with pytest.raises((TypeError, ValueError)) as raised:
        np.gradient(XY, *steps)
    with pytest.raises(raised.type, match=str(raised.value).replace("(", r"\(")[:30]):
        jit_onnx(np.gradient, fallback="error")(XY, *steps)


COVARIANCES = {
    "float32": lambda x, _: np.cov(x, dtype="f4"),
    "columns": lambda x, y: np.cov(x, y, rowvar=False),
    "correlation": lambda x, y: np.corrcoef(x, y, rowvar=False, dtype="f4"),
    "weights": lambda x, y: np.cov(x, aweights=y[0] ** 2, ddof=0),
    "counts": lambda x, y: np.cov(x, fweights=np.arange(x.shape[1]), aweights=y[0] ** 2),
}


@pytest.mark.parametrize("f", COVARIANCES.values(), ids=COVARIANCES)
def test_covariances(f):
    rows = [XY, XY[::-1] ** 2]
    check(f, *rows, rtol=1e-5)
    other = RNG.normal(size=(5, 6))
    check_model(f, rows, (other, other * other), rtol=1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [np.cov, np.corrcoef], ids=["cov", "corrcoef"])
def test_covariances_of_no_variables_or_no_observations(f):
    jit = jit_onnx(f, fallback="error")
    for shape in ((2, 3), (0, 3), (3, 0), (0, 0)):
        x = np.ones(shape, np.float32)
        want, got = f(x), jit(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


RANGES: list[Any] = [None, (-1, 1)]
HISTOGRAMS = {
    "edges": lambda x, e: np.histogramdd(x[:, :2], [e, e * 2]),
    "mixed": lambda x, e: np.histogramdd(x[:, :3], [e, 3, 2]),
    "bins": lambda x, _: np.histogramdd(x[:, :3], 2),
    "range": lambda x, _: np.histogramdd(x[:, :2], 2, RANGES),
    "density": lambda x, _: np.histogramdd(x[:, :2], 2, density=True, weights=x[:, 0] ** 2),
    "of two": lambda x, e: np.histogram2d(x[:, 0], x[:, 1], e),
    "of two, mixed": lambda x, e: np.histogram2d(x[:, 0], x[:, 1], [3, e]),
    "integers": lambda x, _: np.histogramdd((x[:, :2] * 4).astype(int), 3),
}


@pytest.mark.parametrize("f", HISTOGRAMS.values(), ids=HISTOGRAMS)
def test_joint_histograms(f):
    edges = np.array([-2, -0.5, 0.0, 1.5])
    points = RNG.normal(size=(9, 3))
    check(f, points, edges, rtol=1e-12)
    more = RNG.normal(size=(20, 3)), np.array([-2, -1, 0.5, 1, 2, 3])
    check_model(f, (points, edges), more, rtol=1e-12)


def test_the_number_of_columns_of_a_joint_histogram_is_that_of_the_example():
    def counts(x):
        return np.histogramdd(x, bins=2)

    check_model(counts, (RNG.normal(size=(5, 4)),), (RNG.normal(size=(8, 4)),), rtol=1e-12)


@pytest.mark.parametrize("bins", [0, [3], [[3, 1], [1, 2]], np.ones((2, 2, 2)), 2.5])
def test_joint_histograms_refuse_what_numpy_refuses(bins):
    x = RNG.normal(size=(5, 2))
    with pytest.raises((TypeError, ValueError)) as raised:
        np.histogramdd(x, bins)
    with pytest.raises(raised.type):
        jit_onnx(lambda x: np.histogramdd(x, bins), fallback="error")(x)
