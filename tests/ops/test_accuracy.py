# SPDX-License-Identifier: Apache-2.0
"""Errors of float functions against a wider reference, where they are hard to compute.

The points lie over the whole range of the dtype on a logarithmic scale, subnormal numbers
included, and thickly around -1, 0 and 1, where branches of the formulas and zeros are.
"""

import numpy as np
import pytest

from onnxjit import asarray
from onnxjit._ops.table import UFUNCS

UNARY = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos",
    "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
    "arctanh",
    "reciprocal", "square", "deg2rad", "rad2deg",
]  # fmt: skip
BINARY = ["arctan2", "hypot", "logaddexp", "logaddexp2", "power", "float_power", "divide"]
#: what may not differ from NumPy at all
EXACT = ["fmod", "remainder", "floor_divide", "copysign", "nextafter", "heaviside"]
DTYPES = [np.float16, np.float32, np.float64]

wide = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant <= np.finfo(np.float64).nmant,
    reason="long double is no wider than float64 on this platform",
)


def points(dtype, count, rng):
    """Return finite numbers of a dtype and of either sign."""
    facts = np.finfo(dtype)
    n = count // 6

    def spread(low, high, k=n):
        return np.exp(rng.uniform(np.log(low), np.log(high), k))

    near_one = 1 + rng.choice([-1, 1], n) * spread(float(facts.eps), 0.5)
    parts = [
        spread(float(facts.smallest_subnormal), float(facts.max)),
        rng.uniform(0, 1, n),
        rng.uniform(0, 20, n),
        abs(rng.normal(size=n)) * 1000,
        near_one,
        spread(float(facts.smallest_subnormal), float(facts.tiny) * 1e3),
    ]
    sizes = np.concatenate(parts)
    signed = (sizes * rng.choice([-1, 1], sizes.size)).astype(dtype)
    return signed[np.isfinite(signed)]


def operands(name, dtype, count):
    rng = np.random.default_rng(len(name))
    first = points(dtype, count, rng)
    if name in UNARY:
        return (first,)
    second = rng.permutation(first)
    if name in ("power", "float_power"):
        return abs(first), np.clip(second, -50, 50)
    return first, second


def in_units(found, exact, unit):
    return abs(found.astype(np.longdouble) - exact) / unit


def check(name, dtype, count):
    ufunc = getattr(np, name)
    args = operands(name, dtype, count)
    with np.errstate(all="ignore"):
        check_results(ufunc, args, ufunc(*args), ufunc(*[a.astype("g") for a in args]))


def check_results(ufunc, args, plain, exact):
    want = exact.astype(plain.dtype)
    got = np.asarray(ufunc(*map(asarray, args)))
    assert got.dtype == plain.dtype
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    zero = (got == 0) & (plain == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(plain[zero]))
    row = UFUNCS[ufunc]
    finite = np.isfinite(want) & np.isfinite(plain)
    floor = row.floor if isinstance(row.floor, float) else 0.0
    unit = np.spacing(np.maximum(abs(want[finite]), np.asarray(floor, want.dtype)))
    error = in_units(got[finite], exact[finite], unit)
    own = in_units(plain[finite], exact[finite], unit)
    bound = row.ulp.get(plain.dtype.name, 0) + own.max()  # the row's is to NumPy
    worst = int(error.argmax())
    place = [a[finite][worst] for a in args]
    assert error[worst] <= bound, f"{error[worst]} units at {place}"


@wide
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_some_points(name, dtype):
    check(name, dtype, 6_000)


@wide
@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_many_points(name, dtype):
    check(name, dtype, 200_000)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", EXACT)
def test_results_that_are_exact(name, dtype):
    ufunc = getattr(np, name)
    args = operands(name, dtype, 6_000)
    with np.errstate(all="ignore"):
        want = ufunc(*args)
    got = np.asarray(ufunc(*map(asarray, args)))
    np.testing.assert_array_equal(got, want, strict=True)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
