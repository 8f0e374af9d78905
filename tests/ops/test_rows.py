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

#: (row, sample) -> why it does not do what NumPy does; an entry that matches nothing fails
GAPS: Final = {
    ("pad", "odd"): "pads with numbers computed from the edge",
}


def name_of(row: Function | Ufunc) -> str:
    """Return the name of a row in tests."""
    module = getattr(row.numpy, "__module__", None) or "numpy"
    return f"{module}.{row.numpy.__name__}".removeprefix("numpy.")


def _split(row: Function | Ufunc) -> tuple[list[Sample], list[Sample]]:
    """Return the samples that must agree, and one of each gap."""
    assert row.samples is not None, "the row states no samples"
    gaps: dict[str, Sample] = {}
    agree = []
    for sample in row.samples():
        what = sample.id.partition("-")[2]
        if (name_of(row), what) in GAPS:
            gaps[what] = sample
        else:
            agree.append(sample)
    return agree, list(gaps.values())


#: dtypes whose samples wait for the slow items: the detours of their neighbours are theirs
LATER: Final = ("i1-", "i4-", "u2-", "u4-", "c8-")


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_samples(row: Function | Ufunc) -> None:
    samples = _split(row)[0]
    if isinstance(row, Function):
        samples = [s for s in samples if not s.id.startswith(LATER)]
    run_samples(row, samples)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_samples_at_every_opset(row: Function | Ufunc) -> None:
    run_samples(row, _split(row)[0], lambda _: supported())


def _with_numbers(row: Function | Ufunc) -> Iterator[Sample]:
    """Yield samples with Python numbers in the places of arrays, where NumPy takes them."""
    for sample in _split(row)[0]:
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


def _gaps() -> Iterator[tuple[Function | Ufunc, Sample]]:
    for row in ROWS:
        if any(name == name_of(row) for name, _ in GAPS):
            yield from ((row, sample) for sample in _split(row)[1])


def test_gaps_are_gaps() -> None:
    left = dict(GAPS)
    for row, sample in _gaps():
        with pytest.raises(Exception):  # noqa: B017, PT011  an error or another result
            run_samples(row, [sample])
        del left[name_of(row), sample.id.partition("-")[2]]
    assert not left, "these match no sample"
