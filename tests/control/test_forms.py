# SPDX-License-Identifier: Apache-2.0
"""Branches and loops as functions: what they give in graphs, models, eagerly and plainly."""

import json
import warnings
from typing import NamedTuple

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import onnxjit
from onnxjit import (
    AssumptionWarning,
    UnsupportedError,
    cond,
    eager_onnx,
    fori_loop,
    int64,
    jit_onnx,
    scan,
    switch,
    while_loop,
)
from onnxjit._lower.opsets import supported
from tests.control.modes import _leaves

OPSETS = (13, max(supported()))
OFFSETS = np.array([0.5, -1.0, 2.0])


class Pair(NamedTuple):
    first: object
    second: object


# --- programs: x is float64, n an integer ----------------------------------------------------


def root_or_square(x, n):
    return cond(x.sum() > n, lambda a: np.sqrt(np.abs(a)), np.square, x)


def cond_writes(x, n):
    y = x.copy()

    def halve(a):
        a[:1] /= 2
        return np.shape(a)

    cond(n > 1, halve, np.shape, y)
    return y


def cond_of_sizes(x, n):
    return cond(len(x) > 2, lambda: x[:2] + n, lambda: x)


def three_ways(x, n):
    return switch(n - 1, [np.negative, lambda a: a[:1], lambda a: np.concatenate([a, a])], x)


def two_ways_with_closure(x, n):
    scale = x.max(initial=1.0)
    return switch(n, [lambda: scale * OFFSETS, lambda: OFFSETS - scale])


def one_way(x, n):
    return switch(n, [np.abs], x)


def while_doubles(x, n):
    longer = lambda c: np.concatenate([c, c + 1])  # noqa: E731
    return while_loop(lambda c: len(c) < n * 3, longer, x[:1] + 0)


def while_tree(x, n):
    def step(c):
        return {"x": c["x"] / 2, "steps": (c["steps"][0] + 1,)}

    test = lambda c: np.abs(c["x"]).max(initial=0.0) > 0.5  # noqa: E731
    return while_loop(test, step, {"x": x, "steps": (n,)})


def while_writes(x, n):
    def step(c):
        total, i = c
        total[i % 3] += i * OFFSETS[i % 3]
        return total, i + 1

    return while_loop(lambda c: c[1] < n, step, (np.zeros(3), 0))


def fori_power(x, n):
    return fori_loop(0, n, lambda i, c: c * x + i, np.ones_like(x))


def fori_static(x, n):
    return fori_loop(1, 4, lambda i, c: (c[0] + n, c[1] * i + n), (x, 1.5))


def fori_grows(x, n):
    return fori_loop(0, n, lambda i, c: np.concatenate([c, c[:1] * i]), x)


def fori_nested(x, n):
    def row(i, c):
        return fori_loop(0, i, lambda j, d: d + j * x, c)

    return fori_loop(0, n + 1, row, np.zeros_like(x))


def scan_sums(x, n):
    return scan(lambda c, v: (c + v * n, c), np.float64(0.0), x)


def scan_reversed(x, n):
    return scan(lambda c, v: (c + v, Pair(c, (v * n, None))), np.float64(1.0), x, reverse=True)


def scan_nested_values(x, n):
    xs = {"a": x, "b": [np.outer(x, OFFSETS), (x > 0,)]}

    def step(c, e):
        rows, (flag,) = e["b"]
        total = c[0] + rows * e["a"]
        return (total, c[1] + flag), {"total": total, "flag": [flag, n]}

    return scan(step, (np.zeros(3), np.int64(0)), xs)


def scan_length(x, n):
    return scan(lambda c, _: (c * 0.5, c), x, None, length=n)


def scan_static_length(x, n):
    return scan(lambda c, _: (c + n, c.sum()), x, None, length=4)


def scan_constant(x, n):
    return scan(lambda c, v: (c + v, c * v), np.float64(n), OFFSETS)


def scan_branches(x, n):
    def step(c, v):
        if v > c:
            return v, -c
        return c, v * n

    return scan(step, np.float64(0.0), x)


def scan_writes(x, n):
    def step(c, v):
        c[0] += v
        return c, c

    return scan(step, np.zeros(2), x)


