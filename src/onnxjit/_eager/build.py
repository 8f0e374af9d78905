# SPDX-License-Identifier: Apache-2.0
"""Results of a call put together from what was computed, and from the arguments."""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim, Symbol, python_source
from onnxjit._runtime.pairs import PARTS, from_pairs
from onnxjit._trace.control.either import Either, Unsure, inner_first
from onnxjit._trace.host import evaluate_value, host_inputs

from .leaves import with_parts
from .replay import SKIPPED
from .results import Result, Unless
from .stacked import Stacked

if TYPE_CHECKING:
    from onnxjit._core.program import Value
    from onnxjit._engine.compile import Compiled
    from onnxjit._rewrite.path import GuardNames

    from .record import Recording

__all__ = [
    "Builder", "Getter", "SymbolTexts", "computed_dtype", "getter", "has_source",
    "is_own_output", "look_text",
]  # fmt: skip

Getter = Callable[[Sequence[Any], Sequence[Any]], Any]
Maker = Callable[[Any, Any, dict[Any, Any]], Any]

#: plain results that a caller may change
_FRESH: Final = (np.ndarray, set, deque, bytearray)
#: key of the containers among the arguments; others are ids
_CONTAINERS: Final = "containers"


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

        if not inputs:
            compute = _remembering(compute)
        texts = [self[s] for s in symbols] + [f"a[{self._position[i]}]" for i in inputs]
        return f"{self._names.name(compute, 'h')}({', '.join(texts)})"


