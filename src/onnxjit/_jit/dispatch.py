# SPDX-License-Identifier: Apache-2.0
"""The warm path: a dispatcher written anew for each function whenever a graph is added.

The newest graphs are compared inline (types and dtypes by ``is``, ranks by length, guards as
expressions) and run without a detour; everything else goes to the slow path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._compat.onnxruntime import ERRORS
from onnxjit._eager.build import computed_dtype, is_own_output, look_text
from onnxjit._eager.entry import Entry, Rerun
from onnxjit._eager.leaves import ARRAY_LEAF, INT_LEAF, SCALAR_LEAF
from onnxjit._eager.results import Result
from onnxjit._engine.errors import explain_run_error
from onnxjit._runtime.options import WIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["INLINE", "Inlined", "write_dispatcher"]

#: graphs compared inline
INLINE: Final = 4
_LEAF: Final = r"\ba\[(\d+)\]"
_WORD: Final = r"\b[a-z]\w*\b"


class Inlined:
    """A graph and the positional arguments it was made for.

    `arguments` holds for each one its leaf number, or a 1-tuple of a static value.
    """

    __slots__ = ("arguments", "entry", "kept")

    def __init__(self, kept: Any, entry: Entry, arguments: Sequence[int | tuple[Any]]) -> None:
        self.kept: Final = kept
        self.entry: Final = entry
        self.arguments: Final = tuple(arguments)


class _Writer:
    """Text of a dispatcher and the objects it names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "ndarray": np.ndarray, "asarray": np.asarray, "array": np.array,
            "int64": np.int64, "uint64": np.uint64, "float64": np.float64, "ERRORS": ERRORS,
            "complex64": np.complex64, "complex128": np.complex128,
            "explain": explain_run_error, "may_share_memory": np.may_share_memory,
        }  # fmt: skip
        self.lines: list[str] = []

    def name(self, obj: Any) -> str:
        """Return a name for an object."""
        name = f"o{len(self.names)}"
        self.names[name] = obj
        return name

    def add(self, depth: int, line: str) -> None:
        """Append a line."""
        self.lines.append("    " * depth + line)


def write_dispatcher(
    graphs: Sequence[Inlined], slow: Callable[..., Any]
) -> Callable[..., Any]:
    """Return ``__call__(self, *args, **kwargs)`` that knows some graphs.

    Parameters
    ----------
    graphs : sequence of Inlined
        Newest first.
    slow : callable
        ``slow(self, args, kwargs)`` for every other call.
    """
    w = _Writer()
    w.add(0, "def __call__(self, *args, **kwargs):")
    by_count: dict[int, list[Inlined]] = {}
    for graph in graphs:
        by_count.setdefault(len(graph.arguments), []).append(graph)
    if by_count:
        w.add(1, "if not kwargs:")
        w.add(2, "count = len(args)")
    for count, group in by_count.items():
        w.add(2, f"if count == {count}:")
        if count:
            w.add(3, "".join(f"x{i}, " for i in range(count)) + "= args")
        for graph in group:
            _write_graph(w, graph)
    w.add(1, f"return {w.name(slow)}(self, args, kwargs)")
    code = compile("\n".join(w.lines), f"{__file__} (dispatcher)", "exec")
    exec(code, w.names)
    made: Callable[..., Any] = w.names["__call__"]
    return made


def _write_graph(w: _Writer, graph: Inlined) -> None:
    entry = graph.entry
    where = {leaf: i for i, leaf in enumerate(graph.arguments) if isinstance(leaf, int)}
    tests = [_test(w, entry, f"x{i}", a) for i, a in enumerate(graph.arguments)]
    tests += _guards(w, entry, where)
    w.add(3, f"if {' and '.join(tests) or 'True'}:")
    leaves = "".join(f"x{where[i]}, " for i in range(len(where)))
    runner = entry.compiled.runner
    if runner is None or entry.recording.checks or entry.is_stateful:
        w.add(4, f"return {w.name(_run_checked)}(self, {w.name(entry.run)}, ({leaves}), args)")
        return
    feeds = ", ".join(
        f"{name!r}: {_feed(entry, i, f'x{where[i]}')}"
        for i, name in zip(entry.compiled.inputs, entry.compiled.input_names, strict=True)
    )
    run = _session(w, entry, where)
    w.add(4, "try:")
    w.add(5, f"out = {run}({w.name(runner.fetches)}, {{{feeds}}}, None)")
    w.add(4, "except ERRORS as error:")
    w.add(5, f"error = explain(error, {w.name(entry.compiled.equations)})")
    w.add(5, "return self._rerun(args, {}, cause=error)")
    w.add(4, f"return {_result(w, entry, leaves)}")


