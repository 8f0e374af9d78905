# SPDX-License-Identifier: Apache-2.0
"""Write `src/onnxjit/_lower/kernel_table.py`: which dtypes onnxruntime's CPU kernels take.

    python tools/probe_kernels.py [--check]

Reads the registry and the schemas that the onnxruntime wheel carries; `--check` only says
whether the file is up to date.  A node finds its kernel by the schema version in force, so a
kernel with an open version range serves that one schema version only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import onnxruntime
from onnx import defs
from onnxruntime.capi import onnxruntime_pybind11_state as state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TARGET: Final = Path(__file__).parents[1] / "src/onnxjit/_lower/kernel_table.py"
OPEN: Final = 2**31 - 1
OLDEST: Final = 13
#: ONNX's type names and NumPy's one-letter codes of what a program carries
CODES: Final = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "l", "uint8": "B",
    "uint16": "H", "uint32": "I", "uint64": "L", "float16": "e", "float": "f", "double": "d",
    "string": "U",
}  # fmt: skip
HEAD: Final = '''# SPDX-License-Identifier: Apache-2.0
"""Dtypes with a native kernel in onnxruntime's CPU provider, by `tools/probe_kernels.py`.

A line is: operator, first opset of its schema, type parameter, inputs ``>`` outputs that have
it (``+`` marks a variadic one), dtypes with a kernel, dtypes the standard allows (``*``: every
one that a program carries), as NumPy's one-letter codes.  What is always native is left out; a
version equal to the one before it too; ``-`` says that a version has no restrictions any more.
"""

from typing import Final

RUNTIME: Final = "{version}"

TABLE: Final = """\\
'''


def codes(types: Iterable[str]) -> str:
    """Return the letters of tensor types, in the order of `CODES`."""
    names = {t[7:-1] for t in types if t.startswith("tensor(")}
    return "".join(c for name, c in CODES.items() if name in names)


def schemas() -> dict[str, list[Any]]:
    """Return the versions of each standard operator that opsets from `OLDEST` on use."""
    found: dict[str, list[Any]] = {}
    standard = {
        (s.name, s.since_version, s.domain) for s in defs.get_all_schemas_with_history()
    }
    for schema in state.get_all_operator_schema():
        known = (schema.name, schema.since_version, schema.domain) in standard
        if known and schema.domain == "" and not schema.deprecated:
            found.setdefault(schema.name, []).append(schema)
    for versions in found.values():
        versions.sort(key=lambda s: s.since_version)
        first = max(
            (i for i, s in enumerate(versions) if s.since_version <= OLDEST), default=0
        )
        del versions[:first]
    return found


def kernels() -> dict[str, list[Any]]:
    """Return the CPU kernels of each standard operator."""
    found: dict[str, list[Any]] = {}
    for kernel in state.get_all_opkernel_def():
        if kernel.domain == "" and kernel.provider == "CPUExecutionProvider":
            found.setdefault(kernel.op_name, []).append(kernel)
    return found


def serves(kernel: Any, version: int) -> bool:
    """Whether a kernel is found for a schema version."""
    low, high = kernel.version_range
    return bool(low == version or (high != OPEN and low <= version <= high))


def places(parameters: Any, name: str) -> str:
    """Return the positions of a type parameter among inputs or outputs."""
    return ",".join(
        f"{i}{'+' * (str(p.option).endswith('Variadic') and p.isHomogeneous)}"
        for i, p in enumerate(parameters)
        if p.typeStr == name
    )


def lines(schema: Any, serving: list[Any]) -> Iterator[str]:
    """Yield the table's lines of one operator version."""
    for constraint in schema.type_constraints:
        name = constraint.type_param_str
        legal = codes(constraint.allowed_type_strs)
        native = codes(
            t
            for k in serving
            for t in k.type_constraints.get(name, constraint.allowed_type_strs)
        )
        inputs, outputs = places(schema.inputs, name), places(schema.outputs, name)
        everything = "".join(CODES.values())
        if not native or not inputs or len(legal) == 1 or native == everything:
            continue
        shown = "*" if legal == everything else legal
        yield f"{name} {inputs}>{outputs} {native} {shown}"


def table() -> str:
    """Return the text of the module."""
    have = kernels()
    out = [HEAD.format(version=onnxruntime.__version__)]
    for op, versions in sorted(schemas().items()):
        before: list[str] = []
        for schema in versions:
            serving = [k for k in have.get(op, ()) if serves(k, schema.since_version)]
            now = list(lines(schema, serving))
            if now != before:
                prefix = f"{op} {schema.since_version}"
                out.extend(f"{prefix} {line}\n" for line in now or ["- > * *"])
            before = now
    out.append('"""\n')
    return "".join(out)


def main() -> int:
    """Write or check the file."""
    text = table()
    if "--check" in sys.argv[1:]:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
