# SPDX-License-Identifier: Apache-2.0
"""Promotion, Python scalars, ``where=``, ``out=``, exhaustive small integers, constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import asarray, jit_onnx
from onnxjit._core.bind import Trace, as_value, tracing
from onnxjit._core.dims import ShapeEnv
from onnxjit._ops import elementwise as ew
from onnxjit._ops.cast import cast
from onnxjit._ops.table import UFUNCS
from onnxjit._ops.ufunc import ufunc_call, weak_binary, weak_unary
from tests.ops.harness import run, trace

if TYPE_CHECKING:
    from onnxjit._core.program import Value

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
OPSETS = (13, 18, 28)
Array = np.ndarray[Any, Any]


def same(got: Any, want: Any) -> bool:
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    equal = (got == want) | ((got != got) & (want != want))
    if want.dtype.kind == "f":
        equal &= (np.signbit(got) == np.signbit(want)) | (want != want)
    return got.dtype == want.dtype and got.shape == want.shape and bool(equal.all())


@pytest.mark.parametrize(
    "name", ["add", "multiply", "divide", "floor_divide", "less", "maximum", "power"]
)
def test_promotion_of_all_pairs(name: str) -> None:
    ufunc = getattr(np, name)
    for s in DTYPES:
        arrays = [np.array([1, 2], s), *(np.array([2, 1], t) for t in DTYPES)]

        def every(first: Value, *others: Value) -> list[Value]:
            return [ufunc_call(UFUNCS[ufunc], (first, y)) for y in others]

        got = run(every, *arrays)
        assert all(
            same(g, ufunc(arrays[0], y)) for g, y in zip(got, arrays[1:], strict=True)
        ), s


@pytest.mark.parametrize("scalar", [1, -1, 2.5, True, 7], ids=repr)
def test_python_scalars_are_weak(scalar: Any) -> None:
    for t in DTYPES:
        x = np.array([1, 3], t)
        try:
            want = np.add(x, scalar)
        except OverflowError as error:
            with pytest.raises(OverflowError, match=str(error)):
                run(lambda v: ew.add(v, scalar), x)
            continue
        assert same(run(lambda v: ew.add(v, scalar), x)[0], want)
        assert same(run(lambda v: ew.add(scalar, v), x)[0], want)


COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("n", [300, -1, 2**70, -(2**70)])
def test_comparison_with_an_int_out_of_range(name: str, n: int) -> None:
    x, ufunc = np.array([0, 255], np.uint8), getattr(np, name)
    call = getattr(ew, name)
    assert same(run(lambda v: call(v, n), x)[0], ufunc(x, n))
    assert same(run(lambda v: call(n, v), x)[0], ufunc(n, x))


def test_int_out_of_range_raises() -> None:
    for n in (300, -1, 2**70):
        with pytest.raises(OverflowError, match=f"Python integer {n} out of bounds for uint8"):
            run(lambda v, n=n: ew.add(v, n), np.zeros(2, np.uint8))


def test_numpy_refuses() -> None:
    flags = np.array([True, False])
    with pytest.raises(TypeError, match="numpy boolean subtract"):
        run(ew.subtract, flags, flags)
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        run(lambda x, y: ew.add(x, y, out=y), np.ones(2), np.ones(2, np.int64))
    with pytest.raises(
        ValueError, match="Integers to negative integer powers are not allowed"
    ):
        run(lambda x: ew.power(x, -1), np.arange(3))


def test_dtype_and_where() -> None:
    x, y, mask = np.arange(3.0), np.arange(3, dtype=np.int8), np.array([True, False, True])
    got = run(lambda x, y: ew.add(x, y, dtype=np.float32), x, y)[0]
    assert same(got, np.add(x, y, dtype=np.float32))
    out = np.full(3, -0.0)
    got = run(lambda x, y, m, o: ew.multiply(x, y, where=m, out=o), x, y, mask, out)[0]
    assert same(got, np.multiply(x, y, where=mask, out=out.copy()))
    got = run(lambda x, y, m: ew.add(x, y, where=m), x, y, mask)[0]
    assert same(got[mask], np.add(x, y)[mask])
    got = run(lambda x, o: ew.sqrt(x, out=o), x, np.zeros((2, 3)))[0]
    assert same(got, np.sqrt(x, out=np.zeros((2, 3))))


PAIRS = (
    "add subtract multiply floor_divide remainder fmod power left_shift right_shift gcd lcm"
)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", PAIRS.split())
def test_every_pair_of_bytes(name: str, opset: int) -> None:
    ufunc = getattr(np, name)
    for t in (np.int8, np.uint8):
        limits = np.iinfo(t)
        every = np.arange(limits.min, limits.max + 1).astype(t)
        x, y = every[:, None], every[None, :]
        if name == "power":
            y = y[:, y[0] >= 0]
        with np.errstate(all="ignore"):
            want = ufunc(x, y)
        got = run(lambda a, b: ufunc_call(UFUNCS[ufunc], (a, b)), x, y, opset=opset)[0]
        assert same(got, want)


DIVISIONS = (ew.floor_divide, ew.remainder, ew.fmod)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("divisor", [-128, -7, -1, 0, 1, 2, 3, 7, 64, 127])
def test_known_divisor(divisor: int, opset: int) -> None:
    for t in (np.int8, np.int16, np.int64):
        x = np.array([np.iinfo(t).min, *range(-128, 128), np.iinfo(t).max], t)
        with np.errstate(all="ignore"):
            want = [np.floor_divide(x, divisor), np.remainder(x, divisor), np.fmod(x, divisor)]
        got = run(lambda v: [call(v, divisor) for call in DIVISIONS], x, opset=opset)
        assert all(map(same, got, want))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("mask", [0, 1, 3, 127, 100, -1, -8, 63])
def test_known_mask(mask: int, opset: int) -> None:
    x = np.array([-(2**63), 2**63 - 1, *range(-300, 300, 7)])
    names = ["bitwise_and", "bitwise_or", "bitwise_xor"]
    got = run(lambda v: [getattr(ew, n)(v, mask) for n in names], x, opset=opset)
    assert all(same(g, getattr(np, n)(x, mask)) for g, n in zip(got, names, strict=True))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 13, 0.5, -1.0, 3.0, 2.0, 0.0, 1.5])
def test_known_exponent(exponent: Any) -> None:
    for t in ("i1", "i4", "i8", "u8", "f2", "f4", "f8"):
        x = np.array([0, 1, 2, 3, 5, 100, 7], t)
        with np.errstate(all="ignore"):
            want = np.power(x, exponent)
        got = run(lambda v: ew.power(v, exponent), x)[0]
        assert got.dtype == want.dtype
        if want.dtype.kind == "f":
            with np.errstate(all="ignore"):
                near = np.abs(got - want) <= 2 * np.spacing(np.abs(want))
            assert np.all((got == want) | near)
        else:
            assert same(got, want)


def test_power_of_two_is_a_shift() -> None:
    n = np.array([0, 1, 5, 62, 63, 64, 100])
    assert same(run(lambda v: ew.power(2, v), n)[0], np.power(2, n))


@pytest.mark.parametrize("opset", OPSETS)
def test_divisors_of_wide_ints(opset: int) -> None:
    random = np.random.default_rng(5)
    for t in ("i4", "u4", "i8", "u8"):
        limits = np.iinfo(t)
        x = random.integers(limits.min, limits.max, 200, t, endpoint=True)
        y = random.integers(limits.min, limits.max, 200, t, endpoint=True) >> random.integers(
            0, limits.bits - 1, 200
        ).astype(t)
        y[:4] = [0, 1, limits.max, limits.min]
        for name in ("floor_divide", "remainder", "fmod", "gcd", "lcm", "power"):
            ufunc, b = getattr(np, name), np.abs(y) if name == "power" else y
            b = b.clip(0) if name == "power" else b
            with np.errstate(all="ignore"):
                want = ufunc(x, b)
            got = run(lambda p, q, u=ufunc: ufunc_call(UFUNCS[u], (p, q)), x, b, opset=opset)[
                0
            ]
            assert same(got, want), (t, name)


def test_floor_division_of_floats_at_the_edge_of_integers() -> None:
    random = np.random.default_rng(6)
    for t in ("f2", "f4", "f8"):
        x = np.round(random.uniform(-50, 50, 500), 1).astype(t)
        y = random.choice(np.array([0.1, 0.3, -0.1, 0.7], t), 500)
        for opset in OPSETS:
            got = run(
                lambda p, q: [ew.floor_divide(p, q), ew.remainder(p, q)], x, y, opset=opset
            )
            assert same(got[0], x // y)
            assert same(got[1], x % y)


def test_a_size_against_a_small_dtype_takes_a_guard() -> None:
    program = trace(lambda x, y: ew.add(y, x.shape[0]), np.zeros(7), np.zeros(3, np.uint8))
    assert program.outputs[0].dtype.name == "uint8"
    assert program.block.trace.env.guards
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        trace(lambda x, y: ew.add(y, x.shape[0]), np.zeros(300), np.zeros(3, np.uint8))
    got = run(lambda x, y: ew.less(y, x.shape[0]), np.zeros(300), np.zeros(3, np.uint8))[0]
    assert same(got, np.ones(3, bool))
    wide = trace(lambda x, y: ew.add(y, x.shape[0]), np.zeros(300), np.zeros(3))
    assert not wide.block.trace.env.guards


def test_weak_numbers() -> None:
    with tracing(Trace(ShapeEnv())):
        half = weak_binary(np.divide, 1, 2)
        assert half.weak
        assert half.known == 0.5
        assert weak_binary(np.floor_divide, -7, 2).known == -4
        assert weak_binary(np.remainder, -7.5, 2).known == 0.5
        assert weak_binary(np.power, 2, -1).known == 0.5
        assert weak_binary(np.power, 2, 10).known == 1024
        assert weak_binary(np.add, True, 1).known == 2
        test = weak_binary(np.less, 1, 2)
        assert not test.weak
        assert test.known
        quotient, rest = weak_binary(np.divmod, 7, 2)
        assert (quotient.known, rest.known) == (3, 1)
        assert weak_unary(np.negative, 3).known == -3
        assert ew.add(as_value(np.float32(1)), half).dtype.name == "float32"


# --- casts --------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [13, 21, 28])
def test_casts_equal_astype(opset: int) -> None:
    from onnxjit._ops.cast import to_dtype
    from onnxjit._ops.samples import special

    for s in DTYPES:
        x = special(s)
        with np.errstate(all="ignore"):
            want = [x.astype(t) for t in DTYPES]
        got = run(lambda v: [cast(v, to_dtype(t)) for t in DTYPES], x, opset=opset)
        for g, w in zip(got, want, strict=True):
            assert same(g, w), (s, w.dtype, x[~np.equal(g, w)], g[~np.equal(g, w)])


@pytest.mark.parametrize("opset", [13, 28])
def test_float64_to_float16_rounds_once(opset: int) -> None:
    from onnxjit._core.dtypes import FLOAT16

    random = np.random.default_rng(1)
    half = np.abs(np.arange(2**15, dtype=np.uint16).view(np.float16).astype(np.float64))
    half = half[np.isfinite(half)]
    middle = (half[1:] + half[:-1]) / 2
    near = [
        middle,
        np.nextafter(middle, 0),
        np.nextafter(middle, np.inf),
        middle * (1 + 1e-12),
    ]
    wide = random.normal(size=20000) * 10 ** random.uniform(-9, 6, 20000)
    edge = np.array([65519.99999999, 65520, 65536, 1e300, np.inf, np.nan, 0, 5e-324, 2.98e-8])
    x = np.concatenate([*near, wide, edge])
    x = np.concatenate([x, -x])
    with np.errstate(all="ignore"):
        want = x.astype(np.float16)
    assert same(run(lambda v: cast(v, FLOAT16), x, opset=opset)[0], want)


@pytest.mark.parametrize("number", [2, 2.5, 1j, True, np.float32(2), [1.5]])
@pytest.mark.parametrize("dtype", ["i1", "f4", "c8", "?"])
def test_outer_makes_arrays_of_python_numbers(number: Any, dtype: str) -> None:
    def outer(x: Any, y: Any) -> Any:
        return np.multiply.outer(x, number), np.add.outer(number, x), np.multiply.outer(x, y)

    x = np.ones(3, dtype)
    want = outer(x, number)
    graph = jit_onnx(outer, fallback="error")
    for got in (graph(x, number), outer(asarray(x), number)):
        assert [g.dtype for g in got] == [w.dtype for w in want]
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g, w)
