# SPDX-License-Identifier: Apache-2.0
"""Complex values become pairs of real ones: onnxruntime has no kernels for them.

Inputs of the program stay complex, and so do its results: at the boundary of a model they are
arrays of parts with one axis more, which `real_part`, `imag_part` and `make_complex` read and
write.  Everything between them is real afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.dtypes import COMPLEX64, COMPLEX128, PART
from onnxjit._core.program import Block, Equation, Program, Value
from onnxjit._core.region import COND, LOOP, SCAN
from onnxjit._ops.complex_parts import IMAG, MAKE, PAIRS, PLANES, REAL
from onnxjit._ops.gather import GATHER

from .uses import move_origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.op import Op

__all__ = ["split_complex"]

Pair = tuple[Value, Value]
_REGIONS: Final = (COND, LOOP, SCAN)
_PARTS: Final = (REAL, IMAG)
#: what reads inputs as a model has them
_WHOLES: Final = (PAIRS, PLANES)
_PLACES: Final = (np.int64(0), np.int64(1))


def _is_complex(value: Value) -> bool:
    return isinstance(value.aval, Tensor) and value.dtype.kind == "c"


def _part_type(aval: Any) -> Tensor:
    return Tensor(PART[aval.dtype], aval.shape, weak=aval.weak)


def _types(avals: Iterable[Any]) -> list[Any]:
    """Return types with those of two parts in the place of a complex one."""
    found: list[Any] = []
    for aval in avals:
        is_complex = isinstance(aval, Tensor) and aval.dtype.kind == "c"
        found += [_part_type(aval)] * 2 if is_complex else [aval]
    return found


def _is_concerned(equation: Equation) -> bool:
    """Whether an equation has complex operands or results, those of its blocks included."""
    inner = [v for b in equation.blocks for v in (*b.inputs, *b.outputs)]
    return any(map(_is_complex, (*equation.inputs, *equation.outputs, *inner)))


class _Split:
    """One forward sweep."""

    __slots__ = ("_first", "_new", "_pairs", "_results", "_root", "_whole")

    def __init__(self, root: Block) -> None:
        self._root: Final = root
        #: parts of complex values, by id
        self._pairs: Final[dict[int, Pair]] = {}
        #: what stands in the place of real values, by id
        self._new: Final[dict[int, Value]] = {}
        #: equations that take inputs of the program apart
        self._first: Final[list[Equation]] = []
        #: both parts of a complex value along a last axis, where that is known, by id
        self._whole: Final[dict[int, list[Value]]] = {}
        #: results of the program, by id of what they are made of
        self._results: Final[dict[int, Value]] = {}

    def run(self) -> bool:
        """Sweep, and say whether anything changed."""
        root = self._root
        self._equations(root)
        root.outputs = [self._result(v) for v in root.outputs]
        if not self._pairs and not self._new:
            return False
        root.equations[:0] = self._first
        inputs = {v.id for v in root.inputs}
        moved = {i: re for i, (re, _) in self._pairs.items() if i not in inputs}
        move_origins(root.trace.env, {**moved, **self._new})
        return True

    # ---- values

    def _pair(self, value: Value) -> Pair:
        """Return the parts of a complex value; those of constants and inputs are made now."""
        found = self._pairs.get(value.id)
        if found is None:
            if value.known is not None:
                known, constant = value.known, value.block.trace.constant
                parts = (
                    np.ascontiguousarray(p).reshape(p.shape) for p in (known.real, known.imag)
                )
                re, im = (constant(p, weak=value.weak) for p in parts)
            else:
                planes = self._taken(PLANES, (2, *value.shape), value)
                re, im = (
                    self._taken(GATHER, value.shape, planes, place, axis=0)
                    for place in map(value.block.trace.constant, _PLACES)
                )
            found = self._pairs[value.id] = re, im
        return found

    def _taken(self, op: Op, shape: Sequence[DimLike], *inputs: Value, **params: Any) -> Value:
        """Return what an operation at the start of the program gives of an input's parts."""
        made = Equation(op, inputs, params)
        self._first.append(made)
        dtype = inputs[0].dtype
        aval = Tensor(PART.get(dtype, dtype), tuple(shape))
        made.outputs = (Value(aval, self._root, made),)
        return made.outputs[0]

    def _flat(self, values: Iterable[Value]) -> list[Value]:
        """Return values with two parts in the place of a complex one."""
        found: list[Value] = []
        for value in values:
            if _is_complex(value):
                found += self._pair(value)
            else:
                found.append(self._new.get(value.id, value))
        return found

    def _chosen(self, values: Iterable[Value], part: int) -> tuple[Value, ...]:
        """Return values with one part in the place of a complex one."""
        return tuple(
            self._pair(v)[part] if _is_complex(v) else self._new.get(v.id, v) for v in values
        )

    def _result(self, value: Value) -> Value:
        """Return a result of the program: a complex one is put together, if it is computed."""
        if not _is_complex(value):
            return self._new.get(value.id, value)
        if value.known is not None or value.equation is None:
            return value
        found = self._results.get(value.id)
        if found is None:
            parts = (*self._pair(value), *self._whole.get(value.id, ()))
            made = Equation(MAKE, parts, {}, source=value.equation.source)
            self._root.equations.append(made)
            found = self._results[value.id] = Value(value.aval, self._root, made)
            made.outputs = (found,)
        return found

    # ---- equations

    def _equations(self, block: Block) -> None:
        done: list[Equation] = []
        for equation in block.equations:
            if not _is_concerned(equation):
                equation.inputs = self._chosen(equation.inputs, 0)
                for inner in equation.blocks:
                    self._equations(inner)
                    inner.outputs = self._flat(inner.outputs)
                done.append(equation)
            elif equation.op in _PARTS:
                part = self._chosen(equation.inputs, _PARTS.index(equation.op))
                self._new[equation.outputs[0].id] = part[0]
            elif equation.op is MAKE:
                re, im, *whole = self._flat(equation.inputs)
                self._pairs[equation.outputs[0].id] = re, im
                self._whole[equation.outputs[0].id] = whole
            elif equation.op in _WHOLES:
                done.append(equation)
            elif equation.op in _REGIONS:
                done.append(self._region(equation))
            else:
                done += self._each(equation)
        block.equations[:] = done

    def _each(self, equation: Equation) -> list[Equation]:
        """Apply an operation to each part."""
        made = [
            self._again(equation, self._chosen(equation.inputs, part), equation.params,
                        [_part_type(v.aval) for v in equation.outputs])
            for part in (0, 1)
        ]  # fmt: skip
        for old, re, im in zip(
            equation.outputs, made[0].outputs, made[1].outputs, strict=True
        ):
            self._pairs[old.id] = re, im
        return made

    def _again(
        self,
        like: Equation,
        inputs: Sequence[Value],
        params: dict[str, Any],
        types: Sequence[Any],
    ) -> Equation:
        made = Equation(like.op, tuple(inputs), params, like.blocks, like.source, like.scope)
        block = like.outputs[0].block
        made.outputs = tuple(Value(t, block, made, i) for i, t in enumerate(types))
        return made

    def _region(self, equation: Equation) -> Equation:
        """Carry two values in the place of a complex one."""
        params = dict(equation.params)
        for inner in equation.blocks:
            inner.inputs = [new for v in inner.inputs for new in self._inputs(v, inner)]
            self._equations(inner)
            inner.outputs = self._flat(inner.outputs)
        params["results"] = tuple(_types(params["results"]))
        if "states" in params:
            states = params["states"]
            lead = 0 if equation.op is SCAN else 1 + params["with_cond"]
            params["states"] = len(self._flat(equation.inputs[lead : lead + states]))
        types = _types(v.aval for v in equation.outputs)
        made = self._again(equation, self._flat(equation.inputs), params, types)
        results = iter(made.outputs)
        for old in equation.outputs:
            if _is_complex(old):
                self._pairs[old.id] = next(results), next(results)
            else:
                self._new[old.id] = next(results)
        return made

    def _inputs(self, value: Value, block: Block) -> list[Value]:
        """Return what a block gets in the place of an input."""
        if not _is_complex(value):
            return [value]
        parts = [Value(_part_type(value.aval), block) for _ in range(2)]
        self._pairs[value.id] = parts[0], parts[1]
        return parts


def split_complex(program: Program) -> tuple[Program, bool]:
    """Return an equivalent program that is complex at its boundary only.

    The program is changed in place; the second result says whether it was.
    """
    if _has_complex(program):
        return program, _Split(program.block).run()
    return program, False


def _has_complex(program: Program) -> bool:
    """Whether any value is complex.  Most programs have none, and are asked this each time."""
    first, second = COMPLEX64, COMPLEX128
    values = list(program.inputs)
    for equation in program.walk():
        values += equation.inputs
        values += equation.outputs
        for block in equation.blocks:
            values += block.inputs
            values += block.outputs
    try:
        for value in values:
            dtype = value.dtype
            if dtype is first or dtype is second:
                return True
    except AttributeError:  # a value that is no array
        return any(map(_is_complex, values))
    return False
