# SPDX-License-Identifier: Apache-2.0
# mypy: allow-untyped-calls, allow-any-generics
"""Programs as people write them with NumPy, each with arguments of several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PROGRAMS"]

Array = np.ndarray[Any, Any]
PROGRAMS: list[tuple[Callable[..., Any], Callable[[int, Any], tuple[Any, ...]]]] = []


def program(arguments: Callable[[int, Any], tuple[Any, ...]]) -> Callable[..., Any]:
    """Add the decorated program; `arguments` makes them for a size and a generator."""

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((fn, arguments))
        return fn

    return add


def table(n: int, rng: Any, k: int = 4, dtype: Any = np.float64) -> Array:
    return np.asarray(rng.normal(size=(n, k))).astype(dtype)


@program(lambda n, rng: (table(n, rng), rng.integers(0, 3, n)))
def features(x, codes):
    """Standardise, fill gaps, add squares, products and indicator columns."""
    x = x.copy()
    x[x > 1.5] = np.nan
    mean = np.nanmean(x, axis=0)
    gap = np.isnan(x)
    x = np.where(gap, mean, x)
    std = x.std(axis=0)
    std[std == 0] = 1.0
    z = (x - mean) / std
    onehot = (codes[:, None] == np.arange(3)).astype(z.dtype)
    pairs = [z[:, i] * z[:, j] for i in range(4) for j in range(i, 4)]
    return np.hstack([z, np.column_stack(pairs), onehot, gap.sum(axis=1, keepdims=True)])


@program(lambda n, rng: (rng.integers(0, 256, (n + 3, 6, 3)).astype(np.uint8), 0.3, 20))
def image(img, contrast, shift):
    """Grey, brighten with saturation, threshold, crop, flip and normalise an image."""
    grey = (img @ np.array([299, 587, 114])) // 1000
    bright = np.clip(img.astype(np.int16) + shift, 0, 255).astype(np.uint8)
    mask = grey > grey.mean()
    out = np.where(mask[..., None], bright, 255 - bright)
    out[:2, 1:-1] //= 2
    crop = out[1:-1, ::-1]
    f = crop.astype(np.float32) / 255
    f = (f - f.mean(axis=(0, 1))) / (f.std(axis=(0, 1)) + np.float32(contrast))
    return f.transpose(2, 0, 1)[None], mask, (img >> 4) ^ (img & 15), np.uint8(200) + img[0, 0]


@program(lambda n, rng: (table(n, rng, 5, np.float32), rng.integers(0, 5, n)))
def cross_entropy(logits, labels):
    """Softmax, log-sum-exp, and the gradient of the mean loss."""
    m = logits.max(axis=-1, keepdims=True)
    e = np.exp(logits - m)
    p = e / e.sum(axis=-1, keepdims=True)
    lse = np.log(e.sum(axis=-1)) + m[:, 0]
    rows = np.arange(len(labels))
    loss = (lse - logits[rows, labels]).mean()
    grad = p.copy()
    grad[rows, labels] -= 1
    return loss, grad / len(labels), p.argmax(axis=1), (p.argmax(1) == labels).mean()


@program(lambda n, rng: (rng.normal(size=n + 6), 3))
def moving(x, width):
    """Average over windows and with exponential weights; draw-downs and returns."""
    c = np.cumsum(np.insert(x, 0, 0.0))
    ma = (c[width:] - c[:-width]) / width
    price = 100 * np.cumprod(1 + x / 100)
    top = np.maximum.accumulate(price)
    returns = np.diff(price) / price[:-1]
    log_returns = np.diff(np.log(price))
    w = 0.9 ** np.arange(len(x))[::-1]
    return (
        ma,
        (top - price) / top,
        returns,
        log_returns.sum(),
        (x * w).sum() / w.sum(),
        price[-1],
    )


@program(lambda n, rng: (table(n + 1, rng, 3), table(n, rng, 3), rng.integers(0, 4, n + 1)))
def neighbours(train, query, labels):
    """Find nearest neighbours and vote."""
    d2 = ((query[:, None, :] - train[None, :, :]) ** 2).sum(-1)
    order = np.argsort(d2, axis=1, kind="stable")[:, :3]
    near = labels[order]
    votes = (near[:, :, None] == np.arange(4)).sum(axis=1)
    return votes.argmax(axis=1), np.sqrt(np.take_along_axis(d2, order, axis=1)), near


@program(lambda n, rng: (table(n + 2, rng, 2), table(3, rng, 2)))
def kmeans_step(x, centers):
    """Assign points and move centres."""
    d = np.linalg.norm(x[:, None] - centers, axis=2)
    label = d.argmin(axis=1)
    onehot = np.eye(len(centers))[label]
    count = onehot.sum(axis=0)
    new = (onehot.T @ x) / np.maximum(count, 1)[:, None]
    new = np.where(count[:, None] > 0, new, centers)
    return label, new, np.min(d, axis=1).sum(), np.bincount(label, minlength=3)


@program(lambda n, rng: (np.abs(table(n, rng)) * 9, np.abs(table(4, rng)) * 9))
def box_overlap(a, b):
    """Intersection over union of all pairs of boxes, and which of them are kept."""
    a, b = a.copy(), b.copy()
    a[:, 2:] += a[:, :2]
    b[:, 2:] += b[:, :2]
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    wh = np.clip(high - low, 0, None)
    inter = wh[..., 0] * wh[..., 1]
    area = lambda t: np.prod(t[:, 2:] - t[:, :2], axis=1)  # noqa: E731
    iou = inter / (area(a)[:, None] + area(b) - inter)
    return iou, (iou > 0.1).any(axis=1), np.nonzero(iou > 0.1), a[(iou > 0.05).sum(1) > 0]


@program(lambda n, rng: (rng.uniform(-90, 90, (n, 2)), (48.2, 16.4)))
def haversine(points, home):
    """Great-circle distances and bearings."""
    lat, lon = np.radians(points).T
    lat0, lon0 = np.radians(home)
    a = (
        np.sin((lat - lat0) / 2) ** 2
        + np.cos(lat) * np.cos(lat0) * np.sin((lon - lon0) / 2) ** 2
    )
    y = np.sin(lon - lon0) * np.cos(lat)
    x = np.cos(lat0) * np.sin(lat) - np.sin(lat0) * np.cos(lat) * np.cos(lon - lon0)
    return 6371 * 2 * np.arcsin(np.sqrt(a)), np.degrees(np.arctan2(y, x)) % 360


@program(lambda n, rng: (rng.normal(size=n + 4), 4))
def binning(x, bins):
    """Quantile bins, counts, ranks, and winsorised values."""
    edges = np.quantile(x, np.linspace(0, 1, bins + 1))
    code = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, bins - 1)
    counts = np.bincount(code, minlength=bins)
    rank = np.empty(len(x), dtype=int)
    rank[np.argsort(x, kind="stable")] = np.arange(len(x))
    low, high = np.percentile(x, [5, 95])
    return code, counts, rank, np.clip(x, low, high), np.digitize(x, edges[1:-1])


@program(lambda n, rng: (rng.integers(0, 20000, n),))
def dates(days):
    """Weekday, month and year of days since 1970, by integer arithmetic."""
    z = days + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = np.where(mp < 10, mp + 3, mp - 9)
    year = yoe + era * 400 + (month <= 2)
    return (days + 3) % 7, month.astype(np.int8), year, doy - (153 * mp + 2) // 5 + 1


@program(lambda n, rng: (rng.integers(0, 4, n), rng.integers(0, 4, n)))
def confusion(truth, guess):
    """Confusion matrix, precision, recall and F1."""
    m = np.zeros((4, 4), dtype=np.int64)
    np.add.at(m, (truth, guess), 1)
    tp = np.diag(m)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(m.sum(0) > 0, tp / m.sum(0), 0.0)
        recall = np.where(m.sum(1) > 0, tp / m.sum(1), 0.0)
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))
    return m, precision, recall, f1, tp.sum() / max(len(truth), 1)


@program(lambda n, rng: (table(n, rng, 8), table(8, rng, 8), 2))
def attention(x, w, heads):
    """Multi-head attention with a causal mask."""
    n, d = x.shape
    q = (x @ w).reshape(n, heads, d // heads)
    k = (x @ w.T).reshape(n, heads, d // heads)
    s = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(d // heads)
    s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -1e9)
    s = np.exp(s - s.max(-1, keepdims=True))
    p = s / s.sum(-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", p, q).reshape(n, d), p


@program(lambda n, rng: (rng.normal(size=(n + 3, 7)).astype(np.float32),))
def convolution(img):
    """Filter by shifted slices of a padded image, pool, and take gradients."""
    p = np.pad(img, 1, mode="edge")
    k = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32) / 16
    out = np.zeros_like(img)
    for i in range(3):
        for j in range(3):
            out += k[i, j] * p[i : i + img.shape[0], j : j + img.shape[1]]
    h, w = img.shape[0] // 2 * 2, img.shape[1] // 2 * 2
    pooled = img[:h, :w].reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3))
    gx = p[1:-1, 2:] - p[1:-1, :-2]
    gy = p[2:, 1:-1] - p[:-2, 1:-1]
    return out, pooled, np.hypot(gx, gy), np.arctan2(gy, gx)


@program(lambda n, rng: (table(n + 3, rng, 3),))
def covariance(x):
    """Covariance, correlation and projections."""
    xc = x - x.mean(axis=0)
    cov = xc.T @ xc / (len(x) - 1)
    d = np.sqrt(np.diag(cov))
    corr = cov / np.outer(d, d)
    v = np.ones(3) / np.sqrt(3)
    for _ in range(8):
        v = cov @ v
        v /= np.linalg.norm(v)
    return corr, np.abs(v), xc @ v, v @ cov @ v, np.trace(cov)


@program(lambda n, rng: (rng.normal(size=n), rng.random(n) < 0.6))
def masked(x, keep):
    """Means and extremes over a mask, forward fill, and runs."""
    s = np.where(keep, x, 0.0).sum() / max(keep.sum(), 1)
    i = np.maximum.accumulate(np.where(keep, np.arange(len(x)), 0))
    filled = x[i]
    change = np.flatnonzero(keep[1:] != keep[:-1]) + 1
    return s, filled, change, x[keep], np.count_nonzero(keep), np.sum(x, where=keep)


@program(
    lambda n, rng: (
        np.sort(rng.uniform(0, 9, n + 2)),
        rng.normal(size=n + 2),
        np.linspace(-1, 10, n),
    )
)
def interpolation(xp, fp, x):
    """Linear interpolation, area and centroid."""
    y = np.interp(x, xp, fp)
    slope = np.diff(fp) / np.diff(xp)
    return y, slope, np.trapezoid(fp, xp), (xp * np.abs(fp)).sum() / np.abs(fp).sum()


@program(lambda n, rng: (rng.integers(97, 123, n).astype(np.uint8), 3))
def caesar(codes, shift):
    """Shift letters, count vowels, and hash, in small integers."""
    shifted = (codes - 97 + shift) % 26 + 97
    vowels = np.isin(codes, np.frombuffer(b"aeiou", np.uint8))
    h = (codes.astype(np.uint32) * np.uint32(2654435761)) >> np.uint32(16)
    freq = np.bincount(codes - 97, minlength=26)
    return shifted, vowels.sum(), h, freq, np.cumsum(codes, dtype=np.uint8), codes[::-1]


@program(lambda n, rng: (rng.normal(size=(n, 6)), 2))
def top_k(scores, k):
    """Find the best of each row, their places, and a mask of them."""
    places = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(scores, places, axis=1)
    mask = np.zeros(scores.shape, bool)
    np.put_along_axis(mask, places, True, axis=1)
    kth = np.sort(scores, axis=1)[:, -k]
    return places, best, mask, scores >= kth[:, None]


@program(lambda n, rng: (rng.normal(size=n), rng.normal(size=n), 0.01, 10))
def simulation(x, v, dt, steps):
    """Move a damped spring, step by step."""
    energy = np.zeros(steps)
    for i in range(steps):
        a = -x - 0.1 * v
        v = v + a * dt
        x = x + v * dt
        energy[i] = 0.5 * (v**2 + x**2).sum()
    return x, v, energy


@program(lambda n, rng: (rng.integers(0, 2, (n + 2, 5)).astype(np.int8),))
def life(board):
    """One step of the game of life on a torus."""
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    count = sum(np.roll(board, s, axis=(0, 1)) for s in shifts)
    return ((count == 3) | ((board == 1) & (count == 2))).astype(board.dtype), count


# not empty: the dtype of weighted counts of nothing differs, which one model cannot say
@program(lambda n, rng: (rng.integers(0, 5, max(n, 1)), rng.normal(size=max(n, 1))))
def group_by(keys, values):
    """Sum, average and find the largest values by key."""
    u, inverse, count = np.unique(keys, return_inverse=True, return_counts=True)
    total = np.bincount(inverse, weights=values)
    mean = total / count
    largest = np.full(len(u), -np.inf)
    np.maximum.at(largest, inverse, values)
    return u, count, total, mean, largest, values - mean[inverse]


@program(lambda n, rng: (rng.normal(size=n + 5).astype(np.float32),))
def windows(x):
    """Sliding windows by indices: means, ranges and z-scores."""
    w = 4
    index = np.arange(len(x) - w + 1)[:, None] + np.arange(w)
    win = x[index]
    mu, sd = win.mean(axis=1), win.std(axis=1)
    return (
        win,
        mu,
        np.ptp(win, axis=1),
        (x[w - 1 :] - mu) / np.where(sd == 0, 1, sd),
        np.median(win, axis=1),
    )


@program(lambda n, rng: (rng.uniform(-1, 1, (n, 3)), rng.integers(0, 3, 2)))
def polynomial(x, powers):
    """Polynomial features with a Vandermonde matrix and Horner's rule."""
    v = np.vander(x[:, 0], 4)
    y = np.zeros_like(x)
    for c in (0.5, -1.0, 2.0):
        y = y * x + c
    return v, y, x[:, :1] ** powers, np.polyval([1, 2, 3], x), np.prod(x, axis=1)
