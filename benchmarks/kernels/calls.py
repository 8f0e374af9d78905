# SPDX-License-Identifier: Apache-2.0
"""Warm calls of jitted functions against the bare runs of the same models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender
from onnxjit._eager.entry import Entry
from onnxjit._jit.benchmark import raw_run
from onnxjit._jit.function import Call

from .base import Kernel, Result, compared

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]


def squares(x: Any, y: Any) -> Any:
    """Two inputs, whose sizes must agree: two guards."""
    return ((x - y) ** 2).sum()


def double(x: Any) -> Any:
    """One input, no guard."""
    return x * 2


def centred(x: Any, y: Any) -> Any:
    """Branch on a size: one more guard."""
    if x.shape[0] > 1:
        x = x - x.mean(axis=0)
    return x * y


def _arrays(fn: Callable[..., Any], size: int, dtype: str) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    count = fn.__code__.co_argcount
    return tuple(random.random((size, 4)).astype(dtype) for _ in range(count))


def _raw(jit: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return session.run and its arguments, for the graph that serves a call."""
    call = Call(jit._naming(None), args, {}, None)
    values = [leaf.value for leaf in call.leaves]
    for kept in jit._cache.get(call.key):
        entry = kept.value
        if isinstance(entry, Entry) and (entry.guard is None or entry.guard(values)):
            contender = raw_run(call, entry)
            assert contender is not None
            return contender.parts
    raise AssertionError(args)


def _one(fn: Callable[..., Any]) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        args = _arrays(fn, size, "f4")
        jit = jit_onnx(fn, fallback="error")
        np.testing.assert_allclose(jit(*args), fn(*args), rtol=1e-5)
        base, *rest = _raw(jit, args)
        return compared(
            Contender("warm call", jit, *args), Contender("session.run", base, *rest), blocks
        )

    return run


def _in_turn(size: int, blocks: int) -> Result:
    """Two signatures, so that the dispatcher never meets the one it met before."""
    jit = jit_onnx(squares, fallback="error")
    a, b = _arrays(squares, size, "f4"), _arrays(squares, size, "f8")
    for args in (a, b):
        np.testing.assert_allclose(jit(*args), squares(*args), rtol=1e-5)
    (run_a, *rest_a), (run_b, *rest_b) = _raw(jit, a), _raw(jit, b)

    def calls(x: Any, y: Any, u: Any, v: Any) -> None:
        jit(x, y)
        jit(u, v)

    def runs(p: Any, q: Any, r: Any, s: Any) -> None:
        run_a(p, q, None)
        run_b(r, s, None)

    return compared(
        Contender("warm calls", calls, *a, *b),
        Contender("session.runs", runs, *rest_a[:2], *rest_b[:2]),
        blocks,
    )


KERNELS = [
    Kernel("call-two-inputs", _one(squares), [3], 1.3),
    Kernel("call-one-input", _one(double), [3], 1.2),
    Kernel("call-with-branch", _one(centred), [3], 1.3),
    Kernel("call-two-signatures", _in_turn, [3], 1.3),
]
