# SPDX-License-Identifier: Apache-2.0
"""The functions of `select` against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit._ops import select as rows
from onnxjit._ops.interpolate import interp
from onnxjit._ops.samples import DTYPES, REALS, special
from onnxjit._ops.table import FUNCTIONS
from tests.ops.harness import exported, run
from tests.ops.test_ufunc_calls import same

OPSETS = (13, 21, 28)


def check(function: Any, *arrays: Any, opset: int | None = None, **options: Any) -> None:
    with np.errstate(all="ignore"):
        want = function(*arrays, **options)
    call = FUNCTIONS[function].implementation
    got = run(lambda *v: call(*v, **options), *arrays, opset=opset)[0]
    assert same(got, want), (function, arrays, options, got, want)


@pytest.mark.parametrize("opset", OPSETS)
def test_where_keeps_bits(opset: int) -> None:
    for t in DTYPES:
        x = special(t)
        y, condition = x[::-1].copy(), np.arange(x.size) % 3 == 0
        check(np.where, condition, x, y, opset=opset)
        check(np.where, condition, x[:1], y, opset=opset)
        check(np.where, condition, x, y[1], opset=opset)
        check(np.where, np.bool_(True), x, y[0], opset=opset)
        got = run(lambda v, w: rows.where(unlike(v, w), v, w), x, y, opset=opset)[0]
        assert same(got, np.where(x != y, x, y))


def unlike(x: Any, y: Any) -> Any:
    from onnxjit._ops import elementwise as ew

    return ew.not_equal(x, y)


@pytest.mark.parametrize("opset", OPSETS)
def test_where_promotes(opset: int) -> None:
    x, condition = np.arange(4, dtype=np.float32), np.array([1, 0, 2, 0])
    for other in (0, -0.0, 2.5, np.float64(1), np.arange(4), True):
        got = run(lambda c, v, o=other: rows.where(c, v, o), condition, x, opset=opset)[0]
        assert same(got, np.where(condition, x, other))
        got = run(lambda c, v, o=other: rows.where(c, o, v), condition, x, opset=opset)[0]
        assert same(got, np.where(condition, other, x))


BOUNDS = [(0, 1), (None, 1), (0, None), (-0.5, 0.5), (2, 1), (np.nan, 1.0), (0.0, np.nan)]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_clip(low: Any, high: Any, opset: int) -> None:
    for t in DTYPES[1:]:
        x = special(t)
        x = x[x != 0]
        with np.errstate(all="ignore"):
            want = np.clip(x, low, high)
        got = run(lambda v: rows.clip(v, low, high), x, opset=opset)[0]
        is_float = want.dtype.kind in "fc"
        assert got.dtype == want.dtype
        assert np.array_equal(got, want, equal_nan=is_float)


def test_clip_by_arrays_and_ints_out_of_range() -> None:
    x = np.arange(6, dtype=np.uint8)
    check(np.clip, x, a_min=-1, a_max=300)
    check(np.clip, x, a_min=-1, a_max=3)
    check(np.clip, x, min=2)
    check(np.clip, x, np.array([1, 2, 3, 3, 2, 1], np.uint8), np.array(4, np.uint8))
    check(np.clip, x.astype(float), np.array([[1.0], [np.nan]]), np.array(4.0))
    with pytest.raises(OverflowError):
        run(lambda v: rows.clip(v, 300, None), x)
    with pytest.raises(ValueError, match="is forbidden"):
        run(lambda v: rows.clip(v, 1, 2, min=3), x)


@pytest.mark.parametrize("opset", OPSETS)
def test_nan_to_num(opset: int) -> None:
    for t in ("f2", "f4", "f8", "i4"):
        x = special(t)
        check(np.nan_to_num, x, opset=opset)
        check(np.nan_to_num, x, nan=-1.0, posinf=3.0, opset=opset)
        check(np.nan_to_num, x, nan=np.arange(x.size), neginf=2, opset=opset)


def test_select_and_choose() -> None:
    x = np.arange(-3, 4, dtype=np.float32)
    want = np.select([x < -1, x < 1], [x, 2 * x], 7)
    got = run(lambda v, a, b, w: rows.select([a, b], [v, w], 7), x, x < -1, x < 1, 2 * x)[0]
    assert same(got, want)
    index = np.array([[0, 1], [2, 0]])
    choices = [np.array([1, 2], np.int8), np.array([[10], [20]]), np.array(5)]
    for mode in ("raise", "wrap", "clip"):
        want = np.choose(index, choices, mode=mode)
        got = run(lambda i, *c, m=mode: rows.choose(i, c, m), index, *choices)[0]
        assert same(got, want)
    far: Any = np.array([-4, 7, 2, 0])
    table = np.arange(12).reshape(3, 4)
    modes: list[Any] = ["wrap", "clip"]
    for mode in modes:
        call = lambda i, c, m=mode: rows.choose(i, c, m)  # noqa: E731
        got = run(call, far, table, symbolic=False)[0]
        assert same(got, np.choose(far, table, mode=mode))


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round(decimals: int) -> None:
    for t in DTYPES[1:]:
        check(np.round, special(t), decimals=decimals)


def test_small_functions() -> None:
    for t in REALS:
        x = special(t)
        check(np.isposinf, x)
        check(np.isneginf, x)
        check(np.isreal, x)
        check(np.iscomplex, x)
        check(np.fix, x)
        check(np.imag, x)
        check(np.angle, x)
        check(np.angle, x, deg=True)
        if t[0] == "f":
            y = x[np.abs(x) < 100]
            got = run(rows.sinc, y)[0]
            assert np.allclose(
                got,
                np.sinc(y),
                rtol=1e-2 if t == "f2" else 1e-5,
                atol=1e-2 if t == "f2" else 1e-6,
            )


@pytest.mark.parametrize("opset", OPSETS)
def test_interp(opset: int) -> None:
    x = np.array([-2, 0, 0.25, 1, 2.5, 3.9, 4, 9, np.nan, np.inf, -np.inf])
    xp, fp = np.array([0, 1, 3, 4.0]), np.array([1, -1, np.inf, 5.0])
    check(np.interp, x, xp, fp, opset=opset)
    check(np.interp, x, xp, np.arange(4), left=-7, right=9.5, opset=opset)
    check(np.interp, x, xp[:1], fp[:1], opset=opset)
    check(
        np.interp,
        x[:8],
        np.array([3, 0.5, 1.25]),
        np.array([1, 2, 4.0]),
        period=2,
        opset=opset,
    )
    check(np.interp, np.float64(0.3), xp, fp, opset=opset)
    with pytest.raises(ValueError, match="not of the same length"):
        check_error(xp, fp[:2])


def check_error(xp: Any, fp: Any) -> None:
    run(lambda a, b: interp(0.5, a, b), xp, fp)


def test_models_are_valid() -> None:
    def every(x: Any, y: Any) -> list[Any]:
        return [
            rows.where(x, y, x),
            rows.clip(x, 0.0, y),
            rows.round_(x, 2),
            rows.nan_to_num(x),
        ]

    for opset in OPSETS:
        exported(every, np.ones((2, 3)), np.ones(3), opset=opset)
