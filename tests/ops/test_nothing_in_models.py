# SPDX-License-Identifier: Apache-2.0
"""Models of vectors of any size, given none or few elements."""

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import float64, int32, jit_onnx

#: each takes a vector of floats and one of integers
CALLS = {
    "product of polynomials": lambda x, _: np.polymul(x, [2, 1.0]),
    "product by a number": lambda x, _: np.polymul(3, x),
    "quantile of integers": lambda _, i: np.nanquantile(i, 0.3),
    "percentile of integers": lambda _, i: np.nanpercentile(i, 30, method="hazen"),
    "midpoint of integers": lambda _, i: np.nanquantile(i, 0.3, method="midpoint"),
    "bins between edges": lambda x, i: np.histogram(i, np.sort(x)),
    "weights between edges": lambda x, i: np.histogram(i, np.sort(x), weights=i)[0],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_vectors_of_no_elements(name):
    call = CALLS[name]
    model = jit_onnx(call).to_onnx(float64["N"], int32["M"])
    session = ort.InferenceSession(model.SerializeToString())
    names = {given.name for given in session.get_inputs()}
    for n, m in (0, 0), (0, 4), (3, 0), (1, 1), (4, 3):
        rng = np.random.default_rng(n + m)
        x, i = rng.normal(size=n), rng.integers(-3, 4, m).astype("i4")
        feeds = dict(zip(call.__code__.co_varnames, (x, i), strict=True))
        got = session.run(None, {k: v for k, v in feeds.items() if k in names})
        want = call(x, i)
        for a, b in zip(want if isinstance(want, tuple) else (want,), got, strict=True):
            assert np.asarray(a).dtype == b.dtype
            assert np.allclose(a, b, rtol=1e-12, atol=0, equal_nan=True)


def test_quantiles_of_no_complex_numbers_are_numpys_error():
    with pytest.raises(TypeError, match="a must be an array of real numbers"):
        jit_onnx(lambda z: np.nanquantile(z, 0.5))(np.zeros(0, complex))
