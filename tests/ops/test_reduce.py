# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy: dtypes, axes, empty and 0-d arrays, exactness, long sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import float32, jit_onnx
from tests.ops.harness import run
from tests.ops.reduce_check import DTYPES, FLOATS, INTS, OPSETS, RTOL, compare, data, ours

if TYPE_CHECKING:
    from collections.abc import Callable

SUMS = (np.sum, np.prod, np.mean, np.var, np.std)
EXACT = (np.max, np.min, np.any, np.all, np.count_nonzero)
SHAPES: tuple[tuple[int, ...], ...] = ((3, 4), (5,), (), (2, 3, 4))


def calls(shape: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return axes and keepdims that fit a shape."""
    if len(shape) < 2:
        return [{}]
    some: list[dict[str, Any]] = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}]
    return [*some, {"axis": (0, 1)}]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("f", SUMS)
def test_sums(f, opset):
    for dtype in DTYPES:
        exact = dtype in ("?", *INTS) and f in (np.sum, np.prod)
        rtol = 0 if exact else 5 * RTOL.get(dtype, 1e-13)
        for shape in SHAPES:
            x = data(dtype, shape, nan=False)
            for kw in calls(shape):
                compare(
                    lambda v, kw=kw: ours(f)(v, **kw),
                    lambda v, kw=kw: f(v, **kw),
                    x,
                    opset=opset,
                    rtol=rtol,
                )


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("f", EXACT)
def test_exact(f, opset):
    for dtype in DTYPES:
        for shape in SHAPES:
            x = data(dtype, shape)
            for kw in calls(shape):
                compare(
                    lambda v, kw=kw: ours(f)(v, **kw),
                    lambda v, kw=kw: f(v, **kw),
                    x,
                    opset=opset,
                )


@pytest.mark.parametrize("f", [np.argmax, np.argmin])
@pytest.mark.parametrize("opset", OPSETS)
def test_places(f, opset):
    for dtype in DTYPES:
        x = data(dtype, (3, 5))
        for kw in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"keepdims": True}):
            compare(
                lambda v, kw=kw: ours(f)(v, **kw), lambda v, kw=kw: f(v, **kw), x, opset=opset
            )
    with pytest.raises(ValueError, match="of an empty sequence"):
        run(ours(f), np.zeros(0), symbolic=False)


@pytest.mark.parametrize(
    "f", [np.max, np.min, np.sum, np.mean, np.var, np.ptp, np.argmax, np.prod]
)
@pytest.mark.parametrize("dtype", ["i2", "u8", "f4"])
def test_other_sizes(f, dtype):
    """One graph serves every size: no guard is taken."""
    other = [(6, 2), (1, 1), (2, 9)]
    rtol = 1e-5 if f in (*SUMS, np.ptp) else 0
    feeds = [[data(dtype, s, nan=False)] for s in other]
    compare(
        lambda v: ours(f)(v, axis=1),
        lambda v: f(v, axis=1),
        data(dtype, (3, 4), nan=False),
        feeds=feeds,
        rtol=rtol,
    )


@pytest.mark.parametrize("opset", OPSETS)
def test_empty(opset):
    for f in (np.sum, np.prod, np.any, np.all, np.mean, np.count_nonzero):
        for dtype in ("?", "i2", "u8", "f2", "f4"):
            for shape in ((0, 3), (3, 0), (0, 0)):
                for axis in (0, 1, None):
                    for symbolic in (True, False):
                        x = np.zeros(shape, dtype)
                        compare(
                            lambda v, f=f, a=axis: ours(f)(v, axis=a),
                            lambda v, f=f, a=axis: f(v, axis=a),
                            x,
                            opset=opset,
                            symbolic=symbolic,
                        )


def test_empty_extremum():
    x = np.zeros((0, 3))
    with pytest.raises(
        ValueError, match="zero-size array to reduction operation maximum which"
    ):
        run(ours(np.max), x, symbolic=False)
    compare(lambda v: ours(np.max)(v, axis=1), lambda v: np.max(v, axis=1), x, symbolic=False)
    for dtype in DTYPES:
        e = np.zeros((2, 0), dtype)
        for f in (np.max, np.min):
            compare(
                lambda v, f=f: ours(f)(v, axis=1, initial=1),
                lambda v, f=f: f(v, axis=1, initial=1),
                e,
            )


def test_nan_anywhere():
    for dtype in FLOATS:
        for place in range(4):
            x = np.array([1, -np.inf, np.inf, 2], dtype)
            x[place] = np.nan
            for f in (np.max, np.min, np.argmax, np.argmin, np.ptp):
                compare(ours(f), f, x)


def test_zero_keeps_numpys_sign():
    for dtype in FLOATS:
        x = np.array([-0.0, -0.0], dtype)
        for f in (np.sum, np.prod, np.mean, np.max, np.min):
            compare(ours(f), f, x)
            compare(ours(f), f, x.reshape(2, 1)[0])


def test_integers_beyond_doubles():
    big = np.array([2**53 + 1, 2**62, 2**62, 2**62, 3], "i8")
    for x in (big, big.astype("u8"), np.tile(big, (3, 1)), np.full(70_000, 2**31 - 1, "i4")):
        compare(ours(np.sum), np.sum, x)
        compare(ours(np.prod), np.prod, x | 1)
    x = np.tile(big, (3, 2, 1))
    for axis in (0, 1, 2, (0, 2), (1, 2), (0, 1)):
        compare(
            lambda v, a=axis: ours(np.sum)(v, axis=a),
            lambda v, a=axis: np.sum(v, axis=a),
            x,
            feeds=[[x[:, :, :0]], [x[:0]]],
        )


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("symbolic", [True, False])
def test_long_float32_sums(opset, symbolic):
    rng = np.random.default_rng(0)
    for shape, axis in (
        ((0,), 0),
        ((1,), 0),
        ((4097,), 0),
        ((100_003,), 0),
        ((2, 5000), 1),
        ((0, 5000), 1),
        ((2, 3, 5000), (1, 2)),
        ((70, 70), None),
        ((0, 3), None),
    ):
        x = rng.random(shape, dtype="f4")
        for keepdims in (True, False):
            compare(
                lambda v, a=axis, k=keepdims: ours(np.sum)(v, axis=a, keepdims=k),
                lambda v, a=axis, k=keepdims: np.sum(v, axis=a, keepdims=k),
                x,
                opset=opset,
                symbolic=symbolic,
                rtol=3e-7,
            )
    x = rng.random(1_000_003, dtype="f4")
    (got,) = run(ours(np.sum), x, opset=opset, symbolic=symbolic)
    want = float(x.astype("f8").sum())
    assert abs(float(got) - want) < 3e-7 * want


def test_where_and_initial():
    for dtype in DTYPES:
        x, w = data(dtype, (4, 5), nan=False), data("?", (4, 5))
        rtol = 5 * RTOL.get(dtype, 1e-13)
        sums: tuple[Any, ...] = (np.sum, np.prod, np.mean, np.any, np.all, np.var, np.std)
        for f in sums:
            compare(
                lambda v, m, f=f: ours(f)(v, axis=1, where=m),
                lambda v, m, f=f: f(v, axis=1, where=m),
                x,
                w,
                rtol=rtol,
            )
        extrema: tuple[Any, ...] = (np.max, np.min)
        for f in extrema:
            compare(
                lambda v, m, f=f: ours(f)(v, axis=1, where=m, initial=1),
                lambda v, m, f=f: f(v, axis=1, where=m, initial=1),
                x,
                w,
            )
    with pytest.raises(ValueError, match="one has to specify 'initial'"):
        run(lambda v, m: ours(np.max)(v, where=m), np.zeros(3), np.ones(3, bool))
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        run(lambda v, m: ours(np.sum)(v, where=m), np.zeros(3), np.ones(3))


def test_dtype_argument():
    x = data("i4", (3, 4))
    for f in (np.sum, np.prod, np.mean, np.var):
        for dtype in ("f4", "i2", "u8", "f8"):
            if f is np.var and dtype in ("i2", "u8"):
                continue
            small = (x % 5).astype("i4")
            compare(
                lambda v, f=f, d=dtype: ours(f)(v, axis=1, dtype=d),
                lambda v, f=f, d=dtype: f(v, axis=1, dtype=d),
                small,
                rtol=1e-6,
            )


def test_bad_axes():
    for axis in (2, -3, (0, 0)):
        with pytest.raises((np.exceptions.AxisError, ValueError)):
            run(lambda v, a=axis: ours(np.sum)(v, axis=a), np.zeros((2, 3)))


def test_ddof():
    x = data("f8", (3, 4), nan=False)
    for kw in ({"ddof": 1}, {"correction": 2}, {"ddof": 1.5}, {"ddof": 9}):
        compare(
            lambda v, kw=kw: ours(np.var)(v, axis=0, **kw),
            lambda v, kw=kw: np.var(v, axis=0, **kw),
            x,
            rtol=1e-13,
        )
    with pytest.raises(ValueError, match="simultaneously"):
        run(lambda v: ours(np.var)(v, ddof=1, correction=1), x)


def test_average():
    x = data("f8", (3, 4), nan=False)
    w = np.abs(data("f4", (3, 4), nan=False)) + 1
    compare(
        lambda v, u: ours(np.average)(v, weights=u),
        lambda v, u: np.average(v, weights=u),
        x,
        w,
        rtol=1e-12,
    )
    compare(
        lambda v, u: ours(np.average)(v, axis=1, weights=u, returned=True),
        lambda v, u: np.average(v, axis=1, weights=u, returned=True),
        x,
        w[0],
        rtol=1e-12,
    )


NAN = (
    np.nansum,
    np.nanprod,
    np.nanmean,
    np.nanvar,
    np.nanstd,
    np.nanmax,
    np.nanmin,
    np.nanmedian,
)


@pytest.mark.parametrize("f", NAN)
def test_nan_left_out(f):
    for dtype in ("?", "i4", "f4", "f8"):
        x = data(dtype, (4, 5), nan=False)
        if dtype[0] == "f":
            x[1], x[2, 3] = np.nan, np.nan
        for kw in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}):
            compare(
                lambda v, kw=kw: ours(f)(v, **kw), lambda v, kw=kw: f(v, **kw), x, rtol=2e-6
            )


def test_places_with_nan_left_out():
    for f in (np.nanargmax, np.nanargmin):
        x = np.array([[np.nan, 1, 1], [3, np.nan, -np.inf]])
        compare(lambda v, f=f: ours(f)(v, axis=1), lambda v, f=f: f(v, axis=1), x)


@pytest.mark.parametrize("opset", [13, 28])
def test_quantiles(opset):
    methods = (
        "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "hazen", "weibull",
        "closest_observation", "averaged_inverted_cdf", "median_unbiased", "normal_unbiased",
        "interpolated_inverted_cdf",
    )  # fmt: skip
    for dtype in ("i2", "u8", "f2", "f4", "f8"):
        x = data(dtype, (4, 5), nan=False)
        if dtype[0] == "f":
            x[1, 1] = np.nan
        for q in (0.3, [0, 0.25, 0.5, 1.0], 1):
            for method in methods:
                compare(
                    lambda v, q=q, m=method: ours(np.quantile)(v, q, axis=1, method=m),
                    lambda v, q=q, m=method: np.quantile(v, q, axis=1, method=m),
                    x,
                    opset=opset,
                    rtol={"f2": 2e-3, "f4": 1e-6}.get(dtype, 1e-14),
                    signs=False,
                )
    with pytest.raises(ValueError, match="in the range"):
        run(lambda v: ours(np.percentile)(v, 101), np.zeros(3))


def test_median_of_other_sizes():
    for dtype in ("i4", "f2", "f8"):
        feeds = [[data(dtype, s)] for s in ((4, 5), (1, 1), (2, 8))]
        compare(
            lambda v: ours(np.median)(v, axis=1),
            lambda v: np.median(v, axis=1),
            data(dtype, (3, 4)),
            feeds=feeds,
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["f4", "c16"])
@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 0)])
def test_averages_without_results_are_numpys_error(dtype, shape):
    average = jit_onnx(lambda x: np.average(x, axis=-1), fallback="error")
    for x in (np.ones((2, 3), dtype), np.ones((3, 0), dtype)):
        np.testing.assert_array_equal(average(x), np.average(x, axis=-1))
    x = np.zeros(shape, dtype)
    for call in (lambda x: np.average(x, axis=-1), average):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            call(x)


SIGNED = [
    lambda x: x.sum(axis=1),
    lambda x: (x * 2).sum(axis=1),
    lambda x: (x * np.abs(x)).sum(axis=1),
    lambda x: (x**3).sum(axis=1),
    lambda x: np.sqrt(x).sum(axis=1),
    lambda x: x.astype(np.float64).sum(axis=1),
]
UNSIGNED = [
    lambda x: (x * x).sum(axis=1),
    lambda x: (x**2).sum(axis=1),
    lambda x: np.abs(x).reshape(-1, 1).sum(axis=1),
    lambda x: np.exp(x)[:, None].sum(axis=(1, 2)),
    lambda x: np.sqrt(np.square(x)).sum(axis=1),
    lambda x: (x > 0).astype(np.float32).sum(axis=1),
    lambda x: np.abs(x).astype(np.float64).mean(axis=1),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("fn", "mended"), [*((f, 1) for f in SIGNED), *((f, 0) for f in UNSIGNED)]
)
def test_the_zero_of_a_sum_is_mended_only_where_it_may_be_negative(
    fn: Callable[..., Any], mended: int
):
    model = jit_onnx(fn).to_onnx(float32["N", 3])
    assert [n.op_type for n in model.graph.node].count("Sum") == mended
    jit = jit_onnx(fn, fallback="error")
    for dtype in (np.float32, np.float64, np.float16):
        for x in (np.full((2, 3), -0.0), np.zeros((2, 3)), np.zeros((2, 0)), -np.eye(3)):
            want, got = fn(x.astype(dtype)), jit(x.astype(dtype))
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-3)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
