# SPDX-License-Identifier: Apache-2.0
"""Programs with control flow: calls, eager work and models against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from tests.control import modes
from tests.control.corpus import BY_NAME, MODULES
from tests.control.coverage import functions_of, lines_of, lines_run
from tests.control.modes import MODES, attempt, limited, plain
from tests.control.not_yet import NOT_YET
from tests.control.record import Program
from tests.control.status import failure, pairs, text_of

#: seconds for a program in a mode
LIMIT, LARGE_LIMIT = 20.0, 120.0

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


PAIRS = [(pytest.param(p, mode, id=f"{p.name}-{mode}"), p.large) for p, mode in pairs([])]


def agrees(program: Program, mode: str, *, large: bool = False) -> None:
    """Assert that a pair passes; one of ``not_yet.py`` is a strict xfail.

    It is no mark: pytest would format each traceback, which takes longer than the run.
    """
    limit = LARGE_LIMIT if large else LIMIT
    if program.name not in NOT_YET[mode]:
        with limited(limit):
            attempt(program, mode, large=large)
        return
    error = failure(program, mode, limit, large=large)
    assert error, "passes now: take it off not_yet.py"
    pytest.xfail(error)


@pytest.mark.parametrize(("program", "mode"), [pair for pair, _ in PAIRS])
def test_agrees_with_python(program: Program, mode: str) -> None:
    agrees(program, mode)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "mode"), [pair for pair, large in PAIRS if large])
def test_agrees_on_large_inputs(program: Program, mode: str) -> None:
    agrees(program, mode, large=True)


@pytest.mark.parametrize("program", BY_NAME.values(), ids=BY_NAME)
def test_inputs_reach_every_line(program: Program) -> None:
    code = program.fn.__code__
    seen = lines_run(code.co_filename, lambda: plain(program, program.inputs))
    missed = sorted(lines_of(code) - seen)
    assert not missed, f"{code.co_filename}, lines {missed}"


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_helpers_are_reached(module) -> None:
    own = [p for p in BY_NAME.values() if p.fn.__module__ == module.__name__]

    def run() -> None:
        for p in own:
            plain(p, p.inputs)

    seen = lines_run(own[0].fn.__code__.co_filename, run)
    functions = {f.__name__: lines_of(f.__code__) for f in functions_of(module)}
    # those that make the inputs have run before
    missed = {n: sorted(f - seen) for n, f in functions.items() if f - seen and f & seen}
    assert not missed


@pytest.mark.parametrize("program", BY_NAME.values(), ids=BY_NAME)
def test_record_is_consistent(program: Program) -> None:
    assert len(program.inputs) > 1
    assert bool(program.rtol) == bool(program.why)
    wanted = plain(program, program.inputs)
    assert wanted[0].error is None, "the first input is the example"
    assert (program.raises is not None) == any(w.error is not None for w in wanted)


def test_the_list_names_what_there_is() -> None:
    every = {(p.name, mode) for p, mode in pairs([])}
    assert {(name, mode) for mode in NOT_YET for name in NOT_YET[mode]} <= every
    assert list(NOT_YET) == list(MODES)
    assert "eager" not in text_of({"jit": ["a"]})


# --- the harness itself ----------------------------------------------------------------------

INPUTS = ((np.arange(3.0), 2.0), (np.arange(5.0), -1.0))


def doubled(x, s):
    x *= 2
    return {"sum": x.sum(), "rest": (x[1:] * s, 3)}


@pytest.mark.parametrize("mode", MODES)
def test_a_right_program_passes(mode):
    attempt(Program(doubled, INPUTS), mode)


def unwritten(x, s):
    y = x * 2
    return {"sum": y.sum(), "rest": (y[1:] * s, 3)}


def narrow(x, s):
    x *= 2
    return {"sum": x.sum(), "rest": ((x[1:] * s).astype(np.float32), 3)}


def longer(x, s):
    x *= 2
    return {"sum": x.sum(), "rest": (x[1:] * s, 3, 4)}


def other_constant(x, s):
    x *= 2
    return {"sum": x.sum(), "rest": (x[1:] * s, 4)}


def other_size(x, s):
    x *= 2
    return {"sum": x.sum(), "rest": (x[:-1] * s, 3)}


@pytest.mark.parametrize("wrong", [unwritten, narrow, longer, other_constant, other_size])
@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_result_is_seen(mode, wrong, monkeypatch):
    monkeypatch.setattr(modes, "jit_onnx", lambda _fn, **kwargs: jit_onnx(wrong, **kwargs))
    monkeypatch.setattr(modes, "eager_onnx", lambda _fn: eager_onnx(wrong))
    with pytest.raises(AssertionError, match=r"instead of|items|always|is written"):
        attempt(Program(doubled, INPUTS), mode)


def refuse(x, s):
    if s < 0:
        msg = "below zero"
        raise ValueError(msg)
    return x * s


def refuse_otherwise(x, s):
    if s < 0:
        msg = "under zero"
        raise ValueError(msg)
    return x * s


@pytest.mark.parametrize("mode", ["jit", "eager"])
def test_another_message_is_seen(mode, monkeypatch):
    program = Program(refuse, INPUTS, raises=ValueError)
    attempt(program, mode)
    monkeypatch.setattr(modes, "jit_onnx", lambda _fn, **kw: jit_onnx(refuse_otherwise, **kw))
    monkeypatch.setattr(modes, "eager_onnx", lambda _fn: eager_onnx(refuse_otherwise))
    with pytest.raises(AssertionError, match="under zero"):
        attempt(program, mode)


def endless():
    while True:
        pass


def test_an_endless_program_is_stopped():
    with pytest.raises(AssertionError, match="still running"), limited(0.05):
        endless()