def scan_both(x, n):
    return scan(lambda c, v: (c + v[0] @ v[1], v[2]), 0.0 * n, _three(x))


def _three(x):
    rows = np.outer(x, OFFSETS)
    return rows, rows + 1, x


def map_rows(x, n):
    return onnxjit.map(lambda row: row / (np.abs(row).sum() + n), np.outer(x, OFFSETS))


def map_tree(x, n):
    return onnxjit.map(lambda p: {"s": p[0] + p[1], "n": n}, (x, x * 2))


def map_in_map(x, n):
    inner = lambda v: onnxjit.map(lambda w: v * w + n, OFFSETS)  # noqa: E731
    return onnxjit.map(inner, x)


PROGRAMS = [
    root_or_square, cond_writes, cond_of_sizes, three_ways, two_ways_with_closure, one_way,
    while_doubles, while_tree, while_writes, fori_power, fori_static, fori_grows, fori_nested,
    scan_sums, scan_reversed, scan_nested_values, scan_length, scan_static_length,
    scan_constant, scan_branches, scan_writes, scan_both, map_rows, map_tree, map_in_map,
]  # fmt: skip
NEEDS_ELEMENTS = {while_doubles}
INPUTS = [
    (np.array([1.5, -2.0, 3.0, 0.25]), np.int64(2)),
    (np.array([0.5]), np.int64(3)),
    (np.array([-3.0, 4.0]), np.int64(0)),
    (np.zeros(0), np.int64(1)),
]


def same(got, want):
    """Compare structures, dtypes and shapes exactly, and numbers to a few last places."""
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
        return
    if want is None:
        assert got is None
        return
    got, want = np.asarray(got), np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


def inputs_of(fn):
    return [(x, n) for x, n in INPUTS if len(x) or fn not in NEEDS_ELEMENTS]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_calls_give_what_python_gives(fn):
    jit = jit_onnx(fn, fallback="error")
    for _ in range(2):
        for x, n in inputs_of(fn):
            got, want = jit(x, n), fn(x, n)
            same(got, want)
            assert _types(got) == _types(want)


def _types(x):
    if isinstance(x, dict):
        return {k: _types(v) for k, v in x.items()}
    return (type(x), *map(_types, x)) if isinstance(x, (list, tuple)) else type(x)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_eager_calls_give_what_python_gives(fn):
    for x, n in inputs_of(fn):
        same(eager_onnx(fn)(x, n), fn(x, n))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_models_give_what_python_gives(fn, opset):
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        model = jit_onnx(fn).to_onnx(*INPUTS[0], opset=opset)
    session = ort.InferenceSession(model.SerializeToString())
    fed = {i.name for i in session.get_inputs()}
    for x, n in inputs_of(fn):
        arguments = {"x": x, "n": np.asarray(n)}
        got = session.run(None, {k: v for k, v in arguments.items() if k in fed})
        want = [leaf for leaf in _leaves(fn(x, n)) if leaf is not None]
        same(got, want)
    assert json.loads({p.key: p.value for p in model.metadata_props}["onnxjit.result_tree"])


@pytest.mark.parametrize(
    ("fn", "kind"),
    [
        (root_or_square, "if: If"),
        (three_ways, "if: If"),
        (while_tree, "while: Loop"),
        (fori_grows, "for: Loop"),
        (scan_nested_values, "for: Loop"),
        (scan_static_length, "for: unrolled 4 times"),
        (map_rows, "for: Loop"),
    ],
)
def test_data_makes_branches_and_loops_of_the_graph(fn, kind):
    jit = jit_onnx(fn)
    jit(*INPUTS[0])
    (graph,) = jit.explain().graphs
    assert kind in {control.text for control in graph.controls}


FLOATS = st.floats(-8, 8, width=32).map(float)


