# SPDX-License-Identifier: Apache-2.0
"""What a call reads from and stores in objects older than its graph."""

from __future__ import annotations

import operator
from types import CellType
from typing import TYPE_CHECKING, Any, Final

from onnxjit._rewrite.path import GuardNames, path_source

from .lent import put_content

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .record import Effect, Recording

__all__ = ["SKIPPED", "hidden_source", "reader", "replayer"]

#: in the place of a value that is not stored on the path that a call took
SKIPPED: Final = object()


def hidden_source(recording: Recording, names: GuardNames, roots: Mapping[str, str]) -> str:
    """Return the hidden inputs as a Python expression, with a comma after each."""
    hidden = recording.tracer.hidden
    inputs = [] if hidden is None else hidden.inputs
    return "".join(f"{path_source(path, names, roots)}, " for path, _ in inputs)


def reader(
    recording: Recording, names: GuardNames, roots: Mapping[str, str]
) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """Return what adds the hidden inputs to the leaves of a call; None if there are none."""
    source = hidden_source(recording, names, roots)
    if not source:
        return None
    read: Callable[[Sequence[Any]], Sequence[Any]] = eval(
        f"lambda a: (*a, {source})", dict(names.namespace)
    )
    return read


def _put_name(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, CellType):
        owner.cell_contents = value
    else:
        owner[name] = value


_PUT: Final[Mapping[str, Callable[[Any, Any, Any], None]]] = {
    "attr": setattr,
    "item": operator.setitem,
    "name": _put_name,
    "grow": lambda owner, _, values: owner.extend(values),
    "add": lambda owner, _, values: owner.update(values),
    "content": lambda owner, _, value: put_content(owner, value),
}


def _owner_source(effect: Effect, names: GuardNames, roots: Mapping[str, str]) -> str:
    if effect.what == "content":
        return f"c[{effect.path}]"
    if effect.what == "name":
        return names.name(effect.path.owner, "g")
    return path_source(effect.path, names, roots)


def replayer(
    effects: Sequence[Effect], names: GuardNames, roots: Mapping[str, str]
) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    """Return ``find(containers)`` for the objects, and ``put(objects, values)``.

    All objects are found before one of them changes.
    """
    sources = "".join(f"{_owner_source(e, names, roots)}, " for e in effects)
    find: Callable[[Any], Any] = eval(f"lambda c: ({sources})", dict(names.namespace))
    puts = [(_PUT[e.what], e.key) for e in effects]

    def put(objects: Any, values: Any) -> None:
        for (store, key), owner, value in zip(puts, objects, values, strict=True):
            if value is not SKIPPED:
                store(owner, key, value)

    return find, put
