# SPDX-License-Identifier: Apache-2.0
"""Random programs do in all modes what they do in Python; few are refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.control.random_programs import make
from tests.control.random_runs import _calls, check, checked, shrunk, sweep
from tests.control.random_source import Line, Made, loaded, source, text_of

#: refusals that are known: which array is written to is not decided by the graph
_ALIAS = "an array is written to that is one of several arrays"


def _look_at(first: int, count: int) -> None:
    kinds: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    for seed, found in sweep(first, count, every=True):
        if found is None:
            continue
        assert found.kind in {"refused", "unread"}, f"{seed}: {found.cause}\n{found.detail}"
        if _ALIAS not in found.cause:
            kinds[found.kind] += 1
            causes[found.cause] += 1
    assert kinds["refused"] < 0.1 * count, causes
    assert kinds["unread"] < 0.02 * count


def test_random_programs_agree_with_python():
    _look_at(0, 150)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 14_000, 500))
def test_many_random_programs_agree_with_python(first: int):
    _look_at(first, 500)


def test_programs_are_the_same_in_each_run():
    assert source(make(7)) == source(make(7))
    assert source(make(7)) != source(make(8))


def test_a_wrong_program_is_seen_and_made_smaller(monkeypatch):
    lines = [
        Line("t = 1"),
        Line("if x.sum() > 0:", [Line("t = 2"), Line("t += len(x)")]),
        Line("else:", [Line("t = 3")]),
        Line("u = t + 1"),
        Line("return t", needed=True),
    ]
    made = Made(3, lines, ("F", "F"))
    assert checked(made, ["jit", "eager", "opset13", "newest"]) is None
    monkeypatch.setattr("tests.control.random_runs.MODES", {"jit": _off_by_one})
    found = checked(made)
    assert found is not None
    assert found.kind == "differs"
    small = shrunk(made, found, ["jit"])
    assert small.body[0].text == "if x.sum() > 0:"
    assert sum(1 for _ in text_of(small.body)) == 5


def _off_by_one(fn, inputs, wanted):
    for args, want in zip(inputs, wanted, strict=True):
        assert fn(*args) + 1 == want[0], "result"


def test_a_program_that_does_not_end_is_a_finding():
    made = Made(3, [Line("while True:", [Line("s += 1")])], ("F", "F"))
    loaded(made)
    with pytest.raises(Exception, match="hang"):
        check(made, seconds=0.5)


def _narrowed(fn):
    """Give float32 where Python gives float64."""
    return lambda *args: np.float32(fn(*args))


@pytest.mark.parametrize("arrays", [("G", "S"), ("S", "S"), ("G", "G"), ("F", "S")])
def test_the_dtype_of_a_join_is_no_difference_but_lost_digits_are(arrays, monkeypatch):
    choice = Line("if n > 3:", [Line("y = x")])
    half = Made(4, [choice, Line("return y * 0.5")], arrays)
    real = Made(4, [choice, Line("return np.float64(s) * 0.5")], arrays)
    assert checked(half, ["jit", "eager", "opset13", "newest"]) is None
    monkeypatch.setattr("tests.control.random_runs.MODES", {"jit": _calls(_narrowed)})
    found = checked(real)
    assert found is not None
    assert found.kind == "differs"
