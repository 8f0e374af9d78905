# SPDX-License-Identifier: Apache-2.0
"""Reading and writing through indices against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit._core.program import Value
from onnxjit._lower.model import lower
from onnxjit._ops.elementwise import greater
from onnxjit._ops.index import getitem, is_scalar_index
from onnxjit._ops.index_write import scatter, setitem
from onnxjit._ops.views import DiagonalView, IndexView, parse_basic
from tests.ops.harness import run, trace
from tests.ops.row_cases import same

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]
OPSETS = (13, 18, 28)
I = np.array([[0, 1], [2, -1]])  # noqa: E741
J = np.array([1, 0])

BASIC = [
    np.s_[1:], np.s_[:-1], np.s_[::-1], np.s_[::2], np.s_[-2:], np.s_[1:-1], np.s_[..., 0],
    np.s_[0], np.s_[None], np.s_[:, None], np.s_[1:2, ::-1], np.s_[:, -1], np.s_[5:2],
    np.s_[::-2, 1:], np.s_[-3:100, :2], np.s_[0, 1], np.s_[:, 1:3, None], np.s_[()],
    np.s_[...], np.s_[-7::-1], np.s_[-2:-9:-1], np.s_[:, -5::-2], np.s_[3:-7:-3],
    np.s_[..., ::3], np.s_[2::-1], np.s_[0, ::-1], np.s_[:, ::2], np.s_[1:-1, 1:-1],
    np.s_[1:3, 0], np.s_[::2, ::2], np.s_[0, ..., 0], np.s_[:, :, 1], np.s_[1, :, ::2],
]  # fmt: skip
ADVANCED = [
    np.s_[I], np.s_[[0, 2]], np.s_[:, [0, 2, 1]], np.s_[..., [0, -1]], np.s_[I, J],
    np.s_[[0, 1], :, [1, 2]], np.s_[0, :, [1, 2]], np.s_[:, 0, [1, 2]], np.s_[:, [1, 2], 0],
    np.s_[[0, 1], 1:, None], np.s_[None, [0, 1], ::2], np.s_[:, None, [0, 1], None, 1:3],
    np.s_[[],], np.s_[[0, 1], None, [1, 0]], np.s_[J[:, None], J, :], np.s_[True],
    np.s_[False], np.s_[np.array(True), [0, 1]], np.s_[:, True], np.s_[0, True],
    np.s_[..., J, I, ::-1],
    np.s_[1:, I, J], np.s_[I, 1, 2], np.s_[:, :, J[:, None]], np.s_[J.astype("u1")],
]  # fmt: skip
SIZES = [((4, 5, 6), (3, 7, 4)), ((4, 5, 6), (3, 3, 3))]


def values(shape: tuple[int, ...], dtype: str = "f4", seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 99, shape).astype(dtype)


def read(x: Value, index: Any) -> Value:
    found = getitem(x, index)
    return found if isinstance(found, Value) else found.apply(x)


def split_arrays(index: Any) -> tuple[list[Array], Callable[..., Any]]:
    """Return the arrays of an index, and what puts others in their places."""
    parts = index if isinstance(index, tuple) else (index,)
    is_array = [isinstance(p, (list, np.ndarray)) and np.size(p) > 0 for p in parts]
    arrays = [np.asarray(p) for p, yes in zip(parts, is_array, strict=True) if yes]

    def put(*given: Any) -> Any:
        rest = iter(given)
        return tuple(next(rest) if yes else p for p, yes in zip(parts, is_array, strict=True))

    return arrays, put


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("index", [*BASIC, *ADVANCED], ids=repr)
def test_read(index: Any, opset: int) -> None:
    arrays, put = split_arrays(index)
    for traced, fed in SIZES:
        x, y = values(traced), values(fed, seed=1)
        same(run(lambda v: read(v, index), x, opset=opset, feeds=[y])[0], y[index])
        if arrays:
            feeds = [y, *arrays]
            got = run(lambda v, *a: read(v, put(*a)), x, *arrays, opset=opset, feeds=feeds)
            same(got[0], y[index])


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("index", [*BASIC, *ADVANCED], ids=repr)
def test_write(index: Any, opset: int) -> None:
    traced, fed = SIZES[0]
    x, y = values(traced), values(fed, seed=1)
    here, there = x[index].shape, y[index].shape
    for new, other in [
        (np.float64(2.5), np.float64(-2.5)),
        (values(here, "f8", 2), values(there, "f8", 3)),
        (values(here[-1:], "i4", 4), values(there[-1:], "i4", 5)),
    ]:
        want = y.copy()
        want[index] = other
        got = run(lambda v, n: setitem(v, index, n), x, new, opset=opset, feeds=[y, other])
        same(got[0], want)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "u8", "f2", "f8", "U2"])
@pytest.mark.parametrize("index", [*BASIC[::3], *ADVANCED[:10:3]], ids=repr)
def test_dtypes(index: Any, dtype: str) -> None:
    x = values((4, 5, 6), dtype)
    new = values(x[index].shape, dtype, 2)
    want = x.copy()
    want[index] = new
    for opset in (13, 28):
        same(run(lambda v: read(v, index), x, opset=opset)[0], x[index])
        same(run(lambda v, n: setitem(v, index, n), x, new, opset=opset)[0], want)


@pytest.mark.parametrize("index", [*BASIC, *ADVANCED], ids=repr)
def test_add_at(index: Any) -> None:
    x, y = values((4, 5, 6)), values((3, 7, 4), seed=1)
    new, other = values(x[index].shape), values(y[index].shape, seed=2)
    want = y.copy()
    np.add.at(want, index, other)
    got = run(lambda v, n: scatter(v, index, n, "add"), x, new, opset=16, feeds=[y, other])
    same(got[0], want)


# --- empty and short axes ------------------------------------------------------------------


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize(
    "index",
    [i for i in BASIC if not any(isinstance(p, int) for p in np.index_exp[i])],
    ids=repr,
)
def test_sizes_zero_and_one(index: Any, opset: int) -> None:
    for fed in ((0, 5, 6), (1, 1, 1), (2, 0, 3)):
        x, y = values((4, 5, 6)), values(fed, seed=1)
        new, other = values(x[index].shape), values(y[index].shape, seed=2)
        same(run(lambda v: read(v, index), x, opset=opset, feeds=[y])[0], y[index])
        want = y.copy()
        want[index] = other
        got = run(lambda v, n: setitem(v, index, n), x, new, opset=opset, feeds=[y, other])
        same(got[0], want)


# --- masks ---------------------------------------------------------------------------------


class Wrapped:
    """A value with the subscripts and comparisons that a mask is made with."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __getitem__(self, index: Any) -> Wrapped:
        return Wrapped(read(self.value, index))

    def __gt__(self, other: float) -> Value:
        made: Value = greater(self.value, np.float32(other))
        return made


