# SPDX-License-Identifier: Apache-2.0
"""A forked child may drop the graphs that it has inherited."""

import gc
import os
import time

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._runtime.options import WIDE

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


def ended(pid, seconds=20):
    """Return the exit status of a child, None where it hangs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return None


@pytest.mark.parametrize("size", [3, WIDE])
def test_a_child_drops_and_makes_graphs(size):
    x = np.ones(size)
    jits = [jit_onnx(lambda x, i=i: np.tanh(x) + i, fallback="error") for i in range(4)]
    for jit in jits:
        jit(x)
    pid = os.fork()
    if pid == 0:
        for jit in jits:
            jit.cache_clear()
        jits.clear()
        jit = None
        gc.collect()
        right = jit_onnx(lambda x: x * 3, fallback="error")(x)[0] == 3.0
        gc.collect()
        os._exit(0 if right else 1)
    assert ended(pid) == 0
