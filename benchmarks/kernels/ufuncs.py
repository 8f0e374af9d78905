# SPDX-License-Identifier: Apache-2.0
"""Each ufunc of one or two arrays, on large arrays.

Where ONNX has an operator that is all of the ufunc, against a model of that one node, written
by hand; the others against NumPy, for which nothing is promised.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import jit_onnx
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared, one_node_session

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS", "OPERATORS", "OTHERS"]


class Node:
    """A model of one node that does what a ufunc does for arrays of a dtype."""

    __slots__ = ("attributes", "dtype", "given", "op")

    def __init__(
        self,
        op: str,
        dtype: str = "f4",
        given: tuple[Any, ...] | None = None,
        **attributes: Any,
    ) -> None:
        self.op = op
        self.dtype = dtype
        self.given = given
        self.attributes = attributes


OPERATORS: dict[np.ufunc, Node] = {
    np.absolute: Node("Abs"),
    np.add: Node("Add"),
    np.arccos: Node("Acos"),
    np.arccosh: Node("Acosh"),
    np.arcsin: Node("Asin"),
    np.arcsinh: Node("Asinh"),
    np.arctan: Node("Atan"),
    np.arctanh: Node("Atanh"),
    np.bitwise_and: Node("BitwiseAnd", "i4"),
    np.bitwise_or: Node("BitwiseOr", "i4"),
    np.bitwise_xor: Node("BitwiseXor", "i4"),
    np.ceil: Node("Ceil"),
    np.conjugate: Node("Identity"),
    np.cos: Node("Cos"),
    np.cosh: Node("Cosh"),
    np.deg2rad: Node("Mul", given=("x0", math.pi / 180)),
    np.degrees: Node("Mul", given=("x0", 180 / math.pi)),
    np.divide: Node("Div"),
    np.equal: Node("Equal"),
    np.exp: Node("Exp"),
    np.exp2: Node("Pow", given=(2.0, "x0")),
    np.fabs: Node("Abs"),
    np.floor: Node("Floor"),
    np.fmod: Node("Mod", fmod=1),
    np.greater: Node("Greater"),
    np.greater_equal: Node("GreaterOrEqual"),
    np.invert: Node("BitwiseNot", "i4"),
    np.isinf: Node("IsInf"),
    np.isnan: Node("IsNaN"),
    np.left_shift: Node("BitShift", "u4", direction="LEFT"),
    np.less: Node("Less"),
    np.less_equal: Node("LessOrEqual"),
    np.log: Node("Log"),
    np.logical_and: Node("And", "?"),
    np.logical_not: Node("Not", "?"),
    np.logical_or: Node("Or", "?"),
    np.logical_xor: Node("Xor", "?"),
    np.maximum: Node("Max"),
    np.minimum: Node("Min"),
    np.multiply: Node("Mul"),
    np.negative: Node("Neg"),
    np.positive: Node("Identity"),
    np.power: Node("Pow"),
    np.rad2deg: Node("Mul", given=("x0", 180 / math.pi)),
    np.radians: Node("Mul", given=("x0", math.pi / 180)),
    np.reciprocal: Node("Reciprocal"),
    np.remainder: Node("Mod"),
    np.right_shift: Node("BitShift", "u4", direction="RIGHT"),
    np.rint: Node("Round"),
    np.sign: Node("Sign"),
    np.sin: Node("Sin"),
    np.sinh: Node("Sinh"),
    np.sqrt: Node("Sqrt"),
    np.square: Node("Mul", given=("x0", "x0")),
    np.subtract: Node("Sub"),
    np.tan: Node("Tan"),
    np.tanh: Node("Tanh"),
}
#: ufuncs with float32 loops that no operator is all of
OTHERS: tuple[np.ufunc, ...] = (
    np.arctan2, np.cbrt, np.copysign, np.expm1, np.float_power, np.floor_divide, np.fmax,
    np.fmin, np.heaviside, np.hypot, np.isfinite, np.log10, np.log1p, np.log2, np.logaddexp,
    np.logaddexp2, np.nextafter, np.not_equal, np.signbit, np.spacing, np.trunc,
)  # fmt: skip
#: where an argument has to be larger than 1
_ABOVE_ONE = {np.arccosh}
SIZES = (10, 1_000_000)


def _applied(ufunc: np.ufunc) -> Callable[..., Any]:
    def unary(x: Any) -> Any:
        return ufunc(x)

    def binary(x: Any, y: Any) -> Any:
        return ufunc(x, y)

    return unary if ufunc.nin == 1 else binary


def _arrays(ufunc: np.ufunc, dtype: str, size: int) -> list[Any]:
    random = np.random.default_rng(0)
    low = 1.5 if ufunc in _ABOVE_ONE else 0.1
    scale = 1 if dtype == "f4" else 10
    return [
        np.rint(scale * random.uniform(low, low + 0.8, size)).astype(dtype)
        if dtype != "f4"
        else random.uniform(low, low + 0.8, size).astype(dtype)
        for _ in range(ufunc.nin)
    ]


def _against_node(ufunc: np.ufunc, node: Node) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        arrays = _arrays(ufunc, node.dtype, size)
        fn = _applied(ufunc)
        want = fn(*arrays)
        jit = jit_onnx(fn, fallback="error")
        session = one_node_session(
            node.op, arrays, want.dtype, given=node.given, **node.attributes
        )
        feeds = {f"x{i}": a for i, a in enumerate(arrays)}
        np.testing.assert_allclose(jit(*arrays), want, rtol=1e-5)
        np.testing.assert_allclose(session.run(["y"], feeds, None)[0], want, rtol=1e-5)
        return compared(
            Contender("warm call", jit, *arrays),
            Contender("session.run", session.run, ["y"], feeds, None),
            blocks,
            threads=size >= SIZES[-1],
        )

    return run


def _against_numpy(ufunc: np.ufunc) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        arrays = _arrays(ufunc, "f4", size)
        fn = _applied(ufunc)
        jit = jit_onnx(fn, fallback="error")
        np.testing.assert_allclose(jit(*arrays), fn(*arrays), rtol=1e-5)
        return compared(
            Contender("warm call", jit, *arrays),
            Contender("NumPy", fn, *arrays),
            blocks,
            threads=size >= SIZES[-1],
        )

    return run


KERNELS = [
    *(
        Kernel(f"ufunc-{ufunc.__name__}", _against_node(ufunc, node), SIZES, {SIZES[-1]: 1.1})
        for ufunc, node in OPERATORS.items()
    ),
    *(Kernel(f"numpy-{ufunc.__name__}", _against_numpy(ufunc), SIZES) for ufunc in OTHERS),
]
