# SPDX-License-Identifier: Apache-2.0
"""The shortest way through an eager ufunc call: programs found by dtypes and ranks alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._compat.onnxruntime import ERRORS
from onnxjit._runtime.options import WIDE
from onnxjit._trace.array import ARRAY, SCALAR, Array

from .build import computed_dtype, look_text
from .results import Result

if TYPE_CHECKING:
    from .entry import Entry

__all__ = ["quick_call", "remember"]

#: a program: takes the ndarrays, gives the result, or None where its guards do not hold
Program = Callable[..., Any]

_PROGRAMS: Final[dict[tuple[Any, ...], tuple[tuple[Program, Any], ...]]] = {}
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
    for program, _ in _PROGRAMS.get(_key(ufunc, arrays), ()):
        try:
            made = program(*arrays)
        except ERRORS:
            return None
        if made is not None:
            return Array.eager(made, ARRAY if made.ndim else SCALAR)
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
    if any(kept is session for _, kept in _PROGRAMS.get(key, ())):
        return
    dtype = computed_dtype(entry.recording, tree.index)
    program = _written(entry, len(arrays), session.run, feeds, fetches, dtype)
    _PROGRAMS[key] = ((program, session), *_PROGRAMS.get(key, ()))[:_VARIANTS]


_LEAF: Final = re.compile(r"\ba\[(\d+)\]")


def _written(
    entry: Entry, count: int, run: Any, feeds: list[str], fetches: list[str], dtype: Any
) -> Program:
    """Write the program as one function of the ndarrays; `dtype` is to look with, if any."""
    names = {**entry.names.namespace, "run": run, "fetches": fetches, "dtype": dtype}
    look = look_text(dtype, "dtype")
    names["may_share_memory"] = np.may_share_memory
    lines = [f"x{i}.size < {WIDE}" for i in range(count)] if entry.compiled.narrow else []
    lines += [_LEAF.sub(r"x\1", line) for line in entry.lines]
    guards = " and ".join(f"({line})" for line in lines) or "True"
    places = entry.compiled.inputs
    fed = ", ".join(
        f"{name!r}: x{i}{entry.parts_text(i)}" for name, i in zip(feeds, places, strict=True)
    )
    arguments = ", ".join(f"x{i}" for i in range(count))
    text = f"lambda {arguments}: run(fetches, {{{fed}}}, None)[0]{look} if {guards} else None"
    program: Program = eval(text, names)
    return program
