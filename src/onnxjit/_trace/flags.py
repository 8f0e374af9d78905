# SPDX-License-Identifier: Apache-2.0
"""``x.flags`` of a traced array: whether it may be written to, which needs no values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .array import Array

__all__ = ["Flags"]


class Flags:
    """NumPy's flags of an array in a trace; those of its memory are known only to a run."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array: Final = array

    @property
    def writeable(self) -> bool:
        """Whether the array may be written to."""
        storage = self._array._storage
        if storage.argument is not None:
            storage.argument.asked = True
        return not storage.read_only and all(view.writable for view in self._array._views)

    @writeable.setter
    def writeable(self, value: bool) -> None:
        self._array.setflags(write=value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array._plain(f".flags.{name}").flags, name)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name.lower())
