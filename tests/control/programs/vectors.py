# SPDX-License-Identifier: Apache-2.0
"""Loops over elements: searching, sorting, windows, counting, running statistics."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0])
EMPTY = np.zeros(0)
ONE = np.array([2.5])


@program(
    (np.array([1, 3, 5, 7, 9]), 7),
    (np.array([1, 3]), 4),
    (np.zeros(0, np.int64), 1),
    (np.arange(100), 0),
)
def binary_search(table, wanted):
    low, high = 0, len(table) - 1
    while low <= high:
        mid = (low + high) // 2
        if table[mid] == wanted:
            return mid
        if table[mid] < wanted:
            low = mid + 1
        else:
            high = mid - 1
    return -1


@program(
    (A, 3.5),
    (A, 100.0),
    (EMPTY, 1.0),
    (ONE, 2.5),
    large=lambda: ((np.arange(3000.0), 2999.5),),
)
def first_above(x, limit):
    for i in range(len(x)):
        if x[i] >= limit:
            return i
    return len(x)


@program(
    (A,),
    (ONE,),
    (EMPTY,),
    (A[::-1],),
    (np.arange(6),),
    large=lambda: ((np.random.default_rng(5).normal(size=60),),),
)
def insertion_sort(x):
    x = x.copy()
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


@program(
    (A,),
    (ONE,),
    (EMPTY,),
    (np.arange(5.0),),
    (A[:3],),
    large=lambda: ((np.random.default_rng(5).normal(size=40),),),
)
def bubble_sort(x):
    x = x.copy()
    n = len(x)
    swapped = True
    while swapped:
        swapped = False
        for i in range(1, n):
            if x[i - 1] > x[i]:
                x[i - 1], x[i] = x[i], x[i - 1]
                swapped = True
        n -= 1
    return x


@program((A,), (EMPTY,), (ONE,), (np.array([2, 2, 1, 2], np.int32),))
def selection_sort(x):
    x = np.array(x)
    order = np.arange(len(x))
    for i in range(len(x)):
        least = i
        for j in range(i + 1, len(x)):
            if x[j] < x[least]:
                least = j
        if least != i:
            x[[i, least]] = x[[least, i]]
            order[[i, least]] = order[[least, i]]
    return x, order


@program(
    (np.array([1.0, 4.0, 6.0]), np.array([2.0, 4.0, 5.0, 8.0])),
    (EMPTY, np.array([1.0])),
    (np.array([7.0]), np.array([1.0, 2.0])),
    (EMPTY, EMPTY),
    large=lambda: ((np.arange(0.0, 300, 3), np.arange(0.0, 300, 2)),),
)
def merge(a, b):
    out = np.empty(len(a) + len(b))
    i = j = k = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
        k += 1
    while i < len(a):
        out[k] = a[i]
        i += 1
        k += 1
    while j < len(b):
        out[k] = b[j]
        j += 1
        k += 1
    return out


@program((A,), (ONE,), (np.array([1, 2, 3, 0]),), (np.array([5, 1]),))
def partition(x):
    """Lomuto's scheme, in the argument."""
    pivot = x[-1]
    i = 0
    for j in range(len(x) - 1):
        if x[j] < pivot:
            x[i], x[j] = x[j], x[i]
            i += 1
    x[i], x[-1] = x[-1], x[i]
    return i


@program(
    (A,),
    (ONE,),
    (EMPTY,),
    (np.array([-np.inf, -np.inf]),),
    (np.array([np.nan, 1.0]),),
    joins="best starts as a Python float",
    large=lambda: ((np.random.default_rng(5).normal(size=2000),),),
)
def argmax_by_loop(x):
    best = -np.inf
    where = -1
    for i, v in enumerate(x):
        if v > best:
            best = v
            where = i
    return where, best


