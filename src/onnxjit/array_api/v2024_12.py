# SPDX-License-Identifier: Apache-2.0
"""Revision 2024.12 of the namespace, where some functions return lists and not tuples."""

from __future__ import annotations

from typing import Any

from onnxjit import array_api as _newer

from . import _creation, _info, _manipulation

__all__ = _newer.__all__

__array_api_version__ = "2024.12"


def __getattr__(name: str) -> Any:
    """Look up in the newer revision what it has not changed."""
    return getattr(_newer, name)


def __dir__() -> list[str]:
    return list(__all__)


class Info(_info.Info):
    """Answers to the standard's questions about a namespace."""

    __slots__ = ()

    def devices(self) -> Any:
        """Return the devices, as a list."""
        return ["cpu"]


def __array_namespace_info__() -> Info:  # noqa: N807  the standard's name
    """Return the answers of this namespace."""
    return Info()


def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Return the coordinates of a grid as a list of arrays, one for each axis."""
    return list(_creation.meshgrid(*arrays, indexing=indexing))


def broadcast_arrays(*arrays: Any) -> Any:
    """Return arrays broadcast against each other, as a list."""
    return list(_manipulation.broadcast_arrays(*arrays))
