# SPDX-License-Identifier: Apache-2.0
"""Random functions of arrays and numbers, with branches, loops, writes and helpers.

A program is a tree of statements, each a line of text with blocks under it, so that a failing
one can be made smaller by leaving statements out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.control.random_parts import LISTS, Parts
from tests.control.random_source import DTYPES, Line, Made
from tests.control.random_values import NUMBERS, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["make"]


class _Program(Parts):
    """One program being made."""

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
        if self.chance(0.3):
            return self.more(depth)
        if self.inside and self.chance(0.03):
            return [self.result()]
        if depth < 4 and self.chance(0.45):
            compound = [self.if_, self.if_, self.if_, self.while_, self.for_, self.for_]
            return self.rng.choice(compound)(depth)
        return self.rng.choice(simple)()

    def assign(self) -> list[Line]:
        v = self.rng.choice(self.assigned())
        if self.chance(0.15):
            same = [w for w in self.assigned() if w.type == v.type]
            w = self.rng.choice(same)
            return [Line(f"{v.name}, {w.name} = {w.name}, {v.name}")]
        return [Line(f"{v.name} = {self.number(v.type)}")]

    def new(self) -> list[Line]:
        kind = self.pick(*NUMBERS, "f", *self.arrays, "F", "B")
        name = self.fresh()
        if kind in NUMBERS:
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
            self.number(t, 1) if t in NUMBERS else self.array_result(t) for t in self.returns
        ]
        return Line(
            f"return {', '.join(values)}" if len(values) > 1 else f"return {values[0]}"
        )

    def array_result(self, kind: str) -> str:
        known = [v.name for v in self.variables(kind)]
        return self.rng.choice(known) if known else f"x.astype({DTYPES[kind]!r})"

    def last(self) -> Line:
        """Return the last statement, which may give what a program has made besides."""
        line = self.result()
        more = {"m": "{}", "A": "{}", "Z": "{}", "M": "{}", "(if)": "{}[0], {}[1]"}
        found = [v for v in self.scope if v.type in more or v.type in LISTS]
        for v in self.rng.sample(found, min(len(found), 2)):
            text = more.get(v.type, "np.array({}, 'float64')").format(v.name, v.name)
            line.text += f", {text}"
        return line

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
            born = Variable(self.fresh(), self.pick(*NUMBERS))
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
        return [Line("else:", self.branch_block(depth))] if self.chance(0.25) else []

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
        lines.append(self.last())
        lines[-1].needed = True
        return Made(0, lines, self.arrays)


def make(seed: int) -> Made:
    """Return a random program."""
    made = _Program(seed).whole()
    made.seed = seed
    return made
