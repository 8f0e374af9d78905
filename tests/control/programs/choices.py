# SPDX-License-Identifier: Apache-2.0
"""Names that hold None or a number, or one of several texts; ``any``, ``all``, ``next``."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
NANS = np.array([np.nan, 1.0, np.inf, -np.inf, 2.0, np.nan])
EMPTY = np.zeros(0)
ONE = np.array([2.5])
SOME = [
    (x,)
    for x in (
        A, NANS, ONE, A[::-1], A.astype(np.float32), A.astype(np.int8),
        A.astype(np.float16), NANS.astype(np.float32),
    )
]  # fmt: skip
ALL = [*SOME, (EMPTY,)]
TRIPLES = [
    (np.array([1.0, 1.0, 2.0]),),
    (np.array([-1.0, -1.0, -2.0]),),
    (np.array([np.nan, 0.0, 2.0], np.float32),),
]
BITS = [(np.array(bits, int),) for bits in ([0, 1, 1, 2, 1], [], [2, 2, 2], [0], [1, 0])]
BOARDS = [
    (np.array(b, np.int8),)
    for b in (
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2, 0], [0, 1, 2], [0, 0, 2]],
        [[1, 2, 1], [2, 2, 1], [1, 1, 2]], [[0, 2, 0], [1, 2, 1], [0, 2, 1]],
    )
]  # fmt: skip
JOINS = "without data, the result is what was there before"
CHOSEN = "an output of a model is no None and no text"


@program(*ALL)
def forward_fill(x):
    last = None
    y = x.astype(float)
    for i in range(len(y)):
        if np.isnan(y[i]):
            if last is not None:
                y[i] = last
        else:
            last = y[i]
    return y


@program(*BOARDS)
def tictactoe(b):
    for p in (1, 2):
        for i in range(3):
            if (b[i] == p).all() or (b[:, i] == p).all():
                return p
        if all(b[i, i] == p for i in range(3)) or all(b[i, 2 - i] == p for i in range(3)):
            return p
    return 0 if (b == 0).any() else -1


@program(*BITS[1:2], *BITS, (np.array([1, 1, 0]),), raises=ValueError)
def state_machine(bits):
    state = "idle"
    n = 0
    for b in bits:
        if b not in (0, 1):
            raise ValueError(f"bad bit {b}")
        if state == "idle":
            state = "one" if b else "idle"
        elif state == "one":
            if b:
                n += 1
                state = "two"
            else:
                state = "idle"
        elif not b:
            state = "idle"
    return n


@program(*TRIPLES)
def static_gens(x):
    a = all(x[i] > 0 for i in range(3))
    b = any(x[i] < 0 for i in range(3))
    c = sum(x[i] for i in range(3))
    d = max(x[i] for i in range(3))
    e = any([x[0] > 0, x[1] > 1.5])
    f = all((x[0] > 0, x[1] > 0))
    return a, b, c, d, e, f


@program(*TRIPLES, joins=JOINS)
def static_filter(x):
    return sum(x[i] for i in range(3) if x[i] > 0), len([i for i in range(3) if x[i] > 0])


@program(*ALL)
def first_match(x):
    return next((i for i, v in enumerate(x) if v > 3), -1)


@program(*ALL, calls_only=CHOSEN)
def best_none(x):
    best = None
    where = None
    for i, v in enumerate(x):
        if best is None or v > best:
            best = v
            where = i
    return best, where


@program(*SOME)
def best_none_used(x):
    best = None
    for v in x:
        if best is None or v < best:
            best = v
    return best * 2


@program(*ALL)
def prev_none(x):
    prev = None
    runs = 0
    for v in x:
        if prev is not None and v < prev:
            runs += 1
        prev = v
    return runs


@program(*ALL)
def found_none(x):
    found = None
    for i in range(len(x)):
        if x[i] < 0:
            found = i
            break
    if found is None:
        return -1
    return found + 1


@program(*ALL, calls_only=CHOSEN)
def found_none_ret(x):
    found = None
    for v in x:
        if v < 0:
            found = v
            break
    return found


@program(*BITS, calls_only=CHOSEN)
def mode_text(bits):
    mode = "off"
    n = 0
    for b in bits:
        if mode == "off":
            if b:
                mode = "on"
        else:
            n += 1
            if not b:
                mode = "off"
    return n, mode


@program(*SOME)
def none_float(x):
    best = None
    for v in x:
        if best is None or v < best:
            best = v
    return (
        float(best),
        int(best != 7),
        np.sqrt(abs(best)),
        best + x,
        x - best,
        np.maximum(best, 0),
    )


@program(*SOME, raises=TypeError)
def none_index(x):
    k = None
    for i, v in enumerate(x):
        if v == 4:
            k = i
    return x[k + 1 :].sum()


@program(*ALL)
def none_slice(x):
    start = None
    for i, v in enumerate(x):
        if v == 4:
            start = i
    y = x.copy()
    y[start:] = 0
    return y, x[start:]


@program(*SOME)
def none_row(x):
    table = np.stack([x, x * 2, -x])
    best = None
    for row in table:
        if best is None or row[0] > best[0]:
            best = row
    return best


@program(*ALL)
def nested_none(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best = None
        for j in range(len(x)):
            if i == j:
                continue
            d = abs(x[i] - x[j])
            if best is None or d < best:
                best = d
        out[i] = -1 if best is None else best
    return out


@program(*BITS)
def machine_if(bits):
    idle, run, stop = "idle", "run", "stop"
    s = idle
    counts = {idle: 0, run: 0, stop: 0}
    for b in bits:
        if s == idle and b == 1:
            s = run
        elif s == run and b == 2:
            s = stop
        elif s == stop and b == 1:
            s = idle
        elif b == 0:
            pass
    if s == run:
        counts[run] += 1
    return counts, s in (run, stop)


@program(*BITS)
def machine_while(bits):
    state = "start"
    i = 0
    depth = 0
    while state != "done":
        if i >= len(bits):
            state = "done"
        elif state == "start":
            state = "one" if bits[i] == 1 else "start"
            i += 1
        else:
            depth += 1
            state = "start"
    return depth, i


@program((A, "up"), (A, "down"), (EMPTY, "up"), (A, None))
def monotone_direction(x, want):
    direction = None
    turns = 0
    for i in range(1, len(x)):
        a, b = x[i - 1], x[i]
        new = "up" if b > a else "down" if b < a else direction
        if direction is not None and new != direction:
            turns += 1
        direction = new
    return turns, direction == want


@program(*ALL, joins=JOINS)
def last_two(x):
    prev2 = prev = None
    count = 0
    for v in x:
        if prev2 is not None and prev is not None and prev > prev2:
            count += prev > v
        prev2, prev = prev, v
    return count


@program(*ALL, joins=JOINS)
def optional_fn(x):
    f = None
    s = 0.0
    for v in x:
        if v > 3:
            f = np.sqrt
        elif v < -2:
            f = abs
        if f is not None:
            s += f(abs(v))
    return s


@program(*ALL, (np.array([np.nan, 1, np.nan, np.nan, 4, 5]),))
def linear_probe(x):
    left = None
    y = x.astype(float)
    for i in range(len(y)):
        if not np.isnan(y[i]):
            if left is not None and i - left > 1:
                for k in range(left + 1, i):
                    t = (k - left) / (i - left)
                    y[k] = (1 - t) * y[left] + t * y[i]
            left = i
    return y


@program(*ALL)
def none_default_arg(x):
    def clip(v, hi=None):
        if hi is not None and v > hi:
            return hi
        return v

    bound = None
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        out[i] = clip(v, hi=bound)
        if v > 2:
            bound = 2.5
    return out


@program(*ALL)
def tuple_none(x):
    best = (None, -1)
    for i, v in enumerate(x):
        if best[0] is None or v > best[0]:
            best = (v, i)
    return best[1]


@program(*ALL, calls_only=CHOSEN)
def truthy_none(x):
    last = None
    n = 0
    for v in x:
        if last:
            n += 1
        last = v if v > 0 else None
    return n, not last, last or -1.0


@program((A, 2.0), (A, 100.0), (EMPTY, 1.0))
def early_none(x, t):
    def find(x, t):
        for i, v in enumerate(x):
            if v > t:
                return i
        return None

    k = find(x, t)
    if k is None:
        return x
    return x[:k]


@program((A, 2.0), (A, 100.0), (EMPTY, 1.0))
def find_tuple(x, t):
    def find(x, t):
        for i, v in enumerate(x):
            if v > t:
                return i, v
        return None

    k = find(x, t)
    if k is None:
        return -1.0
    i, v = k
    return i + v


@program((A, 2.0), (A, 100.0), (EMPTY, 1.0))
def walrus_find(x, t):
    def find(x, t):
        for i, v in enumerate(x):
            if v > t:
                return i
        return None

    if (k := find(x, t)) is not None:
        return x[k]
    return 0.0


@program(*BITS, joins=JOINS)
def spans_of_ones(bits):
    inside = False
    start = None
    spans = []
    for i, b in enumerate(bits):
        if b and not inside:
            inside = True
            start = i
        elif not b and inside:
            inside = False
            spans.append((start, i))
    if inside:
        spans.append((start, len(bits)))
    return len(spans), sum(e - s for s, e in spans)


@program(*BITS)
def count_by_state(bits):
    state = "idle"
    counts = {"idle": 0, "busy": 0}
    for b in bits:
        state = "busy" if b == 1 else "idle" if b == 2 else state
        counts[state] += 1
    return counts


@program(*ALL, joins=JOINS)
def number_or_array(x):
    best = None
    for v in x:
        if best is None or abs(v) > abs(best):
            best = v
    return isinstance(best, np.generic), best is None, best in (3, 4)
