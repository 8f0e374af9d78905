# SPDX-License-Identifier: Apache-2.0
"""Run implementations of rows on symbolic values, without the tracer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import Trace, as_value, tracing
from onnxjit._core.dims import ShapeEnv
from onnxjit._core.dtypes import from_numpy
from onnxjit._core.program import Program, Value
from onnxjit._engine.compile import Compiled, compile_program
from onnxjit._lower.model import lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["compiled", "exported", "run", "trace"]

Array = np.ndarray[Any, Any]


def _flat(results: Any) -> Iterator[Any]:
    if isinstance(results, (tuple, list)):
        for item in results:
            yield from _flat(item)
    else:
        yield results


def trace(
    function: Callable[..., Any],
    *arrays: Any,
    symbolic: bool = True,
    constants: Sequence[int] = (),
    policy: Any = "guard",
) -> Program:
    """Record ``function(*values)`` for arrays like `arrays`.

    Parameters
    ----------
    function
        Takes values, returns a value, size or constant, or (nested) tuples and lists of them.
    arrays
        Examples; each axis gets a size symbol of its own whose hint is the example's.
    symbolic
        False makes every size the example's int.
    constants
        Positions of arguments that are known while tracing.
    """
    env = ShapeEnv(policy)
    record = Trace(env)
    with tracing(record):
        values: list[Value] = []
        for i, example in enumerate(arrays):
            array = np.asarray(example)
            if i in constants:
                values.append(record.constant(array))
                continue
            name = f"x{i}"
            shape: tuple[Any, ...] = array.shape
            if symbolic:
                shape = tuple(env.symbol(f"{name}_{k}", n) for k, n in enumerate(array.shape))
            value = record.input(Tensor(from_numpy(array.dtype), shape), name)
            if symbolic:
                for axis, symbol in enumerate(env.symbols[len(env.symbols) - array.ndim :]):
                    symbol.origin = (value, axis)
            values.append(value)
        results = [as_value(r) for r in _flat(function(*values))]
    record.root.outputs = results
    inputs = [v.name for v in record.root.inputs]
    return Program(record.root, inputs, [f"output_{i}" for i in range(len(results))])


def compiled(function: Callable[..., Any], *arrays: Any, opset: int | None = None) -> Compiled:
    """Return ``function`` traced for arrays like these, ready to run."""
    return compile_program(trace(function, *arrays), opset=opset)


def run(
    function: Callable[..., Any],
    *arrays: Any,
    opset: int | None = None,
    symbolic: bool = True,
    constants: Sequence[int] = (),
    feeds: Sequence[Any] | None = None,
) -> list[Array]:
    """Trace a function, run the graph and return its results as a flat list.

    Parameters
    ----------
    function, arrays, symbolic, constants
        As in `trace`.
    opset
        The newest by default.
    feeds
        Other arrays to run the same graph on.
    """
    program = trace(function, *arrays, symbolic=symbolic, constants=constants)
    ready = compile_program(program, opset=opset)
    given = [np.asarray(a) for i, a in enumerate(feeds or arrays) if i not in constants]
    return [np.asarray(a) for a in ready.results(given)]


def exported(
    function: Callable[..., Any], *arrays: Any, opset: int | None = None, **options: Any
) -> onnx.ModelProto:
    """Return the checked model of a function."""
    model = lower(trace(function, *arrays), opset=opset, **options)
    onnx.checker.check_model(model)
    return model
