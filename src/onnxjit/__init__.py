# SPDX-License-Identifier: Apache-2.0
"""Run plain NumPy code as ONNX.

`jit_onnx` makes a NumPy function run on onnxruntime and export itself as an ONNX model;
`asarray` and `eager_onnx` run NumPy code operation by operation; `cond`, `switch`,
`while_loop`, `fori_loop`, `scan` and `map` are branches and loops as functions.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._jit.eager import asarray, eager_onnx
from ._jit.function import jit_onnx
from ._trace.array import Array
from ._trace.doors import DOORS
from .errors import (
    AliasError,
    AssumptionWarning,
    DataDependentError,
    FallbackWarning,
    InternalError,
    LeakError,
    LoweringError,
    OnnxJitError,
    OpsetError,
    RankError,
    SideEffectError,
    SpecError,
    UnsupportedError,
)
from .typing import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

if TYPE_CHECKING:
    from ._trace.control.forms import cond, fori_loop, switch, while_loop
    from ._trace.control.scans import map_ as map
    from ._trace.control.scans import scan

__all__ = [
    "AliasError",
    "Array",
    "AssumptionWarning",
    "DataDependentError",
    "FallbackWarning",
    "InternalError",
    "LeakError",
    "LoweringError",
    "OnnxJitError",
    "OpsetError",
    "RankError",
    "SideEffectError",
    "SpecError",
    "UnsupportedError",
    "__version__",
    "asarray",
    "bool_",
    "complex64",
    "complex128",
    "cond",
    "eager_onnx",
    "float16",
    "float32",
    "float64",
    "fori_loop",
    "int8",
    "int16",
    "int32",
    "int64",
    "jit_onnx",
    "map",
    "scan",
    "switch",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "while_loop",
]


def _namespace(api_version: str | None) -> ModuleType:
    """Return the namespace of a revision, imported at first use: it needs the whole table."""
    name = _REVISIONS.get(api_version)
    if name is None:
        known = ", ".join(str(each) for each in _REVISIONS if each is not None)
        msg = f"there is no revision {api_version!r} of the array API standard here: {known}"
        raise ValueError(msg)
    return importlib.import_module(f"{__name__}.{name}")


#: revision of the array API standard -> module
_REVISIONS = {
    None: "array_api",
    "2025.12": "array_api",
    "2024.12": "array_api.v2024_12",
}
DOORS.namespace = _namespace


#: branches and loops as functions -> the module and the name there
_FORMS = {
    **{name: ("forms", name) for name in ("cond", "fori_loop", "switch", "while_loop")},
    "map": ("scans", "map_"),
    "scan": ("scans", "scan"),
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "array_api"})


def __getattr__(name: str) -> Any:
    """Look up what is imported when it is asked for, and the version."""
    if name == "array_api":
        return importlib.import_module(f"{__name__}.array_api")
    if name in _FORMS:
        module, inner = _FORMS[name]
        made = getattr(importlib.import_module(f"{__name__}._trace.control.{module}"), inner)
        globals()[name] = made
        return made
    if name != "__version__":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onnxjit")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0.0.0"
