# SPDX-License-Identifier: Apache-2.0
"""NumPy's doors: what a call of a NumPy function does, and the wiring of all doors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import HOOKS, Dim
from onnxjit._core.program import Value
from onnxjit._core.source import caller
from onnxjit._ops import table
from onnxjit._ops.convert import as_array
from onnxjit._ops.refused import reason_of, refusal
from onnxjit.errors import DataDependentError

from .array import ARRAY, SCALAR, Array, wrap
from .binding import bind, call_numpy, call_row, parameter_names, takes_any_number
from .convert import (
    arrays_given,
    is_known,
    is_traced,
    to_arrays,
    to_numpy,
    to_samples,
    to_values,
)
from .doors import DOORS
from .entering import constant_array, folded, noted, running_tracer
from .into import computing_in
from .layout import lies
from .out_casting import casting_of
from .outputs import prepare_output, refuse_write, write_result
from .reduced import in_dtype_of, reducing
from .trace import current_tracer, dim_array
from .ufuncs import call_inplace, call_operator, call_ufunc, call_unary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._ops.row import Function

    from .layout import Layout

__all__ = ["call_function", "call_ufunc"]

#: constants larger than this are built by the graph instead of being stored in it
_STORE_LIMIT: Final = 1 << 20
#: NumPy's source of a function may call the function itself this often
_SOURCE_DEPTH: Final = 3
#: orders of reading that depend on the layout of what is read
_AS_IT_LIES: Final = frozenset("AaKk")


#: views that are arrays even of NumPy scalars
_MAKE_ARRAYS: Final = frozenset({
    np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.broadcast_to,
    np.broadcast_arrays, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d,
})  # fmt: skip


#: what returns its argument where that is as asked for
_CONVERSIONS: Final = frozenset({np.asarray, np.asanyarray, np.asfortranarray})


# ---------------------------------------------------------------------------- functions


def _order(row: Function | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the memory order that a call asks for."""
    names = () if row is None else parameter_names(row)
    return dict(zip(names, args, strict=False)).get("order", kwargs.get("order"))


def call_function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function on arrays: fold, look at, write to, or record."""
    if current_tracer() is None:
        made = DOORS.quick_function(func, args, kwargs)
        if made is not None:
            return made
    return _call_function(func, args, kwargs)


@noted
def _call_function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tracer = current_tracer()
    if tracer is not None and tracer.has_rows:
        joined = DOORS.listed.joined_rows(func, args, kwargs)
        if joined is not None:
            return joined
        args, kwargs = DOORS.listed.given(func, args, kwargs)
    arrays = arrays_given(args, kwargs)
    if tracer is None:
        if any(is_traced(a) for a in arrays):
            running_tracer()
        return DOORS.eager(func, "__call__", args, kwargs)
    if func is np.array and not kwargs.get("copy", True):
        return _array_without_copy(args, kwargs)
    row = table.FUNCTIONS.get(func)
    static = not any(isinstance(a, Dim) for a in arrays) and all(is_known(a) for a in arrays)
    plain = (
        row is None or not (row.view or row.writes or row.copies) or _is_of_number(row, args)
    )
    # a large result that a row can build is recorded
    small = row is None or arrays or not _is_large(func, args, kwargs)
    if static and plain and small and _out(kwargs) is None:
        numbers, options = to_numpy(args), to_numpy(kwargs)
        order = _order(row, args, kwargs)
        return folded(lambda: func(*numbers, **options), func, arrays, order)
    if row is None:
        return _by_source(func, args, kwargs)
    return _record(row, args, kwargs, arrays)


_NUMBERS: Final = (int, float, complex, np.generic)


def _is_of_number(row: Function, args: tuple[Any, ...]) -> bool:
    """Whether a view is that of a number alone, which has no memory to look at."""
    return row.view and len(args) == 1 and isinstance(args[0], _NUMBERS)


def _array_without_copy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `np.array` where it is to return its argument, as `np.asarray` does."""
    others = {k: v for k, v in kwargs.items() if k not in {"subok", "ndmin", "ndmax"}}
    array = call_function(np.asarray, args, others)
    missing = kwargs.get("ndmin", 0) - array.ndim
    return array[(None,) * missing] if missing > 0 else array


