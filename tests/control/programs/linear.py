# SPDX-License-Identifier: Apache-2.0
"""Linear algebra by loops, and iterations until a tolerance."""

import numpy as np

from tests.control.record import program

SUMS = "dot products are added in another order"


def spd(n, seed=0, dtype=np.float64):
    """Return a symmetric positive definite matrix."""
    m = np.random.default_rng(seed).normal(size=(n, n))
    return (m @ m.T + n * np.eye(n)).astype(dtype)


def vec(n, seed=1):
    return np.random.default_rng(seed).normal(size=n)


@program(
    (spd(4), 100, 1e-10),
    (spd(1), 5, 1e-3),
    (spd(3), 0, 1e-3),
    (np.zeros((2, 2)), 9, 1e-8),
    rtol=1e-9,
    why=SUMS,
)
def power_iteration(a, steps, tol):
    v = np.ones(a.shape[0])
    value = 0.0
    for _step in range(steps):
        w = a @ v
        norm = np.sqrt((w * w).sum())
        if norm == 0:
            return 0.0, v
        v = w / norm
        new = float(v @ a @ v)
        if abs(new - value) < tol:
            value = new
            break
        value = new
    return value, v


@program(
    (spd(4), vec(4)),
    (spd(1), vec(1)),
    (spd(3), np.zeros(3)),
    rtol=1e-8,
    why=SUMS,
    large=lambda: ((spd(60), vec(60)),),
)
def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    old = r @ r
    steps = 0
    while old > 1e-20 and steps < 2 * len(b):
        ap = a @ p
        alpha = old / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / old) * p
        old = new
        steps += 1
    return x


@program(
    (spd(4), vec(4), 1e-8),
    (spd(1), vec(1), 1e-2),
    (spd(3), np.zeros(3), 1e-6),
    (np.array([[1.0, 2.0], [3.0, 1.0]]), np.ones(2), 1e-3),
    rtol=1e-9,
    why=SUMS,
    large=lambda: ((spd(30), vec(30), 1e-8),),
)
def jacobi_solve(a, b, tol):
    d = np.diag(a)
    off = a - np.diagflat(d)
    x = np.zeros_like(b)
    for step in range(200):
        new = (b - off @ x) / d
        change = np.abs(new - x).max()
        x = new
        if change < tol:
            return x, step + 1
    return x, 200


