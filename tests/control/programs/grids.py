# SPDX-License-Identifier: Apache-2.0
"""Grids and graphs: differences in time, cells, paths, images."""

import numpy as np

from tests.control.record import program

BUMP = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def field(n, m):
    return np.random.default_rng(n + m).normal(size=(n, m))


@program(
    (BUMP, 0.2, 10),
    (BUMP, 0.5, 0),
    (np.array([1.0, 2.0]), 0.1, 3),
    (np.ones(9), 0.1, 1),
    large=lambda: ((np.sin(np.arange(2000.0)), 0.2, 2000),),
)
def heat_1d(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(
    (field(5, 4), 0.1, 6),
    (field(3, 3), 0.2, 0),
    (field(2, 5), 0.1, 2),
    (field(6, 6), 0.25, 1),
    large=lambda: ((field(40, 40), 0.1, 100),),
)
def heat_2d(u, r, steps):
    for _ in range(steps):
        old = u.copy()
        u[1:-1, 1:-1] += r * (
            old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]
            - 4 * old[1:-1, 1:-1]
        )  # fmt: skip


@program((BUMP, 0.5, 8), (BUMP, 0.9, 0), (np.ones(3), 0.1, 1))
def wave(u, c, steps):
    before, now = u.copy(), u.copy()
    for _step in range(steps):
        after = np.zeros_like(now)
        after[1:-1] = (
            2 * now[1:-1] - before[1:-1] + c**2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        )
        before, now = now, after
    return now


@program(
    (field(5, 5), 1e-3),
    (field(3, 4), 1e-6),
    (np.zeros((4, 4)), 0.1),
    (field(2, 2), 1e-3),
    large=lambda: ((field(15, 15), 1e-3),),
)
def laplace(u, tol):
    """Relax until the largest change is small."""
    u = u.copy()
    steps = 0
    while True:
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        steps += 1
        if np.max(np.abs(new - u)) < tol:
            return new, steps
        u = new


GLIDER = np.zeros((6, 6), np.int64)
GLIDER[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1


@program(
    (GLIDER, 4),
    (GLIDER, 0),
    (np.ones((3, 3), np.int64), 1),
    (np.zeros((2, 4), np.int64), 3),
    large=lambda: (((field(30, 30) > 0.5).astype(np.int64), 40),),
)
def life_by_slices(cells, steps):
    for _ in range(steps):
        around = np.pad(cells, 1)
        near = np.zeros_like(cells)
        for di in (0, 1, 2):
            for dj in (0, 1, 2):
                if di == 1 and dj == 1:
                    continue
                near += around[di : di + cells.shape[0], dj : dj + cells.shape[1]]
        cells = ((near == 3) | ((cells == 1) & (near == 2))).astype(np.int64)
        if not cells.any():
            break
    return cells


@program((GLIDER,), (np.ones((2, 3), np.int64),), (np.zeros((1, 1), np.int64),))
def life_by_elements(cells):
    h, w = cells.shape
    new = np.zeros_like(cells)
    for i in range(h):
        for j in range(w):
            near = 0
            for a in range(max(i - 1, 0), min(i + 2, h)):
                for b in range(max(j - 1, 0), min(j + 2, w)):
                    if (a, b) != (i, j):
                        near += cells[a, b]
            if cells[i, j] == 1:
                new[i, j] = 1 if near in (2, 3) else 0
            elif near == 3:
                new[i, j] = 1
    return new


@program(
    (np.linspace(-2, 1, 5), np.linspace(-1, 1, 3), 12),
    (np.array([0.0]), np.array([0.0]), 5),
    (np.array([2.0]), np.array([2.0]), 0),
    large=lambda: ((np.linspace(-2, 1, 16), np.linspace(-1, 1, 9), 25),),
)
def mandelbrot(xs, ys, limit):
    out = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            re = im = 0.0
            n = 0
            while n < limit and re * re + im * im <= 4.0:
                re, im = re * re - im * im + x, 2 * re * im + y
                n += 1
            out[i, j] = n
    return out


@program(
    (np.linspace(-2, 1, 5), np.linspace(-1, 1, 3), 12),
    (np.array([0.0]), np.array([0.0]), 5),
    (np.array([3.0]), np.array([2.0]), 7),
)
def mandelbrot_masks(xs, ys, limit):
    cx = np.broadcast_to(xs, (len(ys), len(xs)))
    cy = np.broadcast_to(ys[:, None], cx.shape)
    re, im = np.zeros(cx.shape), np.zeros(cx.shape)
    count = np.zeros(cx.shape, dtype=np.int64)
    alive = np.ones(cx.shape, dtype=bool)
    for _ in range(limit):
        re, im = (
            np.where(alive, re * re - im * im + cx, re),
            np.where(alive, 2 * re * im + cy, im),
        )
        alive &= re * re + im * im <= 4
        if not np.any(alive):
            break
        count[alive] += 1
    return count


INF = np.inf
ROADS = np.array([[0, 3, INF, 7], [8, 0, 2, INF], [5, INF, 0, 1], [2, INF, INF, 0]])


@program(
    (ROADS,),
    (np.zeros((1, 1)),),
    (np.zeros((0, 0)),),
    (np.array([[0.0, INF], [1.0, 0.0]]),),
    large=lambda: ((np.abs(field(40, 40)),),),
)
def floyd_warshall(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


@program(
    (ROADS,),
    (np.zeros((1, 1)),),
    (np.array([[0.0, INF], [1.0, 0.0]]),),
    large=lambda: ((np.abs(field(9, 9)),),),
)
def floyd_by_elements(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            if d[i, k] == np.inf:
                continue
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d


@program(
    (ROADS, 0), (ROADS, 3), (np.array([[0.0, INF], [INF, 0.0]]), 0), (np.zeros((1, 1)), 0)
)
def dijkstra(d, source):
    n = d.shape[0]
    dist = np.full(n, np.inf)
    dist[source] = 0
    done = np.zeros(n, dtype=bool)
    for _ in range(n):
        at = -1
        for v in range(n):
            if not done[v] and (at < 0 or dist[v] < dist[at]):
                at = v
        if np.isinf(dist[at]):
            break
        done[at] = True
        for v in range(n):
            if not done[v]:
                dist[v] = min(dist[v], dist[at] + d[at, v])
    return dist


@program(
    (np.array([[0, 1], [1, 2], [3, 4]]), 5),
    (np.zeros((0, 2), np.int64), 2),
    (np.array([[0, 1], [1, 0], [2, 1], [3, 2]]), 4),
)
def components(edges, n):
    """Union by the smaller label, with halved paths."""
    parent = np.arange(n)

    def root(v):
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for a, b in edges:
        ra, rb = root(a), root(b)
        if ra == rb:
            continue
        if ra < rb:
            parent[rb] = ra
        else:
            parent[ra] = rb
    count = 0
    for v in range(n):
        if root(v) == v:
            count += 1
    return count


MAZE = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]])


