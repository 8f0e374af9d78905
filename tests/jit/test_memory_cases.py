# SPDX-License-Identifier: Apache-2.0
"""Single cases of indexing, views and sizes, most of them found by random programs."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

import onnxjit
from onnxjit import UnsupportedError, eager_onnx, jit_onnx
from tests.jit.harness import agrees, run_model, same

SIZES = (3, 1, 2, 0, 7)


def vector(n: int) -> Any:
    return np.arange(1.0, n + 1)


def at_every_size(function: Any, make: Any = vector, traced: int = 3, **options: Any) -> None:
    """Assert that one jitted function equals NumPy at every size, exceptions included."""
    jit = jit_onnx(function, fallback="error", **options)
    for n in (traced, *SIZES):
        plain, jitted = make(n), make(n)
        try:
            want = function(plain)
        except Exception as e:  # noqa: BLE001  compared next
            with pytest.raises(type(e)):
                jit(jitted)
            continue
        same(jit(jitted), want, f"result at {n}")
        same(jitted, plain, f"argument at {n}")


# ------------------------------------------------------------------ slices


@pytest.mark.parametrize("traced", [3, 1, 0])
@pytest.mark.parametrize(
    "index",
    [
        np.s_[-2::-1], np.s_[-4::-3], np.s_[-3:-5:-1], np.s_[-9::-1], np.s_[-2:0:-1],
        np.s_[:-9:-2], np.s_[: 2**63 - 1 : -1], np.s_[5::-2], np.s_[-1::-1],
    ],
)  # fmt: skip
def test_slices_that_start_before_the_first_element(index, traced):
    def read(x):
        return x[index]

    def write(x):
        x[index] = -x[index]
        return x

    at_every_size(read, traced=traced)
    at_every_size(write, traced=traced)


def test_a_backward_slice_with_a_start_that_is_data():
    def f(x: Any, i: Any) -> Any:
        return x[i[0] :: -1]

    jit = jit_onnx(f, fallback="error")
    for at in range(-6, 6):
        same(jit(vector(3), np.array([at])), f(vector(3), np.array([at])))


def test_backward_slices_in_exported_models():
    def f(x: Any) -> Any:
        return x[-3::-2]

    model = jit_onnx(f).to_onnx(vector(5))
    for n in SIZES:
        same(run_model(model, vector(n))[0], f(vector(n)))


def test_writes_to_no_elements():
    def f(x: Any) -> Any:
        y = x[: x.shape[0] : -3]
        y[-1:0:-2, :] = x[:, ::-1]
        return x

    at_every_size(f, lambda n: np.ones((1, n)))


# ------------------------------------------------------------------ places and masks


def test_a_mask_axis_of_length_zero_fits_every_axis():
    nothing = np.zeros(0, bool)

    def f(x: Any) -> Any:
        x[nothing] = 5
        return x[nothing], x

    at_every_size(f, lambda n: np.ones((n, 2)))


def test_a_mask_that_data_left_empty_fits_every_axis():
    def f(x: Any, y: Any) -> Any:
        m = y[y > 5] > 7
        x[m] = 5
        return x[m], x

    jit = jit_onnx(f, fallback="error")
    for y in (np.array([6.0, 8, 1, 9]), np.array([1.0]), np.array([])):
        same(jit(vector(3), y), f(vector(3), y))
    with pytest.raises(IndexError):
        jit(vector(3), np.array([8.0]))


def test_a_mask_must_be_as_long_as_what_data_left():
    def f(x: Any, m: Any) -> Any:
        return x[x > 1][m]

    jit = jit_onnx(f, fallback="error")
    m = np.array([True, False])
    same(jit(vector(3), m), f(vector(3), m))
    for n in (2, 4):
        with pytest.raises(IndexError):
            jit(vector(n), m)


@pytest.mark.parametrize(
    "index", [np.array([0, 2]), np.array([-3]), np.array([[1]]), np.array([], int)]
)
def test_places_outside_are_found_whatever_the_size(index):
    at_every_size(lambda x: x[index])


def test_a_number_among_places_is_checked_even_for_no_places():
    def f(x: Any) -> Any:
        return x[2, np.array([], int)]

    at_every_size(f, lambda n: np.ones((n, 2)))


def test_values_that_do_not_fit_come_before_places_that_do_not():
    def f(x: Any) -> Any:
        x[..., [2]] = x
        return x

    at_every_size(f, lambda n: np.ones((2, n)))


def raises_alike(jit: Any, f: Any, make: Any) -> None:
    """Require NumPy's exception, text included."""
    with pytest.raises(ValueError) as found:  # noqa: PT011  the text is compared below
        f(*make())
    with pytest.raises(ValueError, match=re.escape(str(found.value))):
        jit(*make())


