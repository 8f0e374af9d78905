# SPDX-License-Identifier: Apache-2.0
# The lambdas are the code under test, and most functions need no types.
# ruff: noqa: ARG002, ARG005, PLW0108
# mypy: allow-untyped-calls, allow-untyped-defs
"""What hooks see of rewritten code: loads with their paths, keys, calls."""

import functools
import math
from typing import Any

import numpy as np
import pytest

from onnxjit._rewrite import (
    GuardNames,
    Path,
    PlainHooks,
    active,
    current_session,
    guard_source,
    resolve,
)

LIMIT = 3
RATE = 0.5
WEIGHTS = np.arange(4.0)
HISTORY: list[int] = []
SETTINGS: dict[str, Any] = {
    "lr": 0.1,
    "nested": {"w": np.ones(2)},
    "layers": [np.zeros(1), np.ones(1)],
}


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

    def getitem_captured(self, obj, key, /):
        return ("gather", obj, key)

    def contains(self, container, item, /):
        return ("in", container, item) if isinstance(item, Traced) else item in container

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


def closure_of(f: Any) -> Any:
    return f.__closure__


class Scaler:
    shift = 1.5
    instances = 0

    def __init__(self):
        self.mean_ = np.ones(3)
        self.layers = [np.zeros(1), np.ones(1)]
        self.n = 2

    @property
    def mean(self):
        return self.mean_

    def apply(self, x):
        return x + self.mean_

    def fit(self):
        self.n = 5


class Model:
    def __init__(self):
        self.scaler = Scaler()
        self.calls = 0

    def predict(self, x):
        return self.scaler.apply(x)

    def counting(self, x):
        self.calls += 1
        return x


MODEL = Model()


# Paths


def test_loads_of_globals_are_captured():
    def f():
        return LIMIT, RATE, WEIGHTS, math.pi, np.pi, len

    _, hooks = trace(f)
    assert hooks.paths == ["LIMIT", "RATE", "WEIGHTS"]


def test_one_capture_for_each_path():
    def f():
        return [WEIGHTS for _ in range(5)]

    assert trace(f)[1].paths == ["WEIGHTS"]


def test_attribute_chains_and_methods():
    def f():
        return MODEL.predict(1)

    _, hooks = trace(f)
    assert hooks.paths == [
        "MODEL",
        "MODEL.predict.__func__",
        "MODEL.scaler",
        "MODEL.scaler.apply.__func__",
        "MODEL.scaler.mean_",
    ]
    for _, value, path in hooks.captured:
        assert resolve(path) is value


def test_property_is_rewritten_not_guarded():
    _, hooks = trace(lambda: MODEL.scaler.mean)
    assert hooks.paths == ["MODEL", "MODEL.scaler", "MODEL.scaler.mean_"]


def test_items_with_constant_keys():
    def f():
        return (
            SETTINGS["lr"],
            SETTINGS["nested"]["w"],
            SETTINGS["layers"][-1],
            SETTINGS.get("lr"),
        )

    _, hooks = trace(f)
    assert (
        hooks.paths[1:]
        == [
            "SETTINGS['lr']",
            "SETTINGS['nested']",
            "SETTINGS['nested']['w']",
            "SETTINGS['layers']",
            "SETTINGS['layers'][-1]",
            "SETTINGS['lr']",
        ][: len(hooks.paths) - 1]
    )


def test_iteration_captures_elements():
    def f():
        for w in MODEL.scaler.layers:
            del w
        first, _ = MODEL.scaler.layers
        return first

    _, hooks = trace(f)
    want = ["MODEL.scaler.layers[0]", "MODEL.scaler.layers[1]"]
    assert [p for p in hooks.paths if "[" in p] == want
    lengths = [v for _, v, p in hooks.captured if p.steps[-1:] == (("len", None),)]
    assert set(lengths) == {2}


def test_cells_are_captured_by_cell():
    scale = 4.0

    def f(x):
        return x * scale

    _, hooks = trace(f, 2)
    (_, value, path), *_ = hooks.captured
    assert (value, path.kind, path.name) == (4.0, "cell", "scale")
    assert path.owner is closure_of(f)[0]
    assert resolve(path) == 4.0


def test_young_cells_and_locals_are_not_captured():
    def f():
        k = 3

        def g():
            return k

        return g()

    result, hooks = trace(f)
    assert result == 3
    assert hooks.paths == []


def test_arguments_have_paths_once_marked():
    def f(model):
        return model.scaler.n

    _, hooks = trace(f, MODEL)
    assert hooks.paths == ["a0.scaler", "a0.scaler.n"]
    path = hooks.captured[-1][2]
    assert resolve(path, {"a0": MODEL}) == 2


def test_user_functions_are_captured():
    def f():
        return helper(1)

    _, hooks = trace(f)
    assert hooks.paths == ["helper", "LIMIT"]


def helper(v):
    return v + LIMIT


def test_capture_may_replace_the_value():
    class Wrapping(Recorder):
        def capture(self, value, path, owner=None, /):
            return Traced(str(path)) if isinstance(value, np.ndarray) else value

    result, _ = trace(lambda: (WEIGHTS, WEIGHTS, MODEL.scaler.mean_), hooks=Wrapping())
    assert [r.name for r in result] == ["WEIGHTS", "WEIGHTS", "MODEL.scaler.mean_"]
    assert result[0] is result[1]


