# SPDX-License-Identifier: Apache-2.0
"""Arguments and results made of tuples, lists, dicts, dataclasses, None and plain values."""

import dataclasses
import enum
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest

from onnxjit import DataDependentError, UnsupportedError, eager_onnx, jit_onnx
from tests.jit.harness import agrees, same

V = np.array([3.0, -1.5, 2.25])
M = np.arange(6.0).reshape(2, 3)

Pair = namedtuple("Pair", ["left", "right"])  # noqa: PYI024  one of two ways to make them


@dataclasses.dataclass
class Params:
    w: Any
    b: Any = 0.0
    name: str = "p"


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    n: int = 2


@dataclasses.dataclass
class Slotted:
    __slots__ = ("a", "b")
    a: Any
    b: Any


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


# ------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("fn", "arg"),
    [
        (lambda p: p[0] + p[1], (V, V)),
        (lambda p: p[0] + p[1], [V, V * 2]),
        (lambda p: p[0][0] * p[1]["w"], ([V], {"w": V})),
        (lambda p: p["w"] * 2 + p["b"], {"w": V, "b": V}),
        (lambda p: p.left - p.right, Pair(V, V * 3)),
        (lambda p: p.w * 2 + p.b, Params(V, 1.5)),
        (lambda p: p.w @ p.b, Params(V, V)),
        (lambda p: p.a * p.n, Frozen(V)),
        (lambda p: p.a - p.b, Slotted(V, V * 2)),
        (lambda p: [x + 1 for x in p], [V, M]),
        (lambda p: {k: v * 2 for k, v in p.items()}, {"a": V, "b": M}),
        (lambda p: sum(p["layers"]) if p["on"] else V, {"layers": [V, V], "on": True}),
        (lambda p: len(p) * p[0], [V, V, V]),
        (lambda p: p[0] if p[1] is None else p[1], (V, None)),
        (lambda p: p.get("w") + p.get("none", 1), {"w": V}),
        (lambda p: V if "w" in p else p, {"w": V}),
        (lambda p: p["mode"] + str(p["n"]), {"mode": "a", "n": 3, "x": V}),
        (lambda p: np.concatenate(p), (V, V)),
        (lambda p: np.stack(p).sum(axis=0), [V, V]),
        (lambda p: sorted(p), {"b": V, "a": V}),
    ],
)
def test_containers_are_arguments(fn, arg):
    agrees(fn, (arg,), graphs=1)


def test_numbers_in_containers_are_constants():
    agrees(lambda p: np.zeros(p["n"]) + p["a"], ({"n": 2, "a": 0.5},), ({"n": 3, "a": 0.5},))
    agrees(lambda p: p[0] * p[1], ((V, 2),), ((V, 2.0),), ((V, 3),), graphs=3)


def test_the_structure_is_part_of_the_key():
    agrees(lambda p: [x * 2 for x in p], ([V],), ([V, V],), ((V,),), graphs=3)


def test_a_list_of_arrays_is_a_list():
    agrees(lambda a, b: a + b, ([V], [M]), graphs=1)
    agrees(lambda a: a * 2, ([V],), graphs=1)


def test_none_strings_and_enums_are_constants():
    def f(x, how=None, mode="up", colour=Colour.RED):
        x = x if how is None else x * how
        x = x + 1 if mode == "up" else x - 1
        return x * 2 if colour is Colour.RED else x

    agrees(f, (V,), (V, None), (V, V), (V, None, "down"), (V, None, "up", Colour.BLUE))


def test_dtypes_and_types_are_constants():
    agrees(
        lambda x, dt: x.astype(dt), (V, np.float32), (V, "i4"), (V, np.dtype("u1")), (V, int)
    )


def test_slices_and_tuples_of_ints_are_constants():
    agrees(lambda x, s: x[s], (V, slice(1, 3)), (V, slice(0, 2)), (V, slice(None, None, -1)))
    agrees(lambda x, s: x.reshape(s), (M, (3, 2)), (M, (6,)), (M, (-1, 2)))
    agrees(lambda x, ax: x.sum(axis=ax), (M, 0), (M, (0, 1)), (M, None), (M, -1))