def test_masked_writes_of_another_length():
    def f(x: Any, v: Any) -> Any:
        x[x > 1] = v
        return x

    jit = jit_onnx(f, fallback="error")
    same(jit(vector(3), vector(2)), f(vector(3), vector(2)))
    raises_alike(jit, f, lambda: (vector(4), vector(2)))


def test_filled_values_must_fit_what_data_left():
    def f(x: Any) -> Any:
        x[:] = 2.0
        y = x[x != 1]
        y[1::-1] = x
        return y

    jit = jit_onnx(f, fallback="error")
    same(jit(vector(2)), f(vector(2)))
    raises_alike(jit, f, lambda: (vector(3),))


def test_operands_that_data_made_too_long():
    jit = jit_onnx(lambda x: x[x > 1] + x[:2], fallback="error")
    same(jit(vector(3)), vector(3)[1:] + vector(2))
    with pytest.raises(ValueError, match="broadcast together"):
        jit(vector(4))


# ------------------------------------------------------------------ outputs, reductions


def test_outputs_must_be_as_large_as_the_result():
    def f(x: Any) -> Any:
        y = np.ones((2, 1))
        y *= x
        return y

    at_every_size(f, np.ones, traced=1)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_reductions_of_nothing_raise_whatever_was_traced(name):
    at_every_size(getattr(np, name))
    at_every_size(lambda x: getattr(np, name)(x, axis=0), lambda n: np.ones((n, 2)))
    at_every_size(lambda x: getattr(np, name)(x, axis=1), lambda n: np.ones((n, 2)))


def test_outputs_are_arrays():
    def f(x: Any) -> Any:
        return np.add(x, 1, out=x[0])

    with pytest.raises(TypeError, match="return arrays must be"):
        jit_onnx(f, fallback="error")(vector(3))


def test_at_places_outside():
    def f(x: Any) -> Any:
        np.add.at(x, np.array([0, -1]), 1.0)
        return x

    at_every_size(f)


def test_values_that_data_made_must_fit_nothing():
    def f(x: Any) -> Any:
        x[-2:-4] = x[x > 1]
        return x

    jit = jit_onnx(f, fallback="error")
    for n in (1, 2):
        same(jit(vector(n)), vector(n))
    with pytest.raises(ValueError, match="broadcast"):
        jit(vector(3))


def test_put_into_nothing():
    def f(x: Any) -> Any:
        np.put(x, [0], 5)
        return x

    at_every_size(f)


def test_at_with_another_dtype():
    def f(x: Any) -> Any:
        np.add.at(x, np.array([0, 1, 0]), 1.7)
        return x

    agrees(f, (np.array([1, 2]),))


# ------------------------------------------------------------------ the same object


def test_functions_that_return_their_argument():
    def f(x: Any) -> Any:
        return (
            x.squeeze(), np.atleast_2d(x), np.asarray(x), np.ascontiguousarray(x),
            np.asarray(x, order="C"), np.asanyarray(x), x.view(), x.T,
        )  # fmt: skip

    jit = jit_onnx(f, fallback="error")
    for x in (np.ones((2, 3)), np.ones((3, 2)).T, np.ones((4, 3))[::2], np.ones((1, 3))):
        got, want = jit(x), f(x)
        same(got, want)
        assert [g is x for g in got] == [w is x for w in want]


