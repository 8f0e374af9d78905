# SPDX-License-Identifier: Apache-2.0
"""Functions of the namespace against NumPy's, at once and in a trace."""

import math
import operator
import warnings

import numpy as np
import pytest

import onnxjit as oj
import onnxjit.array_api as xp
from onnxjit._ops.table import FUNCTIONS, UFUNCS
from onnxjit.array_api import _overrides
from onnxjit.array_api._call import NUMPY

A = np.array([[1.5, -2.0, 0.0], [4.0, -0.5, 2.5]])
I = np.array([[3, 1, 2], [6, 5, 4]])  # noqa: E741  a matrix
B = np.array([[True, False, True], [False, False, True]])
V = np.array([2.0, 0.5, 1.0])


def wrapped(x):
    if isinstance(x, np.ndarray):
        return oj.asarray(x)
    return type(x)(map(wrapped, x)) if isinstance(x, (tuple, list)) else x


def assert_arrays(got, want):
    if isinstance(want, (tuple, list)):
        assert isinstance(got, tuple)
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert_arrays(g, w)
        return
    assert isinstance(got, (oj.Array, np.ndarray))
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14, atol=1e-14)


#: name in the standard -> NumPy's call, our arguments and options
CALLS = {
    "abs": (np.abs, A), "acos": (np.acos, V / 2), "acosh": (np.acosh, V + 1),
    "add": (np.add, A, V), "all": (np.all, B, {"axis": 0}), "any": (np.any, B),
    "argmax": (np.argmax, A, {"axis": 1, "keepdims": True}), "argmin": (np.argmin, A),
    "argsort": (np.argsort, A, {"axis": 0}), "asin": (np.asin, V / 2),
    "asinh": (np.asinh, A), "astype": (np.astype, A, np.dtype(np.int32)),
    "atan": (np.atan, A), "atan2": (np.atan2, A, V), "atanh": (np.atanh, V / 4),
    "bitwise_and": (np.bitwise_and, I, 5), "bitwise_invert": (np.invert, B),
    "bitwise_left_shift": (np.left_shift, I, 1), "bitwise_or": (np.bitwise_or, B, B.T[0, 0]),
    "bitwise_right_shift": (np.right_shift, I, 1), "bitwise_xor": (np.bitwise_xor, I, I),
    "broadcast_arrays": (np.broadcast_arrays, A, V),
    "broadcast_to": (np.broadcast_to, V, (2, 3)), "ceil": (np.ceil, A),
    "clip": (np.clip, A, -1.0, 2.0), "concat": (np.concat, [A, A]), "conj": (np.conj, A),
    "copysign": (np.copysign, V, A), "cos": (np.cos, A), "cosh": (np.cosh, A),
    "count_nonzero": (np.count_nonzero, A, {"axis": 1}),
    "cumulative_prod": (np.cumulative_prod, V, {"include_initial": True}),
    "cumulative_sum": (np.cumulative_sum, I, {"axis": 1, "dtype": np.dtype(np.int32)}),
    "diff": (np.diff, A, {"axis": 0, "prepend": V[None]}), "divide": (np.divide, I, I),
    "equal": (np.equal, A, 0), "exp": (np.exp, A),
    "expand_dims": (np.expand_dims, A, (0, -1)), "expm1": (np.expm1, A),
    "flip": (np.flip, A), "floor": (np.floor, A), "floor_divide": (np.floor_divide, I, 2),
    "full_like": (np.full_like, I, 7), "greater": (np.greater, A, 0),
    "greater_equal": (np.greater_equal, A, 0), "hypot": (np.hypot, A, V),
    "imag": (np.imag, A), "isfinite": (np.isfinite, A), "isin": (np.isin, I, I[0]),
    "isinf": (np.isinf, A), "isnan": (np.isnan, A), "less": (np.less, 0, A),
    "less_equal": (np.less_equal, A, V), "log": (np.log, V), "log10": (np.log10, V),
    "log1p": (np.log1p, V), "log2": (np.log2, V), "logaddexp": (np.logaddexp, A, V),
    "logical_and": (np.logical_and, B, True), "logical_not": (np.logical_not, B),
    "logical_or": (np.logical_or, B, B), "logical_xor": (np.logical_xor, B, B[0]),
    "matmul": (np.matmul, A, A.T), "matrix_transpose": (np.matrix_transpose, A),
    "max": (np.max, A), "maximum": (np.maximum, A, V), "mean": (np.mean, A, {"axis": 0}),
    "meshgrid": (np.meshgrid, V, V), "min": (np.min, A, {"axis": (0, 1), "keepdims": True}),
    "minimum": (np.minimum, A, V), "moveaxis": (np.moveaxis, A, 0, 1),
    "multiply": (np.multiply, A, 2), "negative": (np.negative, A),
    "nextafter": (np.nextafter, A, V), "nonzero": (np.nonzero, A),
    "not_equal": (np.not_equal, A, 0), "ones_like": (np.ones_like, I),
    "permute_dims": (np.permute_dims, A, (1, 0)), "positive": (np.positive, A),
    "pow": (np.pow, V, 2), "prod": (np.prod, I, {"dtype": np.dtype(np.float64)}),
    "real": (np.real, A), "reciprocal": (np.reciprocal, V),
    "remainder": (np.remainder, A, V), "repeat": (np.repeat, A, 2, {"axis": 1}),
    "reshape": (np.reshape, A, (3, 2)), "roll": (np.roll, A, 1, {"axis": 1}),
    "round": (np.round, A), "searchsorted": (np.searchsorted, np.sort(V), A),
    "sign": (np.sign, A), "signbit": (np.signbit, A), "sin": (np.sin, A),
    "sinh": (np.sinh, A), "sort": (np.sort, A), "sqrt": (np.sqrt, V),
    "square": (np.square, A), "squeeze": (np.squeeze, A[:1], 0),
    "stack": (np.stack, [A, A], {"axis": 1}), "std": (np.std, A, {"correction": 1}),
    "subtract": (np.subtract, A, V), "sum": (np.sum, I, {"axis": -1}),
    "take": (np.take, A, I[0] % 2, {"axis": 0}),
    "take_along_axis": (np.take_along_axis, A, I % 3, {"axis": 1}), "tan": (np.tan, A),
    "tanh": (np.tanh, A), "tensordot": (np.tensordot, A, A.T, {"axes": 1}),
    "tile": (np.tile, A, (2, 1)), "tril": (np.tril, A), "triu": (np.triu, A, {"k": 1}),
    "trunc": (np.trunc, A), "unique_all": (np.unique_all, I),
    "unique_counts": (np.unique_counts, I), "unique_inverse": (np.unique_inverse, I),
    "unique_values": (np.unique_values, A), "unstack": (np.unstack, A),
    "var": (np.var, A, {"correction": 1}), "vecdot": (np.vecdot, A, V),
    "where": (np.where, B, A, V), "zeros_like": (np.zeros_like, A),
}  # fmt: skip
#: made of plain numbers, or with tests of their own
ELSEWHERE = {
    "arange", "asarray", "broadcast_shapes", "can_cast", "empty", "empty_like", "eye", "finfo",
    "from_dlpack", "full", "iinfo", "isdtype", "linspace", "ones", "result_type", "zeros",
    "__array_namespace_info__", "__array_api_version__", "newaxis",
}  # fmt: skip


