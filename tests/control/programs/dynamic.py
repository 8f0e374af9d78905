# SPDX-License-Identifier: Apache-2.0
"""Dynamic programming, texts as codes, parsing."""

import numpy as np

from tests.control.record import program


def codes(text):
    return np.frombuffer(text.encode(), np.uint8).astype(np.int64)


@program(
    (codes("kitten"), codes("sitting")),
    (codes(""), codes("ab")),
    (codes("a"), codes("")),
    (codes("flaw"), codes("lawn")),
    large=lambda: (
        (
            np.random.default_rng(5).integers(0, 4, 30),
            np.random.default_rng(5).integers(0, 4, 35),
        ),
    ),
)
def edit_distance(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    d[:, 0] = np.arange(n + 1)
    d[0, :] = np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


@program(
    (codes("kitten"), codes("sitting")),
    (codes(""), codes("ab")),
    (codes("ab"), codes("ab")),
    (codes("x"), codes("")),
)
def levenshtein_two_rows(a, b):
    if len(a) < len(b):
        a, b = b, a
    previous = np.arange(len(b) + 1)
    current = np.zeros(len(b) + 1, dtype=previous.dtype)
    for i, x in enumerate(a):
        current[0] = i + 1
        for j, y in enumerate(b):
            if x == y:
                current[j + 1] = previous[j]
            else:
                current[j + 1] = 1 + min(previous[j], previous[j + 1], current[j])
        previous, current = current, previous
    return previous[-1]


@program(
    (codes("AGGTAB"), codes("GXTXAYB")),
    (codes(""), codes("A")),
    (codes("A"), codes("A")),
    (codes("ABC"), codes("XY")),
    large=lambda: (
        (
            np.random.default_rng(5).integers(0, 4, 35),
            np.random.default_rng(5).integers(0, 4, 30),
        ),
    ),
)
def longest_common_subsequence(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    i, j = len(a), len(b)
    kept = []
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            kept.append(a[i - 1])
            i -= 1
            j -= 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return np.array(kept[::-1], dtype=np.int64)


@program((codes("abcabc"), codes("cab")), (codes(""), codes("")), (codes("aa"), codes("aaa")))
def longest_common_substring(a, b):
    best = 0
    end = 0
    row = np.zeros(len(b) + 1, dtype=np.int64)
    for i in range(1, len(a) + 1):
        for j in range(len(b), 0, -1):
            if a[i - 1] != b[j - 1]:
                row[j] = 0
                continue
            row[j] = row[j - 1] + 1
            if row[j] > best:
                best, end = row[j], i
    return a[end - best : end]


@program(
    (np.array([1, 3, 4, 5]), np.array([1, 4, 5, 7]), 7),
    (np.array([9]), np.array([9]), 3),
    (np.array([2, 2]), np.array([3, 4]), 0),
    (np.zeros(0, np.int64), np.zeros(0, np.int64), 4),
    large=lambda: (
        (
            np.random.default_rng(5).integers(1, 20, 15),
            np.random.default_rng(5).integers(1, 30, 15),
            100,
        ),
    ),
)
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=values.dtype)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


@program(
    (np.array([1, 5, 10, 25]), 30),
    (np.array([2]), 3),
    (np.array([7, 3]), 0),
    (np.array([4, 3, 1]), 6),
    joins="a Python number or an element",
)
def coin_change(coins, amount):
    far = amount + 1
    need = np.full(amount + 1, far)
    need[0] = 0
    for total in range(1, amount + 1):
        for c in coins:
            if c <= total and need[total - c] + 1 < need[total]:
                need[total] = need[total - c] + 1
    return need[amount] if need[amount] < far else -1


@program(
    (np.array([1, 2, 5]), 11),
    (np.array([3]), 2),
    (np.zeros(0, np.int64), 0),
    (np.array([2, 3]), 12),
)
def coin_ways(coins, amount):
    ways = np.zeros(amount + 1, dtype=np.int64)
    ways[0] = 1
    for c in coins:
        for total in range(c, amount + 1):
            ways[total] += ways[total - c]
    return ways


@program(
    (np.array([3, 1, 8, 2, 5]),),
    (np.array([1]),),
    (np.zeros(0, np.int64),),
    (np.arange(5),),
    joins="a Python number or an element",
)
def longest_increasing(x):
    n = len(x)
    if n == 0:
        return 0
    length = np.ones(n, dtype=np.int64)
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and length[j] + 1 > length[i]:
                length[i] = length[j] + 1
    return length.max()


@program((np.array([10, 30, 5, 60]),), (np.array([2, 3]),), (np.array([40, 20, 30, 10, 30]),))
def matrix_chain(sizes):
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            best = np.inf
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < best:
                    best = c
            cost[i, j] = best
    return cost[0, n - 1]


@program(
    (np.array([[1, 3, 1], [1, 5, 1], [4, 2, 1]]),),
    (np.array([[7]]),),
    (np.ones((2, 4), np.int64),),
    (np.array([[1, 9], [1, 1], [9, 0]]),),
)
def cheapest_path(grid):
    rows, cols = grid.shape
    cost = grid.copy()
    for i in range(rows):
        for j in range(cols):
            if i == 0 and j == 0:
                continue
            elif i == 0:
                cost[i, j] += cost[i, j - 1]
            elif j == 0:
                cost[i, j] += cost[i - 1, j]
            else:
                cost[i, j] += min(cost[i - 1, j], cost[i, j - 1])
    return cost[-1, -1]


LOG_T = np.log(np.array([[0.7, 0.3], [0.4, 0.6]]))
LOG_E = np.log(np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
LOG_P = np.log(np.array([0.6, 0.4]))


@program(
    (np.array([0, 1, 2, 2, 0]), LOG_P, LOG_T, LOG_E),
    (np.array([2]), LOG_P, LOG_T, LOG_E),
    (np.array([2, 2]), LOG_P, LOG_T, LOG_E),
    large=lambda: ((np.random.default_rng(5).integers(0, 3, 200), LOG_P, LOG_T, LOG_E),),
)
def viterbi(seen, log_p, log_t, log_e):
    score = log_p + log_e[:, seen[0]]
    back = np.zeros((len(seen), len(log_p)), dtype=np.int64)
    for t in range(1, len(seen)):
        options = score[:, None] + log_t
        back[t] = options.argmax(axis=0)
        score = options.max(axis=0) + log_e[:, seen[t]]
    path = np.zeros(len(seen), dtype=np.int64)
    path[-1] = score.argmax()
    for t in reversed(range(1, len(seen))):
        path[t - 1] = back[t, path[t]]
    return path, score.max()


@program(
    (np.frombuffer(b"123456789", np.uint8).copy(),),
    (np.zeros(0, np.uint8),),
    (np.array([255], np.uint8),),
    large=lambda: ((np.arange(100, dtype=np.uint8),),),
)
def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= int(byte) << 8
        for _ in range(8):
            if crc & 0x8000:
                crc = (crc << 1) ^ 0x1021
            else:
                crc <<= 1
            crc &= 0xFFFF
    return crc


@program(
    (np.frombuffer(b"Wikipedia", np.uint8).copy(),),
    (np.zeros(0, np.uint8),),
    (np.full(30, 255, np.uint8),),
)
def adler32(data):
    a, b = 1, 0
    for byte in data:
        a = (a + int(byte)) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


@program(
    (codes("42+7"),),
    (codes("x"),),
    (codes(""),),
    (codes("123"),),
    (codes("-19 "),),
    (codes("-"),),
    large=lambda: ((np.full(15, 51),),),
)
def parse_prefix(text):
    """Read a whole number from the front; tell how far it goes."""
    i = 0
    sign = 1
    if len(text) > 0 and text[0] == 45:
        sign = -1
        i = 1
    value = 0
    digits = 0
    while i < len(text):
        c = int(text[i])
        if not 48 <= c <= 57:
            break
        value = value * 10 + (c - 48)
        digits += 1
        i += 1
    if digits == 0:
        return 0, 0
    return sign * value, i


@program((codes("(())()"),), (codes("(()"),), (codes(")("),), (codes(""),), (codes("a(b)c"),))
def balanced(text):
    depth = 0
    deepest = 0
    for c in text:
        if c == 40:
            depth += 1
            deepest = max(deepest, depth)
        elif c == 41:
            depth -= 1
            if depth < 0:
                return False, deepest
    return depth == 0, deepest


@program((codes("abcba"),), (codes("ab"),), (codes(""),), (codes("a"),))
def palindrome(text):
    i, j = 0, len(text) - 1
    while i < j:
        if text[i] != text[j]:
            return False
        i, j = i + 1, j - 1
    return True


@program(
    (codes("aababa"), codes("aba")),
    (codes("aaa"), codes("b")),
    (codes("a"), codes("aa")),
    (codes("xyz"), codes("z")),
)
def find_text(text, pattern):
    n, m = len(text), len(pattern)
    for start in range(n - m + 1):
        for k in range(m):
            if text[start + k] != pattern[k]:
                break
        else:
            return start
    return -1
