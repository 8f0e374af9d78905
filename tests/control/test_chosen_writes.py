# SPDX-License-Identifier: Apache-2.0
"""Writes to arrays that are one of several by a condition, and to those that they may be."""

import itertools
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import AliasError, float64, jit_onnx


def either(x: Any, y: Any, s: Any) -> Any:
    v = x if s > 0 else y
    v += 1
    return v, x, y


def swapped_names(x: Any, y: Any, s: Any) -> Any:
    if x.sum() > 3:
        a, b = x, y
    else:
        a, b = y, x
    a[0] = 7
    b[-1:] = 5
    x[1] = a[0] + 1
    return a, b, x.copy(), y


def either_part(x: Any, y: Any, s: Any) -> Any:
    v = x[1:] if x.sum() > s else x[:-1]
    v += 1
    x[1] = 9
    v *= 2
    return v, x


def copy_or_array(x: Any, y: Any, s: Any) -> Any:
    v = x.copy() if x.sum() > s else y
    v[v > 0] = 0
    w = v if y.sum() > 2 else x
    w[0] = 3
    v += 1
    y += 1
    return v, w, x, y


def written_in_a_loop(x: Any, y: Any, s: Any) -> Any:
    v = x if x.sum() > s else y
    for i in range(len(x)):
        if v[i] > 1:
            v[i] = 0
        y[0] += 1
    return v


def chosen_in_a_loop(x: Any, y: Any, s: Any) -> Any:
    for i in range(len(x)):
        v = x if x.sum() > s else y
        v[i] += 2
    return x.sum()


def of_other_sizes(x: Any, y: Any, s: Any) -> Any:
    v = x[1:] if x.sum() > s else y
    v[:1] = 4
    y[:] = v[0]
    return v.sum()


def chosen_of_chosen(x: Any, y: Any, s: Any) -> Any:
    k = int(abs(s)) % 3
    v = x[k:] if x.sum() > s else y[: k + 1]
    v += 1
    z = v if y.sum() > 1 else x
    z *= 2
    x[0] = -1
    return v.sum(), z.sum()


PROGRAMS = [
    either, swapped_names, either_part, copy_or_array, written_in_a_loop, chosen_in_a_loop,
    of_other_sizes, chosen_of_chosen,
]  # fmt: skip


def _inputs() -> Any:
    for seed, s in itertools.product(range(6), (3.0, 100.0, -100.0)):
        rng = np.random.default_rng(seed)
        x, y = (rng.integers(-3, 5, 3 + seed % 2) / 2 for _ in range(2))
        yield x, y, s


def _parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_all_names_see_the_write(fn: Any) -> None:
    converted = jit_onnx(fn, fallback="error")
    for x, y, s in _inputs():
        a, b = (x.copy(), y.copy()), (x.copy(), y.copy())
        got, want = _parts(converted(*a, s)), _parts(fn(*b, s))
        for p, q in zip((*got, *a), (*want, *b), strict=True):
            np.testing.assert_array_equal(p, q)
    assert converted.cache_info()["graphs"] <= 2


@pytest.mark.parametrize("opset", [13, None])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_models_give_what_was_written(fn: Any, opset: int | None) -> None:
    model = jit_onnx(fn).to_onnx(
        float64["N"], float64["N"], float64, opset=opset, mutated="outputs"
    )
    session = ort.InferenceSession(model.SerializeToString())
    names = [o.name for o in session.get_outputs()]
    for x, y, s in _inputs():
        feeds = {"x": x.copy(), "y": y.copy(), "s": np.array(s)}
        kept = {i.name: feeds[i.name] for i in session.get_inputs()}
        got = dict(zip(names, session.run(None, kept), strict=True))
        a, b = x.copy(), y.copy()
        fn(a, b, s)
        np.testing.assert_array_equal(got.get("x_out", x), a)
        np.testing.assert_array_equal(got.get("y_out", y), b)


def of_two_dtypes(x: Any, y: Any) -> Any:
    v = x if x.sum() > 3 else y
    v += 1
    return v


def read_only(x: Any, y: Any) -> Any:
    v = x if x.sum() > 3 else np.broadcast_to(y, (2, 3))
    v += 1
    return v


def test_what_no_condition_can_follow_is_refused() -> None:
    with pytest.raises(AliasError):
        jit_onnx(of_two_dtypes, fallback="error")(np.ones(3), np.ones(3, np.float32))
    with pytest.raises(AliasError):
        jit_onnx(read_only, fallback="error")(np.ones((2, 3)), np.ones(3))


def rebound_in_a_loop(x: Any, y: Any, s: Any) -> Any:
    z = x
    for e in y:
        z = z + e
        if z.sum() > s:
            break
    z[:1] = 7
    x += 1
    z *= 2
    return z.sum(), x.sum()


def rebound_while(x: Any, y: Any, s: Any) -> Any:
    z = x[1:]
    while z.sum() < abs(s) / 10:
        z = z + 1
    z[z > 1] = 0
    return z.sum()


@pytest.mark.parametrize("fn", [rebound_in_a_loop, rebound_while])
def test_a_loop_may_leave_what_was_there_or_a_new_array(fn: Any) -> None:
    converted = jit_onnx(fn, fallback="error")
    for x, y, s in _inputs():
        for other in (y, y[:0], y[:1]):
            a, b = (x.copy(), other.copy()), (x.copy(), other.copy())
            got, want = _parts(converted(*a, s)), _parts(fn(*b, s))
            for p, q in zip((*got, *a), (*want, *b), strict=True):
                np.testing.assert_array_equal(p, q)


def swapped_again_and_again(x: Any, y: Any) -> Any:
    for k in range(12):
        if x.sum() > k:
            x, y = y, x
        x[:-1] += 1
        y[k % 3] *= -1
    return x, y


def parts_of_parts(x: Any, y: Any) -> Any:
    for k in range(4):
        v = x[k % 2 :] if y[0] > k else x[: 3 + k % 2]
        w = v[:2] if x[0] > 1 else v[-2:]
        w += k
        v[0] -= 1
    return x, y


@pytest.mark.parametrize("fn", [swapped_again_and_again, parts_of_parts])
def test_choices_among_choices_grow_with_their_number(fn: Any) -> None:
    jit = jit_onnx(fn, fallback="error")
    for seed in range(6):
        x, y = np.random.default_rng(seed).normal(2, 3, (2, 5))
        for want, got in zip(fn(x.copy(), y.copy()), jit(x.copy(), y.copy()), strict=True):
            np.testing.assert_allclose(got, want)
    model = jit.to_onnx(x, y, mutated="drop")
    nodes = list(model.graph.node)
    for node in nodes:
        nodes += [n for a in node.attribute for n in a.g.node]
    assert len(nodes) < 5_000
