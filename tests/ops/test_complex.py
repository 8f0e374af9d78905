# SPDX-License-Identifier: Apache-2.0
"""Complex numbers: special values of every ufunc, laws, and refusals while tracing."""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxjit import UnsupportedError, jit_onnx
from onnxjit._core.bind import bind
from onnxjit._core.op import Op
from onnxjit._ops.complex_parts import conjugate, imag_part, make_complex, real_part
from onnxjit._ops.table import UFUNCS
from tests.ops.harness import run, trace

Array = np.ndarray[Any, Any]

OPSETS: Final = (13, 21, 28)
WIDTHS: Final = {"c8": "f4", "c16": "f8"}
UNARY: Final = [
    row.numpy for row in UFUNCS.values() if row.on_complex is not None and row.numpy.nin == 1
]
BINARY: Final = [
    np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin, np.less,
    np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.logical_and,
    np.logical_or, np.logical_xor, np.add, np.subtract,
]  # fmt: skip


def grid(dtype: str, *more: float) -> Array:
    """Return numbers of every pair of special parts."""
    info = np.finfo(WIDTHS[dtype])
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan, np.pi / 2, 30.0, 1e-8]
    parts += more
    re, im = np.meshgrid(np.array(parts, info.dtype), np.array(parts, info.dtype))
    z = np.empty(re.size, dtype)
    z.real, z.imag = re.ravel(), im.ravel()
    return z


def nearly(got: Any, want: Any, ulp: float = 8, floor: float = 0.0) -> None:
    """Require parts that are close in units of the larger one, and equal signs of zeros."""
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind == "b":
        np.testing.assert_array_equal(got, want)
        return
    sizes = np.maximum(np.abs(np.where(np.isfinite(want.real), want.real, 0)), floor)
    if want.dtype.kind == "c":
        sizes = np.maximum(sizes, np.abs(np.where(np.isfinite(want.imag), want.imag, 0)))
    unit = np.spacing(np.minimum(sizes, np.finfo(sizes.dtype).max / 2))
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        finite = np.isfinite(g) & np.isfinite(w)
        np.testing.assert_array_equal(g[~finite], w[~finite])
        both = finite & (g == 0) & (w == 0)
        np.testing.assert_array_equal(np.signbit(g[both]), np.signbit(w[both]))
        with np.errstate(over="ignore"):
            far = np.abs(g[finite].astype("f8") - w[finite].astype("f8"))
        assert (far <= ulp * unit[finite].astype("f8")).all()


def numpy(ufunc: np.ufunc, *args: Any) -> Any:
    with np.errstate(all="ignore"):
        return ufunc(*args)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("ufunc", UNARY, ids=lambda u: u.__name__)
def test_special_values(ufunc: np.ufunc, dtype: str) -> None:
    # what overflows in between is left to the processor by NumPy, which fuses what it can
    info = np.finfo(WIDTHS[dtype])
    large = () if ufunc is np.square else (float(info.max), 1e4)
    z = grid(dtype, float(info.tiny), -float(info.smallest_subnormal), *large)
    floor = 1.0 if ufunc is np.log1p else 0.0
    if ufunc is np.exp2 and dtype == "c8":
        z = z[~(np.abs(z.imag) > 1e30)]  # the angle is a rounded product
    for opset in OPSETS:
        fn = jit_onnx(ufunc, opset=opset, fallback="error")
        nearly(fn(z), numpy(ufunc, z), 12, floor)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
def test_special_pairs(ufunc: np.ufunc, dtype: str) -> None:
    z = grid(dtype)
    x, y = (a.ravel() for a in np.meshgrid(z, z[::3]))
    fn = jit_onnx(ufunc, fallback="error")
    if ufunc is np.power:
        kept = ~(np.abs(y) > 4) | np.isinf(y)
        if dtype == "c8":  # NumPy multiplies in float32 there, where a product overflows
            kept &= np.isfinite(x) & np.isfinite(y)
        x, y = x[kept], y[kept]
    nearly(fn(x, y), numpy(ufunc, x, y), ulp=300 if ufunc is np.power else 8)


CUTS: Final = [
    (np.sqrt, -4.0), (np.log, -4.0), (np.log1p, -4.0), (np.log2, -4.0), (np.log10, -4.0),
    (np.arcsin, 4.0), (np.arcsin, -4.0), (np.arccos, 4.0), (np.arccos, -4.0),
    (np.arctanh, 4.0), (np.arctanh, -4.0), (np.arccosh, 0.5), (np.arccosh, -4.0),
]  # fmt: skip


@pytest.mark.parametrize(("ufunc", "x"), CUTS)
def test_the_sign_of_zero_chooses_the_side_of_a_cut(ufunc: np.ufunc, x: float) -> None:
    z = np.array([complex(x, 0.0), complex(x, -0.0)])
    got = jit_onnx(ufunc, fallback="error")(z)
    nearly(got, ufunc(z))
    np.testing.assert_allclose(got[0], got[1].conj(), rtol=1e-15)
    assert np.signbit(got.imag[0]) != np.signbit(got.imag[1])


