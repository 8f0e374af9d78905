# SPDX-License-Identifier: Apache-2.0
"""Loops over elements: runs, groups, counts, gaps, running statistics."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0])
EMPTY = np.zeros(0)
ONE = np.array([2.5])


@program(
    (A,),
    (ONE,),
    (EMPTY,),
    (A.astype(np.float32),),
    joins="the mean starts as a Python float",
    large=lambda: ((np.random.default_rng(5).normal(size=1000),),),
)
def welford(x):
    n = 0
    mean = 0.0
    m2 = 0.0
    for v in x:
        n += 1
        delta = v - mean
        mean += delta / n
        m2 += delta * (v - mean)
    if n < 2:
        return n, mean, float("nan")
    return n, mean, m2 / (n - 1)


@program(
    (np.array([1, 1, 2, 2, 2, 7]),),
    (np.array([4]),),
    (np.zeros(0, np.int64),),
    (np.arange(3),),
    large=lambda: ((np.random.default_rng(5).integers(0, 2, 200),),),
)
def run_lengths(x):
    values, lengths = [], []
    i = 0
    while i < len(x):
        j = i
        while j < len(x) and x[j] == x[i]:
            j += 1
        values.append(x[i])
        lengths.append(j - i)
        i = j
    return np.array(values, dtype=np.int64), np.array(lengths, dtype=np.int64)


@program(
    (np.array([3, 0, 2]), np.array([7, 8, 9])),
    (np.zeros(0, np.int64), np.zeros(0, np.int64)),
    (np.array([1]), np.array([5])),
)
def expand_runs(lengths, values):
    total = 0
    for n in lengths:
        total += n
    out = np.zeros(total, dtype=values.dtype)
    at = 0
    for n, v in zip(lengths, values):
        out[at : at + n] = v
        at += n
    return out


@program(
    (np.array([0, 1, 1, 1, 0, 1, 1]), 2),
    (np.array([1, 1]), 3),
    (np.zeros(0, np.int64), 1),
    (np.ones(4, np.int64), 1),
)
def longest_run(x, least):
    best = run = 0
    runs = 0
    for v in x:
        if v:
            run += 1
        else:
            if run >= least:
                runs += 1
            run = 0
        best = run if run > best else best
    if run >= least:
        runs += 1
    return best, runs


@program(
    (np.array([1, 3, 4, 6, 9]), 10),
    (np.array([1, 2]), 10),
    (np.array([5]), 5),
    (np.array([1, 2, 3, 8]), 5),
)
def two_sum(x, target):
    i, j = 0, len(x) - 1
    while i < j:
        total = x[i] + x[j]
        if total == target:
            return i, j
        if total < target:
            i += 1
        else:
            j -= 1
    return -1, -1


@program(
    (np.array([2, 1, 2, 2, 3]),),
    (np.array([1, 2, 3]),),
    (np.array([7]),),
    (np.zeros(0, np.int64),),
)
def majority(x):
    """Vote, then count."""
    candidate, votes = -1, 0
    for v in x:
        if votes == 0:
            candidate, votes = v, 1
        elif v == candidate:
            votes += 1
        else:
            votes -= 1
    seen = 0
    for v in x:
        seen += 1 if v == candidate else 0
    found = seen > len(x) // 2
    return found


@program(
    (np.array([3, 1, 2, 1, 0]),),
    (np.array([0]),),
    (np.zeros(0, np.int64),),
    (np.array([2, 2]),),
)
def counting_sort(x):
    top = -1
    for v in x:
        if v > top:
            top = v
    counts = np.zeros(top + 1, dtype=np.int64)
    for v in x:
        counts[v] += 1
    out = np.empty_like(x)
    at = 0
    for value in range(top + 1):
        for _ in range(counts[value]):
            out[at] = value
            at += 1
    return out


@program((A, 2), (A, 0), (ONE, 3), (EMPTY, 1), (A, 9))
def rotate_left(x, k):
    n = len(x)
    if n == 0:
        return x
    out = np.empty_like(x)
    for i in range(n):
        out[i] = x[(i + k) % n]
    return out


@program(
    (np.array([1.0, np.nan, np.nan, 2.0]),),
    (np.array([np.nan]),),
    (EMPTY,),
    (A,),
    large=lambda: ((np.where(np.random.default_rng(5).random(300) < 0.5, np.nan, 1.0),),),
)
def fill_forward(x):
    last = np.nan
    for i in range(len(x)):
        if np.isnan(x[i]):
            x[i] = last
        else:
            last = x[i]
