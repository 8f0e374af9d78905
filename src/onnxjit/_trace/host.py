# SPDX-License-Identifier: Apache-2.0
"""Values computed from sizes and scalar arguments only: they are known before a run.

``int(0.8 * n)`` or ``if dt > 0.5`` depend on no array data.  Such a value is evaluated by
NumPy on the example; the trace records the guard that the same computation gives the same
value, and a later call evaluates it on its own sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import DIM
from onnxjit._core.dims import Dim, Symbol, evaluate, lower, symbols_of
from onnxjit._core.program import Equation, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "HostGuard", "evaluate_value", "example", "host_inputs", "is_exact", "is_nonnegative",
    "specialise",
]  # fmt: skip

_LIMIT: Final = 200
#: primitives whose results NumPy and onnxruntime agree on to the last bit
_EXACT: Final = frozenset({
    "absolute", "add", "cast", "ceil", "clip", "divide", "equal", "fabs", "floor",
    "floor_divide", "gather", "greater", "greater_equal", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal",
    "remainder", "reshape", "rint", "sign", "sqrt", "square", "subtract", "trunc", "weak",
    "where",
})  # fmt: skip
#: primitives that make no negative number of operands that are not negative
_NONNEGATIVE: Final = frozenset({
    "absolute", "add", "cast", "ceil", "clip", "divide", "exp", "fabs", "floor",
    "floor_divide", "hypot", "maximum", "minimum", "multiply", "power", "remainder", "rint",
    "sqrt", "square", "trunc", "weak",
})  # fmt: skip


class HostGuard:
    """A value that must come out the same: the expected result, and how to compute it."""

    __slots__ = ("expected", "source", "value")

    def __init__(self, value: Value, expected: np.ndarray[Any, Any], source: Any) -> None:
        self.value: Final = value
        self.expected: Final = expected
        self.source: Final = source

    def holds(self, result: np.ndarray[Any, Any]) -> bool:
        """Whether a result is the expected one, to the last bit."""
        same_type = result.dtype == self.expected.dtype
        return same_type and result.tobytes() == self.expected.tobytes()


def evaluate_value(
    value: Value, sizes: Mapping[Any, int], scalars: Mapping[int, Any]
) -> np.ndarray[Any, Any]:
    """Compute a value by NumPy from sizes (by symbol) and scalar inputs (by value id).

    Raises
    ------
    KeyError
        The value depends on something else.
    """
    memo: dict[int, Any] = dict(scalars)

    def visit(v: Value) -> Any:
        if v.known is not None:
            return v.known
        if v.id in memo:
            return memo[v.id]
        equation = v.equation
        if equation is None or len(memo) > _LIMIT:
            raise KeyError(v.id)
        if equation.op is DIM:
            result: Any = np.int64(evaluate(equation.params["dim"], sizes))
        else:
            _check(equation)
            operands = [visit(x) for x in equation.inputs]
            result = equation.op.evaluate(*operands, **equation.params)  # type: ignore[misc]
        results = result if isinstance(result, tuple) else (result,)
        for output, r in zip(equation.outputs, results, strict=True):
            memo[output.id] = np.asarray(r).astype(output.dtype.numpy, copy=False)
        return memo[v.id]

    with np.errstate(all="ignore"):
        return np.asarray(visit(value))


def _check(equation: Equation) -> None:
    """Raise KeyError for an operation that NumPy cannot evaluate from its operands."""
    if equation.op.evaluate is None or equation.blocks or _has_dims(equation.params.values()):
        raise KeyError(equation.id)


def _has_dims(params: Any) -> bool:
    return any(
        isinstance(p, Dim) or (isinstance(p, (tuple, list)) and _has_dims(p)) for p in params
    )


def _equations(value: Value) -> list[Equation | Value]:
    """Return what a value is computed by, and the values it starts from."""
    found: dict[int, Equation | Value] = {}
    stack = [value]
    while stack:
        v = stack.pop()
        if v.known is not None or v.id in found:
            continue
        found[v.id] = v if v.equation is None else v.equation
        if v.equation is not None:
            stack.extend(v.equation.inputs)
    return list(found.values())


def host_inputs(value: Value, scalars: Mapping[int, Any]) -> tuple[list[Symbol], list[int]]:
    """Return the size symbols, and the ids of scalar inputs, that a value is computed from.

    Raises
    ------
    KeyError
        The value depends on array data.
    """
    symbols: dict[Symbol, None] = {}
    inputs: dict[int, None] = {}
    for step in _equations(value):
        if isinstance(step, Value):
            if step.id not in scalars:
                raise KeyError(step.id)
            inputs[step.id] = None
        elif step.op is DIM:
            found = symbols_of(step.params["dim"])
            if any(s.data for s in found):
                raise KeyError(step.id)
            symbols.update(dict.fromkeys(found))
        else:
            _check(step)
    return list(symbols), list(inputs)


def is_exact(value: Value) -> bool:
    """Whether the graph computes exactly what NumPy does."""
    steps = _equations(value)
    return all(isinstance(s, Value) or s.op is DIM or s.op.name in _EXACT for s in steps)


def is_nonnegative(value: Value) -> bool:
    """Whether a value of sizes is known not to be negative."""
    if value.known is not None:
        return bool((value.known >= 0).all())
    equation = value.equation
    if equation is None:
        return False
    if equation.op is DIM:
        least = lower(equation.params["dim"])
        return least is not None and least >= 0
    return equation.op.name in _NONNEGATIVE and all(map(is_nonnegative, equation.inputs))


class _Hints:
    """Mapping from size symbols to their example sizes."""

    def __getitem__(self, symbol: Any) -> int:
        hint = symbol.hint
        if hint is None:
            raise KeyError(symbol)
        return int(hint)


def example(value: Value) -> np.ndarray[Any, Any] | None:
    """Return what the example gives for a value of sizes and scalars, None for any other."""
    hints = getattr(value.block.trace, "scalar_hints", None)
    if hints is None:
        return None
    try:
        host_inputs(value, hints)
        return evaluate_value(value, _Hints(), hints)  # type: ignore[arg-type]  # lazy mapping
    except (KeyError, NotImplementedError):
        return None


def specialise(value: Value) -> np.ndarray[Any, Any] | None:
    """Return what the example gives for a value of sizes and scalars, and guard it."""
    result = example(value)
    if result is not None:
        trace: Any = value.block.trace
        trace.note_host(HostGuard(value, result, trace.source))
    return result