def _run_checked(jit: Any, run: Any, leaves: Any, args: Any) -> Any:
    """Run a graph; where that fails, or one of its checks, Python makes the call."""
    try:
        return run(leaves)
    except Rerun as e:
        return jit._rerun(args, {}, cause=e.__cause__)


def _test(w: _Writer, entry: Entry, x: str, argument: int | tuple[Any]) -> str:
    """Return the test that an argument is of the kind the graph was made for."""
    if isinstance(argument, tuple):
        (value,) = argument
        if value is None or isinstance(value, bool):
            return f"{x} is {value!r}"
        return f"type({x}) is {w.name(type(value))} and {x} == {value!r}"
    leaf = entry.leaves[argument]
    if leaf.kind == ARRAY_LEAF:
        dtype = w.name(leaf.key[1])
        compiled = entry.compiled
        small = f" and {x}.size < {WIDE}" if compiled.narrow and compiled.wide is None else ""
        kind = f"type({x}) is ndarray and {x}.dtype is {dtype}"
        return f"{kind} and {x}.ndim == {leaf.key[2]}{small}"
    if leaf.kind == SCALAR_LEAF:
        return f"type({x}) is {w.name(leaf.key[1].type)}"
    if leaf.kind == INT_LEAF:
        return f"type({x}) is int and -{2**63} <= {x} < {2**63}"
    return f"type({x}) is float"


def _session(w: _Writer, entry: Entry, where: dict[int, int]) -> str:
    """Return the run of the session for arrays of these sizes; without threads for small ones.

    As long as there is only one session, `_test` has sent large arrays away.
    """
    compiled = entry.compiled
    assert compiled.runner is not None
    run = w.name(compiled.runner.session.run)
    if compiled.wide is None or not compiled.narrow:
        return run
    arrays = [f"x{where[i]}" for i in compiled.inputs if entry.leaves[i].kind == ARRAY_LEAF]
    small = " and ".join(f"{x}.size < {WIDE}" for x in arrays) or "True"
    return f"({run} if {small} else {w.name(compiled.wide.session.run)})"


def _guards(w: _Writer, entry: Entry, where: dict[int, int]) -> list[str]:
    if entry.guard is None:
        return []
    if entry.recording.captures or entry.read is not None:
        leaves = "".join(f"x{where[i]}, " for i in range(len(where)))
        return [f"{w.name(entry.guard)}(({leaves}))"]
    names = {name: w.name(obj) for name, obj in entry.names.namespace.items()}
    texts = [re.sub(_LEAF, lambda m: f"x{where[int(m[1])]}", line) for line in entry.lines]
    return [f"({re.sub(_WORD, lambda m: names.get(m[0], m[0]), text)})" for text in texts]


def _feed(entry: Entry, leaf: int, x: str) -> str:
    kind = entry.leaves[leaf].kind
    if kind == ARRAY_LEAF:
        return x + entry.parts_text(leaf)
    if kind == SCALAR_LEAF:
        return f"asarray({x})" + entry.parts_text(leaf)
    return f"array({x}, {'int64' if kind == INT_LEAF else 'float64'})"


_FINISH: Final = {"array": "out[{0}]", "scalar": "out[{0}][()]"}


def _result(w: _Writer, entry: Entry, leaves: str) -> str:
    """Return the expression of the result; the general builder where it is not a plain one."""
    tree = entry.recording.tree
    items = [tree] if isinstance(tree, Result) else tree[1]
    plain = isinstance(tree, Result) or type(tree[0]) is tuple
    texts = [_output(entry, r) for r in items] if plain else [None]
    if any(t is None for t in texts) or len({id(r) for r in items}) != len(items):
        return f"{w.name(entry.build)}(out, ({leaves}))"
    joined = [t for t in texts if t is not None]
    return joined[0] if isinstance(tree, Result) else f"({''.join(f'{t}, ' for t in joined)})"


def _output(entry: Entry, r: Any) -> str | None:
    if not isinstance(r, Result) or r.source != "output" or r.copy:
        return None
    _, where = entry.compiled.outputs[r.index]
    value = entry.recording.program.outputs[r.index]
    if not is_own_output(entry.compiled, r.index) or value.dtype.kind == "U":
        return None
    dtype = computed_dtype(entry.recording, r.index)
    if dtype is None or (dtype.kind != "c" and r.kind not in _FINISH):
        return _FINISH.get(r.kind, "out[{0}].item()").format(where)
    if dtype.kind != "c" and r.kind == "scalar":
        return f"{dtype.name}(out[{where}])"
    looked = f"out[{where}]{look_text(dtype, dtype.name)}"
    return {"array": looked, "scalar": f"{looked}[()]"}.get(r.kind, f"{looked}.item()")
