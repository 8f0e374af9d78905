# SPDX-License-Identifier: Apache-2.0
"""`bind`: the one place where an operation enters a program."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit.errors import DataDependentError, UnsupportedError

from .aval import Tensor
from .dims import Dim, DimLike, ShapeEnv
from .dtypes import INT64, DType, from_numpy
from .op import Op, known_array
from .program import Block, Equation, Value, constant, param_key
from .source import Scope, Source, caller

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["CURRENT", "Trace", "bind", "bind_one", "current_trace", "tracing"]

#: constants of more bytes than this are not computed while tracing
FOLD_LIMIT: Final = 1 << 20
_SMALL: Final = 64

#: the trace that runs in this thread
CURRENT: Final[ContextVar[Trace | None]] = ContextVar("onnxjit_trace", default=None)


class Trace:
    """A program being recorded.

    Parameters
    ----------
    env : ShapeEnv
        Symbolic sizes and the guards taken on them.

    Attributes
    ----------
    root, block : Block
        Outermost block, and the one that operations go to now.
    source, scope : Source, Scope, optional
        The user's line that is running, and the chain of calls around it.
    closed : bool
        Set when the trace has ended; its arrays are then leaks.
    lengths : dict
        Sizes that data decides, by the value that decides one and its use.
    journal : dict or None
        Content of storages before the running branch or loop wrote to them.
    numbers : dict
        Constants that were made of Python numbers, by number, type and dtype.
    types : dict
        Types of results of elementwise operations, by operation and types of operands.
    tries : int
        ``try`` statements with handlers whose bodies are running.
    """

    def __init__(self, env: ShapeEnv) -> None:
        self.env: Final = env
        self.root: Final = Block(self)
        self.block = self.root
        self.source: Source | None = None
        self.scope: Scope | None = None
        self.closed = False
        self.tries = 0
        self.lengths: dict[tuple[int, Any], list[Any]] = {}
        self.journal: dict[Any, Value] | None = None
        #: what makes the body of a loop wrong, of one iteration; None outside of such bodies
        self.failures: list[Value] | None = None
        self.numbers: Final[dict[tuple[float, type, DType], Value]] = {}
        self.types: Final[dict[tuple[Any, ...], tuple[Any, ...]]] = {}
        self._constants: dict[Any, Value] = {}
        self._alive: list[Any] = []

    def data_size(self, value: Value) -> DimLike:  # noqa: ARG002  for the trace of a function
        """Return a () integer of data as a size; a negative one is an error of the code.

        Raises
        ------
        DataDependentError
            Nobody makes the call again where it is negative.
        """
        msg = "a size depends on array data: take it from a shape or an int argument"
        raise DataDependentError(msg)

    def fail_if(self, pred: Value, *, holds: bool = True) -> None:
        """Note that a graph is not right where a () bool is true, or false.

        Nobody makes the call again here: the trace of a function does more.
        """

    def fail_if_any(self, preds: Value) -> None:
        """Note that a graph is not right where any element of a (n) bool is true."""

    @contextmanager
    def iterating(self) -> Iterator[list[Value]]:
        """Collect what makes one iteration of a loop wrong, for the loop to hand out."""
        before, self.failures = self.failures, []
        try:
            yield self.failures
        finally:
            self.failures = before

    def input(self, aval: Tensor, name: str) -> Value:
        """Add an input of the root block."""
        value = Value(aval, self.root, name=name)
        self.root.inputs.append(value)
        return value

    def constant(self, array: Any, *, weak: bool = False) -> Value:
        """Return a constant; equal small ones and the same large ndarray are one value."""
        array = known_array(array)
        shared = (
            (array.dtype, array.tobytes(), weak)
            if array.ndim == 0 and array.dtype.kind != "O"
            else (param_key(array), weak)
        )
        found = self._constants.get(shared)
        if found is None:
            if array.size > _SMALL:
                self._alive.append(array)
            found = self._constants[shared] = constant(self.root, array, weak=weak)
        return found

    @contextmanager
    def inner(self) -> Iterator[Block]:
        """Record into a new block nested in the current one."""
        outer = self.block
        self.block = Block(self, outer)
        try:
            yield self.block
        finally:
            self.block = outer

    def mark_line(self) -> None:
        """Note which line of the user's code is running."""
        self.source = caller()


