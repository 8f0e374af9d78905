# SPDX-License-Identifier: Apache-2.0
"""Symbolic dimensions: functions on sizes that are ints or `Dim`s.

A size that is provably constant is always an int. `Dim` is in `dim_object`, the owner of
symbols and guards in `shape_env`; both are importable from here.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeVar

from .dim_atoms import Symbol
from .dim_fold import Algebra, Evaluation, evaluate_poly, fold_poly
from .dim_object import HOOKS, Dim, DimLike, Hooks, as_poly
from .dim_polynomial import ZERO, constant
from .dim_rules import floordiv, maximum, minimum, nonneg, pos, select
from .dim_text import Printer, display
from .guards import Guard, check_guards, guards_source, reduce_guards
from .shape_env import (
    OPPOSITE,
    ShapeEnv,
    are_same,
    broadcast_dim,
    broadcast_shapes,
    is_one,
    require_equal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from .dim_polynomial import Poly

__all__ = [
    "HOOKS",
    "OPPOSITE",
    "Algebra",
    "Dim",
    "DimLike",
    "Evaluation",
    "Guard",
    "Hooks",
    "ShapeEnv",
    "Symbol",
    "are_same",
    "as_poly",
    "broadcast_dim",
    "broadcast_shapes",
    "check_guards",
    "dim_max",
    "dim_min",
    "dim_prod",
    "dim_sum",
    "evaluate",
    "fold",
    "guards_source",
    "has_data",
    "hint_of",
    "is_dim",
    "is_empty",
    "is_one",
    "key",
    "lower",
    "onnx_name",
    "places_in_slice",
    "python_source",
    "quotient",
    "reduce_guards",
    "require_equal",
    "same",
    "slice_bounds",
    "symbols_of",
    "upper",
]

T = TypeVar("T")


# ---- questions that never add a guard


def is_dim(value: object) -> bool:
    """Tell whether a value is a symbolic size."""
    return isinstance(value, Dim)


def key(dim: DimLike) -> Hashable:
    """Hashable that is equal for structurally equal sizes of one environment."""
    return dim.poly if isinstance(dim, Dim) else int(dim)


def same(a: DimLike, b: DimLike) -> bool:
    """Tell whether two sizes are provably equal, the guards so far taken into account."""
    if a is b:
        return True
    if isinstance(a, Dim):
        return a.env.are_equal(a.poly, as_poly(b))
    return b.env.are_equal(constant(a), b.poly) if isinstance(b, Dim) else a == b


def lower(dim: DimLike) -> int | None:
    """Greatest known lower bound, None when there is none."""
    return dim.env.bounds(dim.poly)[0] if isinstance(dim, Dim) else dim


def upper(dim: DimLike) -> int | None:
    """Least known upper bound, None when there is none."""
    return dim.env.bounds(dim.poly)[1] if isinstance(dim, Dim) else dim


def symbols_of(dim: DimLike) -> tuple[Symbol, ...]:
    """Symbols of a size, each once, in order of appearance."""
    return dim.poly.symbols if isinstance(dim, Dim) else ()


def has_data(dim: DimLike) -> bool:
    """Tell whether a size depends on array data."""
    return isinstance(dim, Dim) and dim.poly.data


def hint_of(dim: DimLike) -> int | None:
    """Value in the example, None when it is not known."""
    return dim.poly.hint if isinstance(dim, Dim) else dim


def evaluate(dim: DimLike, values: Mapping[Symbol, int]) -> int:
    """Exact value for given symbols.

    Raises
    ------
    KeyError
        A symbol has no value.
    ZeroDivisionError
        A divisor is zero there.
    """
    return evaluate_poly(dim.poly, values) if isinstance(dim, Dim) else dim


def fold(dim: DimLike, algebra: Algebra[T], memo: dict[object, T] | None = None) -> T:
    """Interpret a size bottom-up.

    Parameters
    ----------
    dim
        Size to interpret.
    algebra
        What each construct becomes.
    memo
        Results of earlier folds with this algebra; parts found in it are shared.
    """
    return fold_poly(as_poly(dim), algebra, {} if memo is None else memo)


def python_source(dim: DimLike, names: Mapping[Symbol, str]) -> str:
    """Python expression of a size, in parentheses unless it needs none."""
    return Printer(names, code=True).operand(as_poly(dim))


def onnx_name(dim: DimLike) -> str:
    """Text for a model's dim_param, such as `max(N - 2, 0)`."""
    return display(as_poly(dim))


# ---- arithmetic beyond the operators


def _env(*dims: object) -> ShapeEnv | None:
    return next((dim.env for dim in dims if isinstance(dim, Dim)), None)


def _apply(compute: Callable[..., Poly], *dims: DimLike) -> DimLike:
    env = _env(*dims)
    out = compute(*(as_poly(dim) for dim in dims))
    if env is not None:
        return env.dim(out)
    assert out.value is not None
    return out.value


