# SPDX-License-Identifier: Apache-2.0
"""Variables without a value that nested functions, lambdas and comprehensions read."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import jit_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

INPUTS = [np.array([1.0, -2.0, 4.0]), np.array([100.0, 50.0]), np.array([200.0])]


def in_a_function(x):
    def inner():
        return y

    if x.sum() > 100:
        y = 1
    return inner() + x


def in_a_lambda(x):
    if x.sum() > 100:
        y = 1
    return (lambda: y)() + x  # noqa: PLC3002  what is asked


def after_a_loop(x):
    def inner():
        return y

    for v in x:
        if v > 100:
            y = v
    return inner()


def after_a_while(x):
    while x.sum() > 100:
        y = x.sum()
        x = x / 2

    def inner():
        return y

    return inner()


def deleted(x):
    y = 1

    def inner():
        return y

    if x.sum() > 100:
        del y
    return inner() + x


def in_a_comprehension(x):
    if x.sum() > 100:
        y = 1
    return [y + v for v in x]


def in_a_key(x):
    if x.sum() > 100:
        y = 2
    return max([1, 2], key=lambda v: v * y) + x


def in_a_method(x):
    class Holder:
        def value(self):
            return y

    if x.sum() > 100:
        y = 2
    return Holder().value() + x


def two_levels_down(x):
    def outer():
        if x.sum() > 100:
            w = 1

        def inner():
            return w

        return inner

    return outer()() + x


def of_its_own(x):
    if x.sum() > 100:
        y = 1.0
        x = x * y

    def inner(y):
        return sum([y * 2 for y in (y, 2.0)]) + max(x, key=lambda y: -y)

    return inner(x[0])


FUNCTIONS = [
    in_a_function, in_a_lambda, after_a_loop, after_a_while, deleted, in_a_comprehension,
    in_a_key, in_a_method, two_levels_down, of_its_own,
]  # fmt: skip


def outcome(fn: Callable[..., Any], x: Any) -> str:
    try:
        return repr(fn(x.copy()))
    except NameError as error:
        return repr(error)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_names_without_a_value_raise_as_in_python(fn: Any) -> None:
    converted = jit_onnx(fn, fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (*INPUTS, *INPUTS):
            assert outcome(converted, x) == outcome(fn, x)
