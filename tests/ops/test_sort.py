# SPDX-License-Identifier: Apache-2.0
"""Sorting and searching against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.harness import run
from tests.ops.reduce_check import DTYPES, INTS, OPSETS, compare, data, ours

SHAPES = ((7,), (3, 8), (1,), (0,), (2, 3, 4))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(dtype, opset):
    for shape in SHAPES:
        x = data(dtype, shape)
        for axis in (None, 0, -1):
            for f in (np.sort, np.argsort):
                compare(
                    lambda v, f=f, a=axis: ours(f)(v, axis=a),
                    lambda v, f=f, a=axis: f(v, axis=a, kind="stable"),
                    x,
                    opset=opset,
                )


def test_sort_of_other_sizes():
    for f in (np.sort, np.argsort):
        feeds = [[data("u8", s)] for s in ((9,), (1,), (0,))]
        compare(ours(f), lambda v, f=f: f(v, kind="stable"), data("u8", (5,)), feeds=feeds)


def test_partition_and_lexsort():
    x = data("f4", (3, 9))
    compare(lambda v: ours(np.partition)(v, 4), np.sort, x)
    with pytest.raises(ValueError, match=r"kth\(=9\) out of bounds \(9\)"):
        run(lambda v: ours(np.partition)(v, 9), x, symbolic=False)
    keys = np.array([3, 1, 2, 1, 3, 1]), np.array([0, 2, 1, 1, 0, 2])
    compare(lambda a, b: ours(np.lexsort)((a, b)), lambda a, b: np.lexsort((a, b)), *keys)
    with pytest.raises(ValueError, match="sort kind"):
        run(lambda v: ours(np.sort)(v, kind="bogus"), x)


@pytest.mark.parametrize("opset", [13, 28])
def test_nonzero(opset):
    for dtype in DTYPES:
        x = data(dtype, (3, 4))
        x[0] = 0
        for f in (np.nonzero, np.argwhere, np.flatnonzero):
            compare(ours(f), f, x, feeds=[[x[:0]], [x[:, :1]]], opset=opset)
    with pytest.raises(ValueError, match="Calling nonzero on 0d arrays"):
        run(ours(np.nonzero), np.float64(1))


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("dtype", DTYPES)
def test_searchsorted(dtype, opset):
    v = data(dtype, (3, 4), seed=1)
    feeds = [[np.sort(data(dtype, (n,))), v] for n in (0, 1, 2, 3, 63, 64, 65, 200)]
    for side in ("left", "right"):
        compare(
            lambda a, b, s=side: ours(np.searchsorted)(a, b, s),
            lambda a, b, s=side: np.searchsorted(a, b, s),
            np.sort(data(dtype, (5,))),
            v,
            feeds=feeds,
            opset=opset,
        )
        for n in (0, 1, 5, 64, 65, 100):
            compare(
                lambda a, b, s=side: ours(np.searchsorted)(a, b, s),
                lambda a, b, s=side: np.searchsorted(a, b, s),
                np.sort(data(dtype, (n,))),
                v,
                symbolic=False,
                opset=opset,
            )


def test_digitize():
    v = data("f8", (3, 4))
    for edges in (np.array([-1.0, 0, 0, 1]), np.array([1.0, 0.5, -2]), np.array([0.3])):
        for right in (True, False):
            compare(
                lambda a, e, r=right: ours(np.digitize)(a, e, r),
                lambda a, e, r=right: np.digitize(a, e, r),
                v,
                edges,
            )
            compare(
                lambda a, e=edges, r=right: ours(np.digitize)(a, e, r),
                lambda a, e=edges, r=right: np.digitize(a, e, r),
                v,
            )
    with pytest.raises(ValueError, match="monotonically"):
        run(lambda a: ours(np.digitize)(a, [0, 2, 1]), v)


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype, opset):
    x = data(dtype, (4, 5))
    if dtype[0] == "f":
        x[1], x[3, 3] = np.nan, np.nan
    feeds = [[x[:0]], [x[:1, :1]], [x[:2]]]
    compare(
        lambda v: ours(np.unique)(v, True, True, True),
        lambda v: np.unique(v, True, True, True),
        x,
        feeds=feeds,
        opset=opset,
    )
    compare(ours(np.unique), np.unique, x, opset=opset, signs=False)
    for f in (np.unique_all, np.unique_counts, np.unique_inverse):
        compare(ours(f), f, np.sort(x.ravel()), opset=opset, signs=False)


def test_bincount_and_isin():
    for dtype in (t for t in INTS if t != "u8"):
        x = np.array([1, 4, 4, 0, 9, 4], dtype)
        w = data("f4", (6,), nan=False)
        for opset in (13, 28):
            for least in (0, 3, 20):
                compare(
                    lambda v, m=least: ours(np.bincount)(v, minlength=m),
                    lambda v, m=least: np.bincount(v, minlength=m),
                    x,
                    feeds=[[x[:0]], [x[:2]]],
                    opset=opset,
                )
            compare(
                ours(np.bincount),
                np.bincount,
                x,
                w,
                opset=opset,
                rtol=1e-14,
            )
    for dtype in DTYPES:
        x = data(dtype, (3, 4))
        feeds = [[x, x.ravel()[:n]] for n in (0, 1, 7)]
        compare(
            ours(np.isin),
            np.isin,
            x,
            x.ravel()[:3],
            feeds=feeds,
        )
        compare(
            lambda a, b: ours(np.isin)(a, b, invert=True),
            lambda a, b: np.isin(a, b, invert=True),
            x,
            x.ravel()[:3],
            symbolic=False,
        )
