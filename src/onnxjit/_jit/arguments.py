# SPDX-License-Identifier: Apache-2.0
"""Arguments of one's own: copies that may be written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._eager.leaves import children, leaf_of, map_tree
from onnxjit._trace.array import ARRAY, Array
from onnxjit.errors import SpecError
from onnxjit.typing import ArraySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Arguments", "refuse_specs"]


def refuse_specs(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Say that specifications are for exports, if one is among the arguments of a call."""
    for x in (*args, *kwargs.values()):
        if isinstance(x, ArraySpec):
            msg = f"{x!r} is a specification, for to_onnx and save; a call takes arrays"
            raise SpecError(msg)


def _private_copy(x: Any, memo: dict[int, Any]) -> Any:
    """Return an argument as plain NumPy arrays of its own; equal objects stay one object."""

    def leaf(item: Any, _top: bool) -> Any:
        if isinstance(item, Array) and item._nd is not None:
            values = item._nd if item._kind == ARRAY else item._nd[()]
        elif isinstance(item, np.ndarray):
            values = item
        else:
            return item
        if id(item) not in memo:
            memo[id(item)] = values.copy(order="K")
        return memo[id(item)]

    return map_tree(x, leaf)


class Arguments:
    """Private copies of the arguments of a call."""

    __slots__ = ("args", "kwargs")

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        refuse_specs(args, kwargs)
        memo: dict[int, Any] = {}
        self.args: Final = tuple(_private_copy(x, memo) for x in args)
        self.kwargs: Final = {k: _private_copy(v, memo) for k, v in kwargs.items()}

    def run(self, fn: Callable[..., Any]) -> Any:
        """Call a function on them."""
        return fn(*self.args, **self.kwargs)

    @property
    def leaves(self) -> list[Any]:
        """Dynamic leaves, in the order of a model's inputs."""
        found: list[Any] = []
        for x in (*self.args, *self.kwargs.values()):
            _leaves(x, found)
        return found


def _leaves(x: Any, found: list[Any]) -> None:
    if leaf_of(x, "", top=False) is not None:
        found.append(x)
        return
    for _, item in children(x) or ():
        _leaves(item, found)
