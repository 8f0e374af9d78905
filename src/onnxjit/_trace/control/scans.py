# SPDX-License-Identifier: Apache-2.0
"""`scan` and `map`: loops over the first axes of arrays that stack what each gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from onnxjit._core.dims import Dim, dim_max, require_equal
from onnxjit._trace.array import Array, wrap
from onnxjit._trace.convert import is_traced
from onnxjit._trace.items import capture_item, python_number
from onnxjit._trace.lists import rows_of
from onnxjit._trace.trace import dim_array

from .statements import for_, list_
from .steps import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnxjit._core.dims import DimLike

__all__ = ["map_", "scan"]

C = TypeVar("C")


def scan(
    f: Callable[[C, Any], tuple[C, Any]],
    init: C,
    xs: Any,
    length: Any = None,
    reverse: bool = False,
) -> tuple[C, Any]:
    """Call a function on each element of arrays, hand a value on, and stack what it gives.

    Does what this does, for one array `xs` and results of one array each::

        carry, ys = init, []
        for x in reversed(xs) if reverse else xs:
            carry, y = f(carry, x)
            ys.append(np.copy(y))
        return carry, np.stack(ys[::-1] if reverse else ys)

    Parameters
    ----------
    f : callable
        ``f(carry, x)`` -> the next carry, of the same structure and ranks, and a result, of
        the same structure and shapes in each iteration.
    init : object
        First carry: numbers and arrays in tuples, lists or dicts. Where a graph carries one
        type, give it the type that `f` makes of it.
    xs : object
        Arrays of one length, possibly in tuples, lists or dicts. `f` is given the same
        structure of their elements along the first axis; None for None.
    length : int, or integer array of one element, optional
        Number of iterations; needed where `xs` has no arrays.
    reverse : bool
        Begin with the last element. Results lie where their elements do.

    Returns
    -------
    carry : object
        The last carry.
    ys : object
        The structure of the results, each number or array stacked along a new first axis.

    Raises
    ------
    ValueError
        The arrays differ in length, the length is not known, or results differ in structure or
        shape.

    Notes
    -----
    ONNX Loop; few iterations of a known number are unrolled. Where there is no element, and
    their number is known before the function runs, `f` is called once on zeros to learn what
    its results are.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import jit_onnx, scan
    >>> def month(money, paid):
    ...     money = money * 1.5 + paid
    ...     return money, {"money": money, "interest": money / 3}
    >>> @jit_onnx
    ... def balance(payments):
    ...     return scan(month, 0.0, payments)
    >>> total, monthly = balance(np.array([100.0, 50.0, 0.0]))
    >>> total, monthly["money"]
    (np.float64(300.0), array([100., 200., 300.]))
    """
    arrays: list[Any] = []
    structure = _Structure.of(xs, arrays)
    trips = _trips(arrays, length)
    carry = init

    def at(i: Any) -> Any:
        place = trips - 1 - i if reverse else i
        return structure.build(_element(x, place) for x in arrays)

    found = list_([])

    def body(x: Any) -> None:
        nonlocal carry
        carry, y = _pair(f(carry, x))
        found.append(_row(y))

    names = ("carry",)
    for_(Steps(trips, at), body, None, names, names, names, ())
    if rows_of(found) is None and not found:
        zeros = structure.build(np.zeros_like(x, shape=x.shape[1:])[()] for x in arrays)
        return carry, _stacked([_row(_nothing(f, init, zeros))], reverse=False, empty=True)
    return carry, _stacked(found, reverse=reverse)


def map_(f: Callable[[Any], Any], xs: Any) -> Any:
    """Call a function on each element of arrays, and stack what it gives.

    Does what ``np.stack([f(x) for x in xs])`` does, for one array `xs` and results of one
    array each.

    Parameters
    ----------
    f : callable
        ``f(x)`` -> a result, of the same structure and shapes in each call.
    xs : object
        Arrays of one length, possibly in tuples, lists or dicts; see `scan`.

    Returns
    -------
    object
        The structure of the results, each number or array stacked along a new first axis.

    Raises
    ------
    ValueError
        See `scan`.

    Notes
    -----
    ONNX Loop; see `scan`. NumPy functions on whole arrays are faster where there are such.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxjit
    >>> @onnxjit.jit_onnx
    ... def products(pairs):
    ...     return onnxjit.map(lambda p: p[0] @ p[1], pairs)
    >>> products((np.ones((3, 2, 2)), np.ones((3, 2)))).tolist()
    [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
    """
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


map_.__name__ = map_.__qualname__ = "map"


# --- structures ------------------------------------------------------------------------------


class _Structure:
    """Containers around numbers and arrays; equal ones are the same object.

    So two results in a list of the graph can be told to be alike.
    """

    __slots__ = ("__weakref__", "children", "keys", "kind")
    known: Final[WeakValueDictionary[Any, _Structure]] = WeakValueDictionary()

    def __init__(self, kind: Any, keys: tuple[Any, ...], children: tuple[_Structure, ...]):
        self.kind: Final = kind
        self.keys: Final = keys
        self.children: Final = children

    @classmethod
    def of(cls, x: Any, leaves: list[Any]) -> _Structure:
        """Describe an object, and add its numbers and arrays to `leaves`."""
        keys: tuple[Any, ...] = ()
        children: tuple[_Structure, ...] = ()
        if isinstance(x, _LEAVES):
            kind: Any = None
            leaves.append(x)
        elif x is None:
            kind = type(None)
        elif type(x) is dict:
            kind, keys = dict, tuple(x)
            children = tuple(cls.of(part, leaves) for part in x.values())
        elif isinstance(x, (list, tuple)):
            kind = list if isinstance(x, list) else type(x)
            children = tuple(cls.of(part, leaves) for part in x)
        else:
            msg = (
                f"a {type(x).__name__} cannot be taken apart or stacked by scan and map; use "
                "numbers, arrays, None, and tuples, lists and dicts of them"
            )
            raise TypeError(msg)
        return cls.known.setdefault((kind, keys, children), cls(kind, keys, children))

    def build(self, leaves: Iterator[Any]) -> Any:
        """Return an object of this structure with other leaves."""
        if self.kind is None:
            return next(leaves)
        if self.kind is type(None):
            return None
        parts = [child.build(leaves) for child in self.children]
        if self.kind is dict:
            return dict(zip(self.keys, parts, strict=True))
        return self.kind(*parts) if hasattr(self.kind, "_fields") else self.kind(parts)


_LEAVES: Final = (bool, int, float, complex, Dim, Array, np.ndarray, np.generic)


# --- elements and their number -------------------------------------------------------------


def _element(x: Any, place: Any) -> Any:
    return x[place] if isinstance(place, int) or is_traced(x) else capture_item(x, place)


def _trips(arrays: list[Any], length: Any) -> Any:
    """Return the number of iterations, an int or a Dim."""
    for x in arrays:
        if not getattr(x, "ndim", 0):
            msg = f"scan and map run over the first axis of arrays, and {x!r:.40} has none"
            raise ValueError(msg)
    sizes = [x.shape[0] for x in arrays]
    if length is not None:
        sizes.append(_number(length))
    if not sizes:
        msg = "scan and map need an array in xs, or length="
        raise ValueError(msg)
    if not all(_equal(sizes[0], n) for n in sizes[1:]):
        text = ", ".join(map(str, sizes))
        msg = f"the arrays of scan and map, and length=, differ in length: {text}"
        raise ValueError(msg)
    return sizes[0]


def _number(length: Any) -> DimLike:
    number: Any = python_number(length, "i") if _is_traced_array(length) else length
    if isinstance(number, Dim):
        return dim_max(number, 0)
    number = number.__index__()
    if number < 0:
        msg = f"length is {number}; it must not be negative"
        raise ValueError(msg)
    return int(number)


def _is_traced_array(x: Any) -> bool:
    """Whether an object is an array of a trace."""
    return isinstance(x, Array) and is_traced(x)


def _equal(a: DimLike, b: DimLike) -> bool:
    env = next((n.env for n in (a, b) if isinstance(n, Dim)), None)
    return a == b if env is None else require_equal(env, a, b)


# --- results -------------------------------------------------------------------------------


def _pair(results: Any) -> tuple[Any, Any]:
    if isinstance(results, (tuple, list)) and len(results) == 2:
        carry, y = results
        return carry, y
    msg = f"scan needs f to return a pair (carry, y); it has returned {results!r:.60}"
    raise TypeError(msg)


def _row(y: Any) -> tuple[Any, ...]:
    """Return a result as a structure and its leaves, which nobody else can change."""
    leaves: list[Any] = []
    structure = _Structure.of(y, leaves)
    return (structure, *map(_own, leaves)) if leaves else (structure, 0)


def _own(leaf: Any) -> Any:
    """Return a copy of an array, anything else as it is."""
    if _is_traced_array(leaf):
        return wrap(leaf._value, leaf._kind)
    return leaf.copy() if isinstance(leaf, (Array, np.ndarray)) else leaf


def _nothing(f: Callable[[Any, Any], Any], init: Any, x: Any) -> Any:
    """Return what `f` gives for an element that is not there."""
    leaves: list[Any] = []
    structure = _Structure.of(init, leaves)
    with np.errstate(all="ignore"):  # zeros are nobody's data
        return _pair(f(structure.build(map(_own, leaves)), x))[1]


def _stacked(found: list[Any], *, reverse: bool, empty: bool = False) -> Any:
    """Return results stacked, in the structure that each of them has."""
    rows = rows_of(found)
    if rows is not None:
        structure = rows.element.template[2][0][1]
        columns: list[Any] = [wrap(c._value) for c in rows.columns]
    else:
        structure, columns = found[0][0], _columns(found)
    places = slice(0, 0) if empty else slice(None, None, -1 if reverse else 1)
    if places != slice(None, None, 1):
        columns = [c[places] for c in columns]
    return structure.build(iter(columns))


def _columns(found: list[Any]) -> list[Any]:
    if any(row[0] is not found[0][0] for row in found):
        _differ()
    parts = zip(*(row[1:] for row in found), strict=True)
    return [np.stack([_stackable(leaf) for leaf in each]) for each in parts]


def _stackable(leaf: Any) -> Any:
    return dim_array(leaf) if isinstance(leaf, Dim) else leaf


def _differ() -> NoReturn:
    msg = "the results of scan and map differ in structure from one element to the next"
    raise ValueError(msg)
