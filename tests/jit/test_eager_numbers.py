# SPDX-License-Identifier: Apache-2.0
"""Python numbers next to eager arrays: NumPy's results and errors, few programs."""

import warnings

import numpy as np
import pytest

from onnxjit import asarray
from onnxjit._eager import evaluate
from tests.jit.harness import same

UFUNCS = [
    np.add, np.true_divide, np.floor_divide, np.divmod, np.less, np.bitwise_or, np.left_shift,
    np.power, np.maximum, np.hypot,
]  # fmt: skip
NUMBERS = [3, 1, 0, -1, 2, 7, 300, -300, 40000, 2**40, -(2**40), 2**62, -(2**63), True, 2.5]


def outcome(ufunc, *args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = ufunc(*args)
        except (OverflowError, TypeError, ValueError) as e:
            return type(e)
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "f4", "f8"])
def test_numbers_of_every_size(ufunc, dtype):
    """One after the other, so that a program of one number meets all others."""
    plain = np.array([3, 0, 5, 1]).astype(dtype)
    for shape in ("array", "element"):
        x, lent = (
            (plain, asarray(plain)) if shape == "array" else (plain[0], asarray(plain)[0])
        )
        for number in NUMBERS:
            where = f"{shape} and {number}"
            for want, got in (
                (outcome(ufunc, x, number), outcome(ufunc, lent, number)),
                (outcome(ufunc, number, x), outcome(ufunc, number, lent)),
            ):
                if isinstance(want, type) or isinstance(got, type):
                    assert got is want, where
                else:
                    same(got, want, where)


@pytest.mark.parametrize(
    "step",
    [
        lambda x, n: x / n,
        lambda x, n: n - x,
        lambda x, n: x[0] * n + 1,
        lambda x, n: x[1] // n,
        lambda x, n: np.maximum(x, n),
    ],
)
def test_counters_of_loops_share_a_program(step, monkeypatch):
    """A loop that counts would compile in each step otherwise."""
    built = []
    build = evaluate._build

    def counting(*args, **options):
        built.append(args)
        return build(*args, **options)

    monkeypatch.setattr(evaluate, "_build", counting)
    x = np.array([3.0, 7.0])
    for n in range(1, 30):
        np.testing.assert_allclose(np.asarray(step(asarray(x), n)), step(x, n))
    assert len(built) <= 4
