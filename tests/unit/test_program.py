# SPDX-License-Identifier: Apache-2.0
"""Printing, checking and caching programs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import as_value, bind_one
from onnxjit._core.dtypes import FLOAT32
from onnxjit._core.op import Op
from onnxjit._core.printer import program_text
from onnxjit._core.program import Equation, Program, Value
from onnxjit._core.region import cond
from onnxjit._core.source import Source
from onnxjit._core.verify import verify
from onnxjit._engine.cache import Cache
from onnxjit.errors import InternalError
from tests.ops.harness import trace

if TYPE_CHECKING:
    from collections.abc import Callable

NEG = Op(
    "negative",
    result=lambda x, **_: Tensor(x.dtype, x.shape),
    lower={13: lambda e, _equation, x: e.op("Neg", x)},
)


def _sample() -> Program:
    def function(p: Value, x: Value) -> Any:
        x.block.trace.source = Source(function.__code__, line=3)
        y = bind_one(NEG, x)
        return cond(p, lambda: [bind_one(NEG, y)], lambda: [as_value(np.float32(2))])[0], 7

    return trace(function, np.array(True), np.float32(1))


def test_text():
    assert program_text(_sample()).splitlines() == [
        "(x0: bool[], x1: float32[]) {",
        "  %2: float32[] = negative(x1)",
        "  %3: float32[] = cond(x0, results=(float32[],))",
        "    () {",
        "      %4: float32[] = negative(%2)",
        "      return %4",
        "    }",
        "    () {",
        "      return float32(2.0)",
        "    }",
        "  return %3, int64(7)",
        "}",
    ]
    assert f"# {__file__}:3 in " in program_text(_sample(), sources=True)


def _swap(program: Program) -> None:
    program.block.equations.reverse()


def _twice(program: Program) -> None:
    program.block.equations.append(program.block.equations[0])


def _foreign(program: Program) -> None:
    program.block.outputs[0] = _sample().outputs[0]


def _inner_outside(program: Program) -> None:
    program.block.outputs[0] = program.block.equations[1].blocks[0].outputs[0]


def _wrong_type(program: Program) -> None:
    old = program.block.equations[0]
    new = Equation(NEG, old.inputs, {})
    new.outputs = (Value(Tensor(FLOAT32, (3,)), program.block, equation=new),)
    program.block.equations.insert(0, new)


def _unnamed(program: Program) -> None:
    program.block.outputs.pop()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_swap, "not defined before"),
        (_twice, "twice"),
        (_foreign, "not defined before"),
        (_inner_outside, "not defined before"),
        (_wrong_type, r"is float32\[3\], should be float32\[\]"),
        (_unnamed, "a result has no name"),
    ],
)
def test_damage_is_found(damage: Callable[[Program], None], message: str):
    program = verify(_sample())
    damage(program)
    with pytest.raises(InternalError, match=message):
        verify(program)


# ---- cache


def test_newest_first_and_the_least_used_goes():
    gone: list[str] = []
    cache = Cache[str](3, per_key=2, evicted=lambda e: gone.append(e.value))
    a = cache.add("k", None, "a")
    cache.add("k", None, "b")
    cache.touch(a)
    cache.add("k", None, "c")
    assert gone == ["b"]
    assert [e.value for e in cache.get("k")] == ["c", "a"]
    cache.add("l", None, "d")
    cache.touch(a)
    cache.add("m", None, "e")
    assert gone == ["b", "c"]
    assert len(cache) == 3
    cache.discard("l", cache.get("l")[0])
    assert cache.get("l") == ()
    cache.clear()
    assert sorted(gone) == ["a", "b", "c", "d", "e"]
    assert not list(cache)


def test_many_threads():
    cache = Cache[int](20, per_key=3)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for key in rng.integers(0, 12, 300).tolist():
            for entry in cache.get(key):
                cache.touch(entry)
            cache.add(key, None, key)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) <= 20
    assert all(e.value == key for key in range(12) for e in cache.get(key))
