# SPDX-License-Identifier: Apache-2.0
"""Mutation in branches and loops: arguments, views, lists, dicts, attributes, numbers."""

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
EMPTY = np.zeros(0)
ONE = np.array([2.5])
TABLE = np.arange(12.0).reshape(3, 4)


@program((A, 1.0), (A, -1.0), (EMPTY, 1.0))
def write_in_branch(x, s):
    if s > 0:
        x[: len(x) // 2] = s
    else:
        x *= 2


@program((A,), (ONE,), (EMPTY,), (np.array([-2.0, -3.0]),))
def write_in_loop(x):
    count = 0
    for i in range(len(x)):
        if x[i] < 0:
            x[i] = -x[i]
            count += 1
    return count


@program((TABLE, 1.0), (TABLE, -1.0), (np.zeros((1, 2)), 1.0), (np.zeros((0, 2)), 1.0))
def view_in_branch(table, s):
    column = table[:, 0]
    if s > 0:
        column += 10
        table[:, -1] = column
    return column


@program((TABLE,), (np.ones((1, 1)),), (np.zeros((0, 3)),), (-TABLE,))
def rows_are_views(table):
    for row in table:
        if row.sum() > 10:
            row /= 2
        else:
            row[0] = 7


@program((A, 3), (A, 0), (ONE, 1))
def double_buffer(x, steps):
    old, new = x.copy(), np.zeros_like(x)
    for _ in range(steps):
        new[:] = 0.5 * old
        new[0] = old[-1]
        old, new = new, old
    return old


@program((A, A * 2, 1.0), (A, A * 2, -1.0), (ONE, ONE, 0.0))
def swap_in_branch(a, b, s):
    if s > 0:
        a, b = b, a
    return a - b


def scale_rows(table, limit):
    for i in range(len(table)):
        if table[i].max() > limit:
            table[i] /= table[i].max()


@program((TABLE, 4.0), (TABLE, 100.0), (np.zeros((0, 2)), 1.0))
def helper_writes(table, limit):
    work = table.copy()
    scale_rows(work, limit)
    return work


@program((A, 2), (A, 0), (EMPTY, 3), (ONE, 1))
def same_object_back(x, n):
    for _ in range(n):
        x += 1
    return x


@program((A,), (EMPTY,), (-np.ones(2),))
def scalar_state(x):
    n = 0
    total = np.float64(0)
    found = False
    last = -1
    for i in range(len(x)):
        n += 1
        total += x[i]
        if x[i] < 0 and not found:
            found = True
            last = i
    return n, total, found, last


@program(
    (A,), (EMPTY,), (np.array([1.0, 1.0]),), joins="counts become numbers with a fraction"
)
def int_becomes_float(x):
    total = 0
    for v in x:
        total += v
    return total


@program((np.array([1, 5, 2]), 3), (np.zeros(0, np.int64), 1), (np.array([9]), 0))
def list_state(x, limit):
    stats = [0, 0]
    for v in x:
        if v > limit:
            stats[1] += 1
        else:
            stats[0] += 1
    return stats


@program((A,), (EMPTY,), (np.array([0.0]),))
def dict_state(x):
    counts = {"low": 0, "high": 0, "sum": np.float64(0)}
    for v in x:
        key_is_low = v < 1
        if key_is_low:
            counts["low"] += 1
        else:
            counts["high"] += 1
            counts["sum"] += v
    return counts


@program((A, 2), (A, 0), (ONE, 3))
def list_of_arrays(x, n):
    state = [x, np.zeros_like(x)]
    for _ in range(n):
        state[1] = state[1] + state[0]
        state[0] = state[0] * 0.5
    return state[0], state[1]


@program((A, 1.0), (A, -1.0))
def append_in_branch(x, s):
    parts = [x]
    if s > 0:
        parts.append(x * s)
        parts[0] = -x
    return sum(parts)


@program(({"w": A, "b": 1.0 * ONE}, 1.0), ({"w": A, "b": ONE}, -1.0))
def update_argument_dict(params, s):
    if s > 0:
        params["w"] -= s * 0.1
    else:
        params["b"] += 1
    return (params["w"] * params["b"]).sum()


@program(
    ([], A, 1.0),
    ([ONE], -A, 1.0),
    ([], EMPTY, 2.0),
    calls_only="a model has no list to append to",
)
def append_to_argument(history, x, s):
    total = x.sum()
    if total > 0:
        history.append(x * s)
    else:
        history.append(x - s)
    return total


@program(
    ({"best": 0.0}, A),
    ({"best": 1.0}, -A),
    ({"best": 9.0}, EMPTY),
    calls_only="the argument holds Python numbers, which are constants of a model",
)
def record_in_dict(state, x):
    for v in x:
        if v > state["best"]:
            state["best"] = v


@program((A, 3.0), (A, 99.0), (EMPTY, 0.0), (ONE, 2.0))
def drain(x, amount):
    """Take from each element until the amount is gone."""
    taken = np.zeros_like(x)
    for i in range(len(x)):
        if amount <= 0:
            break
        if x[i] <= 0:
            continue
        part = min(x[i], amount)
        x[i] -= part
        taken[i] = part
        amount -= part
    return taken


@program(
    (np.array([5, 3, 8, 1]),),
    (np.array([1]),),
    (np.zeros(0, np.int64),),
    (np.array([2, 2, 2]),),
)
def heap_from(x):
    """Sift down in the argument."""
    n = len(x)
    for start in range(n // 2 - 1, -1, -1):
        i = start
        while True:
            child = 2 * i + 1
            if child >= n:
                break
            if child + 1 < n and x[child + 1] > x[child]:
                child += 1
            if x[i] >= x[child]:
                break
            x[i], x[child] = x[child], x[i]
            i = child


@program(
    (np.zeros(4), np.array([0, 1, 1, 3])),
    (np.zeros(2), np.zeros(0, np.int64)),
    (np.ones(3), np.array([2, -1, 5])),
)
def scatter_inside(out, where):
    missed = 0
    for k in where:
        if 0 <= k < len(out):
            out[k] += 1
        else:
            missed += 1
    return missed


@program((A, 1e-2), (np.full(2, 3.0), 1e-2), (ONE, 1e-3))
def settle(x, tol):
    """Average neighbours until nothing moves."""
    rounds = 0
    while np.ptp(x) > tol:
        x = (x + np.roll(x, 1)) / 2
        rounds += 1
    return x, rounds


@program((A, 3), (A, 0), (ONE, 5), (EMPTY, 0))
def countdown(x, n):
    kept = x
    while n:
        kept = kept + n
        n -= 1
        if n == 1:
            kept = -kept
    return kept, n


class Counter:
    """Numbers and arrays kept between calls."""

    def __init__(self):
        self.calls = 0
        self.mean = np.zeros(())
        self.kept = []

    @program((A,), (ONE,), (-A,), calls_only="a model has no objects to store to")
    def update(self, x):
        self.calls += 1
        if x.sum() > 0:
            self.mean = self.mean + (x.mean() - self.mean) / 2
        return self.mean * 1

    @program((A,), (-A,), (EMPTY,), calls_only="a model has no objects to store to")
    def keep(self, x):
        for v in x:
            if v > 3:
                self.kept.append(v)
        return x.sum()


@program(
    (np.array([1, 2, 3], np.int32), 2),
    (np.array([7], np.int32), 0),
    (np.zeros(0, np.int32), 1),
)
def small_ints(x, n):
    total = np.int32(0)
    for _ in range(n):
        for v in x:
            total = total + v if v % 2 else total - v
    return total


@program(
    (np.array([True, False, True]),),
    (np.zeros(0, bool),),
    (np.array([True, True]),),
    (np.array([False]),),
)
def bool_state(flags):
    every = True
    some = False
    parity = False
    for f in flags:
        every = every and bool(f)
        some = some or bool(f)
        parity = parity != bool(f)
    return every, some, parity


@program((A, A, 2.0), (A, A, 0.5), (ONE, A, 2.0), (EMPTY, A, 2.0), (A, EMPTY, 2.0))
def views_of_what_a_loop_in_a_branch_writes(x, y, s):
    if s < 1.0:
        return x
    x = x * 2
    rest = x[1:]
    for _ in y:
        rest[rest > 3.5] = s
    return rest


@program((A, 1.0), (A, -1.0), (np.zeros(3), 1.0), (np.full(4, 9.0), -1.0), (ONE, 2.0))
def one_place_written_twice(x, s):
    big, some = int((x > 3.5).sum()), int((x > 1.0).sum())
    if big in (0, some):
        if big == len(x):
            for _ in range(2):
                x[0] = s
    elif s > 0:
        x[0] = 2 * s
        x[0] = s
    if big > 1:
        x[-1] = s
        x[-1] += 1
    else:
        x[-1] = -s
        x[-1] -= 1


def _last_or(a, low):
    if len(a) == 0:
        return low
    return a[-1]


@program(
    (A, A, 2.0, 3), (A, np.array([2.0, 1.0]), 2.0, 3), (A, np.array([5.0, 9.0]), 2.0, 1),
    (A, A, 2.0, 1), (EMPTY, EMPTY, 2.0, 3), (A, np.array([4.0, 2.0]), 2.0, 3),
    (A, np.array([6.0, 3.0]), 2.0, 1),
    (EMPTY, EMPTY, 2.0, 1), (ONE, EMPTY, 0.5, 1), (ONE, ONE, 0.5, 1), (A * 0 + 0.5, A, 2.0, 1),
)  # fmt: skip
def returns_decided_by_what_no_iteration_changed(x, y, s, n):
    total = 0.5
    for e in y:
        total = total * 0.5 + float(e)
    if len(y) != 1:
        match (int(total // 1 % 64) % 3, bool(not (n < 2))):
            case (k, False) if k > 1:
                total = total + n
            case (1, k):
                return (n % 16 / 2), (total - total), x
            case (0, True):
                if (x != 0.5).all():
                    return (total if n < 3 else s), (s - s), x
    return total, _last_or(y, total), y
