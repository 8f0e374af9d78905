# SPDX-License-Identifier: Apache-2.0
"""More programs, after `report_programs`: state, loops, writes, rare dtypes and options."""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict, namedtuple
from typing import Any, Final

import numpy as np

from tests.jit.report_programs import NAN, image, some

__all__ = ["CALLS"]

Array = np.ndarray[Any, Any]
Pair = namedtuple("Pair", "low high")


def normalise(img: Array, mean: Any = (0.5, 0.4, 0.3), std: Any = None) -> Array:
    x = img.astype(np.float32) / 255.0
    x = x - np.array(mean, np.float32)
    if std is not None:
        x /= std
    return np.ascontiguousarray(x.transpose(2, 0, 1)[None])


def paste(img: Array, patch: Array, y: int, x: int) -> Array:
    out = img.copy()
    h, w = patch.shape
    out[y : y + h, x : x + w] = patch[: out.shape[0] - y, : out.shape[1] - x]
    return out


def grey(img: Array) -> Array:
    return (img @ np.array([0.299, 0.587, 0.114])).round().astype(np.uint8)[..., np.newaxis]


def flip_pad(x: Array) -> Array:
    out = np.zeros(x.shape[:-1] + (x.shape[-1] + 4,), x.dtype)
    out[..., 2:-2] = x[..., ::-1]
    out[..., :2], out[..., -2:] = x[..., -2:], x[..., :2]
    return out


def box_areas(b: Array) -> tuple[Array, Array]:
    wh = np.diff(b.reshape(-1, 2, 2), axis=1)[:, 0]
    valid = np.logical_and.reduce(wh > 0, axis=1)
    return np.where(valid, wh.prod(axis=1), 0), b[valid].mean(axis=0) if valid.any() else b[
        :0
    ].sum(0)


def greedy(cost: Array) -> list[tuple[int, int]]:
    c, pairs = cost.copy(), []
    while np.isfinite(c).any():
        i, j = np.unravel_index(np.argmin(c), c.shape)
        pairs.append((int(i), int(j)))
        c[i, :] = np.inf
        c[:, j] = np.inf
    return pairs


def run_lengths(x: Array) -> tuple[Array, Array]:
    if len(x) == 0:
        return x, np.zeros(0, np.int64)
    at = np.flatnonzero(np.concatenate(([True], x[1:] != x[:-1])))
    return x[at], np.diff(np.append(at, len(x)))


def groups(keys: Array, values: Array) -> dict[Any, Any]:
    found = defaultdict(float)
    for k, v in zip(keys.tolist(), values.tolist()):
        found[k] += v
    return dict(found)


def crosstab(a: Array, b: Array) -> Array:
    u, i = np.unique(a, return_inverse=True)
    v, j = np.unique(b, return_inverse=True)
    table = np.zeros((len(u), len(v)), dtype=int)
    np.add.at(table, (i, j), 1)
    return table


def confusion(t: Array, p: Array, n: int = 3) -> tuple[Array, Any]:
    m = np.bincount(n * t + p, minlength=n * n).reshape(n, n)
    return m, np.trace(m) / m.sum() if m.sum() else 0.0


def auc(y: Array, s: Array) -> Any:
    order = np.argsort(-s, kind="mergesort")
    y = y[order]
    tps = np.cumsum(y)
    fps = 1 + np.arange(len(y)) - tps
    return np.trapezoid(np.r_[0, tps] / tps[-1], np.r_[0, fps] / fps[-1])


def kmeans(x: Array, k: int = 2) -> tuple[Array, Array]:
    c = x[:k].astype(float)
    for _ in range(5):
        d = ((x[:, None] - c[None]) ** 2).sum(-1)
        label = d.argmin(1)
        new = np.stack(
            [x[label == j].mean(0) if (label == j).any() else c[j] for j in range(k)]
        )
        if np.allclose(new, c):
            break
        c = new
    return c, label


