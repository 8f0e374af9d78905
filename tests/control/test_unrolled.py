# SPDX-License-Identifier: Apache-2.0
"""Loops that cannot be loops of the graph: unrolled, with what they have changed put back."""

from __future__ import annotations

import array
import collections
import dataclasses
import hashlib
import io
import itertools
import random
import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import DataDependentError, FallbackWarning, UnsupportedError, float64, jit_onnx

STEPS = [np.sin, np.cos, np.tanh, np.abs, np.square]
TABLE = {f"k{i}": np.arange(3.0) * i for i in range(40)}
BY_NUMBER = {i: np.arange(3.0) * i for i in range(40)}


def table_of_functions(x: Any) -> Any:
    return np.stack([STEPS[i](x[:, i]) for i in range(x.shape[1])], axis=1)


def zipped_with_a_list(x: Any) -> Any:
    return {name: column.mean() for name, column in zip(("a", "b", "c"), x.T, strict=False)}


def keys_of_the_counter(x: Any) -> Any:
    return {f"c{i}": x[:, i].sum() for i in range(x.shape[1])}


def keys_stored_by_a_loop(x: Any) -> Any:
    out = {}
    for i in range(x.shape[1]):
        out["c%d" % i] = x[:, i].sum()  # noqa: UP031  another way to make text
        out["d{}".format(i)] = x[:, i].max()  # noqa: UP032  and another
    return out


def looked_up_by_text(x: Any) -> Any:
    total = np.zeros(x.shape[0])
    for i in range(x.shape[1]):
        total += TABLE[f"k{i}"].sum() * x[:, i] + TABLE["k" + str(i)].max()
    return total


def looked_up_by_number(x: Any) -> Any:
    total = np.zeros(x.shape[0])
    for i in range(x.shape[1]):
        if i not in (0, 2):
            total += BY_NUMBER[i].sum() * x[:, i]
    return total


def combinations(x: Any) -> Any:
    columns = [np.ones(x.shape[0])]
    for degree in range(1, 3):
        for c in itertools.combinations_with_replacement(range(x.shape[1]), degree):
            columns.append(np.prod(x[:, c], axis=1))  # noqa: PERF401
    return np.stack(columns, axis=1)


def text_that_grows(x: Any) -> Any:
    names = ""
    for i in range(x.shape[1]):
        names += f"{i},"
    return names, x.sum()


def tuple_that_grows(x: Any) -> Any:
    out: Any = ()
    for i in range(x.shape[1]):
        out = (*out, x[0, i] if len(x) else 0.0)
    return out


def with_a_break(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[1]):
        total = STEPS[i](x[:, i]).sum() + total
        if total > 2:
            break
    else:
        total = total + 100
    return total


def while_with_a_table(x: Any) -> Any:
    i, out = 0, []
    while i < x.shape[1]:
        out.append(STEPS[i](x[:, i]))
        i += 1
    return out, i


OVER_SIZES = [
    table_of_functions, zipped_with_a_list, keys_of_the_counter, keys_stored_by_a_loop,
    looked_up_by_text, looked_up_by_number, combinations, text_that_grows, tuple_that_grows,
    with_a_break, while_with_a_table,
]  # fmt: skip


@pytest.mark.parametrize("fn", OVER_SIZES)
def test_loops_over_a_size_in_calls(fn: Any) -> None:
    jitted = jit_onnx(fn, fallback="error")
    for shape in ((4, 3), (2, 3), (2, 5), (1, 1), (3, 2)):
        x = np.random.default_rng(shape[1]).normal(size=shape)
        got, want = jitted(x), fn(x)
        assert repr(type(got)) == repr(type(want))
        np.testing.assert_equal(_rounded(got), _rounded(want))


