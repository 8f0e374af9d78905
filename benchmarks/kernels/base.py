# SPDX-License-Identifier: Apache-2.0
"""A kernel: what is timed against what, at which sizes, and the ratio to stay below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper, numpy_helper

from onnxjit._bench.harness import Contender, Spread, measure
from onnxjit._compat.onnxruntime import open_session
from onnxjit._lower.opsets import ir_version, newest
from onnxjit._runtime.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Kernel", "Result", "compared", "one_node_session"]


class Result:
    """A ratio, and the times it was made of."""

    __slots__ = ("ratio", "seconds")

    def __init__(self, ratio: Spread, seconds: dict[str, Spread]) -> None:
        self.ratio = ratio
        self.seconds = seconds


class Kernel:
    """Something to measure.

    Parameters
    ----------
    name : str
    run : callable
        ``run(size, blocks)`` checks that results are right, then measures.
    sizes : sequence of int
        Smallest first; the smallest one also runs as a test.
    bar : float or dict of int to float, optional
        The ratio to stay below, for all sizes or by size.
    """

    __slots__ = ("_bar", "name", "run", "sizes")

    def __init__(
        self,
        name: str,
        run: Callable[[int, int], Result],
        sizes: Sequence[int],
        bar: float | dict[int, float] | None = None,
    ) -> None:
        self.name = name
        self.run = run
        self.sizes = tuple(sizes)
        self._bar = bar

    def bar(self, size: int) -> float | None:
        """Return the ratio to stay below at a size."""
        return self._bar.get(size) if isinstance(self._bar, dict) else self._bar


#: seconds until the threads of a session have stopped spinning
_SPINNING = 0.06


def compared(
    ours: Contender, base: Contender, blocks: int, *, threads: bool = False
) -> Result:
    """Time two contenders in turn; with threads, each starts when the other's are at rest."""
    timings = measure([ours, base], blocks=blocks, rest=_SPINNING if threads else 0.0)
    return Result(timings.ratio(ours.name, base.name), timings.seconds)


def one_node_session(
    op: str,
    arrays: Sequence[np.ndarray[Any, Any]],
    result: np.dtype[Any],
    *,
    given: Sequence[str | float] | None = None,
    **attributes: Any,
) -> Any:
    """Return the inner session of a model of one node.

    Parameters
    ----------
    op : str
    arrays : sequence of ndarray
        Inputs ``x0``, ``x1``, of these dtypes and ranks.
    result : dtype
        Of ``y``, the only output.
    given : sequence of str or float, optional
        What the node is given: names of inputs, and constants; the inputs otherwise.
    **attributes
        Of the node.
    """
    names = [f"x{i}" for i in range(len(arrays))]
    constants = {
        f"c{i}": np.asarray(c, arrays[0].dtype)
        for i, c in enumerate(given or ())
        if not isinstance(c, str)
    }
    taken = [
        name if isinstance(name, str) else f"c{i}" for i, name in enumerate(given or names)
    ]
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(a.dtype), [None] * a.ndim
        )
        for name, a in zip(names, arrays, strict=True)
    ]
    kind = helper.np_dtype_to_tensor_dtype(result)
    graph = helper.make_graph(
        [helper.make_node(op, taken, ["y"], **attributes)],
        "one_node",
        inputs,
        [helper.make_tensor_value_info("y", kind, [None] * arrays[0].ndim)],
        [numpy_helper.from_array(c, name) for name, c in constants.items()],
    )
    opset = newest()
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version(opset))
    return open_session(Options().session_options(), model.SerializeToString(), ())
