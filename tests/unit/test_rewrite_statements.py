# SPDX-License-Identifier: Apache-2.0
# mypy: allow-untyped-calls
"""Random functions do the same after their statements became functions of their own."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from onnxjit._rewrite import PlainHooks, active, control, plain, rewrite_function
from tests.unit.python_programs import Module, Programs

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CellType, FunctionType

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


def check_names(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that a hook is told nobody reads again lose their values."""
    source = Programs(seed).source()
    try:
        module = Module(source, f"<program {seed}>")
    except SyntaxError:
        return
    monkeypatch.setattr(control, "traced", Forgetful)
    for a, b, xs in ARGUMENTS:
        wanted = module.run(lambda f: f, a, b, list(xs))
        with active(PlainHooks()):
            assert module.run(rewritten, a, b, list(xs)) == wanted, source


class Forgetful:
    """Hooks that do what Python does, and then unbind the names that are not live."""

    and_, or_, not_ = plain.and_, plain.or_, plain.not_
    ifexp, compare, chain = plain.ifexp, plain.compare, plain.chain
    assert_, comp = plain.assert_, plain.comp

    kept, list_, spread = plain.kept, list, list
    binary, unary = plain.BINARY.__getitem__, plain.UNARY.__getitem__
    trying = contextlib.nullcontext

    @staticmethod
    def raised(make: Any) -> Any:
        return make()

    @staticmethod
    def bound(value: Any) -> Any:
        return value

    @staticmethod
    def if_(test: Any, then: Any, orelse: Any, stores: Any, live: Any) -> None:
        forget = forgetting([then, orelse], stores, live)
        plain.if_(test, then, orelse, stores, live)
        forget()

    @staticmethod
    def while_(
        test: Any, body: Any, stores: Any, live: Any, rebound: Any, mutated: Any
    ) -> None:
        forget = forgetting([test, body], stores, live)
        assert set(rebound) <= set(stores)
        assert set(mutated) <= cells_of([test, body]).keys()
        forget()
        while test():
            body()
            forget()
        forget()  # what the test has bound

    @staticmethod
    def for_(
        iterable: Any,
        body: Any,
        test: Any,
        stores: Any,
        live: Any,
        rebound: Any,
        mutated: Any,
    ) -> None:
        forget = forgetting([body], stores, live)
        assert set(rebound) <= set(stores)
        assert set(mutated) <= cells_of([body]).keys()
        forget()
        for element in iterable:
            body(element)
            goes_on = test is None or test()
            forget()
            if not goes_on:
                break


def cells_of(functions: list[Any]) -> dict[str, CellType]:
    return {
        name: cell
        for f in functions
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    }


def forgetting(
    functions: list[Any], stores: tuple[str, ...], live: tuple[str, ...]
) -> Callable[[], None]:
    assert set(live) <= set(stores)
    cells = cells_of(functions)
    dead = [cells[name] for name in stores if name not in live]
    assert set(stores) <= cells.keys()

    def forget() -> None:
        for cell in dead:
            with contextlib.suppress(ValueError):
                del cell.cell_contents

    return forget


def rewritten(f: FunctionType) -> FunctionType:
    copy = rewrite_function(f)
    assert copy is not None
    return copy


@pytest.mark.parametrize("block", range(4))
def test_random_functions(block: int) -> None:
    results = [check(seed) for seed in range(block * 50, block * 50 + 50)]
    assert results.count("checked") > 30


@pytest.mark.parametrize("block", range(4))
def test_names_that_are_not_live(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1000 + block * 50, 1000 + block * 50 + 50):
        check_names(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_names_that_are_not_live(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(30_000 + block * 200, 30_000 + block * 200 + 200):
        check_names(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_random_functions(block: int) -> None:
    for seed in range(10_000 + block * 200, 10_000 + block * 200 + 200):
        check(seed)
