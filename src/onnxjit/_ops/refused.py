# SPDX-License-Identifier: Apache-2.0
"""NumPy callables without a row: served by NumPy's own source, or refused, and why."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BY_SOURCE", "REFUSED", "REFUSED_UFUNCS", "by_source", "qualified", "reason_of", "refusal",
]  # fmt: skip

#: functions that run through Python source, NumPy's own or that of `sources`, traced like
#: the user's code
BY_SOURCE: Final = frozenset({
    "numpy.allclose", "numpy.apply_along_axis", "numpy.apply_over_axes", "numpy.array_equal",
    "numpy.corrcoef", "numpy.cov", "numpy.einsum_path", "numpy.fft.fftshift",
    "numpy.fft.ifftshift", "numpy.fromfunction",
    "numpy.geomspace", "numpy.gradient", "numpy.histogram2d",
    "numpy.histogramdd", "numpy.i0", "numpy.intersect1d", "numpy.isclose",
    "numpy.linalg.matrix_power",
    "numpy.lib.scimath.arccos", "numpy.lib.scimath.arcsin", "numpy.lib.scimath.arctanh",
    "numpy.lib.scimath.log", "numpy.lib.scimath.log10", "numpy.lib.scimath.log2",
    "numpy.lib.scimath.logn", "numpy.lib.scimath.power", "numpy.lib.scimath.sqrt",
    "numpy.lib.stride_tricks.sliding_window_view", "numpy.packbits",
    "numpy.linalg.eig", "numpy.linalg.eigvals", "numpy.linalg.matrix_transpose",
    "numpy.piecewise", "numpy.poly", "numpy.polyadd", "numpy.polyder", "numpy.polydiv",
    "numpy.polyfit", "numpy.polyint", "numpy.polymul", "numpy.polysub", "numpy.polyval",
    "numpy.real_if_close", "numpy.require", "numpy.roots", "numpy.setdiff1d",
    "numpy.setxor1d", "numpy.trim_zeros", "numpy.union1d",
    "numpy.unpackbits", "numpy.unwrap",
    "numpy.vander",
})  # fmt: skip

#: reason -> module -> names
_REASONS: Final = {
    "its steps depend on array data": {
        "numpy": "min_scalar_type",
    },
    "arrays of a graph have no place in memory": {
        "numpy": "may_share_memory shares_memory",
    },
    "it makes text of values that only a run of the model knows": {
        "numpy": "array2string array_repr array_str",
    },
    "a graph reads and writes no files or buffers": {
        "numpy": (
            "frombuffer fromfile fromiter fromstring genfromtxt loadtxt save savetxt savez "
            "savez_compressed"
        ),
    },
    "dates are not carried": {
        "numpy": "busday_count busday_offset datetime_as_string is_busday",
    },
    "structured arrays are not carried": {
        "numpy.lib.recfunctions": (
            "append_fields apply_along_fields assign_fields_by_name drop_fields "
            "find_duplicates join_by merge_arrays rec_append_fields rec_drop_fields rec_join "
            "recursive_fill_fields rename_fields repack_fields require_fields stack_arrays "
            "structured_to_unstructured unstructured_to_structured"
        ),
    },
}

#: qualified name of a refused function -> why
REFUSED: Final[dict[str, str]] = {
    f"{module}.{name}": reason
    for reason, modules in _REASONS.items()
    for module, names in modules.items()
    for name in names.split()
}

_TEXT_UFUNCS: Final = (
    "_center _expandtabs _expandtabs_length _ljust _lstrip_chars _lstrip_whitespace "
    "_partition _partition_index _replace _rjust _rpartition _rpartition_index _rstrip_chars "
    "_rstrip_whitespace _slice _strip_chars _strip_whitespace _zfill count endswith find "
    "index isalnum isalpha isdecimal isdigit islower isnumeric isspace istitle isupper rfind "
    "rindex startswith str_len"
)
#: name of a refused ufunc -> why
REFUSED_UFUNCS: Final[dict[str, str]] = {
    "_ones_like": "np.ones_like is the function",
    "isnat": "dates are not carried",
    **dict.fromkeys(_TEXT_UFUNCS.split(), "text is not computed with"),
}


def by_source() -> list[Callable[..., Any]]:
    """Return the functions that run through Python source, and take arrays of other kinds."""
    found = [operator.attrgetter(name.partition(".")[2])(np) for name in sorted(BY_SOURCE)]
    return [f for f in found if hasattr(f, "_implementation")]


def qualified(func: Callable[..., Any]) -> str:
    """Return module and name of a NumPy function."""
    return f"{getattr(func, '__module__', '')}.{getattr(func, '__name__', func)}"


def reason_of(func: Callable[..., Any]) -> str | None:
    """Return why a function or ufunc is refused, None if it is not."""
    if isinstance(func, np.ufunc):
        return REFUSED_UFUNCS.get(func.__name__)
    return REFUSED.get(qualified(func))


def refusal(func: Callable[..., Any]) -> UnsupportedError:
    """Return the exception for a function or ufunc that a graph cannot hold."""
    name = f"the ufunc {func.__name__}" if isinstance(func, np.ufunc) else qualified(func)
    reason = reason_of(func)
    why = f": {reason}" if reason else ""
    way_out = "call it outside of the jitted function"
    return UnsupportedError(f"{name} is not carried by onnxjit inside a trace{why}; {way_out}")
