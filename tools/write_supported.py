# SPDX-License-Identifier: Apache-2.0
"""Write `docs/supported.md` from the op table: what runs in a graph, what does not, why.

    python tools/write_supported.py [--check]

`--check` only says whether the page is up to date.
"""

from __future__ import annotations

import importlib
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from onnxjit._ops.refused import BY_SOURCE, REFUSED, REFUSED_UFUNCS, qualified
from onnxjit._ops.row import Function, Ufunc
from onnxjit._ops.table import FAMILIES, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TARGET: Final = Path(__file__).parents[1] / "docs/supported.md"
WIDTH: Final = 95
HEAD: Final = """\
# Supported NumPy functions

Written by `tools/write_supported.py` from the op table; do not edit.

Inside a traced function, a call of a NumPy function or ufunc on arrays becomes a part of the
graph. Results have NumPy's dtype, shape and value; where a float result may differ in the last
places, the largest accepted difference is given in units in the last place (ulp). Methods of
arrays (`x.sum()`) and operators (`x + y`) are these functions.

A function that is refused raises `UnsupportedError` in a graph; a jitted call then goes on
eagerly, operation by operation.
"""


def short(name: str) -> str:
    """Return a qualified name as users write it."""
    return f"np.{name.removeprefix('numpy.')}"


def bounds(row: Ufunc) -> dict[str, float]:
    """Return the largest accepted errors by dtype; parts of complex numbers among them."""
    ulp = row.on_complex[0] if row.on_complex is not None else 0.0
    return {**row.ulp, **({"complex": ulp} if ulp else {})}


def accuracy(ulp: dict[str, float]) -> str:
    """Return the accepted error."""
    return ", ".join(f"{dtype} {bound:g}" for dtype, bound in ulp.items())


def table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for line in lines:
        yield f"| {' | '.join(line)} |"
    yield ""


def listed(names: Iterable[str]) -> Iterator[str]:
    """Yield lines of names, filled."""
    line = ""
    for name in [f"`{n}`," for n in sorted(names)]:
        if line and len(line) + 1 + len(name) > WIDTH:
            yield line
            line = ""
        line = f"{line} {name}".strip()
    yield f"{line.rstrip(',')}."
    yield ""


def function_lines(every: Iterable[Function]) -> Iterator[tuple[str, ...]]:
    """Yield name, refused parameters and accuracy of functions."""
    for row in sorted(every, key=lambda row: qualified(row.numpy)):
        omitted = ", ".join(f"`{name}`" for name in row.omits)
        yield f"`{short(qualified(row.numpy))}`", omitted, accuracy(row.ulp)


def family_of(row: Function) -> str:
    """Return the name of the module that a row is from."""
    return row.implementation.__module__.rpartition(".")[2]


def heading(family: str) -> str:
    """Return the first line of a module's docstring."""
    text = importlib.import_module(f"onnxjit._ops.{family}").__doc__ or ""
    return text.strip().splitlines()[0].rstrip(".")


def page() -> str:
    """Return the text."""
    every = rows()
    functions = [row for row in every if isinstance(row, Function)]
    ufuncs = [row for row in every if isinstance(row, Ufunc)]
    out = [HEAD, f"## Functions ({len(functions)})", ""]
    by_family = sorted(functions, key=lambda row: FAMILIES.index(family_of(row)))
    for family, members in groupby(by_family, family_of):
        out += [f"### {heading(family)}", ""]
        out += table(("function", "refused parameters", "ulp"), function_lines(members))
    out += [f"## Ufuncs ({len(ufuncs)})", ""]
    out += ["With `out=`, `where=`, `dtype=` and the methods `reduce`, `accumulate`, `outer`,"]
    out += ["`reduceat` and `at`.", ""]
    names = sorted(ufuncs, key=lambda row: row.numpy.__name__)
    exact = [f"np.{row.numpy.__name__}" for row in names if not bounds(row)]
    out += ["Exact:", "", *listed(exact)]
    inexact = [
        (f"`np.{row.numpy.__name__}`", accuracy(bounds(row))) for row in names if bounds(row)
    ]
    out += table(("ufunc", "ulp"), inexact)
    out += [f"## Through NumPy's own Python source ({len(BY_SOURCE)})", ""]
    out += [
        "Traced like code of yours; options that ask questions about data do not work.",
        "",
    ]
    out += listed(map(short, BY_SOURCE))
    refused: dict[str, list[str]] = {}
    for name, reason in REFUSED.items():
        refused.setdefault(reason, []).append(short(name))
    for name, reason in REFUSED_UFUNCS.items():
        refused.setdefault(reason, []).append(f"{name} (ufunc)")
    out += [f"## Refused ({len(REFUSED) + len(REFUSED_UFUNCS)})", ""]
    for reason, members in refused.items():
        out += [f"Because {reason}:", "", *listed(members)]
    return "\n".join(out).rstrip() + "\n"


def main() -> int:
    """Write or check the page."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
