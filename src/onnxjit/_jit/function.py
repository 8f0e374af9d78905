# SPDX-License-Identifier: Apache-2.0
"""`jit_onnx`: a NumPy function whose calls run on onnxruntime."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
import weakref
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.source import user_level
from onnxjit._eager.entry import (
    FROZEN,
    EagerEntry,
    Entry,
    Rerun,
    guard_lines,
    make_guard,
    root_sources,
)
from onnxjit._eager.leaves import (
    Leaf,
    flatten,
    holds_dates,
    leaf_names,
    leaf_of,
    static_objects,
)
from onnxjit._eager.lent import Lent, containers_of, pattern
from onnxjit._eager.record import Recording, record
from onnxjit._eager.replay import hidden_source
from onnxjit._eager.run import call_eagerly, call_traced, routed
from onnxjit._engine.cache import Cache
from onnxjit._lower.opsets import check_opset
from onnxjit._rewrite.path import GuardNames
from onnxjit._trace.convert import arrays_in, is_traced
from onnxjit._trace.raising import AlwaysRaises, is_plain
from onnxjit._trace.trace import Tracer, current_tracer
from onnxjit.errors import (
    AliasError,
    DataDependentError,
    FallbackWarning,
    LoweringError,
    OnnxJitError,
    OpsetError,
    SideEffectError,
    SpecError,
    UnsupportedError,
)

from .arguments import refuse_specs
from .dispatch import INLINE, Inlined, write_dispatcher
from .signature import Signatures
from .tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["BoundJit", "JitFunction", "jit_onnx"]

#: what makes a call go on eagerly
_FALLBACK: Final = (
    AliasError,
    DataDependentError,
    LoweringError,
    OpsetError,
    SideEffectError,
    UnsupportedError,
)
_MODES: Final = ("eager", "error")


#: graphs of one signature, told apart by guards; beyond them new sizes run eagerly
VARIANTS: Final = 8


class Call:
    """One call, flattened: its key, dynamic leaves, and the objects it is keyed by."""

    __slots__ = ("args", "key", "kwargs", "leaves", "owner", "roots")

    def __init__(self, names: Any, args: Any, kwargs: Mapping[str, Any], owner: Any) -> None:
        leaves: list[Leaf] = []
        self.args: Final = args
        self.kwargs: Final = kwargs
        self.owner: Final = owner
        keys = [flatten(x, names(i), leaves, top=True) for i, x in enumerate(args)]
        named = [(k, flatten(v, k, leaves, top=True)) for k, v in kwargs.items()]
        self.leaves: Final = leaves
        self.key: Final = (None if owner is None else id(owner), *keys, *named)
        self.roots: Mapping[str, Any] = {}

    def find_roots(self, names: Any) -> None:
        """Name the static objects among the arguments."""
        roots = {} if self.owner is None else {"self": self.owner}
        pairs = [*((names(i), x) for i, x in enumerate(self.args)), *self.kwargs.items()]
        for name, x in pairs:
            for k, found in enumerate(static_objects(x)):
                roots[name if found is x else f"{name}[{k}]"] = found
        self.roots = roots

    def suits(self, entry: Any) -> bool:
        """Whether the containers that are one object are those that an entry was made for."""
        if not isinstance(entry, Entry) or not entry.needs_containers:
            return True
        return pattern(containers_of(self.args, self.kwargs)) == entry.recording.pattern


class JitFunction(Tools):
    """A jitted function; made by `jit_onnx`.

    Attributes
    ----------
    __wrapped__ : callable
        The plain NumPy function.
    """

    __slots__ = (
        "__dict__", "__weakref__", "__wrapped__", "_cache", "_fallback", "_inlined", "_names",
        "_opset", "_signatures", "_warned", "_watched",
    )  # fmt: skip
    __onnxjit__ = True

    def __init__(self, fn: Callable[..., Any], *, opset: int | None, fallback: str) -> None:
        self.__wrapped__ = fn
        self._fallback: Final = fallback
        self._opset: Final = None if opset is None else check_opset(opset)
        self._cache: Final[Cache[Any]] = Cache(128, per_key=VARIANTS)
        self._warned: Final[set[str]] = set()
        self._watched: Final[dict[int, Any]] = {}
        self._signatures: Final = Signatures()
        self._inlined: tuple[Inlined, ...] = ()
        self._names = _parameter_names(fn)
        functools.update_wrapper(self, fn, updated=())
        self.__wrapped__ = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(args, kwargs)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else BoundJit(self, obj)

    def __reduce__(self) -> Any:
        name = getattr(self.__wrapped__, "__qualname__", "")
        module = sys.modules.get(getattr(self.__wrapped__, "__module__", ""))
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return _restore, (self.__wrapped__, self._opset, self._fallback)

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        kept = self.cache_info()
        graphs, eager = kept["graphs"], kept["eager"]
        text = f"{graphs} graph{'' if graphs == 1 else 's'}"
        text += f", {eager} signature{'' if eager == 1 else 's'} eagerly" if eager else ""
        return f"<onnxjit function {name}: {text}>"

    # ------------------------------------------------------------------ calling

    def _function(self, owner: Any) -> Callable[..., Any]:
        return self.__wrapped__ if owner is None else MethodType(self.__wrapped__, owner)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], owner: Any = None) -> Any:
        if current_tracer() is not None and any(
            is_traced(a) for a in arrays_in((args, kwargs))
        ):
            from onnxjit._rewrite import current_session

            return routed(current_session(), self._function(owner))(*args, **kwargs)
        names = self._naming(owner)
        try:
            call = Call(names, args, kwargs, owner)
        except UnsupportedError as e:
            if self._fallback == "error" or not holds_dates((args, kwargs)):
                raise
            self._warn(e)
            return call_eagerly(self._function(owner), args, kwargs)
        values = [leaf.value for leaf in call.leaves]
        kept_entries = self._cache.get(call.key)
        for kept in kept_entries:
            entry = kept.value
            if (entry.guard is None or entry.guard(values)) and call.suits(entry):
                self._cache.touch(kept)
                return self._run(entry, call, values)
        if len(kept_entries) >= VARIANTS and self._fallback != "error":
            self._warn_of_variants(kept_entries[0].value)
            return call_eagerly(self._function(owner), args, kwargs)
        call.find_roots(names)
        entry = self._build(call)
        self._keep(call, entry)
        return self._run(entry, call, values)

    def _run(self, entry: Entry | EagerEntry, call: Call, values: list[Any]) -> Any:
        if not isinstance(entry, Entry):
            if entry.kind == AlwaysRaises.__name__:
                return self._rerun(call.args, call.kwargs, call.owner)
            return call_eagerly(self._function(call.owner), call.args, call.kwargs)
        compiled = entry.compiled
        before = compiled.wide
        try:
            more = [containers_of(call.args, call.kwargs)] if entry.needs_containers else []
            result = entry.run(values, *more)
        except Rerun as e:
            result = self._rerun(call.args, call.kwargs, call.owner, e.__cause__)
        if compiled.wide is not before:
            self._write()  # with the session that has got threads
        return result

    def _rerun(
        self, args: Any, kwargs: Any, owner: Any = None, cause: BaseException | None = None
    ) -> Any:
        """Let Python make a call that the graph has no result for: mostly, it raises.

        `cause` is the exception of the run, where it ended in one.
        """
        result = call_eagerly(self._function(owner), args, kwargs)
        error = UnsupportedError(
            "a name had no value on the path that this call took, an integer is beyond 64 "
            "bits, or a check of the graph failed where Python's did not"
            if cause is None
            else f"the run of the graph failed where Python's did not: {cause}"
        )
        if self._fallback == "error":
            raise error from cause
        self._warn(error)
        return result

    def _naming(self, owner: Any) -> Callable[[int], str]:
        names, rest = self._names
        skip = 0 if owner is None else 1
        return lambda i: (
            names[i + skip] if i + skip < len(names) else f"{rest}_{i + skip - len(names)}"
        )

    def _build(self, call: Call) -> Entry | EagerEntry:
        refuse_specs(call.args, call.kwargs)
        started: list[Tracer] = []
        self._signatures.add(call.leaves, call.args, call.kwargs)
        try:
            recording = self._record(call, started, freezes=self._freezes(call))
            return Entry(recording, call.leaves, opset=self._opset, roots=call.roots)
        except AlwaysRaises as e:
            return self._eager_entry(e, call, started)  # Python raises what it raises
        except _FALLBACK as e:
            if self._fallback == "error":
                raise
            self._warn(e)
            return self._eager_entry(e, call, started)
        except Exception as e:
            if isinstance(e, OnnxJitError) or not _leaves_more(e, started):
                raise
            return self._eager_entry(AlwaysRaises(str(e)), call, started)

    def _eager_entry(self, e: Exception, call: Call, started: list[Tracer]) -> EagerEntry:
        if not started:
            return EagerEntry(e, call.leaves)
        names = GuardNames()
        recording = Recording(started[-1], ())
        lines = guard_lines(recording, call.leaves, names, call.roots)
        texts = root_sources(names, call.roots)
        guard = make_guard(lines, names, hidden_source(recording, names, texts))
        if recording.tracer.hidden is not None:
            recording.tracer.hidden.forget()
        return EagerEntry(e, call.leaves, guard, lines)

    def _freezes(self, call: Call) -> bool:
        """Whether a graph may be for one size only: there are few for this signature."""
        return len(self._cache.get(call.key)) < FROZEN

    def _record(
        self, call: Call, started: list[Tracer], *, freezes: bool = True, **options: Any
    ) -> Recording:
        fn = self._function(call.owner)

        def body(tracer: Tracer, traced: list[Any]) -> Any:
            started.append(tracer)
            tracer.env.freezes &= freezes
            args, kwargs = rebuilt(call, traced, tracer.lent)
            return call_traced(tracer, fn, args, kwargs, call.roots)

        names = leaf_names(call.leaves)
        return record(body, call.leaves, names, stores="replay", **options)

    def _warn(self, e: Exception) -> None:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        notes = "; ".join(getattr(e, "__notes__", ()))
        notes = f" ({notes})" if notes else ""
        msg = f"{name} runs eagerly, operation by operation: {e}{notes}"
        if msg in self._warned:
            return
        self._warned.add(msg)
        warnings.warn(msg, FallbackWarning, stacklevel=user_level())

    def _warn_of_variants(self, newest: Any) -> None:
        """Say why new sizes are not traced any more."""
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        guards = newest.recording.tracer.env.guards if isinstance(newest, Entry) else []
        frozen = "; ".join(f"{g.text} ({g.source})" for g in guards if g.kind == "eq")
        msg = (
            f"{name} has {VARIANTS} graphs for one signature already, so that new sizes run "
            f"eagerly; the newest holds only where {frozen or ' and '.join(newest.lines)} "
            "[docs/errors.md#fallbackwarning]"
        )
        if msg not in self._warned and "variants" not in self._warned:
            self._warned.update((msg, "variants"))
            warnings.warn(msg, FallbackWarning, stacklevel=user_level())

    def _keep(self, call: Call, entry: Any) -> None:
        for graph in self._inlined:
            self._cache.touch(graph.kept)
        kept = self._cache.add(call.key, entry.guard, entry)
        for x in call.roots.values():
            self._watch(x, call.key)
        arguments = _inline_arguments(call)
        if isinstance(entry, Entry) and arguments is not None:
            self._inlined = (Inlined(kept, entry, arguments), *self._inlined)[:INLINE]
        self._write()

    def _write(self) -> None:
        """Write the dispatcher anew, for the newest graphs that are still kept."""
        alive = {id(kept) for kept in self._cache}
        self._inlined = tuple(g for g in self._inlined if id(g.kept) in alive)
        kind: Any = type(self)
        kind.__call__ = write_dispatcher(self._inlined, JitFunction._call)

    def _watch(self, x: Any, key: Any) -> None:
        """Forget the entries of a key when an object it is keyed by dies."""
        identity = id(x)
        if identity in self._watched:
            self._watched[identity][1].add(key)
            return
        cache, watched = self._cache, self._watched

        def forget(_: Any) -> None:
            for dead in watched.pop(identity)[1]:
                for kept in cache.get(dead):
                    cache.discard(dead, kept)

        try:
            watched[identity] = (weakref.ref(x, forget), {key})
        except TypeError:
            watched[identity] = (x, {key})

    def cache_info(self) -> dict[str, int]:
        """Return how many graphs are kept, and how many calls run eagerly."""
        entries = [kept.value for kept in self._cache]
        graphs = sum(isinstance(e, Entry) for e in entries)
        return {"graphs": graphs, "eager": len(entries) - graphs}

    def cache_clear(self) -> None:
        """Forget every graph."""
        self._cache.clear()
        self._watched.clear()
        self._signatures.clear()
        self._write()

    # ------------------------------------------------------------------ exporting

    def last_signature(self, owner: Any = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword arguments like those of the call traced last.

        Arrays have the dtypes and sizes of the call, and no meaningful values.

        Raises
        ------
        SpecError
            No call was traced, or several that differ in dtypes or ranks.
        """
        return self._signatures.last(self._function(owner))

    def _parts(self) -> tuple[JitFunction, Any]:
        return self, None


