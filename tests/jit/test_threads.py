# SPDX-License-Identifier: Apache-2.0
"""One jitted function, many threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._rewrite import rewrite_function
from tests.jit.harness import same

V = np.array([3.0, -1.5, 2.25])
INPUTS = [
    V, V[:2], V.astype("f4"), np.arange(4), V.reshape(3, 1), np.ones((2, 2)), np.float32(2), 3,
    1.5,
]  # fmt: skip


def work(x):
    y = np.sin(x) * 2 + x
    if np.ndim(y) and len(y) > 2:
        y = y - 1
    return y, np.sum(y)


def test_threads_share_a_jitted_function():
    jit = jit_onnx(work, fallback="error")
    start = threading.Barrier(8)

    def calls(seed):
        start.wait()
        for i in np.random.default_rng(seed).integers(0, len(INPUTS), 25):
            same(jit(INPUTS[i]), work(INPUTS[i]))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(calls, range(8)))


def test_threads_write_to_their_own_arguments():
    def grow(x):
        x *= 2
        x[0] = x.sum()

    jit = jit_onnx(grow, fallback="error")

    def calls(seed):
        for _ in range(10):
            plain = np.random.default_rng(seed).normal(size=3)
            jitted = plain.copy()
            grow(plain)
            jit(jitted)
            same(jitted, plain)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(calls, range(8)))


def test_a_trace_is_not_seen_by_other_threads():
    inner = jit_onnx(lambda x: x + 1, fallback="error")
    results = []

    def outer(x):
        thread = threading.Thread(target=lambda: results.append(inner(V)))
        thread.start()
        thread.join()
        return x * 2

    jit_onnx(outer, fallback="error")(V)
    same(results[0], V + 1)


def test_threads_parse_the_source_at_the_same_time(tmp_path):
    functions = []
    for i in range(8):
        path = tmp_path / f"part{i}.py"
        body = "\n".join(f"    x = x + {k} * (1 + {k})" for k in range(300))
        path.write_text(f"def f(x):\n{body}\n    return x\n", encoding="utf-8")
        namespace: dict[str, Any] = {}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
        functions.append(namespace["f"])
    start = threading.Barrier(8)

    def rewritten(fn):
        start.wait()
        return rewrite_function(fn) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(rewritten, functions))
