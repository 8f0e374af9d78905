# SPDX-License-Identifier: Apache-2.0
"""One eager operation, of NumPy or the array API, against the bare run of a one-node model."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit import array_api as xp
from onnxjit import asarray
from onnxjit._bench.harness import Contender

from .base import Kernel, Result, compared, one_node_session

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS"]


def _operation(
    compute: Callable[..., Any], op: str, count: int
) -> Callable[[int, int], Result]:
    def run(size: int, blocks: int) -> Result:
        random = np.random.default_rng(0)
        arrays = [random.random((size, 4)).astype("f4") for _ in range(count)]
        ours = [asarray(a) for a in arrays]
        want = compute(*arrays)
        session = one_node_session(op, arrays, want.dtype)
        feeds = {f"x{i}": a for i, a in enumerate(arrays)}
        np.testing.assert_allclose(np.asarray(compute(*ours)), want, rtol=1e-5)
        np.testing.assert_allclose(session.run(["y"], feeds, None)[0], want, rtol=1e-5)
        return compared(
            Contender("eager", compute, *ours),
            Contender("session.run", session.run, ["y"], feeds, None),
            blocks,
        )

    return run


def _function(
    name: str,
    op: str,
    *arrays: np.ndarray[Any, Any],
    options: dict[str, Any],
    **attributes: Any,
) -> Callable[[int, int], Result]:
    """Return a measurement of a function of the array API on tiny arrays."""

    def run(_: int, blocks: int) -> Result:
        ours = [asarray(a) for a in arrays]
        if name == "concat":
            ours = [ours]  # type: ignore[list-item]  # one list of arrays
        call = getattr(xp, name)
        want = np.asarray(call(*ours, **options))
        session = one_node_session(op, arrays, want.dtype, **attributes)
        feeds = {f"x{i}": a for i, a in enumerate(arrays)}
        np.testing.assert_allclose(session.run(["y"], feeds, None)[0], want, rtol=1e-12)
        return compared(
            Contender("array API", partial(call, *ours, **options)),
            Contender("session.run", session.run, ["y"], feeds, None),
            blocks,
        )

    return run


_A = np.random.default_rng(0).random((3, 4))
_B = np.random.default_rng(1).random((3, 4))
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "add": ("Add", _A, _B), "sqrt": ("Sqrt", _A), "where": ("Where", _A > _B, _A, _B),
    "matmul": ("MatMul", _A, _B.T.copy()), "concat": ("Concat", _A, _B),
    "sum": ("ReduceSum", _A), "argmax": ("ArgMax", _A.astype("i4")),
}  # fmt: skip
_OPTIONS: dict[str, dict[str, Any]] = {
    "sum": {"keepdims": True}, "argmax": {"axis": 1, "keepdims": True},
}  # fmt: skip
_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "concat": {"axis": 0}, "argmax": {"axis": 1, "keepdims": 1},
}  # fmt: skip

KERNELS = [
    Kernel("eager-add", _operation(operator.add, "Add", 2), [3], 2.0),
    Kernel("eager-sin", _operation(np.sin, "Sin", 1), [3], 2.0),
    *(
        Kernel(
            f"array-api-{name}",
            _function(
                name, *call, options=_OPTIONS.get(name, {}), **_ATTRIBUTES.get(name, {})
            ),
            [3],
            2.0,
        )
        for name, call in _FUNCTIONS.items()
    ),
]
