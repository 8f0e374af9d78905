# SPDX-License-Identifier: Apache-2.0
"""Ufunc rows over whole dtypes: promotion of all pairs, and every value of the small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import Trace, tracing
from onnxjit._core.dims import ShapeEnv
from onnxjit._core.dtypes import from_numpy
from onnxjit._ops.row import Sample, Ufunc
from onnxjit._ops.samples import DTYPES, loops
from onnxjit._ops.table import UFUNCS
from onnxjit._ops.ufunc import ufunc_call
from tests.ops.row_check import run_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = np.ndarray[Any, Any]
#: ufuncs of elements; those of vectors and matrices are in `test_product.py`
ROWS = [row for row in UFUNCS.values() if row.numpy.signature is None]
UNARY = [row for row in ROWS if row.numpy.nin == 1]
BINARY = [row for row in ROWS if row.numpy.nin == 2]
BYTES = ("i1", "u1")


def name_of(row: Ufunc) -> str:
    """Return the name of a row in tests."""
    return row.numpy.__name__


def _numpys(ufunc: np.ufunc, *dtypes: str) -> Any:
    """Return the dtypes of NumPy's results, or its exception."""
    try:
        with np.errstate(all="ignore"):
            results = ufunc(*(np.ones(1, t) for t in dtypes))
    except TypeError as error:
        return type(error)
    return [r.dtype for r in (results if isinstance(results, tuple) else (results,))]


def _ours(row: Ufunc, *dtypes: str) -> Any:
    trace = Trace(ShapeEnv())
    with tracing(trace):
        values = [trace.input(Tensor(from_numpy(np.dtype(t)), (1,)), t) for t in dtypes]
        try:
            results = ufunc_call(row, values)
        except TypeError as error:
            return type(error)
        return [r.dtype.numpy for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("row", BINARY, ids=name_of)
def test_dtypes_of_all_pairs(row: Ufunc) -> None:
    for first in DTYPES:
        for second in DTYPES:
            want, got = _numpys(row.numpy, first, second), _ours(row, first, second)
            if want != got:
                assert isinstance(want, type), (first, second, want, got)
                assert isinstance(got, type), (first, second, want, got)
                assert issubclass(got, want) or issubclass(want, got), (first, second)


@pytest.mark.parametrize("row", UNARY, ids=name_of)
def test_dtypes_of_all_operands(row: Ufunc) -> None:
    for dtype in DTYPES:
        want, got = _numpys(row.numpy, dtype), _ours(row, dtype)
        assert isinstance(want, type) == isinstance(got, type), (dtype, want, got)
        assert isinstance(want, type) or want == got, (dtype, want, got)


def _every(dtype: str) -> Array:
    return np.arange(2 ** (8 * np.dtype(dtype).itemsize)).astype(f"u{dtype[1:]}").view(dtype)


def _values(row: Ufunc) -> Iterator[Sample]:
    """Yield every value of float16 and of bytes, all pairs of bytes."""
    own = loops(row.numpy)
    for dtype in ("f2", *BYTES) if row.numpy.nin == 1 else BYTES:
        key = (dtype,) * row.numpy.nin
        if key not in own:
            continue
        every = _every(dtype)
        args = [a.ravel() for a in np.meshgrid(*[every] * len(key), indexing="ij")]
        if row.numpy is np.power and dtype == "i1":
            args = [a[args[1] >= 0] for a in args]
        yield Sample(*args, id=f"every {dtype}")


@pytest.mark.parametrize("row", [*UNARY, *BINARY], ids=name_of)
def test_every_small_value(row: Ufunc) -> None:
    run_samples(row, _values(row), together=1)


#: the sign of a NaN can be read from opset 26 on
FIRST_OPSETS: dict[Any, int] = {np.signbit: 26}


@pytest.mark.slow
@pytest.mark.parametrize("row", [*UNARY, *BINARY], ids=name_of)
def test_every_small_value_at_some_opsets(row: Ufunc) -> None:
    first = FIRST_OPSETS.get(row.numpy, 13)
    opsets = [n for n in (13, 14, 18, 21, 26, 28) if n >= first]
    run_samples(row, _values(row), lambda _: opsets, together=1)
