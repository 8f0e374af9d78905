# SPDX-License-Identifier: Apache-2.0
"""Every ufunc row against NumPy: all real dtypes, special values, 0-d and empty, opsets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from onnxjit._ops import elementwise
from onnxjit._ops.row import Ufunc
from onnxjit._ops.ufunc import ufunc_call
from tests.ops.harness import run

ROWS = [row for row in elementwise.ROWS if isinstance(row, Ufunc)]
OPSETS = (13, 18, 21, 28)
REAL = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
Array = np.ndarray[Any, Any]


def special(dtype: str, count: int = 40) -> Array:
    """Return values where functions tend to go wrong, then ordinary ones."""
    random = np.random.default_rng(3)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        edge = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 7, 5]
        edge += [-1, -2, -3, -7] if kind == "i" else [limits.max // 2, limits.max // 2 + 1]
        wide = random.integers(limits.min, limits.max, count, dtype, endpoint=True)
        small = random.integers(max(limits.min, -9), 20, 20).astype(dtype)
        return np.concatenate([np.array(edge, dtype), wide, small])
    info = np.finfo(dtype)
    values: list[Any] = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 0.3, 1e-3, 10, 100, 1, -1, 3]
    values += [0.5, -0.5, 1.5, 2.5, -2.5, info.max, info.min, info.tiny, -info.tiny]
    values += [info.smallest_subnormal, *random.normal(size=20)]
    values += list(random.normal(size=count) * 10 ** random.uniform(-4, 4, count))
    return np.array(values).astype(dtype)


def arguments(dtypes: tuple[str, ...]) -> list[Array]:
    """Return all pairs of the special values, flat."""
    arrays = [special(t, 40 if len(dtypes) == 1 else 10) for t in dtypes]
    return [a.ravel() for a in np.meshgrid(*arrays, indexing="ij")]


def loops(row: Ufunc) -> list[tuple[str, ...]]:
    """Return the input dtypes of the loops over carried real dtypes, each once."""
    found: dict[tuple[str, ...], None] = {}
    for loop in row.numpy.types:
        ins, outs = loop.split("->")
        if set(ins + outs) <= set("?bBhHiIlLqQefd"):
            found[tuple(np.dtype(c).str[1:] for c in ins)] = None
    return [tuple("?" if t == "b1" else t for t in key) for key in found]


#: which of 0.0 and -0.0 is larger is fixed neither here nor in NumPy
TIES = {np.maximum, np.minimum, np.fmax, np.fmin}


#: results smaller than this are compared in its units: the digits of smaller ones cancel
FLOORS = {np.sin: 1.0, np.cos: 1.0, np.logaddexp: 1.0, np.logaddexp2: 1.0, np.tanh: 1e-34}


def distance(got: Array, want: Array, *, ties: bool = False, floor: float = 0.0) -> float:
    """Return the largest error in units in the last place; inf where not comparable."""
    if got.dtype.kind != "f":
        return 0.0 if np.array_equal(got, want) else np.inf
    nan = np.isnan(want)
    if not np.array_equal(nan, np.isnan(got)):
        return np.inf
    g, w = got[~nan], want[~nan]
    if (np.isinf(g) != np.isinf(w)).any():
        return np.inf
    zero = (w == 0) & (g == 0)
    if not ties and (np.signbit(g) != np.signbit(w))[zero].any():
        return np.inf
    finite = np.isfinite(w)
    if (g != w)[~finite].any():
        return np.inf
    g, w = g[finite], w[finite]
    with np.errstate(over="ignore"):
        unit = np.spacing(np.maximum(np.abs(w), w.dtype.type(floor)))
    unit[np.isinf(unit)] = np.spacing(np.nextafter(np.finfo(w.dtype).max, w.dtype.type(0)))
    far = np.abs(g.astype("f8") - w.astype("f8")) / unit.astype("f8")
    return float(far.max(initial=0.0))


def assert_same(row: Ufunc, got: list[Array], want: Any, bound: float, note: str) -> None:
    wants = want if isinstance(want, tuple) else (want,)
    for g, w in zip(got, map(np.asarray, wants), strict=True):
        assert g.dtype == w.dtype, (row, note, g.dtype, w.dtype)
        assert g.shape == w.shape, (row, note)
        far = distance(g, w, ties=row.numpy in TIES, floor=FLOORS.get(row.numpy, 0.0))
        assert far <= bound, (row, note, far)


def usable(row: Ufunc, args: list[Array]) -> list[Array]:
    """Drop arguments that NumPy refuses, keeping the others."""
    if row.numpy is np.power and args[1].dtype.kind == "i":
        keep = args[1] >= 0
        return [a[keep] for a in args]
    return args


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.numpy.__name__)
def test_ufunc_equals_numpy(row: Ufunc, opset: int) -> None:
    for dtypes in loops(row):
        args = usable(row, arguments(dtypes))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = row.numpy(*args)
        got = run(lambda *v: ufunc_call(row, v), *args, opset=opset)
        name = np.dtype(np.asarray(want[0] if isinstance(want, tuple) else want).dtype).name
        assert_same(row, got, want, row.ulp.get(name, 0.0), "-".join(dtypes))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.numpy.__name__)
def test_shapes(row: Ufunc) -> None:
    dtypes = loops(row)[-1]
    shapes = [((), ()), ((0,), (1,)), ((2, 3), (3,)), ((2, 1), (1, 3))]
    for pair in shapes:
        args = [np.ones(s, t) for s, t in zip(pair, dtypes, strict=False)]
        with np.errstate(all="ignore"):
            want = row.numpy(*args)
        got = run(lambda *v: ufunc_call(row, v), *args)
        assert_same(row, got, want, 2.0, str(pair))
