# SPDX-License-Identifier: Apache-2.0
"""Functions that change their arguments, and arrays that share memory."""

import numpy as np
import pytest

from onnxjit import (
    AliasError,
    DataDependentError,
    FallbackWarning,
    UnsupportedError,
    eager_onnx,
    jit_onnx,
)
from tests.jit.harness import agrees, run_model, same, same_error

V = np.array([3.0, -1.5, 2.25])
M = np.arange(6.0).reshape(2, 3)


def grow(x):
    x += 1


def write_corner(x):
    x[0, 1:] = 9
    return x.sum()


LAYOUTS = {
    "c": lambda: np.arange(12.0).reshape(3, 4),
    "f": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": lambda: np.arange(48.0).reshape(6, 8)[::2, ::2],
    "reversed": lambda: np.arange(12.0).reshape(3, 4)[::-1, ::-1],
    "part": lambda: np.arange(60.0).reshape(6, 10)[1:4, 3:7],
    "transposed": lambda: np.arange(12.0).reshape(4, 3).T,
    "swapped": lambda: np.arange(12.0, dtype=">f8").reshape(3, 4),
}


def whole(x):
    """Return the memory an array looks at."""
    return x if x.base is None else x.base


# ------------------------------------------------------------------ arguments


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fn", [grow, write_corner])
def test_arguments_are_written_back(layout, fn):
    jit = jit_onnx(fn, fallback="error")
    for _ in range(2):
        plain, jitted = LAYOUTS[layout](), LAYOUTS[layout]()
        same(jit(jitted), fn(plain))
        same(jitted, plain)
        same(whole(jitted), whole(plain))
        assert jitted.strides == plain.strides


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.fill(3),
        lambda x: x.sort(),
        lambda x: x.partition(1),
        lambda x: np.add(x, 1, out=x) is x,
        lambda x: np.multiply(x, 2, x) is x,
        lambda x: np.sin(x, out=x).sum(),
        lambda x: np.cumsum(x, out=x).sum(),
        lambda x: np.clip(x, 0, 2, out=x).sum(),
        lambda x: np.copyto(x, 5.0),
        lambda x: np.copyto(x, x[::-1] * 2),
        lambda x: np.put(x, [0, 2], [7, 8]),
        lambda x: np.place(x, x > 0, [1.0]),
        lambda x: np.putmask(x, x < 0, x * 10),
        lambda x: x.put([1], 4),
        lambda x: np.add.at(x, [0, 0, 1], 1.0),
        lambda x: np.subtract(x[1:], x[:-1], out=x[:-1]).sum(),
        lambda x: x.__setitem__(0, 9.0),
        lambda x: x.__iadd__(1.0).sum(),
        lambda x: np.negative(x, where=x > 0, out=x).sum(),
    ],
)
def test_ways_to_write(fn):
    agrees(fn, (V.copy(),), (np.array([1.0, 5.0, -2.0, 0.0]),))


def statements(body):
    namespace = {"np": np}
    text = f"def f(x):\n    {body}\n"
    import linecache

    name = f"<statement {abs(hash(body))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize(
    "body",
    [
        "x[:] = 1",
        "x[...] = x * 2",
        "x[::2] = x[::-2]",
        "x[1:] = x[:-1]",
        "x[:-1] += x[1:]",
        "x[x > 0] = 0",
        "x[x > 0] *= 2",
        "x[[0, 2]] = [5, 6]",
        "x[[0, 0, 2]] += 1",
        "x[np.argsort(x)] = np.arange(len(x))",
        "x[0], x[1] = x[1], x[0]",
        "x[0] = x[1] = 3",
        "y = x; y += 1; x *= 2",
        "y = x[1:]; y[0] = 7; x[2] = y.sum()",
        "y = x.reshape(1, -1); y[0, 0] = 5",
        "y = x.ravel(); y -= 1",
        "y = x[::-1]; y[:2] = 0; x += y",
        "y = x.T; y[0] = 1",
        "y = x[None]; y[0, 1] = 4",
        "y = x.view(); y.shape = (1, -1); y[0, 0] = 8",
        "y = x.copy(); y[0] = 4; x[1] = y[0]",
        "y = x.flatten(); y[0] = 4",
        "y = x + 0; y[0] = 4; x[0] = y[0] + 1",
        "x -= x.mean(); x /= x.std()",
        "x **= 2; x //= 2; x %= 3",
        "x[x.argmax()] = -1",
        "x[-1] = 2; x[len(x) - 2] = 3",
        "x.flat[1] = 5",
        "x.flat = 3",
        "x[0:0] = 1",
        "x[()] = 2",
        "x[:, None][0] = 6",
        "np.atleast_2d(x)[0, 0] = 5",
        "for i in range(2): x[i] = i * 10",
        "for row in x.reshape(-1, 1): row += 1",
        "a, *b = x; x[0] = a + len(b)",
        "x = x + 1; x[0] = 5",
        "x = x[1:]; x[0] = 5",
        "t = x; t[0] = 1; t = t * 2; t[1] = 9",
        "x[0:2] = x[1:3]",
        "x[np.ix_([0, 1])] = 3",
        "x[np.array(1)] = 3",
        "x[np.array([True, False, True])] = 3",
    ],
)
def test_statements_that_write(body):
    agrees(statements(body), (V.copy(),), graphs=1)


