# SPDX-License-Identifier: Apache-2.0
"""``x.view(dtype)`` of the same size: the bits of numbers, in calls, models and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import FallbackWarning, OpsetError, UnsupportedError, eager_onnx, jit_onnx

FLOATS = {"f2": "u2", "f4": "u4", "f8": "i8"}
SPECIAL = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e-7, 6e4]


def fields(x: Any) -> Any:
    to = FLOATS[x.dtype.str[1:]]
    u = x.view(to)
    return u, u >> 3, (u ^ 1).view(x.dtype), x[::2].view(to), x[:2].sum().view(to)


def written(x: Any) -> Any:
    y = x.copy()
    u = y.view(FLOATS[x.dtype.str[1:]])
    u &= -2 if u.dtype.kind == "i" else u.dtype.type(2 ** (8 * u.itemsize) - 2)
    u[0] = 5
    return y, y * 2


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", [fields, written])
def test_bits_of_floats(fn: Any, dtype: Any) -> None:
    x = np.array(SPECIAL).astype(dtype)
    jitted, eager = jit_onnx(fn, fallback="error"), eager_onnx(fn)
    with np.errstate(all="ignore"):
        for y in (x, x[:3], x[3:]):
            want = fn(y)
            for got in (jitted(y), eager(y)):
                for a, b in zip(got, want, strict=True):
                    assert type(a) is type(b)
                    assert a.dtype == b.dtype
                    np.testing.assert_array_equal(a, b)
        model = jit_onnx(fn).to_onnx(x, opset=26)
        session = ort.InferenceSession(model.SerializeToString())
        for a, b in zip(session.run(None, {"x": x}), fn(x), strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(OpsetError, match="opset 26"):
        jit_onnx(fn).to_onnx(x, opset=21)


@pytest.mark.parametrize(("a", "b"), [("i1", "u1"), ("u2", "i2"), ("i4", "u4"), ("u8", "i8")])
def test_signs_of_integers(a: Any, b: Any) -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        y.view(b)[1:] += 1
        return x.view(b), y

    x = np.array([0, 1, np.iinfo(a).max, np.iinfo(a).min], a)
    model = jit_onnx(f).to_onnx(x, opset=13)
    session = ort.InferenceSession(model.SerializeToString())
    for got in (jit_onnx(f, fallback="error")(x), session.run(None, {"x": x})):
        for g, w in zip(got, f(x), strict=True):
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(g, w)


def test_other_sizes_are_refused_with_the_line() -> None:
    def f(x: Any) -> Any:
        return x.view(np.uint8)

    with pytest.raises(UnsupportedError, match="same size") as caught:
        jit_onnx(f).to_onnx(np.ones(2))
    assert "test_bits.py" in " ".join(caught.value.__notes__)
    x = np.ones(2)
    with pytest.warns(UserWarning, match="runs eagerly"):
        np.testing.assert_array_equal(jit_onnx(f)(x), f(x))


@pytest.mark.parametrize("dtype", ["f2", "f4", "i2", "i4", "u1", "?", "c8"])
def test_other_sizes_are_not_seen_as_pairs(dtype: Any) -> None:
    def f(x: Any) -> Any:
        return x.view(np.float64)

    x = np.arange(8).astype(dtype)
    np.testing.assert_array_equal(np.asarray(eager_onnx(f)(x)), f(x), strict=True)
    with pytest.raises(UnsupportedError, match=r"(?s)view\(float64\).*test_bits\.py"):
        jit_onnx(f, fallback="error")(x)
    with pytest.warns(FallbackWarning, match=r"\.view\("):
        got = jit_onnx(f)(x)
    np.testing.assert_array_equal(got, f(x), strict=True)


@pytest.mark.parametrize("dtype", ["f8", "i8", "c16"])
def test_bytes_in_the_other_order_are_no_bits_of_the_same_size(dtype: Any) -> None:
    def f(x: Any) -> Any:
        return x.view(np.dtype("f8").newbyteorder("S"))

    x = np.arange(4).astype(dtype)
    with pytest.raises(UnsupportedError, match=r"(?s)view\(.f8\).*test_bits\.py"):
        jit_onnx(f, fallback="error")(x)
