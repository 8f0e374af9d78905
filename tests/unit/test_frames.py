# SPDX-License-Identifier: Apache-2.0
"""Frames of a signal: how long the slices of a loop's iterations are."""

from __future__ import annotations

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._core.dims import ShapeEnv, dim_max, same, slice_bounds


@pytest.mark.parametrize(("size", "hop"), [(32, 16), (8, 4), (16, 6), (7, 7), (5, 9)])
@pytest.mark.parametrize("is_clipped", [True, False])
def test_a_frame_before_the_last_is_whole(size: int, hop: int, is_clipped: bool) -> None:
    env = ShapeEnv("assume")
    n = env.symbol("n", 1000)
    i = env.symbol("i", None, 0, data=True)
    count = (n - size) // hop + 1
    if is_clipped:
        count = dim_max(count, 0)
    length = slice_bounds(i * hop, i * hop + size, None, n)[2]
    with env.supposing(count - 1 - i):
        assert same(length, size)
    assert not same(length, size)


@pytest.mark.parametrize("size", [8, 5])
def test_frames_of_a_list_are_stacked(size: int) -> None:
    def frames(x):
        count = (len(x) - size) // 3 + 1
        return np.stack([x[3 * i : 3 * i + size] * 2 for i in range(count)])

    jit = jit_onnx(frames, fallback="error")
    for n in (20, 8, 31, 1000):
        x = np.arange(float(n))
        np.testing.assert_array_equal(jit(x), frames(x))
    assert len({id(e) for e in jit._cache}) == 1
