# SPDX-License-Identifier: Apache-2.0
"""Loops as people write them, and their inputs by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LOOPS", "Loop"]


def _random(*shape: int) -> Any:
    return np.random.default_rng(0).uniform(0.1, 1.0, shape)


# --- over array statements


def heat_1d(u: Any, r: Any, steps: Any) -> Any:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_2d(u: Any, r: Any, steps: Any) -> Any:
    u = u.copy()
    for _ in range(steps):
        old = u.copy()
        u[1:-1, 1:-1] += r * (
            old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]
            - 4 * old[1:-1, 1:-1]
        )  # fmt: skip
    return u


def fdtd_2d(ex: Any, ey: Any, hz: Any, steps: Any) -> Any:
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(steps):
        ey[0, :] = t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def floyd_warshall(d: Any) -> Any:
    d = d.copy()
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


def power_iteration(a: Any, steps: Any) -> Any:
    v = np.ones(a.shape[0])
    for _ in range(steps):
        w = a @ v
        v = w / np.sqrt((w * w).sum())
    return v


def n_body(position: Any, velocity: Any, mass: Any, dt: Any, steps: Any) -> Any:
    position, velocity = position.copy(), velocity.copy()
    for _ in range(steps):
        apart = position[None, :, :] - position[:, None, :]
        cubed = ((apart**2).sum(axis=2) + 0.01) ** 1.5
        velocity += dt * (apart * (mass[None, :] / cubed)[:, :, None]).sum(axis=1)
        position += dt * velocity
    return position


# --- over rows


def lu_by_rows(a: Any) -> Any:
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def smooth_rows(x: Any, alpha: Any) -> Any:
    out = np.zeros_like(x)
    last = x[0]
    for i in range(x.shape[0]):
        last = alpha * x[i] + (1 - alpha) * last
        out[i] = last
    return out


# --- over elements


def gauss_seidel(u: Any, steps: Any) -> Any:
    u = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def lu(a: Any) -> Any:
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def edit_distance(a: Any, b: Any) -> Any:
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), np.int64)
    for i in range(m + 1):
        d[i, 0] = i
    for j in range(n + 1):
        d[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


def crc_16(data: Any) -> Any:
    crc = 0xFFFF
    for i in range(len(data)):
        crc = crc ^ int(data[i])
        for _ in range(8):
            crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
    return crc


def low_pass(x: Any, alpha: Any) -> Any:
    out = np.zeros_like(x)
    state = 0.0
    for i in range(len(x)):
        state = alpha * x[i] + (1 - alpha) * state
        out[i] = state
    return out


def running_sum(x: Any) -> Any:
    out = x.copy()
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i]
    return out


def fill(x: Any) -> Any:
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2.0 + 1.0
    return out


def clip_below(x: Any, least: Any) -> Any:
    out = x.copy()
    for i in range(len(x)):
        if out[i] < least:  # noqa: PLR1730  what is measured
            out[i] = least
    return out


def outer_sum(a: Any, b: Any) -> Any:
    out = np.zeros((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = a[i] * b[j] + 1.0
    return out


def matrix_product(a: Any, b: Any) -> Any:
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


def trapezoid(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += 0.5 * (x[i + 1] - x[i]) * (y[i + 1] + y[i])
    return total


class Loop(NamedTuple):
    """A program, what it loops over, its inputs for a size, and the sizes."""

    fn: Callable[..., Any]
    over: str
    inputs: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]


def _well(n: int) -> Any:
    return _random(n, n) + n * np.eye(n)


def _letters(n: int) -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    return random.integers(0, 4, n), random.integers(0, 4, n)


LOOPS = (
    Loop(heat_1d, "arrays", lambda n: (_random(n), 0.2, 100), (10, 1_000, 30_000)),
    Loop(heat_2d, "arrays", lambda n: (_random(n, n), 0.1, 50), (5, 50, 300)),
    Loop(fdtd_2d, "arrays", lambda n: (*(_random(n, n) for _ in range(3)), 50), (5, 50, 300)),
    Loop(floyd_warshall, "arrays", lambda n: (_random(n, n),), (5, 50, 200)),
    Loop(power_iteration, "arrays", lambda n: (_random(n, n), 100), (5, 50, 300)),
    Loop(
        n_body, "arrays",
        lambda n: (_random(n, 3), _random(n, 3), _random(n), 0.01, 20), (3, 20, 100),
    ),
    Loop(lu_by_rows, "rows", lambda n: (_well(n),), (4, 30, 100)),
    Loop(smooth_rows, "rows", lambda n: (_random(n, 100), 0.2), (4, 100, 2_000)),
    Loop(gauss_seidel, "elements", lambda n: (_random(n, n), 5), (5, 20, 60)),
    Loop(lu, "elements", lambda n: (_well(n),), (4, 12, 40)),
    Loop(edit_distance, "elements", _letters, (4, 20, 100)),
    Loop(crc_16, "elements", lambda n: (np.arange(n).astype(np.uint8),), (4, 50, 1_000)),
    Loop(low_pass, "elements", lambda n: (_random(n), 0.2), (5, 1_000, 20_000)),
    Loop(running_sum, "elements", lambda n: (_random(n),), (5, 1_000, 20_000)),
    Loop(fill, "elements", lambda n: (_random(n),), (5, 1_000, 20_000)),
    Loop(clip_below, "elements", lambda n: (_random(n), 0.5), (5, 1_000, 20_000)),
    Loop(outer_sum, "elements", lambda n: (_random(n), _random(n)), (4, 30, 150)),
    Loop(matrix_product, "elements", lambda n: (_random(n, n), _random(n, n)), (3, 10, 30)),
    Loop(trapezoid, "elements", lambda n: (_random(n), _random(n)), (5, 1_000, 20_000)),
)  # fmt: skip
