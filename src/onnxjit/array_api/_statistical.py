# SPDX-License-Identifier: Apache-2.0
"""Reductions and running sums."""

from __future__ import annotations

from typing import Any

from ._call import call

__all__ = [
    "all", "any", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "max", "mean",
    "min", "prod", "std", "sum", "var",
]  # fmt: skip


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """Return the sum over axes; small integers are summed as 64-bit ones."""
    if dtype is None:  # fewer options are found sooner
        return call("sum", x, axis=axis, keepdims=keepdims)
    return call("sum", x, axis=axis, dtype=dtype, keepdims=keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """Return the product over axes; small integers are multiplied as 64-bit ones."""
    if dtype is None:  # fewer options are found sooner
        return call("prod", x, axis=axis, keepdims=keepdims)
    return call("prod", x, axis=axis, dtype=dtype, keepdims=keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Return the largest element over axes, NaN where one is."""
    return call("max", x, axis=axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Return the smallest element over axes, NaN where one is."""
    return call("min", x, axis=axis, keepdims=keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Return the mean over axes."""
    return call("mean", x, axis=axis, keepdims=keepdims)


def std(x: Any, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> Any:
    """Return the standard deviation over axes, for ``n - correction`` degrees of freedom."""
    return call("std", x, axis=axis, correction=correction, keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> Any:
    """Return the variance over axes, for ``n - correction`` degrees of freedom."""
    return call("var", x, axis=axis, correction=correction, keepdims=keepdims)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """Return the running sum along an axis, from 0 with `include_initial`."""
    options = {"axis": axis, "dtype": dtype, "include_initial": include_initial}
    return call("cumulative_sum", x, **options)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """Return the running product along an axis, from 1 with `include_initial`."""
    options = {"axis": axis, "dtype": dtype, "include_initial": include_initial}
    return call("cumulative_prod", x, **options)


def all(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Whether all elements over axes are true."""
    return call("all", x, axis=axis, keepdims=keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Whether an element over axes is true."""
    return call("any", x, axis=axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Return how many elements over axes are not 0."""
    return call("count_nonzero", x, axis=axis, keepdims=keepdims)


def diff(
    x: Any, /, *, axis: Any = -1, n: Any = 1, prepend: Any = None, append: Any = None
) -> Any:
    """Return differences of neighbours along an axis, `n` times over."""
    ends = {"prepend": prepend, "append": append}
    given = {name: end for name, end in ends.items() if end is not None}
    return call("diff", x, n=n, axis=axis, **given)