def call_of(name):
    func, *args = CALLS[name]
    options = args.pop() if isinstance(args[-1], dict) else {}
    return func, args, options


def test_every_function_is_called():
    functions = {n for n in xp.__all__ if callable(getattr(xp, n)) or n in ELSEWHERE}
    assert set(CALLS) | ELSEWHERE == functions


@pytest.mark.parametrize("name", CALLS)
def test_eager_calls_are_numpys(name):
    func, args, options = call_of(name)
    want = func(*args, **options)
    got = getattr(xp, name)(*map(wrapped, args), **{k: wrapped(x) for k, x in options.items()})
    assert_arrays(got, np.asarray(want) if isinstance(want, np.generic) else want)


@pytest.mark.parametrize("name", CALLS)
def test_traced_calls_are_numpys(name):
    func, args, options = call_of(name)
    static = [i for i, x in enumerate(args) if not isinstance(x, (np.ndarray, list))]

    @oj.jit_onnx(fallback="error")
    def run(*given):
        first = given[0][0] if isinstance(given[0], list) else given[0]
        space = first.__array_namespace__()
        arrays = iter(given)
        full = [args[i] if i in static else next(arrays) for i in range(len(args))]
        return getattr(space, name)(*full, **options)

    given = [x for i, x in enumerate(args) if i not in static]
    want = func(*args, **options)
    assert_arrays(run(*given), np.asarray(want) if isinstance(want, np.generic) else want)


