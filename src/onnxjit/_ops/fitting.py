# SPDX-License-Identifier: Apache-2.0
"""Whether a value fits where it is put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnxjit._core.bind import running_trace
from onnxjit._core.dims import Dim, DimLike, broadcast_dim, hint_of, require_equal, same

from .structure import Shape, squeeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Value

__all__ = ["INPUT", "shape_text", "trim"]

INPUT: Final = "could not broadcast input array from shape {} into shape {}"


def shape_text(shape: Sequence[DimLike]) -> str:
    """Return a shape as NumPy's messages show it, with the sizes of the example."""
    sizes = [str(n if hint_of(n) is None else hint_of(n)) for n in shape]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"


def trim(value: Value, shape: Shape, message: str = INPUT) -> Value:
    """Check that a value broadcasts to a shape, and drop leading axes that are too many.

    Raises
    ------
    ValueError
        It does not broadcast.
    """
    env = running_trace().env
    extra = max(value.ndim - len(shape), 0)
    lead = len(shape) - value.ndim + extra
    if not all(require_equal(env, n, 1) for n in value.shape[:extra]) or not all(
        _fits(have, want) for have, want in zip(value.shape[extra:], shape[lead:], strict=True)
    ):
        raise ValueError(message.format(shape_text(value.shape), shape_text(shape)))
    return squeeze(value, range(extra))


def _fits(have: DimLike, want: DimLike) -> bool:
    env = running_trace().env
    if same(have, want) or same(have, 1):
        return True
    if env.policy == "assume" and isinstance(have, Dim):
        # Expand takes either, so that a model need not assume which of the two it is
        sizes = hint_of(have), hint_of(want)
        return None in sizes or sizes[0] in (1, sizes[1])
    try:
        joined = broadcast_dim(env, have, want)
    except ValueError:
        return False
    return require_equal(env, joined, want)
