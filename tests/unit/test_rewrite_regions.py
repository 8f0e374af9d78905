# SPDX-License-Identifier: Apache-2.0
# Odd code on purpose: it is never run, or shows what a linter would tidy up.
# ruff: noqa: RET508
# mypy: ignore-errors
"""What statements become: flags, functions, and the names that hooks are told of."""

import ast
import linecache
import sys
import textwrap
import traceback

import pytest

from onnxjit._rewrite import PlainHooks, active, current_scope, is_rewritten, rewrite_function
from onnxjit._rewrite.expressions import ExpressionRewriter
from onnxjit._rewrite.regions import convert


def converted(source: str) -> str:
    node = ast.parse(textwrap.dedent(source)).body[0]
    rewriter = ExpressionRewriter(frozenset(), frozenset())
    convert(rewriter.rewrite(node), rewriter.scopes)
    return ast.unparse(ast.fix_missing_locations(node))


def hooks(source: str) -> list[tuple[str, ...]]:
    """Kind of each statement hook, with the names it is told of, outermost first."""
    found = []
    tree = ast.parse(converted(source))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            kind, count = node.func.attr, {"if_": 2, "while_": 4, "for_": 4}
            if kind in count:
                names = [ast.literal_eval(a) for a in node.args[-count[kind] :]]
                found.append((kind, *(" ".join(n) for n in names)))
    return found


# Flags


def test_a_return_takes_what_follows_into_the_other_branch():
    assert (
        converted(
            """
            def f(a):
                if a:
                    return 1
                b = 2
                return b
            """
        )
        == textwrap.dedent(
            """
            def f(a):
                if False:
                    _oj_rv = b = None

                def _oj_then_1(*_oj_):
                    nonlocal _oj_rv
                    _oj_rv = 1

                def _oj_else_1(*_oj_):
                    nonlocal _oj_rv, b
                    b = 2
                    _oj_rv = b
                _oj.if_(a, _oj_then_1, _oj_else_1, ('_oj_rv', 'b'), ('_oj_rv',))
                return _oj_rv
            """
        ).strip()
    )


def test_a_return_at_the_end_stays():
    text = converted(
        """
        def f(a):
            if a:
                a = 1
            with a:
                return a
        """
    )
    assert "return a" in text
    assert "_oj_r" not in text


def test_a_loop_that_may_be_left_asks_before_it_goes_on():
    text = converted(
        """
        def f(xs):
            for x in xs:
                if x:
                    break
                x.sort()
            else:
                return 1
            return 2
        """
    )
    assert "lambda *_oj_: _oj.not_(_oj_b1)" in text
    assert text.count("_oj_b1 = True") == 1
    assert "_oj_c1" not in text


def test_flags_that_nothing_reads_are_not_set():
    text = converted(
        """
        def f(xs):
            while xs:
                if xs[0]:
                    continue
                xs = xs[1:]
            return xs
        """
    )
    assert "_oj_c" not in text
    assert "_oj_r" not in text


def test_a_while_that_may_be_left_evaluates_its_test_last():
    text = converted(
        """
        def f(x):
            while x > 0:
                x -= 1
                if x == 3:
                    break
            return x
        """
    )
    test = "return _oj.and_(_oj.not_(_oj_b1), lambda *_oj_: _oj.compare('>', x, 0))"
    assert test in text


def test_what_an_exception_ends_is_not_guarded():
    text = converted(
        """
        def f(a):
            if a < 0:
                raise ValueError
            return a
        """
    )
    assert "return a" in text
    assert "_oj_rv" not in text


@pytest.mark.parametrize("leave", ["return 1", "for x in a:\n            break"])
def test_jumps_in_finally(leave):
    text = converted(
        f"""
def f(a):
    try:
        a = 1
    finally:
        {leave}
    if a:
        a = 2
"""
    )
    assert ("_oj.if_" in text) == ("break" in leave)


def test_generators_keep_their_statements():
    text = converted(
        """
        def f(xs):
            for x in xs:
                if x:
                    yield x
        """
    )
    assert "if x:" in text


# Names


def test_temporaries_of_a_branch_are_not_live():
    assert hooks(
        """
        def f(a):
            if a:
                t = a * 2
                b = t + 1
            else:
                b = 0
            return b
        """
    ) == [("if_", "b t", "b")]


