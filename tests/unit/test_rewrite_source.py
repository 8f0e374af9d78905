# SPDX-License-Identifier: Apache-2.0
# The lambdas are the code under test, and most functions need no types.
# ruff: noqa: ARG002, ARG005, PLW0108
# mypy: allow-untyped-calls, allow-untyped-defs
"""Finding the source, places in it, code without source, sessions."""

import linecache
import math
import sys
import threading
import traceback
from typing import Any

import numpy as np
import pytest

from onnxjit._rewrite import (
    Path,
    PlainHooks,
    active,
    current_scope,
    current_session,
    overlay_function,
    rewrite_function,
    unchecked_stores,
)

LIMIT = 3


class SideEffectError(Exception):
    pass


class Traced:
    """Stands for a traced array."""

    def __init__(self, name="traced"):
        self.name = name


class Recorder(PlainHooks):
    __slots__ = ("captured", "effects", "strict", "twins")

    def __init__(self, twins=(), *, strict=True):
        self.captured = []
        self.effects = []
        self.strict = strict
        self.twins = dict(twins)

    def is_traced(self, obj, /):
        return isinstance(obj, Traced)

    def twin(self, f, /):
        return self.twins.get(f) if f.__hash__ else None

    def capture(self, value, path, owner=None, /):
        self.captured.append((str(path), value, path))
        return value

    def side_effect(self, what, obj, detail, /):
        self.effects.append((what, detail))
        if self.strict:
            raise SideEffectError(what, detail)

    @property
    def paths(self):
        return [text for text, _, _ in self.captured]


def trace(f, *args, hooks=None, packages=()):
    hooks = Recorder() if hooks is None else hooks
    with active(hooks, packages) as session:
        for i, arg in enumerate(args):
            session.mark_old(arg, Path("arg", f"a{i}"))
        result = session.routed(f)(*args)
    return result, hooks


def copy_of(f: Any) -> Any:
    return rewrite_function(f)


def effect_of(f, *args):
    """Return the side effect that stops `f`, or None."""
    hooks = Recorder()
    try:
        trace(f, *args, hooks=hooks)
    except SideEffectError as stop:
        return stop.args
    return None


# Places in the source


def raises(v):
    w = {"a": v}
    return w["a"].missing + len(w)


def test_traceback_names_the_users_line():
    copy = copy_of(raises)
    frames = []
    for f in (raises, copy):
        with pytest.raises(AttributeError) as caught:
            f(1)
        entries = traceback.extract_tb(caught.value.__traceback__)
        frames.append([e for e in entries if e.filename == __file__][-1])
    assert [(f.filename, f.lineno, f.name, f.line) for f in frames[1:]] == [
        (f.filename, f.lineno, f.name, f.line) for f in frames[:1]
    ]


def test_scopes():
    def inner():
        return current_scope()

    def outer():
        return inner()

    scope, _ = trace(outer)
    assert scope.function.endswith("<locals>.inner")
    assert scope.file == __file__
    assert scope.line == inner.__code__.co_firstlineno + 1
    assert scope.parent.function.endswith("<locals>.outer")
    assert scope.parent.line == outer.__code__.co_firstlineno + 1
    assert scope.parent.parent is None


PAIR = (lambda v: v + 1, lambda v: v + 2)
OTHER = (lambda v: v), lambda v: lambda w: v * w
TWINS = (lambda: LIMIT, lambda: LIMIT)


def test_lambdas_on_one_line():
    copies = [copy_of(f) for f in (*PAIR, *OTHER, *TWINS)]
    assert [c(1) for c in copies[:3]] == [2, 3, 1]
    assert copies[3](2)(5) == 10
    assert [c() for c in copies[4:]] == [LIMIT, LIMIT]
    assert copy_of(OTHER[1](3))(5) == 15


def with_assert(v):
    assert v == 3, f"not {v}"
    return abs(v)


def test_functions_with_rewritten_asserts():
    copy = copy_of(with_assert)
    assert copy is not None
    assert trace(with_assert, 3, hooks=Recorder({abs: lambda v: "twin"}))[0] == "twin"
    with pytest.raises(AssertionError, match="not 4"):
        copy(4)


def load(tmp_path, text, name="made"):
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    space = {"__name__": name}
    exec(compile(text, str(path), "exec"), space)
    return space, path


