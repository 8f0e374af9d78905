# SPDX-License-Identifier: Apache-2.0
"""Arrays made inside a function: plain values until something traced is written to them."""

from typing import Any

import numpy as np
import pytest

from onnxjit import DataDependentError, jit_onnx
from tests.jit.harness import agrees

V = np.array([3.0, -1.5, 2.25])
M = np.arange(6.0).reshape(2, 3)
F4 = np.array([1.5, -2.5, 3.5], np.float32)
I4 = np.array([5, -7, 3], np.int32)


# ------------------------------------------------------------------ known values


def test_a_made_array_is_iterated():
    def f(x):
        k = np.array([1, 2])
        for i in k:
            x = x * i + x[i]
        return x

    agrees(f, (V,), graphs=1)


def test_a_made_order_is_a_tuple():
    def f(x):
        order = [1, 0]
        return x.transpose(tuple(np.argsort(order))), x.transpose(np.argsort(order))

    agrees(f, (M,), graphs=1)


def test_the_truth_of_made_arrays_is_known():
    def f(x):
        w = np.zeros(3)
        if np.all(w == 0) and not w.any():
            x = x + 1
        if w.sum() > 0:
            x = x * 100
        while w[0] < 2:
            w[0] += 1
            x = x + w
        return x

    agrees(f, (V,), graphs=1)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.reshape(np.array([3, 1])),
        lambda x: x[int(np.argmax([1, 5, 2]))],
        lambda x: x[np.argmax([1, 5, 2]) :],
        lambda x: x[np.array([2, 0])],
        lambda x: x[np.arange(3) % 2 == 0],
        lambda x: x[np.array([True, False, True])],
        lambda x: np.zeros(np.array([2, 3]).max()),
        lambda x: np.zeros(tuple(np.array([2, 3]))),
        lambda x: [x * i for i in np.arange(3)],
        lambda x: [x[i] for i in np.argsort([2, 0, 1])],
        lambda x: {int(k): x * k for k in np.array([1, 2])},
        lambda x: range(int(np.array(3)))[-1] * x,
        lambda x: x.sum(axis=int(np.array(0))),
        lambda x: np.array([1, 2]).tolist() + [x],  # noqa: RUF005
        lambda x: str(np.array([1, 2])),
        lambda x: f"{np.float64(2.5):.2f}",
        lambda x: np.float64(np.pi) * x,
        lambda x: x * np.arange(6).reshape(2, 3)[1, 2],
        lambda x: np.linalg.inv(np.array([[2.0, 0], [0, 4.0]]))[0, 0] * x,
        lambda x: np.unique([3, 1, 3])[0] + x,
        lambda x: x + np.random.default_rng(3).normal(size=3),
        lambda x: x + np.random.RandomState(3).rand(3),
        lambda x: np.where(np.eye(3), x, 0),
        lambda x: np.add.reduce(np.ones(3)) * x,
        lambda x: x * (np.array([1, 2]) == np.array([1, 2])).all(),
        lambda x: x + len(np.nonzero(np.array([1, 0, 2]))[0]),
        lambda x: x if np.array_equal([1, 2], [1, 2]) else -x,
        lambda x: x if np.isclose(0.1 + 0.2, 0.3) else -x,
        lambda x: x * np.finfo(x.dtype).eps + np.iinfo(np.int8).max,
        lambda x: x.astype(np.result_type(x, np.float32)),
        lambda x: x * float(np.prod([2, 3])),
        lambda x: np.meshgrid(np.arange(2), np.arange(3))[1] + x[0],
        lambda x: x[np.ix_([0, 2])],
        lambda x: np.r_[1:3, 5] * x,
        lambda x: np.c_[x, x],
        lambda x: np.r_[x, 1.0, x],
        lambda x: np.mgrid[0:2, 0:3].sum() + x,
        lambda x: x[np.s_[1:]],
        lambda x: np.array([[1, 2], [3, 4]]) @ np.array([1, 1]) + x[0],
        lambda x: np.datetime64("2020-01-02") > np.datetime64("2020-01-01"),
    ],
)
def test_known_values_are_plain(fn):
    agrees(fn, (V,), graphs=1)


