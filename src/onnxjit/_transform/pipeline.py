# SPDX-License-Identifier: Apache-2.0
"""The passes that every program goes through before it is lowered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxjit._core.region import COND, LOOP

from .complex_split import split_complex
from .rewrite import rewrite
from .simplify import RULES

if TYPE_CHECKING:
    from onnxjit._core.program import Program

__all__ = ["run_passes", "simplify"]


def run_passes(program: Program) -> tuple[Program, bool]:
    """Return an equivalent program with fewer operations, and whether it changed.

    One sweep is enough: operands are simplified before the equations that read them.
    """
    changed = split_complex(program)[1]
    changed = rewrite(program, RULES)[1] or changed
    if any(e.op is LOOP or e.op is COND for e in program.block.equations):
        from .loops import shorten_loops

        changed = shorten_loops(program) or changed
    return program, changed


def simplify(program: Program) -> Program:
    """Return an equivalent program with fewer operations."""
    return run_passes(program)[0]
