# SPDX-License-Identifier: Apache-2.0
"""Eager ``out=`` does what NumPy's does: results, refusals and their texts, identity."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import onnxjit
from onnxjit import eager_onnx
from onnxjit._eager.boundary import from_eager
from tests.jit.harness import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: untyped: outputs of all kinds are given to it
num: Any = np
M: Final = np.array([[1.0, 2.7, -3.2], [3.0, 4.1, 0.5]])
V: Final = M[0]
#: functions of a matrix and an output, and shapes that outputs of theirs may have
CALLS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": lambda x, o: num.add(x, x, out=o),
    "add positional": lambda x, o: num.add(x, x, o),
    "add row": lambda x, o: num.add(x[0], 1.5, out=o),
    "add where": lambda x, o: num.add(x, 1.5, out=o, where=x > 1),
    "add unsafe": lambda x, o: num.add(x, 1.5, out=o, casting="unsafe"),
    "add equal": lambda x, o: num.add(x, 1.5, out=o, casting="equiv"),
    "divmod": lambda x, o: num.divmod(x, 2, out=(None, o))[1],
    "divmod positional": lambda x, o: num.divmod(x, 2, o)[0],
    "modf alone": lambda x, o: num.modf(x, out=o),
    "two for one": lambda x, o: num.negative(x, out=(o, o)),
    "matmul": lambda x, o: num.matmul(x, x.T, out=o),
    "matmul row": lambda x, o: num.matmul(x, x[0], out=o),
    "reduce": lambda x, o: num.add.reduce(x, 0, out=o),
    "reduce positional": lambda x, o: num.add.reduce(x, 0, None, o, True),
    "reduce in dtype": lambda x, o: num.add.reduce(x, 0, np.float32, o),
    "accumulate": lambda x, o: num.multiply.accumulate(x, 1, out=o),
    "reduceat": lambda x, o: num.add.reduceat(x, [0, 1], 1, None, o),
    "outer": lambda x, o: num.multiply.outer(x[0], x[:, 0], out=o),
    "sum": lambda x, o: num.sum(x, axis=0, out=o),
    "sum positional": lambda x, o: num.sum(x, 0, None, o),
    "sum kept": lambda x, o: x.sum(0, out=o, keepdims=True),
    "sum of all": lambda x, o: x.sum(out=o),
    "sum of bytes": lambda x, o: x.astype(np.int8).sum(0, out=o),
    "max": lambda x, o: num.max(x, 1, out=o),
    "any": lambda x, o: num.any(x > 1, 0, out=o),
    "mean": lambda x, o: num.mean(x, 0, out=o),
    "nansum": lambda x, o: num.nansum(x, 0, out=o),
    "median": lambda x, o: num.median(x, 0, out=o),
    "quantile": lambda x, o: num.quantile(x, 0.5, 0, out=o),
    "argmax": lambda x, o: num.argmax(x, 0, out=o),
    "cumsum": lambda x, o: num.cumsum(x, 0, out=o),
    "cumsum flat": lambda x, o: x.cumsum(out=o),
    "trace": lambda x, o: num.trace(x, out=o),
    "take": lambda x, o: num.take(x, [0, 1, 1], axis=1, out=o),
    "choose": lambda x, o: num.choose([1, 0, 1], x, out=o),
    "compress": lambda x, o: num.compress([True, False, True], x, 1, out=o),
    "clip": lambda x, o: x.clip(0, 2, out=o),
    "round": lambda x, o: num.round(x, out=o),
    "fix": lambda x, o: num.fix(x, out=o),
    "isposinf": lambda x, o: num.isposinf(x, out=o),
    "dot": lambda x, o: num.dot(x, x[0], out=o),
    "dot matrix": lambda x, o: x.dot(x.T, out=o),
    "einsum": lambda x, o: num.einsum("ij,kj->ik", x, x, out=o),
    "concatenate": lambda x, o: num.concatenate([x, x], axis=1, out=o),
    "concatenate unsafe": lambda x, o: num.concatenate([x[0], x[1]], out=o, casting="unsafe"),
    "stack": lambda x, o: num.stack([x[0], x[1]], 0, o),
}
SHAPES: Final = ((), (1,), (2,), (3,), (6,), (2, 2), (2, 3), (3, 2), (1, 3), (2, 6), (2, 2, 3))
DTYPES: Final = (np.float64, np.float32, np.int64, np.bool_)


#: outputs by number of axes that make NumPy crash, or take one axis for another
FAULTY: Final = {("cumsum flat", 0), ("reduceat", 3)}


def _outputs(wrap: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield what may be given as an output; `wrap` is done to arrays."""
    for shape in SHAPES:
        for dtype in DTYPES:
            yield wrap(np.zeros(shape, dtype))
        yield wrap(np.zeros(shape, order="F"))
        if shape:
            yield wrap(np.zeros((*shape, 2)))[..., 0]
            yield wrap(np.broadcast_to(0.0, shape))
    yield wrap(np.zeros(3))[0]
    yield from (np.float64(0), 0.0, [0.0, 0.0, 0.0], np.zeros(3))
    for arrays in ((V,), (M[:, 0],), (M,), (V, V)):
        yield tuple(wrap(np.zeros_like(x)) for x in arrays)


