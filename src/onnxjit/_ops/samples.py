# SPDX-License-Identifier: Apache-2.0
"""Calls that tests make of rows: arrays of each dtype, and what families have in common.

Nothing is built at import: a row holds a callable, and its samples are made when a test asks.
Every array and NumPy scalar of a sample is an argument of the traced call; whatever else it
has, Python numbers included, is written into the traced function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from .row import Sample, Samples

__all__ = [
    "COMPLEX",
    "DTYPES",
    "FLOATS",
    "FUSED",
    "INTEGERS",
    "MATRICES",
    "NUMBERS",
    "REALS",
    "Make",
    "arithmetic",
    "call",
    "calls",
    "loops",
    "matrices",
    "pairs",
    "reductions",
    "regular",
    "special",
    "vectors",
    "within",
]

Array = np.ndarray[Any, Any]

INTEGERS: Final = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS: Final = ("f2", "f4", "f8")
NUMBERS: Final = (*INTEGERS, *FLOATS)
REALS: Final = ("?", *NUMBERS)
COMPLEX: Final = ("c8", "c16")
DTYPES: Final = (*REALS, *COMPLEX)
#: dtypes that linear algebra tells apart
MATRICES: Final = ("?", "i8", "u1", "f2", "f4", "f8")

#: one call: positional and keyword arguments as they are given to the NumPy function
call: Final = Sample


# --- values -------------------------------------------------------------------------------


def special(dtype: str, count: int = 40) -> Array:
    """Return values where functions tend to go wrong, then ordinary ones.

    Parameters
    ----------
    dtype : str
        A bool, integer, float or complex dtype.
    count : int
        How many ordinary values follow.

    Returns
    -------
    (n,) dtype
        Limits, zeros of both signs, NaN, infinities, denormals, halves, small and random
        numbers; of complex numbers pairs of some of these.
    """
    random = np.random.default_rng(3)
    kind = np.dtype(dtype).kind
    if kind == "c":
        return _special_complex(dtype, count, random)
    if kind == "b":
        return np.array([False, True, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        edge = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 7, 5]
        edge += [-1, -2, -3, -7] if kind == "i" else [limits.max // 2, limits.max // 2 + 1]
        wide = random.integers(limits.min, limits.max, count, dtype, endpoint=True)
        small = random.integers(max(limits.min, -9), 20, 20).astype(dtype)
        return np.concatenate([np.array(edge, dtype), wide, small])
    info = np.finfo(dtype)
    values: list[Any] = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 0.3, 1e-3, 10, 100, 1, -1, 3]
    values += [0.5, -0.5, 1.5, 2.5, -2.5, info.max, info.min, info.tiny, -info.tiny]
    values += [info.smallest_subnormal, *random.normal(size=20)]
    values += list(random.normal(size=count) * 10 ** random.uniform(-4, 4, count))
    return np.array(values).astype(dtype)


#: parts of which every pair is a special complex number
_PARTS: Final = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan)


def _special_complex(dtype: str, count: int, random: Any) -> Array:
    """Return pairs of special parts, numbers near 1, and numbers of many sizes."""
    parts = np.meshgrid(_PARTS, _PARTS)
    near = 1 + random.normal(size=(2, count)) * 10 ** random.uniform(-6, 0, count) - [[0], [1]]
    wide = random.normal(size=(2, count)) * 10 ** random.uniform(-4, 2, (2, count))
    made = np.concatenate([np.reshape(parts, (2, -1)), near, wide], axis=1)
    return _joined(made[0], made[1], dtype)


def _joined(re: Any, im: Any, dtype: str) -> Array:
    z = np.empty(np.shape(re), dtype)
    z.real, z.imag = re, im
    return z


class Make:
    """Makes arrays of one dtype; the same calls give the same arrays.

    Attributes
    ----------
    dtype : str
        One of `DTYPES`.
    """

    __slots__ = ("_random", "dtype")

    def __init__(self, dtype: str) -> None:
        self.dtype: Final = dtype
        self._random: Final = np.random.default_rng(7)

    def __call__(self, *shape: int) -> Array:
        """Return small numbers, some equal; eighths for floats, so that sums are exact."""
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            return self.mask(*shape)
        if kind == "c":
            re, im = self._random.integers(-5, 6, (2, *shape)) / 8
            return _joined(re, im, self.dtype)
        low = 0 if kind == "u" else -9
        numbers = self._random.integers(low, 12, shape)
        return np.asarray(numbers / 8 if kind == "f" else numbers).astype(self.dtype)

    def special(self, *shape: int) -> Array:
        """Return limits, NaN, infinities and signed zeros, in any order."""
        values = special(self.dtype, 10)
        return np.asarray(self._random.choice(values, shape)).astype(self.dtype)

    def wide(self, *shape: int) -> Array:
        """Return integers of the whole range, normal numbers for floats."""
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            return self.mask(*shape)
        if kind in "iu":
            limits = np.iinfo(self.dtype)
            return self._random.integers(
                limits.min, limits.max, shape, self.dtype, endpoint=True
            )
        if kind == "c":
            re, im = self._random.normal(size=(2, *shape))
            return _joined(re, im, self.dtype)
        return np.asarray(self._random.normal(size=shape)).astype(self.dtype)

    def nearly(self, *shape: int) -> Array:
        """Return numbers as `wide` does, with NaN among floats."""
        x = self.wide(*shape)
        if x.dtype.kind in "fc" and x.size > 4:
            x.flat[[1, x.size // 2]] = np.nan
        return x

    def positive(self, *shape: int) -> Array:
        """Return small numbers above zero."""
        return np.asarray(self._random.integers(1, 9, shape)).astype(self.dtype)

    def rising(self, n: int) -> Array:
        """Return numbers in rising order; two are equal where the dtype has room."""
        return np.sort(self(n))

    def mask(self, *shape: int) -> Array:
        """Return truth values."""
        return np.asarray(self._random.random(shape) < 0.5)

    def places(self, below: int, *shape: int) -> Array:
        """Return int64 places from ``-below`` to ``below - 1``."""
        return np.asarray(self._random.integers(-below, below, shape))

    def counts(self, below: int, *shape: int) -> Array:
        """Return int64 numbers from 0 to ``below - 1``."""
        return np.asarray(self._random.integers(0, below, shape))

    def scalar(self, value: Any = 3) -> Any:
        """Return a NumPy scalar."""
        return np.dtype(self.dtype).type(value)


def calls(make: Callable[[Make], Iterable[Sample]], dtypes: Sequence[str] = DTYPES) -> Samples:
    """Return samples: the same calls for each dtype.

    Parameters
    ----------
    make : callable
        ``make(m)`` returns the calls for the dtype of `m`, a `Make`.
    dtypes : sequence of str
        Which dtypes.
    """

    def samples() -> Iterator[Sample]:
        for dtype in dtypes:
            for number, each in enumerate(make(Make(dtype))):
                name = f"{dtype}-{each.id or number}"
                yield Sample(*each.args, id=name, **each.kwargs)

    return samples


def within(ulp: float) -> dict[str, float]:
    """Return the accepted error of a row: the same for each dtype of floats."""
    return dict.fromkeys(_INEXACT, ulp)


#: accepted error of products of complex numbers, whose additions NumPy fuses where it can
FUSED: Final = {"complex64": 2.0, "complex128": 2.0}
_INEXACT: Final = ("float16", "float32", "float64", "complex64", "complex128")


# --- elementwise --------------------------------------------------------------------------


def loops(ufunc: np.ufunc) -> list[tuple[str, ...]]:
    """Return the input dtypes of a ufunc's loops over numbers, each once."""
    found: dict[tuple[str, ...], None] = {}
    for loop in ufunc.types:
        ins, outs = loop.split("->")
        if set(ins + outs) <= set("?bBhHiIlLqQefdFD"):
            names = (np.dtype(c).str[1:] for c in ins)
            found[tuple("?" if name == "b1" else name for name in names)] = None
    return list(found)


