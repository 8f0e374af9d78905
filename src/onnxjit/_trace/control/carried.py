# SPDX-License-Identifier: Apache-2.0
"""What goes from one iteration of a loop to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit.errors import UnsupportedError

from .either import Either, Unsure
from .join import (
    JoinError,
    ListsDifferError,
    Type,
    described,
    flatten,
    stand_in,
    type_of,
    unify,
)
from .slots import UNBOUND, containers_in, content_of, same_content

if TYPE_CHECKING:
    from onnxjit._trace.trace import Tracer

    from .join import Template
    from .slots import Slot

__all__ = ["Carried", "is_open", "joins", "leaf_type", "mixed", "written"]


class Carried:
    """A place whose content goes from one iteration to the next.

    Attributes
    ----------
    slot : Slot
    entry : object
        Content before the loop; UNBOUND for a name without one.
    template : structure of the content
    types : list of Type
        Of its leaves, as the body is given them.
    given : object
        The content that the body is given.
    held : list
        The containers in it, with what they hold then.
    """

    __slots__ = ("entry", "given", "held", "leaves", "slot", "template", "types")

    def __init__(self, slot: Slot, entry: Any, like: Any) -> None:
        self.slot: Final = slot
        self.entry: Final = entry
        self.give(like)
        self.describe(like)

    def give(self, content: Any) -> None:
        """Note what the body is given."""
        self.given = content
        self.held = [(x, content_of(x)) for x in containers_in(content)]

    def is_written(self) -> bool:
        """Whether the body has changed a container that it was given."""
        return any(not same_content(before, content_of(x)) for x, before in self.held)

    def describe(self, like: Any) -> None:
        """Take over the structure of a content."""
        self.leaves: list[Any] = []
        self.template: Template = flatten(like, self.leaves)
        self.types: list[Type] = [leaf_type(x) for x in self.leaves]
        if self.entry is UNBOUND:
            # the first leaf says whether the name has a value
            self.leaves = [False, *(stand_in(t) for t in self.types[1:])]
            self.types = [leaf_type(x) for x in self.leaves]


def leaf_type(x: Any) -> Type:
    found = type_of(x)
    assert found is not None  # a leaf has one
    return found


def is_open(x: Any) -> bool:
    """Whether a content is one of several things."""
    if type(x) is tuple:
        return any(map(is_open, x))
    return isinstance(x.content if isinstance(x, Unsure) else x, Either)


def joins(c: Carried, content: Any) -> bool:
    """Whether there is a type for a content and for that before the loop."""
    try:
        if c.entry is not UNBOUND:
            unify(c.entry, content, [])
        unify(c.given, content, [])
    except ListsDifferError:
        raise
    except JoinError:
        return False
    return True


class MixedError(UnsupportedError):
    """Something is of another kind after an iteration than before."""


def mixed(c: Carried, like: Any, content: Any, tracer: Tracer) -> MixedError:
    msg = (
        f"{c.slot.name} is {described(like)} before and {described(content)} after "
        f"an iteration of the loop at {tracer.source}, and a graph needs one type: keep the "
        "structure and number of dimensions, or append to a list"
    )
    return MixedError(msg)


def written(c: Carried, tracer: Tracer) -> UnsupportedError:
    msg = (
        f"{c.slot.name} is another container after an iteration of the loop at "
        f"{tracer.source}, which changes the one from before; use arrays, or new containers"
    )
    return UnsupportedError(msg)