MASKS = [
    lambda v: (v > 50,),
    lambda v: (v[:, :, 0] > 50,),
    lambda v: (v[:, 0, 0] > 50,),
    lambda v: (slice(None), v[0, :, 0] > 50),
    lambda v: (slice(None), v[0, :, 0] > 50, slice(1, 3)),
    lambda v: (Ellipsis, v[0, 0] > 50),
    lambda v: (v[:, 0, 0] > 50, None, slice(None, None, 2)),
    lambda v: (slice(None), v[0] > 50),
    lambda v: (v[0, 0, 0] > 50,),
    lambda v: (slice(None), v[0, 0, 0] > 50),
    lambda v: (v[:, 0, 0] > 30, 0),
    lambda v: (v[0, 0, 0] > 50, slice(0, 2)),
]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("number", range(len(MASKS)))
def test_masks(number: int, opset: int) -> None:
    mask: Any = MASKS[number]
    x, y = values((4, 5, 6)), values((3, 7, 4), seed=1)
    at = mask(y)
    same(run(lambda v: read(v, mask(Wrapped(v))), x, opset=opset, feeds=[y])[0], y[at])
    want = y.copy()
    want[at] = 7
    got = run(lambda v: setitem(v, mask(Wrapped(v)), 7), x, opset=opset, feeds=[y])
    same(got[0], want)
    want = y.copy()
    want[at] = -y[at]
    got = run(
        lambda v, n: setitem(v, mask(Wrapped(v)), read(n, mask(Wrapped(v)))),
        x, -x, opset=opset, feeds=[y, -y],
    )  # fmt: skip
    same(got[0], want)


