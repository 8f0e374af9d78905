# SPDX-License-Identifier: Apache-2.0
"""Sizes that a call computes before its graph runs: once, however many guards ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._trace.host import evaluate_value

if TYPE_CHECKING:
    import pytest


def letterboxed(image: Any, size: int) -> Any:
    h, w = image.shape
    ratio = min(size / h, size / w)
    height, width = round(h * ratio), round(w * ratio)
    small = image[np.arange(height) * h // height][:, np.arange(width) * w // width]
    canvas = np.full((size, size), 7, image.dtype)
    top, left = (size - height) // 2, (size - width) // 2
    canvas[top : top + height, left : left + width] = small
    return canvas, ratio


def test_a_size_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def count(value: Any, *args: Any) -> Any:
        counted.append(value)
        return evaluate_value(value, *args)

    monkeypatch.setattr("onnxjit._eager.build.evaluate_value", count)
    jitted = jit_onnx(letterboxed, fallback="error")
    images = [np.arange(h * w).reshape(h, w) for h, w in ((5, 7), (9, 6), (30, 20))]
    for image in (*images, *images):
        for size in (8, 12):
            counted.clear()
            got, want = jitted(image, size), letterboxed(image, size)
            np.testing.assert_array_equal(got[0], want[0])
            assert got[1] == want[1]
            assert type(got[1]) is type(want[1])
    graphs = len(jitted.explain().graphs)
    assert len(counted) <= 4 * graphs  # two sizes, a ratio, and the few that both guards ask
    counted.clear()
    jitted(images[-1], 12)
    assert len(counted) <= 1
