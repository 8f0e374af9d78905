# SPDX-License-Identifier: Apache-2.0
"""What ufuncs, their methods and Python's operators do on arrays."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.bind import as_value
from onnxjit._core.dims import Dim
from onnxjit._ops import table
from onnxjit._ops.convert import as_array
from onnxjit._ops.gufunc import core_call
from onnxjit._ops.index_write import scatter
from onnxjit._ops.refused import refusal
from onnxjit._ops.ufunc import plain_call, ufunc_call, weak_binary, weak_unary
from onnxjit._ops.ufunc_at import at_one_by_one, exact, loop_dtypes

from .array import ARRAY, BOOL, SCALAR, Array, wrap
from .convert import (
    arrays_in,
    is_known,
    is_traced,
    to_arrays,
    to_numpy,
    to_values,
)
from .doors import DOORS
from .layout import lies, ufunc_layout
from .options import layout_options
from .outputs import prepare_output, refuse_write, write_result, write_ufunc_result
from .reduced import in_dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value
    from onnxjit._ops.row import Ufunc

    from .trace import Tracer

from .entering import entered, folded, note_error, noted, running_tracer
from .trace import current_tracer

__all__ = ["call_inplace", "call_operator", "call_ufunc", "call_unary"]

_NUMBERS: Final = (bool, int, float, complex)
#: operands of most operators
_COMMON: Final = frozenset({Array, *_NUMBERS})


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
    first = inputs[0]
    plain = method == "__call__" and not kwargs and type(first) is Array
    if plain and first._nd is not None and current_tracer() is None:
        made = DOORS.quick(ufunc, inputs)
        if made is not None:
            return made
    return _call_ufunc(ufunc, method, inputs, kwargs)


def _call_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    tracer = current_tracer()
    if tracer is None:
        return _called(ufunc, method, inputs, kwargs)
    if method == "__call__" and not kwargs:
        made = _plainly(tracer, ufunc, inputs)
        if made is not None:
            return made
    return entered(tracer, _called, ufunc, method, inputs, kwargs)


def _plainly(tracer: Tracer, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Return the results of the commonest call, of traced arrays and numbers, else None."""
    values = _plain_operands(inputs)
    row = table.UFUNCS.get(ufunc)
    if values is None or row is None or len(inputs) != ufunc.nin:
        return None
    tracer.mark_line()
    tracer.doors += 1
    try:
        result = plain_call(row, values)
        if result is None:
            result = ufunc_call(row, values)
        if type(result) is tuple:
            return tuple([_ufunc_result(ufunc, inputs, r) for r in result])
        return _ufunc_result(ufunc, inputs, result)
    except Exception as error:
        note_error(tracer, error)
        raise
    finally:
        tracer.doors -= 1


