# SPDX-License-Identifier: Apache-2.0
"""Random straight-line programs: results, changed arguments and exceptions equal NumPy's.

Every program is called three times, at other sizes and layouts of its arguments, through one
jitted function, and eagerly, where results lie in memory as NumPy's too.
`tests.jit.program_generator.generate(seed).script()` shows one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit._eager.entry import EagerEntry
from onnxjit._trace.raising import AlwaysRaises
from tests.jit.outcome import Outcome, differences, memory_differences, outcome
from tests.jit.program_generator import generate

if TYPE_CHECKING:
    from tests.jit.program import Program
    from tests.jit.program_calls import Call

QUICK = 150
#: seeds of one slow test; ten of them make five thousand programs
CHUNK = 500

pytestmark = pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")


def check(seed: int, counts: Counter[str]) -> list[str]:
    """Run one program in NumPy and jitted; return what differs, with a reproduction."""
    program = generate(seed)
    function = program.function()
    jit, eager = jit_onnx(function), eager_onnx(function)
    found: list[str] = []
    for call in program.calls:
        want = outcome(function, call)
        got = outcome(jit, call) if want is not None else None
        if want is None or got is None:
            counts["calls undefined in NumPy"] += 1
            continue
        counts["calls"] += 1
        counts["calls that raise"] += want.error is not None
        found = differences(got, want, signs=program.signs)
        if found and explained(program, call, want):
            found = []
        found = found or eager_differences(outcome(eager, call), want, signs=program.signs)
        if found:
            found.append(program.script())
            break
    program.forget()
    counts["programs"] += 1
    kinds = jit.cache_info()
    counts["programs that fall back"] += _falls_back(jit)
    counts["graphs"] += kinds["graphs"]
    return found


def _falls_back(jit: Any) -> bool:
    """Whether calls run eagerly for another reason than that Python raises in them."""
    entries = [kept.value for kept in jit._cache]
    return any(isinstance(e, EagerEntry) and e.kind != AlwaysRaises.__name__ for e in entries)


def eager_differences(got: Outcome | None, want: Outcome, *, signs: bool) -> list[str]:
    """Return how an eager call differs, the memory order of its results included."""
    if got is None:
        return []
    found = differences(got, want, signs=signs)
    if not found and want.error is None:
        given = ([*x.args, *x.bases] for x in (got, want))
        found = memory_differences(got.result, want.result, *given)
    return [f"eager: {text}" for text in found]


def explained(program: Program, call: Call, want: Outcome) -> bool:
    """Whether an exception is missing, or another one raised, as graphs do.

    A graph has no node whose result nobody reads, and what no data can mend is raised while
    tracing, before what depends on data.  Cut after the line where NumPy raises, the program
    must raise, one of the two where both are on that line.
    """
    if want.error is None:
        return False
    part = program.until(want.error)
    function = part.function()
    again = outcome(function, call)
    got = outcome(jit_onnx(function), call)
    part.forget()
    program.function()
    if again is None or got is None:
        return False
    return isinstance(got.error, ValueError | IndexError) or not differences(
        got, again, signs=program.signs
    )


def run(seeds: range, capsys: pytest.CaptureFixture[str]) -> Counter[str]:
    """Check programs; fail with all that differ, else print what ran how."""
    counts: Counter[str] = Counter()
    bad = {seed: found for seed in seeds if (found := check(seed, counts))}
    text = ", ".join(f"{n} {name}" for name, n in counts.items())
    with capsys.disabled():
        print(f"\n[{seeds.start}:{seeds.stop}] {text}")  # noqa: T201  the statistics
    if bad:
        first = "\n".join(next(iter(bad.values())))
        pytest.fail(f"{len(bad)} differ: {list(bad)}\n{first}", pytrace=False)
    return counts


def test_random_programs(capsys):
    counts = run(range(QUICK), capsys)
    assert counts["programs that fall back"] < 0.15 * counts["programs"]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_random_programs(chunk, capsys):
    counts = run(range(chunk * CHUNK, (chunk + 1) * CHUNK), capsys)
    assert counts["programs that fall back"] < 0.15 * counts["programs"]


def test_a_program_that_goes_wrong_is_told(monkeypatch):
    monkeypatch.setattr("tests.jit.test_random_programs.jit_onnx", Wrong)
    found = check(3, Counter())
    assert found
    assert "def program" in found[-1]


class Wrong:
    """A jitted function that returns nothing."""

    _cache = ()

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        self.function(*args)

    def cache_info(self):
        return {"graphs": 1, "eager": 0}
