# SPDX-License-Identifier: Apache-2.0
"""Wrong calls and refusals: NumPy's exceptions where NumPy has one, with the user's line."""

import operator
import time
import traceback
from typing import Any

import numpy as np
import pytest

from onnxjit import (
    DataDependentError,
    FallbackWarning,
    LeakError,
    OnnxJitError,
    OpsetError,
    SpecError,
    UnsupportedError,
    float32,
    jit_onnx,
)
from tests.jit.harness import agrees, same, same_error

V = np.array([3.0, -1.5, 2.25])
M = np.arange(6.0).reshape(2, 3)
LEAKED: list[Any] = []
untyped: Any = np  # the type checker knows that these calls are wrong


# ------------------------------------------------------------------ NumPy's errors


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x + np.ones(4),
        lambda x: x.reshape(2, 2),
        lambda x: x.reshape(-1, -1),
        lambda x: x.reshape("a"),
        lambda x: x @ np.ones(4),
        lambda x: x.sum(axis=2),
        lambda x: x.sum(axis=-2),
        lambda x: x.sum(axis="a"),
        lambda x: x.sum(axis=(0, 0)),
        lambda x: x[5],
        lambda x: x[-4],
        lambda x: x[0, 1],
        lambda x: x["a"],
        lambda x: x[1.5],
        lambda x: x[[0, 5]],
        lambda x: x[np.array([True, False])],
        lambda x: x[::0],
        lambda x: x.transpose(1, 0),
        lambda x: x.swapaxes(0, 1),
        lambda x: np.concatenate([x, M]),
        lambda x: np.concatenate([]),
        lambda x: np.stack([x, x[:2]]),
        lambda x: untyped.sum(x, nonsense=1),
        lambda x: untyped.sum(),
        lambda x: untyped.add(x),
        lambda x: untyped.add(x, 1, 2, 3),
        lambda x: untyped.add(x, 1, nonsense=2),
        lambda x: np.add(x, "a"),
        lambda x: x + "a",
        lambda x: x + None,
        lambda x: x < "a",
        lambda x: x + {},
        lambda x: x.astype("nonsense"),
        lambda x: x.astype(np.int32, casting="safe"),
        lambda x: np.squeeze(x, axis=0),
        lambda x: np.expand_dims(x, 5),
        lambda x: np.zeros(-1) + x[0],
        lambda x: np.arange(0, 1, 0) + x[0],
        lambda x: x & 1,
        lambda x: x << 1,
        lambda x: ~x,
        lambda x: np.bitwise_and(x, 1),
        lambda x: x.max(axis=1),
        lambda x: x[:0].max(),
        lambda x: x[:0].argmax(),
        lambda x: np.split(x, 2),
        lambda x: np.broadcast_to(x, (2, 2)),
        lambda x: np.repeat(x, -1),
        lambda x: x.nonsense,
        lambda x: untyped.nonsense(x),
        lambda x: int(x),
        lambda x: float(x),
        lambda x: len(x[0]),
        lambda x: iter(x[0]),
        lambda x: hash(x),
        lambda x: bool(x),
        lambda x: {x: 1},
        lambda x: x.item(),
        lambda x: x(),
        lambda x: range(x),
        lambda x: x.dot(M),
        lambda x: np.moveaxis(x, 0, 1),
        lambda x: np.take(x, 9),
        lambda x: np.linspace(0, 1, -1) + x,
        lambda x: np.dot(x, x, out=np.zeros(2)),
        lambda x: 1 / 0 * x,
        lambda x: len(x) // 0 * x,
        lambda x: x.sum().append(1),
        lambda x: untyped.sin(),
        lambda x: untyped.sin(x, x, x),
        lambda x: np.where(x > 0, x),
        lambda x: np.transpose(x, (0, 0)),
        lambda x: np.array([x, x[:2]]),
    ],
)
def test_a_wrong_call_raises_what_numpy_raises(fn):
    e = same_error(fn, V)
    shown = "".join(traceback.format_exception(e))
    assert "test_errors.py" in shown


def test_the_note_names_the_line():
    def f(x):
        y = x * 2
        return y.reshape(2, 2)

    e = same_error(f, V)
    (note,) = e.__notes__
    assert f"test_errors.py:{f.__code__.co_firstlineno + 2} in" in note


