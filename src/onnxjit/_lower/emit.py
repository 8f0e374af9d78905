# SPDX-License-Identifier: Apache-2.0
"""`Emitter`: writes nodes and initialisers; what lowering rules see as `Emit`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import TensorProto, ValueInfoProto

from onnxjit._core.dtypes import BOOL, DType, from_numpy
from onnxjit._core.op import Handle, Rule
from onnxjit.errors import InternalError, LoweringError

from .kernels import Parameter, Target, detour, parameters
from .opsets import rule_of
from .sizes import Sizes
from .tensor import array_type, tensor
from .wire import Graph, Node, names_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Block, Equation, Program, Value

__all__ = ["Emitter", "Scope"]

#: IR version from which nodes have metadata
_METADATA_IR: Final = 10
#: constants of more bytes are told apart by identity
_COMPARED: Final = 4096


class Scope:
    """A graph being written."""

    __slots__ = ("block", "casts", "depth", "nodes", "parent")

    def __init__(self, block: Block, parent: Scope | None) -> None:
        self.block: Final = block
        self.parent: Final = parent
        self.depth: Final[int] = parent.depth + 1 if parent is not None else 0
        self.nodes: list[Node] = []
        self.casts: dict[tuple[str, DType], Handle] = {}


class Emitter:
    """State of one lowering.

    Parameters
    ----------
    program : Program
        What is lowered.
    opset : int
        Chooses rules and kernel facts.
    target : {"onnxruntime", "spec"}
        Whether casts also go around kernels that onnxruntime lacks.
    source_ir : int or None
        IR version of a model whose nodes are to carry the user's lines; None leaves them out.

    Attributes
    ----------
    used : dict of int to Handle
        Inputs of the program that some node reads, by value id.
    equations : list of Equation
        Equations written, at the number that their nodes' names carry.
    """

    def __init__(
        self, program: Program, *, opset: int, target: Target, source_ir: int | None = None
    ) -> None:
        self.opset: Final = opset
        self.root: Final = Scope(program.block, None)
        self.scope = self.root
        self.used: dict[int, Handle] = {}
        self.equations: list[Equation] = []
        self.initializers: list[TensorProto] = []
        self.domains: set[str] = set()
        self._target: Final = target
        self._source_ir: Final = source_ir
        self._names: Final = dict(
            zip((v.id for v in program.inputs), program.input_names, strict=True)
        )
        self._taken: Final = {*program.input_names, *program.output_names}
        self._handles: dict[int, Handle] = {}
        self._open: dict[int, Scope] = {id(program.block): self.root}
        self._rules: dict[Any, Rule] = {}
        self._limits: dict[str, list[tuple[int, frozenset[DType], Parameter]]] = {}
        self._constants: dict[Any, Handle] = {}
        self._alive: list[Any] = []
        self._sizes = Sizes(self)
        self._prefix = ""
        self._count = 0
        self._serial = 0
        self._equation: Equation | None = None

    # ---- nodes

    def op(
        self,
        op_type: str,
        *inputs: Handle | None,
        out: DType | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> Handle:
        """Add a node with one result; see `onnxjit._core.op.Emit`."""
        if out is None:
            out = (inputs[0] if inputs and inputs[0] else self._first(op_type, inputs)).dtype
        if not domain:
            missing = self._missing(op_type, inputs)
            if missing:
                return self._around(op_type, inputs, missing, (out,), attributes)[0]
        name = self._name()
        self._put(self.scope, op_type, inputs, [name], attributes, domain, name)
        return Handle(name, out)

    def multi(
        self, op_type: str, *inputs: Handle | None, out: tuple[DType, ...], **attributes: Any
    ) -> tuple[Handle, ...]:
        """Add a node with several results."""
        domain = attributes.pop("domain", "")
        if not domain:
            missing = self._missing(op_type, inputs)
            if missing:
                return self._around(op_type, inputs, missing, out, attributes)
        return self._add(self.scope, op_type, inputs, out, attributes, domain)

    def raw(
        self,
        op_type: str,
        inputs: Sequence[Handle | None],
        out: DType,
        attributes: Mapping[str, Any],
        *,
        scope: Scope | None = None,
        prefix: str | None = None,
    ) -> Handle:
        """Add a node as it is, possibly to an outer graph."""
        if prefix is not None:
            before = self._prefix, self._count
            self._prefix, self._count = f"{prefix}{self._next()}", 0
        handle = self._add(scope or self.scope, op_type, inputs, (out,), attributes)[0]
        if prefix is not None:
            self._prefix, self._count = before
        return handle

    def const(self, value: Any, dtype: DType | None = None) -> Handle:
        """Return an initialiser; equal ones are stored once, large ndarrays by identity."""
        array = np.asarray(value, None if dtype is None else dtype.numpy)
        if dtype is None:
            dtype = from_numpy(array.dtype)
        if dtype.kind == "U":
            key: Any = (dtype, array.shape, tuple(array.ravel().tolist()))
        elif array.nbytes <= _COMPARED:
            key = (dtype, array.shape, array.tobytes())
        else:
            key = (dtype, id(array))
            self._alive.append(array)
        found = self._constants.get(key)
        if found is None:
            found = Handle(self._free(f"const{len(self._constants)}"), dtype)
            self._constants[key] = found
            self.initializers.append(tensor(array, found.name, dtype))
        return found

    def cast(self, x: Handle, dtype: DType) -> Handle:
        """Cast as ``ndarray.astype`` does; a cast of one tensor is emitted once per graph."""
        if x.dtype is dtype:
            return x
        key = (x.name, dtype)
        scope: Scope | None = self.scope
        while scope is not None:
            if key in scope.casts:
                return scope.casts[key]
            scope = scope.parent
        handle = self._add(self.scope, "Cast", (x,), (dtype,), {"to": dtype})[0]
        self.scope.casts[key] = handle
        return handle

    def dim(self, n: DimLike) -> Handle:
        """Return a 0-d int64 holding a size."""
        return self._sizes.scalar(n)

    def dims(self, sizes: tuple[DimLike, ...]) -> Handle:
        """Return a 1-d int64 vector of sizes."""
        return self._sizes.vector(tuple(sizes))

    def _first(self, op_type: str, inputs: Sequence[Handle | None]) -> Handle:
        for handle in inputs:
            if handle is not None:
                return handle
        msg = f"{op_type} without inputs needs `out`"
        raise TypeError(msg)

    def _add(
        self,
        scope: Scope,
        op_type: str,
        inputs: Sequence[Handle | None],
        out: tuple[DType, ...],
        attributes: Mapping[str, Any],
        domain: str = "",
    ) -> tuple[Handle, ...]:
        name = self._name()
        if len(out) == 1:
            handles: tuple[Handle, ...] = (Handle(name, out[0]),)
        else:
            handles = tuple(Handle(f"{name}:{i}", t) for i, t in enumerate(out))
        makes = [h.name for h in handles]
        self._put(scope, op_type, inputs, makes, attributes, domain, name)
        return handles

    def _put(
        self,
        scope: Scope,
        op_type: str,
        inputs: Sequence[Handle | None],
        makes: list[str],
        attributes: Mapping[str, Any],
        domain: str,
        name: str,
    ) -> None:
        if None in inputs:
            reads = ["" if h is None else h.name for h in inputs]
            while reads and not reads[-1]:
                reads.pop()  # what is left out at the end needs no place
        else:
            reads = [h.name for h in inputs]  # type: ignore[union-attr]
        node = Node(op_type, name, reads, makes, attributes, domain)
        if domain:
            self.domains.add(domain)
        if self._source_ir is not None:
            self._annotate(node)
        scope.nodes.append(node)

    def prune(self, scope: Scope, outputs: Iterable[Handle]) -> set[str]:
        """Drop the nodes of a graph that its outputs do not need; return all names read."""
        wanted = {h.name for h in outputs}
        kept: list[Node] = []
        for node in reversed(scope.nodes):
            if not wanted.isdisjoint(node.makes):
                wanted.update(names_read(node) if node.attributes else node.reads)
                kept.append(node)
        if len(kept) < len(scope.nodes):
            scope.nodes = kept[::-1]
        return wanted

    def _name(self) -> str:
        """Return the name of the next node: the equation's, then with numbers."""
        count = self._count
        name = f"{self._prefix}.{count}" if count else self._prefix
        self._count = count + 1
        return self._free(name) if name in self._taken else name

    def _annotate(self, node: Node) -> None:
        source = self._equation.source if self._equation is not None else None
        if source is None or self._source_ir is None:
            return
        node.source = f"{source.file}:{source.line}"
        if self._source_ir < _METADATA_IR:
            node.text = node.source

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        return name

    # ---- dtypes without a kernel

    def _missing(
        self, op_type: str, inputs: Sequence[Handle | None]
    ) -> list[tuple[Parameter, DType]]:
        """Return the type parameters whose dtypes are not taken, mostly none."""
        limits = self._limits.get(op_type)
        if limits is None:
            native = self._target == "onnxruntime"
            limits = self._limits[op_type] = [
                (p.first, p.native if native else p.legal, p)
                for p in parameters(op_type, self.opset)
            ]
        found: list[tuple[Parameter, DType]] = []
        count = len(inputs)
        for first, allowed, parameter in limits:
            handle = inputs[first] if first < count else None
            if handle is None:
                handle = next(
                    (inputs[i] for i in parameter.positions(count) if inputs[i]), None
                )
            if handle is not None and handle.dtype not in allowed:
                found.append((parameter, handle.dtype))
        return found

    def _around(
        self,
        op_type: str,
        inputs: Sequence[Handle | None],
        missing: list[tuple[Parameter, DType]],
        out: tuple[DType, ...],
        attributes: Mapping[str, Any],
    ) -> tuple[Handle, ...]:
        """Add a node on widened inputs and narrow the results that have their type."""
        cast = list(inputs)
        inner = list(out)
        for parameter, dtype in missing:
            allowed = parameter.native if self._target == "onnxruntime" else parameter.legal
            wide = detour(op_type, dtype, allowed)
            if wide is None:
                msg = f"{op_type} at opset {self.opset} does not take {dtype.name} arrays"
                raise LoweringError(msg)
            for i in parameter.positions(len(inputs)):
                handle = inputs[i]
                if handle is not None:
                    cast[i] = self.cast(handle, wide)
            for i, t in enumerate(out):
                if t is dtype and parameter.has_output(i):
                    inner[i] = wide
        made = self._add(self.scope, op_type, cast, tuple(inner), attributes)
        return tuple(self.cast(h, t) for h, t in zip(made, out, strict=True))

    # ---- values and equations

    def handle(self, value: Value) -> Handle:
        """Return the tensor of a value, writing what computes it if nothing has yet."""
        found = self._handles.get(value.id)
        if found is not None:
            return found
        if value.known is not None:
            found = self.const(value.known, value.dtype)
        elif value.equation is not None:
            self._write_missing(value)
            return self._handles[value.id]
        elif value.id in self._names:
            found = self.used[value.id] = Handle(self._names[value.id], value.dtype)
        else:
            msg = f"{value!r} is used outside the block that it belongs to"
            raise InternalError(msg)
        self._handles[value.id] = found
        return found

    def scope_of(self, value: Value) -> Scope:
        """Return the graph that a value is made in."""
        if value.known is not None:
            return self.root
        found = self._open.get(id(value.block))
        if found is None:
            msg = f"{value!r} is used outside the block that it belongs to"
            raise InternalError(msg)
        return found

    def _write_missing(self, value: Value) -> None:
        """Write the equations that a value needs and that are not written, operands first.

        This may be in the middle of another equation.
        """
        before = self.scope, self._prefix, self._count, self._equation
        stack = [value.equation]
        while stack:
            equation = stack[-1]
            assert equation is not None
            operands = (*equation.inputs, *(v for b in equation.blocks for v in b.captures()))
            missing = [
                v.equation
                for v in operands
                if v.equation is not None and v.id not in self._handles
            ]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if equation.outputs[0].id not in self._handles:
                self.write(equation)
        self.scope, self._prefix, self._count, self._equation = before

    def write(self, equation: Equation) -> None:
        """Write the nodes of an equation into the graph of its block."""
        done, op, results = self._handles, equation.op, equation.outputs
        if results[0].id in done:
            return
        rule = self._rules.get(op)
        if rule is None:
            rule = self._rules[op] = rule_of(op, self.opset)
        handles = [done.get(v.id) or self.handle(v) for v in equation.inputs]
        first = results[0]
        if first.block is not self.scope.block:
            self.scope = self.scope_of(first)
        self._prefix = f"{op.name}_{len(self.equations)}"
        self._count, self._equation = 0, equation
        self.equations.append(equation)
        made = rule(self, equation, *handles)
        if type(made) is Handle and made.dtype is first.dtype and len(results) == 1:
            done[first.id] = made
            return
        several = made if isinstance(made, tuple) else (made,)
        for value, handle in zip(results, several, strict=True):
            if handle.dtype is not value.dtype:
                msg = f"the lowering of {equation!r} gave {handle.dtype} instead of {value}"
                raise InternalError(msg)
            done[value.id] = handle

    def write_block(self, block: Block) -> None:
        """Write the equations of a block that its results need, in order."""
        for equation in needed(block, block.outputs):
            self.write(equation)

    def write_results(self, results: Sequence[Value]) -> None:
        """Write the equations of the root block that some values need, in order."""
        for equation in needed(self.root.block, results):
            self.write(equation)

    # ---- nested graphs

    @contextmanager
    def _inside(self, block: Block) -> Iterator[Scope]:
        outer = self.scope, self._prefix, self._count, self._equation
        self.scope = self._open[id(block)] = Scope(block, outer[0])
        try:
            yield self.scope
        finally:
            del self._open[id(block)]
            self.scope, self._prefix, self._count, self._equation = outer

    def block(
        self,
        equation: Equation,
        index: int,
        *,
        loop: bool = False,
        with_cond: bool = True,
        ranked: bool = False,
    ) -> Graph:
        """Return a nested block as a graph.

        Parameters
        ----------
        loop : bool
            The graph is a Loop's body: the condition is its second input and first output.
        with_cond : bool
            The block has the condition; else one that stays true is added.
        ranked : bool
            The numbers of axes of results are written down.
        """
        block = equation.blocks[index]
        name = f"{self._prefix}_{index}"
        with self._inside(block) as scope:
            inputs = [Handle(f"{name}_in{i}", v.dtype) for i, v in enumerate(block.inputs)]
            declared = [
                value_info(h, v.ndim) for h, v in zip(inputs, block.inputs, strict=True)
            ]
            self._handles.update((v.id, h) for v, h in zip(block.inputs, inputs, strict=True))
            self.write_block(block)
            outputs = [self.handle(v) for v in block.outputs]
            if loop and not with_cond:
                condition = Handle(f"{name}_in", BOOL)
                declared.insert(1, value_info(condition, 0))
                outputs.insert(0, condition)
            outputs = self.own_outputs(outputs, scope, prefix=f"{name}_out")
            read = self.prune(scope, outputs)
        ranks = [v.ndim if ranked else None for v in block.outputs]
        if loop and not with_cond:
            ranks.insert(0, None)
        given = [value_info(h, rank) for h, rank in zip(outputs, ranks, strict=True)]
        return Graph(name, scope.nodes, declared, given, read)

    def own_outputs(
        self, outputs: Iterable[Handle], scope: Scope, *, prefix: str
    ) -> list[Handle]:
        """Return results that are different tensors, each made by a node of `scope`."""
        self._prefix, self._count = prefix, 0
        made = {name for node in scope.nodes for name in node.makes}
        seen: set[str] = set()
        own: list[Handle] = []
        for handle in outputs:
            fit = handle.name in made and handle.name not in seen
            seen.add(handle.name)
            own.append(
                handle
                if fit
                else self._add(scope, "Identity", (handle,), (handle.dtype,), {})[0]
            )
        return own


def needed(block: Block, results: Iterable[Value]) -> list[Equation]:
    """Return the equations of a block that some values depend on, in order.

    What only symbolic sizes need is written when a size asks for it.
    """
    wanted = {*results}
    kept: list[Equation] = []
    for equation in reversed(block.equations):
        if not wanted.isdisjoint(equation.outputs):
            kept.append(equation)
            wanted.update(equation.inputs)
            for inner in equation.blocks:
                wanted.update(inner.captures())
    kept.reverse()
    return kept


def value_info(handle: Handle, rank: int | None = None) -> ValueInfoProto:
    """Return name, element type and, where given, rank."""
    sizes = None if rank is None else (None,) * rank
    return ValueInfoProto(name=handle.name, type=array_type(handle.dtype, sizes))
