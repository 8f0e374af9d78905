# SPDX-License-Identifier: Apache-2.0
"""Objects and containers that data chooses, and states of several kinds."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
SOME = [
    (x,)
    for x in (
        A, np.array([1.0, 2.0, -3.0, 7.0]), np.array([2.5]), A[::-1], A.astype(np.float32),
        -abs(A), np.array([np.nan, 2.0, -np.inf, 7.0]),
    )
]  # fmt: skip
ALL = [*SOME, (np.zeros(0),)]
JOINS = "without data, the result is what was there before"


class Tracker:
    def __init__(self):
        self.last = None
        self.ups = 0

    def push(self, v):
        if self.last is None:
            self.last = v
            return False
        up = v > self.last
        if up:
            self.ups += 1
        self.last = v
        return up


@program(*ALL)
def object_state(x):
    t = Tracker()
    flags = np.zeros(len(x), bool)
    for i, v in enumerate(x):
        flags[i] = t.push(v)
    return t.ups, flags


@program(*ALL, joins=JOINS)
def fn_table(x):
    ops = {"a": np.add, "b": np.subtract}
    op = "a"
    acc = np.float64(0)
    for v in x:
        acc = ops[op](acc, v)
        op = "b" if op == "a" else "a"
    return acc


@program(*SOME)
def minmax_key(x):
    i = max(range(len(x)), key=lambda i: x[i])
    return i


@program(*SOME, joins=JOINS)
def key_more(x):
    a = min(range(len(x)), key=lambda i: abs(x[i] - 1))
    b = max(x, key=lambda v: -v)
    c = max([(v, i) for i, v in enumerate(x)], key=lambda p: p[0])
    d = max(2, x[0], key=lambda v: v * v)
    return a, b, c[1], d


@program(*ALL, joins=JOINS)
def key_default(x):
    return max(range(len(x)), key=lambda i: x[i], default=-1), max(["a", "bbb"], key=len)


class Count:
    def __init__(self):
        self.n = 0


class Player:
    def __init__(self, k):
        self.first = k
        self.second = 0
        self.pred = -1
        self.hits = 0

    def hit(self, v):
        self.hits += 1
        if v > 2:
            self.second += 1
        return self.hits


@program(*ALL)
def two_objects(x):
    p, q = Player(1), Player(2)
    cur = p
    for v in x:
        cur.hit(v)
        cur = q if v > 0 else p
    return p.hits, q.hits, p.second, q.second, cur.first


@program(*ALL, joins=JOINS)
def two_objects_attr(x):
    p, q = Player(1), Player(2)
    for v in x:
        cur = q if v > 0 else p
        cur.hits += 1
        cur.first = v
        cur.pred = cur.second
    return p.hits, q.hits, p.first + np.float64(0), q.first + np.float64(0), p.pred


@program(*ALL)
def two_lists(x):
    pos, neg = [], []
    for v in x:
        (pos if v > 0 else neg).append(v)
    return len(pos), len(neg)


@program(*ALL)
def two_lists_named(x):
    pos, neg = [0.0], [0.0]
    for v in x:
        tgt = pos if v > 0 else neg
        tgt[0] += v
    return pos[0] + np.float64(0), neg[0] + np.float64(0)


@program(*ALL)
def none_reset(x):
    start = None
    best = 0
    for i, v in enumerate(x):
        if v > 0:
            if start is None:
                start = i
            best = max(best, i - start + 1)
        else:
            start = None
    return best


@program(*ALL)
def none_eq(x):
    prev = None
    runs = 0
    for v in x:
        if v != prev:
            runs += 1
        prev = v
    return runs


@program(*ALL)
def str_count(x):
    s = ""
    n = 0
    for v in x:
        t = "pos" if v > 0 else "neg"
        if t != s:
            n += 1
        s = t
    return n


@program(*ALL)
def while_none(x):
    i = None
    n = 0
    while i is None or i < len(x):
        i = 0 if i is None else i + 1
        n += 1
    return n


@program(*ALL)
def nested_fn_none(x):
    def step(state, v):
        if state is None:
            return v, 0
        return (state + v, 1) if v > 0 else (state, 2)

    state = None
    codes = np.zeros(len(x), int)
    for i, v in enumerate(x):
        state, codes[i] = step(state, v)
    return codes


@program(*ALL)
def tuple_state(x):
    last = None
    total = 0.0
    for i, v in enumerate(x):
        if v > 0:
            last = (i, v)
        if last is not None:
            j, w = last
            total += w * (i - j)
    return total + np.float64(0)


@program(*ALL)
def bool_none(x):
    up = None
    n = 0
    for i in range(1, len(x)):
        now = x[i] > x[i - 1]
        if up is not None and now != up:
            n += 1
        up = now
    return n


@program(*ALL)
def inner_none_loop(x):
    count = 0
    last = None
    for v in x:
        k = 0
        while k < 3:
            if last is not None and last > v:
                count += 1
                break
            k += 1
        if not np.isnan(v):
            last = v
    return count


@program(*ALL)
def dict_none(x):
    d = {"a": None}
    for v in x:
        if d["a"] is None:
            if v > 0:
                d["a"] = v
        else:
            d["a"] = d["a"] + v
    return d["a"] is None, 0.0 if d["a"] is None else float(d["a"])


@program(*ALL, joins=JOINS)
def dict_branch(x):
    a, b = {"s": 0.0}, {"s": 1.0}
    c = a if x.sum() > 0 else b
    c["s"] = 5.0
    return a, b, c["s"]


@program(*ALL, joins=JOINS)
def obj_swap(x):
    p, q = Count(), Count()
    for v in x:
        if v > 0:
            p, q = q, p
        p.n += 1
    return p.n, q.n


@program(*ALL, joins=JOINS)
def obj_tail(x):
    p, q = Count(), Count()
    r = p
    for _v in x:
        r.n += 1
        r = q if r is p else p
    return p.n, q.n


@program(*ALL, joins=JOINS)
def best_list(x):
    best = [0.0, -1]
    for i, v in enumerate(x):
        cand = [v, i]
        if cand[0] > best[0]:
            best = cand
    return best[0] + np.float64(0), best[1]


@program(*ALL, raises=TypeError)
def place_of_greatest(x):
    table = np.stack([x, -x, x * 2])
    best = None
    for i in range(3):
        for j in range(len(x)):
            if best is None or table[i, j] > best[2]:
                best = (i, j, table[i, j])
    i, j, v = best
    return i, j, v


@program(*ALL)
def halving_status(x):
    status = "running"
    steps = 0
    y = float(abs(x).sum())
    while status == "running":
        y = y / 2
        steps += 1
        if y < 0.1:
            status = "converged"
        elif steps >= 5 or y != y:
            status = "too slow"
    return steps, status == "converged"


@program(*ALL)
def loss_until_it_settles(x):
    y = np.nan_to_num(x.astype(float), neginf=0.0)
    before = None
    steps = 0
    while steps < 20:
        loss = float(np.sum(y * y))
        if before is not None and abs(before - loss) < 0.1:
            break
        before = loss
        y = y * 0.5
        steps += 1
    return y, steps


@program(*ALL)
def range_of_positives(x):
    def bounds(x):
        lo = hi = None
        for v in x:
            if v >= 0:
                lo = v if lo is None else min(lo, v)
                hi = v if hi is None else max(hi, v)
        return lo, hi

    lo, hi = bounds(x)
    if lo is None:
        return -1.0
    return float(hi - lo)


@program(*ALL)
def questions_about_texts(x):
    name = "none"
    for v in x:
        if v > 3:
            name = "big_pos"
        elif v < -3:
            name = "big_neg"
    return name.startswith("big"), len(name), name == "big_neg"