def _rounded(x: Any) -> Any:
    if isinstance(x, dict):
        return {k: _rounded(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(map(_rounded, x))
    return x if isinstance(x, (str, bytes, int)) else np.round(x, 9)


@pytest.mark.parametrize("fn", [f for f in OVER_SIZES if f is not tuple_that_grows])
def test_loops_over_a_size_in_models(fn: Any) -> None:
    for given in (np.ones((4, 3)), float64["N", 3]):
        model = jit_onnx(fn).to_onnx(given)
        session = ort.InferenceSession(model.SerializeToString())
        assert session.get_inputs()[0].shape[1] == 3
        for n in (2, 5):
            x = np.random.default_rng(n).normal(size=(n, 3))
            got = session.run(None, {"x": x})
            want = [v for v in _leaves(fn(x)) if not isinstance(v, str)]
            assert len(got) in (len(want), len(want) - 1)  # a plain number is no output
            for a, b in zip(got, want, strict=False):
                np.testing.assert_allclose(a, b)


def _leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        x = list(x.values())
    return [v for part in x for v in _leaves(part)] if isinstance(x, (list, tuple)) else [x]


def test_a_model_for_any_size_is_refused_with_the_way_out() -> None:
    with pytest.raises(DataDependentError, match=r"test_unrolled.*fixed size"):
        jit_onnx(looked_up_by_number).to_onnx(float64[None, None])


def test_a_size_that_is_too_large_to_unroll_goes_on_eagerly() -> None:
    def f(x: Any) -> Any:
        names = [f"row {i}" for i in range(len(x))]
        return names[-1], x.sum()

    x = np.ones(5_000)
    with pytest.warns(FallbackWarning):
        assert jit_onnx(f)(x) == f(x)


@pytest.mark.parametrize("length", [40, 300])
def test_a_long_loop_of_known_length(length: int) -> None:
    """Some iterations run before it is found that the others cannot be captured."""

    def table(x: Any) -> Any:
        for i in range(length):
            x = STEPS[i % 5](x) + BY_NUMBER[i % 40][1] * x.clip(0, i) - x * x.mean()
            x = x / (1 + np.abs(x).max())
        return x

    def text(x: Any) -> Any:
        s = ""
        for i in range(length):
            s += "a" if i % 3 else "b"
            x = (x + 1) * 0.5 - 1
            x = x.clip(-i, i) * 2 + 1
        return s, x

    def named(x: Any) -> Any:
        for i in range(length):
            w = TABLE[f"k{i % 40}"]
            x = np.tanh(x) * (w[1] % 3) / 4 + x.mean() / 9 - x.clip(0, i) / 8 + w[2] % 2
        return x

    x = np.linspace(0, 1, 3)
    for fn in (table, text, named):
        got, want = jit_onnx(fn, fallback="error")(x), fn(x)
        np.testing.assert_equal(_rounded(got), _rounded(want))


def test_text_of_data_has_no_content() -> None:
    def as_key(x: Any) -> Any:
        return {f"{x.sum()}": x}

    def compared(x: Any) -> Any:
        return x if f"{x.sum()}" == "3.0" else -x

    def measured(x: Any) -> Any:
        return x * len("sum %s" % x.sum())  # noqa: UP031

    def looked_up(x: Any) -> Any:
        return x * {"3.0": 2}["{}".format(x.sum())]  # noqa: UP032

    x = np.ones(3)
    for fn in (as_key, compared, measured, looked_up):
        with pytest.raises(DataDependentError, match="test_unrolled"):
            jit_onnx(fn).to_onnx(x)
        with pytest.warns(FallbackWarning):
            np.testing.assert_equal(jit_onnx(fn)(x), fn(x))


# --- what C code keeps the state of


class Counted:
    """Counts its calls."""

    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0

    def next(self) -> int:
        self.n += 1
        return self.n


@dataclasses.dataclass(slots=True)
class Running:
    total: Any = 0.0
    last: Any = None


def slots(x: Any) -> Any:
    counted, y = Counted(), 0.0
    for v in x:
        y = y + v * counted.next()
    return y, counted.n


def dataclass_with_slots(x: Any) -> Any:
    running = Running(0.0, 0.0)
    for v in x:
        running.total += v
        running.last = running.last * 2 + v
    return running.total, running.last


def iterator_of_a_list(x: Any) -> Any:
    it, y = iter([1, 2, 3, 4, 5, 6]), 0.0
    for v in x:
        y = y + v * next(it)
    return y


def zip_and_map(x: Any) -> Any:
    pairs, more, y = zip("abcdef", range(6), strict=True), map(abs, (-1, -2, -3, -4, -5)), 0.0
    for v in x:
        _, k = next(pairs)
        y = y + v * k * next(more)
    return y


def run_through_in_parts(x: Any) -> Any:
    it, y = iter(range(12)), 0.0
    for v in x:
        for k in it:
            if k % 3 == 2:
                break
        y = y + v * k
    return y


def sliced_by_c_code(x: Any) -> Any:
    it, y = iter([1, 2, 3, 4, 5, 6]), 0.0
    for v in x:
        y = y + v * sum(itertools.islice(it, 1))
    return y


def asked_for_an_element(x: Any) -> Any:
    it, y = iter([1, 2, 3, 4, 5, 6]), 0.0
    for v in x:
        if 3 in it:
            y = y + v
    return y


def generator(x: Any) -> Any:
    def numbers() -> Any:
        k = 0
        while True:
            yield k
            k += 1

    it, y = numbers(), 0.0
    for v in x:
        y = y + v * next(it)
    return y


def random_numbers(x: Any) -> Any:
    rng, old, own, y = (
        np.random.default_rng(1), np.random.RandomState(1), random.Random(1), 0.0,
    )  # fmt: skip
    for v in x:
        y = y + v * rng.normal() + old.rand() * own.random()
    return y


def shuffled(x: Any) -> Any:
    rng, order, y = np.random.default_rng(1), np.arange(6), 0.0
    for v in x:
        rng.shuffle(order)
        y = y + v * order[0]
    return y


def many_random_numbers(x: Any) -> Any:
    rng, y = np.random.default_rng(1), 0.0
    for _ in range(300):
        y = y * 0.9 + x * rng.normal()
    return y


def drawn_by_a_helper(x: Any) -> Any:
    rng = np.random.default_rng(1)

    def step(v: Any) -> Any:
        return v + rng.normal()

    return np.array([step(v) for v in x])


def bytes_and_text(x: Any) -> Any:
    out, text, numbers, y = bytearray(), io.StringIO(), array.array("d", [0.0]), 0.0
    view, digest = memoryview(bytearray(1)), hashlib.sha256()
    for v in x:
        out.append(7)
        text.write("ab")
        numbers[0] += 1
        view[0] = view[0] + 1
        digest.update(b"a")
        y = y + v * numbers[0] * view[0]
    return y, bytes(out), text.getvalue(), digest.hexdigest()


def containers(x: Any) -> Any:
    queue, y = collections.deque(range(9)), 0.0
    count: Any = collections.Counter()
    for v in x:
        y = y + v * queue.popleft()
        count["a"] += 1
    return y, list(queue), count["a"]


@pytest.mark.parametrize(
    "fn",
    [
        slots, dataclass_with_slots, iterator_of_a_list, zip_and_map, run_through_in_parts,
        sliced_by_c_code, asked_for_an_element, generator, random_numbers, shuffled,
        many_random_numbers, drawn_by_a_helper, bytes_and_text, containers,
    ],
)  # fmt: skip
def test_state_that_a_loop_changes(fn: Any) -> None:
    jitted = jit_onnx(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        for n in (3, 4, 1, 0):
            x = np.arange(1.0, n + 1)
            np.testing.assert_equal(_rounded(jitted(x)), _rounded(fn(x)))


def test_state_that_a_branch_or_loop_on_data_changes() -> None:
    def branch(x: Any) -> Any:
        it = iter([1, 2, 3, 4])
        y = next(it) if x.sum() > 2 else next(it) + 10
        return y + next(it)

    def drawn(x: Any) -> Any:
        rng, y = np.random.default_rng(0), 0.0
        if x.sum() > 5:
            y = rng.normal()
        return y + rng.normal()

    def loop(x: Any) -> Any:
        rng = np.random.default_rng(3)
        while np.abs(x).sum() > 1:
            x = x * rng.uniform()
        return x

    for fn in (branch, drawn, loop):
        for x in (np.ones(3), np.ones(8)):
            with pytest.warns(
                FallbackWarning, match=r"advanced or changed at .*test_unrolled"
            ):
                np.testing.assert_equal(jit_onnx(fn)(x), fn(x))
        with pytest.raises(UnsupportedError, match="cannot keep its state"):
            jit_onnx(fn).to_onnx(np.ones(3))


def test_state_made_in_the_iteration() -> None:
    def f(x: Any) -> Any:
        out = []
        for v in x:
            it = iter((1, 2))
            out.append(v * next(it) + np.random.default_rng(3).normal() * next(it))
        return np.array(out)

    x = np.arange(4.0)
    np.testing.assert_allclose(jit_onnx(f, fallback="error")(x), f(x))
