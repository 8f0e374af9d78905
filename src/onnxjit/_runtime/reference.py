# SPDX-License-Identifier: Apache-2.0
"""Plans on onnx's reference evaluator: slow, and a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .base import Array, Plan, Segment

__all__ = ["ReferenceExecutor", "ReferenceRunner"]


class ReferenceRunner:
    """Evaluators of the segments of a plan."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Sequence[tuple[Segment, Any]]) -> None:
        self._parts: Final = list(parts)

    def run(self, feeds: Sequence[Array]) -> list[Array]:
        """Run the model."""
        arrays = list(feeds)
        for segment, evaluator in self._parts:
            named = dict(zip(segment.feeds, arrays, strict=True))
            arrays = [np.asarray(a) for a in evaluator.run(list(segment.fetches), named)]
        return arrays

    def close(self) -> None:
        """Drop the evaluators."""
        self._parts.clear()


class ReferenceExecutor:
    """Makes evaluators."""

    __slots__ = ()

    def prepare(self, plan: Plan) -> ReferenceRunner:
        """Return a plan ready to run."""
        import onnx
        from onnx.reference import ReferenceEvaluator

        return ReferenceRunner(
            [
                (segment, ReferenceEvaluator(onnx.load_from_string(segment.model)))
                for segment in plan.segments
            ]
        )
