# SPDX-License-Identifier: Apache-2.0
"""Constructs of Python: growing lists, nested functions, errors, values of differing kind."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
EMPTY = np.zeros(0)
ONE = np.array([2.5])
JOINS = "the branches return values of differing dtype or kind"


@program((A, 3), (A, 0), (ONE, 1), (EMPTY, 2))
def stack_steps(x, n):
    kept = []
    for i in range(n):
        x = x * 0.5 + i
        kept.append(x)
    if not kept:
        return np.zeros((0, len(x)))
    return np.stack(kept)


@program((A,), (EMPTY,), (-np.ones(3),), (np.arange(1.0, 4.0),))
def keep_positive(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * v)
    return np.array(kept, dtype=np.float64)


@program((A,), (ONE,), (np.arange(4.0),), (EMPTY,))
def comprehensions(x):
    squares = np.array([v * v for v in x], dtype=np.float64)
    positive = sum(1 for v in x if v > 0)
    largest = max([abs(v) for v in x], default=0.0)
    return squares, positive, largest + np.float64(0)


@program((1.0, 2.0), (-1.0, 2.0), (0.0, 0.0))
def born_in_branch(a, b):
    if a > 0:
        scale = b
        shift = 1.0
    else:
        scale = -b
        shift = 0.0
        extra = a * 2
        shift += extra
    return scale * 3 + shift


@program((2.0,), (-3.0,), raises=UnboundLocalError)
def sometimes_unbound(a):
    if a > 0:
        value = a * 2
    return value + 1


@program(
    (A,),
    (A[:2],),
    (ONE,),
    (np.zeros((2, 2)),),
    calls_only="how deep the recursion goes depends on a size",
)
def recursive_sum(x):
    def total(part):
        if part.size <= 1:
            return part.sum()
        middle = part.size // 2
        return total(part[:middle]) + total(part[middle:])

    return total(x.ravel())


@program((A, -1.0), (A, 1.0), (ONE, 0.0))
def recursion_and_data(x, s):
    def smooth(v, depth):
        if depth == 0:
            return v
        if s > 0:
            v = v / 2
        return smooth(v + s, depth - 1)

    return smooth(x, 3)


@program((A,), (np.array([0.0, 1.0]),), (EMPTY,))
def with_errstate(x):
    out = np.zeros_like(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(len(x)):
            r = 1.0 / x[i]
            if np.isinf(r):
                r = x[i] * 0
            out[i] = r
    return out


@program((A, 1.0), (A, -1.0), (EMPTY, 1.0))
def try_finally(x, s):
    seen = []
    try:
        seen.append("in")
        if s < 0:
            return x * s
        x = x + s
    finally:
        seen.append("out")
    return x * len(seen)


@program((A, 1.0), (np.array([1.0, -1.0]), 0.0), (np.array([np.nan]), 1.0), raises=ValueError)
def raise_on_data(x, s):
    if np.isnan(x).any():
        raise ValueError("not a number among the values")
    total = x.sum()
    if total <= 0 and s == 0:
        raise ValueError("weights add up to %d" % total)
    return x / (total + s)


@program(
    (np.array([0.5, 0.5]),), (np.array([1.0]),), (np.array([0.7, 0.7]),), raises=AssertionError
)
def assert_on_data(p):
    assert abs(p.sum() - 1) < 1e-9, "probabilities must add up to 1"
    entropy = 0.0
    for v in p:
        assert v >= 0
        if v > 0:
            entropy -= v * np.log(v)
    return entropy


@program((A, 2), (A, 9), (A, -6), (EMPTY, 0), raises=IndexError)
def index_error(x, i):
    if len(x) > 0 and i > 0:
        return x[i]
    return x[i] * 2


@program(
    (np.array([4, 9]), np.array([2, 3])),
    (np.zeros(0, np.int64), np.zeros(0, np.int64)),
    (np.array([1, 2]), np.array([1, 0])),
    raises=ValueError,
)
def raise_inside_loop(a, b):
    out = np.zeros_like(a)
    for i in range(len(a)):
        if b[i] == 0:
            raise ValueError("a zero to divide by")
        out[i] = a[i] // b[i]
    return out


@program((A,), (-A,), (EMPTY,))
def nested_nonlocal(x):
    count = 0
    peak = -np.inf

    def visit(v):
        nonlocal count, peak
        if v > 0:
            count += 1
        if v > peak:
            peak = v

    for v in x:
        visit(v)
    return count, x + count


def first_negative(row):
    for i in range(len(row)):
        if row[i] < 0:
            return i
    return len(row)


def halve_until(v, limit):
    while True:
        if v <= limit:
            return v
        v = v / 2


@program(
    (np.array([[1.0, -2.0], [3.0, 4.0], [-1.0, 0.0]]),),
    (np.zeros((0, 3)),),
    (np.ones((2, 1)) * 5,),
)
def helpers_in_loop(table):
    out = np.zeros(len(table))
    for i in range(len(table)):
        k = first_negative(table[i])
        if k == 0:
            continue
        out[i] = halve_until(table[i, k - 1], 1.0)
    return out


@program((A,), (-A,), (ONE,))
def lambdas(x):
    pick = (lambda v: v * 2) if x[0] > 0 else (lambda v: v - 1)
    sign = lambda v: 1.0 if v > 0 else (-1.0 if v < 0 else 0.0)  # noqa: E731
    total = sign(x.sum())
    return pick(x) * total


@program((A, 1.0), (A, -1.0), joins=JOINS)
def dtypes_differ(x, s):
    if s > 0:
        return x.astype(np.float32)
    return x.astype(np.int64)


@program((3, 2), (4, 2), (0, 5), joins=JOINS)
def half_if_even(n, k):
    if n % k == 0:
        return n // k
    return n / k


@program((A, 1.0), (A, -1.0), calls_only="None and an array are no one type of output")
def none_in_branch(x, s):
    if s < 0:
        return None
    return x * s


@program((A,), (-A,), (np.zeros(2),), calls_only="a model has no text among its outputs")
def words(x):
    total = x.sum()
    return "up" if total > 0 else ("down" if total < 0 else "flat")


@program((A, 1.0), (A, -1.0), (EMPTY, 1.0))
def none_as_default(x, s):
    scale = None
    if s > 0:
        scale = s * 2
    if scale is None:
        return x
    return x * scale


@program((np.arange(4.0), 1.0), (np.arange(4.0), -1.0), (np.arange(1.0), 1.0))
def shapes_differ(x, s):
    y = x[1:] if s > 0 else np.concatenate([x, x])
    total = 0.0
    for v in y:
        total += v
    return total + np.float64(0), y


@program((A, 3), (A, 0), (ONE, 2))
def grow(x, n):
    out = x
    for i in range(n):
        if i % 2 == 0:
            out = np.concatenate([out, x])
        else:
            out = out[1:]
    return out


@program((7,), (8,), (1,), (0,))
def walrus(n):
    steps = 0
    while (half := n // 2) > 0:
        n = half
        steps += 1
    return steps, half


@program((A, 2), (A, 1), (A, 0), (A, 5))
def match_statement(x, kind):
    match kind:
        case 0:
            return x
        case 1 | 2:
            y = x * kind
        case _:
            y = -x
    return y + 1
