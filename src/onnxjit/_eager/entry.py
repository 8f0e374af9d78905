# SPDX-License-Identifier: Apache-2.0
"""A compiled recording: its guards as one function, and how a call runs it."""

from __future__ import annotations

import copy
import functools
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, Symbol, guards_source, python_source, reduce_guards
from onnxjit._core.source import raised_at
from onnxjit._rewrite.path import GuardNames, guard_source
from onnxjit._trace.control.either import Either
from onnxjit._trace.host import evaluate_value, host_inputs

from .leaves import ARRAY_LEAF, FLOAT_LEAF, INT_LEAF, SCALAR_LEAF, Leaf, leaf_names, with_parts
from .record import Recording, Result
from .stacked import Stacked

if TYPE_CHECKING:
    from onnxjit._core.program import Value
    from onnxjit._engine.compile import Compiled

__all__ = ["EagerEntry", "Entry", "Rerun", "guard_lines", "make_guard"]

Guard = Callable[[Sequence[Any]], bool]
Getter = Callable[[Sequence[Any], Sequence[Any]], Any]

#: plain results that a caller may change
_FRESH: Final = (np.ndarray, set, deque, bytearray)
_FEED: Final[dict[str, str]] = {
    SCALAR_LEAF: "asarray({x})",
    INT_LEAF: "array({x}, int64)",
    FLOAT_LEAF: "array({x}, float64)",
}


class SymbolTexts(dict[Symbol, str]):
    """Size symbol -> Python expression over the leaves ``a``, made when it is asked for."""

    def __init__(self, recording: Recording, names: GuardNames) -> None:
        super().__init__()
        self._position = {v.id: i for i, v in enumerate(recording.tracer.root.inputs)}
        self._scalars = recording.tracer.scalar_hints
        self._names = names

    def __missing__(self, symbol: Symbol) -> str:
        origin: Any = symbol.origin
        value, axis = origin
        index = self._position.get(value.id)
        if index is None:
            text = self.call(value, int)
        else:
            text = f"a[{index}]" if axis is None else f"a[{index}].shape[{axis}]"
        self[symbol] = text
        return text

    def call(self, value: Value, finish: Callable[[np.ndarray[Any, Any]], Any]) -> str:
        """Return a call that computes a value of sizes and scalars by NumPy."""
        symbols, inputs = host_inputs(value, self._scalars)
        count = len(symbols)

        def compute(*given: Any) -> Any:
            sizes = dict(zip(symbols, given, strict=False))
            numbers = map(np.float64, given[count:])
            scalars = dict(zip(inputs, numbers, strict=True))
            return finish(evaluate_value(value, sizes, scalars))

        texts = [self[s] for s in symbols] + [f"a[{self._position[i]}]" for i in inputs]
        return f"{self._names.name(compute, 'h')}({', '.join(texts)})"


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
    symbols = SymbolTexts(recording, names)
    guards = reduce_guards(recording.tracer.env.guards)
    if guards:
        lines.append(guards_source(guards, symbols))
    lines += [f"a[{i}] is a[{j}]" for i, j in recording.merged]
    lines += _write_guards(recording, leaves)
    lines += _layout_guards(recording, leaves)
    lines += [symbols.call(g.value, g.holds) for g in recording.tracer.host_guards]
    seen: set[str] = set()
    texts = {name: f"{names.name(_reference(x), 'r')}()" for name, x in (roots or {}).items()}
    for path, value in recording.captures:
        if path.kind == "module":
            continue
        line = guard_source(path, value, names, texts)
        if line not in seen:
            seen.add(line)
            lines.append(line)
    return lines


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


def make_guard(lines: list[str], names: GuardNames) -> Guard | None:
    """Compile conditions to one function of the leaves; None when there are none."""
    if not lines:
        return None
    namespace = {**names.namespace, "may_share_memory": np.may_share_memory}
    exec(_GUARD.format(" and ".join(f"({line})" for line in lines)), namespace)
    guard: Guard = namespace["guard"]  # type: ignore[assignment]  # defined by the text
    return guard


