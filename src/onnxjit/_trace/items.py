# SPDX-License-Identifier: Apache-2.0
"""Subscripts, copies, casts and Python scalars of traced arrays."""

from __future__ import annotations

import operator
from types import EllipsisType
from typing import Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import HOOKS, Dim, has_data, hint_of
from onnxjit._core.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, from_numpy, is_carried
from onnxjit._core.program import Value
from onnxjit._ops.basic import parse_basic, parse_plain
from onnxjit._ops.bits import BitsView, has_bits_of
from onnxjit._ops.cast import astype as cast_value
from onnxjit._ops.complex_parts import make_complex
from onnxjit._ops.index import read
from onnxjit._ops.index_write import setitem
from onnxjit._ops.part_views import PairsView, PartsView
from onnxjit._ops.structure import reshape
from onnxjit._ops.ufunc import as_weak
from onnxjit._runtime.pairs import PARTS, WHOLES
from onnxjit.errors import DataDependentError, UnsupportedError

from . import host
from .array import ARRAY, SCALAR, Array, wrap
from .array import BOOL as BOOL_KIND
from .convert import arrays_in, is_known, is_traced, to_numpy, to_values
from .dispatch import call_function, call_ufunc
from .doors import DOORS
from .entering import constant_array, noted
from .flags import Flags
from .int64 import require_int64
from .layout import Layout, lies, picked_layout, walk
from .lists import List
from .outputs import refuse_write
from .raising import may_raise
from .stepped import has_open_step, places
from .trace import current_tracer, dim_array
from .ufuncs import call_unary

__all__ = ["complex_number", "python_number", "size_of"]

_PYTHON_DTYPE: Final = {"b": BOOL, "i": INT64, "u": INT64, "f": FLOAT64, "c": COMPLEX128}


@noted
def get_item(array: Array, index: Any) -> Any:
    """Return ``array[index]``: a view for basic indices, a copy for others."""
    if array._nd is not None and not any(map(is_traced, arrays_in(index))):
        return DOORS.eager(operator.getitem, "__call__", (array, index), {})
    if array._nd is not None:
        array = constant_array(array._nd, array._kind)
    if has_open_step(index) and array.ndim:
        part: Array = get_item(array, places(index, array.shape[0]))
        part._storage.may_be(array._storage)  # NumPy's is a view: neither may be written to
        return part
    view = parse_plain(index, array.shape)
    if view is not None:
        element = view.is_element
        return wrap(view.apply(array._value), SCALAR) if element else array._view(view)
    index = to_numpy(_without_ranges(index))
    values = to_values(index)
    if isinstance(values, tuple) and not values and not array.ndim:
        return wrap(array._value, SCALAR)
    result: Any = parse_basic(values, array.shape) if _has_ellipsis(index) else None
    axes: list[int | None] = []
    if result is None:
        result, axes = read(array._value, values)
    if isinstance(result, Value):
        layout = _picked_layout(array, result, axes, index) if result.ndim > 1 else None
        return wrap(result, ARRAY if _has_ellipsis(index) else SCALAR, layout)
    if any(map(_is_zero_d_array, _items(index))):
        return wrap(result.apply(array._value))
    return array._view(result)


def _picked_layout(
    array: Array, result: Value, axes: list[int | None], index: Any
) -> Layout | None:
    """Return how ``array[index]`` lies in memory."""
    if any(axis is not None for axis in axes):
        return picked_layout(array, result.shape, axes)
    return lies(np.array, list(arrays_in(index)), None)(result.ndim)


def _without_ranges(index: Any) -> Any:
    """Replace ranges, which index as arrays do."""
    if isinstance(index, tuple):
        return tuple(map(_without_ranges, index))
    return np.array(index, np.intp) if isinstance(index, range) else index


