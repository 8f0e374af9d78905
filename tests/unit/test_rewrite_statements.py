# SPDX-License-Identifier: Apache-2.0
# mypy: allow-untyped-calls
"""Random functions do the same after their statements became functions of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnxjit._rewrite import PlainHooks, active, rewrite_function
from tests.unit.python_programs import Module, Programs

if TYPE_CHECKING:
    from types import FunctionType

ARGUMENTS = [(1, 2, [3, 0, 2, 5]), (0, -1, [1, 1, 4, 2]), (3, 0, [])]


def check(seed: int) -> str:
    source = Programs(seed).source()
    try:
        module = Module(source, f"<program {seed}>")
    except SyntaxError:
        return "invalid"
    for a, b, xs in ARGUMENTS:
        wanted = module.run(lambda f: f, a, b, list(xs))
        assert module.run(rewritten, a, b, list(xs)) == wanted, source
        with active(PlainHooks()):
            assert module.run(rewritten, a, b, list(xs)) == wanted, source
    return "checked"


def rewritten(f: FunctionType) -> FunctionType:
    copy = rewrite_function(f)
    assert copy is not None
    return copy


@pytest.mark.parametrize("block", range(4))
def test_random_functions(block: int) -> None:
    results = [check(seed) for seed in range(block * 50, block * 50 + 50)]
    assert results.count("checked") > 30


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_random_functions(block: int) -> None:
    for seed in range(10_000 + block * 200, 10_000 + block * 200 + 200):
        check(seed)
