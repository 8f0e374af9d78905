# SPDX-License-Identifier: Apache-2.0
"""Searching, sorting, and sets of elements."""

from __future__ import annotations

from typing import Any

from ._call import call, composed
from ._overrides import argsort_descending, sort_descending

__all__ = [
    "argmax", "argmin", "argsort", "isin", "nonzero", "searchsorted", "sort", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def argmax(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Return the first place of the largest element."""
    return call("argmax", x, axis=axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """Return the first place of the smallest element."""
    return call("argmin", x, axis=axis, keepdims=keepdims)


def nonzero(x: Any, /) -> Any:
    """Return the places of the elements that are not 0, one array for each axis."""
    return call("nonzero", x)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """Return where elements are to be inserted into a sorted array to keep it sorted."""
    return call("searchsorted", x1, x2, side=side, sorter=sorter)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Return elements of `x1` where a condition holds, else of `x2`."""
    return call("where", condition, x1, x2)


def sort(x: Any, /, *, axis: Any = -1, descending: Any = False, stable: Any = True) -> Any:
    """Sort along an axis."""
    if descending:
        return composed(sort_descending, x, axis)
    return call("sort", x, axis=axis, stable=stable)


def argsort(x: Any, /, *, axis: Any = -1, descending: Any = False, stable: Any = True) -> Any:
    """Return the places that sort an array along an axis."""
    if descending:
        return composed(argsort_descending, x, axis)
    return call("argsort", x, axis=axis, stable=stable)


def isin(x1: Any, x2: Any, /, *, invert: Any = False) -> Any:
    """Whether each element of `x1` is one of `x2`."""
    return call("isin", x1, x2, invert=invert)


def unique_all(x: Any, /) -> Any:
    """Return distinct elements, where they come first, which each is, and how often."""
    return call("unique_all", x)


def unique_counts(x: Any, /) -> Any:
    """Return distinct elements and how often they come."""
    return call("unique_counts", x)


def unique_inverse(x: Any, /) -> Any:
    """Return distinct elements and which of them each element is."""
    return call("unique_inverse", x)


def unique_values(x: Any, /) -> Any:
    """Return the distinct elements."""
    return call("unique_values", x)
