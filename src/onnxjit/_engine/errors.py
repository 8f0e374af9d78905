# SPDX-License-Identifier: Apache-2.0
"""Failures of onnxruntime, in terms of the user's code."""

from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING, Final

from onnxjit.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Equation

__all__ = ["equation_of", "explain_run_error", "load_error"]

_NODE: Final = r"[Nn]ame:? ?'(?P<name>[^']+)'"
_NUMBER: Final = r"_(\d+)(?:\.\d+)?_*$"


def equation_of(message: str, equations: Sequence[Equation]) -> Equation | None:
    """Return the equation of the innermost node that onnxruntime names in a message."""
    for name in reversed(re.findall(_NODE, message)):
        number = re.search(_NUMBER, name)
        if number is not None and int(number[1]) < len(equations):
            equation = equations[int(number[1])]
            if name.startswith(f"{equation.op.name}_"):
                return equation
    return None


def _annotated(error: BaseException, equation: Equation) -> BaseException:
    if equation.source is not None:
        source = equation.source
        error.add_note(f"in {equation.op.name}, called at {source}")
    return error


def explain_run_error(error: BaseException, equations: Sequence[Equation]) -> BaseException:
    """Return the exception to raise for a failed run."""
    message = str(error)
    equation = equation_of(message, equations)
    if equation is None:
        return error
    if equation.op.error is not None:
        error = equation.op.error(message)
    elif "roadcast" in message:
        error = ValueError("operands could not be broadcast together")
    return _annotated(error, equation)


def load_error(
    error: BaseException, model: bytes, equations: Sequence[Equation]
) -> BaseException:
    """Return the exception to raise for a model that does not load; the model is kept."""
    with tempfile.NamedTemporaryFile(prefix="onnxjit-", suffix=".onnx", delete=False) as file:
        file.write(model)
    failure = InternalError(f"onnxruntime refuses the model in {file.name}: {error}")
    equation = equation_of(str(error), equations)
    return failure if equation is None else _annotated(failure, equation)