def test_the_shape_of_an_argument_may_change_inside():
    def f(x):
        x = x.view()
        x.shape = (3, 2)
        x[2, 1] = 7
        return x

    agrees(f, (M.copy(),))


def test_setting_the_shape_of_an_argument_falls_back():
    def f(x):
        x.shape = (3, 2)
        x[0, 0] = 5
        return x.sum(axis=0)

    with pytest.raises(UnsupportedError, match="shape of an argument"):
        jit_onnx(f, fallback="error")(M.copy())
    x, y = M.copy(), M.copy()
    with pytest.warns(FallbackWarning):
        same(jit_onnx(f)(x), f(y))
    same(x, y)


def test_arguments_are_exchanged():
    def f(a, b):
        a[:], b[:] = b.copy(), a.copy()
        return a, b.copy(), np.array(a)

    agrees(f, (V.copy(), V * 2), graphs=1)


def test_what_is_taken_before_a_write_is_old():
    def f(x):
        old = x.copy()
        x *= 2
        return old, np.asarray(x), old.sum()

    agrees(f, (V.copy(),), graphs=1)


def test_integers_truncate_on_assignment_and_refuse_in_place_floats():
    agrees(statements("x[0] = 2.7"), (np.arange(3),), graphs=1)
    agrees(statements("x[:] = np.array([1.9, -1.9, 2.5])"), (np.arange(3, dtype="i1"),))
    assert isinstance(same_error(statements("x += 1.5"), np.arange(3)), TypeError)
    assert isinstance(same_error(statements("x /= 2"), np.arange(3)), TypeError)
    assert isinstance(same_error(statements("x += np.ones(4)"), V), ValueError)
    assert isinstance(same_error(statements("x[:] = np.ones(4)"), V), ValueError)
    assert isinstance(same_error(statements("x[5] = 1"), V), IndexError)


def test_in_place_keeps_float32():
    agrees(statements("x += np.float64(1.1)"), (V.astype("f4"),), graphs=1)


def test_a_read_only_argument_is_numpys_error():
    x = V.copy()
    x.setflags(write=False)
    jit = jit_onnx(grow, fallback="error")
    with pytest.raises(ValueError, match="read-only"):
        jit(x)
    y = V.copy()
    jit(y)
    same(y, V + 1)
    with pytest.raises(ValueError, match="read-only"):
        jit(x)
    same(x, V)


def test_the_write_flag_is_known_in_a_trace():
    def f(x):
        shown = np.broadcast_to(x, (2, 3))
        return x.flags.writeable, x.flags["WRITEABLE"], shown.flags.writeable, x.copy()

    x = V.copy()
    jit = jit_onnx(f, fallback="error")
    assert jit(x)[:3] == f(x)[:3] == (True, True, False)
    x.flags.writeable = False
    assert jit(x)[:3] == f(x)[:3] == (False, False, False)
    assert jit(V)[:3] == (True, True, False)


def test_a_write_flag_set_inside_holds_inside():
    def f(x):
        y = x.copy()
        y.flags.writeable = False
        try:
            y += 1
        except ValueError:
            return y * 2
        return y

    agrees(f, (V,), graphs=1)


