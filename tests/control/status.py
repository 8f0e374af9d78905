# SPDX-License-Identifier: Apache-2.0
"""Tell which programs pass in which modes: ``python -m tests.control.status [words]``.

Words choose modes and programs (a part of the name is enough); ``-a`` lists what passes too.
``-l SECONDS`` is the limit for a program in a mode.  Prints one line for each failing pair,
with its error, then causes, counts by mode, and how ``not_yet.py`` has to change.
``-w`` writes ``not_yet.py`` anew from a run over everything.  ``-g`` tells instead which
programs need several graphs for calls of one signature: they pass by guards, not by a branch
or loop in the graph.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tests.control.corpus import BY_NAME
from tests.control.modes import MODES, attempt, graphs, limited
from tests.control.not_yet import NOT_YET

if TYPE_CHECKING:
    from tests.control.record import Program

#: folders, the way to the documents, and how onnxruntime begins
_NOISE: Final = re.compile(r"/\S*/(?=\w+\.py)| \[docs/\S+\]|\[ONNXRuntimeError\] : \d+ : ")
#: what differs between errors of one cause
_DETAIL: Final = re.compile(r" at \S+\.py:\d+ in [\w.]+|\b\w*\[[^]]*\]|\d+|^.*?input ")
_LIST: Final = Path(__file__).with_name("not_yet.py")
_HEAD: Final = '''\
# SPDX-License-Identifier: Apache-2.0
"""Programs that do not work yet, by mode; each is a strict xfail of ``test_programs.py``.

Written by ``python -m tests.control.status -w``.
"""

from typing import Final

__all__ = ["NOT_YET"]

NOT_YET: Final[dict[str, tuple[str, ...]]] = {
'''


def pairs(words: list[str]) -> list[tuple[Program, str]]:
    """Return the pairs to run: of the modes named, and of programs that a word is part of."""
    modes = [w for w in words if w in MODES] or list(MODES)
    parts = [w for w in words if w not in MODES]
    return [
        (p, mode)
        for mode in modes
        for name, p in BY_NAME.items()
        if not (p.calls_only and mode.startswith(("opset", "newest")))
        if not parts or any(w in name for w in parts)
    ]


def failure(p: Program, mode: str, limit: float, *, large: bool = False) -> str:
    """Run a program in a mode; return what went wrong as one line, or nothing."""
    try:
        with limited(limit):
            attempt(p, mode, large=large)
    except Exception as e:  # noqa: BLE001  this is what is reported
        return _NOISE.sub("", f"{type(e).__name__}: {' '.join(str(e).split())}")
    return ""


def text_of(failed: dict[str, list[str]]) -> str:
    """Return the text of ``not_yet.py``."""
    rows = []
    for mode, names in failed.items():
        inner = "".join(f'        "{name}",\n' for name in sorted(names))
        rows.append(f'    "{mode}": (\n{inner}    ),\n' if names else f'    "{mode}": (),\n')
    return _HEAD + "".join(rows) + "}\n"


def print_graphs(words: list[str], limit: float) -> None:
    """Print the programs whose calls need more graphs than signatures, most graphs first."""
    rows = []
    for p in dict.fromkeys(p for p, mode in pairs(words) if mode == "jit"):
        if failure(p, "jit", limit):
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"), limited(limit):
            warnings.simplefilter("ignore")
            rows.append((*graphs(p), p.name))
    for count, least, name in sorted(rows, reverse=True):
        if count > least:
            print(f"{count:3} graphs for {least} signatures: {name}")
    enough = sum(count <= least for count, least, _ in rows)
    print(f"{enough} of {len(rows)} that pass need no more")


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.control.status")
    parser.add_argument("words", nargs="*", help="modes, and parts of names of programs")
    parser.add_argument("-a", "--all", action="store_true", help="list what passes too")
    parser.add_argument("-l", "--limit", type=float, default=10.0, help="seconds for a pair")
    parser.add_argument("-c", "--columns", type=int, default=150, help="cut lines there")
    parser.add_argument("-w", "--write", action="store_true", help="write not_yet.py")
    parser.add_argument("-g", "--graphs", action="store_true", help="count graphs of calls")
    options = parser.parse_args()
    if options.write and options.words:
        parser.error("-w is for a run over everything")
    return options


def main() -> int:
    """Run what is asked for and print it."""
    options = parsed()
    if options.graphs:
        print_graphs(options.words, options.limit)
        return 0
    chosen = pairs(options.words)
    failed: dict[str, list[str]] = {mode: [] for mode in MODES}
    causes: Counter[str] = Counter()
    started = time.perf_counter()
    for p, mode in chosen:
        error = failure(p, mode, options.limit)
        failed[mode] += [p.name] if error else []
        causes[_DETAIL.sub("", error)[:90] if error else ""] += 1
        if error or options.all:
            print(f"{mode:8}{p.name}: {error or 'passes'}"[: options.columns])
    del causes[""]
    for cause, count in causes.most_common(6):
        print(f"{count:4} x {cause}")
    for mode, names in failed.items():
        count = sum(m == mode for _, m in chosen)
        if count:
            print(f"{mode:8}{count - len(names)} of {count} pass")
    print(f"{time.perf_counter() - started:.0f} s")
    lost = print_changes(chosen, failed)
    if options.write:
        _LIST.write_text(text_of(failed), encoding="utf-8")
    return lost


def print_changes(chosen: list[tuple[Program, str]], failed: dict[str, list[str]]) -> bool:
    """Print what differs from ``not_yet.py``; return whether anything is lost."""
    rows = [
        (p.name, mode, p.name in failed[mode], p.name in NOT_YET[mode]) for p, mode in chosen
    ]
    new = [f"{name} ({mode})" for name, mode, fails, known in rows if known and not fails]
    lost = [f"{name} ({mode})" for name, mode, fails, known in rows if fails and not known]
    print("\n".join(["pass now, take off the list:", *new]) if new else "nothing new passes")
    if lost:
        print("\n".join(["FAIL and are not on the list:", *lost]))
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
