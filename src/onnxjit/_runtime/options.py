# SPDX-License-Identifier: Apache-2.0
"""How sessions of our own are set up."""

from __future__ import annotations

from typing import Any, Final

from onnxruntime import GraphOptimizationLevel, SessionOptions

__all__ = ["DISABLED", "WIDE", "Options"]

#: optimisers that change values: they swap the operands of Where, drop x + 0, or replace
#: formulas by less accurate fused kernels
DISABLED: Final = (
    "NotWhereFusion",
    "NoopElimination",
    "DivMulFusion",
    "GeluFusionL1",
    "GeluFusionL2",
    "LayerNormFusionL1",
    "LayerNormFusionL2",
    "SimplifiedLayerNormFusion",
    "FastGeluFusion",
    "QuickGeluFusion",
    "BiasGeluFusion",
    "SkipLayerNormFusion",
)

#: elements of an input from which threads pay (onnxruntime gains nothing below 1e5)
WIDE: Final = 1 << 16

_LEVELS: Final = {
    "off": GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": GraphOptimizationLevel.ORT_ENABLE_ALL,
}
#: fatal only: errors are raised, and what onnxruntime warns of is on purpose
_QUIET: Final = 4


class Options:
    """Session options; hashable, part of cache keys.

    Parameters
    ----------
    threads : int
        Threads inside an operator; 0 leaves the choice to onnxruntime.
    level : {"off", "basic", "extended", "all"}
        Graph optimisation.
    """

    __slots__ = ("level", "threads")

    def __init__(self, *, threads: int = 0, level: str = "basic") -> None:
        if level not in _LEVELS:
            msg = f"level {level!r} is none of {', '.join(_LEVELS)}"
            raise ValueError(msg)
        self.threads: Final = threads
        self.level: Final = level

    def session_options(self) -> Any:
        """Return onnxruntime's object."""
        options = SessionOptions()
        options.log_severity_level = _QUIET
        options.graph_optimization_level = _LEVELS[self.level]
        if self.threads:
            options.intra_op_num_threads = self.threads
        return options

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Options)
            and self.threads == other.threads
            and self.level == other.level
        )

    def __hash__(self) -> int:
        return hash((self.threads, self.level))

    def __repr__(self) -> str:
        return f"Options(threads={self.threads}, level={self.level!r})"
