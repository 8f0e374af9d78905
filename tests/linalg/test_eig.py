# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues of general matrices, and polynomials by their roots."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit._lower.opsets import supported
from tests.linalg.matrices import general, hermitian, model_of, orthogonal

Array = np.ndarray[Any, Any]
EPS = np.finfo(float).eps
SIZES = (1, 2, 3, 4, 7, 12, 20)


def pairs(a: Array) -> tuple[Array, Array]:
    found = np.linalg.eig(a)
    return found.eigenvalues, found.eigenvectors


def matrices(n: int) -> dict[str, Array]:
    """Return square matrices of n rows by name."""
    rng = np.random.default_rng(n)
    q = orthogonal(n, rng)
    jordan = np.eye(n) * 0.5 + np.eye(n, k=1)
    return {
        **{f"general {name}": a for name, a in general(n, n).items()},
        "symmetric": hermitian(n)["random"],
        "orthogonal": q,
        "skew": q - q.T,
        "cycle": np.roll(np.eye(n), 1, axis=0),
        "lower": np.tril(rng.normal(size=(n, n))),
        "jordan": jordan,
        "nilpotent": np.eye(n, k=1),
        "defective": q @ jordan @ q.T,
        "real": rng.normal(size=(n, n)) * 0.1 + np.diag(np.arange(n) * 5.0),
        "companion": np.eye(n, k=-1) + np.outer(np.eye(n)[0], rng.normal(size=n)),
    }


def check(a: Array, found: Any, where: str) -> None:
    """Assert that the pairs are exact for a matrix next to this one."""
    w, v = found
    n = len(a)
    size = np.linalg.norm(a, 2) or 1.0
    rest = np.abs((a / size) @ v - v * (w / size)).max(initial=0)
    assert rest <= 8 * (n + 4) * EPS, where
    assert np.abs(np.linalg.norm(v, axis=0) - 1).max(initial=0) <= 4 * EPS, where
    # the values are those of one matrix: their sum and that of their squares
    assert abs(w.sum() - np.trace(a)) <= 8 * n * (n + 4) * EPS * size, where
    with np.errstate(over="ignore", under="ignore"):
        squares, want = ((w / size) ** 2).sum(), np.trace((a / size) @ (a / size))
    assert abs(squares - want) <= 16 * n * (n + 4) * EPS, where


def as_complex(x: Array) -> Array:
    """Return what a model gives of complex numbers."""
    return np.asarray(x[..., 0] + 1j * x[..., 1])


@pytest.mark.parametrize("opset", [13, supported()[-1]])
def test_one_model_takes_matrices_of_every_size_and_kind(opset: int) -> None:
    run = model_of(pairs, np.eye(3), opset=opset)
    for n in SIZES:
        for name, a in matrices(n).items():
            check(a, map(as_complex, run(a)), f"{name} {n}")
    assert [r.shape for r in run(np.zeros((0, 0)))] == [(0, 2), (0, 0, 2)]


def test_calls_give_real_results_where_numpy_does() -> None:
    for form in (jit_onnx, eager_onnx):
        call, values = form(pairs), form(np.linalg.eigvals)
        for n in SIZES[:5]:
            for name in ("symmetric", "lower", "real", "cycle", "jordan", "general random"):
                a = matrices(n)[name]
                w, v = call(a)
                want = np.linalg.eig(a)
                assert (w.dtype, v.dtype) == (want[0].dtype, want[1].dtype), name
                assert values(a).dtype == want[0].dtype
                check(a, (w, v), f"{name} {n}")


def test_values_are_those_of_numpy() -> None:
    call = jit_onnx(np.linalg.eigvals, fallback="error")
    rng = np.random.default_rng(0)
    for n in SIZES:
        for a in (rng.normal(size=(n, n)), rng.normal(size=(2, n, n)) * (1 + 1j)):
            got, want = np.sort_complex(call(a) + 0j), np.sort_complex(np.linalg.eigvals(a))
            order = np.argsort(want.real.round(6) + want.imag.round(6) / 1e3, axis=-1)
            other = np.argsort(got.real.round(6) + got.imag.round(6) / 1e3, axis=-1)
            got, want = (
                np.take_along_axis(x, o, -1) for x, o in ((got, other), (want, order))
            )
            np.testing.assert_allclose(got, want, atol=1e-10)


def test_pairs_of_real_matrices_are_exact_conjugates() -> None:
    call = jit_onnx(np.linalg.eigvals, fallback="error")
    for n in SIZES[2:]:
        w = call(matrices(n)["orthogonal"] * np.arange(1, n + 1))
        found = w[w.imag > 0]
        assert set(found.conj()) == set(w[w.imag < 0])


