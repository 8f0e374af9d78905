# SPDX-License-Identifier: Apache-2.0
"""Creation, grids, diagonals, and functions that read or write at places against NumPy."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit._core.dtypes import INT32
from onnxjit._ops.cast import cast
from onnxjit._ops.convert import as_array, as_shape
from onnxjit._ops.table import FUNCTIONS
from onnxjit.errors import DataDependentError
from tests.ops.harness import run, trace
from tests.ops.row_cases import Case, check, check_error, ours, same

if TYPE_CHECKING:
    from onnxjit._core.program import Value

OPSETS = (13, 18, 28)
VECTOR = ([(6,)], [(9,)], [(1,)], [(0,)])
MATRIX = ([(4, 6)], [(5, 3)], [(1, 1)], [(0, 6)], [(2, 0)])
SQUARE = ([(4, 4)], [(5, 5)], [(1, 1)], [(0, 0)])

CREATED = [
    Case(np.zeros, lambda f, x: f(x.shape)),
    Case(np.ones, lambda f, x: f((x.shape[0], 2), "i4")),
    Case(np.full, lambda f, x: f((x.shape[1], 3), 2)),
    Case(np.full, lambda f, x: f((3, x.shape[1]), np.float32(2.5))),
    Case(np.full, lambda f, x: f((3, *x.shape), x)),
    Case(np.zeros_like, lambda f, x: f(x)),
    Case(np.ones_like, lambda f, x: f(x, dtype="?")),
    Case(np.full_like, lambda f, x: f(x, 7)),
    Case(np.full_like, lambda f, x: f(x, 7, shape=(x.shape[1], 2))),
    Case(np.eye, lambda f, x: f(x.shape[0])),
    *(
        Case(np.eye, lambda f, x, k=k: f(x.shape[0], x.shape[1], k, "i4"))
        for k in (-2, 0, 1, 9)
    ),
    Case(np.identity, lambda f, x: f(x.shape[0])),
    Case(np.tri, lambda f, x: f(x.shape[0], x.shape[1], -1)),
    Case(np.arange, lambda f, x: f(x.shape[0]), *VECTOR),
    Case(np.arange, lambda f, x: f(2, x.shape[0]), *VECTOR),
    Case(np.arange, lambda f, x: f(2, x.shape[0] * 3, 4), *VECTOR),
    Case(np.arange, lambda f, x: f(x.shape[0], -3, -2), *VECTOR),
    Case(np.arange, lambda f, x: f(x.shape[0], dtype="f4"), *VECTOR),
    Case(np.arange, lambda f, x: f(0.1, x.shape[0], 0.3), *VECTOR),
    Case(np.arange, lambda f, x: f(1, x.shape[0], 0.7, dtype="f4"), *VECTOR),
    Case(np.arange, lambda f, x: f(x.shape[0], 0, -0.4), *VECTOR),
    Case(np.arange, lambda f, n: f(n), [np.array(5)], [np.array(3)], [np.array(-2)]),
    Case(np.arange, lambda f, a, b: f(a, b), [np.array(1.5), np.array(7.2)]),
    Case(np.linspace, lambda f, x: f(0, 1, x.shape[0]), *VECTOR, dynamic=False),
    Case(np.linspace, lambda f, x: f(-1, 2.5, x.shape[0], endpoint=False), *VECTOR),
    Case(np.linspace, lambda f, x: f(0, 10, x.shape[0], dtype=int), *VECTOR, dynamic=False),
    Case(np.linspace, lambda f, x: f(0, 10, x.shape[0], retstep=True), *VECTOR[:2]),
    Case(np.linspace, lambda f, x, y: f(x, y, 5), [(3,), (3,)], [(2,), (2,)], [(0,), (0,)]),
    Case(np.linspace, lambda f, x: f(x, 3, 4, axis=-1), *MATRIX),
    Case(np.array, lambda f, x: f(x), *MATRIX),
    Case(np.array, lambda f, x: f([x, x]), *MATRIX),
    Case(np.array, lambda f, x: f([x.shape[0], 1, x.shape[1]]), *MATRIX),
    Case(np.array, lambda f, x: f([[1, 2.5], [x.shape[0], 3]]), *MATRIX),
    Case(np.array, lambda f, x: f(x, dtype="i8", ndmin=3), *MATRIX),
    Case(np.array, lambda f, a, b: f([a, 1, 2, b]), [np.array(2.5, "f4"), np.array(3)]),
    Case(np.array, lambda f, a: f([[a, 1], [2, 3]]), [np.array(1.5, "f4")]),
    Case(np.asarray, lambda f, x: f(x, "f8"), *MATRIX),
    Case(np.copy, lambda f, x: f(x), *MATRIX),
    Case(np.meshgrid, lambda f, x, y: f(x, y), [(3,), (4,)], [(2,), (5,)], [(0,), (2,)]),
    Case(np.meshgrid, lambda f, x, y: f(x, y, x, indexing="ij"), [(3,), (4,)], [(2,), (5,)]),
    Case(np.meshgrid, lambda f, x, y: f(x, y, sparse=True), [(3,), (4,)], [(2,), (5,)]),
    Case(np.indices, lambda f, x: f(x.shape), *MATRIX),
    Case(np.indices, lambda f, x: f(x.shape, sparse=True), *MATRIX),
    Case(np.ix_, lambda f, x, y: f(x, y), [np.array([1, 2]), np.array([0])]),
    Case(np.ix_, lambda f, x: f(x, [1, 2]), [np.array([True, False, True])]),
    Case(np.diag_indices, lambda f, x: f(x.shape[0], 3), *VECTOR),
    Case(np.tril_indices, lambda f, x: f(x.shape[0], 1, x.shape[1]), *MATRIX),
    Case(np.triu_indices_from, lambda f, x: f(x, -1), *MATRIX),
    Case(
        np.unravel_index,
        lambda f, i, x: f(i, x.shape),
        [np.array([[3, 5], [0, 1]]), (4, 6)],
        [np.array([[1, 11]]), (3, 5)],
    ),
    Case(
        np.ravel_multi_index,
        lambda f, i, j, x: f((i, j), x.shape, mode=("wrap", "clip"), order="F"),
        [np.array([3, -1]), np.array([0, 9]), (4, 6)],
        [np.array([3, -1, 7]), np.array([0, 9, 2]), (3, 5)],
    ),
]
DIAGONALS = [
    *(Case(np.diag, lambda f, x, k=k: f(x, k), *VECTOR) for k in (-2, 0, 3)),
    *(Case(np.diag, lambda f, x, k=k: f(x, k), *MATRIX) for k in (-2, 0, 3)),
    Case(np.diagflat, lambda f, x: f(x, 1), *MATRIX),
    Case(np.diagonal, lambda f, x: f(x, 1, 0, 2), [(2, 3, 4)], [(5, 2, 3)]),
    Case(np.diagonal, lambda f, x: f(x, -1, -1, 0), [(2, 3, 4)], [(5, 2, 3)]),
    Case(np.trace, lambda f, x: f(x), *MATRIX),
    Case(np.trace, lambda f, x: f(x, 1, 1, 2), [(2, 3, 4)], [(5, 2, 3)]),
    *(Case(np.tril, lambda f, x, k=k: f(x, k), *MATRIX) for k in (-2, 0, 3)),
    *(Case(np.triu, lambda f, x, k=k: f(x, k), *MATRIX) for k in (-2, 0, 3)),
    Case(np.tril, lambda f, x: f(x), *VECTOR),
    Case(np.triu, lambda f, x: f(x, 1), [(2, 3, 4)], [(5, 2, 3)], [(0, 2, 2)]),
]
PLACES = [
    Case(np.take, lambda f, x: f(x, [0, -1, 3]), *MATRIX[:3]),
    Case(np.take, lambda f, x: f(x, [[0, 1], [1, 2]], axis=1), *MATRIX[:2]),
    Case(np.take, lambda f, x: f(x, [0, 9, -9], axis=1, mode="clip"), *MATRIX[:4]),
    Case(np.take, lambda f, x: f(x, [0, 9, -9], axis=0, mode="wrap"), *MATRIX[:3]),
    Case(np.take, lambda f, x: f(x, 1, axis=0), *MATRIX[:2]),
    Case(
        np.take_along_axis,
        lambda f, x, i: f(x, i, 1),
        [(3, 4), np.array([[1, -1], [0, 2], [3, 3]])],
        [(2, 3), np.array([[1], [2]])],
    ),
    Case(np.take_along_axis, lambda f, x: f(x, np.array([[1, 0]]), 1), *MATRIX[:2]),
    Case(np.take_along_axis, lambda f, x: f(x, np.array([1, 0]), None), *MATRIX[:2]),
    Case(
        np.compress,
        lambda f, c, x: f(c, x, axis=0),
        [np.array([True, False, True]), (3, 2)],
        [np.array([False, False]), (4, 2)],
    ),
    Case(
        np.compress,
        lambda f, c, x: f(c, x),
        [np.array([True, False, True]), (3, 2)],
        [np.array([False, False, True]), (4, 2)],
    ),
    Case(
        np.extract,
        lambda f, c, x: f(c, x),
        [np.array([[1, 0], [0, 2]]), (2, 2)],
        [np.array([[1, 0, 3]]), (1, 3)],
    ),
]


def written(numpy: Any, body: Any) -> Any:
    """Return a body that gives the array after a write: NumPy's in place, ours returned."""

    def call(f: Any, x: Any, *rest: Any) -> Any:
        if f is numpy:
            x = x.copy()
            body(f, x, *rest)
            return x
        return body(f, x, *rest)

    return call


