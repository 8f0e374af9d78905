# SPDX-License-Identifier: Apache-2.0
"""`Array`: the one array type, traced or holding values."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._ops.shape import reshape_view
from onnxjit._ops.views import (
    ChainView,
    ContiguousView,
    ReshapeView,
    TransposeView,
    TurnView,
    is_contiguous,
)
from onnxjit.errors import (
    AliasError,
    DataDependentError,
    LeakError,
    SideEffectError,
    UnsupportedError,
)

from . import host
from .layout import UNDECIDED, Layout, k_order, walk
from .methods import Methods
from .operators import Operators
from .storage import Storage, connected

if TYPE_CHECKING:
    from onnxjit._core.bind import Trace
    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Value
    from onnxjit._ops.view import View

__all__ = ["ARRAY", "SCALAR", "Array", "wrap"]

#: kinds of traced values: an ndarray, a NumPy scalar, and the weak Python numbers
ARRAY: Final = "array"
SCALAR: Final = "scalar"
INT: Final = "int"
FLOAT: Final = "float"
BOOL: Final = "bool"
COMPLEX: Final = "complex"
_STRONG: Final = frozenset((ARRAY, SCALAR))
_PYTHON: Final = {"i": INT, "f": FLOAT, "b": BOOL, "c": COMPLEX}
#: why a statement is left to Python
_PAUSES: Final = "branches and loops of a function with yield are not put into the graph"


class Unsettled(BaseException):
    """A branch or loop writes to an array some views of which may be copies.

    Which they are has to be decided outside of it: whoever traces it does, and starts over.
    """

    def __init__(self, array: Array) -> None:
        super().__init__()
        self.array: Final = array


class Array(Operators, Methods):
    """An array that records what is done to it, or computes it at once through onnxruntime.

    Inside a function under `jit_onnx` arrays are *traced*: they have a dtype, a symbolic shape
    and no values.  `asarray` makes *eager* ones, which hold values.  Both have NumPy's
    operators, methods and attributes and take part in its protocols (``__array_ufunc__``,
    ``__array_function__``).

    Notes
    -----
    Basic slices, transposes and reshapes are views wherever NumPy gives views: writing to one
    changes the other.
    """

    __slots__ = ("__weakref__", "_cache", "_kind", "_nd", "_storage", "_tentative", "_views")
    __array_priority__ = 1000.0

    _nd: np.ndarray[Any, Any] | None
    _storage: Storage
    _views: tuple[View, ...]
    _kind: str
    _cache: tuple[int, Value] | None
    _tentative: bool

    @classmethod
    def traced(
        cls, storage: Storage, kind: str = ARRAY, views: tuple[View, ...] = ()
    ) -> Array:
        """Return a handle on a storage."""
        self = cls.__new__(cls)
        self._nd = None
        self._storage = storage
        self._views = views
        self._kind = kind
        self._cache = None
        self._tentative = False
        return self

    @classmethod
    def eager(cls, values: np.ndarray[Any, Any], kind: str = ARRAY) -> Array:
        """Return an array that holds values; the ndarray is not copied."""
        self = cls.__new__(cls)
        self._nd = values
        self._views = ()
        self._kind = kind
        self._cache = None
        self._tentative = False
        return self

    # ------------------------------------------------------------------ what it is

    @property
    def _trace(self) -> Trace:
        return self._storage.value.block.trace

    @property
    def _value(self) -> Value:
        """The value seen through this handle now."""
        storage = self._storage
        value = storage.value
        if value.block.trace.closed:
            msg = (
                "an array of a finished trace is used: it was stored outside the traced "
                "function (in a global, an attribute or a closure); return it instead"
            )
            raise LeakError(msg)
        if storage.stale:
            raise self._outdated()
        if not self._views:
            return value
        cached = self._cache
        if cached is not None and cached[0] == storage.version:
            seen = cached[1]
            block, here = seen.block, seen.block.trace.block
            if block is here or here.is_inside(block):
                return seen
        for view in self._views:
            value = view.apply(value)
        self._cache = (storage.version, value)
        return value

    def _outdated(self) -> AliasError:
        msg = (
            "an array is read that may have been written to by another name, as an element of "
            "a list or by a loop that hands it on; read it by that name, or work on a .copy()"
        )
        return AliasError(msg)

    @property
    def _typed(self) -> Value:
        """A value of the type of this array; it may belong to a block that has ended."""
        cached = self._cache
        if cached is not None and cached[0] == self._storage.version:
            return cached[1]
        block = self._storage.value.block
        trace = block.trace
        here = trace.block
        if here.is_inside(block):
            return self._value
        trace.block = block  # what views make of its value belongs there too
        try:
            return self._value
        finally:
            trace.block = here

    @property
    def _known(self) -> np.ndarray[Any, Any] | None:
        """The values, where they are known without running anything."""
        return self._nd if self._nd is not None else self._value.known

    @property
    def _is_weak(self) -> bool:
        return self._kind not in _STRONG

    @property
    def shape(self) -> tuple[DimLike, ...]:
        """Sizes of the axes: ints, or symbolic `Dim` inside a trace."""
        return self._nd.shape if self._nd is not None else self._typed.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._set_shape(shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> DimLike:
        """Number of elements."""
        return self._nd.size if self._nd is not None else self._typed.tensor.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return self._nd.dtype if self._nd is not None else self._typed.dtype.numpy

    def __repr__(self) -> str:
        if self._nd is not None:
            text = repr(self._nd)
            return f"{type(self).__name__}{text.removeprefix('array')}"
        sizes = ", ".join(map(str, self.shape))
        return f"<traced {self._kind} {self.dtype}[{sizes}]>"

    def __str__(self) -> str:
        if self._nd is None:
            return repr(self)
        return str(self._nd if self._kind == ARRAY else self._nd[()])

    # ------------------------------------------------------------------ views and writes

    def _view(self, view: View) -> Array:
        """Return the part of this array that `view` shows; a copy where NumPy copies."""
        if self._nd is not None or self._kind != ARRAY:
            return wrap(view.apply(self._value))
        if isinstance(view, ChainView):
            result = self
            for part in view.views:
                result = result._view(part)
            self._note_alias(result)
            turned = isinstance(view.views[0], TurnView)
            same = result._storage is self._storage and not result._tentative
            return self if turned and same else result
        storage = self._storage
        unsure = self._tentative
        if isinstance(view, ReshapeView) and not unsure:
            base = storage.value.shape
            # what a write has asked already need not be left open again
            asked = self._has_asked(storage.layout)
            at = walk(base, storage.layout, (*self._views, view), guard=asked)
            unsure = at.strides is UNDECIDED or (bool(storage.layout.arguments) and not asked)
            if at.copied is not None and not unsure:
                return wrap(view.apply(self._value))
            if isinstance(view, ContiguousView) and not unsure:
                return self
        result = Array.traced(storage, ARRAY, (*self._views, view))
        result._cache = (storage.version, view.apply(self._value))
        if unsure:
            result._tentative = True
            storage.undecided = (*storage.undecided, weakref.ref(result))
        if isinstance(view, ContiguousView):
            self._note_alias(result)
        return result

    def _has_asked(self, layout: Layout) -> bool:
        """Whether the trace holds only for the layouts of the arguments that matter."""
        layouts: frozenset[int] = getattr(self._trace, "layouts", frozenset())
        return bool(layout.arguments) and layout.arguments <= layouts

    def _note_alias(self, other: Array) -> None:
        """Note that this and what a conversion made of it can be one object."""
        if other is not self and other._storage is self._storage:
            self._storage.aliases += (weakref.ref(self), weakref.ref(other))

    def _settle(self) -> None:
        """Before a write: make every tentative view of this storage a view or a copy."""
        storage = self._storage
        handles = (reference() for reference in storage.undecided)
        pending = [h for h in handles if h is not None and h._storage is storage]
        if pending and storage.block is not self._trace.block:
            raise Unsettled(self)
        storage.undecided = ()
        copies: dict[tuple[int, ...], Storage] = {}
        for handle in pending:
            self._trace_layout(storage.layout)
            handle._tentative = False
            handle._take_place(copies)

    def _take_place(self, copies: dict[tuple[int, ...], Storage]) -> None:
        """Move to storages of its own what NumPy copies on the way through the views."""
        while self._views:
            storage = self._storage
            at = walk(storage.value.shape, storage.layout, self._views, guard=True)
            if at.copied is None:
                break
            self._detach(at.copied + 1, copies)
        self._views = _without_contiguous(self._views)

    def _detach(self, length: int, copies: dict[tuple[int, ...], Storage]) -> None:
        """Move to a storage of its own what the first `length` views show."""
        prefix = (id(self._storage), *(id(view) for view in self._views[:length]))
        own = copies.get(prefix)
        if own is None:
            value = self._storage.value
            for view in self._views[:length]:
                value = view.apply(value)
            own = copies[prefix] = Storage(value)
        self._storage, self._views, self._cache = own, self._views[length:], None

    def _in_memory_order(self, order: str) -> Array:
        """Return the view to read in C order where NumPy is asked for order "A" or "K"."""
        if self._nd is not None or self._kind != ARRAY:
            return self
        storage = self._storage
        self._trace_layout(storage.layout)
        at = walk(storage.value.shape, storage.layout, self._views, guard=True)
        if is_contiguous(at.shape, at.strides, guard=True):
            return self
        axes = tuple(range(self.ndim))
        if order in "kK" and at.row is not None:
            axes = k_order([at.row], self.ndim, guard=True) or axes
        elif is_contiguous(at.shape[::-1], at.strides[::-1], guard=True):
            axes = axes[::-1]
        return self._view(TransposeView(axes))

    def _lies_turned(self) -> bool:
        """Whether it lies in memory in Fortran order, and not in C order."""
        if self._nd is not None or self._kind != ARRAY:
            return False
        storage = self._storage
        self._trace_layout(storage.layout)
        at = walk(storage.value.shape, storage.layout, self._views, guard=True)
        return not is_contiguous(at.shape, at.strides, guard=True) and is_contiguous(
            at.shape[::-1], at.strides[::-1], guard=True
        )

    def _settled_argument(self) -> bool:
        """Whether this handle is its argument itself, deciding what is left open."""
        if any(isinstance(view, ContiguousView) for view in self._views):
            self._settle()
        return not self._views and self._storage.argument is not None

    def _set_shape(self, shape: Any) -> None:
        """Perform ``array.shape = shape``: the handle becomes a reshaped view of itself."""
        if self._nd is not None:
            self._nd.shape = shape
            return
        view = reshape_view(self.shape, shape, "C")
        others = {id(x): x for ref in self._storage.aliases if (x := ref()) is not None}
        self._settle()
        self._trace_layout(self._storage.layout)
        if self._storage.argument is not None and not self._views:
            msg = "the shape of an argument is assigned to; use reshape"
            raise UnsupportedError(msg)
        base, views = self._storage, (*self._views, view)
        at = walk(base.value.shape, base.layout, views, guard=True)
        if at.copied is not None:
            msg = (
                "Incompatible shape for in-place modification. Use `.reshape()` to make a "
                "copy with the desired shape."
            )
            raise AttributeError(msg)
        for other in {id(self): self, **others}.values():
            # what np.ascontiguousarray and the like return can be this very array
            if other._storage is base and other._views == views[:-1]:
                other._views, other._cache = views, None

    def _trace_layout(self, layout: Layout) -> None:
        note = getattr(self._trace, "note_layout", None)
        if note is not None:
            note(layout)

    def _write(self, new: Value) -> None:
        """Replace what this handle shows by `new` (same shape and dtype)."""
        # the value before settling keeps its meaning: settling may move this very handle
        self._prepare_write()
        storage = self._storage
        storage.replace(self._put(new))
        for choice in (storage.choice, *storage.choices)[-1:]:
            if choice is not None:
                choice.spread(storage, self._trace.block)

    def _put(self, new: Value) -> Value:
        """Return what the storage holds once this handle shows `new`."""
        bases = [self._storage.value]
        for view in self._views:
            bases.append(view.apply(bases[-1]))
        for base, view in zip(bases[-2::-1], reversed(self._views), strict=True):
            new = view.write(base, new)
        return new

    def _prepare_write(self) -> None:
        """Require that this may be written to, and count it as written.

        Raises
        ------
        ValueError
            It is read-only.
        SideEffectError
            It is an ndarray made before the call.
        """
        self._settle()
        storage = self._storage
        if storage.read_only or any(not view.writable for view in self._views):
            msg = "assignment destination is read-only"
            raise ValueError(msg)
        if storage.captured is not None and not self._may_write(storage):
            raise self._captured_write(storage.captured)
        for one in connected(storage, self._trace.block):
            if one is not storage:
                Array.traced(one, ARRAY)._settle()
        storage.check_identity(self._trace.block)
        if storage.argument is not None:
            storage.argument.written = True

    def _may_write(self, storage: Storage) -> bool:
        allows = getattr(self._trace, "allows_write", None)
        return allows is not None and allows(storage)

    def _captured_write(self, name: str) -> SideEffectError:
        msg = (
            f"{name or 'an ndarray'} at {self._trace.source} is an ndarray made before the "
            "call, and a graph cannot write into it: work on a copy, or pass it as an argument"
        )
        return SideEffectError(msg)

    # ------------------------------------------------------------------ plain Python values

    def _plain(self, what: str) -> np.ndarray[Any, Any]:
        """Return the values, or say that they depend on data."""
        known = self._known
        if known is not None:
            return known
        hosted = host.specialise(self._value)
        if hosted is not None:
            return hosted
        self._trace.mark_line()
        line = self._trace.source
        where = f" at {line}" if line is not None else ""
        instead = "use np.where, a mask or another array operation instead"
        if line is not None and line.pauses:
            instead = f"{_PAUSES}; return a list"
        msg = (
            f"{what} needs the values of a traced array {self.dtype}"
            f"[{', '.join(map(str, self.shape))}]{where}, which only a run of the model "
            f"knows; {instead}"
        )
        error = DataDependentError(msg)
        if not getattr(self._trace, "doors", 1):
            self._trace.refuse(error)  # type: ignore[attr-defined]  # it has doors
        raise error

    def _number(self, what: str) -> Any:
        """Return the plain value: a scalar, or the array that it is."""
        values = self._plain(what)
        return values if self._kind == ARRAY else values[()]

    def __bool__(self) -> bool:
        self._mark()
        unknown = self._nd is None and self._known is None
        if unknown and self.ndim and int(self.size) != 1:
            msg = (
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
            raise ValueError(msg)
        return bool(self._plain("a truth value"))

    def __int__(self) -> int:
        self._mark()
        return int(self._number("int()"))

    def __float__(self) -> float:
        self._mark()
        return float(self._number("float()"))

    def __complex__(self) -> complex:
        self._mark()
        return complex(self._plain("complex()"))

    def __index__(self) -> int:
        self._mark()
        if self.dtype.kind not in "iu" or self.ndim:
            msg = "only integer scalar arrays can be converted to a scalar index"
            raise TypeError(msg)
        return int(self._plain("an index"))

    def __len__(self) -> int:
        if not self.ndim:
            msg = "len() of unsized object"
            raise TypeError(msg)
        return int(self.shape[0])

    def __iter__(self) -> Any:
        if not self.ndim:
            msg = "iteration over a 0-d array"
            raise TypeError(msg)
        length = self.shape[0]
        if isinstance(length, Dim):
            self._mark()
            length = length.specialise(self._taking_apart())
        return (self[i] for i in range(length))

    def _taking_apart(self) -> str:
        """Describe what Python does with all elements."""
        line = self._trace.source
        if line is not None and line.pauses:
            return f"a loop over an array ({_PAUSES})"
        return "taking an array apart (by *, tuple() or the like)"

    def __contains__(self, item: Any) -> bool:
        if self._kind != ARRAY:
            msg = f"argument of type 'numpy.{self.dtype.name}' is not iterable"
            raise TypeError(msg)
        return bool((self == item).any())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        values = self._plain("np.asarray() or a function outside onnxjit")
        if self._nd is None or self._kind != ARRAY:
            if copy is False:
                msg = "Unable to avoid copy while creating an array as requested."
                raise ValueError(msg)
            copy = True
        return np.array(values, dtype, copy=copy)

    def __hash__(self) -> int:  # type: ignore[override]  # scalars are hashable
        if self._kind == ARRAY:
            msg = f"unhashable type: '{type(self).__name__}'"
            raise TypeError(msg)
        return hash(self._plain("hash()")[()])

    def __format__(self, spec: str) -> str:
        if self._known is None:
            return repr(self) if not spec else format(self._plain("a format")[()], spec)
        known = self._known
        return format(known[()] if known.ndim == 0 else known, spec)

    def __deepcopy__(self, _memo: Any) -> Any:
        return self.copy("K")

    def __copy__(self) -> Any:
        return self.copy("K")

    def __reduce__(self) -> Any:
        if self._nd is None:
            msg = "a traced array cannot be pickled: it has no values outside its trace"
            raise LeakError(msg)
        return Array.eager, (self._nd, self._kind)

    def _mark(self) -> None:
        if self._nd is None:
            self._trace.mark_line()


def _without_contiguous(views: tuple[View, ...]) -> tuple[View, ...]:
    """Leave out the views that found an array contiguous, with the turns around them."""
    kept: list[View] = []
    rest = list(views)
    while rest:
        view = rest.pop(0)
        if not isinstance(view, ContiguousView):
            kept.append(view)
        elif all(near and isinstance(near[0], TurnView) for near in (kept[-1:], rest)):
            kept.pop()
            rest.pop(0)
    return tuple(kept)


def wrap(value: Value, kind: str = ARRAY, layout: Layout | None = None) -> Array:
    """Return a new traced array holding a value."""
    if value.shape and kind == SCALAR:
        kind = ARRAY
    if value.weak:
        kind = _PYTHON.get(value.dtype.kind, SCALAR)
    return Array.traced(Storage(value, layout=layout), kind)