def _outcome(call: Callable[[Any, Any], Any], x: Any, out: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(x, out)
        except (TypeError, ValueError) as error:
            return error


def _is_one_of(x: Any, out: Any) -> bool:
    return x is out or (isinstance(out, tuple) and any(x is o for o in out))


@pytest.mark.parametrize("name", CALLS)
def test_outputs_of_every_shape_and_dtype(name: str) -> None:
    call = CALLS[name]
    for plain, eager in zip(_outputs(lambda x: x), _outputs(onnxjit.asarray), strict=True):
        where = f"{name} to {plain!r}"
        if (name, np.ndim(plain)) in FAULTY:
            continue
        want = _outcome(call, M.copy(), plain)
        got = _outcome(call, onnxjit.asarray(M.copy()), eager)
        if isinstance(want, Exception):
            assert type(got) is type(want), (where, got, want)
            assert str(got) == str(want), where
        else:
            same(from_eager(got), from_eager(want), where)
            assert _is_one_of(got, eager) == _is_one_of(want, plain), where
        same(from_eager(eager), plain, where)


def overlapping(x: Any) -> list[Any]:
    return [
        np.add(x[:-1], x[1:], out=x[1:]), np.cumsum(x[:-1], out=x[1:]),
        np.subtract(x, x[::-1], out=x), np.take(x, [2, 1, 0], out=x[:3]),
        np.multiply(x[::-1], 2, out=x[:]), x,
    ]  # fmt: skip


def test_outputs_that_overlap_operands() -> None:
    x = np.arange(6.0)
    got, want = eager_onnx(overlapping)(x.copy()), overlapping(x)
    same(got, want)
    assert got[2] is got[-1]


def test_outputs_that_are_views_write_through_them() -> None:
    def f(x: Any) -> Any:
        np.sum(x, axis=0, out=x[:, 0])
        np.sqrt(x.T, out=x.T[::-1])
        x[1:] += x[:-1]
        return x

    x = np.arange(9.0).reshape(3, 3)
    same(eager_onnx(f)(x.copy()), f(x))


def test_one_element_of_an_array_is_no_output() -> None:
    x = onnxjit.asarray([1.0, 2.0])
    for call in (np.add, np.multiply.outer):
        with pytest.raises(TypeError, match="return arrays must be"):
            call(x, x, out=x[0])
    y = x[0]
    y += 1
    assert float(x[0]) == 1.0


def test_sums_are_computed_in_the_dtype_of_the_output() -> None:
    x = np.full((3, 2), 16777217.0, np.float32) / np.float32(3)
    for call in (num.sum, num.cumsum, num.add.reduce, num.nansum, num.trace):
        options = {"out": np.zeros(np.shape(call(x)))}
        want = call(x, **options)
        same(np.asarray(call(onnxjit.asarray(x), **options)), want)


def test_sums_in_the_dtype_of_the_output_however_they_are_called() -> None:
    x = np.random.default_rng(0).random(1001).astype(np.float32)
    calls: tuple[Callable[[Any, Any], Any], ...] = (
        lambda x, o: num.add.reduce(x, out=o),
        lambda x, o: num.add.reduce(x, 0, None, o),
        lambda x, o: num.sum(x, 0, None, o),
        lambda x, o: num.sum(a=x, out=o),
        lambda x, o: num.sum(out=o, axis=0, a=x),
    )
    for number, call in enumerate(calls):
        out = onnxjit.asarray(np.zeros(()))
        call(onnxjit.asarray(x), out)
        assert abs(float(out) - x.sum(dtype=np.float64)) < 1e-10, number


def test_accumulations_into_one_element() -> None:
    x = onnxjit.asarray(V)
    for call in (num.cumsum, num.add.accumulate, num.cumulative_prod):
        with pytest.raises(ValueError, match="wrong size for the accumulation"):
            call(x, out=onnxjit.asarray(0.0))


def test_the_dtype_of_an_output_is_looked_at_before_shapes() -> None:
    x = onnxjit.asarray([True, False])
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        x *= onnxjit.asarray([1, 2, 3])


def test_outputs_by_place_follow_parameters_that_have_no_name() -> None:
    """An axis given by place is none, where the arrays in front of it cannot be named."""
    x = np.arange(6.0).reshape(2, 3)
    eager = onnxjit.asarray(x)
    same(np.asarray(np.concatenate([eager, eager], 1)), np.concatenate([x, x], 1))
    out = np.zeros((2, 6))
    np.concatenate([eager, eager], 1, out)
    same(out, np.concatenate([x, x], 1))


@pytest.mark.parametrize("places", ["abab", "baba", "aab", "bba"])
def test_data_decides_whether_an_argument_is_the_result(places: str) -> None:
    """The first call's result is the argument, or a view of it, the next one's is not."""
    arrays = {"a": np.ones((3, 4)) + 1j, "b": np.ones((3, 4)) + 0j}
    for place in places:
        given = arrays[place]
        got, want = np.real_if_close(onnxjit.asarray(given)), np.real_if_close(given)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