def test_keywords_and_defaults():
    def f(x, y=None, *, scale=2.0, shift: Any = 0):
        x = x * scale + shift
        return x if y is None else x + y

    jit = jit_onnx(f, fallback="error")
    calls: list[Any] = [
        ((V,), {}), ((V, V), {}), ((V,), {"y": V}), ((V,), {"scale": 3.0}),
        ((), {"x": V, "shift": V}), ((V,), {"shift": 1, "scale": 2.0}),
    ]  # fmt: skip
    for args, kwargs in calls:
        for _ in range(2):
            same(jit(*args, **kwargs), f(*args, **kwargs))


def test_the_order_of_keywords_does_not_matter():
    def f(*, a, b):
        return a - b

    jit = jit_onnx(f, fallback="error")
    same(jit(a=V, b=V * 2), V - V * 2)
    same(jit(b=V * 2, a=V), V - V * 2)


def test_variadic_arguments():
    def f(x, *rest, **named):
        for r in rest:
            x = x + r
        for k, v in sorted(named.items()):
            x = x * v + len(k)
        return x

    jit = jit_onnx(f, fallback="error")
    for args, kwargs in [((V,), {}), ((V, V, 1.0), {}), ((V, V), {"k": V, "long": 2.0})]:
        same(jit(*args, **kwargs), f(*args, **kwargs))


def test_positional_only_arguments():
    def f(x, /, y, *, z):
        return x + y * z

    same(jit_onnx(f, fallback="error")(V, y=V, z=V), f(V, y=V, z=V))


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((V, V), {}), ((V,), {"z": 1}), ((), {"y": V})]
)
def test_a_wrong_call_is_pythons_error(args, kwargs):
    def f(x):
        return x + 1

    with pytest.raises(TypeError) as want:
        f(*args, **kwargs)
    with pytest.raises(TypeError) as got:
        jit_onnx(f, fallback="error")(*args, **kwargs)
    assert str(got.value) == str(want.value)


def test_no_arguments():
    agrees(lambda: np.arange(3) * 2, (), graphs=1)
    agrees(lambda: None, (), graphs=1)


# ------------------------------------------------------------------ results


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (x + 1, x * 2),
        lambda x: [x + 1, [x, (x - 1,)]],
        lambda x: {"a": x + 1, "b": {"c": x * 2}},
        lambda x: {1: x + 1, (1, 2): x * 2},
        lambda x: Pair(x + 1, x.sum()),
        lambda x: Params(x + 1, x.sum(), "n"),
        lambda x: Frozen(x * 2, 3),
        lambda x: Slotted(x * 2, x),
        lambda x: (x + 1, None, "text", 3, 2.5, True),
        lambda x: (),
        lambda x: [],
        lambda x: {},
        lambda x: None,
        lambda x: "text",
        lambda x: x.shape,
        lambda x: (x.ndim, x.dtype, x.shape[0] + 1),
        lambda x: (x.sum(), x.mean(), x.argmax(), x.any()),
        lambda x: np.float32(2),
        lambda x: np.arange(3),
        lambda x: (x > 0, np.isnan(x)),
        lambda x: x.dtype.type(1),
        lambda x: Colour.RED,
        lambda x: slice(1, 2),
        lambda x: x.astype("i8"),
        lambda x: np.divmod(x, 2),
        lambda x: np.modf(x),
        lambda x: np.unique_values(np.array([2, 1, 2])),
        lambda x: np.linalg.eigh(np.eye(2)),
    ],
)
def test_results(fn):
    agrees(fn, (V,), graphs=1)


def test_an_ordered_dict_keeps_its_type():
    result = jit_onnx(lambda x: OrderedDict(b=x + 1, a=x), fallback="error")(V)
    assert type(result) is OrderedDict
    assert list(result) == ["b", "a"]
    same(result["b"], V + 1)


