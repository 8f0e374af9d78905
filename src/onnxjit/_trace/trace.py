# SPDX-License-Identifier: Apache-2.0
"""`Tracer`: a trace that knows about arguments, memory layout and guards of its caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import CURRENT, Trace, dim_value
from onnxjit._core.dims import Dim, DimLike, ShapeEnv, symbols_of
from onnxjit._core.dtypes import FLOAT64, INT64, from_numpy
from onnxjit._core.source import Scope, Source, caller, user_frames
from onnxjit._ops.cast import cast
from onnxjit.errors import DataDependentError, OnnxJitError

from .array import ARRAY, FLOAT, SCALAR, Array, wrap
from .layout import Layout
from .storage import Argument, Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._core.dim_polynomial import Poly
    from onnxjit._core.guards import Kind
    from onnxjit._core.program import Value

    from .host import HostGuard
    from .places import Places

__all__ = ["Control", "Tracer", "current_tracer", "note_control"]


#: frames of the library around a `mark_line`: its own, what calls it, what `caller` is
_MARKING: Final = 3

#: operations on a () bool that keep or turn it
_TRUTHS: Final = frozenset({"cast", "logical_not", "weak"})


class Control:
    """A branch or loop of the user's code, and what it became.

    Attributes
    ----------
    source : Source or None
        Where it is.
    what : str
        ``"if"``, ``"while"`` or ``"for"``; ``"raise"`` for a mistake where data leads.
    form : str
        ``"If"``, ``"Loop"``, ``"unrolled n times"``, ``"static"`` for what Python has decided;
        the exception.
    """

    __slots__ = ("form", "source", "what")

    def __init__(self, source: Source | None, what: str, form: str) -> None:
        self.source: Final = source
        self.what: Final = what
        self.form: Final = form


class Tracer(Trace):
    """A program being recorded from a user's function.

    Attributes
    ----------
    arguments : list of Argument
        Array arguments, in order; `written` tells which must be written back.
    layouts : dict
        Argument index -> its example's layout, where the trace made use of it.
    host_guards : list of HostGuard
        Values of sizes and scalars that were used as plain Python values.
    scalar_hints : dict
        Id of the value of a float argument -> its example.
    doors : int
        Calls of NumPy, one inside the other, that are running now.
    refusal : OnnxJitError or None
        The first refusal that reached the user's code, which may catch it.
    sizes : dict
        Id of an integer value -> the size that stands for it.
    sources : list of callable
        NumPy functions whose own source is running.
    failed : Storage or None
        Whether the call has to be made again by Python; see `fail`.
    symbolic : bool
        Whether tests of sizes become part of the graph instead of guards.
    is_old : callable
        Whether an object is older than the trace.
    data_sizes : dict
        Id of an integer of data -> the size that it is.
    parts : dict
        () bool -> a truth value, and other () bools that have it where this one has it.
    conditions : dict
        Id of a truth value -> the condition on sizes that it is.
    handlers : list
        For each of the `tries` a callable that gives what it handles, None for everything.
    has_handlers : bool
        Whether there was one: where the run fails, Python has to make the call.
    meant : int
        Id of the last exception that a ``raise`` statement has made.
    controls : list of Control
        What became of the branches and loops.
    places : Places or None
        What is stored in old objects; None where that is refused.
    hidden : Hidden or None
        What of the surroundings is an input.
    lent : Lent or None
        Copies of the containers among the arguments.
    roots : set of int
        Ids of the objects that a call is made for, such as a method's.
    running : list of code
        Branches of data that are being traced, one inside the other.
    joined : dict
        Id of an array that is one of two of other types -> it, its value, and the two.
    snapshots : list of Snapshot
        Of the branches and loops that are being traced, outermost first.
    named : dict of str to size
        Sizes of inputs that were given names.
    has_rows : bool
        Whether there are lists of unknown length.
    """

    def __init__(self, env: ShapeEnv) -> None:
        super().__init__(env)
        self.arguments: Final[list[Argument]] = []
        self.layouts: Final[set[int]] = set()
        self.host_guards: Final[list[HostGuard]] = []
        self.scalar_hints: Final[dict[int, np.ndarray[Any, Any]]] = {}
        self.captured: Final[dict[int, tuple[Any, Array]]] = {}
        self.doors = 0
        self.refusal: OnnxJitError | None = None
        self.sizes: Final[dict[int, Dim | int]] = {}
        self._scopes: Final[dict[Any, Scope]] = {}
        self.sources: Final[list[Any]] = []
        self.named: Final[dict[str, DimLike]] = {}
        self.failed: Storage | None = None
        self.symbolic = env.policy == "assume"
        self.is_old: Callable[[Any], bool]
        self.data_sizes: Final[dict[int, DimLike]] = {}
        self.conditions: Final[dict[int, tuple[Kind, Poly]]] = {}
        self.parts: Final[dict[int, tuple[bool, list[Value]]]] = {}
        self.has_handlers = False
        self.handlers: Final[list[Any]] = []
        self.controls: Final[list[Control]] = []
        self.meant = 0
        self.places: Places | None = None
        self.hidden: Any = None
        self.lent: Any = None
        self.roots: frozenset[int] = frozenset()
        self.running: Final[list[Any]] = []
        self.joined: Final[dict[int, tuple[Array, Value, Any]]] = {}
        self.snapshots: Final[list[Any]] = []
        self.has_rows = False

    def allows_write(self, storage: Storage) -> bool:
        """Whether an array of the surroundings may be written to; it then is one's own."""
        if self.places is None:
            return False
        for array, traced in self.captured.values():
            if traced._storage is storage and self.hidden is not None:
                self.hidden.want_array(array)
        storage.captured = None
        return True

    def outside(self, storage: Storage) -> np.ndarray[Any, Any] | None:
        """Return the ndarray of the surroundings that a storage still is."""
        if storage.captured is None:
            return None
        found = (a for a, traced in self.captured.values() if traced._storage is storage)
        return next(found, None)

    def holds(self, x: object) -> bool:
        """Whether an object was made outside of a branch or loop that is being traced."""
        return any(snapshot.holds(x) for snapshot in self.snapshots)

    def note_joined(self, array: Array, either: Any) -> None:
        """Remember which two objects of other types an array is one of."""
        self.joined[id(array)] = (array, array._value, either)

    def original(self, array: Array) -> Any:
        """Return what an unchanged array was joined from; others as they are."""
        found = self.joined.get(id(array))
        return array if found is None or found[1] is not array._value else found[2]

    def same_truth(self, a: Value, b: Value) -> bool | None:
        """Return whether two () bools are equal, True, or opposite, False; None: unknown."""
        (a, x), (b, y) = self._unwrapped(a), self._unwrapped(b)
        return x == y if a is b else None

    def follows(self, asked: Value, given: Value, truth: bool) -> bool | None:
        """Return what the truth of a () bool says of another one; None: nothing."""
        same = self.same_truth(asked, given)
        if same is not None:
            return same == truth
        value, even = self._unwrapped(given)
        truth = truth == even
        whole, parts = self.parts.get(value.id, (None, ()))
        if whole is not truth:
            return None
        found = (self.follows(asked, part, truth) for part in parts)
        return next((x for x in found if x is not None), None)

    def _unwrapped(self, value: Value) -> tuple[Value, bool]:
        """Return the value behind casts and negations, and whether there are even ones."""
        even = True
        while value.equation is not None and value.equation.op.name in _TRUTHS:
            even ^= value.equation.op.name == "logical_not"
            value = value.equation.inputs[0]
        return value, even

    def fail(self) -> None:
        """Note that the graph is not right where the current block runs.

        The call is then made again by Python, which raises what it raises.
        """
        self._failure().replace(self.constant(np.bool_(True)))

    def fail_if(self, pred: Value, *, holds: bool = True) -> None:
        """Note that the graph is not right where a () bool is true, or false."""
        if self.failures is not None:
            self.failures.append(_truth(pred, holds=holds)._value)
            return
        failed = self._failure()
        test: Any = np.logical_or(wrap(failed.value), _truth(pred, holds=holds))
        failed.replace(test._value)

    def fail_if_any(self, preds: Value) -> None:
        """Note that the graph is not right where any element of a (n) bool is true."""
        found: Any = np.any(wrap(preds))
        self.fail_if(found._value)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let tests of sizes become part of the graph for a while."""
        before, self.symbolic = self.symbolic, True
        try:
            yield
        finally:
            self.symbolic = before

    def data_size(self, value: Value) -> DimLike:
        """Return a () integer of data as a size; where it is negative, Python raises."""
        found = self.data_sizes.get(value.id)
        if found is None:
            number = cast(value, INT64)
            negative: Any = np.less(wrap(number), 0)
            self.fail_if(negative._value)
            found = self.data_sizes[value.id] = self.env.symbol(
                f"size{value.id}", data=True, origin=(number, None)
            )
        return found

    def _failure(self) -> Storage:
        if self.tries:
            msg = (
                f"whether the code at {self.source} raises depends on data, and it is in a "
                "try statement that may handle the exception, which a graph cannot do; test "
                "for the condition instead"
            )
            raise DataDependentError(msg)
        if self.failed is None:
            self.failed = Storage(self.constant(np.bool_(False)), block=self.root)
        return self.failed

    def mark_line(self) -> None:
        """Note the running line of the user's code; in an export also the calls around it."""
        if self.env.policy == "guard":
            self.source = caller(_MARKING)
            return
        frames = user_frames()
        if not frames:
            self.source, self.scope = None, None
            return
        self.source = frames[0]
        scope: Scope | None = None
        called_from: Source | None = None
        for source in reversed(frames):
            key = (scope, source.code, called_from and called_from.position)
            found = self._scopes.get(key)
            if found is None:
                found = self._scopes[key] = Scope(source.function, called_from, scope)
            scope, called_from = found, source
        self.scope = scope

    def refuse(self, error: BaseException) -> None:
        """Remember an error by which the trace cannot be right, whatever the code does."""
        if isinstance(error, OnnxJitError) and self.refusal is None:
            self.refusal = error

    def note_layout(self, layout: Layout) -> None:
        """Remember that the trace holds only for arguments laid out as the examples."""
        self.layouts.update(layout.arguments)

    def note_host(self, guard: HostGuard) -> None:
        """Remember a value that was used as a plain Python value."""
        self.host_guards.append(guard)

    def array_input(
        self,
        name: str,
        dtype: np.dtype[Any],
        sizes: tuple[DimLike | str | None, ...],
        *,
        example: np.ndarray[Any, Any] | None = None,
        scalar: bool = False,
    ) -> Array:
        """Add an array argument.

        Parameters
        ----------
        sizes : tuple of int, str or None
            Fixed size, name of a symbol, or None for a symbol of its own.
        example : ndarray, optional
            Gives hints for the sizes and the memory layout.
        scalar : bool
            The argument is a NumPy scalar.
        """
        shape: list[DimLike] = []
        fresh: list[tuple[int, DimLike]] = []
        for axis, size in enumerate(sizes):
            if isinstance(size, (int, Dim)):
                shape.append(size)
                continue
            hint = None if example is None else int(example.shape[axis])
            symbol = self.named.get(size) if isinstance(size, str) else None
            if symbol is None:
                symbol = self.env.symbol(size or f"{name}_{axis}", hint=hint, lower=0)
                fresh.append((axis, symbol))
                if size is not None:
                    self.named[size] = symbol
            shape.append(symbol)
        value = self.input(Tensor(from_numpy(dtype), tuple(shape)), name)
        for axis, symbol in fresh:
            _origin(symbol, (value, axis))
        writeable = example is None or bool(example.flags.writeable)
        argument = Argument(len(self.arguments), name, writeable=writeable)
        self.arguments.append(argument)
        layout = layout_of(example, frozenset([argument.index]))
        storage = Storage(value, layout=layout, argument=argument, block=self.root)
        return Array.traced(storage, SCALAR if scalar and not sizes else ARRAY)

    def int_input(self, name: str, hint: int | None) -> DimLike:
        """Add an integer argument: a size that stays symbolic."""
        value = self.input(Tensor(INT64, (), weak=True), name)
        symbol = self.env.symbol(name, hint=hint, lower=None)
        _origin(symbol, (value, None))
        return symbol

    def float_input(self, name: str, hint: float | None) -> Array:
        """Add a float argument: a weak float64."""
        value = self.input(Tensor(FLOAT64, (), weak=True), name)
        if hint is not None:
            self.scalar_hints[value.id] = np.asarray(hint, np.float64)
        return wrap(value, FLOAT)

    def capture(self, array: np.ndarray[Any, Any], name: str = "") -> Array:
        """Return a traced array for a constant of the surroundings; one per ndarray."""
        found = self.captured.get(id(array))
        if found is None:
            layout = layout_of(array, frozenset())
            value = self.constant(array)
            storage = Storage(value, layout=layout, captured=name, block=self.root)
            storage.read_only = not array.flags.writeable
            found = self.captured[id(array)] = (array, Array.traced(storage))
        return found[1]


