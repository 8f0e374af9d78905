# SPDX-License-Identifier: Apache-2.0
"""Options of NumPy calls that change no value, checked as NumPy checks them."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["ORDERS", "check_device", "check_order", "layout_options"]

#: orders of memory
ORDERS: Final = tuple("CFAKcfak")
#: where NumPy's arrays are
_DEVICES: Final = (None, "cpu")


def check_order(order: Any) -> None:
    """Raise NumPy's exception for an order of memory that there is not."""
    if isinstance(order, str) and order not in ORDERS:
        msg = f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')"
        raise ValueError(msg)


def check_device(device: Any) -> None:
    """Raise NumPy's exception for a device that there is not."""
    if device not in _DEVICES:
        msg = f'Device not understood. Only "cpu" is allowed, but received: {device}'
        raise ValueError(msg)


def layout_options(subok: Any, order: Any) -> Any:
    """Return the order that results of a ufunc are to have, both options checked."""
    if not isinstance(subok, bool):
        msg = "'subok' must be a boolean"
        raise TypeError(msg)
    check_order(order)
    return order
