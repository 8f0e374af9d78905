# SPDX-License-Identifier: Apache-2.0
"""`np.vectorize`, `np.ndindex` and `np.ndenumerate`: loops of the graph, for every size."""

import math

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import UnsupportedError, eager_onnx, float64, jit_onnx

RNG = np.random.default_rng(7)
X = RNG.normal(size=(4, 3))


def same(got, want):
    assert type(got) is type(want)
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12, strict=True)


# ------------------------------------------------------------------------------ np.vectorize


@np.vectorize
def clipped(v):
    if v < 0:
        return 0.0
    return 1.0 if v > 1 else v


@np.vectorize
def greatest_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


parts = np.vectorize(lambda v: (v // 2, v / 2))
positive = np.vectorize(lambda v: v if v > 0 else 0.5, otypes=[float])
narrow = np.vectorize(lambda v: v + 1, otypes=["int32"])
scaled = np.vectorize(lambda v, by: math.sqrt(abs(v)) * by)
tripled = np.vectorize(lambda v: v * 3)
INTS = np.array([3, -1, 4, 12])


def called(fn):
    def caller(*args):
        return fn(*args)

    return caller


CALLS = [
    (clipped, (X,)),
    (clipped, (X[0],)),
    (clipped, (np.array(2.5),)),
    (clipped, (np.float64(0.25),)),
    (greatest_divisor, (abs(INTS), np.array([6, 9, 2, 8]))),
    (greatest_divisor, (np.array([[12], [18]]), np.array([8, 6, 9]))),
    (parts, (INTS,)),
    (positive, (INTS,)),
    (narrow, (INTS,)),
    (narrow, (np.zeros(0, np.int64),)),
    (scaled, (X, 2.0)),
    (tripled, (X.astype(np.float32),)),
    (tripled, (INTS.astype(np.int8),)),
]


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize(("fn", "args"), CALLS)
def test_vectorize_is_numpys(fn, args, opset):
    same(jit_onnx(called(fn), fallback="error", opset=opset)(*args), fn(*args))


def test_vectorize_is_one_graph_for_all_sizes():
    jit = jit_onnx(called(clipped), fallback="error")
    for n in (1, 2, 50):
        x = RNG.normal(size=n)
        same(jit(x), clipped(x))
    assert repr(jit).endswith(": 1 graph>")


def test_vectorize_gets_pythons_numbers():
    x = np.array([16777217, 3], np.float32)
    same(jit_onnx(called(tripled), fallback="error")(x), tripled(x))


def test_a_dtype_that_the_first_element_decides_is_refused():
    mixed = np.vectorize(lambda v: v if v > 0 else 0.5)
    with pytest.raises(UnsupportedError, match="int64 or float64, and the first element"):
        jit_onnx(called(mixed), fallback="error")(INTS)


def test_vectorize_without_elements_raises_as_numpy():
    with pytest.raises(ValueError, match="size 0 inputs"):
        jit_onnx(called(tripled))(np.zeros(0))


# ------------------------------------------------------------------- ndindex and ndenumerate


def by_places(x):
    out = np.zeros_like(x)
    for i, j in np.ndindex(*x.shape):
        out[i, j] = x[i, j] * (i + 2 * j)
    return out


def by_tuples(x):
    out = x.copy()
    for place in np.ndindex(x.shape):
        out[place] += sum(place)
    return out


def smoothed(x):
    h, w = x.shape
    out = x.copy()
    for i, j in np.ndindex(h - 2, w - 2):
        out[i + 1, j + 1] = x[i : i + 3, j : j + 3].mean()
    return out


def enumerated(x):
    total = np.float64(0)
    for (i, j), v in np.ndenumerate(x):
        if v > 0:
            total += v * (i - j)
    return total


def three_axes(x):
    found = 0
    for i, j, k in np.ndindex(x.shape[0], x.shape[1], 2):
        if x[i, j] > 0:
            found += i + j * k
    return found


def flat_elements(x):
    total = np.float64(0)
    for v in x.flat:
        if v > 0:
            total += v
    return total


def written_while_gone_through(x):
    out = x.copy()
    for k, v in enumerate(out.flat):
        out.flat[k] = v + out[0, 0]
    return out


PROGRAMS = [flat_elements, by_places, by_tuples, smoothed, enumerated, three_axes]
SIZES = [(4, 3), (1, 1), (2, 5), (0, 3), (3, 0), (9, 8)]


@pytest.mark.parametrize("opset", [13, 28])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_places_are_numpys(fn, opset):
    jit = jit_onnx(fn, fallback="error", opset=opset)
    for size in SIZES if fn is not smoothed else [(4, 3), (2, 5), (9, 8)]:
        x = RNG.normal(size=size)
        same(jit(x), fn(x))


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_models_take_every_size(fn):
    model = jit_onnx(fn).to_onnx(float64["N", "M"])
    session = ort.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for size in [(4, 3), (2, 5), (7, 7)]:
        x = RNG.normal(size=size)
        (got,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, fn(x), rtol=1e-12)


def test_known_places_are_gone_through_in_python():
    def fn(x):
        return list(np.ndindex(2, 2)), [place[0] for place in np.ndindex(3)], x + 1

    same(jit_onnx(fn, fallback="error")(X)[2], X + 1)
    assert jit_onnx(fn, fallback="error")(X)[:2] == fn(X)[:2]


def test_an_iterator_that_a_loop_has_gone_through_says_so():
    def some(x):
        elements = x.flat
        for v in elements:
            if v > 1:
                break
        return list(elements)

    def whole(x):
        elements = x.flat
        total = np.float64(0)
        for v in elements:
            total += v
        return total, list(elements), len(elements)

    with pytest.raises(UnsupportedError, match="a loop of the graph has gone through"):
        jit_onnx(some, fallback="error")(X)
    assert jit_onnx(whole, fallback="error")(X) == whole(X)


def test_writes_are_seen_by_elements_that_follow():
    same(jit_onnx(written_while_gone_through)(X), written_while_gone_through(X))


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (4,), (2, 3, 4), (0, 3), (3, 0), (0,), ()])
def test_elements_are_gone_through_at_once_as_in_numpy(shape):
    def fn(x):
        last, total = x.flat, 0.0
        for place, v in np.ndenumerate(x):
            total = total * 0.5 + v * (1 + sum(place))
        for _ in last:
            pass
        return float(total), last.coords, last.index

    x = RNG.normal(size=shape)
    assert eager_onnx(fn)(x) == fn(x)
