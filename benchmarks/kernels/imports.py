# SPDX-License-Identifier: Apache-2.0
"""Importing onnxjit against importing what it stands on, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from onnxjit._bench.harness import Spread

from .base import Kernel, Result

__all__ = ["KERNELS"]

_BASE = "numpy, onnx, onnxruntime"
_CODE = "from time import perf_counter as t; s = t(); import {}; print(t() - s)"
#: a process takes long, and one tells much
_MOST_BLOCKS = 15
#: times in a block, of which the quickest counts
_TRIES = 3


def _seconds(names: str, compiled: str) -> float:
    """Return how long imports take in a new process, with bytecode kept in a folder."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", _CODE.format(names)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return float(done.stdout)


def _run(_: int, blocks: int) -> Result:
    ours: list[float] = []
    base: list[float] = []
    with tempfile.TemporaryDirectory() as compiled:
        for names in (_BASE, "onnxjit"):
            _seconds(names, compiled)  # files are read and compiled once
        for _ in range(min(blocks, _MOST_BLOCKS)):
            pairs = [
                [_seconds(n, compiled) for n in ("onnxjit", _BASE)] for _ in range(_TRIES)
            ]
            for each, times in zip((ours, base), zip(*pairs, strict=True), strict=True):
                each.append(min(times))
    ratio = Spread([a / b for a, b in zip(ours, base, strict=True)])
    return Result(ratio, {"onnxjit": Spread(ours), _BASE: Spread(base)})


KERNELS = [Kernel("import", _run, [1], 1.15)]