def test_known_values_of_symbolic_size_are_not_plain():
    agrees(
        lambda x: np.arange(len(x)) * x + np.zeros(x.shape), (V,), (V[:2],), (V[:0],), graphs=1
    )


# ------------------------------------------------------------------ writes


def test_a_buffer_takes_traced_values():
    def f(x):
        buf = np.zeros(3)
        buf[0] = x[1]
        buf[1:] = x[:2] * 2
        buf += 1
        return buf

    agrees(f, (V,), graphs=1)


def test_a_buffer_of_symbolic_size_takes_traced_values():
    def f(x):
        buf = np.zeros(x.shape[0])
        buf[::2] = x[::2]
        out = np.empty_like(x)
        out[:] = buf * 2
        return buf, out

    agrees(f, (V,), (V[:2],), (V[:1],), (V[:0],), graphs=1)


def test_a_buffer_is_known_until_it_is_written():
    def f(x):
        buf = np.zeros(3)
        buf[1] = 2
        assert buf[1] == 2
        buf[0] = x[0]
        return buf

    agrees(f, (V,), graphs=1)

    def g(x):
        buf = np.zeros(3)
        buf[0] = x[0]
        return str(buf[1])

    with pytest.raises(DataDependentError):
        jit_onnx(g, fallback="error")(V)


def test_a_buffer_keeps_its_dtype():
    def f(x):
        a, b = np.zeros(3, np.int32), np.zeros(3, np.float32)
        a[:] = x
        b[0] = x[0]
        return a, b

    agrees(f, (V,), graphs=1)


def test_out_is_a_made_array():
    def f(x):
        out = np.empty(3)
        r = np.multiply(x, 2, out=out)
        np.add(out, 1, out)
        return out, r is out

    agrees(f, (V,), graphs=1)


def test_a_view_of_a_buffer_is_written():
    def f(x):
        buf = np.zeros((2, 3))
        top = buf[0]
        top[:] = x
        buf.T[1] += 1
        return buf, top

    agrees(f, (V,), graphs=1)


def test_a_static_write_does_not_reach_an_earlier_copy():
    def f(x):
        a = np.arange(3)
        b, c = a.copy(), a
        a[0] = 7
        return a + x, b + x, c + x

    agrees(f, (V,), graphs=1)


def test_mutating_made_arrays_in_place():
    def f(x):
        a = np.array([3, 1, 2])
        a.sort()
        b = a[::-1]
        b += 1
        a.fill(a[0])
        return x[a - 2]

    agrees(f, (V,), graphs=1)


def test_lists_of_traced_arrays_grow():
    def f(x):
        out = []
        for i in range(3):
            out.append(x * i)  # noqa: PERF401
        out.insert(0, x)
        out += [x + 1]
        out[0] = out[0] - 1
        del out[1]
        return out, np.stack(out), len(out)

    agrees(f, (V,), graphs=1)


# ------------------------------------------------------------------ np.array