def dim_max(a: DimLike, b: DimLike) -> DimLike:
    """Larger of two sizes, without a guard."""
    return _apply(maximum, a, b)


def dim_min(a: DimLike, b: DimLike) -> DimLike:
    """Smaller of two sizes, without a guard."""
    return _apply(minimum, a, b)


def quotient(total: DimLike, divisor: DimLike) -> DimLike:
    """Divide sizes where NumPy itself refuses a zero divisor (``reshape(n, -1)``).

    A trace that serves calls takes the guard that the divisor is not zero, so that NumPy's
    error comes at such a size; a model needs no assumption: NumPy has no answer there.

    Raises
    ------
    ZeroDivisionError
        The divisor is zero, or is zero in the example.
    """
    if not isinstance(divisor, Dim) or divisor.env.policy == "guard":
        return total // divisor
    if hint_of(divisor) == 0:
        message = "the divisor is zero in the example"
        raise ZeroDivisionError(message)
    return _apply(floordiv, total, divisor)


def is_empty(n: DimLike) -> bool:
    """Tell whether a size is 0 where NumPy itself refuses that, as `quotient` does."""
    if isinstance(n, Dim) and n.env.policy != "guard":
        return hint_of(n) == 0
    return n == 0


def dim_prod(dims: Iterable[DimLike]) -> DimLike:
    """Product of sizes, 1 for none."""
    out: Any = 1
    for dim in dims:
        out = out * dim
    return int(out) if not isinstance(out, Dim) else out


def dim_sum(dims: Iterable[DimLike]) -> DimLike:
    """Sum of sizes, 0 for none."""
    out: Any = 0
    for dim in dims:
        out = out + dim
    return int(out) if not isinstance(out, Dim) else out


def slice_bounds(
    start: DimLike | None, stop: DimLike | None, step: DimLike | None, n: DimLike
) -> tuple[DimLike, DimLike, DimLike]:
    """Do what `slice(start, stop, step).indices(n)` does, and count; adds no guard.

    Parameters
    ----------
    start, stop
        Ends as written, None when left out.
    step
        Nonzero; a symbolic one is frozen. None is 1.
    n
        Length of the axis.

    Returns
    -------
    start, stop, length
        Ends after clamping, and the number of items.

    Raises
    ------
    ValueError
        The step is zero.
    """
    by = 1 if step is None else operator.index(step)
    if by == 0:
        message = "slice step cannot be zero"
        raise ValueError(message)
    env = _env(n, start, stop)
    if env is None:
        return _int_bounds(slice(start, stop, by), n)  # type: ignore[arg-type]
    key = ("slice", _part(start), _part(stop), by, as_poly(n))
    found: tuple[DimLike, DimLike, DimLike] | None = env.memo.get(key)
    if found is None:
        ends = [None if x is None else as_poly(x) for x in (start, stop)]
        begin, end, length = _poly_bounds(ends[0], ends[1], by, as_poly(n))
        found = env.memo[key] = env.dim(begin), env.dim(end), env.dim(length)
    return found


def places_in_slice(
    start: DimLike | None, stop: DimLike | None, step: int, n: DimLike
) -> DimLike:
    """Count the items of a slice: the last of `slice_bounds`, sooner for the commonest.

    These leave out so many items at the start and so many at the end.
    """
    if step == 1 and isinstance(n, Dim):
        first = 0 if start is None else start
        last = 0 if stop is None else stop
        plain = type(first) is int and type(last) is int
        if plain and first >= 0 and (stop is None or last < 0):
            return n.env.dim(pos(n.poly.shifted(int(last - first))))
    return slice_bounds(start, stop, step, n)[2]


def _part(end: DimLike | None) -> Hashable:
    return end.poly if isinstance(end, Dim) else end


def _int_bounds(places: slice, n: int) -> tuple[int, int, int]:
    start, stop, step = places.indices(n)
    return start, stop, len(range(start, stop, step))


def _poly_bounds(
    start: Poly | None, stop: Poly | None, by: int, n: Poly
) -> tuple[Poly, Poly, Poly]:
    least, most = (ZERO, n) if by > 0 else (constant(-1), n - 1)
    first, last = (least, most) if by > 0 else (most, least)
    begin = first if start is None else _clamped(start, n, least, most)
    end = last if stop is None else _clamped(stop, n, least, most)
    span = pos(end - begin if by > 0 else begin - end)
    count = abs(by)
    return begin, end, span if count == 1 else floordiv(span + (count - 1), constant(count))


def _clamped(index: Poly, n: Poly, least: Poly, most: Poly) -> Poly:
    if nonneg(index):
        return minimum(index, most)
    if nonneg(-index - 1):
        return maximum(index + n, least)
    return select(index, maximum(index + n, least), minimum(index, most))
