# SPDX-License-Identifier: Apache-2.0
"""What cannot be one graph: a warning with the line, eager work, right results."""

import base64
import collections
import datetime as dt
import fractions
import gc
import hashlib
import json
import pickle
import pprint
import random
import statistics
import struct
import time
import warnings
import zlib

import numpy as np
import pytest

from onnxjit import (
    DataDependentError,
    FallbackWarning,
    SideEffectError,
    SpecError,
    UnsupportedError,
    asarray,
    eager_onnx,
    jit_onnx,
)
from tests.jit.harness import agrees, same

V = np.array([3.0, -1.5, 2.25])


def branch(x):
    if float(str(x.sum().astype("f8"))) > 0:
        return x * 2
    return x - 1


def grow(x):
    total = 0.0
    while float(f"{total:.1f}") < 5:
        total = total + abs(x[0])
        x = x * 1.5
    return x, total


def line_of(fn, offset):
    return f"{__file__.rsplit('/', 1)[-1]}:{fn.__code__.co_firstlineno + offset}"


def quiet(jit, *args):
    """Call with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return jit(*args)


# ------------------------------------------------------------------ data


def test_text_made_of_data_warns_once_with_the_line():
    jit = jit_onnx(branch)
    with pytest.warns(FallbackWarning) as caught:
        same(jit(V), V * 2)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert line_of(branch, 1) in text
    assert "branch" in text
    assert caught[0].filename == __file__
    same(quiet(jit, -V), -V - 1)
    same(quiet(jit, V[:2]), V[:2] * 2)
    assert jit.cache_info() == {"graphs": 0, "eager": 1}


def test_the_decision_is_remembered_per_dtype():
    jit = jit_onnx(branch)
    with pytest.warns(FallbackWarning):
        jit(V)
    same(quiet(jit, V.astype("f4")), (V * 2).astype("f4"))
    assert jit.cache_info() == {"graphs": 0, "eager": 2}


def test_loops_on_text_made_of_data_run_eagerly():
    jit = jit_onnx(grow)
    with pytest.warns(FallbackWarning):
        same(jit(V), grow(V))
    same(quiet(jit, V * 3), grow(V * 3))


def test_a_remembered_decision_holds_under_its_guards():
    def f(x):
        if len(x) > 2:
            return x + 1
        return branch(x)

    jit = jit_onnx(f)
    with pytest.warns(FallbackWarning):
        same(jit(V[:2]), V[:2] * 2)
    same(quiet(jit, V), V + 1)
    assert jit.cache_info() == {"graphs": 1, "eager": 1}
    same(quiet(jit, -V[:2]), -V[:2] - 1)
    same(quiet(jit, V[:1]), V[:1] * 2)
    assert jit.cache_info()["graphs"] == 1


def test_fallback_error_raises_each_time():
    jit = jit_onnx(branch, fallback="error")
    for _ in range(2):
        with pytest.raises(DataDependentError, match=line_of(branch, 1)):
            jit(V)
    assert jit.cache_info() == {"graphs": 0, "eager": 0}


def test_exports_raise():
    with pytest.raises(DataDependentError, match=line_of(branch, 1)):
        jit_onnx(branch).to_onnx(V)


def flip(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def test_a_branch_on_data_is_one_graph():
    jit = jit_onnx(flip, fallback="error")
    for x in (V, -V, V[:2], V[:0]):
        same(quiet(jit, x), flip(x))
    assert jit.cache_info() == {"graphs": 1, "eager": 0}
    assert [n.op_type for n in jit.to_onnx(V).graph.node][-1] == "If"


def test_a_loop_on_data_is_one_graph():
    def grow(x):
        total = 0.0
        while total < 5:
            total = total + abs(x[0])
            x = x * 1.5
        return x, total

    jit = jit_onnx(grow, fallback="error")
    for x in (V, V * 3, -V):
        same(quiet(jit, x), grow(x))
    assert jit.cache_info() == {"graphs": 1, "eager": 0}


def checked(x):
    if x[0] > 0:
        raise KeyError(f"mine: {x[0]}")  # noqa: EM102, TRY003
    return x


def test_an_exception_in_a_branch_on_data_is_the_users():
    jit = jit_onnx(checked, fallback="error")
    same(jit(-V), -V)
    for x in (V, V * 2):
        with pytest.raises(KeyError, match=f"mine: {x[0]}"):
            quiet(jit, x)
    assert jit.cache_info() == {"graphs": 1, "eager": 0}


def test_what_the_function_did_before_it_raises_is_done():
    def f(x):
        x += 1
        assert x.sum() > 0
        x *= 2

    jit = jit_onnx(f, fallback="error")
    a, b = V.copy(), V.copy()
    jit(a)
    f(b)
    same(a, b)
    a = -10 * V
    with pytest.raises(AssertionError):
        jit(a)
    same(a, -10 * V + 1)


def test_unknown_options_are_refused():
    with pytest.raises(SpecError, match="fallback"):
        jit_onnx(branch, fallback="maybe")
    with pytest.raises(TypeError):
        jit_onnx(branch, nonsense=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: [v for v in x if v > 0],
        lambda x: {float(v): v for v in x},
        lambda x: "big" if x.max() > 2 else "small",
        lambda x: sorted(x),
        lambda x: f"{x[0]:.2f}",
        lambda x: x[0] > 0 and x[1] > 0,
        lambda x: not x[0],
        lambda x: any(v < 0 for v in x),
        lambda x: 2.25 in x.tolist(),
        lambda x: x.tobytes(),
        lambda x: repr(x[0]),
        lambda x: np.array2string(x),
        lambda x: ["a", "b", "c", "d"][int(x[0])],
        lambda x: next(v for v in x if v > 0),
    ],
)
def test_eager_results_are_numpys(fn):
    jit = jit_onnx(fn)
    want = fn(V)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        same(jit(V), want)
    same(quiet(jit, V), want)


def test_results_of_a_fallback_are_plain_arrays():
    def f(x, n, p):
        if str(x.sum()) != "0.0":
            y = x + n
            return {"a": y, "b": [y.sum(), x[0]], "c": (p["w"] * 2, n, None)}
        return None

    jit = jit_onnx(f)
    with pytest.warns(FallbackWarning):
        got = jit(V, 2, {"w": V})
    same(got, f(V, 2, {"w": V}))


def test_mutation_in_a_fallback():
    def f(x):
        if str(x[0]) > "0":
            x += 1
        x[1:] *= 2
        x.sort()

    jit = jit_onnx(f)
    a, b = V.copy(), V.copy()
    with pytest.warns(FallbackWarning):
        jit(a)
    f(b)
    same(a, b)


def test_an_argument_returned_by_a_fallback_is_that_object():
    def f(x):
        if str(x[0]) > "0":
            x += 1
        return x, x

    jit = jit_onnx(f)
    x = V.copy()
    with pytest.warns(FallbackWarning):
        a, b = jit(x)
    assert a is x
    assert b is x


def test_an_exception_in_a_fallback_is_the_users():
    def f(x):
        if str(x[0]) > "0":
            raise KeyError("mine")  # noqa: EM101
        return x

    jit = jit_onnx(f)
    with pytest.warns(FallbackWarning), pytest.raises(KeyError, match="mine"):
        jit(V)
    same(quiet(jit, -V), -V)


def test_an_exception_of_the_user_is_raised_while_tracing():
    def f(x):
        if x.ndim == 1:
            raise KeyError("mine")  # noqa: EM101
        return x

    jit = jit_onnx(f, fallback="error")
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            jit(V)
    same(jit(V.reshape(1, 3)), V.reshape(1, 3))


# ------------------------------------------------------------------ side effects


class Counter:
    def __init__(self):
        self.n = 0
        self.history = []
        self.coef = np.zeros(3)

    @jit_onnx
    def count(self, x):
        self.n += 1
        return x * self.n

    @jit_onnx
    def remember(self, x):
        self.history.append(float(x.sum()))
        return x

    @jit_onnx
    def fit(self, x):
        self.coef_ = x.mean()
        return self

    @jit_onnx
    def update(self, x):
        self.coef += x
        return self.coef * 2


@pytest.mark.parametrize("name", ["count", "remember", "fit", "update"])
def test_side_effects_are_errors_in_an_export(name):
    obj = Counter()
    with pytest.raises(SideEffectError, match=r"test_fallback\.py"):
        getattr(obj, name).to_onnx(V)
    assert vars(obj).keys() == {"n", "history", "coef"}
    assert obj.n == 0
    assert not obj.history


def test_nothing_happens_twice_before_the_fallback():
    seen = []

    def f(x):
        y = x + 1
        seen.append("called")
        return y + random.random()

    jit = jit_onnx(f)
    with pytest.warns(FallbackWarning):
        jit(V)
    assert seen == ["called"]


# ------------------------------------------------------------------ impure functions


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x + np.random.rand(3),  # noqa: NPY002
        lambda x: x + np.random.normal(),  # noqa: NPY002
        lambda x: x + np.random.default_rng().normal(),
        lambda x: x + random.random(),
        lambda x: x + time.time(),
        lambda x: x + time.perf_counter_ns(),
    ],
)
def test_impure_functions_run_each_time(fn):
    jit = jit_onnx(fn)
    with pytest.warns(FallbackWarning):
        first = jit(V)
    second = quiet(jit, V)
    assert type(first) is np.ndarray
    assert not np.array_equal(first, second)
    with pytest.raises(SideEffectError):
        jit.to_onnx(V)


def test_a_captured_generator_advances():
    rng = np.random.default_rng(7)
    jit = jit_onnx(lambda x: x + rng.normal(size=3))
    with pytest.warns(FallbackWarning):
        first = jit(V)
    second = quiet(jit, V)
    again = np.random.default_rng(7)
    same(first, V + again.normal(size=3))
    same(second, V + again.normal(size=3))


def test_a_seeded_generator_made_inside_is_pure():
    jit = jit_onnx(lambda x: x + np.random.default_rng(7).normal(size=3), fallback="error")
    same(jit(V), V + np.random.default_rng(7).normal(size=3))


# ------------------------------------------------------------------ what has no row


def test_a_numpy_function_without_a_row_runs_eagerly():
    jit = jit_onnx(lambda x: np.spacing(x) * np.strings.str_len(np.array2string(x)) * 0 + x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        got = jit(V)
    same(got, V)


def test_the_text_of_an_error_names_the_remedy():
    with pytest.raises(DataDependentError) as e:
        jit_onnx(branch, fallback="error")(V)
    assert "np.where" in str(e.value)
    assert "docs/errors.md" in str(e.value)


def test_sizes_that_each_need_a_graph_end_in_eager_calls():
    @jit_onnx
    def total(x):
        s = 0.0
        for _ in "a" * x.shape[0]:
            s = s + x[-1]
        return s

    for n in range(1, 9):
        assert total(np.ones(n)) == n
    with pytest.warns(
        FallbackWarning, match=r"8 graphs for one signature .* x_0 == 8 \(.*test_fallback"
    ):
        assert total(np.ones(9)) == 9
    assert total(np.ones(10)) == 10
    assert total(np.ones(3)) == 3
    assert total.cache_info() == {"graphs": 8, "eager": 0}


def test_entries_die_with_the_objects_they_are_keyed_by():
    class Scale:
        def __init__(self, by):
            self.by = by

        @jit_onnx
        def __call__(self, x):
            return x * self.by

        @jit_onnx
        def shifted(self, x, other):
            return x * self.by + other.by

    first, second = Scale(2.0), Scale(3.0)
    assert first.shifted(np.ones(2), second).tolist() == [5.0, 5.0]
    assert first.shifted(np.ones((1, 2)), second).tolist() == [[5.0, 5.0]]
    assert second.shifted(np.ones(2), first).tolist() == [5.0, 5.0]
    assert Scale.shifted.cache_info()["graphs"] == 3
    del first
    gc.collect()
    assert Scale.shifted.cache_info()["graphs"] == 0


@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
@pytest.mark.parametrize(
    "x",
    [
        np.array([1.1234567890123457, 3.0, np.nan, -np.inf]), np.array([0.1], "f4"),
        np.array([1 + 2.5j]), np.array([True, False]), np.array([12345, -2]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", [str, "U3"])
def test_numbers_become_text_as_numpy_writes_them(x, text):
    def write(x):
        return x.astype(text)

    want = write(x)
    for got in (jit_onnx(write)(x), np.asarray(write(asarray(x)))):
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist()
    with pytest.raises(UnsupportedError, match="as text"):
        jit_onnx(write).to_onnx(x)


@pytest.mark.parametrize(
    "made",
    [
        set, frozenset, collections.deque, collections.Counter, list, tuple, dict.fromkeys,
        lambda x: collections.deque(x, 2), lambda x: collections.OrderedDict.fromkeys(x, 1),
        lambda x: {"all": {v: v * 2 for v in x}}, lambda x: f"{x} {x[0]} {x[0]:.2f}",
        lambda x: collections.defaultdict(list, enumerate(x)),
    ],
)  # fmt: skip
def test_what_falls_back_gives_numpys_numbers_in_any_container(made):
    def f(x):
        found = []
        for v in x:
            if v > 0:
                found.append(v)  # noqa: PERF401  a list that grows
        return made(found)

    x = np.array([1.5, -2.0, 3.0, 1.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert repr(jit_onnx(f)(x)) == repr(f(x))
    assert repr(eager_onnx(f)(x)) == repr(f(x))


# ---------------------------------------------------------------- code that looks at values


def _texts(x):
    return json.dumps({"first": x[0], "all": list(x)}), pprint.pformat(x), "%s" % (x > 2)


def _numbers(x):
    return statistics.mean(x), statistics.pstdev(x[:2]), fractions.Fraction(x[0])


def _times(x):
    return dt.timedelta(seconds=x[0]), dt.timedelta(x[1])


def _bytes(x):
    codes = x.astype("u1")
    packed = struct.pack("d", x[0]), bytes(codes), bytearray(codes), memoryview(codes).nbytes
    return (*packed, zlib.crc32(x), base64.b64encode(x), hashlib.sha1(x).hexdigest())


def _copies(x):
    return pickle.loads(pickle.dumps({"x": x, "first": x[0]}))


@pytest.mark.parametrize("fn", [_texts, _numbers, _times, _bytes, _copies])
def test_pythons_library_looks_at_numpys_numbers(fn):
    x = np.array([3.25, 1.5, 2.0, 5.0])
    want = fn(x)
    assert repr(eager_onnx(fn)(x)) == repr(want)
    with pytest.warns(FallbackWarning, match=r"at .*test_fallback\.py"):
        assert repr(jit_onnx(fn)(x)) == repr(want)


def test_what_looks_at_values_is_named():
    with pytest.raises(DataDependentError, match=r"^statistics\.mean needs .*test_fallback"):
        jit_onnx(_numbers).to_onnx(np.ones(3))
    with pytest.raises(DataDependentError, match=r"^json\.dumps needs .*test_fallback"):
        jit_onnx(_texts).to_onnx(np.ones(3))


def test_what_is_known_may_be_looked_at():
    def described(x):
        text = json.dumps({"size": len(x), "first": np.ones(2)[0]})
        return x * len(text)

    agrees(described, (np.ones(3),), (np.ones(12),))