def _is_large(func: Any, args: Any, kwargs: Any) -> bool:
    shape = args[0] if args else kwargs.get("shape")
    if func not in table.BY_SHAPE or shape is None:
        return False
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    return int(np.prod([int(n) for n in sizes], dtype=object)) * 8 > _STORE_LIMIT


def _out(kwargs: dict[str, Any]) -> Any:
    out = kwargs.get("out")
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _by_source(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run NumPy's own Python source of a function on traced arrays."""
    tracer = running_tracer()
    running = tracer.sources
    twin = DOORS.source(func) if reason_of(func) is None else None
    if twin is None or running.count(func) >= _SOURCE_DEPTH:
        raise refusal(func)
    running.append(func)
    doors, tracer.doors = tracer.doors, 0
    try:
        return twin(*args, **kwargs)
    finally:
        tracer.doors = doors
        running.pop()


def _record(
    row: Function, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: Sequence[Any]
) -> Any:
    given = bind(row, args, kwargs)
    if not given:  # a function of any number of arrays
        return ()
    out = given.pop("out", None)
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if row.view:
        return _record_view(row, given)
    if row.writes is not None:
        return _record_write(row, given)
    if row.copies is not None and not given.get(row.copies, True):
        return _record_in_place(row, given)
    if out is None:
        lie = lies(row.numpy, arrays, _order(row, args, kwargs))
        return to_arrays(
            call_row(row, to_values(given)), scalar=_gives_scalar(row, given), layout=lie
        )
    return _record_into(out, row, given)


def _record_into(out: Any, row: Function, given: dict[str, Any]) -> Any:
    """Record a call with `out=`, whose dtype takes part in reductions."""
    within = computing_in(row.numpy, given, out)
    if within is not None:
        prepare_output(out, row.numpy.__name__)
        return within()
    name, question = row.numpy.__name__, partial(call_numpy, row, to_samples(given))
    first = next(iter(given.values()))
    given = in_dtype_of(out, reducing(row.numpy, first), given, first)
    result = call_row(row, to_values(given))
    prepare_output(out, name)
    casting = casting_of(row.numpy, question, as_value(result).dtype.numpy, out.dtype)
    return write_result(out, result, name, casting)


def _gives_scalar(row: Function, given: dict[str, Any]) -> bool:
    """Whether 0-d results of a call are NumPy scalars."""
    if row.scalar != "argument":
        return row.scalar
    first = next(iter(given.values()), None)
    return isinstance(first, np.generic) or (
        isinstance(first, Array) and first._kind == SCALAR
    )


def _record_view(row: Function, given: dict[str, Any]) -> Any:
    first = next(iter(given))
    base = given[first]
    if takes_any_number(row, first):
        each = tuple(_viewed(row, given, first, x, several=True) for x in base)
        return each[0] if len(each) == 1 else each
    return _viewed(row, given, first, base)


def _viewed(
    row: Function, given: dict[str, Any], first: str, base: Any, *, several: bool = False
) -> Any:
    """Return the views of one array that a call makes; it may be one of `several` operands."""
    if not isinstance(base, Array):
        if row.numpy in _CONVERSIONS and given.get("copy", True) is False:
            np.array(base, copy=False)  # which raises for what is no array
        base = wrap(as_array(to_values(base)))
    elif base._nd is not None:
        base = constant_array(base._nd, base._kind)
    order = given.get("order")
    if order in _AS_IT_LIES and row.numpy is np.reshape:
        np.reshape(0, (), order)  # NumPy's refusal of "K"
        # the elements are put down in the order in which they are read
        given = {**given, "order": "F" if base._lies_turned() else "C"}
    elif order in _AS_IT_LIES and row.numpy is np.ravel and base.ndim > 1:
        base, given = base._in_memory_order(order), {**given, "order": "C"}
    is_scalar = base._kind == SCALAR and row.numpy not in _MAKE_ARRAYS
    kind = SCALAR if row.scalar or is_scalar else ARRAY
    seen = (base._value,) if several else base._value
    others = {name: x for name, x in given.items() if name != first}
    if others:
        others = to_values(to_numpy(others))
    result = call_row(row, {first: seen, **others})

    def finish(r: Any) -> Any:
        if isinstance(r, Value):
            kept = r is base._value and not row.scalar and base._kind == ARRAY
            return base if kept else wrap(r, kind, _converted_layout(row, base, order, r.ndim))
        if isinstance(r, (tuple, list)):
            return type(r)(finish(i) for i in r)
        shown = base._view(r)
        return wrap(shown._value, SCALAR) if kind == SCALAR and not shown.ndim else shown

    return finish(result)


def _converted_layout(row: Function, base: Array, order: Any, ndim: int) -> Layout | None:
    """Return how a conversion that has to copy makes its result lie."""
    if row.numpy is np.asfortranarray:
        order = "F"
    return lies(row.numpy, [base], order)(ndim) if row.numpy in _CONVERSIONS else None


def _record_write(row: Function, given: dict[str, Any]) -> None:
    assert row.writes is not None  # the caller looked
    target = given[row.writes]
    if not isinstance(target, Array):
        refuse_write(target, row.numpy.__name__)
    new = call_row(row, to_values(given))
    target._write(new)


def _record_in_place(row: Function, given: dict[str, Any]) -> Any:
    """Write a result into the first argument, and return that."""
    target = next(iter(given.values()))
    if isinstance(target, np.ndarray):
        refuse_write(target, row.numpy.__name__)
    if not isinstance(target, Array) or target._kind != ARRAY:
        return np.array([0], copy=False)  # which raises
    before = target._value
    new = call_row(row, to_values(given))
    if new is not before:
        target._write(new)
    return target if target.ndim else target[()]


# ---------------------------------------------------------------------------- wiring


#: what asks for a number, by Python's special methods
_ASKING: Final = {
    "__hash__": "a key of a dict or set", "__int__": "int()", "__float__": "float()",
    "__complex__": "complex()", "__format__": "a format in text", "__round__": "round()",
    "__array__": "an array made by code that is not traced",
    "__index__": "an index or a number of elements (__index__)",
}  # fmt: skip


def _asking(what: str) -> str:
    """Return who asks for a size, and where."""
    tracer = current_tracer()
    if tracer is None:
        return _ASKING.get(what, what)
    tracer.mark_line()
    return f"{_ASKING.get(what, what)} at {tracer.source}"


def _data_test(dim: Dim, what: str) -> Exception:
    """Return the error of a test on a size that depends on array data."""
    msg = (
        f"{_asking(what)} needs the value of {dim}, which depends on array data and is known "
        "only when the model runs; use array operations (np.where, masks) instead, or let the "
        "call run eagerly"
    )
    return _refused(msg)


def _no_hint(dim: Dim, what: str) -> Exception:
    """Return the error of a test on a size that has no example."""
    msg = (
        f"{_asking(what)} needs the value of {dim}, for which no example is given; export "
        "with an example array or with a fixed size"
    )
    return _refused(msg)


def _refused(msg: str) -> DataDependentError:
    """Return the error of a question by the user's code or by a row, which may catch it."""
    error = DataDependentError(msg)
    tracer = current_tracer()
    if tracer is not None and not tracer.doors:
        tracer.refuse(error)
    return error


def _nonzero(divisor: Dim) -> None:
    """Let Python make the call where a divisor of data is zero: it raises."""
    tracer = current_tracer()
    assert tracer is not None  # the size belongs to it
    zero = call_ufunc(np.equal, "__call__", (dim_array(divisor), 0), {})
    tracer.fail_if(zero._value)


HOOKS.data_test = _data_test
HOOKS.no_hint = _no_hint
HOOKS.source = caller
HOOKS.dim_array = dim_array
HOOKS.nonzero = _nonzero
HOOKS.ufunc = call_ufunc
DOORS.operator = call_operator
DOORS.unary = call_unary
DOORS.inplace = call_inplace
DOORS.function = call_function
DOORS.ufunc = call_ufunc
