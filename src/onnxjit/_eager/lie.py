# SPDX-License-Identifier: Apache-2.0
"""Let computed results lie in memory as NumPy's do: it decides what is a view of them.

The rule of ufuncs is known.  How results of a function lie, NumPy shows: it makes the first
call too, and later ones on operands that lie alike follow suit.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.layout import k_order

from .boundary import as_eager, eager_arrays, from_eager, numpy_result
from .leaves import map_tree
from .results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnxjit._trace.layout import Row

    from .record import Recording

__all__ = [
    "Lies", "how_it_lies", "lie_as_operands", "lying", "shows_order", "sizes_of",
]  # fmt: skip

NDArray = np.ndarray[Any, Any]


# --- ufuncs ---------------------------------------------------------------------------------


def _row(x: NDArray) -> Row:
    return tuple((n, abs(s)) for n, s in zip(x.shape, x.strides, strict=True))


def lie_as_operands(args: Iterable[Any], result: Any) -> Any:
    """Return what a ufunc made of operands, in the memory order of NumPy's result.

    Parameters
    ----------
    args : iterable
        The operands.
    result : Array or tuple of them
        What it made in C order.
    """
    arrays = [x._nd if isinstance(x, Array) else x for x in args]
    operands = [x for x in arrays if isinstance(x, np.ndarray)]
    if all(x.flags.c_contiguous for x in operands):
        return result
    for each in result if isinstance(result, tuple) else (result,):
        if each.ndim > 1:
            order = k_order([_row(x) for x in operands], each.ndim, guard=True)
            _put(each, order, 1)
    return result


def _put(result: Array, order: Sequence[int] | None, gap: int) -> None:
    """Copy an array's buffer to one whose axes lie in `order`, `gap` elements apart."""
    values = result._nd
    if values is None or (order is None and gap == 1):
        return
    axes = list(range(values.ndim)) if order is None else order
    buffer = np.empty([*(values.shape[axis] for axis in axes), gap], values.dtype)[..., 0]
    result._nd = buffer.transpose([axes.index(axis) for axis in range(values.ndim)])
    result._nd[...] = values


# --- functions ------------------------------------------------------------------------------


