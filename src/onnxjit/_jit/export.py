# SPDX-License-Identifier: Apache-2.0
"""A jitted function as an ONNX file: a trace of its own, with assumptions, not guards."""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx

from onnxjit._core.bind import as_value, tracing
from onnxjit._core.dims import ShapeEnv, has_data, onnx_name, reduce_guards
from onnxjit._core.dtypes import PART
from onnxjit._core.guards import solve
from onnxjit._core.program import Program, Value
from onnxjit._core.source import user_level
from onnxjit._eager.leaves import (
    ARRAY_LEAF,
    SCALAR_LEAF,
    Leaf,
    children,
    leaf_names,
    leaf_of,
    map_tree,
)
from onnxjit._eager.record import Recording, record
from onnxjit._eager.results import Result
from onnxjit._eager.run import call_traced
from onnxjit._eager.stacked import Stacked
from onnxjit._lower.large import is_large
from onnxjit._lower.model import lower
from onnxjit._lower.opsets import check_opset
from onnxjit._transform.pipeline import simplify
from onnxjit.errors import AssumptionWarning, DataDependentError, SpecError
from onnxjit.typing import ArraySpec, DTypeSpec

if TYPE_CHECKING:
    from .function import JitFunction

__all__ = ["Exported", "Options", "assumption_texts", "save", "to_onnx"]

DEFAULT_OPSET: Final = 21
_MUTATED: Final = ("auto", "outputs", "drop")


