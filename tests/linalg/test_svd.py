# SPDX-License-Identifier: Apache-2.0
"""Singular values and what NumPy computes of them, on hard matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit._lower.opsets import supported
from tests.linalg.matrices import general, model_of, unlike

Array = np.ndarray[Any, Any]
EPS = np.finfo(float).eps
SHAPES = ((1, 1), (2, 2), (3, 3), (5, 3), (3, 5), (1, 4), (4, 1), (9, 9), (20, 6), (6, 20))


def whole(a: Array) -> tuple[Array, ...]:
    return tuple(np.linalg.svd(a))


def thin(a: Array) -> tuple[Array, ...]:
    return tuple(np.linalg.svd(a, full_matrices=False))


def check(a: Array, factors: Any, where: str) -> None:
    """Assert that factors are orthonormal and give the matrix, within a few n units."""
    u, s, vh = factors
    want = np.linalg.svd(a, compute_uv=False)
    size, n = want.max(initial=0) or 1.0, max(a.shape)
    assert (np.diff(s) <= 0).all(), where
    assert np.abs(s - want).max(initial=0) <= 4 * (n + 4) * EPS * size, where
    assert unlike(u) <= 16 * EPS, where
    assert unlike(vh.conj().T) <= 16 * EPS, where
    r = len(s)
    rest = np.abs((u[:, :r] * (s / size)) @ vh[:r] - a / size).max(initial=0)
    assert rest <= 2 * (n + 4) * EPS, where


@pytest.mark.parametrize("opset", [13, supported()[-1]])
@pytest.mark.parametrize("function", [whole, thin])
def test_one_model_takes_matrices_of_every_shape_and_kind(function: Any, opset: int) -> None:
    run = model_of(function, np.ones((3, 2)), opset=opset)
    for m, n in SHAPES:
        for name, a in general(m, n).items():
            found = run(a)
            assert [x.shape for x in found] == [x.shape for x in function(a)]
            check(a, found, f"{name} {m} {n}")
    for shape in ((0, 3), (3, 0), (0, 0)):
        for got, want in zip(run(np.zeros(shape)), function(np.zeros(shape)), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("form", [jit_onnx, eager_onnx])
def test_calls(form: Any) -> None:
    call = form(whole)
    for m, n in SHAPES[:7]:
        for name, a in general(m, n).items():
            check(a, call(a), f"{name} {m} {n}")


def test_complex_matrices() -> None:
    rng = np.random.default_rng(0)
    for function in (whole, thin):
        call = jit_onnx(function, fallback="error")
        for m, n in SHAPES[:8]:
            a = rng.normal(size=(m, n)) + 1j * rng.normal(size=(m, n))
            for b in (a, a * (np.arange(n) > 0), np.zeros_like(a)):
                check(b, call(b), f"{m} {n}")


def test_small_singular_values_of_graded_matrices() -> None:
    values = jit_onnx(np.linalg.svdvals, fallback="error")
    powers = 10.0 ** -np.arange(0, 60, 5)
    np.testing.assert_allclose(values(np.diag(powers)), powers, rtol=2 * EPS)
    q = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 12)))[0]
    np.testing.assert_allclose(values(q * powers), powers, rtol=1e-13)


def test_stacks_and_dtypes() -> None:
    rng = np.random.default_rng(1)
    for full in (True, False):
        call = jit_onnx(lambda a, full=full: np.linalg.svd(a, full), fallback="error")
        for shape in ((2, 3, 4, 2), (5, 2, 3), (4, 3, 3), (0, 3, 2), (2, 0, 3), (2, 3, 0)):
            for dtype in ("f4", "f8", "i4"):
                a = (rng.normal(size=shape) * 9).astype(dtype)
                got, want = call(a), np.linalg.svd(a, full)
                assert type(got).__name__ == type(want).__name__
                for g, w in zip(got, want, strict=True):
                    assert (g.dtype, g.shape) == (w.dtype, w.shape)
                bound = 1e-5 if dtype == "f4" else 1e-12
                np.testing.assert_allclose(got[1], want[1], atol=bound, rtol=bound)


def test_hermitian_matrices_go_by_their_eigenvalues() -> None:
    a = np.random.default_rng(2).normal(size=(5, 5))
    a = a + a.T
    call = jit_onnx(lambda a: np.linalg.svd(a, hermitian=True), fallback="error")
    check(a, call(a), "")
    values = jit_onnx(lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True))
    np.testing.assert_allclose(values(a), np.linalg.svd(a, compute_uv=False))


def test_numpy_raises_for_nan() -> None:
    bad = np.ones((3, 2))
    bad[1, 1] = np.nan
    for function in (whole, np.linalg.svdvals):
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            jit_onnx(function)(bad)
        assert all(np.isnan(x).all() for x in model_of(function, bad)(bad))


def test_pseudo_inverses() -> None:
    rng = np.random.default_rng(3)
    call = jit_onnx(np.linalg.pinv, fallback="error")
    pinv: Any = np.linalg.pinv
    cut = jit_onnx(lambda a: pinv(a, rtol=None), fallback="error")
    for m, n in ((4, 4), (6, 3), (3, 6)):
        for dtype in (np.float64, np.complex128):
            a = rng.normal(size=(2, m, n)).astype(dtype)
            a = a * dtype(1 - 0.5j) if dtype is np.complex128 else a
            np.testing.assert_allclose(call(a), np.linalg.pinv(a), atol=1e-12)
            lost = a.copy()
            lost[..., 1] = 2 * lost[..., 0]
            np.testing.assert_allclose(cut(lost), pinv(lost, rtol=None), atol=1e-12)
    h = rng.normal(size=(4, 4))
    of_hermitian = jit_onnx(lambda a: np.linalg.pinv(a, hermitian=True), fallback="error")
    h = h @ h.T
    np.testing.assert_allclose(of_hermitian(h), np.linalg.pinv(h, hermitian=True), rtol=1e-9)


def test_ranks() -> None:
    rank = jit_onnx(np.linalg.matrix_rank, fallback="error")
    model = model_of(np.linalg.matrix_rank, np.eye(2))
    for m, n in SHAPES:
        for name, a in general(m, n).items():
            want = np.linalg.matrix_rank(a)
            if name not in ("hilbert", "columns", "rows"):  # at the limit
                assert rank(a) == want, (name, m, n)
                assert model(a)[0] == want, (name, m, n)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro"])
def test_condition_numbers(p: Any) -> None:
    call = jit_onnx(lambda a: np.linalg.cond(a, p), fallback="error")
    rng = np.random.default_rng(5)
    stack = rng.normal(size=(3, 4, 4))
    stack[1] = 0
    for a in (
        rng.normal(size=(5, 5)),
        stack,
        np.ones((2, 2)),
        rng.normal(size=(2, 3, 3)) + 1j,
    ):
        got, want = call(a), np.linalg.cond(a, p)
        assert type(got) is type(want)
        ratio = np.log(np.stack([got, want]) + 1e-300)
        # what is singular up to rounding has no condition
        regular = np.abs(ratio[1]) < np.log(1e14)
        np.testing.assert_allclose(ratio[0][regular], ratio[1][regular], atol=1e-9)
        assert (np.abs(ratio[0][~regular]) > np.log(1e14)).all()


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_norms(order: Any) -> None:
    rng = np.random.default_rng(6)
    a = rng.normal(size=(2, 3, 4))
    for axes in ((0, 1), (2, 0), (-1, -2)):
        for keep in (False, True):
            call = jit_onnx(
                lambda a, axes=axes, keep=keep: np.linalg.norm(a, order, axes, keep),
                fallback="error",
            )
            for x in (a, a.astype("f4"), a * (1 + 1j)):
                want = np.linalg.norm(x, order, axes, keep)
                got = call(x)
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
                np.testing.assert_allclose(got, want, rtol=1e-5 if x.dtype == "f4" else 1e-12)
