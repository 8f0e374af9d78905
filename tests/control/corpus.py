# SPDX-License-Identifier: Apache-2.0
"""All programs of ``tests/control/programs``, by name."""

from __future__ import annotations

from typing import Final

from tests.control.programs import (
    choices,
    chosen,
    constructs,
    dispatching,
    dynamic,
    grids,
    iterables,
    language,
    learning,
    linear,
    lists,
    networks,
    objects,
    ranges,
    scalars,
    sequences,
    signals,
    sorting,
    state,
    vectors,
)
from tests.control.record import PROGRAMS, Program

__all__ = ["BY_NAME", "MODULES"]

MODULES: Final = (
    scalars, vectors, sequences, dynamic, linear, grids, learning, language, constructs, state,
    networks, signals, lists, choices, chosen, iterables, ranges, sorting,
    objects, dispatching,
)  # fmt: skip
BY_NAME: Final[dict[str, Program]] = {p.name: p for p in PROGRAMS}
