# SPDX-License-Identifier: Apache-2.0
"""Least squares and fits of polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from tests.jit.harness import run_model
from tests.linalg.matrices import general

Array = np.ndarray[Any, Any]


def close(got: Any, want: Any, bound: float = 1e-9) -> None:
    """Assert that results are alike: types, shapes and values."""
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert type(g) is type(w)
        assert (np.asarray(g).dtype, np.shape(g)) == (np.asarray(w).dtype, np.shape(w))
        size = np.abs(w).max(initial=1e-300)
        np.testing.assert_allclose(g, w, rtol=bound, atol=bound * size)


@pytest.mark.parametrize("form", [jit_onnx, eager_onnx])
def test_least_squares(form: Any) -> None:
    call = form(np.linalg.lstsq)
    rng = np.random.default_rng(0)
    for m, n in ((3, 3), (6, 2), (2, 6), (1, 1), (9, 5)):
        a, b = rng.normal(size=(m, n)), rng.normal(size=(m, 2))
        lost = a * [1.0, *[0.0] * (n - 1)]
        for x, y in ((a, b), (a, b[:, 0]), (lost, b), (a * 1j + 1, b), (a, b * 1j)):
            close(call(x, y), np.linalg.lstsq(x, y), 1e-8)
    single = (np.eye(3, 2, dtype="f4"), np.ones(3, "f4"))
    close(call(*single), np.linalg.lstsq(*single), 1e-6)


def test_one_model_solves_systems_of_every_size() -> None:
    solve = jit_onnx(lambda a, b: np.linalg.lstsq(a, b, 1e-8))
    model = solve.to_onnx(np.eye(3, 2), np.ones((3, 2)), opset=13)
    rng = np.random.default_rng(1)
    for m, n in ((3, 3), (7, 2), (2, 7), (1, 1), (0, 2), (4, 0)):
        for a in general(m, n).values():
            b = rng.normal(size=(m, 3))
            with np.errstate(all="ignore"):
                want = np.linalg.lstsq(a, b, rcond=1e-8)
            if np.abs(a).max(initial=1.0) > 1e3 or np.abs(a).max(initial=1.0) < 1e-3:
                continue
            got = run_model(model, a, b)
            assert [np.shape(g) for g in got[:1] + got[3:]] == [want[0].shape, want[3].shape]
            fit = np.abs(a @ got[0] - a @ want[0]).max(initial=0)
            assert fit <= 1e-8 * max(np.abs(a @ want[0]).max(initial=0), 1.0)


def test_tolerances() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(5, 3)) * [1.0, 1e-3, 1e-6], rng.normal(size=5)
    for rcond in (None, -1, 0.0, 1e-5, 1e-2, 1.0):
        call = jit_onnx(lambda a, b, rcond=rcond: np.linalg.lstsq(a, b, rcond))
        close(call(a, b), np.linalg.lstsq(a, b, rcond))
    with pytest.raises(np.linalg.LinAlgError, match="Incompatible dimensions"):
        jit_onnx(np.linalg.lstsq)(a, b[:3])


CALLS: dict[str, Any] = {
    "plain": lambda x, y: (np.polyfit(x, y, 3),),
    "full": lambda x, y: np.polyfit(x, y, 2, full=True),
    "covariance": lambda x, y: np.polyfit(x, y, 2, cov=True),
    "unscaled": lambda x, y: np.polyfit(x, y, 1, cov="unscaled"),
    "weights": lambda x, y: np.polyfit(x, y, 2, w=np.abs(y) + 0.1, cov=True),
    "several": lambda x, y: np.polyfit(x, np.stack([y, y * y], axis=1), 2, cov=True),
    "tolerance": lambda x, y: (np.polyfit(x, y, 3, rcond=1e-3),),
    "values": lambda x, y: (np.polyval(np.polyfit(x, y, 2), x),),
}


@pytest.mark.parametrize("name", CALLS)
def test_polynomials_are_fitted(name: str) -> None:
    call = jit_onnx(CALLS[name], fallback="error")
    rng = np.random.default_rng(3)
    for n in (8, 20):
        x, y = np.linspace(-1, 2, n), rng.normal(size=n)
        close(call(x, y), CALLS[name](x, y))


def test_wrong_fits_raise_as_numpy_does() -> None:
    x, y = np.arange(4.0), np.arange(4.0)
    for function in (
        lambda x, y: np.polyfit(x, y, -1),
        lambda x, y: np.polyfit(x, y[:2], 1),
        lambda x, y: np.polyfit(x[:, None], y, 1),
        lambda x, y: np.polyfit(x[:0], y[:0], 1),
        lambda x, y: np.polyfit(x, y, 3, cov=True),
        lambda x, y: np.polyfit(x, y, 1, w=y[:2]),
    ):
        with pytest.raises((ValueError, TypeError)) as want:
            function(x, y)
        with pytest.raises(want.type) as got:
            jit_onnx(function)(x, y)
        assert str(got.value) == str(want.value)
