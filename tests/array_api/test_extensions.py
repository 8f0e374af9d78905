# SPDX-License-Identifier: Apache-2.0
"""Functions of `linalg` and `fft` against NumPy's, at once and in a trace."""

from typing import Any

import numpy as np
import pytest

import onnxjit as oj
import onnxjit.array_api as xp
from tests.array_api.standard import FFT, LINALG

M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]])
T = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]])
V = np.array([1.0, -2.0, 0.5])
Z = np.array([1 + 2j, -0.5j, 3.0, 2 - 1j])

#: name -> arrays, options
CALLS: dict[str, tuple[Any, ...]] = {
    "linalg.cholesky": (M, {"upper": True}), "linalg.cross": (V, M), "linalg.det": (M,),
    "linalg.diagonal": (M, {"offset": 1}), "linalg.eig": (M,), "linalg.eigh": (M,),
    "linalg.eigvals": (M,), "linalg.eigvalsh": (M,), "linalg.inv": (M,),
    "linalg.matmul": (M, T), "linalg.matrix_norm": (T, {"ord": 1}),
    "linalg.matrix_power": (M, 3), "linalg.matrix_rank": (T,),
    "linalg.matrix_transpose": (T,), "linalg.outer": (V, V), "linalg.pinv": (T,),
    "linalg.qr": (T, {"mode": "complete"}), "linalg.slogdet": (M,),
    "linalg.solve": (M, T), "linalg.svd": (T, {"full_matrices": False}),
    "linalg.svdvals": (T,), "linalg.tensordot": (M, T, {"axes": 1}),
    "linalg.trace": (M, {"offset": 1}), "linalg.vecdot": (M, V),
    "linalg.vector_norm": (T, {"axis": 0, "keepdims": True}),
    "fft.fft": (Z,), "fft.fftn": (M + 1j, {"axes": (0, 1)}), "fft.fftshift": (Z,),
    "fft.hfft": (Z, {"n": 6}), "fft.ifft": (Z, {"n": 3}), "fft.ifftn": (M + 0j,),
    "fft.ifftshift": (M, {"axes": 0}), "fft.ihfft": (V,), "fft.irfft": (Z,),
    "fft.irfftn": (M + 1j,), "fft.rfft": (V, {"norm": "ortho"}), "fft.rfftn": (M,),
}  # fmt: skip
#: the columns of these may point either way
EITHER_WAY = {"linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd"}
#: have no order
SETS = {"linalg.eig", "linalg.eigvals"}


def call_of(name):
    given = [*CALLS[name]]
    options = given.pop() if isinstance(given[-1], dict) else {}
    arrays = [x for x in given if isinstance(x, np.ndarray)]
    plain = [x for x in given if not isinstance(x, np.ndarray)]
    module, function = name.split(".")
    ours = getattr(getattr(xp, module), function)
    numpys = getattr(getattr(np, module), function)
    return ours, numpys, arrays, plain, options


def compared(name, x):
    """Return the part of a result that is fixed."""
    x = np.sort_complex(np.abs(x)) if name in SETS else x
    return np.abs(x) if name in EITHER_WAY else x


def check(name, got, want):
    if not isinstance(want, tuple):
        got, want = (got,), (want,)
    assert len(got) == len(want)
    for g, w in zip(map(np.asarray, got), map(np.asarray, want), strict=True):
        assert g.shape == w.shape
        assert g.dtype == (np.complex128 if name in SETS else w.dtype)
        np.testing.assert_allclose(
            compared(name, g), compared(name, w), rtol=1e-12, atol=1e-13
        )


def test_every_function_is_called():
    names = {f"linalg.{n}" for n in LINALG} | {f"fft.{n}" for n in FFT}
    assert set(CALLS) == names - {"fft.fftfreq", "fft.rfftfreq"}


@pytest.mark.parametrize("name", CALLS)
def test_eager_calls_are_numpys(name):
    ours, numpys, arrays, plain, options = call_of(name)
    got = ours(*map(oj.asarray, arrays), *plain, **options)
    each = got if isinstance(got, tuple) else (got,)
    assert {x._kind for x in each} == {"array"}
    check(name, got, numpys(*arrays, *plain, **options))


@pytest.mark.parametrize("name", CALLS)
def test_traced_calls_are_numpys(name):
    ours, numpys, arrays, plain, options = call_of(name)

    @oj.jit_onnx(fallback="error")
    def run(*given):
        return ours(*given, *plain, **options)

    got = run(*arrays)
    each = got if isinstance(got, tuple) else (got,)
    assert {type(x) for x in each} == {np.ndarray}
    check(name, got, numpys(*arrays, *plain, **options))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name):
    for n in (4, 5):
        got = getattr(xp.fft, name)(n, d=0.5, dtype=xp.float32, device="cpu")
        want = getattr(np.fft, name)(n, 0.5).astype(np.float32)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
