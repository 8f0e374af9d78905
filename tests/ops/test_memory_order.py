# SPDX-License-Identifier: Apache-2.0
"""Eager results of every row lie in memory as NumPy's: flags, strides, views, identity.

Each sample is called with its arrays laid out in several ways.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import onnxjit
from onnxjit._eager.leaves import map_tree
from onnxjit._ops.table import rows
from tests.jit.outcome import memory_differences
from tests.jit.program_calls import lay
from tests.ops.test_rows import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._ops.row import Function, Sample, Ufunc

#: what each array of a call lies like: the first one, the second, and so on in turn
LAYOUTS: Final = (
    ("C",), ("F",), ("transposed",), ("swapped",), ("reversed",), ("inner",), ("repeated",),
    ("F", "C", "transposed"), ("C", "F"), ("repeated", "F"),
)  # fmt: skip
#: the order in memory is one matter for all dtypes: the first of these that a row has
DTYPES: Final = ("f8", "i8", "c16", "?")
#: samples whose exceptions depend on data
DATA: Final = {("nanargmax", "1"), ("nanargmin", "1")}
#: NumPy turns the sorted values round without moving them
REVERSED: Final = {("linalg.svd", "8")}


def _calls(row: Function | Ufunc) -> Iterator[Sample]:
    assert row.samples is not None
    samples = [(*s.id.partition("-"), s) for s in row.samples()]
    prefixes = {prefix for prefix, dash, _, _ in samples if dash}
    chosen = next((d for d in DTYPES if d in prefixes), None)
    for prefix, dash, what, sample in samples:
        skipped = dash and chosen is not None and prefix != chosen
        if skipped or (name_of(row), what) in {*DATA, *REVERSED}:
            continue
        if list(_arrays(sample)):
            yield sample


def _leaves(x: Any) -> list[Any]:
    found: list[Any] = []
    map_tree(x, lambda item, _: found.append(item))
    return found


def _arrays(sample: Sample) -> Iterator[Any]:
    parts = _leaves((sample.args, sample.kwargs))
    return (x for x in parts if isinstance(x, np.ndarray))


def _made(
    sample: Sample, layouts: tuple[str, ...], wrap: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """Return fresh arguments that lie so."""
    count = 0

    def leaf(x: Any, _top: bool) -> Any:
        nonlocal count
        if not isinstance(x, np.ndarray):
            return copy.deepcopy(x)
        count += 1
        return wrap(lay(x.copy(), layouts[(count - 1) % len(layouts)]))

    made: tuple[Any, Any] = map_tree((sample.args, sample.kwargs), leaf)
    return made


def _outcome(row: Function | Ufunc, given: tuple[Any, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return row.numpy(*given[0], **given[1])
        except Exception as error:  # noqa: BLE001  compared with NumPy's
            return error


@pytest.mark.parametrize("row", rows(), ids=name_of)
def test_results_lie_as_numpys(row: Function | Ufunc) -> None:
    for sample in _calls(row):
        for layouts in LAYOUTS:
            plain = _made(sample, layouts, lambda x: x)
            eager = _made(sample, layouts, onnxjit.asarray)
            want, got = _outcome(row, plain), _outcome(row, eager)
            where = f"{sample.id} {layouts}"
            if isinstance(want, Exception) or isinstance(got, Exception):
                assert isinstance(got, type(want)), (where, repr(got), repr(want))
                continue
            found = memory_differences(got, want, _leaves(eager), _leaves(plain))
            assert not found, (where, found)


def test_empty_broadcasts_do_not_warn() -> None:
    # pytest makes errors of warnings
    narrow, empty = onnxjit.asarray(np.ones(1)), onnxjit.asarray(np.ones((0, 1)))
    assert [x.shape for x in np.broadcast_arrays(narrow, empty)] == [(0, 1), (0, 1)]
