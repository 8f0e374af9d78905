# SPDX-License-Identifier: Apache-2.0
"""An Expand that onnxruntime removes; `_lower_expand` in `_ops` goes around it."""

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest

MODEL = """
<ir_version: 10, opset_import: ["": 21]>
main (double[N, M] x) => (double[K, L] z)
<int64[2] shape = {0, 1}>
{ a = Neg(x) b = Expand(a, shape) z = Neg(b) }
"""


@pytest.mark.xfail(strict=True, reason="onnxruntime 1.32 drops an Expand to zeros and ones")
def test_an_expand_to_nothing_stays():
    model = onnx.parser.parse_model(MODEL)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options)
    (z,) = session.run(None, {"x": np.ones((1, 2))})
    assert z.shape == (0, 2)