def _truth(pred: Value, *, holds: bool) -> Array:
    test = wrap(pred)
    return test if holds else np.logical_not(test)  # type: ignore[return-value]  # by protocol


def _origin(symbol: DimLike, origin: tuple[Any, Any]) -> None:
    if isinstance(symbol, Dim):
        for s in symbols_of(symbol):
            s.origin = origin


def layout_of(example: np.ndarray[Any, Any] | None, depends: frozenset[int]) -> Layout:
    """Describe the memory of an ndarray, known from arguments; exports assume C order."""
    if example is None or example.ndim == 0:
        return Layout()
    if example.flags.c_contiguous:
        return Layout(None, depends)
    if example.flags.f_contiguous:
        return Layout(tuple(reversed(range(example.ndim))), depends)
    steps = tuple(s // example.itemsize for s in example.strides)
    return Layout(None, depends, example=steps)


def current_tracer() -> Tracer | None:
    """Return the running trace of a user's function, if any."""
    trace = CURRENT.get()
    return trace if isinstance(trace, Tracer) else None


def note_control(what: str, form: str, source: Source | None = None) -> None:
    """Note what became of a branch or loop of the user's code, if a trace is running."""
    tracer = current_tracer()
    if tracer is not None and not tracer.sources:
        tracer.controls.append(Control(source or caller(), what, form))


def dim_array(dim: DimLike) -> Array:
    """Return a size as a weak traced integer."""
    return wrap(dim_value(dim))