@pytest.mark.parametrize(("ufunc", "y"), [(np.arctan, 4.0), (np.arcsinh, -4.0)])
def test_cuts_of_the_imaginary_axis(ufunc: np.ufunc, y: float) -> None:
    z = np.array([complex(0.0, y), complex(-0.0, y)])
    got = jit_onnx(ufunc, fallback="error")(z)
    nearly(got, ufunc(z))
    assert np.signbit(got.real[0]) != np.signbit(got.real[1])


def test_numbers_near_one_keep_the_digits_of_their_logarithm() -> None:
    z = 1 + np.array([1e-10j, 1e-9 + 1e-5j, -1e-12 + 1e-12j, 3e-16])
    nearly(jit_onnx(np.log, fallback="error")(z), np.log(z), ulp=4)


def test_exponents_known_while_tracing() -> None:
    z = np.array([1j, 2, -1 + 2j, 0.3 - 0.4j, 0])
    for exponent in (0, 1, 2, 3, 7, 99, 100, 0.5, 2 + 1j, -0.5):
        fn = jit_onnx(lambda z, e=exponent: z**e, fallback="error")
        nearly(fn(z), numpy(np.power, z, exponent), ulp=100)
    assert jit_onnx(lambda z: z**2, fallback="error")(z)[0] == -1  # exactly, no i left


parts = st.floats(-1e3, 1e3, allow_subnormal=False, width=32)
numbers = st.builds(complex, parts, parts)
LAWS: Final = jit_onnx(
    lambda z, w: (z * w, w * z, (z * w).conj(), z.conj() * w.conj(), z - z, abs(z.conj())),
    fallback="error",
)


@settings(max_examples=100, deadline=None)
@given(numbers, numbers)
def test_laws_of_products(z: complex, w: complex) -> None:
    one, other, whole, each, none, size = LAWS(np.complex128(z), np.complex128(w))
    assert one == other
    assert whole == each
    assert none == 0
    assert size == abs(np.complex128(z)) or abs(size - abs(z)) <= 4 * np.spacing(abs(z))


INVERSES: Final = jit_onnx(
    lambda z: (np.exp(np.log(z)), np.sqrt(z) ** 2, np.sin(np.arcsin(z)), np.tan(np.arctan(z))),
    fallback="error",
)


@settings(max_examples=100, deadline=None)
@given(numbers)
def test_inverse_functions_come_back(z: complex) -> None:
    if abs(z) < 1e-3 or abs(z * z + 1) < 1e-3:
        return
    for back in INVERSES(np.complex128(z)):
        assert abs(back - z) <= 1e-9 * max(abs(z), abs(z) ** 2)


def test_order_of_numbers_with_nan() -> None:
    z = grid("c16")[::2]
    np.random.default_rng(0).shuffle(z)

    def ordered(z: Any) -> Any:
        return np.sort(z), np.argsort(z, kind="stable"), z.max(), z.min(), z.argmax()

    for got, want in zip(jit_onnx(ordered, fallback="error")(z), ordered(z), strict=True):
        np.testing.assert_array_equal(got, want)


def test_one_graph_serves_every_size() -> None:
    def many(z: Any) -> Any:
        return z.sum(), z.prod(), z.cumprod(), np.sort(z), np.vdot(z, z), z.std(), z[::-1]

    fn = jit_onnx(many, fallback="error")
    rng = np.random.default_rng(1)
    for n in (5, 40, 1, 300):
        z = np.exp(1j * rng.normal(size=n))
        for got, want in zip(fn(z), many(z), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
    assert len(fn._cache) <= 2  # one element is a case of its own


def test_products_of_infinite_numbers_are_made_in_order() -> None:
    z = np.ones(40, complex)
    z[7], z[30] = complex(np.inf, 0), complex(0, 2)
    with np.errstate(all="ignore"):
        want = z.prod()
    np.testing.assert_array_equal(jit_onnx(lambda z: z.prod(), fallback="error")(z), want)


def test_casts_to_real_warn_as_numpy() -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        got = jit_onnx(lambda z: z.astype(np.float64), fallback="error")(np.array([1 + 2j]))
    np.testing.assert_array_equal(got, [1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit_onnx(lambda z: z.astype(bool), fallback="error")(np.array([2j]))[0]


def test_parts_of_values() -> None:
    z, x = np.array([1 + 2j, -0.0j]), np.array([3.0, -4.0])
    re, im, back, same, nothing = run(
        lambda z, x: [real_part(z), imag_part(z), conjugate(z), real_part(x), imag_part(x)],
        z,
        x,
    )
    np.testing.assert_array_equal([re, im], [z.real, z.imag])
    np.testing.assert_array_equal(back, z.conj())
    np.testing.assert_array_equal([same, nothing], [x, [0, 0]])
    made = run(lambda x: make_complex(x, x), x)[0]
    np.testing.assert_array_equal(made, x + 1j * x)


def test_a_primitive_without_the_fact_is_refused_while_tracing() -> None:
    op = Op("twist", result=lambda x: x, lower={13: lambda _e, _equation, x: x})
    with pytest.raises(UnsupportedError, match=r"np\.twist of complex128 arrays"):
        trace(lambda z: bind(op, z)[0], np.ones(3, complex))
