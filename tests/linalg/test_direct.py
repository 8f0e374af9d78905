# SPDX-License-Identifier: Apache-2.0
"""Factorisations against NumPy: backward errors, signs, singular matrices, every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from onnxjit import asarray, eager_onnx, float64, jit_onnx
from tests.jit.harness import run_model

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

#: sizes that are written out, eliminated in one go, and by blocks
SIZES: Final = (1, 2, 3, 5, 6, 17, 33, 60)
DTYPES: Final = ("f4", "f8", "c8", "c16")


def normal(*shape: int, dtype: str = "f8", seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.normal(size=shape)
    return np.asarray(x, dtype)


def adjoint(x: Array) -> Array:
    return np.asarray(np.conj(np.swapaxes(x, -1, -2)))


def graded(n: int) -> Array:
    return np.asarray(normal(n, n) * 10.0 ** -np.arange(n)[:, None])


def nearly_dependent(n: int) -> Array:
    x = normal(n, n)
    x[-1] = x[0] * (1 + 1e-13 * normal(n))
    return x


def hilbert(n: int) -> Array:
    places = np.arange(n)
    return np.asarray(1.0 / (places[:, None] + places + 1))


def permutation(n: int) -> Array:
    return np.asarray(np.eye(n)[np.random.default_rng(1).permutation(n)])


KINDS: Final[dict[str, Callable[[int], Array]]] = {
    "random": lambda n: normal(n, n),
    "graded": graded,
    "nearly dependent": nearly_dependent,
    "hilbert": hilbert,
    "diagonal": lambda n: np.diag(1.0 + np.arange(n)),
    "upper": lambda n: np.triu(normal(n, n)) + 3 * np.eye(n),
    "lower": lambda n: np.tril(normal(n, n)) + 3 * np.eye(n),
    "permutation": permutation,
    "large numbers": lambda n: normal(n, n) * 1e300,
    "small numbers": lambda n: normal(n, n) * 1e-300,
}


def calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as a graph; what needs Python's help is an error."""
    graph: Callable[..., Any] = jit_onnx(function, fallback="error")
    return graph


solve, inv, det = calls(np.linalg.solve), calls(np.linalg.inv), calls(np.linalg.det)
slogdet, cholesky, qr = (
    calls(lambda a: tuple(np.linalg.slogdet(a))),
    calls(np.linalg.cholesky),
    calls(lambda a: tuple(np.linalg.qr(a))),
)


def size_of(x: Array) -> Any:
    return np.abs(x).max(initial=0.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_solutions_have_small_backward_errors(kind: str, n: int) -> None:
    a, b = KINDS[kind](n), normal(n, 2, seed=5)
    b = b * size_of(a)
    want, got = np.linalg.solve(a, b), solve(a, b)
    with np.errstate(over="ignore"):
        rows = np.abs(a / size_of(a)).sum(1).max()

        def error(x: Array) -> Any:
            left = (a / size_of(a)) @ x - b / size_of(a)
            return size_of(left) / (rows * size_of(x) + size_of(b / size_of(a)))

        assert error(got) <= 4 * error(want) + 4 * n * np.finfo(float).eps


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in {"graded", "large numbers"}])
@pytest.mark.parametrize("n", SIZES)
def test_triangular_factors_multiply_to_the_matrix(kind: str, n: int) -> None:
    a = KINDS[kind](n)
    q, r = qr(a)
    bound = 8 * n * np.finfo(float).eps
    assert size_of(q @ r - a) <= bound * n * size_of(a)
    assert size_of(adjoint(q) @ q - np.eye(n)) <= bound
    assert (np.tril(r, -1) == 0).all()
    want_q, want_r = np.linalg.qr(a)
    if kind not in {"nearly dependent", "hilbert"}:
        np.testing.assert_allclose(q, want_q, atol=1e-9)
        np.testing.assert_allclose(r, want_r, atol=1e-9 * size_of(a))
    assert (np.signbit(np.diag(r)) == np.signbit(np.diag(want_r)))[:-1].all() or n > 5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 6, 60])
def test_results_are_numpys(dtype: str, n: int) -> None:
    a = normal(2, n, n, dtype=dtype) + np.eye(n, dtype=dtype) * n
    b = normal(2, n, 3, dtype=dtype, seed=1)
    positive = a @ adjoint(a) + np.eye(n, dtype=dtype)
    near: dict[str, Any] = {"rtol": 1e-4 if dtype in {"f4", "c8"} else 1e-9}
    near["atol"] = near["rtol"] * 0.01
    for got, want in (
        (solve(a, b), np.linalg.solve(a, b)),
        (inv(a), np.linalg.inv(a)),
        (cholesky(positive), np.linalg.cholesky(positive)),
        (slogdet(a)[0], np.linalg.slogdet(a)[0]),
        (slogdet(a)[1], np.linalg.slogdet(a)[1]),
        (qr(a)[0], np.linalg.qr(a)[0]),
        (qr(a)[1], np.linalg.qr(a)[1]),
    ):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, **near)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(det(a), np.linalg.det(a), rtol=1e-3 if n > 9 else 1e-4)


