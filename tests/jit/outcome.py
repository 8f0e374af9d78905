# SPDX-License-Identifier: Apache-2.0
"""What a call of a random program did, and how that is compared with NumPy's."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.jit.program_calls import Call

__all__ = [
    "UNDEFINED", "Outcome", "differences", "memory_differences", "outcome", "same_values",
]  # fmt: skip

Array = np.ndarray[Any, Any]
#: warnings of NumPy after which a result is not defined
UNDEFINED: Final = "invalid value encountered in cast"
#: exception for such a value where it is a scalar, which no graph can raise
UNCHECKED: Final = "cannot convert float"


class Outcome:
    """What a call did: result or exception, and its arguments afterwards."""

    __slots__ = ("args", "bases", "error", "result")

    def __init__(
        self, args: list[Any], bases: list[Any], result: Any, error: Exception | None
    ) -> None:
        self.args: Final = args
        self.bases: Final = bases
        self.result: Final = result
        self.error: Final = error


def outcome(function: Callable[..., Any], call: Call) -> Outcome | None:
    """Call a function on fresh arguments; None where NumPy does not define the result."""
    args, bases = call.make()
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            result, error = function(*args), None
        except Exception as e:  # noqa: BLE001  compared with NumPy's
            result, error = None, e
    if any(UNDEFINED in str(w.message) for w in caught) or UNCHECKED in str(error):
        return None
    return Outcome(args, bases, result, error)


def differences(got: Outcome, want: Outcome, *, signs: bool = True) -> list[str]:
    """Return how the outcome of a call differs from NumPy's; nothing where it does not.

    Parameters
    ----------
    got, want : Outcome
        Of the jitted function and the plain one.
    signs : bool
        Whether 0.0 differs from -0.0.

    Notes
    -----
    After an exception the arguments are not compared: NumPy may have written some of them.
    """
    if want.error is not None or got.error is not None:
        if want.error is not None and isinstance(got.error, type(want.error)):
            return []
        return [f"raised {got.error!r} for {want.error!r}"]
    found = list(_compare("result", got.result, want.result, signs=signs))
    for i, (g, w) in enumerate(zip(got.bases, want.bases, strict=True)):
        found += _compare(f"argument base {i}", g, w, signs=signs)
    return found or list(_identities(got, want))


def memory_differences(
    got: Any, want: Any, given: list[Any], given_plain: list[Any]
) -> list[str]:
    """Return how results lie otherwise in memory than NumPy's, or look at other arrays.

    Parameters
    ----------
    got, want : object
        Results, with arrays in tuples and lists; eager ones may be among those of `got`.
    given, given_plain : list
        Arguments of the two calls.
    """
    pairs = list(zip(_leaves(got), _leaves(want), strict=True))
    found: list[str] = []
    for i, (g, w) in enumerate((g, w) for g, w in pairs if isinstance(w, np.ndarray)):
        array = np.asarray(g)
        if (told := _how_it_lies(array)) != (meant := _how_it_lies(w)):
            found.append(f"array {i} lies {told} for {meant}")
        for k, (a, b) in enumerate(zip(given, given_plain, strict=True)):
            if not isinstance(b, np.ndarray):
                continue
            behind = np.asarray(a)
            is_it, looks = (g is a or g is behind, np.shares_memory(array, behind))
            if (is_it, looks) != (w is b, np.shares_memory(w, b)):
                found.append(f"array {i} is argument {k}: {is_it}, looks at it: {looks}")
    return found


def _how_it_lies(x: Array) -> tuple[Any, ...]:
    """Return what NumPy defines: no strides where there is no step."""
    steps = [s for n, s in zip(x.shape, x.strides, strict=True) if n > 1] if x.size else []
    flags = x.flags
    with warnings.catch_warnings():
        # those of np.broadcast_arrays warn
        warnings.simplefilter("ignore", FutureWarning)
        writeable = flags.writeable
    return x.shape, steps, flags.c_contiguous, flags.f_contiguous, writeable


def _leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from _leaves(item)
    else:
        yield x


def _identities(got: Outcome, want: Outcome) -> Iterator[str]:
    """Compare which results are arguments, and which are one object.

    Those without elements are left alone: nothing tells a view of them from a copy.
    """
    pairs = list(zip(_leaves(got.result), _leaves(want.result), strict=True))
    arrays = [(g, w) for g, w in pairs if isinstance(w, np.ndarray) and w.size]
    for i, (g, w) in enumerate(arrays):
        for k, (a, b) in enumerate(zip(got.args, want.args, strict=True)):
            if (g is a) != (w is b):
                yield f"array {i} of the result is {'' if g is a else 'not '}argument {k}"
        for k, (a, b) in enumerate(arrays[:i]):
            if (g is a) != (w is b):
                yield f"arrays {k} and {i} of the result are {'' if g is a else 'not '}one"


def _compare(where: str, got: Any, want: Any, *, signs: bool) -> Iterator[str]:
    if type(got) is not type(want):
        yield f"{where}: {type(got).__name__} {got!r} for {type(want).__name__} {want!r}"
    elif isinstance(want, (tuple, list)):
        if len(got) != len(want):
            yield f"{where}: {len(got)} items for {len(want)}"
            return
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            yield from _compare(f"{where}[{i}]", g, w, signs=signs)
    elif isinstance(want, (np.ndarray, np.generic)):
        yield from _compare_arrays(where, np.asarray(got), np.asarray(want), signs=signs)
    elif got != want:
        yield f"{where}: {got!r} for {want!r}"


def _compare_arrays(where: str, got: Array, want: Array, *, signs: bool) -> Iterator[str]:
    if got.dtype != want.dtype or got.shape != want.shape:
        yield f"{where}: {got.dtype}{got.shape} for {want.dtype}{want.shape}"
    elif not same_values(got, want, signs=signs):
        yield f"{where}:\n{got!r}\nfor\n{want!r}"


def same_values(got: Array, want: Array, *, signs: bool = True) -> bool:
    """Whether elements are equal: NaN to NaN, -0.0 to -0.0, rounding of sums let pass."""
    if want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want))
    with np.errstate(all="ignore"):
        equal = (got == want) | (np.isnan(got) & np.isnan(want))
        zeros = (got == 0) & (want == 0)
        alike = ~zeros | (np.signbit(got) == np.signbit(want)) if signs else True
        finite = np.isfinite(want)
        largest = np.abs(want[finite]).max(initial=0)
        near = finite & (np.abs(got - want) <= 8 * np.finfo(want.dtype).eps * largest)
    return bool(np.all((equal & alike) | (near & ~equal)))