def test_equal_masks_have_one_length() -> None:
    def body(x: Value, y: Value) -> Value:
        mask = greater(x, np.float32(3))
        a, b = read(x, mask), read(y, mask)
        assert a.shape[0] is b.shape[0]
        return a

    run(body, values((5,)), values((5,)))


def test_a_mask_keeps_the_sign_of_zero() -> None:
    x = np.array([-0.0, 1, -0.0], "f4")
    new = np.array([-0.0, -0.0, 5], "f4")
    for opset in OPSETS:
        got = run(
            lambda v, n, m: setitem(v, m, read(n, m)),
            x, new, np.array([True, True, False]), opset=opset,
        )  # fmt: skip
        same(got[0], np.array([-0.0, -0.0, -0.0], "f4"))


# --- sizes and traced numbers as indices ---------------------------------------------------


TRACED: list[Callable[[Any, Any], Any]] = [
    lambda a, b: (a, slice(b, b)),
    lambda a, b: (a, b),
    lambda a, b: (slice(a, b), 0),
    lambda _, b: (..., b),
    lambda a, b: (slice(None, a), slice(b, None, -1)),
    lambda a, b: (a, slice(b)),
    lambda a, b: (slice(a, None, 2), [b, a]),
]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("number", range(len(TRACED)))
def test_traced_numbers(number: int, opset: int) -> None:
    index = TRACED[number]
    x, y = values((4, 6)), values((7, 5), seed=1)
    one, four = np.array(1), np.array(4)
    examples, feeds = [x, np.array(2), np.array(3)], [y, one, four]
    got = run(lambda v, a, b: read(v, index(a, b)), *examples, opset=opset, feeds=feeds)
    same(got[0], y[index(one, four)])
    want = y.copy()
    want[index(one, four)] = 5
    got = run(lambda v, a, b: setitem(v, index(a, b), 5), *examples, opset=opset, feeds=feeds)
    same(got[0], want)


