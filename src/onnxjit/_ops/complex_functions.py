# SPDX-License-Identifier: Apache-2.0
"""Parts and angles of complex numbers, and of real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnxjit._core.bind import as_value

from . import elementwise as ew
from .cast import cast
from .complex_parts import imag_part, is_complex, real_part
from .convert import as_array
from .part_views import PartView
from .row import Function, Ufunc, function
from .samples import call, calls, vectors, within
from .structure import broadcast_to
from .ufunc import filled
from .views import ReshapeView

if TYPE_CHECKING:
    from onnxjit._core.program import Value

    from .view import View

__all__ = ["ROWS"]

ROWS: list[Function | Ufunc] = []


@function(ROWS, np.isreal, scalar=True, samples=vectors())
def isreal(x: Any) -> Value:
    """Return where values have no imaginary part: everywhere, for real ones."""
    value = as_array(x)
    if is_complex(value):
        return ew.equal(imag_part(value), 0)  # type: ignore[no-any-return]
    return filled(value, answer=True)


@function(ROWS, np.iscomplex, scalar=True, samples=vectors())
def iscomplex(x: Any) -> Value:
    """Return where values have an imaginary part: nowhere, for real ones."""
    value = as_array(x)
    if is_complex(value):
        return ew.not_equal(imag_part(value), 0)  # type: ignore[no-any-return]
    return filled(value, answer=False)


@function(
    ROWS, np.angle, scalar=True, ulp=within(2),
    samples=calls(lambda m: [
        call(m.special(9)), call(m(3, 4), deg=True), call(m.scalar(1)), call(m()),
    ]),
)  # fmt: skip
def angle(z: Any, deg: bool = False) -> Value:
    """Return the angle of numbers: 0 or pi for real ones.

    Parameters
    ----------
    z : (...) array
        Numbers.
    deg : bool
        Degrees instead of radians.
    """
    value = as_array(z)
    im = imag_part(value) if is_complex(value) else 0
    made: Value = ew.arctan2(im, real_part(value))
    return cast(ew.multiply(made, 180 / np.pi), made.dtype) if deg else made


@function(ROWS, np.real, view=True, api="real", samples=vectors())
def real(val: Any) -> View:
    """Return the real part (a view): all of it, for real values."""
    value = as_array(val)
    return PartView(0) if is_complex(value) else ReshapeView(value.shape)


@function(ROWS, np.imag, view=True, api="imag", samples=vectors())
def imag(val: Any) -> Value | View:
    """Return the imaginary part (a view): zeros, for real values."""
    value = as_array(val)
    if is_complex(value):
        return PartView(1)
    return broadcast_to(cast(as_value(0), value.dtype), value.shape)
