# SPDX-License-Identifier: Apache-2.0
"""The shortest way through an eager ufunc call: programs found by dtypes and ranks alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from onnxjit._compat.onnxruntime import ERRORS
from onnxjit._trace.array import ARRAY, SCALAR, Array

from .entry import Entry
from .record import Result

__all__ = ["quick_call", "remember"]

#: a program: its guard, the positions fed, and the session's bound run with its names
Program = tuple[Callable[[Sequence[Any]], bool] | None, tuple[int, ...], Any, list[str], list[str]]

_PROGRAMS: Final[dict[tuple[Any, ...], tuple[Program, ...]]] = {}
_CAPACITY: Final = 1024
_VARIANTS: Final = 4


def _key(ufunc: np.ufunc, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[Any, ...]:
    if len(arrays) == 2:
        a, b = arrays
        return (ufunc, a.dtype, a.ndim, b.dtype, b.ndim)
    return (ufunc, *[(a.dtype, a.ndim) for a in arrays])


def quick_call(ufunc: np.ufunc, inputs: Sequence[Any]) -> Array | None:
    """Run a ufunc on eager arrays through a program met before; None where there is none.

    Only for C-contiguous arrays, whose result is C-contiguous in NumPy too.
    """
    arrays = []
    for x in inputs:
        if type(x) is not Array or x._kind != ARRAY:
            return None
        values = x._nd
        if values is None or not values.flags.c_contiguous:
            return None
        arrays.append(values)
    for guard, positions, run, feeds, fetches in _PROGRAMS.get(_key(ufunc, arrays), ()):
        if guard is not None and not guard(arrays):
            continue
        try:
            made = run(fetches, {n: arrays[i] for n, i in zip(feeds, positions, strict=True)}, None)
        except ERRORS:
            return None
        return Array.eager(made[0], ARRAY if made[0].ndim else SCALAR)
    return None


def remember(ufunc: np.ufunc, inputs: Sequence[Any], entry: Entry) -> None:
    """Keep the program of a ufunc call for `quick_call`, if it is a plain one."""
    arrays = [x._nd for x in inputs if type(x) is Array and x._kind == ARRAY]
    tree, runner = entry.recording.tree, entry.compiled.runner
    if (
        len(arrays) != len(inputs)
        or runner is None
        or not isinstance(tree, Result)
        or tree.source != "output"
        or entry.compiled.outputs[tree.index] != ("computed", 0)
        or any(a is None or not a.dtype.isnative for a in arrays)
    ):
        return
    key = _key(ufunc, [a for a in arrays if a is not None])
    if len(_PROGRAMS) >= _CAPACITY:
        _PROGRAMS.clear()
    session, feeds, fetches = runner.raw
    program: Program = (entry.guard, tuple(entry.compiled.inputs), session.run, feeds, fetches)
    _PROGRAMS[key] = (program, *_PROGRAMS.get(key, ()))[:_VARIANTS]
