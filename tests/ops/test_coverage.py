# SPDX-License-Identifier: Apache-2.0
"""Every callable of NumPy that can be overridden has a row, a source, or a reason not to."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.testing import overrides

from onnxjit import jit_onnx
from onnxjit._ops.refused import BY_SOURCE, REFUSED, REFUSED_UFUNCS, qualified, reason_of
from onnxjit._ops.table import FUNCTIONS, UFUNCS
from onnxjit.errors import UnsupportedError

ROOT = Path(__file__).parents[2]
#: what takes `like=` is called by its public name, not by the object listed
LISTED = overrides.get_overridable_numpy_array_functions()
EVERY: Final = {getattr(np, f.__name__, f) if f.__module__ == "numpy" else f for f in LISTED}
UFUNC_NAMES: Final = {f.__name__ for f in overrides.get_overridable_numpy_ufuncs()}


def test_every_function_is_in_one_group() -> None:
    with_row = {qualified(f) for f in FUNCTIONS}
    groups = [with_row, set(BY_SOURCE), set(REFUSED)]
    for f in EVERY:
        name = qualified(f)
        assert sum(name in group for group in groups) == 1, name


def test_no_name_is_stale() -> None:
    names = {qualified(f) for f in EVERY}
    assert names >= BY_SOURCE
    assert set(REFUSED) <= names
    assert set(REFUSED_UFUNCS) <= UFUNC_NAMES


def test_every_ufunc_is_in_one_group() -> None:
    for f in overrides.get_overridable_numpy_ufuncs():
        assert (f in UFUNCS) != (f.__name__ in REFUSED_UFUNCS), f.__name__


X: Final = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
Y: Final = np.array([2.0, 7.0, 1.0, 8.0, 2.5])
M: Final = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.5], [2.0, 0.5, 5.0]])
Call = tuple[Callable[..., Any], *tuple[Any, ...]]
#: a call of each function that NumPy's own source serves
BY_SOURCE_CALLS: Final[dict[str, Call]] = {
    "numpy.geomspace": (lambda x, y: np.geomspace(x, y, 5, axis=1), X, X + 3.0),
    "numpy.i0": (np.i0, X * 4 - 9),
    "numpy.linalg.eig": (lambda m: np.linalg.eig(np.diag(m[0])), M),
    "numpy.linalg.eigvals": (lambda m: np.linalg.eigvals(np.diag(m[0])), M),
    "numpy.poly": (lambda x: np.poly(x), X),  # noqa: PLW0108  NumPy looks into the array
    "numpy.polydiv": (np.polydiv, X + 1.0, np.array([2.0, 1.0])),
    "numpy.polyfit": (lambda x: np.polyfit(np.arange(x.shape[0]), x, 1), X),
    "numpy.roots": (lambda x: np.roots(x[:2] + 1.0), X),
    "numpy.allclose": (np.allclose, X, Y),
    "numpy.apply_along_axis": (lambda m: np.apply_along_axis(np.cumsum, 0, m), M),
    "numpy.apply_over_axes": (lambda m: np.apply_over_axes(np.sum, m, [0]), M),
    "numpy.array_equal": (np.array_equal, X, Y),
    "numpy.array_equiv": (np.array_equiv, X, Y),
    "numpy.corrcoef": (np.corrcoef, M),
    "numpy.cov": (lambda x, y: np.cov(x, y, ddof=0), X, Y),
    "numpy.einsum_path": (lambda m: np.einsum_path("ij,jk", m, m)[0], M),
    "numpy.lib.scimath.arccos": (np.emath.arccos, X - 2.0),
    "numpy.lib.scimath.arcsin": (np.emath.arcsin, X - 2.0),
    "numpy.lib.scimath.arctanh": (np.emath.arctanh, X - 2.2),
    "numpy.lib.scimath.log": (np.emath.log, X - 2.0),
    "numpy.lib.scimath.log10": (np.emath.log10, X - 2.0),
    "numpy.lib.scimath.log2": (np.emath.log2, X - 2.0),
    "numpy.lib.scimath.logn": (np.emath.logn, X + 1.0, Y - 3.0),
    "numpy.lib.scimath.power": (np.emath.power, X - 2.0, Y),
    "numpy.lib.scimath.sqrt": (np.emath.sqrt, X - 2.0),
    "numpy.fft.fftshift": (np.fft.fftshift, M),
    "numpy.fft.ifftshift": (lambda m: np.fft.ifftshift(m, axes=1), M),
    "numpy.fromfunction": (lambda x: np.fromfunction(lambda i, j: i + j + x[0], (2, 3)), X),
    "numpy.gradient": (lambda m: np.gradient(m, axis=0), M),
    "numpy.histogram2d": (lambda x, y: np.histogram2d(x, y, 3, [(0, 10), (0, 10)]), X, Y),
    "numpy.histogramdd": (
        lambda x, y: np.histogramdd([x, y], 3, [(0, 10), (0, 10)]),
        X,
        Y,
    ),
    "numpy.intersect1d": (lambda x, y: np.intersect1d(x, y, return_indices=True), X, Y),
    "numpy.isclose": (np.isclose, X, Y),
    "numpy.lib.stride_tricks.sliding_window_view": (
        lambda m: np.lib.stride_tricks.sliding_window_view(m, 2, axis=1),
        M,
    ),
    "numpy.packbits": (lambda x: np.packbits(x > 2), X),
    "numpy.linalg.matrix_power": (lambda m: np.linalg.matrix_power(m, 3), M),
    "numpy.linalg.matrix_transpose": (np.linalg.matrix_transpose, M),
    "numpy.piecewise": (lambda x: np.piecewise(x, [x < 2, x >= 2], [-1, 1]), X),
    "numpy.polyadd": (np.polyadd, X, Y),
    "numpy.polyder": (np.polyder, X),
    "numpy.polyint": (np.polyint, X),
    "numpy.polymul": (np.polymul, X, Y),
    "numpy.polysub": (np.polysub, X, Y),
    "numpy.polyval": (np.polyval, X, Y),
    "numpy.real_if_close": (np.real_if_close, X),
    "numpy.require": (lambda x: np.require(x, np.float32), X),
    "numpy.setdiff1d": (lambda x, y: np.setdiff1d(x, y, assume_unique=True), X, Y),
    "numpy.setxor1d": (lambda x, y: np.setxor1d(x, y, assume_unique=True), X, Y),
    "numpy.trim_zeros": (np.trim_zeros, X),
    "numpy.union1d": (np.union1d, X, Y),
    "numpy.unpackbits": (lambda x: np.unpackbits(x.astype(np.uint8)), X),
    "numpy.unwrap": (np.unwrap, X),
    "numpy.vander": (lambda x: np.vander(x, 3), X),
}


def _flat(x: Any) -> list[Any]:
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in _flat(item)]
    return [x]


@pytest.mark.parametrize("name", sorted(BY_SOURCE))
def test_numpys_own_source_serves(name: str) -> None:
    function, *args = BY_SOURCE_CALLS[name]

    def call(*arrays: Any) -> Any:
        return function(*arrays)

    got, want = _flat(jit_onnx(call, fallback="error")(*args)), _flat(function(*args))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert type(g) is type(w)
        if not isinstance(w, str):
            assert np.asarray(g).dtype == np.asarray(w).dtype
            np.testing.assert_allclose(g, w, rtol=1e-12)
        else:
            assert g == w


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refusals_give_the_reason(name: str) -> None:
    function = next(f for f in EVERY if qualified(f) == name)
    if not hasattr(function, "_implementation"):
        pytest.skip("a function of C that takes no arrays")

    def call(x: Any) -> Any:
        return x.__array_function__(function, (), (x,), {})

    with pytest.raises(UnsupportedError, match=re.escape(f"{name} is not carried")) as raised:
        jit_onnx(call, fallback="error")(X)
    assert str(reason_of(function)) in str(raised.value)


def test_refused_ufuncs_give_the_reason() -> None:
    def call(x: Any) -> Any:
        return np.isnat(x)

    with pytest.raises(UnsupportedError, match="dates are not carried"):
        jit_onnx(call, fallback="error")(X)


def test_the_page_is_up_to_date() -> None:
    script = ROOT / "tools/write_supported.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0, "run python tools/write_supported.py"
