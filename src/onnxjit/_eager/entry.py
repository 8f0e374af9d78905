# SPDX-License-Identifier: Apache-2.0
"""A compiled recording: its guards as one function, and how a call runs it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from onnxjit._core.dims import guards_source, reduce_guards
from onnxjit._core.source import raised_at
from onnxjit._rewrite.path import GuardNames, guard_source, path_source
from onnxjit._runtime.pairs import PARTS, to_pairs
from onnxjit._trace.places import CHANGING
from onnxjit.errors import OnnxJitError

from .build import Builder, Getter, SymbolTexts, getter, has_source
from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF, Leaf, leaf_names
from .record import Recording, hidden_leaves
from .replay import hidden_source, reader, replayer

__all__ = ["FROZEN", "EagerEntry", "Entry", "Rerun", "guard_lines", "make_guard"]

#: graphs of one signature of which each may be for one size, where that makes it faster
FROZEN: Final = 4

Guard = Callable[[Sequence[Any]], bool]

_FEED: Final[dict[str, str]] = {
    SCALAR_LEAF: "asarray({x})",
    INT_LEAF: "array({x}, int64)",
    FLOAT_LEAF: "array({x}, float64)",
}


def guard_lines(
    recording: Recording,
    leaves: Sequence[Leaf],
    names: GuardNames,
    roots: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the conditions under which a recording holds, as Python expressions.

    `roots` are the static objects among the arguments; the guards hold them weakly.
    """
    lines: list[str] = []
    hidden = recording.tracer.hidden
    count = len(leaves)
    if hidden is not None:
        lines += hidden.tests(count, names)
        leaves = [*leaves, *hidden.leaves]
    symbols = SymbolTexts(recording, names)
    guards = reduce_guards(recording.tracer.env.guards)
    if guards:
        lines.append(guards_source(guards, symbols))
    lines += [f"a[{i}] is a[{j}]" for i, j in recording.merged]
    lines += _write_guards(recording, leaves)
    lines += _layout_guards(recording, leaves)
    lines += [symbols.call(g.value, g.holds) for g in recording.tracer.host_guards]
    seen: set[str] = set()
    texts = root_sources(names, roots)
    if hidden is not None:
        pairs = hidden.aliases
        lines += [f"{path_source(p, names, texts)} is a[{count + i}]" for p, i in pairs]
    for path, value in recording.captures:
        if path.kind == "module":
            continue
        line = guard_source(path, value, names, texts)
        if type(value) is np.ndarray and hidden is not None:
            line += f" and id({names.name(value, 'v')}) not in {names.name(_ARRAYS, 'w')}"
        if line not in seen:
            seen.add(line)
            lines.append(line)
    return lines


#: arrays that graphs are known to write to
_ARRAYS: Final = CHANGING.arrays


def root_sources(names: GuardNames, roots: Mapping[str, Any] | None) -> dict[str, str]:
    """Return expressions for the static objects among the arguments, held weakly."""
    found: dict[str, str] = {}
    for name, x in (roots or {}).items():
        known = names.weak.get(id(x))
        if known is None:
            known = names.weak[id(x)] = names.name(_reference(x), "r")
        found[name] = f"{known}()"
    return found


def _write_guards(recording: Recording, leaves: Sequence[Leaf]) -> list[str]:
    lines: list[str] = []
    same = {frozenset(pair) for pair in recording.merged}
    for i, _ in recording.written:
        lines.append(f"a[{i}].flags.writeable")
        for j, leaf in enumerate(leaves):
            if j != i and leaf.kind == ARRAY_LEAF and frozenset((i, j)) not in same:
                lines.append(f"not may_share_memory(a[{i}], a[{j}])")
    return lines


def _layout_guards(recording: Recording, leaves: Sequence[Leaf]) -> list[str]:
    lines: list[str] = []
    for argument in recording.tracer.arguments:
        if argument.asked and argument.index >= 0:
            flag = f"a[{_leaf_of_argument(leaves, argument.index)}].flags.writeable"
            lines.append(flag if argument.writeable else f"not {flag}")
    for index in sorted(recording.tracer.layouts):
        i = _leaf_of_argument(leaves, index)
        example = leaves[i].value
        if not isinstance(example, np.ndarray):
            continue
        if example.flags.c_contiguous:
            lines.append(f"a[{i}].flags.c_contiguous")
        elif example.flags.f_contiguous:
            lines.append(f"a[{i}].flags.f_contiguous and not a[{i}].flags.c_contiguous")
        else:
            lines.append(
                f"a[{i}].shape == {example.shape} and a[{i}].strides == {example.strides}"
            )
    return lines