def test_results_are_arrays_and_never_scalars():
    x = oj.asarray(4.0)
    for name in ("sqrt", "sum", "isnan", "positive", "round", "argmax", "unique_values"):
        made = getattr(xp, name)(x)
        assert made._kind == "array"
    assert xp.add(x, 1)._kind == "array"
    assert xp.max(oj.asarray([1.0, 2.0]))._kind == "array"
    assert operator.add(x, 1)._kind == "scalar"
    made[...] = 3.0
    assert float(made[0]) == 3.0

    @oj.jit_onnx
    def f(x):
        return xp.sum(x), xp.sqrt(xp.sum(x)), np.sum(x)

    assert [type(each) for each in f(np.ones(4))] == [np.ndarray, np.ndarray, np.float64]


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("zeros", ((2, 3),), {}), ("zeros", (3,), {"dtype": xp.int8}), ("ones", ((),), {}),
        ("full", (2, 1.5), {}), ("full", ((2, 2), 3), {"dtype": xp.float32}),
        ("arange", (5,), {}), ("arange", (1, 5), {"dtype": xp.float32}),
        ("arange", (5, 1, -2), {}), ("linspace", (0.0, 1.0, 5), {"endpoint": False}),
        ("eye", (3,), {}), ("eye", (2, 3), {"k": 1, "dtype": xp.int32}),
    ],
)  # fmt: skip
def test_creation(name, args, options):
    want = getattr(np, name)(*args, **options)
    assert_arrays(getattr(xp, name)(*args, **options), want)
    run = oj.jit_onnx(lambda x: (x, getattr(xp, name)(*args, **options)), fallback="error")
    assert_arrays(run(np.ones(2))[1], want)


def test_creation_by_traced_sizes():
    @oj.jit_onnx(fallback="error")
    def f(x):
        n = x.shape[0]
        parts = (xp.zeros(n), xp.ones((n, 2)), xp.full(n, 2), xp.arange(n), xp.eye(n))
        return (
            *parts,
            xp.linspace(0.0, 1.0, n),
            xp.empty((n, 0)),
            xp.broadcast_shapes((n,), (1,)),
        )

    for n in (3, 5):
        *made, shape = f(np.ones(n))
        want = [
            np.zeros(n), np.ones((n, 2)), np.full(n, 2), np.arange(n), np.eye(n),
            np.linspace(0, 1, n), np.empty((n, 0)),
        ]  # fmt: skip
        for m, w in zip(made, want, strict=True):
            assert_arrays(m, w)
        assert shape == (n,)


def test_empty_arrays():
    x = xp.empty_like(oj.asarray(I))
    assert (x.shape, x.dtype) == ((2, 3), xp.int64)
    run = oj.jit_onnx(lambda x: xp.empty_like(x, dtype=xp.float32), fallback="error")
    assert (run(A).shape, run(A).dtype) == ((2, 3), xp.float32)


def test_arange_counts_from_zero():
    assert np.asarray(xp.arange(5, step=2)).tolist() == [0, 2, 4]


def test_broadcast_shapes():
    assert xp.broadcast_shapes() == ()
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert xp.broadcast_shapes((2, None), (1,)) == (2, None)
    assert xp.broadcast_shapes((None,), (4, 3)) == (4, None)
    with pytest.raises(ValueError, match="broadcast"):
        xp.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError, match="broadcast"):
        xp.broadcast_shapes((2, None), (3, 1))


# ------------------------------------------------------------------ where NumPy differs


def _infinite(func):
    inf = math.inf
    x1 = oj.asarray([inf, inf, -inf, -inf, 3.0, -3.0, 0.0])
    x2 = oj.asarray([2.0, -2.0, 2.0, -2.0, -inf, inf, inf])
    return np.asarray(func(x1, x2)).tolist()


def _descending(func):
    try:
        return np.asarray(func(oj.asarray([3.0, 1.0, 3.0]), descending=True)).tolist()
    except TypeError as e:
        return type(e)


def _none_sizes(func):
    try:
        return func((2, None), (3,))
    except TypeError as e:
        return type(e)


def _to_real(func):
    z = oj.asarray(np.array([1 + 2j]))
    with warnings.catch_warnings(action="ignore"):
        try:
            return np.asarray(func(z, np.dtype(float))).tolist()
        except TypeError as e:
            return type(e)


def _float32_frequencies(func):
    try:
        return np.asarray(func(4, dtype=np.dtype(np.float32))).dtype.name
    except TypeError as e:
        return type(e)


def _eigenvalues(func):
    with warnings.catch_warnings(action="ignore", category=oj.FallbackWarning):
        found = func(oj.asarray(np.diag([2.0, 1.0])))
    values = found[0] if isinstance(found, tuple) else found
    return np.asarray(values).tolist()


