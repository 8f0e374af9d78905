# SPDX-License-Identifier: Apache-2.0
"""Lists that grow in loops and branches of the graph, against plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import AliasError, Array, DataDependentError, UnsupportedError, jit_onnx
from tests.control.modes import MODES, attempt, graphs
from tests.control.record import Program

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
B = np.array([-2.0, 0.5])
ONE = np.array([2.5])
EMPTY = np.zeros(0)
TABLE = np.arange(12.0).reshape(4, 3)
WIDE = np.arange(10.0).reshape(2, 5) - 3
NO_ROWS = np.zeros((0, 3))
VECTORS = ((A,), (B,), (ONE,), (EMPTY,))
SOME = VECTORS[:-1]
TABLES = ((TABLE,), (WIDE,), (NO_ROWS,))
PROGRAMS: list[Program] = []


def program(*inputs: tuple[Any, ...], **flags: Any) -> Callable[..., Any]:
    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(fn, inputs, **flags))
        return fn

    return add


MIXED = "numbers of Python and of NumPy in one list become NumPy's"


# --- growing -----------------------------------------------------------------------------------


@program(*VECTORS)
def over_an_array(x):
    out = []
    for v in x:
        out.append(v * 2)
    return out


@program(*VECTORS)
def over_a_range(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] - i)
    return out, len(out)


@program((6,), (1,), (27,))
def in_a_while(n):
    steps = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps.append(n)
    return steps, len(steps)


@program(*VECTORS, (-A,))
def on_a_condition(x):
    kept, dropped = [], []
    for v in x:
        if v > 0:
            kept.append(v)
        else:
            dropped.append(v)
    return kept, np.array(dropped), len(kept)


@program(*TABLES)
def in_nested_loops(table):
    flat = []
    for row in table:
        for v in row:
            flat.append(v + 1)
    return np.array(flat)


@program(*TABLES)
def of_lists(table):
    out = []
    for row in table:
        inner = []
        for v in row:
            inner.append(v + 1)
        out.append(inner)
    return out


@program(*VECTORS)
def of_tuples(x):
    out = []
    for i, v in enumerate(x):
        out.append((i, v, (v * v, -v)))
    return out


@program((0,), (1,), (9,))
def of_python_numbers(n):
    f = [0, 1]
    for _ in range(n):
        f.append(f[-1] + f[-2])
    return f, f[n], len(f)


@program((TABLE,), (WIDE,))
def of_rows(table):
    out = []
    for row in table:
        out.append(row - row[0])
    return np.array(out), np.stack(out, axis=1), np.vstack(out), np.concatenate(out)


@program((TABLE,), (WIDE,))
def of_tables(table):
    out = []
    for row in table:
        out.append(row[:, None] * row)
    return np.stack(out, -1), np.concatenate(out, 1), np.hstack(out), np.dstack(out), out


@program(*SOME)
def of_numbers_joined(x):
    out = []
    for v in x:
        out.append(v / 2)
    return np.hstack(out), np.vstack(out), np.column_stack(out), np.stack(out)


@program(*VECTORS)
def by_extend(x):
    out = []
    for v in x:
        out += [v, -v]
        out.extend((v, 0.5))
    return np.array(out)


@program(*VECTORS)
def by_a_new_list(x):
    out = []
    for v in x:
        out = [*out, v] if False else out + [v]
    return out


def _add(out, v):
    out.append(v)


@program(*VECTORS)
def by_a_helper(x):
    out = []
    for v in x:
        _add(out, v + 1)
    return out


@program(*VECTORS)
def in_containers(x):
    found = {"all": [], "signs": ([], [])}
    for v in x:
        found["all"].append(v)
        found["signs"][0 if False else 1].append(v < 0)
    return found


@program(*VECTORS, joins=MIXED)
def at_the_front(x):
    out = [0.0]
    for v in x:
        out.insert(0, v)
    out.reverse()
    return out


# --- reading -----------------------------------------------------------------------------------


@program(*VECTORS)
def against_the_argument(x):
    out, total = [], 0.0
    for v in x:
        total += v
        out.append(total)
    return np.array(out) * x, np.diff(out), np.cumsum(x) - out


@program(*SOME)
def as_numbers(x):
    out = []
    for v in x:
        out.append(v)
    ordered = sorted(out)
    return sum(out), max(out), min(out), np.mean(out), np.sum(out), ordered, out.count(1.0)


@program(*VECTORS, joins=MIXED)
def with_a_default(x):
    out = [v for v in x if v > 0]
    return max(out, default=-1.0), min(out, default=0.5)


@program(*SOME)
def in_slices(x):
    out = []
    for v in x:
        out.append(v)
    rest = out[1:]
    rest.append(out[0])
    total = 0.0
    for v in out[::2]:
        total += v
    return rest, out[::-1], out[-1:], out[0], out[-1], total


@program(*VECTORS)
def while_it_grows(x):
    seen = []
    for v in x:
        if v not in seen and len(seen) < 3:
            seen.append(v)
    return seen, len(seen)


@program(*VECTORS, joins=MIXED)
def run_through(x):
    out = []
    for v in x:
        out.append((v, v + 1))
    total = 0.0
    for i, (a, b) in enumerate(out):
        total += a * b + i
    for a, (_, b) in zip(x, out):  # noqa: B905
        total += a - b
    return total


@program(*VECTORS)
def by_a_test_of_its_length(x):
    out = []
    while len(out) < 5:
        out.append(x.sum() + len(out))
    return np.array(out)


# --- shrinking and storing -----------------------------------------------------------------------


@program((A, 2.0), (B, 0.1), (ONE, 9.0), (np.array([-1.0]), 1.0))
def as_a_stack(x, least):
    stack, total, steps = [x[0]], 0.0, 0
    while stack and steps < 50:
        v = stack.pop()
        steps += 1
        if v > least:
            stack.append(v / 2)
            stack.append(v / 3)
        total += v
    return total, steps, len(stack)


@program((A, 2.0), (B, 0.1), (ONE, 0.3))
def as_a_queue(x, least):
    queue, order = [x[0]], []
    while queue and len(order) < 20:
        v = queue.pop(0)
        order.append(v)
        if v > least:
            queue.append(v / 2)
            queue.append(v / 3)
    return np.array(order)


@program((4, np.abs(A)), (1, np.abs(B)), (3, EMPTY), joins=MIXED)
def as_a_table(n, x):
    counts = [0.0] * n
    for v in x:
        counts[int(v) % n] += v
    return counts


@program((A, 1), (A, 3), (B, 0), joins=MIXED)
def element_taken_out(x, k):
    out = []
    for v in x:
        out.append(v)
    del out[0]
    out[-1] = 7.5
    last = out.pop()
    return out, last, x[k]


# --- branches ------------------------------------------------------------------------------------


@program((A,), (-A,), joins=MIXED)
def longer_in_a_branch(x):
    out = [1.0]
    if x.sum() > 0:
        out.append(x[0])
    else:
        out.append(-x[0])
        out.append(0.0)
    return out, len(out)


@program((A,), (-A,))
def as_long_in_each_branch(x):
    out = [1.0]
    if x.sum() > 0:
        out.append(x[0])
    else:
        out.append(-x[0])
    return out, len(out)


# --- comprehensions ------------------------------------------------------------------------------


@program(*VECTORS)
def comprehensions(x):
    doubled = [v * 2 for v in x]
    large = [v for v in doubled if v > 1]
    both = [a - b for a, b in zip(x, doubled) if a < 3 if b > -5]  # noqa: B905
    return doubled, np.array(large), both, any(v > 3 for v in x), all(v > 3 for v in x)


@program(*TABLES[:2])
def comprehensions_of_rows(table):
    return np.array([row / 2 for row in table]), np.stack([row.sum() for row in table])


IDS = [p.fn.__name__ for p in PROGRAMS]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("given", PROGRAMS, ids=IDS)
def test_agrees_with_python(given: Program, mode: str) -> None:
    attempt(given, mode)


@pytest.mark.parametrize(
    "fn", [over_an_array, on_a_condition, of_lists, of_tuples, in_a_while, comprehensions]
)
def test_one_graph_serves_all_lengths(fn: Any) -> None:
    (given,) = (p for p in PROGRAMS if p.fn is fn)
    made, wanted = graphs(given)
    assert made == wanted


def test_result_is_a_plain_list_of_its_own() -> None:
    fn = jit_onnx(of_rows_returned, fallback="error")
    first, again = fn(TABLE)
    assert type(first) is list
    assert type(first[0]) is np.ndarray
    first[0][0] = 9.0
    assert first[1][0] == TABLE[1, 0]
    assert fn(TABLE)[0][0][0] == TABLE[0, 0]
    assert again is not None


def of_rows_returned(table):
    out = []
    for row in table:
        out.append(row + 0)
    return out, len(out)


def test_an_array_written_to_after_it_was_appended() -> None:
    def running(x: Array) -> Any:
        out, row = [], np.zeros(3)
        for v in x:
            row += v
            out.append(row)
        return np.array(out)

    with pytest.raises(AliasError):
        jit_onnx(running, fallback="error")(A)
    with pytest.warns(UserWarning):
        got = jit_onnx(running)(A)
    np.testing.assert_array_equal(got, running(A))


def test_a_copy_appended() -> None:
    def running(x: Array) -> Any:
        out, row = [], np.zeros(3)
        for v in x:
            row += v
            out.append(row.copy())
        return np.array(out)

    np.testing.assert_array_equal(jit_onnx(running, fallback="error")(A), running(A))


def test_a_list_written_to_after_it_was_appended() -> None:
    def running(x: Array) -> Any:
        out, pair = [], [0.0, 0.0]
        for v in x:
            out.append(pair)
            pair[0] = pair[0] + v
        return out

    with pytest.raises(UnsupportedError, match="append a tuple"):
        jit_onnx(running, fallback="error")(A)


def test_rows_of_different_lengths() -> None:
    def ragged(x: Array) -> Any:
        out = []
        for i in range(len(x)):
            out.append(x[:i])
        return out

    with pytest.raises(UnsupportedError, match="pad them"):
        jit_onnx(ragged, fallback="error")(A)


def test_elements_of_different_structure() -> None:
    def mixed(x: Array) -> Any:
        out = [(1.0, 2.0)]
        for v in x:
            out.append(v)
        return out

    with pytest.raises(UnsupportedError, match="differ in structure"):
        jit_onnx(mixed, fallback="error")(A)


def test_float32_does_not_round_python_floats() -> None:
    def mixed(x: Array) -> Any:
        out = [0.1]
        for v in x:
            out.append(v)
        return np.array(out)

    with pytest.raises(UnsupportedError, match="one dtype"):
        jit_onnx(mixed, fallback="error")(A.astype(np.float32))


def test_a_list_that_grows_while_it_is_run_through() -> None:
    def grows(x: Array) -> Any:
        queue = [x[0]]
        for v in queue:
            if v > 1:
                queue.append(v / 2)
        return queue

    with pytest.raises(UnsupportedError, match="runs through it"):
        jit_onnx(grows, fallback="error")(A)
    with pytest.warns(UserWarning):
        assert jit_onnx(grows)(A) == grows(A)


def test_a_place_that_is_not_there() -> None:
    def last(x: Array) -> Any:
        out = []
        for v in x:
            if v > 0:
                out.append(v)
        return out[-1]

    fn = jit_onnx(last, fallback="error")
    assert fn(A) == last(A)
    with pytest.raises(IndexError, match="list index out of range"):
        fn(B - 9)


def test_an_empty_list_of_integers_has_numpys_dtype() -> None:
    def places(x: Array) -> Any:
        out = []
        for i, v in enumerate(x):
            if v > 0:
                out.append(i)
        return np.array(out)

    fn = jit_onnx(places)
    np.testing.assert_array_equal(fn(A), places(A))
    with pytest.warns(UserWarning):
        assert fn(B - 9).dtype == places(B - 9).dtype


def test_a_set_chosen_by_data() -> None:
    def chosen(x: Array) -> Any:
        return len({v for v in (x[0], x[1]) if v > 0})

    with pytest.raises(DataDependentError):
        jit_onnx(chosen, fallback="error")(A)


def test_a_bound_learned_in_a_loop_ends_with_it() -> None:
    def or_nothing(x: Array) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += x[i]
        return -1.0 if len(x) == 0 else total

    fn = jit_onnx(or_nothing, fallback="error")
    assert [fn(A), fn(EMPTY), fn(B)] == [or_nothing(A), or_nothing(EMPTY), or_nothing(B)]
