# SPDX-License-Identifier: Apache-2.0
"""`Tracer`: a trace that knows about arguments, memory layout and guards of its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import CURRENT, Trace, dim_value
from onnxjit._core.dims import Dim, DimLike, ShapeEnv, symbols_of
from onnxjit._core.dtypes import FLOAT64, INT64, from_numpy
from onnxjit._core.source import Scope, Source, caller, user_frames
from onnxjit.errors import OnnxJitError

from .array import ARRAY, FLOAT, SCALAR, Array, wrap
from .layout import Layout
from .storage import Argument, Storage

if TYPE_CHECKING:
    from .host import HostGuard

__all__ = ["Tracer", "current_tracer"]


#: frames of the library around a `mark_line`: its own, what calls it, what `caller` is
_MARKING: Final = 3


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
        self._names: dict[str, DimLike] = {}

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
            symbol = self._names.get(size) if isinstance(size, str) else None
            if symbol is None:
                symbol = self.env.symbol(size or f"{name}_{axis}", hint=hint, lower=0)
                fresh.append((axis, symbol))
                if size is not None:
                    self._names[size] = symbol
            shape.append(symbol)
        value = self.input(Tensor(from_numpy(dtype), tuple(shape)), name)
        for axis, symbol in fresh:
            _origin(symbol, (value, axis))
        writeable = example is None or bool(example.flags.writeable)
        argument = Argument(len(self.arguments), name, writeable=writeable)
        self.arguments.append(argument)
        layout = layout_of(example, frozenset([argument.index]))
        storage = Storage(value, layout=layout, argument=argument)
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
            storage = Storage(self.constant(array), layout=layout, captured=name)
            storage.read_only = not array.flags.writeable
            found = self.captured[id(array)] = (array, Array.traced(storage))
        return found[1]


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


def dim_array(dim: DimLike) -> Array:
    """Return a size as a weak traced integer."""
    return wrap(dim_value(dim))