def _remembering(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of sizes that knows its last result: guards ask many times for it."""
    last: tuple[Any, Any] = None, None

    def remembered(*given: Any) -> Any:
        nonlocal last
        before, result = last
        if before != given:
            result = compute(*given)
            last = given, result
        return result

    return remembered


def computed_dtype(recording: Recording, k: int) -> np.dtype[Any] | None:
    """Return the dtype to look at a computed result with, None where it has NumPy's own.

    onnxruntime makes ``longlong`` arrays, whose elements are no `numpy.int64` on most systems,
    and complex results come as pairs of parts.
    """
    dtype = recording.program.outputs[k].dtype.numpy
    is_long = dtype.kind in "iu" and dtype.itemsize == 8
    return dtype if is_long or dtype in PARTS else None


def look_text(dtype: np.dtype[Any] | None, name: str) -> str:
    """Return what follows a computed result in generated code; `name` is the dtype's there."""
    if dtype is None:
        return ""
    return f".view({name})[..., 0]" if dtype in PARTS else f".view({name})"


def getter(recording: Recording, compiled: Compiled, k: int) -> Getter:
    """Return how result `k` of the program is had from the computed ones and the leaves."""
    source, where = compiled.outputs[k]
    dtype = computed_dtype(recording, k)
    if source == "computed" and recording.program.outputs[k].dtype.kind == "U":
        # onnxruntime makes object arrays of str; NumPy takes the shortest dtype that fits
        return lambda out, _a: out[where].astype(np.str_)
    if source == "computed" and dtype in PARTS:
        return lambda out, _a: from_pairs(out[where], dtype)
    if source == "computed" and dtype is not None:
        return lambda out, _a: out[where].view(dtype)
    if source == "computed":
        return lambda out, _a: out[where]
    if source == "input":
        return lambda _out, a: np.asarray(a[where])
    return lambda _out, _a: where


def is_own_output(compiled: Compiled, k: int) -> bool:
    """Whether result `k` has a computed array that no earlier result hands out."""
    source, where = compiled.outputs[k]
    return source == "computed" and ("computed", where) not in compiled.outputs[:k]


class Builder:
    """Puts a tree of results together: ``Builder(...)(computed, leaves, containers)``."""

    __slots__ = (
        "_choices",
        "_compiled",
        "_make",
        "_names",
        "_recording",
        "_repeats",
        "_symbols",
    )

    def __init__(
        self, recording: Recording, tree: Any, compiled: Compiled, names: GuardNames
    ) -> None:
        self._recording: Final = recording
        self._compiled: Final = compiled
        self._names: Final = names
        self._symbols: Final = SymbolTexts(recording, names)
        self._repeats: Final = _repeats(tree)
        self._choices: Final[dict[int, Maker]] = {}
        self._make: Final = self._node(tree)

    def __call__(self, out: Any, a: Any, containers: Any = ()) -> Any:
        return self._make(out, a, {_CONTAINERS: containers})

    def _leaf(self, r: Result) -> Maker:
        if r.source == "argument":
            return lambda _out, a, _m: a[r.index]
        if r.source == "container":
            return lambda _out, _a, m: m[_CONTAINERS][r.index]
        if r.source == "static":
            return _static(r.value)
        if r.source == "weak":
            refer = r.value
            return lambda _out, _a, _m: refer()
        if r.source == "held":
            held = r.value
            return lambda _out, _a, _m: held
        if r.source == "size":
            size: Callable[[Sequence[Any]], int] = eval(
                f"lambda a: int({_dim_text(r.value, self._symbols)})", self._names.namespace
            )
            return lambda _out, a, _m: size(a)
        return self._output(r)

    def _output(self, r: Result) -> Maker:
        get = getter(self._recording, self._compiled, r.index)
        fresh = r.copy or not is_own_output(self._compiled, r.index)
        finish = _finisher(r.kind, fresh=fresh)
        if r.kind == "array":
            return self._once(lambda out, a, _m: finish(get(out, a)), r)
        return lambda out, a, _m: finish(get(out, a))

    def _node(self, tree: Any) -> Maker:
        if isinstance(tree, Result):
            return self._leaf(tree)
        example, items = tree
        if _is_choice(tree):
            return self._choice(tree)
        makers = [self._node(item) for item in items]
        if isinstance(example, Unless):
            new, choose = makers[1], example.choose
            return lambda out, a, m: choose(new(out, a, m))
        if isinstance(example, Unsure):
            defined, content = makers
            return lambda out, a, m: content(out, a, m) if defined(out, a, m) else SKIPPED
        stacked = isinstance(example, Stacked)
        join = example.elements if stacked else functools.partial(with_parts, example)
        return self._once(lambda out, a, m: join([make(out, a, m) for make in makers]), tree)

    def _choice(self, tree: Any) -> Maker:
        """Return what makes one of two results, which several may choose from."""
        if id(tree) not in self._choices:
            for one in inner_first(tree, lambda t: [p for p in t[1] if _is_choice(p)]):
                self._choices[id(one)] = _Choice(*map(self._node, one[1]))
        return self._choices[id(tree)]

    def _once(self, make: Maker, of: Any) -> Maker:
        """Return what makes something that comes several times once in a call."""
        if self._repeats[id(of)] == 1:
            return make
        key = id(of)

        def get(out: Any, a: Any, memo: dict[Any, Any]) -> Any:
            if key not in memo:
                memo[key] = make(out, a, memo)
            return memo[key]

        return get


class _Choice:
    """Makes one of two results, which may be choices themselves."""

    __slots__ = ("_chosen", "_first", "_second")

    def __init__(self, chosen: Maker, first: Maker, second: Maker) -> None:
        self._chosen: Final = chosen
        self._first: Final = first
        self._second: Final = second

    def __call__(self, out: Any, a: Any, memo: dict[Any, Any]) -> Any:
        maker: Maker = self
        while isinstance(maker, _Choice):
            maker = maker._first if maker._chosen(out, a, memo) else maker._second
        return maker(out, a, memo)


def _is_choice(tree: Any) -> bool:
    return not isinstance(tree, Result) and isinstance(tree[0], Either)


def _static(value: Any) -> Maker:
    if isinstance(value, _FRESH):
        return lambda _out, _a, _m: copy.copy(value)
    return lambda _out, _a, _m: value


def _repeats(tree: Any) -> dict[int, int]:
    """Count how often each result and each container comes in a tree."""
    counts: dict[int, int] = {}
    stack = [tree]
    while stack:
        t = stack.pop()
        counts[id(t)] = counts.get(id(t), 0) + 1
        if not isinstance(t, Result) and counts[id(t)] == 1:
            stack.extend(t[1])
    return counts


def has_source(trees: Sequence[Any], source: str) -> bool:
    """Whether trees have a result of some source."""
    seen: set[int] = set()
    stack = [*trees]
    while stack:
        t = stack.pop()
        if isinstance(t, Result):
            if t.source == source:
                return True
        elif id(t) not in seen:
            seen.add(id(t))
            stack.extend(t[1])
    return False


def _dim_text(dim: Any, symbols: SymbolTexts) -> str:
    return python_source(dim, symbols) if isinstance(dim, Dim) else repr(dim)


def _finisher(kind: str, *, fresh: bool) -> Callable[[Any], Any]:
    if kind == "array":
        return (lambda x: x.copy()) if fresh else (lambda x: x)
    if kind == "scalar":
        return lambda x: x[()]
    return lambda x: x.item()
