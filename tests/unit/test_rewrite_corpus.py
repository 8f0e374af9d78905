# SPDX-License-Identifier: Apache-2.0
# Odd code on purpose: what a linter would tidy up is what the rewriting must leave as it is.
# ruff: noqa: ARG005, B015, B023, C416, E731, EM102, F821, PLC3002, PLR0133
# ruff: noqa: PLW0603, PTH118, RET504, RUF012, TRY003
# mypy: ignore-errors
"""A rewritten copy does what the function does, with hooks that change nothing."""

import contextlib
import functools
from collections import deque
from dataclasses import dataclass
from types import FunctionType

import numpy as np
import pytest

from onnxjit._rewrite import PlainHooks, active, is_rewritten, rewrite_function

COUNTER = 0
TABLE = [1, 2, 3]
CONFIG = {"a": 1, "b": {"c": 2}}
__PRIVATE = 5


class Base:
    scale = 2

    def __init__(self, n):
        self.n = n
        self.__secret = n * 10

    @property
    def double(self):
        return self.n * self.scale

    @double.setter
    def double(self, value):
        self.n = value // self.scale

    @classmethod
    def make(cls, n):
        return cls(n + 1)

    @staticmethod
    def helper(v, *, plus=1):
        return v + plus

    def secret(self):
        return self.__secret

    def __getitem__(self, key):
        return (self.n, key)

    def __setitem__(self, key, value):
        self.n = (key, value)

    def __contains__(self, item):
        return item == self.n

    def __call__(self, v):
        return self.helper(v) + self.n

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def run(self, v):
        return v + self.n


class Child(Base):
    def __init__(self, n):
        super().__init__(n)
        self.extra = [n]

    def run(self, v):
        return super().run(v) * 2

    @property
    def double(self):
        return super().double + 100


@dataclass
class Point:
    x: int
    y: int = 2

    def norm(self):
        return self.x * self.x + self.y * self.y


def plus_one(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) + 1

    return wrapper


@plus_one
def decorated(v, *, w=3):
    return v * w


@functools.lru_cache
def cached(v):
    return v + 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def pick(a, /, b, *rest, c=10, **more):
    return a, b, rest, c, more


def case_arithmetic():
    x = 3
    x += 4
    x **= 2
    return x, -x, x // 5, x @ np.eye(2) if False else None


def case_recursion():
    return fib(10)


def case_local_recursion():
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    return fact(6)


def case_arguments():
    args, kwargs = (2, 3), {"c": 4, "d": 5}
    return pick(1, *args, **kwargs), pick(1, 2), pick(*args, c=1), pick(*[1], *[2], e=3)


def case_closure():
    total = 0

    def add(n):
        nonlocal total
        total += n
        return total

    return [add(i) for i in range(4)], total


def case_counter_factory():
    def make():
        count = 0

        def step():
            nonlocal count
            count = count + 1
            return count

        return step

    a, b = make(), make()
    return a(), a(), b()


def case_late_binding():
    return [f() for f in [lambda: i for i in range(3)]], [
        f() for f in [lambda i=i: i for i in range(3)]
    ]


def case_comprehensions():
    n = 3
    grid = [[i * j for j in range(n)] for i in range(n) if i != 1]
    return (
        grid,
        {k: v for k, v in zip("abc", TABLE, strict=True)},
        {v % 2 for v in TABLE},
        sum(v + n for v in TABLE),
    )


def case_comprehension_shadows():
    x = 5
    y = [x for x in range(3)]
    return x, y, [(x, y) for x in range(x - 3) for y in range(x)]


def case_walrus():
    values = [y for x in range(5) if (y := x * x) > 3]
    if (n := len(values)) > 1:
        return n, y, values
    return None


def case_lambda_defaults():
    f = lambda a, b=TABLE[1], *c, d=CONFIG["a"]: (a, b, c, d)
    return f(1), f(1, 2, 3, d=4), (lambda: TABLE)()


def case_classes():
    child = Child(3)
    child.double_up = Base.double.fget(child)
    return (
        child.run(1),
        child.secret(),
        child.double,
        child.double_up,
        Child.make(4).n,
        child[1:2],
    )