def _leaf_of_argument(leaves: Sequence[Leaf], argument: int) -> int:
    dynamic = [i for i, leaf in enumerate(leaves) if leaf.kind in (ARRAY_LEAF, SCALAR_LEAF)]
    return dynamic[argument]


def make_guard(lines: list[str], names: GuardNames, hidden: str = "") -> Guard | None:
    """Compile conditions to one function of the leaves; None when there are none.

    `hidden` is the source of what follows the leaves.
    """
    if not lines:
        return None
    namespace = {**names.namespace, "may_share_memory": np.may_share_memory}
    read = f"a = (*a, {hidden})" if hidden else "pass"
    tests = " and ".join(f"({line})" for line in lines)
    exec(_GUARD.format(read, tests), namespace)
    guard: Guard = namespace["guard"]  # type: ignore[assignment]  # defined by the text
    return guard


_GUARD: Final = """
def guard(a):
    try:
        {}
        return {}
    except (LookupError, AttributeError, ValueError, TypeError):
        return False
"""


class Rerun(Exception):  # noqa: N818  not an error
    """A graph has found that Python has to make this call: it raises, or differs."""


class EagerEntry:
    """A remembered decision to run eagerly, with the guards taken before it was made.

    Attributes
    ----------
    kind, reason, source
        Class and text of the exception that stood in the way of a graph, and the innermost
        line of the user's code on its way.
    names, sizes
        Of each leaf of the call: its name; its shape, or its value where that is an int.
    """

    __slots__ = ("guard", "kind", "lines", "names", "reason", "sizes", "source")

    def __init__(
        self,
        error: BaseException,
        leaves: Sequence[Leaf],
        guard: Guard | None = None,
        lines: Sequence[str] = (),
    ) -> None:
        self.kind: Final = type(error).__name__
        self.reason: Final = "; ".join([str(error), *getattr(error, "__notes__", ())])
        self.source: Final = raised_at(error)
        self.guard: Final = guard
        self.lines: Final = list(lines)
        self.names: Final = leaf_names(list(leaves))
        self.sizes: Final = [
            x.value if x.kind == INT_LEAF else np.shape(x.value) for x in leaves
        ]