@program(
    (A,),
    (ONE,),
    (EMPTY,),
    (-np.ones(3),),
    joins="the sum starts as a Python float",
    large=lambda: ((np.random.default_rng(5).normal(size=1000),),),
)
def kadane(x):
    best = current = 0.0
    start = end = first = 0
    for i in range(x.shape[0]):
        current += x[i]
        if current < 0:
            current = 0.0
            first = i + 1
        elif current > best:
            best = current
            start, end = first, i + 1
    return best, start, end


@program(
    (np.array([100, 80, 60, 70, 60, 75, 85]),),
    (np.array([5]),),
    (np.arange(4),),
    (np.zeros(0, np.int64),),
    large=lambda: ((np.random.default_rng(5).integers(0, 50, 300),),),
)
def stock_span(price):
    n = len(price)
    span = np.ones(n, dtype=np.int64)
    stack = np.zeros(n, dtype=np.int64)
    top = 0
    for i in range(n):
        while top > 0 and price[stack[top - 1]] <= price[i]:
            top -= 1
        span[i] = i + 1 if top == 0 else i - stack[top - 1]
        stack[top] = i
        top += 1
    return span


@program(
    (A, 3),
    (ONE, 1),
    (EMPTY, 2),
    (A, 7),
    (np.arange(5, dtype=np.float32), 2),
    large=lambda: ((np.random.default_rng(5).normal(size=300), 7),),
)
def moving_average(x, width):
    n = len(x)
    out = np.zeros_like(x)
    for i in range(n):
        low = max(0, i - width + 1)
        total = 0.0
        for j in range(low, i + 1):
            total += x[j]
        out[i] = total / (i - low + 1)
    return out


@program(
    (A, 0.5),
    (ONE, 0.3),
    (A.astype(np.float32), 0.1),
    (EMPTY, 0.9),
    large=lambda: ((np.random.default_rng(5).normal(size=2000), 0.1),),
)
def exponential_smoothing(x, alpha):
    out = np.empty_like(x)
    if len(x) == 0:
        return out
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@program(
    (A, 2.0),
    (ONE, 0.0),
    (EMPTY, 0.0),
    (np.array([0.0, 1.0, 0.0, 1.0, 0.0]), 0.5),
    (np.array([0.0, 1.0, 1.0, 0.0]), 0.5),
    large=lambda: ((np.random.default_rng(5).normal(size=500), 0.2),),
)
def peaks(x, height):
    found = []
    for i in range(1, len(x) - 1):
        if x[i] < height:
            continue
        if x[i - 1] < x[i] > x[i + 1]:
            found.append(i)
    return np.array(found, dtype=np.int64)


@program(
    (A, -5.0, 10.0, 5),
    (ONE, 0.0, 1.0, 3),
    (EMPTY, 0.0, 1.0, 2),
    (np.array([0.0, 1.0, 0.5]), 0.0, 1.0, 4),
    large=lambda: ((np.random.default_rng(5).normal(size=1000), -2.0, 2.0, 20),),
)
def histogram(x, low, high, bins):
    counts = np.zeros(bins, dtype=np.int64)
    missed = 0
    for v in x:
        if not low <= v <= high:
            missed += 1
            continue
        k = int((v - low) / (high - low) * bins)
        if k == bins:
            k -= 1
        counts[k] += 1
    return counts, missed


@program(
    (A, np.array([0.25, 0.5, 0.25])),
    (ONE, ONE),
    (EMPTY, ONE),
    (A[:2], A),
    large=lambda: ((np.random.default_rng(5).normal(size=200), np.ones(5)),),
)
def convolve(x, kernel):
    n, m = len(x), len(kernel)
    out = np.zeros(n)
    for i in range(n):
        for j in range(m):
            k = i + m // 2 - j
            if k < 0 or k >= n:
                continue
            out[i] += x[k] * kernel[j]
    return out


@program((A,), (EMPTY,), (np.array([2, 3, 4]),), (np.array([2.0, 0.0, 5.0]),))
def cumulative_product(x):
    out = np.ones(len(x) + 1, dtype=x.dtype)
    for i, v in enumerate(x, start=1):
        out[i] = out[i - 1] * v
    return out[1:]
