# SPDX-License-Identifier: Apache-2.0
"""Short ways for common operations give what the long ways give."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._core.bind import tracing
from onnxjit._core.dims import ShapeEnv, dim_max, key, places_in_slice, slice_bounds
from onnxjit._core.source import Source
from onnxjit._ops.table import FUNCTIONS
from onnxjit._trace.array import Array
from onnxjit._trace.binding import bind
from onnxjit._trace.layout import lies, ufunc_layout
from onnxjit._trace.trace import Tracer

#: arrays by what is done to a C-ordered one
SHOWN: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "slice": lambda x: x[1:, ::2],
    "backwards": lambda x: x[::-1],
    "turned": lambda x: x.T,
    "turned twice": lambda x: x.T.T,
    "turned slice": lambda x: x[1:].T,
    "new axis": lambda x: x[:, None, 0],
    "broadcast": lambda x: np.broadcast_to(x[0], (3, 3)),
    "reshaped": lambda x: x.reshape(3, 3),
    "computed": lambda x: x.T + 1,
}


@pytest.fixture
def square() -> Array:
    """Return a traced (3, 3) array."""
    tracer = Tracer(ShapeEnv())
    return tracer.array_input(
        "x", np.dtype(np.float32), (None, None), example=np.zeros((3, 3), np.float32)
    )


@pytest.mark.parametrize("second", SHOWN)
@pytest.mark.parametrize("first", SHOWN)
def test_results_of_ufuncs_lie_in_the_same_order(square: Array, first: str, second: str):
    with tracing(square._trace):
        inputs = (SHOWN[first](square), SHOWN[second](square))
        ndim = max(x.ndim for x in inputs)
        quick = ufunc_layout(np.add, inputs, ndim)
        slow = lies(np.add, inputs, None)(ndim)
        assert quick is not None
        assert slow is not None
        assert quick.order(ndim, guard=True) == slow.order(ndim, guard=True)
        assert quick.arguments == slow.arguments


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("stop", [None, -4, -1, 0, 3])
@pytest.mark.parametrize("start", [None, -2, 0, 1, 5])
def test_places_in_slices_of_slices(start: int | None, stop: int | None, step: int):
    env = ShapeEnv()
    n = env.symbol("N", 9)
    cut, few = slice_bounds(2, None, 1, n)[2], slice_bounds(None, 2, 1, n)[2]
    for size in (n, cut, few, dim_max(2 - n, 0), n + 3, n * 2, n // 2, 7):
        want = slice_bounds(start, stop, step, size)[2]
        assert key(places_in_slice(start, stop, step, size)) == key(want)


CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (np.sum, (1,), {}),
    (np.sum, (1, 0), {"keepdims": True}),
    (np.sum, (1,), {"axis": np._NoValue}),
    (np.sum, (), {"a": 1, "axis": 0}),
    (np.concatenate, ((1, 2),), {"axis": 1}),
    (np.where, (1, 2, 3), {}),
    (np.clip, (1,), {"min": 0}),
    (np.broadcast_arrays, (1, 2), {}),
    (np.expand_dims, (1, 0), {}),
]


@pytest.mark.parametrize(("func", "args", "kwargs"), CALLS)
def test_arguments_are_bound_as_inspect_does(func: Any, args: Any, kwargs: Any):
    try:
        signature = inspect.signature(func)
    except ValueError:  # some versions of NumPy give none
        signature = inspect.signature(FUNCTIONS[func].implementation)
    want = dict(signature.bind(*args, **kwargs).arguments)
    got = bind(FUNCTIONS[func], args, kwargs)
    assert got == {k: v for k, v in want.items() if v is not np._NoValue}
    assert list(got)[:1] == list(want)[:1]


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((1, 2), {"axis": 0}), ((), {}), ((1,), {"no": 1}), (tuple(range(20)), {})],
)
def test_arguments_that_do_not_fit_are_refused(args: Any, kwargs: Any):
    with pytest.raises(TypeError, match=r"^sum\(\) "):
        bind(FUNCTIONS[np.sum], args, kwargs)


def test_python_numbers_keep_sign_and_type():
    @jit_onnx(fallback="error")
    def f(x: Any) -> Any:
        return x * 0.0, x * -0.0, x * 0, x + 1, x + 1.0, x * np.nan, x * 127, x * 128

    for dtype in ("f2", "f4", "f8"):
        x = np.array([1, -2, 0], dtype)
        for got, want in zip(f(x), f.__wrapped__(x), strict=True):
            np.testing.assert_array_equal(got, want, strict=True)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("dtype", "?bBhHiIlL")
def test_small_ints_beside_arrays_of_any_dtype(dtype: str):
    @jit_onnx(fallback="error")
    def f(x: Any) -> Any:
        return x + 0, 127 - x, x == 1, x < 127, np.maximum(x, 7)

    x = np.array([0, 1, 2], dtype)
    for got, want in zip(f(x), f.__wrapped__(x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


def test_the_line_of_an_instruction():
    def function() -> None:
        pass

    code = function.__code__
    lines = {Source(code, 2 * i).line for i in range(len(code.co_code) // 2)}
    assert lines <= {code.co_firstlineno, code.co_firstlineno + 1}
    assert Source(code, line=7).line == 7
    assert Source(code, -1).line == code.co_firstlineno


def test_an_import_alone_leaves_the_families_alone():
    code = "import onnxjit, sys; print('onnxjit._ops.elementwise' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


_FIRST_CALLS = """
import os, sys
import numpy as np
import onnxjit

x = onnxjit.asarray(np.arange(6.0).reshape(2, 3))
calls = [
    name for name in dir(np.ndarray)
    if not name.startswith("_") and callable(getattr(np.ndarray, name))
]
calls += ["__abs__", "__neg__", "__copy__", "__len__", "__repr__", "__str__", "__iter__"]
for name in calls:
    sys.stdout.flush()
    if os.fork() == 0:  # nothing but the import has happened
        try:
            getattr(x, name)()
        except RuntimeError as error:
            print(name, error)
        except Exception:
            pass  # a method that needs arguments
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied with os.fork")
def test_any_method_may_be_the_first_that_is_called():
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_CALLS], capture_output=True, check=True
    )
    assert done.stdout == b""


STEPS: dict[str, Callable[[Any], Any]] = {
    "slices": lambda x: x[1:],
    "both axes": lambda x: x[1:][:, :-1],
    "turned slices": lambda x: x[1:].T,
    "differences": lambda x: x[1:] - x[:-1],
}


def calls_of(step: Callable[[Any], Any], count: int) -> int:
    """Count the calls of Python functions while a step is traced so many times."""
    tracer = Tracer(ShapeEnv())
    example = np.zeros((count + 1, count + 1), np.float32)
    x: Any = tracer.array_input("x", example.dtype, (None, None), example=example)
    calls = 0

    def note(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    with tracing(tracer):
        sys.setprofile(note)
        try:
            for _ in range(count):
                x = step(x)
        finally:
            sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", STEPS)
def test_long_chains_take_no_more_steps_than_short_ones(name: str):
    step = STEPS[name]
    calls_of(step, 2)  # what is worked out once in a process
    assert calls_of(step, 200) < 1.1 * 10 * calls_of(step, 20)
