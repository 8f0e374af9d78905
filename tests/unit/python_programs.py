# SPDX-License-Identifier: Apache-2.0
"""Random Python functions that use all kinds of statements, and end by themselves."""

from __future__ import annotations

import linecache
import random
from typing import Any

STEPS = 400  # a program that notes more ends with an exception

PRELUDE = """
import contextlib

G = 7

class Manager:
    def __init__(self, n):
        self.n = n

    def __enter__(self):
        note(("enter", self.n))
        return self.n

    def __exit__(self, kind, error, trace):
        note(("exit", self.n, kind and kind.__name__))
        if self.n % 7 == 3:
            raise KeyError(self.n)
        return self.n % 3 == 1

class Box:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"Box({self.n})"

"""


class Programs:
    """Writes one function `f(a, b, xs)`; what it does is noted by calls of `note`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counter = 0

    def source(self) -> str:
        self.lines = []
        self.function("f", ["a", "b", "xs"], 0, 3)
        return PRELUDE + "\n".join(self.lines) + "\n"

    # Tools

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # Expressions

    def name(self) -> str:
        return str(self.pick("a", "b", "u", "v", "w"))

    def number(self, level: int = 2) -> str:
        if level == 0 or self.chance(30):
            return str(self.pick(self.name(), self.random.randrange(-2, 5), self.name()))
        left, right = self.number(level - 1), self.number(level - 1)
        kind = self.random.randrange(16)
        if kind < 5:
            return f"({left} {self.pick('+', '-', '*', '//', '%')} {right})"
        many = self.values(level - 1)
        return str(
            {
                5: f"note({left})",
                6: f"({left} if {self.test(level - 1)} else {right})",
                7: f"xs[{left} % 4]",
                8: f"len({many})",
                9: f"sum({many})",
                10: f"(u := {left})",
                11: f"({left} or {right})",
                12: f"({left} and note({right}))",
                13: f"(lambda v={left}: v + {right})()",
                14: f"next((p for p in {many} if note(p) > {left}), 9)",
                15: f"max({left}, {right}, key=lambda t: t * {left})",
            }[kind]
        )

    def values(self, level: int = 1) -> str:
        low = max(level - 1, 0)
        other = self.number(low)
        return str(
            self.pick(
                f"[{self.number(low)}, {self.number(low)}]",
                "xs",
                f"range({self.random.randrange(4)})",
                f"[p + {self.number(low)} for p in xs if {self.test(low)}]",
                f"[p * q for p in xs if p > {self.number(low)} for q in (p, {other})]",
                f"(note(p) for p in xs if p < {self.number(low)})",
                f"(note(p) + q for p in xs[:2] for q in (1, {self.number(low)}))",
                f"{{p: {self.number(low)} for p in xs}}",
                f"{{p % 3 for p in xs if {self.test(low)}}}",
                f"[g() for g in [lambda: p + {self.name()} for p in xs[:2]]]",
                f"[(v := p) for p in xs if {self.test(low)}]",
                f"[*xs, {self.number(low)}]",
            )
        )

    def test(self, level: int = 2) -> str:
        if level == 0:
            return f"{self.number(0)} {self.pick('<', '>=', '==', '!=')} {self.number(0)}"
        left, right = self.number(level - 1), self.number(level - 1)
        first, second = self.test(level - 1), self.test(level - 1)
        return str(
            self.pick(
                f"{left} < {right}",
                f"note({left}) <= note({right}) < {self.number(0)}",
                f"{left} in xs",
                f"{left} not in [{right}, 2]",
                f"{left} is None",
                f"1 < {left} in xs is not None",
                f"not {first}",
                f"({first} and {second})",
                f"({first} or {second} or {left} > 1)",
                f"(w := {left}) > {right}",
                f"any(note(p) > {left} for p in xs)",
                f"all(p > {left} for p in xs)",
                left,
            )
        )

    # Statements

    def function(self, name: str, params: list[str], depth: int, level: int) -> None:
        self.emit(depth, f"def {name}({', '.join(params)}):")
        if self.chance(15):
            self.emit(depth + 1, f'"""Text of {name}."""')
        self.emit(depth + 1, "global G")
        outer = self.pick("u", "v", "w")
        nested = depth > 0 and self.chance(50)
        if nested:
            self.emit(depth + 1, f"nonlocal {outer}")
        for local in "uvw":
            if self.chance(75) and not (nested and local == outer):
                self.emit(depth + 1, f"{local} = {self.random.randrange(4)}")
        if nested and self.chance(50):
            self.emit(depth + 1, f"{outer} = {outer} + 1")
        if depth == 0:
            # so that a nested function finds all names
            self.emit(depth + 1, "if a == 77:")
            self.emit(depth + 2, "u = v = w = 0")
        self.block(depth + 1, level, in_loop=False)
        if self.chance(70):
            self.emit(depth + 1, f"return {self.number()}, u, {self.name()}")

    def block(self, depth: int, level: int, *, in_loop: bool) -> None:
        for _ in range(self.random.randrange(1, 5 if level > 1 else 4)):
            self.statement(depth, level, in_loop=in_loop)

    def statement(self, depth: int, level: int, *, in_loop: bool) -> None:
        compound = ["if", "if", "if", "while", "for", "for", "try", "with", "match", "def"]
        if level > 0 and self.chance(50):
            getattr(self, f"_{self.pick(*compound)}")(depth, level - 1, in_loop=in_loop)
            return
        if self.chance(18):
            self.emit(depth, self.leaving(in_loop=in_loop))
            return
        self.emit(depth, self.simple())

    def leaving(self, *, in_loop: bool) -> str:
        if in_loop and self.chance(65):
            return str(self.pick("break", "continue"))
        result = self.pick("return", f"return {self.number()}", f"return note({self.name()})")
        return str(self.pick(result, result, f"raise ValueError({self.name()})"))

    def simple(self) -> str:
        name, value = self.name(), self.number()
        return str(
            self.pick(
                f"{name} = {value}",
                f"{name} = {value}",
                f"note({value})",
                f"{name} {self.pick('+', '-', '*')}= {value}",
                f"{name}, {self.name()} = {value}, {self.number()}",
                f"{name}, *rest = {self.values()}",
                f"{name} = {self.name()} = {value}",
                f"xs[{value} % 4] = {self.number()}",
                f"xs[{value} % 3] += {self.number()}",
                f"xs.append({value})",
                f"del {name}",
                f"{name}: int = {value}",
                f"assert {self.test()}, note({value})",
                "import math as m",
                "G = G + 1",
                f"box = Box({value}); box.n += 1; note(box.n)",
                f"note({self.values()} is None)",
                f"xs[:1], {name} = [{value}], 3",
                "pass",
            )
        )

    def _if(self, depth: int, level: int, *, in_loop: bool) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.block(depth + 1, level, in_loop=in_loop)
        while self.chance(25):
            self.emit(depth, f"elif {self.test()}:")
            self.block(depth + 1, level, in_loop=in_loop)
        if self.chance(45):
            self.emit(depth, "else:")
            self.block(depth + 1, level, in_loop=in_loop)

    def _while(self, depth: int, level: int, *, in_loop: bool) -> None:
        counter = self.fresh("k")
        self.emit(depth, f"{counter} = {self.random.randrange(4)}")
        test = self.pick(
            f"{counter} > 0",
            f"{counter} > 0 and {self.test(1)}",
            f"(v := {counter}) > 0",
            f"0 < {counter} < note(5)",
            "True",
        )
        self.emit(depth, f"while {test}:")
        if test == "True":
            self.emit(depth + 1, f"if {counter} <= 0: {self.pick('break', 'return 5')}")
        self.emit(depth + 1, f"{counter} -= 1")
        self.block(depth + 1, level, in_loop=True)
        self._else(depth, level, in_loop=in_loop)

    def _for(self, depth: int, level: int, *, in_loop: bool) -> None:
        target, values = self.pick(
            (self.name(), "list(xs)"),
            (self.name(), f"range({self.random.randrange(4)})"),
            (self.name(), self.values() + " if True else 0"),
            (f"{self.name()}, {self.name()}", "enumerate(xs[:3])"),
            (f"{self.name()}, *rest", "zip(xs[:2], [1, 2], [3, 4])"),
            ("xs[0]", "[1, 2]"),
        )
        self.emit(depth, f"for {target} in {values}:")
        self.block(depth + 1, level, in_loop=True)
        self._else(depth, level, in_loop=in_loop)

    def _else(self, depth: int, level: int, *, in_loop: bool) -> None:
        if self.chance(35):
            self.emit(depth, "else:")
            self.block(depth + 1, level, in_loop=in_loop)

    def _try(self, depth: int, level: int, *, in_loop: bool) -> None:
        self.emit(depth, "try:")
        self.block(depth + 1, level, in_loop=in_loop)
        kinds = ["ValueError", "(TypeError, NameError)", "ArithmeticError", "Exception", ""]
        handlers = 0
        while self.chance(60 if handlers == 0 else 25):
            handlers += 1
            kind = self.pick(*kinds) if handlers == 1 else "LookupError"
            named = f" {kind} as {self.pick('error', self.name())}" if kind else ""
            self.emit(
                depth, f"except{self.pick(named, named or '', ' ' + kind if kind else '')}:"
            )
            self.block(depth + 1, level, in_loop=in_loop)
            if self.chance(15):
                self.emit(depth + 1, "raise")
            if not kind:
                break
        if handlers:
            self._else(depth, level, in_loop=in_loop)
        if not handlers or self.chance(35):
            self.emit(depth, "finally:")
            if self.chance(12):
                self.block(depth + 1, level, in_loop=in_loop)
            elif self.chance(20):
                self.emit(depth + 1, f"raise KeyError({self.name()})")
            else:
                self.emit(depth + 1, self.simple())
                self._if_simple(depth + 1)

    def _if_simple(self, depth: int) -> None:
        self.emit(depth, f"if {self.test(1)}:")
        self.emit(depth + 1, self.simple())

    def _with(self, depth: int, level: int, *, in_loop: bool) -> None:
        one = f"Manager({self.random.randrange(12)})"
        items = self.pick(
            f"{one} as {self.name()}",
            one,
            f"{one} as {self.name()}, Manager({self.random.randrange(12)})",
            f"contextlib.suppress({self.pick('ValueError', 'Exception')})",
            f"{one} as xs[0]",
            "contextlib.nullcontext()",
        )
        self.emit(depth, f"with {items}:")
        self.block(depth + 1, level, in_loop=in_loop)

    def _match(self, depth: int, level: int, *, in_loop: bool) -> None:
        subject = self.pick(self.name(), "xs", f"({self.name()}, {self.name()})")
        self.emit(depth, f"match {subject}:")
        name, other = "u", "v"
        cases = [
            "0 | 1",
            f"int({name}) if {self.test(1)}",
            f"[{name}, {other}]",
            f"[{name}, *rest]",
            "[]",
            f"({name}, 1)",
        ]
        for case in self.random.sample(cases, self.random.randrange(1, 4)):
            self.emit(depth + 1, f"case {case}:")
            self.block(depth + 2, level, in_loop=in_loop)
        if self.chance(60):
            self.emit(depth + 1, self.pick("case _:", f"case {name}:"))
            self.block(depth + 2, level, in_loop=in_loop)

    def _def(self, depth: int, level: int, *, in_loop: bool) -> None:  # noqa: ARG002
        name = self.fresh("g")
        self.function(name, ["a", f"b={self.number(1)}"], depth, min(level, 1))
        self.emit(depth, f"{self.name()} = {name}({self.number(1)})")
        if self.chance(30):
            self.emit(depth, f"note({name}.__qualname__)")


class TooLongError(Exception):
    pass


class Module:
    """The source of a program, compiled once; each run has new globals."""

    def __init__(self, source: str, name: str) -> None:
        self.source = source
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        self._code = compile(source, name, "exec")

    def run(self, wrap: Any, *arguments: Any) -> tuple[str, ...]:
        """Run `wrap(f)`: what it returns or raises, and what it changes meanwhile."""
        notes: list[Any] = []

        def note(value: Any) -> Any:
            notes.append(value)
            if len(notes) > STEPS:
                raise TooLongError
            return value

        module: dict[str, Any] = {"note": note, "__name__": "programs"}
        exec(self._code, module)
        f = wrap(module["f"])
        try:
            result: Any = f(*arguments)
        except Exception as error:  # noqa: BLE001 - whatever the program raises
            result = type(error).__name__, str(error)
        return repr(result), repr(notes), repr(arguments), repr(module["G"])
