# SPDX-License-Identifier: Apache-2.0
"""`explain`: what is kept for calls, with the lines that made it so."""

import enum
import json
import warnings
from types import SimpleNamespace

import numpy as np

from onnxjit import FallbackWarning, jit_onnx
from onnxjit._jit.function import VARIANTS

SCALE = 2.0
M = np.ones((5, 3))
V = np.ones(3)


class Mode(enum.Enum):
    FAST = 1


def branch(x, y):
    if x.shape[0] > 2:
        x = x[1:]
    return x * y


def scaled(x):
    return x * SCALE


def eager(x):
    if float(str(x.sum())) > 0:
        return x
    return -x


def line_of(fn, offset):
    return fn.__code__.co_firstlineno + offset


def texts(conditions):
    return [c.text for c in conditions]


def called(fn, *calls):
    jit = jit_onnx(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for args in calls:
            jit(*args)
    return jit.explain()


def test_before_any_call():
    found = jit_onnx(branch).explain()
    assert found.kept == []
    assert str(found) == "branch: no graphs yet; the first call makes one"
    assert found.to_json() == {"function": "branch", "kept": [], "full": []}


def test_a_graph_has_its_signature_guards_and_lines():
    (graph,) = called(branch, (M, V)).graphs
    assert graph.signature == "branch(x: float64[:, :], y: float64[:])"
    assert texts(graph.guards) == ["x.shape[0] >= 3", "x.shape[1] == y.shape[0]"]
    assert [g.source.line for g in graph.guards] == [line_of(branch, 1), line_of(branch, 3)]
    assert graph.guards[0].source.file == __file__
    assert graph.guards[0].where.endswith(": if x.shape[0] > 2:")
    assert graph.frozen == []
    assert graph.retraced == ""
    assert graph.nodes == 2


def test_a_frozen_size_names_the_line_that_settled_it():
    (graph,) = called(branch, (M, np.ones(1))).graphs
    assert texts(graph.frozen) == ["y.shape[0] == 1"]
    assert graph.frozen[0].source.line == line_of(branch, 3)
    assert texts(graph.guards) == ["x.shape[0] >= 3"]


def test_a_size_frozen_through_another_one():
    def both(x, y):
        return (x + y) * (1 if x.shape[0] == 3 else 2)

    (graph,) = called(both, (V, V)).graphs
    assert texts(graph.frozen) == ["x.shape[0] == 3", "y.shape[0] == 3"]
    assert {c.source.line for c in graph.frozen} == {line_of(both, 1)}


def test_the_opset_is_the_one_of_calls():
    jit = jit_onnx(scaled, opset=17)
    jit(V)
    assert jit.explain().graphs[0].opset == 17


def test_a_guard_that_did_not_hold():
    first, second = called(branch, (M, V), (M[:1], V)).graphs
    assert first.retraced == ""
    assert second.retraced.startswith(
        "unlike graph 1: x.shape[0] was 1, so not x.shape[0] >= 3 ("
    )
    assert f":{line_of(branch, 1)}: if x.shape[0] > 2:" in second.retraced


def test_the_nearest_graph_is_compared_with():
    calls = [(M, V), (M.astype("f4"), V), (M.astype("f4"), V.astype("f4"))]
    *_, last = called(branch, *calls).graphs
    assert last.retraced == "unlike graph 2: y was float32[:], not float64[:]"


def test_ranks_and_missing_arguments():
    def f(x, k=1, *, mode="a"):
        return x * k if mode == "a" else x

    jit = jit_onnx(f)
    jit(V)
    jit(M, 2)
    jit(M, mode="b")
    _, second, third = jit.explain().graphs
    assert (
        second.retraced
        == "unlike graph 1: x was float64[:, :], not float64[:]; k was passed (int)"
    )
    assert third.retraced == "unlike graph 2: mode was passed ('b'); k was not passed"
    assert third.signature == "f(x: float64[:, :], mode: 'b')"


def test_a_rebound_value(monkeypatch):
    jit = jit_onnx(scaled)
    jit(V)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    jit(V)
    first, second = jit.explain().graphs
    assert texts(first.guards) == ["SCALE is 2.0"]
    assert second.retraced == "unlike graph 1: SCALE was 3.0, not 2.0"


def test_every_kind_of_argument_has_a_text():
    def f(x, *args, **kwargs):
        return x + 1

    jit = jit_onnx(f)
    holder = SimpleNamespace()
    static = (None, True, "a" * 100, 2j, slice(1, None), Mode.FAST, np.dtype("f4"), holder)
    jit(V, *static, [1, (2.5, V)], {"a": np.float32(1)}, 3, 0.5, np.int8(1), size=V, int=4)
    (graph,) = jit.explain().graphs
    assert graph.signature.startswith(
        "f(x: float64[:], args_0: None, args_1: True, args_2: 'aaa"
    )
    for text in (
        "args_3: 2j", "args_5: Mode.FAST", "args_6: dtype('float32')", "SimpleNamespace at 0x",
        "args_8: list(1, tuple(2.5, float64[:]))", "args_9: dict('a': float32 scalar)",
        "args_10: int, args_11: float, args_12: int8 scalar", "size: float64[:], int: int)",
    ):  # fmt: skip
        assert text in graph.signature


def test_what_runs_eagerly_says_why_and_where():
    found = called(eager, (V,))
    (kept,) = found.eager
    assert found.graphs == []
    assert kept.signature == "eager(x: float64[:])"
    assert kept.reason.startswith("DataDependentError: ")
    assert kept.source.line == line_of(eager, 1)
    assert str(found).startswith("eager: 0 graphs, 1 signature eagerly\n\neager 1: eager(x")
    assert f":{line_of(eager, 1)}: if float(str(x.sum())) > 0:" in str(found)


def test_guards_of_what_runs_eagerly():
    def f(x):
        if len(x) > 4:
            x = x + 1
        return eager(x)

    _, second = called(f, (V,), (np.ones(5),)).eager
    assert texts(second.guards) == ["x.shape[0] >= 5"]
    assert second.retraced == "unlike eager 1: x.shape[0] <= 4 did not hold"


def test_written_arguments():
    def f(x, y):
        x += y

    (graph,) = called(f, (np.ones(3), np.ones(3))).graphs
    assert "x.flags.writeable" in texts(graph.guards)
    assert "not may_share_memory(x, y)" in texts(graph.guards)


class Model:
    def __init__(self, weight):
        self.weight = weight

    @jit_onnx
    def predict(self, x):
        return x * self.weight


def test_methods_tell_objects_apart():
    Model.predict.cache_clear()
    a, b = Model(2.0), Model(3.0)
    a.predict(V)
    b.predict(V)
    a.weight = 4.0
    a.predict(V)
    first, second = a.predict.explain().graphs
    assert first.signature == "predict(x: float64[:])"
    assert second.retraced == "unlike graph 1: self.weight was 4.0, not 2.0"
    assert len(b.predict.explain().graphs) == 1
    everything = Model.predict.explain()
    assert len(everything.graphs) == 3
    assert "self was object" in everything.graphs[1].retraced


def test_a_signature_with_all_its_graphs():
    def f(x):
        return x * float(str(len(x)))

    found = called(f, *[(np.ones(n),) for n in range(1, 11)])
    assert len(found.kept) == VARIANTS
    assert found.full == ("f(x: float64[:])",)
    assert str(found).endswith(
        "f(x: float64[:]) has all graphs it may have; new sizes run eagerly"
    )


def test_everything_is_plain_data():
    found = called(branch, (M, V), (M, np.ones(1)), (M[:1], V))
    data = json.loads(json.dumps(found.to_json()))
    assert [k["number"] for k in data["kept"]] == [1, 2, 3]
    frozen = data["kept"][1]["frozen"]
    assert frozen == [
        {
            "kind": "frozen",
            "text": "y.shape[0] == 1",
            "file": __file__,
            "line": line_of(branch, 3),
            "function": "branch",
        }
    ]
    assert repr(found) == str(found)


def controlled(x, n, flag):
    if flag:
        x = x + 1
    if len(x) > 2:
        x = x * 2
    for _ in range(3):
        x = x + 1
    for i in range(n):
        x = x + i
        if x[0] > 5:
            x = x - 1
    while x.sum() > 100:
        x = x / 2
    return x if x[1] > 0 else -x


def test_branches_and_loops_are_listed():
    found = called(controlled, (V, 4, True))
    (graph,) = found.graphs
    lines = [
        (2, "if: static"),
        (4, "if: guard"),
        (6, "for: unrolled 3 times"),
        (8, "for: Loop"),
        (10, "if: If"),
        (12, "while: Loop"),
        (14, "if: If"),
    ]
    first = line_of(controlled, -1)
    assert [(c.source.line - first, c.text) for c in graph.controls] == lines
    text = str(found)
    assert f"  for: unrolled 3 times  {graph.controls[2].where}" in text
    assert text.count("test_explain.py:") >= len(lines)
    assert [c["text"] for c in graph.to_json()["controls"]] == [t for _, t in lines]


def test_other_loops_of_python_are_counted():
    def f(x):
        for k in {"a": 1, "b": 2}:
            x = x + len(k)
        n = 3
        while n:
            n -= 1
            x = x + n
        return x

    (graph,) = called(f, (V,)).graphs
    assert texts(graph.controls) == ["for: unrolled 2 times", "while: unrolled 3 times"]
