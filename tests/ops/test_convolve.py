# SPDX-License-Identifier: Apache-2.0
"""`np.convolve` and `np.correlate` of long vectors, and of numbers that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import onnxjit
from onnxjit import jit_onnx

Array = np.ndarray[Any, Any]

MODES: list[Any] = ["full", "same", "valid"]
FUNCTIONS = [np.convolve, np.correlate]
#: around the lengths of blocks: shorter, equal, of several blocks, of which the last is cut
LENGTHS = [(63, 3), (64, 64), (65, 33), (700, 150), (150, 700), (5000, 7)]


def numbers(n: int, dtype: str) -> Array:
    random = np.random.default_rng(n)
    if dtype[0] in "iu?":
        return random.integers(0, 100, n).astype(dtype)
    z = random.normal(size=n) + (1j * random.normal(size=n) if dtype[0] == "c" else 0)
    return z.astype(dtype)


def check(got: Array, want: Array) -> None:
    assert got.dtype == want.dtype
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
        return
    single = {np.dtype("f2"): 1e-3, np.dtype("f4"): 1e-6, np.dtype("c8"): 1e-6}
    size = 10 + float(np.abs(want).max())
    np.testing.assert_allclose(got, want, rtol=0, atol=single.get(want.dtype, 1e-14) * size)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "i8", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_vectors_of_several_blocks(function: Any, dtype: str) -> None:
    for mode in MODES:
        call = jit_onnx(lambda a, v, mode=mode: function(a, v, mode), fallback="error")
        for m, n in LENGTHS:
            a, v = numbers(m, dtype), numbers(n, dtype)
            check(call(a, v), function(a, v, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_sum_has_its_own_products_only(function: Any, mode: Any) -> None:
    call = jit_onnx(lambda a, v: function(a, v, mode), fallback="error")
    for dtype in ("f4", "f8"):
        for m, n in ((200, 70), (9, 4)):
            for place, value in ((0, np.inf), (m // 2, -np.inf), (m - 1, np.nan)):
                a, v = numbers(m, dtype), numbers(n, dtype)
                a[place], v[n // 3] = value, 0.0
                with np.errstate(invalid="ignore"):
                    np.testing.assert_allclose(
                        call(a, v), function(a, v, mode), rtol=0, atol=1e-4
                    )
                    np.testing.assert_allclose(
                        call(v, a), function(v, a, mode), rtol=0, atol=1e-4
                    )


def test_overflow_is_no_fault_of_neighbours() -> None:
    a = np.full(100, 1e300)
    a[50:] = 1.0
    v = np.array([1e300, 1.0, 0.0])
    with np.errstate(over="ignore"):
        want = np.convolve(a, v)
    np.testing.assert_array_equal(jit_onnx(np.convolve)(a, v), want)


def test_windows_are_not_kept_in_memory() -> None:
    a, v = numbers(60_000, "f4"), numbers(4_000, "f4")  # of which 8-byte places take 2 GB
    got, want = jit_onnx(np.convolve, fallback="error")(a, v), np.convolve(a, v)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_a_model_is_for_all_lengths(mode: Any) -> None:
    model = jit_onnx(lambda a, v: np.convolve(a, v, mode)).to_onnx(
        onnxjit.float64["N"], onnxjit.float64["M"]
    )
    session = ort.InferenceSession(model.SerializeToString())
    for m, n in [*LENGTHS, (1, 1), (2, 1), (1, 5)]:
        a, v = numbers(m, "f8"), numbers(n, "f8")
        (got,) = session.run(None, {"a": a, "v": v})
        check(got, np.convolve(a, v, mode))
