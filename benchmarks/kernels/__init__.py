# SPDX-License-Identifier: Apache-2.0
"""What is measured, one file per question; `KERNELS` lists everything by name."""

from __future__ import annotations

from . import (
    calls,
    compilation,
    eager,
    factorisations,
    fft,
    hand_loops,
    imports,
    linalg,
    loops,
    products,
    ufuncs,
)
from .base import Kernel, Result

__all__ = ["KERNELS", "Kernel", "Result"]

KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for family in (
        calls,
        eager,
        compilation,
        imports,
        products,
        linalg,
        factorisations,
        loops,
        hand_loops,
        fft,
        ufuncs,
    )
    for kernel in family.KERNELS
}
