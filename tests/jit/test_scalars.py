# SPDX-License-Identifier: Apache-2.0
"""Python numbers, NumPy scalars and 0-d arrays: three natures of one value."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from onnxjit import DataDependentError, FallbackWarning, jit_onnx
from tests.jit.harness import agrees, same, same_error

V = np.array([3.0, -1.5, 2.25])
F4 = np.array([1.5, -2.5, 3.5], np.float32)
I4 = np.array([5, -7, 3], np.int32)
U1 = np.array([1, 2, 250], np.uint8)
M = np.arange(6.0).reshape(2, 3)


# ------------------------------------------------------------------ ints are sizes


@pytest.mark.parametrize(
    "fn",
    [
        lambda n: np.arange(n),
        lambda n: np.zeros(n),
        lambda n: np.ones((n, 2), np.float32),
        lambda n: np.full((2, n), 1.5),
        lambda n: np.arange(n * 2).reshape(n, -1),
        lambda n: np.arange(n) * n,
        lambda n: np.ones(3) * n,
        lambda n: n // 2,
        lambda n: n % 3,
        lambda n: n - 1,
        lambda n: -n,
        lambda n: n * n + 1,
        lambda n: n / 2,
        lambda n: n**2,
        lambda n: divmod(n, 3),
        lambda n: abs(n - 6),
        lambda n: max(n, 4),
        lambda n: min(n, 4, 7),
        lambda n: np.float32(n),
        lambda n: float(n),
        lambda n: int(n),
        lambda n: np.int16(n) + np.int16(1),
        lambda n: np.eye(n),
        lambda n: np.linspace(0.0, 1.0, n),
        lambda n: np.array([n, n + 1]),
        lambda n: np.asarray(n),
        lambda n: (n, [n + 1, "a"]),
        lambda n: np.sqrt(n),
        lambda n: math.sqrt(n),
        lambda n: np.add(n, 1),
        lambda n: np.minimum(n, np.arange(4)),
        lambda n: round(n),
        lambda n: pow(n, 2),
        lambda n: np.tile(np.arange(2), n),
        lambda n: np.repeat(np.arange(3), n),
        lambda n: np.where(np.arange(4) < n, n, 0),
        lambda n: np.arange(n) / n,
        lambda n: np.arange(n)[::-1],
        lambda n: np.arange(3, n),
        lambda n: n << 1,
        lambda n: n >> 1,
        lambda n: n & 1,
        lambda n: np.broadcast_to(np.arange(3.0), (n, 3)),
    ],
)
def test_one_graph_serves_every_int(fn):
    agrees(fn, (5,), (8,), (2,), graphs=1)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, n: x[:n],
        lambda x, n: x[n:],
        lambda x, n: x[-n:],
        lambda x, n: x[n - 1],
        lambda x, n: x[-n],
        lambda x, n: x * n,
        lambda x, n: x + n / 2,
        lambda x, n: np.roll(x, n),
        lambda x, n: x[: len(x) // n],
        lambda x, n: x.reshape(1, -1)[:, :n],
        lambda x, n: x.take([0, n - 1]),
    ],
)
def test_one_graph_serves_every_int_beside_an_array(fn):
    x = np.arange(6.0)
    agrees(fn, (x, 3), (x, 2), (np.arange(9.0), 5), graphs=1)


def test_a_step_is_fixed():
    agrees(lambda x, n: x[::n], (V, 1), (V, 2), (V, -1), graphs=3)


def test_arithmetic_of_an_int_keeps_the_dtype_of_the_array():
    agrees(lambda x, n: (x * n, x + n, x - n, n * x), (F4, 3), (F4, -4), graphs=1)
    agrees(lambda x, n: (x * n, x // n, x % n), (I4, 3), (I4, -4), graphs=1)
    agrees(lambda x, n: x + n, (U1, 5), graphs=1)


def test_true_division_by_an_int_keeps_float32():
    agrees(lambda x, n: x / n, (F4, 3), (F4, 4), graphs=1)


def test_an_int_as_a_range_is_one_loop():
    def f(x, n):
        for i in range(n):
            x = x + i
        return x

    agrees(f, (V, 3), (V, 2), (V, 5), graphs=1)
    agrees(f, (V, 3), (V, 0), graphs=2)  # ONNX Scan does not run no iteration


def test_what_a_loop_without_iterations_tests_holds_in_the_call():
    def f(x, n):
        for _ in range(len(x)):
            for _ in range(n % 5):
                n += 6
            if len(x) != 1:  # where an iteration runs, that is two or more
                n += 1
        return n

    agrees(f, (V[:3], 4), (V[:1], 4), (V[:0], 3), (V[:0], 4), (V[:2], 3), graphs=3)


def test_an_int_as_a_step_makes_graphs_of_its_own():
    agrees(lambda x, n: x[::n], (V, 3), (V, 2), (V, 1), graphs=3)


def test_a_test_of_an_int_is_a_guard():
    agrees(lambda n: n * 2 if n > 3 else n - 1, (5,), (9,), (2,), (3,), graphs=2)


def test_an_int_equal_to_a_size_is_a_guard():
    agrees(lambda x, n: x + 1 if n == len(x) else x[:n], (V, 3), (V, 2), (V, 1), graphs=2)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x[: int(0.8 * len(x))],
        lambda x: np.zeros(math.ceil(len(x) / 3)),
        lambda x: np.zeros(int(np.sqrt(x.size))),
        lambda x: x[: int(round(len(x) * 0.3))],  # noqa: RUF046
        lambda x: np.zeros(math.floor(x.shape[0] / 2)),
    ],
)
def test_a_number_made_from_a_size_is_a_size(fn):
    agrees(fn, (np.arange(10.0),), (np.arange(7.0),), (np.arange(30.0),))


def test_a_dim_is_a_python_int_outside():
    agrees(
        lambda x: (x.shape, len(x), x.size, x.shape[0] * 2), (M,), (np.ones((4, 5)),), graphs=1
    )


def test_an_int_beyond_int64_is_a_constant():
    agrees(lambda x, n: x + float(n), (V, 2**70), (V, 3))


def test_bools_are_constants():
    agrees(lambda x, flag: x + 1 if flag else x - 1, (V, True), (V, False), graphs=2)
    agrees(lambda x, flag: x + flag, (I4, True), (I4, False), graphs=2)


def test_an_int_is_not_a_bool():
    agrees(lambda x, n: x + n, (np.array([True, False]), 1), (np.array([True, False]), True))


# ------------------------------------------------------------------ floats are inputs


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, eps: x / (x + eps),
        lambda x, eps: x * eps - 1,
        lambda x, eps: np.where(x > eps, x, eps),
        lambda x, eps: np.maximum(x, eps),
        lambda x, eps: x**eps,
        lambda x, eps: eps * 2,
        lambda x, eps: eps / 3 + eps // 2,
        lambda x, eps: -eps,
        lambda x, eps: abs(eps),
        lambda x, eps: np.exp(eps),
        lambda x, eps: math.exp(eps),
        lambda x, eps: float(eps),
        lambda x, eps: max(eps, 0.25),
        lambda x, eps: np.full(2, eps),
        lambda x, eps: np.array([eps, 1.0]),
        lambda x, eps: np.float32(eps),
        lambda x, eps: np.clip(x, 0, eps),
        lambda x, eps: x[x > eps],
        lambda x, eps: np.zeros(2) + eps,
        lambda x, eps: (eps, [eps + 1]),
        lambda x, eps: round(eps, 1),
        lambda x, eps: eps**2,
        lambda x, eps: eps > 0.3,
        lambda x, eps: math.hypot(eps, 1.0),
        lambda x, eps: math.isnan(eps),
    ],
)
@pytest.mark.parametrize("x", [F4, np.abs(V)], ids=["f4", "f8"])
def test_one_graph_serves_every_float(fn, x):
    with np.errstate(invalid="ignore"):
        agrees(fn, (x, 0.5), (x, 0.125), (x, 3.0), graphs=1)


def test_a_float_does_not_widen_float32():
    jit = agrees(lambda x, a: x * a + a, (F4, 0.1), graphs=1)
    assert jit(F4, 0.1).dtype == np.float32


def test_a_float_makes_floats_of_ints():
    agrees(lambda x, a: x * a, (I4, 0.5), (np.array([1, 2], np.int8), 0.5))


def test_a_test_of_a_float_is_a_guard():
    def f(x, dt):
        if dt > 0.5:
            return x + dt
        return x - dt

    agrees(f, (V, 0.75), (V, 0.9), (V, 0.1), (V, 0.5), graphs=2)


def test_two_tests_of_floats_are_two_guards():
    def f(x, a, b):
        y = x + 1 if a < b else x - 1
        return y * 2 if a + b > 1 else y

    agrees(f, (V, 0.1, 0.2), (V, 0.8, 0.9), (V, 0.9, 0.8), (V, 0.2, 0.1), graphs=4)


def test_a_float_as_a_size():
    agrees(lambda x, r: x[: int(r * len(x))], (np.arange(8.0), 0.5), (np.arange(8.0), 0.75))


def test_integer_and_float_arguments_are_told_apart():
    agrees(lambda x, a: x * a, (I4, 2), (I4, 2.0), graphs=2)


@pytest.mark.parametrize("a", [math.inf, -math.inf, math.nan, -0.0])
def test_special_floats_are_inputs_too(a):
    agrees(lambda x, a: (x + a, a * 2), (V, 1.5), (V, a), graphs=1)


# ------------------------------------------------------------------ NumPy scalars


@pytest.mark.parametrize(
    "kind", [np.int8, np.uint16, np.int64, np.float32, np.float64, np.bool_]
)
def test_numpy_scalars_are_strong(kind):
    agrees(lambda x, a: (x + a, a), (F4, kind(1)), (U1, kind(1)), (V, kind(0)), graphs=3)


def test_reductions_are_scalars():
    agrees(
        lambda x: (x.sum(), x.max(), x.mean(), x[0], x.dot(x), (x > 0).any()), (V,), graphs=1
    )


def test_zero_d_arrays_become_scalars_where_numpy_says_so():
    z = np.array(2.0)
    agrees(
        lambda z: (z + 1, -z, np.sin(z), z * z, z.sum(), z[()], z.copy(), z), (z,), graphs=1
    )
    agrees(lambda z: (z[...], z.reshape(()), z.T, z.astype("f4"), np.where(z > 0, z, 1)), (z,))


def test_an_item_is_a_copy_and_an_ellipsis_a_view():
    def f(x):
        a, b = x[1], x[1, ...]
        x[1] = 9
        return a, b

    agrees(f, (V.copy(),), graphs=1)


def test_a_row_is_a_view():
    def f(x):
        row, item = x[0], x[0, 1]
        x[0] = 7
        return row, item

    agrees(f, (M.copy(),), graphs=1)


def test_augmenting_a_scalar_rebinds():
    def f(x):
        s = x.sum()
        t = s
        t += 1
        return s, t

    agrees(f, (V,), graphs=1)


def test_augmenting_a_zero_d_array_writes():
    def f(x):
        z = np.zeros(())
        w = z
        w += x.sum()
        return z, w

    agrees(f, (V,), graphs=1)


def test_a_zero_d_argument_is_written():
    def f(z):
        z += 1
        z[()] = z * 2

    agrees(f, (np.array(3.0),), graphs=1)


def test_a_scalar_cannot_be_assigned_to():
    def f(x):
        s = x.sum()
        s[...] = 1
        return s

    assert isinstance(same_error(f, V), TypeError)


def test_indices_by_scalars_and_by_zero_d_arrays():
    def f(x, i):
        return x[i], x[np.array(1)], x[np.int64(1)], x[i + 1]

    agrees(f, (V, np.int64(0)), (V, np.int64(1)), graphs=1)


@pytest.mark.parametrize("i", [np.array(1), np.int64(1), 1])
def test_rows_by_zero_d_arrays_are_copies(i):
    def f(x, i):
        row = x[i]
        row[0] = 5
        return row

    agrees(f, (M.copy(), i), graphs=1)


# ------------------------------------------------------------------ Python's own functions


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: float(x.sum()),
        lambda x: int(x.sum()),
        lambda x: x.sum().item(),
        lambda x: x[0].item() + 1,
        lambda x: x.item(1),
        lambda x: [x.item(0), x.item(-1)],
        lambda x: float(x[0]) * x,
        lambda x: int(x[0]) + x,
        lambda x: bool(x[0] > 1) & True,
        lambda x: max(x[0], x[1]),
        lambda x: min(x[0], x[1], x[2]),
        lambda x: max(x[0], 2.5),
        lambda x: sum([x[0], x[1], 1]),
        lambda x: sum(x),
        lambda x: sum(x, 1.5),
        lambda x: abs(x),
        lambda x: abs(x[1]),
        lambda x: round(x[0]),
        lambda x: round(x[0], 1),
        lambda x: round(float(x[2]), 1),
        lambda x: divmod(x, 2),
        lambda x: divmod(x[0], 2),
        lambda x: pow(x, 2),
        lambda x: pow(x[0], 2),
        lambda x: len(x),
        lambda x: isinstance(x, np.ndarray),
        lambda x: (
            isinstance(x[0], np.floating),
            isinstance(x[0], float),
            isinstance(x, float),
        ),
        lambda x: (type(x) is np.ndarray, type(x[0]) is type(x.sum()), type(x) is float),
        lambda x: x + 1 if isinstance(x.sum(), np.generic) else x,
        lambda x: [v * 2 for v in x.tolist()],
        lambda x: np.array(x.tolist()),
        lambda x: x.sum().tolist(),
        lambda x: (x.dtype.kind, x.ndim, x.itemsize, x.nbytes),
        lambda x: [v for v in x],  # noqa: C416  iteration of an array
        lambda x: list(x),
        lambda x: list(reversed(list(x))),
        lambda x: tuple(x) + (1,),  # noqa: RUF005
        lambda x: dict(enumerate(x)),
        lambda x: list(zip(x, x[1:], strict=False)),  # noqa: RUF007
        lambda x: [*x, 1],
        lambda x: math.sqrt(abs(x[1])),
        lambda x: math.floor(x[0]) + math.ceil(x[2]),
        lambda x: math.pi * x,
        lambda x: math.isnan(x[0]),
        lambda x: math.log(abs(x[1]), 3),
        lambda x: complex(0).real + x,
        lambda x: sorted([3, 1, 2])[1] * x,
        lambda x: any(v is None for v in x),
        lambda x: list(filter(None, x)),
        lambda x: [0, *x, True],
        lambda x: x is None,
        lambda x: x is not None and x.ndim == 1,
        lambda x: int(x.shape[0] / 2),
        lambda x: float(x[0]) + float(x[1]),
        lambda x: float(x[0]) / 2 * int(x[1]),
        lambda x: np.float64(x[0]).dtype.name,
        lambda x: x.astype(int).sum() * 1.5,
    ],
)
def test_python_functions_of_traced_values(fn):
    agrees(fn, (V,), graphs=1)


def test_unpacking_an_array():
    def f(x):
        a, b, c = x
        first, *rest = x
        return a - b * c, first, rest

    agrees(f, (V,), graphs=1)


def test_unpacking_the_wrong_length_is_pythons_error():
    def f(x):
        a, b = x
        return a + b

    assert isinstance(same_error(f, V), ValueError)


def test_int_of_data_as_a_size():
    def f(x):
        n = int(x.sum())
        return np.arange(n), np.zeros((n, 2)), x[:n]

    agrees(f, (np.array([1, 2, 1]),), (np.array([0, 0, 1]),), (np.array([0]),), graphs=1)


def test_item_of_data_as_an_index():
    def f(x):
        i = x.argmax().item()
        return x[i], x[:i], x[i:]

    agrees(f, (V,), (np.array([0.0, 5.0]),), graphs=1)


def test_arithmetic_of_data_numbers_is_pythons():
    def f(x):
        n = int(x[0])
        return n // 2, n % 2, n + 1.5, -n, n * n, n / 4

    agrees(f, (np.array([7, 1]),), (np.array([-9, 1]),), graphs=1)


def test_int_truncates():
    agrees(
        lambda x: [int(x[0]), int(x[1]), int(x[2])], (np.array([2.9, -2.9, 0.5]),), graphs=1
    )


def test_max_takes_the_first_where_nan_is():
    x = np.array([np.nan, 1.0])
    agrees(lambda x: (max(x[0], x[1]), max(x[1], x[0]), min(x[0], x[1])), (x,), graphs=1)


def test_python_numbers_of_float32_are_floats():
    agrees(
        lambda x: (float(x[0]) + x, x[0] + x, x.tolist()[0] * 0.1, x[0] * 0.1), (F4,), graphs=1
    )


def test_float_of_data_is_weak():
    agrees(lambda x: F4 * float(x[0]), (V,), graphs=1)
    agrees(lambda x: F4 * x[0], (V,), graphs=1)
    agrees(lambda x: U1 + int(x[0]), (V,), graphs=1)


# ------------------------------------------------------------------ NEP 50 at the limits


def test_ints_out_of_range_overflow():
    e = same_error(lambda x: x + 300, U1)
    assert isinstance(e, OverflowError)
    assert "300 out of bounds for uint8" in str(e)


@pytest.mark.parametrize("n", [300, -1, 256])
def test_hinted_ints_out_of_range_overflow(n):
    assert isinstance(same_error(lambda x, n: x + n, U1, n), OverflowError)


def test_an_overflow_does_not_stick():
    jit = jit_onnx(lambda x, n: x + n, fallback="error")
    same(jit(U1, 5), U1 + 5)
    with pytest.raises(OverflowError):
        jit(U1, 300)
    same(jit(U1, 7), U1 + 7)


@pytest.mark.parametrize("n", [300, -1, 255, 256, 0])
def test_comparisons_with_any_int_are_answered(n):
    agrees(lambda x: (x == n, x != n, x < n, x >= n, x > n, x <= n), (U1,), graphs=1)
    agrees(lambda x, n: (x == n, x < n), (U1, n))


# ------------------------------------------------------------------ truth of data


def test_the_truth_of_data_that_python_needs_is_refused_with_a_remedy():
    def f(x):
        return list(itertools.dropwhile(lambda v: v > 0, x))

    with pytest.raises(DataDependentError, match=r"truth value.*test_scalars\.py:"):
        jit_onnx(f, fallback="error")(V)
    jit = jit_onnx(f)
    with pytest.warns(FallbackWarning):
        assert jit(V) == f(V)


def test_the_truth_of_data_chooses_text():
    def f(x):
        return "pos" if x.sum() > 0 else "neg"

    agrees(f, (V,), (-V,), graphs=1)


def test_the_truth_of_several_elements_is_numpys_error():
    e = same_error(lambda x: 1 if x > 0 else 2, V)
    assert "ambiguous" in str(e)


def test_the_truth_of_shapes_is_a_guard():
    def f(x):
        if x.size == 0 or not x.ndim:
            return 0.0
        return x[0] if len(x) > 2 else x[-1]

    agrees(f, (V,), (V[:2],), (V[:0],), (V[:1],))


def test_comparisons_with_other_things():
    agrees(lambda x: (x == "a", x != None), (V,), graphs=1)  # noqa: E711  the trap


def test_scalars_hash_where_known():
    def f(x):
        k = np.int64(2)
        table: dict[Any, int] = {2: 10}
        return x * table[k]

    agrees(f, (V,), graphs=1)
