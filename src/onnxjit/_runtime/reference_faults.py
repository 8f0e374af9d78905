# SPDX-License-Identifier: Apache-2.0
"""Where onnx's reference evaluator is known not to compute what the standard says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx import GraphProto, ModelProto

__all__ = ["FAULTS", "Fault", "faults_of", "node_runs"]


class Fault:
    """A fault of the reference evaluator.

    Parameters
    ----------
    op : str
        Operator.
    text : str
        What goes wrong.
    dtype : str or None
        Element type of the first operand, by NumPy's name; None for any.
    opsets : range
        Opsets concerned.
    """

    __slots__ = ("dtype", "op", "opsets", "text")

    def __init__(
        self, op: str, text: str, *, dtype: str | None = None, opsets: range = range(13, 1000)
    ) -> None:
        self.op: Final = op
        self.text: Final = text
        self.dtype: Final = dtype
        self.opsets: Final = opsets

    def __str__(self) -> str:
        kind = f" of {self.dtype}" if self.dtype else ""
        return f"{self.op}{kind}: {self.text}"


#: each has a test in tests/upstream that fails when it is mended
FAULTS: Final[tuple[Fault, ...]] = (
    Fault("Erf", "right to about 1e-8 only", dtype="float64"),
    Fault("Loop", "collected results are joined by vstack, right for 1-d ones only"),
    Fault("Pad", "negative pads are refused"),
    Fault("Scan", "scanned axes other than 0 are refused"),
)


def faults_of(model: ModelProto, faults: Iterable[Fault] = FAULTS) -> list[Fault]:
    """Return the faults that a model may meet."""
    opset = next(o.version for o in model.opset_import if o.domain in {"", "ai.onnx"})
    used = set(_operators(model))
    names = {name for name, _ in used}
    return [
        f
        for f in faults
        if opset in f.opsets
        and (f.op in names if f.dtype is None else (f.op, f.dtype) in used)
    ]


def _operators(model: ModelProto) -> Iterator[tuple[str, str | None]]:
    """Yield the operators of a model, with the dtype of the first operand if it is known."""
    from onnx import shape_inference

    stack = [(shape_inference.infer_shapes(model).graph, dict[str, str]())]
    while stack:
        graph, outer = stack.pop()
        types = {**outer, **_types(graph)}
        for node in graph.node:
            yield node.op_type, types.get(node.input[0]) if node.input else None
            stack.extend((a.g, types) for a in node.attribute if a.HasField("g"))


def _types(graph: GraphProto) -> dict[str, str]:
    from onnx import helper  # noqa: TID251  its table of dtypes

    kinds = {t.name: t.data_type for t in graph.initializer}
    for value in (*graph.input, *graph.output, *graph.value_info):
        kinds[value.name] = value.type.tensor_type.elem_type
    return {n: helper.tensor_dtype_to_np_dtype(k).name for n, k in kinds.items() if k}


def node_runs(graph: GraphProto, unknown: int) -> int:
    """Estimate how many nodes a run executes.

    Parameters
    ----------
    graph : GraphProto
        Of a model, or a body inside of one.
    unknown : int
        Steps taken for a loop whose number of steps is not a constant of the graph.
    """
    from onnx import numpy_helper

    counts = {t.name: t for t in graph.initializer if not t.dims or list(t.dims) == [1]}
    counts |= {
        n.output[0]: a.t
        for n in graph.node
        if n.op_type == "Constant"
        for a in n.attribute
        if a.name == "value"
    }

    def steps(node: Any) -> int:
        if node.op_type not in {"Loop", "Scan", "SequenceMap"}:
            return 1
        known = counts.get(node.input[0]) if node.op_type == "Loop" else None
        # a trip count without limit belongs to a while loop, which ends earlier
        given = unknown if known is None else int(numpy_helper.to_array(known).reshape(())[()])
        return given if given < 2**31 else unknown

    total = 0
    for node in graph.node:
        bodies = [a.g for a in node.attribute if a.HasField("g")]
        total += 1 + steps(node) * sum(node_runs(body, unknown) for body in bodies)
    return total
