# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on symbolic sizes is exact, well simplified, and guarded where it must be."""

import copy
import numbers
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from onnxjit._core import dims
from onnxjit._core.dims import (
    HOOKS,
    Dim,
    Guard,
    ShapeEnv,
    broadcast_dim,
    broadcast_shapes,
    check_guards,
    dim_max,
    dim_min,
    dim_prod,
    dim_sum,
    evaluate,
    fold,
    guards_source,
    hint_of,
    key,
    lower,
    onnx_name,
    python_source,
    reduce_guards,
    require_equal,
    same,
    slice_bounds,
    symbols_of,
    upper,
)
from onnxjit.errors import DataDependentError

SIZES = st.integers(0, 9)
SIGNED = st.integers(-9, 9)


class World:
    """Three sizes and one number of unknown sign, with values for all of them."""

    def __init__(self, values: Any, policy: Any = "guard", *, hints: bool = False) -> None:
        self.env = ShapeEnv(policy)
        hint = list(values) if hints else [None] * 4
        self.dims = [self.env.symbol(name, h) for name, h in zip("NMK", hint, strict=False)]
        self.dims.append(self.env.symbol("a", hint[3], None))
        self.values = dict(zip(self.env.symbols, values, strict=True))
        self.names = {s: s.name.lower() for s in self.env.symbols}

    def check(self, dim: Any, want: int) -> None:
        """Exact evaluation, bounds, generated source and the visitor agree with `want`."""
        assert evaluate(dim, self.values) == want
        assert fold(dim, dims.Evaluation(self.values)) == want
        low, high = lower(dim), upper(dim)
        assert low is None or low <= want
        assert high is None or want <= high
        assert isinstance(dim, (int, Dim))
        assert onnx_name(dim) == str(dim)
        scope = {self.names[s]: v for s, v in self.values.items()}
        assert eval(python_source(dim, self.names), {"max": max, "min": min}, scope) == want


VALUES = st.tuples(SIZES, SIZES, SIZES, SIGNED)
LEAF = st.one_of(
    st.integers(-6, 6).map(lambda n: ("int", n)),
    st.integers(0, 3).map(lambda n: ("symbol", n)),
)
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}


def grow(inner: Any) -> Any:
    ops = st.sampled_from(["+", "-", "*", "//", "%", "max", "min"])
    return st.one_of(
        st.tuples(ops, inner, inner), st.tuples(st.sampled_from(["abs", "clip"]), inner)
    )


TREES = st.recursive(LEAF, grow, max_leaves=7)


def build(tree: Any, leaves: Any, largest: Any, smallest: Any) -> Any:
    head, *rest = tree
    if head == "int":
        return rest[0]
    if head == "symbol":
        return leaves[rest[0]]
    args = [build(part, leaves, largest, smallest) for part in rest]
    if head == "abs":
        return abs(args[0])
    if head == "clip":
        return largest(args[0], 0)
    if head in {"max", "min"}:
        return (largest if head == "max" else smallest)(*args)
    return BINARY[head](*args)


def both(tree: Any, values: Any) -> Any:
    """World, symbolic value and plain value of a tree."""
    world = World(values)
    try:
        want = build(tree, values, max, min)
        return world, build(tree, world.dims, dim_max, dim_min), want
    except ZeroDivisionError:
        assume(False)
        raise


@settings(max_examples=500, deadline=None)
@given(TREES, VALUES)
def test_every_simplification_is_exact(tree, values):
    world, dim, want = both(tree, values)
    world.check(dim, want)
    assert all(g.kind in {"ne", "ge"} for g in world.env.guards)
    assert check_guards(world.env.guards, world.values)


