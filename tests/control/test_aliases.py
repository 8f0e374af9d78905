# SPDX-License-Identifier: Apache-2.0
"""Which names are one array in a loop of the graph: followed, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxjit import AliasError, FallbackWarning, int64, jit_onnx

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


def written_in_a_list(x: Any, n: int) -> Any:
    rows = [np.zeros(3) for _ in range(2)]
    for i in range(n):
        rows[i % 2][i % 3] += x[i]
    return rows


def written_when_taken_out(x: Any, n: int) -> Any:
    out, row = [], np.zeros(3)
    for i in range(n + 1):
        row = row + x * i
        out.append(row)
    last = out.pop()
    last[0] = 5
    return out, last


@pytest.mark.parametrize(
    "fn", [swapped, rebound_then_written, written_in_a_list, written_when_taken_out]
)
def test_followed(fn: Any) -> None:
    jitted = jit_onnx(fn, fallback="error")
    for n in (0, 1, 2, 3):
        assert repr(jitted(X, n)) == repr(fn(X, n))


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


def element_read_by_its_name(x: Any, n: int) -> Any:
    row = np.zeros(3)
    out = [row]
    for i in range(n):
        out.append(x * i)
        out[0][0] += 1
    return out, row


def element_written_by_its_name(x: Any, n: int) -> Any:
    out, row = [], np.zeros(3)
    for _ in range(n):
        row = row + x
        out.append(row)
    row[0] = 99
    return np.array(out)


def element_of_two_lists(x: Any, n: int) -> Any:
    out = []
    for i in range(n):
        out.append(x * i)
    rest = out[1:]
    rest[0][0] = 9
    return rest, out


@pytest.mark.parametrize(
    "fn",
    [
        element_read_by_its_name,
        element_written_by_its_name,
        element_of_two_lists,
        read_after_the_loop,
        view_read_after_the_loop,
    ],
)
def test_refused(fn: Any) -> None:
    with pytest.raises(AliasError):
        jit_onnx(fn, fallback="error")(X, 2)
    with pytest.warns(FallbackWarning):
        got = jit_onnx(fn)(X.copy(), 2)
    want = fn(X.copy(), 2)
    assert repr(got) == repr(want)


@pytest.mark.parametrize(
    "fn", [read_in_the_loop, argument_among_them, written_under_its_other_name]
)
def test_unrolled(fn: Any) -> None:
    """No Loop can say which array it is, Python can: one graph for each number of runs."""
    jitted = jit_onnx(fn, fallback="error")
    for n in (2, 3, 0, 1, 2):
        x, y = X.copy(), X.copy()
        assert repr(jitted(x, n)) == repr(fn(y, n))
        np.testing.assert_array_equal(x, y)
    with pytest.raises(AliasError):
        jit_onnx(fn).to_onnx(X, int64)


def shown_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        part = x[::-1]
        if total < 9:
            part += 1
        total += (x.reshape(1, -1) * 1.0).sum() + i
    return total


@pytest.mark.parametrize("view", [slice(None), slice(None, None, 2)])
def test_views_that_layouts_decide_may_be_made_in_each_iteration(view: Any) -> None:
    fn = jit_onnx(shown_in_a_loop, fallback="error")
    for n in (3, 4, 0, 1):
        x, y = np.arange(2.0 * n)[view], np.arange(2.0 * n)[view]
        assert fn(x) == shown_in_a_loop(y)
        np.testing.assert_array_equal(x, y)
