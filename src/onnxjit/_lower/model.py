# SPDX-License-Identifier: Apache-2.0
"""A program as an ONNX model."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from onnx import ModelProto, OperatorSetIdProto, ValueInfoProto

from onnxjit._core.dims import Dim, onnx_name

from .emit import Emitter, value_info
from .opsets import check_opset, ir_version
from .tensor import array_type
from .wire import Graph, add_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import TensorProto

    from onnxjit._core.op import Handle
    from onnxjit._core.program import Equation, Program, Value

    from .kernels import Target
    from .wire import Node

__all__ = ["Lowered", "lower", "lower_results"]

PRODUCER: Final = "onnxjit"
#: elements of a tensor that may be above 2 GB
_LARGE: Final = 2**27


class Lowered:
    """A model and how it relates to its program.

    Attributes
    ----------
    model : onnx.ModelProto
    inputs : tuple of int
        Positions of the program's inputs that the model has, in its order.
    outputs : tuple of str
        Names of the results.
    equations : list of Equation
        A node named ``add_3`` or ``add_3.1`` comes from ``equations[3]``.
    """

    __slots__ = ("equations", "inputs", "model", "outputs")

    def __init__(
        self,
        model: ModelProto,
        inputs: tuple[int, ...],
        outputs: tuple[str, ...],
        equations: list[Equation],
    ) -> None:
        self.model: Final = model
        self.inputs: Final = inputs
        self.outputs: Final = outputs
        self.equations: Final = equations


def lower(
    program: Program,
    *,
    opset: int | None = None,
    target: Target = "onnxruntime",
    name: str = "main",
    annotate: bool = True,
    sizes: Mapping[str, int] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> ModelProto:
    """Return a program as a complete model, for files.

    Parameters
    ----------
    program : Program
        A closed trace.
    opset : int, optional
        Opset of the standard domain; the newest by default.
    target : {"onnxruntime", "spec"}
        Work around kernels that onnxruntime lacks, or rely on the standard alone.
    name : str
        Name of the graph.
    annotate : bool
        Whether nodes carry the user's lines.
    sizes : mapping of str to int, optional
        Sizes to declare in place of dimension names.
    metadata : mapping, optional
        Model metadata.

    Raises
    ------
    OpsetError
        The opset is out of range or has no form of an operation.
    LoweringError
        An operation has no form for a dtype.

    Notes
    -----
    Every input of the program is an input; every result is a node of its own (Identity where
    it is an input, a constant or a result named twice).
    """
    opset = check_opset(opset)
    ir = ir_version(opset)
    emit = Emitter(program, opset=opset, target=target, source_ir=ir if annotate else None)
    emit.write_block(program.block)
    handles = [emit.handle(v) for v in program.outputs]
    handles = emit.own_outputs(handles, emit.root, prefix="output")
    read = emit.prune(emit.root, handles)
    _rename(emit.root.nodes, handles, program.output_names)
    model = _model(emit, name, ir, read)
    graph = model.graph
    for names, values, field in (
        (program.input_names, program.inputs, graph.input),
        (program.output_names, program.outputs, graph.output),
    ):
        field.extend(_declare(n, v, sizes or {}) for n, v in zip(names, values, strict=True))
    for key, text in (metadata or {}).items():
        model.metadata_props.add(key=key, value=text)
    return model


def lower_results(
    program: Program, results: Sequence[Value], *, opset: int, target: Target = "onnxruntime"
) -> Lowered:
    """Return a model of some results of a program, for a session: no types but the inputs'.

    Inputs that the results do not depend on are left out.  `results` are different values, and
    neither inputs nor constants.
    """
    emit = Emitter(program, opset=opset, target=target)
    emit.write_results(results)
    handles = emit.own_outputs([emit.handle(v) for v in results], emit.root, prefix="output")
    read = emit.prune(emit.root, handles)
    positions = [i for i, name in enumerate(program.input_names) if name in read]
    model = _model(emit, "main", ir_version(opset), read)
    model.graph.input.extend(
        _declare(program.input_names[i], program.inputs[i], {}) for i in positions
    )
    model.graph.output.extend(map(value_info, handles))
    names = tuple(h.name for h in handles)
    return Lowered(model, tuple(positions), names, emit.equations)


def _model(emit: Emitter, name: str, ir: int, read: set[str]) -> ModelProto:
    """Return a model of the nodes written and the initialisers read; parts are copied once."""
    imports = [OperatorSetIdProto(domain="", version=emit.opset)]
    imports += [OperatorSetIdProto(domain=d, version=1) for d in sorted(emit.domains)]
    model = ModelProto(ir_version=ir, producer_name=PRODUCER, opset_import=imports)
    model.graph.name = name
    add_nodes(model.graph, emit.root.nodes)
    for t in emit.initializers:
        if t.name in read:
            _add_tensor(model.graph.initializer, t)
    return model


def _add_tensor(initializers: Any, t: TensorProto) -> None:
    """Copy a tensor into a graph; protobuf copies no message above 2 GB, but its fields."""
    if prod(t.dims) < _LARGE or not t.HasField("raw_data"):
        initializers.append(t)
        return
    new = initializers.add(name=t.name, data_type=t.data_type, dims=t.dims)
    new.raw_data = t.raw_data


def _declare(name: str, value: Value, sizes: Mapping[str, int]) -> ValueInfoProto:
    """Return name, element type and shape."""
    declared: list[int | str] = []
    for size in value.shape:
        n = size.env.resolve(size) if isinstance(size, Dim) else size
        if isinstance(n, Dim):
            text = onnx_name(n)
            declared.append(sizes.get(text, text))
        else:
            declared.append(int(n))
    return ValueInfoProto(name=name, type=array_type(value.dtype, tuple(declared)))


def _rename(nodes: Sequence[Node], handles: list[Handle], names: Sequence[str]) -> None:
    """Give results their names, in every node that makes or reads them."""
    new = {h.name: name for h, name in zip(handles, names, strict=True)}
    stack = [nodes]
    while stack:
        for node in stack.pop():
            node.reads = [new.get(name, name) for name in node.reads]
            node.makes = [new.get(name, name) for name in node.makes]
            stack.extend(v.nodes for v in node.attributes.values() if type(v) is Graph)