def test_names_of_a_loop():
    assert hooks(
        """
        def f(xs, n):
            total = 0
            for i in range(n):
                t = xs[i] * 2
                total += t
                xs[i] = t
                last = t
            return total, last
        """
    ) == [("for_", "i last t total", "last total", "i last t", "total xs")]


def test_a_name_read_before_it_is_written_is_carried():
    assert hooks(
        """
        def f(n):
            a, b = 0, 1
            while n > 0:
                c = a + b
                a = b
                b = c
                n -= 1
            return a
        """
    ) == [("while_", "a b c n", "a b n", "a b c", "n")]


def test_a_branch_in_a_loop_keeps_what_the_next_iteration_reads():
    assert hooks(
        """
        def f(xs):
            best = seen = None
            for x in xs:
                if x > 3:
                    best = x
                    seen = 1
        """
    ) == [
        ("for_", "best seen x", "", "best seen x", ""),
        ("if_", "best seen", ""),
    ]


def test_names_that_nested_functions_use_are_live():
    assert hooks(
        """
        def f(xs):
            def g():
                nonlocal count
                count += 1
                return a
            count = a = 0
            if xs:
                a = 1
                b = 2
            for x in xs:
                g()
        """
    ) == [
        ("if_", "a b count", "a count"),
        ("for_", "count x", "count", "x", ""),
    ]


def test_exceptions_keep_names_live():
    assert hooks(
        """
        def f(a):
            b = 0
            try:
                if a:
                    b = 1
                b = a.x
            except AttributeError:
                pass
            return b
        """
    ) == [("if_", "b", "b")]


def test_a_manager_may_suppress():
    source = """
        def f(a):
            b = 0
            with {}:
                if a:
                    b = 1
                b = a.x
            return b
        """
    assert hooks(source.format("a.manager()")) == [("if_", "b", "b")]
    assert hooks(source.format("np.errstate(all='ignore')")) == [("if_", "b", "")]


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("x[0] = 1", "x"),
        ("x[0][y] += 1", "x"),
        ("x.a.b = 1", "x"),
        ("x.sort()", "x"),
        ("x.fill(y)", "x"),
        ("y.append(x)", "y"),
        ("np.add(x, 1, out=y)", "y"),
        ("np.add.at(x, 0, 1)", "x"),
        ("np.copyto(x, y)", "x"),
        ("x.T[0] = 1", "x"),
        ("x, y[0] = 1, 2", "y"),
        ("del x[0]", "x"),
        ("x @= y", "x"),
        ("x = y.sum()", ""),
    ],
)
def test_what_a_loop_changes_in_place(statement, names):
    ((_, _, _, _, mutated),) = hooks(
        f"""
        def f(x, y):
            for i in range(3):
                {statement}
        """
    )
    assert mutated == names


def test_declared_globals_are_no_variables():
    text = converted(
        """
        def f(a):
            if a:
                global g
                g = 1
                b = 2
        """
    )
    assert text.count("global g") == 1
    assert "('b',), ()" in text


# What a function made of a statement looks like


def recorded(f, *args):
    copy = rewrite_function(f)
    assert copy is not None
    assert is_rewritten(copy.__code__)
    return copy(*args)


def codes(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, type(code)):
            yield from codes(const)


def sample(n):
    def inner():
        return [lambda: n]

    for i in range(n):
        if i and n > 1:

            class Local:
                def method(self):
                    return i  # noqa: B023

            def deep():
                return (x for x in "a")

            deep()
    return inner, Local


def test_names_of_code():
    copy = rewrite_function(sample)
    wanted = {(c.co_name, c.co_qualname) for c in codes(sample.__code__)}
    found = {(c.co_name, c.co_qualname) for c in codes(copy.__code__)}
    assert found - {("<listcomp>", "sample.<locals>.deep.<locals>.<listcomp>")} == wanted - {
        ("<genexpr>", "sample.<locals>.deep.<locals>.<genexpr>")
    }
    inner, local = copy(3)
    assert inner.__qualname__ == "sample.<locals>.inner"
    assert local.__qualname__ == "sample.<locals>.Local"
    assert local.method.__qualname__ == "sample.<locals>.Local.method"


def fails(n):
    total = 0
    for i in range(n):
        if i == 2:
            total += 1 // (i - 2)
    return total


