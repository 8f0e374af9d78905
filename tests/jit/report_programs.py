# SPDX-License-Identifier: Apache-2.0
"""Small NumPy programs of the kinds that people ask converters of array code for.

Each is plain NumPy. `CALLS` holds, by program, the inputs it is called with, one after the
other through the same converted function: other sizes, dtypes, 0-d, empty, one element, NaN.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np

__all__ = ["CALLS"]

Array = np.ndarray[Any, Any]


def some(*shape: int, seed: int = 0, dtype: str = "f8") -> Array:
    """Return random numbers of a dtype."""
    random = np.random.default_rng(seed + sum(shape))
    return (random.normal(size=shape) * 5).astype(dtype)


def image(*shape: int) -> Array:
    """Return random bytes."""
    return np.random.default_rng(sum(shape)).integers(0, 256, shape, dtype=np.uint8)


# --- images -------------------------------------------------------------------------------


def resize_nearest(img: Array, scale: int = 2) -> Array:
    h, w = img.shape[:2]
    rows = (np.arange(h * scale) // scale).astype(int)
    cols = (np.arange(w * scale) // scale).astype(int)
    return img[rows[:, None], cols[None, :]]


def resize_bilinear(img: Array, size: Array) -> Array:
    h, w = img.shape
    nh, nw = int(size[0]), int(size[1])
    y = np.clip((np.arange(nh) + 0.5) * h / nh - 0.5, 0, h - 1)
    x = np.clip((np.arange(nw) + 0.5) * w / nw - 0.5, 0, w - 1)
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    y1, x1 = np.minimum(y0 + 1, h - 1), np.minimum(x0 + 1, w - 1)
    fy, fx = (y - y0)[:, None], x - x0
    top = img[y0][:, x0] * (1 - fx) + img[y0][:, x1] * fx
    low = img[y1][:, x0] * (1 - fx) + img[y1][:, x1] * fx
    return np.rint(top * (1 - fy) + low * fy).clip(0, 255).astype(img.dtype)


def center_crop(img: Array) -> tuple[Array, Array]:
    h, w = img.shape[:2]
    s = min(h, w)
    top, left = (h - s) // 2, (w - s) // 2
    crop = img[top : top + s, left : left + s]
    return crop, crop[::-1, ::-1].transpose(2, 0, 1) / 255


def letterbox(img: Array) -> tuple[Array, int]:
    h, w, c = img.shape
    side = max(h, w)
    out = np.full((side, side, c), 114, dtype=np.uint8)
    dy, dx = (side - h) // 2, (side - w) // 2
    out[dy : dy + h, dx : dx + w] = img
    return out, side


def blend_bytes(a: Array, b: Array) -> tuple[Array, ...]:
    return (
        a + b,
        a - b,
        a * 2,
        ~a,
        a // 3,
        (a.astype(np.int16) - b).clip(0, 255).astype(np.uint8),
        -a,
    )


def box_blur(img: Array) -> Array:
    p = np.pad(img.astype(np.float32), 1, mode="edge")
    total = np.zeros(img.shape, np.float32)
    for dy in range(3):
        for dx in range(3):
            total += p[dy : dy + img.shape[0], dx : dx + img.shape[1]]
    return (total / 9).round().astype(np.uint8)


def integral_image(img: Array) -> Array:
    return np.pad(img.cumsum(0).cumsum(1), ((1, 0), (1, 0)))


# --- boxes --------------------------------------------------------------------------------


def iou_matrix(a: Array, b: Array) -> Array:
    lt = np.maximum(a[:, None, :2], b[None, :, :2])
    rb = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.clip(rb - lt, 0, None), axis=-1)
    area = lambda q: (q[:, 2] - q[:, 0]) * (q[:, 3] - q[:, 1])  # noqa: E731
    return inter / (area(a)[:, None] + area(b) - inter + 1e-9)


def nms(boxes: Array, scores: Array, limit: float = 0.4) -> Array:
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    keep = []
    while order.size > 0:
        i = order[0]
        keep.append(i)
        rest = order[1:]
        w = np.maximum(0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        order = rest[inter / (areas[i] + areas[rest] - inter) <= limit]
    return np.array(keep, dtype=np.int64)


def suppress_flags(boxes: Array, scores: Array) -> Array:
    n = len(scores)
    order = np.argsort(-scores, kind="stable")
    dead = np.zeros(n, bool)
    for p in range(n):
        i = order[p]
        if dead[i]:
            continue
        over = (np.abs(boxes[:, 0] - boxes[i, 0]) < 2) & (scores < scores[i])
        dead |= over
    return np.flatnonzero(~dead)


def keep_confident(pred: Array, t: float = 0.5) -> tuple[Array, Array, Array]:
    conf = pred[:, 4]
    kept = pred[conf > t]
    cls = kept[:, 5:].argmax(axis=1) if kept.shape[0] else np.zeros(0, np.int64)
    return kept[:, :4], cls, np.argwhere(conf > t)


# --- linear algebra, signals --------------------------------------------------------------


def least_squares(x: Array, y: Array) -> tuple[Array, Array]:
    a = np.column_stack([x, np.ones_like(x)])
    w, *_ = np.linalg.lstsq(a, y, rcond=None)
    return w, a @ w - y


def normal_equations(a: Array, b: Array) -> tuple[Array, Array, Any]:
    g = a.T @ a + 0.1 * np.eye(a.shape[1], dtype=a.dtype)
    return np.linalg.solve(g, a.T @ b), np.linalg.inv(g), np.linalg.det(g)


def whiten(x: Array) -> tuple[Array, Array]:
    c = x - x.mean(0)
    cov = c.T @ c / max(len(x) - 1, 1) + np.eye(x.shape[1])
    low = np.linalg.cholesky(cov)
    u, s, vt = np.linalg.svd(cov)
    return np.linalg.solve(low, c.T).T, (u * s) @ vt


def fit_line(y: Array) -> tuple[Array, Array]:
    x = np.arange(len(y))
    coef = np.polyfit(x, y, 1)
    return coef, np.polyval(coef, x)


def horner(c: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    d = np.polyder(c)
    return np.polyval(c, x), np.polyval(d, x), np.polymul(c, c), np.polyadd(c, [1, 2, 3, 4, 5])


def spectrum(x: Array) -> tuple[Array, Array, Array]:
    f = np.fft.rfft(x * np.hanning(len(x)))
    return np.abs(f), np.angle(f + 1), np.fft.irfft(f, len(x))


def rotate_phase(z: Array) -> tuple[Array, Array, Array]:
    w = z * np.exp(1j * np.pi / 4)
    return w.real, w.conj(), np.abs(w) ** 2


def roots_quadratic(a: float, b: float, c: float) -> tuple[Any, Any]:
    d = b * b - 4 * a * c
    if d < 0:
        r = np.sqrt(-d)
        return complex(-b, r) / (2 * a), complex(-b, -r) / (2 * a)
    r = np.sqrt(d)
    return (-b + r) / (2 * a), (-b - r) / (2 * a)


def smooth(x: Array, k: Array) -> tuple[Array, Array, Array]:
    return (
        np.convolve(x, k, mode="same"),
        np.convolve(x, k, mode="valid"),
        np.correlate(x, k, mode="full"),
    )


def moving_average(x: Array, n: int = 3) -> tuple[Array, Array]:
    w = np.lib.stride_tricks.sliding_window_view(x, n)
    c = np.cumsum(np.insert(x, 0, 0))
    return w.mean(-1), (c[n:] - c[:-n]) / n


def frames(x: Array, size: int = 4, hop: int = 2) -> Array:
    count = 1 + (len(x) - size) // hop
    at = np.arange(size)[None, :] + hop * np.arange(count)[:, None]
    return (x[at] * np.hamming(size)).sum(axis=1)


def power_iteration(a: Array) -> Any:
    v = np.ones(a.shape[0])
    for _ in range(30):
        v = a @ v
        n = np.linalg.norm(v)
        if n == 0:
            break
        v = v / n
    return v @ a @ v


# --- text, dates, encoders ----------------------------------------------------------------


def day_features(t: Array) -> tuple[Array, Array, Array]:
    days = t.astype("datetime64[D]")
    weekday = (days.astype(np.int64) + 3) % 7
    month = t.astype("datetime64[M]").astype(np.int64) % 12 + 1
    return weekday, month, (weekday >= 5)


def durations(a: Array, b: Array) -> tuple[Array, Array, Any]:
    d = b - a
    return d, d / np.timedelta64(1, "h"), np.isnat(d).any()


def encode_labels(x: Array) -> tuple[Array, Array]:
    values, codes = np.unique(x, return_inverse=True)
    return values, np.eye(len(values), dtype=np.int8)[codes]


def encode_known(x: Array) -> Array:
    known = np.array(["blue", "green", "red"])
    at = np.searchsorted(known, x).clip(0, len(known) - 1)
    return np.where(known[at] == x, at, -1)


def text_tests(x: Array) -> tuple[Array, Array, Array]:
    return np.char.upper(x), np.char.str_len(x), np.char.startswith(x, "r")


def ordinal_missing(x: Array) -> Array:
    table = np.array([10.0, 20.0, 30.0])
    codes = np.full(x.shape, -1)
    for k, v in enumerate(table):
        codes[x == v] = k
    return np.where(np.isnan(x), -2, codes)


# --- random -------------------------------------------------------------------------------


def jitter(x: Array) -> tuple[Array, Array]:
    rng = np.random.default_rng(7)
    noise = rng.normal(size=x.shape)
    return x + noise, x[rng.permutation(len(x))]


def dropout_legacy(x: Array) -> Array:
    state = np.random.RandomState(3)
    keep = state.uniform(size=x.shape) > 0.5
    return np.where(keep, x / 0.5, 0)


# --- control flow -------------------------------------------------------------------------


def guarded(x: Array) -> Any:
    if x.size == 0:
        return np.nan
    if np.isnan(x).all():
        return -1.0
    m = np.nanmax(x)
    if m > 3:
        return m
    return np.nansum(x)


def newton(v: Array) -> tuple[Any, int]:
    x, steps = v / 2 + 0.5, 0
    while abs(x * x - v) > 1e-9 and steps < 50:
        x = (x + v / x) / 2
        steps += 1
    return x, steps


def collatz(n: Array) -> int:
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
        if count > 200:
            break
    return count


def first_above(x: Array, t: float) -> int:
    for i, v in enumerate(x):
        if v != v:
            continue
        if v > t:
            return i
    return -1


def factorial_mod(n: int) -> Any:
    return 1 if n <= 1 else n * factorial_mod(n - 1) % 1000003


def half_until(x: Array) -> Array:
    if np.abs(x).max(initial=0) <= 1:
        return x
    return half_until(x / 2)


def running(x: Array) -> Array:
    def gen():
        total = x.dtype.type(0)
        for v in x:
            total = total * x.dtype.type(0.5) + v
            yield total

    return np.array(list(gen()), dtype=x.dtype)


def scan_state(x: Array) -> tuple[Array, Array]:
    h = np.zeros(x.shape[1:], x.dtype)
    out = np.empty_like(x)
    for t in range(x.shape[0]):
        h = np.tanh(h * 0.5 + x[t])
        out[t] = h
    return out, h


class Counter:
    def __init__(self, decay: float) -> None:
        self.decay, self.mean, self.seen = decay, 0.0, 0

    def update(self, v: Any) -> None:
        self.mean = self.mean * self.decay + v * (1 - self.decay)
        self.seen += 1


def stateful(x: Array) -> tuple[Any, int]:
    c = Counter(0.9)
    for row in x:
        c.update(row.mean())
    return c.mean, c.seen


@dataclasses.dataclass
class Options:
    axis: int = 0
    scale: float = 1.0
    names: tuple[str, ...] = ("a", "b")


def with_options(x: Array, o: Any = None, *more: Array, **named: Any) -> dict[str, Any]:
    o = o or Options()
    out = {name: x.sum(o.axis) * o.scale for name in o.names}
    for i, m in enumerate(more):
        out[f"m{i}"] = m.max(initial=0)
    out.update({k: None if v is None else np.asarray(v) + 1 for k, v in named.items()})
    return out


def nested(d: dict[str, Any]) -> dict[str, Any]:
    (a, b), rest = d["pair"], d.get("rest")
    return {"s": a + b, "r": [rest, (a * 2,)], "n": len(a)}


def make_scaler(m: float):
    calls = []

    def scale(x: Array) -> tuple[Array, int]:
        calls.append(1)
        return x * m - x.min(initial=0), len(calls[-1:])

    return scale


scaled = make_scaler(2.5)


# --- writes -------------------------------------------------------------------------------


def write_views(x: Array) -> tuple[Array, Array]:
    y = x.copy()
    d = y.reshape(-1)[::2]
    d += 1
    y[..., -1:] *= 2
    y.T[0] = 0
    return y, d


def argument_write(x: Array) -> Array:
    x[x < 0] = 0
    x[1:] += x[:-1]
    np.fill_diagonal(x, 9)
    return x


def count_votes(i: Array, w: Array) -> tuple[Array, ...]:
    a, b, c = np.zeros(6), np.zeros(6), np.full(6, -1.0)
    a[i] += w
    np.add.at(b, i, w)
    c[i] = w
    m = np.zeros(6)
    np.maximum.at(m, i, w)
    return a, b, c, m


def segment_mean(x: Array, s: Array) -> tuple[Array, Array]:
    n = np.bincount(s, minlength=4)
    return np.bincount(s, weights=x, minlength=4) / np.maximum(n, 1), n


def grouped_sums(x: Array) -> tuple[Array, Array]:
    at = np.array([0, 2, 3])
    return np.add.reduceat(x, at), np.maximum.reduceat(x, at)


def swap_rows(x: Array) -> Array:
    x[[0, -1]] = x[[-1, 0]]
    x[:, 0], x[:, 1] = x[:, 1].copy(), x[:, 0].copy()
    return x


def masked_fill(x: Array) -> tuple[Array, Any]:
    m = np.isnan(x)
    y = x.copy()
    y[m] = np.nanmean(x) if (~m).any() else 0
    y[~m & (y > 2)] **= 2
    np.putmask(y, y < -2, [1, 2, 3])
    return y, m.sum()


NAN: Final = np.array([1.0, np.nan, -3.0, 4.0, np.nan])
_BOX: Final = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [8, 8, 9, 9], [0, 0, 3, 4]], "f4")
_T: Final = np.array(["2024-02-29T12:30", "1969-12-31T23:59", "2000-01-01"], "datetime64[s]")
_WORDS: Final = np.array(["red", "blue", "", "teal", "red"])

#: name -> (function, its inputs)
CALLS: Final[dict[str, tuple[Any, list[tuple[Any, ...]]]]] = {
    f.__name__: (f, inputs)
    for f, inputs in (
        (resize_nearest, [(image(2, 3, 3),), (image(5, 1, 1),), (image(0, 3, 3),)]),
        (resize_bilinear, [(image(4, 5), np.array([8, 3])), (image(1, 2), np.array([3, 3])), (some(3, 3), np.array([1, 2]))]),
        (center_crop, [(image(4, 7, 3),), (image(9, 2, 3),), (image(3, 3, 1),)]),
        (letterbox, [(image(4, 7, 3),), (image(5, 2, 3),), (image(1, 1, 1),)]),
        (blend_bytes, [(image(4), image(4)[::-1]), (image(2, 3), image(3)), (image(1), image(0))]),
        (box_blur, [(image(4, 5),), (image(1, 1),), (image(2, 7),)]),
        (integral_image, [(image(3, 4),), (some(2, 5),), (image(1, 0),)]),
        (iou_matrix, [(_BOX, _BOX[:2]), (_BOX[:1], _BOX), (_BOX[:0], _BOX), (_BOX.astype(int), _BOX.astype(int))]),
        (nms, [(_BOX, np.array([0.5, 0.9, 0.3, 0.6], "f4")), (_BOX[:1], np.ones(1, "f4")), (_BOX[:0], np.ones(0, "f4"))]),
        (suppress_flags, [(_BOX, np.array([0.5, 0.9, 0.3, 0.6])), (_BOX[:2], np.array([0.1, 0.2])), (_BOX[:0], np.ones(0))]),
        (keep_confident, [(np.abs(some(5, 8, dtype="f4")) / 9,), (np.zeros((3, 8), "f4"),), (np.ones((1, 8), "f4"),), (np.ones((0, 8), "f4"),)]),
        (least_squares, [(some(6), some(6, seed=1)), (some(3), some(3, seed=1)), (some(4, dtype="f4"), some(4, dtype="f4", seed=2))]),
        (normal_equations, [(some(5, 3), some(5)), (some(2, 2), some(2)), (some(1, 1), some(1)), (some(4, 2, dtype="f4"), some(4, dtype="f4"))]),
        (whiten, [(some(6, 3),), (some(4, 2),), (some(1, 1),)]),
        (fit_line, [(some(5),), (some(9),), (np.arange(4),)]),
        (horner, [(some(3), some(4)), (some(1), some(2)), (np.array([1, 0, 2]), np.array([3, -1]))]),
        (spectrum, [(some(8),), (some(5),), (some(2, dtype="f4"),)]),
        (rotate_phase, [(some(3) + 1j,), (np.array(1j),), (np.zeros(0, complex),), (some(2).astype("c8"),), (some(2),)]),
        (roots_quadratic, [(1.0, -3.0, 2.0), (1.0, 2.0, 5.0), (2.0, 0.0, 8.0)]),
        (smooth, [(some(7), some(3)), (np.arange(5), np.array([1, -1])), (some(2), some(4)), (some(3, dtype="f4"), some(1, dtype="f4"))]),
        (moving_average, [(some(7),), (some(3),), (np.arange(5),)]),
        (frames, [(some(10),), (some(4),), (some(7, dtype="f4"),), (np.arange(3.0),)]),
        (power_iteration, [(np.eye(3) + 0.1,), (np.zeros((2, 2)),), (np.array([[2.0]]),)]),
        (day_features, [(_T,), (_T[:0],), (_T[1],)]),
        (durations, [(_T, _T[::-1]), (_T[:1], np.array(["NaT"], "datetime64[s]")), (_T[0], _T)]),
        (encode_labels, [(np.array([3, 1, 3]),), (_WORDS,), (np.array([0.5]),), (np.array([], int),)]),
        (encode_known, [(_WORDS,), (_WORDS[:1],), (_WORDS[:0],)]),
        (text_tests, [(_WORDS,), (_WORDS[:1],), (np.array("ok"),)]),
        (ordinal_missing, [(np.array([10, 30, np.nan, 7.0]),), (np.array(20.0),), (np.zeros(0),)]),
        (jitter, [(some(4),), (some(1),), (some(2, 3),), (some(0),)]),
        (dropout_legacy, [(some(4),), (some(2, 3),)]),
        (guarded, [(NAN,), (NAN[:2],), (NAN[1:2],), (NAN[:0],)]),
        (newton, [(np.float64(2),), (np.array(9.0),), (4.0,), (np.float32(3),)]),
        (collatz, [(np.int64(7),), (np.array(1),), (27,)]),
        (first_above, [(NAN, 2.0), (NAN, 9.0), (NAN[:0], 0.0), (NAN[:1], 0.0)]),
        (factorial_mod, [(5,), (0,), (np.int64(6),)]),
        (half_until, [(some(4),), (some(3) / 99,), (some(0),)]),
        (running, [(some(4),), (some(2, dtype="f4"),), (some(0),)]),
        (scan_state, [(some(4, 2),), (some(1, 3),), (some(0, 2),), (some(3, 2, dtype="f4"),)]),
        (stateful, [(some(4, 2),), (some(1, 3),), (some(0, 2),)]),
        (with_options, [(some(2, 3),), (some(2, 3), Options(1, 2.0, ("q",))), (some(2, 3), None, some(2), some(0))]),
        (nested, [({"pair": (some(2), some(2)), "rest": None},), ({"pair": [some(1), some(3)]},), ({"pair": (some(2), 1), "rest": some(1)},)]),
        (scaled, [(some(3),), (some(0),), (np.arange(3),)]),
        (write_views, [(some(3, 4),), (some(1, 1),), (np.arange(6).reshape(2, 3),)]),
        (argument_write, [(some(3, 3),), (some(2, 4),), (np.arange(-4, 5).reshape(3, 3),)]),
        (count_votes, [(np.array([1, 1, -1, 0]), some(4)), (np.array([5]), some(1)), (np.zeros(0, int), some(0))]),
        (segment_mean, [(some(4), np.array([0, 2, 2, 0])), (some(1), np.array([7])), (some(0), np.zeros(0, int))]),
        (grouped_sums, [(some(6),), (np.arange(4),), (some(5, 2),)]),
        (swap_rows, [(some(3, 2),), (some(1, 4),), (np.arange(8).reshape(4, 2),)]),
        (masked_fill, [(NAN,), (np.full(2, np.nan),), (some(0),), (some(2, 3),)]),
    )
}  # fmt: skip
