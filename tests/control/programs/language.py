# SPDX-License-Identifier: Apache-2.0
"""Constructs of Python, a few in each function: conditions, exits, loops, errors, helpers."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
EMPTY = np.zeros(0)
ONE = np.array([2.5])
JOINS = "the branches return values of differing dtype or kind"


@program((A, -2.0, 2.0), (ONE, 0.0, 9.0), (EMPTY, 0.0, 1.0), (A, 3.0, -3.0), raises=ValueError)
def clip_early(x, low, high):
    if low > high:
        raise ValueError(f"low {low} is above high {high}")
    if x.size == 0:
        return x
    if x.min() >= low and x.max() <= high:
        return x.copy()
    return np.minimum(np.maximum(x, low), high)


@program((85.0,), (95.0,), (72.0,), (10.0,), (60.0,), (-1.0,))
def grade(score):
    if score < 0:
        mark = -1
    elif score >= 90:
        mark = 5
    elif score >= 80:
        mark = 4
    elif score >= 60:
        mark = 3
    else:
        mark = 0
    return mark


@program((np.array([0.2, 0.9, 0.5]),), (EMPTY,), (np.array([1.5, -0.1]),))
def threshold_chain(x):
    out = np.zeros(len(x), dtype=np.int8)
    for i in range(len(x)):
        if x[i] < 0:
            out[i] = -1
        elif x[i] < 0.3:
            out[i] = 0
        elif x[i] < 0.7:
            out[i] = 1
        else:
            out[i] = 2 if x[i] <= 1 else 3
    return out


@program(
    (A, 2),
    (A, 0),
    (A, 4),
    (ONE, 0),
    (ONE, 7),
    (EMPTY, 0),
    joins="and gives back either side: truth values of Python or of NumPy",
)
def lazy_conditions(x, i):
    """Ask on the right side what would be an error where the left one is false."""
    inside = 0 <= i < len(x)
    positive = inside and x[i] > 0
    small = not inside or abs(x[i]) < 2
    return positive and not small, small or (inside and x[i] == 4.0)


@program(
    (A,), (-A,), (np.array([1.0, 2.0, 3.0, 4.0, 5.0]),), (np.array([1.0, 1.0, 0.0, 0.0, 0.0]),)
)
def chained(x):
    if x[0] < x[1] < x[2]:
        return 1
    if x[0] == x[1] != x[2]:
        return 2
    return 3


@program((A,), (np.zeros(3),), (ONE,))
def scale_ternary(x):
    top = np.abs(x).max()
    factor = 1.0 / top if top > 0 else 1.0
    shifted = x - x.mean() if (x > 2).any() else x
    return shifted * factor


@program((A, 4.0), (A, 7.0), (EMPTY, 1.0), (ONE, 2.5))
def while_else(x, wanted):
    i = 0
    while i < len(x):
        if x[i] == wanted:
            where = i
            break
        i += 1
    else:
        where = -1
    return where


@program(
    (np.array([4, 6, 9]),),
    (np.array([4, 7]),),
    (np.zeros(0, np.int64),),
    (np.array([2, 3, 8]),),
)
def for_else(numbers):
    """Look for a prime among small numbers."""
    for n in numbers:
        for d in range(2, int(n)):
            if n % d == 0:
                break
        else:
            return n
    return np.int64(-1)


@program(
    (np.array([[1, 2, 3], [4, 5, 6]]), 5),
    (np.array([[1, 2]]), 9),
    (np.zeros((0, 2), np.int64), 1),
    (np.array([[7]]), 7),
)
def find_in_table(table, wanted):
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            if table[i, j] == wanted:
                return i, j
    return -1, -1


@program(
    (A,),
    (EMPTY,),
    (np.array([-1.0, np.nan, 2.0]),),
    (np.array([1.0, 200.0, 3.0]),),
    joins="the sum starts as a Python float",
)
def sum_with_continue(x):
    total = 0.0
    for v in x:
        if np.isnan(v) or v < 0:
            continue
        if v > 100:
            break
        total += v
    return total


@program(
    (np.arange(6.0).reshape(3, 2), np.array([1.0, -1.0])),
    (np.zeros((0, 2)), np.ones(2)),
    (np.ones((1, 2)), np.array([5.0, 5.0])),
)
def over_rows(table, weights):
    best = np.full(table.shape[1], -np.inf)
    count = 0
    for row in table:
        if row @ weights > -1.5:
            count += 1
            best = np.maximum(best, row)
    return best, count


@program((A, A[::-1] * 2), (ONE, ONE), (EMPTY, EMPTY), (A[:2], -A[:2]))
def zip_enumerate(x, y):
    out = np.zeros(len(x))
    crossings = 0
    for i, (a, b) in enumerate(zip(x, y)):
        if a < b:
            out[i] = b - a
        else:
            crossings += 1
    return out, crossings


@program((A,), (EMPTY,), (ONE,), (-A,))
def reversed_scan(x):
    out = np.empty_like(x)
    top = -np.inf
    for i in reversed(range(len(x))):
        top = max(top, x[i])
        out[i] = top
    last = 0.0
    for v in reversed(x):
        last = last * 0.5 + v
    return out, last + np.float64(0)


@program((A, 1.0), (A, -1.0), (A, 0.0), (ONE, 10.0))
def static_containers(x, s):
    steps = [(0.5, True), (2.0, False), (1.5, True)]
    names = {"a": 1.0, "b": -1.0}
    total = x
    for factor, adds in steps:
        if adds:
            total = total + factor * s
        elif s > 0:
            total = total * factor
    for name in ("a", "b"):
        if s * names[name] > 0:
            total = total - names[name]
    return total
