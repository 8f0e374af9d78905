# SPDX-License-Identifier: Apache-2.0
"""Sizes are shared and answers remembered, but nothing outlives what it rests on."""

import threading

import pytest

from onnxjit._core.dim_atoms import Store, Symbol
from onnxjit._core.dim_polynomial import atom_poly, constant
from onnxjit._core.dim_rules import floordiv, is_refuted, nonneg, pos
from onnxjit._core.dims import (
    ShapeEnv,
    broadcast_shapes,
    dim_max,
    lower,
    require_equal,
    same,
    slice_bounds,
    upper,
)


def test_equal_sizes_are_one_object():
    env = ShapeEnv()
    n, m = env.symbol("N", 5), env.symbol("M", 7)
    assert (n + 1) * (m - 2) is n * m - 2 * n + m - 2
    assert dim_max(n - 1, 0) is dim_max(n - 1, 0)
    assert (n + m).poly is (m + n).poly
    assert n - n == 0
    assert (n - m) + m is n


@pytest.mark.parametrize("value", [0, 1, -1, 1024, 1025, -(2**63), 10**40])
def test_equal_constants_are_one_object_in_every_thread(value):
    made = [constant(value)]
    threads = [threading.Thread(target=lambda: made.append(constant(value))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each is made[0] for each in made)
    assert made[0].value == value


def test_environments_share_nothing_but_constants():
    a, b = ShapeEnv().symbol("N", 3), ShapeEnv().symbol("N", 3)
    assert a.poly is not b.poly
    assert (a + 1).poly.terms != (b + 1).poly.terms
    with pytest.raises(ValueError, match="two different traces"):
        a + b


def test_answers_are_asked_again_after_a_guard():
    env = ShapeEnv()
    n, m = env.symbol("N", 4), env.symbol("M", 4)
    assert not same(n, m)
    assert env.proves("eq", n.poly - m.poly) is None
    assert (lower(n - 2), upper(n)) == (-2, None)
    assert require_equal(env, n, m)
    assert same(n, m)
    assert broadcast_shapes(env, (n,), (m,))[0] is n
    assert n >= 2
    assert lower(n - 2) == 0
    assert len(env.guards) == 2


def test_sizes_that_differ_in_the_example_may_be_equal_once_guards_contradict_it():
    env = ShapeEnv("assume")
    a, b, c = env.symbol("A", 3), env.symbol("B"), env.symbol("C", 4)
    assert not same(a, c)
    assert require_equal(env, a, b)
    assert require_equal(env, b, c)
    assert same(a, c)


def test_bounds_of_a_slice_are_remembered_by_what_they_depend_on():
    env = ShapeEnv()
    n, m = env.symbol("N", 9), env.symbol("M", 9)
    first = slice_bounds(1, None, 1, n)
    assert slice_bounds(1, None, 1, n) is first
    assert slice_bounds(1, None, 1, m) is not first
    assert slice_bounds(1, None, -1, n) is not first
    assert slice_bounds(m, None, 1, n)[0] is not first[0]
    assert slice_bounds(-3, 20, 2, 9) == (6, 9, 2)
    assert slice_bounds(20, None, -2, 9) == (8, -1, 5)


def test_a_sample_refutes_a_claim_only_where_the_facts_hold():
    n = atom_poly(Symbol("N", None, 0, store=Store()))
    assert n.samples == (0, 1, 2)
    assert is_refuted(n - 1, ())
    assert not nonneg(n - 1)
    assert not is_refuted(n - 1, (n - 1,))
    assert nonneg(n - 1, (n - 1,))
    assert not is_refuted(n - 1, (n - 3,))
    assert pos(n - 1).samples == (0, 0, 1)
    assert floordiv(constant(6), n).samples is None