def test_flags_of_memory_need_a_run():
    with pytest.raises(DataDependentError, match=r"\.flags\.c_contiguous"):
        jit_onnx(lambda x: x * x.flags.c_contiguous, fallback="error")(V)


def test_setflags_inside():
    def f(x):
        y = x.copy()
        y.setflags(write=False)
        try:
            y[0] = 1
        except ValueError:
            return y + 1
        return y

    agrees(f, (V,), graphs=1)


@pytest.mark.parametrize(
    "view", [lambda x: np.broadcast_to(x, (2, 3)), lambda x: np.diagonal(M)]
)
def test_read_only_views(view):
    def f(x):
        y = view(x)
        y[0] = 1
        return y

    assert isinstance(same_error(f, V), ValueError)


def test_a_written_and_returned_argument_is_that_object():
    def f(x):
        x += 1
        return x

    x = V.copy()
    jit = jit_onnx(f, fallback="error")
    for k in (1, 2):
        assert jit(x) is x
        same(x, V + k)


def test_several_arguments_are_written():
    def f(a, b, c):
        a += b
        c[0] = a.sum()
        return b * 2

    agrees(f, (V.copy(), V.copy(), np.zeros(2)), graphs=1)


def test_an_array_in_a_container_is_written():
    def f(p):
        p["w"] -= 0.1 * p["g"]
        p["list"][0][:] = 1

    agrees(f, ({"w": V.copy(), "g": V.copy(), "list": [np.zeros(2)]},), graphs=1)


def test_a_helper_that_writes():
    def shift(a, k):
        a[1:] = a[:-1]
        a[0] = k

    def f(x):
        shift(x, 3)
        shift(x[1:], 4)

    agrees(f, (V.copy(),), graphs=1)


def test_a_written_scalar_argument_is_not_changed():
    def f(s):
        s += 1
        return s

    agrees(f, (np.float64(2),), (np.float64(3),), graphs=1)


# ------------------------------------------------------------------ overlap


def both(a, b):
    a += 1
    return b * 2


def test_the_same_array_twice():
    jit = jit_onnx(both, fallback="error")
    for _ in range(2):
        x, y = V.copy(), V.copy()
        same(jit(x, x), both(y, y))
        same(x, y)
    x, y = V.copy(), V.copy()
    same(jit(x, V), both(y, V))
    same(x, y)
    assert jit.cache_info()["graphs"] == 2


def test_two_arrays_then_the_same_twice():
    jit = jit_onnx(both, fallback="error")
    same(jit(V.copy(), V.copy()), V * 2)
    x = V.copy()
    same(jit(x, x), (V + 1) * 2)
    same(x, V + 1)


def test_overlapping_arrays_are_refused_or_run_eagerly():
    x = np.arange(5.0)
    with pytest.raises(AliasError, match="overlaps"):
        jit_onnx(both, fallback="error")(x[:4], x[1:])
    same(x, np.arange(5.0))
    jit = jit_onnx(both)
    with pytest.warns(FallbackWarning, match="overlaps"):
        got = jit(x[:4], x[1:])
    y = np.arange(5.0)
    same(got, both(y[:4], y[1:]))
    same(x, y)


def test_a_graph_is_not_reused_for_overlapping_arrays():
    jit = jit_onnx(both)
    same(jit(V.copy(), V.copy()), V * 2)
    x, y = np.arange(5.0), np.arange(5.0)
    with pytest.warns(FallbackWarning, match="overlaps"):
        got = jit(x[:4], x[1:])
    same(got, both(y[:4], y[1:]))
    same(x, y)
    same(jit(V.copy(), V.copy()), V * 2)


def test_overlap_of_read_arguments_is_no_matter():
    x = np.arange(5.0)
    jit = jit_onnx(lambda a, b: a + b, fallback="error")
    same(jit(x[:4], x[1:]), x[:4] + x[1:])


def test_the_same_array_twice_in_a_container():
    def f(p):
        p[0] += 1
        return p[1] * 2

    x = V.copy()
    same(jit_onnx(f, fallback="error")([x, x]), (V + 1) * 2)
    same(x, V + 1)


# ------------------------------------------------------------------ failures


