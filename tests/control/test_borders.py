# SPDX-License-Identifier: Apache-2.0
"""Parts of an array that no iteration of a loop changes are taken before the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import float64, int64, jit_onnx
from onnxjit._core.verify import verify
from onnxjit._jit.function import Call
from onnxjit._transform.pipeline import run_passes

if TYPE_CHECKING:
    from collections.abc import Callable


def rod(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def wide_border(u, n):
    u = u.copy()
    for _ in range(n):
        u[3:-2] = u[3:-2] * 0.5 + u[1:-4]
    return u


def joined_by_hand(u, n):
    for _ in range(n):
        u = np.concatenate([u[:1], u[1:-1] * 0.5, u[-1:]])
    return u


def until_still(u, n):
    u = u.copy()
    while abs(u[1:-1]).sum() > 0.01 and n > 0:
        u[1:-1] = u[1:-1] * 0.5
        n -= 1
    return u


def turned_round(u, n):
    for _ in range(n):
        u = np.concatenate([u[1:], u[:1]])
    return u


def shifted(u, n):
    for _ in range(n):
        u = np.concatenate([u[1:2], u[1:-1] * 0.5, u[-1:]])
    return u


def border_that_changes(u, n):
    u = u.copy()
    for i in range(n):
        u[0] = i
        u[1:] = u[1:] + u[:-1]
    return u


def grows(u, n):
    for _ in range(n):
        u = np.concatenate([u[:1], u * 0.5])
    return u


#: with how many slices an iteration takes
VECTORS: list[tuple[Callable[..., Any], int]] = [
    (rod, 3),
    (wide_border, 2),
    (joined_by_hand, 3),  # of one element it makes two
    (until_still, 2),
    (turned_round, 2),
    (shifted, 2),
    (border_that_changes, 3),
    (grows, 1),
]


def plate(u, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1, 1:-1] += 0.25 * (
            old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]
            - 4 * old[1:-1, 1:-1]
        )  # fmt: skip
    return u


def columns(u, n):
    u = u.copy()
    for _ in range(n):
        u[:, 1:] = u[:, 1:] * 0.5 + u[:, :-1]
    return u


def corner(u, n):
    u = u.copy()
    for _ in range(n):
        u[2:, :-1] = u[:-2, 1:] * 0.5
    return u


PLATES: list[tuple[Callable[..., Any], int]] = [(plate, 5), (columns, 2), (corner, 1)]


def _slices(fn: Callable[..., Any], u: np.ndarray[Any, Any]) -> int:
    jit = jit_onnx(fn, fallback="error")
    recorded = jit._record(Call(jit._naming(None), (u, 3), {}, None), []).program
    program = verify(run_passes(verify(recorded))[0])
    (loop,) = [e for e in program.walk() if e.op.name in {"loop", "scan"}]
    return [e.op.name for e in loop.blocks[0].equations].count("slice")


def _same(fn: Callable[..., Any], run: Callable[..., Any], u: Any, n: int) -> None:
    try:
        want = fn(u, n)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            run(u, n)
        return
    np.testing.assert_allclose(run(u, n), want, rtol=1e-13)


@pytest.mark.parametrize(("fn", "left"), VECTORS)
def test_slices_that_an_iteration_of_a_vector_takes(fn: Callable[..., Any], left: int):
    assert _slices(fn, np.arange(8.0)) == left


@pytest.mark.parametrize(("fn", "left"), PLATES)
def test_slices_that_an_iteration_of_a_matrix_takes(fn: Callable[..., Any], left: int):
    assert _slices(fn, np.arange(30.0).reshape(5, 6)) == left


@pytest.mark.parametrize("opset", [13, None])
@pytest.mark.parametrize("fn", [fn for fn, _ in VECTORS])
def test_vectors(fn: Callable[..., Any], opset: int | None):
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for size in (8, 7, 6, 5, 4, 3, 2, 1, 0):
        for n in (4, 1, 0):
            if size or fn is not border_that_changes:
                _same(fn, jit, np.linspace(-1, 2, size), n)


@pytest.mark.parametrize("opset", [13, None])
@pytest.mark.parametrize("fn", [fn for fn, _ in PLATES])
def test_matrices(fn: Callable[..., Any], opset: int | None):
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for shape in ((5, 6), (3, 3), (3, 2), (2, 4), (1, 5), (4, 1), (0, 3), (3, 0), (0, 0)):
        for n in (3, 1, 0):
            _same(fn, jit, np.linspace(-1, 2, shape[0] * shape[1]).reshape(shape), n)


@pytest.mark.parametrize("fn", [rod, wide_border, joined_by_hand, turned_round])
def test_models_of_vectors(fn: Callable[..., Any]):
    model = jit_onnx(fn).to_onnx(float64["N"], int64, opset=18)
    session = ort.InferenceSession(model.SerializeToString())
    for size in (9, 4, 3, 2, 1, 0):
        u = np.linspace(-1, 2, size)
        _same(
            fn, lambda u, n: session.run(None, {"u": u, "n": np.array(n, np.int64)})[0], u, 3
        )
