# SPDX-License-Identifier: Apache-2.0
"""What random programs compute: names of known types, and expressions of them.

Values have a type that statements keep: what differs is what the code decides.  Where a branch
gives another dtype, only arithmetic that does not tell them apart is done with the result.
Numbers are multiples of powers of two, whose sums are exact in any order.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Any, Final, TypeVar

from tests.control.random_source import DTYPES

T = TypeVar("T")

__all__ = ["NUMBERS", "Values", "Variable"]

#: types of values: a Python number by its first letter, an array by its dtype
NUMBERS: Final = ("i", "f", "b")


@dataclasses.dataclass
class Variable:
    """A name: its type, and for arrays the group of equal lengths it belongs to."""

    name: str
    type: str
    length: Any = None


class Values:
    """The names of a program, and random expressions of them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        r = self.rng
        self.arrays = (r.choice("FFFGI"), r.choice("FFGIIS"))
        self.scope: list[Variable] = [
            Variable("x", self.arrays[0], "n"), Variable("y", self.arrays[1], "n"),
            Variable("s", "f"), Variable("n", "i"),
        ]  # fmt: skip
        self.counters: set[str] = set()
        self.made = 0
        self.loops: list[bool] = []
        self.guarded = r.random() < 0.8  # whether indices stay inside
        self.lists: list[Variable] = []
        self.nested: list[str] = []
        self.budget = r.randrange(4, 16)
        self.returns = [r.choice("iffbFGI") for _ in range(r.randrange(1, 4))]
        self.raises = r.random() < 0.15
        self.maybe: list[Variable] = []
        self.inside = 0
        self.counts = r.random() < 0.7  # whether loops run `n` times, which then stays small

    def pick(self, *choices: T) -> T:
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self, prefix: str = "v") -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def variables(self, kinds: str) -> list[Variable]:
        return [v for v in self.scope if v.type in kinds]

    # --- expressions

    def number(self, kind: str, depth: int = 2) -> str:
        make = {"i": self.integer, "f": self.real, "b": self.truth}[kind]
        return make(depth)

    def integer(self, depth: int = 2) -> str:
        known = [v.name for v in self.variables("i")]
        if depth <= 0 or self.chance(0.3):
            return self.pick(str(self.rng.randrange(-3, 6)), *known, *known)
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        array = self.array_name("FGISB")
        ints = self.array_name("IS")
        choices = [
            f"({a} + {b})", f"({a} - {b})", f"({a} + 1)", f"({a} % {self.pick(3, 5, 7)})",
            f"({a} // {self.pick(2, 3)})", f"({a} & {self.pick(3, 6)})",
            f"({a} ^ {self.pick(1, 5)})",
            f"({a} >> 1)", f"(({a}) % 50 * 2)", f"({a} if {self.truth(depth - 1)} else {b})",
            f"max({a}, {b})", f"min({a}, {b})", f"abs({a})", f"len({array})",
            f"int(({array} > {self.constant('f')}).sum())", f"({a} % 13 | {self.pick(1, 4)})",
            f"steps({a} % 9)", f"int({self.real(depth - 1)} // 1 % 64)", f"{array}.size",
            f"(-{a})", f"({a} % 4 << 1)", f"~({a} % 9)",
        ]  # fmt: skip
        if ints:
            choices += [self.element(ints, "i", a), f"int({ints}.sum() % 64)"]
        return self.pick(*choices)

    def constant(self, kind: str) -> str:
        if kind == "f":
            return self.pick("0.5", "1.0", "-1.5", "2.0", "0.0", "3.5")
        return str(self.rng.randrange(-2, 5))

    def real(self, depth: int = 2) -> str:
        known = [v.name for v in self.variables("f")]
        if depth <= 0 or self.chance(0.3):
            return self.pick(self.constant("f"), *known, *known)
        a, b = self.real(depth - 1), self.real(depth - 1)
        array = self.array_name("FF")
        choices = [
            f"({a} + {b})", f"({a} - {b})", f"({a} * 0.5)", f"({a} % 8.0)", f"abs({a})",
            f"max({a}, {b})", f"min({a}, {b})", f"({a} if {self.truth(depth - 1)} else {b})",
            f"({a} + {self.integer(depth - 1)})", f"float({self.integer(depth - 1)})",
            f"(-{a})",
            f"({a} // 0.5 % 16.0)", f"({self.integer(depth - 1)} % 16 / 2)",
        ]  # fmt: skip
        if array:
            choices += [
                f"float({array}.sum() % 64.0)",
                f"({array}.sum() % 64.0 + 0.0)",
                self.element(array, "f", self.integer(depth - 1)),
                f"float(np.abs({array}).sum() % 32.0)",
                f"pick({array}, {self.integer(0)}, {a})",
            ]
        return self.pick(*choices)

    def element(self, array: str, kind: str, index: str) -> str:
        cast = {"i": "int", "f": "float", "b": "bool"}[kind]
        default = {"i": "0", "f": "0.0", "b": "False"}[kind]
        where = self.pick(index, "0", "-1", index)
        if where not in {"0", "-1"}:
            where = f"{where} % len({array})"
        value = f"{array}[{where}]"
        value = f"{cast}({value})" if self.chance(0.7) else f"({value} + {default})"
        return f"({value} if len({array}) else {default})" if self.guarded else value

    def array_name(self, kinds: str) -> str:
        known = [v.name for v in self.variables(kinds)]
        return self.rng.choice(known) if known else ""

    def truth(self, depth: int = 2) -> str:
        known = [v.name for v in self.variables("b")]
        if depth <= 0:
            return self.pick(
                f"{self.real(0)} > {self.constant('f')}", f"{self.integer(0)} < 2", *known
            )
        a, b = self.truth(depth - 1), self.truth(depth - 1)
        array = self.array_name("FGIS")
        i, j = self.integer(depth - 1), self.integer(depth - 1)
        f, g = self.real(depth - 1), self.real(depth - 1)
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        c = self.constant("f")
        choices = [
            f"{f} {op} {g}", f"{i} {op} {j}", f"{f} {op} {c}",
            f"{i} {op} {self.constant('i')}",
            f"({a}) and ({b})", f"({a}) or ({b})", f"not ({a})", f"{c} < {f} <= {g}",
            f"{i} % 2 == 0", f"({array} {op} {c}).any()", f"({array} {op} {c}).all()",
            f"{array}.sum() {op} {c}", f"0 <= {i} < len({array})",
            f"len({array}) {op} {self.rng.randrange(4)}",
            f"({a}) == ({b})", f"{i} in (0, 1, {j})", f"bool({a})",
        ]  # fmt: skip
        return self.pick(*choices)

    def array(self, kind: str, length: Any, depth: int = 2) -> str:
        """Return an expression of an array that no other name holds; of a known length."""
        known = [v.name for v in self.variables(kind) if v.length == length]
        others = [v.name for v in self.variables("FGISB") if v.length == length]
        dtype = DTYPES[kind]
        if not others:
            return f"np.zeros(3, {dtype!r})"
        if not known or depth <= 0:
            return f"{self.rng.choice(others)}.astype({dtype!r})"
        a = self.rng.choice(known)
        b = self.array(kind, length, depth - 1) if self.chance(0.5) else a
        if kind == "B":
            return self.pick(f"({a} & {b})", f"({a} | {b})", f"~{a}", f"{a}.copy()")
        test = self.rng.choice(others)
        k = self.constant("i" if kind in "IS" else "f")
        choices = [
            f"({a} + {b})", f"({a} - {b})", f"np.maximum({a}, {b})", f"({a} + {k})", f"-{a}",
            f"np.abs({a})", f"{a}.copy()", f"np.where({test} > 0, {a}, {b})", f"({a} % 8)",
            f"{a}[::-1].copy()", f"np.zeros_like({a})",
            f"np.where({self.truth(0)}, {a}, {b})",
        ]  # fmt: skip
        if kind in "FG":
            choices.append(f"({a} * 0.5)")
        if kind == "F":
            choices.append(f"({a} + {self.real(1)})")
        if kind in "FI":
            choices.append(f"np.cumsum({a}) % 32")
        return self.pick(*choices)
