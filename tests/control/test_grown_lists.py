# SPDX-License-Identifier: Apache-2.0
"""Lists that each iteration lengthens alike: the loop stacks, and carries no copy of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
import pytest

import onnxjit
from onnxjit import jit_onnx, scan
from onnxjit._lower.opsets import supported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

X = np.array([0.5, -1.25, 3.0, 2.0])


def halved(x, y):
    out = [y * 0]
    for _ in range(len(x)):
        y = np.sqrt(y * y + 1)
        out.append(y)
    return np.stack(out)


def twice(x, y):
    out = [y, y + 1]
    for v in x:
        y = np.cos(y) * v
        out.append(y)
        out.append(-y)
    return np.array(out)


def pairs(x, y):
    out = [(y, 0.5)]
    for v in x:
        y = np.cos(y) * v
        out.append((y, v * 2))
    return np.array([a for a, _ in out]), np.array([b for _, b in out])


def with_length(x, y):
    out = [y]
    for v in x:
        y = np.cos(y) * v
        out.append(y + len(out))
    return np.array(out)


def joined(x, y):
    out = y[:1]
    for v in x:
        y = np.cos(y) * v
        out = np.concatenate([out, y, y[:1]])
    return out


def stacked(x, y):
    return scan(lambda c, v: (np.cos(c) * v, (c, v)), y, x)


STACKED = [halved, twice, pairs, with_length, joined, stacked]


def reads_it(x, y):
    out = [y]
    for v in x:
        out.append(np.cos(out[-1]) * v)
    return np.array(out)


def reads_between(x, y):
    out = [y]
    for v in x:
        y = np.cos(y) * v
        out.append(y)
        y = y + out[0]
        out.append(y)
    return np.array(out)


def on_a_condition(x, y):
    out = [y]
    for v in x:
        y = np.cos(y) * v
        if v > 0:
            out.append(y)
    return np.array(out)


def in_front(x, y):
    out = y[:1]
    for v in x:
        y = np.cos(y) * v
        out = np.concatenate([y, out])
    return out


def doubled(x, y):
    out = y[:1]
    for v in x:
        out = np.concatenate([out, out * v])
    return out


CARRIED = [reads_it, reads_between, on_a_condition, in_front, doubled]


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _agree(got: Any, want: Any) -> None:
    for a, b in zip(_flat(got), _flat(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)
        assert (np.asarray(a).dtype, np.shape(a)) == (np.asarray(b).dtype, np.shape(b))


@pytest.mark.parametrize("opset", [13, max(supported())])
@pytest.mark.parametrize("fn", [*STACKED, *CARRIED])
def test_results(fn: Callable[..., Any], opset: int) -> None:
    jit = jit_onnx(fn, fallback="error", opset=opset)
    model = jit.to_onnx(X, X[:3])
    session = ort.InferenceSession(model.SerializeToString())
    for x, y in ((X, X[:3]), (X[:1], X[:2]), (X[:0], X), (X, X[:1]), (X[:0], X[:1])):
        want = fn(x, y)
        _agree(jit(x, y), want)
        _agree(tuple(session.run(None, {"x": x, "y": y})), want)


def _flat(want: Any) -> Any:
    if not isinstance(want, tuple):
        return (want,)
    return tuple(w for part in want for w in (part if isinstance(part, tuple) else (part,)))


@pytest.mark.parametrize("fn", STACKED)
def test_no_list_is_carried(fn: Callable[..., Any]) -> None:
    (loop,) = [n for n in jit_onnx(fn).to_onnx(X, X[:3]).graph.node if n.op_type == "Loop"]
    carried = len(loop.input) - 2
    assert carried == 1  # y
    assert len(loop.output) > carried


def test_rows_of_a_map_that_are_computed_at_once_need_no_loop() -> None:
    model = jit_onnx(lambda x: onnxjit.map(lambda v: v * 2 + 1, x)).to_onnx(X)
    assert "Loop" not in {n.op_type for n in _nodes(model.graph)}


def test_lists_of_lists() -> None:
    def table(x, y):
        out = []
        for v in x:
            row = [np.cos(v)]
            for w in y:
                row.append(row[0] * w)
            out.append(np.array(row))
        return np.array(out)

    jit = jit_onnx(table)
    for x, y in ((X, X[:3]), (X[:2], X)):
        np.testing.assert_allclose(jit(x, y), table(x, y), rtol=1e-14)
