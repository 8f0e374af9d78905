# SPDX-License-Identifier: Apache-2.0
"""The shortest way through an eager call: programs found by dtypes, ranks and options."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._compat.onnxruntime import ERRORS
from onnxjit._runtime.options import WIDE
from onnxjit._trace.array import ARRAY, SCALAR, Array

from .build import computed_dtype, look_text
from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF
from .lie import Lies, how_it_lies
from .results import Result

if TYPE_CHECKING:
    from .entry import Entry

__all__ = ["is_plain", "quick_call", "quick_function", "remember", "remember_function"]

#: a program: takes the ndarrays, gives the result, or None where its guards do not hold
Program = Callable[..., Any]
Key = tuple[Any, ...]

_PROGRAMS: Final[dict[Key, tuple[tuple[Program, Any], ...]]] = {}
#: the program, its session, the kind of its result, and which of that one's axes are long
_FUNCTIONS: Final[dict[Key, tuple[tuple[Program, Any, str, Any], ...]]] = {}
_CAPACITY: Final = 1024
_VARIANTS: Final = 4
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1


# ---------------------------------------------------------------------------- ufuncs


def _operands(ufunc: np.ufunc, inputs: Sequence[Any]) -> tuple[Key, list[Any]] | None:
    """Return what finds the program of a ufunc call, and what it takes; None for neither.

    Only for C-contiguous arrays, whose result is C-contiguous in NumPy too.
    """
    key: list[Any] = [ufunc]
    given: list[Any] = []
    for x in inputs:
        kind = type(x)
        if kind is Array:
            values = x._nd
            if values is None or not values.flags.c_contiguous:
                return None
            key.append(values.dtype)
            key.append(values.ndim)
            given.append(values)
        elif kind is float or (kind is int and _LEAST <= x <= _MOST):
            key.append(kind)
            given.append(x)
        else:
            return None
    return tuple(key), given


def quick_call(ufunc: np.ufunc, inputs: Sequence[Any]) -> Array | None:
    """Run a ufunc on eager arrays through a program met before; None where there is none."""
    if ufunc.signature is not None:
        return quick_function(ufunc, inputs, {})
    found = _operands(ufunc, inputs)
    if found is None:
        return None
    for program, _ in _PROGRAMS.get(found[0], ()):
        try:
            made = program(*found[1])
        except ERRORS:
            return None
        if made is not None:
            return Array.eager(made, ARRAY if made.ndim else SCALAR)
    return None


def remember(ufunc: np.ufunc, inputs: Sequence[Any], entry: Entry) -> None:
    """Keep the program of a ufunc call for `quick_call`, if it is a plain one."""
    found = _operands(ufunc, inputs)
    if found is None or len(entry.leaves) != len(inputs) or not is_plain(entry):
        return
    key, given = found
    if any(isinstance(x, np.ndarray) and not x.dtype.isnative for x in given):
        return
    if len(_PROGRAMS) >= _CAPACITY:
        _PROGRAMS.clear()
    assert entry.compiled.runner is not None  # it is plain
    session = entry.compiled.runner.raw[0]
    if any(kept is session for _, kept in _PROGRAMS.get(key, ())):
        return
    _PROGRAMS[key] = ((_written(entry), session), *_PROGRAMS.get(key, ()))[:_VARIANTS]


# ---------------------------------------------------------------------------- functions

_OPTIONS: Final = frozenset({int, bool, str, type(None), type})


def _option(x: Any) -> Any:
    """Return a hashable that tells an option from others; None where there is none."""
    kind = type(x)
    if kind is tuple:
        return (x, *map(type, x)) if {int}.issuperset(map(type, x)) else None
    if kind is float:
        return (kind, x.hex())
    return ("dtype", x) if isinstance(x, np.dtype) else None


def _add_array(x: Any, key: list[Any], given: list[Any]) -> bool:
    """Add what finds programs of an eager array, and its values; false for anything else."""
    if type(x) is not Array or x._kind is not ARRAY:
        return False
    values = x._nd
    if values is None:
        return False
    flags, shape = values.flags, values.shape
    if flags.c_contiguous and 0 not in shape and 1 not in shape:
        key += (values.dtype, len(shape), flags.writeable)
    else:
        key += (values.dtype, how_it_lies(values))
    given.append(values)
    return True


def _add_option(x: Any, key: list[Any]) -> bool:
    """Add what tells an option from others; false where nothing does."""
    kind = type(x)
    if kind in _OPTIONS:
        key += (kind, x)
        return True
    option = _option(x)
    key.append(option)
    return option is not None


def _add_other(x: Any, key: list[Any], given: list[Any]) -> bool:
    """Add what finds programs of a sequence of arrays, a float, or an option."""
    kind = type(x)
    if kind is float:
        key.append(kind)
        given.append(x)
        return True
    if kind in {list, tuple} and x and type(x[0]) is Array:
        key.append((kind, len(x)))
        return all(_add_array(each, key, given) for each in x)
    return _add_option(x, key)


def _question(
    func: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Key, list[Any]] | None:
    """Return what finds the program of a call, and the arrays and floats that it takes.

    Other arguments, and floats given by keyword, are options; None where there is something
    else.
    """
    key: list[Any] = [func]
    given: list[Any] = []
    for x in args:
        if type(x) is Array:
            if not _add_array(x, key, given):
                return None
        elif not _add_other(x, key, given):
            return None
    for name, x in kwargs.items():
        if type(x) in _OPTIONS:
            key += (name, type(x), x)
            continue
        key.append(name)
        if not _add_option(x, key):
            return None
    return tuple(key), given


def quick_function(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Array | None:
    """Call a function on eager arrays through a program met before; None if there is none."""
    found = _question(func, args, kwargs)
    if found is None:
        return None
    key, given = found
    for program, _, kind, sizes in _FUNCTIONS.get(key, ()):
        try:
            made = program(*given)
        except ERRORS:
            return None
        if made is None:
            continue
        if sizes is None or made.ndim < 2 or [n > 1 for n in made.shape] == sizes:
            return Array.eager(made, kind)
    return None


def remember_function(
    func: Any, args: Sequence[Any], kwargs: dict[str, Any], entry: Entry, lies: Lies | None
) -> None:
    """Keep a plain program of a function for `quick_function`, if its result lies plainly."""
    found = _question(func, args, kwargs)
    if found is None or len(entry.leaves) != len(found[1]):
        return
    key, given = found
    taken = [x for x in given if isinstance(x, np.ndarray)]
    if not all(x.dtype.isnative for x in taken):
        return
    sizes: list[bool] | None = None
    if lies is not None:
        known = lies.get(tuple(map(how_it_lies, taken)))
        if not known or len(known) != 1 or not known[0].is_plain:
            return
        sizes = list(known[0].sizes)
    if len(_FUNCTIONS) >= _CAPACITY:
        _FUNCTIONS.clear()
    kept = _FUNCTIONS.get(key, ())
    assert entry.compiled.runner is not None  # it is plain
    session = entry.compiled.runner.raw[0]
    if not any(each[1] is session and each[3] == sizes for each in kept):
        new = (_written(entry), session, entry.recording.tree.kind, sizes)
        _FUNCTIONS[key] = (new, *kept)[:_VARIANTS]


# ---------------------------------------------------------------------------- programs

_LEAF: Final = r"\ba\[(\d+)\]"
_FEED: Final = {
    ARRAY_LEAF: "{x}", SCALAR_LEAF: "{x}",
    INT_LEAF: "array({x}, int64)", FLOAT_LEAF: "array({x}, float64)",
}  # fmt: skip


def is_plain(entry: Entry) -> bool:
    """Whether a program does nothing but compute one array of what it is given."""
    tree = entry.recording.tree
    return (
        entry.compiled.runner is not None
        and isinstance(tree, Result)
        and tree.source == "output"
        and tree.kind in {ARRAY, SCALAR}
        and entry.compiled.outputs[tree.index] == ("computed", 0)
        and entry.recording.program.outputs[tree.index].dtype.kind != "U"
        and not entry.recording.checks
        and not entry.recording.written
        and not entry.is_stateful
    )


def _written(entry: Entry) -> Program:
    """Write a program as one function of its leaves."""
    runner, compiled = entry.compiled.runner, entry.compiled
    assert runner is not None  # it is plain
    session, feeds, fetches = runner.raw
    dtype = computed_dtype(entry.recording, entry.recording.tree.index)
    names = {
        **entry.names.namespace, "run": session.run, "fetches": fetches, "dtype": dtype,
        "may_share_memory": np.may_share_memory, "array": np.array, "int64": np.int64,
        "float64": np.float64,
    }  # fmt: skip
    kinds = [leaf.kind for leaf in entry.leaves]
    long = [f"x{i}.size < {WIDE}" for i, kind in enumerate(kinds) if kind == ARRAY_LEAF]
    lines = long if compiled.narrow else []
    lines += [re.sub(_LEAF, r"x\1", line) for line in entry.lines]
    guards = " and ".join(f"({line})" for line in lines) or "True"
    fed = ", ".join(
        f"{name!r}: {_FEED[kinds[i]].format(x=f'x{i}')}{entry.parts_text(i)}"
        for name, i in zip(feeds, compiled.inputs, strict=True)
    )
    arguments = ", ".join(f"x{i}" for i in range(len(kinds)))
    look = look_text(dtype, "dtype")
    text = f"lambda {arguments}: run(fetches, {{{fed}}}, None)[0]{look} if {guards} else None"
    program: Program = eval(text, names)
    return program
