# SPDX-License-Identifier: Apache-2.0
"""Calls of rows on symbolic values, compared with NumPy at the traced sizes and at others."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.dims import Dim, ShapeEnv, check_guards, hint_of
from onnxjit._core.program import Program, Value
from onnxjit._engine.compile import compile_program
from onnxjit._ops.convert import as_array
from onnxjit._ops.table import FUNCTIONS
from tests.ops.harness import trace

if TYPE_CHECKING:
    from onnxjit._ops.row import Function

__all__ = ["Case", "check", "check_error", "ours"]

Array = np.ndarray[Any, Any]
Body = Callable[..., Any]


class Case:
    """A call: ``body(function, *arrays)`` for arrays of several shapes, the first one traced.

    `dynamic` says that the graph of the first shapes has to serve the others too.
    """

    def __init__(
        self, numpy: Callable[..., Any], body: Body, *shapes: Any, dynamic: bool = True
    ) -> None:
        self.numpy = numpy
        self.body = body
        self.shapes = shapes or ([(4, 6)], [(2, 12)], [(1, 1)], [(0, 6)])
        self.dynamic = dynamic
        self.source = inspect.getsource(body)

    @property
    def id(self) -> str:
        """Name of the test."""
        return f"{self.numpy.__name__}-{zlib.crc32(self.source.encode()) % 10**6}"


def ours(numpy: Callable[..., Any]) -> Callable[..., Any]:
    """Return the row's implementation as a function of values: views are applied."""
    row: Function = FUNCTIONS[numpy]

    def call(*args: Any, **kwargs: Any) -> Any:
        result = row.implementation(*args, **kwargs)
        if not row.view:
            return result
        base = as_array(args[0])

        def shown(r: Any) -> Any:
            if isinstance(r, (list, tuple)):
                return type(r)(map(shown, r))
            return r if isinstance(r, Value) else r.apply(base)

        return shown(result)

    return call


def _flat(x: Any) -> list[Any]:
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in _flat(item)]
    return [x]


def _holds(program: Program, arrays: Sequence[Array]) -> bool:
    env: ShapeEnv = program.block.trace.env
    if any(v.ndim != a.ndim for v, a in zip(program.inputs, arrays, strict=True)):
        return False
    sizes = {
        s: (arrays[program.inputs.index(s.origin[0])].shape[s.origin[1]])  # type: ignore[index]
        for s in env.symbols
        if not s.data
    }
    return check_guards(env.guards, sizes)


def same(got: Any, want: Any) -> None:
    """Require equal dtype, shape and elements; NaN and the sign of zero count."""
    want = np.asarray(want)
    got = np.asarray(got)
    if want.dtype.kind == "U":
        assert got.shape == want.shape
        assert (got == want).all()
        return
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def arrays_of(shapes: Sequence[Any], dtype: Any, seed: int = 0) -> list[Array]:
    """Return arrays of small numbers, signed zeros among the floats."""
    random = np.random.default_rng(seed)
    out = []
    for shape in shapes:
        if isinstance(shape, np.ndarray):
            out.append(shape)
            continue
        array = random.integers(0, 2 if dtype == "?" else 50, shape).astype(dtype)
        if np.dtype(dtype).kind == "f":
            array = np.where(array > 45, np.asarray(-0.0, dtype), array)
        out.append(array)
    return out


def check(
    case: Case, opset: int, dtypes: Sequence[str] = ("f4",), *, every: bool = True
) -> None:
    """Compare a case with NumPy: one graph for all its shapes where its guards hold."""
    for dtype in dtypes:
        first = arrays_of(case.shapes[0], dtype)
        program = ready = None
        for number, shapes in enumerate(case.shapes if every else case.shapes[:1]):
            feeds = arrays_of(shapes, dtype, number)
            try:
                want = _flat(case.body(case.numpy, *feeds))
            except (ValueError, IndexError, TypeError):
                continue
            if program is None or not _holds(program, feeds):
                ordinary = all(0 not in a.shape and 1 not in a.shape for a in feeds)
                if program is not None and case.dynamic:
                    assert not ordinary, program.block.trace.env.guards
                examples = first if program is None and number == 0 else feeds
                program = trace(lambda *v: case.body(ours(case.numpy), *v), *examples)
                ready = compile_program(program, opset=opset)
            assert ready is not None
            got = ready.results(feeds)
            assert len(got) == len(want)
            for g, w in zip(got, want, strict=True):
                same(g, w)


def check_error(numpy: Callable[..., Any], body: Body, *arrays: Any) -> None:
    """Require NumPy's exception type and text."""
    try:
        body(numpy, *arrays)
    except Exception as error:  # noqa: BLE001  the specification
        want = error
    else:
        msg = "NumPy accepts it"
        raise AssertionError(msg)
    try:
        trace(lambda *v: body(ours(numpy), *v), *arrays)
    except Exception as error:  # noqa: BLE001
        got: Exception | None = error
    else:
        got = None
    assert isinstance(got, type(want)) or isinstance(want, type(got)), repr(got)
    assert str(got) == str(want)


def hinted(n: int | Dim) -> int | None:
    """Return the example's size."""
    return hint_of(n)
