# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as classes.

OnnxJitError
 +-- DataDependentError (TypeError)      a plain Python value was asked of traced data
 +-- SideEffectError                     the function changes an object older than its trace
 +-- LeakError                           a traced array was used after its trace had ended
 +-- AliasError                          which array a write goes to depends on data
 +-- UnsupportedError (TypeError)        a NumPy feature or a kind of object is not carried
 +-- OpsetError (ValueError)             the opset asked for cannot express an operation
 +-- LoweringError (NotImplementedError) no ONNX form for an operation with these dtypes
 +-- RankError (ValueError)              the number of dimensions of a result depends on data
 +-- SpecError (ValueError)              an input specification or an option is malformed
 +-- InternalError (RuntimeError)        onnxjit built what onnxruntime refuses: a bug here

Warnings: FallbackWarning (a call went on eagerly), AssumptionWarning (an exported model
holds only under the assumptions listed).  Each has an entry in ``docs/errors.md``.
"""

from __future__ import annotations

__all__ = [
    "AliasError",
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
]

_DOCS = "docs/errors.md"


class OnnxJitError(Exception):
    """Base of every error that onnxjit raises itself."""

    def __str__(self) -> str:
        return f"{super().__str__()} [{_DOCS}#{type(self).__name__.lower()}]"


class DataDependentError(OnnxJitError, TypeError):
    """A plain Python value was asked of data that is known only when the model runs."""


class SideEffectError(OnnxJitError):
    """The traced function changes an object that existed before the trace."""


class LeakError(OnnxJitError):
    """A traced array was used outside the trace that made it."""


class AliasError(OnnxJitError):
    """Which array a write goes to depends on data or on the memory overlap of arguments."""


class UnsupportedError(OnnxJitError, TypeError):
    """A NumPy function, parameter, dtype or kind of object that onnxjit does not carry."""


class OpsetError(OnnxJitError, ValueError):
    """The opset asked for is out of range or cannot express an operation."""


class LoweringError(OnnxJitError, NotImplementedError):
    """There is no ONNX form for an operation with these dtypes."""


class RankError(OnnxJitError, ValueError):
    """The number of dimensions of a result depends on data."""


class SpecError(OnnxJitError, ValueError):
    """An input specification or an option is malformed."""


class InternalError(OnnxJitError, RuntimeError):
    """A model built here does not load or run: please report it with the file it names."""


class FallbackWarning(UserWarning):
    """A call could not be one graph and went on eagerly: right results, slower."""


class AssumptionWarning(UserWarning):
    """An exported model is right only where the listed assumptions hold."""