def wrote(numpy: Any, body: Any, *shapes: Any, **options: Any) -> Case:
    case = Case(numpy, written(numpy, body), *shapes, **options)
    case.source = inspect.getsource(body)
    return case


WRITTEN = [
    wrote(
        np.fill_diagonal,
        lambda f, x: f(x, 7),
        [(4, 6)],
        [(6, 4)],
        [(5, 5)],
        [(1, 1)],
        [(2, 7)],
    ),
    wrote(
        np.fill_diagonal, lambda f, x: f(x, [1, 2], wrap=True), [(7, 3)], [(9, 2)], [(5, 3)]
    ),
    wrote(np.fill_diagonal, lambda f, x: f(x, 7), [(3, 3, 3)], [(2, 2, 2)]),
    wrote(np.put, lambda f, x: f(x, [0, -1, 3], [8, 9]), *MATRIX[:2]),
    wrote(np.put, lambda f, x: f(x, [0, 99, 3], 5, mode="clip"), *MATRIX[:2]),
    wrote(np.put_along_axis, lambda f, x: f(x, np.array([[1]]), 9, 1), [(3, 4)], [(5, 2)]),
    wrote(
        np.put_along_axis,
        lambda f, x, i: f(x, i, 9, 0),
        [(3, 4), np.array([[1, 2, 0, 0]])],
        [(2, 3), np.array([[1, 0, -1], [0, 0, 1]])],
    ),
    wrote(
        np.putmask, lambda f, x: f(x, np.arange(24).reshape(4, 6) % 3 == 0, [5, 6]), [(4, 6)]
    ),
    wrote(np.putmask, lambda f, x, m: f(x, m, 3), [(4, 6), (4, 6)], [(2, 3), (2, 3)]),
    wrote(np.place, lambda f, x, m: f(x, m, [5, 6, 7]), [(4, 6), (4, 6)], [(2, 3), (2, 3)]),
    wrote(np.copyto, lambda f, x, y: f(x, y), [(4, 6), (6,)], [(2, 3), (3,)], [(0, 3), (3,)]),
    wrote(np.copyto, lambda f, x: f(x, 3, where=np.arange(6) > 2), [(4, 6)], [(2, 6)]),
]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("case", [*CREATED, *DIAGONALS, *PLACES, *WRITTEN], ids=lambda c: c.id)
def test_equals_numpy(case: Case, opset: int) -> None:
    check(case, opset)


