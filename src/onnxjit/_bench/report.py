# SPDX-License-Identifier: Apache-2.0
"""Results as aligned text, JSON and plots."""

from __future__ import annotations

import importlib
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .harness import Spread, Timings

__all__ = ["BenchmarkReport", "duration", "environment", "table"]

_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> str:
    """Return rows as aligned columns.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences of str
        Cells; empty ones at the end of a row may be left out.
    right : str
        One letter for each column: ``"r"`` aligns to the right, anything else to the left.
    """
    grid = [[*row, *[""] * (len(header) - len(row))] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in grid) for i in range(len(header))]
    grid.insert(1, ["-" * width for width in widths])
    sides = right.ljust(len(header))
    return "\n".join(
        "  ".join(
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=False)
        ).rstrip()
        for row in grid
    )


def duration(seconds: float) -> str:
    """Return a time with three digits and its unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def environment() -> dict[str, str]:
    """Return what a measurement depends on: the processor and versions."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    found |= {name: version(name) for name in ("numpy", "onnx", "onnxruntime")}
    return found


class BenchmarkReport:
    """Times of one function; ``print`` shows them as a table.

    Attributes
    ----------
    name : str
        The function.
    agreement : str
        How results compare with NumPy's.
    ok : bool
        Whether they agree.
    timings : Timings
        Seconds per call of each way to compute the result.
    phases : dict of str to Spread
        What the first call spends its time on.
    notes : tuple of str
        What is missing, and why.
    """

    __slots__ = ("agreement", "name", "notes", "ok", "phases", "timings")

    def __init__(
        self,
        name: str,
        timings: Timings,
        phases: dict[str, Spread],
        *,
        agreement: str,
        ok: bool,
        notes: Sequence[str] = (),
    ) -> None:
        self.name: Final = name
        self.timings: Final = timings
        self.phases: Final = phases
        self.agreement: Final = agreement
        self.ok: Final = ok
        self.notes: Final = tuple(notes)

    def __str__(self) -> str:
        names = list(self.timings.seconds)
        rows = [self._row(name, names) for name in names]
        header = ["", "median", "quartiles", *(f"x {name}" for name in names)]
        parts = [f"{self.name}: {self.agreement}", table(header, rows, right=" rr" + "r" * 9)]
        if self.phases:
            rows = [[n, duration(s.median), _range(s)] for n, s in self.phases.items()]
            parts.append(table(["first call", "median", "quartiles"], rows, right=" rr"))
        return "\n\n".join([*parts, *self.notes])

    __repr__ = __str__

    def _row(self, name: str, names: Sequence[str]) -> list[str]:
        seconds = self.timings.seconds[name]
        ratios = [f"{self.timings.ratio(name, other).median:.3g}" for other in names]
        return [name, duration(seconds.median), _range(seconds), *ratios]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data; times are seconds."""
        names = list(self.timings.seconds)
        return {
            "function": self.name,
            "environment": environment(),
            "agreement": self.agreement,
            "ok": self.ok,
            "seconds": {n: s.to_json() for n, s in self.timings.seconds.items()},
            "ratios": [
                {"of": a, "to": b, **self.timings.ratio(a, b).to_json()}
                for a in names
                for b in names
                if a != b
            ],
            "first_call": {n: s.to_json() for n, s in self.phases.items()},
            "notes": list(self.notes),
        }

    def plot(self, path: str | Path) -> None:
        """Draw the times as bars, on a logarithmic scale.

        Parameters
        ----------
        path : str or Path
            The picture; the ending says in which format.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        try:
            figures = importlib.import_module("matplotlib.figure")
        except ImportError as e:
            msg = (
                "plots are drawn by matplotlib, which is not installed: pip install matplotlib"
            )
            raise ImportError(msg) from e
        bars = {**self.timings.seconds}
        bars |= {f"first call: {name}": s for name, s in self.phases.items()}
        figure = figures.Figure(figsize=(8, 1 + 0.4 * len(bars)), layout="constrained")
        axes = figure.add_subplot(
            xscale="log", xlabel="seconds, median and quartiles", title=self.name
        )
        middle = [s.median for s in bars.values()]
        ends = [
            [s.median - s.low for s in bars.values()],
            [s.high - s.median for s in bars.values()],
        ]
        axes.barh(list(bars), middle, xerr=ends)
        axes.invert_yaxis()
        figure.savefig(path)


def _range(spread: Spread) -> str:
    return f"{duration(spread.low)} .. {duration(spread.high)}"
