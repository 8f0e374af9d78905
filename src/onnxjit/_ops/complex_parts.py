# SPDX-License-Identifier: Apache-2.0
"""Complex numbers and their parts.

Programs hold complex values; a pass splits each into two real ones before lowering.  What is
left then stands at the boundary of a model, where a complex array is an array of its parts
with one axis more, of length 2: `real_part` and `imag_part` of inputs, `make_complex` of
results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind_one, running_trace
from onnxjit._core.dtypes import PART, WHOLE
from onnxjit._core.op import Emit, Handle, Op

from .elementwise_base import joined_shape
from .structure import broadcast_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Equation, Value

__all__ = [
    "IMAG", "MAKE", "PAIRS", "PLANES", "REAL", "conjugate", "imag_part", "is_complex",
    "make_complex", "pairs_of", "real_part", "zeros_of",
]  # fmt: skip

Array = np.ndarray[Any, Any]


def _made(re: Tensor, *_: Tensor) -> Tensor:
    return Tensor(WHOLE[re.dtype], re.shape)


def _part(z: Tensor) -> Tensor:
    return Tensor(PART[z.dtype], z.shape)


def join(re: Array, im: Array, *_: Array) -> Array:
    """Return the complex array of two real ones; adding them would lose signs of zeros."""
    z = np.empty(re.shape, np.result_type(re, np.complex64))
    z.real, z.imag = re, im
    return z


def _lower_make(
    e: Emit, equation: Equation, re: Handle, im: Handle, pairs: Handle | None = None
) -> Handle:
    if pairs is not None:
        return Handle(pairs.name, equation.outputs[0].dtype)
    last = e.const(np.array([-1], np.int64))
    parts = [e.op("Unsqueeze", x, last) for x in (re, im)]
    return Handle(e.op("Concat", *parts, axis=-1).name, equation.outputs[0].dtype)


def _lower_planes(e: Emit, equation: Equation, z: Handle) -> Handle:
    parts, rank = Handle(z.name, PART[z.dtype]), equation.inputs[0].ndim
    return e.op("Transpose", parts, perm=[rank, *range(rank)]) if rank else parts


def _lower_part(place: int) -> Callable[..., Handle]:
    def lower(e: Emit, equation: Equation, z: Handle) -> Handle:
        planes = _lower_planes(e, equation, z)
        return e.op("Gather", planes, e.const(np.int64(place)), axis=0)

    return lower


def _lower_pairs(_e: Emit, _equation: Equation, z: Handle) -> Handle:
    return Handle(z.name, PART[z.dtype])


MAKE: Final = Op(
    "make_complex", result=_made, lower={13: _lower_make}, evaluate=join, parts="own"
)
REAL: Final = Op(
    "real_part", result=_part, lower={13: _lower_part(0)}, evaluate=np.real, parts="own"
)
IMAG: Final = Op(
    "imag_part", result=_part, lower={13: _lower_part(1)}, evaluate=np.imag, parts="own"
)
#: the parts of an input along a first axis: onnxruntime takes every second element of a last
#: axis 2 to 4 times more slowly than it moves the axis
PLANES: Final = Op(
    "planes_of",
    result=lambda z: Tensor(PART[z.dtype], (2, *z.shape)),
    lower={13: _lower_planes},
    parts="own",
)
#: the parts of an input along a last axis of length 2, which is how a model has it
PAIRS: Final = Op(
    "pairs_of",
    result=lambda z: Tensor(PART[z.dtype], (*z.shape, 2)),
    lower={13: _lower_pairs},
    parts="own",
)


def is_complex(z: Value) -> bool:
    """Whether a value is of a complex dtype."""
    return z.dtype.kind == "c"


def pairs_of(z: Value) -> Value | None:
    """Return the parts of an input along a last axis of length 2; None for other values."""
    is_input = z.equation is None and z.known is None and z.block is z.block.trace.root
    return bind_one(PAIRS, z) if is_input else None


def make_complex(re: Value, im: Value, pairs: Value | None = None) -> Value:
    """Return complex numbers of their parts.

    Parameters
    ----------
    re, im : (...) float32 or float64
        Of one dtype; they are broadcast against each other.
    pairs : (..., 2) value, optional
        The same parts along a last axis, where that is had for less than putting them there:
        the result of a model is then this.

    Returns
    -------
    (...) complex64 or complex128
    """
    if pairs is not None:
        return bind_one(MAKE, re, im, pairs)
    shape = joined_shape(re.shape, im.shape)
    return bind_one(MAKE, broadcast_to(re, shape), broadcast_to(im, shape))


def zeros_of(x: Value) -> Value:
    """Return zeros of the shape and dtype of a value."""
    zero = running_trace((x,)).constant(np.zeros((), x.dtype.numpy))
    return broadcast_to(zero, x.shape)


def real_part(z: Value) -> Value:
    """Return the real part: a real value itself."""
    if not is_complex(z):
        return z
    made = z.equation
    return made.inputs[0] if made is not None and made.op is MAKE else bind_one(REAL, z)


def imag_part(z: Value) -> Value:
    """Return the imaginary part: zeros of the same dtype for a real value."""
    if not is_complex(z):
        return zeros_of(z)
    made = z.equation
    return made.inputs[1] if made is not None and made.op is MAKE else bind_one(IMAG, z)


def conjugate(z: Value) -> Value:
    """Return the complex conjugate: a real value itself."""
    if not is_complex(z):
        return z
    from .elementwise_arithmetic import NEGATIVE

    return make_complex(real_part(z), NEGATIVE.implementation(imag_part(z)))
