# SPDX-License-Identifier: Apache-2.0
"""``numpy.fft``: accuracy at many lengths, models of unknown lengths, options and refusals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
import pytest

import onnxjit
from onnxjit import jit_onnx
from onnxjit._lower.opsets import supported
from onnxjit._ops.fourier_tables import convolution_length, radices, roots

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

LENGTHS = [*range(1, 65), 97, 100, 128, 251, 257, 509, 514, 1000, 1009, 1024, 4096, 65536]
#: lengths of models: one step, several, divisors that do not suffice
SIZES = [12, 1, 2, 3, 7, 8, 16, 61, 64, 67, 100, 257, 509, 514, 1009, 1024, 4096, 10007, 46189]
DTYPES = ["f4", "f8"]
SINGLE = {"f4": np.complex64, "f8": np.complex128}


def transformed(z: Array, sign: int) -> Array:
    """Return a discrete Fourier transform in extended precision, by the definition."""
    n = len(z)
    k = np.arange(n)
    turns = np.outer(k, k) % n / np.longdouble(n)
    angle = sign * 8 * np.arctan(np.longdouble(1)) * turns
    made: Array = (np.cos(angle) + 1j * np.sin(angle)) @ z.astype(np.clongdouble)
    return made


def reference(z: Array, sign: int) -> Array:
    """Return the same; of long vectors from NumPy."""
    if len(z) <= 300:
        return transformed(z, sign)
    z = z.astype(np.complex128)
    return np.fft.fft(z) if sign < 0 else np.fft.ifft(z, norm="forward")


def error(got: Array, want: Array) -> float:
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def stated(n: int, dtype: str) -> float:
    return (1e-16 if dtype == "f8" else 1e-7) * (4 + math.log2(n))


def complex_numbers(n: int, dtype: str) -> Array:
    random = np.random.default_rng(n)
    z = random.normal(size=n) + 1j * random.normal(size=n)
    return z.astype(SINGLE[dtype])


def half_of(z: Array, n: int) -> Array:
    """Return half of a Hermitian spectrum of length n."""
    half = z[: n // 2 + 1].copy()
    half[0] = half[0].real
    if n % 2 == 0:
        half[-1] = half[-1].real
    return half


def whole_of(half: Array, n: int) -> Array:
    return np.concatenate([half, half[1 : (n + 1) // 2][::-1].conj()])


def check_all(n: int, dtype: str, call: Callable[[str, Array, int], Array]) -> None:
    """Compare each kind of transform of a length with the definition."""
    z = complex_numbers(n, dtype)
    x = np.ascontiguousarray(z.real)
    half = half_of(z, n)
    spectrum = reference(x, -1)
    cases = [
        ("fft", z, reference(z, -1)),
        ("ifft", z, reference(z, 1) / n),
        ("fft", x, spectrum),
        ("rfft", x, spectrum[: n // 2 + 1]),
        ("irfft", half, reference(whole_of(half, n), 1).real / n),
    ]
    for name, given, want in cases:
        far = error(call(name, given, n), want)
        assert far <= stated(n, dtype), (name, given.dtype, n, far)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_the_stated_accuracy(n: int, dtype: str) -> None:
    def call(name: str, given: Array, n: int) -> Array:
        transform = getattr(np.fft, name)
        return np.asarray(jit_onnx(lambda a: transform(a, n), fallback="error")(given))

    check_all(n, dtype, call)


class Models:
    """One model for each kind of transform, of any length."""

    def __init__(self, dtype: str, opset: int) -> None:
        self.dtype, self.opset = dtype, opset
        self.made: dict[tuple[str, str], ort.InferenceSession] = {}

    def __call__(self, name: str, given: Array, n: int) -> Array:
        key = name, given.dtype.kind
        transform = getattr(np.fft, name)
        if key not in self.made:
            size = None if name != "irfft" else n

            def f(a: Any, like: Any) -> Any:
                return transform(a, like.shape[0]) if size else transform(a)

            shown = (given, np.zeros(n, "i1"))
            model = jit_onnx(f, opset=self.opset).to_onnx(*shown)
            options = ort.SessionOptions()
            options.log_severity_level = 4
            self.made[key] = ort.InferenceSession(model.SerializeToString(), options)
        feeds: list[Any] = [parts_of(given), np.zeros(n, "i1")]
        names = [i.name for i in self.made[key].get_inputs()]
        (got,) = self.made[key].run(None, dict(zip(names, feeds, strict=False)))
        return np.asarray(got if name == "irfft" else got[..., 0] + 1j * got[..., 1])


def parts_of(z: Array) -> Array:
    return z if z.dtype.kind != "c" else np.stack([z.real, z.imag], -1)


@pytest.mark.parametrize("opset", [supported()[0], supported()[-1]])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_model_is_right_at_every_length(dtype: str, opset: int) -> None:
    models = Models(dtype, opset)
    for n in SIZES:
        check_all(n, dtype, models)


def test_a_model_keeps_batches_of_any_size() -> None:
    model = jit_onnx(lambda x: np.fft.rfft(x, axis=1)).to_onnx(onnxjit.float64["B", "N", "C"])
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options)
    for shape in ((2, 8, 3), (0, 7, 3), (1, 1, 1), (4, 521, 0), (3, 600, 2)):
        x = np.random.default_rng(0).normal(size=shape)
        (got,) = session.run(None, {session.get_inputs()[0].name: x})
        want = np.fft.rfft(x, axis=1)
        np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, atol=1e-11)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft"])
@pytest.mark.parametrize("n", [2, 3, 5, 8, 30, 100, 521])
def test_not_a_number_spreads_over_its_vector_and_no_other(name: str, n: int) -> None:
    transform = getattr(np.fft, name)
    x = np.ones((3, n))
    x[1, n // 2] = np.nan
    got = np.asarray(jit_onnx(transform, fallback="error")(x))
    assert np.isnan(got[1]).all()
    np.testing.assert_allclose(got[::2], transform(x)[::2], atol=1e-12)


@pytest.mark.parametrize("n", [4, 6, 10, 100, 514, 1024])
def test_what_is_real_in_theory_is_real(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n)
    got = np.asarray(jit_onnx(np.fft.rfft, fallback="error")(x))
    if radices(n)[-1] <= 256:
        assert got[0].imag == 0
        assert got[-1].imag == 0
    half = np.fft.rfft(x)
    half[0] += 3j
    half[-1] -= 2j
    back = np.asarray(jit_onnx(np.fft.irfft, fallback="error")(half))
    np.testing.assert_allclose(back, x, atol=1e-13)


def test_many_lengths_share_a_graph() -> None:
    jit = jit_onnx(np.fft.rfft, fallback="error")
    for n in (*range(4, 60, 5), 521, 1000):
        x = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(np.asarray(jit(x)), np.fft.rfft(x), atol=1e-11)
        got = np.fft.rfft(onnxjit.asarray(x))
        np.testing.assert_allclose(np.asarray(got), np.fft.rfft(x), atol=1e-11)
    assert jit.cache_info() == {"graphs": 5, "eager": 0}
    with pytest.raises(ValueError, match=r"Invalid number of FFT data points \(0\)"):
        jit(np.zeros(0))


def test_a_length_may_be_data() -> None:
    def call(x: Any) -> Any:
        return np.fft.fft(x[x > 0])

    jit = jit_onnx(call, fallback="error")
    for n in (9, 40):
        x = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(np.asarray(jit(x)), call(x), atol=1e-12)
    assert jit.cache_info() == {"graphs": 1, "eager": 0}
    with pytest.raises(ValueError, match=r"Invalid number of FFT data points \(0\)"):
        jit(-np.ones(3))


def test_results_go_into_out() -> None:
    def into(x: Any) -> tuple[Any, bool]:
        out = np.zeros(5, np.complex128)
        returned = np.fft.rfft(x, out=out)
        return out, returned is out

    x = np.arange(8.0)
    got, is_out = jit_onnx(into, fallback="error")(x)
    np.testing.assert_allclose(got, np.fft.rfft(x), atol=1e-14)
    assert is_out


#: what the types of the functions do not allow
BOTH: Any = "both"
ZERO: Any = 0
HALVES: Any = 2.5
REFUSED: list[Callable[[Any], Any]] = [
    lambda x: np.fft.fft(x, 0),
    lambda x: np.fft.ifft(x, -3),
    lambda x: np.fft.rfft(x[:0]),
    lambda x: np.fft.irfft(x[:1]),
    lambda x: np.fft.hfft(x[:1]),
    lambda x: np.fft.fft(x, norm=BOTH),
    lambda x: np.fft.ifft(x, norm=BOTH),
    lambda x: np.fft.fft(x, axis=1),
    lambda x: np.fft.fft(x, 4, axis=3),
    lambda x: np.fft.fft(x.sum()),
    lambda x: np.fft.rfft(x + 0j),
    lambda x: np.fft.rfft(x + 0j, 3),
    np.fft.fft2,
    lambda x: np.fft.fftn(x, s=(2, 3), axes=(0,)),
    lambda x: np.fft.fftn(x, axes=(0, 1)),
    lambda x: np.fft.fftn(x, axes=ZERO),
    lambda x: np.fft.rfftn(x, axes=()),
    lambda x: np.fft.fft(x, HALVES),
]


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_what_numpy_refuses_is_refused_alike(call: Callable[[Any], Any]) -> None:
    x = np.arange(6.0)
    with pytest.raises(Exception) as theirs:  # noqa: PT011  whatever it raises
        call(x)
    with pytest.raises(theirs.type) as ours:
        jit_onnx(call, fallback="error")(x)
    assert str(theirs.value) in str(ours.value)


def test_an_out_of_the_wrong_shape_is_refused() -> None:
    def call(x: Any) -> Any:
        return np.fft.fft(x, out=np.zeros(3, complex))

    with pytest.raises(ValueError, match="shape"):
        jit_onnx(call, fallback="error")(np.arange(6.0))


def test_lengths_divide_into_steps() -> None:
    for n in (*range(1, 3000), 65536, 44100, 46189, 2 * 10007):
        plan = radices(n)
        assert math.prod(plan) == n
        assert all(r <= 256 for r in plan[:-1])
        if n % 2 == 0 and plan[-1] <= 256:
            assert plan[-1] % 2 == 0
    for n in (257, 1009, 65537):
        assert convolution_length(n) >= 2 * n - 1
        assert radices(convolution_length(n))[-1] <= 256


@pytest.mark.parametrize("n", [1, 7, 8, 360, 1009, 4096])
def test_roots_of_unity_are_rounded_well(n: int) -> None:
    k = np.arange(n)
    re, im = roots(k, n)
    angle = 8 * np.arctan(np.longdouble(1)) * k / n
    assert np.abs(re - np.cos(angle)).max() <= 1.3e-16
    assert np.abs(im + np.sin(angle)).max() <= 1.3e-16