# Guards


@pytest.mark.parametrize(
    "value",
    [
        1,
        True,
        1.0,
        0.0,
        -0.0,
        math.nan,
        math.inf,
        "s",
        b"b",
        None,
        1j,
        np.float32(1),
        np.int64(1),
    ],
    ids=repr,
)
def test_guard_compares_type_and_bits(value):
    space = {"x": value}
    names = GuardNames()
    source = guard_source(Path("global", "x", space), value, names)
    check = eval(f"lambda: {source}", dict(names.namespace))
    assert check()
    others = [
        1,
        True,
        1.0,
        0.0,
        -0.0,
        math.nan,
        "s",
        b"b",
        None,
        1j,
        np.float32(1),
        np.int64(1),
    ]
    for other in others:
        space["x"] = other
        assert check() is (type(other) is type(value) and repr(other) == repr(value))


def test_guard_of_objects_cells_functions_and_modules():
    cell_value = [1]

    def f():
        return cell_value

    names = GuardNames()
    paths = {
        Path("global", "MODEL", globals()).attr("scaler"): MODEL.scaler,
        Path("cell", "cell_value", closure_of(f)[0]): cell_value,
        Path("global", "helper", globals()): helper,
        Path("module", "math").attr("pi"): math.pi,
        Path("self", "self").attr("layers").item(0): MODEL.scaler.layers[0],
        Path("self", "self").attr("layers").length(): 2,
    }
    sources = [guard_source(p, v, names, {"self": "me"}) for p, v in paths.items()]
    check = eval(f"lambda me: {' and '.join(sources)}", dict(names.namespace))
    assert check(MODEL.scaler)
    cell_value = [1]
    assert not check(MODEL.scaler)
    assert sources[0].startswith("g0['MODEL'].scaler is ")


def test_paths_are_values():
    a, b = Path("self", "self").item(1), Path("self", "self").item(1)
    assert a == b
    assert hash(a) == hash(b)
    assert a != Path("self", "self").item(True)
    assert str(a.attr("x")) == "self[1].x"


# Traced keys


def test_traced_key_of_untraced_objects():
    i: Any = Traced()
    table = [1, 2]
    assert trace(lambda: table[i])[0] == ("gather", table, i)
    assert trace(lambda: WEIGHTS[1:2, i])[0][2] == (slice(1, 2), i)
    assert trace(lambda: WEIGHTS[:i])[0][2] == slice(None, i)


def test_getitem_of_a_users_class_is_rewritten():
    class Table:
        def __getitem__(self, key):
            return table[key]

    i, table, obj = Traced(), [1, 2], Table()
    assert trace(lambda: obj[i])[0] == ("gather", table, i)


def test_contains():
    i: Any = Traced()
    assert trace(lambda: i in HISTORY)[0] == ("in", HISTORY, i)
    assert trace(lambda: 3 not in (1, 2))[0] is True


# Calls


def test_twins_by_identity():
    def zeros(n):
        return ("zeros", n)

    def f(xp=np):
        from numpy import zeros as z

        return np.zeros(1), xp.zeros(2), z(3), len([1]), [f(4) for f in (z,)]

    hooks = Recorder({np.zeros: zeros, len: lambda v: "len"})
    result, _ = trace(f, hooks=hooks)
    assert result == (("zeros", 1), ("zeros", 2), ("zeros", 3), "len", [("zeros", 4)])


def test_calls_reach_user_functions_everywhere():
    seen = []

    def twin(v):
        seen.append(v)
        return v

    def inner(v):
        return abs(v)

    class Layer:
        def __init__(self, v):
            self.v = abs(v)

        def __call__(self, v):
            return abs(v) + self.v

        @staticmethod
        def static(v):
            return abs(v)

        @property
        def size(self):
            return abs(6)

    @functools.wraps(inner)
    def wrapped(v):
        return inner(v)

    def f():
        layer = Layer(1)
        part = functools.partial(wrapped, 5)
        return layer(2), layer.static(3), Layer.static(4), part(), layer.size

    trace(f, hooks=Recorder({abs: twin}))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_jitted_functions_are_unwrapped():
    class Jitted:
        __onnxjit__ = True

        def __init__(self, f):
            self.__wrapped__ = f

        def __call__(self, v):
            raise AssertionError

    jitted = Jitted(lambda v: abs(v))
    result, _ = trace(lambda: jitted(-1), hooks=Recorder({abs: lambda v: "twin"}))
    assert result == "twin"


def test_library_code_is_native_unless_asked_for():
    def f():
        return textwrap_like([3, 1])

    import statistics

    textwrap_like = statistics.mean
    hooks = Recorder()
    with active(hooks) as session:
        assert session.routed(statistics.mean) is statistics.mean
    with active(hooks, ("statistics",)) as session:
        assert session.routed(statistics.mean) is not statistics.mean
        assert session.routed(f)() == 2


def test_nested_functions_are_not_rewritten_again():
    def f():
        def g():
            return 1

        session = current_session()
        assert session is not None
        return session.routed(g) is g

    assert trace(f)[0]
