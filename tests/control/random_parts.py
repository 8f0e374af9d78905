# SPDX-License-Identifier: Apache-2.0
"""Statements of random programs about lists, tuples, matches, handlers, matrices and views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.control.random_source import Line
from tests.control.random_values import NUMBERS, Values, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LISTS", "Parts"]

#: types of containers: lists of numbers, pairs, matrices, 0-d arrays, numbers of either dtype
LISTS: Final = ("[i]", "[f]")
_ZERO: Final = {"i": "0", "f": "0.0", "b": "False"}


class Parts(Values):
    """What programs do with containers and views, and in `match` and `try`."""

    def typed(self, *types: str) -> list[Variable]:
        """Return the variables of some types."""
        return [v for v in self.scope if v.type in types]

    def more(self, depth: int) -> list[Line]:
        """Return a statement about containers, views or several dtypes."""
        choices: list[Callable[[], list[Line]]] = [
            self.list_, self.list_, self.list_, self.pair, self.mixed, self.mixed_array,
            self.zero_d, self.matrix, self.matrix, self.accumulator, self.accumulator,
            self.chosen_view, self.local_function,
        ]  # fmt: skip
        if depth < 3:
            choices += [lambda: self.match(depth), lambda: self.match(depth)]
            choices.append(lambda: self.try_(depth))
        return self.rng.choice(choices)()

    def branch_block(self, depth: int) -> list[Line]:
        """Return the statements of a branch."""
        raise NotImplementedError

    # --- lists

    def list_(self) -> list[Line]:
        known = self.typed(*LISTS)
        if not known or self.chance(0.25):
            return self.new_list()
        v = self.rng.choice(known)
        kind = v.type[1]
        name, value = v.name, self.number(kind, 1)
        grow = Line(f"{name}.append({value})")
        number = self.target(kind)
        count = self.target("i")
        place = f"{self.integer(1)} % len({name})"
        under = f"if len({name}):"
        choices: list[list[Line]] = [
            [grow], [grow], [Line(f"if {self.truth(1)}:", [grow])],
            [Line(f"{count} = len({name})")],
            [Line(under, [Line(f"{name}[{place}] = {value}")])],
            [Line(under, [Line(f"{number} = {name}[{place}]")])],
            [Line(under, [Line(f"{number} = {self.pick('max', 'min')}({name})")])],
            [Line(under, [Line(f"{number} = {name}[-1]")])],
            [Line(f"{number} = {number} + sum({name}) % 16")],
            [Line(f"if {value} in {name}:", [Line(f"{count} = {count} + 1")])],
            [Line(f"if len({name}) > 1:", [Line(f"{number} = {name}.pop()")])],
            [Line(f"{name} = [{self.of_element(kind)} for e in {name}]")],
            [Line(f"{name} = [e for e in {name} if {self.test_of('e', kind)}]")],
            [Line(f"for e in {name}:", [Line(f"{number} = {number} + e")])],
            [Line(f"{name} = {name}[1:]")],
            [Line(f"{name} += [{value}]")],
            [Line(f"{name}.extend(({value}, {number}))")],
        ]  # fmt: skip
        return self.rng.choice(choices)

    def new_list(self) -> list[Line]:
        kind = self.pick("i", "f")
        name = self.fresh("l")
        array = self.array_name("F" if kind == "f" else "I")
        cast = "float" if kind == "f" else "int"
        choices = [
            "[]", "[]", f"[{self.number(kind, 1)}, {self.number(kind, 1)}]",
            f"[{self.of_element('i')} * {'0.5' if kind == 'f' else '2'} for e in range(3)]",
            f"[{self.of_element('i') if kind == 'i' else 'e * 0.5'} for e in range(len(x))]",
        ]  # fmt: skip
        if array:
            choices += [
                f"[{cast}(e) for e in {array}]",
                f"[{cast}(e) for e in {array} if {self.test_of('e', kind)}]",
            ]
        line = Line(f"{name} = {self.pick(*choices)}")
        self.scope = [*self.scope, Variable(name, f"[{kind}]")]
        return [line]

    def of_element(self, kind: str) -> str:
        """Return an expression of `e`, of its type."""
        return self.pick("e", f"(e + {self.constant(kind)})", "abs(e)", "-e")

    def test_of(self, name: str, kind: str) -> str:
        return self.pick(f"{name} > {self.constant(kind)}", f"{name} != 0", f"{name} % 2 == 0")

    def target(self, kind: str) -> str:
        """Return a number that may be bound anew."""
        return self.rng.choice([v for v in self.assigned() if v.type == kind]).name

    def assigned(self) -> list[Variable]:
        """Return the numbers that statements may bind."""
        fixed = {*self.counters, *("n" if self.counts else "")}
        return [v for v in self.variables("ifb") if v.name not in fixed]

    # --- pairs, several dtypes, arrays without axes

    def pair(self) -> list[Line]:
        known = self.typed("(if)")
        if not known or self.chance(0.3):
            name = self.fresh("p")
            line = Line(f"{name} = {self.integer(1)}, {self.real(1)}")
            self.scope = [*self.scope, Variable(name, "(if)")]
            return [line]
        p, q = self.rng.choice(known).name, self.rng.choice(known).name
        i, f = self.target("i"), self.target("f")
        return self.rng.choice(
            [
                [Line(f"{p} = ({p}[0] + 1, {self.real(1)})")],
                [Line(f"{i}, {f} = {p}")],
                [Line(f"{p}, {q} = {q}, {p}")],
                [Line(f"if {self.truth(1)}:", [Line(f"{p} = {self.integer(1)}, {q}[1]")])],
                [Line(f"if {p} == {q}:", [Line(f"{i} = {p}[0]")])],
                [Line(f"{p} = min({p}, ({self.integer(1)}, {self.real(0)}))")],
                [Line(f"{p} = {p} if {self.truth(1)} else {q}")],
            ]
        )

    def mixed(self) -> list[Line]:
        known = self.typed("m")
        if not known or self.chance(0.4):
            name = self.fresh("m")
            a, b = self.rng.sample(["i", "f", "b"], 2)
            first, second = (
                [Line(f"{name} = {self.number(kind, 1)}", needed=True)] for kind in (a, b)
            )
            lines = [Line(f"if {self.truth(1)}:", first), Line("else:", second)]
            self.scope = [*self.scope, Variable(name, "m")]
            return lines
        m = self.rng.choice(known).name
        f, i = self.target("f"), self.target("i")
        other = self.number(self.pick(*NUMBERS), 1)
        return self.rng.choice([
            [Line(f"{f} = {m} * 0.5")],
            [Line(f"{m} = {m} + {self.pick('1', '0.5', 'True', i)}")],
            [Line(f"if {m} > {self.constant('f')}:", [Line(f"{i} = {i} + 1")])],
            [Line(f"if {self.truth(1)}:", [Line(f"{m} = {other}")])],
            [Line(f"{i} = int({m} // 1 % 32)")],
            [Line(f"if {m}:", [Line(f"{f} = {f} + 1")])],
        ])  # fmt: skip

    def mixed_array(self) -> list[Line]:
        known = self.typed("A")
        if not known or self.chance(0.4):
            pool = [v for v in self.variables("FGISB") if v.length == "n"]
            a, b = self.rng.choice(pool).name, self.rng.choice(pool).name
            name = self.fresh("a")
            lines = [
                Line(f"if {self.truth(1)}:", [Line(f"{name} = {a}.copy()", needed=True)]),
                Line("else:", [Line(f"{name} = {b} + {self.pick('1', '0.5')}", needed=True)]),
            ]
            if self.chance(0.3):
                half = Line(f"{name} = {a}[::2] * 1", needed=True)
                lines[0] = Line(lines[0].text, [half])
            self.scope = [*self.scope, Variable(name, "A")]
            return lines
        a = self.rng.choice(known).name
        f, i = self.target("f"), self.target("i")
        return self.rng.choice(
            [
                [Line(f"{f} = float({a}.sum() % 32)")],
                [Line(f"{a} = {a} + {self.pick('1', '0.5')}")],
                [Line(f"{i} = len({a})")],
                [Line(f"if len({a}):", [Line(f"{a}[0] = 1")])],
                [Line(f"{a}[{a} > 1] = 0")],
                [Line(f"if {self.truth(1)}:", [Line(f"{a} = {a}[1:] * 0.5")])],
            ]
        )

    def zero_d(self) -> list[Line]:
        known = self.typed("Z")
        if not known or self.chance(0.3):
            name = self.fresh("z")
            line = Line(f"{name} = np.array({self.real(1)})")
            self.scope = [*self.scope, Variable(name, "Z")]
            return [line]
        z = self.rng.choice(known).name
        f = self.target("f")
        return self.rng.choice(
            [
                [Line(f"{z} += {self.constant('f')}")],
                [Line(f"{z}[...] = {self.real(1)}")],
                [Line(f"{f} = float({z})")],
                [Line(f"if {z} > {self.constant('f')}:", [Line(f"{z}[()] = 1")])],
                [Line(f"{f} = {f} + {z}[()]")],
                [Line(f"{z} = np.array({z} * 0.5)")],
                [Line(f"if {self.truth(1)}:", [Line(f"{z} = {z}.copy()")])],
            ]
        )

    # --- matrices

    def matrix(self) -> list[Line]:
        known = self.typed("M")
        if not known or self.chance(0.25):
            name = self.fresh("q")
            array = self.rng.choice([v for v in self.variables("FGISB") if v.length == "n"])
            made = self.pick(
                "np.zeros((3, len(x)))", f"np.ones((len(x), 3)) * {array.name}[:, None]",
                "np.zeros((len(x), len(y)))", "np.zeros((0, 3))",
                f"{array.name}.reshape(1, -1) * 1.0", f"np.outer({array.name}, [1.0, 2.0])",
                f"{array.name}[:, None] + np.zeros(2)",
            )  # fmt: skip
            self.scope = [*self.scope, Variable(name, "M")]
            return [Line(f"{name} = {made}")]
        m = self.rng.choice(known).name
        f, i = self.target("f"), self.target("i")
        r, c = f"({self.integer(1)}) % {m}.shape[0]", f"({self.integer(1)}) % {m}.shape[1]"
        view = self.pick(f"{m}[{r}]", f"{m}[:, {c}]", f"{m}.T[{c}]", f"{m}[1:]", f"{m}[::-1]")
        many = f"if {m}.size:"
        each = self.pick("j", "j - 1")
        name = self.fresh()
        return self.rng.choice([
            [Line(many, [Line(f"{m}[{r}, {c}] = {self.real(1)}")])],
            [Line(many, [Line(f"{m}[{r}, {c}] += 1")])],
            [Line(many, [Line(f"{m}[{r}] = {self.pick(self.real(0), f'{m}[0] + 1')}")])],
            [Line(many, [Line(f"{m}[:, {c}] {self.pick('= 2', '+= 1', '*= 0.5')}")])],
            [Line(many, [Line(f"{name} = {view}"), Line(f"{name} += 1")])],
            [Line(many, [Line(f"{f} = float({view}.sum() % 16)")])],
            [Line(f"for j in range({m}.shape[0]):",
                  [Line(f"{m}[{each}] {self.pick('+= 1', '= j', f'= {m}[j] * 0.5')}")])],
            [Line(f"for row in {m}:", [Line(f"{f} = {f} + row.sum() % 8"),
                                       Line(f"if {f} > 5:", [Line("row[:1] = 0")])])],
            [Line(f"{m}[{m} > {self.constant('f')}] = 0")],
            [Line(f"{i} = {m}.shape[{self.pick(0, 1)}]")],
            [Line(f"{f} = {f} + {m}.sum() % 8.0")],
            [Line(f"{m} = {self.pick(f'{m}.T', f'{m} + 1', f'{m}[:, ::-1]', f'{m}.copy()')}")],
        ])  # fmt: skip

    # --- accumulators and views

    def accumulator(self) -> list[Line]:
        kind = self.pick("i", "f", "b")
        acc, array = self.fresh("s"), self.rng.choice(self.variables("FGIS"))
        start = self.pick(_ZERO[kind], self.constant(kind) if kind != "b" else "True")
        test = f"e > {self.constant('f')}"
        steps = {
            "i": [f"{acc} += int(e)", f"{acc} = {acc} * 2 % 31 + 1", f"{acc} += {test}",
                  f"{acc} |= int(e) & 7", f"{acc} = max({acc}, int(e))"],
            "f": [f"{acc} += float(e)", f"{acc} = {acc} * 0.5 + float(e)",
                  f"{acc} = max({acc}, float(e))", f"{acc} -= e > 1"],
            "b": [f"{acc} = {acc} or {test}", f"{acc} = {acc} and {test}",
                  f"{acc} ^= bool({test})", f"{acc} |= bool({test})", f"{acc} = not {acc}"],
        }[kind]  # fmt: skip
        if kind == "i" and self.chance(0.3):  # it becomes a float
            steps = [f"{acc} += float(e)", f"{acc} = {acc} + 0.5"]
            kind = "m"
        body = [Line(self.pick(*steps))]
        if self.chance(0.3):
            body.insert(0, Line(f"if {test}:", [Line(self.pick("continue", "break"))]))
        lines = [Line(f"{acc} = {start}", needed=True), Line(f"for e in {array.name}:", body)]
        if self.chance(0.25):
            change = f"{acc} = {acc} + 1" if kind != "b" else f"{acc} = not {acc}"
            lines.append(Line("else:", [Line(change)]))
        self.scope = [*self.scope, Variable(acc, kind)]
        return lines

    def chosen_view(self) -> list[Line]:
        v = self.rng.choice(self.variables("FGI"))
        same = [w for w in self.variables(v.type) if w is not v]
        name = self.fresh()
        other = self.rng.choice(same).name if same and self.chance(0.3) else v.name
        a, b = self.pick("1:", "::2", ":2", "::-1"), self.pick(":-1", "1:", ":")
        write = self.pick(f"{name} += 1", f"{name}[:1] = 2", f"{name}[{name} > 0] = 0")
        test = self.truth(1)
        found: list[list[Line]] = [
            [Line(f"{name} = {v.name}[{a}]"), Line(f"if {test}:", [Line(write)])],
            [Line(f"if {test}:", [Line(f"{name} = {v.name}[{a}]", needed=True), Line(write)])],
            [Line(f"{name} = {v.name}[{a}] if {test} else {other}[{b}]"), Line(write)],
            [Line(f"{name} = {v.name}.copy() if {test} else {v.name}"), Line(write)],
        ]
        return self.rng.choice([*found[:2], *found[:2], *found])

    # --- functions, match, try

    def local_function(self) -> list[Line]:
        g, i, f = self.fresh("g"), self.target("i"), self.target("f")
        array = self.array_name("F") or "x"
        return self.rng.choice([
            [Line(f"def {g}(a, k={self.integer(0)}):", [
                Line("if k > 2:", [Line("return k - 1")]),
                Line("for j in range(len(a)):", [
                    Line(f"if a[j] > {self.constant('f')}:", [Line("return j")])]),
                Line("return -k", needed=True)]),
             Line(f"{i} = {g}({array})"), Line(f"{i} += {g}({array}[1:], {self.integer(1)})")],
            [Line(f"{g} = lambda d: d + {f} if d > {self.constant('f')} else d - 1"),
             Line(f"{f} = {g}({self.real(1)})")],
            [Line(f"def {g}(a):", [
                Line(f"if {self.truth(1)}:", [Line("a = a[1:]")]),
                Line("a[:1] += 1"), Line("return len(a)", needed=True)]),
             Line(f"{i} = {g}({array})")],
            [Line(f"def {g}(k):", [
                Line("if k <= 0:", [Line("return 0")], needed=True),
                Line(f"return 1 + {g}(k - 2)", needed=True)]),
             Line(f"{i} = {g}({self.pick('3', '5', '-1')})")],
        ])  # fmt: skip

    def match(self, depth: int) -> list[Line]:
        subject = self.integer(1)
        k = self.fresh("k")
        kind = self.rng.randrange(3)
        case: list[str] = [
            "case 0:", "case 1 | 2:", f"case {k} if {k} > 3:", "case -1:",
            f"case {k} if {k} % 2:",
        ]  # fmt: skip
        if kind == 1:
            subject = f"({self.integer(1)} % 3, bool({self.truth(1)}))"
            case = ["case (0, True):", f"case ({k}, False) if {k} > 1:", f"case (1, {k}):"]
        elif kind == 2 and self.typed("(if)"):
            subject = self.rng.choice(self.typed("(if)")).name
            case = [
                "case (0, 0.0):",
                f"case ({k}, _) if {k} > 1:",
                f"case (_, {k}) if {k} > 0:",
            ]
        chosen = self.rng.sample(case, self.rng.randrange(1, len(case) + 1))
        cases = [Line(text, self.branch_block(depth)) for text in chosen]
        if self.chance(0.6):
            cases.append(Line("case _:", self.branch_block(depth)))
        return [Line(f"match {subject}:", cases)]

    def try_(self, depth: int) -> list[Line]:
        kind = self.rng.randrange(5)
        f, i = self.target("f"), self.target("i")
        if kind < 3:
            end = Line("finally:", [Line(f"{i} = {i} + 1", needed=True)])
            return [Line("try:", self.branch_block(depth)), end]
        if kind == 3:
            body = [Line(f"{f} = float({self.array_name('FGI') or 'x'}[{self.pick(1, 3)}])")]
            handler = Line("except IndexError:", [Line(f"{f} = -1.0", needed=True)])
            return [Line("try:", body), handler]
        body = [Line(f"{i} = {{'a': 1, 'b': 2}}[{self.pick(repr('a'), repr('c'))}]")]
        handler = Line("except KeyError:", self.branch_block(depth))
        return [Line("try:", body), handler, Line("else:", self.branch_block(depth))]
