# SPDX-License-Identifier: Apache-2.0
"""Methods of ufuncs, running sums and differences against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._ops.reduceat import ufunc_reduceat
from onnxjit._ops.table import UFUNCS
from onnxjit._ops.ufunc_methods import (
    REDUCTIONS,
    ufunc_accumulate,
    ufunc_outer,
    ufunc_reduce,
)
from tests.ops.harness import run
from tests.ops.reduce_check import DTYPES, RTOL, compare, data, ours

NATIVE = tuple(REDUCTIONS)
TWO: tuple[np.ufunc, ...] = (np.add, np.maximum)
THREE: tuple[np.ufunc, ...] = (np.add, np.multiply, np.less)
RUNNING: tuple[Any, ...] = (np.cumsum, np.cumprod, np.nancumsum)
CUMULATIVE: tuple[Any, ...] = (np.cumulative_sum, np.cumulative_prod)


def rounding(ufunc: np.ufunc, dtype: str) -> float:
    return RTOL.get(dtype, 0) if ufunc in (np.add, np.multiply) else 0


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("ufunc", NATIVE, ids=lambda u: u.__name__)
def test_native(ufunc, opset):
    for dtype in DTYPES:
        if dtype[0] == "f" and "bitwise" in ufunc.__name__:
            continue
        x = data(dtype, (4, 5), nan=ufunc not in (np.add, np.multiply))
        rtol = rounding(ufunc, dtype)
        for symbolic in (True, False):
            how = {"opset": opset, "symbolic": symbolic, "rtol": rtol}
            compare(lambda v: ufunc_reduce(ufunc, v), ufunc.reduce, x, **how)
            if dtype == "?" or not ufunc.__name__.startswith("logical"):
                compare(
                    lambda v: ufunc_accumulate(ufunc, v, 1),
                    lambda v: ufunc.accumulate(v, 1),
                    x,
                    **how,
                )


@pytest.mark.parametrize("ufunc", [np.subtract, np.hypot, np.gcd], ids=lambda u: u.__name__)
@pytest.mark.parametrize("opset", [13, 28])
def test_in_order(ufunc, opset):
    """Ufuncs without a reduction of their own go element by element."""
    row = UFUNCS[ufunc]
    dtype = "i4" if ufunc is np.gcd else "f8"
    sizes = [(1, 3), (4, 1), (2, 30)]
    x = np.abs(data(dtype, (3, 5), nan=False)) % 50 + 1
    feeds = [[np.abs(data(dtype, s, nan=False)) % 50 + 1] for s in sizes]
    compare(
        lambda v: ufunc_reduce(row, v, 1),
        lambda v: ufunc.reduce(v, 1),
        x,
        feeds=feeds,
        opset=opset,
        rtol=1e-12,
    )
    compare(
        lambda v: ufunc_accumulate(row, v, 1),
        lambda v: ufunc.accumulate(v, 1),
        x,
        feeds=feeds,
        opset=opset,
        rtol=1e-12,
    )
    for length in (1, 5, 40):
        y = x[:, :1].repeat(length, 1)
        compare(
            lambda v: ufunc_reduce(row, v, 1),
            lambda v: ufunc.reduce(v, 1),
            y,
            opset=opset,
            symbolic=False,
            rtol=1e-12,
        )


def test_outer_and_reduceat():
    x, y = data("f8", (3,), nan=False), data("f4", (2, 4), nan=False)
    for ufunc in THREE:
        compare(lambda a, b, u=ufunc: ufunc_outer(UFUNCS[u], a, b), ufunc.outer, x, y)
    z = data("f8", (7, 2), nan=False)
    places = [0, 4, 1, 6]
    for ufunc in TWO:
        compare(
            lambda v, u=ufunc: ufunc_reduceat(UFUNCS[u], v, places),
            lambda v, u=ufunc: u.reduceat(v, places),
            z,
            symbolic=False,
            rtol=1e-13,
        )
    with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
        run(lambda v: ufunc_accumulate(np.add, v), np.float64(1))


@pytest.mark.parametrize("opset", [13, 28])
def test_running_sums(opset):
    for dtype in DTYPES:
        rtol = RTOL.get(dtype, 0)
        for shape in ((4, 5), (1,), (0,), ()):
            x = data(dtype, shape, nan=False)
            for f in RUNNING:
                for axis in (None, 0, 1)[: 1 + len(shape)]:
                    compare(
                        lambda v, f=f, a=axis: ours(f)(v, axis=a),
                        lambda v, f=f, a=axis: f(v, axis=a),
                        x,
                        opset=opset,
                        rtol=rtol,
                    )
        for f in CUMULATIVE:
            compare(
                lambda v, f=f: ours(f)(v, include_initial=True),
                lambda v, f=f: f(v, include_initial=True),
                data(dtype, (4,), nan=False),
                opset=opset,
                rtol=rtol,
            )
    x = data("f8", (3, 4), nan=False)
    feeds = [[data("f8", s, nan=False)] for s in ((2, 0), (1, 9), (5, 1))]
    for f in RUNNING[:2]:
        compare(
            lambda v, f=f: ours(f)(v, axis=1),
            lambda v, f=f: f(v, axis=1),
            x,
            feeds=feeds,
            opset=opset,
            rtol=1e-14,
        )


def test_differences():
    for dtype in DTYPES:
        x = data(dtype, (4, 5), nan=False)
        for kw in (
            {},
            {"n": 2, "axis": 0},
            {"axis": 0, "prepend": 0},
            {"append": x},
            {"n": 0},
        ):
            compare(
                lambda v, kw=kw: ours(np.diff)(v, **kw), lambda v, kw=kw: np.diff(v, **kw), x
            )
        if dtype != "?":
            compare(ours(np.ediff1d), np.ediff1d, x)
            ends = {"to_begin": x.dtype.type(1), "to_end": x[0]}
            compare(
                lambda v, e=ends: ours(np.ediff1d)(v, **e),
                lambda v, e=ends: np.ediff1d(v, **e),
                x,
            )
        if dtype not in ("?", "f2"):
            compare(
                lambda v: ours(np.trapezoid)(v, axis=0),
                lambda v: np.trapezoid(v, axis=0),
                x,
                rtol=1e-5,
            )
    x = data("f8", (5,), nan=False)
    feeds = [[data("f8", (n,), nan=False)] for n in (0, 1, 9)]
    compare(ours(np.diff), np.diff, x, feeds=feeds)


LISTS = {
    "largest": lambda x, y: np.maximum.reduce([x, y, x * y]),
    "all conditions": lambda x, y: np.logical_and.reduce((x > 0, y > 0, x < 2)),
    "any condition of a row": lambda x, y: np.logical_or.reduce([x > 1, y > 1], axis=2),
    "in order": lambda x, y: np.hypot.reduce([x, y], keepdims=True),
    "sums so far": lambda x, y: np.add.accumulate([x, y]),
    "of elements": lambda x, y: np.minimum.reduce([x[0, 0], 0.25, y.max()]),
    "between places": lambda x, y: np.add.reduceat([x[0, 0], y[0, 0], 3], [0, 1]),
    "outer": lambda x, y: np.multiply.outer([x[0, 0], 2], y),
    "a name for it": lambda x, y: [f([x, y], axis=0) for f in (np.add.reduce, np.fmin.reduce)],
    "into an array": lambda x, y: np.add.reduce([x, y], 0, None, x),
    "of no traced array": lambda x, y: np.add.reduce([1, 2]) + x - y,
}


@pytest.mark.parametrize("dtype", ["f8", "i4"])
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_arrays(name, dtype):
    call = LISTS[name]
    x, y = ((np.random.default_rng(i).normal(size=(3, 2)) * 3).astype(dtype) for i in (1, 2))
    want, got = call(x.copy(), y), jit_onnx(call, fallback="error")(x.copy(), y)
    for a, b in zip(*((v if isinstance(v, list) else [v]) for v in (want, got)), strict=True):
        assert a.dtype == b.dtype
        assert np.allclose(a, b, rtol=1e-12)


def test_lists_that_do_not_fit_are_numpys_error():
    for call in lambda x: np.add.reduce([x, x[0]]), lambda x: np.maximum.reduce([x[:0, 0]], 1):
        with pytest.raises(ValueError, match=r"inhomogeneous|zero-size"):
            jit_onnx(call)(np.ones((2, 3)))