def test_an_index_out_of_range_in_data_is_numpys_error():
    jit = jit_onnx(lambda x, i: x[i], fallback="error")
    same(jit(V, np.array([1, -3])), V[[1, 0]])
    with pytest.raises(IndexError, match="out of bounds"):
        jit(V, np.array([1, 3]))
    with pytest.raises(IndexError, match="out of bounds"):
        jit(V, np.array([-4]))


def test_sizes_that_do_not_fit_are_numpys_error_each_time():
    jit = jit_onnx(lambda a, b: a + b, fallback="error")
    same(jit(V, V), V + V)
    for _ in range(2):
        with pytest.raises(ValueError, match="could not be broadcast"):
            jit(V, np.ones(2))
    same(jit(V, np.ones(1)), V + 1)
    same(jit(V[:2], np.ones(2)), V[:2] + 1)


def test_an_error_is_not_remembered():
    def f(x):
        return x.reshape(2, 2)

    jit = jit_onnx(f, fallback="error")
    with pytest.raises(ValueError, match="reshape"):
        jit(V)
    same(jit(np.arange(4.0)), np.arange(4.0).reshape(2, 2))
    with pytest.raises(ValueError, match="reshape"):
        jit(V)


def test_errors_that_the_function_catches():
    def f(x):
        try:
            return x[5]
        except IndexError as e:
            return x * len(str(e))

    agrees(f, (V,), (np.arange(8.0),), (V[:2],))


# ------------------------------------------------------------------ refused arguments


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.array([1, "a"], object), "object"),
        (np.array([1.0], np.longdouble), "longdouble|float128"),
        (np.zeros(2, [("a", "f4")]), "void|a"),
        (np.array([b"ab"]), "S2"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "MaskedArray"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "filled"),
        (np.eye(2).view(np.matrix), "matrix"),
        (np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), "recarray"),
    ],
)
def test_arrays_that_are_not_carried_are_refused_by_name(x, text):
    jit = jit_onnx(lambda data: data + 1)
    for call in (jit, jit.to_onnx):
        with pytest.raises(UnsupportedError, match=f"(?s)'data'.*({text})"):
            call(x)


def test_refused_arrays_in_containers_are_named():
    with pytest.raises(UnsupportedError, match="'p_w_1'"):
        jit_onnx(lambda p: p)({"w": [V, np.array([None])]})


def test_refusals_have_a_remedy_and_a_page():
    with pytest.raises(UnsupportedError) as e:
        jit_onnx(lambda x: x)(np.ma.masked_array([1.0]))
    assert "np.asarray" in str(e.value)
    assert "docs/errors.md#unsupportederror" in str(e.value)
    assert isinstance(e.value, OnnxJitError)
    assert isinstance(e.value, TypeError)


# ------------------------------------------------------------------ options


@pytest.mark.parametrize("opset", [0, 12, 99, -1])
def test_opsets_out_of_range_are_refused(opset):
    with pytest.raises(OpsetError, match="opset"):
        jit_onnx(lambda x: x, opset=opset)
    with pytest.raises(OpsetError, match="opset"):
        jit_onnx(lambda x: x + 1).to_onnx(V, opset=opset)


@pytest.mark.parametrize(
    "options",
    [
        {"target": "nonsense"},
        {"mutated": "maybe"},
        {"input_names": ["a", "b"]},
        {"output_names": []},
        {"output_names": ["a", "a"]},
        {"dynamic": "yes"},
        {"dynamic": {"nobody": {0: "N"}}},
    ],
)
def test_options_of_an_export_are_checked(options):
    with pytest.raises(SpecError, match=next(iter(options))):
        jit_onnx(lambda x: x + 1).to_onnx(V, **options)


def test_unknown_options_are_arguments():
    with pytest.raises(TypeError, match="nonsense"):
        jit_onnx(lambda x: x + 1).to_onnx(V, nonsense=1)


@pytest.mark.parametrize("sizes", [(-1,), (1.5,), (("a",),)])
def test_sizes_of_specifications_are_checked(sizes):
    with pytest.raises((SpecError, ValueError)):
        float32[sizes]


# ------------------------------------------------------------------ leaks