def _items(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_zero_d_array(x: Any) -> bool:
    """Whether an index is an array of one place: NumPy then copies, unlike for a number."""
    if isinstance(x, Array):
        return x._kind == ARRAY and not x.ndim
    return isinstance(x, np.ndarray) and not x.ndim


def _has_ellipsis(index: Any) -> bool:
    return any(i is Ellipsis for i in _items(index))


@noted
def set_item(array: Array, index: Any, value: Any) -> None:
    """Perform ``array[index] = value``."""
    if array._nd is not None and not any(map(is_traced, arrays_in((index, value)))):
        DOORS.eager(operator.setitem, "__call__", (array, index, value), {})
        return
    if array._nd is not None:
        refuse_write(array, "an item assignment")
    if array._kind != ARRAY:
        msg = f"'numpy.{array.dtype.name}' object does not support item assignment"
        raise TypeError(msg)
    if has_open_step(index) and array.ndim:
        index = places(index, array.shape[0])
    index = to_numpy(_without_ranges(index))
    if isinstance(value, Array) and _is_own_view(array, index, value):
        array._prepare_write()
        return
    if is_known(array) and not any(not is_known(a) for a in arrays_in((index, value))):
        _set_known(array, index, value)
        return
    array._write(setitem(array._value, to_values(index), to_values(value)))


def _set_known(array: Array, index: Any, value: Any) -> None:
    known = array._known
    assert known is not None  # the caller looked
    changed = known.copy()
    with np.errstate(all="ignore"):
        changed[index] = to_numpy(value)
    array._write(array._trace.constant(changed))


def _is_own_view(array: Array, index: Any, value: Array) -> bool:
    """Whether ``a[i] op= v`` hands back the view it has just written through."""
    if value._nd is not None or value._storage is not array._storage or value._tentative:
        return False
    if value._views[: len(array._views)] != array._views:
        return False
    if len(value._views) == len(array._views):
        return index is Ellipsis
    view = parse_basic(to_values(index), array.shape)
    return view is not None and view.apply(array._value) is value._value


@noted
def as_type(array: Array, dtype: Any, casting: Any, copy: Any, order: Any = "K") -> Any:
    """Cast to another dtype."""
    target = np.dtype(dtype)
    if array._nd is not None:
        given = (array, target, casting, copy, order)
        return DOORS.eager(np.ndarray.astype, "__call__", given, {})
    if not np.can_cast(array.dtype, target, casting):
        msg = (
            f"Cannot cast array data from {array.dtype!r} to {target!r} "
            f"according to the rule '{casting}'"
        )
        raise TypeError(msg)
    if target == array.dtype and not copy:
        return array
    value = cast_value(array._value, from_numpy(target))
    layout = lies(np.array, [array], order)(value.ndim)
    return wrap(value, array._kind if not array._is_weak else SCALAR, layout)


def copy_array(array: Array, order: Any = "C") -> Array:
    """Return a copy that shares nothing."""
    if array._nd is not None:
        return Array.eager(array._nd.copy(order), array._kind)
    array._mark()
    return wrap(array._value, array._kind, lies(np.array, [array], order)(array.ndim))


def python_number(array: Array, kind: str | None = None) -> Any:
    """Return the one element as a Python number: a plain one if known, else a weak value.

    Integers become sizes (`Dim`), so that they can be used in shapes and slices.
    """
    if is_known(array):
        known = array._known
        assert known is not None  # is_known
        return known.item() if kind is None else _PLAIN[kind](known.item())
    value = array._value
    if value.dtype.kind == "U":
        return array._plain("a Python str")
    if value.ndim:
        _require_one(array, kind)
        value = reshape(value, ())
    target = _PYTHON_DTYPE[kind or value.dtype.kind]
    cast = cast_value(value, target)
    if target is INT64:
        require_int64(value, cast)
        return size_of(cast)
    return wrap(as_weak(cast), BOOL_KIND) if target is BOOL else wrap(as_weak(cast))


_PLAIN: Final[dict[str, Any]] = {"b": bool, "i": int, "f": float, "c": complex}


def complex_number(re: Any, im: Any) -> Any:
    """Return ``complex(re, im)`` of scalars of which some are traced, as a weak value."""
    if _is_real(re) and _is_real(im):
        parts = (cast_value(as_value(to_values(x)), FLOAT64) for x in (re, im))
        return wrap(as_weak(make_complex(*parts)))
    return python_number(re + im * 1j, "c")


def _is_real(x: Any) -> bool:
    return np.result_type(x if isinstance(x, (int, float, complex)) else x.dtype).kind != "c"


def _require_one(array: Array, kind: str | None) -> None:
    """Raise NumPy's error unless an array has one element; the run sees sizes of data."""
    sizes = [hint_of(n) for n in array.shape]
    if None in sizes or any(isinstance(n, Dim) and has_data(n) for n in array.shape):
        return
    if kind is not None:
        # which shapes int() and float() take has changed between versions of NumPy
        _PLAIN[kind](np.zeros([1 if n == 1 else 2 for n in sizes], array.dtype))
    if array.size != 1:
        msg = "can only convert an array of size 1 to a Python scalar"
        raise ValueError(msg)


def size_of(value: Value) -> Any:
    """Return an integer as a size: one symbol for one value."""
    trace: Any = value.block.trace
    found = trace.sizes.get(value.id)
    if found is None:
        found = trace.sizes[value.id] = _new_size(value)
    return found


def _new_size(value: Value) -> Any:
    """Return a new symbol: one that a call can compute beforehand, or one of data.

    What onnxruntime might compute differently in the last bit is fixed by a guard.
    """
    trace = value.block.trace
    known = host.example(value)
    if known is not None and not host.is_exact(value):
        host.specialise(value)
        return int(known)
    least = 0 if known is not None and host.is_nonnegative(value) else None
    hint = None if known is None else int(known)
    return trace.env.symbol(
        f"int{value.id}", hint, least, data=known is None, origin=(value, None)
    )


@noted
def item(array: Array, args: tuple[Any, ...]) -> Any:
    """Return one element as a Python scalar."""
    if array._nd is not None:
        return array._nd.item(*args)
    if args:
        index = args[0] if len(args) == 1 else args
        flat = array if isinstance(index, tuple) else call_function(np.ravel, (array,), {})
        return python_number(flat[index])
    return python_number(array)


@noted
def round_scalar(array: Array, ndigits: Any) -> Any:
    """Return ``round(x)``: an int, or a number of the same kind where digits are given."""
    if array._kind == ARRAY:
        msg = "type numpy.ndarray doesn't define __round__ method"
        raise TypeError(msg)
    kind = type(representative(array))
    if not hasattr(kind, "__round__"):
        name = kind.__name__ if array._is_weak else f"{kind.__module__}.{kind.__name__}"
        msg = f"type {name} doesn't define __round__ method"
        raise TypeError(msg)
    if array._nd is not None:
        number: Any = array._nd[()]
        return round(number, ndigits)
    if ndigits is None:
        if array.dtype.kind == "f":
            may_raise(ValueError, OverflowError)
        return python_number(call_function(np.round, (array,), {}), "i")
    rounded = call_function(np.round, (array,), {"decimals": ndigits})
    return python_number(rounded) if array._is_weak else rounded


#: how far a loop of the graph has gone through elements, only a run knows
_GONE: Final = -1


class Flat:
    """`ndarray.flat`: the elements in C order."""

    __slots__ = ("_base", "index")

    def __init__(self, base: Array) -> None:
        self._base = base
        self.index: Any = 0

    def __iter__(self) -> Any:
        return self

    def rest(self, *, whole: bool) -> Any:
        """Return the elements that are left, for a loop to go through, surely whole or not."""
        self._check()
        left = self._elements()[self.index :] if self.index else self._elements()
        self.index = self._base.size if whole else _GONE
        return left

    def _check(self) -> None:
        if self.index == _GONE:
            msg = "a loop of the graph has gone through x.flat; take x.flat anew"
            raise UnsupportedError(msg)

    def __next__(self) -> Any:
        self._check()
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self._elements()[self.index - 1]

    @property
    def coords(self) -> tuple[int, ...]:
        """Place of the next element; after the last one, one row further."""
        shape = tuple(map(int, self._base.shape))
        if not (shape and all(shape)):
            return (0,) * len(shape)
        return tuple(map(int, np.unravel_index(self.index, (shape[0] + 1, *shape[1:]))))

    def __len__(self) -> int:
        return int(self._base.size)

    def __getitem__(self, index: Any) -> Any:
        found = self._elements()[index]
        return found.copy() if isinstance(found, Array) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        values = self._base._nd
        if values is not None and not any(map(is_traced, arrays_in((index, value)))):
            values.flat[to_numpy(index)] = to_numpy(value)
            return
        elements = self._elements().copy()
        if not isinstance(value, (list, tuple)) and not getattr(value, "ndim", False):
            elements[index] = value
        elif isinstance(index, (slice, list, EllipsisType)) or getattr(index, "ndim", False):
            values = call_function(np.ravel, (value,), {})
            if not isinstance(values.shape[0], int) or values.shape[0]:
                wanted = elements[index].shape[0]  # values are taken again when they run out
                elements[index] = call_function(np.resize, (values, wanted), {})
        else:
            msg = "Error setting single item of array."
            raise ValueError(msg)
        self._base[...] = call_function(np.reshape, (elements, self._base.shape), {})

    def _elements(self) -> Any:
        return call_function(np.ravel, (self._base,), {})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._elements().__array__(dtype, copy)

    @property
    def base(self) -> Array:
        """The array."""
        return self._base

    def copy(self) -> Any:
        """Return the elements as a one-dimensional array."""
        return self._elements().copy()


def real(array: Array) -> Any:
    """Return the real part: the array itself where it is real."""
    return array if array.dtype.kind != "c" else _part(np.real, array)


def imag(array: Array) -> Any:
    """Return the imaginary part: zeros that nobody writes to, of real numbers."""
    found = _part(np.imag, array)
    if array.dtype.kind != "c" and array._kind == ARRAY and found._nd is None:
        found._storage.read_only = True
    return found


def _part(part: Any, array: Array) -> Any:
    """Return a part, of a Python number as one."""
    found = call_function(part, (array,), {})
    return python_number(found) if array._is_weak and array._nd is None else found


def conj(array: Array) -> Any:
    """Return the complex conjugate: the array itself where it is real."""
    return array if array.dtype.kind != "c" else call_unary(np.conjugate, array)


def trunc(array: Array) -> int:
    """Return a float64 scalar rounded towards zero."""
    if array._kind == ARRAY or array.dtype != np.float64:
        kind = type(representative(array))
        msg = f"type {kind.__module__}.{kind.__name__} doesn't define __trunc__ method"
        raise TypeError(msg)
    return int(array._plain("math.trunc()").item())


def refuse(what: str, remedy: str) -> None:
    """Refuse a feature."""
    msg = f"{what} is not carried by onnxjit; {remedy}"
    raise UnsupportedError(msg)


@noted
def view(array: Array, dtype: Any, kind: Any) -> Any:
    """Return another look at the same memory."""
    is_other = kind is not None or (dtype is not None and np.dtype(dtype) != array.dtype)
    if array._nd is not None and is_other:
        given = [x for x in (dtype, kind) if x is not None]
        return _seen(array._nd.view(*given), array._kind)
    if is_other:
        return _as_parts(array, dtype, kind)
    if array._kind != ARRAY:
        return array
    return get_item(array, ...)


def _as_parts(array: Array, dtype: Any, kind: Any) -> Any:
    """Return bits as other numbers, complex ones as their parts, or pairs as complex ones.

    Raises
    ------
    UnsupportedError
        Anything else is asked for.
    TypeError
        The elements do not lie next to each other.
    """
    to = None if kind is not None else np.dtype(dtype)
    if to is not None and to.isnative and is_carried(to):
        shown, before = from_numpy(to), from_numpy(array.dtype)
        if has_bits_of(before, shown):
            bits = BitsView(before, shown)
            is_array = array._kind == ARRAY
            return array._view(bits) if is_array else wrap(bits.apply(array._value), SCALAR)
    # a dtype equals None where it is float64
    halves = to is not None and array.dtype in PARTS and PARTS[array.dtype] == to
    wholes = to is not None and array.dtype in WHOLES and WHOLES[array.dtype] == to
    if not (halves or wholes):
        shown = to or kind
        refuse(
            f"ndarray.view({shown}) of {array.dtype}",
            "numbers can be seen as those of the same size, complex ones as pairs",
        )
    if not array.ndim:
        msg = "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
        raise ValueError(msg)
    if not _is_dense(array):
        msg = "To change to a dtype of a different size, the last axis must be contiguous"
        raise ValueError(msg)
    if not halves and array.shape[-1] % 2 != 0:
        msg = (
            "When changing to a larger dtype, its size must be a divisor of the total size in "
            "bytes of the last axis of the array."
        )
        raise ValueError(msg)
    return array._view(PartsView() if halves else PairsView())


def _is_dense(array: Array) -> bool:
    """Whether the elements of the last axis lie next to each other."""
    if array._kind != ARRAY:
        return True
    storage = array._storage
    array._trace_layout(storage.layout)
    at = walk(storage.value.shape, storage.layout, array._views, guard=True)
    return bool(at.strides[-1] == 1 or array.shape[-1] == 1)


def _seen(values: Any, kind: str) -> Any:
    """Return another look at eager memory; NumPy's own where its dtype is not carried."""
    if not is_carried(values.dtype):
        return values if kind == ARRAY else values[()]
    return Array.eager(values, kind) if type(values) is np.ndarray else values


def set_part(array: Array, name: str, value: Any) -> None:
    """Perform ``array.real = value`` or ``array.imag = value``."""
    if array._kind != ARRAY:
        kind = type(representative(array))
        msg = f"attribute {name!r} of '{kind.__name__}' objects is not writable"
        raise AttributeError(msg)
    if array._nd is not None and not any(map(is_traced, arrays_in(value))):
        setattr(array._nd, name, to_numpy(value))
    elif array.dtype.kind == "c":
        part = np.real if name == "real" else np.imag
        set_item(call_function(part, (array,), {}), ..., value)
    elif name == "imag":
        msg = "array does not have imaginary part to set"
        raise TypeError(msg)
    else:
        set_item(array, ..., value)


def attribute(array: Array, name: str) -> Any:
    """Return an attribute that needs values, of the type NumPy would have here.

    Raises
    ------
    AttributeError
        NumPy has no such attribute.
    DataDependentError
        The values are known only when the model runs.
    """
    kind = type(representative(array)) if not name.startswith("_") else object
    if not hasattr(kind, name):
        msg = f"{kind.__name__!r} object has no attribute {name!r}"
        raise AttributeError(msg)
    if name == "flags" and array._kind == ARRAY and array._nd is None:
        return Flags(array)
    values = array._plain(f".{name}")
    scalar: Any = kind
    return getattr(values if array._kind == ARRAY else scalar(values.item()), name)


def representative(x: Any) -> Any:
    """Return a plain object of the type that NumPy would have in the place of a traced one."""
    if isinstance(x, Dim):
        return 0
    if not isinstance(x, Array):
        return x
    if x._kind == ARRAY:
        return np.empty((0,) * max(x.ndim, 1), x.dtype)
    if x._kind == SCALAR:
        return x.dtype.type()
    return {"int": 0, "float": 0.0, "bool": False, "complex": 0j}[x._kind]


def setflags(array: Array, write: Any) -> None:
    """Set or clear the write flag."""
    if array._nd is not None:
        array._nd.setflags(write=write)
    elif write is not None:
        array._storage.read_only = not write


def needs_static(what: str) -> Any:
    """Say that something depends on data."""
    tracer = current_tracer()
    where = f" at {tracer.source}" if tracer is not None else ""
    msg = f"{what}{where} depends on data"
    raise DataDependentError(msg)


def capture_item(table: Any, index: Any) -> Any:
    """Return ``table[index]`` for an array or list of the surroundings and a traced index."""
    if isinstance(table, np.ndarray):
        tracer = current_tracer()
        assert tracer is not None  # a traced index has a trace
        return get_item(tracer.capture(table), index)
    if isinstance(table, List):
        return table[index]
    kinds = set(map(type, table)) if isinstance(table, (list, tuple, range)) else set()
    if len(kinds) == 1 and kinds <= _TABLE_KINDS and isinstance(index, (Dim, Array)):
        return python_number(get_item(constant_array(np.array(table)), index))
    return table[index]


#: a sequence of numbers of one of these types can be looked up by a traced index
_TABLE_KINDS: Final = {int, float, bool}


def _integer(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Return the result of a ufunc on integers as a Python integer."""
    arrays = [dim_array(x) if isinstance(x, Dim) else x for x in (a, b)]
    return python_number(call_ufunc(ufunc, "__call__", tuple(arrays), {}), "i")


HOOKS.integer = _integer
DOORS.getitem = get_item
DOORS.setitem = set_item
DOORS.astype = as_type
DOORS.attribute = attribute
DOORS.conj = conj
DOORS.copy = copy_array
DOORS.item = item
DOORS.trunc = trunc
DOORS.flat = Flat
DOORS.real = real
DOORS.imag = imag
DOORS.refuse = refuse
DOORS.view = view
DOORS.round = round_scalar
DOORS.setflags = setflags
DOORS.setpart = set_part
