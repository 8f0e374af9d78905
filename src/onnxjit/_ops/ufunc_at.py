# SPDX-License-Identifier: Apache-2.0
"""``ufunc.at`` for every ufunc: one element after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dims import dim_prod
from onnxjit._core.dtypes import BOOL
from onnxjit._core.program import Value
from onnxjit._core.region import loop

from .cast import cast
from .convert import as_array, as_dtype
from .gather import gather, scatter_nd
from .index import getitem
from .index_write import fit
from .structure import as_1d, iota, reshape, unsqueeze
from .ufunc import ufunc_call

if TYPE_CHECKING:
    from onnxjit._core.dtypes import DType

    from .row import Ufunc

__all__ = ["at_one_by_one", "exact", "loop_dtypes"]


def loop_dtypes(ufunc: np.ufunc, x: Value, *operands: Value) -> tuple[np.dtype[Any], ...]:
    """Return the dtypes in which ``ufunc.at`` takes and gives elements.

    NumPy makes arrays of Python numbers here: they are not weak.

    Raises
    ------
    TypeError, ValueError
        NumPy's own: a number of operands or a cast that it does not take.
    """
    given = [v.dtype.numpy for v in operands]
    cells = [np.ones((), t) for t in given]
    with np.errstate(all="ignore"):
        ufunc.at(np.ones(1, x.dtype.numpy), [0], *cells)
    return ufunc.resolve_dtypes((x.dtype.numpy, *given, None))


def exact(v: Value, dtype: DType) -> Value:
    """Return a Python number at a dtype that holds it: nothing is computed in a wider one.

    A sum or product of two numbers is rounded alike in both.
    """
    if not v.weak or v.known is None or dtype is BOOL:
        return v
    with np.errstate(all="ignore"):
        held = v.known.astype(dtype.numpy)
    return cast(v, dtype) if held == v.known else v


def at_one_by_one(row: Ufunc, x: Value, index: Any, *operands: Any) -> Value:
    """Return `x` after ``ufunc.at(x, index, *operands)``.

    Parameters
    ----------
    row : Ufunc
    x : (...) array
    index : object
        As in `getitem`.
    *operands : (...) array
        One for ufuncs of two, broadcast to what the index reads.

    Notes
    -----
    A Loop over the places, each of them a Gather and a ScatterND.
    """
    values = [as_array(v) for v in operands]
    dtypes = loop_dtypes(row.numpy, x, *values)
    every = reshape(iota(dim_prod(x.shape)), x.shape)
    found = getitem(every, index)
    places = found if isinstance(found, Value) else found.apply(every)
    each = [
        as_1d(fit(cast(v, as_dtype(t)), places.shape))
        for v, t in zip(values, dtypes[1:], strict=False)
    ]
    flat = as_1d(places)

    def step(i: Value, state: Value) -> tuple[list[Value], list[Value]]:
        at = gather(flat, unsqueeze(i, [0]))
        given = [gather(v, unsqueeze(i, [0])) for v in each]
        new = ufunc_call(row, (cast(gather(state, at), as_dtype(dtypes[0])), *given))
        return [scatter_nd(state, unsqueeze(at, [1]), cast(new, x.dtype))], []

    (made,), _ = loop(flat.shape[0], step, [as_1d(x)])
    return reshape(made, x.shape)
