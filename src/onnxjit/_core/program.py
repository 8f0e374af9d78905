# SPDX-License-Identifier: Apache-2.0
"""Typed SSA programs: values, equations, nested blocks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .aval import Aval, Tensor
from .dims import Dim, symbols_of
from .dtypes import DType, from_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .bind import Trace
    from .op import Op
    from .source import Scope, Source

__all__ = ["Block", "Equation", "Program", "Value", "param_key"]

_IDS = itertools.count()


class Value:
    """One result: of an equation, an input of a block, or a constant (`known` is set)."""

    __slots__ = (
        "__weakref__", "aval", "block", "dtype", "equation", "id", "index", "known", "name",
        "shape", "weak",
    )  # fmt: skip
    #: of a tensor; other kinds of values have none of them
    dtype: DType
    shape: tuple[int | Dim, ...]
    weak: bool

    def __init__(
        self,
        aval: Aval,
        block: Block,
        equation: Equation | None = None,
        index: int = 0,
        *,
        known: np.ndarray[Any, Any] | None = None,
        name: str = "",
    ) -> None:
        self.aval: Final = aval
        self.block = block
        self.equation: Final = equation
        self.index: Final = index
        self.known: Final = known
        self.name = name
        self.id: Final = next(_IDS)
        if isinstance(aval, Tensor):
            self.dtype = aval.dtype
            self.shape = aval.shape
            self.weak = aval.weak

    @property
    def tensor(self) -> Tensor:
        """The aval, which must be a tensor."""
        if not isinstance(self.aval, Tensor):
            msg = f"{self.aval} is not an array"
            raise TypeError(msg)
        return self.aval

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"%{self.id}: {self.aval}"


class Equation:
    """An operation applied: operands, static parameters, results, nested blocks, origin."""

    __slots__ = ("blocks", "id", "inputs", "op", "outputs", "params", "scope", "source")

    def __init__(
        self,
        op: Op,
        inputs: tuple[Value, ...],
        params: dict[str, Any],
        blocks: tuple[Block, ...] = (),
        source: Source | None = None,
        scope: Scope | None = None,
    ) -> None:
        self.op: Final = op
        self.inputs = inputs
        self.params: Final = params
        self.blocks: Final = blocks
        self.source: Final = source
        self.scope: Final = scope
        self.outputs: tuple[Value, ...] = ()
        self.id: Final = next(_IDS)

    def __repr__(self) -> str:
        return f"{self.op.name}_{self.id}"


class Block:
    """A list of equations with inputs and results; inner blocks may use outer values."""

    __slots__ = ("equations", "inputs", "outputs", "parent", "shared", "trace")

    def __init__(self, trace: Trace, parent: Block | None = None) -> None:
        self.trace: Final = trace
        self.parent = parent
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.equations: list[Equation] = []
        self.shared: dict[Any, Equation] = {}

    def find(self, shared_key: Any) -> Equation | None:
        """Return an equal equation of this block or one around it."""
        block: Block | None = self
        while block is not None:
            found = block.shared.get(shared_key)
            if found is not None:
                return found
            block = block.parent
        return None

    def is_inside(self, other: Block) -> bool:
        """Whether this block is `other` or nested in it."""
        block: Block | None = self
        while block is not None:
            if block is other:
                return True
            block = block.parent
        return False

    def captures(self) -> list[Value]:
        """Return values used here or deeper but made outside, constants left out."""
        made = {v.id for v in self.inputs}
        used: dict[int, Value] = {}
        for equation in self.equations:
            for value in (*equation.inputs, *dim_values(equation)):
                used.setdefault(value.id, value)
            for inner in equation.blocks:
                used.update({v.id: v for v in inner.captures()})
            made.update(v.id for v in equation.outputs)
        used.update({v.id: v for v in self.outputs})
        return [v for i, v in used.items() if i not in made and v.known is None]


class Program:
    """A closed root block: named inputs, results, and the environment of its sizes."""

    __slots__ = ("block", "input_names", "output_names")

    def __init__(
        self, block: Block, input_names: Iterable[str], output_names: Iterable[str]
    ) -> None:
        self.block: Final = block
        self.input_names: Final = tuple(input_names)
        self.output_names: Final = tuple(output_names)

    @property
    def inputs(self) -> list[Value]:
        """Inputs in order."""
        return self.block.inputs

    @property
    def outputs(self) -> list[Value]:
        """Results in order."""
        return self.block.outputs

    def walk(self) -> Iterator[Equation]:
        """Yield every equation, inner blocks included."""
        stack = [self.block]
        while stack:
            block = stack.pop()
            for equation in block.equations:
                yield equation
                stack.extend(equation.blocks)


def dims_in(params: Iterable[Any]) -> Iterator[Dim]:
    """Yield the symbolic sizes among static parameters."""
    for value in params:
        if isinstance(value, Dim):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from dims_in(value)


def origins(dim: Dim) -> Iterator[Value]:
    """Yield the values whose shape or content a size is computed from."""
    for symbol in symbols_of(dim):
        origin = symbol.origin
        if isinstance(origin, tuple) and isinstance(origin[0], Value):
            yield origin[0]


def dim_values(equation: Equation) -> list[Value]:
    """Return the values that an equation needs for symbolic sizes in its parameters.

    The shapes of its results count: a lowering may need them (broadcasts, reshapes).
    """
    found: list[Value] = []
    if equation.params:
        for dim in dims_in(equation.params.values()):
            found.extend(origins(dim))
    return found


_INTS: Final = frozenset({int})


def param_key(value: Any) -> Any:
    """Return a hashable that tells static parameters apart by type and bits."""
    kind = type(value)
    if kind is int or kind is str or value is None:
        return value
    if kind is Dim:
        return ("dim", value.poly)
    if kind is tuple:
        plain = _INTS.issuperset(map(type, value))
        return value if plain else ("tuple", *map(param_key, value))
    if isinstance(value, (str, bytes, DType)):
        return value
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *map(param_key, value))
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.size <= 64 and array.dtype.kind != "O":
            return ("array", array.dtype.str, array.shape, array.tobytes())
        return ("array", id(value))
    return (type(value).__name__, value)


def constant(block: Block, array: np.ndarray[Any, Any], *, weak: bool = False) -> Value:
    """Return a constant value of a program."""
    return Value(Tensor(from_numpy(array.dtype), array.shape, weak=weak), block, known=array)
