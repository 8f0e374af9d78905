# SPDX-License-Identifier: Apache-2.0
"""Between what users hold (arrays, scalars, containers) and values of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dims import Dim
from onnxjit._core.program import Value

from .array import ARRAY, SCALAR, Array, wrap
from .doors import DOORS
from .lists import List, Numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .layout import Layout

__all__ = [
    "arrays_given",
    "arrays_in",
    "is_known",
    "is_traced",
    "to_arrays",
    "to_numpy",
    "to_plain",
    "to_samples",
    "to_values",
]

_CONTAINERS = (tuple, list)
_NO_ARRAYS = frozenset({int, float, bool, str, type(None), type})


def arrays_in(x: Any) -> Iterator[Array | Dim]:
    """Yield the arrays and sizes in nested tuples, lists and dicts."""
    if isinstance(x, (Array, Dim)):
        yield x
    elif isinstance(x, List) and x.rows is not None:
        yield from x.rows.columns
    elif isinstance(x, _CONTAINERS):
        for item in x:
            yield from arrays_in(item)
    elif isinstance(x, dict):
        for item in x.values():
            yield from arrays_in(item)
    elif isinstance(x, slice):
        yield from arrays_in((x.start, x.stop, x.step))


def arrays_given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Dim]:
    """Return the arrays and sizes among the arguments of a call."""
    found: list[Array | Dim] = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        if type(x) is Array:
            found.append(x)
        elif type(x) not in _NO_ARRAYS:
            found.extend(arrays_in(x))
    return found


def is_traced(x: Any) -> bool:
    """Whether an object belongs to a trace: a traced array or a size."""
    return isinstance(x, Dim) or (isinstance(x, Array) and x._nd is None)


def is_known(x: Array | Dim) -> bool:
    """Whether an array's values are known."""
    return isinstance(x, Array) and x._known is not None


def _map(x: Any, leaf: Any) -> Any:
    if isinstance(x, (Array, Dim)):
        return leaf(x)
    if isinstance(x, List):
        if x.rows is not None:
            return leaf(DOORS.listed.as_array(x, typed=True))
        return [_map(i, leaf) for i in x]
    if isinstance(x, Numbers):
        return leaf(x.array())
    if isinstance(x, _CONTAINERS):
        if hasattr(x, "_fields"):
            return type(x)(*(_map(i, leaf) for i in x))
        return type(x)(_map(i, leaf) for i in x)
    if isinstance(x, dict):
        return {k: _map(v, leaf) for k, v in x.items()}
    if isinstance(x, slice):
        return slice(*(_map(i, leaf) for i in (x.start, x.stop, x.step)))
    return x


def _value(x: Array | Dim) -> Any:
    if isinstance(x, Dim):
        return x
    if x._nd is not None:
        # an eager array inside a trace is a constant of it
        return x._nd if x._kind == ARRAY else x._nd[()]
    return x._value


def to_values(x: Any) -> Any:
    """Replace traced arrays by their values; sizes and everything else stay."""
    return _map(x, _value)


def _numpy(x: Array | Dim) -> Any:
    if isinstance(x, Dim):
        return x
    known = x._known
    if known is None:
        return x
    if x._is_weak:
        return known.item()
    return known if x._kind == ARRAY else known[()]


def to_numpy(x: Any) -> Any:
    """Replace arrays with known values by ndarrays and scalars."""
    return _map(x, _numpy)


def to_plain(x: Any, what: str) -> Any:
    """Replace arrays and sizes by NumPy's and Python's own for code that looks at the values.

    Raises
    ------
    DataDependentError
        Only a run knows them; `what` says who asks.
    """

    def plain(x: Array | Dim) -> Any:
        if isinstance(x, Dim):
            return x.specialise(what)
        found = x._plain(what)
        if x._is_weak:
            return found.item()
        return found if x._kind == ARRAY else found[()]

    return _map(x, plain) if any(True for _ in arrays_in(x)) else x


def _sample(x: Array | Dim) -> Any:
    if isinstance(x, Dim):
        return 1
    zeros = np.zeros((1,) * x.ndim, x.dtype)
    return zeros if x._kind == ARRAY else zeros[()]


def to_samples(x: Any) -> Any:
    """Replace arrays by zeros of the same dtypes and ranks, and sizes by 1."""
    return _map(x, _sample)


def to_arrays(
    x: Any, *, scalar: bool, layout: Callable[[int], Layout | None] | None = None
) -> Any:
    """Replace values by new traced arrays, in tuples, lists and named tuples too.

    `layout` tells how a result of so many axes lies in memory, C order by default.
    """
    if isinstance(x, Value):
        lies = layout(x.ndim) if layout is not None and x.ndim > 1 else None
        return wrap(x, SCALAR if scalar else ARRAY, lies)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(to_arrays(i, scalar=scalar, layout=layout) for i in x))
    if isinstance(x, _CONTAINERS):
        return type(x)(to_arrays(i, scalar=scalar, layout=layout) for i in x)
    return x


def from_numpy_results(x: Any, constant: Any) -> Any:
    """Replace ndarrays and NumPy scalars by known traced arrays made by `constant`."""
    if isinstance(x, np.ndarray):
        return constant(x, ARRAY)
    if isinstance(x, np.generic):
        return constant(x, SCALAR)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(from_numpy_results(i, constant) for i in x))
    if isinstance(x, _CONTAINERS):
        return type(x)(from_numpy_results(i, constant) for i in x)
    return x
