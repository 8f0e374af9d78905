# SPDX-License-Identifier: Apache-2.0
"""`warnings.warn` in traced code: at which lines it shows, and where it does not."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([1.0, 2.0])


def recorded(call: Callable[[], Any]) -> list[tuple[str, type, str, int]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


def inner(x):
    warnings.warn("here")  # noqa: B028  asked with any level
    warnings.warn("at the caller", RuntimeWarning, stacklevel=2)
    for _ in range(len(x.shape)):
        if x.ndim == 1:
            warnings.warn("at the caller, from a loop", stacklevel=2)
    return x + 1


def outer(x):
    return inner(x)


def test_warnings_show_at_the_lines_of_python():
    assert recorded(lambda: jit_onnx(outer)(X)) == recorded(lambda: outer(X))


def doubtful(x):
    if x.min() < 0:
        warnings.warn(f"negative: {x.min()}", stacklevel=2)
        x = -x
    for v in x:
        if v > 100:
            warnings.warn("large", stacklevel=2)
    return x


def test_a_branch_that_is_not_taken_does_not_warn():
    fn = jit_onnx(doubtful, fallback="error")
    assert recorded(lambda: fn(X)) == []
    assert recorded(lambda: fn(-X)) == []  # a graph has no warnings
    assert recorded(lambda: fn.to_onnx(X)) == []