class Options:
    """Options of an export, taken out of the keyword arguments."""

    __slots__ = (
        "dynamic", "input_names", "kwargs", "mutated", "opset", "output_names", "strict",
        "target",
    )  # fmt: skip

    def __init__(self, given: Mapping[str, Any], default_opset: int | None) -> None:
        given = dict(given)
        opset = given.pop("opset", None)
        self.opset = check_opset(
            opset if opset is not None else default_opset or DEFAULT_OPSET
        )
        self.target = given.pop("target", "onnxruntime")
        self.input_names: Sequence[str] | None = given.pop("input_names", None)
        self.output_names: Sequence[str] | None = given.pop("output_names", None)
        self.dynamic: Any = given.pop("dynamic", True)
        self.strict = bool(given.pop("strict", False))
        self.mutated = given.pop("mutated", "auto")
        self.kwargs = {**(given.pop("kwargs", None) or {}), **given}
        if self.target not in ("onnxruntime", "spec"):
            msg = f"target is {self.target!r}; it must be 'onnxruntime' or 'spec'"
            raise SpecError(msg)
        if self.mutated not in _MUTATED:
            msg = f"mutated is {self.mutated!r}; it must be one of {_MUTATED}"
            raise SpecError(msg)
        if not isinstance(self.dynamic, (bool, Mapping)):
            wanted = "True, False or {input: {axis: name}}"
            msg = f"dynamic is {self.dynamic!r}; it must be {wanted}"
            raise SpecError(msg)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse sizes given for inputs that are not there."""
        unknown = (
            []
            if isinstance(self.dynamic, bool)
            else [n for n in self.dynamic if n not in names]
        )
        if unknown:
            msg = f"dynamic names {unknown[0]!r}, but the inputs are {', '.join(names)}"
            raise SpecError(msg)


def _leaf(x: Any, name: str) -> Leaf | None:
    """Return the leaf of an example or a specification; Python numbers are constants."""
    if isinstance(x, ArraySpec):
        if isinstance(x, DTypeSpec):
            return Leaf(SCALAR_LEAF, (SCALAR_LEAF, x.dtype), name, None)
        return Leaf(ARRAY_LEAF, (ARRAY_LEAF, x.dtype, len(x.sizes)), name, None)
    return leaf_of(x, name, top=False)


def _collect(x: Any, name: str, leaves: list[Leaf], specs: list[Any]) -> None:
    leaf = _leaf(x, name)
    if leaf is not None:
        leaves.append(leaf)
        specs.append(x)
        return
    parts = None if isinstance(x, np.ndarray) else children(x)
    for part, item in parts or ():
        _collect(item, f"{name}_{part}", leaves, specs)


def _sizes(spec: Any, name: str, dynamic: Any) -> tuple[Any, ...] | None:
    """Return the sizes to declare for an argument: ints, names, or None for any."""
    if isinstance(spec, ArraySpec):
        return tuple(spec.sizes)
    shape = np.shape(spec)
    if dynamic is True:
        return (None,) * len(shape)
    if dynamic is False:
        return tuple(shape)
    wanted: Any = dynamic.get(name, {})
    if isinstance(wanted, (list, tuple)):
        wanted = dict(enumerate(wanted))
    if not isinstance(wanted, Mapping) or not set(wanted) <= set(range(len(shape))):
        msg = (
            f"dynamic[{name!r}] is {wanted!r}; it must be {{axis: name}} of {len(shape)} axes"
        )
        raise SpecError(msg)
    return tuple(wanted.get(axis, n) for axis, n in enumerate(shape))


def to_onnx(
    jit: JitFunction, owner: Any, args: tuple[Any, ...], given: Mapping[str, Any]
) -> onnx.ModelProto:
    """Return a jitted function as a model; `Tools.to_onnx` says what the options mean."""
    options = Options(given, jit._opset)
    if not args and not options.kwargs:
        args, extra = jit.last_signature(owner)
        options.kwargs.update(extra)
    exported = Exported(jit, owner, args, options)
    _assumptions(exported.recording, options)
    return exported.model(options.opset, options.target)


class Exported:
    """A trace for models; it does not depend on opset and target.

    Attributes
    ----------
    leaves : list of Leaf
        Arguments that become inputs.
    recording : Recording
    program : Program
        With the outputs that models have.
    """

    __slots__ = ("_name", "_simple", "leaves", "program", "recording")

    def __init__(
        self, jit: JitFunction, owner: Any, args: tuple[Any, ...], options: Options
    ) -> None:
        leaves: list[Leaf] = []
        specs: list[Any] = []
        naming = jit._naming(owner)
        for i, x in enumerate(args):
            _collect(x, naming(i), leaves, specs)
        for k, v in options.kwargs.items():
            _collect(v, k, leaves, specs)
        names = _input_names(leaves, options)
        options.check_names(names)
        sizes = [_sizes(s, n, options.dynamic) for s, n in zip(specs, names, strict=True)]
        self.leaves: Final = leaves
        self.recording: Final = _record(jit, owner, args, options, leaves, names, sizes)
        self.program: Final = _program(self.recording, names, options)
        self._simple: Final = simplify(self.program)
        self._name: Final = getattr(jit.__wrapped__, "__name__", "main")

    def model(self, opset: int, target: Any) -> onnx.ModelProto:
        """Return the checked model of one opset and target."""
        model = lower(
            self._simple, opset=opset, target=target, name=self._name,
            metadata=_metadata(self.recording, self.program),
        )  # fmt: skip
        _declare_sizes(model, self.program, self.recording.tracer.env)
        if not is_large(model):
            onnx.checker.check_model(model, full_check=True)
        return model


def _input_names(leaves: list[Leaf], options: Options) -> list[str]:
    if options.input_names is None:
        return leaf_names(leaves)
    names = list(options.input_names)
    if len(names) != len(leaves) or len(set(names)) != len(names):
        msg = f"input_names must be {len(leaves)} different names, one for each array argument"
        raise SpecError(msg)
    return names


def _record(
    jit: JitFunction,
    owner: Any,
    args: tuple[Any, ...],
    options: Options,
    leaves: list[Leaf],
    names: list[str],
    sizes: list[Any],
) -> Recording:
    fn = jit._function(owner)

    def body(tracer: Any, traced: list[Any]) -> Any:
        new = iter(traced)

        def leaf(x: Any, _top: bool) -> Any:
            return next(new) if _leaf(x, "") is not None else x

        new_args = [map_tree(x, leaf) for x in args]
        new_kwargs = {k: map_tree(v, leaf) for k, v in options.kwargs.items()}
        return call_traced(tracer, fn, new_args, new_kwargs)

    stores = "drop" if options.mutated == "drop" else "refuse"
    return record(body, leaves, names, policy="assume", sizes=sizes, stores=stores)


def _program(recording: Recording, names: Sequence[str], options: Options) -> Program:
    """Choose the outputs: array results, and written arguments where asked for."""
    values: list[Value] = []
    inputs = recording.tracer.root.inputs
    written = {i: recording.program.outputs[k] for i, k in recording.written}

    def visit(tree: Any) -> None:
        if isinstance(tree, tuple):
            for item in tree[1]:
                visit(item)
        elif tree.source == "output":
            values.append(recording.program.outputs[tree.index])
        elif tree.source == "argument":
            values.append(written.get(tree.index, inputs[tree.index]))
        elif tree.source == "static" and isinstance(tree.value, (np.ndarray, np.generic)):
            with tracing(recording.tracer):
                values.append(as_value(tree.value))

    visit(recording.tree)
    outputs = _output_names(len(values), options)
    nothing = (
        isinstance(recording.tree, Result) and recording.tree.value is None and not values
    )
    if options.mutated == "outputs" or (options.mutated == "auto" and nothing):
        for i, value in written.items():
            values.append(value)
            outputs.append(f"{names[i]}_out")
    if not values:
        values, outputs = _static_outputs(recording)
    block = recording.program.block
    block.outputs = values
    return Program(block, names, _apart(outputs, names))


def _output_names(count: int, options: Options) -> list[str]:
    if options.output_names is None:
        return [f"output_{k}" for k in range(count)]
    given = list(options.output_names)
    if len(given) != count or len(set(given)) != count:
        msg = f"output_names must be {count} different names, one for each array result"
        raise SpecError(msg)
    return given


def _static_outputs(recording: Recording) -> tuple[list[Value], list[str]]:
    """Return constant outputs for a function whose results are all plain values."""
    values: list[Value] = []

    def visit(tree: Any) -> None:
        if isinstance(tree, tuple):
            for item in tree[1]:
                visit(item)
        elif tree.source == "size" or isinstance(tree.value, (bool, int, float)):
            values.append(as_value(tree.value))

    recording.tracer.closed = False
    with tracing(recording.tracer):
        visit(recording.tree)
    if not values:
        msg = "the function returns no array and no number: there is nothing to put in a model"
        raise SpecError(msg)
    return values, [f"output_{k}" for k in range(len(values))]


def _apart(outputs: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """Rename outputs that are named like an input."""
    taken = set(inputs)
    names = []
    for output in outputs:
        name = output
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _assumptions(recording: Recording, options: Options) -> None:
    """Tell of what the model takes for granted."""
    texts = assumption_texts(recording)
    if not texts:
        return
    msg = "the model is right only where " + " and ".join(texts)
    if options.strict:
        msg += "; give fixed sizes or avoid the test"
        raise DataDependentError(msg)
    msg += " [docs/errors.md#assumptionwarning]"
    warnings.warn(msg, AssumptionWarning, stacklevel=user_level())


def assumption_texts(recording: Recording) -> list[str]:
    """Return the conditions that a model takes for granted, with their lines."""
    tracer = recording.tracer
    mistakes = {
        f"nothing reaches {c.source}, which raises {c.form}"
        for c in tracer.controls
        if c.what == "raise"
    }
    hosted = (_host_text(g) for g in tracer.host_guards)
    return [*_open_guards(recording), *hosted, *sorted(mistakes)]


def _open_guards(recording: Recording) -> list[str]:
    """Return the guards that no declared shape says, as it does what a size is equal to."""
    env = recording.tracer.env
    fixed = [g for g in reduce_guards(env.guards) if g.kind != "eq" or solve(g.poly) is None]
    return [
        f"{guard.text} ({guard.source})" if guard.source else guard.text
        for guard in (*fixed, *reduce_guards(env.conditional))
        if not guard.refused
    ]


def _host_text(guard: Any) -> str:
    return f"a computed size or scalar is {guard.expected[()]!r} ({guard.source})"


def _complex_names(program: Program) -> dict[str, str]:
    """Return the dtypes of complex inputs and outputs, whose last axis holds their parts."""
    named = [*zip(program.input_names, program.inputs, strict=True)]
    named += [*zip(program.output_names, program.outputs, strict=True)]
    return {name: value.dtype.name for name, value in named if value.dtype in PART}


def _metadata(recording: Recording, program: Program) -> dict[str, str]:
    env = recording.tracer.env
    guards = [g.text for g in (*reduce_guards(env.guards), *reduce_guards(env.conditional))]
    data = {"onnxjit.result_tree": json.dumps(_tree_text(recording.tree))}
    pairs = _complex_names(program)
    if pairs:
        data["onnxjit.complex"] = json.dumps(pairs)
    if guards:
        data["onnxjit.assumptions"] = json.dumps(guards)
    if recording.dropped:
        data["onnxjit.dropped_stores"] = json.dumps(recording.dropped)
    return data


def _tree_text(tree: Any) -> Any:
    if isinstance(tree, tuple):
        example, items = tree
        texts = [_tree_text(item) for item in items]
        if isinstance(example, dict):
            return {"dict": dict(zip(map(str, example), texts, strict=True))}
        name = "list" if isinstance(example, list) else type(example).__name__
        return {name.lower() if isinstance(example, Stacked) else name: texts}
    if tree.source == "static":
        plain = tree.value is None or isinstance(tree.value, (bool, int, float, str))
        return {"static": tree.value if plain else repr(tree.value)}
    if tree.source == "size":
        return {"size": onnx_name(tree.value)}
    return tree.kind or "array"


def _declare_sizes(model: onnx.ModelProto, program: Program, env: ShapeEnv) -> None:
    """Write sizes as the assumptions leave them: fixed ones as numbers, equal ones alike."""
    pairs = [*zip(model.graph.input, program.inputs, strict=True)]
    pairs += [*zip(model.graph.output, program.outputs, strict=True)]
    for info, value in pairs:
        declared = info.type.tensor_type.shape.dim[: value.ndim]
        for proto, size in zip(declared, value.shape, strict=True):
            resolved = env.resolve(size)
            if isinstance(resolved, int):
                proto.dim_value = resolved
            elif not has_data(resolved):
                proto.dim_param = onnx_name(resolved)


def save(
    jit: JitFunction,
    owner: Any,
    path: Any,
    args: tuple[Any, ...],
    options: Mapping[str, Any],
) -> None:
    """Write the model to a file, once it is complete; see `Tools.save`."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder to save in", str(target.parent))
    model = to_onnx(jit, owner, args, options)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".onnxjit-") as folder:
        part = Path(folder) / target.name
        if is_large(model):
            onnx.save_model(
                model, part, save_as_external_data=True, location=f"{target.name}.data"
            )
            weights = f"{target.name}.data"
            # onnx lets nobody else read it
            shutil.copymode(part, Path(folder) / weights)
            (Path(folder) / weights).replace(target.parent / weights)
        else:
            part.write_bytes(model.SerializeToString())
        part.replace(target)
