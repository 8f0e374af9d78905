# SPDX-License-Identifier: Apache-2.0
"""Lists that grow and shrink in loops and branches."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
B = np.array([-2.0, 0.5])
ONE = np.array([2.5])
EMPTY = np.zeros(0)
TABLE = np.arange(12.0).reshape(4, 3)
WIDE = np.arange(10.0).reshape(2, 5) - 3
NO_ROWS = np.zeros((0, 3))
VECTORS = ((A,), (B,), (ONE,), (EMPTY,))
SOME = VECTORS[:-1]
TABLES = ((TABLE,), (WIDE,), (NO_ROWS,))
MIXED = "numbers of Python and of NumPy in one list become NumPy's"


# --- growing ---------------------------------------------------------------------------------


@program(*VECTORS)
def over_an_array(x):
    out = []
    for v in x:
        out.append(v * 2)
    return out


@program(*VECTORS)
def over_a_range(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] - i)
    return out, len(out)


@program((6,), (1,), (27,))
def in_a_while(n):
    steps = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps.append(n)
    return steps, len(steps)


@program(*VECTORS, (-A,))
def on_a_condition(x):
    kept, dropped = [], []
    for v in x:
        if v > 0:
            kept.append(v)
        else:
            dropped.append(v)
    return kept, np.array(dropped), len(kept)


@program(*TABLES)
def in_nested_loops(table):
    flat = []
    for row in table:
        for v in row:
            flat.append(v + 1)
    return np.array(flat)


@program(*TABLES)
def of_lists(table):
    out = []
    for row in table:
        inner = []
        for v in row:
            inner.append(v + 1)
        out.append(inner)
    return out


@program(*VECTORS)
def of_tuples(x):
    out = []
    for i, v in enumerate(x):
        out.append((i, v, (v * v, -v)))
    return out


@program((0,), (1,), (9,))
def of_python_numbers(n):
    f = [0, 1]
    for _ in range(n):
        f.append(f[-1] + f[-2])
    return f, f[n], len(f)


@program((TABLE,), (WIDE,))
def of_rows(table):
    out = []
    for row in table:
        out.append(row - row[0])
    return np.array(out), np.stack(out, axis=1), np.vstack(out), np.concatenate(out)


@program((TABLE,), (WIDE,))
def of_tables(table):
    out = []
    for row in table:
        out.append(row[:, None] * row)
    return np.stack(out, -1), np.concatenate(out, 1), np.hstack(out), np.dstack(out), out


@program(*SOME)
def of_numbers_joined(x):
    out = []
    for v in x:
        out.append(v / 2)
    return np.hstack(out), np.vstack(out), np.column_stack(out), np.stack(out)


@program(*VECTORS)
def by_extend(x):
    out = []
    for v in x:
        out += [v, -v]
        out.extend((v, 0.5))
    return np.array(out)


@program(*VECTORS)
def by_a_new_list(x):
    out = []
    for v in x:
        out = out + [v]
    return out


def _add(out, v):
    out.append(v)


@program(*VECTORS)
def by_a_helper(x):
    out = []
    for v in x:
        _add(out, v + 1)
    return out


@program(*VECTORS)
def in_containers(x):
    found = {"all": [], "signs": ([], [])}
    for v in x:
        found["all"].append(v)
        found["signs"][1].append(v < 0)
    return found


@program(*VECTORS, joins=MIXED)
def at_the_front(x):
    out = [0.0]
    for v in x:
        out.insert(0, v)
    out.reverse()
    return out


# --- reading ---------------------------------------------------------------------------------


@program(*VECTORS)
def against_the_argument(x):
    out, total = [], 0.0
    for v in x:
        total += v
        out.append(total)
    return np.array(out) * x, np.diff(out), np.cumsum(x) - out


@program(*SOME)
def as_numbers(x):
    out = []
    for v in x:
        out.append(v)
    ordered = sorted(out)
    return sum(out), max(out), min(out), np.mean(out), np.sum(out), ordered, out.count(1.0)


@program(*VECTORS, joins=MIXED)
def with_a_default(x):
    out = [v for v in x if v > 0]
    return max(out, default=-1.0), min(out, default=0.5)


@program(*SOME)
def in_slices(x):
    out = []
    for v in x:
        out.append(v)
    rest = out[1:]
    rest.append(out[0])
    total = 0.0
    for v in out[::2]:
        total += v
    return rest, out[::-1], out[-1:], out[0], out[-1], total


@program(*VECTORS)
def while_it_grows(x):
    seen = []
    for v in x:
        if v not in seen and len(seen) < 3:
            seen.append(v)
    return seen, len(seen)


@program(*VECTORS, joins=MIXED)
def run_through(x):
    out = []
    for v in x:
        out.append((v, v + 1))
    total = 0.0
    for i, (a, b) in enumerate(out):
        total += a * b + i
    for a, (_, b) in zip(x, out):
        total += a - b
    return total


@program(*VECTORS)
def by_a_test_of_its_length(x):
    out = []
    while len(out) < 5:
        out.append(x.sum() + len(out))
    return np.array(out)


# --- shrinking and storing -------------------------------------------------------------------


@program((A, 2.0), (B, 0.1), (ONE, 9.0), (np.array([-1.0]), 1.0))
def as_a_stack(x, least):
    stack, total, steps = [x[0]], 0.0, 0
    while stack and steps < 50:
        v = stack.pop()
        steps += 1
        if v > least:
            stack.append(v / 2)
            stack.append(v / 3)
        total += v
    return total, steps, len(stack)


@program((A, 2.0), (B, 0.1), (ONE, 0.3))
def as_a_queue(x, least):
    queue, order = [x[0]], []
    while queue and len(order) < 20:
        v = queue.pop(0)
        order.append(v)
        if v > least:
            queue.append(v / 2)
            queue.append(v / 3)
    return np.array(order)


@program((4, np.abs(A)), (1, np.abs(B)), (3, EMPTY), joins=MIXED)
def as_a_table(n, x):
    counts = [0.0] * n
    for v in x:
        counts[int(v) % n] += v
    return counts


@program((A, 1), (A, 3), (B, 0), joins=MIXED)
def element_taken_out(x, k):
    out = []
    for v in x:
        out.append(v)
    del out[0]
    out[-1] = 7.5
    last = out.pop()
    return out, last, x[k]


# --- branches --------------------------------------------------------------------------------


@program((A,), (-A,), joins=MIXED)
def longer_in_a_branch(x):
    out = [1.0]
    if x.sum() > 0:
        out.append(x[0])
    else:
        out.append(-x[0])
        out.append(0.0)
    return out, len(out)


@program((A,), (-A,))
def as_long_in_each_branch(x):
    out = [1.0]
    if x.sum() > 0:
        out.append(x[0])
    else:
        out.append(-x[0])
    return out, len(out)


# --- comprehensions --------------------------------------------------------------------------


@program(*VECTORS)
def comprehensions(x):
    doubled = [v * 2 for v in x]
    large = [v for v in doubled if v > 1]
    both = [a - b for a, b in zip(x, doubled) if a < 3 if b > -5]
    return doubled, np.array(large), both, any(v > 3 for v in x), all(v > 3 for v in x)


@program(*TABLES[:2])
def comprehensions_of_rows(table):
    return np.array([row / 2 for row in table]), np.stack([row.sum() for row in table])


# --- filled place by place -------------------------------------------------------------------


@program(*VECTORS)
def of_none_filled(x):
    n = len(x)
    out, back = [None] * n, [None] * n
    for i in range(n):
        out[i] = x[i] * 2
        back[n - 1 - i] = x[i] if x[i] > 0 else 0.5
    return out, len(back), sum(back, 0.0)


@program(*SOME)
def of_none_as_arrays(x):
    n = len(x)
    rows, pairs = [None] * n, [None] * (n + 1)
    pairs[0] = (x[0], 0)
    for i in range(n):
        rows[i] = np.array([x[i], i])
        pairs[i + 1] = (x[i], i)
    return np.stack(rows), np.array([a * b for a, b in pairs])


@program(*SOME, joins=MIXED)
def of_none_read_again(x):
    n = len(x)
    out = [None] * n
    out[0] = x[0]
    for i in range(1, n):
        out[i] = out[i - 1] * 0.5 + x[i]
    return np.array(out), max(out)


@program(*VECTORS, joins="a sum of no elements is Python's 0")
def of_none_in_part(x):
    out = [None] * len(x)
    for i in range(len(x)):
        if x[i] > 0:
            out[i] = x[i]
    return sum(v for v in out if v is not None)
