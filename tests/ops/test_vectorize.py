# SPDX-License-Identifier: Apache-2.0
"""``np.vectorize`` with arguments left out, by name, and with a signature."""

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.ops.models import check, check_model

X = np.arange(12.0).reshape(3, 4) - 5
V = np.array([1.0, -2.0, 3.0, 0.5])

CALLS = {
    "excluded": lambda x, v: np.vectorize(lambda a, q: a * q.sum(), excluded=[1])(x, v * 2),
    "by name": lambda x, v: np.vectorize(lambda a, b=1.0: a + b)(x, b=v),
    "excluded name": lambda x, v: np.vectorize(lambda a, q: a + q[0], excluded={"q"})(x, q=v),
    "all by name": lambda x, v: np.vectorize(lambda a, b: a - b)(b=v, a=x),
    "reduction": lambda x, _: np.vectorize(np.sum, signature="(n)->()")(x),
    "same core": lambda x, _: np.vectorize(np.sort, signature="(n)->(n)")(x),
    "two results": lambda x, _: np.vectorize(
        lambda a: (a.sum(), a[::-1]), signature="(n)->(),(n)"
    )(x),
    "two operands": lambda x, v: np.vectorize(
        lambda a, b: a[:, None] * b, signature="(m),(n)->(m,n)"
    )(x, v[:2]),
    "dtype": lambda x, _: np.vectorize(np.mean, signature="(n)->()", otypes=["f4"])(x),
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS)
def test_is_numpys(f):
    check(f, X, V)
    check_model(f, (X, V), (X[:2], V))


@pytest.mark.parametrize(
    ("signature", "f"), [("(n)->(n)", np.sum), ("(m,n)->()", np.sum), ("(n),(n)->()", np.dot)]
)
def test_refusals(signature, f):
    def call(x):
        return np.vectorize(f, signature=signature)(x)

    with pytest.raises((TypeError, ValueError)) as raised:
        call(V)
    with pytest.raises(raised.type):
        jit_onnx(call, fallback="error")(V)
