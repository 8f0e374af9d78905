# SPDX-License-Identifier: Apache-2.0
"""Signals and numerics: filters, control, integrals, searches for a minimum, sampling."""

import numpy as np

from tests.control.record import program

T = np.linspace(0.0, 3.0, 12)
S = np.sin(3 * T)
EMPTY = np.zeros(0)
ONE = np.array([0.7])


@program(
    (S, np.array([0.2, 0.3]), np.array([1.0, -0.4])),
    (ONE, np.array([1.0]), np.array([1.0])),
    (EMPTY, np.array([1.0]), np.array([1.0, 0.5])),
    (S[:3], np.array([0.1, 0.2, 0.3]), np.array([1.0])),
    large=lambda: ((np.sin(np.arange(200.0)), np.array([0.2, 0.3]), np.array([1.0, -0.4])),),
)
def recursive_filter(x, b, a):
    y = np.zeros_like(x)
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
    return y


@program(
    (S, 0.1, 0.5),
    (ONE, 1.0, 1.0),
    (EMPTY, 1.0, 1.0),
    (S.astype(np.float32), 0.1, 0.5),
    large=lambda: ((np.sin(np.arange(500.0)), 0.1, 0.5),),
)
def kalman(z, process, noise):
    x = np.float64(0)
    p = np.float64(1)
    out = np.zeros(len(z))
    for i, measured in enumerate(z):
        p = p + process
        gain = p / (p + noise)
        x = x + gain * (measured - x)
        p = (1 - gain) * p
        out[i] = x
    return out, p


@program(
    (S, np.eye(2), np.array([[1.0, 0.1], [0.0, 1.0]])),
    (ONE, np.eye(2), np.eye(2)),
    (np.array([0.5, np.nan, 0.7]), np.eye(2), np.array([[1.0, 0.5], [0.0, 1.0]])),
    rtol=1e-10,
    why="dot products are added in another order",
)
def track_with_gaps(z, p, f):
    """Predict always, correct where something was measured."""
    x = np.zeros(2)
    path = np.zeros((len(z), 2))
    for i in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + 0.01 * np.eye(2)
        if not np.isnan(z[i]):
            gain = p[:, 0] / (p[0, 0] + 0.1)
            x = x + gain * (z[i] - x[0])
            p = p - np.outer(gain, p[0])
        path[i] = x
    return path


@program(
    (1.0, 30, 0.1),
    (-2.0, 1, 0.1),
    (5.0, 0, 0.1),
    (9.0, 12, 0.5),
    large=lambda: ((1.0, 1000, 0.01),),
)
def controller(target, steps, dt):
    """Proportional and integral control with limits."""
    y = 0.0
    integral = 0.0
    saturated = 0
    for _ in range(steps):
        error = target - y
        u = 2.0 * error + 0.5 * (integral + error * dt)
        if u > 4.0:
            u = 4.0
            saturated += 1
        elif u < -4.0:
            u = -4.0
            saturated += 1
        else:
            integral += error * dt
        y += dt * (u - y)
    return y, saturated


@program((S, 0.5, -0.5), (ONE, 0.5, 0.1), (EMPTY, 1.0, 0.0), (np.array([0.0, 0.2]), 0.5, 0.1))
def hysteresis(x, high, low):
    on = False
    out = np.zeros(len(x), dtype=bool)
    switches = 0
    for i in range(len(x)):
        before = on
        if x[i] > high:
            on = True
        elif x[i] < low:
            on = False
        switches += on != before
        out[i] = on
    return out, switches


@program((S,), (ONE,), (EMPTY,), (np.array([1.0, 0.0, 0.0, -1.0, 1.0]),))
def zero_crossings(x):
    found = []
    last = 0
    for i in range(len(x)):
        sign = 1 if x[i] > 0 else -1 if x[i] < 0 else 0
        if sign == 0:
            continue
        if last != 0 and sign != last:
            found.append(i)
        last = sign
    return np.array(found, dtype=np.int64)


@program((S, 0.9, 0.2), (ONE, 0.5, 0.5), (EMPTY, 0.1, 0.1))
def envelope(x, attack, release):
    out = np.empty(len(x))
    level = 0.0
    for i, v in enumerate(np.abs(x)):
        c = attack if v > level else release
        level += c * (v - level)
        out[i] = level
    return out


