# SPDX-License-Identifier: Apache-2.0
"""Random functions of arrays and numbers, with branches, loops, writes and helpers.

A program is a tree of statements, each a line of text with blocks under it, so that a failing
one can be made smaller by leaving statements out. Values have a type that statements keep:
what differs is what the code decides, not what the types of its branches are promoted to.
Numbers are multiples of powers of two, whose sums are exact in any order.
"""

from __future__ import annotations

import dataclasses
import random
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tests.control.random_source import DTYPES, Line, Made

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

__all__ = ["make"]

#: types of values: a Python number by its first letter, an array by its dtype
_NUMBERS: Final = ("i", "f", "b")


@dataclasses.dataclass
class Variable:
    """A name: its type, and for arrays the group of equal lengths it belongs to."""

    name: str
    type: str
    length: Any = None


class _Program:
    """One program being made."""

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

    # --- statements

    def block(self, depth: int, count: int | None = None) -> list[Line]:
        """Return statements; names that are new in them are forgotten after them."""
        before = list(self.scope)
        lines: list[Line] = []
        for _ in range(self.rng.randrange(1, 4) if count is None else count):
            if self.budget <= 0:
                break
            self.budget -= 1
            lines += self.statement(depth)
            if lines and lines[-1].text.startswith(("return", "break", "continue", "raise")):
                break
        self.scope = before
        return lines

    def statement(self, depth: int) -> list[Line]:
        simple: list[Callable[[], list[Line]]] = [
            self.assign, self.assign, self.augmented, self.augmented, self.write, self.write,
            self.write, self.view, self.rebind, self.helper, self.container, self.new,
        ]  # fmt: skip
        if self.chance(0.08):
            return self.nested_function()
        if self.raises and self.chance(0.15):
            return self.fail()
        if depth and self.inside and self.chance(0.12):
            return self.leave()
        if self.inside and self.chance(0.03):
            return [self.result()]
        if depth < 4 and self.chance(0.45):
            compound = [self.if_, self.if_, self.if_, self.while_, self.for_, self.for_]
            return self.rng.choice(compound)(depth)
        return self.rng.choice(simple)()

    def assigned(self) -> list[Variable]:
        fixed = {*self.counters, *("n" if self.counts else "")}
        return [v for v in self.variables("ifb") if v.name not in fixed]

    def assign(self) -> list[Line]:
        v = self.rng.choice(self.assigned())
        if self.chance(0.15):
            same = [w for w in self.assigned() if w.type == v.type]
            w = self.rng.choice(same)
            return [Line(f"{v.name}, {w.name} = {w.name}, {v.name}")]
        return [Line(f"{v.name} = {self.number(v.type)}")]

    def new(self) -> list[Line]:
        kind = self.pick(*_NUMBERS, "f", *self.arrays, "F", "B")
        name = self.fresh()
        if kind in _NUMBERS:
            line = Line(f"{name} = {self.number(kind)}")
            self.scope = [*self.scope, Variable(name, kind)]
        else:
            length = self.pick("n", *[v.length for v in self.variables("FGISB")])
            line = Line(f"{name} = {self.array(kind, length)}")
            self.scope = [*self.scope, Variable(name, kind, length)]
        return [line]

    def augmented(self) -> list[Line]:
        if self.chance(0.5):
            known = [v for v in self.assigned() if v.type != "b"]
            v = self.rng.choice(known)
            op = self.pick("+=", "-=", "+=")
            if v.type == "i" and self.chance(0.3):
                return [
                    Line(f"{v.name} {self.pick('%= 7', '//= 2', '^= 3', '&= 15', '>>= 1')}")
                ]
            return [Line(f"{v.name} {op} {self.number(v.type)}")]
        known = self.variables("FGIS")
        v = self.rng.choice(known)
        k = self.constant("i" if v.type in "IS" else "f")
        choices = [
            f"{v.name} += {k}",
            f"{v.name} %= 8",
            f"{v.name} -= {self.array(v.type, v.length, 1)}",
        ]
        if v.type in "FG":
            choices.append(f"{v.name} *= 0.5")
        return [Line(self.pick(*choices))]

    def cell(self, v: Variable) -> str:
        """Return an expression for one element's value."""
        if v.type in "FG":
            if v.type == "G":
                return self.pick(self.constant("f"), "s")
            return self.pick(self.real(1), self.constant("f"), self.integer(1))
        if v.type == "I":
            return self.integer(1)
        return self.truth(1) if v.type == "B" else f"({self.integer(1)}) % 9"

    def slice(self) -> str:
        i = self.pick("1", "2", "-1", "n % 3", self.integer(0))
        return self.pick(
            "1:",
            ":-1",
            "::2",
            "::-1",
            f":{i}",
            f"{i}:",
            "1:3",
            "-2:",
            "::-2",
            "1::2",
            f"{i}::-1",
        )

    def write(self) -> list[Line]:
        v = self.rng.choice(self.variables("FGISB"))
        name = v.name
        index = self.pick(
            "0",
            "-1",
            f"({self.integer(1)}) % len({name})",
            f"({self.integer(0)}) % len({name})",
            self.integer(0) if not self.guarded else "0",
        )
        part = self.slice()
        test = self.rng.choice([w for w in self.variables("FGISB") if w.length == v.length])
        mask = f"{test.name} > {self.constant('f')}" if test.type != "B" else test.name
        number = "+= 1" if v.type in "FGIS" else "= True"
        element = self.pick(f"{name}[{index}] = {self.cell(v)}", f"{name}[{index}] {number}")
        if self.guarded:
            element = f"if len({name}): {element}"
        choices = [
            element, element, element, f"{name}[{part}] = {self.cell(v)}",
            f"{name}[{part}] {number}",
            f"{name}[{mask}] = {self.cell(v)}", f"{name}[{mask}] {number}",
            f"{name}[:] = {self.array(v.type, v.length, 1)}",
            f"{name}[{part}] = {name}[{part}]",
            f"{name}[1:] = {name}[:-1]", f"{name}[::-1] = {self.array(v.type, v.length, 1)}",
        ]  # fmt: skip
        return [self.one_line(self.pick(*choices))]

    def one_line(self, text: str) -> Line:
        head, colon, rest = text.partition(": ")
        if text.startswith("if ") and colon:
            return Line(f"{head}:", [Line(rest)])
        return Line(text)

    def view(self) -> list[Line]:
        v = self.rng.choice(self.variables("FGISB"))
        name = self.fresh()
        self.scope = [*self.scope, Variable(name, v.type, name)]
        part = self.pick(self.slice(), ":", "::-1")
        lines = [Line(f"{name} = {v.name}[{part}]")]
        if part in {":", "::-1"}:
            self.scope[-1].length = v.length
        return lines

    def rebind(self) -> list[Line]:
        v = self.rng.choice(self.variables("FGISB"))
        same = [w for w in self.variables(v.type) if w.length == v.length]
        w = self.rng.choice(same)
        if w is not v and self.chance(0.35):
            return [Line(f"{v.name}, {w.name} = {w.name}, {v.name}")]
        if w is not v and self.chance(0.15):
            return [Line(f"{v.name} = {w.name}")]
        return [Line(f"{v.name} = {self.array(v.type, v.length)}")]

    def helper(self) -> list[Line]:
        array = self.array_name("FGI")
        reals = self.array_name("F")
        number = self.rng.choice([v for v in self.assigned() if v.type == "i"]).name
        choices = [f"{number} = steps({self.integer(1)} % 9)"]
        if array:
            choices.append(f"{number} = lower({array}, 2)")
            choices.append(f"lower({array}[::-1], 1)")
        if reals:
            choices += [
                f"halve({reals})",
                f"s = pick({reals}, {self.integer(1)}, s)",
                f"halve({reals}[1:])",
            ]
            if len(self.variables("f")) > 1:
                other = self.rng.choice(self.variables("f")).name
                other = "_" if other == "s" else other
                choices.append(f"s, {other} = first_and_last({reals}, s)")
        return [Line(self.pick(*choices))]

    def container(self) -> list[Line]:
        if not self.lists or self.chance(0.4):
            name = self.fresh("c")
            if self.chance(0.5):
                self.lists.append(Variable(name, "list", list(self.scope)))
                line = Line(f"{name} = [{self.integer(1)}, {self.real(1)}]")
            else:
                self.lists.append(Variable(name, "dict", list(self.scope)))
                line = Line(f"{name} = {{'i': {self.integer(1)}, 'f': {self.real(1)}}}")
            self.scope = [*self.scope, Variable(name, "c")]
            return [line]
        known = [c for c in self.lists if any(v.name == c.name for v in self.scope)]
        if not known:
            return self.assign()
        c = self.rng.choice(known)
        i, f = ("0", "1") if c.type == "list" else ("'i'", "'f'")
        number = self.rng.choice([v for v in self.assigned() if v.type == "f"]).name
        choices = [
            f"{c.name}[{i}] = {self.integer(1)}", f"{c.name}[{f}] += {self.real(1)}",
            f"{number} = {c.name}[{f}]", f"{c.name}[{i}] += 1",
        ]  # fmt: skip
        return [Line(self.pick(*choices))]

    def nested_function(self) -> list[Line]:
        known = [v for v in self.assigned() if v.type in "if" and v.name not in {"x", "y"}]
        v = self.rng.choice(known)
        name = self.fresh("g")
        body = [Line(f"nonlocal {v.name}", needed=True)]
        k = self.constant(v.type)
        if self.chance(0.5):
            body.append(Line(f"if {v.name} > d:", [Line(f"return {v.name}")]))
        body.append(Line(f"{v.name} = {v.name} + {self.pick('d', k)}"))
        body.append(Line(f"return {v.name} - {k}"))
        lines = [Line(f"def {name}(d):", body)]
        target = self.rng.choice([w for w in known if w.type == v.type])
        lines.append(Line(f"{target.name} = {name}({self.number(v.type, 1)})"))
        if self.chance(0.5):
            test = self.truth(1)
            lines.append(Line(f"if {test}:", [Line(f"{name}({self.number(v.type, 1)})")]))
        return lines

    def fail(self) -> list[Line]:
        test = self.truth(1)
        text = self.pick("'low'", "f'low {s}'", "f'{t} of {n}'", "'high'")
        if self.chance(0.5):
            return [Line(f"assert {test}, {text}")]
        return [
            Line(f"if {test}:", [Line(f"raise {self.pick('ValueError', 'KeyError')}({text})")])
        ]

    def leave(self) -> list[Line]:
        if self.loops and self.chance(0.75):
            jump = Line(self.pick("break", "continue", "break"))
        else:
            jump = self.result()
        if self.chance(0.7):
            return [Line(f"if {self.truth(1)}:", [jump])]
        return [jump]

    def result(self) -> Line:
        values = [
            self.number(t, 1) if t in _NUMBERS else self.array_result(t) for t in self.returns
        ]
        return Line(
            f"return {', '.join(values)}" if len(values) > 1 else f"return {values[0]}"
        )

    def array_result(self, kind: str) -> str:
        known = [v.name for v in self.variables(kind)]
        return self.rng.choice(known) if known else f"x.astype({DTYPES[kind]!r})"

    # --- compound statements

    def branch_block(self, depth: int) -> list[Line]:
        self.inside += 1
        lines = self.block(depth + 1)
        self.inside -= 1
        return lines

    def if_(self, depth: int) -> list[Line]:
        born = None
        lines = []
        if self.chance(0.15):
            born = Variable(self.fresh(), self.pick(*_NUMBERS))
        lines.append(Line(f"if {self.truth()}:", self.branch_block(depth)))
        while self.chance(0.25):
            lines.append(Line(f"elif {self.truth(1)}:", self.branch_block(depth)))
        if self.chance(0.5):
            lines.append(Line("else:", self.branch_block(depth)))
        if born is not None:
            everywhere = lines[-1].text == "else:" or not self.guarded
            if everywhere:
                for line in lines:
                    line.body.insert(0, Line(f"{born.name} = {self.number(born.type, 1)}"))
                self.scope = [*self.scope, born]
        return lines

    def body(self, depth: int) -> list[Line]:
        self.loops.append(True)
        self.inside += 1
        lines = self.block(depth + 1)
        self.inside -= 1
        self.loops.pop()
        return lines

    def or_else(self, depth: int) -> list[Line]:
        return [Line("else:", self.branch_block(depth))] if self.chance(0.15) else []

    def while_(self, depth: int) -> list[Line]:
        k = self.fresh("k")
        most = self.rng.randrange(2, 6)
        before = self.scope
        self.scope = [*before, Variable(k, "i")]
        self.counters.add(k)
        test = self.pick(
            f"{k} < {most}",
            f"{k} < {most} and ({self.truth(1)})",
            f"{k} < min({most}, len(x))",
        )
        if self.chance(0.1):
            body = [Line(f"if {k} >= {most}:", [Line("break")], needed=True)]
            test = "True"
        else:
            body = []
        body += [Line(f"{k} += 1", needed=True), *self.body(depth)]
        return [
            Line(f"{k} = 0", needed=True),
            Line(f"while {test}:", body),
            *self.or_else(depth),
        ]

    def for_(self, depth: int) -> list[Line]:
        before = self.scope
        target = self.fresh("i")
        array = self.rng.choice(self.variables("FIS") or self.variables("FGISB"))
        loop: list[Variable] = [Variable(target, "i")]
        kind = self.rng.randrange(8)
        of = {"F": "f", "G": "g", "I": "i", "S": "z", "B": "z"}[array.type]
        if kind == 0:
            head = f"{target} in range({self.rng.randrange(1, 5)})"
        elif kind == 1:
            head = f"{target} in range({'n' if self.counts else 'n % 5'})"
        elif kind in {2, 3}:
            size = f"len({array.name})"
            places = self.pick(
                f"range({size})", f"range(1, {size})", f"reversed(range({size}))",
                f"range({size} - 1, -1, -1)",
            )  # fmt: skip
            head = f"{target} in {places}"
        elif kind == 4:
            head, loop = f"{target} in {array.name}", [Variable(target, of)]
        elif kind == 5:
            e = self.fresh("e")
            head, loop = f"{target}, {e} in enumerate({array.name})", [*loop, Variable(e, of)]
        elif kind == 6:
            e, g = self.fresh("e"), self.fresh("e")
            of2 = {"F": "f", "G": "g", "I": "i", "S": "z", "B": "z"}[self.arrays[0]]
            head, loop = (
                f"{e}, {g} in zip({array.name}, x)",
                [Variable(e, of), Variable(g, of2)],
            )
        else:
            places = self.pick("(3, 1, 2)", "(0, 4)", "range(3, 0, -1)", "range(n % 4)")
            head = f"{target} in {places}"
        self.scope = [*before, *loop]
        # the loop's variables are read in its body only, and bound by the loop only
        self.counters.update(v.name for v in loop)
        body = self.body(depth)
        self.scope = before
        return [Line(f"for {head}:", body), *self.or_else(depth)]

    def whole(self) -> Made:
        """Return the program."""
        lines = [
            Line(f"t = {self.number('i', 1)}", needed=True),
            Line(f"u = {self.number('f', 1)}", needed=True),
        ]
        self.scope = [*self.scope, Variable("t", "i"), Variable("u", "f")]
        if self.chance(0.6):
            lines.append(Line(f"w = {self.array(self.arrays[0], 'n', 1)}", needed=True))
            self.scope = [*self.scope, Variable("w", self.arrays[0], "n")]
        if self.chance(0.4):
            lines.append(Line(f"b = {self.truth(1)}", needed=True))
            self.scope = [*self.scope, Variable("b", "b")]
        while self.budget > 0:
            self.budget -= 1
            lines += self.statement(0)
            if lines[-1].text.startswith("raise"):
                break
        lines.append(self.result())
        lines[-1].needed = True
        return Made(0, lines, self.arrays)


def make(seed: int) -> Made:
    """Return a random program."""
    made = _Program(seed).whole()
    made.seed = seed
    return made
