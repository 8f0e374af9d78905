# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues of symmetric and Hermitian matrices: as exact as LAPACK's on hard matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit._lower.opsets import supported
from tests.linalg.matrices import SIZES, hermitian, model_of, unlike

Array = np.ndarray[Any, Any]
EPS = np.finfo(float).eps


def solved(a: Array) -> tuple[Array, Array]:
    found = np.linalg.eigh(a)
    return found.eigenvalues, found.eigenvectors


def check(a: Array, w: Array, v: Array, where: str) -> None:
    """Assert that values and vectors are those of the matrix, within n units."""
    n = len(a)
    want = np.linalg.eigvalsh(a)
    size = np.abs(want).max(initial=0) or 1.0
    assert (np.diff(w) >= 0).all(), where
    assert np.abs(w - want).max(initial=0) <= 4 * (n + 4) * EPS * size, where
    assert unlike(v) <= 8 * EPS, where
    # the product of a subnormal and a rounded number is off by half of the least number
    rest = np.abs(a @ v / size - v * (w / size)).max(initial=0)
    assert rest <= 2 * (n + 4) * EPS + (5e-324 / size) * n, where


@pytest.mark.parametrize("opset", [13, supported()[-1]])
def test_one_model_solves_matrices_of_every_size_and_kind(opset: int) -> None:
    run = model_of(solved, np.eye(3), opset=opset)
    for n in SIZES:
        for name, a in hermitian(n).items():
            w, v = run(a)
            check(a, w, v, f"{name} {n}")
    assert [r.shape for r in run(np.zeros((0, 0)))] == [(0,), (0, 0)]


def test_calls_give_what_models_give() -> None:
    call, run = jit_onnx(solved, fallback="error"), model_of(solved, np.eye(3))
    for n in SIZES[:6]:
        for name, a in hermitian(n).items():
            (w, v), (w_model, v_model) = call(a), run(a)
            check(a, w, v, f"{name} {n}")
            size = np.abs(w).max()
            assert np.abs(w - w_model).max() <= 4 * (n + 4) * EPS * size, (name, n)
            if name == "random":
                np.testing.assert_allclose(v, v_model, atol=1e-9)


@pytest.mark.parametrize("form", [jit_onnx, eager_onnx])
def test_hermitian_matrices(form: Any) -> None:
    call = form(solved)
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 6):
        z = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
        for a in (z + z.conj().T, z @ z.conj().T, np.eye(n) + 0j):
            w, v = call(a)
            assert (w.dtype, v.dtype) == (np.float64, np.complex128)
            check(a, w, v, f"{n}")


def test_one_triangle_is_read() -> None:
    a = np.random.default_rng(0).normal(size=(5, 5)) * (1 + 2j)
    values: Any = np.linalg.eigvalsh
    for uplo in "lULu":
        call = jit_onnx(lambda a, uplo=uplo: values(a, uplo), fallback="error")
        for matrix in (a, a.real):
            np.testing.assert_allclose(call(matrix), values(matrix, uplo))


def test_stacks_and_dtypes() -> None:
    call = jit_onnx(np.linalg.eigh, fallback="error")
    rng = np.random.default_rng(1)
    for shape in ((2, 3, 4, 4), (7, 2, 2), (6, 3, 3), (0, 3, 3), (2, 0, 0), (3, 1, 1)):
        for dtype in ("f4", "f8", "i4"):
            a = (rng.normal(size=shape) * 9).astype(dtype)
            got, want = call(a), np.linalg.eigh(a)
            assert type(got).__name__ == type(want).__name__
            for g, w in zip(got, want, strict=True):
                assert (g.dtype, g.shape) == (w.dtype, w.shape)
            bound = 1e-5 if dtype == "f4" else 1e-12
            np.testing.assert_allclose(got[0], want[0], atol=bound, rtol=bound)
            np.testing.assert_allclose(np.abs(got[1]), np.abs(want[1]), atol=100 * bound)


def test_the_largest_component_is_positive() -> None:
    for n, a in ((4, hermitian(4)["random"]), (9, hermitian(9)["graded"])):
        v = jit_onnx(solved)(a)[1]
        assert (v[np.abs(v).argmax(axis=0), range(n)] > 0).all()


def test_numpy_decides_about_nan() -> None:
    call = jit_onnx(np.linalg.eigvalsh)
    bad = hermitian(4)["random"]
    bad[3, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
        call(bad)
    (values,) = model_of(np.linalg.eigvalsh, bad)(bad)
    assert np.isnan(values).all()
    bad[3, 0] = np.inf
    assert np.isnan(call(bad)).all()


def test_float16_is_refused_as_numpy_does() -> None:
    with pytest.raises(TypeError, match="array type float16 is unsupported in linalg"):
        jit_onnx(np.linalg.eigh)(np.eye(2, dtype="f2"))
