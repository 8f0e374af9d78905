# SPDX-License-Identifier: Apache-2.0
"""``range`` of sizes and of data, with steps of either sign."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 4.0, 0.5])
B = np.array([-2.0, 0.5])
ONE = np.array([2.5])
EMPTY = np.zeros(0)
VECTORS = ((A,), (B,), (ONE,), (EMPTY,))
SOME = VECTORS[:-1]
STEPS = ((A, 2), (A, 1), (A, 3), (A, -2), (A, 9), (EMPTY, 2), (B, -1))


def folded(x, places):
    s = 0.0
    for i in places:
        s = s * 0.5 + x[i]
    return s


@program(*VECTORS)
def steps_of_sizes(x):
    n = len(x)
    up = folded(x, range(0, n, n // 3 + 1))
    down = folded(x, range(n - 1, -1, -(n // 3 + 1)))
    return up, down


@program(*VECTORS)
def turned(x):
    n = len(x)
    odd = reversed(range(1, n, 2))
    return folded(x, reversed(range(n))), folded(x, range(n)[::-1]), folded(x, odd)


@program(*VECTORS)
def cut(x):
    places = range(len(x))
    return folded(x, places[1:]), folded(x, places[:-1]), folded(x, places[-3::-2])


@program(*SOME)
def asked(x):
    places = range(1, 2 * len(x), 2)
    found = len(x) in places, 2 * len(x) - 1 in places, -1 in places
    return found, len(places), places[0], places[-1], places.stop, places.start, places.step


@program(*VECTORS)
def as_places(x):
    out = np.zeros(len(x))
    out[range(0, len(x), 2)] = 1
    return x[range(len(x))], x[list(range(len(x) - 1, -1, -2))], out


@program(*SOME)
def as_arrays(x):
    n = len(x)
    return np.array(range(n)), np.array(range(n, 0, -2)) * x[0], np.sum(range(1, n + 1))


@program(*VECTORS)
def sums_and_extremes(x):
    n = len(x)
    return sum(range(n)), max(range(0, n, 2), default=-1), min(range(3, n), default=-1)


@program(*SOME)
def inner_steps(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i, len(x), i + 1):
            s = s * 0.75 + x[j]
        for j in range(i, -1, -1):
            s -= x[j] * i
    return s


@program(*STEPS, (A, 0), raises=ValueError)
def steps_of_data(x, k):
    if k < 0:
        return folded(x, range(len(x) - 1, -1, k))
    return folded(x, range(0, len(x), k))


@program(*STEPS, (A, 0), raises=ValueError)
def of_either_sign(x, k):
    s = 0
    for i in range(3, int(x.sum()), k):
        s = s * 3 + i
    for i in reversed(range(len(x), -2, k)):
        s = s * 3 + i
    return s, len(range(0, len(x), k))


@program((A,), (-A,), (B,), (np.array([1.0, 1.0, 1.0]),))
def steps_of_numbers(x):
    k = int(np.abs(x).sum()) % 3 + 1
    return [x[i] * k for i in range(0, len(x), k)], list(range(len(x), 0, -k))
