# SPDX-License-Identifier: Apache-2.0
"""Passes change what they should, leave the rest, and keep the result."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit._core.bind import bind_one
from onnxjit._core.dtypes import ALL, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT64, UINT8
from onnxjit._core.region import cond, loop
from onnxjit._core.verify import verify
from onnxjit._engine.compile import compile_program
from onnxjit._ops.cast import CAST, cast
from onnxjit._ops.elementwise import negative
from onnxjit._ops.structure import BROADCAST, RESHAPE, SLICE, TRANSPOSE
from onnxjit._transform.dce import drop_dead
from onnxjit._transform.pipeline import run_passes
from onnxjit._transform.simplify import holds
from tests.ops.harness import trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Program, Value


def _cast(x: Value, dtype: Any) -> Value:
    return bind_one(CAST, x, dtype=dtype)


def _perm(x: Value, *perm: int) -> Value:
    return bind_one(TRANSPOSE, x, perm=perm)


def _shape(x: Value, *shape: Any) -> Value:
    return bind_one(RESHAPE, x, shape=shape)


def _broadcast(x: Value, *shape: Any) -> Value:
    return bind_one(BROADCAST, x, shape=shape)


def _slice(x: Value, start: Any, stop: Any, length: Any, step: int = 1) -> Value:
    return bind_one(
        SLICE, x, axes=(0,), starts=(start,), stops=(stop,), steps=(step,), lengths=(length,)
    )


def _names(program: Program) -> list[str]:
    drop_dead(program)
    return [e.op.name for e in program.walk()]


F = np.arange(12, dtype=np.float32).reshape(3, 4)
H = F.astype(np.float16)
S = F.astype(np.int16)

CHANGED: list[tuple[Callable[..., Any], Any, list[str]]] = [
    (lambda x: _cast(x, FLOAT32), F, []),
    (lambda x: _cast(_cast(x, FLOAT64), FLOAT32), F, []),
    (lambda x: _cast(_cast(x, FLOAT32), INT64), H, ["cast"]),
    (lambda x: _cast(_cast(_cast(x, INT64), FLOAT64), INT8), S, ["cast", "cast"]),
    (lambda x: _cast(_cast(_cast(x, FLOAT32), FLOAT64), FLOAT16), F, ["cast"]),
    (lambda x: _perm(x, 0, 1), F, []),
    (lambda x: _perm(_perm(x, 1, 0), 1, 0), F, []),
    (
        lambda x: _perm(_perm(_shape(x, 3, 2, 2), 1, 2, 0), 1, 2, 0),
        F,
        ["reshape", "transpose"],
    ),
    (lambda x: _shape(x, *x.shape), F, []),
    (lambda x: _shape(_shape(x, x.shape[1], x.shape[0]), *x.shape), F, []),
    (lambda x: _shape(_shape(x, x.shape[1], x.shape[0]), 1, *x.shape), F, ["reshape"]),
    (lambda x: _broadcast(x, *x.shape), F, []),
    (lambda x: _broadcast(_broadcast(x, 1, *x.shape), 2, *x.shape), F, ["broadcast_to"]),
    (lambda x: _slice(x, 0, x.shape[0], x.shape[0]), F, []),
]

KEPT: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: _cast(_cast(x, FLOAT16), FLOAT32), F),
    (lambda x: _cast(_cast(x, FLOAT32), INT64), F.astype(np.int64)),
    (lambda x: _cast(_cast(x, UINT8), INT64), S),
    (lambda x: _perm(_shape(_perm(x, 1, 0), *x.shape), 1, 0), F),
    (lambda x: _slice(x, -1, -(2**63), x.shape[0], -1), F),
    (lambda x: _slice(x, 1, x.shape[0], x.shape[0] - 1), F),
    (lambda x: _broadcast(_shape(x, 1, *x.shape), 2, *x.shape), F),
]


@pytest.mark.parametrize(("function", "x", "names"), CHANGED)
def test_what_does_nothing_goes(function: Callable[..., Any], x: Any, names: list[str]):
    before = compile_program(trace(function, x)).results([x])[0]
    program, changed = run_passes(verify(trace(function, x)))
    assert changed
    verify(program)
    assert not run_passes(program)[1]
    after = compile_program(program).results([x])[0]
    np.testing.assert_array_equal(after, before)
    assert after.dtype == before.dtype
    assert _names(program) == names
    verify(program)


@pytest.mark.parametrize(("function", "x"), KEPT)
def test_what_does_something_stays(function: Callable[..., Any], x: Any):
    program = verify(trace(function, x))
    before = [e.id for e in program.walk()]
    program, changed = run_passes(program)
    assert not changed
    assert [e.id for e in program.walk()] == before


def test_sizes_follow_a_value_that_was_replaced():
    def function(x: Value) -> Any:
        same = _cast(x, FLOAT32)
        size = x.block.trace.env.symbol("k", data=True, origin=(same, 0))
        return _shape(x, size, 2, 2)

    program, changed = run_passes(trace(function, F))
    assert changed
    assert _names(program) == ["reshape"]
    assert compile_program(program).results([F])[0].shape == (3, 2, 2)


def test_nested_blocks_are_simplified_too():
    def function(p: Value, x: Value) -> Any:
        same = _perm(x, 0, 1)
        (a,) = cond(p, lambda: [_cast(same, FLOAT32)], lambda: [_perm(_perm(x, 1, 0), 1, 0)])
        return loop(4, lambda _i, s: ([negative(_shape(_perm(s, 0, 1), *s.shape))], []), [a])[
            0
        ]

    program, changed = run_passes(verify(trace(function, np.array(True), F)))
    assert changed
    verify(program)
    assert _names(program) == ["cond", "loop", "negative"]
    verify(program)
    got = compile_program(program).results([np.array(False), F])[0]
    np.testing.assert_array_equal(got, F)


def test_dead_equations_go_and_sources_of_sizes_stay():
    def function(x: Value) -> Any:
        _perm(x, 1, 0)
        turned = _perm(x, 1, 0)
        size = x.block.trace.env.symbol("k", data=True, origin=(turned, 0))
        return _shape(x, size, 3)

    program = trace(function, F)
    assert not drop_dead(program)[1]
    program, changed = drop_dead(trace(lambda x: (_perm(x, 1, 0), cast(x, INT8))[1], F))
    assert changed
    assert _names(verify(program)) == ["cast"]


@pytest.mark.parametrize("narrow", ALL, ids=str)
def test_holds_agrees_with_casting_extreme_values(narrow: Any):
    if narrow.kind == "U":
        return
    if narrow.kind in "iu":
        ends = np.iinfo(narrow.numpy)
        values = np.array([ends.min, ends.max, ends.max - 1], narrow.numpy)
    elif narrow.kind == "b":
        values = np.array([False, True])
    else:
        info = np.finfo(narrow.numpy)
        values = np.array([info.max, info.tiny, 1 + info.eps, -0.0], narrow.numpy)
    for wide in ALL:
        if wide.kind == "U":
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            back = values.astype(wide.numpy).astype(narrow.numpy)
        if holds(wide, narrow):
            assert back.tobytes() == values.tobytes(), wide


def test_holds_knows_mantissas():
    assert holds(FLOAT32, INT16)
    assert holds(FLOAT64, FLOAT16)
    assert not holds(FLOAT64, INT64)
    assert not holds(FLOAT16, INT16)
    assert not holds(UINT8, INT8)