def test_a_defaultdict_keeps_its_factory():
    def f(x):
        out = defaultdict(list)
        out["a"].append(x + 1)
        return out

    agrees(f, (V,), graphs=1)
    assert jit_onnx(f, fallback="error")(V)["new"] == []


class Box:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (v * 2 for v in x),
        lambda x: iter([1, 2]),
        lambda x: Box(x + 1),
        lambda x: {x[0]},
    ],
)
def test_results_that_no_graph_can_give_are_refused(fn):
    with pytest.raises((UnsupportedError, DataDependentError)):
        jit_onnx(fn, fallback="error")(V)


def test_a_set_is_a_fresh_copy():
    jit = jit_onnx(lambda x: {1, 2}, fallback="error")
    jit(V).add(3)
    assert jit(V) == {1, 2}


def test_a_result_that_is_an_argument_is_that_object():
    x, y = V.copy(), V.copy()
    jit = jit_onnx(lambda x, y: (x, y + 1, x), fallback="error")
    for _ in range(2):
        got = jit(x, y)
        assert got[0] is x
        assert got[2] is x


def test_a_scalar_argument_is_returned():
    agrees(
        lambda a, n, e: (a, n, e), (np.float32(2), 3, 0.5), (np.float32(3), 4, 1.5), graphs=1
    )


def test_a_constant_is_a_fresh_copy():
    jit = jit_onnx(lambda x: np.arange(3), fallback="error")
    first = jit(V)
    first[0] = 9
    same(jit(V), np.arange(3))


def test_the_same_array_twice_is_one_object():
    def f(x):
        y = x + 1
        return y, [y], {"y": y}

    jit = jit_onnx(f, fallback="error")
    for _ in range(2):
        a, (b,), d = jit(V)
        assert a is b
        assert a is d["y"]


def test_equal_arrays_are_two_objects():
    jit = jit_onnx(lambda x: (x + 1, x + 1), fallback="error")
    for _ in range(2):
        a, b = jit(V)
        assert a is not b
        assert not np.shares_memory(a, b)
        same(a, b)


def test_views_come_back_as_copies():
    x = M.copy()

    def f(x):
        y = x * 2
        return y, y[0], y.T, x[1], x.reshape(-1), x.T

    jit = jit_onnx(f, fallback="error")
    for _ in range(2):
        got = jit(x)
        for g, w in zip(got, f(x), strict=True):
            same(g, w)
        for i, g in enumerate(got):
            assert not np.shares_memory(g, x)
            assert not any(np.shares_memory(g, other) for other in got[i + 1 :])


def test_results_are_writeable():
    for fn in (
        lambda x: x + 1,
        lambda x: np.broadcast_to(x[0], (3,)) + 0,
        lambda x: np.arange(2),
    ):
        jit = jit_onnx(fn, fallback="error")
        for _ in range(2):
            assert jit(V).flags.writeable


def test_results_of_int64_are_numpys_int64():
    jit = jit_onnx(lambda x: (x + 1, x.sum(), x[1:]), fallback="error")
    for _ in range(2):
        a, s, v = jit(np.arange(3))
        assert type(s) is np.int64
        assert type(a[0]) is np.int64
        assert type(v[0]) is np.int64
        assert a.dtype.char == np.dtype(np.int64).char
    jit = jit_onnx(lambda x: x.sum(), fallback="error")
    for _ in range(2):
        assert type(jit(np.arange(3, dtype="u8"))) is np.uint64


def test_a_dataclass_result_may_be_the_argument_changed():
    def f(p):
        return dataclasses.replace(p, w=p.w + 1)

    agrees(f, (Params(V, 1.0),), graphs=1)