def test_an_error_of_a_run_comes_after_the_writes_before_it():
    def f(x, i):
        x += 1
        return x[i]

    x = V.copy()
    jit = jit_onnx(f, fallback="error")
    same(jit(x, np.array([0, 1])), (V + 1)[:2])
    with pytest.raises(IndexError):
        jit(x, np.array([0, 9]))
    same(x, V + 2)


def test_an_error_while_tracing_comes_after_the_writes_before_it():
    def f(x):
        x += 1
        return x.reshape(2, 2)

    x = V.copy()
    with pytest.raises(ValueError, match="reshape"):
        jit_onnx(f, fallback="error")(x)
    same(x, V + 1)


# ------------------------------------------------------------------ views and layout


@pytest.mark.parametrize("layout", ["c", "f", "transposed", "strided"])
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.reshape(-1),
        lambda x: x.ravel(),
        lambda x: x.T.reshape(-1),
        lambda x: x.T.ravel(),
        lambda x: x.reshape(2, 6),
        lambda x: x.swapaxes(0, 1),
        lambda x: x[1:],
        lambda x: x[:, 1:].reshape(-1),
        lambda x: x.flatten(),
        lambda x: x.ravel(order="F"),
        lambda x: np.atleast_3d(x),
        lambda x: np.squeeze(x[:1]),
        lambda x: (x + 1).ravel(),
        lambda x: np.asarray(x).reshape(4, 3),
    ],
)
def test_a_view_is_written_through_where_numpy_has_one(layout, fn):
    def f(x):
        y = fn(x)
        y[0] = 99
        return y, x.sum()

    jit = jit_onnx(f, fallback="error")
    for _ in range(2):
        plain, jitted = LAYOUTS[layout](), LAYOUTS[layout]()
        same(jit(jitted), f(plain))
        same(jitted, plain)


def test_the_layout_is_watched_only_where_it_matters():
    jit = jit_onnx(lambda x: x.reshape(-1) * 2, fallback="error")
    for make in LAYOUTS.values():
        if make().dtype.isnative:
            same(jit(make()), make().reshape(-1) * 2)
    assert jit.cache_info()["graphs"] == 1

    def f(x):
        x.reshape(-1)[0] = 5

    jit = jit_onnx(f, fallback="error")
    for layout in ("c", "f", "c", "f"):
        plain, jitted = LAYOUTS[layout](), LAYOUTS[layout]()
        jit(jitted)
        f(plain)
        same(jitted, plain)
    assert jit.cache_info()["graphs"] == 2


# ------------------------------------------------------------------ exports


def test_a_written_argument_is_an_output_when_nothing_is_returned():
    model = jit_onnx(grow).to_onnx(V)
    assert [o.name for o in model.graph.output] == ["x_out"]
    same(run_model(model, V), [V + 1])


def test_a_written_argument_is_an_output_when_asked_for():
    jit = jit_onnx(write_corner)
    assert [o.name for o in jit.to_onnx(M).graph.output] == ["output_0"]
    assert len(jit.to_onnx(M, mutated="drop").graph.output) == 1
    model = jit.to_onnx(M, mutated="outputs")
    assert [o.name for o in model.graph.output] == ["output_0", "x_out"]
    changed = M.copy()
    total = write_corner(changed)
    same(run_model(model, M), [np.asarray(total), changed])


def test_a_written_and_returned_argument_is_one_output():
    def f(x):
        x += 1
        return x

    model = jit_onnx(f).to_onnx(V)
    assert [o.name for o in model.graph.output] == ["output_0"]
    same(run_model(model, V), [V + 1])


@pytest.mark.parametrize("x", [np.array([np.nan, 1, -np.inf]), np.array([1, 2]), np.ones(())])
def test_replaced_numbers_are_written_where_no_copy_is_asked_for(x):
    def f(x):
        z = x.copy()
        y = np.nan_to_num(x, False, 7.0)
        w = np.nan_to_num(z, copy=False)
        return y, z, w

    same_error(lambda x: np.nan_to_num([x[..., 0]], copy=False), np.ones(2))
    same_error(lambda x: np.nan_to_num(x.sum(), copy=False), np.ones(2))
    agrees(f, (x,), graphs=1)
    plain, eager = x.copy(), x.copy()
    same(eager_onnx(f)(eager), f(plain))
    same(eager, plain)
