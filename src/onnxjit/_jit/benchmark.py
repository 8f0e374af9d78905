# SPDX-License-Identifier: Apache-2.0
"""`JitFunction.benchmark`: NumPy against onnxruntime, and what a first call costs."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from onnxjit._bench.harness import Contender, Spread, measure
from onnxjit._bench.report import BenchmarkReport
from onnxjit._eager.entry import Entry
from onnxjit._engine.compile import Compiled
from onnxjit._lower.opsets import check_opset
from onnxjit._rewrite import rewrite_function
from onnxjit._runtime.options import Options
from onnxjit._transform.pipeline import simplify

from .arguments import Arguments
from .function import Call
from .start import Start, settled
from .whole import compare_results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnxjit._runtime.ort import OrtRunner

    from .compare import Check
    from .function import JitFunction

__all__ = ["benchmark", "first_call", "raw_run"]

#: first calls that are timed
FIRST_CALLS: Final = 5


class _Timed(Compiled):
    """A compiled program that knows how long its session took."""

    __slots__ = ("session_seconds",)

    def _open(self, options: Options) -> OrtRunner:
        started = perf_counter()
        runner = super()._open(options)
        self.session_seconds = perf_counter() - started
        return runner


def benchmark(
    jit: JitFunction, owner: Any, args: tuple[Any, ...], given: Mapping[str, Any]
) -> BenchmarkReport:
    """Time a jitted function against NumPy, on these arguments; see `Tools.benchmark`."""
    given = dict(given)
    repeat, seconds = given.pop("repeat", 25), given.pop("seconds", 0.0005)
    kwargs = {**(given.pop("kwargs", None) or {}), **given}
    name = getattr(jit.__wrapped__, "__qualname__", repr(jit.__wrapped__))
    start = Start(jit._function(owner), args, kwargs)
    check, changes = _check(jit, owner, args, kwargs, start)
    mine = Arguments(args, kwargs)
    call = Call(jit._naming(owner), mine.args, mine.kwargs, owner)
    call.find_roots(jit._naming(owner))
    entry = _entry(jit, call)
    contenders = _contenders(jit, call, entry, start if changes else None)
    timings = measure(contenders, blocks=repeat, seconds=seconds)
    start.restore()
    notes = [] if isinstance(entry, Entry) else ["the call runs eagerly; see explain()"]
    phases = first_call(jit, call) if isinstance(entry, Entry) else {}
    return BenchmarkReport(
        name, timings, phases, agreement=_agreement(check), ok=check.ok, notes=notes
    )


def _check(
    jit: JitFunction,
    owner: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    start: Start,
) -> tuple[Check, bool]:
    """Compare results and written arguments; the graph is there afterwards.

    Also returns whether a run changes the state that it starts from.
    """
    plain, jitted = Arguments(args, kwargs), Arguments(args, kwargs)
    want, plain = settled(plain.run(jit._function(owner)), plain)
    changes = start.restore()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = jit._call(jitted.args, dict(jitted.kwargs), owner)
    check = compare_results((got, jitted.leaves), (want, plain.leaves))
    return check, start.restore() or changes


def _agreement(check: Check) -> str:
    if not check.ok:
        return f"RESULTS DIFFER: {check.text}"
    close = f" (largest error {check.error:.3g}, {check.ulp} ulp)" if check.error else ""
    return f"results agree{close}"


def _entry(jit: JitFunction, call: Call) -> Any:
    """Return what serves a call that has been made; None where nothing is kept."""
    values = [leaf.value for leaf in call.leaves]
    for kept in jit._cache.get(call.key):
        if kept.value.guard is None or kept.value.guard(values):
            return kept.value
    return None


def _contenders(
    jit: JitFunction, call: Call, entry: Any, start: Start | None
) -> list[Contender]:
    """Return NumPy, the warm call, and the bare run of its model.

    `start` is what each run begins with, where it changes that.
    """
    args, kwargs = tuple(call.args), dict(call.kwargs)
    plain: Callable[..., Any] = jit._function(call.owner)
    ways = {
        "numpy": plain,
        "warm call": jit if call.owner is None else jit.__get__(call.owner),
    }
    if start is not None or (isinstance(entry, Entry) and entry.recording.written):

        def fresh() -> tuple[Any, ...]:
            if start is not None:
                start.restore()
            new = Arguments(args, kwargs)
            return new.args, new.kwargs

        found = [Contender(n, _applied(fn), setup=fresh) for n, fn in ways.items()]
    else:
        found = [
            Contender(n, partial(fn, **kwargs) if kwargs else fn, *args)
            for n, fn in ways.items()
        ]
    raw = raw_run(call, entry) if isinstance(entry, Entry) else None
    return found if raw is None else [*found, raw]


def _applied(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda args, kwargs: fn(*args, **kwargs)


def raw_run(call: Call, entry: Entry) -> Contender | None:
    """Return the bare run of a graph's model; None where nothing has to be computed."""
    values: Any = [leaf.value for leaf in call.leaves]
    if entry.read is not None:
        values = entry.read(values)
    arrays = [entry.feed(i)(values) for i in entry.compiled.inputs]
    runner = entry.compiled.runner_for(arrays)
    if runner is None:
        return None
    session, names, fetches = runner.raw
    feeds = dict(zip(names, arrays, strict=True))
    return Contender("session.run", session.run, fetches, feeds, None)


def first_call(jit: JitFunction, call: Call, *, times: int = FIRST_CALLS) -> dict[str, Spread]:
    """Time the steps of a first call.

    Returns
    -------
    dict of str to Spread
        ``rewrite`` (the function's own source; what it calls has been rewritten before),
        ``trace``, ``passes``, ``lower``, ``session``.
    """
    samples: dict[str, list[float]] = {}
    for _ in range(times):
        for step, seconds in _steps(jit, call).items():
            samples.setdefault(step, []).append(seconds)
    return {step: Spread(each) for step, each in samples.items()}


def _steps(jit: JitFunction, call: Call) -> dict[str, float]:
    seconds: dict[str, float] = {}
    if isinstance(jit.__wrapped__, FunctionType):
        seconds["rewrite"] = _rewriting(jit.__wrapped__)
    started = perf_counter()
    recording = jit._record(call, [])
    traced = perf_counter()
    program = simplify(recording.program)
    simplified = perf_counter()
    compiled = _Timed(program, check_opset(jit._opset), "onnxruntime", Options())
    done = perf_counter()
    session = getattr(compiled, "session_seconds", 0.0)
    compiled.close()
    return {
        **seconds,
        "trace": traced - started,
        "passes": simplified - traced,
        "lower": done - simplified - session,
        "session": session,
    }


def _rewriting(fn: FunctionType) -> float:
    """Return how long a rewrite takes; a copy of the code has not been rewritten yet."""
    copy = FunctionType(
        fn.__code__.replace(), fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__
    )
    started = perf_counter()
    rewrite_function(copy)
    return perf_counter() - started