@settings(max_examples=300, deadline=None)
@given(TREES, TREES, VALUES)
def test_proofs_are_right(one, two, values):
    world, a, left = both(one, values)
    try:
        b, right = build(two, world.dims, dim_max, dim_min), build(two, values, max, min)
    except ZeroDivisionError:
        assume(False)
    if same(a, b):
        assert left == right
    difference = a - b
    if isinstance(difference, Dim):
        for kind, truth in [("ge", left >= right), ("eq", left == right)]:
            assert world.env.proves(kind, difference.poly) in {None, truth}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(TREES, TREES, st.sampled_from(["<", "<=", "==", "!=", ">"])), max_size=4
    ),
    VALUES,
)
def test_comparisons_agree_with_the_example_and_guard_it(tests, values):
    world = World(values, hints=True)
    compare = {
        "<": operator.lt,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
    }
    for one, two, sign in tests:
        try:
            a, left = (
                build(one, *w) for w in [(world.dims, dim_max, dim_min), (values, max, min)]
            )
            b, right = (
                build(two, *w) for w in [(world.dims, dim_max, dim_min), (values, max, min)]
            )
        except ZeroDivisionError:
            assume(False)
        assert compare[sign](a, b) is compare[sign](left, right)
        count = len(world.env.guards)
        assert compare[sign](a, b) is compare[sign](left, right)
        assert len(world.env.guards) == count
    assert check_guards(world.env.guards, world.values)


