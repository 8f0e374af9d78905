# SPDX-License-Identifier: Apache-2.0
"""Importing onnxjit against importing what it stands on, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from onnxjit._bench.harness import Spread

from .base import Kernel, Result

__all__ = ["KERNELS"]

_BASE = "numpy, onnx, onnxruntime"
_CODE = "from time import perf_counter as t; s = t(); import {}; print(t() - s)"
#: a process takes long, and one tells much
_MOST_BLOCKS = 15


def _seconds(names: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(names)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def _run(_: int, blocks: int) -> Result:
    for names in (_BASE, "onnxjit"):
        _seconds(names)  # files are read and compiled once
    pairs = [(_seconds("onnxjit"), _seconds(_BASE)) for _ in range(min(blocks, _MOST_BLOCKS))]
    seconds = {"onnxjit": Spread([a for a, _ in pairs]), _BASE: Spread([b for _, b in pairs])}
    return Result(Spread([a / b for a, b in pairs]), seconds)


KERNELS = [Kernel("import", _run, [1], 1.15)]
