# SPDX-License-Identifier: Apache-2.0
"""Mistakes in code that only data leads to: named by exports and `explain`."""

import warnings

import numpy as np
import pytest

from onnxjit import (
    AssumptionWarning,
    DataDependentError,
    UnsupportedError,
    float64,
    jit_onnx,
)

X = np.array([1.0, -2.0])


def attribute(x):
    if x.sum() > 9:
        return np.sqroot(x)  # type: ignore[attr-defined]  # the mistake
    return x


def name(x):
    while x.sum() > 9:
        x = halve(x)  # type: ignore[name-defined]  # noqa: F821  the mistake
    return x


def kind(x):
    for v in x:
        if v > 9:
            x = x + None
    return x


def both_ways(x):
    if x.sum() > 9:
        if x[0] > 5:
            return x.smu()
        return x.men()
    return x


MISTAKES = [
    (attribute, "has no attribute 'sqroot'"),
    (name, "NameError: name 'halve' is not defined"),
    (kind, "TypeError: "),
    (both_ways, "has no attribute 'men'"),
]


@pytest.mark.parametrize(("fn", "text"), MISTAKES)
def test_an_export_warns(fn, text):
    jit = jit_onnx(fn)
    with pytest.warns(AssumptionWarning, match=text) as caught:
        jit.to_onnx(X)
    assert f"in {fn.__name__}, which raises" in str(caught[0].message)
    with pytest.raises(DataDependentError, match=text):
        jit.to_onnx(X, strict=True)


@pytest.mark.parametrize(("fn", "text"), MISTAKES)
def test_a_call_is_python_and_explain_lists_it(fn, text):
    jit = jit_onnx(fn, fallback="error")
    np.testing.assert_array_equal(jit(X), fn(X))
    (graph,) = jit.explain().graphs
    assert any(c.text.startswith("raise: ") and text in c.text for c in graph.controls)
    with pytest.raises(Exception, match=r".") as wanted:
        fn(X * [100, 1])
    with pytest.raises(wanted.type):
        jit(X * [100, 1])


def meant(x):
    if x.sum() > 9:
        raise TypeError
    assert x[0] > 0
    if x.sum() > 8:
        y = x
    return y if x.sum() > 8 else x


def test_what_the_function_means_to_raise_is_no_mistake():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit_onnx(meant).to_onnx(X)


def raises_a_class(x):
    if len(x) > 2:
        raise ValueError
    return x


@pytest.mark.parametrize("fallback", ["eager", "error"])
def test_a_class_that_is_raised_is_made_an_instance(fallback):
    jit = jit_onnx(raises_a_class, fallback=fallback)
    np.testing.assert_array_equal(jit(X), X)
    with pytest.raises(ValueError, match=r"^$"):
        jit(np.ones(3))
    with pytest.raises(ValueError, match=r"^$"):
        jit_onnx(raises_a_class).to_onnx(np.ones(3), dynamic=False)


def averages():
    total, count, mean = 0.0, 0, 0.0
    while True:
        value = yield mean
        total, count = total + value, count + 1
        mean = total / count


def test_a_generator_that_goes_on_in_a_loop_is_unrolled_or_refused():
    def f(x):
        running = averages()
        next(running)
        return np.array([running.send(v) for v in x])

    x = np.array([1.0, 3.0, 8.0])
    with pytest.raises(UnsupportedError, match=r"a generator is advanced or .*test_mistakes"):
        jit_onnx(f).to_onnx(float64["N"])
    assert (jit_onnx(f, fallback="error")(x) == f(x)).all()  # unrolled