def test_one_array_by_two_names_is_one_result():
    def f(x: Any) -> Any:
        y = x + 1
        z = np.ascontiguousarray(y)
        w = np.ascontiguousarray(x.T + 1)
        return y, z, w, np.asfortranarray(w)

    got = jit_onnx(f, fallback="error")(np.ones((2, 3)))
    same(got, f(np.ones((2, 3))))
    assert got[0] is got[1]
    assert got[2] is not got[3]


def test_equal_results_are_not_one_array():
    def f(x: Any) -> Any:
        y = x + 1
        return y, y.T.T, y[...], y * 1, np.zeros((0, 2)), x[5:] + 1, x[6:] * 2

    got = jit_onnx(f, fallback="error")(np.ones((2, 2)))
    same(got, f(np.ones((2, 2))))
    got[0][:] = 9
    same(got[1:], f(np.ones((2, 2)))[1:])
    assert len({id(g) for g in got}) == len(got)


def test_a_view_with_an_axis_more_is_written_through():
    def f(x: Any) -> Any:
        np.atleast_1d(x)[0] = 7
        y, z = np.atleast_2d(x, x)
        y[0, 0] += 1
        np.asfortranarray(x)[0] += 2
        return y, z, np.ascontiguousarray(x)

    agrees(f, (np.array(1.0),), graphs=1)


def test_the_shape_of_an_argument_is_assigned():
    def f(x: Any) -> Any:
        x.shape = (x.size,)
        x[0] = 5

    x = np.ones((2, 3))
    with pytest.raises(UnsupportedError, match="shape of an argument"):
        jit_onnx(f, fallback="error")(x)
    with pytest.warns(match="shape of an argument"):
        jit_onnx(f)(x)
    same(x, np.array([5.0, 1, 1, 1, 1, 1]))


def test_the_shape_is_assigned_under_every_name():
    def f(x: Any) -> Any:
        y = x.T.reshape(x.shape)
        z = np.ascontiguousarray(y)
        z.shape = (x.size,)
        z[0] = 5
        return y, z

    for x in (np.ones((2, 3)), np.ones((3, 1)), np.ones((3, 2)).T):
        got = jit_onnx(f, fallback="error")(x)
        same(got, f(x))
        assert got[0] is got[1]


def test_the_shape_of_other_memory_is_not_assigned():
    def f(x: Any) -> Any:
        y = x.T
        y.shape = (x.size,)

    with pytest.raises(AttributeError, match="Incompatible shape"):
        jit_onnx(f, fallback="error")(np.ones((2, 3)))
    jit_onnx(f, fallback="error")(np.ones((1, 3)))


# ------------------------------------------------------------------ order in memory

ORDERED: Any = (np.ones((2, 3)), np.ones((3, 2)).T, np.ones((4, 6))[::2, ::2], np.ones((1, 3)))


def repeated() -> Any:
    """Return a matrix that writes cannot change, of one row."""
    return np.broadcast_to(np.arange(1.0, 4), (2, 3))


@pytest.mark.parametrize("order", ["C", "F", "A", "K", None])
def test_conversions_to_an_order_return_the_array_or_a_copy(order):
    def f(x: Any) -> Any:
        y = x * 2
        made = [
            np.asarray(x, order=order), np.array(x, copy=None, order=order),
            np.asarray(y, order=order), np.asarray(y.T, order=order),
            np.array(y.T, copy=None, order=order), np.array(y, None, copy=None, ndmin=3),
        ]  # fmt: skip
        for i, z in enumerate(made):
            z[0, 0] = i + 5
        return made, y

    for x in ORDERED:
        for run in (jit_onnx(f, fallback="error"), eager_onnx(f)):
            plain, given = x.copy("K"), x.copy("K")
            same(run(given), f(plain))
            same(given, plain)


def test_conversions_after_one_another_are_the_array():
    def f(x: Any) -> Any:
        y = np.asarray(np.ascontiguousarray(x), order="F")
        z = np.ascontiguousarray(np.asfortranarray(x))
        y[0] = 5
        z[-1] = 6
        return y, z, x

    for x in (np.ones(3), np.ones((2, 3)), np.ones((3, 2)).T, np.ones((1, 3))):
        agrees(f, (x,))
        got, want = jit_onnx(f)(x), f(x)
        assert [g is x for g in got] == [w is x for w in want]