def test_sizes_as_indices() -> None:
    x, y = values((4, 6)), values((7, 5), seed=1)
    indices: list[Callable[[Any], Any]] = [
        lambda v: (v.shape[0] - 1,),
        lambda v: slice(v.shape[0] - 2, None),
        lambda v: (slice(v.shape[0] // 2), slice(None, v.shape[1] - 1)),
        lambda v: ([0, v.shape[0] - 1],),
    ]
    for index in indices:
        same(run(lambda v: read(v, index(v)), x, feeds=[y])[0], y[index(y)])  # noqa: B023
        want = y.copy()
        want[index(y)] = 3
        same(run(lambda v: setitem(v, index(v), 3), x, feeds=[y])[0], want)  # noqa: B023


# --- errors --------------------------------------------------------------------------------

BAD: list[Any] = [
    np.s_[0, 0, 0], np.s_[5], np.s_[-4], np.s_[[5]], np.s_[1.0], np.s_["a"], np.s_[[1.0]],
    np.s_[np.array([1.0])], np.s_[..., ...], np.s_[np.zeros(4, bool)],
    np.s_[[0, 1], [0, 1, 2]],
    np.s_[::0], np.s_["a":], np.s_[:, -9], np.s_[np.zeros((3, 3), bool)],
]  # fmt: skip


@pytest.mark.parametrize("index", BAD, ids=repr)
def test_bad_indices(index: Any) -> None:
    x = values((3, 2))
    with pytest.raises((IndexError, TypeError, ValueError)) as want:
        x[index]
    for symbolic in (True, False):
        if symbolic and isinstance(index, list):
            continue  # places that are data are checked when running
        with pytest.raises(type(want.value)) as got:
            trace(lambda v: read(v, index), x, symbolic=symbolic)
        assert str(got.value) == str(want.value)


BAD_VALUES: list[Any] = [
    ([0, 1], np.ones(3)),
    (slice(0, 3), np.ones(2)),
    (slice(0, 3), np.ones((2, 3))),
    (np.array([True, True, False]), np.ones(3)),
    (np.array([True, True, False]), np.ones((3, 2))),
]


@pytest.mark.parametrize("number", range(len(BAD_VALUES)))
def test_bad_values(number: int) -> None:
    index, new = BAD_VALUES[number]
    x = np.zeros(3)
    with pytest.raises((ValueError, TypeError)) as want:
        x[index] = new
    with pytest.raises(type(want.value)) as got:
        trace(lambda v: setitem(v, index, new), x)
    assert str(got.value) == str(want.value)


def test_a_python_int_that_does_not_fit() -> None:
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        trace(lambda v: setitem(v, 0, 300), np.zeros(3, "u1"))


def test_out_of_bounds_at_run_time() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        run(read, np.arange(3), np.array([0, 9]))
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        run(read, np.arange(3), np.array(9))


def test_scalar_indices() -> None:
    assert is_scalar_index((0, -1), 2)
    assert is_scalar_index((), 0)
    assert not is_scalar_index(0, 2)
    assert not is_scalar_index((0, ...), 1)
    assert not is_scalar_index(slice(None), 1)


# --- inner axes ---


@pytest.mark.parametrize(
    ("dtype", "channels", "turned"),
    [("u1", 1, True), ("u1", 2, True), ("u1", 3, False), ("u1", 4, True), ("f2", 2, True),
     ("f4", 1, True), ("f4", 2, False), ("f8", 1, False), ("i8", 3, False)],
)  # fmt: skip
def test_inner_axes_are_turned_only_where_that_is_faster(
    dtype: str, channels: int, turned: bool
) -> None:
    x, at = values((6, 9, channels), dtype), values((12,), "i8") % 9

    def function(v: Value, i: Value) -> Value:
        return read(v, (slice(None), i))

    same(run(function, x, at, symbolic=False)[0], x[:, at])
    model = lower(trace(function, x, at, symbolic=False))
    ops = [n.op_type for n in model.graph.node]
    assert ops.count("Transpose") == (2 if turned else 0)


# --- strides -------------------------------------------------------------------------------


@pytest.mark.parametrize("index", BASIC, ids=repr)
def test_strides(index: Any) -> None:
    x = values((6, 7, 8), "i1")
    want = x[index]

    def body(v: Value) -> Value:
        view = parse_basic(index, v.shape)
        assert isinstance(view, IndexView)
        found = view.strides(v.shape, x.strides)
        assert found is not None
        assert [s for s, n in zip(found, want.shape, strict=True) if n > 1] == [
            s for s, n in zip(want.strides, want.shape, strict=True) if n > 1
        ]
        return v

    trace(body, x)


@pytest.mark.parametrize("opset", OPSETS)
def test_diagonals(opset: int) -> None:
    for offset in (-7, -2, 0, 1, 9):
        x, y = values((4, 6)), values((5, 3), seed=1)
        for symbolic, fed in ((True, y), (False, x)):
            got = run(
                lambda v, k=offset: DiagonalView(k, 0, 1).apply(v),
                x, opset=opset, symbolic=symbolic, feeds=[fed],
            )  # fmt: skip
            same(got[0], fed.diagonal(offset))
