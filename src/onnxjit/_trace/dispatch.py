# SPDX-License-Identifier: Apache-2.0
"""NumPy's doors: what a call of a NumPy function, a ufunc or an operator on arrays does."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import HOOKS, Dim
from onnxjit._core.program import Value
from onnxjit._core.source import caller
from onnxjit._ops import table
from onnxjit._ops.convert import as_array
from onnxjit._ops.gufunc import core_call
from onnxjit._ops.index_write import scatter
from onnxjit._ops.refused import reason_of, refusal
from onnxjit._ops.ufunc import ufunc_call, weak_binary, weak_unary
from onnxjit._ops.ufunc_methods import (
    ufunc_accumulate,
    ufunc_outer,
    ufunc_reduce,
    ufunc_reduceat,
)
from onnxjit.errors import DataDependentError, LeakError, UnsupportedError

from .array import ARRAY, BOOL, SCALAR, Array, wrap
from .convert import (
    arrays_in,
    from_numpy_results,
    is_known,
    is_traced,
    to_arrays,
    to_numpy,
    to_values,
)
from .doors import DOORS
from .layout import Layout, lies
from .options import ORDERS, check_device, check_order, layout_options
from .outputs import refuse_write, write_result, write_ufunc_result
from .reduced import REDUCES, in_dtype_of
from .trace import Tracer, current_tracer, dim_array, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnxjit._ops.row import Function, Ufunc

__all__ = ["call_function", "call_ufunc", "constant_array"]

_NUMBERS: Final = (bool, int, float, complex)
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


def _noted(door: Callable[..., Any]) -> Callable[..., Any]:
    """Add the user's line to whatever a door raises."""

    @functools.wraps(door)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = current_tracer()
        if tracer is None:
            return door(*args, **kwargs)
        tracer.mark_line()
        tracer.doors += 1
        try:
            return door(*args, **kwargs)
        except Exception as e:
            note = f"traced at {tracer.source}"
            if note not in getattr(e, "__notes__", ()):
                e.add_note(note)
            if tracer.doors == 1:
                tracer.refuse(e)
            raise
        finally:
            tracer.doors -= 1

    return call


def constant_array(values: Any, kind: str = ARRAY, layout: Layout | None = None) -> Array:
    """Return a traced array whose values are known; it lies as they do by default."""
    tracer = _tracer()
    array = np.array(values, copy=True)
    lies = layout_of(array, frozenset()) if layout is None else layout
    return wrap(tracer.constant(array), kind, lies)


def _tracer() -> Tracer:
    tracer = current_tracer()
    if tracer is None:
        msg = "a traced array is used outside its trace; return it from the function instead"
        raise LeakError(msg)
    return tracer


def _folded(call: Callable[[], Any], func: Any, arrays: Sequence[Any], order: Any) -> Any:
    """Let NumPy compute; what it makes of arrays lies as its rule says."""
    lie = lies(func, arrays, order)

    def constant(values: Any, kind: str) -> Array:
        layout = (lie(values.ndim) or Layout()) if arrays else None
        return constant_array(values, kind, layout)

    with np.errstate(all="ignore"):
        return from_numpy_results(call(), constant)


# ---------------------------------------------------------------------------- functions


@functools.cache
def _signature(row: Function) -> inspect.Signature:
    try:
        return inspect.signature(row.numpy)
    except (TypeError, ValueError):
        return inspect.signature(row.implementation)


