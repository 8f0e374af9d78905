# SPDX-License-Identifier: Apache-2.0
"""Chains of views and writes: what is a view, what a copy, and what a write changes."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxjit import eager_onnx, jit_onnx
from tests.jit.outcome import memory_differences, same_values
from tests.jit.view_steps import LAYOUTS, arrays, chain, laid, steps


def alike(got: Any, want: Any, where: str) -> None:
    """Assert that two results are alike: type, dtype, shape, every element."""
    assert type(got) is type(want), f"{where}: {type(got)} instead of {type(want)}"
    assert (got.dtype, got.shape) == (want.dtype, want.shape), where
    assert same_values(np.asarray(got), np.asarray(want)), f"{where}:\n{got!r}\nnot\n{want!r}"


def agree(function: Any, make: Any, fallback: str = "error", jit: Any = None) -> Any:
    """Assert that a function does jitted what it does in NumPy; return the jitted one."""
    jit = jit_onnx(function, fallback=fallback) if jit is None else jit
    plain, jitted = make(), make()
    try:
        want = function(plain)
    except ValueError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            jit(jitted)
        return jit
    got = jit(jitted)
    assert len(got) == len(want)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        alike(g, w, f"result {i}")
        assert (g is jitted) == (w is plain), f"result {i} is the argument, or is not"
    alike(jitted, plain, "the argument")
    return jit


@given(st.data())
def test_chains_equal_numpy(data: st.DataObject):
    shape, layout, dtype = data.draw(arrays())
    todo = data.draw(steps(laid(shape, layout, dtype)))
    agree(chain(todo), lambda: laid(shape, layout, dtype))


@given(st.data())
def test_one_jitted_function_serves_every_layout(data: st.DataObject):
    shape, _, dtype = data.draw(arrays(st.integers(1, 3)))
    todo = data.draw(steps(laid(shape, "C", dtype), 4))
    function, jit = chain(todo), None
    for layout in LAYOUTS:
        make = partial(laid, shape, layout, dtype)
        try:
            function(make())
        except (ValueError, IndexError):
            continue
        jit = agree(function, make, jit=jit)


@given(st.data())
def test_eager_chains_lie_in_memory_as_numpys(data: st.DataObject):
    shape, layout, dtype = data.draw(arrays())
    todo = data.draw(steps(laid(shape, layout, dtype)))
    function = chain(todo)
    plain, given_ = laid(shape, layout, dtype), laid(shape, layout, dtype)
    want, got = function(plain), eager_onnx(function)(given_)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        alike(g, w, f"result {i}")
    assert not memory_differences(got, want, [given_, *got], [plain, *want])


def reshaped_result(x):
    y = x.T + 1
    z = y.ravel()
    z[0] = 0
    return y, z


def raveled_slices(x):
    y = x[::2].ravel()
    z = x[::2].reshape(-1)
    y[0] = 100
    z[-1] = 200
    return y, z


def picked(x):
    y = x[:, np.array([1, 0])]
    z = y.ravel()
    z[0] = 0
    return y, z


def picked_rows(x):
    y = x[np.array([1, 0])]
    z = y.ravel()
    z[0] = 0
    return y, z


def picked_from_transposed(x):
    y = x.T[np.array([1, 0])]
    z = y.ravel()
    z[0] = 0
    return y, z


def copied(x):
    made = [x.T.copy(), x.T.copy("F"), np.copy(x.T), x.T.astype(float), np.array(x.T)]
    for y in made:
        z = y.ravel()
        z[0] = 0
    return made


def multiplied(x):
    made = [x.T @ x, x @ x.T, (x.T @ x).T]
    for y in made:
        z = y.ravel()
        z[0] = 0
    return made


def summed(x):
    y = x.T + x.T * 2
    z = (y + 1).reshape(-1)
    z[0] = 0
    w = y.T.reshape(-1)
    w[0] = 0
    return y, z, w


def mixed_orders(x):
    y = x.T + x.T.copy()
    z = y.ravel()
    z[0] = 0
    return y, z


def selected(x):
    y = np.where(x.T > 2, x.T, 0)
    z = y.ravel()
    z[0] = 9
    return y, z


def accumulated(x):
    y = np.cumsum(x.T, axis=0)
    z = y.ravel()
    z[0] = 9
    return y, z


def made_like(x):
    made = [np.zeros_like(x.T), np.ones_like(x.T), np.full_like(x.T, 3)]
    for y in made:
        z = y.ravel()
        z[0] = 9
    return made


def contiguous(x):
    y = np.ascontiguousarray(x)
    y[0] = 7
    z = np.ascontiguousarray(x.T)
    z[0] = 8
    w = np.asfortranarray(x)
    w[-1] = 9
    return y, z, w


def read_as_it_lies(x):
    return [x.ravel("K"), x.T.ravel("K"), x.ravel("A"), x.T.reshape(-1, order="A")]


def new_shape(x):
    y = x[:]
    y.shape = (-1,) if x.ndim == 1 else (x.shape[0], x.shape[1], 1)
    y[0] = 5
    return [y]


def at_least(x):
    y = np.atleast_3d(x)
    y[0] = 5
    return [y, np.atleast_2d(x), x.squeeze()]


def long_chains(x):
    y = x.T.reshape(x.shape)
    for _ in range(100):
        y = y + y.T.reshape(y.shape)
        y = y % 50
    z = y.ravel()
    z[0] = 1
    w = x.T
    for _ in range(100):
        w = w + 1
    w.reshape(-1)[0] = 1
    return y, z, w


EXAMPLES = [
    reshaped_result, raveled_slices, picked, picked_rows, picked_from_transposed, copied,
    multiplied, summed, mixed_orders, selected, accumulated, made_like, contiguous,
    read_as_it_lies, new_shape, at_least, long_chains,
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", EXAMPLES)
def test_memory_order_decides(function, layout):
    jit = None
    for shape in ((3, 2), (2, 2), (2, 5)):
        jit = agree(function, lambda shape=shape: laid(shape, layout), jit=jit)


def masked(x):
    y = x[:, x[0] > 1]
    z = y.reshape(-1)
    z[:1] = 0
    return y, z


@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_that_depend_on_data_run_eagerly(layout):
    jit = None
    for shape in ((3, 2), (2, 2), (2, 1), (1, 4), (3, 0)):
        jit = agree(masked, lambda shape=shape: laid(shape, layout), "eager", jit)