@pytest.mark.parametrize("order", ["C", "F", "K", None])
def test_conversions_to_a_dtype_lie_in_the_order_asked_for(order):
    def f(x: Any) -> Any:
        made = [
            np.asarray(x, np.float32, order=order), np.asarray(x.T, np.float32, order=order),
            np.asarray(x, order=order, copy=True), np.asfortranarray(x, np.float32),
            np.ascontiguousarray(x.T, np.int64), x.astype(np.int64, order=order or "K"),
        ]  # fmt: skip
        for z in made:
            z.ravel()[0] = 7
            z.T.ravel()[1] = 8
        return made

    for x in ORDERED:
        agrees(f, (x,))
        same(eager_onnx(f)(x), f(x))


def test_copies_of_repeated_rows_lie_by_column():
    def f(x: Any) -> Any:
        made = [
            np.copy(x), x.copy("K"), np.array(x), np.zeros_like(x), np.sort(x, 0),
            x.astype(np.int64), np.concatenate([x, x]), x + 0, np.where(x > 1, x, 0),
        ]  # fmt: skip
        for y in made:
            y.ravel()[1] = 7
        return made

    agrees(f, (repeated(),), (repeated().T,), (repeated()[:, ::-1],))
    same(eager_onnx(f)(repeated()), f(repeated()))


def test_new_arrays_lie_in_the_order_asked_for():
    def f(x: Any) -> Any:
        made = [
            np.zeros(x.shape, order="F"), np.ones(x.shape, float, "F"), np.empty_like(x) * 0,
            np.full(x.shape, 2.0, order="F"), np.zeros_like(x, order="F"),
            np.copy(x, "F"), np.copy(np.ones((2, 3)), "F"), np.empty(x.shape, order="F"),
        ]  # fmt: skip
        made[-1].fill(1)
        for y in made:
            y.ravel()[0] = 7
        return made

    agrees(f, *((x,) for x in ORDERED))
    same(eager_onnx(f)(ORDERED[0]), f(ORDERED[0]))


def test_an_array_assigned_to_itself_must_be_writable():
    def f(x: Any) -> Any:
        x[...] = x
        return x.sum()

    jit = jit_onnx(f, fallback="error")
    same(jit(np.ones((2, 3))), np.float64(6.0))
    for run in (jit, eager_onnx(f), jit_onnx(f)):
        with pytest.raises(ValueError, match="read-only"):
            run(repeated())


@pytest.mark.parametrize("option", [{}, {"where": np.array([True, False, True])}])
def test_read_only_outputs_are_found_before_their_dtype(option):
    def f(x: Any) -> Any:
        return np.add(x, 0.5, out=x, **option)

    x = np.arange(3)
    x.flags.writeable = False
    for run in (jit_onnx(f, fallback="error"), eager_onnx(f)):
        with pytest.raises(ValueError, match="read-only"):
            run(x)


def test_elements_are_no_outputs_of_reductions():
    def f(x: Any, call: Any) -> Any:
        return call(x, out=x[0])

    for call in (np.sum, np.cumsum, np.add.reduce, np.argmax):
        for run in (jit_onnx(f, fallback="error"), eager_onnx(f)):
            with pytest.raises(TypeError, match="must be"):
                run(vector(3), call)


def test_the_shape_is_assigned_to_an_array_that_has_been_written_through_another_name():
    def f(x: Any) -> Any:
        y = x[...]
        z, w = np.ascontiguousarray(y), np.asfortranarray(y)
        y[0] += 1
        z.shape = z.shape[::-1]
        return y, z, w

    for x in (np.ones((2, 3)), np.ones((3, 2)).T, np.ones((1, 3))):
        agrees(f, (x,))


# ------------------------------------------------------------------ eager arrays


