# SPDX-License-Identifier: Apache-2.0
"""Print the nodes that an iteration of each loop runs; run as `python benchmarks/control.py`.

One line for each loop that is left of a program, outer ones first, inner bodies apart.
"""

from __future__ import annotations

from kernels.loop_programs import LOOPS
from kernels.loops import bodies


def main() -> None:
    """Print a table."""
    for loop in LOOPS:
        left = bodies(loop, loop.sizes[0])
        if not left:
            print(f"{loop.fn.__name__:18}no loop is left")
        for body in left:
            names = " ".join(f"{op}:{count}" for op, count in body.most_common())
            print(f"{loop.fn.__name__:18}{body.total():4}  {names}")


if __name__ == "__main__":
    main()
