# SPDX-License-Identifier: Apache-2.0
"""Whose code a function is: the user's, or a library's."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from onnxjit._rewrite.library import IN_PYTHON

if TYPE_CHECKING:
    from types import FunctionType

#: functions of `functools` that ask for the type or the truth of what they are given
_SEEN = frozenset(
    {
        "singledispatch.<locals>.wrapper",
        "singledispatchmethod.__get__.<locals>._method",
        "_singledispatchmethod_get.__call__",
        *(
            f"_{a}_from_{b}"
            for a in ("lt", "le", "gt", "ge")
            for b in ("lt", "le", "gt", "ge")
        ),
    }
)
_OWN_FOLDER = str(Path(__file__).resolve().parents[1])


def is_user_function(fn: FunctionType, packages: tuple[str, ...]) -> bool:
    """Whether `fn` belongs to one of `packages`, or lies outside the library folders."""
    module = fn.__globals__.get("__name__")
    if isinstance(module, str) and (
        in_packages(module, packages) or module.startswith(IN_PYTHON)
    ):
        return True
    if module == "functools":
        return fn.__code__.co_qualname in _SEEN
    filename = fn.__code__.co_filename
    if filename.startswith("<") and isinstance(module, str):
        return not is_library_module(module, packages)
    return not is_library_file(filename)


def in_packages(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == p or module.startswith(f"{p}.") for p in packages)


def is_library_module(name: str, packages: tuple[str, ...]) -> bool:
    """Whether the module `name` comes with Python or was installed into it."""
    if in_packages(name, packages):
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    if isinstance(file, str):
        return is_library_file(file)
    top = name.partition(".")[0]
    return top == "builtins" or (top in sys.stdlib_module_names and top != "__main__")


@cache
def is_library_file(filename: str) -> bool:
    if filename.startswith("<frozen"):
        return True
    if filename.startswith("<"):
        return False
    path = str(Path(filename).resolve())
    return any(path.startswith(folder) for folder in _library_folders())


@cache
def _library_folders() -> tuple[str, ...]:
    # at first use: reading the installation's paths is slow
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), _OWN_FOLDER}
    resolved = {str(Path(folder).resolve()) for folder in folders}
    return tuple(sorted(folder.rstrip(os.sep) + os.sep for folder in resolved))
