# SPDX-License-Identifier: Apache-2.0
"""What `explain` returns: graphs, their conditions and lines, as text and as data."""

from __future__ import annotations

import linecache
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Condition", "Explanation", "Kept", "line_text"]


class Condition:
    """Something that has to hold for a graph to serve a call.

    Attributes
    ----------
    kind : str
        ``"size"``, ``"frozen"`` (a size or scalar with one value), ``"memory"`` (layout and
        overlap of arguments), ``"captured"`` (a value of the surroundings), ``"state"`` (the
        kind of something that is read and changed), or ``"eager"`` (of a decision to run
        eagerly); ``"store"`` (what a call does) and ``"control"`` (a branch or loop) are no
        conditions.
    text : str
        Such as ``x.shape[0] >= 3``.
    source : Source or None
        The line that caused it.
    """

    __slots__ = ("kind", "source", "text")

    def __init__(self, kind: str, text: str, source: Any = None) -> None:
        self.kind: Final = kind
        self.text: Final = text
        self.source: Final = source if isinstance(source, Source) else None

    @property
    def where(self) -> str:
        """File, line and text of the line."""
        return "" if self.source is None else line_text(self.source)

    def to_json(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return {"kind": self.kind, "text": self.text, **_place(self.source)}

    def __repr__(self) -> str:
        return f"{self.text}{f'  ({self.where})' if self.where else ''}"


def line_text(source: Source) -> str:
    """Return file, number and text of a line of code."""
    code = linecache.getline(source.file, source.line).strip()
    near = os.path.relpath(source.file) if Path(source.file).is_absolute() else source.file
    file = source.file if near.startswith("..") else near
    return f"{file}:{source.line}{f': {code}' if code else ''}"


def _place(source: Source | None) -> dict[str, Any]:
    if source is None:
        return {"file": None, "line": None, "function": None}
    return {"file": source.file, "line": source.line, "function": source.function}


class Kept:
    """A graph, or a decision to run eagerly, and the calls that it serves.

    Attributes
    ----------
    number : int
        Place in the order in which they were made, from 1.
    signature : str
        Arguments by name: dtypes and ranks, static values.
    conditions : list of Condition
    controls : list of Condition
        What became of each branch and loop: ``if``, ``while`` or ``for``, and ``If``,
        ``Loop``, ``unrolled n times``, ``guard`` (decided by a condition above) or ``static``.
    retraced : str
        Why the older ones did not serve the call that this one was made for.
    stores : list of Condition
        What calls store in objects made before; of kind ``"store"``.
    nodes, opset : int or None
        Of the model; None for what runs eagerly.
    reason : str
        What stood in the way of a graph; empty for graphs.
    source : Source or None
        The line where it did.
    """

    __slots__ = ("conditions", "controls", "nodes", "number", "opset", "reason", "retraced",
                 "signature", "source", "stores")  # fmt: skip

    def __init__(  # noqa: PLR0913  a record
        self,
        number: int,
        signature: str,
        conditions: Iterable[Condition],
        *,
        stores: Iterable[Condition] = (),
        controls: Iterable[Condition] = (),
        retraced: str = "",
        nodes: int | None = None,
        opset: int | None = None,
        reason: str = "",
        source: Source | None = None,
    ) -> None:
        self.number: Final = number
        self.signature: Final = signature
        self.conditions: Final = list(conditions)
        self.stores: Final = list(stores)
        self.controls: Final = list(controls)
        self.retraced: Final = retraced
        self.nodes: Final = nodes
        self.opset: Final = opset
        self.reason: Final = reason
        self.source: Final = source

    @property
    def eager(self) -> bool:
        """Whether calls run operation by operation."""
        return self.nodes is None

    @property
    def frozen(self) -> list[Condition]:
        """Sizes and scalars that have one value."""
        return [c for c in self.conditions if c.kind == "frozen"]

    @property
    def guards(self) -> list[Condition]:
        """All other conditions."""
        return [c for c in self.conditions if c.kind != "frozen"]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "number": self.number,
            "signature": self.signature,
            "eager": self.eager,
            "nodes": self.nodes,
            "opset": self.opset,
            "frozen": [c.to_json() for c in self.frozen],
            "guards": [c.to_json() for c in self.guards],
            "stores": [c.to_json() for c in self.stores],
            "controls": [c.to_json() for c in self.controls],
            "retraced": self.retraced,
            "reason": self.reason,
            **_place(self.source),
        }

    def __str__(self) -> str:
        what = "eager" if self.eager else "graph"
        lines = [f"{what} {self.number}: {self.signature}"]
        if not self.eager:
            nodes = _count(self.nodes or 0, "node")
            lines.append(f"  {nodes}, opset {self.opset}")
        if self.reason:
            lines.append(f"  because {self.reason}")
        if self.reason and self.source is not None:
            lines.append(f"  at {line_text(self.source)}")
        if self.retraced:
            lines.append(f"  {self.retraced}")
        parts = (
            ("frozen", self.frozen), ("only where", self.guards), ("stores", self.stores),
        )  # fmt: skip
        for title, conditions in parts:
            width = max((len(c.text) for c in conditions if c.where), default=0)
            lines += [
                f"  {title} {c.text.ljust(width)}  {c.where}".rstrip() for c in conditions
            ]
        width = max((len(c.text) for c in self.controls), default=0)
        lines += [f"  {c.text.ljust(width)}  {c.where}".rstrip() for c in self.controls]
        return "\n".join(lines)

    __repr__ = __str__


class Explanation:
    """What a jitted function keeps; ``print`` shows it.

    Attributes
    ----------
    name : str
        The function.
    kept : list of Kept
        In the order in which they were made.
    full : tuple of str
        Signatures that have as many graphs as are kept: new sizes run eagerly.
    """

    __slots__ = ("full", "kept", "name")

    def __init__(self, name: str, kept: Iterable[Kept], full: Iterable[str] = ()) -> None:
        self.name: Final = name
        self.kept: Final = list(kept)
        self.full: Final = tuple(full)

    @property
    def graphs(self) -> list[Kept]:
        """What runs as one graph."""
        return [k for k in self.kept if not k.eager]

    @property
    def eager(self) -> list[Kept]:
        """What runs operation by operation."""
        return [k for k in self.kept if k.eager]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        kept = [k.to_json() for k in self.kept]
        return {"function": self.name, "kept": kept, "full": list(self.full)}

    def __str__(self) -> str:
        if not self.kept:
            return f"{self.name}: no graphs yet; the first call makes one"
        counts = f"{_count(len(self.graphs), 'graph')}"
        if self.eager:
            counts += f", {_count(len(self.eager), 'signature')} eagerly"
        full = [
            f"{text} has all graphs it may have; new sizes run eagerly" for text in self.full
        ]
        return "\n\n".join([f"{self.name}: {counts}", *map(str, self.kept), *full])

    __repr__ = __str__


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