class BoundJit(Tools):
    """A jitted method bound to its object."""

    __slots__ = ("__self__", "_jit")
    __onnxjit__ = True

    def __init__(self, jit: JitFunction, obj: Any) -> None:
        self._jit: Final = jit
        self.__self__: Final = obj

    @property
    def __wrapped__(self) -> Any:
        return MethodType(self._jit.__wrapped__, self.__self__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._jit._call(args, kwargs, self.__self__)

    def _parts(self) -> tuple[JitFunction, Any]:
        return self._jit, self.__self__

    def __repr__(self) -> str:
        return f"<bound {self._jit!r} of {self.__self__!r}>"


def rebuilt(call: Call, traced: list[Any], lent: Lent) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call with traced twins in the place of its leaves."""
    new = iter(traced)

    def leaf(x: Any, top: bool) -> Any:
        return next(new) if leaf_of(x, "", top=top) is not None else x

    args = [lent.rebuilt(x, leaf) for x in call.args]
    return args, {k: lent.rebuilt(v, leaf) for k, v in call.kwargs.items()}


_INLINE_STATIC: Final = (type(None), bool, str)


def _inline_arguments(call: Call) -> list[int | tuple[Any]] | None:
    """Return what each positional argument is, if the dispatcher can test all of them."""
    if call.kwargs or call.owner is not None or call.roots:
        return None
    arguments: list[int | tuple[Any]] = []
    for x in call.args:
        if leaf_of(x, "", top=True) is not None:
            arguments.append(sum(isinstance(a, int) for a in arguments))
        elif isinstance(x, _INLINE_STATIC):
            arguments.append((x,))
        else:
            return None
    return arguments


def _leaves_more(e: Exception, started: list[Tracer]) -> bool:
    """Whether Python may raise something else before, or writes, or knows more of the text."""
    checked = any(tracer.failed is not None for tracer in started)
    written = any(x.written for tracer in started for x in tracer.arguments)
    fails = any(made.op.may_fail for tracer in started for made in tracer.root.equations)
    return checked or written or fails or not is_plain(e)


def _parameter_names(fn: Callable[..., Any]) -> tuple[list[str], str]:
    """Return names of the positional parameters, and that of the variadic one."""
    try:
        parameters = inspect.signature(fn, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return [], "x"
    positional = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    names = [p.name for p in parameters if p.kind in positional]
    rest = [p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL]
    return names, rest[0] if rest else "x"


def _made(fn: Callable[..., Any], *, opset: int | None, fallback: str) -> JitFunction:
    """Return a jitted function of a class of its own, which holds its dispatcher."""
    kind = type("JitFunction", (JitFunction,), {"__slots__": (), "__module__": __name__})
    made: JitFunction = kind(fn, opset=opset, fallback=fallback)
    return made


def _restore(fn: Callable[..., Any], opset: int | None, fallback: str) -> JitFunction:
    return _made(fn, opset=opset, fallback=fallback)


def jit_onnx(
    fn: Any = None,
    *,
    opset: int | None = None,
    fallback: str = "eager",
) -> Any:
    """Run a NumPy function on onnxruntime, as one graph per dtypes and ranks.

    Parameters
    ----------
    fn : callable
        A function, method, `functools.partial` or callable object written in NumPy.
    opset : int, optional
        Opset of calls and default of `to_onnx`; calls use the newest one otherwise.
    fallback : {"eager", "error"}
        What a call does that cannot be one graph (text made of array data, a side
        effect, an unsupported function): run operation by operation with a `FallbackWarning`,
        or raise.

    Returns
    -------
    JitFunction
        Called like `fn`; `to_onnx` and `save` export it.

    Raises
    ------
    SpecError
        An option is unknown.
    OpsetError
        The opset is out of range.
    TypeError
        `fn` is a class or cannot be called.

    Notes
    -----
    Beside `to_onnx`, `save`, `explain`, `verify` and `benchmark`, a jitted function has
    ``cache_info()`` (how many graphs are kept), ``cache_clear()`` and ``__wrapped__``, the
    NumPy function itself.  Of a jitted method, each object has graphs of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import jit_onnx
    >>> @jit_onnx
    ... def centre(x):
    ...     return x - x.mean(axis=0)
    >>> centre(np.array([[1.0, 2.0], [3.0, 6.0]]))
    array([[-1., -2.],
           [ 1.,  2.]])
    """
    if fallback not in _MODES:
        msg = f"fallback is {fallback!r}; it must be one of {_MODES}"
        raise SpecError(msg)
    if fn is None:
        return lambda f: jit_onnx(f, opset=opset, fallback=fallback)
    if isinstance(fn, (staticmethod, classmethod)):
        kind = type(fn)
        return kind(jit_onnx(fn.__func__, opset=opset, fallback=fallback))
    if isinstance(fn, type):
        msg = f"jit_onnx takes a function, not the class {fn.__name__}; decorate its methods"
        raise TypeError(msg)
    if not callable(fn):
        msg = f"jit_onnx takes a function, not {type(fn).__name__}"
        raise TypeError(msg)
    return _made(fn, opset=opset, fallback=fallback)
