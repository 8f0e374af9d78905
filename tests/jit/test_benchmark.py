# SPDX-License-Identifier: Apache-2.0
"""`benchmark`, its harness and tables, every kernel of benchmarks/ at its smallest size."""

import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.kernels import KERNELS
from benchmarks.kernels.ufuncs import OPERATORS, OTHERS
from onnxjit import jit_onnx
from onnxjit._bench import harness
from onnxjit._bench.harness import Contender, Spread, Timings, measure
from onnxjit._bench.report import duration, table
from onnxjit._jit import benchmark as module
from onnxjit._jit.compare import Check

X = np.arange(12, dtype=np.float32).reshape(3, 4)
QUICK = {"repeat": 2, "seconds": 1e-5}
ROOT = Path(__file__).parents[2]
#: starts processes, which compile everything anew
SLOW = {"import"}


def squares(x, y):
    return ((x - y) ** 2).sum()


# --------------------------------------------------------------------- kernels


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in KERNELS]
)
def test_a_kernel_at_its_smallest_size(name):
    kernel = KERNELS[name]
    result = kernel.run(kernel.sizes[0], 1)
    assert result.ratio.median > 0
    assert all(s.median >= 0 for s in result.seconds.values())


#: compared with NumPy, with nothing promised for all of them: benchmarks/README.md says why
COMPARED = ("linalg-", "spectral-", "fourier-")


def test_every_promise_has_a_bar():
    unbound = {k.name for k in KERNELS.values() if k.bar(k.sizes[-1]) is None}
    assert {name for name in unbound if not name.startswith(COMPARED)} == {
        f"numpy-{u.__name__}" for u in OTHERS
    }


def test_the_script_lists_measures_and_writes(tmp_path):
    found = tmp_path / "found.json"
    command = [sys.executable, "benchmarks/run.py", "--only", "call-one", "--json", str(found)]
    done = subprocess.run(
        [*command, "--blocks", "1", "--smallest"],
        check=True, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
    )  # fmt: skip
    assert "call-one-input" in done.stdout
    (result,) = json.loads(found.read_text())["results"]
    assert result["kernel"] == "call-one-input"
    assert isinstance(result["met"], bool)


# --------------------------------------------------------------------- a jitted function


def test_a_report_of_a_function():
    report = jit_onnx(squares).benchmark(X, X + 1, **QUICK)
    assert report.ok
    assert report.name == "squares"
    assert list(report.timings.seconds) == ["numpy", "warm call", "session.run"]
    assert list(report.phases) == ["rewrite", "trace", "passes", "lower", "session"]
    assert all(s.median > 0 for s in report.phases.values())
    data = json.loads(json.dumps(report.to_json()))
    assert {(r["of"], r["to"]) for r in data["ratios"]} >= {("warm call", "session.run")}
    assert data["environment"]["numpy"] == np.__version__
    lines = str(report).splitlines()
    assert lines[0] == "squares: results agree"
    assert lines[2].split()[:2] == ["median", "quartiles"]
    assert repr(report) == str(report)


def test_arguments_by_name_and_options_of_the_function():
    def f(x, *, repeat):
        return x * repeat

    report = jit_onnx(f).benchmark(X, kwargs={"repeat": 3}, **QUICK)
    assert report.ok


def test_written_arguments_are_fresh_for_each_call():
    seen = []

    def f(x):
        x *= 2

    jit = jit_onnx(f)
    before = X.copy()
    report = jit.benchmark(before, **QUICK)
    assert report.ok
    np.testing.assert_array_equal(before, X)
    contender = Contender("c", lambda x: seen.append(x[0]), setup=lambda: (np.ones(1),))
    contender.seconds(3)
    assert seen == [1.0, 1.0, 1.0]


def test_what_runs_eagerly_has_no_model():
    report = jit_onnx(lambda x: x if float(str(x.sum())) > 0 else -x).benchmark(X, **QUICK)
    assert list(report.timings.seconds) == ["numpy", "warm call"]
    assert report.phases == {}
    assert "eagerly" in str(report)


def test_results_that_need_no_run():
    report = jit_onnx(lambda x: x.shape).benchmark(X, **QUICK)
    assert list(report.timings.seconds) == ["numpy", "warm call"]
    assert report.phases["session"].median == 0


def test_methods():
    class Model:
        @jit_onnx
        def predict(self, x):
            return x * 2

    assert Model().predict.benchmark(X, **QUICK).ok


def test_results_are_compared_first(monkeypatch):
    check = Check("differs", text="result: made up")
    monkeypatch.setattr(module, "compare_results", lambda *_: check)
    report = jit_onnx(squares).benchmark(X, X, **QUICK)
    assert not report.ok
    assert str(report).startswith("squares: RESULTS DIFFER: result: made up")


def test_plots(tmp_path):
    report = jit_onnx(squares).benchmark(X, X, **QUICK)
    path = tmp_path / "times.png"
    if importlib.util.find_spec("matplotlib") is None:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            report.plot(path)
    else:
        report.plot(path)
        assert path.stat().st_size > 0


# --------------------------------------------------------------------- harness


def test_spreads():
    spread = Spread([4.0, 1.0, 2.0, 3.0])
    assert (spread.low, spread.median, spread.high) == (1.75, 2.5, 3.25)
    assert Spread([7.0]).to_json() == {"median": 7.0, "low": 7.0, "high": 7.0}
    assert math.isnan(Spread([]).median)


def test_ratios_are_taken_within_blocks():
    timings = Timings({"a": [1.0, 10.0, 100.0], "b": [2.0, 20.0, 200.0]})
    ratio = timings.ratio("a", "b")
    assert (ratio.low, ratio.median, ratio.high) == (0.5, 0.5, 0.5)


def test_a_slower_contender_is_seen():
    ours = [Contender("one", sum, range(100)), Contender("ten", sum, range(1000))]
    timings = measure(ours, blocks=3, seconds=1e-4)
    assert len(timings.seconds["one"].samples) == 3
    assert timings.ratio("ten", "one").median > 2


def test_each_contender_has_its_turn_after_a_rest(monkeypatch):
    made: list[str] = []
    rests: list[float] = []
    monkeypatch.setattr(harness, "sleep", rests.append)
    ours = [Contender(n, made.append, n) for n in "ab"]
    loops = {"a": 1, "b": 1}
    monkeypatch.setattr(Contender, "loops", lambda self, _: loops[self.name])
    timings = measure(ours, blocks=2, rest=0.5)
    assert rests == [0.5] * 4
    assert "".join(made) == "aaaaabbbbb" + "bbbbbaaaaa"
    assert len(timings.seconds["a"].samples) == 2


def test_every_ufunc_of_float32_is_measured():
    loops = [
        (u, each.partition("->"))
        for u in {x for x in vars(np).values() if isinstance(x, np.ufunc)}
        for each in u.types
        if u.signature is None and u.nout == 1
    ]
    found = {u for u, (inputs, _, _) in loops if inputs in {"f", "ff"}}
    assert found - {*OPERATORS, *OTHERS} == set()


def test_tables_are_aligned():
    text = table(["name", "n"], [["a", "1"], ["bcdef", "100"], ["c"]], right=" r")
    assert text.splitlines() == ["name     n", "-----  ---", "a        1", "bcdef  100", "c"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4e-6, "4 us"), (5e-8, "50 ns")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
