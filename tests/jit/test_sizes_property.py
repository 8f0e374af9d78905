# SPDX-License-Identifier: Apache-2.0
"""One traced function, or one exported model, at sizes it was not traced with."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxjit import jit_onnx
from onnxjit.errors import AssumptionWarning
from tests.jit.harness import run_model
from tests.jit.test_views_property import agree, alike
from tests.jit.view_steps import arrays, chain, laid, steps

SIZES = (0, 1, 2, 7)
TRACED = st.sampled_from((1, 2, 3, 4))


def shapes_like(data: st.DataObject, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Draw shapes of as many axes: each axis of the same size gets the same new size."""
    sizes = st.fixed_dictionaries({n: st.sampled_from(SIZES) for n in set(shape)})
    drawn = data.draw(st.lists(sizes, min_size=2, max_size=4))
    return [tuple(new[n] for n in shape) for new in ({n: n for n in shape}, *drawn)]


@given(st.data())
def test_a_jitted_function_is_right_at_other_sizes(data: st.DataObject):
    shape, layout, dtype = data.draw(arrays(TRACED))
    function = chain(data.draw(steps(laid(shape, layout, dtype), 5)))
    jit = jit_onnx(function, fallback="error")
    for new in shapes_like(data, shape):
        try:
            function(laid(new, layout, dtype))
        except Exception as want:  # noqa: BLE001  compared next
            raises_alike(jit, laid(new, layout, dtype), want)
        else:
            agree(function, lambda new=new: laid(new, layout, dtype), jit=jit)


def raises_alike(jit: Any, x: Any, want: Exception) -> None:
    """Assert that a call raises what NumPy raised."""
    with pytest.raises(type(want)):
        jit(x)


def assumed(model: Any, shape: tuple[int, ...]) -> bool:
    """Whether what a model takes for granted holds for the sizes of its input."""
    texts = {p.key: p.value for p in model.metadata_props}.get("onnxjit.assumptions", "[]")
    names: dict[str, Any] = {f"x_{axis}": n for axis, n in enumerate(shape)}
    names |= {"max": max, "min": min, "broadcast": broadcast}
    return all(eval(text, {}, names) for text in json.loads(texts))


def broadcast(*sizes: int) -> int:
    """Return what sizes broadcast to, -1 where they do not."""
    others = set(sizes) - {1}
    return 1 if not others else others.pop() if len(others) == 1 else -1


@given(st.data())
def test_an_exported_model_is_right_at_other_sizes(data: st.DataObject):
    shape, _, dtype = data.draw(arrays(TRACED))
    function = chain(data.draw(steps(laid(shape, "C", dtype), 5)))
    jit = jit_onnx(function, fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        model = jit.to_onnx(laid(shape, "C", dtype), mutated="outputs")
    for new in shapes_like(data, shape):
        x = laid(new, "C", dtype)
        if not assumed(model, new):
            continue
        try:
            want = function(x)
        except (ValueError, IndexError):
            continue
        got = run_model(model, laid(new, "C", dtype))
        for i, (g, w) in enumerate(zip(got, want, strict=False)):
            alike(g, np.asarray(w), f"output {i} at {new}")
