# SPDX-License-Identifier: Apache-2.0
"""A second eager call finds the program of the first, and has the same result."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import onnxjit
from onnxjit._eager import quick
from onnxjit._eager.leaves import map_tree
from onnxjit._ops.table import rows
from onnxjit._trace.array import Array
from tests.jit.outcome import memory_differences
from tests.ops.test_rows import name_of

if TYPE_CHECKING:
    from onnxjit._ops.row import Function, Sample, Ufunc

DTYPES = ("f4-", "c16-")


def _wrapped(x: Any, _top: bool) -> Any:
    return onnxjit.asarray(x.copy("K")) if type(x) is np.ndarray else x


def _outcome(row: Function | Ufunc, sample: Sample) -> Any:
    args = [map_tree(x, _wrapped) for x in sample.args]
    kwargs = {k: map_tree(x, _wrapped) for k, x in sample.kwargs.items()}
    try:
        return row.numpy(*args, **kwargs)
    except Exception as e:  # noqa: BLE001  the second call has to raise it as well
        return type(e)


def _plain(x: Any) -> Any:
    return map_tree(x, lambda item, _: item._nd if isinstance(item, Array) else item)


def _kinds(x: Any) -> list[Any]:
    found: list[Any] = []

    def leaf(item: Any, _top: bool) -> None:
        found.append(item._kind if isinstance(item, Array) else type(item))

    map_tree(x, leaf)
    return found


@pytest.mark.parametrize("row", rows(), ids=name_of)
def test_second_calls_have_the_same_result(row: Function | Ufunc) -> None:
    assert row.samples is not None
    for sample in row.samples():
        if not sample.id.startswith(DTYPES):
            continue
        with warnings.catch_warnings(action="ignore"):
            first, second = _outcome(row, sample), _outcome(row, sample)
        if isinstance(first, type):
            assert first is second, sample.id
            continue
        assert _kinds(first) == _kinds(second), sample.id
        assert memory_differences(_plain(first), _plain(second), [], []) == [], sample.id
        assert repr(_plain(first)) == repr(_plain(second)), sample.id


def test_sums_go_the_short_way() -> None:
    x = onnxjit.asarray(np.ones((2, 3)))
    np.sum(x, axis=1)
    made = quick.quick_function(np.sum, (x,), {"axis": 1})
    assert made is not None
    assert np.asarray(made).tolist() == [3.0, 3.0]
    for options in ({"axis": True}, {"axis": 1.0}, {"axis": 0}, {"axis": 1, "keepdims": True}):
        assert quick.quick_function(np.sum, (x,), options) is None
    assert quick.quick_function(np.sum, (x[:, :1],), {"axis": 1}) is None