SINGULAR: Final = [
    np.zeros((3, 3)),
    np.ones((2, 2)),
    np.diag([1.0, 0, 2, 3, 4, 5, 6]),
    np.ones((40, 40)),
    np.zeros((50, 50)),
    np.stack([np.eye(3), np.zeros((3, 3))]),
    np.array([[1.0, 2], [2, 4]]),
    np.array([[1.0, 2, 3], [2, 4, 6], [1, 1, 1]]),
    np.outer(2.0 ** np.arange(6), np.arange(6)) + np.outer(np.ones(6), np.ones(6)),
]


@pytest.mark.parametrize("a", SINGULAR, ids=range(len(SINGULAR)))
def test_singular_matrices(a: Array) -> None:
    b = np.ones(a.shape[-1])
    for call in (inv, np.linalg.inv):
        with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
            call(a)
    with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
        solve(a, b)
    with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
        np.linalg.solve(asarray(a), asarray(b))
    with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
        eager_onnx(np.linalg.inv)(a)
    np.testing.assert_array_equal(det(a), np.linalg.det(a))
    for got, want in zip(slogdet(a), np.linalg.slogdet(a), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("n", [2, 7, 50])
def test_matrices_that_are_not_positive(n: int) -> None:
    a = np.eye(n)
    a[-1, -1] = -1
    for x in (a, np.zeros((n, n)), np.stack([np.eye(n), a])):
        for call in (cholesky, lambda x: np.linalg.cholesky(asarray(x))):
            with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
                call(x)


def test_only_one_triangle_is_read() -> None:
    upper = calls(lambda a: np.linalg.cholesky(a, upper=True))
    for n in (3, 8, 50):
        a = normal(n, n)
        a = a @ a.T + np.eye(n)
        junk = np.triu(np.full((n, n), np.nan), 1)
        lower = np.where(np.tri(n, dtype=bool), a, junk)
        np.testing.assert_allclose(cholesky(lower), np.linalg.cholesky(a), atol=1e-9)
        got = upper(np.swapaxes(lower, 0, 1))
        np.testing.assert_allclose(got, np.linalg.cholesky(a).T, atol=1e-9)


def test_models_return_nan_where_numpy_raises() -> None:
    a = np.stack([np.eye(3), np.zeros((3, 3))])
    model = jit_onnx(np.linalg.inv).to_onnx(float64["B", "N", "N"])
    (got,) = run_model(model, a)
    np.testing.assert_array_equal(got[0], np.eye(3))
    assert np.isnan(got[1]).all()
    model = jit_onnx(np.linalg.cholesky).to_onnx(float64["B", 3, 3])
    (got,) = run_model(model, a)
    np.testing.assert_array_equal(got[0], np.eye(3))
    assert np.isnan(got[1]).all()


@pytest.mark.parametrize("opset", [13, 18, None])
def test_one_model_serves_every_size(opset: int | None) -> None:
    options: dict[str, Any] = {} if opset is None else {"opset": opset}

    def f(a: Array, b: Array) -> Any:
        q, r = np.linalg.qr(a)
        return np.linalg.solve(a, b), np.linalg.det(a), np.linalg.cholesky(a @ a.T), q, r

    model = jit_onnx(f, **options).to_onnx(float64["N", "N"], float64["N", "M"])
    for n, m in ((4, 2), (0, 2), (1, 0), (3, 1), (33, 3), (70, 2)):
        a, b = normal(n, n) + np.eye(n) * n, normal(n, m)
        for got, want in zip(run_model(model, a, b), f(a, b), strict=True):
            assert got.shape == np.shape(want)
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)


def test_nan_spreads_and_infinity_stays() -> None:
    for n in (3, 7, 50):
        a = np.eye(n)
        a[1, 1] = np.nan
        assert np.isnan(det(a))
        assert np.isnan(inv(a)).any()
        assert np.isnan(slogdet(a)[1])
        a[1, 1] = np.inf
        np.testing.assert_array_equal(inv(a), np.linalg.inv(a))
        assert det(a) == np.inf


def test_half_precision_is_refused_as_numpy_does() -> None:
    a = np.eye(2, dtype="f2")
    for call in (solve, inv, det, slogdet, cholesky, qr):
        args = (a, a) if call is solve else (a,)
        with pytest.raises(TypeError, match="array type float16 is unsupported in linalg"):
            call(*args)


def test_powers_of_matrices() -> None:
    for n in (-3, -1, 0, 1, 2, 5):
        power = calls(lambda a, n=n: np.linalg.matrix_power(a, n))
        for shape in ((3, 3), (2, 7, 7), (0, 0)):
            a = normal(*shape) + np.eye(shape[-1]) * 3
            np.testing.assert_allclose(
                power(a), np.linalg.matrix_power(a, n), rtol=1e-9, atol=1e-12
            )
        if n >= 0:
            whole = np.arange(9).reshape(3, 3)
            got, want = power(whole), np.linalg.matrix_power(whole, n)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