def test_complex_matrices_stacks_and_dtypes() -> None:
    rng = np.random.default_rng(1)
    call = jit_onnx(pairs, fallback="error")
    for n in SIZES[:5]:
        z = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
        for a in (z, z + z.conj().T, np.triu(z), np.eye(n) * 1j):
            check(a, call(a), f"{n}")
    for shape in ((2, 3, 3, 3), (0, 2, 2), (4, 1, 1)):
        for dtype in ("f4", "f8", "i4", "c8"):
            a = (rng.normal(size=shape) * 9).astype(dtype)
            a = a @ np.swapaxes(a, -1, -2)
            got, want = call(a), np.linalg.eig(a)
            for g, w in zip(got, want, strict=True):
                assert (g.dtype, g.shape) == (w.dtype, w.shape), (shape, dtype)
            np.testing.assert_allclose(
                np.sort(got[0], axis=-1), np.sort(want[0], axis=-1), rtol=1e-3, atol=1e-3
            )


def test_numpy_raises_for_what_is_not_finite() -> None:
    for number in (np.nan, np.inf):
        bad = np.eye(3)
        bad[1, 2] = number
        with pytest.raises(np.linalg.LinAlgError, match="must not contain infs or NaNs"):
            jit_onnx(np.linalg.eigvals)(bad)
        assert np.isnan(model_of(np.linalg.eigvals, bad)(bad)[0][..., 0]).all()


# --- polynomials -----------------------------------------------------------------------------


def roots(p: Array) -> Array:
    return np.roots(p)


def poly(z: Array) -> Any:
    return np.poly(z)


def polydiv(u: Array, v: Array) -> tuple[Array, Array]:
    return np.polydiv(u, v)


POLYNOMIALS: list[list[Any]] = [
    [1, -6, 11, -6],
    [1.0, 0, 1],
    [0, 0, 1.0, -3, 2, 0, 0],
    [2.0],
    [0.0, 0.0],
    [],
    [3.2, 2, 1j],
    [1, 2, 1],
    [1e-3, 1, 1e3],
]


@pytest.mark.parametrize("form", [jit_onnx, eager_onnx])
def test_roots(form: Any) -> None:
    call = form(roots)
    for p in POLYNOMIALS:
        got, want = call(np.array(p)), np.roots(np.array(p))
        assert (got.dtype, got.shape) == (want.dtype, want.shape), p
        size = np.abs(want).max(initial=1)
        np.testing.assert_allclose(
            np.sort_complex(got), np.sort_complex(want), atol=1e-7 * size
        )


def test_one_model_finds_roots_of_every_degree() -> None:
    run = model_of(roots, np.array([1.0, 2, 3]))
    for p in POLYNOMIALS:
        if not np.iscomplexobj(np.array(p)):
            a = np.array(p, float)
            got, want = as_complex(run(a)[0]), np.roots(a)
            np.testing.assert_allclose(
                np.sort_complex(got), np.sort_complex(want), rtol=1e-7, atol=1e-7
            )


def test_polynomials_of_roots() -> None:
    call = jit_onnx(poly, fallback="error")
    matrix = np.random.default_rng(0).normal(size=(4, 4))
    for z in ([1.0, 2, 3], [1j, -1j], [1j, 2.0], [2], [], [1, 1], matrix):
        got, want = call(np.array(z)), np.poly(np.array(z))
        assert type(got) is type(want)
        assert np.asarray(got).dtype == np.asarray(want).dtype, z
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_division() -> None:
    call = jit_onnx(polydiv, fallback="error")
    for u, v in (
        ([3.0, 5, 2], [2.0, 1]),
        ([1.0, 2], [1.0, 2, 3]),
        ([1, 2, 1], [1, 1]),
        ([1.0, 0, 0, -1], [1.0, -1]),
    ):
        got, want = call(np.array(u), np.array(v)), np.polydiv(np.array(u), np.array(v))
        for g, w in zip(got, want, strict=True):
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            np.testing.assert_allclose(g, w, rtol=1e-14)


@pytest.mark.parametrize("form", [jit_onnx, eager_onnx])
def test_products_without_coefficients(form: Any) -> None:
    call = form(np.polymul)
    none = [np.zeros(0, dtype) for dtype in (float, int)]
    for a, b in product([*none, np.array([0, 0]), np.array([2.0, 1, 0])], repeat=2):
        got, want = call(a, b), np.polymul(a, b)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_quotients_without_coefficients_are_refused() -> None:
    for u, v in ((np.zeros(0), np.ones(2)), (np.ones(2), np.zeros(0))):
        with pytest.raises(
            IndexError, match="index 0 is out of bounds for axis 0 with size 0"
        ):
            jit_onnx(polydiv)(u, v)