def test_changed_source_is_refused(tmp_path):
    space, path = load(tmp_path, "def f(x):\n    return x + 1\n")
    path.write_text("def f(x):\n    return x - 1\n")
    assert copy_of(space["f"]) is None
    space, path = load(tmp_path, "def f(x):\n    return x + 1\n", "other")
    path.write_text("# a line more\ndef f(x):\n    return x + 1\n")
    assert copy_of(space["f"]) is None


def test_future_flags_are_kept(tmp_path):
    text = (
        "from __future__ import annotations\ndef f():\n    def g(x: no): pass\n    return g\n"
    )
    space, _ = load(tmp_path, text)
    copy = copy_of(space["f"])
    assert copy().__annotations__ == {"x": "no"}


def test_source_known_to_linecache_only():
    text, name = "def f(x):\n    return abs(x)\n", "<made up>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    try:
        assert copy_of(space["f"])(-2) == 2
    finally:
        del linecache.cache[name]


@pytest.mark.parametrize(
    "f",
    [lambda: locals(), lambda: vars(), lambda: eval("1"), lambda: sys._getframe()],
)
def test_functions_that_look_at_their_frame_stay(f):
    assert copy_of(f) is None
    trace(f)


def test_async_functions_stay():
    async def f():
        return 1

    assert copy_of(f) is None


def test_private_names(tmp_path):
    text = """
class _Hidden:
    def __helper(self, __v):
        return __v + 1
    def run(self):
        __w = 1
        return self.__helper(__w)
    def __twice(self):
        return [self.__helper(v) for v in (1, 2)]
    def both(self):
        return self.run(), self.__twice()
"""
    space, _ = load(tmp_path, text)
    assert trace(lambda: space["_Hidden"]().both())[0] == (2, [2, 3])


# Without source


def sourceless(text, **names):
    space = {"__name__": "sourceless", "np": np, **names}
    exec(compile(text, "<string>", "exec"), space)
    return space


def test_overlay_routes_globals_builtins_and_modules():
    text = """
import math
def helper(v): return abs(v)
def f(v): return helper(v), len([v]), np.zeros(2), math.sqrt(v), isinstance(v, int), K
def g(v):
    import math as m
    from math import sqrt
    return m.sqrt(v), sqrt(v), __name__
"""
    space = sourceless(text, K=3)
    twins = {abs: lambda v: "abs", len: lambda v: "len", math.sqrt: lambda v: "sqrt"}
    hooks = Recorder({**twins, np.zeros: lambda n: "zeros"})
    assert trace(space["f"], 4, hooks=hooks)[0] == ("abs", "len", "zeros", "sqrt", True, 3)
    assert trace(space["g"], 4, hooks=hooks)[0] == ("sqrt", "sqrt", "sourceless")
    assert "K" in hooks.paths
    assert overlay_function(space["f"])(4)[:2] == (4, 1)
    space["K"] = 5
    assert overlay_function(space["f"])(4)[-1] == 5


def test_overlay_cells():
    text = """
def make(k, w):
    def read(): return k(w)
    return read
"""
    read = sourceless(text)["make"](abs, -2)
    assert trace(read, hooks=Recorder({abs: lambda v: "twin"}))[0] == "twin"
    assert read() == 2


def test_stores_without_source():
    text = """
G = 0
def a(x):
    global G
    G = x
def b(x): x.n = 1
def c(x): x[0] = 1
def d(x):
    y = x + 1
    return [v for v in range(y)], {"a": y}
def e(): return lambda x: x.__delitem__
"""
    space = sourceless(text)
    found = {k: unchecked_stores(space[k].__code__) for k in "abcde"}
    assert found == {
        "a": "STORE_GLOBAL G",
        "b": "STORE_ATTR n",
        "c": "STORE_SUBSCR",
        "d": None,
        "e": None,
    }
    assert effect_of(space["c"], [1]) == ("unchecked store", "c: STORE_SUBSCR")


# Sessions


def test_sessions_nest_and_end():
    outer, inner = Recorder(), Recorder()
    copy = copy_of(lambda: LIMIT)

    def fails():
        with active(inner):
            copy()
            raise RuntimeError

    with active(outer):
        with pytest.raises(RuntimeError):
            fails()
        assert outer.paths == []
        copy()
    assert copy() == LIMIT
    assert (outer.paths, inner.paths) == (["LIMIT"], ["LIMIT"])
    assert current_session() is None


def test_threads_do_not_share_a_session():
    hooks, copy = Recorder(), copy_of(lambda: LIMIT)
    with active(hooks):
        thread = threading.Thread(target=copy)
        thread.start()
        thread.join()
    assert hooks.paths == []
