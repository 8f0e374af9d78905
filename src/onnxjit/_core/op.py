# SPDX-License-Identifier: Apache-2.0
"""A primitive operation: what it means, and how each opset spells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from .aval import Tensor
    from .dims import DimLike
    from .dtypes import DType
    from .program import Equation

__all__ = ["Emit", "Handle", "Op", "Rule"]


class Handle:
    """A tensor in the graph being written: its name and element type."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: DType) -> None:
        self.name: Final = name
        self.dtype: Final = dtype


class Emit(Protocol):
    """What a lowering rule may do.  The opset is not among it: rules are chosen by opset."""

    def op(
        self,
        op_type: str,
        *inputs: Handle | None,
        out: DType | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> Handle:
        """Add a node with one result of dtype `out` (that of the first input by default).

        Where onnxruntime has no kernel for the input's dtype, casts through the nearest
        dtype that loses nothing are put around it.
        """

    def multi(
        self, op_type: str, *inputs: Handle | None, out: tuple[DType, ...], **attributes: Any
    ) -> tuple[Handle, ...]:
        """Add a node with several results."""

    def const(self, value: Any, dtype: DType | None = None) -> Handle:
        """Return an initialiser holding `value`; equal ones are stored once."""

    def cast(self, x: Handle, dtype: DType) -> Handle:
        """Cast as ``ndarray.astype`` does; nothing is emitted when the dtype is the same."""

    def dim(self, n: DimLike) -> Handle:
        """Return a 0-d int64 holding a size."""

    def dims(self, sizes: tuple[DimLike, ...]) -> Handle:
        """Return a 1-d int64 vector of sizes; a constant when all are ints."""

    def block(self, equation: Equation, index: int, **options: Any) -> Any:
        """Return a nested block of `equation` as a graph attribute."""


Rule = Callable[..., "Handle | tuple[Handle, ...]"]
Result = Callable[..., "Tensor | tuple[Tensor, ...]"]
Evaluate = Callable[..., Any]


class Op:
    """A primitive.

    Parameters
    ----------
    name : str
        Unique name; NumPy's where NumPy has the operation.
    result : callable
        ``result(*avals, **params)`` -> `Tensor` or tuple of them: dtype and shape.
    lower : mapping of int to rule
        First opset -> ``rule(e, equation, *handles)``; the newest key not above the target is
        used, None ends support.
    evaluate : callable, optional
        ``evaluate(*ndarrays, **params)``: NumPy's own answer, for values known while tracing.
    may_fail : bool
        Execution can raise; such an operation is never moved out of its region.
    stateful : bool
        Equal operands do not mean equal results; never shared.
    rowwise : bool
        Result element i depends on operand elements i only (after broadcasting).
    bounds : callable, optional
        ``bounds(*intervals, **params)`` -> (low, high) of the result, None where unknown.
    parts : {"each", "own"}, optional
        What becomes of complex operands, which no kernel takes.  ``"each"``: the operation
        is applied to real and imaginary parts (moves of elements, sums).  ``"own"``: the pass
        that splits complex values knows it.  Without the fact they are refused while tracing.
    error : callable, optional
        ``error(message)`` -> exception NumPy would raise for a run-time failure.
    vjp, jvp : callable, optional
        Derivative rules; None means through the composition that made it.
    """

    __slots__ = (
        "bounds", "error", "evaluate", "jvp", "lower", "may_fail", "name", "parts", "result",
        "rowwise", "stateful", "vjp",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  a record of keyword facts
        self,
        name: str,
        *,
        result: Result,
        lower: Mapping[int, Rule | None],
        evaluate: Evaluate | None = None,
        may_fail: bool = False,
        stateful: bool = False,
        rowwise: bool = False,
        parts: Literal["each", "own"] | None = None,
        bounds: Callable[..., tuple[int | None, int | None]] | None = None,
        error: Callable[[str], BaseException] | None = None,
        vjp: Callable[..., Any] | None = None,
        jvp: Callable[..., Any] | None = None,
    ) -> None:
        self.name: Final = name
        self.result: Final = result
        self.lower: Final = dict(lower)
        self.evaluate: Final = evaluate
        self.may_fail: Final = may_fail
        self.stateful: Final = stateful
        self.rowwise: Final = rowwise
        self.parts: Final = parts
        self.bounds: Final = bounds
        self.error: Final = error
        self.vjp: Final = vjp
        self.jvp: Final = jvp

    def rule(self, opset: int) -> Rule | None:
        """Return the lowering rule in force at an opset, or None."""
        first = [v for v in self.lower if v <= opset]
        return self.lower[max(first)] if first else None

    def first_opset(self) -> int | None:
        """Return the lowest opset that has a rule."""
        have = [v for v, rule in self.lower.items() if rule is not None]
        return min(have) if have else None

    def __repr__(self) -> str:
        return f"Op({self.name})"


def known_array(value: Any) -> np.ndarray[Any, Any]:
    """Return a read-only contiguous ndarray of `value`, native byte order."""
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array
