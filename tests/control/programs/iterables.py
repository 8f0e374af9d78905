# SPDX-License-Identifier: Apache-2.0
"""Python's functions of iterables, given arrays."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 4.0])
B = np.array([-2.0, 0.5])
ONE = np.array([2.5])
EMPTY = np.zeros(0)
ZEROS = np.array([0.0, -0.0, 0.0])
NANS = np.array([1.0, np.nan, 2.0])
NAN_FIRST = np.array([np.nan, 1.0, 2.0])
LEAST = np.array([-np.inf, np.nan, -np.inf])
TABLE = np.arange(12.0).reshape(4, 3) % 5
WIDE = np.arange(10.0).reshape(2, 5) - 3
SOME = ((A,), (B,), (ONE,))
VECTORS = (*SOME, (EMPTY,))
TABLES = ((TABLE,), (WIDE,))
NO_ELEMENT = "a sum of no elements is Python's 0"


@program(*SOME, (ZEROS,), (-ZEROS,), (NANS,), (NAN_FIRST,), (LEAST,))
def extremes(x):
    return max(x), min(x), max(x.flat), min(reversed(x)), max([v * 2 for v in x])


@program(*SOME, (EMPTY,), raises=ValueError)
def greatest(x):
    return max(x)


@program(*VECTORS)
def with_default(x):
    return max(x, default=0.5), min(x, default=-1.0), max(x, key=abs, default=9.0)


@program(*SOME)
def of_small_numbers(x):
    return max(x.astype(np.int8)), min(x > 0), max(x.astype(np.float32)), sum(x > 0)


@program(*SOME)
def by_key(x):
    place = max(range(len(x)), key=lambda i: x[i])
    return min(x, key=abs), place, max(enumerate(x), key=lambda p: -p[1])[0]


@program(*TABLES)
def of_rows(table):
    longest = max(table, key=lambda row: (row * row).sum())
    return longest, min(table, key=np.sum)[0], np.array([max(row) for row in table])


@program(*SOME)
def of_pairs(x):
    return max(zip(x, range(len(x)), strict=True))[1], min(zip(x, x * 2, strict=False))


@program(*SOME)
def mapped(x):
    doubled = list(map(np.square, x))
    pairs = sum(map(lambda v, w: v * w, x, x[::-1]), 0.0)
    return np.array(doubled), pairs, max(map(abs, x)), any(map(np.isnan, x))


@program(*VECTORS)
def filtered(x):
    kept = list(filter(lambda v: v > 0, x))
    return np.array(kept), len(kept), next(filter(lambda v: v < 0, x), 1.0)


@program(*SOME, joins="numbers of Python and of NumPy in one list become NumPy's")
def filtered_items(x):
    return sum(filter(lambda v: v > 1, (x[0], x[-1], 2.0)), 0.0), sum(filter(None, x), 0.0)


@program((A,), (B,))
def one_by_one(x):
    steps = iter(x)
    first = next(steps)
    second = next(steps)
    rest = 0.0
    for v in steps:
        rest += v
    return first, second, rest, len(list(steps))


@program(*SOME)
def sorted_by_key(x):
    by_size = sorted(x, key=abs)
    back = sorted(x, reverse=True)
    places = sorted(range(len(x)), key=lambda i: x[i], reverse=True)
    return np.array(by_size), np.array(back), np.array(places)


@program(*SOME)
def sorted_pairs(x):
    found = sorted(enumerate(x), key=lambda p: (p[1] > 0, -p[1]))
    return np.array([v for _, v in found]), found[0][0]


@program(*TABLES)
def sorted_rows(table):
    return np.array(sorted(table, key=lambda row: row[1])), table


@program((A, B), (B, ONE))
def sorted_few(x, y):
    items = [x[0] * 3, y[-1], x[-1] + 1]
    items.sort()
    names = sorted([(x[0], 1), (y[0], 2), (x[-1], 3)], key=lambda p: -p[0])
    return items[0], items[2] - items[1], names[0][1]


@program((ZEROS,), (np.array([1.0, 0.0, -0.0]),))
def stays_in_order(x):
    return np.array(sorted(x)), np.array(sorted(x, reverse=True))


@program(*SOME)
def spread(x):
    both = [*x, 0.5, *x[::-1], *(v * 2 for v in x if v > 0)]
    return np.array(both), len(both)


@program(*SOME)
def as_lists(x):
    pairs = list(zip(x, x + 1, strict=True))
    numbered = list(enumerate(x, 1))
    return np.array(pairs), np.array(numbered), np.array(x.tolist()), list(reversed(x))


@program(*TABLES)
def nested_lists(table):
    rows = table.tolist()
    return np.array(rows), rows[0][1], len(rows)


@program(*SOME)
def from_iterables(x):
    halves = np.fromiter((v / 2 for v in x), np.float32)
    return halves, np.fromiter(map(abs, x), float, len(x))


@program(*VECTORS, joins=NO_ELEMENT)
def sums(x):
    return sum(x), sum(v * 2 for v in x), sum(reversed(x)), sum(x, 1.0)


def multiples(x, count):
    for k in range(count):
        yield k, x * k


def fibonacci(count):
    a, b = 0, 1
    for _ in range(count):
        yield a
        a, b = b, a + b


def first_and(x):
    yield x[0]
    yield from (row for _, row in multiples(x[-1], 2))


@program(*SOME)
def generator_functions(x):
    total = 0.0
    for k, row in multiples(x, 3):
        if row.sum() > 0:
            total += row.max() * k
    rest = multiples(x, 4)
    _, zeros = next(rest)
    return total, zeros, sum(fibonacci(9)), [row.sum() for _, row in rest], list(first_and(x))
