# SPDX-License-Identifier: Apache-2.0
"""Run plain NumPy code as ONNX.

`jit_onnx` makes a NumPy function run on onnxruntime and export itself as an ONNX model;
`asarray` and `eager_onnx` run NumPy code operation by operation; `cond`, `switch`,
`while_loop`, `fori_loop`, `scan` and `map` are branches and loops as functions.
"""

from ._jit.eager import asarray, eager_onnx
from ._jit.function import jit_onnx
from ._trace.array import Array
from ._trace.control.forms import cond, fori_loop, switch, while_loop
from ._trace.control.scans import map_ as map
from ._trace.control.scans import scan
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


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: the metadata reader is slow to import."""
    if name != "__version__":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onnxjit")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0.0.0"
