# SPDX-License-Identifier: Apache-2.0
"""`out=` of another dtype than the result's: NumPy has a rule of its own for each function."""

import warnings

import numpy as np
import pytest

from onnxjit import eager_onnx, jit_onnx
from tests.jit.harness import same

F = np.array([1.0, 5.0, -3.5], np.float32)

#: each takes an array and `out`
CALLS = [
    lambda a, b: np.clip(a, 0, 2, out=b),
    lambda a, b: np.clip(a, 0.5, None, out=b),
    lambda a, b: np.clip(a, None, 2, out=b),
    lambda a, b: np.clip(a, 0, 2, out=b, casting="unsafe"),
    lambda a, b: a.clip(0, 2, out=b),
    lambda a, b: np.cumsum(a, out=b),
    lambda a, b: np.cumprod(a, out=b),
    lambda a, b: np.nancumsum(a, out=b),
    lambda a, b: np.around(a, 1, out=b),
    lambda a, b: np.fix(a, out=b),
    lambda a, b: np.take(a, [0, 0, 0], out=b),
    lambda a, b: np.choose(np.zeros(3, int), [a, a], out=b),
    lambda a, b: np.add(a, a, out=b),
    lambda a, b: np.add.accumulate(a, out=b),
    lambda a, b: np.add.reduce(a[None], out=b),
    lambda a, b: np.add.reduceat(a, [0, 1, 2], out=b),
    lambda a, b: np.multiply.reduce(a[None], where=a > 0, out=b),
    lambda a, b: np.concatenate([a[:1], a[1:]], out=b),
    lambda a, b: np.concatenate([a[:1], a[1:]], out=b, casting="unsafe"),
    lambda a, b: np.stack([a, a], out=np.stack([b, b])),
    lambda a, b: np.outer(a, a[:1], out=b[:, None]),
    lambda a, b: np.dot(a[:, None], a[:1], out=b),
    lambda a, b: np.matmul(a[:, None], a[:1], out=b),
    lambda a, b: np.sum(a[None], axis=0, out=b),
    lambda a, b: np.prod(a[None], axis=0, out=b),
    lambda a, b: np.max(a[None], axis=0, out=b),
    lambda a, b: np.ptp(a[None], axis=0, out=b),
    lambda a, b: np.any(a[None], axis=0, out=b),
    lambda a, b: np.mean(a[None], axis=0, out=b),
    lambda a, b: np.var(a[None], axis=0, out=b),
    lambda a, b: np.std(a[None], axis=0, out=b),
    lambda a, b: np.nanmean(a[None], axis=0, out=b),
    lambda a, b: np.median(a[None], axis=0, out=b),
    lambda a, b: np.quantile(a[None], 0.5, axis=0, out=b),
    lambda a, b: np.argmax(a[None], axis=0, out=b),
    lambda a, b: np.trace(a[None, None], axis1=0, axis2=1, out=b),
    lambda a, b: np.einsum("i,i->i", a, a, out=b),
]
PAIRS = [("f4", "i4"), ("i4", "?"), ("?", "?"), ("f4", "f8"), ("f8", "f4"), ("i8", "i2")]


def outcome(fn, a, b):
    a, b = a.copy(), b.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(fn(a, b)), b, None
        except (TypeError, ValueError) as error:
            return None, b, error


@pytest.mark.parametrize("how", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
@pytest.mark.parametrize(("dtype", "out"), PAIRS)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_out_of_another_dtype(number, dtype, out, how):
    fn = CALLS[number]
    a, b = F.astype(dtype), np.zeros(3, out)
    want, after, error = outcome(fn, a, b)
    got, written, raised = outcome(how(fn), a, b)
    assert type(raised) is type(error), (raised, error)
    if error is None:  # NumPy may have written a part before it raises
        same((got, written), (want, after))


def test_the_message_is_numpys():
    with pytest.raises(TypeError, match="Cannot cast ufunc 'clip' output from dtype"):
        jit_onnx(lambda a: np.clip(a, 0, 2, out=a))(np.array([True, False]))


def test_out_takes_part_in_eager_sums():
    x = np.random.default_rng(0).random(1001).astype("f4")
    exact = np.zeros(())
    eager_onnx(lambda x, out: np.sum(x, out=out))(x, exact)
    assert abs(exact - x.sum(dtype="f8")) < 1e-10