@program(
    (S, 3),
    (ONE, 3),
    (EMPTY, 1),
    (S[:4], 5),
    large=lambda: ((np.random.default_rng(5).normal(size=100), 5),),
)
def median_filter(x, width):
    n = len(x)
    half = width // 2
    out = np.zeros(n)
    for i in range(n):
        window = np.sort(x[max(0, i - half) : min(n, i + half + 1)])
        m = len(window)
        if m % 2:
            out[i] = window[m // 2]
        else:
            out[i] = 0.5 * (window[m // 2 - 1] + window[m // 2])
    return out


@program(
    (np.array([1.0, 0.0]), 0.1, 10),
    (np.array([0.0, 0.0]), 0.1, 3),
    (np.array([2.0, 1.0]), 0.1, 0),
    rtol=1e-10,
    why="sums of four terms",
)
def runge_kutta(y, h, steps):
    def slope(v):
        return np.array([v[1], (1 - v[0] ** 2) * v[1] - v[0]])

    path = [y]
    for _ in range(steps):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        d = slope(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
        path.append(y)
    return np.array(path)


@program((0.0, 4.0, 1e-6), (1.0, 1.1, 1.0), (-3.0, 9.0, 1e-3))
def golden_section(low, high, tol):
    ratio = 0.6180339887498949

    def f(v):
        return (v - 1.7) ** 2 + 0.1 * abs(v)

    c, d = high - ratio * (high - low), low + ratio * (high - low)
    fc, fd = f(c), f(d)
    while high - low > tol:
        if fc < fd:
            high, d, fd = d, c, fc
            c = high - ratio * (high - low)
            fc = f(c)
        else:
            low, c, fc = c, d, fd
            d = low + ratio * (high - low)
            fd = f(d)
    return (low + high) / 2


@program((0.0, 1.0, 1e-3), (2.0, 2.0, 1e-6), (-1.0, 3.0, 0.0), rtol=1e-10, why="order of sums")
def trapezoid_until(low, high, tol):
    """Double the number of points until the integral of exp(-x^2) stays."""
    n = 1
    old = (high - low) / 2 * (np.exp(-(low**2)) + np.exp(-(high**2)))
    while n < 64:
        h = (high - low) / n
        total = 0.0
        for k in range(n):
            m = low + (k + 0.5) * h
            total += np.exp(-(m * m))
        new = old / 2 + h / 2 * total
        n *= 2
        if abs(new - old) < tol:
            return new, n
        old = new
    return old, n


@program(
    (np.array([0.1, 0.2, 0.3, 0.4]), 0.5),
    (np.array([1.0]), 0.2),
    (np.array([0.0, 1.0, 0.0]), 0.9),
)
def systematic_resampling(weights, u):
    n = len(weights)
    picks = np.zeros(n, dtype=np.int64)
    run = weights[0]
    j = 0
    for i in range(n):
        at = (i + u) / n
        while at > run and j < n - 1:
            j += 1
            run += weights[j]
        picks[i] = j
    return picks


@program(
    (np.array([0, 1, 0, 2, 1, 0, 1, 3]),),
    (np.array([3, 0, 3]),),
    (np.array([1]),),
    (np.zeros(0, np.int64),),
)
def trapped_water(height):
    left, right = 0, len(height) - 1
    top_left = top_right = 0
    water = 0
    while left < right:
        if height[left] < height[right]:
            top_left = max(top_left, height[left])
            water += top_left - height[left]
            left += 1
        else:
            top_right = max(top_right, height[right])
            water += top_right - height[right]
            right -= 1
    return water + np.int64(0)


@program(
    (np.array([0.0, 1.0, 3.0]), np.array([0.0, 10.0, 0.0]), np.array([-1.0, 0.5, 2.0, 9.0])),
    (np.array([0.0, 1.0]), np.array([5.0, 6.0]), EMPTY),
    (np.array([0.0, 1.0]), np.array([5.0, 6.0]), np.array([1.0])),
)
def interpolate(xs, ys, at):
    out = np.zeros(len(at))
    for i, v in enumerate(at):
        if v <= xs[0]:
            out[i] = ys[0]
            continue
        if v >= xs[-1]:
            out[i] = ys[-1]
            continue
        k = 0
        while xs[k + 1] < v:
            k += 1
        t = (v - xs[k]) / (xs[k + 1] - xs[k])
        out[i] = (1 - t) * ys[k] + t * ys[k + 1]
    return out


@program(
    (np.array([8, 5, 3]), 2),
    (np.array([1]), 0),
    (np.zeros(0, np.int64), 3),
    (np.array([7]), 1),
)
def ints_become_floats(x, n):
    """Halve whole numbers: the dtype changes in the first step."""
    for _ in range(n):
        x = x / 2
    return x + 0.0


@program(
    (np.array(3.0), np.array(2)), (np.array(-3.0), np.array(0)), (np.array(0.0), np.array(5))
)
def zero_dimensional(x, n):
    y = x * 1.0
    for _ in range(int(n)):
        y = y + x
    if x > 0 and y < 100:
        y = y * 2
    elif x < 0:
        y = -y
    return y


@program(
    (np.float32(3.0), np.int64(2)),
    (np.float32(-3.0), np.int64(0)),
    (np.float32(40.0), np.int64(3)),
)
def scalar_arguments(x, n):
    total = x
    k = 0
    while k < n and total < 100:
        total = total * np.float32(1.5) + x
        k = k + 1
    return total


@program((S, 0.3), (S, 5.0), (ONE, 0.0))
def first_and_rest(x, limit):
    head, *rest = (x * 2, x + 1, x - 1)
    for part in rest:
        if np.abs(part).max() > limit:
            head = head + part
            del part
    first, last = x[0], x[-1]
    first, last = (last, first) if first > last else (first, last)
    return head, last - first
