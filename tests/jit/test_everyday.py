# SPDX-License-Identifier: Apache-2.0
"""Everyday programs at several sizes: jitted calls and exported models against NumPy."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import AssumptionWarning, jit_onnx
from tests.jit.everyday import PROGRAMS

SIZES = (5, 1, 0, 2, 9)
NAMES = [fn.__name__ for fn, _ in PROGRAMS]
_BOUND = {"float16": 4e-3, "float32": 3e-5, "float64": 1e-10}


def agree(got: Any, want: Any, *, types: bool = True) -> None:
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w, types=types)
        return
    if types:
        assert type(got) is type(want)
    g, w = np.asarray(got), np.asarray(want)
    assert (g.dtype, g.shape) == (w.dtype, w.shape)
    bound = _BOUND.get(w.dtype.name, 0)
    np.testing.assert_allclose(g, w, rtol=bound, atol=bound)


def flat(x: Any) -> list[Any]:
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in flat(item)]
    return [x]


def outcome(fn: Any, args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return fn(*copy.deepcopy(args))
        except Exception as e:  # noqa: BLE001  compared by type
            return e


@pytest.mark.parametrize(("fn", "arguments"), PROGRAMS, ids=NAMES)
def test_calls(fn, arguments):
    jit = jit_onnx(fn, fallback="error")
    for n in SIZES:
        args = arguments(n, np.random.default_rng(n))
        want = outcome(fn, args)
        got = outcome(jit, args)
        if isinstance(want, Exception):
            assert type(got) is type(want), (n, got)
            continue
        if isinstance(got, Exception):
            pytest.fail(f"{got!r} for the size {n}")
        agree(got, want)


@pytest.mark.parametrize(("fn", "arguments"), PROGRAMS, ids=NAMES)
def test_models(fn, arguments):
    args = arguments(SIZES[0], np.random.default_rng(SIZES[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        model = jit_onnx(fn).to_onnx(*args)
    session = ort.InferenceSession(model.SerializeToString())
    noted = [p.value for p in model.metadata_props if p.key == "onnxjit.assumptions"]
    assumed = any(sign in text for text in noted for sign in (">=", "!="))
    for n in SIZES[:1] if assumed else SIZES:
        args = arguments(n, np.random.default_rng(n))
        want = outcome(fn, args)
        if isinstance(want, Exception):
            continue
        feeds = [x for x in flat(args) if isinstance(x, np.ndarray)]
        names = [i.name for i in session.get_inputs()]
        got = session.run(None, dict(zip(names, feeds, strict=True)))
        agree(tuple(got), tuple(flat(want)), types=False)