@pytest.mark.parametrize("case", [*DIAGONALS, *PLACES, *WRITTEN], ids=lambda c: c.id)
def test_dtypes(case: Case) -> None:
    trace_like = case.numpy is np.trace
    check(case, 13, ("i4",) if trace_like else ("?", "i2", "u8", "f8", "f2"))


ERRORS: list[tuple[Any, Any]] = [
    (np.zeros, lambda f, x: f((-1, x.shape[0]))),
    (np.arange, lambda f, x: f(0, x.shape[0], 0)),
    (np.linspace, lambda f, x: f(0, x, -1)),
    (np.array, lambda f, x: f([x, [1, 2]])),
    (np.take, lambda f, x: f(x, np.array([1.5]))),
    (np.take_along_axis, lambda f, x: f(x, np.array([1]), 0)),
    (np.diag, lambda f, x: f(np.zeros((*x.shape, 1)))),
    (np.copyto, lambda f, x: f(x.astype("i4") if f is np.copyto else cast(x, INT32), 2.5)),
    (np.diagonal, lambda f, x: f(x, 0, 1, 1)),
]


@pytest.mark.parametrize(("numpy", "body"), ERRORS)
def test_errors_are_numpys(numpy: Any, body: Any) -> None:
    check_error(numpy, body, np.zeros((2, 3), "f4"))


def test_shapes_of_data_are_refused() -> None:
    with pytest.raises(DataDependentError):
        trace(ours(np.zeros), np.array(3))
    with pytest.raises(DataDependentError):
        trace(ours(np.zeros), np.array([3, 4]))


def test_known_values_are_shapes() -> None:
    def body(x: Value) -> Value:
        assert as_shape(as_array(np.array([2, 3]))) == (2, 3)
        assert as_shape(as_array([x.shape[0], 2]))[0] is x.shape[0]
        return x

    trace(body, np.zeros(3))


def test_static_creation_is_known() -> None:
    def body(x: Value) -> Value:
        made = FUNCTIONS[np.zeros].implementation((2, 3))
        assert made.known is not None
        return x

    same(run(body, np.zeros(3))[0], np.zeros(3))