Keep = Callable[..., Any]


def pairs(
    ufunc: np.ufunc, keep: Keep | None = None, second: Callable[[str], Array] = special
) -> Samples:
    """Return samples of a ufunc: pairs of special values for each of its loops, and shapes.

    Parameters
    ----------
    keep : callable, optional
        ``keep(*arrays)`` says which elements NumPy takes.
    second : callable
        Values of operands after the first, by dtype.
    """

    def samples() -> Iterator[Sample]:
        every = loops(ufunc)
        for dtypes in every:
            count = 40 if len(dtypes) == 1 else 10
            values = [special(t, count) if i == 0 else second(t) for i, t in enumerate(dtypes)]
            if len(values) > 2:
                values = [v[:: max(1, len(v) // _MANY)] for v in values]
            args = [a.ravel() for a in np.meshgrid(*values, indexing="ij")]
            if keep is not None:
                kept = keep(*args)
                args = [a[kept] for a in args]
            yield Sample(*args, id="-".join(dtypes))
        for dtypes in (every[0], every[-1]):
            yield from _shapes(dtypes)

    return samples


#: values of each operand of a ufunc that has more than two
_MANY: Final = 40


def _shapes(dtypes: tuple[str, ...]) -> Iterator[Sample]:
    """Yield calls with scalars, 0-d, empty and broadcast arrays, and other layouts."""
    one = [np.ones(6, t) for t in dtypes]
    name = "-".join(dtypes)
    yield Sample(*(a[0] for a in one), id=f"{name}-scalars")
    yield Sample(*(a[0].reshape(()) for a in one), id=f"{name}-0d")
    yield Sample(*(a[:0] for a in one), id=f"{name}-empty")
    yield Sample(*(a.reshape(2, 3).T[::-1] for a in one), id=f"{name}-strided")
    if len(one) < 2:
        return
    x, *rest = one
    yield Sample(
        x.reshape(2, 1, 3), *(a.reshape(2, 3, 1) for a in rest), id=f"{name}-broadcast"
    )
    yield Sample(x.reshape(2, 3), *(a[0] for a in rest), id=f"{name}-array-scalar")
    yield Sample(x[0], *(a[:0] for a in rest), id=f"{name}-scalar-empty")
    yield Sample(x, *(1 for _ in rest), id=f"{name}-number")
    yield Sample(*(1 for _ in rest), rest[-1], id=f"number-{name}")


# --- families of functions ----------------------------------------------------------------


def vectors(**options: Any) -> Samples:
    """Return samples of a function of one array: ranks 0 to 3, empty, special values."""
    return calls(
        lambda m: [
            call(x, **options)
            for x in (m.special(30), m(3, 4), m(2, 1, 3), m(), m(0), m(2, 0), m.scalar(1))
        ]
    )


def matrices(m: Make) -> list[Array]:
    """Return arrays of two axes and more: tall, wide, square, stacked, empty."""
    return [m.special(4, 3), m(3, 5), m(3, 3), m(2, 3, 4), m(0, 3), m(2, 0, 3)]


def regular(m: Make, *shape: int) -> Array:
    """Return matrices of small numbers that are far from singular; tall and wide ones too."""
    x = m(*shape)
    diagonal = np.eye(shape[-2], shape[-1]) * 3 * (1 + np.arange(shape[-1]))
    if x.dtype.kind == "b":
        return np.broadcast_to(diagonal != 0, shape).copy()
    return np.asarray((x % 2 if x.dtype.kind == "u" else x) + diagonal).astype(x.dtype)


def arithmetic(m: Make) -> list[Array]:
    """Return arrays whose sums and products are ordinary."""
    return [m(30), m(3, 4), m(2, 3, 2), m()]


def reductions(
    dtypes: Sequence[str] = DTYPES,
    *,
    values: str = "special",
    where: bool = False,
    initial: bool = False,
    empty: bool = True,
    dtype: str = "",
    several: bool = True,
) -> Samples:
    """Return samples of a reduction.

    Parameters
    ----------
    dtypes : sequence of str
        Which dtypes.
    values : str
        Which arrays of `Make`: ``"special"``, ``"wide"``, ...
    where, initial, empty, several : bool
        Whether it takes those options, axes without elements, and several axes at once.
    dtype : str
        A dtype to accumulate in, for reductions that have the option.
    """

    def make(m: Make) -> Iterator[Sample]:
        x: Array = getattr(m, values)(3, 4, 2)
        yield call(x)
        yield call(x, axis=0)
        yield call(x, -1, keepdims=True)
        yield call(m(5)[::-1], axis=0)
        yield call(m(2, 0), axis=0)
        yield call(m())
        yield call(m.scalar(1))
        if several:
            yield call(x, axis=(0, 2))
            yield call(x, axis=(-1, 0), keepdims=True)
        if empty:
            yield call(m(0))
            yield call(m(3, 0), axis=1)
        yield from _options(m, x, where=where, initial=initial, dtype=dtype)

    return calls(make, dtypes)


def _options(m: Make, x: Array, *, where: bool, initial: bool, dtype: str) -> Iterator[Sample]:
    more: dict[str, Any] = {"initial": 1} if initial else {}
    if where:
        yield call(x, axis=1, where=m.mask(3, 4, 2), **more)
        yield call(x, where=m.mask(4, 1), **more)
    if initial:
        yield call(x, axis=0, initial=3)
        yield call(m(0, 2), axis=0, initial=m.scalar(1))
    if dtype and m.dtype != "c8":  # whose squares are of another accuracy than the sums
        yield call(m(3, 4), axis=0, dtype="c16" if m.dtype == "c16" else dtype)
