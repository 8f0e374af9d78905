# SPDX-License-Identifier: Apache-2.0
"""More programs, after `report_programs`: counting, numbers, shapes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.jit.report_programs import NAN, image, some

__all__ = ["CALLS"]

Array = np.ndarray[Any, Any]


# --- counting, searching ------------------------------------------------------------------


def histograms(x: Array) -> tuple[Array, ...]:
    a, e = np.histogram(x, bins=5)
    b, _ = np.histogram(x, bins=4, range=(-5, 5), density=True)
    c, _ = np.histogram(x, bins=[-4, -1, 0, 2, 9])
    return a, e, b, c


def bins_of(x: Array) -> tuple[Array, ...]:
    edges = np.array([-3.0, 0.0, 0.0, 2.5])
    return (
        np.digitize(x, edges), np.digitize(x, edges, right=True),
        np.searchsorted(edges, x, side="right"), np.interp(x, [-2, 0, 3], [1, 0, 5]),
    )  # fmt: skip


def counts(x: Array) -> tuple[Array, ...]:
    v, i, c = np.unique(x, return_index=True, return_counts=True)
    return v, i, c, v[c == c.max()] if v.size else v


def set_ops(a: Array, b: Array) -> tuple[Array, ...]:
    return (
        np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b), np.setxor1d(a, b),
        np.isin(a, b),
    )  # fmt: skip


def robust(x: Array) -> tuple[Array, ...]:
    lo, hi = np.percentile(x, [10, 90], axis=0)
    med = np.median(x, axis=0)
    mad = np.median(np.abs(x - med), axis=0)
    return x.clip(lo, hi), np.quantile(x, 0.3, method="lower"), mad


def nan_summary(x: Array) -> tuple[Any, ...]:
    return (
        np.nanmean(x, 0), np.nanstd(x), np.nanmedian(x, axis=0), np.nanpercentile(x, 30),
        np.nanmax(x), np.nancumsum(x), np.nan_to_num(x, nan=-1),
    )  # fmt: skip


def extremes(x: Array) -> tuple[Any, ...]:
    return x.argmax(), x.argmin(axis=-1), x.max(axis=0), np.fmax.reduce(x, axis=0), np.ptp(x)


def sorts(x: Array) -> tuple[Any, ...]:
    return (
        np.sort(x), np.argsort(x, kind="stable"), np.lexsort((x, x % 2)),
        np.partition(x, 1)[1], -np.sort(-x), np.take_along_axis(x, np.argsort(x), 0),
    )  # fmt: skip


def ranks(x: Array) -> Array:
    order = x.argsort(kind="stable")
    r = np.empty(len(x), dtype=np.intp)
    r[order] = np.arange(len(x))
    return r


# --- numbers ------------------------------------------------------------------------------


def integer_signs(a: Array, b: Array) -> tuple[Array, ...]:
    return a // b, a % b, np.fmod(a, b), *np.divmod(a, b), -(-a // b), np.remainder(a, -b)


def shifts(a: Array) -> tuple[Array, ...]:
    return a >> 1, a << 3, a >> 40, a & 6, a ^ -1 if a.dtype.kind == "i" else a ^ 1


def overflow(a: Array) -> tuple[Any, ...]:
    return a + a, a * a, a.sum(), a.prod(), a**3, np.abs(a), -a, a.cumsum()


def casts(x: Array) -> tuple[Array, ...]:
    y = np.clip(x, -1000, 1000)
    return (
        y.astype(np.int32), y.astype(np.int64).astype(np.int8), y.astype(np.int16).astype(np.uint8),
        x.astype(np.float16), x.astype(bool), np.float32(x).astype(str) if 0 else x > 0,
    )  # fmt: skip


def weak(x: Array) -> tuple[Any, ...]:
    return (
        x + 1,
        x * 2.5,
        x / 2,
        np.where(x > 0, x, 0),
        np.float32(2) * x,
        x - np.int64(3),
        1 - x,
        2**x,
    )


def zero_d(x: Array) -> tuple[Any, ...]:
    s = x.sum()
    return (
        s,
        s * np.ones(2, np.float32),
        np.array(s) + 1,
        s[()],
        s[..., None],
        np.atleast_1d(s),
        float(s),
        s.item(),
    )


def signs_zeros(x: Array) -> tuple[Array, ...]:
    return (
        np.copysign(x, -0.0),
        np.signbit(x),
        x * -0.0,
        np.where(x == 0, x, -x),
        np.sign(x),
        np.round(x),
        np.trunc(x),
    )


def closeness(a: Array, b: Array) -> tuple[Any, ...]:
    return (
        np.isclose(a, b, equal_nan=True),
        np.allclose(a, b, atol=1e-3),
        np.array_equal(a, b),
        np.all(a == b),
    )


def clip_forms(x: Array) -> tuple[Array, ...]:
    return (
        x.clip(None, 2),
        x.clip(1),
        np.clip(x, 3, 1),
        np.clip(x, x.min(initial=0) + 1, None),
        np.minimum(x, [1]),
    )


def softmax_half(x: Array) -> tuple[Array, Array]:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True), np.log(e.sum(-1)) + x.max(-1)


def pieces(x: Array) -> tuple[Array, Array]:
    return (
        np.piecewise(x, [x < 0, x > 2], [lambda v: -v, 7, lambda v: v * v]),
        np.select([x < -1, x < 1], [x, x * 2], default=5),
    )


def distance(lat: Array, lon: Array) -> tuple[Array, Array]:
    a, b = np.deg2rad(lat), np.radians(lon)
    d = np.arctan2(np.sin(a), np.cos(b))
    return np.hypot(a, b), np.degrees(d)


# --- shapes -------------------------------------------------------------------------------


def pads(x: Array) -> list[Array]:
    modes = (
        "constant",
        "edge",
        "reflect",
        "symmetric",
        "wrap",
        "mean",
        "maximum",
        "minimum",
        "linear_ramp",
    )
    return [np.pad(x, (3, 2), mode=m) for m in modes]


def rolls(x: Array) -> tuple[Array, ...]:
    return (
        np.roll(x, 1),
        np.roll(x, (1, -2), (0, 1)),
        np.tile(x, (2, 1, 1)),
        np.repeat(x, 2, axis=1),
        np.rot90(x),
    )


def repeats(x: Array, n: Array) -> tuple[Array, Array]:
    return np.repeat(x, n), np.concatenate([np.arange(k) for k in n] or [np.arange(0)])


def blocks(x: Array) -> tuple[Array, ...]:
    h, w = x.shape
    p = np.pad(x, ((0, -h % 2), (0, -w % 2)))
    b = p.reshape(p.shape[0] // 2, 2, p.shape[1] // 2, 2)
    return b.max((1, 3)), b.swapaxes(1, 2).reshape(-1, 2, 2), np.block([[x, x], [x, x]])


def attention(q: Array, k: Array) -> tuple[Array, Array, Array]:
    s = np.einsum("bid,bjd->bij", q, k) / np.sqrt(q.shape[-1])
    mask = np.tril(np.ones(s.shape[-2:], bool))
    s = np.where(mask, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (
        e / e.sum(-1, keepdims=True),
        np.einsum("bii->bi", s[:, :, : s.shape[1]]),
        np.einsum("...i,...i", q, q),
    )


def row_norms(x: Array) -> tuple[Array, Array]:
    return np.apply_along_axis(lambda r: r - r.mean(), 1, x), np.linalg.norm(
        x, axis=1, keepdims=True
    )


def splits(x: Array) -> list[Array]:
    a, b = np.split(x, [2])
    return [*np.array_split(x, 3), a, b, *np.vsplit(x.reshape(-1, 1), [1])]


def grids(n: Array) -> tuple[Array, ...]:
    k = n.shape[0]
    y, x = np.mgrid[0:k, 0:3]
    i, j = np.triu_indices(3, 1)
    return y, x, *np.indices((k, 2)), np.linspace(0, 1, 2 * k), i, j, np.ogrid[0:k][::-1]


def bits(x: Array) -> tuple[Array, Array]:
    p = np.packbits(x > 100)
    return p, np.unpackbits(p)


def trims(x: Array) -> tuple[Array, Array, Array]:
    return np.trim_zeros(x), np.diff(x, prepend=0), np.ediff1d(x)


def out_of_range(x: Array, i: Array) -> Array:
    return x[i] * 2


def trapezoids(y: Array) -> tuple[Any, Array, Array]:
    return np.trapezoid(y, dx=0.5), np.gradient(y), np.cumprod(y)


def listed(x: Array) -> list[float]:
    return [float(v) ** 2 for v in x.tolist() if v > 0]


def format_text(x: Array) -> str:
    return f"{x.mean():.2f} of {len(x)}"


#: name -> (function, its inputs)
CALLS: Final[dict[str, tuple[Any, list[tuple[Any, ...]]]]] = {
    f.__name__: (f, inputs)
    for f, inputs in (
        (histograms, [(some(9),), (np.arange(4),), (some(2, 3, dtype="f4"),), (np.array([3.0]),), (some(0),)]),
        (bins_of, [(some(5),), (np.array([0.0, -3, 2.5, np.nan]),), (np.array(1.0),), (some(0),)]),
        (counts, [(np.array([3, 1, 3, 2]),), (NAN,), (np.zeros(0, "i4"),), (np.array([True, False, True]),)]),
        (set_ops, [(np.array([1, 5, 3, 1]), np.array([3, 4])), (np.array([2]), np.zeros(0, int)), (some(3), some(3))]),
        (robust, [(some(5, 2),), (some(1, 2),), (some(4, 2, dtype="f4"),), (np.array([[1.0], [np.nan]]),)]),
        (nan_summary, [(NAN,), (NAN[:1],), (NAN[[0, 2]],), (NAN.astype("f4"),)]),
        (extremes, [(NAN,), (some(2, 3),), (np.array([True, False]),), (NAN.astype("f2"),), (np.array([-5, 3, 3], "i2"),)]),
        (sorts, [(np.array([3.0, 1, np.nan, 1, -0.0, 0.0]),), (np.array([2, 9, 2, 1], "i4"),), (np.array([7, 1], "u1"),)]),
        (ranks, [(NAN,), (np.array([2, 2, 1]),), (some(0),)]),
        (integer_signs, [(np.array([-7, 7, 0]), np.array([2, -2, 3])), (np.array([-128, 5], "i1"), np.array([-1, 3], "i1")), (np.array(9, "u4"), np.array([2, 4], "u4")), (np.array([-7.5, np.inf, -0.0]), np.array([2.0, 1, 5]))]),
        (shifts, [(np.array([-7, 9, 2**62]),), (np.array([200, 3], "u1"),), (np.array(-1, "i4"),)]),
        (overflow, [(np.array([2**62 + 1, -3]),), (np.array([200, 100], "u1"),), (np.array([-128, 127], "i1"),), (np.array([], "i4"),), (np.array([3**20, 7], "u8"),)]),
        (casts, [(np.array([-1.7, 255.5, 300, 0.0]),), (np.array([70000, -70000]),), (np.array(3.99, "f4"),)]),
        (weak, [(np.array([1, 2], "f2"),), (np.array([3, 4], "i4"),), (np.array(2, "f4"),), (np.array([True, False]),)]),
        (zero_d, [(some(3),), (np.arange(3, dtype="i4"),), (np.array(2.0, "f2"),), (some(0),)]),
        (signs_zeros, [(np.array([0.0, -0.0, np.nan, -np.inf, 2.5]),), (np.array([-0.5, 1.5], "f4"),), (np.array(-0.0, "f2"),)]),
        (closeness, [(NAN, NAN), (np.array([1.0]), np.array([1.0001])), (np.arange(3), np.arange(3)), (some(0), some(0)), (np.array(np.inf), np.array(np.inf))]),
        (clip_forms, [(some(4),), (np.arange(5),), (np.array([np.nan, 9.0], "f4"),), (np.array(7),)]),
        (softmax_half, [(some(2, 3, dtype="f2") * 100,), (np.array([[-np.inf, 1]], "f2"),), (some(1, 1),)]),
        (pieces, [(some(5),), (np.array([-3, 0, 3]),), (NAN,), (some(0),)]),
        (distance, [(some(3), some(3)), (np.array(90.0), some(2)), (some(2, dtype="f4"), some(2, dtype="f4"))]),
        (pads, [(some(4),), (np.arange(3),), (np.array([5.0]),), (np.array([1, 9], "u1"),)]),
        (rolls, [(some(2, 3),), (np.arange(1).reshape(1, 1),), (some(0, 2),)]),
        (repeats, [(np.array([1.0, 2]), np.array([0, 3])), (np.array([5]), np.array([1])), (some(0), np.zeros(0, int))]),
        (blocks, [(some(3, 4),), (some(1, 1),), (np.arange(10).reshape(2, 5),)]),
        (attention, [(some(2, 3, 4), some(2, 3, 4)), (some(1, 1, 2), some(1, 1, 2)), (some(1, 2, 2, dtype="f4"), some(1, 2, 2, dtype="f4"))]),
        (row_norms, [(some(2, 3),), (some(1, 1),), (some(4, 2, dtype="f4"),)]),
        (splits, [(some(6),), (np.arange(4),), (some(1),)]),
        (grids, [(some(2),), (some(4),), (some(1),)]),
        (bits, [(image(11),), (image(8),), (image(0),)]),
        (trims, [(np.array([0, 0, 1, 0, 2, 0]),), (np.array([1.0]),), (np.zeros(3),)]),
        (out_of_range, [(some(3), np.array([0, -3])), (some(1), np.array(0)), (some(3), np.array([3])), (some(0), np.array([0]))]),
        (trapezoids, [(some(4),), (np.arange(3),), (some(2),)]),
        (listed, [(some(4),), (some(0),)]),
        (format_text, [(some(4),), (some(2),)]),
    )
}  # fmt: skip