class Lie:
    """How one array of a result lies.

    Attributes
    ----------
    kind : str
        Of its dtype: data may decide whether numbers are complex.
    argument : int
        Which array of the arguments it is, -1 for a new one.
    sizes : tuple of bool
        Which axes have more than one element: the others lie anyhow.
    order : tuple of int or None
        Axes, outermost first; None is C order.
    gap : int
        Distance of neighbours, in elements.
    writeable : bool
    is_plain : bool
        Whether it is just what onnxruntime makes: a new array in C order.
    """

    __slots__ = ("argument", "gap", "is_plain", "kind", "order", "sizes", "writeable")

    def __init__(self, array: NDArray, argument: int) -> None:
        self.argument: Final = argument
        self.kind: Final = array.dtype.kind
        self.sizes: Final = sizes_of(array)
        # what `np.broadcast_arrays` makes warns of a change to come
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            self.writeable: Final = array.flags.writeable
        self.order: tuple[int, ...] | None = None
        self.gap = 1
        if array.size and any(self.sizes):
            steps = [abs(s) for s, n in zip(array.strides, self.sizes, strict=True) if n]
            self.gap = max(min(steps) // array.itemsize, 1)
            self.order = _order(array, self.sizes)
        new = argument < 0 and self.writeable
        self.is_plain: Final = new and self.order is None and self.gap == 1


def sizes_of(array: Any) -> tuple[bool, ...]:
    """Return which axes are longer than 1."""
    return tuple(n > 1 for n in array.shape)


def _order(array: NDArray, sizes: Sequence[bool]) -> tuple[int, ...] | None:
    """Return the axes by their strides, those of one element outermost; None for C order."""
    long = [axis for axis, n in enumerate(sizes) if n]
    turned = sorted(long, key=lambda axis: -abs(array.strides[axis]))
    if turned == long:
        return None
    return (*(axis for axis, n in enumerate(sizes) if not n), *turned)


#: how the arguments lie -> how the results lie; None: they are views of the arguments
Lies = dict[tuple[Any, ...], list[Lie] | None]
_NEW: Final[Any] = object()
#: a program keeps as many
_CAPACITY: Final = 64


def shows_order(recording: Recording, arguments: Any) -> bool:
    """Whether NumPy can make a call as well, to show how the arrays of its result lie.

    It cannot without consequences where arguments are written to or called.
    """
    if recording.written or not _has_arrays(recording.tree):
        return False
    return not any(callable(x) and not isinstance(x, type) for x in _leaves(arguments))


def _has_arrays(tree: Any) -> bool:
    if isinstance(tree, Result):
        return tree.kind == ARRAY
    return any(map(_has_arrays, tree[1]))


def lying(
    lies: Lies,
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: Sequence[Any],
    run: Callable[[Sequence[Any]], Any],
) -> Any:
    """Return the result of a program in the memory order of NumPy's.

    Parameters
    ----------
    lies : dict
        What is known of the program's results; this call may add to it.
    call, args, kwargs
        The call.
    leaves : sequence
        Arrays and scalars among the arguments.
    run : callable
        ``run(leaves)`` -> the result with ndarrays in C order.
    """
    given = [x for x in leaves if isinstance(x, np.ndarray)]
    key = tuple(map(how_it_lies, given))
    known = lies.get(key, _NEW)
    is_new = known is _NEW
    if is_new:
        known = _remember(lies, key, _learnt(call, args, kwargs, given))
    if known is None:
        return numpy_result(call, args, kwargs)
    made = run(leaves)
    if type(made) is np.ndarray and _is_like(made, known):
        return Array.eager(made)
    if not is_new and not _fits(made, known):
        # data decides how many elements there are along an axis, or of what kind they are
        known = _remember(lies, key, _learnt(call, args, kwargs, given)) or []
    return _placed(as_eager(made), known, eager_arrays((args, kwargs)), given)


def _remember(lies: Lies, key: tuple[Any, ...], found: Any) -> Any:
    if len(lies) >= _CAPACITY:
        lies.clear()
    lies[key] = found
    return found


def how_it_lies(x: NDArray) -> tuple[Any, ...]:
    """Return what NumPy's choice of an order depends on."""
    shape, flags = x.shape, x.flags
    is_long = 0 not in shape and 1 not in shape
    sizes = len(shape) if is_long else tuple(min(n, 2) for n in shape)
    if flags.c_contiguous:
        return sizes, flags.writeable
    levels = sorted({abs(s) for s in x.strides} | {0})
    steps = tuple((levels.index(abs(s)), s < 0) for s in x.strides)
    return sizes, flags.writeable, steps, flags.f_contiguous


def _learnt(
    call: Callable[..., Any], args: Any, kwargs: Any, given: Sequence[NDArray]
) -> list[Lie] | None:
    """Return how the arrays of NumPy's result lie, None where one is a view of an argument."""
    with np.errstate(all="ignore"):
        try:
            result = call(*from_eager(args), **from_eager(kwargs))
        except Exception:  # noqa: BLE001  the program raises it, if it is one
            return []
    found: list[Lie] = []
    for array in _arrays(result):
        same = [i for i, x in enumerate(given) if x is array]
        if not same and (_repeats(array) or any(np.may_share_memory(x, array) for x in given)):
            return None
        found.append(Lie(array, same[0] if same else -1))
    return found


def _repeats(array: NDArray) -> bool:
    """Whether an array shows elements several times, as views do."""
    return any(n > 1 and not s for n, s in zip(array.shape, array.strides, strict=True))


def _leaves(x: Any) -> list[Any]:
    found: list[Any] = []
    map_tree(x, lambda item, _: found.append(item))
    return found


def _arrays(x: Any) -> list[NDArray]:
    """Return the arrays of a result, NumPy's or eager; scalars are none."""
    leaves = (x._nd if isinstance(x, Array) and x._kind == ARRAY else x for x in _leaves(x))
    return [x for x in leaves if isinstance(x, np.ndarray)]


def _is_like(made: NDArray, lies: Sequence[Lie]) -> bool:
    """Whether a result need not be touched."""
    if len(lies) != 1 or not lies[0].is_plain:
        return False
    return made.ndim < 2 or lies[0].sizes == sizes_of(made)


def _fits(made: Any, lies: Sequence[Lie]) -> bool:
    found = [(x.dtype.kind, sizes_of(x)) for x in _arrays(made)]
    return found == [(lie.kind, lie.sizes) for lie in lies]


def _placed(
    made: Any, lies: Sequence[Lie], arguments: Sequence[Array], given: Sequence[NDArray]
) -> Any:
    """Return a result with its arrays laid in memory, or replaced by arguments."""
    if not _fits(made, lies):
        return made
    places = iter(lies)

    def leaf(x: Any, _top: bool) -> Any:
        if not isinstance(x, Array) or x._kind != ARRAY:
            return x
        lie = next(places)
        if lie.argument >= 0:
            return next((a for a in arguments if a._nd is given[lie.argument]), x)
        _put(x, lie.order, lie.gap)
        if x._nd is not None and not lie.writeable:
            x._nd.flags.writeable = False
        return x

    return map_tree(made, leaf)