def bisect(lo: float, hi: float, c: Array) -> float:
    f = lambda v: np.polyval(c, v)  # noqa: E731
    for _ in range(60):
        mid = (lo + hi) / 2
        if f(lo) * f(mid) <= 0:
            hi = mid
        else:
            lo = mid
        if hi - lo < 1e-9:
            break
    return (lo + hi) / 2


def fibonacci(n: int) -> Array:
    out = np.zeros(max(n, 2), dtype=np.uint64)
    out[1] = 1
    for i in range(2, n):
        out[i] = out[i - 1] + out[i - 2]
    return out[:n]


def sieve(n: int) -> Array:
    keep = np.ones(n + 1, bool)
    keep[:2] = False
    for i in range(2, math.isqrt(n) + 1):
        if keep[i]:
            keep[i * i :: i] = False
    return np.nonzero(keep)[0]


def levenshtein(a: Array, b: Array) -> int:
    row = np.arange(len(b) + 1)
    for x in a:
        new = np.empty_like(row)
        new[0] = row[0] + 1
        for j, y in enumerate(b):
            new[j + 1] = min(row[j] + (x != y), row[j + 1] + 1, new[j] + 1)
        row = new
    return int(row[-1])


def life(board: Array) -> Array:
    n = sum(
        np.roll(board, (i, j), (0, 1))
        for i, j in itertools.product((-1, 0, 1), repeat=2)
        if (i, j) != (0, 0)
    )
    return ((n == 3) | ((board == 1) & (n == 2))).astype(board.dtype)


def exponential(x: Array, alpha: float = 0.3) -> Array:
    return np.array(list(itertools.accumulate(x, lambda a, b: alpha * b + (1 - alpha) * a)))


def folded(x: Array) -> Any:
    return functools.reduce(np.maximum, [x, -x, x * 2], np.zeros_like(x))


def named(x: Array) -> Pair:
    return Pair(low=x.min(axis=0), high=x.max(axis=0))


def caught(x: Array) -> Any:
    try:
        return x.reshape(2, -1).sum(0)
    except ValueError:
        return x.sum()


def checked(x: Array) -> Array:
    assert x.ndim == 2, "a matrix"
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"not square: {x.shape}")
    return x @ x.T


def dtype_switch(x: Array) -> Any:
    match x.dtype.kind:
        case "f":
            return np.sqrt(np.abs(x))
        case "i" | "u":
            return x // 2
        case "b":
            return ~x
        case _:
            return x.size


def nested_where(x: Array) -> Array:
    return np.where(x < 0, "neg", np.where(x == 0, "zero", "pos"))


def words(x: Array) -> tuple[Array, Array, list[str]]:
    return x == "red", np.sort(x), [w.upper() for w in x]


def join_text(a: Array, b: Array) -> tuple[Array, Array]:
    return np.char.add(a, b), np.strings.replace(a, "e", "3")


def to_text(x: Array) -> tuple[Array, list[str]]:
    return x.astype(str), [f"{v:.1f}" for v in x]


def parse(x: Array) -> tuple[Array, Array]:
    return x.astype(np.float64), x.astype(np.int64)


def age(day: Array, now: Any = np.datetime64("2024-03-01")) -> tuple[Array, Array]:
    d = (now - day).astype("timedelta64[D]")
    return d.astype(int), np.where(d < np.timedelta64(0, "D"), np.timedelta64(0, "D"), d)


def from_epoch(s: Array) -> Array:
    return (s.astype("datetime64[s]").astype("datetime64[M]").astype(int) % 12 + 1).astype(
        np.int8
    )


def fft_filter(x: Array) -> tuple[Array, Array]:
    f = np.fft.fft(x)
    f[np.abs(np.fft.fftfreq(len(x))) > 0.25] = 0
    return np.fft.ifft(f).real, np.fft.fftshift(np.abs(f))


