# SPDX-License-Identifier: Apache-2.0
"""Bins between edges that rise or fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy._core.multiarray import _monotonicity

from onnxjit._core.bind import dim_value
from onnxjit._core.dims import same
from onnxjit._core.dtypes import INT64

from .cast import cast
from .checks import fail_where
from .convert import as_array
from .elementwise import equal, less, logical_and, logical_not, logical_or, not_equal, subtract
from .elementwise import where as pick
from .reduce import reduce_any
from .row import Function, Ufunc, function
from .samples import call, calls
from .scan import cumsum
from .search import searchsorted
from .structure import reverse, take_range

if TYPE_CHECKING:
    from onnxjit._core.program import Value

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


@function(
    ROWS, np.digitize, scalar=True,
    samples=calls(lambda m: [
        call(m(6), m.rising(4)), call(m(2, 3), m.rising(4), right=True),
        call(m(6), m.rising(4)[::-1]), call(m.scalar(1), m.rising(3)), call(m(3), [0, 1, 2]),
    ]),
)  # fmt: skip
def digitize(x: Any, bins: Any, right: Any = False) -> Value:
    """Return the number of the bin of each element.

    Parameters
    ----------
    x : (...) real
        Values.
    bins : (n) real
        Edges, increasing or decreasing.  In a model whose edges are an input and neither, the
        results mean nothing.
    right : bool
        Whether bins contain their right edge.

    Raises
    ------
    ValueError
        The edges are not monotonic.

    Notes
    -----
    As `searchsorted`, twice for edges that only the run knows; Not, CumSum, ReduceMax and If.
    """
    edges = as_array(bins)
    wanted = as_array(x)
    if wanted.dtype.kind == "c" or edges.dtype.kind == "c":
        np.digitize(np.zeros(1, complex), np.ones(1))  # NumPy's own refusal
    side = "left" if right else "right"
    if edges.known is not None:
        np.digitize(np.zeros(1), edges.known)  # NumPy's own refusal
        falls = _monotonicity(edges.known) == -1
        return _falling(edges, wanted, side) if falls else searchsorted(edges, wanted, side)
    rising = searchsorted(edges, wanted, side)
    if same(edges.shape[0], 0) or same(edges.shape[0], 1):
        return rising
    return pick(_rises(edges), rising, _falling(edges, wanted, side))


def _rises(edges: Value) -> Value:
    """Tell whether edges rise, and let NumPy raise its error where they turn.

    Two that differ first decide, and whatever is not below the other falls: so does NaN.
    """
    n = edges.shape[0]
    first, rest = take_range(edges, 0, 0, 1), take_range(edges, 0, 1, n - 1)
    others = not_equal(rest, first)
    second = logical_and(others, equal(cumsum(cast(others, INT64), 0), 1))
    up = reduce_any(logical_and(second, less(first, rest)), (0,))
    rises: Value = logical_or(up, logical_not(reduce_any(others, (0,))))
    before = take_range(edges, 0, 0, n - 1)
    fail_where(pick(rises, less(rest, before), less(before, rest)))
    return rises


def _falling(edges: Value, wanted: Value, side: str) -> Value:
    """Place elements among edges that decrease."""
    place = searchsorted(reverse(edges, [0]), wanted, side)
    result: Value = subtract(dim_value(edges.shape[0]), place)
    return cast(result, INT64)