@pytest.mark.parametrize("x", [V, F4, I4], ids=["f8", "f4", "i4"])
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.array([x[0], 1.0, x[1]]),
        lambda x: np.array([x[0], 1, x[1]]),
        lambda x: np.array([[x[0], x[1]], [0, 1]]),
        lambda x: np.array([x, x]),
        lambda x: np.array([x, np.arange(3)]),
        lambda x: np.array((x[0], x.sum())),
        lambda x: np.array([x[0], x[1]], dtype=np.float32),
        lambda x: np.array([x.shape[0], x.ndim]),
        lambda x: np.array([x.shape[0] * 1.0, x[0]]),
        lambda x: np.array(x),
        lambda x: np.array(x, dtype=np.int16),
        lambda x: np.array(x, ndmin=2),
        lambda x: np.array(x[0]),
        lambda x: np.array([x[0]]),
        lambda x: np.array([[]]),
        lambda x: np.array([float(x[0]), 2]),
        lambda x: np.array([True, x[0] > 1]),
        lambda x: np.asarray([x[0], 2]),
        lambda x: np.asarray(x, np.float32),
        lambda x: np.asarray(x) is x,
        lambda x: np.asarray(x, x.dtype) is x,
        lambda x: np.asarray(x, dtype="f8").dtype.name,
        lambda x: np.asanyarray(x) is x,
        lambda x: np.ascontiguousarray(x),
        lambda x: np.float32(x),
        lambda x: np.float64(x[0]),
        lambda x: np.int64(x),
        lambda x: np.bool_(x),
        lambda x: np.stack([x, np.zeros(3), [1, 2, 3]]),
        lambda x: np.concatenate([x, [1, 2]]),
        lambda x: np.concatenate([[x[0]], x, np.ones(2, np.float32)]),
        lambda x: np.hstack([x, 1, x[0]]),
        lambda x: np.vstack([x, np.arange(3)]),
        lambda x: np.column_stack([x, x]),
        lambda x: np.full(3, x[0]),
        lambda x: np.full_like(x, x[1]),
        lambda x: np.zeros_like(x) + np.ones_like(x, dtype=np.float32),
        lambda x: np.sum([x, x]),
        lambda x: np.sum([x[0], 2]),
        lambda x: np.maximum([1, 2, 3], x),
        lambda x: np.max([x[0], x[1]]),
        lambda x: np.dot([1, 2, 3], x),
        lambda x: np.where([True, False, True], x, [1, 2, 3]),
        lambda x: np.mean([x[0], x[1], 3]),
        lambda x: np.copy(x),
        lambda x: np.append(x, [1, 2]),
        lambda x: np.array([v * 2 for v in x]),
        lambda x: np.array(list(x)),
        lambda x: np.array([x.min(), x.max(), x.mean()]),
        lambda x: np.fromiter([1, 2], int) * x[0],
        lambda x: x + [1, 2, 3],  # noqa: RUF005
        lambda x: [1, 2, 3] - x,
        lambda x: x @ [1, 2, 3],
        lambda x: (x > [0, 0, 3]).sum(),
        lambda x: np.add([x[0], 1], [2, x[1]]),
        lambda x: np.linspace(x[0], x[1], 4),
        lambda x: np.clip(x, [0, 0, 0], 2),
    ],
)
def test_arrays_of_mixed_parts(fn, x):
    agrees(fn, (x,), graphs=1)


def test_a_copy_is_independent():
    def f(x):
        a, b, c = np.array(x), x.copy(), np.copy(x)
        d = np.asarray(x)
        x[0] = 7
        return a, b, c, d

    agrees(f, (V.copy(),), graphs=1)


def test_ragged_lists_are_numpys_error():
    with pytest.raises(ValueError, match="inhomogeneous"):
        jit_onnx(lambda x: np.array([x, x[:2]]), fallback="error")(V)


def test_broadcast_objects_tell_the_shape():
    def f(x, y):
        b = np.broadcast(x, y)
        return np.zeros(b.shape) + b.ndim + b.size, np.array_equiv(x, y), np.array_equiv(x, x)

    agrees(f, (M, V), (M[:1], V), graphs=1)
    agrees(lambda x, y: np.array_equiv(x, y), (V, V[:2]))


@pytest.mark.parametrize("number", [1j, 1.5, 2, True, np.complex64(1j), np.int8(3)])
def test_what_is_made_of_numbers_is_of_numpys_kind(number):
    functions: list[Any] = [
        np.real, np.imag, np.squeeze, np.transpose, np.ravel, np.atleast_1d,
    ]  # fmt: skip

    def f(x):
        return [g(number) for g in functions], np.real(number) + x

    agrees(f, (V,), graphs=1)