@program(
    (spd(4), vec(4), 1e-9),
    (spd(1), vec(1), 1e-2),
    (spd(2), np.zeros(2), 1e-2),
    rtol=1e-8,
    why=SUMS,
    large=lambda: ((spd(12), vec(12), 1e-9),),
)
def gauss_seidel(a, b, tol):
    n = len(b)
    x = np.zeros(n)
    change = np.inf
    while change > tol:
        change = 0.0
        for i in range(n):
            rest = a[i, :i] @ x[:i] + a[i, i + 1 :] @ x[i + 1 :]
            new = (b[i] - rest) / a[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
    return x


@program(
    (spd(4),),
    (spd(1),),
    (np.zeros((0, 0)),),
    (np.array([[1.0, 2.0], [3.0, 4.0]]),),
    large=lambda: ((spd(14),),),
)
def lu_in_place(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


@program(
    (np.array([[0.0, 2.0, 1.0], [1.0, -2.0, -3.0], [-1.0, 1.0, 2.0]]), np.array([-8.0, 0, 3])),
    (spd(4), vec(4)),
    (np.array([[2.0]]), np.array([3.0])),
    (np.ones((2, 2)), np.ones(2)),
    raises=ZeroDivisionError,
    rtol=1e-10,
    why=SUMS,
    large=lambda: ((spd(12), vec(12)),),
)
def gauss_with_pivots(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for i in range(n):
        p = i
        for r in range(i + 1, n):
            if abs(a[r, i]) > abs(a[p, i]):
                p = r
        if a[p, i] == 0.0:
            raise ZeroDivisionError("singular matrix")
        if p != i:
            a[[i, p]] = a[[p, i]]
            b[i], b[p] = b[p], b[i]
        for r in range(i + 1, n):
            factor = a[r, i] / a[i, i]
            if factor != 0.0:
                a[r, i:] -= factor * a[i, i:]
                b[r] -= factor * b[i]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@program(
    (spd(4),),
    (spd(1),),
    (-np.eye(2),),
    (spd(3, dtype=np.float32),),
    raises=ValueError,
    rtol=1e-5,
    why=SUMS,
    large=lambda: ((spd(14),),),
)
def cholesky(a):
    n = a.shape[0]
    low = np.zeros_like(a)
    for j in range(n):
        rest = a[j, j]
        for k in range(j):
            rest -= low[j, k] ** 2
        if rest <= 0:
            raise ValueError("not positive definite")
        low[j, j] = np.sqrt(rest)
        for i in range(j + 1, n):
            s = a[i, j] - (low[i, :j] * low[j, :j]).sum()
            low[i, j] = s / low[j, j]
    return low


@program(
    (np.tril(spd(4)), vec(4)),
    (spd(1), vec(1)),
    (np.zeros((0, 0)), vec(0)),
    large=lambda: ((np.tril(spd(40)), vec(40)),),
    rtol=1e-9,
    why=SUMS,
)
def forward_substitution(low, b):
    x = b.copy()
    for i in range(len(b)):
        for j in range(i):
            x[i] -= low[i, j] * x[j]
        x[i] /= low[i, i]
    return x


@program(
    (np.arange(6.0).reshape(2, 3), np.ones((3, 2))),
    (np.ones((1, 0)), np.ones((0, 2))),
    (np.arange(4).reshape(2, 2), np.eye(2, dtype=np.int64)),
)
def matmul_by_loops(a, b):
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p), dtype=a.dtype)
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


@program(
    (np.array([[1, 1], [1, 0]]), 10),
    (np.array([[2]]), 0),
    (np.eye(2, dtype=np.int64), 1),
    (np.array([[1, 2], [3, 4]]), 5),
)
def matrix_power(a, n):
    result = np.eye(a.shape[0], dtype=a.dtype)
    while n > 0:
        if n % 2 == 1:
            result = result @ a
        a = a @ a
        n //= 2
    return result


@program(
    (vec(4), spd(4)[0], vec(4, 3), vec(4, 5)),
    (vec(1), np.array([2.0]), vec(1, 2), vec(1, 3)),
    (vec(2), np.array([3.0, 3.0]), vec(2, 2), vec(2, 3)),
    rtol=1e-10,
    why=SUMS,
)
def tridiagonal(below, diagonal, above, rhs):
    """Thomas's algorithm."""
    n = len(rhs)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = above[0] / diagonal[0]
    d[0] = rhs[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - below[i] * c[i - 1]
        c[i] = above[i] / pivot
        d[i] = (rhs[i] - below[i] * d[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


@program(
    (spd(4)[:, :3],),
    (np.array([[2.0]]),),
    (np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]),),
    rtol=1e-8,
    why=SUMS,
)
def gram_schmidt(a):
    q = np.zeros_like(a)
    rank = 0
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(j):
            v -= (q[:, i] @ a[:, j]) * q[:, i]
        norm = np.sqrt(v @ v)
        if norm > 1e-9:
            q[:, j] = v / norm
            rank += 1
    return q, rank


@program(
    (np.array([[4.0, 1.0], [2.0, 3.0]]),), (np.array([[5.0]]),), (spd(3),), rtol=1e-6, why=SUMS
)
def newton_inverse(a):
    """Iterate x <- x (2 I - a x) until nothing changes."""
    n = len(a)
    x = a.T / (np.abs(a).sum(axis=0).max() * np.abs(a).sum(axis=1).max())
    while True:
        new = x @ (2 * np.eye(n) - a @ x)
        if np.allclose(new, x, rtol=1e-10, atol=1e-12):
            break
        x = new
    return new