def mandel(c: Array) -> Array:
    z, n = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(8):
        live = np.abs(z) <= 2
        z[live] = z[live] ** 2 + c[live]
        n += live
    return n


def gram_schmidt(a: Array) -> Array:
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(j):
            v -= (q[:, i] @ a[:, j]) * q[:, i]
        n = np.linalg.norm(v)
        q[:, j] = v / n if n > 1e-9 else 0
    return q


def decompositions(a: Array) -> tuple[Any, ...]:
    w = np.linalg.eigvalsh(a + a.T)
    return (
        w,
        np.linalg.matrix_rank(a),
        np.linalg.pinv(a),
        np.linalg.slogdet(a @ a.T + np.eye(len(a))),
    )


def mahalanobis(x: Array) -> Array:
    c = np.atleast_2d(np.cov(x, rowvar=False)) + np.eye(x.shape[1])
    d = x - x.mean(0)
    return np.einsum("ij,jk,ik->i", d, np.linalg.inv(c), d)


def quaternion(q: Array) -> Array:
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    return np.stack(
        [np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z)], -1),
         np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z)], -1)], -2
    )  # fmt: skip


def power_of_two(x: Array) -> tuple[Array, ...]:
    m, e = np.frexp(x)
    return m, e, np.ldexp(m, e), np.spacing(x), np.nextafter(x, 0), np.modf(x)[0]


def hash_bytes(x: Array) -> Any:
    h = np.uint32(2166136261)
    with np.errstate(over="ignore"):
        for b in x:
            h = (h ^ np.uint32(b)) * np.uint32(16777619)
    return h


def checksum(x: Array) -> tuple[Any, Any]:
    a = np.add.accumulate(x, dtype=np.uint16)
    return a[-1:] if a.size else a, np.bitwise_xor.reduce(x)


def popcount(x: Array) -> tuple[Array, Array]:
    return np.bitwise_count(x), sum((x >> i) & 1 for i in range(8))