def test_a_new_container_of_arguments():
    def f(p):
        out = dict(p)
        out["c"] = p["a"] + 1
        return out

    arg = {"a": V.copy()}
    jit = jit_onnx(f, fallback="error")
    got = jit(arg)
    assert got["a"] is arg["a"]
    assert list(arg) == ["a"]
    same(got["c"], V + 1)


# ------------------------------------------------------------------ kinds of arrays


@pytest.mark.parametrize(
    "x",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(4, 3)[::2],
        np.arange(12.0).reshape(2, 6)[:, ::2],
        np.arange(6.0).reshape(2, 3)[::-1],
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.arange(6.0, dtype=">f8").reshape(2, 3),
        np.zeros((0, 3)),
        np.zeros((2, 0)),
        np.ones((1, 1)),
    ],
)
def test_any_memory_layout_is_read(x):
    agrees(lambda x: (x * 2).sum(axis=0), (x,), graphs=1)


def test_read_only_arrays_are_read():
    x = V.copy()
    x.setflags(write=False)
    same(jit_onnx(lambda x: x * 2, fallback="error")(x), V * 2)


def test_memory_maps_are_read(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, V)
    x = np.load(path, mmap_mode="r")
    same(jit_onnx(lambda x: x * 2, fallback="error")(x), V * 2)


def test_one_graph_serves_every_size():
    agrees(
        lambda x: (x - x.mean(axis=0)).reshape(-1),
        (M,), (np.ones((5, 2)),), (np.ones((1, 1)),), (np.ones((1, 4)),), graphs=1,
    )  # fmt: skip


def test_dtypes_and_ranks_are_told_apart():
    agrees(lambda x: x + 1, (V,), (V.astype("f4"),), (M,), (V.astype("i4"),), graphs=4)


def test_lists_of_numbers_are_constants():
    agrees(
        lambda x, w: x * np.array(w),
        (V, [1, 2, 3]),
        (V, [1.0, 2, 3]),
        (V, [1, 2, 3]),
        graphs=2,
    )


def test_sets_and_keys_are_told_apart_by_content():
    @jit_onnx(fallback="error")
    def f(x, chosen, weights):
        return x * len(chosen) + weights.get(1, 0.0) + (3 in chosen)

    chosen = {1, 2}
    assert f(np.ones(1), chosen, {1: 5.0}) == 7.0
    chosen.add(3)
    assert f(np.ones(1), chosen, {1: 5.0}) == 9.0
    assert f(np.ones(1), {2, 1}, {"1": 5.0}) == 2.0
    assert f(np.ones(1), {2, 1}, {1: 5.0}) == 7.0
    assert f.cache_info()["graphs"] == 3


# ------------------------------------------------------------------ text


@pytest.mark.parametrize(
    "fn",
    [
        lambda s: s,
        lambda s: s[0],
        lambda s: s[::-1],
        lambda s: s == "ab",
        lambda s: s != "ab",
        lambda s: s == s[0],
        lambda s: np.concatenate([s, s]),
        lambda s: s.reshape(1, -1).T,
        lambda s: np.where(s == "ab", s, "longer"),
        lambda s: (s.shape, s.dtype.kind, len(s)),
    ],
)
def test_text_is_carried(fn):
    agrees(fn, (np.array(["ab", "longer", "ab"]),), (np.array(["longer", "x"]),), graphs=1)


def test_text_comes_back_at_its_shortest():
    jit = jit_onnx(lambda s: s[1:], fallback="error")
    assert jit(np.array(["longer", "x"])).dtype == np.dtype("<U1")


def test_eager_writes_to_containers_arrive():
    def f(history, params, record):
        history.append(params["w"].sum())
        history[0] = -history[0]
        params["w"] = params["w"] * 2
        params["n"] = len(history)
        record.b = record.w + 1
        return history

    def arguments():
        return [V], {"w": V}, Params(V)

    plain, lent = arguments(), arguments()
    want, got = f(*plain), eager_onnx(f)(*lent)
    same(got, want)
    same(lent, plain, "arguments")
    assert got is lent[0]