_GUARD: Final = """
def guard(a):
    try:
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
        ``run(leaves)`` -> the function's result; written arguments are updated.
    """

    __slots__ = (
        "__weakref__", "build", "compiled", "guard", "leaves", "lines", "names", "recording",
        "run",
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
        self.leaves: Final = [Leaf(x.kind, x.key, x.name, None) for x in leaves]
        self.names: Final = GuardNames()
        self.lines: Final = guard_lines(recording, leaves, self.names, roots)
        self.guard: Final = make_guard(self.lines, self.names)
        # only what compiles needs the writers of ONNX: importing them would slow every import
        from onnxjit._engine.compile import compile_program

        self.compiled: Final = compile_program(recording.program, opset=opset)
        self.build: Final = _builder(recording, self.compiled, self.names)
        self.run: Final = self._runner()

    def _runner(self) -> Callable[[Sequence[Any]], Any]:
        compiled = self.compiled
        feeds = [self.feed(i) for i in compiled.inputs]
        build = self.build
        written = [(i, self._new(k)) for i, k in self.recording.written]
        execute = compiled.run
        if self.recording.checks:
            execute = self._checked(execute)

        def run(a: Sequence[Any]) -> Any:
            out = execute([feed(a) for feed in feeds])
            if not written:
                return build(out, a)
            # whatever is taken from the arguments is taken before one of them changes
            result = build(out, a)
            for i, new in [(i, get(out, a)) for i, get in written]:
                np.copyto(a[i], new)
            return result

        return run

    def _checked(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        """Return a run that says so where the graph is not right."""
        failed = self.recording.failed
        where = None if failed is None else self.compiled.outputs[failed][1]

        def run(feeds: Any) -> Any:
            try:
                out = execute(feeds)
            except Exception as e:
                raise Rerun from e  # what follows a failed check may fail too
            if where is not None and out[where]:
                raise Rerun
            return out

        return run

    def _new(self, k: int) -> Getter:
        """Return how the new content of a written argument is had."""
        get = _getter(self.recording, self.compiled, k)
        if self.compiled.outputs[k][0] != "input":
            return get
        return lambda out, a: get(out, a).copy()

    def feed(self, i: int) -> Callable[[Sequence[Any]], Any]:
        """Return how leaf `i` of a call becomes an ndarray that onnxruntime takes."""
        kind = self.leaves[i].kind
        if kind == ARRAY_LEAF:
            return lambda a: a[i] if a[i].dtype.isnative else a[i].astype(_native(a[i].dtype))
        if kind == SCALAR_LEAF:
            return lambda a: np.asarray(a[i], _native(a[i].dtype))
        dtype = np.int64 if kind == INT_LEAF else np.float64
        return lambda a: np.array(a[i], dtype)


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=")


def computed_dtype(recording: Recording, k: int) -> np.dtype[Any] | None:
    """Return the dtype to look at a computed result with, None where it has NumPy's own.

    onnxruntime makes ``longlong`` arrays, whose elements are no `numpy.int64` on most systems.
    """
    dtype = recording.program.outputs[k].dtype.numpy
    return dtype if dtype.kind in "iu" and dtype.itemsize == 8 else None


def _getter(recording: Recording, compiled: Compiled, k: int) -> Getter:
    """Return how result `k` of the program is had from the computed ones and the leaves."""
    source, where = compiled.outputs[k]
    dtype = computed_dtype(recording, k)
    if source == "computed" and recording.program.outputs[k].dtype.kind == "U":
        # onnxruntime makes object arrays of str; NumPy takes the shortest dtype that fits
        return lambda out, _a: out[where].astype(np.str_)
    if source == "computed" and dtype is not None:
        return lambda out, _a: out[where].view(dtype)
    if source == "computed":
        return lambda out, _a: out[where]
    if source == "input":
        return lambda _out, a: np.asarray(a[where])
    return lambda _out, _a: where


def _builder(
    recording: Recording, compiled: Compiled, names: GuardNames
) -> Callable[..., Any]:
    """Return how the result is put together."""
    symbols = SymbolTexts(recording, names)
    memo_needed = _repeats(recording.tree)

    def leaf(r: Result) -> Callable[..., Any]:
        if r.source == "argument":
            return lambda _out, a, _m: a[r.index]
        if r.source == "static":
            value = r.value
            if isinstance(value, _FRESH):
                return lambda _out, _a, _m: copy.copy(value)
            return lambda _out, _a, _m: value
        if r.source == "size":
            size: Callable[[Sequence[Any]], int] = eval(
                f"lambda a: int({_dim_text(r.value, symbols)})", names.namespace
            )
            return lambda _out, a, _m: size(a)
        get = _getter(recording, compiled, r.index)
        fresh = r.copy or not is_own_output(compiled, r.index)
        finish = _finisher(r.kind, fresh=fresh)
        if r.kind == "array" and memo_needed.get(id(r), 0) > 1:
            return _once(lambda out, a: finish(get(out, a)), r)
        return lambda out, a, _m: finish(get(out, a))

    def node(tree: Any) -> Callable[..., Any]:
        if isinstance(tree, Result):
            return leaf(tree)
        example, items = tree
        makers = [node(item) for item in items]
        if isinstance(example, Either):
            chosen, first, second = makers
            return lambda out, a, m: (first if chosen(out, a, m) else second)(out, a, m)
        stacked = isinstance(example, Stacked)
        join = example.elements if stacked else functools.partial(with_parts, example)
        return lambda out, a, m: join([make(out, a, m) for make in makers])

    make = node(recording.tree)
    return lambda out, a: make(out, a, {})


def is_own_output(compiled: Compiled, k: int) -> bool:
    """Whether result `k` has a computed array that no earlier result hands out."""
    source, where = compiled.outputs[k]
    return source == "computed" and ("computed", where) not in compiled.outputs[:k]


def _once(compute: Callable[..., Any], r: Result) -> Callable[..., Any]:
    def get(out: Any, a: Any, memo: dict[int, Any]) -> Any:
        if id(r) not in memo:
            memo[id(r)] = compute(out, a)
        return memo[id(r)]

    return get


def _repeats(tree: Any) -> dict[int, int]:
    counts: dict[int, int] = {}
    stack = [tree]
    while stack:
        t = stack.pop()
        if isinstance(t, Result):
            counts[id(t)] = counts.get(id(t), 0) + 1
        else:
            stack.extend(t[1])
    return counts


def _dim_text(dim: Any, symbols: SymbolTexts) -> str:
    return python_source(dim, symbols) if isinstance(dim, Dim) else repr(dim)


def _finisher(kind: str, *, fresh: bool) -> Callable[[Any], Any]:
    if kind == "array":
        return (lambda x: x.copy()) if fresh else (lambda x: x)
    if kind == "scalar":
        return lambda x: x[()]
    return lambda x: x.item()


def _reference(x: Any) -> Callable[[], Any]:
    """Return a weak reference where the object can have one."""
    try:
        return weakref.ref(x)
    except TypeError:
        return lambda: x
