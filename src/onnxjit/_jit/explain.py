# SPDX-License-Identifier: Apache-2.0
"""`JitFunction.explain`: what is kept for calls, and what made it so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dim_polynomial import atom_poly
from onnxjit._core.dim_text import Printer
from onnxjit._core.dims import Guard, Symbol, check_guards, reduce_guards
from onnxjit._core.guards import Knowledge
from onnxjit._core.source import Source
from onnxjit._eager.entry import EagerEntry, Entry
from onnxjit._eager.leaves import leaf_names
from onnxjit._lower.opsets import check_opset

from .explanation import Condition, Explanation, Kept, line_text
from .function import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnxjit._eager.record import Recording

    from .function import JitFunction

__all__ = ["explain"]

_LEAF: Final = re.compile(r"\ba\[(\d+)\]")
#: guards on the memory of arguments, as generated code
_MEMORY: Final = re.compile(r"flags|strides|may_share_memory|^a\[\d+\] is a\[\d+\]$")
_SHOWN: Final = 60


class _Found:
    """An entry of the cache, and what is said about it."""

    __slots__ = ("arguments", "by_name", "entry", "made")

    def __init__(
        self, made: int, key: Any, arguments: dict[str, str], entry: Entry | EagerEntry
    ) -> None:
        self.made: Final = made
        self.by_name: Final = {part[0] for part in key[1:] if _is_named(part)}
        self.arguments: Final = arguments
        self.entry: Final = entry

    @property
    def sizes(self) -> dict[tuple[int, int | None], int]:
        """Sizes of the call it was made for, by leaf and axis (None: the leaf's value)."""
        if isinstance(self.entry, Entry):
            origins = _origins(self.entry.recording)
            return {at: s.hint for s, at in origins.items() if s.hint is not None}
        found: dict[tuple[int, int | None], int] = {}
        for i, size in enumerate(self.entry.sizes):
            if isinstance(size, int):
                found[i, None] = size
            else:
                found.update({(i, axis): n for axis, n in enumerate(size)})
        return found


def explain(jit: JitFunction, owner: Any) -> Explanation:
    """Tell what a jitted function keeps for calls; see `Tools.explain`."""
    name = getattr(jit.__wrapped__, "__qualname__", repr(jit.__wrapped__))
    short = name.rpartition(".")[2]
    found: list[_Found] = []
    full: list[str] = []
    for key in jit._cache.keys():  # noqa: SIM118  no mapping
        if owner is not None and key[0] != id(owner):  # type: ignore[index]  # a tuple
            continue
        arguments = _arguments(jit, key)
        entries = jit._cache.get(key)
        found += [_Found(k.made, key, arguments, k.value) for k in entries]
        full += [_signature(short, arguments)] * (len(entries) >= VARIANTS)
    found.sort(key=lambda f: f.made)
    opset = check_opset(jit._opset)
    kept = [_kept(i, short, each, found[:i], opset) for i, each in enumerate(found)]
    return Explanation(name, kept, full)


def _signature(name: str, arguments: Mapping[str, str]) -> str:
    texts = [f"{n}: {text}" for n, text in arguments.items() if n != "self"]
    return f"{name}({', '.join(texts)})"


def _kept(at: int, name: str, found: _Found, older: Sequence[_Found], opset: int) -> Kept:
    entry = found.entry
    signature = _signature(name, found.arguments)
    retraced = _retraced(found, older)
    if isinstance(entry, Entry):
        conditions = _conditions(entry)
        nodes = entry.compiled.nodes
        return Kept(
            at + 1, signature, conditions, controls=_controls(entry.recording),
            stores=_stores(entry), retraced=retraced, nodes=nodes, opset=opset,
        )  # fmt: skip
    named = [_with_names(line, entry.names) for line in entry.lines]
    conditions = [Condition("eager", text) for text in named]
    reason = f"{entry.kind}: {entry.reason}"
    return Kept(
        at + 1, signature, conditions, retraced=retraced, reason=reason, source=entry.source
    )


# ---------------------------------------------------------------------- signatures


def _arguments(jit: JitFunction, key: Any) -> dict[str, str]:
    """Return the text of each argument of a key, by name."""
    owner, *parts = key
    naming = jit._naming(owner)
    found = {} if owner is None else {"self": f"object {owner:#x}"}
    for i, part in enumerate(parts):
        if _is_named(part):
            found[part[0]] = _part_text(part[1])
        else:
            found[naming(i)] = _part_text(part)
    return found


def _is_named(part: Any) -> bool:
    """Whether a part of a key is an argument that was passed by name."""
    return len(part) == 2 and isinstance(part[1], tuple)


def _array_text(_: str, dtype: Any, ndim: int) -> str:
    return f"{dtype.name}[{', '.join(':' * ndim)}]"


def _static_text(_: str, kind: type, value: Any) -> str:
    if kind is float:
        return repr(float.fromhex(value[1]))
    plain = value[1] if isinstance(value, tuple) and kind is not tuple else value
    text = str(plain) if kind is complex else repr(plain)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _tree_text(_: str, kind: type, labels: Any, parts: Sequence[Any]) -> str:
    texts = [_part_text(p) for p in parts]
    if isinstance(labels, tuple):
        names = [_part_text(n) if isinstance(n, tuple) else n for n in labels]
        pairs = zip(names, texts, strict=True)
        return f"{kind.__name__}({', '.join(f'{n}: {t}' for n, t in pairs)})"
    return f"{kind.__name__}({', '.join(texts)})"


#: how the parts of a key are shown, by their first element
_TEXTS: Final[Mapping[str, Any]] = {
    "array": _array_text,
    "scalar": lambda _, dtype: f"{dtype.name} scalar",
    "int": lambda _: "int",
    "float": lambda _: "float",
    "static": _static_text,
    "enum": lambda _, kind, name: f"{kind.__name__}.{name}",
    "slice": lambda _, *ends: f"slice({', '.join(map(_part_text, ends))})",
    "object": lambda _, kind, at: f"{kind.__qualname__} at {at:#x}",
    "tree": _tree_text,
}


def _part_text(part: Any) -> str:
    text: str = _TEXTS[part[0]](*part)
    return text


# ---------------------------------------------------------------------- conditions


def _origins(recording: Recording) -> dict[Symbol, tuple[int, int | None]]:
    """Return the leaf and axis of each size symbol that is a size of an argument."""
    position = {v.id: i for i, v in enumerate(recording.tracer.root.inputs)}
    found: dict[Symbol, tuple[int, int | None]] = {}
    for symbol in recording.tracer.env.symbols:
        if isinstance(symbol.origin, tuple):
            value, axis = symbol.origin
            if value.id in position:
                found[symbol] = position[value.id], axis
    return found


def _symbol_names(recording: Recording, names: Sequence[str]) -> dict[Symbol, str]:
    origins = _origins(recording)
    found = {s: s.name for s in recording.tracer.env.symbols}
    for symbol, (i, axis) in origins.items():
        found[symbol] = names[i] if axis is None else f"{names[i]}.shape[{axis}]"
    return found


def _conditions(entry: Entry) -> list[Condition]:
    recording = entry.recording
    names = leaf_names(entry.leaves)
    symbols = _symbol_names(recording, names)
    frozen = _frozen(recording, symbols)
    fixed = {c.text for c in frozen}
    printer = Printer(symbols)
    found = list(frozen)
    for guard in reduce_guards(recording.tracer.env.guards):
        text = printer.compare(guard.kind, guard.poly)
        if text not in fixed:
            found.append(Condition("size", text, guard.source))
    for host in recording.tracer.host_guards:
        value = host.expected[()]
        text = f"a number computed from sizes and scalars is {value!r}"
        found.append(Condition("frozen", text, host.source))
    memory = [line for line in entry.lines if _MEMORY.search(line)]
    found += [Condition("memory", _with_names(line, names)) for line in memory]
    hidden = [] if recording.tracer.hidden is None else recording.tracer.hidden.inputs
    found += [Condition("state", f"{path} is {_part_text(leaf.key)}") for path, leaf in hidden]
    captured = dict.fromkeys(_captured(recording))
    found += [Condition("captured", f"{path} is {value}") for path, value in captured]
    return found


def _stores(entry: Entry) -> list[Condition]:
    """Return what calls change outside: attributes, items, and arrays written in place."""
    recording = entry.recording
    found = [Condition("store", e.name, e.source) for e in recording.effects]
    hidden = [] if recording.tracer.hidden is None else recording.tracer.hidden.inputs
    first = len(entry.leaves) - len(hidden)
    written = [hidden[i - first][0] for i, _ in recording.written if i >= first]
    return [*found, *(Condition("store", f"into the array {path}") for path in written)]


def _controls(recording: Recording) -> list[Condition]:
    """Return what became of the branches and loops, in the order of the code."""
    tracer = recording.tracer
    guards = {str(g.source) for g in tracer.env.guards}
    guards.update(str(g.source) for g in tracer.host_guards)
    found: dict[tuple[str, int, str], Condition] = {}
    for control in tracer.controls:
        source = control.source
        if source is None:
            continue
        guarded = control.form == "static" and str(source) in guards
        text = f"{control.what}: {'guard' if guarded else control.form}"
        found[source.file, source.line, text] = Condition("control", text, source)
    return [found[key] for key in sorted(found)]


def _captured(recording: Recording) -> list[tuple[str, str]]:
    return [(str(p), _short(v)) for p, v in recording.captures if p.kind != "module"]


def _short(x: Any) -> str:
    if isinstance(x, (type(None), bool, int, float, complex, str, bytes)):
        text = repr(x)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    name = getattr(x, "__qualname__", None)
    return f"{type(x).__name__} {name}" if name else f"the {type(x).__name__} at {id(x):#x}"


def _with_names(line: str, names: Sequence[str]) -> str:
    return _LEAF.sub(lambda m: names[int(m[1])], line)


def _frozen(recording: Recording, symbols: Mapping[Symbol, str]) -> list[Condition]:
    """Return the sizes of arguments that have one value, and the guard that settled each."""
    known = Knowledge()
    found: dict[Symbol, Condition] = {}
    open_ = list(_origins(recording))
    for guard in recording.tracer.env.guards:
        known.learn(guard.kind, guard.poly)
        for symbol in [s for s in open_ if s not in found]:
            value = known.resolve(atom_poly(symbol)).value
            if value is not None:
                text = f"{symbols[symbol]} == {value}"
                found[symbol] = Condition("frozen", text, guard.source)
    return [found[s] for s in open_ if s in found]


# ---------------------------------------------------------------------- why it was made


def _retraced(found: _Found, older: Sequence[_Found]) -> str:
    """Return how a call differed from what the nearest older entry serves."""
    if not older:
        return ""

    def difference(other: _Found) -> tuple[int, int, int]:
        changes = _changes(found, other)
        return len(changes), 0 if changes else len(_failed(found, other)), -other.made

    nearest = min(older, key=difference)
    what = "graph" if isinstance(nearest.entry, Entry) else "eager"
    changes = _changes(found, nearest) or _failed(found, nearest)
    return f"unlike {what} {older.index(nearest) + 1}: {'; '.join(changes)}"


def _changes(found: _Found, other: _Found) -> list[str]:
    """Return the arguments that differ in kind."""
    new, old = found.arguments, other.arguments
    texts = []
    for name in dict.fromkeys((*new, *old)):
        if name not in old:
            texts.append(f"{name} was passed ({new[name]})")
        elif name not in new:
            texts.append(f"{name} was not passed")
        elif new[name] != old[name]:
            texts.append(f"{name} was {new[name]}, not {old[name]}")
        elif (name in found.by_name) != (name in other.by_name):
            texts.append(
                f"{name} was passed by {'name' if name in found.by_name else 'place'}"
            )
    return texts


def _failed(found: _Found, other: _Found) -> list[str]:
    """Return the guards of an older entry that did not hold."""
    entry = other.entry
    if not isinstance(entry, Entry):
        lines = [_with_names(line, entry.names) for line in entry.lines]
        return [f"{' and '.join(lines)} did not hold"]
    names = leaf_names(entry.leaves)
    texts = [*_failed_sizes(entry.recording, names, found.sizes)]
    if isinstance(found.entry, Entry):
        texts += _changed_values(found.entry.recording, entry.recording)
    if not texts:
        memory = [_with_names(line, names) for line in entry.lines if _MEMORY.search(line)]
        texts = (
            [f"{' and '.join(memory)} did not hold"] if memory else ["a guard did not hold"]
        )
    return texts


def _failed_sizes(
    recording: Recording, names: Sequence[str], sizes: Mapping[tuple[int, int | None], int]
) -> Iterable[str]:
    origins = _origins(recording)
    values = {s: sizes[at] for s, at in origins.items() if at in sizes}
    printer = Printer(_symbol_names(recording, names))
    for guard in reduce_guards(recording.tracer.env.guards):
        symbols = guard.poly.symbols
        if all(s in values for s in symbols) and not check_guards([guard], values):
            yield _failure(guard, printer, {s: values[s] for s in symbols})


def _failure(guard: Guard, printer: Printer, values: Mapping[Symbol, int]) -> str:
    text = printer.compare(guard.kind, guard.poly)
    actual = ", ".join(f"{printer.poly(atom_poly(s))} was {n}" for s, n in values.items())
    where = f" ({line_text(guard.source)})" if isinstance(guard.source, Source) else ""
    return f"{actual}, so not {text}{where}"


def _changed_values(new: Recording, old: Recording) -> list[str]:
    """Return what is captured from the surroundings or computed from scalars, and differs."""
    before, now = dict(_captured(old)), dict(_captured(new))
    texts = [
        f"{path} was {now[path]}, not {value}"
        for path, value in before.items()
        if path in now and now[path] != value
    ]
    places = {str(g.source): g for g in old.tracer.host_guards}
    for guard in new.tracer.host_guards:
        other = places.get(str(guard.source))
        if other is not None and not guard.holds(other.expected):
            value, was = guard.expected[()], other.expected[()]
            texts.append(f"a number was {value!r}, not {was!r} ({line_text(guard.source)})")
    return texts
