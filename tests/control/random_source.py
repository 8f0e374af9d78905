# SPDX-License-Identifier: Apache-2.0
"""Random programs as text, as functions, and the arguments they are called with."""

from __future__ import annotations

import dataclasses
import linecache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["DTYPES", "HELPERS", "Line", "Made", "inputs_of", "loaded", "source", "text_of"]

#: dtypes by the letter of a type
DTYPES: Final = {"F": "float64", "G": "float32", "I": "int64", "B": "bool", "S": "int8"}

HELPERS: Final = """\
import numpy as np


def pick(a, k, low):
    if len(a) == 0:
        return low
    if a[k % len(a)] > low:
        return a[k % len(a)]
    return low


def lower(a, top):
    for i in range(len(a)):
        if a[i] > top:
            a[i] = top
            if i > 2:
                return i
    return -1


def halve(a):
    if a.sum() < 0:
        return
    a *= 0.5
    if a.sum() > 1:
        a[:1] = 0
        return
    a += 1


def steps(k):
    n = 0
    while k > 1 and n < 6:
        k = k // 2 if k % 2 == 0 else k + 1
        n += 1
    return n


def first_and_last(a, other):
    if a.size < 2:
        return other, other
    return a[0], a[-1]


"""


@dataclasses.dataclass
class Line:
    """A statement: its text, and the lines under it."""

    text: str
    body: list[Line] = dataclasses.field(default_factory=list)
    needed: bool = False


@dataclasses.dataclass
class Made:
    """A random function and the types of its arguments."""

    seed: int
    body: list[Line]
    arrays: tuple[str, str]


def text_of(lines: Sequence[Line], depth: int = 1) -> Iterator[str]:
    """Yield the text of statements."""
    for line in lines:
        yield "    " * depth + line.text
        if line.text.endswith(":"):
            if line.body:
                yield from text_of(line.body, depth + 1)
            else:
                yield "    " * (depth + 1) + "pass"


def source(made: Made) -> str:
    """Return the text of a module with the function `f`."""
    return HELPERS + "\n".join(["def f(x, y, s, n):", *text_of(made.body)]) + "\n"


def loaded(made: Made) -> Callable[..., Any]:
    """Return the function, compiled from a text that `linecache` knows."""
    text = source(made)
    name = f"<random program {made.seed} {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = ModuleType("random_program")
    exec(compile(text, name, "exec"), vars(module))
    fn: Callable[..., Any] = module.f
    return fn


def inputs_of(made: Made, sizes: Sequence[int] = (3, 5, 1, 0)) -> list[tuple[Any, ...]]:
    """Return arguments of several sizes, which make conditions come out differently.

    The first ones, which a program is traced with, are of another size with each seed.
    """
    rng = np.random.default_rng(made.seed)
    turn = (0, 0, 0, 1, 2, 3)[made.seed % 6]
    sizes = (*sizes[turn:], *sizes[:turn])
    numbers = [(0.5, 3), (-1.5, 4), (2.0, 0)]
    found = []
    for size in sizes:
        for k in range(3 if size > 1 else 2 - (size == 0)):
            low, high = [(-8, 9), (0, 9), (-8, 1)][k]
            x, y = (
                (rng.integers(low, high, size) / (2 if t in "FG" else 1)).astype(DTYPES[t])
                for t in made.arrays
            )
            found.append((x, y, *numbers[k]))
    return found
