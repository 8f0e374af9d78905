# SPDX-License-Identifier: Apache-2.0
"""Rows against NumPy, sample by sample: type, dtype, shape and value.

One item per row.  What rules a call is lowered with is known from its recorded program; the
quick items run each program at one opset, in turn those that make different graphs of it, the
slow ones at every opset.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import pytest

from onnxjit._lower.opsets import supported
from onnxjit._ops.row import Function, Sample
from onnxjit._ops.table import rows
from tests.ops.row_check import is_data, numpy_result, run_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._ops.row import Ufunc

ROWS = rows()


def name_of(row: Function | Ufunc) -> str:
    """Return the name of a row in tests."""
    module = getattr(row.numpy, "__module__", None) or "numpy"
    return f"{module}.{row.numpy.__name__}".removeprefix("numpy.")


def _samples(row: Function | Ufunc) -> list[Sample]:
    assert row.samples is not None, "the row states no samples"
    return list(row.samples())


#: dtypes whose samples wait for the slow items: the detours of their neighbours are theirs
LATER: Final = ("i1-", "i4-", "u2-", "u4-", "c8-")


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_samples(row: Function | Ufunc) -> None:
    samples = _samples(row)
    if isinstance(row, Function):
        samples = [s for s in samples if not s.id.startswith(LATER)]
    run_samples(row, samples)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_samples_at_every_opset(row: Function | Ufunc) -> None:
    run_samples(row, _samples(row), lambda _: supported())


def _with_numbers(row: Function | Ufunc) -> Iterator[Sample]:
    """Yield samples with Python numbers in the places of arrays, where NumPy takes them."""
    for sample in _samples(row):
        if not sample.id.startswith(("u1-", "f4-", "i2-")):
            continue
        for place, number in itertools.product(range(len(sample.args)), (1, 2.5, True)):
            args = list(sample.args)
            was, args[place] = args[place], number
            if not is_data(was) or not any(map(is_data, args)):
                continue
            changed = Sample(*args, id=f"{sample.id} {place}={number}", **sample.kwargs)
            if not isinstance(numpy_result(row, changed)[0], Exception):
                yield changed


FUNCTIONS = [row for row in ROWS if isinstance(row, Function) and row.writes is None]
#: which take a float for a count, as NumPy's C code truncates it
TRUNCATES: Final = {"repeat", "roll"}


@pytest.mark.parametrize("row", FUNCTIONS, ids=name_of)
def test_numbers_in_the_places_of_arrays(row: Function) -> None:
    samples = _with_numbers(row)
    if name_of(row) in TRUNCATES:
        samples = (s for s in samples if "=2.5" not in s.id)
    run_samples(row, samples)