def _bind(row: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Bind a call with NumPy's own signature; options at "no value" are left out."""
    name = getattr(row.numpy, "__name__", str(row.numpy))
    signature = _signature(row)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as e:
        msg = f"{name}() {e}"
        raise TypeError(msg) from None
    given: dict[str, Any] = {}
    for key, value in bound.arguments.items():
        parameter = signature.parameters[key]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given.update(value)
        elif value is not np._NoValue:
            given[key] = value
    for key in row.omits:
        default = signature.parameters[key].default if key in signature.parameters else None
        if key in given and given.pop(key) is not default:
            msg = f"{name}() is not carried with {key}=; leave it out"
            raise UnsupportedError(msg)
    if "order" in given and signature.parameters["order"].default in ORDERS:
        check_order(given["order"])
    check_device(given.get("device"))
    return given


def _call(row: Function, given: dict[str, Any]) -> Any:
    """Call an implementation by keyword; its variadic parameter gets NumPy's."""
    signature = _implementation_signature(row)
    positional: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and parameter.name in given:
            positional.append(given.pop(parameter.name))
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.extend(given.pop(parameter.name, ()))
    return row.implementation(*positional, **given)


@functools.cache
def _implementation_signature(row: Function) -> inspect.Signature:
    return inspect.signature(row.implementation)


@_noted
def call_function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function on arrays: fold, look at, write to, or record."""
    arrays = list(arrays_in((args, kwargs)))
    tracer = current_tracer()
    if tracer is None:
        if any(is_traced(a) for a in arrays):
            _tracer()
        return DOORS.eager(func, "__call__", args, kwargs)
    row = table.FUNCTIONS.get(func)
    static = not any(isinstance(a, Dim) for a in arrays) and all(is_known(a) for a in arrays)
    if static and (row is None or not (row.view or row.writes)) and _out(kwargs) is None:
        # a large result that a row can build is recorded
        if row is None or arrays or not _is_large(func, args, kwargs):
            numbers, options = to_numpy(args), to_numpy(kwargs)
            return _folded(
                lambda: func(*numbers, **options), func, arrays, kwargs.get("order")
            )
    if row is None:
        return _by_source(func, args, kwargs)
    return _record(row, args, kwargs, arrays)


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
    tracer = _tracer()
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
    given = _bind(row, args, kwargs)
    out = given.pop("out", None)
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if row.view:
        return _record_view(row, given)
    if row.writes is not None:
        return _record_write(row, given)
    if out is None:
        lie = lies(row.numpy, arrays, kwargs.get("order"))
        return to_arrays(_call(row, to_values(given)), scalar=_gives_scalar(row, given), layout=lie)
    given = in_dtype_of(out, REDUCES.get(row.numpy), given, next(iter(given.values())))
    casting = "unsafe" if row.numpy in REDUCES else "same_kind"
    return write_result(out, _call(row, to_values(given)), row.numpy.__name__, casting)


def _gives_scalar(row: Function, given: dict[str, Any]) -> bool:
    """Whether 0-d results of a call are NumPy scalars."""
    if row.scalar != "argument":
        return row.scalar
    first = next(iter(given.values()), None)
    return isinstance(first, np.generic) or (isinstance(first, Array) and first._kind == SCALAR)


def _record_view(row: Function, given: dict[str, Any]) -> Any:
    first = next(iter(given))
    base = given[first]
    if _signature(row).parameters[first].kind is inspect.Parameter.VAR_POSITIONAL:
        each = tuple(_viewed(row, given, first, x, several=True) for x in base)
        return each[0] if len(each) == 1 else each
    return _viewed(row, given, first, base)


def _viewed(
    row: Function, given: dict[str, Any], first: str, base: Any, *, several: bool = False
) -> Any:
    """Return the views of one array that a call makes; it may be one of `several` operands."""
    if not isinstance(base, Array):
        base = wrap(as_array(to_values(base)))
    elif base._nd is not None:
        base = constant_array(base._nd, base._kind)
    order = given.get("order")
    if order in _AS_IT_LIES and row.numpy is np.reshape:
        # the elements are put down in the order in which they are read
        given = {**given, "order": "F" if base._lies_turned() else "C"}
    elif order in _AS_IT_LIES and base.ndim > 1:
        base, given = base._in_memory_order(order), {**given, "order": "C"}
    is_scalar = base._kind == SCALAR and row.numpy not in _MAKE_ARRAYS
    kind = SCALAR if row.scalar or is_scalar else ARRAY
    seen = (base._value,) if several else base._value
    result = _call(row, {**to_values(to_numpy(given)), first: seen})

    def finish(r: Any) -> Any:
        if isinstance(r, Value):
            kept = r is base._value and not row.scalar and base._kind == ARRAY
            return base if kept else wrap(r, kind)
        if isinstance(r, (tuple, list)):
            return type(r)(finish(i) for i in r)
        shown = base._view(r)
        return wrap(shown._value, SCALAR) if kind == SCALAR and not shown.ndim else shown

    return finish(result)


def _record_write(row: Function, given: dict[str, Any]) -> None:
    assert row.writes is not None  # the caller looked
    target = given[row.writes]
    if not isinstance(target, Array):
        refuse_write(target, row.numpy.__name__)
    new = _call(row, to_values(given))
    target._write(new)


# ---------------------------------------------------------------------------- ufuncs


def _foreign(x: Any) -> bool:
    """Whether another array type wants to handle the operation itself."""
    if isinstance(x, (Array, Dim, np.ndarray, np.generic, *_NUMBERS, list, tuple)):
        return False
    return hasattr(type(x), "__array_ufunc__")


def call_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a ufunc, or one of its methods, on arrays."""
    if method == "__call__" and not kwargs and type(inputs[0]) is Array:
        if inputs[0]._nd is not None and current_tracer() is None:
            made = DOORS.quick(ufunc, inputs)
            if made is not None:
                return made
    return _call_ufunc(ufunc, method, inputs, kwargs)


@_noted
def _call_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if method == "__call__" and not kwargs and len(inputs) == ufunc.nin:
        values = _plain_operands(inputs)
        row = table.UFUNCS.get(ufunc)
        if values is not None and row is not None and current_tracer() is not None:
            return _ufunc_results(row, inputs, ufunc_call(row, values))
    if any(_foreign(x) for x in inputs):
        return NotImplemented
    arrays = list(arrays_in((inputs, kwargs)))
    tracer = current_tracer()
    if tracer is None:
        if any(is_traced(a) for a in arrays):
            _tracer()
        return DOORS.eager(ufunc, method, inputs, kwargs)
    if (
        method != "at"
        and _given_out(kwargs) is None
        and not any(isinstance(a, Dim) for a in arrays)
        and all(is_known(a) for a in arrays)
    ):
        numbers, options = to_numpy(inputs), to_numpy(kwargs)
        call = getattr(ufunc, method)
        func = ufunc if method == "__call__" else call
        return _folded(lambda: call(*numbers, **options), func, arrays, kwargs.get("order"))
    row = table.UFUNCS.get(ufunc)
    if row is None:
        raise refusal(ufunc)
    if method == "__call__":
        return _ufunc_call(row, inputs, dict(kwargs))
    return _ufunc_method(row, method, inputs, dict(kwargs))


def _plain_operands(inputs: tuple[Any, ...]) -> list[Any] | None:
    """Return the operands of the commonest call: traced arrays, one of them not known, numbers."""
    values: list[Any] = []
    unknown = False
    for x in inputs:
        if type(x) is Array and x._nd is None:
            value = x._value
            unknown = unknown or value.known is None
            values.append(value)
        elif type(x) in _NUMBERS:
            values.append(x)
        else:
            return None
    return values if unknown else None


def _ufunc_results(row: Ufunc, inputs: tuple[Any, ...], result: Any) -> Any:
    lie = lies(row.numpy, inputs, None)
    if isinstance(result, tuple):
        return tuple(wrap(r, SCALAR, lie(r.ndim)) for r in result)
    return wrap(result, SCALAR, lie(result.ndim) if result.ndim > 1 else None)


def _given_out(kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the outputs given, None when there are none."""
    out = kwargs.get("out")
    if out is None:
        return None
    out = out if isinstance(out, tuple) else (out,)
    return None if all(o is None for o in out) else out


def _ufunc_call(row: Ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    count = row.numpy.nin
    outs = _given_out(kwargs)
    kwargs.pop("out", None)
    if len(inputs) > count:
        outs, inputs = inputs[count:], inputs[:count]
    if len(inputs) < count:
        msg = f"{row.numpy.__name__}() takes from {count} to {row.numpy.nargs} positional arguments"
        raise TypeError(msg)
    where = kwargs.pop("where", True)
    order = layout_options(kwargs.pop("subok", True), kwargs.pop("order", "K"))
    lie = lies(row.numpy, inputs, order)
    values = [x if type(x) in _NUMBERS else as_array(to_values(x)) for x in inputs]
    casting = kwargs.get("casting", "same_kind")
    if row.numpy.signature is None:
        result = ufunc_call(row, values, where=to_values(where), **to_values(kwargs))
    else:
        result = core_call(row, values, **to_values(kwargs))
    results = result if isinstance(result, tuple) else (result,)
    if outs is None:
        wrapped = tuple(to_arrays(r, scalar=True, layout=lie) for r in results)
    else:
        outs = (*outs, *(None,) * (len(results) - len(outs)))
        wrapped = tuple(
            to_arrays(r, scalar=True, layout=lie)
            if o is None
            else write_ufunc_result(row, o, r, where, casting, position)
            for position, (o, r) in enumerate(zip(outs, results, strict=True))
        )
    return wrapped if len(wrapped) > 1 else wrapped[0]


_METHODS: Final[dict[str, Callable[..., Any]]] = {
    "reduce": ufunc_reduce,
    "accumulate": ufunc_accumulate,
    "outer": ufunc_outer,
    "reduceat": ufunc_reduceat,
}
_WEAK: Final[dict[str, type]] = {"i": int, "u": int, "f": float, "c": complex}
#: ufunc -> how ScatterND combines, and whether the operand is negated first
_AT: Final = {
    np.add: ("add", False), np.subtract: ("add", True), np.multiply: ("mul", False),
    np.maximum: ("max", False), np.minimum: ("min", False),
}  # fmt: skip


def _at(row: Ufunc, target: Value, index: Any, value: Any = None) -> Value:
    """Return the value of an array after ``ufunc.at``."""
    if row.numpy not in _AT or value is None:
        msg = f"np.{row.numpy.__name__}.at is not carried by onnxjit inside a trace"
        raise UnsupportedError(msg)
    reduction, negate = _AT[row.numpy]
    operand = as_array(value)
    operand_type: Any = operand.dtype.numpy
    if operand.weak:
        operand_type = _WEAK.get(operand.dtype.kind, operand_type)
    result = row.numpy.resolve_dtypes((target.dtype.numpy, operand_type, None))[-1]
    if result != target.dtype.numpy:
        # NumPy casts back after each element
        msg = f"np.{row.numpy.__name__}.at that computes {result} in {target.dtype} is not carried"
        raise UnsupportedError(msg)
    if negate:
        operand = ufunc_call(table.UFUNCS[np.negative], (operand,))
    return scatter(target, index, operand, reduction)


def _ufunc_method(
    row: Ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if method == "at":
        target = inputs[0]
        if not isinstance(target, Array):
            refuse_write(target, f"{row.numpy.__name__}.at")
        rest = (to_values(x) for x in inputs[1:])
        target._write(_at(row, target._value, *rest))
        return None
    out = _given_out(kwargs)
    kwargs.pop("out", None)
    given = {k: v for k, v in to_values(kwargs).items() if v is not np._NoValue}
    values = [to_values(x) for x in inputs]
    reduces = method in ("reduce", "accumulate", "reduceat")
    if out is not None and reduces and len(values) < (4 if method == "reduceat" else 3):
        given = in_dtype_of(out[0], row.numpy, given, inputs[0])
    result = _METHODS[method](row, *values, **given)
    if out is not None:
        casting = "unsafe" if reduces else "same_kind"
        return write_result(out[0], result, f"{row.numpy.__name__}.{method}", casting)
    func = row.numpy if method == "accumulate" else getattr(row.numpy, method)
    return to_arrays(result, scalar=True, layout=lies(func, inputs, None))


# ---------------------------------------------------------------------------- operators


def _is_weak(x: Any) -> bool:
    if isinstance(x, Array):
        return x._nd is None and x._is_weak
    return isinstance(x, Dim) or type(x) in _NUMBERS


def _not_numbers(x: Any) -> bool:
    return x is None or isinstance(x, (str, bytes, dict, set))


def _as_text(x: Any, other: Any) -> Any:
    """Return a str beside an array of text as an array."""
    is_text = isinstance(x, str) and isinstance(other, Array) and other.dtype.kind == "U"
    return np.asarray(x) if is_text else x


def call_operator(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Apply a Python operator."""
    if type(a) is Array and a._nd is not None and current_tracer() is None:
        made = DOORS.quick(ufunc, (a, b))
        if made is not None:
            return made
    a, b = _as_text(a, b), _as_text(b, a)
    for x in (a, b):
        if type(x) is Array or type(x) in _NUMBERS:
            continue
        if getattr(type(x), "__array_ufunc__", True) is None or _foreign(x):
            return NotImplemented
        if _not_numbers(x) or not isinstance(
            x, (Array, Dim, np.ndarray, np.generic, *_NUMBERS, list, tuple)
        ):
            if ufunc in (np.equal, np.not_equal):
                array = a if isinstance(a, Array) else b
                return DOORS.function(
                    np.full_like, (array, ufunc is np.not_equal), {"dtype": np.bool_}
                )
            return _without_loop(ufunc, a, b) if isinstance(x, (str, bytes)) else NotImplemented
    if _is_weak(a) and _is_weak(b):
        return _weak_operator(ufunc, a, b)
    return call_ufunc(ufunc, "__call__", (a, b), {})


@_noted
def _without_loop(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Let NumPy raise its own error for an array and text."""
    plain = [np.ones(1, x.dtype) if isinstance(x, Array) else x for x in (a, b)]
    return NotImplemented if ufunc(*plain) is not None else None


@_noted
def _weak_operator(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Apply an operator to two Python numbers, one of them traced."""
    result = weak_binary(ufunc, as_value(to_values(a)), as_value(to_values(b)))
    if isinstance(result, tuple):
        return tuple(_number(r) for r in result)
    return _number(result)


def _number(value: Value) -> Array:
    return wrap(value, BOOL if value.dtype.kind == "b" else ARRAY)


def call_unary(ufunc: np.ufunc, a: Array) -> Any:
    """Apply a unary Python operator."""
    if _is_weak(a):
        return _number(weak_unary(ufunc, a._value))
    return call_ufunc(ufunc, "__call__", (a,), {})


def call_inplace(ufunc: np.ufunc, a: Array, b: Any) -> Any:
    """Apply ``a op= b``: in place on arrays, a new object for scalars."""
    if a._kind != ARRAY:
        return call_operator(ufunc, a, b)
    if _not_numbers(b):
        return NotImplemented
    return call_ufunc(ufunc, "__call__", (a, b), {"out": (a,)})


# ---------------------------------------------------------------------------- wiring



def _data_test(dim: Dim, what: str) -> Exception:
    """Return the error of a test on a size that depends on array data."""
    tracer = current_tracer()
    where = f" at {tracer.source}" if tracer is not None else ""
    msg = (
        f"{what}{where} needs the value of {dim}, which depends on array data and is known only "
        "when the model runs; use array operations (np.where, masks) instead, or let the call "
        "run eagerly"
    )
    return _refused(msg)


def _no_hint(dim: Dim, what: str) -> Exception:
    """Return the error of a test on a size that has no example."""
    tracer = current_tracer()
    where = f" at {tracer.source}" if tracer is not None else ""
    msg = (
        f"{what}{where} needs the value of {dim}, for which no example is given; export with an "
        "example array or with a fixed size"
    )
    return _refused(msg)


def _refused(msg: str) -> DataDependentError:
    """Return the error of a question asked by the user's code, or by a row, which may catch it."""
    error = DataDependentError(msg)
    tracer = current_tracer()
    if tracer is not None and not tracer.doors:
        tracer.refuse(error)
    return error


HOOKS.data_test = _data_test
HOOKS.no_hint = _no_hint
HOOKS.source = caller
HOOKS.dim_array = dim_array
HOOKS.ufunc = call_ufunc
DOORS.operator = call_operator
DOORS.unary = call_unary
DOORS.inplace = call_inplace
DOORS.function = call_function
DOORS.ufunc = call_ufunc
