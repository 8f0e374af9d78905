# SPDX-License-Identifier: Apache-2.0
"""Chains of views, copies, writes and reads that hypothesis draws while NumPy performs them.

A step names the array it works on by its place among all arrays made so far, so that several
looks at one memory are written to and read in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LAYOUTS", "Steps", "arrays", "chain", "laid", "perform", "steps"]

Array = np.ndarray[Any, Any]
#: what to do, on which array, with what
Step = tuple[str, int, Any]
Steps = list[Step]

LAYOUTS: Final = ("C", "F", "strided", "negative", "inner", "moved", "repeated")
LIMIT: Final = 200


def laid(shape: tuple[int, ...], layout: str, dtype: str = "int64") -> Array:
    """Return an array of different numbers that lies in memory as `layout` says.

    With "repeated" it is one row again and again, and read-only.
    """
    count = int(np.prod(shape, dtype=int))
    values = np.arange(1, count + 1).reshape(shape).astype(dtype)
    if layout == "F":
        return np.array(values, order="F")
    if not shape:
        return values
    if layout in {"strided", "inner"}:
        index: list[Any] = [slice(None)] * len(shape)
        axis = 0 if layout == "strided" else -1
        index[axis] = slice(None, None, 2)
        view: Array = np.repeat(values, 2, axis)[tuple(index)]
        return view
    if layout == "repeated":
        return np.broadcast_to(values[:1], shape)
    if layout == "negative":
        return np.array(values[::-1], order="C")[::-1]
    if layout == "moved":
        return np.moveaxis(np.array(np.moveaxis(values, 0, -1), order="C"), -1, 0)
    return values


# --- performing ----------------------------------------------------------------------------


def _set(x: Any, what: Any) -> None:
    index, value = what
    x[index] = value


def _add(x: Any, what: Any) -> None:
    index, value = what
    x[index] += value


def _shift(x: Any, what: Any) -> None:
    to, source = what
    x[to] = x[source]


def _mask(x: Any, what: Any) -> None:
    limit, value = what
    x[x > limit] = value


DO: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "view": lambda x, index: x[index],
    "read": lambda x, index: x[index],
    "T": lambda x, _: x.T,
    "transpose": lambda x, axes: x.transpose(axes),
    "swapaxes": lambda x, axes: x.swapaxes(*axes),
    "reshape": lambda x, shape: x.reshape(shape),
    "reversed shape": lambda x, _: x.reshape(x.shape[::-1]),
    "rows": lambda x, _: x.reshape(-1, x.shape[-1]),
    "one more": lambda x, _: x.reshape(*x.shape, 1),
    "flat": lambda x, _: x.reshape(x.size),
    "ravel": lambda x, order: x.ravel(order),
    "expand": np.expand_dims,
    "squeeze": lambda x, _: x.squeeze(),
    "flip": np.flip,
    "copy": lambda x, order: x.copy(order),
    "np.copy": lambda x, order: np.copy(x, order=order),
    "asarray": lambda x, order: np.asarray(x, order=order),
    "conj": lambda x, _: x.conj(),
    "fortran": lambda x, _: np.asfortranarray(x),
    "zeros": lambda x, order: np.zeros(x.shape, x.dtype, order),
    "joined": lambda x, axis: np.concatenate([x, x], axis=axis),
    "sorted": lambda x, axis: np.sort(x, axis=axis),
    "astype": lambda x, dtype: x.astype(dtype),
    "plus": lambda x, n: x + n,
    "plus T": lambda x, _: x + x.T,
    "where": lambda x, n: np.where(x > n, x, n),
    "cumsum": lambda x, axis: np.cumsum(x, axis=axis),
    "matmul": lambda x, _: x.T @ x,
    "zeros_like": lambda x, _: np.zeros_like(x),
    "contiguous": lambda x, _: np.ascontiguousarray(x),
    "fill": lambda x, n: x.fill(n),
    "sort": lambda x, axis: x.sort(axis=axis),
    "set": _set,
    "add": _add,
    "shift": _shift,
    "mask": _mask,
    "plus in place": lambda x, n: np.add(x, n, out=x),
}


def perform(todo: Steps, x: Any) -> list[Any]:
    """Perform steps on an array; returns it and all that they make."""
    made = [x]
    for name, which, what in todo:
        result = DO[name](made[which], what)
        if result is not None:
            made.append(result)
    return made


def chain(todo: Steps) -> Callable[[Any], list[Any]]:
    """Return the function that performs steps."""

    def run(x: Any) -> list[Any]:
        return perform(todo, x)

    return run


# --- drawing -------------------------------------------------------------------------------


@st.composite
def arrays(
    draw: Any, sizes: Any = None, layouts: Any = None
) -> tuple[tuple[int, ...], str, str]:
    """Draw the shape, layout and dtype of an argument."""
    sizes = sizes if sizes is not None else st.integers(0, 4)
    shape = tuple(draw(st.lists(sizes, min_size=0, max_size=4)))
    layout = draw(layouts if layouts is not None else st.sampled_from(LAYOUTS))
    return shape, layout, draw(st.sampled_from(("int64", "float64", "int8")))


def _slice(n: int) -> Any:
    bound = st.none() | st.integers(-n - 1, n + 1)
    steps_ = st.sampled_from((None, None, 1, -1, 2, -2, 3, -3))
    return st.builds(slice, bound, bound, steps_)


@st.composite
def _basic(draw: Any, shape: tuple[int, ...]) -> Any:
    parts: list[Any] = []
    used = draw(st.integers(0, len(shape)))
    last = draw(st.booleans())
    axes = range(len(shape) - used, len(shape)) if last else range(used)
    if last and used < len(shape):
        parts.append(Ellipsis)
    for axis in axes:
        if draw(st.integers(0, 7)) == 0:
            parts.append(None)
        n = shape[axis]
        number = n and draw(st.integers(0, 3)) == 0
        parts.append(draw(st.integers(-n, n - 1) if number else _slice(n)))
    if not last and draw(st.booleans()):
        parts.append(Ellipsis)
    return tuple(parts) if len(parts) != 1 or draw(st.booleans()) else parts[0]


@st.composite
def _places(draw: Any, shape: tuple[int, ...]) -> Any:
    """Draw an index with an integer or boolean array in it."""
    at = draw(st.integers(0, len(shape) - 1))
    n = shape[at]
    if draw(st.booleans()):
        part: Any = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    else:
        places = st.lists(st.integers(-n, n - 1), max_size=3) if n else st.just([])
        part = np.array(draw(places), int)
        if part.size and draw(st.booleans()):
            part = part[:, None]
    before = [draw(_slice(k)) for k in shape[:at]]
    after = [draw(_slice(k)) for k in shape[at + 1 : draw(st.integers(at + 1, len(shape)))]]
    return (*before, part, *after)


def _axis(x: Array) -> Any:
    return st.integers(-x.ndim, x.ndim - 1)


@st.composite
def _shape(draw: Any, x: Array) -> tuple[int, ...]:
    rest, sizes = x.size, []
    for _ in range(draw(st.integers(0, 3))):
        n = draw(st.sampled_from([d for d in range(1, max(rest, 1) + 1) if rest % d == 0]))
        sizes.append(n)
        rest //= n
    sizes.append(rest)
    if x.size and draw(st.booleans()):
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    return tuple(sizes)


@st.composite
def _written(draw: Any, x: Array) -> tuple[Any, Any]:
    """Draw an index and what to write there: a number, or an array that fits or broadcasts."""
    index = draw(
        _places(x.shape) if x.ndim and draw(st.integers(0, 3)) == 0 else _basic(x.shape)
    )
    part = np.shape(x[index])
    if draw(st.booleans()):
        return index, draw(st.integers(-9, 9))
    kept = part[draw(st.integers(0, len(part))) :]
    shape = tuple(1 if draw(st.integers(0, 4)) == 0 else n for n in kept)
    count = int(np.prod(shape, dtype=int))
    return index, -np.arange(1, count + 1).reshape(shape)


def _of_any(x: Array) -> dict[str, Any]:
    """Return steps for arrays of every rank: name -> strategy of what goes with it."""
    numbers = st.integers(-3, 9)
    return {
        "view": _basic(x.shape), "T": st.none(), "reshape": _shape(x), "flat": st.none(),
        "ravel": st.sampled_from("CFK"), "one more": st.none(), "reversed shape": st.none(),
        "copy": st.sampled_from("CCF"), "np.copy": st.sampled_from("CFK"), "plus": numbers,
        "asarray": st.sampled_from("CFAK"), "conj": st.none(), "fortran": st.none(),
        "zeros": st.sampled_from("CF"),
        "astype": st.sampled_from(("int64", "float32", "int8")), "where": numbers,
        "set": _written(x), "add": _written(x), "mask": st.tuples(numbers, numbers),
        "fill": numbers, "zeros_like": st.none(), "contiguous": st.none(),
        "squeeze": st.none(), "plus in place": numbers,
    }  # fmt: skip


def _of_axes(x: Array) -> dict[str, Any]:
    """Return steps that need an axis."""
    axis = _axis(x)
    swap = st.tuples(_slice(x.shape[0]), _slice(x.shape[0]))
    return {
        "transpose": st.permutations(range(x.ndim)), "swapaxes": st.tuples(axis, axis),
        "read": _places(x.shape), "flip": axis, "cumsum": axis, "rows": st.none(),
        "joined": axis, "sorted": axis,
        "expand": axis, "shift": swap, "sort": axis, "plus T": st.none(), "matmul": st.none(),
    }  # fmt: skip


@st.composite
def steps(draw: Any, x: Array, most: int = 7) -> Steps:
    """Draw steps that NumPy performs without an exception on an array."""
    made: list[Any] = [x]
    todo: Steps = []
    for _ in range(draw(st.integers(1, most))):
        which = draw(st.integers(0, len(made) - 1))
        if not isinstance(made[which], np.ndarray):
            continue
        array = made[which]
        choices = {**_of_any(array), **(_of_axes(array) if array.ndim else {})}
        name = draw(st.sampled_from(sorted(choices)))
        what = draw(choices[name])
        try:
            result = DO[name](array, what)
        except (ValueError, IndexError):
            continue
        if isinstance(result, np.ndarray) and (result.size > LIMIT or result.ndim > 5):
            continue
        todo.append((name, which, what))
        if result is not None:
            made.append(result)
    return todo