def ceil_div(a: Array, b: int) -> tuple[Array, ...]:
    return -(-a // b), (a + b - 1) // b, np.ceil(a / b).astype(int), a % -b, divmod(a, b)[1]


def mixed(a: Array, b: Array) -> tuple[Any, ...]:
    return (
        a + b,
        a / b if a.dtype != bool else a,
        np.maximum(a, b),
        a == b,
        np.result_type(a, b).name,
        a**2 + b,
    )


def out_args(x: Array) -> tuple[Array, Array]:
    out = np.empty_like(x)
    np.multiply(x, 2, out=out, where=x > 0)
    np.copyto(out, -1, where=x <= 0)
    np.add(out, x, out=x)
    return out, x


def swap_views(x: Array) -> tuple[Array, Array]:
    a, b = x[::2], x[1::2]
    n = min(len(a), len(b))
    a[:n], b[:n] = b[:n].copy(), a[:n].copy()
    return x, a


def cumulative_best(x: Array) -> tuple[Array, ...]:
    return (
        np.maximum.accumulate(x),
        np.minimum.accumulate(x[::-1])[::-1],
        np.multiply.outer(x, x[:2]),
    )


def draw(x: Array, p: Array) -> tuple[Array, ...]:
    rng = np.random.default_rng(5)
    i = rng.choice(len(p), size=4, p=p / p.sum())
    return x[i], rng.integers(0, 10, 3), rng.shuffle(x), x


def legacy_seed(x: Array) -> Array:
    np.random.seed(1)
    return x + np.random.randn(*x.shape)


def stable_log(x: Array) -> tuple[Array, ...]:
    return (
        np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
        np.logaddexp(x, 0),
        np.expm1(x / 9),
        np.tanh(x),
    )


def padded_stack(*xs: Array) -> Array:
    n = max(len(x) for x in xs)
    return np.stack([np.pad(x, (0, n - len(x)), constant_values=-1) for x in xs])


def ragged(x: Array, sizes: Array) -> list[Array]:
    return np.split(x, np.cumsum(sizes)[:-1])


def windows_max(x: Array, k: int = 3, stride: int = 2) -> Array:
    v = np.lib.stride_tricks.sliding_window_view(x, (k, k))[::stride, ::stride]
    return v.max(axis=(-2, -1))


def one_hot(x: Array, n: int = 4) -> tuple[Array, Array]:
    out = np.zeros((x.size, n), np.float32)
    out[np.arange(x.size), x.ravel()] = 1
    return out.reshape(*x.shape, n), np.eye(n, dtype=bool)[x]


def top_k(x: Array, k: int = 2) -> tuple[Array, Array]:
    i = np.argpartition(-x, k - 1, axis=-1)[..., :k]
    v = np.take_along_axis(x, i, -1)
    order = np.argsort(-v, axis=-1, kind="stable")
    return np.take_along_axis(v, order, -1), np.sort(x, axis=-1)[..., ::-1][..., :k]


def rank_rows(x: Array) -> Array:
    return x[np.lexsort((x[:, 1], x[:, 0]))]


def unique_rows(x: Array) -> tuple[Array, Array]:
    return np.unique(x, axis=0, return_counts=True)


_RED: Final = np.array(["red", "blue", "", "teal", "red"])
_DAY: Final = np.array(["2024-02-29", "1969-12-31", "NaT"], "datetime64[D]")

#: name -> (function, its inputs)
CALLS: Final[dict[str, tuple[Any, list[tuple[Any, ...]]]]] = {
    f.__name__: (f, inputs)
    for f, inputs in (
        (normalise, [(image(2, 3, 3),), (image(1, 1, 3), (0, 0, 0), np.array([1, 2, 3], "f4")), (image(0, 2, 3),)]),
        (paste, [(image(5, 6), image(2, 2), 1, 2), (image(3, 3), image(2, 2), 2, 0)]),
        (grey, [(image(2, 3, 3),), (image(1, 1, 3),)]),
        (flip_pad, [(some(2, 5),), (some(3),), (image(2, 2, 2),)]),
        (box_areas, [(some(4, 4),), (np.array([[0, 0, 1, 2]]),), (some(0, 4),), (-np.arange(4.0)[None],)]),
        (greedy, [(some(3, 2),), (some(1, 1),), (np.full((2, 2), np.inf),)]),
        (run_lengths, [(np.array([1, 1, 2, 2, 2, 1]),), (np.array([5]),), (some(0),), (np.array([True, False]),)]),
        (groups, [(np.array([1, 2, 1]), some(3)), (_RED, some(5)), (np.zeros(0, int), some(0))]),
        (crosstab, [(np.array([3, 1, 3]), np.array([0, 0, 1])), (_RED[:3], np.array([1, 1, 2]))]),
        (confusion, [(np.array([0, 1, 2, 2]), np.array([0, 2, 2, 2])), (np.zeros(0, int), np.zeros(0, int))]),
        (auc, [(np.array([1, 0, 1, 0]), np.array([0.9, 0.1, 0.5, 0.5])), (np.array([0, 1]), np.array([0.2, 0.1]))]),
        (kmeans, [(some(6, 2),), (some(3, 1),), (np.arange(8).reshape(4, 2),)]),
        (bisect, [(0.0, 3.0, np.array([1.0, 0, -2])), (1.0, 2.0, np.array([1.0, -1.5]))]),
        (fibonacci, [(5,), (1,), (95,)]),
        (sieve, [(30,), (2,), (10,)]),
        (levenshtein, [(np.array([1, 2, 3]), np.array([1, 3])), (np.zeros(0, int), np.array([1]))]),
        (life, [(np.eye(4, dtype=np.int8),), (np.ones((3, 5), np.uint8),)]),
        (exponential, [(some(4),), (some(1),), (some(0),)]),
        (folded, [(some(3),), (np.array(-2),), (some(0),)]),
        (named, [(some(3, 2),), (some(1, 1),)]),
        (caught, [(some(4),), (some(3),), (some(0),)]),
        (checked, [(some(2, 2),), (some(2, 3),), (some(3),)]),
        (dtype_switch, [(some(3),), (np.arange(3),), (np.array([True]),), (some(2) + 1j,), (_RED,)]),
        (nested_where, [(some(4),), (np.array(0),), (NAN,)]),
        (words, [(_RED,), (_RED[:1],), (_RED[:0],)]),
        (join_text, [(_RED, _RED[::-1]), (_RED[:1], _RED)]),
        (to_text, [(np.array([1.5, -2.25]),), (np.arange(3),), (some(0),)]),
        (parse, [(np.array(["1", "22"]),), (np.array(["-3"]),)]),
        (age, [(_DAY[:2],), (_DAY[:1] + 9,), (_DAY[0],)]),
        (from_epoch, [(np.array([0, 10**9]),), (np.array([-1]),), (np.array(0),)]),
        (fft_filter, [(some(8),), (some(5),), (some(1),)]),
        (mandel, [((some(3, 2) / 9) + 1j * some(3, 2) / 9,), (np.zeros((1, 1), "c8"),)]),
        (gram_schmidt, [(some(3, 2),), (np.ones((2, 2)),), (some(2, 1),)]),
        (decompositions, [(some(3, 3),), (np.zeros((2, 2)),)]),
        (mahalanobis, [(some(5, 2),), (some(3, 1),)]),
        (quaternion, [(some(4),), (some(2, 4),), (some(3, 2, 4, dtype="f4"),)]),
        (power_of_two, [(some(4),), (np.array([0.0, np.inf, -1.5], "f4"),)]),
        (hash_bytes, [(image(4),), (image(0),), (image(1),)]),
        (checksum, [(image(300),), (image(0),), (image(1),)]),
        (popcount, [(image(5),), (np.array([-1, 8], "i2"),)]),
        (ceil_div, [(np.array([7, -7, 0]), 3), (np.array([200], "u1"), 7), (np.array(5), 5)]),
        (mixed, [(np.array([1], "i1"), np.array([200], "u1")), (np.array([3], "u8"), np.array([2], "i8")), (np.array([1], "f2"), np.array([3], "i4")), (np.array([1.5], "f4"), np.array(2.0)), (np.array([True]), np.array([True]))]),
        (out_args, [(some(4),), (some(2, 3, dtype="f4"),), (some(0),)]),
        (swap_views, [(some(5),), (np.arange(4),), (some(1),)]),
        (cumulative_best, [(NAN,), (np.array([3, 1, 2], "i1"),), (some(0),)]),
        (draw, [(some(4), np.array([1.0, 2, 3])), (some(2), np.array([1.0, 1]))]),
        (legacy_seed, [(some(3),), (some(2, 2),)]),
        (stable_log, [(some(5) * 20,), (np.array([np.inf, -np.inf, np.nan]),), (np.array([80.0], "f2"),)]),
        (padded_stack, [(some(2), some(4)), (some(1),), (some(0), some(1), some(3))]),
        (ragged, [(some(6), np.array([1, 2, 3])), (some(2), np.array([2])), (some(3), np.array([0, 3]))]),
        (windows_max, [(some(5, 6),), (some(3, 3),), (np.arange(49).reshape(7, 7),)]),
        (one_hot, [(np.array([0, 3, 1]),), (np.array([[1], [2]], "u1"),), (np.zeros(0, int),)]),
        (top_k, [(some(5),), (some(2, 3),), (np.array([4, 4, 9], "i4"),)]),
        (rank_rows, [(np.array([[2, 1], [1, 5], [2, 0]]),), (some(0, 2),)]),
        (unique_rows, [(np.array([[1, 2], [0, 5], [1, 2]]),), (some(2, 2),)]),
    )
}  # fmt: skip
