# SPDX-License-Identifier: Apache-2.0
"""Places that only the data knows: insert, split, and what takes a float for a count."""

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import eager_onnx, jit_onnx
from tests.jit.harness import same

X = np.array([0.5, -1.5, 2.0, 3.25, -0.75, 1.0])
I = np.array([3, 0, 3])  # noqa: E741
FLOATS: Any = [1.5, 2.0]
U = np.array([0, 1, 2, 250], np.uint8)

#: each takes floats, places and bytes
CALLS = {
    "insert before places": lambda x, i, ___: np.insert(x, i, 9),
    "insert values": lambda x, i, ___: np.insert(x, i, [7, 8, 9]),
    "insert before one place": lambda x, i, ___: np.insert(x, i[1], [7, 8, 9]),
    "insert many before a list of one": lambda x, __, ___: np.insert(x, [2], [7, 8, 9]),
    "insert columns": lambda x, i, ___: np.insert(x.reshape(2, 3), i[1:], [[7, 8]], axis=1),
    "insert rows": lambda x, i, ___: np.insert(x.reshape(2, 3), i[1] - 1, i, axis=0),
    "insert before elements that are true": lambda x, __, ___: np.insert(x, x > 1, -x.max()),
    "insert before a slice": lambda x, __, ___: np.insert(x, slice(None, None, -2), [7, 8, 9]),
    "insert before none": lambda x, __, ___: np.insert(x, np.flatnonzero(x > 99), 1),
    "split at places": lambda x, i, ___: np.split(x, i),
    "split at a list": lambda x, i, ___: np.split(x, [i[0], 5, -i[1]]),
    "split where it falls": lambda x, i, ___: np.array_split(x, i[:2] + 1),
    "split columns": lambda x, i, ___: np.hsplit(x.reshape(2, 3), i[1:2] + 1),
    "roll by a float": lambda x, __, ___: np.roll(x, FLOATS[1]),
    "roll by half a place": lambda x, i, ___: np.roll(x, i[0] / 2),
    "repeat a float number of times": lambda x, __, ___: np.repeat(x, len(x) / FLOATS[1]),
    "repeat by a list of floats": lambda x, __, ___: np.repeat(x[:2], FLOATS),
    "round to many decimals": lambda x, __, ___: np.round(x, 400),
    "where of ints that do not fit": lambda _, __, u: np.where(u > 1, u, -1),
    "where of a large int": lambda _, __, u: np.where(u > 1, 300, u),
    "select of a default that does not fit": lambda _, __, u: np.select([u > 1], [u], -2),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", [lambda f: jit_onnx(f, fallback="error"), eager_onnx])
@pytest.mark.parametrize("name", CALLS)
def test_calls(name, how):
    call = CALLS[name]
    same(how(call)(X, I, U), call(X, I, U))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith("insert before")])
def test_models_at_other_sizes(name):
    call = CALLS[name]
    model = jit_onnx(call).to_onnx(X, I, U)
    session = ort.InferenceSession(model.SerializeToString())
    names = {given.name for given in session.get_inputs()}
    for x, i in (X[:4], I), (X[:5], I[::-1]), (np.arange(9.0), np.array([-1, 9, 4, 4])):
        try:
            want = call(x, i, U)
        except ValueError:
            continue
        feeds = dict(zip(call.__code__.co_varnames, (x, i, U), strict=True))
        got = session.run(None, {k: v for k, v in feeds.items() if k in names})
        same(got[0], want)


def test_mistakes_are_numpys():
    half: Any = 1.5
    lists: Any = [[1, 2]]
    for call in (
        lambda x, i: np.insert(x, i + 90, 1),
        lambda x, i: np.insert(x, i / 2, 1),
        lambda x, _: np.insert(x, lists, 1),
        lambda x, i: np.insert(x, i[:, None], 1),
        lambda x, _: np.split(x, [half]),
        lambda x, _: np.round(x, half),
        lambda x, _: np.repeat(x, [1, 2]),
        lambda x, _: np.repeat(x, x),
        lambda x, i: np.take_along_axis(x.reshape(2, 3), i[None, :2], axis=0),
        lambda x, _: np.choose(x, [1, 2]),
        lambda _, i: np.select([i > 1], [300], i.astype("u1")),
    ):
        with pytest.raises((ValueError, TypeError, IndexError)) as want:
            call(X, I)
        with pytest.raises(type(want.value)) as got:
            jit_onnx(call)(X, I)
        assert str(want.value).split(" (")[0] in str(got.value)
