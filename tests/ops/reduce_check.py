# SPDX-License-Identifier: Apache-2.0
"""Data for the tests of reductions, sorting and products, and a comparison with NumPy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._engine.compile import compile_program
from onnxjit._ops.table import FUNCTIONS, UFUNCS
from onnxjit._ops.ufunc import ufunc_call
from tests.ops.harness import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onnxjit._ops.row import Ufunc

__all__ = ["DTYPES", "FLOATS", "INTS", "OPSETS", "agree", "compare", "data", "ours"]

Array = np.ndarray[Any, Any]

INTS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f2", "f4", "f8")
DTYPES = ("?", *INTS, *FLOATS)
OPSETS = (13, 18, 28)
#: relative error of sums and products
RTOL = {"f2": 1e-2, "f4": 2e-6, "f8": 1e-13}


def data(dtype: str, shape: tuple[int, ...], *, nan: bool = True, seed: int = 0) -> Array:
    """Return full-range integers, or normal floats with a NaN that is not the first."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.4
    if kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        if x.size > 4:  # ties, and both ends of the range
            x.flat[1], x.flat[2], x.flat[4] = info.min, info.max, x.flat[0]
        return x
    x = rng.normal(size=shape).astype(dtype)
    if nan and x.size > 4:
        x.flat[1], x.flat[2], x.flat[x.size // 2] = -np.inf, -0.0, np.nan
    return x


def ours(numpy: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a row does, as a function of values."""
    if isinstance(numpy, np.ufunc):
        row: Ufunc = UFUNCS[numpy]
        return lambda *args, **kwargs: ufunc_call(row, args, **kwargs)
    return FUNCTIONS[numpy].implementation


def _flat(x: Any) -> Iterator[Any]:
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from _flat(item)
    else:
        yield x


def agree(got: Any, want: Any, rtol: float = 0, *, signs: bool = True) -> None:
    """Assert equal dtype, shape and values; NaN and the sign of zero count."""
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if rtol and want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * 1e-2)
        return
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f" and signs:
        np.testing.assert_array_equal(
            np.signbit(got) | np.isnan(got), np.signbit(want) | np.isnan(want)
        )


def compare(
    function: Callable[..., Any],
    numpy: Callable[..., Any],
    *arrays: Any,
    feeds: Sequence[Sequence[Any]] = (),
    opset: int | None = None,
    symbolic: bool = True,
    rtol: float = 0,
    signs: bool = True,
) -> None:
    """Assert that a function of values gives NumPy's results, also for other arrays.

    With `feeds`, the graph must hold for every size that NumPy takes: the only guards are that
    what has no identity is not empty.
    """
    program = trace(function, *arrays, symbolic=symbolic)
    if feeds:
        assert all(guard.kind == "ge" for guard in program.block.trace.env.guards)
    ready = compile_program(program, opset=opset)
    for inputs in (arrays, *feeds):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = list(_flat(numpy(*inputs)))
        got = list(ready.results([np.asarray(x) for x in inputs]))
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(np.asarray(g), w, rtol, signs=signs)
