# SPDX-License-Identifier: Apache-2.0
"""The op table: every row, by the NumPy callable it stands for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .row import Function, Ufunc

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BY_SHAPE", "FAMILIES", "FUNCTIONS", "UFUNCS", "rows"]

#: modules that hold a list of rows
FAMILIES: Final = (
    "arg", "bincount", "cast", "complex_functions", "contract", "convolve", "create",
    "cumulative", "diagonal", "digitize", "elementwise", "fft",
    "grid", "histogram", "insertion", "interpolate", "join",
    "linalg_cholesky", "linalg_det", "linalg_eig", "linalg_eigh", "linalg_lstsq", "linalg_qr",
    "linalg_singular", "linalg_solve",
    "nan_statistics", "norm",
    "product", "put", "quantile", "rearrange", "reverse", "search", "select", "shape", "sort",
    "statistics",
    "take", "typing_rows",
)  # fmt: skip

#: functions whose first argument is the shape of what they make
BY_SHAPE: Final = frozenset[Any]({np.zeros, np.ones, np.empty, np.full})


def rows() -> list[Function | Ufunc]:
    """Return every row, in the order of the families."""
    found: list[Function | Ufunc] = []
    for name in FAMILIES:
        found.extend(importlib.import_module(f"{__package__}.{name}").ROWS)
    return found


def _collect(
    every: list[Function | Ufunc],
) -> tuple[dict[Callable[..., Any], Function], dict[np.ufunc, Ufunc]]:
    functions: dict[Callable[..., Any], Function] = {}
    ufuncs: dict[np.ufunc, Ufunc] = {}
    for row in every:
        if isinstance(row, Ufunc):
            if row.numpy in ufuncs:
                msg = f"two rows for the ufunc {row.numpy.__name__}"
                raise ValueError(msg)
            ufuncs[row.numpy] = row
            continue
        for key in (row.numpy, *row.aliases):
            if functions.get(key, row) is not row:
                msg = f"two rows for {key.__name__}"
                raise ValueError(msg)
            functions[key] = row
    return functions, ufuncs


FUNCTIONS: dict[Callable[..., Any], Function]
UFUNCS: dict[np.ufunc, Ufunc]


def __getattr__(name: str) -> Any:
    """Fill the table when it is first looked into: imports alone need few of its modules."""
    if name not in {"FUNCTIONS", "UFUNCS"}:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    found = dict(zip(("FUNCTIONS", "UFUNCS"), _collect(rows()), strict=True))
    globals().update(found)
    return found[name]
