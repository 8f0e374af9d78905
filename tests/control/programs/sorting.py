# SPDX-License-Identifier: Apache-2.0
"""Sorting by keys, heaps and bisection: what Python compares, and only a run knows."""

import bisect
import heapq

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, -1.0, -5.0])
B = np.array([-2.0, 0.5, 0.25, 2.0])
LONGER = np.array([1.0, 2.0, -2.0, 0.0, 7.0, -7.0, 1.0])
ONE = np.array([2.5])
EMPTY = np.zeros(0)
SOME = ((A,), (B,), (LONGER,), (ONE,))
FOUR = SOME[:-1]
MIXED = "numbers of Python and of NumPy in one list become NumPy's"


# --- sort and sorted -------------------------------------------------------------------------


@program(*SOME, (EMPTY,), joins="an empty array has its dtype in a graph")
def by_a_key(x):
    pairs = [(i, v) for i, v in enumerate(x)]
    pairs.sort(key=lambda pair: -abs(pair[1]))
    return np.array([i for i, _ in pairs], dtype=np.int64)


@program(*SOME)
def places_by_value(x):
    up = sorted(range(len(x)), key=lambda i: x[i])
    down = sorted(range(len(x)), key=x.__getitem__, reverse=True)
    return np.array(up), np.array(down)


@program(*SOME)
def sorted_arrays(x):
    up, down = sorted(x), sorted(x, reverse=True)
    return up[0], down[0], np.array(up), np.array(down)


@program(*FOUR)
def by_tuples(x):
    scored = [(abs(v), i) for i, v in enumerate(x)]
    scored.sort(reverse=True)
    return [i for _, i in scored[:3]], sum(v for v, _ in scored[:2])


@program(*FOUR)
def named_scores(x):
    scores = [("sum", x.sum()), ("max", x.max()), ("norm", np.sqrt(x @ x))]
    scores.sort(key=lambda score: score[1], reverse=True)
    return [value for _, value in scores], [name == "sum" for name, _ in scores]


@program(*FOUR)
def rows_by_their_peaks(x):
    pieces = [x[0:2], x[1:3], x[2:4]]
    return [piece.sum() for piece in sorted(pieces, key=lambda piece: piece.max())]


@program(*FOUR)
def by_rounded_numbers(x):
    ranked = sorted(zip(x, range(len(x)), strict=True), key=lambda t: (round(t[0]), -t[1]))
    return np.array([i for _, i in ranked])


@program(*FOUR)
def few_numbers(x):
    found = [x[2], x[0], x[1]]
    found.sort()
    return found


@program(*FOUR)
def beams(x):
    found = [([0], 0.0)]
    for t in range(3):
        more = [(path + [k], score - x[t] * k) for path, score in found for k in range(3)]
        more.sort(key=lambda beam: beam[1])
        found = more[:2]
    return [score for _, score in found], found[0][0][1]


@program(*SOME)
def greatest_by_a_key(x):
    first = max(range(len(x)), key=lambda i: x[i])
    last = min(range(len(x)), key=x.__getitem__)
    pair = max(((i, x[i]) for i in range(len(x))), key=lambda p: p[1])
    return first, last, min(x, key=abs), pair


@program(*((x,) for x in (np.array([np.nan, 1.0]), np.array([1.0, np.nan, 2.0]), -A)))
def greatest_of_nan(x):
    return max(range(len(x)), key=lambda i: x[i]), min(range(len(x)), key=lambda i: -x[i])


# --- heaps -----------------------------------------------------------------------------------


@program(*FOUR)
def greatest_three(x):
    heap = []
    for v in x:
        if len(heap) < 3:
            heapq.heappush(heap, v)
        elif v > heap[0]:
            heapq.heapreplace(heap, v)
    return np.array(heap)


@program(*FOUR)
def taken_from_a_heap(x):
    heap = list(x)
    heapq.heapify(heap)
    return [heapq.heappop(heap) for _ in range(3)]


@program(*FOUR)
def largest_and_smallest(x):
    return heapq.nlargest(3, x), heapq.nsmallest(2, x)


DISTANCES = np.array([[0, 2.0, 0, 6], [2, 0, 3, 8], [0, 3, 0, 1], [6, 8, 1, 0]])


@program((DISTANCES, 0), (DISTANCES, 3), (DISTANCES[:2, :2], 1), (np.zeros((3, 3)), 0))
def shortest_paths(weights, start):
    best = np.full(len(weights), np.inf)
    best[start] = 0
    heap = [(0.0, start)]
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > best[node]:
            continue
        for other in range(len(weights)):
            longer = distance + weights[node, other]
            if weights[node, other] > 0 and longer < best[other]:
                best[other] = longer
                heapq.heappush(heap, (longer, other))
    return best


# --- bisection -------------------------------------------------------------------------------


@program(*((np.sort(x), v) for x in (A, B, ONE) for v in (-1.0, 0.3, 9.0)))
def place_in_order(x, v):
    return bisect.bisect_left(x, v), bisect.bisect(x, v)


@program(*SOME)
def kept_in_order(x):
    found = []
    for v in x:
        bisect.insort(found, v)
    return np.array(found)
