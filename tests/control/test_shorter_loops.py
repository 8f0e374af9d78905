# SPDX-License-Identifier: Apache-2.0
"""Loops and branches that passes make shorter: what is left of them, and the results."""

from __future__ import annotations

import importlib.util
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._core.verify import verify
from onnxjit._jit.function import Call
from onnxjit._transform.pipeline import run_passes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnxjit._core.program import Program

X = np.array([0.5, -1.25, 3.0, 2.0, -0.0, 7.5])
Y = np.arange(6.0) - 2.5
M = np.arange(12.0).reshape(3, 4)
W = np.arange(20.0).reshape(4, 5) - 7


# --- nothing is left of the loop


def fill(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i] * 2 + 1
    return out


def fill_middle(x, n):
    out = x.copy()
    for i in range(2, n - 1):
        out[i] = x[i - 2] - x[i + 1]
    return out


def backwards(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[n - 1 - i]
    return out


def counter_itself(x, n):
    out = np.zeros(len(x))
    for i in range(n):
        out[i] = 3 * i + 1
    return out


def reads_ahead(x, n):
    x = x.copy()
    for i in range(n - 1):
        x[i] = x[i + 1] * 2 - x[i]
    return x


def running_sum(x, n):
    out = x.copy()
    for i in range(1, n):
        out[i] = out[i - 1] + x[i]
    return out


def running_difference(x, n):
    s = 100.0
    for i in range(n):
        s -= x[i]
    return s


def total_of_ints(x, n):
    s, t = 0, 1
    for i in range(n):
        s += i * 2
        t = t + s
    return s, t


def total_in_place(x, n):
    out = np.zeros(3)
    for i in range(n):
        out[1] += x[i]
    return out


def conditional_write(x, n):
    out = x.copy()
    for i in range(n):
        if out[i] < 1.0:
            out[i] = -out[i]
    return out


def both_branches_write(x, n):
    out = np.zeros(len(x))
    for i in range(n):
        if x[i] > 1.0:
            out[i] = x[i] * 2
        else:
            out[i] = x[i] - 1
    return out


def ternary(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i] if x[i] > 0 else -1.0
    return out


# --- a shorter loop is left


def low_pass(x, n):
    out, s = np.zeros(n), 0.0
    for i in range(n):
        s = 0.25 * x[i] + 0.75 * s
        out[i] = s
    return out


def last_but_one(x, n):
    out = x.copy()
    for i in range(2, n):
        out[i] = out[i - 1] * 0.5 + out[i - 2]
    return out


def from_the_end(x, n):
    out = x.copy()
    for i in range(n):
        out[i] = out[i - 1] + 1
    return out


def data_places(x, n):
    out = x.copy()
    for i in range(n):
        k = int(abs(x[i])) % 3
        out[k] = out[k] + i
    return out


def swap_neighbours(x, n):
    x = x.copy()
    for i in range(n - 1):
        if x[i] > x[i + 1]:
            t = x[i]
            x[i] = x[i + 1]
            x[i + 1] = t
    return x


def may_be_outside(x, n):
    out = x.copy()
    for i in range(n):
        if x[i] > 2.0:
            out[i + 2 - i] = x[i]
        if x[i] > 100.0:
            out[n + i] = 1.0
    return out


def passed_through(x, n):
    y, z, s = x * 2, x, 1.0
    for i in range(n):
        z = y
        s = s * 0.5 + z[i]
        y = z
    return y, z, s


ONE_AXIS: list[tuple[Callable[..., Any], list[str]]] = [
    (fill, []),
    (fill_middle, []),
    (backwards, []),
    (counter_itself, []),
    (reads_ahead, []),
    (running_sum, []),
    (running_difference, []),
    (total_in_place, []),
    (conditional_write, []),
    (both_branches_write, []),
    (ternary, []),
    (total_of_ints, ["loop"]),
    (low_pass, ["loop"]),
    (last_but_one, ["loop"]),
    (from_the_end, ["loop"]),
    (data_places, ["loop"]),
    (swap_neighbours, ["loop"]),
    (may_be_outside, ["loop", "cond"]),
    (passed_through, ["loop"]),
]


# --- two axes


def outer_sum(a, b):
    out = np.zeros((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = a[i, 0] * b[j, 1]
    return out


def product(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


def columns(a, b):
    a = a.copy()
    for i in range(a.shape[0]):
        a[i, 1] = b[i, 0] + a[i, 2]
    return a


def seidel(a, b):
    a = a.copy()
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return a


def rows(a, b):
    out = np.zeros_like(a)
    last = a[0]
    for i in range(a.shape[0]):
        last = last * 0.5 + a[i]
        out[i] = last
    return out


def triangle(a, b):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[1]):
            a[i, j] -= a[i, i] * b[0, j]
    return a


def elimination(a, b):
    a = a.copy()
    n = a.shape[0]  # the other axis may be shorter, which is an error, or longer
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= 1 + a[k, k] ** 2
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def by_another_axis(a, b):
    out = b.copy()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] += a[i, j] * b[0, i]
    return out


TWO_AXES: list[tuple[Callable[..., Any], list[str]]] = [
    (outer_sum, ["loop"]),
    (product, ["loop", "loop"]),
    (columns, []),
    (seidel, ["loop", "loop"]),
    (rows, ["loop"]),
    (triangle, ["loop"]),
    (elimination, ["loop"]),
    (by_another_axis, ["loop"]),
]


_NESTED = {"loop", "cond", "scan"}


def _recorded(fn: Callable[..., Any], args: tuple[Any, ...]) -> Program:
    jit = jit_onnx(fn, fallback="error")
    program: Program = jit._record(Call(jit._naming(None), args, {}, None), []).program
    return program


def _structure(fn: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    program = verify(run_passes(verify(_recorded(fn, args)))[0])
    names = [e.op.name for e in program.walk()]
    again = verify(run_passes(program)[0])
    assert [e.op.name for e in again.walk() if e.blocks] == [n for n in names if n in _NESTED]
    # a call runs a Loop of a known number of iterations as a Scan
    return ["loop" if n == "scan" else n for n in names if n in _NESTED]


def _agree(fn: Callable[..., Any], args: tuple[Any, ...], jit: Any) -> None:
    try:
        want = fn(*args)
    except (IndexError, ValueError, ZeroDivisionError) as error:
        with pytest.raises(type(error)):
            jit(*args)
        return
    got = jit(*args)
    pairs = zip(want, got, strict=True) if isinstance(want, tuple) else [(want, got)]
    for w, g in pairs:
        np.testing.assert_allclose(g, w, rtol=1e-13)
        np.testing.assert_array_equal(np.signbit(g), np.signbit(w))
        assert np.asarray(g).dtype == np.asarray(w).dtype


@pytest.mark.parametrize(("fn", "left"), ONE_AXIS, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_left_of_a_loop_over_elements(fn: Callable[..., Any], left: list[str]):
    assert _structure(fn, (X, 6)) == left


@pytest.mark.parametrize(("fn", "left"), TWO_AXES, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_left_of_loops_over_two_axes(fn: Callable[..., Any], left: list[str]):
    assert _structure(fn, (M, W)) == left


@pytest.mark.parametrize("opset", [13, None])
@pytest.mark.parametrize("fn", [fn for fn, _ in ONE_AXIS])
def test_loops_over_elements(fn: Callable[..., Any], opset: int | None):
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for args in ((X, 6), (X, 5), (X, 3), (X, 2), (X, 1), (X, 0), (Y, 6), (X[:0], 0), (X, 7)):
        _agree(fn, args, jit)


@pytest.mark.parametrize("opset", [13, None])
@pytest.mark.parametrize("fn", [fn for fn, _ in TWO_AXES])
def test_loops_over_two_axes(fn: Callable[..., Any], opset: int | None):
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for args in ((M, W), (W, W), (W[:3, :4], W), (M[:1], W), (M[:, :3], W[:3]), (W[:, :1], M)):
        _agree(fn, args, jit)


# --- what moves out of a loop


def invariants(x, n):
    s = x * 0
    for i in range(n):
        s = np.sqrt(s * s + np.exp(x)[::-1] * x.astype(np.float32)) + i
    return s


def sizes_of_data_stay(x, n):
    kept = x[x > 1]
    s = x[:2]
    for _ in range(n):
        s = np.sqrt(s + kept[:2] * kept[-2:])
    return s


def reads_that_may_fail_stay(x, n):
    s = x * 0
    for _ in range(n):
        s = np.sqrt(s * s + x[3])
    return s


def _inside(fn: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    program = run_passes(_recorded(fn, args))[0]
    (loop,) = [e for e in program.walk() if e.op.name in {"loop", "scan"}]
    return [e.op.name for e in loop.blocks[0].equations]


def test_what_is_the_same_in_all_iterations_moves_out():
    names = _inside(invariants, (X, 6))
    assert sorted(names) == ["add", "add", "cast", "dim", "multiply", "sqrt"]
    jit = jit_onnx(invariants, fallback="error")
    for n in (6, 1, 0):
        _agree(invariants, (abs(X), n), jit)


def test_what_may_fail_stays_in_a_loop_that_may_not_run():
    assert "multiply" in _inside(sizes_of_data_stay, (X, 6))
    fn = jit_onnx(reads_that_may_fail_stay)
    np.testing.assert_array_equal(fn(X[:3], 0), reads_that_may_fail_stay(X[:3], 0))
    with pytest.raises(IndexError):
        fn(X[:3], 2)
    jit = jit_onnx(reads_that_may_fail_stay, fallback="error")
    _agree(reads_that_may_fail_stay, (X, 4), jit)
    _agree(reads_that_may_fail_stay, (X[:2], 0), jit)
    _agree(reads_that_may_fail_stay, (X[:2], 1), jit)


def test_what_grows_keeps_its_final_size():
    def stacked(x, n):
        out, s = [], 0.0
        for i in range(n):
            s = s * 0.5 + x[i] * 2
            out.append(s)
        return np.array(out) + x[:n]

    jit = jit_onnx(stacked, fallback="error")
    for n in (6, 3, 1):
        _agree(stacked, (X, n), jit)


def test_branches_of_other_sizes_stay():
    def halves(x, n):
        stack, total, steps = [x[0]], 0.0, 0
        while stack and steps < 20:
            v = stack.pop()
            steps += 1
            if v > 2.0:
                stack.append(v / 2)
                stack.append(v / 3)
            total += v
        return total, steps, len(stack) + n

    jit = jit_onnx(halves, fallback="error")
    for x in (X[2:], X[1:], X[5:]):
        _agree(halves, (x, 1), jit)


def test_one_copy_for_each_iteration():
    def twice(x, n):
        x = x.copy()
        for i in range(n):
            x[2] = x[0] + i
            y = x[2] * 0.5
            x[2] = y + x[1]
        return x

    # the call's sizes show that there is a place 2, so that it alone is carried
    assert _inside(twice, (X, 6)).count("scatter_nd") == 0
    assert _inside(twice, (X[:2], 6)).count("scatter_nd") == 1
    jit = jit_onnx(twice, fallback="error")
    for args in ((X, 6), (X[:3], 1), (X[:3], 0), (X[:2], 1)):
        _agree(twice, args, jit)


# --- programs made up


class _Writer:
    """Writes loops whose places are near the counter."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def place(self) -> str:
        return self.one(
            "i", "i", "i", "i + 1", "i - 1", "i + 2", "i - 2", "0", "n - 1 - i", "3"
        )

    def value(self, depth: int = 2) -> str:
        if not depth or self.random.random() < 0.3:
            name = self.one("x", "y", "z")
            return self.one(
                "s", "t", f"{name}[{self.place()}]", f"{name}[{self.place()}]", "(i * 0.5)"
            )
        op = self.one("+", "-", "*", "+")
        return f"({self.value(depth - 1)} {op} {self.value(depth - 1)} * 0.25)"

    def statement(self, depth: int) -> list[str]:
        kind = self.random.random()
        if depth and kind < 0.3:
            test = f"if {self.value(1)} > {self.one('0.5', 's', 'x[i]')}:"
            lines = [test, *("    " + line for line in self.statement(0))]
            if self.random.random() < 0.5:
                lines += ["else:", *("    " + line for line in self.statement(0))]
            return lines
        name = self.one("x", "y")
        if kind < 0.75:
            op = self.one("=", "=", "+=")
            return [f"{name}[{self.one('i', 'i', 'i', self.place())}] {op} {self.value()}"]
        return [
            self.one(
                f"s = {self.value()} * 0.5",
                f"s += {self.value()}",
                f"t = 1.5 * {self.value(1)}",
            )
        ]

    def program(self) -> str:
        low, high = self.one("0", "1", "2", "n - 3"), self.one("n", "n - 1", "n - 2", "4")
        lines = ["def f(x, y, z, n):", "    x, y, s, t = x.copy(), y.copy(), 0.0, 1.0"]
        lines.append(f"    for i in range({low}, {high}):")
        for _ in range(self.random.randint(1, 3)):
            lines += ["        " + line for line in self.statement(1)]
        return "\n".join(["import numpy as np", "", *lines, "    return x, y, s, t", ""])


class _GridWriter(_Writer):
    """Writes nested loops over two axes, by elements and by rows."""

    def pair(self) -> str:
        i = self.one("i", "i", "i", "i + 1", "i - 1", "0", "j", "2")
        j = self.one("j", "j", "j", "j + 1", "j - 1", "0", "i", "1")
        return f"{i}, {j}"

    def value(self, depth: int = 2) -> str:
        if not depth or self.random.random() < 0.3:
            return self.one("s", f"a[{self.pair()}]", f"a[{self.pair()}]", f"b[{self.pair()}]")
        op = self.one("+", "-", "*", "+")
        return f"({self.value(depth - 1)} {op} {self.value(depth - 1)} * 0.25)"

    def statement(self, depth: int) -> list[str]:
        kind = self.random.random()
        if depth and kind < 0.2:
            return [f"if {self.value(1)} > 0.5:", "    " + self.statement(0)[0]]
        if kind < 0.8:
            return [f"a[{self.one('i, j', 'i, j', self.pair())}] = {self.value()}"]
        return [f"s = {self.value()} * 0.5"]

    def row(self) -> list[str]:
        at = self.one("i", "i", "i - 1", "0")
        return [
            self.one(
                f"a[{self.one('i', 'i', '0')}] = b[{at}] * 0.5 + a[{at}]",
                f"a[i, {self.one('1:', ':-1', 'i:')}] -= a[{at}, {self.one('0', '1', 'i')}]",
                f"a[i, 1] = a[{at}, 0] + s",
                f"s = s * 0.5 + a[{at}, 1]",
                f"b[{at}] += a[i] * s",
            )
        ]

    def program(self) -> str:
        low, high = self.one("0", "1", "2"), self.one("m", "m - 1")
        lines = ["def f(a, b, m, n):", "    a, b, s = a.copy(), b.copy(), 1.0"]
        lines.append(f"    for i in range({low}, {high}):")
        for _ in range(self.random.randint(1, 2)):
            lines += ["        " + line for line in self.row()]
        if self.random.random() < 0.7:
            first = self.one("0", "1", "i + 1", "i")
            lines.append(f"        for j in range({first}, {self.one('n', 'n - 1', 'i')}):")
            for _ in range(self.random.randint(1, 2)):
                lines += ["            " + line for line in self.statement(1)]
        return "\n".join(["import numpy as np", "", *lines, "    return a, b, s", ""])


def _loaded(path: Path, text: str) -> Callable[..., Any]:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f  # type: ignore[no-any-return]  # the program's


def _check(
    writer: _Writer, path: Path, inputs: list[tuple[Any, ...]], opset: int | None
) -> None:
    text = writer.program()
    fn = _loaded(path, text)
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for args in inputs:
        try:
            fn(*args)
        except (IndexError, ValueError):
            continue  # what nobody reads need not fail
        try:
            _agree(fn, args, jit)
        except BaseException as error:
            error.add_note(f"{path.name}, {args[0].shape}\n{text}")
            raise


LINES = [(X[:n], Y[:n], X[:n] * 0.5, n) for n in (6, 5, 4, 3, 1, 0)]
GRIDS = [
    (W[:m, :n], M.repeat(2, 0)[:m, :n], m, n)
    for m, n in ((4, 4), (4, 3), (2, 4), (1, 1), (3, 0), (0, 2), (2, 2))
]
SEEDS = [range(24), pytest.param(range(1000, 1400), marks=pytest.mark.slow)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize(("writer", "inputs"), [(_Writer, LINES), (_GridWriter, GRIDS)])
def test_random_loops(writer: Any, inputs: Any, seeds: range, tmp_path: Path):
    for seed in seeds:
        opset = 13 if seed % 4 == 0 else None
        _check(writer(seed), tmp_path / f"made_{seed}.py", inputs, opset)