def leak(x):
    """Keep an array where no rewriting looks: inside a method called by C code."""
    operator.methodcaller("append", x * 2)(LEAKED)
    return x + 1


def test_a_leaked_array_says_so():
    LEAKED.clear()
    same(jit_onnx(leak, fallback="error")(V), V + 1)
    (x,) = LEAKED
    for use in (lambda: x + 1, lambda: x[0], lambda: np.sin(x), lambda: x.sum(), lambda: x.T):
        with pytest.raises(LeakError, match="return it"):
            use()


def test_a_leaked_array_in_another_trace_says_so():
    LEAKED.clear()
    jit_onnx(leak, fallback="error")(V)
    for f in (lambda y: y + LEAKED[0], lambda y: LEAKED[0], lambda y: np.sin(LEAKED[0])):
        with pytest.raises(LeakError):
            jit_onnx(f, fallback="error")(V)


def test_a_leaked_array_is_an_argument():
    LEAKED.clear()
    jit_onnx(leak, fallback="error")(V)
    with pytest.raises(LeakError):
        jit_onnx(lambda y: y + 1, fallback="error")(LEAKED[0])


def test_what_is_appended_to_a_global_list_is_plain():
    def f(x):
        LEAKED.append(x)
        return x + 1

    LEAKED.clear()
    jit_onnx(f, fallback="error")(V)
    (appended,) = LEAKED
    assert appended is V
    LEAKED.clear()


# ------------------------------------------------------------------ exports


def test_a_folder_that_is_missing_leaves_nothing(tmp_path):
    jit = jit_onnx(lambda x: x + 1)
    with pytest.raises(FileNotFoundError):
        jit.save(tmp_path / "missing" / "m.onnx", V)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_leaves_nothing(tmp_path):
    jit = jit_onnx(lambda x: x if float(str(x.sum())) > 0 else -x)
    (tmp_path / "m.onnx").write_text("old", encoding="utf-8")
    with pytest.raises(DataDependentError):
        jit.save(tmp_path / "m.onnx", V)
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]
    assert (tmp_path / "m.onnx").read_text(encoding="utf-8") == "old"


def test_an_export_without_arguments_says_what_to_do():
    def scale(x):
        return x + 1

    jit = jit_onnx(scale)
    with pytest.raises(SpecError, match=r"scale.to_onnx\(.*no call.*float32\['N', 3\]"):
        jit.to_onnx()
    jit(V)
    assert len(jit.to_onnx().graph.input) == 1
    jit(M)
    with pytest.raises(SpecError, match="several"):
        jit.to_onnx()
    jit.cache_clear()
    with pytest.raises(SpecError, match="no call"):
        jit.to_onnx()


# ------------------------------------------------------------------ caught refusals


def guess(x):
    try:
        first = float(str(x[0]))
        return x + 1 if first > 2 else x - 1
    except Exception:  # noqa: BLE001  the trap
        return x * 100


def translated(x):
    try:
        return x + 1 if str(x[0]) > "2" else x
    except TypeError as e:
        raise KeyError("no number") from e  # noqa: EM101, TRY003


def timed(x):
    try:
        now = time.time()
    except Exception:  # noqa: BLE001  the trap
        return x * 100
    return x + min(now, 1.0)


def sized(x):
    try:
        n = len(x[x > 0])
        if len([x] * n) > 1:
            return x + n
    except TypeError:
        return x * 100
    return x


@pytest.mark.parametrize("fn", [guess, translated, timed, sized])
def test_refusals_that_the_function_catches_still_count(fn):
    with pytest.raises(OnnxJitError):
        jit_onnx(fn, fallback="error")(V)
    jit = jit_onnx(fn)
    with pytest.warns(FallbackWarning):
        got = jit(V)
    same(got, fn(V))


def test_what_data_may_raise_comes_before_what_the_trace_raises():
    def f(x, n):
        x[n] += 1
        if n >= -3:
            msg = "high"
            raise KeyError(msg)
        return x

    for n in (0, 2, 3, -3, -4, 7):
        kind, text = (KeyError, "high") if -3 <= n < 3 else (IndexError, "out of bounds")
        with pytest.raises(kind, match=text):
            f(np.ones(3), n)
        with pytest.raises(kind, match=text):
            jit_onnx(f, fallback="error")(np.ones(3), n)
