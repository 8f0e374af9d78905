# SPDX-License-Identifier: Apache-2.0
"""Libraries on top of the standard: array-api-extra, and scikit-learn in its own process."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import array_api_extra as xpx
import numpy as np
import pytest

import onnxjit as oj

EXAMPLE = Path(__file__).parents[2] / "examples/sklearn_estimators.py"

A = np.array([[0.2, 1.5, -0.7], [2.5, 0.1, 0.9]])
V = np.array([0.5, 2.0, -1.0, 0.25])
I = np.array([3, 1, 2, 3, 1])  # noqa: E741  a vector

#: function -> how it is called on arrays, and these
CALLS: dict[str, tuple[Any, ...]] = {
    "angle": (xpx.angle, A + 1j),
    "apply_where": (
        lambda x: xpx.apply_where(x > 0.5, x, lambda y: y * 2, fill_value=0.0), A,
    ),
    "at": (lambda x: xpx.at(x)[1:3].add(7.0), V),
    "atleast_nd": (lambda x: xpx.atleast_nd(x, ndim=3), V),
    "cov": (xpx.cov, A),
    "create_diagonal": (lambda x: xpx.create_diagonal(x, offset=1), V),
    "deg2rad": (xpx.deg2rad, V),
    "isclose": (lambda x: xpx.isclose(x, x + 1e-9), A),
    "isin": (lambda x: xpx.isin(x, x[:2]), I),
    "kron": (xpx.kron, A, V),
    "lazy_apply": (lambda x: xpx.lazy_apply(lambda y: y + 1, x), V),
    "nan_to_num": (xpx.nan_to_num, np.array([1.0, np.nan, np.inf])),
    "nanmax": (xpx.nanmax, V),
    "nanmean": (lambda x: xpx.nanmean(x, axis=0), A),
    "nanmin": (xpx.nanmin, V),
    "nansum": (xpx.nansum, V),
    "nunique": (xpx.nunique, I),
    "one_hot": (lambda x: xpx.one_hot(x, 5), I),
    "pad": (lambda x: xpx.pad(x, 2), A),
    "partition": (lambda x: xpx.partition(x, 2)[2], V),
    "rad2deg": (xpx.rad2deg, V),
    "searchsorted": (lambda x, y: xpx.searchsorted(x, y, side="right"), np.sort(V), V),
    "setdiff1d": (xpx.setdiff1d, I, I[1:2]),
    "sinc": (xpx.sinc, A),
    "union1d": (xpx.union1d, I, I + 2),
}  # fmt: skip
#: look at elements in Python, or count them
NOT_IN_TRACES = {"nanmax", "nanmin", "nunique", "setdiff1d"}


def check(name, run):
    function, *arrays = CALLS[name]
    want, got = np.asarray(function(*arrays)), run(function, arrays)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)


@pytest.mark.parametrize("name", CALLS)
def test_array_api_extra_on_eager_arrays(name):
    check(name, lambda function, arrays: function(*map(oj.asarray, arrays)))


@pytest.mark.parametrize("name", sorted(set(CALLS) - NOT_IN_TRACES))
def test_array_api_extra_in_traces(name):
    def run(function, arrays):
        # theirs are not rewritten as ours are
        def call(*x):
            return function(*x)

        return oj.jit_onnx(call, fallback="error")(*arrays)

    check(name, run)


@pytest.mark.parametrize("name", sorted(NOT_IN_TRACES))
def test_what_looks_at_elements_is_refused_in_traces(name):
    function, *arrays = CALLS[name]

    def call(*x):
        return function(*x)

    with pytest.raises(oj.DataDependentError):
        oj.jit_onnx(call, fallback="error")(*arrays)


def test_scikit_learn_fits_and_exports():
    pytest.importorskip("sklearn", reason="it comes with the examples' requirements only")
    command = [sys.executable, str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ridge" in done.stdout
