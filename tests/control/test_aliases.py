# SPDX-License-Identifier: Apache-2.0
"""Which names are one array in a loop of the graph: followed, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import AliasError, FallbackWarning, jit_onnx

X = np.arange(3.0) + 1


def swapped(x: Any, n: int) -> Any:
    old, new = x.copy(), np.zeros_like(x)
    for _ in range(n):
        new[:] = 0.5 * old
        old, new = new, old
    new[0] = 9
    old[1] = 7
    return old, new


def rebound_then_written(x: Any, n: int) -> Any:
    now = x.copy()
    before = now
    for _ in range(n):
        before = now
        now = now + 1
        now[0] = 5
    return before, now


@pytest.mark.parametrize("fn", [swapped, rebound_then_written])
def test_followed(fn: Any) -> None:
    jitted = jit_onnx(fn, fallback="error")
    for n in (0, 1, 2, 3):
        for got, want in zip(jitted(X, n), fn(X, n), strict=True):
            np.testing.assert_array_equal(got, want)


def read_in_the_loop(x: Any, n: int) -> Any:
    old, new = x.copy(), np.zeros_like(x)
    first = old
    for _ in range(n):
        new[:] = 0.5 * first + old
        old, new = new, old
    return old


def read_after_the_loop(x: Any, n: int) -> Any:
    old, new = x.copy(), np.zeros_like(x)
    first = old
    for _ in range(n):
        new[:] = 0.5 * old
        old, new = new, old
    return old, first


def view_read_after_the_loop(x: Any, n: int) -> Any:
    a, b = x.copy(), x.copy()
    tail = a[1:]
    for _ in range(n):
        a[:] += 1
        a, b = b, a
    return a, tail


def argument_among_them(x: Any, n: int) -> Any:
    old, new = x, np.zeros_like(x)
    for _ in range(n):
        new[:] = 0.5 * old
        old, new = new, old
    return old + 0


def written_under_its_other_name(x: Any, n: int) -> Any:
    now = x.copy()
    before = now
    for _ in range(n):
        before = now
        now += 1
    return before


@pytest.mark.parametrize(
    "fn",
    [
        read_in_the_loop,
        read_after_the_loop,
        view_read_after_the_loop,
        argument_among_them,
        written_under_its_other_name,
    ],
)
def test_refused(fn: Any) -> None:
    with pytest.raises(AliasError):
        jit_onnx(fn, fallback="error")(X, 2)
    with pytest.warns(FallbackWarning):
        got = jit_onnx(fn)(X.copy(), 2)
    want = fn(X.copy(), 2)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for a, b in pairs:
        np.testing.assert_array_equal(a, b)
