# SPDX-License-Identifier: Apache-2.0
"""Loops captured in a graph against NumPy and Python on the same program."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender
from onnxjit._jit.function import Call

from .base import Kernel, Result, compared
from .loop_programs import LOOPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .loop_programs import Loop

__all__ = ["KERNELS", "bodies"]

#: how many times as long as NumPy a loop may take, by what it loops over
_BARS = {"arrays": 1 / 0.9, "rows": 1 / 0.5, "elements": 1 / 0.3}


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield the bodies of loops, outer ones first."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                if node.op_type in {"Loop", "Scan"}:
                    yield attribute.g
                yield from _graphs(attribute.g)


def bodies(loop: Loop, size: int) -> list[Counter[str]]:
    """Return the nodes of each loop's body, inner bodies apart, as a call runs them."""
    from onnxjit._engine.compile import compile_program

    args = loop.inputs(size)
    jit = jit_onnx(loop.fn, fallback="error")
    recording = jit._record(Call(jit._naming(None), args, {}, None), [])
    model = onnx.load_model_from_string(compile_program(recording.program).model)
    return [Counter(node.op_type for node in g.node) for g in _graphs(model.graph)]


def _run(loop: Loop) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        args: tuple[Any, ...] = loop.inputs(size)
        jit = jit_onnx(loop.fn, fallback="error")
        np.testing.assert_allclose(jit(*args), loop.fn(*args), rtol=1e-9)
        return compared(
            Contender("warm call", jit, *args), Contender("NumPy", loop.fn, *args), blocks
        )

    return run


KERNELS = [
    Kernel(
        f"loop-{loop.fn.__name__.replace('_', '-')}", _run(loop), loop.sizes, _BARS[loop.over]
    )
    for loop in LOOPS
]
