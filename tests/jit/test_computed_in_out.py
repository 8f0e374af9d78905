# SPDX-License-Identifier: Apache-2.0
"""`out=` of a wider dtype: what a function computes on the way is not rounded to less."""

import numpy as np
import onnxruntime as ort
import pytest

import onnxjit
from onnxjit import eager_onnx, jit_onnx
from tests.jit.harness import same

#: each takes a (3, 4) array and `out`
CALLS = {
    "std": lambda x, y: np.std(x, axis=0, out=y),
    "var of a mask": lambda x, y: np.var(x, axis=0, out=y, where=x > 0, ddof=1),
    "var of a mean": lambda x, y: x.var(0, out=y, mean=x[:1], keepdims=False),
    "nanstd": lambda x, y: np.nanstd(np.where(x > 1, np.nan, x).astype(x.dtype), 0, out=y),
    "nanvar": lambda x, y: np.nanvar(x, axis=0, out=y, correction=3),
    "mean": lambda x, y: np.mean(x, axis=0, out=y),
    "nanmean": lambda x, y: np.nanmean(x, axis=0, out=y),
    "ptp": lambda x, y: np.ptp(x, axis=0, out=y),
    "round": lambda x, y: np.round(x[0], 1, out=y),
    "round to tens": lambda x, y: x[0].round(-1, y),
    "einsum of one": lambda x, y: np.einsum("ij->j", x, out=y),
    "einsum of two": lambda x, y: np.einsum(x, [0, 1], x, [0, 1], [1], out=y),
}
PAIRS = [("f4", "f8"), ("f2", "f4"), ("f8", "c16"), ("f8", "f4"), ("i4", "f8"), ("?", "i8")]


def outcome(fn, dtype, out):
    x = (np.random.default_rng(3).normal(size=(3, 4)) * 3).astype(dtype)
    y = np.zeros(4, out)
    with np.errstate(all="ignore"):
        try:
            return fn(x, y), y
        except TypeError as error:
            return type(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
@pytest.mark.parametrize(("dtype", "out"), PAIRS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_computed_in_the_dtype_of_the_output(name, dtype, out, how):
    fn = CALLS[name]
    want, got = outcome(fn, dtype, out), outcome(how(fn), dtype, out)
    assert isinstance(want, type) == isinstance(got, type), (want, got)
    if isinstance(want, type):
        assert got is want
        return
    assert np.allclose(got[0], want[0], rtol=3e-3 if dtype == "f2" else 1e-6, equal_nan=True)
    assert np.array_equal(got[0], got[1], equal_nan=True)
    if out == "f8" and dtype == "f4":
        same(got, want)


def test_a_model_does_so_at_other_sizes():
    def spread(x, out):
        return np.std(x, axis=0, out=out)

    model = jit_onnx(spread).to_onnx(onnxjit.float32["N", "M"], onnxjit.float64["M"])
    session = ort.InferenceSession(model.SerializeToString())
    for n in 5, 1, 0:
        x = np.random.default_rng(n).normal(size=(n, 3)).astype("f4")
        with np.errstate(all="ignore"):
            want = spread(x, np.zeros(3)) if n else np.full(3, np.nan)
        got = session.run(None, {"x": x, "out": np.zeros(3)})[0]
        assert np.allclose(got, want, rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("call", [
    lambda x, y: np.take(x, [1, 2], axis=0, out=y),
    lambda x, y: np.compress([False, True, True], x, axis=0, out=y),
])  # fmt: skip
def test_selections_take_no_wider_output(call):
    x, y = np.ones((3, 4), np.float32), np.zeros((2, 4))
    with pytest.raises(TypeError) as want:
        call(x, y)
    with pytest.raises(TypeError) as got:
        jit_onnx(call)(x, y)
    assert str(want.value) in str(got.value)