def _small_value_inverted(func):
    return np.asarray(func(oj.asarray(np.diag([1.0, 2.0**-50.5]))))[1, 1] > 0


def _complex(*numbers):
    def ask(func):
        with np.errstate(all="ignore"):
            return np.asarray(func(oj.asarray(np.array(numbers)))).tolist()

    return ask


#: override -> what shows the difference, in the standard and in NumPy
NEEDED = {
    "argsort": (_descending, [0, 2, 1], TypeError),
    "astype": (_to_real, TypeError, [1.0]),
    "fft.fftfreq": (_float32_frequencies, "float32", TypeError),
    "fft.rfftfreq": (_float32_frequencies, "float32", TypeError),
    "linalg.eig": (_eigenvalues, [2 + 0j, 1 + 0j], [2.0, 1.0]),
    "linalg.eigvals": (_eigenvalues, [2 + 0j, 1 + 0j], [2.0, 1.0]),
    "linalg.pinv": (_small_value_inverted, np.True_, np.False_),
    "broadcast_shapes": (_none_sizes, (2, None), TypeError),
    "expm1": (
        _complex(complex(math.inf, 0), complex(-math.inf, math.nan), complex(-0.0, -0.0)),
        [complex(math.inf, 0), complex(-1, 0), complex(0.0, -0.0)],
        [complex(math.inf, math.nan), complex(math.nan, math.nan), complex(-0.0, -0.0)],
    ),
    "finfo": (lambda f: type(f(np.dtype(np.float32)).eps), float, np.float32),
    "floor_divide": (
        _infinite,
        [math.inf, -math.inf, -math.inf, math.inf, -0.0, -0.0, 0.0],
        [math.nan] * 4 + [-1.0, -1.0, 0.0],
    ),
    "sort": (_descending, [3.0, 3.0, 1.0], TypeError),
    "tanh": (
        _complex(*(complex(re, im) for re in (math.inf, -math.inf) for im in (2, -2))),
        [complex(1, 0.0), complex(1, -0.0), complex(-1, 0.0), complex(-1, -0.0)],
        [complex(1, -0.0), complex(1, 0.0), complex(-1, -0.0), complex(-1, 0.0)],
    ),
}  # fmt: skip


def test_every_override_is_shown_to_be_needed():
    assert set(NEEDED) == set(_overrides.OVERRIDES)


@pytest.mark.parametrize("name", NEEDED)
def test_override_differs_from_numpy(name):
    ask, standard, numpys = NEEDED[name]
    find = operator.attrgetter(name)
    assert repr(ask(find(xp))) == repr(standard)
    assert repr(ask(find(np))) == repr(numpys)
    assert repr(standard) != repr(numpys)


def test_overrides_of_complex_functions_in_traces():
    parts = (math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -2.0)
    z = np.array([complex(re, im) for re in parts for im in parts])
    for name in ("expm1", "tanh"):
        ours = getattr(xp, name)
        eager, traced = ours(oj.asarray(z)), oj.jit_onnx(ours, fallback="error")(z)
        assert repr(np.asarray(eager).tolist()) == repr(traced.tolist())


def test_operators_stay_numpys():
    x1, x2 = oj.asarray([math.inf, 3.0]), oj.asarray([2.0, -math.inf])
    assert repr(_infinite(operator.floordiv)) == repr(NEEDED["floor_divide"][2])
    assert np.asarray(xp.floor_divide(x1, x2)).tolist() == [math.inf, -0.0]


def test_functions_are_rows_of_the_table():
    rows = {*FUNCTIONS, *UFUNCS}
    assert {name for name, func in NUMPY.items() if func not in rows} == set()
    unknown = {n for n in NUMPY if "." not in n and n not in xp.__all__} - {"bitwise_count"}
    assert unknown == set()


def test_sorting_downwards_is_stable():
    x = oj.asarray([[2, 1, 2, 3], [0, 0, 5, 0]])
    places = np.asarray(xp.argsort(x, descending=True))
    assert places.tolist() == [[3, 0, 2, 1], [2, 0, 1, 3]]
    assert np.asarray(xp.sort(x, descending=True, axis=0)).tolist() == [
        [2, 1, 5, 3],
        [0, 0, 2, 0],
    ]
    got = oj.jit_onnx(lambda x: xp.argsort(x, descending=True, axis=-2), fallback="error")(x)
    assert got.tolist() == np.argsort(-np.asarray(x), axis=0, stable=True).tolist()