def test_tracebacks_show_the_line_and_the_function():
    copy = rewrite_function(fails)
    with pytest.raises(ZeroDivisionError) as caught:
        copy(5)
    with pytest.raises(ZeroDivisionError) as plain:
        fails(5)
    last = traceback.extract_tb(caught.tb)[-1]
    wanted = traceback.extract_tb(plain.tb)[-1]
    assert (last.name, last.lineno, last.line) == (wanted.name, wanted.lineno, wanted.line)
    mine = [e for e in traceback.extract_tb(caught.tb) if e.filename == wanted.filename]
    assert {e.name for e in mine} == {
        "test_tracebacks_show_the_line_and_the_function",
        "fails",
    }


def lines_of(f, *args):
    """Lines of this file that a call executes."""
    lines = set()

    def tracer(frame, event, _arg):
        if frame.f_code.co_filename != f.__code__.co_filename:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        f(*args)
    finally:
        sys.settrace(before)
    return lines


def covered(n, flag):
    out = []
    for i in range(n):
        if i == 1:
            continue
        if flag and i > 2:
            out.append(i)
            break
        elif i < 0:
            out.append(-i)
        else:
            out.append(0)
    else:
        out.append("end")
    while n:
        n -= 1
        if n == 1:
            return out
    try:
        out.append(1)
    finally:
        out.append(2)
    return None


@pytest.mark.parametrize("args", [(5, True), (5, False), (0, True), (1, False), (3, True)])
def test_lines_that_run(args):
    assert lines_of(rewrite_function(covered), *args) == lines_of(covered, *args)


class Base:
    def value(self, n):
        return n


class Child(Base):
    def value(self, n):
        if n > 0:
            return super().value(n) + self.value(n - 1)
        return (n or super().value(7)) if n == 0 else None

    @classmethod
    def make(cls, n):
        for _ in range(n):
            if n > 2:
                return super().__new__(cls)
        return None


def test_super_and_recursion():
    assert rewrite_function(Child.value)(Child(), 3) == 13 == Child().value(3)
    assert type(rewrite_function(Child.make.__func__)(Child, 3)) is Child


def test_deep_recursion():
    def count(n):
        if n > 0:
            return count(n - 1) + 1
        return 0

    with active(PlainHooks()) as session:
        assert session.routed(count)(150) == 150


def test_outer_variables():
    total = 0

    def add(xs):
        nonlocal total
        for x in xs:
            if x > 1:
                total += x
        return total

    assert recorded(add, [1, 2, 3]) == 5 == total


def test_a_scope_is_a_call_of_the_user():
    def inner(n):
        if n:
            return current_scope()
        return None

    def outer(n):
        for i in range(n):
            if i == 1:
                return inner(i)
        return None

    with active(PlainHooks()) as session:
        scope = session.routed(outer)(3)
    first = inner.__code__.co_firstlineno
    assert (scope.function.rpartition(".")[2], scope.line) == ("inner", first + 2)
    first = outer.__code__.co_firstlineno
    assert (scope.parent.function.rpartition(".")[2], scope.parent.line) == (
        "outer",
        first + 3,
    )
    assert scope.parent.parent is None


def test_generators_stay_lazy():
    def f(xs, seen):
        def note(x):
            seen.append(x)
            return x

        made = (note(x) for x in xs)
        many = (note(x) + y for x in xs for y in range(3))
        return next(made), next(many), any(note(x) > 1 for x in xs)

    seen, plain = [], []
    assert recorded(f, [1, 2, 3], seen) == f([1, 2, 3], plain)
    assert seen == plain == [1, 1, 1, 2]


@pytest.mark.parametrize("count", [40, 400])
def test_many_early_returns(count):
    lines = "".join(
        f"    if n == {i} and n < {count}:\n        return {i * i}\n" for i in range(count)
    )
    source = f"def f(n):\n{lines}    return -1\n"
    name = f"<{count} early returns>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    module = {"__name__": "early"}
    exec(compile(source, name, "exec"), module)
    copy = rewrite_function(module["f"])
    last = count - 1
    assert [copy(i) for i in (0, last, count)] == [0, last * last, -1]


def test_an_assigned_test_is_known_in_the_body():
    assert hooks(
        """
        def f(n):
            while (y := n - 1) > 0:
                n = y
        """
    ) == [("while_", "n y", "n", "n y", "")]
