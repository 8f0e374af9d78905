# SPDX-License-Identifier: Apache-2.0
"""Arguments of random programs: dtypes, sizes, memory layouts, and arrays that overlap."""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np

__all__ = ["DTYPES", "LAYOUTS", "Call", "arguments", "dtype_name", "lay"]

DTYPES: Final = (
    "float64", "float64", "float64", "int64", "int64", "int8", "uint8", "bool", "float32",
)  # fmt: skip
LAYOUTS: Final = (
    "C", "C", "C", "C", "F", "F", "strided", "reversed", "transposed", "inner", "swapped",
    "repeated",
)  # fmt: skip
RANKS: Final = (1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 0)
OVERLAPS: Final = ("x0[1:]", "x0[:-1]", "x0.T", "x0[::-1]", "x0.reshape(-1)", "x0[...]")


def lay(values: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    """Return an array of equal elements that lies in memory as `layout` says.

    With "repeated" a matrix is its first row again and again, and read-only.
    """
    if layout == "repeated" and values.ndim > 1:
        return np.broadcast_to(values[:1], values.shape)
    if layout == "swapped" and values.ndim > 1:
        return np.array(values.swapaxes(-1, -2), order="C").swapaxes(-1, -2)
    if layout == "F":
        return np.array(values, order="F")
    if layout == "transposed":
        axes = [*range(1, values.ndim), 0] if values.ndim else []
        back = np.argsort(axes).astype(int)
        return np.array(values.transpose(axes), order="C").transpose(back)
    if layout in {"strided", "inner"} and values.ndim:
        axis = 0 if layout == "strided" else -1
        index: list[Any] = [slice(None)] * values.ndim
        index[axis] = slice(None, None, 2)
        view: np.ndarray[Any, Any] = np.repeat(values, 2, axis)[tuple(index)]
        return view
    if layout == "reversed" and values.ndim:
        return np.array(values[::-1], order="C")[::-1]
    return np.array(values, order="C")


def _number(dtype: str, rng: random.Random) -> str:
    if dtype == "bool":
        return rng.choice(("True", "False"))
    if dtype.startswith("float"):
        if rng.random() < 0.06:
            return rng.choice(("nan", "inf", "-inf", "-0.0"))
        return str(rng.randint(-12, 12) / 4)
    low = 0 if dtype == "uint8" else -9
    return str(rng.randint(low, 9))


def _sizes(ndim: int, rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice((3, 3, 3, 4, 4, 2, 2, 5, 1, 0, 7)) for _ in range(ndim))


class Base:
    """One array of a call: dtype, sizes and layout, with elements from a seed."""

    __slots__ = ("dtype", "layout", "seed", "shape")

    def __init__(self, dtype: str, shape: tuple[int, ...], layout: str, seed: int) -> None:
        self.dtype: Final = dtype
        self.shape: Final = shape
        self.layout: Final = layout
        self.seed: Final = seed

    def text(self) -> str:
        """Return the expression that makes the array."""
        rng = random.Random(self.seed)
        count = int(np.prod(self.shape, dtype=int))
        numbers = ", ".join(_number(self.dtype, rng) for _ in range(count))
        array = f"np.array([{numbers}], np.{dtype_name(self.dtype)}).reshape({self.shape})"
        return f"lay({array}, {self.layout!r})"


def dtype_name(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


class Call:
    """The arguments of one call, as text: they are made afresh for each run."""

    __slots__ = ("bases", "picks")

    def __init__(self, bases: list[Base], picks: list[str]) -> None:
        self.bases: Final = bases
        self.picks: Final = picks

    def text(self) -> str:
        """Return statements that leave the arguments in ``args``."""
        lines = [f"x{i} = {base.text()}" for i, base in enumerate(self.bases)]
        return "\n".join([*lines, f"args = ({', '.join(self.picks)},)"])

    def make(self) -> tuple[list[Any], list[np.ndarray[Any, Any]]]:
        """Return fresh arguments, and the arrays behind them."""
        scope: dict[str, Any] = {**_SCOPE}
        exec(self.text(), scope)
        return list(scope["args"]), [scope[f"x{i}"] for i in range(len(self.bases))]

    def resized(self, rng: random.Random) -> Call:
        """Return a call with as many arguments of other sizes and layouts."""
        new = {0: rng.choice((0, 1, 2, 6)), 1: rng.choice((0, 1, 2, 7))}
        sizes = {n: rng.choice((n, new[n % 2])) for n in range(8)}
        bases = [
            Base(
                b.dtype,
                tuple(sizes[n] for n in b.shape),
                rng.choice((b.layout, b.layout, rng.choice(LAYOUTS))),
                b.seed + 1,
            )
            for b in self.bases
        ]
        return Call(bases, self.picks)


_SCOPE: Final[dict[str, Any]] = {"np": np, "lay": lay, "nan": np.nan, "inf": np.inf}


def arguments(rng: random.Random) -> Call:
    """Draw the arguments of a call: some of them one array, some of them parts of others."""
    count = rng.choice((1, 2, 2, 3))
    bases = [
        Base(
            rng.choice(DTYPES),
            _sizes(rng.choice(RANKS), rng),
            rng.choice(LAYOUTS),
            rng.randrange(10**6),
        )
        for _ in range(count)
    ]
    picks = [f"x{i}" for i in range(count)]
    draw = rng.random()
    if draw < 0.10:
        picks.append("x0")
    elif draw < 0.18 and bases[0].shape:
        picks.append(rng.choice(OVERLAPS))
    elif draw < 0.22 and bases[0].shape:
        picks[0] = rng.choice(("x0[1:]", "x0.T", "x0[::2]"))
    return Call(bases, picks)
