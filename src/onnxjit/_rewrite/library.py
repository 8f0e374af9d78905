# SPDX-License-Identifier: Apache-2.0
"""Functions of Python's library whose C form sees no traced values: their Python form runs.

The library keeps both, and takes C's where there is one. C code looks into the memory of a
list and asks for the truth of each comparison; the Python form is traced like the user's code.
"""

from __future__ import annotations

import bisect
import builtins
import functools
import heapq
import inspect
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

__all__ = ["IN_PYTHON", "in_python", "looks_at_values"]

#: what the names of the modules in their Python form start with
IN_PYTHON: Final = "onnxjit.in_python."

_MODULES: Final = {"_heapq": heapq, "_bisect": bisect}


def in_python(f: object) -> FunctionType | None:
    """Return the Python form of a function, None for what needs none."""
    if not isinstance(f, (FunctionType, BuiltinFunctionType)):
        return None
    accelerator = getattr(f, "__module__", None)
    module = _MODULES.get(accelerator)  # type: ignore[arg-type]  # any name, or None
    name = getattr(f, "__name__", "")
    if module is None:
        name, module = _PYTHON.get(id(f), ("", None))
        accelerator = f"_{module.__name__}" if module is not None else None
    if module is None or accelerator is None:
        return None
    found = vars(_without(module, accelerator)).get(name)
    return found if isinstance(found, FunctionType) else None


#: functions of the modules that have no C form, and call those that do
_PYTHON: Final = {
    id(f): (name, module)
    for module in _MODULES.values()
    for name, f in vars(module).items()
    if isinstance(f, FunctionType) and f.__module__ == module.__name__
}


@functools.cache
def _without(module: ModuleType, accelerator: str) -> ModuleType:
    """Run the source of a module as Python does where its C form is missing."""

    def import_(name: str, *args: Any) -> Any:
        if name == accelerator:
            raise ImportError(name)
        return builtins.__import__(name, *args)

    new = ModuleType(f"{IN_PYTHON}{module.__name__}")
    new.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
    try:
        text = inspect.getsource(module)
    except OSError:
        return new  # Python without its sources
    file = inspect.getsourcefile(module) or module.__name__
    exec(compile(text, file, "exec", dont_inherit=True), new.__dict__)
    new.__dict__["__builtins__"] = builtins
    return new


#: modules that take numbers apart, or read memory, where they stand for texts and bytes
_LOOKING: Final = frozenset({
    "base64", "binascii", "blake2", "bz2", "csv", "datetime", "decimal", "fractions", "gzip",
    "hashlib", "hmac", "json", "lzma", "marshal", "md5", "pickle", "pprint", "sha1", "sha2",
    "sha3", "statistics", "struct", "zlib",
})  # fmt: skip
_BYTES: Final = frozenset({bytes, bytearray, memoryview})


def looks_at_values(f: Any) -> str:
    """Return the name of a callable of Python's library that looks at values, else nothing."""
    if type(f) is type and f in _BYTES:
        return str(f.__name__)
    owner = getattr(f, "__self__", None)
    is_bound = owner is not None and not isinstance(owner, (ModuleType, type))
    module = getattr(type(owner) if is_bound else f, "__module__", None)
    if not isinstance(module, str):
        return ""
    root = module.partition(".")[0].lstrip("_")
    return f"{root}.{getattr(f, '__name__', '')}" if root in _LOOKING else ""
