# SPDX-License-Identifier: Apache-2.0
"""Reshaping, reordering, joining, splitting, repeating against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.ops.row_cases import Case, check, check_error

OPSETS = (13, 18, 28)
THREE = ([(2, 3, 4)], [(3, 2, 5)], [(1, 1, 1)], [(0, 3, 4)], [(2, 0, 1)])
PAIR = ([(4, 6), (4, 6)], [(2, 5), (2, 5)], [(1, 1), (1, 1)], [(0, 6), (0, 6)])
FLAT = ([(6,)], [(9,)], [(1,)], [(0,)])
TALL = ([(6, 4)], [(9, 4)], [(3, 1)], [(0, 4)])

CASES = [
    Case(np.reshape, lambda f, x: f(x, (-1,)), *THREE),
    Case(np.reshape, lambda f, x: f(x, -1, order="F"), *THREE),
    Case(np.reshape, lambda f, x: f(x, (x.shape[0], -1)), *THREE, dynamic=False),
    Case(np.reshape, lambda f, x: f(x, (x.shape[1], x.shape[0], x.shape[2])), *THREE),
    Case(np.reshape, lambda f, x: f(x, (x.shape[0] * x.shape[1], x.shape[2])), *THREE),
    Case(
        np.reshape, lambda f, x: f(x, (x.shape[0] * x.shape[1], x.shape[2]), order="F"), *THREE
    ),
    Case(np.reshape, lambda f, x: f(x, (2, -1)), [(4, 6)], [(2, 7)], [(2, 1)], [(0, 6)]),
    Case(np.reshape, lambda f, x: f(x, (-1, 3, 2)), [(4, 6)], [(2, 12)], [(0, 6)]),
    Case(np.reshape, lambda f, x: f(x, (1, *x.shape, 1)), *THREE),
    Case(np.ravel, lambda f, x: f(x), *THREE),
    Case(np.ravel, lambda f, x: f(x, "F"), *THREE),
    Case(np.transpose, lambda f, x: f(x), *THREE),
    Case(np.transpose, lambda f, x: f(x, (1, -1, 0)), *THREE),
    Case(np.matrix_transpose, lambda f, x: f(x), *THREE),
    Case(np.swapaxes, lambda f, x: f(x, 0, -1), *THREE),
    Case(np.moveaxis, lambda f, x: f(x, 0, -1), *THREE),
    Case(np.moveaxis, lambda f, x: f(x, (2, 0), (0, 1)), *THREE),
    Case(np.rollaxis, lambda f, x: f(x, 2), *THREE),
    Case(np.rollaxis, lambda f, x: f(x, 0, 3), *THREE),
    Case(np.expand_dims, lambda f, x: f(x, 0), *THREE),
    Case(np.expand_dims, lambda f, x: f(x, (0, -1, 2)), *THREE),
    Case(np.squeeze, lambda f, x: f(x), [(2, 1, 4)], [(3, 1, 5)], [(1, 1, 1)], dynamic=False),
    Case(np.squeeze, lambda f, x: f(x, 1), [(2, 1, 4)], [(3, 1, 5)], [(1, 1, 1)]),
    Case(np.atleast_1d, lambda f, x: f(x), [()], [(3,)], dynamic=False),
    Case(np.atleast_2d, lambda f, x: f(x), [()], [(3,)], [(2, 3)], dynamic=False),
    Case(np.atleast_3d, lambda f, x: f(x), [()], [(3,)], [(2, 3)], [(2, 3, 4)], dynamic=False),
    Case(np.broadcast_to, lambda f, x: f(x, (3, *x.shape)), *THREE),
    Case(np.broadcast_to, lambda f, x: f(x, (5, 4)), [(1,)], [(4,)], [(5, 1)], dynamic=False),
    Case(np.broadcast_arrays, lambda f, x, y: f(x, y), [(4, 6), (6,)], [(3, 2), (2,)]),
    Case(np.flip, lambda f, x: f(x), *THREE),
    Case(np.flip, lambda f, x: f(x, (0, 2)), *THREE),
    Case(np.flipud, lambda f, x: f(x), *THREE),
    Case(np.fliplr, lambda f, x: f(x), *THREE),
    *(Case(np.rot90, lambda f, x, k=k: f(x, k), *THREE) for k in (0, 1, 2, 3, -1)),
    Case(np.rot90, lambda f, x: f(x, 1, (0, 2)), *THREE),
    # joining
    Case(np.concatenate, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.concatenate, lambda f, x, y: f((x, y, x), axis=-1), *PAIR),
    Case(np.concatenate, lambda f, x, y: f([x, y], axis=None), *PAIR),
    Case(np.concatenate, lambda f, x, y: f([x, y], dtype="f8"), *PAIR),
    Case(np.concatenate, lambda f, x: f([x, [[1] * 3]]), [(2, 3)], [(4, 3)], [(0, 3)]),
    Case(np.stack, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.stack, lambda f, x, y: f([x, y], axis=-1), *PAIR),
    Case(np.vstack, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.hstack, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.hstack, lambda f, x: f([x, 3.0]), *FLAT),
    Case(np.dstack, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.column_stack, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.column_stack, lambda f, x: f([x, x]), *FLAT),
    Case(np.append, lambda f, x: f(x, [1, 2]), *FLAT),
    Case(np.append, lambda f, x, y: f(x, y, axis=0), *PAIR),
    Case(np.block, lambda f, x, y: f([[x, y], [y, x]]), *PAIR),
    Case(np.block, lambda f, x: f([x, 1]), *FLAT),
    # splitting
    Case(np.split, lambda f, x: f(x, 3), [(6, 4)], [(9, 2)], [(3, 1)], [(0, 2)]),
    Case(np.split, lambda f, x: f(x, [1, 3], axis=1), [(6, 4)], [(9, 2)], [(3, 1)], [(0, 0)]),
    Case(np.array_split, lambda f, x: f(x, 4), *FLAT, [(7,)], [(3,)]),
    Case(np.array_split, lambda f, x: f(x, [2, 1, -1]), *FLAT),
    Case(np.hsplit, lambda f, x: f(x, 2), [(6, 4)], [(9, 2)], [(3, 0)]),
    Case(np.vsplit, lambda f, x: f(x, [2]), *TALL),
    Case(np.unstack, lambda f, x: f(x), [(2, 3)], [(2, 5)], [(2, 0)]),
    # repeating
    Case(np.tile, lambda f, x: f(x, 2), *THREE),
    Case(np.tile, lambda f, x: f(x, (2, 1, 3, 2)), *THREE),
    Case(np.tile, lambda f, x: f(x, (2, x.shape[0])), *FLAT),
    Case(np.repeat, lambda f, x: f(x, 3), *THREE),
    Case(np.repeat, lambda f, x: f(x, 2, axis=1), *THREE),
    Case(np.repeat, lambda f, x: f(x, [2, 0, 1], axis=0), [(3, 2)], [(3, 4)], [(3, 0)]),
    Case(
        np.repeat,
        lambda f, x, r: f(x, r, 0),
        [(3, 2), np.array([1, 0, 2])],
        [(4, 3), np.array([2, 2, 0, 1])],
        [(0, 3), np.zeros(0, int)],
        [(2, 3), np.zeros(2, int)],
    ),
    Case(np.roll, lambda f, x: f(x, 2), *THREE),
    Case(np.roll, lambda f, x: f(x, -3, axis=1), *THREE),
    Case(np.roll, lambda f, x: f(x, (1, 7), axis=(0, 2)), *THREE),
    Case(np.roll, lambda f, x, s: f(x, s, axis=0), [(3,), np.array(2)], [(5,), np.array(-7)]),
    Case(np.resize, lambda f, x: f(x, (3, 5)), *FLAT),
    Case(np.resize, lambda f, x: f(x, 4), *FLAT),
    # padding
    Case(np.pad, lambda f, x: f(x, 2), *THREE),
    Case(np.pad, lambda f, x: f(x, ((1, 2), (0, 3))), [(4, 6)], [(2, 1)], [(0, 3)]),
    Case(np.pad, lambda f, x: f(x, (1, 2), constant_values=7), *FLAT),
    Case(np.pad, lambda f, x: f(x, (1, 2), constant_values=(5, 6)), *FLAT),
    *(
        Case(
            np.pad,
            lambda f, x, m=m: f(x, ((5, 3), (1, 9)), mode=m),
            [(4, 6)],
            [(3, 2)],
            [(1, 1)],
        )
        for m in ("edge", "reflect", "symmetric", "wrap")
    ),
    # inserting and deleting
    Case(np.delete, lambda f, x: f(x, 1), [(6,)], [(2,)]),
    Case(np.delete, lambda f, x: f(x, -1, axis=1), [(2, 3)], [(4, 1)]),
    Case(np.delete, lambda f, x: f(x, [0, 2], axis=0), [(4, 3)], [(3, 2)]),
    Case(np.delete, lambda f, x: f(x, slice(None, None, 2)), *FLAT),
    Case(np.insert, lambda f, x: f(x, 1, 9), [(6,)], [(1,)]),
    Case(np.insert, lambda f, x: f(x, 1, [8, 9]), [(6,)], [(1,)]),
    Case(np.insert, lambda f, x: f(x, 1, [8, 9, 7], axis=1), [(3, 2)], [(3, 5)]),
    Case(np.insert, lambda f, x: f(x, [1, 0, 1], [7, 8, 9]), [(6,)], [(1,)]),
    # sizes
    Case(np.shape, lambda f, x: f(x), *THREE),
    Case(np.size, lambda f, x: f(x), *THREE),
    Case(np.size, lambda f, x: f(x, 1), *THREE),
]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_equals_numpy(case: Case, opset: int) -> None:
    check(case, opset)


DTYPES = ("?", "i1", "u2", "i8", "u8", "f2", "f8", "U2")
MOVERS = [
    Case(np.reshape, lambda f, x: f(x, (x.shape[0] * x.shape[1], x.shape[2])), *THREE),
    Case(np.transpose, lambda f, x: f(x), *THREE),
    Case(np.flip, lambda f, x: f(x), *THREE),
    Case(np.broadcast_to, lambda f, x: f(x, (3, *x.shape)), *THREE),
    Case(np.concatenate, lambda f, x, y: f([x, y]), *PAIR),
    Case(np.repeat, lambda f, x: f(x, 2, axis=1), *THREE),
    Case(np.roll, lambda f, x: f(x, 2), *THREE),
    Case(np.tile, lambda f, x: f(x, 2), *THREE),
    Case(np.pad, lambda f, x: f(x, 2, mode="edge"), [(3,)], [(1,)]),
]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("case", MOVERS, ids=lambda c: c.id)
def test_every_dtype(case: Case, opset: int) -> None:
    check(case, opset, DTYPES)


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_constant_padding(dtype: str) -> None:
    check(Case(np.pad, lambda f, x: f(x, 2), *THREE), 18, [dtype])


ERRORS: list[tuple[Any, Any]] = [
    (np.reshape, lambda f, x: f(x, (5, -1))),
    (np.reshape, lambda f, x: f(x, (4,))),
    (np.reshape, lambda f, x: f(x, (-1, -1))),
    (np.transpose, lambda f, x: f(x, (0,))),
    (np.transpose, lambda f, x: f(x, (0, 0))),
    (np.swapaxes, lambda f, x: f(x, 0, 2)),
    (np.moveaxis, lambda f, x: f(x, 0, (0, 1))),
    (np.expand_dims, lambda f, x: f(x, 5)),
    (np.squeeze, lambda f, x: f(x, 0)),
    (np.broadcast_to, lambda f, x: f(x, (5, 5))),
    (np.broadcast_to, lambda f, x: f(x, (3,))),
    (np.concatenate, lambda f, x: f([x, np.zeros(3)])),
    (np.concatenate, lambda f, x: f([x, np.zeros((2, 4))])),
    (np.concatenate, lambda f, x: f([x][:0])),
    (np.concatenate, lambda f, x: f([x, x], axis=2)),
    (np.concatenate, lambda f, x: f([x, x], dtype="i4")),
    (np.stack, lambda f, x: f([x, np.zeros((1, 3))])),
    (np.split, lambda f, x: f(x, 4)),
    (np.repeat, lambda f, x: f(x, -1)),
    (np.delete, lambda f, x: f(x, 9)),
]


@pytest.mark.parametrize(("numpy", "body"), ERRORS)
def test_errors_are_numpys(numpy: Any, body: Any) -> None:
    check_error(numpy, body, np.zeros((2, 3), "f4"))


def test_constants_of_pad_wrap_as_arrays_do():
    x = np.arange(3, dtype=np.uint8)
    for fills in (-1, 300, (-1, 7), 2.9):
        got = jit_onnx(lambda a, f=fills: np.pad(a, (2, 1), constant_values=f))(x)
        np.testing.assert_array_equal(
            got, np.pad(x, (2, 1), constant_values=fills), strict=True
        )