def current_trace() -> Trace | None:
    """Return the trace that runs in this thread, if any."""
    return CURRENT.get()


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Make `trace` the one that operations without operands go to."""
    token = CURRENT.set(trace)
    try:
        yield trace
    finally:
        CURRENT.reset(token)
        trace.closed = True


def running_trace(inputs: Sequence[Value] = ()) -> Trace:
    """Return the trace of the operands, else the current one."""
    for value in inputs:
        return value.block.trace
    trace = CURRENT.get()
    if trace is None:
        msg = "no trace is running"
        raise RuntimeError(msg)
    return trace


def _are_known(inputs: tuple[Value, ...]) -> bool:
    for value in inputs:
        if value.known is None:
            return False
    return bool(inputs)


def _folded(op: Op, inputs: tuple[Value, ...], params: dict[str, Any]) -> Any:
    """Compute an operation on known values, if it is small; None otherwise."""
    if op.evaluate is None:
        return None
    if any(isinstance(v, Dim) for v in _flat(params.values())):
        return None
    avals = op.result(*(v.aval for v in inputs), **params)
    total = 0
    for aval in avals if isinstance(avals, tuple) else (avals,):
        if not aval.is_static:
            return None
        total += int(aval.size) * max(aval.dtype.bits // 8, 1)
    if total > FOLD_LIMIT:
        return None
    with np.errstate(all="ignore"):
        return op.evaluate(*[v.known for v in inputs], **params), avals


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(value)
        else:
            yield value


def _constants(trace: Trace, results: Any, avals: Any) -> tuple[Value, ...]:
    if not isinstance(avals, tuple):
        results, avals = (results,), (avals,)
    return tuple(
        trace.constant(np.asarray(r).astype(a.dtype.numpy, copy=False), weak=a.weak)
        for r, a in zip(results, avals, strict=True)
    )


def bind(
    op: Op, *inputs: Value, blocks: tuple[Block, ...] = (), **params: Any
) -> tuple[Value, ...]:
    """Apply a primitive and return its results.

    Operations on constants are computed at once; an equal equation of this block or one around
    it is shared.
    """
    trace = inputs[0].block.trace if inputs else running_trace()
    block = trace.block
    shared: Any = None
    if not blocks:
        if _are_known(inputs):
            folded = _folded(op, inputs, params)
            if folded is not None:
                return _constants(trace, *folded)
        if not op.stateful:
            shared = (op, *inputs)
            if params:
                shared += tuple([(k, param_key(params[k])) for k in sorted(params)])
            found = block.shared.get(shared)
            if found is None and block.parent is not None:
                found = block.parent.find(shared)
            if found is not None:
                return found.outputs
    equation = Equation(op, inputs, params, blocks, trace.source, trace.scope)
    avals = _typed(trace, op, inputs, params)
    if len(avals) == 1:  # nearly always
        equation.outputs = (Value(avals[0], block, equation),)
    else:
        equation.outputs = tuple(
            [Value(aval, block, equation, i) for i, aval in enumerate(avals)]
        )
    block.equations.append(equation)
    if shared is not None:
        block.shared[shared] = equation
    return equation.outputs


def _typed(
    trace: Trace, op: Op, inputs: tuple[Value, ...], params: dict[str, Any]
) -> tuple[Tensor, ...]:
    """Return the types of results; elementwise operations of the same types ask once."""
    avals = [v.aval for v in inputs]
    if params or not op.rowwise:
        return _results(op, avals, params)
    found = trace.types.get((op, *avals))
    if found is None:
        found = trace.types[op, *avals] = _results(op, avals, params)
    return found


def _results(op: Op, avals: list[Any], params: dict[str, Any]) -> tuple[Tensor, ...]:
    made = op.result(*avals, **params)
    results = made if isinstance(made, tuple) else (made,)
    if op.parts is None:
        for aval in (*avals, *results):
            if isinstance(aval, Tensor) and aval.dtype.kind == "c":
                msg = f"np.{op.name} of {aval.dtype} arrays is not carried"
                raise UnsupportedError(msg)
    return results


def bind_one(op: Op, *inputs: Value, **params: Any) -> Value:
    """Apply a primitive that has one result."""
    return bind(op, *inputs, **params)[0]


def _dim_result(*, dim: DimLike) -> Tensor:  # noqa: ARG001  the result rule's signature
    return Tensor(INT64, (), weak=True)


def _lower_dim(e: Any, equation: Equation) -> Any:
    return e.dim(equation.params["dim"])


DIM: Final = Op("dim", result=_dim_result, lower={1: _lower_dim})


def dim_value(dim: DimLike) -> Value:
    """Return a size as a weak integer value."""
    if isinstance(dim, Dim):
        return bind_one(DIM, dim=dim)
    return running_trace().constant(np.int64(dim), weak=True)


_WEAK: Final = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


def as_value(x: Any, dtype: DType | None = None) -> Value:
    """Return a Value of an ndarray, scalar or size; Python scalars are weak by default."""
    if isinstance(x, Value):
        return x
    if isinstance(x, Dim):
        return dim_value(x)
    trace = running_trace()
    weak = type(x) in _WEAK and dtype is None and not isinstance(x, bool)
    if dtype is not None:
        return trace.constant(np.asarray(x, dtype.numpy))
    if type(x) is int and not -(2**63) <= x < 2**63:
        return trace.constant(np.asarray(x), weak=True)
    array = np.asarray(x, _WEAK[type(x)]) if type(x) in _WEAK else np.asarray(x)
    from_numpy(array.dtype)
    return trace.constant(array, weak=weak)
