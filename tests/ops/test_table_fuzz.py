# SPDX-License-Identifier: Apache-2.0
"""Random calls of every row: jitted calls and exported models against NumPy.

A search with other seeds: ``python -m tests.ops.table_fuzz --first 5000 --count 1000``.
"""

from __future__ import annotations

import re

import pytest

from tests.ops.table_fuzz import SIZES, Case, Fault, cases, faults

#: what is known: refusals, exceptions that depend on data, exceptions that dtypes tell before
#: data does (docs/errors.md), assumptions, order of equals
EXPECTED = re.compile(
    r"refused|raises nothing|\(assumed\)|fallback raises nothing|signed zero|earlier exception"
)


def unexpected(todo: list[Case]) -> list[Fault]:
    return [f for f in faults(todo) if not EXPECTED.search(f.kind)]


def test_few_calls():
    assert unexpected(list(cases(0, 45, sizes=SIZES[:4]))) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100_000, 102_000, 200))
def test_many_calls(first):
    assert unexpected(list(cases(first, 200))) == []


#: calls that once went wrong, each for a kind of fault
ONCE_WRONG = (
    # Scan along another axis than the first ended the process on arrays without elements
    Case("np.cumprod(a_nm, axis=-1)", 3, 15),
    Case("np.vander(a_n, 3, increasing=False)", 1078, 15),
    Case("np.nancumprod(a_nm, axis=-1)", 1025, 21),
    # folds of an axis that is empty, or that starts with the identity
    Case("np.hypot.reduce(a_nmp, axis=0, keepdims=True)", 1436, 18),
    Case("np.gcd.reduce(i_nmp, axis=(0, 2), keepdims=True)", 2068, 15),
    Case("np.arctan2.accumulate(d_nm, axis=-1)", 1929, 13),
    # no edges
    Case("np.digitize(a_m, s_n, right=True)", 1229, 21),
    # core axes of generalised ufuncs
    Case("np.vecdot(a_nm, a1_nm, axis=0)", 1612, 15),
    Case("np.vecdot(a_nm, a1_nm, keepdims=True)", 1612, 21),
    Case(
        "np.matmul(a_nmp, a1_npm, axes=[(-1, 0), (0, -1), (-1, 0)])",
        7,
        21,
        ((2, 2, 2), (3, 3, 3)),
    ),
    # `out=` takes part in the dtype of a reduction
    Case(
        "np.sum(a1_nm, axis=0, out=a_nm[0])\n    return a_nm", 1874, 18, ((3, 4, 2), (2, 1, 1))
    ),
    # sizes that are int arguments
    Case("np.bincount(u_n, minlength=h_)", 1596, 21),
    Case("np.eye(h_, None)", 30234, 21),
    # numbers that are traced
    Case("bool(w_) + a_n", 1923, 13),
    Case("np.quantile(f_n, abs(w_) / 4)", 9, 21, ((3, 1, 1), (5, 1, 1))),
    # spaces of any number of places need no assumption
    Case("np.linspace(0, 5.5, a_n.shape[0], endpoint=True)", 1511, 21),
    Case("np.logspace(1, 2, a_n.shape[0])", 1101, 13),
    # of nothing
    Case("np.linalg.norm(d_nm, 1)", 1682, 18),
    Case("np.linalg.matrix_norm(d_nm, ord=1)", 20578, 15),
    Case("np.array_equiv(a_nm, a1_nm)", 20034, 21),
    # casts of results to `out=`
    Case("np.clip(a_nm, 0, 2, out=a_nm)\n    return a_nm", 100652, 18),
    # square of a large negative number
    Case("np.arccosh(a_n1)", 101248, 15),
    # models are given arrays that lie as the example does
    Case(
        "a_nm.ravel()[::2] = 3\n    return a_nm", 101247, 13, ((0, 3, 2), (2, 2, 2), (7, 5, 3))
    ),
    # casts that are not safe
    Case("np.putmask(a_nm, b_nm, a1_nm)\n    return a_nm", 1958, 18),
)


@pytest.mark.parametrize("case", ONCE_WRONG, ids=str)
def test_once_wrong(case):
    assert [f for f in faults([case]) if f.kind != "jit raises nothing"] == []
