# SPDX-License-Identifier: Apache-2.0
"""Functions with a cache of their own, called with sizes and data of a trace."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import float64, jit_onnx

CALLS: list[Any] = []


@functools.cache
def window(n):
    return np.hanning(n)


@functools.cache
def table(n, k=2):
    return np.arange(n) * k


@functools.cache
def counted(n):
    CALLS.append(n)
    return np.arange(n)


@functools.lru_cache
def shrunk(x):
    return x / 2 if x > 1 else -x


class Weights:
    scale = 3.0

    @functools.lru_cache(maxsize=8)  # noqa: B019  as people write it
    def of(self, n):
        return self.scale / np.arange(1, n + 1)


WEIGHTS = Weights()


def framed(x):
    return x * window(len(x)) + table(len(x), k=3) + WEIGHTS.of(x.shape[0])


def by_value(x):
    return shrunk(x.sum()) + shrunk(x[0])


def of_a_number(x):
    return x + counted(4)[1:2]


@pytest.mark.parametrize("fn", [framed, by_value, of_a_number])
def test_calls_and_models_of_all_sizes(fn):
    jit = jit_onnx(fn, fallback="error")
    for size in (4, 7, 1, 4):
        x = np.linspace(-1, 2, size)
        np.testing.assert_allclose(jit(x), fn(x))
    assert jit.cache_info()["graphs"] <= 2
    session = ort.InferenceSession(jit.to_onnx(float64["N"]).SerializeToString())
    for size in (7, 4, 1):
        x = np.linspace(-1, 2, size)
        np.testing.assert_allclose(session.run(None, {"x": x})[0], fn(x))


def test_the_cache_keeps_nothing_of_a_trace():
    window.cache_clear()
    jit_onnx(framed, fallback="error")(np.ones(6))
    assert window.cache_info().currsize == 0
    assert isinstance(window(6), np.ndarray)


def test_calls_with_numbers_use_the_cache():
    counted.cache_clear()
    CALLS.clear()
    jit = jit_onnx(of_a_number, fallback="error")
    for dtype in (np.float32, np.float64):
        jit(np.ones(3, dtype))
    assert CALLS == [4]
