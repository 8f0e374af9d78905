# SPDX-License-Identifier: Apache-2.0
"""What rewritten user code asks of a running trace, and of an eager run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from onnxjit._core.dims import Dim, has_data
from onnxjit._core.dtypes import is_carried
from onnxjit._rewrite.twins import eager_twin_of, twin_of
from onnxjit._trace.array import ARRAY, Array
from onnxjit._trace.control.keys import has_unsure, holds
from onnxjit._trace.control.ranges import Range
from onnxjit._trace.control.truth import contains
from onnxjit._trace.convert import arrays_in, is_traced, to_numpy, to_plain
from onnxjit._trace.items import capture_item, python_number
from onnxjit._trace.lists import List
from onnxjit._trace.moved import check_moved
from onnxjit._trace.text import marked_text
from onnxjit._trace.trace import dim_array
from onnxjit.errors import SideEffectError

from .boundary import from_eager

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._rewrite.path import Path
    from onnxjit._trace.places import Places
    from onnxjit._trace.trace import Tracer

__all__ = ["EagerHooks", "TraceHooks"]

_EFFECTS: Final = {
    "attribute": "stores to an attribute of an object made before the call",
    "item": "stores to an item of an object made before the call",
    "global": "assigns a global name",
    "cell": "assigns a name of an enclosing function",
    "container": "changes a container made before the call",
    "ndarray": "writes into an ndarray made before the call",
    "iterator": "advances an iterator made before the call",
    "impure": "gives another result at each call",
    "unchecked store": "stores to objects in code without source",
    "look": "is used as a whole, or by code that is not traced, after it has been changed",
}
_STORE: Final = "return the new value and store it outside"
#: what an export may do too, which has no places for stores
_LEFT_OUT: Final = ', or leave the store out of the model by mutated="drop"'
#: what to do instead, where it is not `_STORE`
_INSTEAD: Final = {
    "ndarray": "write into a copy, or pass it as an argument",
    "iterator": "make the iterator inside, or pass a list",
    "impure": "call it outside and pass the result as an argument",
    "unchecked store": "call it outside of the jitted function",
    "look": "use it before it is changed, or what has been stored itself",
}


class TraceHooks:
    """Rewritten code under a trace."""

    __slots__ = ("captures", "tracer")

    def __init__(self, tracer: Tracer) -> None:
        self.tracer: Final = tracer
        self.captures: Final[list[tuple[Path, Any]]] = []

    def is_traced(self, obj: object, /) -> bool:
        """Whether an object belongs to the trace."""
        return is_traced(obj)

    def twin(self, f: object, /) -> Callable[..., Any] | None:
        """Return the stand-in of a callable."""
        return twin_of(f)

    @property
    def places(self) -> Places | None:
        """Where stores to old objects go instead."""
        return self.tracer.places

    def capture(self, value: Any, path: Path, owner: object = None, /) -> Any:
        """Note a value of the surroundings; what the function changes becomes an input."""
        hidden = self.tracer.hidden
        if hidden is not None:
            found = hidden.take(value, path, owner)
            if found is not None:
                return found
        self.captures.append((path, value))
        if type(value) is np.ndarray and is_carried(value.dtype):
            return self.tracer.capture(value, str(path))
        return value

    def getitem_captured(self, obj: Any, key: Any, /) -> Any:
        """Return ``obj[key]`` for a traced key."""
        return capture_item(obj, key)

    def setitem(self, obj: Any, key: Any, value: Any, /) -> None:
        """Perform ``obj[key] = value``."""
        check_moved(obj)
        obj[key] = value

    def contains(self, container: Any, item: Any, /) -> Any:
        """Return ``item in container`` as a traced truth value."""
        if isinstance(container, Array) and container._kind == ARRAY:
            return python_number((container == item).any(), "b")
        if isinstance(container, List) and container.rows is not None:
            return container.rows.contains(item)
        if has_unsure(container):
            return holds(container, item)
        if isinstance(container, Range):
            return container.holds(item)
        if isinstance(container, (list, tuple)) and any(
            map(is_traced, arrays_in([item, *container]))
        ):
            return contains(container, item)
        return item in container

    def formatted(self, value: Any, /) -> Any:
        """Return the numbers that text is made of; what only a run knows stays as it is."""
        if isinstance(value, Dim):
            if not has_data(value):
                return int(value)
            value = dim_array(value)
        if isinstance(value, Array):
            return to_numpy(value)
        if type(value) in (tuple, list):
            return type(value)(map(self.formatted, value))
        return value

    def looked_at(self, x: Any, what: str, /) -> Any:
        """Return what is known of an argument of code that looks at values."""
        return to_plain(x, what)

    def text(self, value: str, /) -> str:
        """Return text, or what refuses to tell it where nobody knows it."""
        return marked_text(value)

    def stored(self, value: Any, /) -> Any:
        """Return the value: nothing old is stored to under a trace."""
        return value

    def side_effect(self, what: str, _obj: object, detail: str, /) -> None:
        """Refuse to change what is older than the trace."""
        self.tracer.mark_line()
        instead = _INSTEAD.get(what, _STORE)
        if what not in _INSTEAD and self.tracer.env.policy == "assume":
            instead += _LEFT_OUT
        msg = (
            f"{detail} at {self.tracer.source} {_EFFECTS.get(what, what)}, which a graph "
            f"cannot do: {instead}"
        )
        error = SideEffectError(msg)
        self.tracer.refuse(error)
        raise error


class EagerHooks:
    """Rewritten code that runs on eager arrays: plain Python but for questions of type."""

    __slots__ = ()
    places: ClassVar[Places | None] = None

    def is_traced(self, obj: object, /) -> bool:
        """Whether an object is an eager array; none belongs to a trace."""
        return isinstance(obj, (Array, Dim))

    def twin(self, f: object, /) -> Callable[..., Any] | None:
        """Return the stand-in of a callable."""
        return eager_twin_of(f)

    def capture(self, value: Any, _path: Path, _owner: object = None, /) -> Any:
        """Return a value of the surroundings as it is."""
        return value

    def getitem_captured(self, obj: Any, key: Any, /) -> Any:
        """Return ``obj[key]``: NumPy knows eager arrays for no arrays in an index."""
        return obj[from_eager(key) if isinstance(obj, np.ndarray) else key]

    def setitem(self, obj: Any, key: Any, value: Any, /) -> None:
        """Perform ``obj[key] = value``, as in `getitem_captured`."""
        obj[from_eager(key) if isinstance(obj, np.ndarray) else key] = value

    def contains(self, container: Any, item: Any, /) -> Any:
        """Return ``item in container``."""
        return item in container

    def formatted(self, value: Any, /) -> Any:
        """Return what text is made of: NumPy's numbers and arrays, in containers too."""
        return from_eager(value)

    def looked_at(self, x: Any, _what: str, /) -> Any:
        """Return NumPy's numbers and arrays, in containers too."""
        return from_eager(x)

    def text(self, value: str, /) -> str:
        """Return the text: its values are known."""
        return value

    def stored(self, value: Any, /) -> Any:
        """Return NumPy's own in the place of eager arrays, which the user does not know."""
        return from_eager(value)

    def side_effect(self, what: str, obj: object, detail: str, /) -> None:
        """Let it happen: eager code runs as Python does."""