def _called(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if any(_foreign(x) for x in inputs):
        return NotImplemented
    tracer = current_tracer()
    if tracer is not None and tracer.has_rows:
        inputs, kwargs = DOORS.listed.as_arrays(inputs), DOORS.listed.as_arrays(kwargs)
    arrays = list(arrays_in((inputs, kwargs)))
    if tracer is None:
        if any(is_traced(a) for a in arrays):
            running_tracer()
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
        return folded(lambda: call(*numbers, **options), func, arrays, kwargs.get("order"))
    row = table.UFUNCS.get(ufunc)
    if row is None:
        raise refusal(ufunc)
    if method == "__call__":
        return _ufunc_call(row, inputs, dict(kwargs))
    return _ufunc_method(row, method, inputs, dict(kwargs))


def _plain_operands(inputs: tuple[Any, ...]) -> list[Any] | None:
    """Return the operands of the commonest call: traced arrays (not all known), numbers."""
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


def _ufunc_result(ufunc: np.ufunc, inputs: tuple[Any, ...], result: Value) -> Array:
    return wrap(result, SCALAR, ufunc_layout(ufunc, inputs, len(result.shape)))


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
        name = row.numpy.__name__
        msg = f"{name}() takes from {count} to {row.numpy.nargs} positional arguments"
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


@cache
def _methods() -> dict[str, Callable[..., Any]]:
    """Return what methods of ufuncs do; their modules come with the table."""
    from onnxjit._ops import reduceat
    from onnxjit._ops import ufunc_methods as do

    return {
        "reduce": do.ufunc_reduce,
        "accumulate": do.ufunc_accumulate,
        "outer": do.ufunc_outer,
        "reduceat": reduceat.ufunc_reduceat,
    }


#: ufunc -> how ScatterND combines, and whether the operand is negated first
_AT: Final = {
    np.add: ("add", False), np.subtract: ("add", True), np.multiply: ("mul", False),
    np.maximum: ("max", False), np.minimum: ("min", False),
}  # fmt: skip


def _at(row: Ufunc, target: Value, index: Any, *values: Any) -> Value:
    """Return the value of an array after ``ufunc.at``."""
    operands = [as_array(v) for v in values]
    if row.numpy in _AT:
        operands = [exact(v, target.dtype) for v in operands]
    given = loop_dtypes(row.numpy, target, *operands)
    if row.numpy not in _AT or given[-1] != target.dtype.numpy:
        # one by one: NumPy casts back after each element
        return at_one_by_one(row, target, index, *operands)
    (operand,) = operands
    reduction, negate = _AT[row.numpy]
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
    result = _methods()[method](row, *values, **given)
    if out is not None:
        name = f"{row.numpy.__name__}.{method}"
        prepare_output(out[0], name)
        return write_result(out[0], result, name, "unsafe" if reduces else "same_kind")
    func = row.numpy if method == "accumulate" else getattr(row.numpy, method)
    return to_arrays(result, scalar=True, layout=lies(func, inputs, None))


# ---------------------------------------------------------------------------- operators


def _is_weak(x: Any) -> bool:
    if type(x) is Array:
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
    if type(a) is Array:
        tracer = current_tracer()
        if tracer is None:
            made = None if a._nd is None else DOORS.quick(ufunc, (a, b))
        elif ufunc is np.power or _is_weak(a):
            made = None
        else:
            made = _plainly(tracer, ufunc, (a, b))
        if made is not None:
            return made
    return _any_operator(ufunc, a, b)


def _any_operator(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    if ufunc is np.multiply and (_repeats(a, b) or _repeats(b, a)):
        return NotImplemented
    if not (type(a) in _COMMON and type(b) in _COMMON):
        a, b = _as_text(a, b), _as_text(b, a)
        made = _uncommon_operator(ufunc, a, b)
        if made is not None:
            return made
    if _is_weak(a) and _is_weak(b):
        return _weak_operator(ufunc, a, b)
    if ufunc is np.power:
        short = _short_power(a, b)
        if short is not None:
            return call_unary(short, a)
    return _call_ufunc(ufunc, "__call__", (a, b), {})


def _uncommon_operator(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Return what an operator gives beside an operand that no ufunc takes, else None."""
    for x in (a, b):
        if type(x) in _COMMON:
            continue
        if getattr(type(x), "__array_ufunc__", True) is None or _foreign(x):
            return NotImplemented
        if _not_numbers(x) or not isinstance(
            x, (Array, Dim, np.ndarray, np.generic, *_NUMBERS, list, tuple)
        ):
            return _with_other_object(ufunc, a, b, x)
    return None


def _with_other_object(ufunc: np.ufunc, a: Any, b: Any, x: Any) -> Any:
    """Apply an operator to an array and an object `x` that is none and no number."""
    if ufunc not in (np.equal, np.not_equal):
        return _without_loop(ufunc, a, b) if isinstance(x, (str, bytes)) else NotImplemented
    array, differs = a if isinstance(a, Array) else b, ufunc is np.not_equal
    if array._kind != ARRAY:
        return differs if x is None else np.bool_(differs)
    return DOORS.function(np.full_like, (array, differs), {"dtype": np.bool_})


def _repeats(x: Any, times: Any) -> bool:
    """Whether a sequence meets a scalar, which repeats it where it is an integer."""
    return isinstance(x, (list, tuple, str, bytes)) and (
        isinstance(times, Array) and times._kind != ARRAY
    )


#: what NumPy's operator calls for a Python number as the exponent, by its type and value
_SHORT_POWERS: Final = {
    (int, -1): np.reciprocal,
    (int, 2): np.square,
    (float, 0.5): np.sqrt,
}


def _short_power(a: Any, b: Any) -> np.ufunc | None:
    """Return the ufunc by which NumPy's operator takes a power of an array, else None.

    Its dtype is not that of `np.power` for truth values, and its zeros, infinities and NaN are
    not for complex numbers; the row of `np.power` knows the rest.
    """
    if type(b) not in (int, float) or type(a) is not Array or a._kind != ARRAY:
        return None
    short = _SHORT_POWERS.get((type(b), b))
    is_other = a.dtype.kind == "c" or (a.dtype.kind == "b" and short is np.square)
    return short if is_other else None


@noted
def _without_loop(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Let NumPy raise its own error for an array and text."""
    plain = [np.ones(1, x.dtype) if isinstance(x, Array) else x for x in (a, b)]
    return NotImplemented if ufunc(*plain) is not None else None


@noted
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
    short = _short_power(a, b) if ufunc is np.power else None
    if short is not None:
        return call_ufunc(short, "__call__", (a,), {"out": (a,)})
    return call_ufunc(ufunc, "__call__", (a, b), {"out": (a,)})
