# SPDX-License-Identifier: Apache-2.0
"""Sessions have threads only where there is work for them."""

import math
from pathlib import Path

import numpy as np
import pytest

from onnxjit import asarray, jit_onnx
from onnxjit._engine import compile as engine
from onnxjit._jit.function import Call
from onnxjit._runtime.options import WIDE

TASKS = Path("/proc/self/task")


def entry_of(jit):
    (kept,) = jit._cache
    return kept.value


@pytest.fixture(autouse=True)
def no_run_is_long(monkeypatch):
    """Make no run count as long: on a busy machine short ones would, and get threads."""
    monkeypatch.setattr(engine, "LONG", math.inf)


@pytest.fixture
def tanh():
    return jit_onnx(lambda x: np.tanh(x) + 1, fallback="error")


def test_large_arrays_go_to_a_session_with_threads(tanh):
    small, large = np.ones(3), np.ones(WIDE)
    tanh(small)
    compiled = entry_of(tanh).compiled
    narrow = compiled.runner
    assert compiled.narrow
    assert compiled.wide is None
    np.testing.assert_allclose(tanh(large), np.tanh(large) + 1, rtol=1e-14)
    assert compiled.runner is narrow
    assert compiled.runner_for([large]) is compiled.wide
    assert compiled.runner_for([small]) is narrow
    np.testing.assert_allclose(tanh(small), np.tanh(small) + 1, rtol=1e-14)


def test_warm_calls_with_large_arrays_make_no_detour(tanh, monkeypatch):
    small, large = np.ones(3), np.ones(WIDE)
    tanh(small)
    tanh(large)
    monkeypatch.setattr(Call, "__init__", None)  # what every other way has to make
    for x in (large, small, large):
        np.testing.assert_allclose(tanh(x), np.tanh(x) + 1, rtol=1e-14)


def test_the_session_is_chosen_by_what_is_fed():
    jit = jit_onnx(lambda x, y, k: x * k + len(y), fallback="error")
    large = np.ones(WIDE)
    for args in ((large[:3], large, 2), (large, large[:3], 2), (large[:3], large, 2)):
        assert jit(*args).tolist() == (args[0] * 2 + len(args[1])).tolist()


def test_long_runs_get_threads_for_the_next_call(tanh, monkeypatch):
    monkeypatch.setattr(engine, "LONG", 0.0)
    tanh(np.ones(3))
    compiled = entry_of(tanh).compiled
    assert not compiled.narrow
    assert compiled.runner is compiled.wide
    assert tanh(np.zeros(2)).tolist() == [1.0, 1.0]


def test_eager_calls_do_the_same():
    small, large = asarray(np.ones(3)), asarray(np.ones(WIDE))
    for x in (small, large, small, large):
        np.testing.assert_allclose(np.asarray(np.sqrt(x)), 1.0)


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads through Linux's /proc")
def test_many_graphs_are_not_many_threads():
    jit = jit_onnx(lambda x, k: x * len(k), fallback="error")
    before = len(list(TASKS.iterdir()))
    for i in range(40):
        assert jit(np.ones(2), "a" * i).tolist() == [i, i]
    assert len(list(TASKS.iterdir())) < before + 20
