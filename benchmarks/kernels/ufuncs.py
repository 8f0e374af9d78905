# SPDX-License-Identifier: Apache-2.0
"""Each ufunc that is one ONNX operator, on large arrays, against a model of that one node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared, one_node_session

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS", "OPERATORS"]

#: results that cost more than one node say so here: NumPy asks more than the operator does
OPERATORS: dict[np.ufunc, str] = {
    np.absolute: "Abs",
    np.add: "Add",
    np.arccos: "Acos",
    np.arccosh: "Acosh",
    np.arcsin: "Asin",
    np.arcsinh: "Asinh",
    np.arctan: "Atan",
    np.arctanh: "Atanh",
    np.ceil: "Ceil",
    np.cos: "Cos",
    np.cosh: "Cosh",
    np.divide: "Div",
    np.equal: "Equal",
    np.exp: "Exp",
    np.floor: "Floor",
    np.fmod: "Mod",
    np.greater: "Greater",
    np.greater_equal: "GreaterOrEqual",
    np.isnan: "IsNaN",
    np.less: "Less",
    np.less_equal: "LessOrEqual",
    np.log: "Log",
    np.maximum: "Max",
    np.minimum: "Min",
    np.multiply: "Mul",
    np.negative: "Neg",
    np.power: "Pow",
    np.reciprocal: "Reciprocal",
    np.rint: "Round",
    np.sign: "Sign",
    np.sin: "Sin",
    np.sinh: "Sinh",
    np.sqrt: "Sqrt",
    np.subtract: "Sub",
    np.tan: "Tan",
    np.tanh: "Tanh",
}
_ABOVE_ONE = {np.arccosh}


def _applied(ufunc: np.ufunc) -> Callable[..., Any]:
    def unary(x: Any) -> Any:
        return ufunc(x)

    def binary(x: Any, y: Any) -> Any:
        return ufunc(x, y)

    return unary if ufunc.nin == 1 else binary


def _ufunc(ufunc: np.ufunc, op: str) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        random = np.random.default_rng(0)
        low = 1.5 if ufunc in _ABOVE_ONE else 0.1
        arrays = [random.uniform(low, low + 0.8, size).astype("f4") for _ in range(ufunc.nin)]
        fn = _applied(ufunc)
        want = fn(*arrays)
        jit = jit_onnx(fn, fallback="error")
        session = one_node_session(op, arrays, want.dtype)
        feeds = {f"x{i}": a for i, a in enumerate(arrays)}
        np.testing.assert_allclose(jit(*arrays), want, rtol=1e-5)
        np.testing.assert_allclose(session.run(["y"], feeds, None)[0], want, rtol=1e-5)
        return compared(
            Contender("warm call", jit, *arrays),
            Contender("session.run", session.run, ["y"], feeds, None),
            blocks,
        )

    return run


KERNELS = [
    Kernel(f"ufunc-{ufunc.__name__}", _ufunc(ufunc, op), [10, 1_000_000], {1_000_000: 1.2})
    for ufunc, op in OPERATORS.items()
]
