# SPDX-License-Identifier: Apache-2.0
"""Matrix products and contractions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.harness import run
from tests.ops.reduce_check import DTYPES, INTS, compare, data, ours

RTOL = {"f2": 3e-2, "f4": 3e-5, "f8": 1e-12}
MATRICES = (
    ((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((5, 3, 4), (4, 2)),
    ((1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)), ((0,), (0,)), ((0, 3), (3, 2)),
)  # fmt: skip
CALLS: tuple[tuple[Any, Any, Any, dict[str, Any]], ...] = (
    *((np.matmul, a, b, {}) for a, b in MATRICES),
    *((np.dot, a, b, {}) for a, b in MATRICES if a != (1, 3, 4)),
    (np.dot, (), (3,), {}), (np.dot, (2, 3, 4), (5, 4, 2), {}), (np.dot, (4,), (5, 4, 2), {}),
    (np.inner, (3, 4), (2, 4), {}), (np.inner, (2, 3, 4), (5, 2, 4), {}),
    (np.inner, (4,), (4,), {}), (np.vdot, (3, 4), (2, 6), {}), (np.outer, (3, 2), (4,), {}),
    (np.vecdot, (2, 3, 4), (4,), {}), (np.matvec, (2, 3, 4), (4,), {}),
    (np.vecmat, (4,), (2, 4, 3), {}), (np.tensordot, (3, 4, 5), (4, 5, 2), {}),
    (np.tensordot, (3, 4, 5), (5, 2, 3), {"axes": ((0, 2), (2, 0))}),
    (np.tensordot, (3, 4), (2,), {"axes": 0}), (np.kron, (2, 3), (3, 2), {}),
    (np.kron, (2, 2, 2), (3,), {}), (np.linalg.matmul, (3, 4), (4, 2), {}),
    (np.linalg.vecdot, (4, 3), (4, 3), {"axis": 0}),
)  # fmt: skip
EINSUMS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("ij,jk->ik", ((2, 3), (3, 4))), ("ij,jk", ((2, 3), (3, 4))), ("ii->i", ((3, 3),)),
    ("ii", ((3, 3),)), ("ij->j", ((2, 3),)), ("ij->", ((2, 3),)), ("ij->ji", ((2, 3),)),
    ("i,j->ij", ((2,), (3,))), ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))),
    ("...ij,...jk->...ik", ((2, 3, 4), (4, 5))), ("ij,ij->", ((2, 3), (2, 3))),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 2))), ("iij->j", ((3, 3, 2),)),
    ("abc,cb->a", ((2, 3, 4), (4, 3))), ("aab,b->a", ((3, 3, 2), (2,))), ("i,->i", ((3,), ())),
)  # fmt: skip


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype, opset):
    for f, first, second, kw in CALLS:
        a, b = data(dtype, first, nan=False), data(dtype, second, nan=False, seed=1)
        compare(
            lambda x, y, f=f, kw=kw: ours(f)(x, y, **kw),
            lambda x, y, f=f, kw=kw: f(x, y, **kw),
            a,
            b,
            opset=opset,
            rtol=RTOL.get(dtype, 0),
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_einsum(dtype):
    for text, shapes in EINSUMS:
        arrays = [data(dtype, s, nan=False, seed=i) for i, s in enumerate(shapes)]
        compare(
            lambda *v, t=text: ours(np.einsum)(t, *v),
            lambda *v, t=text: np.einsum(t, *v),
            *arrays,
            rtol=RTOL.get(dtype, 0),
        )
    x, y = data(dtype, (2, 3), nan=False), data(dtype, (3, 2), nan=False)
    compare(
        lambda a, b: ours(np.einsum)(a, [0, 1], b, [1, 2], [0, 2]),
        lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]),
        x,
        y,
        rtol=RTOL.get(dtype, 0),
    )


@pytest.mark.parametrize("dtype", [*INTS, "f4", "f8"])
def test_cross(dtype):
    for first, second, kw in (
        ((4, 3), (4, 3), {}), ((3, 4), (3, 4), {"axis": 0}), ((4, 3), (3,), {}),
    ):  # fmt: skip
        a, b = data(dtype, first, nan=False), data(dtype, second, nan=False, seed=1)
        compare(
            lambda x, y, kw=kw: ours(np.cross)(x, y, **kw),
            lambda x, y, kw=kw: np.cross(x, y, **kw),
            a,
            b,
            rtol=RTOL.get(dtype, 0),
        )


def test_norm():
    orders: tuple[dict[str, Any], ...] = (
        {}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"ord": 1}, {"ord": np.inf},
        {"ord": -1}, {"ord": "fro"}, {"ord": 1, "axis": 1}, {"ord": np.inf, "axis": 0},
        {"ord": 3, "axis": 0}, {"ord": 0, "axis": 0}, {"ord": 1, "keepdims": True},
        {"ord": -np.inf},
    )  # fmt: skip
    for dtype in ("i4", "f4", "f8"):
        x = data(dtype, (3, 4), nan=False)
        for kw in orders:
            compare(
                lambda v, kw=kw: ours(np.linalg.norm)(v, **kw),
                lambda v, kw=kw: np.linalg.norm(v, **kw),
                x,
                rtol=1e-5,
            )
        for f in (np.linalg.vector_norm, np.linalg.matrix_norm):
            compare(ours(f), f, x, rtol=1e-5)
            compare(
                lambda v, f=f: ours(f)(v, keepdims=True),
                lambda v, f=f: f(v, keepdims=True),
                x,
                rtol=1e-5,
            )


def test_misfits():
    zeros = np.zeros
    for f, a, b in (
        (np.matmul, zeros((3, 4)), zeros((3, 2))), (np.dot, zeros((3, 4)), zeros((3, 2))),
        (np.dot, zeros(4), zeros(3)), (np.inner, zeros((3, 4)), zeros((3, 2))),
        (np.vdot, zeros(4), zeros(3)), (np.tensordot, zeros((3, 4)), zeros((3, 2))),
        (np.vecdot, zeros(4), zeros(3)), (np.matvec, zeros((4, 4)), zeros(3)),
        (np.matvec, zeros(4), zeros(3)), (np.matmul, zeros(()), zeros(3)),
        (np.cross, zeros(4), zeros(3)), (np.linalg.outer, zeros((2, 2)), zeros(2)),
    ):  # fmt: skip
        for symbolic in (True, False):
            with pytest.raises(ValueError) as theirs:  # noqa: PT011  the text is compared
                f(a, b)
            with pytest.raises(ValueError) as mine:  # noqa: PT011
                run(lambda x, y, f=f: ours(f)(x, y), a, b, symbolic=symbolic)
            if f is not np.inner:
                assert str(mine.value) == str(theirs.value)