def case_properties():
    base = Base(4)
    base.double = 10
    base[3] = 4
    return base.n, base.double, (3, 4) in base, 5 not in base


def case_callable_object():
    base = Base(2)
    return base(5), list(map(base, [1, 2])), Base.helper(1, plus=2), base.helper(3)


def case_dataclass():
    p = Point(3)
    p.y += 1
    return p.norm(), p == Point(3, 3), repr(p)


def case_decorated():
    return decorated(4), decorated(4, w=1), decorated.__name__, cached(3)


def case_local_decorator():
    @plus_one
    @plus_one
    def inner(v=TABLE[0]):
        """Doc."""
        return v

    return inner(), inner.__doc__, inner.__qualname__


def case_local_class():
    offset = 7

    class Local(Base):
        size = offset + len(TABLE)
        names = [n for n in "ab"]

        def get(self, v):
            return self.size + v + offset

        def run(self, v):
            return super().run(v) + offset

    return Local(1).get(1), Local(1).run(1), Local.names, Local.__qualname__


def case_generator():
    def gen(n):
        for i in range(n):
            got = yield i * TABLE[0]
            if got:
                yield got

    g = gen(3)
    first = next(g)
    return first, g.send(9), list(g), list(delegating())


def delegating():
    yield from TABLE
    result = yield from returning()
    yield result


def returning():
    yield 0
    return 42


def case_try():
    log = []
    try:
        log.append(TABLE[10])
    except (IndexError, KeyError) as error:
        log.append(type(error).__name__)
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log


def case_with():
    holder = Base(1)
    with Base(2) as a, contextlib.suppress(ZeroDivisionError), Base(5) as holder.inner:
        a.n = 1 / 0
    return a.n, holder.inner.n


@contextlib.contextmanager
def manager(v):
    yield v + 1


def case_contextmanager():
    items = {}
    with manager(1) as items["x"], manager(items["x"]) as y:
        pass
    return items, y


def case_chained_comparison():
    seen = []

    def note(v):
        seen.append(v)
        return v

    return note(1) < note(2) < note(3), note(3) < note(2) < note(1), seen, 1 in [1] in [[1]]


def case_contains():
    return (
        2 in TABLE,
        5 not in TABLE,
        "a" in CONFIG,
        "b" in "abc",
        1 in np.arange(3),
        9 not in TABLE,
    )


def case_fstrings():
    v, w = 3.14159, 5
    return f"{v:.{w - 3}f} {TABLE[0]!r:>4} {CONFIG['b']['c']} {v=} {len(TABLE)}"


def case_mangling():
    class Hidden:
        def __init__(self):
            self.__x = 1

        def get(self):
            __y = self.__x
            return (lambda: __y + self.__x)()

    return Hidden().get(), Base(2).secret(), vars(Hidden())


def case_unpacking():
    a, (b, *c), d = 1, (2, 3, 4), 5
    [e, f] = TABLE[:2]
    x = y = [0]
    first, *rest = TABLE
    return a, b, c, d, e, f, x is y, first, rest


def case_store_order():
    i, a = 0, [0, 0, 0]
    i, a[i] = 1, 5
    a[i], i = 7, 2
    j = a[i] = 9
    box = Base(0)
    box.n, (a[0], box.m) = 1, (2, 3)
    return i, a, j, box.n, box.m


def case_evaluation_order():
    log = []

    def note(v, result=None):
        log.append(v)
        return result

    note("object", {})[note("key", 1)] = note("value", 2)
    note("o", Base(1)).n = note("v")
    note("l", [1, 2])[note("k", 0)] += note("r", 5)
    note("f", max)(note("a", 1), *note("b", [2]), key=note("c"))
    note("item") in note("container", [])
    return log


def case_augmented():
    data, box = {"a": 1}, Base(3)
    data["a"] += 2
    box.n *= 4
    values = alias = [1]
    values += [2]
    box.list = values
    box.list += [3]
    grid = np.zeros((2, 2))
    grid[0] += 1
    grid[0, 1:] -= 3
    return data, box.n, alias, grid, box.list


def case_delete():
    data, box = {"a": 1, "b": 2}, Base(3)
    values = [1, 2, 3, 4]
    del data["a"], box.n, values[1:3]
    name = 1
    del name
    return data, hasattr(box, "n"), values


