# SPDX-License-Identifier: Apache-2.0
"""The rows of the op table: a NumPy function or ufunc and what it means on values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeVar

import numpy as np

__all__ = ["NO_VALUE", "Function", "Sample", "Ufunc", "function"]

#: NumPy's mark of an argument that was not passed
NO_VALUE: Final = np._NoValue

F = TypeVar("F", bound=Callable[..., Any])


class Sample:
    """Arguments of one call that tests make of a row."""

    __slots__ = ("args", "id", "kwargs")

    def __init__(self, *args: Any, id: str = "", **kwargs: Any) -> None:
        self.args: Final = args
        self.kwargs: Final = kwargs
        self.id: Final = id

    def __repr__(self) -> str:
        return f"Sample({self.id})"


Samples = Callable[[], Iterable[Sample]]
Floor = float | Literal["operands"]


class Function:
    """A row for a NumPy function.

    Parameters
    ----------
    numpy : callable
        The NumPy function: key, reference and signature.
    implementation : callable
        What it does on values.  It is called by keyword, with traced arrays as `Value`, sizes
        as `Dim` and everything else as given; ``out`` is never passed (the caller writes
        the result).  It returns values, sizes, Python objects, or tuples and lists of them.
    omits : tuple of str
        Parameters that are refused when given a value other than their default.
    scalar : bool or "argument"
        A 0-d result is a NumPy scalar (ufuncs, reductions), not a 0-d array; with
        ``"argument"`` where the first argument is one.
    view : bool
        `implementation` returns a `View` of its first argument (or a list of them).
    writes : str or None
        Name of the argument that is changed in place; `implementation` returns its new value.
    copies : str or None
        Name of an option: given as false, the first argument is changed in place and returned.
    api : str or None
        Name in the array API standard.
    aliases : tuple
        NumPy callables that are the same function under another object.
    samples : callable, optional
        Returns the calls that tests make.
    ulp : dict of str to float, optional
        Largest accepted error by dtype name, in units in the last place; exact when missing.
    floor : float or "operands"
        The units are those of this number at least, of the largest finite number among the
        arguments with ``"operands"``: smaller results are what cancellation leaves.
    ties : bool
        Which of 0.0 and -0.0 a result is, is fixed neither here nor in NumPy.
    unordered : bool
        So is the order of the results' elements.
    """

    __slots__ = (
        "aliases", "api", "copies", "floor", "implementation", "numpy", "omits", "samples",
        "scalar", "ties", "ulp", "unordered", "view", "writes",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  a record of keyword facts
        self,
        numpy: Callable[..., Any],
        implementation: Callable[..., Any],
        *,
        omits: tuple[str, ...] = (),
        scalar: bool | Literal["argument"] = False,
        view: bool = False,
        writes: str | None = None,
        copies: str | None = None,
        api: str | None = None,
        aliases: tuple[Callable[..., Any], ...] = (),
        samples: Samples | None = None,
        ulp: dict[str, float] | None = None,
        floor: Floor = "operands",
        ties: bool = False,
        unordered: bool = False,
    ) -> None:
        self.numpy: Final = numpy
        self.implementation: Final = implementation
        self.omits: Final = omits
        self.scalar: Final[bool | Literal["argument"]] = scalar
        self.view: Final = view
        self.writes: Final = writes
        self.copies: Final = copies
        self.api: Final = api
        self.aliases: Final = aliases
        self.samples: Final = samples
        self.ulp: Final = ulp or {}
        self.floor: Final[Floor] = floor
        self.ties: Final = ties
        self.unordered: Final = unordered

    def __repr__(self) -> str:
        return f"Function({getattr(self.numpy, '__name__', self.numpy)})"


class Ufunc:
    """A row for a NumPy ufunc.

    Parameters
    ----------
    numpy : numpy.ufunc
        Key, reference, and (through ``resolve_dtypes``) the promotion rule.
    implementation : callable
        Called with values already cast to the loop's input dtypes, in order, not broadcast;
        returns one value, or a tuple for several outputs, of the loop's output dtypes.
        Loops over complex numbers are added by `complex_base.loop`.
    reduce, accumulate : callable, optional
        ``reduce(value, axes, keepdims)`` and ``accumulate(value, axis)`` where ONNX has
        something better than a loop.  The value is already of the reduction's dtype.
    samples, ulp, floor, ties
        As in `Function`.

    Attributes
    ----------
    on_complex : (float, float) or None
        What `ulp` and `floor` are for complex operands; None where NumPy takes none.
    """

    __slots__ = (
        "accumulate", "api", "floor", "identity", "implementation", "numpy", "on_complex",
        "reduce", "samples",
        "ties", "ulp",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  a record of keyword facts
        self,
        numpy: np.ufunc,
        implementation: Callable[..., Any],
        *,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        api: str | None = None,
        samples: Samples | None = None,
        ulp: dict[str, float] | None = None,
        floor: Floor = 0.0,
        ties: bool = False,
    ) -> None:
        self.numpy: Final = numpy
        self.implementation = implementation
        self.on_complex: tuple[float, float] | None = None
        self.reduce: Final = reduce
        self.accumulate: Final = accumulate
        self.identity: Final = numpy.identity
        self.api: Final = api
        self.samples: Final = samples
        self.ulp: Final = ulp or {}
        self.floor: Final[Floor] = floor
        self.ties: Final = ties

    def __repr__(self) -> str:
        return f"Ufunc({self.numpy.__name__})"


def function(
    rows: list[Function | Ufunc], numpy: Callable[..., Any], **facts: Any
) -> Callable[[F], F]:
    """Add the decorated implementation to `rows` as the row of a NumPy function."""

    def add(implementation: F) -> F:
        rows.append(Function(numpy, implementation, **facts))
        return implementation

    return add
