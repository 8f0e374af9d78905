# SPDX-License-Identifier: Apache-2.0
"""Values computed from sizes and scalar arguments only: they are known before a run.

``int(0.8 * n)`` or ``if dt > 0.5`` depend on no array data.  Such a value is evaluated by NumPy
on the example; the trace records the guard that the same computation gives the same value, and a
later call evaluates it on its own sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from onnxjit._core.bind import DIM
from onnxjit._core.dims import Dim, evaluate, symbols_of
from onnxjit._core.program import Value

__all__ = ["HostGuard", "evaluate_value", "specialise"]

_LIMIT: Final = 200


class HostGuard:
    """A value that must come out the same: bits of the expected result, and how to compute it."""

    __slots__ = ("expected", "source", "value")

    def __init__(self, value: Value, expected: np.ndarray[Any, Any], source: Any) -> None:
        self.value: Final = value
        self.expected: Final = expected
        self.source: Final = source

    def holds(self, sizes: Mapping[Any, int], scalars: Mapping[int, Any]) -> bool:
        """Whether the value is the expected one for these sizes and scalar arguments."""
        got = evaluate_value(self.value, sizes, scalars)
        return got.dtype == self.expected.dtype and got.tobytes() == self.expected.tobytes()


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
        if equation is None or equation.blocks or len(memo) > _LIMIT:
            raise KeyError(v.id)
        if equation.op is DIM:
            dim = equation.params["dim"]
            result: Any = np.int64(evaluate(dim, sizes))
        else:
            result = _apply(equation, [visit(x) for x in equation.inputs])
        results = result if isinstance(result, tuple) else (result,)
        for output, r in zip(equation.outputs, results, strict=True):
            memo[output.id] = np.asarray(r).astype(output.dtype.numpy, copy=False)
        return memo[v.id]

    with np.errstate(all="ignore"):
        return np.asarray(visit(value))


def _apply(equation: Any, inputs: list[Any]) -> Any:
    if equation.op.evaluate is None or _has_dims(equation.params.values()):
        raise KeyError(equation.id)
    return equation.op.evaluate(*inputs, **equation.params)


def _has_dims(params: Any) -> bool:
    return any(
        isinstance(p, Dim) or (isinstance(p, (tuple, list)) and _has_dims(p)) for p in params
    )


class _Hints:
    """Mapping from size symbols to their example sizes."""

    def __getitem__(self, symbol: Any) -> int:
        hint = symbol.hint
        if hint is None:
            raise KeyError(symbol)
        return int(hint)


def specialise(value: Value) -> np.ndarray[Any, Any] | None:
    """Return what the example gives for a value of sizes and scalars, and guard it; else None."""
    trace = value.block.trace
    hints = getattr(trace, "scalar_hints", None)
    if hints is None:
        return None
    try:
        result = evaluate_value(value, _Hints(), hints)  # type: ignore[arg-type]  # lazy mapping
    except (KeyError, NotImplementedError):
        return None
    trace.note_host(HostGuard(value, result, trace.source))  # type: ignore[attr-defined]
    return result


def symbols(value: Value) -> set[Any]:
    """Return the size symbols a value is computed from."""
    found: set[Any] = set()
    stack, seen = [value], set()
    while stack:
        v = stack.pop()
        if v.id in seen or v.equation is None:
            continue
        seen.add(v.id)
        if v.equation.op is DIM:
            dim = v.equation.params["dim"]
            if isinstance(dim, Dim):
                found.update(symbols_of(dim))
        stack.extend(v.equation.inputs)
    return found