@settings(max_examples=40, deadline=None)
@given(
    x=arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(1, 3)), elements=FLOATS),
    start=FLOATS,
    reverse=st.booleans(),
)
def test_scan_does_what_its_description_says(x, start, reverse):
    def step(carry, row):
        carry = carry * 0.5 + row[0]
        return carry, np.where(row > carry, row, carry)

    def plain(x, start):
        carry, ys = start, []
        for row in reversed(x) if reverse else x:
            carry, y = step(carry, row)
            ys.append(np.copy(y))
        empty = np.zeros((0, *x.shape[1:]))
        return carry, np.stack(ys[::-1] if reverse else ys) if ys else empty

    def scanned(x, start):
        return scan(step, start, x, reverse=reverse)

    start = np.float64(start)
    want = plain(x, start)
    same(scanned(x, start), want)
    same(JITS[reverse](step, x, start), want)
    same(eager_onnx(scanned)(x, start), want)


JITS = [
    jit_onnx(lambda f, x, c, r=r: scan(f, c, x, reverse=r), fallback="error")
    for r in (False, True)
]


@settings(max_examples=30, deadline=None)
@given(
    x=arrays(np.float64, st.integers(1, 4), elements=FLOATS),
    ops=st.lists(st.sampled_from([np.negative, np.square, np.abs, np.cos]), min_size=1),
    index=st.integers(-3, 9),
    times=st.integers(-2, 6),
)
def test_switch_and_fori_loop_do_what_their_descriptions_say(x, ops, index, times):
    def program(x, index, times):
        return switch(index, ops, fori_loop(0, times, lambda i, c: c / 2 + i, x))

    want = x
    for i in range(times):
        want = want / 2 + i
    want = ops[min(max(index, 0), len(ops) - 1)](want)
    given_ = x, np.int64(index), np.int64(times)
    same(program(*given_), want)
    same(jit_onnx(program, fallback="error")(*given_), want)
    same(eager_onnx(program)(*given_), want)


# --- arguments that are wrong ----------------------------------------------------------------


def no_pair(c, v):
    return np.maximum(c, v)


def text(c, v):
    return c, f"{type(v)}"


def pair(c, v):
    return c, v


WRONG = [
    (lambda x: scan(no_pair, 0.0, x), TypeError, r"a pair \(carry, y\)"),
    (lambda x: scan(text, 0.0, x), TypeError, "a str cannot be .* stacked"),
    (lambda x: scan(pair, x, None), ValueError, "or length="),
    (lambda x: scan(pair, 0.0, x, 7), ValueError, "differ in length"),
    (lambda x: scan(pair, x, None, -1), ValueError, "not be negative"),
    (lambda x: scan(pair, 0.0, (x, x[1:])), ValueError, "differ in length"),
    (lambda x: onnxjit.map(abs, x.sum()), ValueError, "the first axis"),
    (lambda x: onnxjit.map(abs, (x, 2.0)), ValueError, "the first axis"),
    (lambda x: switch(0, [], x), ValueError, "at least one branch"),
]


@pytest.mark.parametrize("wrap", [lambda f: f, jit_onnx, eager_onnx])
@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
def test_wrong_arguments_are_named(wrap, call, kind, message):
    with pytest.raises(kind, match=message):
        wrap(call)(np.arange(3.0))


@pytest.mark.parametrize("wrap", [lambda f: f, eager_onnx, jit_onnx])
@pytest.mark.filterwarnings("ignore::onnxjit.FallbackWarning")
def test_results_of_other_structures_cannot_be_stacked(wrap):
    def fn(x):
        return onnxjit.map(lambda v: (v,) if v > 1 else [v], x)

    with pytest.raises(ValueError, match="differ in structure"):
        wrap(fn)(np.arange(3.0))


def test_results_of_other_shapes_are_refused_in_models_and_are_numpys_error_in_calls():
    def fn(x):
        return onnxjit.map(lambda v: x[:v], x)

    x = np.arange(3)
    with pytest.raises(UnsupportedError, match="pad them to one size"):
        jit_onnx(fn).to_onnx(int64["N"])
    with pytest.raises(ValueError, match="same shape"):
        jit_onnx(fn)(x)


def test_the_stand_in_for_no_element_leaves_the_first_carry_alone():
    start = np.ones(2)

    def step(c, v):
        c += 1
        return c, v

    carry, ys = scan(step, start, np.zeros((0, 3), np.float32))
    assert carry is start
    assert start.tolist() == [1.0, 1.0]
    assert (ys.shape, ys.dtype) == ((0, 3), np.float32)