@program(
    (MAZE, 0, 0),
    (MAZE, 0, 2),
    (np.zeros((1, 1), np.int64), 0, 0),
    (np.ones((2, 2), np.int64) - np.eye(2, dtype=np.int64), 0, 0),
    large=lambda: (
        ((field(30, 30) > 1.0).astype(np.int64) * (1 - np.eye(30, dtype=np.int64)), 0, 0),
    ),
)
def flood(maze, i, j):
    """Spread from a cell until nothing is new."""
    if maze[i, j] != 0:
        return np.zeros(maze.shape, dtype=bool)
    seen = np.zeros(maze.shape, dtype=bool)
    seen[i, j] = True
    while True:
        grown = seen.copy()
        grown[1:] |= seen[:-1]
        grown[:-1] |= seen[1:]
        grown[:, 1:] |= seen[:, :-1]
        grown[:, :-1] |= seen[:, 1:]
        grown &= maze == 0
        if (grown == seen).all():
            return seen
        seen = grown


@program(
    (np.arange(20.0).reshape(4, 5), np.ones((2, 2))),
    (field(3, 3), field(3, 3)),
    (field(2, 2), np.ones((1, 1))),
    rtol=1e-12,
    why="a window is summed in another order",
)
def convolve_2d(image, kernel):
    kh, kw = kernel.shape
    h, w = image.shape[0] - kh + 1, image.shape[1] - kw + 1
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            out[i, j] = (image[i : i + kh, j : j + kw] * kernel).sum()
    return out


@program(
    (np.array([[200, 10], [130, 100]], np.uint8),),
    (np.full((2, 3), 255, np.uint8),),
    (np.zeros((1, 1), np.uint8),),
    large=lambda: ((np.arange(400, dtype=np.int64).reshape(20, 20).astype(np.uint8),),),
)
def dither(image):
    """Spread the error of each pixel to the next ones."""
    work = image.astype(np.float64)
    h, w = work.shape
    for y in range(h):
        for x in range(w):
            old = work[y, x]
            new = 255.0 if old > 127 else 0.0
            work[y, x] = new
            error = old - new
            if x + 1 < w:
                work[y, x + 1] += error * 0.5
            if y + 1 < h:
                work[y + 1, x] += error * 0.5
    return work.astype(np.uint8)


@program(
    (np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.01, 8),
    (np.zeros(2), np.zeros(2), 0.1, 0),
    (np.array([3.0, 0.0]), np.array([-9.0, 0.0]), 0.5, 5),
)
def bounce(position, velocity, dt, steps):
    for _ in range(steps):
        velocity[1] -= 9.81 * dt
        position += velocity * dt
        if position[1] < 0:
            position[1] = -position[1]
            velocity[1] *= -0.8
        if abs(position[0]) > 2.0:
            velocity[0] = -velocity[0]
    return 0.5 * (velocity @ velocity)


@program((1.0, 1.0, 1e-6), (2.0, 0.0, 1e-6), (0.5, 3.0, 1e-2))
def adaptive_euler(y, end, tol):
    """Halve the step where two estimates differ, double it where they agree."""
    t = 0.0
    h = 0.1
    steps = 0
    while t < end and steps < 400:
        h = min(h, end - t)
        whole = y - h * y
        half = y - h / 2 * y
        half = half - h / 2 * half
        if abs(whole - half) > tol + 1e-4:
            h = h / 2
            continue
        y = half
        t += h
        h *= 1.5
        steps += 1
    return y, steps
