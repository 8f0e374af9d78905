# SPDX-License-Identifier: Apache-2.0
"""Jitted calls and onnxruntime as others use it: its defaults, in the same process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.jit.harness import run_model

SCRIPT = """
import numpy as np
import onnxruntime as ort
from onnxjit import jit_onnx

jit = jit_onnx(lambda x: x + 1, fallback="error")
jit(np.ones(3))
model = jit.to_onnx(np.ones(3))
(name,) = (i.name for i in model.graph.input)
session = ort.InferenceSession(model.SerializeToString())
assert (session.run(None, {name: np.ones(3)})[0] == 2).all()
"""


def test_other_sessions_of_the_process_can_still_be_made():
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "scaled",
    [
        lambda x, y: (x @ y) * np.inf,
        lambda x, y: (x @ y) / 0.0,
        lambda x, y: x @ (y * np.nan),
    ],
    ids=["product", "quotient", "operand"],
)
def test_models_scale_products_by_any_number(scaled):
    # onnxruntime's default optimisation joins such a number to the MatMul, if it may
    x = np.arange(4.0).reshape(2, 2)
    with np.errstate(all="ignore"):
        want = scaled(x, x)
    model = jit_onnx(scaled).to_onnx(x, x)
    np.testing.assert_array_equal(run_model(model, x, x)[0], want)
