# SPDX-License-Identifier: Apache-2.0
"""Programs with linear algebra, as graphs, eagerly and as models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from tests.jit.harness import run_model

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.asarray(np.random.default_rng(seed).normal(size=shape))


def ridge(x: Array, y: Array) -> Any:
    """Fit by normal equations, with an intercept, and predict."""
    offset, mean = x.mean(axis=0), y.mean()
    centred = x - offset
    gram = centred.T @ centred
    gram[np.diag_indices(gram.shape[0])] += 0.5
    coefficients = np.linalg.solve(gram, centred.T @ (y - mean))
    return coefficients, centred @ coefficients + mean


def kalman(measured: Array, state: Array, spread: Array) -> Any:
    """Follow a position and its speed; the gain comes from an inverse."""
    step = np.array([[1.0, 0.1], [0.0, 1.0]])
    seen = np.array([[1.0, 0.0]])
    means = np.zeros((measured.shape[0], 2))
    for k in range(measured.shape[0]):
        state = step @ state
        spread = step @ spread @ step.T + 0.01 * np.eye(2)
        within = seen @ spread @ seen.T + 0.5
        gain = spread @ seen.T @ np.linalg.inv(within)
        state = state + gain @ (measured[k] - seen @ state)
        spread = (np.eye(2) - gain @ seen) @ spread
        means[k] = state
    return means, spread


def gaussian_process(x: Array, y: Array, asked: Array) -> Any:
    """Posterior mean, variance and likelihood through a Cholesky factor."""

    def kernel(a: Array, b: Array) -> Array:
        return np.asarray(np.exp(-0.5 * (a[:, None] - b[None, :]) ** 2))

    factor = np.linalg.cholesky(kernel(x, x) + 0.1 * np.eye(x.shape[0]))
    weights = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    across = kernel(asked, x)
    half = np.linalg.solve(factor, across.T)
    likelihood = (
        -0.5 * (y @ weights)
        - np.log(np.diag(factor)).sum()
        - 0.5 * x.shape[0] * np.log(2 * np.pi)
    )
    return across @ weights, 1.0 - (half**2).sum(axis=0), likelihood


def discriminant(x: Array, labels: Array) -> Any:
    """Whiten by the spread within two classes, and tell them apart."""
    one = (labels == 1)[:, None]
    first = np.where(one, x, 0.0).sum(axis=0) / one.sum()
    other = np.where(one, 0.0, x).sum(axis=0) / (~one).sum()
    centred = x - np.where(one, first, other)
    within = centred.T @ centred / (x.shape[0] - 2)
    white = np.linalg.inv(np.linalg.cholesky(within))
    direction = white.T @ (white @ (first - other))
    sign, size = np.linalg.slogdet(within)
    return x @ direction, sign * size


def determined(a: Array, b: Array) -> Any:
    """Solve where the determinant allows it."""
    if np.abs(np.linalg.det(a)) > 1e-6:
        return np.linalg.solve(a, b)
    return np.zeros_like(b)


def refined(a: Array, b: Array) -> Any:
    """Solve again for what is left over."""
    x = np.zeros_like(b)
    for _ in range(3):
        x = x + np.linalg.solve(a, b - a @ x)
    return x


def newton(x: Array) -> Any:
    """Find a root of two equations, until the step is small."""
    step = np.ones_like(x)
    while np.abs(step).max() > 1e-10:
        value = np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] - x[1] - 0.5])
        slope = np.array([[2 * x[0], 2 * x[1]], [1.0, -1.0]])
        step = np.linalg.solve(slope, value)
        x = x - step
    return x


def orthogonal_iteration(a: Array, q: Array) -> Any:
    """Approach the largest eigenvalues."""
    for _ in range(30):
        q, _ = np.linalg.qr(a @ q)
    return np.sort(np.diag(q.T @ a @ q))


def least_squares(a: Array, b: Array) -> Any:
    """Fit by reflections."""
    q, r = np.linalg.qr(a)
    return np.linalg.solve(r, q.T @ b)


_SQUARE: Final = normal(4, 4) + 4 * np.eye(4)
PROGRAMS: Final[list[tuple[Callable[..., Any], tuple[Array, ...]]]] = [
    (ridge, (normal(20, 3), normal(20, seed=1))),
    (kalman, (normal(6, 1), np.zeros(2), np.eye(2))),
    (gaussian_process, (normal(8), normal(8, seed=1), normal(3, seed=2))),
    (discriminant, (normal(12, 3), np.arange(12) % 2)),
    (determined, (_SQUARE, normal(4))),
    (determined, (np.ones((4, 4)), normal(4))),
    (refined, (_SQUARE, normal(4))),
    (newton, (np.array([1.0, 2.0]),)),
    (orthogonal_iteration, (_SQUARE @ _SQUARE.T, normal(4, 2))),
    (least_squares, (normal(9, 3), normal(9))),
]
NAMES: Final = [f"{program.__name__}-{i}" for i, (program, _) in enumerate(PROGRAMS)]


def flat(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (tuple, list)) else [x]


def near(got: Any, want: Any) -> None:
    for g, w in zip(flat(got), flat(want), strict=True):
        assert np.shape(g) == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-10)


@pytest.mark.filterwarnings("ignore::onnxjit.errors.AssumptionWarning")  # of joint sizes
@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=NAMES)
@pytest.mark.parametrize("opset", [13, None])
def test_programs(
    program: Callable[..., Any], args: tuple[Array, ...], opset: int | None
) -> None:
    want = program(*(a.copy() for a in args))
    options: dict[str, Any] = {} if opset is None else {"opset": opset}
    graph = jit_onnx(program, fallback="error", **options)
    near(graph(*args), want)
    near(run_model(graph.to_onnx(*args), *args), want)


@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=NAMES)
def test_programs_eagerly(program: Callable[..., Any], args: tuple[Array, ...]) -> None:
    near(eager_onnx(program)(*args), program(*(a.copy() for a in args)))


def test_a_branch_that_is_not_taken_raises_nothing() -> None:
    graph = jit_onnx(determined, fallback="error")
    near(graph(_SQUARE, normal(4)), determined(_SQUARE, normal(4)))
    near(graph(np.zeros((4, 4)), normal(4)), np.zeros(4))


@pytest.mark.parametrize(
    "shapes",
    [
        [], [(3, 3)], [(3,)], [(3, 3), (3,), (3, 3)], [(), (3, 3), (3, 3)],
        [(3, 3), (3, 3), (2, 3, 3)], [(3,), (3,), (3,)],
    ],
)  # fmt: skip
def test_products_of_too_few_and_of_what_is_no_matrix(shapes: list[Any]) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    with pytest.raises(ValueError) as want:  # noqa: PT011  the text is compared
        np.linalg.multi_dot(arrays)
    with pytest.raises(ValueError) as got:  # noqa: PT011
        jit_onnx(lambda *a: np.linalg.multi_dot(a), fallback="error")(*arrays)
    assert type(got.value) is type(want.value)
    assert str(got.value).splitlines()[0] == str(want.value)
