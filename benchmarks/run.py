# SPDX-License-Identifier: Apache-2.0
"""Measure what onnxjit promises about speed, as ratios within one run.

python benchmarks/run.py [--json PATH] [--only TEXT] [--blocks N] [--smallest] [--list]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

#: they make NumPy's matrix products slow where they are set for other machines
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def _without_settings() -> None:
    """Start again without settings that NumPy reads when it is loaded."""
    if any(name in os.environ for name in UNSET):
        kept = {k: v for k, v in os.environ.items() if k not in UNSET}
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="file to write results to")
    parser.add_argument("--only", default="", help="kernels whose names contain this")
    parser.add_argument(
        "--blocks", type=int, default=40, help="paired blocks of a measurement"
    )
    parser.add_argument("--smallest", action="store_true", help="smallest sizes only")
    parser.add_argument("--list", action="store_true", help="list kernels and stop")
    return parser.parse_args()


def _record(kernel: Any, size: int, blocks: int) -> dict[str, Any]:
    """Measure one kernel at one size."""
    result = kernel.run(size, blocks)
    bar = kernel.bar(size)
    return {
        "kernel": kernel.name,
        "size": size,
        "ratio": result.ratio.to_json(),
        "bar": bar,
        "met": None if bar is None else result.ratio.median <= bar,
        "seconds": {name: spread.to_json() for name, spread in result.seconds.items()},
    }


def _row(record: dict[str, Any]) -> list[str]:
    from onnxjit._bench.report import duration

    ratio = record["ratio"]
    bar = "" if record["bar"] is None else f"{record['bar']:.2f}"
    verdict = {None: "", True: "ok", False: "MISSED"}[record["met"]]
    times = ", ".join(f"{n} {duration(s['median'])}" for n, s in record["seconds"].items())
    spread = f"{ratio['low']:.2f} .. {ratio['high']:.2f}"
    middle = f"{ratio['median']:.2f}"
    return [record["kernel"], str(record["size"]), middle, spread, bar, verdict, times]


def main() -> None:
    """Measure, print a table, write JSON."""
    _without_settings()
    given = _arguments()

    from kernels import KERNELS

    from onnxjit._bench.report import environment, table

    chosen = [k for k in KERNELS.values() if given.only in k.name]
    if given.list:
        print("\n".join(f"{k.name} {' '.join(map(str, k.sizes))}" for k in chosen))
        return
    records = []
    for kernel in chosen:
        sizes = kernel.sizes[:1] if given.smallest else kernel.sizes
        for size in sizes:
            print(f"{kernel.name} {size}", file=sys.stderr, flush=True)
            records.append(_record(kernel, size, given.blocks))
    header = ["kernel", "size", "ratio", "quartiles", "bar", "", "medians"]
    print(table(header, list(map(_row, records)), right=" rrrr"))
    if given.json is not None:
        data = {"environment": environment(), "blocks": given.blocks, "results": records}
        given.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
