# SPDX-License-Identifier: Apache-2.0
"""Programs around Fourier transforms: calls, eager calls and models against NumPy."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import AssumptionWarning, eager_onnx, jit_onnx
from onnxjit._lower.opsets import supported
from tests.jit.signal_programs import PROGRAMS

IDS = [f"{fn.__name__}-{number}" for number, (fn, _) in enumerate(PROGRAMS)]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def near(got: Any, want: Any, where: str = "") -> None:
    if isinstance(want, tuple):
        assert len(got) == len(want), where
        for g, w in zip(got, want, strict=True):
            near(g, w, where)
        return
    g, w = np.asarray(got), np.asarray(want)
    assert (g.dtype, g.shape) == (w.dtype, w.shape), where
    if w.dtype.kind not in "fc":
        np.testing.assert_array_equal(g, w, err_msg=where)
        return
    bound = 1e-5 if w.real.dtype == np.float32 else 1e-11
    size = float(np.abs(w).max(initial=1.0))
    check: Any = np.testing.assert_allclose
    check(g, w, rtol=bound, atol=bound * size, err_msg=where)


@pytest.mark.parametrize(("fn", "calls"), PROGRAMS, ids=IDS)
def test_calls(fn, calls):
    jit = jit_onnx(fn, fallback="error")
    for number, args in enumerate(calls):
        near(jit(*copy.deepcopy(args)), fn(*copy.deepcopy(args)), f"input {number}")


@pytest.mark.parametrize(("fn", "calls"), PROGRAMS, ids=IDS)
def test_eager_calls(fn, calls):
    for number, args in enumerate(calls[:2]):
        got = eager_onnx(fn)(*copy.deepcopy(args))
        near(got, fn(*copy.deepcopy(args)), f"input {number}")


def flat(x: Any) -> list[Any]:
    return [leaf for item in x for leaf in flat(item)] if isinstance(x, tuple) else [x]


def as_parts(x: Any) -> Any:
    """Return what a model has in the place of an array: complex ones are pairs."""
    x = np.asarray(x)
    if x.dtype.kind != "c":
        return x
    return np.stack([x.real, x.imag], -1)


@pytest.mark.parametrize("opset", [supported()[0], supported()[-1]])
@pytest.mark.parametrize(("fn", "calls"), PROGRAMS, ids=IDS)
def test_models(fn, calls, opset):
    """A model of the first input is right for all others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        model = jit_onnx(fn, opset=opset).to_onnx(*copy.deepcopy(calls[0]))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [i.name for i in session.get_inputs()]
    for number, args in enumerate(calls):
        got = session.run(None, dict(zip(names, map(as_parts, args), strict=True)))
        want = flat(fn(*copy.deepcopy(args)))
        assert len(got) == len(want)
        near(tuple(got), tuple(map(as_parts, want)), f"input {number}")