def test_eager_integers_are_of_the_type_that_numpy_names():
    x = onnxjit.asarray(np.arange(3))
    for _ in range(3):
        y = x + x
        assert type(np.asarray(y)[0]) is np.int64
    assert type((x[0] + x[1]).item()) is int


@pytest.mark.parametrize("order", ["C", "F"])
def test_ndarrays_made_of_eager_arrays(order):
    values = np.array(np.arange(6.0).reshape(2, 3), order=order)
    x = onnxjit.asarray(values)
    for make in (np.asarray, np.asanyarray, lambda a: np.asarray(a, copy=False)):
        assert make(x) is values
    makers: Any = (
        np.array, np.ascontiguousarray, np.asfortranarray, lambda a: np.require(a, None, "F"),
        lambda a: np.array(a, order="C"), lambda a: np.array(a, np.float32),
        lambda a: np.asarray(a, order="F"), lambda a: np.array(a, ndmin=3),
    )  # fmt: skip
    for make in makers:
        got, want = make(x), make(values)
        same(got, want)
        assert got.strides == want.strides
        assert np.shares_memory(got, values) == np.shares_memory(want, values)
    for copied in (np.copy(x), copy.copy(x), copy.deepcopy(x), np.array(x)):
        assert np.asarray(copied).flags.f_contiguous == (order == "F")
        assert not np.shares_memory(np.asarray(copied), values)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(x, np.float32, copy=False)


def test_arrays_made_of_one_element_share_nothing():
    x = onnxjit.asarray([1.0, 2.0])
    y = x[0]
    np.asarray(y)[...] = 7
    assert float(y) == 1.0


def test_the_flat_elements_of_read_only_memory():
    def f(x: Any) -> Any:
        x.flat[0] = 3

    for x in (repeated(), repeated()[:, :0]):
        with pytest.raises(ValueError, match="read-only"):
            eager_onnx(f)(x)


def test_eager_places_in_arrays_that_are_not_eager():
    def read(m: Any) -> Any:
        return np.zeros((1, 0))[m]

    def write(m: Any) -> Any:
        y = np.zeros((1, 0))
        y[m] = 5
        y[m] -= 0.25
        return y

    for f in (read, write):
        for shape in ((2, 0), (2, 1)):
            with pytest.raises(IndexError, match="boolean index did not match"):
                eager_onnx(f)(np.zeros(shape, bool))
        mask = np.zeros((1, 0), bool)
        same(eager_onnx(f)(mask), f(mask))


@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
def test_looks_at_memory_as_another_dtype():
    def f(x: Any) -> Any:
        y = x.view(np.int32)
        y[0] = 7
        return y, x.view(np.uint8).sum(), x.view("S4").tolist(), x[1].view(np.int32), x

    x = np.ones(4, np.float32)
    for run in (jit_onnx(f), eager_onnx(f)):
        plain, given = x.copy(), x.copy()
        same(run(given), f(plain))
        same(given, plain)


@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
def test_parts_of_numbers_are_assigned():
    def f(z: Any, x: Any) -> Any:
        z.real = x
        z.imag = 2
        z.imag[0] = 5
        x.real = x * 2
        return z, x

    x = np.arange(3.0)
    for run in (jit_onnx(f), eager_onnx(f)):
        plain, given = (x + 1j, x.copy()), (x + 1j, x.copy())
        same(run(*given), f(*plain))
        same(given, plain)

    def g(x: Any) -> Any:
        x.imag = 1

    def h(x: Any) -> Any:
        x.real = 2 * x
        return x

    agrees(h, (x,), graphs=1)
    for run in (jit_onnx(g, fallback="error"), eager_onnx(g)):
        with pytest.raises(TypeError, match="imaginary"):
            run(x)


def test_the_flat_iterator_goes_on_where_it_was():
    def f(x: Any) -> Any:
        it = x.flat
        first = next(it)
        x[0] = 9
        second, at, where = next(it), it.index, it.coords
        return first, second, at, where, list(it), list(it), len(it)

    for x in (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2).T):
        agrees(f, (x,))
        same(eager_onnx(f)(x.copy("K")), f(x.copy("K")))
