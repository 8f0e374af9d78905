# SPDX-License-Identifier: Apache-2.0
"""Learning and detection: clusters, boxes, descent, models with attributes."""

import numpy as np

from tests.control.record import program

SUMS = "sums over many terms are added in another order"
RNG = np.random.default_rng(3)
POINTS = np.concatenate([RNG.normal(size=(5, 2)), RNG.normal(size=(4, 2)) + 6])
X = RNG.normal(size=(12, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + 0.01 * RNG.normal(size=12)


@program(
    (POINTS, POINTS[[0, 8]].copy(), 20),
    (POINTS, POINTS[[0, 1]].copy(), 20),
    (POINTS[:3], POINTS[:1].copy(), 0),
    (POINTS, np.array([[0.0, 0.0], [99.0, 99.0]]), 10),
    rtol=1e-9,
    why=SUMS,
    large=lambda: ((np.random.default_rng(5).normal(size=(200, 2)), np.eye(2) * 3, 30),),
)
def kmeans(x, centers, limit):
    labels = np.full(len(x), -1)
    for _step in range(limit):
        d = ((x[:, None, :] - centers[None]) ** 2).sum(axis=2)
        new = d.argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
        for k in range(len(centers)):
            mine = labels == k
            if mine.any():
                centers[k] = x[mine].mean(axis=0)
    return labels, centers


@program((POINTS, 3), (POINTS, 1), (POINTS[:2], 2))
def farthest_points(x, k):
    chosen = np.zeros(k, dtype=np.int64)
    nearest = ((x - x[0]) ** 2).sum(axis=1)
    for i in range(1, k):
        far = nearest.argmax()
        chosen[i] = far
        nearest = np.minimum(nearest, ((x - x[far]) ** 2).sum(axis=1))
    return chosen


BOXES = np.array(
    [[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 9, 9], [21, 20, 30, 31]], float
)
SCORES = np.array([0.9, 0.8, 0.7, 0.95, 0.6])


@program(
    (BOXES, SCORES, 0.5),
    (BOXES[:1], SCORES[:1], 0.5),
    (np.zeros((0, 4)), np.zeros(0), 0.5),
    (BOXES, SCORES, 0.99),
)
def suppress_boxes(boxes, scores, limit):
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = np.argsort(-scores, kind="stable")
    keep = []
    while order.size > 0:
        i = order[0]
        keep.append(i)
        rest = order[1:]
        low = np.maximum(boxes[i, :2], boxes[rest, :2])
        high = np.minimum(boxes[i, 2:], boxes[rest, 2:])
        size = np.maximum(high - low, 0)
        common = size[:, 0] * size[:, 1]
        iou = common / (areas[i] + areas[rest] - common)
        order = rest[iou <= limit]
    return np.array(keep, dtype=np.int64)


@program((BOXES, 0.5), (BOXES[:1], 0.5), (np.zeros((0, 4)), 0.5))
def suppress_by_flags(boxes, limit):
    n = len(boxes)
    keep = np.ones(n, dtype=bool)
    for i in range(n):
        if not keep[i]:
            continue
        for j in range(i + 1, n):
            w = min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0])
            h = min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1])
            if w <= 0 or h <= 0:
                continue
            union = -w * h
            for b in (boxes[i], boxes[j]):
                union += (b[2] - b[0]) * (b[3] - b[1])
            if w * h > limit * union:
                keep[j] = False
    return keep


@program(
    (X, Y, 0.1, 200, 1e-6),
    (X, Y, 0.1, 0, 1e-6),
    (X[:1], Y[:1], 0.1, 3, 1e-9),
    (X, Y, 0.1, 500, 0.5),
    rtol=1e-8,
    why=SUMS,
)
def gradient_descent(x, y, rate, steps, tol):
    w = np.zeros(x.shape[1])
    step = 0
    while step < steps:
        g = x.T @ (x @ w - y) / len(y)
        w -= rate * g
        step += 1
        if np.linalg.norm(g) < tol:
            break
    return w, step


@program(
    (X, (Y > 0).astype(float)),
    (X[:2] * 40, np.array([0.0, 1.0])),
    (X[:1], np.array([1.0])),
    rtol=1e-8,
    why=SUMS,
)
def logistic_with_backtracking(x, t):
    w = np.zeros(x.shape[1])

    def loss(v):
        z = x @ v
        return (np.logaddexp(0, z) - t * z).mean() + 0.01 * (v @ v)

    for _ in range(15):
        p = 1 / (1 + np.exp(-(x @ w)))
        g = x.T @ (p - t) / len(t) + 0.02 * w
        rate = 4.0
        now = loss(w)
        while loss(w - rate * g) > now - 0.3 * rate * (g @ g):
            rate /= 2
            if rate < 1e-2:
                return w
        w = w - rate * g
    return w


