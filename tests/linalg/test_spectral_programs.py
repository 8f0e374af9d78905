# SPDX-License-Identifier: Apache-2.0
"""Programs made of factorisations: calls, eager calls and models agree with NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit._lower.opsets import supported
from tests.jit.harness import run_model

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


class Pca:
    """Principal components, with signs that do not depend on the method."""

    def __init__(self, count: int) -> None:
        self.count = count

    def fit_transform(self, x: Array) -> tuple[Array, Array, Array]:
        mean = x.mean(axis=0)
        u, s, vt = np.linalg.svd(x - mean, full_matrices=False)
        peak = np.argmax(np.abs(u), axis=0)
        signs = np.sign(u[peak, np.arange(u.shape[1])])
        u, vt = u * signs, vt * signs[:, None]
        scores = u[:, : self.count] * s[: self.count]
        return scores, vt[: self.count], s**2 / (x.shape[0] - 1)


def pca(x: Array, _: Array) -> tuple[Array, Array, Array]:
    return Pca(2).fit_transform(x)


def pca_by_covariance(x: Array, _: Array) -> tuple[Array, Array]:
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred, rowvar=False))
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    return values / values.sum(), np.abs(centred @ vectors[:, :2])


def whitening(x: Array, _: Array) -> Array:
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(x))
    return np.asarray(centred @ vectors / np.sqrt(values + 1e-9) @ vectors.T)


def low_rank(x: Array, _: Array) -> tuple[Array, Any]:
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    near = (u[:, :2] * s[:2]) @ vt[:2]
    return near, np.linalg.norm(x - near, 2)


def procrustes(x: Array, y: Array) -> tuple[Array, Any]:
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    u, s, vt = np.linalg.svd(a.T @ b)
    turn = u @ vt
    return turn, s.sum() / (a**2).sum()


def kabsch(x: Array, y: Array) -> Array:
    """Return the nearest proper rotation: the last direction changes its side if needed."""
    h = (x - x.mean(axis=0)).T @ (y - y.mean(axis=0))
    u, _, vt = np.linalg.svd(h)
    d = np.sign(np.linalg.det(vt.T @ u.T))
    middle = np.eye(h.shape[0])
    middle[-1, -1] = d
    return np.asarray(vt.T @ middle @ u.T)


def spectral_embedding(x: Array, _: Array) -> tuple[Array, Array]:
    distance = ((x[:, None] - x) ** 2).sum(axis=-1)
    weight = np.exp(-distance / distance.mean())
    degree = weight.sum(axis=1)
    laplacian = np.eye(len(x)) - weight / np.sqrt(degree[:, None] * degree)
    values, vectors = np.linalg.eigh(laplacian)
    return values[:3], np.abs(vectors[:, 1:3])


def ridge(x: Array, y: Array) -> Array:
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    return np.asarray(vt.T @ ((s / (s**2 + 0.1))[:, None] * (u.T @ y)))


def polynomial_regression(x: Array, y: Array) -> tuple[Array, Array]:
    t = x[:, 0]
    c = np.polyfit(t, y[:, 0], 3)
    return c, np.polyval(c, t)


def least_squares(x: Array, y: Array) -> tuple[Array, Any]:
    design = np.column_stack([np.ones(len(x)), x])
    solution, _, rank, s = np.linalg.lstsq(design, y, rcond=None)
    return solution, s[0] / s[-1] * rank


def ellipse(x: Array, _: Array) -> Array:
    """Fit a conic to points around a circle: the direction of least stretch."""
    angle = np.linspace(0.0, 6.0, x.shape[0])
    p, q = 3 * np.cos(angle) + 0.01 * x[:, 0], np.sin(angle) + 0.01 * x[:, 1]
    design = np.stack([p * p, p * q, q * q, p, q, np.ones_like(p)], axis=1)
    conic = np.linalg.svd(design)[2][-1]
    return np.asarray(conic / conic[np.argmax(np.abs(conic))])


def subspace_angles(x: Array, y: Array) -> Array:
    qx, qy = np.linalg.qr(x)[0], np.linalg.qr(y)[0]
    return np.asarray(np.arccos(np.minimum(np.linalg.svd(qx.T @ qy)[1], 1)))


def discriminant(x: Array, y: Array) -> Array:
    within = x.T @ x + np.eye(x.shape[1])
    between = (x.T @ y) @ (x.T @ y).T
    values, vectors = np.linalg.eigh(within)
    half = vectors / np.sqrt(values) @ vectors.T
    return np.linalg.eigvalsh(half @ between @ half)


def stability(x: Array, _: Array) -> tuple[Any, Any]:
    a = x.T @ np.roll(x, 1, axis=0) / len(x)
    return np.abs(np.linalg.eigvals(a)).max(), np.linalg.cond(a)


PROGRAMS: tuple[Callable[..., Any], ...] = (
    pca, pca_by_covariance, whitening, low_rank, procrustes, kabsch, spectral_embedding, ridge,
    polynomial_regression, least_squares, ellipse, subspace_angles, discriminant, stability,
)  # fmt: skip


def _arrays(n: int, k: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(n + k)
    x = rng.normal(size=(n, k)) * (1.0 + np.arange(k))
    return x, x @ rng.normal(size=(k, k)) + 0.1 * rng.normal(size=(n, k))


def _close(got: Any, want: Any) -> None:
    several = isinstance(want, tuple)
    for g, w in zip(got if several else [got], want if several else [want], strict=True):
        assert np.shape(g) == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("form", [jit_onnx, eager_onnx])
@pytest.mark.parametrize("program", PROGRAMS)
def test_calls(program: Any, form: Any) -> None:
    call = form(program)
    for n, k in ((12, 3), (9, 4)):
        _close(call(*_arrays(n, k)), program(*_arrays(n, k)))


@pytest.mark.filterwarnings("ignore:the model is right only where")  # np.cov asks for rows
@pytest.mark.parametrize("program", PROGRAMS)
def test_models_of_any_size(program: Any) -> None:
    for opset in (13, supported()[-1]):
        model = jit_onnx(program).to_onnx(*_arrays(8, 3), opset=opset)
        names = [i.name for i in model.graph.input]
        for n, k in ((12, 3), (9, 4)):
            x, y = _arrays(n, k)
            feeds = [x if name == "x" else y for name in names]
            got = run_model(model, *feeds)
            want = program(x, y)
            _close(tuple(got), want if isinstance(want, tuple) else (want,))
