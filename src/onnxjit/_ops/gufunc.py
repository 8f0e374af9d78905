# SPDX-License-Identifier: Apache-2.0
"""Keywords of generalised ufuncs: `axes`, `axis` and `keepdims` of core dimensions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .convert import as_array, normalize_axis
from .structure import transpose, unsqueeze
from .ufunc import ufunc_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from onnxjit._core.program import Value

    from .row import Ufunc

__all__ = ["core_call"]


def core_call(
    row: Ufunc,
    inputs: Sequence[Any],
    *,
    axes: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    **keywords: Any,
) -> Value:
    """Return what a generalised ufunc with one result gives.

    Parameters
    ----------
    row : Ufunc
        Which ufunc.
    inputs : sequence
        As in `ufunc_call`.
    axes : list of int or tuple, optional
        For each operand, and for the result, where its core dimensions are: last by default.
    axis : int, optional
        Where the one core dimension of all operands is.
    keepdims : bool
        Keep the core dimension that operands have and the result has not, with length 1.
    **keywords
        As in `ufunc_call`.

    Raises
    ------
    TypeError
        A keyword does not go with the ufunc or with another.
    ValueError
        `axes` has not one entry for each operand.
    AxisError
        An axis is out of range.

    Notes
    -----
    Transpose.  Source: the NumPy reference, "Generalized universal function API".
    """
    if axes is None and axis is None and not keepdims:
        return ufunc_call(row, inputs, **keywords)  # type: ignore[no-any-return]
    given, result = _places(row.numpy, axes, axis, keepdims=keepdims)
    operands = [_last(as_array(x), at) for x, at in zip(inputs, given, strict=True)]
    made: Value = ufunc_call(row, operands, **keywords)
    if keepdims:
        made = unsqueeze(made, [made.ndim])
    if not result:
        return made
    rank = made.ndim
    at = [normalize_axis(i, rank) for i in result]
    rest = iter(range(rank - len(at)))
    core = {place: rank - len(at) + i for i, place in enumerate(at)}
    return transpose(made, [core[i] if i in core else next(rest) for i in range(rank)])


def _core(ufunc: np.ufunc) -> tuple[list[str], str]:
    """Return the core dimensions of operands and of the result: ``"n,k"``, ``""``."""
    assert ufunc.signature is not None  # the caller looked
    inputs, output = ufunc.signature.replace("?", "").split("->")
    return inputs.strip("()").split("),("), output.strip("()")


Axes = tuple[int, ...]


def _places(
    ufunc: np.ufunc, axes: Any, axis: Any, *, keepdims: bool
) -> tuple[list[Axes], Axes]:
    """Return where the core dimensions of operands and of the result are."""
    inputs, output = _core(ufunc)
    shared = not output and all("," not in core for core in inputs)
    name = ufunc.__name__
    if keepdims and not shared:
        msg = f"{name} does not support keepdims: its signature is {ufunc.signature}"
        raise TypeError(msg)
    if axes is None and axis is None:
        axis = -1
    if axis is not None:
        if axes is not None:
            msg = "cannot specify both 'axis' and 'axes'"
            raise TypeError(msg)
        if not shared:
            msg = f"{name}: axis can only be used with a single shared core dimension"
            raise TypeError(msg)
        place = (operator.index(axis),)
        return [place] * len(inputs), place if keepdims else ()
    if not isinstance(axes, list):
        msg = "axes should be a list."
        raise TypeError(msg)
    if len(axes) == len(inputs) and not output and not keepdims:
        axes = [*axes, ()]
    if len(axes) != len(inputs) + 1:
        msg = f"axes should be a list with an entry for all {ufunc.nargs} inputs and outputs"
        raise ValueError(msg)
    *given, result = (tuple(a) if isinstance(a, tuple) else (operator.index(a),) for a in axes)
    return list(given), result


def _last(x: Value, axes: Axes) -> Value:
    """Move axes to the end."""
    at = [normalize_axis(i, x.ndim) for i in axes]
    return transpose(x, [*(i for i in range(x.ndim) if i not in at), *at])