@program(
    (X, np.where(Y > 0, 1.0, -1.0), 10),
    (X[:1], np.array([1.0]), 3),
    (X, np.where(Y > 0, 1.0, -1.0), 0),
    large=lambda: (
        (
            np.random.default_rng(5).normal(size=(60, 3)),
            np.where(np.arange(60) % 2, 1.0, -1.0),
            5,
        ),
    ),
)
def perceptron(x, labels, epochs):
    w = np.zeros(x.shape[1])
    bias = 0.0
    for _ in range(epochs):
        errors = 0
        for row, label in zip(x, labels):
            if label * (row @ w + bias) <= 0:
                w += label * row
                bias += label
                errors += 1
        if errors == 0:
            break
    return w


def soft(v, limit):
    if v > limit:
        return v - limit
    if v < -limit:
        return v + limit
    return 0.0


@program((X, Y, 0.1), (X[:2], Y[:2], 9.0), (X, -Y, 0.01), rtol=1e-8, why=SUMS)
def lasso(x, y, penalty):
    """Coordinate descent; the helper returns early."""
    n, k = x.shape
    w = np.zeros(k)
    for _ in range(20):
        biggest = 0.0
        for j in range(k):
            rest = y - x @ w + x[:, j] * w[j]
            new = soft(x[:, j] @ rest / n, penalty) / (x[:, j] @ x[:, j] / n)
            biggest = max(biggest, abs(new - w[j]))
            w[j] = new
        if biggest < 1e-10:
            break
    return w


@program(
    (np.array([0, 1, 0, 2]), np.array([1.0, 2.0, 3.0, 4.0])),
    (np.zeros(0, np.int64), np.zeros(0)),
    (np.array([2]), np.array([5.0])),
)
def grouped_means(groups, values):
    out = np.zeros(3)
    for g in range(3):
        total = 0.0
        count = 0
        for k, v in zip(groups, values):
            if k == g:
                total += v
                count += 1
        out[g] = total / count if count else np.nan
    return out


@program(
    (POINTS, np.array([0, 0, 0, 0, 0, 1, 1, 1, 1]), np.array([0.0, 0.0]), 3),
    (POINTS, np.array([0, 1] * 4 + [0]), np.array([5.0, 5.0]), 1),
    (POINTS[:2], np.array([1, 0]), POINTS[1], 2),
)
def nearest_vote(train, labels, query, k):
    d = np.sum((train - query) ** 2, axis=1)
    votes = [0, 0]
    taken = np.zeros(len(train), dtype=bool)
    for _ in range(k):
        best = -1
        for i in range(len(train)):
            if taken[i]:
                continue
            if best == -1 or d[i] < d[best]:
                best = i
        taken[best] = True
        if labels[best] == 0:
            votes[0] += 1
        else:
            votes[1] += 1
    return 0 if votes[0] >= votes[1] else 1


class Ridge:
    """Least squares with a penalty, by descent; keeps what it has learned."""

    def __init__(self):
        self.coef_ = None
        self.n_iter_ = 0
        self.history = []

    @program(
        (X, Y, 50),
        (X[:3], Y[:3], 0),
        (X, Y, 5),
        rtol=1e-9,
        why=SUMS,
        calls_only="a model has no objects to store to",
    )
    def fit(self, x, y, steps):
        w = np.zeros(x.shape[1])
        for _ in range(steps):
            w = w - 0.1 * (x.T @ (x @ w - y) / len(y) + 0.01 * w)
        self.coef_ = w


class Descent(Ridge):
    """Descent that stops early and stores how it went."""

    @program(
        (X, Y, 0.01),
        (X[:3], Y[:3], 10.0),
        (X, Y, 1.0),
        rtol=1e-9,
        why=SUMS,
        calls_only="a model has no objects to store to",
    )
    def learn(self, x, y, tol):
        self.coef_ = np.zeros(x.shape[1])
        self.n_iter_ = 0
        while True:
            gap = x @ self.coef_ - y
            if np.abs(gap).mean() < tol or self.n_iter_ >= 40:
                break
            self.coef_ = self.coef_ - 0.1 * (x.T @ gap) / len(y)
            self.n_iter_ += 1
        return self

    @program(
        (X, Y, 4),
        (X[:3], Y[:3], 1),
        (X, Y, 0),
        rtol=1e-9,
        why=SUMS,
        calls_only="a model has no objects to store to",
    )
    def record(self, x, y, steps):
        w = np.zeros(x.shape[1])
        for _ in range(steps):
            gap = x @ w - y
            self.history.append((gap**2).mean())
            w -= 0.1 * (x.T @ gap) / len(y)
        return w


@program((X, Y), (X[:2], Y[:2]), rtol=1e-9, why=SUMS)
def fit_young_model(x, y):
    """Make the object inside: a model can carry it."""
    model = Ridge()
    model.fit(x, y, 7)
    if model.coef_[0] > 0.1:
        model.n_iter_ = 7
    return model.coef_, model.n_iter_