class Entry:
    """A compiled recording.

    Attributes
    ----------
    guard : callable or None
        ``guard(leaves)`` -> whether the entry holds for a call.
    run : callable
        ``run(leaves, containers)`` -> the function's result; written arguments are updated,
        and what the function stores in older objects is stored there.
    read : callable or None
        ``read(leaves)`` -> the leaves followed by the hidden inputs, if there are any.
    needs_containers : bool
        Whether `run` has to be given the containers among the arguments.
    """

    __slots__ = (
        "__weakref__", "build", "compiled", "guard", "leaves", "lines", "names",
        "needs_containers", "read", "recording", "run",
    )  # fmt: skip

    def __init__(
        self,
        recording: Recording,
        leaves: Sequence[Leaf],
        *,
        opset: int | None = None,
        roots: Mapping[str, Any] | None = None,
    ) -> None:
        self.recording: Final = recording
        # only what compiles needs the writers of ONNX: importing them would slow every import
        from onnxjit._engine.compile import compile_program

        # before the guards are read: passes may take some
        self.compiled: Final = compile_program(recording.program, opset=opset)
        every = [*leaves, *hidden_leaves(recording)]
        self.leaves: Final = [Leaf(x.kind, x.key, x.name, None) for x in every]
        self.names: Final = GuardNames()
        self.lines: Final = guard_lines(recording, leaves, self.names, roots)
        texts = root_sources(self.names, roots)
        hidden = hidden_source(recording, self.names, texts)
        self.guard: Final = make_guard(self.lines, self.names, hidden)
        self.read: Final = reader(recording, self.names, texts)
        trees = [recording.tree, *(e.tree for e in recording.effects)]
        self.needs_containers: Final = has_source(trees, "container") or any(
            e.what == "content" for e in recording.effects
        )
        self.build: Final = Builder(recording, recording.tree, self.compiled, self.names)
        self.run: Final = self._runner(texts)
        if recording.tracer.hidden is not None:
            recording.tracer.hidden.forget()

    def _runner(self, texts: Mapping[str, str]) -> Callable[..., Any]:
        compiled = self.compiled
        feeds = [self.feed(i) for i in compiled.inputs]
        build = self.build
        written = [(i, self._new(k)) for i, k in self.recording.written]
        execute = self._checked(compiled.run)

        def run(a: Sequence[Any]) -> Any:
            out = execute([feed(a) for feed in feeds])
            if not written:
                return build(out, a)
            # whatever is taken from the arguments is taken before one of them changes
            result = build(out, a)
            for i, new in [(i, get(out, a)) for i, get in written]:
                np.copyto(a[i], new)
            return result

        if not self.is_stateful:
            return run
        return self._replaying(feeds, execute, written, texts)

    @property
    def is_stateful(self) -> bool:
        """Whether a run looks at more than the leaves."""
        return self.read is not None or bool(self.recording.effects) or self.needs_containers

    def _replaying(
        self,
        feeds: Sequence[Callable[[Sequence[Any]], Any]],
        execute: Callable[..., Any],
        written: Sequence[tuple[int, Getter]],
        texts: Mapping[str, str],
    ) -> Callable[..., Any]:
        """Return a run that reads from, and stores in, older objects."""
        read = self.read or (lambda a: a)
        recording = self.recording
        find, put = replayer(recording.effects, self.names, texts)
        trees = [recording.tree, *(e.tree for e in recording.effects)]
        make = Builder(recording, ((), trees), self.compiled, self.names)
        count = len(self.leaves) - len(hidden_leaves(recording))

        def run(a: Sequence[Any], containers: Sequence[Any] = ()) -> Any:
            a = read(a)
            objects = find(containers)
            out = execute([feed(a) for feed in feeds])
            result, *values = make(out, a, containers)
            for i, new in [(i, get(out, a)) for i, get in written]:
                np.copyto(a[i], new)
                if i >= count:
                    CHANGING.add_array(a[i])
            put(objects, values)
            return result

        return run

    def _checked(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        """Return a run that says so where it fails, or where the graph is not right."""
        failed = self.recording.failed
        kind, found = ("", None) if failed is None else self.compiled.outputs[failed]
        where = found if kind == "computed" else None
        fails = kind == "constant" and bool(found)
        unsure = failed is not None or self.recording.tracer.has_handlers

        def run(feeds: Any) -> Any:
            try:
                out = execute(feeds)
            except Exception as e:
                if isinstance(e, OnnxJitError) and not unsure:
                    raise
                # what follows a failed check may fail too; and Python writes, then raises
                raise Rerun from e
            if fails or (where is not None and out[where]):
                raise Rerun
            return out

        return run

    def _new(self, k: int) -> Getter:
        """Return how the new content of a written argument is had."""
        get = getter(self.recording, self.compiled, k)
        if self.compiled.outputs[k][0] != "input":
            return get
        return lambda out, a: get(out, a).copy()

    def feed(self, i: int) -> Callable[[Sequence[Any]], Any]:
        """Return how leaf `i` of a call becomes an ndarray that onnxruntime takes."""
        kind = self.leaves[i].kind
        if self.parts_text(i):
            return lambda a: to_pairs(np.asarray(a[i], _native(a[i].dtype)))
        if kind == ARRAY_LEAF:
            return lambda a: a[i] if a[i].dtype.isnative else a[i].astype(_native(a[i].dtype))
        if kind == SCALAR_LEAF:
            return lambda a: np.asarray(a[i], _native(a[i].dtype))
        dtype = np.int64 if kind == INT_LEAF else np.float64
        return lambda a: np.array(a[i], dtype)

    def parts_text(self, i: int) -> str:
        """Return what follows leaf `i` in generated code, where a model takes its parts."""
        leaf = self.leaves[i]
        part = PARTS.get(leaf.key[1]) if leaf.kind in (ARRAY_LEAF, SCALAR_LEAF) else None
        return "" if part is None else f"[..., None].view({part.char!r})"


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=")


def _reference(x: Any) -> Callable[[], Any]:
    """Return a weak reference where the object can have one."""
    try:
        return weakref.ref(x)
    except TypeError:
        return lambda: x