CONDITIONS = st.lists(
    st.tuples(
        st.sampled_from(["eq", "ne", "ge"]),
        st.lists(st.integers(-2, 2), min_size=4, max_size=4),
        st.integers(-4, 4),
    ),
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(CONDITIONS, VALUES)
def test_reduced_guards_say_the_same(conditions, values):
    world = World(values)
    guards = []
    for kind, factors, offset in conditions:
        dim = dim_sum([offset, *(f * d for f, d in zip(factors, world.dims, strict=True))])
        guards.append(Guard(kind, dims.as_poly(dim)))
    fewer = reduce_guards(guards)
    assert len(fewer) <= len(guards)
    want = check_guards(guards, world.values)
    assert check_guards(fewer, world.values) == want
    scope = {world.names[s]: v for s, v in world.values.items()}
    assert eval(guards_source(fewer, world.names), {"max": max, "min": min}, scope) == want


ENDS = st.one_of(st.none(), st.integers(-5, 5), st.just("a"))


@settings(max_examples=500, deadline=None)
@given(ENDS, ENDS, st.sampled_from([None, 1, 2, 3, -1, -2, -3]), VALUES)
def test_slices_are_those_of_python(start, stop, step, values):
    world = World(values)
    first, last = (world.dims[3] if end == "a" else end for end in (start, stop))
    got = slice_bounds(first, last, step, world.dims[0])
    first, last = (values[3] if end == "a" else end for end in (start, stop))
    want = slice(first, last, step).indices(values[0])
    for dim, value in zip(got, (want[0], want[1], len(range(*want))), strict=True):
        world.check(dim, value)
    assert not world.env.guards


def test_slices_of_known_length():
    for start in (None, -9, -2, 0, 1, 9):
        for step in (1, 2, -1, -3):
            want = slice(start, None, step).indices(5)
            assert slice_bounds(start, None, step, 5) == (*want[:2], len(range(*want)))
    with pytest.raises(ValueError, match="zero"):
        slice_bounds(None, None, 0, 5)


@pytest.fixture
def env():
    return ShapeEnv()


@pytest.fixture
def n(env):
    return env.symbol("N", 8)


@pytest.fixture
def m(env):
    return env.symbol("M", 8)


# ---- normal form


def test_constants_are_ints(n, m):
    assert type(n - n) is int
    assert n - n == 0
    assert type(n * 0) is int
    assert (n + m) - m is n
    assert dim_prod([]) == 1
    assert dim_prod([2, 3]) == 6
    assert dim_sum([n, -n, 4]) == 4


def test_equal_expressions_are_one_object(n, m):
    assert n + m is m + n
    assert (n + 1) * (n - 1) is n**2 - 1
    assert key(n + m) == key(m + n)
    assert key(n) != key(m)
    assert copy.deepcopy(n) is n


@pytest.mark.parametrize("cut", [0, 1, 2, 5, "a"])
def test_two_parts_of_a_slice_add_up(env, n, cut):
    at = env.symbol("a", 3, None) if cut == "a" else cut
    assert slice_bounds(None, at, 1, n)[2] + slice_bounds(at, None, 1, n)[2] is n


def test_even_and_odd_items_add_up(n):
    assert slice_bounds(0, None, 2, n)[2] + slice_bounds(1, None, 2, n)[2] is n


def test_quotients(n, m):
    assert (4 * n + 3) // 2 is 2 * n + 1
    assert (n * m) // n is m
    assert (n * m) % n == 0
    assert (6 * n) // (2 * m + 2) is (3 * n) // (m + 1)
    assert n // 2 // 3 is n // 6
    assert (n // 2 + 1) // 2 is (n + 2) // 4
    assert (n % 4) // 4 == 0
    assert 5 // (m + 6) == 0
    assert -(-n // 2) is (n + 1) // 2
    assert divmod(n, 2) == (n // 2, n % 2)


def test_extremes(n, m):
    assert dim_max(n, m) is dim_max(m, n)
    assert dim_min(n, m) + dim_max(n, m) is n + m
    assert dim_max(n, 0) is n
    assert dim_min(n, -1) == -1
    assert dim_min(dim_min(n, 5), 3) is dim_min(n, 3)
    assert dim_max(dim_max(n - 2, 0) - 1, 0) is dim_max(n - 3, 0)
    assert dim_max(n * m - 2 * m, 0) is m * dim_max(n - 2, 0)
    assert abs(n) is n


def test_bounds(env, n):
    a = env.symbol("a", 3, None)
    assert (lower(n), upper(n)) == (0, None)
    assert (lower(a), upper(a)) == (None, None)
    assert (lower(n % 4 + 1), upper(n % 4 + 1)) == (1, 4)
    assert (lower(dim_min(n, 4)), upper(dim_min(n, 4))) == (0, 4)
    assert lower(dim_max(n - 2, 0)) == 0
    assert (lower(7), upper(7)) == (7, 7)
    assert n <= 9
    assert n > 2
    assert (lower(n), upper(n)) == (3, 9)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda n, _: n - 2, "N - 2"),
        (lambda n, _: 2 - n, "2 - N"),
        (lambda n, _: -n, "-N"),
        (lambda n, _: dim_max(n - 2, 0), "max(N - 2, 0)"),
        (lambda n, _: dim_max(n, 2), "max(N, 2)"),
        (dim_min, "min(N, M)"),
        (lambda n, m: 3 * n * m**2, "3*N*M**2"),
        (lambda n, _: -(n // 3), "-(N//3)"),
        (lambda n, _: (n + 1) // 3 * 2, "2*((N + 1)//3)"),
    ],
)
def test_text(n, m, make, text):
    dim = make(n, m)
    assert repr(dim) == str(dim) == f"{dim}" == onnx_name(dim)
    assert str(dim) == text
    assert not dim.env.guards


def test_visitor_shares_parts(n, m):
    calls = []

    class Count(dims.Evaluation):
        def mul(self, left, right, /):
            calls.append((left, right))
            return left * right

    memo: dict[object, int] = {}
    algebra = Count(dict.fromkeys(symbols_of(n * m), 3))
    assert fold(dim_max(n * m - 5, 0), algebra, memo) == 4
    assert fold(n * m + 1, algebra, memo) == 10
    assert calls == [(3, 3)]


# ---- Python protocol


def test_is_an_integral_but_no_int(n):
    assert isinstance(n, numbers.Integral)
    assert int not in type(n).__mro__
    assert (n.real, n.imag, n.denominator) == (n, 0, 1)
    assert n.numerator is n.conjugate() is +n is round(n) is round(n, 1) is n


@pytest.mark.parametrize("freeze", [int, float, hash, operator.index, "{:3d}".format, complex])
def test_freezing_guards_the_value_once(env, n, freeze):
    assert freeze(n) == freeze(8)
    assert [g.text for g in env.guards] == ["N == 8"]
    assert freeze(n + 1) == freeze(9)
    assert len(env.guards) == 1
    assert env.resolve(2 * n) == 16


def test_text_freezes_nothing(env, n):
    assert f"{n}{n!r}{n!s}" == "NNN"
    assert not env.guards


def test_bits(env, n, monkeypatch):
    assert n & 7 is n % 8
    assert n << 2 is 4 * n
    assert n >> 1 is n // 2
    assert ~n is -n - 1
    monkeypatch.setattr(HOOKS, "integer", lambda *args: args)
    assert n | 1 == (np.bitwise_or, n, 1)
    assert not env.guards


def test_foreign_operands(n):
    for apply in (operator.add, operator.sub, operator.floordiv, operator.truediv):
        with pytest.raises(TypeError):
            apply(n, "x")
        with pytest.raises(TypeError):
            apply((), n)
    assert n != "x"
    assert n != None  # noqa: E711
    with pytest.raises(ValueError, match="two different traces"):
        n + ShapeEnv().symbol("N")


def test_typed_operands_go_to_the_array_layer(n, monkeypatch):
    monkeypatch.setattr(HOOKS, "dim_array", lambda dim: np.array(hint_of(dim)))
    monkeypatch.setattr(HOOKS, "ufunc", lambda *args: args[0].__name__)
    assert n / 2 == 4.0
    assert n / n == 1.0
    assert 2 / n == 0.25
    assert n * 0.5 == 4.0
    assert 1.5 - n == -6.5
    assert n + np.int8(1) == 9
    assert divmod(n, 3.0) == (2.0, 2.0)
    assert n**0.5 == 8**0.5
    assert np.int8(1) + n == "add"
    assert np.ones(3) * n == "multiply"
    assert 2**n == 256
    assert not n.env.guards


def test_array_freezes(env, n):
    assert np.asarray(n, "f4").dtype == np.float32
    assert [g.text for g in env.guards] == ["N == 8"]


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (lambda n: n > 2.5, "N >= 3"),
        (lambda n: n < 9.5, "N <= 9"),
        (lambda n: n == 8.0, "N == 8"),
        (lambda n: n >= np.int8(3), "N >= 3"),
        (lambda n: 3 < n, "N >= 4"),  # noqa: SIM300
        (bool, "N >= 1"),
        (lambda n: n != 8 or True, "N == 8"),
        (lambda n: n != 3, "N != 3"),
        (lambda n: n // 3 == 2, "N//3 == 2"),
        (lambda n: 2 * n > 5, "N >= 3"),
    ],
)
def test_guards_of_tests(env, n, test, text):
    assert test(n) is True
    assert [g.text for g in env.guards] == [text]
    assert test(n) is True
    assert len(env.guards) == 1


def test_provable_tests_add_no_guard(env, n, m):
    assert n >= 0
    assert not n < 0
    assert n == n + m - m
    assert n + 1 > n
    assert n != n + 1
    assert 2 * n != 5
    assert dim_max(n - 2, 0) <= n
    assert n // 2 <= n
    assert n < np.inf
    assert n != 2.5
    assert not env.guards


def test_equalities_unify(env, n, m):
    k = env.symbol("K", 8)
    assert n == m
    assert m == k
    assert n == k
    assert same(n + 1, k + 1)
    assert n * m == k * n
    assert [g.text for g in env.guards] == ["N == M", "M == K"]
    assert env.resolve(n - k) == 0
    assert n * m == 64
    assert n * m < 65
    assert len(env.guards) == 3


def test_data_and_missing_hints(env, n):
    d = env.symbol("d", data=True)
    free = env.symbol("F")
    assert d >= 0
    with pytest.raises(DataDependentError, match=r"the test d > 3 needs .* array data"):
        d > 3  # noqa: B015
    with pytest.raises(DataDependentError, match="__index__"):
        operator.index(d + n)
    with pytest.raises(DataDependentError, match="no example"):
        bool(free)
    assert hint_of(free) is None
    assert not env.guards


def test_zero_divisors(env, n):
    z, free = env.symbol("Z", 0), env.symbol("F")
    with pytest.raises(ZeroDivisionError):
        n // 0
    with pytest.raises(ZeroDivisionError):
        5 % z
    assert str(n // free) == "N//F"
    assert str(5 % (free + 1)).startswith("5 - ")
    assert [g.text for g in env.guards] == ["Z == 0", "F >= 1"]


# ---- broadcasting


def test_broadcast_under_guards(env, n, m):
    one, other = env.symbol("A", 1), env.symbol("B", 3)
    assert broadcast_shapes(env) == ()
    assert broadcast_shapes(env, (n, 1), (3,), ()) == (n, 3)
    assert broadcast_dim(env, n, n) is n
    assert not env.guards
    assert broadcast_dim(env, n, m) is n
    assert broadcast_dim(env, one, n) is n
    assert broadcast_dim(env, 8, n) == 8
    assert [g.text for g in env.guards] == ["N == M", "A == 1", "N == 8"]
    with pytest.raises(ValueError, match=r"with shapes \(8,\) \(2,3\) $"):
        broadcast_shapes(env, (n,), (2, other))
    with pytest.raises(ValueError, match=r"\(2,\) \(3,\)"):
        broadcast_dim(env, 2, 3)
    assert broadcast_dim(env, env.symbol("C", 1), env.symbol("D", 1)) is not None
    assert env.guards[-1].text == "C == D"


def test_broadcast_under_assumptions():
    env = ShapeEnv("assume")
    hints = {"A": 1, "B": 3, "C": 3, "D": None}
    a, b, c, d = (env.symbol(name, hint) for name, hint in hints.items())
    joined = broadcast_dim(env, a, b)
    assert str(joined) == "broadcast(A, B)"
    assert broadcast_dim(env, b, a) is joined
    assert broadcast_dim(env, joined, b) is joined
    assert broadcast_dim(env, a, 5) == 5
    assert broadcast_dim(env, d, 5) == 5
    assert broadcast_dim(env, d + 2, a) is d + 2
    assert not env.guards
    assert broadcast_dim(env, b, c) is b
    assert broadcast_dim(env, 3, b) == 3
    assert [g.text for g in env.guards] == ["B == C"]
    with pytest.raises(ValueError, match="broadcast"):
        broadcast_dim(env, b, 4)


@settings(deadline=None)
@given(SIZES, SIZES)
def test_broadcast_terms_are_exact(p, q):
    assume(p == q or 1 in {p, q})
    world = World((p, q, 0, 0), "assume")
    joined = broadcast_dim(world.env, *world.dims[:2])
    world.check(joined, np.broadcast_shapes((p,), (q,))[0])


def test_broadcast_with_data(env, n):
    d, e = env.symbol("d", data=True), env.symbol("e", data=True)
    assert broadcast_dim(env, d, 1) is d
    assert broadcast_dim(env, d, 5) == 5
    assert broadcast_dim(env, d, d) is d
    assert str(broadcast_dim(env, e, d)) == "broadcast(d, e)"
    assert not env.guards
    assert broadcast_dim(env, d, n) is n
    assert [g.text for g in env.guards] == ["N != 1"]
    assert broadcast_dim(env, n, d) is n
    assert len(env.guards) == 1


def test_require_equal(env, n, m):
    assert require_equal(env, n, n)
    assert not require_equal(env, n, n + 1)
    assert require_equal(env, n, env.symbol("d", data=True))
    assert not env.guards
    assert not require_equal(env, n, 7)
    assert require_equal(env, n, m)
    assert require_equal(env, env.symbol("F"), 4)
    assert [g.text for g in env.guards] == ["N != 7", "N == M", "F == 4"]


# ---- guards


def test_reduction(env, n, m):
    assert n > 2
    assert n > 4
    assert m > 1
    assert n != 3
    assert n != 9
    assert n == m
    assert [g.text for g in reduce_guards(env.guards)] == ["N >= 5", "N != 9", "N == M"]
    assert int(n) == 8
    reduced = reduce_guards(env.guards)
    names = {s: f"n{s.order[1][0]}" for s in env.symbols}
    assert guards_source(reduced, names) == "n0 == n1 and n0 == 8"
    assert guards_source([], names) == "True"
    assert check_guards(reduced, dict.fromkeys(env.symbols, 8))
    assert not check_guards(reduced, dict.fromkeys(env.symbols, 7))


def test_divisors_are_checked_first(env, n, m):
    assert n // m == 1
    assert m == 8
    reduced = reduce_guards(env.guards)
    assert not check_guards(reduced, dict(zip(env.symbols, (8, 0), strict=True)))
    assert [g.text for g in reduced] == ["M == 8", "N//M == 1"]


def test_guards_keep_the_line(env, n, monkeypatch):
    monkeypatch.setattr(HOOKS, "source", lambda: "line 7")
    assert n > 1
    assert env.guards[0].source == "line 7"