def case_for_targets():
    box, pairs = Base(0), []
    for box.n, k in [(1, 2), (3, 4)]:
        pairs.append((box.n, k))
    pairs.append("done")
    for pairs[0] in range(3):
        continue
    return pairs


def case_while():
    n, total = 10, 0
    while n:
        n -= 1
        if n == 7:
            continue
        if n < 3:
            break
        total += n
    return total


def case_slices():
    a = np.arange(24).reshape(4, 6)
    return a[1:3, ::2], a[..., -1], a[:, None, 1], a[np.array([0, 2])], a[a > 20], "abc"[::-1]


def case_match():
    def kind(v):
        match v:
            case 0:
                return "zero"
            case int(n) if n in TABLE:
                return n
            case [a, *rest]:
                return a, rest
            case {"k": value, **more}:
                return value, more
            case Point(x=px):
                return px
            case _:
                return None

    return [kind(v) for v in (0, 2, 9, [1, 2], {"k": 1, "z": 2}, Point(4))]


def case_local_import():
    import math
    import os.path
    from math import floor as low

    return math.sqrt(4), low(2.5), os.path.join("a", "b")


def case_numpy():
    from numpy import linalg as la

    x = np.linspace(0, 1, 5)
    return np.sin(x).sum(), la.norm(x), (lambda xp=np: xp.zeros(3))(), x.mean(axis=0)


def case_partial():
    f = functools.partial(pick, 1, c=3)
    return f(2), f(2, 3, c=4)


def case_attributes():
    return Base(1).n, getattr(Base(1), "no", 5), hasattr(Base(1), "n"), Base.scale


def case_containers():
    d, q, s = {}, deque([1]), {1}
    d.setdefault("a", []).append(1)
    q.appendleft(0)
    s |= {2}
    return d, q, s, CONFIG.get("z", 3), list(CONFIG.items()), list(CONFIG.values()), [*TABLE]


def case_shadowed_builtin():
    len = lambda v: -1
    return len([1]), abs(-2)


def case_conditional():
    x = (TABLE and TABLE[0]) or 5
    return x, (1 if x else 2), not x, None or 0


def case_exceptions():
    def fails():
        raise ValueError(f"bad {TABLE[0]}") from KeyError("k")

    try:
        fails()
    except ValueError as error:
        return str(error), repr(error.__cause__)
    return None


def case_docstring():
    """Text."""
    return case_docstring.__doc__


def case_annotations():
    v: undefined_name[1] = 3
    box = Base(1)
    box.n: undefined = 4

    def f(a: int = 2) -> "str":
        return a

    return v, box.n, f(), f.__annotations__


def case_starred_index():
    a, idx = np.arange(8).reshape(2, 2, 2), (1, 0)
    return a[*idx], a[*idx, 1]


def case_unbound():
    try:
        late += 1
    except UnboundLocalError as error:
        return str(error)
    late = 1
    return late


def case_missing_global():
    try:
        return not_defined_anywhere
    except NameError as error:
        return str(error)


CASES = [f for name, f in list(globals().items()) if name.startswith("case_")]


def same(a, b):
    np.testing.assert_equal(repr(a), repr(b))


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_copy_without_a_trace(case):
    copy = rewrite_function(case)
    assert copy is not None
    assert is_rewritten(copy.__code__)
    same(copy(), case())


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_copy_in_a_trace(case):
    with active(PlainHooks()) as session:
        copy = session.routed(case)
        assert copy is not case
        got = copy()
    same(got, case())


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_copy_keeps_what_a_function_carries(case):
    copy = rewrite_function(case)
    assert isinstance(copy, FunctionType)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__"):
        assert getattr(copy, name) == getattr(case, name)
    assert copy.__globals__ is case.__globals__
    assert copy.__dict__ is case.__dict__
    assert copy.__code__.co_filename == case.__code__.co_filename
    assert copy.__code__.co_name == case.__code__.co_name


def test_global_stores_reach_the_module():
    def bump():
        global COUNTER
        COUNTER += 2
        return COUNTER

    before = COUNTER
    copy = rewrite_function(bump)
    assert copy is not None
    assert copy() == before + 2 == COUNTER
