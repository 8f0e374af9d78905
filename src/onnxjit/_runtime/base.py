# SPDX-License-Identifier: Apache-2.0
"""What runs a model: a plan in, a callable out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Array", "Executor", "Plan", "Runner", "Segment"]

Array = np.ndarray[Any, Any]


class Segment:
    """One model of a plan.

    Parameters
    ----------
    model : bytes
        A serialised model.
    feeds : tuple of str
        Names of its inputs, in the order in which arrays are given.
    fetches : tuple of str
        Names of the results wanted.
    axis : int or None
        Axis along which the segment may be run in slices.
    weights : mapping of str to ndarray
        Constants that the model says are external.
    """

    __slots__ = ("axis", "feeds", "fetches", "model", "weights")

    def __init__(
        self,
        model: bytes,
        feeds: Sequence[str],
        fetches: Sequence[str],
        *,
        axis: int | None = None,
        weights: Mapping[str, Array] | None = None,
    ) -> None:
        self.model: Final = model
        self.feeds: Final = tuple(feeds)
        self.fetches: Final = tuple(fetches)
        self.axis: Final = axis
        self.weights: Final = dict(weights or {})


class Plan:
    """Segments to run one after the other."""

    __slots__ = ("segments",)

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments: Final = tuple(segments)


class Runner(Protocol):
    """A prepared plan."""

    def run(self, feeds: Sequence[Array]) -> list[Array]:
        """Compute the results of the last segment from the inputs of the first."""

    def close(self) -> None:
        """Let go of what it holds; a call in progress ends first."""


class Executor(Protocol):
    """Prepares plans."""

    def prepare(self, plan: Plan) -> Runner:
        """Return a plan ready to run."""
