# SPDX-License-Identifier: Apache-2.0
"""One eager operation against the bare run of a model of one node."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

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


KERNELS = [
    Kernel("eager-add", _operation(operator.add, "Add", 2), [3], 2.0),
    Kernel("eager-sin", _operation(np.sin, "Sin", 1), [3], 2.0),
]
